/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_SECTIONS_H
#define XFERBENCH_REPORT_SECTIONS_H

#include "section.h"

/* Each in a file of its own name. */

extern const struct xb_section xb_section_advice; /* the Reading */
extern const struct xb_section xb_section_notes;  /* why rows have no figure, and warnings */
extern const struct xb_section xb_section_by_size;
extern const struct xb_section xb_section_by_mode;
extern const struct xb_section xb_section_samples;
extern const struct xb_section xb_section_reasons;     /* the verdicts of a link test */
extern const struct xb_section xb_section_strategies;  /* what advise predicted */
extern const struct xb_section xb_section_devices;     /* what list found */
extern const struct xb_section xb_section_findings;    /* of fleet */
extern const struct xb_section xb_section_numbers;     /* the rows of a result */
extern const struct xb_section xb_section_matrices;    /* of pairs, and of NUMA nodes */
extern const struct xb_section xb_section_path;        /* the links of a link test, as a tree */
extern const struct xb_section xb_section_ratios;      /* of a comparison */
extern const struct xb_section xb_section_timelines;   /* of a trace */
extern const struct xb_section xb_section_differences; /* of its two files */

/* Of all files together. */
extern const struct xb_common_section xb_section_conditions;
extern const struct xb_common_section xb_section_fleet; /* GPUs of many nodes, by their siblings */
extern const struct xb_common_section xb_section_trends;

#endif
