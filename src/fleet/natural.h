/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_NATURAL_H
#define XFERBENCH_FLEET_NATURAL_H

/* Compares names like strcmp(), but digits count as numbers: "n2" comes before "n10". Returns 0
 * only for the same text. NULL comes first. */
int xb_natural_compare(const char *left, const char *right);

#endif
