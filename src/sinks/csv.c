/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "finish.h"
#include "text.h"
#include "xferbench/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const columns[] = {
    "mode",
    "variant",
    "direction",
    "bytes",
    "device",
    "peer",
    "status",
    "reason",
    "timer",
    "median_bytes_per_second",
    "ci95_low",
    "ci95_high",
    "min",
    "max",
    "p5",
    "p95",
    "mad",
    "n",
    "submit_s",
    "wall_s",
    "stop_reason",
    "verified",
    "warnings",
    /* New columns stand behind the old ones, for readers that count. */
    "bytes_moved",
    "simultaneous",
    "overlap",
    "share_of_alone",
    "latency",
    "host_latency_p50_s",
    "host_latency_p95_s",
    "host_latency_p99_s",
    "device_latency_p50_s",
    "device_latency_p95_s",
    "device_latency_p99_s",
    "backend",
    "device_name",
};

struct line {
    FILE *stream;
    bool begun;
};

static void separate(struct line *line)
{
    if (line->begun)
        fputc(',', line->stream);
    line->begun = true;
}

/* The characters of a text, with quotes doubled (RFC 4180, 2.7) and what is no UTF-8 replaced. A
 * line break stands as \n, and the like: a result is one line for every reader. */
static void put_quoted(FILE *stream, const char *text)
{
    for (size_t length; *text != '\0'; text += length) {
        length = xb_utf8_length(text);
        if (length == 0) {
            fputs(XB_UTF8_REPLACEMENT, stream);
            length = 1;
            continue;
        }
        char character[5] = "", plain[17];
        memcpy(character, text, length);
        if (*text == '"')
            fputc('"', stream);
        fputs(xb_plain_text(character, plain, sizeof plain), stream);
    }
}

static void cell(struct line *line, const char *text)
{
    const char *quote = strpbrk(text, ",\"") != NULL ? "\"" : "";
    separate(line);
    fputs(quote, line->stream);
    put_quoted(line->stream, text);
    fputs(quote, line->stream);
}

static void cell_whole(struct line *line, bool known, uint64_t value)
{
    separate(line);
    if (known)
        fprintf(line->stream, "%" PRIu64, value);
}

static void cell_number(struct line *line, bool known, double value)
{
    char text[32];
    cell(line, known && isfinite(value) ? xb_number_text(value, text, sizeof text) : "");
}

/* The median of some times, empty for none. */
static enum xb_status cell_median(struct line *line, const struct xb_samples *times,
                                  struct xb_error *error)
{
    struct xb_statistics statistics = {0};
    enum xb_status status = XB_OK;
    if (times->count > 0)
        status = xb_statistics_compute(times->values, times->count, &statistics, error);
    cell_number(line, times->count > 0, statistics.median);
    return status;
}

static void cell_warnings(struct line *line, const struct xb_result *result)
{
    char joined[XB_RESULT_WARNINGS * (sizeof result->warnings[0] + 2)];
    size_t used = 0;
    joined[0] = '\0';
    for (size_t i = 0; i < result->warning_count; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i > 0 ? "; " : "",
                                 result->warnings[i]);
    cell(line, joined);
}

static void put_case(struct line *line, const struct xb_result *result)
{
    cell(line, result->test.mode->name);
    cell(line, result->test.variant);
    cell(line, xb_direction_name(result->test.direction));
    cell_whole(line, true, result->test.bytes);
    cell_whole(line, !result->test.sum, result->test.device);
    cell_whole(line, result->test.peer >= 0, (uint64_t)result->test.peer);
    cell(line, xb_result_status_name(result->status));
    cell(line, result->reason);
}

/* A copy that failed or did not verify has no bandwidth. */
static void put_bandwidth(struct line *line, const struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    bool known = result->status == XB_RESULT_OK && bandwidth->n > 0;
    cell_number(line, known, bandwidth->median);
    cell_number(line, known && bandwidth->has_interval, bandwidth->ci95_low);
    cell_number(line, known && bandwidth->has_interval, bandwidth->ci95_high);
    cell_number(line, known, bandwidth->min);
    cell_number(line, known, bandwidth->max);
    cell_number(line, known, bandwidth->p5);
    cell_number(line, known, bandwidth->p95);
    cell_number(line, known, bandwidth->mad);
}

static void put_percentiles(struct line *line, bool ok, const struct xb_latency *latency)
{
    bool known = ok && latency->n > 0;
    cell_number(line, known, latency->p50);
    cell_number(line, known, latency->p95);
    cell_number(line, known, latency->p99);
}

/* Like the bandwidth, all but bytes_moved are only there if the data was right. */
static void put_more(struct line *line, const struct xb_result *result)
{
    bool measured = result->bandwidth.n > 0;
    bool ok = measured && result->status == XB_RESULT_OK;
    cell_whole(line, measured, result->bytes_moved);
    cell(line, result->test.simultaneous || result->test.sum ? "true" : "false");
    cell_number(line, ok && result->overlap >= 0, result->overlap);
    cell_number(line, ok && result->share_of_alone > 0, result->share_of_alone);
    cell(line, result->test.latency ? "true" : "false");
    put_percentiles(line, ok && result->test.latency, &result->host_latency);
    put_percentiles(line, ok && result->test.latency, &result->device_latency);
}

/* What ran. The sum over several devices has no device of its own. */
static void put_where(struct line *line, const struct xb_run *run, const struct xb_result *result)
{
    cell(line, run->backend->name);
    cell(line, result->test.sum
                   ? ""
                   : run->devices[xb_run_find_device(run, result->test.device)].info.name);
}

static enum xb_status put_result(FILE *stream, const struct xb_run *run,
                                 const struct xb_result *result, struct xb_error *error)
{
    static const struct xb_samples none;
    static const char *const verified[] = {"", "true", "false"};
    struct line line = {.stream = stream};
    bool measured = result->bandwidth.n > 0;
    put_case(&line, result);
    cell(&line, !measured ? "" : result->device_timer ? "device-event" : "host-clock");
    put_bandwidth(&line, result);
    cell_number(&line, measured, (double)result->bandwidth.n);
    enum xb_status status = cell_median(&line, measured ? &result->submit_times : &none, error);
    if (status != XB_OK)
        return status;
    status = cell_median(&line, measured ? &result->wall_times : &none, error);
    if (status != XB_OK)
        return status;
    cell(&line, measured ? xb_stop_reason_name(result->stop_reason) : "");
    cell(&line, verified[result->verified]);
    cell_warnings(&line, result);
    put_more(&line, result);
    put_where(&line, run, result);
    fputs("\r\n", stream);
    return XB_OK;
}

enum xb_status xb_csv_write(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    struct line header = {.stream = stream};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        cell(&header, columns[i]);
    fputs("\r\n", stream);
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && !ferror(stream) && i < run->case_count; i++)
        status = put_result(stream, run, &run->results[i], error);
    if (status == XB_OK && ferror(stream))
        status = xb_sink_fail("the CSV", errno, error);
    xb_plain_locale_leave(previous);
    return status;
}
