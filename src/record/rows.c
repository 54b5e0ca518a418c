/* SPDX-License-Identifier: Apache-2.0 */
/* What came of the cases. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BANDWIDTH 1e15 /* bytes per second: no machine has a thousandth of it */
#define MOST_SECONDS 1e6    /* of an operation: eleven days */
#define MOST_BYTES (UINT64_C(1) << 53)
#define ROUNDING 1e-6 /* between a median and that of its samples */

static int compare_texts(const char *a, const char *b, int otherwise)
{
    int order = strcmp(a, b);
    return order != 0 ? order : otherwise;
}

static int compare_numbers(int64_t a, int64_t b, int otherwise)
{
    return a != b ? (a > b) - (a < b) : otherwise;
}

int xb_record_compare_cases(const struct xb_record_case *a, const struct xb_record_case *b)
{
    int order = compare_numbers(a->simultaneous, b->simultaneous, 0);
    order = compare_numbers(a->latency, b->latency, order);
    order = compare_numbers(a->peer, b->peer, order);
    order = compare_numbers(a->device, b->device, order);
    order = compare_numbers((int64_t)a->bytes, (int64_t)b->bytes, order);
    order = compare_texts(a->direction, b->direction, order);
    order = compare_texts(a->variant, b->variant, order);
    return compare_texts(a->mode, b->mode, order);
}

static enum xb_status read_case(const struct xb_place *place, const cJSON *row,
                                struct xb_record_case *test, struct xb_error *error)
{
    enum xb_status status = xb_json_need_text(place, row, "mode", &test->mode, error);
    if (status == XB_OK)
        status = xb_json_need_text(place, row, "variant", &test->variant, error);
    if (status == XB_OK)
        status = xb_json_need_text(place, row, "direction", &test->direction, error);
    if (status == XB_OK)
        status = xb_json_need_whole(place, row, "bytes", 1, MOST_BYTES, &test->bytes, error);
    if (status == XB_OK)
        status = xb_json_need_index(place, row, "device", &test->device, error);
    if (status == XB_OK)
        status = xb_json_need_index(place, row, "peer", &test->peer, error);
    if (status == XB_OK)
        status = xb_json_need_flag(place, row, "latency", &test->latency, error);
    if (status == XB_OK)
        status = xb_json_need_flag(place, row, "simultaneous", &test->simultaneous, error);
    return status;
}

static enum xb_status read_status(const struct xb_place *place, const cJSON *row,
                                  struct xb_record_row *read, struct xb_error *error)
{
    const char *word = NULL;
    const cJSON *verified = NULL;
    enum xb_status status = xb_json_need_text(place, row, "status", &word, error);
    if (status == XB_OK)
        status = xb_json_need(place, row, "verified", &verified, error);
    if (status == XB_OK)
        status = xb_json_take_text(place, row, "reason", &read->reason, error);
    if (status != XB_OK)
        return status;
    int number = XB_RESULT_OK;
    while (number <= XB_RESULT_ERROR &&
           strcmp(word, xb_result_status_name((enum xb_result_status)number)) != 0)
        number++;
    if (number > XB_RESULT_ERROR)
        return xb_json_wrong(place, "status", error, "must be ok, skipped or error");
    if (!cJSON_IsBool(verified) && !cJSON_IsNull(verified))
        return xb_json_wrong(place, "verified", error, "must be true, false or null");
    read->status = (enum xb_result_status)number;
    read->verified = cJSON_IsNull(verified)   ? XB_VERIFIED_UNKNOWN
                     : cJSON_IsTrue(verified) ? XB_VERIFIED_TRUE
                                              : XB_VERIFIED_FALSE;
    if (read->status == XB_RESULT_OK && read->verified != XB_VERIFIED_TRUE)
        return xb_json_wrong(place, "verified", error,
                             "is not true in a row that is ok: xferbench writes no such row");
    return XB_OK;
}

/* The median of the samples themselves, of their rates where bytes are moved; NAN where there are
 * none, or where one is no time. */
static enum xb_status median_of_samples(const struct xb_place *place, const cJSON *samples,
                                        uint64_t bytes_moved, double *median,
                                        struct xb_error *error)
{
    const cJSON *sample;
    size_t count = (size_t)cJSON_GetArraySize(samples);
    bool sound = count > 0;
    double *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu samples of %.200s", count,
                       place->path);
    count = 0;
    cJSON_ArrayForEach(sample, samples)
    {
        double seconds = cJSON_GetNumberValue(sample);
        sound = sound && seconds > 0.0 && seconds <= MOST_SECONDS;
        values[count++] = bytes_moved > 0 ? (double)bytes_moved / seconds : seconds;
    }
    *median = sound ? xb_median_of(values, count) : NAN;
    free(values);
    return XB_OK;
}

