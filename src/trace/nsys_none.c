/* SPDX-License-Identifier: Apache-2.0 */
/* In place of nsys.c in a build without SQLite. */
#include "profile.h"

enum xb_status xb_nsys_read(struct xb_profiles *profiles, const char *path, int file,
                            struct xb_error *error)
{
    (void)profiles;
    (void)file;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%.300s: is an export of Nsight Systems, and libsqlite3 is not in this build",
                   path);
}
