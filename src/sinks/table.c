/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "columns.h"
#include "finish.h"
#include "matrix.h"
#include "note.h"
#include "reading.h"
#include "text.h"
#include "xferbench/sink.h"
#include "xferbench/units.h"
#include "xferbench/version.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 9

/* ---- what was measured, and on what ---- */

static void print_link(FILE *stream, const struct xb_run_device *device)
{
    const struct xb_pcie_link *link = &device->link;
    char now[32], most[32], raw[48] = "", at[32] = "";
    if (device->info.pci_bdf[0] == '\0') {
        xb_note_print(stream, "link", LABEL_WIDTH, "none: not a PCI device");
        return;
    }
    if (!link->known) {
        xb_note_print(stream, "link", LABEL_WIDTH, "not known");
        return;
    }
    xb_lanes_text(link->speed_gts, link->width, now, sizeof now);
    xb_lanes_text(link->max_speed_gts, link->max_width, most, sizeof most);
    if (link->port[0] != '\0' && strcmp(link->port, device->info.pci_bdf) != 0)
        snprintf(at, sizeof at, " at %s", link->port);
    double rate = xb_pcie_raw_rate(link->speed_gts, link->width);
    if (rate > 0)
        snprintf(raw, sizeof raw, ", %.1f GB/s raw each way", rate / 1e9);
    if (link->speed_gts < link->max_speed_gts || link->width < link->max_width)
        xb_note_print(stream, "link", LABEL_WIDTH,
                      "PCIe %s%s%s: BELOW the %s that the device can do", now, at, raw, most);
    else
        xb_note_print(stream, "link", LABEL_WIDTH, "PCIe %s%s%s (device and slot can do %s)", now,
                      at, raw, most);
}

static void print_binding(FILE *stream, const struct xb_binding *binding)
{
    const char *colon = binding->note[0] != '\0' ? ": " : "";
    if (binding->bound)
        xb_note_print(stream, "NUMA", LABEL_WIDTH, "bound to node %d, %u CPUs%s%s", binding->node,
                      binding->cpu_count, colon, binding->note);
    else if (binding->note_is_normal)
        xb_note_print(stream, "NUMA", LABEL_WIDTH, "%s", binding->note);
    else
        xb_note_print(stream, "NUMA", LABEL_WIDTH, "NOT bound%s%s", colon, binding->note);
}

static void print_facts(FILE *stream, const struct xb_device_info *info)
{
    char text[XB_NOTE_SIZE] = "";
    if (info->shares_host_memory)
        xb_note_print(stream, "memory", LABEL_WIDTH,
                      "the host's own: no copy crosses a link, whatever the table calls it");
    for (size_t i = 0; i < info->fact_count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s %s", i > 0 ? "; " : "",
                 info->facts[i].key, info->facts[i].value);
    }
    if (text[0] != '\0')
        xb_note_print(stream, "facts", LABEL_WIDTH, "%s", text);
}

static void print_device(FILE *stream, const struct xb_run_device *device)
{
    const struct xb_device_info *info = &device->info;
    char text[XB_NOTE_SIZE];
    snprintf(text, sizeof text, "%s%s%s, %.1f GiB%s%s", info->name,
             info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf,
             (double)info->memory_bytes / (double)(1ULL << 30),
             info->architecture[0] != '\0' ? ", " : "", info->architecture);
    xb_make_plain(text);
    fprintf(stream, "Device %u: %s\n", info->index, text);
    print_link(stream, device);
    print_binding(stream, &device->binding);
    print_facts(stream, info);
}

static void print_library(FILE *stream, const struct xb_probe *probe)
{
    bool usual = probe->runtime_override[0] == '\0';
    xb_note_print(stream, "library", LABEL_WIDTH, "%s%s%s", probe->runtime_library,
                  usual ? "" : ", NAMED BY ", probe->runtime_override);
}

static void print_header(FILE *stream, const struct xb_run *run)
{
    const struct xb_probe *probe = &run->probe;
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "xferbench %s, backend %s", XB_VERSION, run->backend->name);
    if (probe->runtime_version[0] != '\0')
        xb_words_add(&words, ", runtime %s", probe->runtime_version);
    if (probe->driver_version[0] != '\0')
        xb_words_add(&words, ", driver %s", probe->driver_version);
    xb_make_plain(words.text);
    fprintf(stream, "%s\n", words.text);
    if (probe->runtime_library[0] != '\0')
        print_library(stream, probe);
    fputc('\n', stream);
    for (size_t i = 0; i < run->device_count; i++)
        print_device(stream, &run->devices[i]);
    fputc('\n', stream);
}

/* ---- the table ---- */

