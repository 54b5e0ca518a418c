/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_CLOCK_STATE_H
#define XFERBENCH_MACHINE_CLOCK_STATE_H

#include <stdbool.h>

/* How well this node's clock is kept, from adjtimex(2), which changes nothing here. */
struct xb_clock_state {
    bool is_known;        /* false: the kernel does not tell, as in some containers */
    bool is_synchronised; /* chronyd, ntpd or the like keeps it */
    double error_s;       /* the clock's largest possible error, as the kernel estimates it */
};

struct xb_clock_state xb_clock_state_read(void);

#endif
