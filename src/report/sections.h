/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_SECTIONS_H
#define XFERBENCH_REPORT_SECTIONS_H

#include "section.h"

/* Each in a file of its own name. */

extern const struct xb_section xb_section_advice; /* the Reading */
extern const struct xb_section xb_section_by_size;
extern const struct xb_section xb_section_by_mode;
extern const struct xb_section xb_section_samples;
extern const struct xb_section xb_section_numbers; /* the rows of a result */

#endif