enum column {
    COLUMN_MODE,
    COLUMN_VARIANT,
    COLUMN_DIRECTION,
    COLUMN_SIZE,
    COLUMN_DEVICE,
    COLUMN_BANDWIDTH,
    COLUMN_INTERVAL,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_SUBMIT,
    COLUMN_DONE,
    COLUMN_HOST_P50,
    COLUMN_HOST_P95,
    COLUMN_HOST_P99,
    COLUMN_DEVICE_P50,
    COLUMN_DEVICE_P95,
    COLUMN_DEVICE_P99,
    COLUMN_N,
    COLUMN_VERIFIED,
    COLUMN_COUNT
};

/* Which table has a column: that of bandwidths, that of latencies. */
enum { IN_BANDWIDTHS = 1, IN_LATENCIES = 2, IN_BOTH = 3 };

static const struct {
    const char *name;
    int flags;
    unsigned where;
} columns[COLUMN_COUNT] = {
    [COLUMN_MODE] = {"MODE", 0, IN_BOTH},
    [COLUMN_VARIANT] = {"VARIANT", 0, IN_BOTH},
    [COLUMN_DIRECTION] = {"DIR", 0, IN_BOTH},
    [COLUMN_SIZE] = {"SIZE", SCOLS_FL_RIGHT, IN_BOTH},
    [COLUMN_DEVICE] = {"DEV", SCOLS_FL_RIGHT, IN_BOTH},
    [COLUMN_BANDWIDTH] = {"GB/s", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_INTERVAL] = {"95% INTERVAL", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_MIN] = {"MIN", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_MAX] = {"MAX", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_SUBMIT] = {"SUBMIT", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_DONE] = {"DONE", SCOLS_FL_RIGHT, IN_BANDWIDTHS},
    [COLUMN_HOST_P50] = {"HOST P50", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_HOST_P95] = {"P95", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_HOST_P99] = {"P99", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_DEVICE_P50] = {"DEVICE P50", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_DEVICE_P95] = {"P95", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_DEVICE_P99] = {"P99", SCOLS_FL_RIGHT, IN_LATENCIES},
    [COLUMN_N] = {"N", SCOLS_FL_RIGHT, IN_BOTH},
    [COLUMN_VERIFIED] = {"VERIFIED", 0, IN_BOTH},
};

struct row {
    char cells[COLUMN_COUNT][64];
};

static void set_cell(struct row *row, enum column column, const char *text)
{
    snprintf(row->cells[column], sizeof row->cells[column], "%s", text);
}

static void set_duration(struct row *row, enum column column, double seconds)
{
    xb_duration_format(seconds, row->cells[column], sizeof row->cells[column]);
}

static void set_rate(struct row *row, enum column column, double rate, int decimals)
{
    snprintf(row->cells[column], sizeof row->cells[column], "%.*f", decimals, rate / 1e9);
}

static void fill_case(struct row *row, const struct xb_run *run, const struct xb_result *result)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    char text[64];
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        set_cell(row, (enum column)i, "-");
    set_cell(row, COLUMN_MODE, result->test.mode->name);
    set_cell(row, COLUMN_VARIANT, result->test.variant);
    set_cell(row, COLUMN_DIRECTION, xb_direction_name(result->test.direction));
    set_cell(row, COLUMN_SIZE, xb_size_format(result->test.bytes, text, sizeof text));
    set_cell(row, COLUMN_DEVICE,
             result->test.sum ? "sum" : xb_device_text(run, result, text, sizeof text));
    set_cell(row, COLUMN_VERIFIED, verified[result->verified]);
}

static void fill_bandwidth(struct row *row, const struct xb_statistics *bandwidth)
{
    int decimals = xb_decimals_for(bandwidth->median / 1e9);
    set_rate(row, COLUMN_BANDWIDTH, bandwidth->median, decimals);
    set_rate(row, COLUMN_MIN, bandwidth->min, decimals);
    set_rate(row, COLUMN_MAX, bandwidth->max, decimals);
    if (bandwidth->has_interval)
        snprintf(row->cells[COLUMN_INTERVAL], sizeof row->cells[0], "%.*f-%.*f", decimals,
                 bandwidth->ci95_low / 1e9, decimals, bandwidth->ci95_high / 1e9);
}

/* The median of some times, if there are any. */
static enum xb_status fill_median(struct row *row, enum column column,
                                  const struct xb_samples *times, struct xb_error *error)
{
    struct xb_statistics statistics;
    if (times->count == 0)
        return XB_OK;
    enum xb_status status = xb_statistics_compute(times->values, times->count, &statistics, error);
    if (status == XB_OK)
        set_duration(row, column, statistics.median);
    return status;
}

