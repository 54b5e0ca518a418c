/* SPDX-License-Identifier: Apache-2.0 */
#include "left_out.h"

#include <string.h>

bool xb_is_left_out(const char *library)
{
    for (const struct xb_left_out *left_out = xb_left_out; left_out->library != NULL; left_out++)
        if (strcmp(left_out->library, library) == 0)
            return true;
    return false;
}
