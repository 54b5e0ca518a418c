/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_ENCODED_READING_H
#define XFERBENCH_MODES_ENCODED_READING_H

#include "xferbench/mode.h"

/* Says of every case of a mode, or of one variant of it, whether making data smaller pays here,
 * with how many threads, and what limits it. Of cases that differ in threads or chunks alone it
 * says it of the fastest. */
bool xb_encoded_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                    const char *variant);

#endif
