/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "began.h"

static struct timespec began;

void xb_began_note(void)
{
    (void)clock_gettime(CLOCK_REALTIME, &began); /* it fails for a clock that is not there only */
}

struct timespec xb_began(void)
{
    if (began.tv_sec == 0)
        xb_began_note();
    return began;
}
