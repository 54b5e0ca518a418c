/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/stream.h"
#include "base/text.h"
#include "formats.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "mode", "variant", "direction", "bytes", "device", "peer", "status", "reason", "timer",
    "median_bytes_per_second", "ci95_low", "ci95_high", "min", "max", "p5", "p95", "mad", "n",
    "submit_s", "wall_s", "stop_reason", "verified", "warnings",
    /* New columns stand behind the old ones, for readers that count. */
    "bytes_moved", "simultaneous", "overlap", "share_of_alone", "latency", "host_latency_p50_s",
    "host_latency_p95_s", "host_latency_p99_s", "device_latency_p50_s", "device_latency_p95_s",
    "device_latency_p99_s", "backend", "device_name", "parameters", "hostname", "file", "file_time",
    "node",
    /* Behind these: a column for each other figure of the record, then one for each parameter. */
};

/* The figures that have columns of their own above. */
static const struct xb_figure *const named[] = {&xb_figure_bandwidth,      &xb_figure_submit_time,
                                                &xb_figure_wall_time,      &xb_figure_overlap,
                                                &xb_figure_share_of_alone, &xb_figure_latency_host,
                                                &xb_figure_latency_device};

#define MOST_COLUMNS 512 /* no run has more, and each is looked for in every line */

/* Whether there is a column of that figure or, without a unit, of that parameter. */
static bool has_column(const struct xb_csv *csv, const char *name, bool has_unit)
{
    for (size_t i = 0; has_unit && i < sizeof named / sizeof named[0]; i++)
        if (strcmp(named[i]->name, name) == 0)
            return true;
    for (size_t i = 0; i < csv->count; i++)
        if (strcmp(csv->columns[i].name, name) == 0 && has_unit == (csv->columns[i].unit != NULL))
            return true;
    return false;
}

static void add_column(struct xb_csv *csv, const char *name, const char *unit)
{
    if (has_column(csv, name, unit != NULL))
        return;
    csv->columns = xb_grow(csv->columns, csv->count, sizeof *csv->columns);
    csv->columns[csv->count++] =
        (struct xb_csv_column){.name = xb_arena_copy(&csv->texts, name),
                               .unit = unit != NULL ? xb_arena_copy(&csv->texts, unit) : NULL};
}

enum xb_status xb_csv_add_columns(struct xb_csv *csv, const struct xb_record *record,
                                  struct xb_error *error)
{
    XB_EACH_CASE (test, record) {
        for (size_t k = 0; k < test->parameter_count; k++)
            add_column(csv, test->parameters[k].name, NULL);
        for (size_t p = 0; p < record->process_count; p++)
            for (size_t k = 0; k < test->rows[p].figure_count; k++)
                add_column(csv, test->rows[p].figures[k].name, test->rows[p].figures[k].unit);
        if (csv->count > MOST_COLUMNS)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "'%.300s': more than %d columns of figures and parameters in one CSV: "
                           "no run has so many; show fewer files at once",
                           record->path != NULL ? record->path : "", MOST_COLUMNS);
    }
    return XB_OK;
}

void xb_csv_free(struct xb_csv *csv)
{
    free(csv->columns);
    xb_arena_free(csv->texts);
}

struct subject { /* of a line */
    const struct xb_record *record;
    const struct xb_record_case *test;
    struct xb_record_summary summary;
    const struct xb_record_row *row; /* the first that stands for all: of that status */
};

static void cell_median(struct xb_csv_line *line, const struct subject *subject, const char *figure)
{
    xb_csv_put_number(line, true, xb_record_median(subject->record, subject->test, figure));
}

