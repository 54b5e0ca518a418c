/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <math.h>

/*
 * Values of many GPUs need not be normally distributed: if their tails are longer, values at the
 * ends are no faults. Slow GPUs make one tail longer, so the shorter one counts: nobody repairs a
 * GPU because it is fast.
 */

#define ENOUGH 50u     /* with fewer values too few lie at the ends */
#define OUTER 20u      /* an end is the outer one in 20 values */
#define NORMAL 1.6449  /* standard deviations from the median to an end of normal values */
#define UNCERTAIN 1.45 /* / sqrt(values): standard error of end / spread */

double xb_fleet_wide(const struct xb_tested *values, size_t count, double spread)
{
    if (count < ENOUGH)
        return 0;
    double middle = (values[(count - 1) / 2].logarithm + values[count / 2].logarithm) / 2;
    double below = middle - values[count / OUTER].logarithm;
    double above = values[count - 1 - count / OUTER].logarithm - middle;
    double end = fmin(below, above);
    if (end <= spread * NORMAL * (1 + 2 * UNCERTAIN / sqrt((double)count)))
        return 0;
    /* The chance to lie that far off is 0.1. Few values tell the distance, so one standard error is
     * added. */
    return end / log(OUTER / 2.0) * (1 + sqrt(OUTER / (double)count));
}
