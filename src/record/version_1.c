/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of version 1. What is a figure now stood there under a key of its own, among the parts, or
 * among the details; what is a parameter stood among the options only. Here it gets today's name.
 */
#include "reader.h"

#include "measure/mode_list.h"

#include <math.h>
#include <string.h>

#define MOST_FIGURES 32 /* of a row: all that can stand in one, in all tables below, are fewer */
#define MOST_PARTS 16
#define MOST_KEYS 64

/* ---- parameters ---- */

/* From the options in effect, as a run makes them too. A mode that this program does not have has
 * none. */
void xb_version_1_read_parameters(struct xb_reader *reader, struct xb_record_case *test)
{
    const struct xb_mode *mode = !xb_json_failed(&reader->json) ? xb_mode_find(test->mode) : NULL;
    if (mode != NULL && !xb_record_make_parameters(reader->record, mode, test))
        xb_json_refuse_memory(&reader->json);
}

/* ---- figures while they are read ---- */

struct figures {
    struct xb_reader *reader;
    const cJSON *object; /* the row */
    struct xb_record_figure made[MOST_FIGURES];
    size_t count;
};

/* One more; NULL where this program does not know it, or where reading has failed. */
static struct xb_record_figure *add(struct figures *figures, const char *name)
{
    const struct xb_figure *figure = xb_figure_find(name);
    if (figure == NULL || xb_json_failed(&figures->reader->json) || figures->count == MOST_FIGURES)
        return NULL;
    struct xb_record_figure *added = &figures->made[figures->count++];
    *added = xb_record_figure_of(figure);
    return added;
}

/* Only the median is known; n is 0 for one that follows from others. */
static void add_median(struct figures *figures, const char *name, double median, size_t n)
{
    struct xb_record_figure *added = add(figures, name);
    if (added != NULL)
        added->statistics = xb_record_median_only(median, n);
}

/* By its samples, which are the record's. */
static struct xb_record_figure *add_samples(struct figures *figures, const char *name,
                                            const double *samples, size_t count)
{
    struct xb_reader *reader = figures->reader;
    struct xb_record_figure *added = count > 0 ? add(figures, name) : NULL;
    if (added == NULL)
        return NULL;
    added->samples = samples;
    added->sample_count = count;
    return xb_reader_describe(reader, added) ? added : NULL;
}

/* What moving so many bytes in each of the times gives, in bytes per second. */
static const double *rates_of(struct xb_reader *reader, uint64_t bytes, const double *times,
                              size_t count)
{
    double *rates = xb_reader_room(reader, count, sizeof *rates);
    for (size_t i = 0; rates != NULL && i < count; i++)
        rates[i] = (double)bytes / times[i];
    return rates;
}

/* ---- bandwidth and latency ---- */

/* Both ends or none. */
static void read_interval(struct xb_reader *reader, const cJSON *bandwidth,
                          struct xb_statistics *statistics)
{
    const cJSON *low = cJSON_GetObjectItemCaseSensitive(bandwidth, "ci95_low");
    const cJSON *high = cJSON_GetObjectItemCaseSensitive(bandwidth, "ci95_high");
    statistics->has_interval = !cJSON_IsNull(low) || !cJSON_IsNull(high);
    statistics->ci95_low = statistics->ci95_high = (double)NAN;
    if (!statistics->has_interval)
        return;
    statistics->ci95_low =
        xb_json_get_number(&reader->json, bandwidth, "ci95_low", XB_RECORD_MOST_RATE);
    statistics->ci95_high =
        xb_json_get_number(&reader->json, bandwidth, "ci95_high", XB_RECORD_MOST_RATE);
    xb_reader_check_interval(reader, statistics);
}

/* What describes the rates follows from them; what the file says of median and interval stands. */
static void read_bandwidth(struct figures *figures, const struct xb_record_row *row)
{
    static const char key[] = "bandwidth_bytes_per_second";
    struct xb_reader *reader = figures->reader;
    struct xb_statistics stated = {0};
    const cJSON *bandwidth = xb_json_get_object(&reader->json, figures->object, key);
    size_t length = xb_place_enter(&reader->json.place, key);
    stated.median = xb_json_get_number(&reader->json, bandwidth, "median", XB_RECORD_MOST_RATE);
    read_interval(reader, bandwidth, &stated);
    xb_place_leave(&reader->json.place, length);
    const double *rates = rates_of(reader, row->bytes_moved, row->times, row->time_count);
    struct xb_record_figure *added =
        rates != NULL ? add_samples(figures, "bandwidth", rates, row->time_count) : NULL;
    if (added == NULL)
        return;
    xb_reader_check_median(reader, "samples_s", added->statistics.median, stated.median,
                           XB_UNIT_RATE);
    added->statistics.median = stated.median;
    added->statistics.has_interval = stated.has_interval;
    added->statistics.ci95_low = stated.ci95_low;
    added->statistics.ci95_high = stated.ci95_high;
}

