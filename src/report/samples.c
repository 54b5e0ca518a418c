/* SPDX-License-Identifier: Apache-2.0 */
/* How far the samples of each case lie from its median. */
#include "report.h"

#include "base/statistics.h"
#include "base/units.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN 30  /* cases */
#define POINTS 60 /* of a case */

struct drawing {
    double shares[DRAWN][POINTS]; /* the samples of each case, as shares of their median */
    size_t samples[DRAWN];        /* how many there are */
    struct xb_strip strips[DRAWN];
    size_t count, left_out;
};

static double least_of(const struct xb_strip *strip)
{
    return strip->samples[0];
}

static double most_of(const struct xb_strip *strip)
{
    return strip->samples[strip->sample_count - 1];
}

/* Adds a case with two samples or more. */
static void add_case(struct xb_page *page, struct drawing *drawing,
                     const struct xb_report_document *document, const struct xb_record_case *test)
{
    const struct xb_record *record = document->record;
    struct xb_statistics value;
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    const struct xb_record_figure *own = xb_record_row_figure(&test->rows[0], figure->name);
    double *shares = drawing->shares[drawing->count];
    struct xb_strip *strip = &drawing->strips[drawing->count];
    /* The samples of one process, or the medians of several. */
    size_t count = record->is_merged ? record->process_count : own != NULL ? own->sample_count : 0;
    double *values = xb_new(count, sizeof *values);
    if (record->is_merged)
        count = xb_record_medians(record, test, figure->name, values);
    else if (count > 0)
        memcpy(values, own->samples, count * sizeof *values);
    if (count > 1 && xb_record_describe(record, test, figure->name, &value) && value.median > 0) {
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
        drawing->samples[drawing->count++] = count;
    }
    free(values);
}

static void draw(struct xb_page *page, const struct xb_record *record,
                 const struct drawing *drawing)
{
    static const struct xb_plot_level levels[] = {{"median", 100}};
    const struct xb_strip *widest = &drawing->strips[0];
    for (size_t i = 1; i < drawing->count; i++) {
        const struct xb_strip *strip = &drawing->strips[i];
        if (most_of(strip) - least_of(strip) > most_of(widest) - least_of(widest))
            widest = strip;
    }
    struct xb_strips strips = {
        .picture = {.title = record->is_merged ? "Medians of the processes around their median"
                                               : "Samples around their median",
                    .description = xb_page_print(
                        page,
                        "%zu cases, a line each, with a point for each %s and the median's 95 %% "
                        "interval. The widest is %.200s: %s from least to largest.",
                        drawing->count, record->is_merged ? "process" : "sample", widest->name,
                        widest->note)},
        .x = {XB_SCALE_LINEAR, "% of the case's median"},
        /* So that what is next to nothing looks like it. */
        .x_low = 99,
        .x_high = 101,
        .strips = drawing->strips,
        .count = drawing->count,
        .levels = levels,
        .level_count = 1};
    xb_page_picture(page, xb_strips_draw, &strips);
}

void xb_write_samples(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_record *record = document->record;
    if (record->case_count == 0)
        return;
    struct drawing *drawing = xb_page_new(page, 1, sizeof *drawing);
    bool has_more = false; /* samples than are drawn */
    /* The cases of the largest size first, then those of smaller ones, as far as there is room. */
    for (size_t i = 0; i < record->case_count; i++) {
        if (drawing->count == DRAWN)
            drawing->left_out++;
        else
            add_case(page, drawing, document, record->by_size[i]);
    }
    if (drawing->count > 0)
        draw(page, record, drawing);
    else
        xb_page_remark(page, "No case has more than one sample.");
    for (size_t i = 0; i < drawing->count; i++)
        has_more = has_more || drawing->samples[i] > POINTS;
    if (has_more)
        xb_page_remark(page, "Of more than %d samples of a case %d are drawn, evenly by rank.",
                       POINTS, POINTS);
    if (drawing->left_out > 0)
        xb_page_remark(page,
                       "%zu more cases are not drawn: the largest sizes come first, and %d have "
                       "room.",
                       drawing->left_out, DRAWN);
}
