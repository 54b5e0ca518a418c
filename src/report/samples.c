/* SPDX-License-Identifier: Apache-2.0 */
/* How far the samples of each case lie from its median; and all rows of a result. */
#include "report.h"

#include "present/table.h"
#include "record/mode_list.h"
#include "run/table.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN 30  /* cases */
#define POINTS 60 /* of a case */

/* A case with its samples, each as a share of their median. */
struct strip {
    double shares[POINTS];
    size_t drawn, samples;
    double least, most;
};

struct drawing {
    struct strip all[DRAWN];
    struct xb_strip strips[DRAWN];
    size_t count, left_out;
};

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Whether the case has two samples or more. */
static bool fill(struct xb_page *page, const struct xb_record *record,
                 const struct xb_parameters *parameters, const struct xb_record_case *test,
                 struct strip *strip, struct xb_strip *drawn)
{
    struct xb_statistics value;
    char size[32] = "latency";
    size_t count = 0;
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    const struct xb_record_figure *own = xb_record_row_figure(&test->rows[0], figure->name);
    /* Of one process those that it took, of several their medians. */
    count = record->is_merged ? record->process_count : own != NULL ? own->sample_count : 0;
    double *values = xb_new(count, sizeof *values);
    if (record->is_merged)
        count = xb_record_medians(record, test, figure->name, values);
    else if (count > 0)
        memcpy(values, own->samples, count * sizeof *values);
    bool ok =
        count > 1 && xb_record_describe(record, test, figure->name, &value) && value.median > 0;
    if (ok) {
        /* Of very many samples some, evenly by rank: the least and the largest are among them. */
        qsort(values, count, sizeof *values, by_value);
        strip->samples = count;
        strip->drawn = count < POINTS ? count : POINTS;
        for (size_t i = 0; i < strip->drawn; i++) {
            size_t rank = count < POINTS ? i : i * (count - 1) / (POINTS - 1);
            strip->shares[i] = 100 * values[rank] / value.median;
        }
        strip->least = 100 * values[0] / value.median;
        strip->most = 100 * values[count - 1] / value.median;
        if (!test->latency)
            xb_size_format(test->bytes, size, sizeof size);
        const char *name = xb_page_print(
            page, "%s %s %s", xb_way_name(page, record, parameters, test), test->direction, size);
        *drawn = (struct xb_strip){
            .name = xb_page_print(page, "%.230s", name),
            .samples = strip->shares,
            .sample_count = strip->drawn,
            .middle = 100,
            .low = value.has_interval ? 100 * value.ci95_low / value.median : (double)NAN,
            .high = value.has_interval ? 100 * value.ci95_high / value.median : (double)NAN,
            .look = "",
            .note = xb_page_print(page, "%.1f %%", strip->most - strip->least)};
    }
    free(values);
    return ok;
}

static void draw(struct xb_page *page, const struct xb_record *record,
                 const struct drawing *drawing)
{
    static const struct xb_plot_level levels[] = {{"median", 100}};
    size_t widest = 0;
    for (size_t i = 1; i < drawing->count; i++) {
        const struct strip *strip = &drawing->all[i];
        const struct strip *most = &drawing->all[widest];
        widest = strip->most - strip->least > most->most - most->least ? i : widest;
    }
    struct xb_strips strips = {
        .picture = {.title = record->is_merged ? "Medians of the processes around their median"
                                               : "Samples around their median",
                    .description = xb_page_print(
                        page,
                        "%zu cases, a line each, with a point for each %s and the median's 95 %% "
                        "interval. The widest is %.200s: %s from least to largest.",
                        drawing->count, record->is_merged ? "process" : "sample",
                        drawing->strips[widest].name, drawing->strips[widest].note)},
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

static void write_samples(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_record *record = document->record;
    if (record == NULL || record->case_count == 0)
        return;
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    struct drawing *drawing = xb_page_new(page, 1, sizeof *drawing);
    bool has_more = false; /* samples than are drawn */
    /* The cases of the largest size first, then those of smaller ones, as far as there is room. */
    for (size_t i = 0; i < record->case_count; i++) {
        size_t at = drawing->count;
        if (at == DRAWN)
            drawing->left_out++;
        else if (fill(page, record, &parameters, record->by_size[i], &drawing->all[at],
                      &drawing->strips[at]))
            drawing->count++;
    }
    if (drawing->count > 0) {
        draw(page, record, drawing);
        xb_page_table_begin(page, "Least and largest, in % of the median",
                            record->is_merged ? "Case|#Processes|#Least|#Largest|#95 % interval"
                                              : "Case|#Samples|#Least|#Largest|#95 % interval");
        for (size_t i = 0; i < drawing->count; i++) {
            const struct strip *strip = &drawing->all[i];
            const struct xb_strip *drawn = &drawing->strips[i];
            xb_page_cell(page, "%s", drawn->name);
            xb_page_cell(page, "%zu", strip->samples);
            xb_page_cell(page, "%.2f", strip->least);
            xb_page_cell(page, "%.2f", strip->most);
            xb_page_cell_if(page, isfinite(drawn->low), "%.2f to %.2f", drawn->low, drawn->high);
            has_more = has_more || strip->samples > strip->drawn;
        }
        xb_page_table_end(page);
    } else {
        xb_page_remark(page, "No case has more than one sample.");
    }
    if (has_more)
        xb_page_remark(page, "Of more than %d samples of a case %d are drawn, evenly by rank.",
                       POINTS, POINTS);
    if (drawing->left_out > 0)
        xb_page_remark(page,
                       "%zu more cases are not drawn: the largest sizes come first, and %d have "
                       "room.",
                       drawing->left_out, DRAWN);
}

/* ---- the rows of a result ---- */

static void write_cell(void *page, int row, const char *text, bool is_right)
{
    if (row < 0)
        xb_page_column(page, text, is_right);
    else
        xb_page_cell(page, "%s", text);
}

static void write_rows(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->record == NULL || document->record->case_count == 0)
        return;
    struct xb_table *table = xb_table_of_rows(document->record, XB_ROWS_ALL);
    xb_page_table_begin(page, "All rows", "");
    xb_table_each(table, write_cell, page);
    xb_page_table_end(page);
    xb_table_free(table);
}

const struct xb_section xb_sections_of_samples[] = {
    {"samples", "How samples spread", write_samples},
    {"numbers", "All rows", write_rows},
    {.name = NULL},
};