/* One clock's; NULL where it was not read. */
static struct xb_record_figure *read_percentiles(struct figures *figures, const cJSON *latency,
                                                 const char *clock, const char *name)
{
    struct xb_reader *reader = figures->reader;
    const cJSON *percentiles = cJSON_GetObjectItemCaseSensitive(latency, clock);
    if (cJSON_IsNull(percentiles))
        return NULL;
    percentiles = xb_json_get_object(&reader->json, latency, clock);
    size_t length = xb_place_enter(&reader->json.place, clock);
    double median = xb_json_get_number(&reader->json, percentiles, "p50", XB_RECORD_MOST_SECONDS);
    uint64_t n = xb_json_get_optional_whole(&reader->json, percentiles, "n", XB_RECORD_MOST_BYTES);
    struct xb_record_figure *added = add(figures, name);
    if (added != NULL) {
        struct xb_statistics *statistics = &added->statistics;
        *statistics = xb_record_median_only(median, n > 0 ? (size_t)n : 1);
        statistics->min =
            xb_json_get_optional_number(&reader->json, percentiles, "min", XB_RECORD_MOST_SECONDS);
        statistics->p95 =
            xb_json_get_optional_number(&reader->json, percentiles, "p95", XB_RECORD_MOST_SECONDS);
        statistics->p99 =
            xb_json_get_optional_number(&reader->json, percentiles, "p99", XB_RECORD_MOST_SECONDS);
        statistics->max =
            xb_json_get_optional_number(&reader->json, percentiles, "max", XB_RECORD_MOST_SECONDS);
        xb_reader_check_order(reader, added);
    }
    xb_place_leave(&reader->json.place, length);
    return added;
}

/* The row's samples are those of the device's clock, if that was read; of the host's the file has
 * the percentiles only. */
static void read_latency(struct figures *figures, const struct xb_record_row *row)
{
    struct xb_reader *reader = figures->reader;
    const cJSON *latency = xb_json_get_object(&reader->json, figures->object, "latency_s");
    size_t length = xb_place_enter(&reader->json.place, "latency_s");
    const struct xb_record_figure *host =
        read_percentiles(figures, latency, "host", xb_figure_latency_host.name);
    struct xb_record_figure *device =
        read_percentiles(figures, latency, "device", xb_figure_latency_device.name);
    xb_place_leave(&reader->json.place, length);
    if (host == NULL)
        xb_json_refuse(&reader->json, "latency_s", "has no percentiles by the host's clock");
    if (device == NULL || xb_json_failed(&reader->json))
        return;
    double median = device->statistics.median;
    device->samples = row->times;
    device->sample_count = row->time_count;
    if (!xb_reader_describe(reader, device))
        return;
    xb_reader_check_median(reader, "samples_s", device->statistics.median, median, XB_UNIT_SECONDS);
    device->statistics.median = median;
}

/* ---- parts ---- */

/* A part by its name: the figure of its rates where both ways went at once, else of its times. */
static const struct {
    const char *part, *rate, *time;
} parts[] = {
    {"h2d", "bandwidth_h2d", "in_time"}, {"d2h", "bandwidth_d2h", "out_time"},
    {"there", "bandwidth_there", NULL},  {"back", "bandwidth_back", NULL},
    {"serial", NULL, "serial_time"},     {"copies", NULL, "copies_time"},
    {"kernel", NULL, "kernel_time"},     {"copy", NULL, "copy_time"},
    {"explicit", NULL, "explicit_time"},
};

static void read_part(struct figures *figures, const cJSON *object, const char *name, bool is_rate)
{
    struct xb_reader *reader = figures->reader;
    const double *times = NULL;
    size_t count = 0;
    uint64_t bytes =
        xb_json_get_whole(&reader->json, object, "bytes", is_rate ? 1 : 0, XB_RECORD_MOST_BYTES);
    xb_reader_need_numbers(reader, object, "samples_s", true, XB_RECORD_MOST_SECONDS, &times,
                           &count);
    if (is_rate && !xb_json_failed(&reader->json))
        times = rates_of(reader, bytes, times, count);
    if (!xb_json_failed(&reader->json))
        (void)add_samples(figures, name, times, count);
}

