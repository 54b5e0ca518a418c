/* SPDX-License-Identifier: Apache-2.0 */
/* Sections that are tables, or what a terminal shows. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/json_read.h"
#include "base/units.h"
#include "compare/text.h"
#include "present/table.h"
#include "reading/list.h"
#include "run/table.h"

#include <math.h>
#include <string.h>

/* A number of an object in units, with so many decimals; NULL where it has none. */
static const char *number_of(struct xb_page *page, const cJSON *object, const char *key,
                             double unit, int decimals)
{
    double number = xb_report_number(object, key, (double)NAN);
    return isnan(number) ? NULL : xb_page_print(page, "%.*f", decimals, number / unit);
}

/* As the terminal prints both below its tables. */
void xb_write_reading(struct xb_page *page, const struct xb_report_document *document)
{
    FILE *stream = xb_page_terminal_begin(page);
    xb_reading_print(stream, document->reading);
    xb_table_notes(stream, document->record, false, document->reading);
    xb_page_terminal_end(page, XB_OK);
}

static void write_cell(void *page, int row, const char *text, bool is_right)
{
    if (row < 0)
        xb_page_column(page, text, is_right);
    else
        xb_page_cell(page, text);
}

/* The terminal's table with all its columns. */
void xb_write_table_of_rows(struct xb_page *page, const char *caption,
                            const struct xb_record *record, bool only_together)
{
    struct xb_table *table =
        xb_table_of_rows(record, only_together ? XB_ROWS_TOGETHER : XB_ROWS_ALL);
    xb_page_table_begin(page, caption, "");
    xb_table_each(table, write_cell, page);
    xb_page_table_end(page);
    xb_table_free(table);
}

void xb_write_rows(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->record->case_count > 0)
        xb_write_table_of_rows(page, "All results", document->record, false);
}

/* ---- what a comparison found: the ratio of each figure with its interval ---- */

/* A smaller ratio is worse of a rate, a larger one of a time: they are two pictures. */
static void draw_ratios(struct xb_page *page, const struct xb_comparison *comparison,
                        bool more_is_better)
{
    struct xb_strip *strips = xb_page_new(page, XB_STRIPS_MOST, sizeof *strips);
    double threshold = (double)NAN; /* of all strips; NAN where they differ */
    size_t count = 0, left_out = 0;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        bool is_open = compared->outcome == XB_OUTCOME_INCONCLUSIVE || !xb_compare_judged(compared);
        if (compared->figure.more_is_better != more_is_better || !compared->has_ratio)
            continue;
        if (count == XB_STRIPS_MOST) {
            left_out++;
            continue;
        }
        threshold =
            count == 0 || compared->threshold == threshold ? compared->threshold : (double)NAN;
        strips[count++] = (struct xb_strip){
            .name = xb_page_print(page, "%s", XB_CASE_TEXT(comparison, compared, XB_CASE_TITLE)),
            .middle = compared->ratio,
            .low = compared->has_interval ? compared->low : (double)NAN,
            .high = compared->has_interval ? compared->high : (double)NAN,
            .look = XB_LOOK(!is_open && compared->outcome == XB_OUTCOME_REGRESSION, !is_open),
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
    struct xb_strips picture = {.x = {XB_SCALE_LINEAR, "ratio of candidate to baseline"},
                                .strips = strips,
                                .count = count,
                                .levels = levels,
                                .level_count = isfinite(threshold) ? 2 : 1};
    xb_page_picture(page, xb_strips_draw, &picture,
                    more_is_better ? "Candidate by baseline, where more is better"
                                   : "Candidate by baseline, where less is better",
                    "%zu figures, a line each: the ratio of the candidate's to the baseline's, "
                    "with its interval and what changed. 1 is no change; %s. Overall: %s.",
                    count, rule, xb_compare_overall(comparison));
    xb_page_more(page, left_out, "figures are in the table only.");
}

void xb_write_ratios(struct xb_page *page, const struct xb_report_document *document)
{
    draw_ratios(page, document->comparison, true);
    draw_ratios(page, document->comparison, false);
}

void xb_write_comparison(struct xb_page *page, const struct xb_report_document *document)
{
    xb_page_terminal_end(page,
                         xb_compare_table_write(xb_page_terminal_begin(page), document->comparison,
                                                XB_PLAIN_COLUMNS, true, &page->error));
}

void xb_write_strategies(struct xb_page *page, const struct xb_report_document *document)
{
    static const char *const times[] = {"seconds",   "seconds_low", "seconds_high",
                                        "copy_in_s", "kernel_s",    "copy_out_s"};
    const cJSON *strategies = xb_report_member(document->tree, "strategies"), *strategy;
    if (cJSON_GetArraySize(strategies) == 0)
        return;
    xb_page_table_begin(page, "Predicted times of the job",
                        "Strategy|#Time|#At least|#At most|#Copy in|#Kernel|#Copy out|"
                        "Limited by, or what is missing");
    cJSON_ArrayForEach(strategy, strategies)
    {
        const char *missing = cJSON_GetStringValue(xb_report_member(strategy, "missing"));
        const char *limit = cJSON_GetStringValue(xb_report_member(strategy, "limit"));
        xb_page_cell(page, xb_report_text(strategy, "strategy"));
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
            double seconds = xb_report_number(strategy, times[i], 0.0);
            xb_page_cell(page, seconds > 0 ? XB_DURATION_TEXT(seconds) : NULL);
        }
        xb_page_cell(page, missing != NULL ? missing : limit != NULL ? limit : "");
    }
    xb_page_table_end(page);
}

void xb_write_devices(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *device, *backend, *check;
    xb_page_table_begin(page, "Devices", "Backend|#Index|Name|Architecture|PCI address|#GiB");
    cJSON_ArrayForEach(device, xb_report_member(document->tree, "devices"))
    {
        XB_PAGE_CELLS(page, xb_report_text(device, "backend"),
                      number_of(page, device, "index", 1, 0), xb_report_text(device, "name"),
                      xb_report_text(device, "architecture"), xb_report_text(device, "pci_bdf"),
                      number_of(page, device, "memory_bytes", (double)(1ULL << 30), 1));
    }
    xb_page_table_end(page);
    xb_page_table_begin(page, "What each backend looked for", "Backend|What|Found");
    cJSON_ArrayForEach(backend, xb_report_member(document->tree, "backends"))
    {
        const cJSON *checks = xb_report_member(backend, "checks");
        const char *name = xb_report_text(backend, "name");
        if (cJSON_GetArraySize(checks) == 0)
            XB_PAGE_CELLS(page, name, "-", xb_report_text(backend, "absent_reason"));
        cJSON_ArrayForEach(check, checks)
        {
            XB_PAGE_CELLS(page, name, xb_report_text(check, "what"),
                          xb_report_text(check, "found"));
        }
    }
    xb_page_table_end(page);
}
