/* SPDX-License-Identifier: Apache-2.0 */
/* Under which other conditions the two files of a comparison were measured. */
#define _GNU_SOURCE /* text.h */
#include "sections.h"

#include "compare/text.h"

static bool speaks(const struct xb_report_document *document)
{
    return document->comparison != NULL && document->comparison->difference_count > 0;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_comparison *comparison = document->comparison;
    char baseline[XB_COMPARE_VALUE];
    char candidate[XB_COMPARE_VALUE];
    (void)error;
    xb_page_table_begin(page, "What differs between the two files");
    xb_page_column(page, "Condition", false);
    xb_page_column(page, "Baseline", false);
    xb_page_column(page, "Candidate", false);
    xb_page_column(page, "Comparable", false);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        xb_compare_sides(difference, baseline, candidate);
        xb_page_cell(page, "%s", difference->name);
        xb_page_cell(page, "%s", baseline);
        xb_page_cell(page, "%s", candidate);
        xb_page_cell(page, "%s", difference->forbids ? "no" : "yes");
    }
    xb_page_table_end(page);
    return XB_OK;
}

const struct xb_section xb_section_differences = {
    .name = "differences",
    .title = "What differs",
    .speaks = speaks,
    .write = write,
};
