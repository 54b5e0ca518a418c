/* SPDX-License-Identifier: Apache-2.0 */
/* Notes what a backend looked for when it was opened, and what it found. */
#include "gpu.h"

#include <stdio.h>

struct xb_probe_check *xb_gpu_probe_add(struct xb_probe *probe, bool ok, const char *what)
{
    struct xb_probe_check *check = &probe->checks[probe->check_count++];
    check->ok = ok;
    snprintf(check->what, sizeof check->what, "%s", what);
    return check;
}
