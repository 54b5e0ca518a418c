/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison found: the ratio of each figure with its interval. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "compare/comparison.h"
#include "compare/text.h"

#include <math.h>

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
static void draw(struct xb_page *page, const struct xb_comparison *comparison, bool more_is_better,
                 struct xb_strip *strips)
{
    double threshold = (double)NAN; /* of all strips; NAN where they differ */
    size_t count = 0;
    size_t left_out = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (compared->figure.more_is_better != more_is_better || !compared->has_ratio)
            continue;
        if (count == XB_STRIPS_MOST) {
            left_out++;
            continue;
        }
        if (count == 0)
            threshold = compared->threshold;
        else if (compared->threshold != threshold)
            threshold = (double)NAN;
        strips[count++] = (struct xb_strip){
            .name = xb_page_print(page, "%s", XB_CASE_TEXT(comparison, compared, XB_CASE_NAME)),
            .middle = compared->ratio,
            .low = compared->has_interval ? compared->low : (double)NAN,
            .high = compared->has_interval ? compared->high : (double)NAN,
            .look = look_of(compared),
            .note =
                xb_page_print(page, "%.60s%s", XB_CASE_TEXT(comparison, compared, XB_CASE_CHANGE),
                              compared->basis == XB_BASIS_INDICATIVE ? "?" : "")};
    }
    if (count == 0)
        return;
    const struct xb_plot_level levels[] = {
        {"no change", 1},
        {xb_page_print(page, "%g %% %s", 100 * threshold, more_is_better ? "less" : "more"),
         more_is_better ? 1 - threshold : 1 + threshold}};
    const char *rule = "not all have the same threshold";
    if (isfinite(threshold))
        rule = xb_page_print(page, "what lies %s %g is worse by the threshold or more",
                             more_is_better ? "below" : "above", levels[1].at);
    struct xb_strips picture = {
        .picture = {.title = more_is_better ? "Candidate by baseline, where more is better"
                                            : "Candidate by baseline, where less is better",
                    .description = xb_page_print(
                        page,
                        "%zu figures, a line each: the ratio of the candidate's to the baseline's, "
                        "with its interval and what changed. 1 is no change; %s. Overall: %s.",
                        count, rule, xb_compare_overall(comparison))},
        .x = {XB_SCALE_LINEAR, "ratio of candidate to baseline"},
        .strips = strips,
        .count = count,
        .levels = levels,
        .level_count = isfinite(threshold) ? 2 : 1};
    xb_page_picture(page, xb_strips_draw, &picture);
    if (left_out > 0)
        xb_page_remark(page, "%zu more figures are in the table only.", left_out);
}

static void write(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_comparison *comparison = document->comparison;
    static const enum xb_compared_part parts[] = {
        XB_CASE_NAME,  XB_CASE_VERDICT,     XB_CASE_BASELINE, XB_CASE_CANDIDATE, XB_CASE_SAYS,
        XB_CASE_RATIO, XB_CASE_INTERVAL_TO, XB_CASE_LEVEL,    XB_CASE_NOTE};
    struct xb_strip strips[XB_STRIPS_MOST];
    bool is_indicative = false;
    if (comparison == NULL || comparison->case_count == 0)
        return;
    draw(page, comparison, true, strips);
    draw(page, comparison, false, strips);
    for (size_t i = 0; i < comparison->case_count; i++)
        is_indicative = is_indicative || comparison->cases[i].basis == XB_BASIS_INDICATIVE;
    if (is_indicative)
        xb_page_remark(page, "A verdict with a question mark is of too few processes for the test: "
                             "it tells what the figures look like.");
    xb_page_table_begin(page, "Ratios, each figure that both files have",
                        "Figure|Verdict|#Baseline|#Candidate|Change|#Ratio|#Interval|#Level|Why");
    for (size_t i = 0; i < comparison->case_count; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
            xb_page_cell(page, "%s", XB_CASE_TEXT(comparison, &comparison->cases[i], parts[k]));
    xb_page_table_end(page);
}

const struct xb_section xb_section_ratios = {"ratios", "Ratios", write};
