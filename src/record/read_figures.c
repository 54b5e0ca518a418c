/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a row. */
#include "reader.h"

#include "record/mode_list.h"

#include <math.h>
#include <string.h>

/* More of these come from no run. */
#define MOST_FIGURES 64
#define MOST_OTHER 9007199254740992.0 /* of a figure that is neither a rate nor a time: 2^53 */

#define ROUNDING 1e-6 /* between what describes samples and the samples */

/* ---- one figure ---- */

static double most_of(const char *unit)
{
    if (unit == NULL || strcmp(unit, XB_UNIT_RATIO) == 0)
        return MOST_OTHER;
    return strcmp(unit, XB_UNIT_SECONDS) == 0 ? XB_RECORD_MOST_SECONDS : XB_RECORD_MOST_RATE;
}

static void read_kind(struct xb_reader *reader, const cJSON *object,
                      struct xb_record_figure *figure)
{
    figure->name = xb_json_get_text(&reader->json, object, "name");
    figure->unit = xb_json_get_text(&reader->json, object, "unit");
    figure->more_is_better = xb_json_get_flag(&reader->json, object, "more_is_better");
    figure->gates = xb_json_get_flag(&reader->json, object, "gates");
    if (xb_json_failed(&reader->json))
        return;
    const struct xb_figure *known = xb_figure_find(figure->name);
    if (known != NULL && strcmp(known->unit, figure->unit) != 0)
        xb_json_refuse(&reader->json, "unit", "is not \"%s\", which that of %s is", known->unit,
                       known->name);
}

/* compare divides by the median of what it judges by. */
static void read_statistics(struct xb_reader *reader, const cJSON *object,
                            struct xb_record_figure *figure)
{
    struct xb_statistics *statistics = &figure->statistics;
    double most = most_of(figure->unit);
    uint64_t n = xb_json_get_whole(&reader->json, object, "n", 0, XB_RECORD_MOST_BYTES);
    statistics->n = (size_t)n;
    if (figure->gates)
        statistics->median = xb_json_get_number(&reader->json, object, "median", most);
    else
        statistics->median = xb_json_get_known_number(&reader->json, object, "median", most);
    statistics->ci95_low = xb_json_get_known_number(&reader->json, object, "ci95_low", most);
    statistics->ci95_high = xb_json_get_known_number(&reader->json, object, "ci95_high", most);
    statistics->min = xb_json_get_known_number(&reader->json, object, "min", most);
    statistics->max = xb_json_get_known_number(&reader->json, object, "max", most);
    statistics->p5 = xb_json_get_known_number(&reader->json, object, "p5", most);
    statistics->p95 = xb_json_get_known_number(&reader->json, object, "p95", most);
    statistics->p99 = xb_json_get_known_number(&reader->json, object, "p99", most);
    statistics->mad = xb_json_get_known_number(&reader->json, object, "mad", most);
    statistics->has_interval = !isnan(statistics->ci95_low) || !isnan(statistics->ci95_high);
    if (isnan(statistics->median))
        xb_json_refuse(&reader->json, "median", "must be a number");
}

/* ---- whether its numbers fit together ---- */

static void check_interval(struct xb_reader *reader, const struct xb_statistics *statistics)
{
    if (statistics->has_interval && !(statistics->ci95_low <= statistics->median &&
                                      statistics->median <= statistics->ci95_high))
        xb_json_refuse(&reader->json, NULL, "the median is not within its interval");
}

/* Of what is known. */
static void check_order(struct xb_reader *reader, const struct xb_record_figure *figure)
{
    const struct xb_statistics *statistics = &figure->statistics;
    const double values[] = {statistics->min, statistics->p5,  statistics->median,
                             statistics->p95, statistics->p99, statistics->max};
    double before = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (isnan(values[i]))
            continue;
        if (values[i] < before * (1.0 - ROUNDING))
            xb_json_refuse(&reader->json, NULL,
                           "min, p5, median, p95, p99 and max are not in this order");
        before = values[i];
    }
}

/* What was computed from other figures has no spread. */
static void check_computed(struct xb_reader *reader, const struct xb_record_figure *figure)
{
    const struct xb_statistics *statistics = &figure->statistics;
    const double others[] = {statistics->min, statistics->max, statistics->p5,
                             statistics->p95, statistics->p99, statistics->mad};
    bool alone = !statistics->has_interval && figure->sample_count == 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        alone = alone && isnan(others[i]);
    if (!alone)
        xb_json_refuse(&reader->json, "n", "is 0: such a figure has a median only");
}

