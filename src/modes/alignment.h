/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_ALIGNMENT_H
#define XFERBENCH_MODES_ALIGNMENT_H

#include "xferbench/mode.h"

/*
 * For a line of the Reading: what it costs the mode of that name that its data begins off a
 * boundary, on the host and on the device. Compares cases that differ in --host-offset alone, or in
 * --device-offset alone, by the intervals of their bandwidths. False where there are none.
 */
bool xb_alignment_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode);

#endif
