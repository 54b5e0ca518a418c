/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_TAIL_H
#define XFERBENCH_FLEET_TAIL_H

/* How likely it is that a value lies so far from others of its kind by chance. */

/*
 * P(|T| >= t) of Student's t with nu > 0 degrees of freedom, also fractional ones; t >= 0. It is
 * the regularised incomplete beta function I(nu / (nu + t^2); nu / 2, 1 / 2).
 */
double xb_tail_student(double t, double nu);

/*
 * An upper bound of the probability that a value lies `t` >= 0 or more spreads from the median of
 * `others` >= 2 other values, on either side, if all are independent and have the same normal
 * distribution. The spread is 1.4826 times the others' median absolute deviation. The bound holds
 * if the result is 0.01 or less; docs/fleet-statistics.md tells why.
 */
double xb_tail_of_siblings(double t, double others);

/* The least t for which xb_tail_of_siblings() returns `p` or less, to 12 digits; 0 < p < 1. */
double xb_tail_limit(double p, double others);

/* The length of both at a right angle. Not hypot(): as of glibc 2.35 that is another symbol, and a
 * program that asks for it does not start on RHEL 9, which has 2.34. */
double xb_fleet_add_squares(double one, double other);

#endif
