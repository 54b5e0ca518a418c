/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison found: the ratio of each figure with its interval. */
#define _GNU_SOURCE /* text.h */
#include "sections.h"

#include "base/text.h"
#include "compare/comparison.h"
#include "compare/text.h"
#include "plot/strips.h"

#include <math.h>
#include <stdlib.h>

static bool speaks(const struct xb_report_document *document)
{
    return document->comparison != NULL && document->comparison->case_count > 0;
}

struct drawing {
    struct xb_strip strips[XB_STRIPS_MOST];
    char names[XB_STRIPS_MOST][XB_COMPARE_TEXT];
    char notes[XB_STRIPS_MOST][64];
    size_t count, left_out;
    double threshold; /* of all strips; NAN where they differ */
};

static const char *look_of(const struct xb_compared *compared)
{
    if (compared->basis == XB_BASIS_INDICATIVE || compared->basis == XB_BASIS_NONE)
        return "unsure";
    switch (compared->outcome) {
    case XB_OUTCOME_REGRESSION:
        return "bad";
    case XB_OUTCOME_INCONCLUSIVE:
        return "unsure";
    case XB_OUTCOME_PASS:
    case XB_OUTCOME_IMPROVED:
        break;
    }
    return "good";
}

/* Of a rate a smaller ratio is worse, of a time a larger one: they are two pictures. */
static void collect(const struct xb_comparison *comparison, bool more_is_better,
                    struct drawing *drawing)
{
    drawing->count = 0;
    drawing->left_out = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (compared->figure.more_is_better != more_is_better || !compared->has_ratio)
            continue;
        if (drawing->count == XB_STRIPS_MOST) {
            drawing->left_out++;
            continue;
        }
        size_t at = drawing->count++;
        if (at == 0)
            drawing->threshold = compared->threshold;
        else if (compared->threshold != drawing->threshold)
            drawing->threshold = (double)NAN;
        xb_compare_name(comparison, compared, drawing->names[at], sizeof drawing->names[at]);
        char change[XB_COMPARE_TEXT];
        snprintf(drawing->notes[at], sizeof drawing->notes[at], "%.60s%s",
                 xb_compare_change(compared, change, sizeof change),
                 compared->basis == XB_BASIS_INDICATIVE ? "?" : "");
        drawing->strips[at] =
            (struct xb_strip){.name = drawing->names[at],
                              .middle = compared->ratio,
                              .low = compared->has_interval ? compared->low : (double)NAN,
                              .high = compared->has_interval ? compared->high : (double)NAN,
                              .look = look_of(compared),
                              .note = drawing->notes[at]};
    }
}

static enum xb_status draw(struct xb_page *page, const struct xb_comparison *comparison,
                           bool more_is_better, struct drawing *drawing, struct xb_error *error)
{
    char threshold[64];
    char title[128];
    char description[512];
    char rule[160];
    collect(comparison, more_is_better, drawing);
    if (drawing->count == 0)
        return XB_OK;
    double share = drawing->threshold;
    snprintf(threshold, sizeof threshold, "%g %% %s", 100 * share,
             more_is_better ? "less" : "more");
    const struct xb_level levels[] = {{"no change", 1},
                                      {threshold, more_is_better ? 1 - share : 1 + share}};
    snprintf(title, sizeof title, "Candidate by baseline, where %s is better",
             more_is_better ? "more" : "less");
    if (isfinite(share))
        snprintf(rule, sizeof rule, "what lies %s %g is worse by the threshold or more",
                 more_is_better ? "below" : "above", levels[1].at);
    else
        snprintf(rule, sizeof rule, "not all have the same threshold");
    snprintf(description, sizeof description,
             "%zu figures, a line each: the ratio of the candidate's to the baseline's, with its "
             "interval and what changed. 1 is no change; %s. Overall: %s.",
             drawing->count, rule, xb_compare_overall(comparison));
    const struct xb_strips strips = {.picture = {.title = title, .description = description},
                                     .x = {XB_SCALE_LINEAR, "ratio of candidate to baseline"},
                                     .strips = drawing->strips,
                                     .count = drawing->count,
                                     .levels = levels,
                                     .level_count = isfinite(share) ? 2 : 1};
    enum xb_status status = xb_page_strips(page, &strips, error);
    if (status == XB_OK && drawing->left_out > 0)
        xb_page_remark(page, "%zu more figures are in the table only.", drawing->left_out);
    return status;
}

static void write_table(struct xb_page *page, const struct xb_comparison *comparison)
{
    char text[XB_COMPARE_TEXT];
    xb_page_table_begin(page, "Ratios, each figure that both files have");
    xb_page_column(page, "Figure", false);
    xb_page_column(page, "Baseline", true);
    xb_page_column(page, "Candidate", true);
    xb_page_column(page, "Change", false);
    xb_page_column(page, "Ratio", true);
    xb_page_column(page, "Interval", true);
    xb_page_column(page, "Level", true);
    xb_page_column(page, "Verdict", false);
    xb_page_column(page, "Why", false);
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        xb_page_cell(page, "%s", xb_compare_name(comparison, compared, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_baseline(compared, true, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_candidate(compared, true, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_says(compared, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_ratio(compared, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_interval(compared, " to ", text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_level(compared, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_verdict(comparison, compared, text, sizeof text));
        xb_page_cell(page, "%s", xb_compare_note(compared, text, sizeof text));
    }
    xb_page_table_end(page);
}

static bool is_indicative(const struct xb_comparison *comparison)
{
    for (size_t i = 0; i < comparison->case_count; i++)
        if (comparison->cases[i].basis == XB_BASIS_INDICATIVE)
            return true;
    return false;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_comparison *comparison = document->comparison;
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (drawing == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = draw(page, comparison, true, drawing, error);
    if (status == XB_OK)
        status = draw(page, comparison, false, drawing, error);
    if (status == XB_OK && is_indicative(comparison))
        xb_page_remark(page, "A verdict with a question mark is of too few processes for the test: "
                             "it tells what the figures look like.");
    if (status == XB_OK)
        write_table(page, comparison);
    xb_plain_locale_leave(previous);
    free(drawing);
    return status;
}

const struct xb_section xb_section_ratios = {
    .name = "ratios",
    .title = "Ratios",
    .speaks = speaks,
    .write = write,
};