/* A figure that somebody changed by hand, or that a fault of ours broke, does not fit its samples.
 * Without bytes it is a time. */
static enum xb_status check_samples(const struct xb_place *place, const cJSON *row,
                                    uint64_t bytes_moved, double median, struct xb_error *error)
{
    const cJSON *samples = NULL;
    double own = 0;
    enum xb_status status = xb_json_need_array(place, row, "samples_s", &samples, error);
    if (status == XB_OK)
        status = median_of_samples(place, samples, bytes_moved, &own, error);
    if (status == XB_OK && !(fabs(own - median) <= ROUNDING * median))
        return xb_json_wrong(place, "samples_s", error,
                             "these samples do not give the median %.6g %s that stands beside them",
                             median, bytes_moved > 0 ? "B/s" : "s");
    return status;
}

static enum xb_status read_interval(const struct xb_place *place, const cJSON *bandwidth,
                                    struct xb_record_value *value, struct xb_error *error)
{
    const cJSON *low = NULL;
    const cJSON *high = NULL;
    enum xb_status status = xb_json_need(place, bandwidth, "ci95_low", &low, error);
    if (status == XB_OK)
        status = xb_json_need(place, bandwidth, "ci95_high", &high, error);
    if (status != XB_OK || (cJSON_IsNull(low) && cJSON_IsNull(high)))
        return status;
    status = xb_json_need_number(place, bandwidth, "ci95_low", MOST_BANDWIDTH, &value->low, error);
    if (status == XB_OK)
        status =
            xb_json_need_number(place, bandwidth, "ci95_high", MOST_BANDWIDTH, &value->high, error);
    if (status == XB_OK && (value->low > value->median || value->high < value->median))
        status = xb_json_wrong(place, NULL, error, "the median is not within its interval");
    value->has_interval = status == XB_OK;
    return status;
}

static enum xb_status read_bandwidth(struct xb_place *place, const cJSON *row,
                                     struct xb_record_value *value, struct xb_error *error)
{
    const char *key = "bandwidth_bytes_per_second";
    const cJSON *bandwidth = NULL;
    uint64_t bytes_moved = 0;
    enum xb_status status = xb_json_need_object(place, row, key, &bandwidth, error);
    if (status == XB_OK)
        status = xb_json_need_whole(place, row, "bytes_moved", 1, MOST_BYTES, &bytes_moved, error);
    if (status != XB_OK)
        return status;
    size_t length = xb_place_enter(place, key);
    status = xb_json_need_number(place, bandwidth, "median", MOST_BANDWIDTH, &value->median, error);
    if (status == XB_OK)
        status = read_interval(place, bandwidth, value, error);
    xb_place_leave(place, length);
    if (status == XB_OK)
        status = check_samples(place, row, bytes_moved, value->median, error);
    value->is_set = status == XB_OK;
    return status;
}

/* One clock's; null where it was not read. */
static enum xb_status read_percentiles(struct xb_place *place, const cJSON *latency,
                                       const char *clock, struct xb_record_value *value,
                                       struct xb_error *error)
{
    const cJSON *percentiles = NULL;
    enum xb_status status = xb_json_need(place, latency, clock, &percentiles, error);
    if (status != XB_OK || cJSON_IsNull(percentiles))
        return status;
    status = xb_json_need_object(place, latency, clock, &percentiles, error);
    if (status != XB_OK)
        return status;
    size_t length = xb_place_enter(place, clock);
    status = xb_json_need_number(place, percentiles, "p50", MOST_SECONDS, &value->median, error);
    xb_place_leave(place, length);
    value->is_set = status == XB_OK;
    return status;
}

/* The samples are those of the device's clock, if that was read. */
static enum xb_status read_latency(struct xb_place *place, const cJSON *row,
                                   struct xb_record_value *values, struct xb_error *error)
{
    const struct xb_record_value *device = &values[XB_METRIC_DEVICE_LATENCY];
    const cJSON *latency = NULL;
    enum xb_status status = xb_json_need_object(place, row, "latency_s", &latency, error);
    if (status != XB_OK)
        return status;
    size_t length = xb_place_enter(place, "latency_s");
    status = read_percentiles(place, latency, "host", &values[XB_METRIC_HOST_LATENCY], error);
    if (status == XB_OK)
        status =
            read_percentiles(place, latency, "device", &values[XB_METRIC_DEVICE_LATENCY], error);
    xb_place_leave(place, length);
    if (status == XB_OK && !values[XB_METRIC_HOST_LATENCY].is_set)
        return xb_json_wrong(place, "latency_s", error, "has no percentiles by the host's clock");
    if (status == XB_OK && device->is_set)
        status = check_samples(place, row, 0, device->median, error);
    return status;
}

