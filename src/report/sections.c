/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a report, in the order of the page. */
#include "sections.h"

const struct xb_section *const xb_sections[] = {
    /* of link tests */
    &xb_section_reasons,
    &xb_section_path,
    /* of results; pairs are those of link tests too */
    &xb_section_advice,
    &xb_section_notes,
    &xb_section_by_size,
    &xb_section_by_mode,
    &xb_section_matrices,
    &xb_section_samples,
    /* of other files */
    &xb_section_ratios,
    &xb_section_differences,
    &xb_section_timelines,
    &xb_section_strategies,
    &xb_section_devices,
    &xb_section_findings,
    /* and what is long */
    &xb_section_numbers,
    NULL,
};

const struct xb_common_section *const xb_common_sections[] = {
    &xb_section_fleet,
    &xb_section_trends,
    &xb_section_conditions,
    NULL,
};