/* Of what stands in the file of samples: each number but for rounding. */
static void check_samples(struct xb_reader *reader, const struct xb_record_figure *figure)
{
    struct xb_record_figure own = *figure;
    struct xb_error no_memory; /* does not name the file */
    if (xb_json_failed(&reader->json) || figure->sample_count == 0)
        return;
    if (figure->sample_count != figure->statistics.n)
        xb_json_refuse(&reader->json, "samples", "are %zu, and n is %zu", figure->sample_count,
                       figure->statistics.n);
    if (xb_record_figure_describe(&own, &no_memory) != XB_OK) {
        xb_json_refuse_memory(&reader->json);
        return;
    }
    const struct xb_statistics *a = &own.statistics;
    const struct xb_statistics *b = &figure->statistics;
    const double pairs[][2] = {
        {a->median, b->median}, {a->ci95_low, b->ci95_low}, {a->ci95_high, b->ci95_high},
        {a->min, b->min},       {a->max, b->max},           {a->p5, b->p5},
        {a->p95, b->p95},       {a->p99, b->p99},           {a->mad, b->mad}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!isnan(pairs[i][1]) && !(fabs(pairs[i][0] - pairs[i][1]) <= ROUNDING * pairs[i][0]))
            xb_json_refuse(&reader->json, "samples",
                           "these samples do not give the %.6g that stands beside them",
                           pairs[i][1]);
}

static void read_figure(struct xb_reader *reader, const cJSON *object,
                        const struct xb_record_row *row, struct xb_record_figure *figure)
{
    if (!cJSON_IsObject(object)) {
        xb_json_refuse(&reader->json, NULL, "must be an object");
        return;
    }
    read_kind(reader, object, figure);
    read_statistics(reader, object, figure);
    xb_reader_need_numbers(reader, object, "samples", false, most_of(figure->unit),
                           &figure->samples, &figure->sample_count);
    if (figure->sample_count == row->time_count)
        figure->placements = row->placements;
    if (figure->statistics.n == 0)
        check_computed(reader, figure);
    check_interval(reader, &figure->statistics);
    check_order(reader, figure);
    check_samples(reader, figure);
}

/* ---- those of a row ---- */

static void check_name(struct xb_reader *reader, const struct xb_record_row *row,
                       const struct xb_record_figure *figure)
{
    if (!xb_json_failed(&reader->json) && xb_record_row_figure(row, figure->name) != NULL)
        xb_json_refuse(&reader->json, "name", "is that of another figure of this row: %.60s",
                       figure->name);
}

void xb_reader_read_figures(struct xb_reader *reader, const cJSON *object,
                            const struct xb_record_case *test, struct xb_record_row *row)
{
    const char *main_figure = xb_mode_main_figure(test->mode, test->latency)->name;
    const cJSON *item;
    const cJSON *figures = xb_json_get_array(&reader->json, object, "figures");
    size_t count = (size_t)cJSON_GetArraySize(figures);
    if (count > MOST_FIGURES)
        xb_json_refuse(&reader->json, "figures", "are more than %d", MOST_FIGURES);
    if (count > 0 && row->status != XB_RESULT_OK)
        xb_json_refuse(&reader->json, "figures", "must be none in a row that is not ok");
    struct xb_record_figure *kept = xb_reader_room(reader, count, sizeof *kept);
    if (kept == NULL)
        return;
    row->figures = kept;
    size_t outer = xb_place_enter(&reader->json.place, "figures");
    cJSON_ArrayForEach(item, figures)
    {
        size_t length = xb_place_enter_item(&reader->json.place, row->figure_count);
        read_figure(reader, item, row, &kept[row->figure_count]);
        check_name(reader, row, &kept[row->figure_count]);
        xb_place_leave(&reader->json.place, length);
        if (xb_json_failed(&reader->json))
            return;
        row->figure_count++;
    }
    xb_place_leave(&reader->json.place, outer);
    if (row->status == XB_RESULT_OK && xb_record_row_figure(row, main_figure) == NULL)
        xb_json_refuse(&reader->json, "figures", "have no %s", main_figure);
}
