/* SPDX-License-Identifier: Apache-2.0 */
/* How far the samples of each case lie from its median. */
#include "report.h"

#include "base/statistics.h"
#include "base/units.h"
#include "record/mode_list.h"

#include <math.h>
#include <string.h>

#define DRAWN 30  /* cases */
#define POINTS 60 /* of a case */

/* Makes a strip of a case with two samples or more; returns how many it has. */
static size_t make_strip(struct xb_page *page, const struct xb_report_document *document,
                         const struct xb_record_case *test, struct xb_strip *strip)
{
    const struct xb_record *record = document->record;
    struct xb_statistics value;
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    const struct xb_record_figure *own = xb_record_row_figure(&test->rows[0], figure->name);
    double *shares = xb_page_new(page, POINTS, sizeof *shares); /* of the median */
    /* The samples of one process, or the medians of several. */
    size_t count = record->is_merged ? record->process_count : own != NULL ? own->sample_count : 0;
    double *values = xb_page_new(page, count, sizeof *values);
    if (record->is_merged)
        count = xb_record_medians(record, test, figure->name, values);
    else if (count > 0)
        memcpy(values, own->samples, count * sizeof *values);
    if (count < 2 || !xb_record_describe(record, test, figure->name, &value) || !(value.median > 0))
        return 0;
    (void)xb_median_of(values, count); /* sorts them */
    /* Keeps some of very many, evenly by rank: the least and the largest are among them. */
    size_t drawn = count < POINTS ? count : POINTS;
    for (size_t i = 0; i < drawn; i++)
        shares[i] =
            100 * values[count < POINTS ? i : i * (count - 1) / (POINTS - 1)] / value.median;
    *strip = (struct xb_strip){
        .name = xb_case_name(&page->memory, document, test),
        .samples = shares,
        .sample_count = drawn,
        .middle = 100,
        .low = value.has_interval ? 100 * value.ci95_low / value.median : (double)NAN,
        .high = value.has_interval ? 100 * value.ci95_high / value.median : (double)NAN,
        .look = "",
        .note = xb_page_print(page, "%.1f %%", shares[drawn - 1] - shares[0])};
    return count;
}

/* From the least to the largest sample. */
static double width_of(const struct xb_strip *strip)
{
    return strip->samples[strip->sample_count - 1] - strip->samples[0];
}

void xb_write_samples(struct xb_page *page, const struct xb_report_document *document)
{
    static const struct xb_plot_level levels[] = {{"median", 100}};
    const struct xb_record *record = document->record;
    struct xb_strip *strips = xb_page_new(page, DRAWN, sizeof *strips), *widest = strips;
    size_t count = 0, most = 0, at = 0;
    /* The cases of the largest size first, then those of smaller ones, as far as there is room. */
    for (; at < record->case_count && count < DRAWN; at++) {
        size_t samples = make_strip(page, document, record->by_size[at], &strips[count]);
        if (samples > 0 && width_of(&strips[count]) > width_of(widest))
            widest = &strips[count];
        most = samples > most ? samples : most;
        count += samples > 0;
    }
    if (record->case_count > 0 && count == 0)
        xb_page_remark(page, "No case has more than one sample.");
    if (count == 0)
        return;
    struct xb_strips picture = {.x = {XB_SCALE_LINEAR, "% of the case's median"},
                                /* So that what is next to nothing looks like it. */
                                .x_low = 99,
                                .x_high = 101,
                                .strips = strips,
                                .count = count,
                                .levels = levels,
                                .level_count = 1};
    xb_page_picture(page, xb_strips_draw, &picture,
                    record->is_merged ? "Medians of the processes around their median"
                                      : "Samples around their median",
                    "%zu cases, a line each, with a point for each %s and the median's 95 %% "
                    "interval. The widest is %.200s: %s from least to largest.",
                    count, record->is_merged ? "process" : "sample", widest->name, widest->note);
    if (most > POINTS)
        xb_page_remark(page, "Of more than %d samples of a case %d are drawn, evenly by rank.",
                       POINTS, POINTS);
    if (at < record->case_count)
        xb_page_remark(page,
                       "%zu more cases are not drawn: the largest sizes come first, and %d have "
                       "room.",
                       record->case_count - at, DRAWN);
}
