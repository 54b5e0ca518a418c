/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_ADD_SQUARES_H
#define XFERBENCH_FLEET_ADD_SQUARES_H

#include <math.h>

/* The length of both at a right angle. Not hypot(): as of glibc 2.35 that is another symbol, and a
 * program that asks for it does not start on RHEL 9, which has 2.34. */
static inline double xb_fleet_add_squares(double one, double other)
{
    double larger = fmax(one, other);
    if (!(larger > 0) || !isfinite(larger))
        return larger;
    double smaller = fmin(one, other) / larger;
    return larger * sqrt(1 + smaller * smaller);
}

#endif
