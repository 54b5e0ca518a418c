/* SPDX-License-Identifier: Apache-2.0 */
#include "finish.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum xb_status xb_sink_finish(FILE *stream, const char *what, struct xb_error *error)
{
    bool written = !ferror(stream);
    if (fflush(stream) == 0 && written)
        return XB_OK;
    int code = errno;
    return XB_FAIL_ERRNO(error, "write", code, "cannot write %s: %s", what, strerror(code));
}
