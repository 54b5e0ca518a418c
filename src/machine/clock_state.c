/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "clock_state.h"

#include <sys/timex.h>

struct xb_clock_state xb_clock_state_read(void)
{
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0)
        return (struct xb_clock_state){.is_known = false};
    return (struct xb_clock_state){.is_known = true,
                                   .is_synchronised = (state.status & STA_UNSYNC) == 0,
                                   .error_s = (double)state.maxerror * 1e-6};
}