static void fill_percentiles(struct row *row, enum column first, const struct xb_latency *latency)
{
    const double values[] = {latency->p50, latency->p95, latency->p99};
    for (size_t i = 0; latency->n > 0 && i < sizeof values / sizeof values[0]; i++)
        set_duration(row, first + (enum column)i, values[i]);
}

static enum xb_status fill_measured(struct row *row, const struct xb_result *result,
                                    struct xb_error *error)
{
    bool ok = result->status == XB_RESULT_OK;
    size_t n = result->test.latency ? result->host_latency.n : result->bandwidth.n;
    if (n > 0)
        snprintf(row->cells[COLUMN_N], sizeof row->cells[0], "%zu", n);
    if (ok && result->test.latency) {
        fill_percentiles(row, COLUMN_HOST_P50, &result->host_latency);
        fill_percentiles(row, COLUMN_DEVICE_P50, &result->device_latency);
    }
    if (result->bandwidth.n == 0)
        return XB_OK;
    if (ok)
        fill_bandwidth(row, &result->bandwidth);
    enum xb_status status = fill_median(row, COLUMN_SUBMIT, &result->submit_times, error);
    if (status == XB_OK)
        status = fill_median(row, COLUMN_DONE, &result->wall_times, error);
    return status;
}

static enum xb_status fill_row(struct row *row, const struct xb_run *run,
                               const struct xb_result *result, struct xb_error *error)
{
    enum column first = result->test.latency ? COLUMN_HOST_P50 : COLUMN_BANDWIDTH;
    fill_case(row, run, result);
    enum xb_status status = fill_measured(row, result, error);
    if (result->status != XB_RESULT_OK)
        set_cell(row, first, result->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR");
    return status;
}

static enum xb_status out_of_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

static enum xb_status add_row(struct libscols_table *table, const struct xb_run *run,
                              const struct xb_result *result, struct xb_error *error)
{
    struct row row;
    enum xb_status status = fill_row(&row, run, result, error);
    if (status != XB_OK)
        return status;
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (scols_line_set_data(line, i, row.cells[i]) != 0)
            return out_of_memory(error);
    }
    return XB_OK;
}

/* ---- which rows and columns ---- */

static bool is_together(const struct xb_case *test)
{
    return test->simultaneous || test->sum;
}

/* Pairs of devices stand in matrices instead. */
static bool in_table(const struct xb_case *test)
{
    return test->peer < 0;
}

struct contents {
    unsigned where; /* IN_BANDWIDTHS or IN_LATENCIES */
    bool with_device;
    bool any_in_table, any_pair;
};

static struct contents contents_of(const struct xb_run *run)
{
    struct contents contents = {.where = IN_BANDWIDTHS, .with_device = run->device_count > 1};
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        if (test->latency)
            contents.where = IN_LATENCIES;
        contents.with_device = contents.with_device || is_together(test) || !in_table(test);
        contents.any_in_table = contents.any_in_table || in_table(test);
        contents.any_pair = contents.any_pair || !in_table(test);
    }
    return contents;
}

static bool add_columns(struct libscols_table *table, const struct contents *contents)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        bool shown = (columns[i].where & contents->where) != 0 &&
                     (i != COLUMN_DEVICE || contents->with_device);
        int flags = columns[i].flags | (shown ? 0 : SCOLS_FL_HIDDEN);
        if (scols_table_new_column(table, columns[i].name, 0, flags) == NULL)
            return false;
    }
    return true;
}

/* Devices that ran together stand below those that ran alone. */
static enum xb_status add_rows(struct libscols_table *table, const struct xb_run *run,
                               bool together, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        if (in_table(test) && is_together(test) == together)
            status = add_row(table, run, &run->results[i], error);
    }
    return status;
}

static enum xb_status print_table(FILE *stream, const struct xb_run *run,
                                  const struct contents *contents, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    struct libscols_table *table = scols_new_table();
    if (table == NULL || !add_columns(table, contents)) {
        status = out_of_memory(error);
        goto release;
    }
    status = add_rows(table, run, false, error);
    if (status == XB_OK)
        status = add_rows(table, run, true, error);
    if (status != XB_OK)
        goto release;
    char *text = xb_columns_fit(table, COLUMN_VERIFIED, "OK");
    if (text == NULL)
        status = out_of_memory(error);
    else
        fprintf(stream, "%s\n", text);
    free(text);
release:
    scols_unref_table(table);
    return status;
}

static enum xb_status print_results(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    struct contents contents = contents_of(run);
    bool with_table = contents.any_in_table || !contents.any_pair;
    enum xb_status status = XB_OK;
    if (with_table)
        status = print_table(stream, run, &contents, error);
    if (status == XB_OK)
        xb_matrix_print(stream, run, !with_table);
    return status;
}

