/* SPDX-License-Identifier: Apache-2.0 */
/* How far the samples of each case lie from its median. */
#include "sections.h"

#include "plot/strips.h"
#include "record/mode_list.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN 30  /* cases */
#define POINTS 60 /* of a case */

static bool speaks(const struct xb_report_document *document)
{
    return document->record != NULL && document->record->case_count > 0;
}

/* A case with its samples, each as a share of their median. */
struct strip {
    const struct xb_record_case *test;
    double shares[POINTS];
    size_t drawn, samples;
    double low, high; /* the interval, as shares */
    double least, most;
    char name[240], note[64];
};

struct drawing {
    struct strip all[DRAWN];
    struct xb_strip strips[DRAWN];
    size_t count, left_out;
    char description[512];
};

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The samples of a figure: of one process those that it took, of several their medians. The
 * caller frees them; NULL: there are none, or no memory. */
static double *samples_of(const struct xb_record *record, const struct xb_record_case *test,
                          size_t *count)
{
    const char *name = xb_mode_main_figure(test->mode, test->latency)->name;
    const struct xb_record_figure *figure = xb_record_row_figure(&test->rows[0], name);
    *count = record->is_merged ? record->process_count : figure != NULL ? figure->sample_count : 0;
    double *values = *count > 0 ? malloc(*count * sizeof *values) : NULL;
    if (values == NULL)
        return NULL;
    if (record->is_merged)
        *count = xb_record_medians(record, test, name, values);
    else
        memcpy(values, figure->samples, *count * sizeof *values);
    return values;
}

/* Of very many samples some, evenly by rank: the least and the largest are among them. */
static void take(struct strip *strip, double *values, size_t count, double median)
{
    qsort(values, count, sizeof *values, by_value);
    strip->samples = count;
    strip->drawn = count < POINTS ? count : POINTS;
    for (size_t i = 0; i < strip->drawn; i++) {
        size_t rank = count < POINTS ? i : i * (count - 1) / (POINTS - 1);
        strip->shares[i] = 100 * values[rank] / median;
    }
    strip->least = 100 * values[0] / median;
    strip->most = 100 * values[count - 1] / median;
}

/* Whether the case has two samples or more. */
static bool fill(const struct xb_ways *ways, const struct xb_record_case *test, struct strip *strip)
{
    struct xb_statistics value;
    struct xb_words name = {.length = 0};
    char text[32];
    size_t count = 0;
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double *values = samples_of(ways->record, test, &count);
    bool ok = values != NULL && count > 1 &&
              xb_record_describe(ways->record, test, figure->name, &value) && value.median > 0;
    if (ok) {
        strip->test = test;
        take(strip, values, count, value.median);
        strip->low = value.has_interval ? 100 * value.ci95_low / value.median : (double)NAN;
        strip->high = value.has_interval ? 100 * value.ci95_high / value.median : (double)NAN;
        xb_way_add_name(&name, ways, test);
        xb_words_add(&name, " %s%s", test->direction, test->latency ? " latency" : "");
        if (!test->latency)
            xb_words_add(&name, " %s", xb_size_format(test->bytes, text, sizeof text));
        snprintf(strip->name, sizeof strip->name, "%.230s", name.text);
        snprintf(strip->note, sizeof strip->note, "%.1f %%", strip->most - strip->least);
    }
    free(values);
    return ok;
}

/* The cases of the largest size first, then those of smaller ones, as far as there is room. */
static void collect(const struct xb_ways *ways, struct drawing *drawing)
{
    for (size_t i = 0; i < ways->record->case_count; i++) {
        if (drawing->count == DRAWN)
            drawing->left_out++;
        else if (fill(ways, ways->record->by_size[i], &drawing->all[drawing->count]))
            drawing->count++;
    }
}

static enum xb_status draw(struct xb_page *page, const struct xb_record *record,
                           struct drawing *drawing, struct xb_error *error)
{
    static const struct xb_level levels[] = {{"median", 100}};
    const struct strip *widest = &drawing->all[0];
    for (size_t i = 0; i < drawing->count; i++) {
        const struct strip *strip = &drawing->all[i];
        widest = strip->most - strip->least > widest->most - widest->least ? strip : widest;
        drawing->strips[i] = (struct xb_strip){.name = strip->name,
                                               .samples = strip->shares,
                                               .sample_count = strip->drawn,
                                               .middle = 100,
                                               .low = strip->low,
                                               .high = strip->high,
                                               .look = "",
                                               .note = strip->note};
    }
    snprintf(
        drawing->description, sizeof drawing->description,
        "%zu cases, a line each, with a point for each %s and the median's 95 %% interval. The "
        "widest is %.200s: %s from least to largest.",
        drawing->count, record->is_merged ? "process" : "sample", widest->name, widest->note);
    const struct xb_strips strips = {
        .picture = {.title = record->is_merged ? "Medians of the processes around their median"
                                               : "Samples around their median",
                    .description = drawing->description},
        .x = {XB_SCALE_LINEAR, "% of the case's median"},
        /* So that what is next to nothing looks like it. */
        .x_low = 99,
        .x_high = 101,
        .strips = drawing->strips,
        .count = drawing->count,
        .levels = levels,
        .level_count = 1};
    return xb_page_strips(page, &strips, error);
}

static void write_table(struct xb_page *page, const struct xb_record *record,
                        const struct drawing *drawing)
{
    xb_page_table_begin(page, "Least and largest, in % of the median");
    xb_page_column(page, "Case", false);
    xb_page_column(page, record->is_merged ? "Processes" : "Samples", true);
    xb_page_column(page, "Least", true);
    xb_page_column(page, "Largest", true);
    xb_page_column(page, "95 % interval", true);
    for (size_t i = 0; i < drawing->count; i++) {
        const struct strip *strip = &drawing->all[i];
        xb_page_cell(page, "%s", strip->name);
        xb_page_cell(page, "%zu", strip->samples);
        xb_page_cell(page, "%.2f", strip->least);
        xb_page_cell(page, "%.2f", strip->most);
        if (isfinite(strip->low))
            xb_page_cell(page, "%.2f to %.2f", strip->low, strip->high);
        else
            xb_page_cell(page, "-");
    }
    xb_page_table_end(page);
}

static bool has_more_samples(const struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->count; i++)
        if (drawing->all[i].samples > drawing->all[i].drawn)
            return true;
    return false;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_record *record = document->record;
    const struct xb_ways ways = {.record = record, .parameters = xb_parameters_that_differ(record)};
    struct drawing *drawing = calloc(1, sizeof *drawing);
    enum xb_status status = XB_OK;
    if (drawing == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    collect(&ways, drawing);
    if (drawing->count > 0)
        status = draw(page, record, drawing, error);
    if (status == XB_OK && drawing->count > 0)
        write_table(page, record, drawing);
    if (drawing->count == 0)
        xb_page_remark(page, "No case has more than one sample.");
    if (has_more_samples(drawing))
        xb_page_remark(page, "Of more than %d samples of a case %d are drawn, evenly by rank.",
                       POINTS, POINTS);
    if (drawing->left_out > 0)
        xb_page_remark(page,
                       "%zu more cases are not drawn: the largest sizes come first, and %d have "
                       "room.",
                       drawing->left_out, DRAWN);
    free(drawing);
    return status;
}

const struct xb_section xb_section_samples = {
    .name = "samples",
    .title = "How samples spread",
    .speaks = speaks,
    .write = write,
};
