/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PARAMETER_READING_H
#define XFERBENCH_MODES_PARAMETER_READING_H

#include "xferbench/mode.h"

/*
 * For a line of the Reading: which value of an option is best for the mode of that name, and what
 * the default loses, each direction a statement. Compares the fastest case with those that differ
 * in that option alone, by the intervals of their bandwidths. `noun` names it: "chunk". False where
 * it has one value only.
 */
bool xb_parameter_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                      const struct xb_option *option, const char *noun);

#endif
