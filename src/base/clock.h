/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <time.h>

/* The host's monotonic clock in seconds. */
static inline double xb_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