static void read_parts(struct figures *figures, bool are_rates)
{
    struct xb_reader *reader = figures->reader;
    const cJSON *object =
        xb_json_get_optional_object(&reader->json, figures->object, "parts", MOST_PARTS);
    size_t outer = xb_place_enter(&reader->json.place, "parts");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *name = are_rates ? parts[i].rate : parts[i].time;
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(object, parts[i].part);
        if (name == NULL || part == NULL)
            continue;
        part = xb_json_get_object(&reader->json, object, parts[i].part);
        size_t length = xb_place_enter(&reader->json.place, parts[i].part);
        read_part(figures, part, name, are_rates);
        xb_place_leave(&reader->json.place, length);
    }
    xb_place_leave(&reader->json.place, outer);
}

/* ---- figures under a key of their own, and among the details ---- */

/* The median of what an operation took by the host's clock. */
static void read_time(struct figures *figures, const char *key, const char *name)
{
    struct xb_reader *reader = figures->reader;
    const cJSON *object =
        xb_json_get_optional_object(&reader->json, figures->object, key, MOST_KEYS);
    if (object == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, key);
    double median =
        xb_json_get_known_number(&reader->json, object, "median", XB_RECORD_MOST_SECONDS);
    uint64_t n = xb_json_get_whole(&reader->json, object, "n", 1, XB_RECORD_MOST_BYTES);
    if (isnan(median))
        xb_json_refuse(&reader->json, "median", "must be a number");
    xb_place_leave(&reader->json.place, length);
    add_median(figures, name, median, (size_t)n);
}

static void read_computed(struct figures *figures, const cJSON *object, const char *key,
                          const char *name)
{
    double value = (double)NAN;
    value = xb_json_get_optional_number(&figures->reader->json, object, key,
                                        (double)XB_RECORD_MOST_BYTES);
    if (!isnan(value))
        add_median(figures, name, value, 0);
}

/* Details by their names: the figure that each is now; NULL for none, as it follows from figures or
 * is a parameter. */
static const struct {
    const char *detail, *figure;
} details[] = {
    {"setup_s", "setup_time"},
    {"speed_up", "speed_up"},
    {"efficiency", "share_of_bound"},
    {"compute_share", "gpu_busy"},
    {"break_even_passes", "break_even_passes"},
    {"explicit_s", NULL},
    {"overlapped_s", NULL},
    {"serial_s", NULL},
    {"bound_s", NULL},
    {"chunk_bytes", NULL},
    {"streams", NULL},
    {"buffers", NULL},
    {"passes", NULL},
};

bool xb_version_1_has_detail(const char *name)
{
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++)
        if (strcmp(details[i].detail, name) == 0)
            return false;
    return true;
}

static void read_details(struct figures *figures)
{
    struct xb_reader *reader = figures->reader;
    const cJSON *object =
        xb_json_get_optional_object(&reader->json, figures->object, "details", MOST_KEYS);
    size_t length = xb_place_enter(&reader->json.place, "details");
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++)
        if (details[i].figure != NULL)
            read_computed(figures, object, details[i].detail, details[i].figure);
    xb_place_leave(&reader->json.place, length);
}

/* ---- all of a row ---- */

static void keep(struct figures *figures, struct xb_record_row *row)
{
    struct xb_record_figure *kept = xb_reader_room(figures->reader, figures->count, sizeof *kept);
    if (kept == NULL)
        return;
    memcpy(kept, figures->made, figures->count * sizeof *kept);
    row->figures = kept;
    row->figure_count = figures->count;
}

void xb_version_1_read_figures(struct xb_reader *reader, const cJSON *object,
                               const struct xb_record_case *test, struct xb_record_row *row)
{
    struct figures figures = {.reader = reader, .object = object};
    const cJSON *overlap = cJSON_GetObjectItemCaseSensitive(object, "overlap");
    if (row->status != XB_RESULT_OK)
        return;
    if (test->latency)
        read_latency(&figures, row);
    else
        read_bandwidth(&figures, row);
    read_time(&figures, "submit_s", xb_figure_submit_time.name);
    if (!test->latency) /* it would be latency_host again */
        read_time(&figures, "wall_s", xb_figure_wall_time.name);
    read_parts(&figures, cJSON_IsNumber(overlap));
    read_computed(&figures, object, "overlap", xb_figure_overlap.name);
    read_computed(&figures, object, "share_of_alone", xb_figure_share_of_alone.name);
    read_details(&figures);
    keep(&figures, row);
}

/* ---- devices ---- */

bool xb_version_1_shares_host_memory(const char *backend, const struct xb_record_device *device)
{
    if (strcmp(backend, "host") == 0)
        return true;
    for (size_t i = 0; i < device->fact_count; i++)
        if (strcmp(device->facts[i].name, "integrated") == 0)
            return device->facts[i].value != NULL &&
                   strncmp(device->facts[i].value, "yes", strlen("yes")) == 0;
    return false;
}
