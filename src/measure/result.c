/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include "base/memory.h"
#include "base/text.h"
#include "record/making.h"
#include "record/mode_list.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void xb_result_warn(struct xb_result *result, const char *format, ...)
{
    size_t count = result->row.warning_count;
    assert(count < XB_RESULT_WARNINGS);
    if (count >= XB_RESULT_WARNINGS)
        return;
    XB_FORMAT(result->warnings[count], sizeof result->warnings[0], format);
    result->warning_list[count] = result->warnings[count];
    result->row.warning_texts = result->warning_list;
    result->row.warning_count++;
}

/* The place of the detail of that name: the last is one that is not shown, where there is no room.
 */
static size_t find_detail(struct xb_result *result, const char *name)
{
    size_t i = 0;
    while (i < result->row.detail_count && strcmp(result->details[i].name, name) != 0)
        i++;
    assert(i < XB_RESULT_DETAILS);
    if (i == result->row.detail_count && i < XB_RESULT_DETAILS)
        result->row.detail_count++;
    result->row.details = result->details;
    return i;
}

void xb_result_detail_number(struct xb_result *result, const char *key, double number)
{
    size_t i = find_detail(result, key);
    char *text = result->detail_texts[i];
    result->details[i] = (struct xb_record_fact){
        .name = key, .value = isfinite(number) ? xb_number_text(number, text, 128) : NULL};
}

void xb_result_detail_text(struct xb_result *result, const char *key, const char *format, ...)
{
    size_t i = find_detail(result, key);
    XB_FORMAT(result->detail_texts[i], sizeof result->detail_texts[i], format);
    result->details[i] = (struct xb_record_fact){key, result->detail_texts[i], true};
}

/* NULL where there is none. */
static struct xb_result_figure *find_figure(const struct xb_result *result,
                                            const struct xb_figure *figure)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == figure)
            return (struct xb_result_figure *)&result->figures[i];
    return NULL;
}

static struct xb_result_figure *add_figure(struct xb_result *result, const struct xb_figure *figure)
{
    struct xb_result_figure *found = find_figure(result, figure);
    assert(found != NULL || result->figure_count < XB_RESULT_FIGURES);
    if (found == NULL && result->figure_count < XB_RESULT_FIGURES) {
        found = &result->figures[result->figure_count++];
        *found = (struct xb_result_figure){.figure = figure};
    }
    return found;
}

void xb_result_compute(struct xb_result *result, const struct xb_figure *figure, double value)
{
    struct xb_result_figure *added = isfinite(value) ? add_figure(result, figure) : NULL;
    if (added != NULL)
        added->computed = value;
}

enum xb_status xb_result_sample(struct xb_result *result, const struct xb_figure *figure,
                                double value, struct xb_error *error)
{
    struct xb_result_figure *added = add_figure(result, figure);
    return added != NULL ? xb_samples_add(&added->samples, value, error) : XB_OK;
}

/* Makes the rate of each sample anew. False where there is no memory for them. */
static bool make_rates(struct xb_result *result)
{
    free(result->rates);
    result->rates = xb_try(result->times.count, sizeof *result->rates);
    for (size_t i = 0; result->rates != NULL && i < result->times.count; i++)
        result->rates[i] = (double)result->bytes_moved / result->times.values[i];
    return result->rates != NULL;
}

enum xb_status xb_result_describe(struct xb_result *result, struct xb_error *error)
{
    size_t count = result->times.count;
    if (!make_rates(result))
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe %zu samples", count);
    if (result->placement_count > 0)
        return xb_statistics_compute_groups(result->rates, result->placement_samples,
                                            result->placement_count, &result->bandwidth, error);
    return xb_statistics_compute(result->rates, count, &result->bandwidth, error);
}

bool xb_result_has(const struct xb_result *result, const struct xb_figure *figure)
{
    return find_figure(result, figure) != NULL;
}

double xb_result_median(const struct xb_result *result, const struct xb_figure *figure)
{
    const struct xb_result_figure *found = find_figure(result, figure);
    if (found == NULL || found->samples.count == 0)
        return found != NULL ? found->computed : 0;
    double *sorted = xb_new(found->samples.count, sizeof *sorted);
    memcpy(sorted, found->samples.values, found->samples.count * sizeof *sorted);
    double median = xb_median_of(sorted, found->samples.count);
    free(sorted);
    return median;
}

/* ---- the row of a result that is final ---- */

/* A healthy link may read so much above its ceiling: the same tolerance as XB-BW-ABOVE has. */
#define MOST_OF_CEILING 1.01

/* Adds a figure that has any samples. Where they are not kept, they are left out of the row: for
 * each of them a file of single operations would be half as large again. Those by the device's
 * clock are the row's times. */
static void add_sampled(struct xb_result *result, const struct xb_figure *figure,
                        const struct xb_samples *samples, bool keeps)
{
    struct xb_record_row *row = &result->row;
    if (samples->count == 0)
        return;
    struct xb_record_figure *added = &result->described[row->figure_count++];
    *added = xb_record_figure_of(figure);
    added->samples = samples->values;
    added->sample_count = samples->count;
    if (samples->count == row->time_count)
        added->placements = row->placements;
    xb_record_figure_describe(added);
    added->samples = keeps ? added->samples : NULL;
    added->sample_count = keeps ? added->sample_count : 0;
}

