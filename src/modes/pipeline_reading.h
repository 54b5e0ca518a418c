/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_READING_H
#define XFERBENCH_MODES_PIPELINE_READING_H

#include "xferbench/mode.h"

/* What the Reading says of the mode `pipeline`; ends with a label of NULL. */
extern const struct xb_reading_line xb_pipeline_lines[];

/* "warm", "cold": all of it in the page cache, or out of it, but for a page or two; "partly warm";
 * "unknown" for NAN. */
const char *xb_page_cache_word(double share);

#endif