/* Where a copy failed or did not verify there is no figure, but the count of its samples. */
static void write_bandwidth(struct xb_csv_line *line, const struct subject *subject)
{
    struct xb_statistics s = {0};
    bool known = xb_record_describe(subject->record, subject->test, xb_figure_bandwidth.name, &s);
    size_t n = subject->record->is_merged ? subject->summary.ok - subject->summary.cut
                                          : subject->row->time_count;
    const double low = s.has_interval ? s.ci95_low : (double)NAN;
    const double high = s.has_interval ? s.ci95_high : (double)NAN;
    const double numbers[] = {s.median, low, high, s.min, s.max, s.p5, s.p95, s.mad};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        xb_csv_put_number(line, known, numbers[i]);
    xb_csv_put_whole(line, n > 0, n);
}

/* A cell of what was written to memory. */
static void write_all(struct xb_csv_line *line, struct xb_memory_text *all)
{
    xb_memory_text_end(all);
    xb_csv_put(line, all->text);
    free(all->text);
}

/* "a warning; and another" */
static void write_warnings(struct xb_csv_line *line, const struct subject *subject)
{
    struct xb_record_warning kinds[XB_RECORD_WARNINGS];
    const struct xb_record_row *row = subject->row;
    bool merged = subject->record->is_merged;
    struct xb_memory_text all = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&all);
    size_t count =
        merged ? xb_record_warnings(subject->record, subject->test, kinds) : row->warning_count;
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i > 0 ? "; " : "", merged ? kinds[i].text : row->warning_texts[i]);
    write_all(line, &all);
}

static void write_percentiles(struct xb_csv_line *line, const struct subject *subject,
                              const struct xb_figure *figure)
{
    struct xb_statistics s = {0};
    bool known = xb_record_describe(subject->record, subject->test, figure->name, &s);
    xb_csv_put_number(line, known, s.median);
    xb_csv_put_number(line, known, s.p95);
    xb_csv_put_number(line, known, s.p99);
}

static void write_line(FILE *stream, const struct xb_csv *csv, const struct xb_record *record,
                       const struct xb_record_case *test)
{
    static const char *const verified[] = {"", "true", "false"};
    struct xb_csv_line line = {.stream = stream};
    struct xb_memory_text all = {.text = NULL};
    static const struct xb_record_row none;
    struct subject subject = {
        .record = record, .test = test, .summary = xb_record_summarize(record, test), .row = &none};
    for (size_t i = record->process_count; i-- > 0;)
        if (test->rows[i].is_there && test->rows[i].status == subject.summary.status)
            subject.row = &test->rows[i];
    const struct xb_record_row *row = subject.row;
    /* The sum over several devices has no device of its own. */
    const struct xb_record_device *device = xb_record_device(record, test->device);
    char text[XB_RECORD_REASON];
    bool measured = row->time_count > 0 || row->figure_count > 0;
    xb_csv_put(&line, test->mode);
    xb_csv_put(&line, test->variant);
    xb_csv_put(&line, test->direction);
    xb_csv_put_whole(&line, true, test->bytes);
    xb_csv_put_whole(&line, test->device >= 0, (uint64_t)test->device);
    xb_csv_put_whole(&line, test->peer >= 0, (uint64_t)test->peer);
    xb_csv_put(&line, xb_result_status_name(subject.summary.status));
    xb_csv_put(&line, xb_record_reason(test, &subject.summary, text, sizeof text));
    xb_csv_put(&line, row->timer);
    write_bandwidth(&line, &subject);
    cell_median(&line, &subject, xb_figure_submit_time.name);
    cell_median(&line, &subject, xb_figure_wall_time.name);
    xb_csv_put(&line, measured ? row->stop_reason : NULL);
    xb_csv_put(&line, verified[subject.summary.verified]);
    write_warnings(&line, &subject);
    xb_csv_put_whole(&line, row->bytes_moved > 0, row->bytes_moved);
    xb_csv_put(&line, test->simultaneous ? "true" : "false");
    cell_median(&line, &subject, xb_figure_overlap.name);
    cell_median(&line, &subject, xb_figure_share_of_alone.name);
    xb_csv_put(&line, test->latency ? "true" : "false");
    write_percentiles(&line, &subject, &xb_figure_latency_host);
    write_percentiles(&line, &subject, &xb_figure_latency_device);
    xb_csv_put(&line, record->backend);
    xb_csv_put(&line, device != NULL ? device->name : NULL);
    FILE *parameters = xb_memory_text_begin(&all); /* "chunk=8388608;streams=2" */
    for (size_t i = 0; i < test->parameter_count; i++)
        fprintf(parameters, "%s%s=%s", i > 0 ? ";" : "", test->parameters[i].name,
                xb_record_parameter(test, test->parameters[i].name));
    write_all(&line, &all);
    xb_csv_put(&line, record->host.hostname);
    xb_csv_put(&line, record->path);
    xb_csv_put(&line, record->timestamp);
    xb_csv_put(&line, record->host.node != NULL ? record->host.node : record->host.hostname);
    for (size_t i = 0; i < csv->count; i++)
        if (csv->columns[i].unit != NULL)
            cell_median(&line, &subject, csv->columns[i].name);
    for (size_t i = 0; i < csv->count; i++)
        if (csv->columns[i].unit == NULL)
            xb_csv_put(&line, xb_record_parameter(test, csv->columns[i].name));
    xb_csv_end(&line);
}