/* An array of texts, or nothing. */
static enum xb_status read_warnings(const struct xb_place *place, const cJSON *row,
                                    struct xb_record_row *read, struct xb_error *error)
{
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(row, "warnings");
    const cJSON *item;
    if (warnings == NULL)
        return XB_OK;
    if (!cJSON_IsArray(warnings))
        return xb_json_wrong(place, "warnings", error, "must be an array");
    if (cJSON_GetArraySize(warnings) > XB_RESULT_WARNINGS)
        return xb_json_wrong(place, "warnings", error, "are more than %d", XB_RESULT_WARNINGS);
    cJSON_ArrayForEach(item, warnings)
    {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            return xb_json_wrong(place, "warnings", error, "must be texts that are not empty");
    }
    read->warnings = warnings;
    return XB_OK;
}

/* Why no further sample was taken; a row without samples has none. */
static enum xb_status read_stop(const struct xb_place *place, const cJSON *row,
                                struct xb_record_row *read, struct xb_error *error)
{
    const char *word = NULL;
    enum xb_status status = xb_json_take_text(place, row, "stop_reason", &word, error);
    read->is_cut = status == XB_OK && word != NULL &&
                   (strcmp(word, xb_stop_reason_name(XB_STOP_INTERRUPTED)) == 0 ||
                    strcmp(word, xb_stop_reason_name(XB_STOP_DEADLINE)) == 0);
    return status;
}

static enum xb_status read_figures(struct xb_place *place, const cJSON *row,
                                   struct xb_record_entry *entry, struct xb_error *error)
{
    struct xb_record_value *values = entry->row.values;
    enum xb_status status = entry->test.latency
                                ? read_latency(place, row, values, error)
                                : read_bandwidth(place, row, &values[XB_METRIC_BANDWIDTH], error);
    if (entry->row.is_cut)
        memset(values, 0, sizeof entry->row.values);
    return status;
}

static enum xb_status read_row(struct xb_place *place, const cJSON *row,
                               struct xb_record_entry *entry, struct xb_error *error)
{
    if (!cJSON_IsObject(row))
        return xb_json_wrong(place, NULL, error, "must be an object");
    entry->row.is_there = true;
    enum xb_status status = read_case(place, row, &entry->test, error);
    if (status == XB_OK)
        status = read_status(place, row, &entry->row, error);
    if (status == XB_OK)
        status = read_warnings(place, row, &entry->row, error);
    if (status == XB_OK)
        status = read_stop(place, row, &entry->row, error);
    if (status != XB_OK || entry->row.status != XB_RESULT_OK)
        return status;
    status = xb_json_need_text(place, row, "timer", &entry->row.timer, error);
    return status == XB_OK ? read_figures(place, row, entry, error) : status;
}

enum xb_status xb_record_read_rows(struct xb_place *place, const cJSON *document, size_t process,
                                   struct xb_record_entry **entries, size_t *count,
                                   struct xb_error *error)
{
    const cJSON *results = NULL;
    const cJSON *row;
    enum xb_status status = xb_json_need_array(place, document, "results", &results, error);
    if (status != XB_OK)
        return status;
    size_t more = (size_t)cJSON_GetArraySize(results);
    if (more > XB_RECORD_CASES)
        return xb_json_wrong(place, "results", error, "has %zu rows; a run has at most %d", more,
                             XB_RECORD_CASES);
    struct xb_record_entry *grown = realloc(*entries, (*count + more + 1) * sizeof *grown);
    if (grown == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu results of %.200s", more,
                       place->path);
    *entries = grown;
    size_t index = 0;
    size_t outer = xb_place_enter(place, "results");
    cJSON_ArrayForEach(row, results)
    {
        struct xb_record_entry *entry = &grown[*count];
        *entry = (struct xb_record_entry){.process = process, .index = index, .order = *count};
        size_t length = xb_place_enter_item(place, index++);
        status = read_row(place, row, entry, error);
        xb_place_leave(place, length);
        if (status != XB_OK)
            break;
        (*count)++;
    }
    xb_place_leave(place, outer);
    return status;
}