static void add_computed(struct xb_result *result, const struct xb_figure *figure, double value)
{
    struct xb_record_figure *added = &result->described[result->row.figure_count++];
    *added = xb_record_figure_of(figure);
    added->statistics = xb_record_median_only(value, 0);
}

static void add_share(struct xb_result *result, const struct xb_figure *share,
                      const struct xb_figure *bandwidth, double ceiling)
{
    const struct xb_record_figure *rate = xb_record_row_figure(&result->row, bandwidth->name);
    /* Else the link was read wrongly. */
    if (rate != NULL && rate->statistics.median <= MOST_OF_CEILING * ceiling)
        add_computed(result, share, rate->statistics.median / ceiling);
}

/* A row of single operations has their times by either clock, and no bandwidth: a rate of so few
 * bytes would mean nothing. Its wall time is latency_host. A mode that is about a latency of its
 * own has added that. */
static void add_figures(struct xb_result *result, const struct xb_ceiling *ceiling)
{
    const struct xb_samples *times = &result->times, *submit = &result->submit_times;
    if (!make_rates(result))
        xb_memory_end(times->count * sizeof *result->rates);
    const struct xb_samples rates = {.values = result->rates, .count = times->count};
    result->described = xb_new(XB_RESULT_FIGURES + 6, sizeof *result->described);
    result->row.figures = result->described;
    if (xb_case_is_single(&result->test)) {
        add_sampled(result, &xb_figure_latency_host, &result->wall_times, true);
        if (result->event_times)
            add_sampled(result, &xb_figure_latency_device, times, false);
        add_sampled(result, &xb_figure_submit_time, submit, false);
    } else if (!result->test.latency) {
        add_sampled(result, &xb_figure_bandwidth, &rates, true);
        add_sampled(result, &xb_figure_submit_time, submit, true);
        add_sampled(result, &xb_figure_wall_time, &result->wall_times, true);
    }
    for (size_t i = 0; i < result->figure_count; i++) {
        const struct xb_result_figure *own = &result->figures[i];
        if (own->samples.count == 0)
            add_computed(result, own->figure, own->computed);
        add_sampled(result, own->figure, &own->samples, true);
    }
    /* How much of what the link can carry the row's bandwidth is, where its time is that of one
     * crossing of the link. */
    const struct xb_case *test = &result->test;
    if (ceiling == NULL || !result->device_timer || test->latency || test->mode->crosses_otherwise)
        return;
    if (test->direction == XB_BIDIR) {
        add_share(result, &xb_figure_share_of_ceiling_h2d, &xb_figure_bandwidth_h2d, ceiling->h2d);
        add_share(result, &xb_figure_share_of_ceiling_d2h, &xb_figure_bandwidth_d2h, ceiling->d2h);
    } else if (test->direction != XB_D2D && result->bytes_moved == test->bytes) {
        add_share(result, &xb_figure_share_of_ceiling, &xb_figure_bandwidth,
                  test->direction == XB_H2D ? ceiling->h2d : ceiling->d2h);
    }
}

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void drop_figures(struct xb_result *result)
{
    free(result->described);
    result->described = NULL;
    result->row.figures = NULL;
    result->row.figure_count = 0;
}

void xb_result_finish(struct xb_result *result, const struct xb_ceiling *ceiling)
{
    struct xb_record_row *row = &result->row;
    const struct xb_error *error = &result->error;
    bool measured = result->bandwidth.n > 0;
    row->is_there = true;
    row->is_cut =
        result->stop_reason == XB_STOP_INTERRUPTED || result->stop_reason == XB_STOP_DEADLINE;
    /* A case whose data was wrong in one of several placements ended for no such reason. */
    if (result->stop_reason != XB_STOP_NOT_YET &&
        (measured || (row->is_cut && row->status == XB_RESULT_SKIPPED)))
        row->stop_reason = xb_stop_reason_name(result->stop_reason);
    row->reason = known(result->reason);
    if (error->status != XB_OK) {
        if (error->file != NULL)
            snprintf(result->error_place, sizeof result->error_place, "%s:%d", error->file,
                     error->line);
        row->error = (struct xb_record_error){.known = true,
                                              .status = xb_status_name(error->status),
                                              .native_code = error->native_code,
                                              .native_name = known(error->native_name),
                                              .call = known(error->call),
                                              .message = known(error->message),
                                              .at = known(result->error_place)};
    }
    drop_figures(result);
    if (!measured)
        return;
    row->timer = result->device_timer ? "device-event" : "host-clock";
    row->bytes_moved = result->bytes_moved;
    row->times = result->times.values;
    row->time_count = result->times.count;
    row->placements = (struct xb_record_placements){.samples = result->placement_samples,
                                                    .count = result->placement_count};
    if (row->status == XB_RESULT_OK)
        add_figures(result, ceiling);
}

void xb_timeline_free(struct xb_timeline *timeline)
{
    free(timeline->tracks);
    free(timeline->spans);
    memset(timeline, 0, sizeof *timeline);
}

void xb_result_drop_timeline(struct xb_result *result)
{
    if (result->timeline != NULL)
        xb_timeline_free(result->timeline);
    free(result->timeline);
    result->timeline = NULL;
}

void xb_result_free(struct xb_result *result)
{
    xb_result_drop_timeline(result);
    drop_figures(result);
    free(result->rates);
    xb_samples_free(&result->times);
    xb_samples_free(&result->submit_times);
    xb_samples_free(&result->wall_times);
    for (size_t i = 0; i < result->figure_count; i++)
        xb_samples_free(&result->figures[i].samples);
}