enum xb_status xb_csv_write_header(FILE *stream, const struct xb_csv *csv, struct xb_error *error)
{
    struct xb_csv_line line = {.stream = stream};
    char column[128];
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        xb_csv_put(&line, columns[i]);
    /* "setup_time_s", "bandwidth_h2d_bytes_per_second", "speed_up": its unit in words. */
    for (size_t i = 0; i < csv->count; i++) {
        const char *unit = csv->columns[i].unit;
        if (unit == NULL)
            continue;
        const char *words = strcmp(unit, XB_UNIT_RATE) == 0      ? "_bytes_per_second"
                            : strcmp(unit, XB_UNIT_SECONDS) == 0 ? "_s"
                            : strcmp(unit, XB_UNIT_BYTES) == 0   ? "_bytes"
                                                                 : "";
        snprintf(column, sizeof column, "%s%s", csv->columns[i].name, words);
        xb_csv_put(&line, column);
    }
    /* "host_offset" for --host-offset. Where a figure or another column has that name,
     * "threads_given": what the option said, which may be 0 for as many as fit. */
    for (size_t i = 0; i < csv->count; i++) {
        if (csv->columns[i].unit != NULL)
            continue;
        snprintf(column, sizeof column, "%.100s", csv->columns[i].name);
        for (char *at = column; *at != '\0'; at++)
            if (*at == '-')
                *at = '_';
        bool is_taken = has_column(csv, column, true) || xb_figure_find(column) != NULL;
        for (size_t k = 0; !is_taken && k < sizeof columns / sizeof columns[0]; k++)
            is_taken = strcmp(columns[k], column) == 0;
        if (is_taken)
            snprintf(column + strlen(column), sizeof column - strlen(column), "_given");
        xb_csv_put(&line, column);
    }
    xb_csv_end(&line);
    return xb_stream_finish(stream, "the CSV", error);
}

enum xb_status xb_csv_write_lines(FILE *stream, const struct xb_csv *csv,
                                  const struct xb_record *record, struct xb_error *error)
{
    XB_EACH_CASE (test, record)
        if (!ferror(stream))
            write_line(stream, csv, record, test);
    return xb_stream_finish(stream, "the CSV", error);
}

enum xb_status xb_csv_write(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    struct xb_csv csv = {.columns = NULL};
    enum xb_status status = xb_csv_add_columns(&csv, record, error);
    if (status == XB_OK)
        status = xb_csv_write_header(stream, &csv, error);
    if (status == XB_OK)
        status = xb_csv_write_lines(stream, &csv, record, error);
    xb_csv_free(&csv);
    return status;
}