/* ---- the notes ---- */

/* "pinned alloc h2d 1 GiB", and the device or devices where there are several. */
static const char *row_name(const struct xb_run *run, const struct xb_result *result, char *text,
                            size_t size)
{
    const struct xb_case *test = &result->test;
    char bytes[32], device[32], place[48] = "";
    xb_device_text(run, result, device, sizeof device);
    if (test->peer >= 0 || test->sum)
        snprintf(place, sizeof place, " %s", device);
    else if (run->device_count > 1)
        snprintf(place, sizeof place, " device %s", device);
    snprintf(text, size, "%s %s %s %s%s", test->mode->name, test->variant,
             xb_direction_name(test->direction), xb_size_format(test->bytes, bytes, sizeof bytes),
             place);
    return text;
}

/* " and 3 more rows", or nothing for none. */
static const char *more_rows(size_t count, char *text, size_t size)
{
    text[0] = '\0';
    if (count > 0)
        snprintf(text, size, " and %zu more row%s", count, count > 1 ? "s" : "");
    return text;
}

static bool same_reason(const struct xb_result *a, const struct xb_result *b)
{
    return a->status == b->status && strcmp(a->reason, b->reason) == 0;
}

/* Why a row has no bandwidth; once for all rows of the same reason, at the first of them. */
static void note_reason(FILE *stream, const struct xb_run *run, size_t index)
{
    const struct xb_result *result = &run->results[index];
    char name[256], more[48];
    size_t others = 0;
    if (result->status == XB_RESULT_OK)
        return;
    for (size_t i = 0; i < run->case_count; i++) {
        bool same = i != index && same_reason(&run->results[i], result);
        if (same && i < index)
            return;
        others += same;
    }
    xb_note_print(stream, result->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR", LABEL_WIDTH,
                  "%s%s: %s", row_name(run, result, name, sizeof name),
                  more_rows(others, more, sizeof more), result->reason);
}

void xb_failures_say(const struct xb_run *run)
{
    char name[256];
    for (size_t i = 0; i < run->case_count; i++)
        if (run->results[i].status == XB_RESULT_ERROR)
            xb_say("%s: %s", row_name(run, &run->results[i], name, sizeof name),
                   run->results[i].reason);
}

static bool has_warning(const struct xb_result *result, const char *warning)
{
    for (size_t i = 0; i < result->warning_count; i++) {
        if (strcmp(result->warnings[i], warning) == 0)
            return true;
    }
    return false;
}

static void note_warning(FILE *stream, const struct xb_run *run, size_t index, const char *warning)
{
    char name[256], more[48];
    size_t others = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        bool same = i != index && has_warning(&run->results[i], warning);
        if (same && i < index)
            return;
        others += same;
    }
    xb_note_print(stream, "warning", LABEL_WIDTH, "%s%s: %s",
                  row_name(run, &run->results[index], name, sizeof name),
                  more_rows(others, more, sizeof more), warning);
}

static bool deadline_cut(const struct xb_run *run)
{
    return run->deadline > 0 && !run->deadline_met;
}

static bool has_notes(const struct xb_run *run)
{
    bool notes = run->interrupted || deadline_cut(run);
    for (size_t i = 0; i < run->case_count; i++)
        notes = notes || run->results[i].status != XB_RESULT_OK || run->results[i].warning_count;
    return notes;
}

static void print_notes(FILE *stream, const struct xb_run *run)
{
    size_t measured = 0;
    if (!has_notes(run))
        return;
    fputs("\nNotes\n", stream);
    for (size_t i = 0; i < run->case_count; i++)
        measured += run->results[i].status == XB_RESULT_OK;
    if (run->interrupted)
        xb_note_print(stream, "STOPPED", LABEL_WIDTH,
                      "interrupted by a signal: %zu of %zu cases were measured", measured,
                      run->case_count);
    if (deadline_cut(run))
        xb_note_print(stream, "STOPPED", LABEL_WIDTH,
                      "the deadline came: %zu of %zu cases were measured", measured,
                      run->case_count);
    for (size_t i = 0; i < run->case_count; i++)
        note_reason(stream, run, i);
    for (size_t i = 0; i < run->case_count; i++) {
        for (size_t j = 0; j < run->results[i].warning_count; j++)
            note_warning(stream, run, i, run->results[i].warnings[j]);
    }
}

enum xb_status xb_table_write(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    print_header(stream, run);
    enum xb_status status = print_results(stream, run, error);
    if (status == XB_OK)
        status = xb_reading_print(stream, run, error);
    if (status == XB_OK) {
        print_notes(stream, run);
        status = xb_sink_finish(stream, "the table", error);
    }
    xb_plain_locale_leave(previous);
    return status;
}
