/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "columns.h"
#include "finish.h"
#include "note.h"
#include "text.h"
#include "xferbench/link.h"
#include "xferbench/processes.h"
#include "xferbench/units.h"
#include "xferbench/version.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 10

static enum xb_status out_of_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

/* How many processes have results. */
static size_t count_documents(const struct xb_processes *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += set->processes[i].document != NULL;
    return count;
}

/* ---- what was measured, and on what ---- */

/* A device without an address is none on the PCI bus. */
static bool has_address(const struct xb_record *merged, unsigned device)
{
    char name[48];
    snprintf(name, sizeof name, "device %u PCI address", device);
    for (size_t i = 0; i < merged->fact_count; i++)
        if (strcmp(merged->facts[i].name, name) == 0)
            return merged->facts[i].value != NULL;
    return false;
}

static void print_device(FILE *stream, const struct xb_record *merged,
                         const struct xb_record_device *device)
{
    char name[256], lanes[32], raw[48] = "";
    snprintf(name, sizeof name, "%s", device->name);
    xb_make_plain(name);
    fprintf(stream, "Device %u: %s\n", device->index, name);
    if (!device->link_known) {
        xb_note_print(stream, "link", LABEL_WIDTH, "%s",
                      has_address(merged, device->index) ? "not known" : "none: not a PCI device");
        return;
    }
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    if (rate > 0)
        snprintf(raw, sizeof raw, ", %.1f GB/s raw each way", rate / 1e9);
    xb_note_print(stream, "link", LABEL_WIDTH, "PCIe %s%s",
                  xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes),
                  raw);
}

/* Whether what is called a copy stays in one memory: on the host backend it does, and a HIP device
 * says so among its facts. */
static bool shares_host_memory(const struct xb_record *merged, unsigned device)
{
    char name[48];
    snprintf(name, sizeof name, "device %u integrated", device);
    for (size_t i = 0; i < merged->fact_count; i++)
        if (strcmp(merged->facts[i].name, name) == 0 && merged->facts[i].value != NULL)
            return strncmp(merged->facts[i].value, "yes", strlen("yes")) == 0;
    return strcmp(merged->backend, "host") == 0;
}

/* The first process that has devices speaks for all. */
static void print_devices(FILE *stream, const struct xb_record *merged)
{
    const struct xb_record_process *process = merged->processes;
    const struct xb_record_process *end = process + merged->process_count;
    while (process < end && process->device_count == 0)
        process++;
    for (size_t i = 0; process < end && i < process->device_count; i++) {
        print_device(stream, merged, &process->devices[i]);
        if (shares_host_memory(merged, process->devices[i].index))
            xb_note_print(stream, "memory", LABEL_WIDTH,
                          "the host's own: no copy crosses a link, whatever the table calls it");
    }
}

static void print_header(FILE *stream, const struct xb_processes *set,
                         const struct xb_record *merged)
{
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "xferbench %s", XB_VERSION);
    if (merged != NULL)
        xb_words_add(&words, ", backend %s", merged->backend);
    if (merged != NULL && merged->driver != NULL)
        xb_words_add(&words, ", driver %s", merged->driver);
    xb_make_plain(words.text);
    fprintf(stream, "%s\n", words.text);
    if (set->role != NULL)
        xb_note_print(stream, set->role, LABEL_WIDTH, "%s, in turn with %s", set->program,
                      set->counterpart);
    fprintf(stream, "%zu of %zu processes have results\n", count_documents(set), set->asked);
    if (merged != NULL) {
        fputc('\n', stream);
        print_devices(stream, merged);
        fputc('\n', stream);
    }
}

/* ---- the table ---- */

enum column {
    COLUMN_MODE,
    COLUMN_VARIANT,
    COLUMN_DIRECTION,
    COLUMN_SIZE,
    COLUMN_DEVICE,
    COLUMN_MEDIAN, /* bandwidth, or the p50 by the host's clock */
    COLUMN_INTERVAL,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_SPREAD,
    COLUMN_DEVICE_P50,
    COLUMN_N,
    COLUMN_VERIFIED,
    COLUMN_COUNT
};

static const struct {
    const char *name, *in_latencies; /* "" and NULL: not there */
    int flags;
} columns[COLUMN_COUNT] = {
    [COLUMN_MODE] = {"MODE", "MODE", 0},
    [COLUMN_VARIANT] = {"VARIANT", "VARIANT", 0},
    [COLUMN_DIRECTION] = {"DIR", "DIR", 0},
    [COLUMN_SIZE] = {"SIZE", "SIZE", SCOLS_FL_RIGHT},
    [COLUMN_DEVICE] = {"DEV", "DEV", SCOLS_FL_RIGHT},
    [COLUMN_MEDIAN] = {"GB/s", "HOST P50", SCOLS_FL_RIGHT},
    [COLUMN_INTERVAL] = {"95% INTERVAL", NULL, SCOLS_FL_RIGHT},
    [COLUMN_MIN] = {"MIN", "MIN", SCOLS_FL_RIGHT},
    [COLUMN_MAX] = {"MAX", "MAX", SCOLS_FL_RIGHT},
    [COLUMN_SPREAD] = {"SPREAD", "SPREAD", SCOLS_FL_RIGHT},
    [COLUMN_DEVICE_P50] = {NULL, "DEVICE P50", SCOLS_FL_RIGHT},
    [COLUMN_N] = {"N", "N", SCOLS_FL_RIGHT},
    [COLUMN_VERIFIED] = {"VERIFIED", "VERIFIED", 0},
};

struct row {
    char cells[COLUMN_COUNT][64];
};

static void set_cell(struct row *row, enum column column, const char *text)
{
    snprintf(row->cells[column], sizeof row->cells[column], "%s", text);
    xb_make_plain(row->cells[column]);
}

static void fill_case(struct row *row, const struct xb_record_case *test,
                      const struct xb_record_summary *summary)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    char text[64];
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        set_cell(row, (enum column)i, "-");
    set_cell(row, COLUMN_MODE, test->mode);
    set_cell(row, COLUMN_VARIANT, test->variant);
    set_cell(row, COLUMN_DIRECTION, test->direction);
    set_cell(row, COLUMN_SIZE, xb_size_format(test->bytes, text, sizeof text));
    set_cell(row, COLUMN_DEVICE, xb_record_case_device(test, text, sizeof text));
    set_cell(row, COLUMN_VERIFIED, verified[summary->verified]);
    snprintf(row->cells[COLUMN_N], sizeof row->cells[COLUMN_N], "%zu", summary->ok - summary->cut);
    if (summary->status != XB_RESULT_OK)
        set_cell(row, COLUMN_MEDIAN, summary->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR");
    else if (summary->cut == summary->ok)
        set_cell(row, COLUMN_MEDIAN, "cut short");
}

static void fill_rates(struct row *row, const struct xb_statistics *rates)
{
    int decimals = xb_decimals_for(rates->median / 1e9);
    const struct {
        enum column column;
        double rate;
    } cells[] = {
        {COLUMN_MEDIAN, rates->median}, {COLUMN_MIN, rates->min}, {COLUMN_MAX, rates->max}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        snprintf(row->cells[cells[i].column], sizeof row->cells[0], "%.*f", decimals,
                 cells[i].rate / 1e9);
    if (rates->has_interval)
        snprintf(row->cells[COLUMN_INTERVAL], sizeof row->cells[0], "%.*f-%.*f", decimals,
                 rates->ci95_low / 1e9, decimals, rates->ci95_high / 1e9);
}

static void set_duration(struct row *row, enum column column, double seconds)
{
    xb_duration_format(seconds, row->cells[column], sizeof row->cells[column]);
}

/* The statistics of the processes' medians, if any has one. */
static enum xb_status describe(const struct xb_record *merged, const struct xb_record_case *test,
                               enum xb_metric metric, struct xb_statistics *statistics,
                               struct xb_error *error)
{
    double values[XB_RECORD_PROCESSES];
    size_t count = xb_record_medians(merged, test, metric, values);
    *statistics = (struct xb_statistics){.n = 0};
    return count > 0 ? xb_statistics_compute(values, count, statistics, error) : XB_OK;
}

static enum xb_status fill_figures(struct row *row, const struct xb_record *merged,
                                   const struct xb_record_case *test, struct xb_error *error)
{
    struct xb_statistics first, device;
    enum xb_metric metric = test->latency ? XB_METRIC_HOST_LATENCY : XB_METRIC_BANDWIDTH;
    enum xb_status status = describe(merged, test, metric, &first, error);
    if (status == XB_OK)
        status = describe(merged, test, XB_METRIC_DEVICE_LATENCY, &device, error);
    if (status != XB_OK || first.n == 0)
        return status;
    if (test->latency) {
        set_duration(row, COLUMN_MEDIAN, first.median);
        set_duration(row, COLUMN_MIN, first.min);
        set_duration(row, COLUMN_MAX, first.max);
    } else
        fill_rates(row, &first);
    if (first.n > 1)
        snprintf(row->cells[COLUMN_SPREAD], sizeof row->cells[0], "%.1f%%",
                 100 * (first.max - first.min) / first.median);
    if (device.n > 0)
        set_duration(row, COLUMN_DEVICE_P50, device.median);
    return XB_OK;
}

static enum xb_status add_row(struct libscols_table *table, const struct xb_record *merged,
                              const struct xb_record_case *test, struct xb_error *error)
{
    struct row row;
    struct xb_record_summary summary = xb_record_summarize(merged, test);
    fill_case(&row, test, &summary);
    enum xb_status status = fill_figures(&row, merged, test, error);
    if (status != XB_OK)
        return status;
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (scols_line_set_data(line, i, row.cells[i]) != 0)
            return out_of_memory(error);
    return XB_OK;
}

/* Whether rows must say of which device they are. */
static bool several_devices(const struct xb_record *merged)
{
    for (size_t i = 0; i < merged->case_count; i++) {
        const struct xb_record_case *test = &merged->cases[i];
        if (test->device != merged->cases[0].device || test->peer >= 0 || test->simultaneous)
            return true;
    }
    return false;
}

static bool add_columns(struct libscols_table *table, const struct xb_record *merged)
{
    bool latency = merged->case_count > 0 && merged->cases[0].latency;
    bool with_device = several_devices(merged);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const char *name = latency ? columns[i].in_latencies : columns[i].name;
        bool shown = name != NULL && (i != COLUMN_DEVICE || with_device);
        int flags = columns[i].flags | (shown ? 0 : SCOLS_FL_HIDDEN);
        if (scols_table_new_column(table, name != NULL ? name : "", 0, flags) == NULL)
            return false;
    }
    return true;
}

static enum xb_status print_table(FILE *stream, const struct xb_record *merged,
                                  struct xb_error *error)
{
    struct libscols_table *table = scols_new_table();
    enum xb_status status =
        table != NULL && add_columns(table, merged) ? XB_OK : out_of_memory(error);
    for (size_t i = 0; status == XB_OK && i < merged->case_count; i++)
        status = add_row(table, merged, &merged->cases[i], error);
    char *text = status == XB_OK ? xb_columns_fit(table, COLUMN_VERIFIED, "OK") : NULL;
    if (text != NULL)
        fprintf(stream, "%s\n", text);
    else if (status == XB_OK)
        status = out_of_memory(error);
    free(text);
    scols_unref_table(table);
    return status;
}

/* ---- the notes ---- */

/* Why a case is not ok. */
struct trouble {
    struct xb_record_summary summary;
    const char *reason; /* NULL: it is ok */
    char text[XB_RECORD_REASON];
};

static void find_trouble(const struct xb_record *merged, const struct xb_record_case *test,
                         struct trouble *trouble)
{
    trouble->summary = xb_record_summarize(merged, test);
    trouble->reason =
        xb_record_reason(test, &trouble->summary, trouble->text, sizeof trouble->text);
}

static bool same_trouble(const struct trouble *a, const struct trouble *b)
{
    return a->reason != NULL && a->summary.status == b->summary.status &&
           a->summary.ok == b->summary.ok && strcmp(a->reason, b->reason) == 0;
}

/* " and 3 more rows", or nothing for none. */
static const char *more_rows(size_t count, char *text, size_t size)
{
    text[0] = '\0';
    if (count > 0)
        snprintf(text, size, " and %zu more row%s", count, count > 1 ? "s" : "");
    return text;
}

/* "pinned registered h2d 4 KiB", and the device where there are several. */
static const char *case_name(const struct xb_record *merged, const struct xb_record_case *test,
                             char *text, size_t size)
{
    char bytes[32], device[32];
    bool several = several_devices(merged);
    snprintf(text, size, "%s %s %s %s%s%s", test->mode, test->variant, test->direction,
             xb_size_format(test->bytes, bytes, sizeof bytes), several ? " device " : "",
             several ? xb_record_case_device(test, device, sizeof device) : "");
    return text;
}

/* Once for all cases of the same trouble, at the first of them. */
static void note_case(FILE *stream, const struct xb_record *merged, size_t index)
{
    const struct xb_record_case *test = &merged->cases[index];
    struct trouble trouble, other;
    char name[256], more[48], some[64] = "";
    size_t others = 0;
    find_trouble(merged, test, &trouble);
    if (trouble.reason == NULL)
        return;
    for (size_t i = 0; i < merged->case_count; i++) {
        find_trouble(merged, &merged->cases[i], &other);
        bool same = i != index && same_trouble(&other, &trouble);
        if (same && i < index)
            return;
        others += same;
    }
    if (trouble.summary.ok > 0)
        snprintf(some, sizeof some, " in %zu of %zu processes%s",
                 trouble.summary.processes - trouble.summary.ok, trouble.summary.processes,
                 trouble.summary.processes - trouble.summary.ok > 1 ? ", at the worst" : "");
    xb_note_print(stream, trouble.summary.status == XB_RESULT_SKIPPED ? "skipped" : "ERROR",
                  LABEL_WIDTH, "%s%s%s: %s", case_name(merged, test, name, sizeof name),
                  more_rows(others, more, sizeof more), some, trouble.reason);
}

/* ---- warnings ---- */

#define MOST_KINDS 32 /* the rest stands in the JSON */

/* A warning of some cases. */
struct kind {
    struct xb_record_warning warning; /* of the first case */
    const struct xb_record_case *test;
    size_t others; /* cases that have it too */
};

struct kinds {
    struct kind kinds[MOST_KINDS];
    size_t count;
    bool more;
};

static void take_kind(struct kinds *kinds, const struct xb_record_case *test,
                      const struct xb_record_warning *warning)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (xb_record_like_warnings(kinds->kinds[i].warning.text, warning->text)) {
            kinds->kinds[i].others++;
            return;
        }
    kinds->more = kinds->count == MOST_KINDS;
    if (!kinds->more)
        kinds->kinds[kinds->count++] = (struct kind){.warning = *warning, .test = test};
}

static void find_kinds(const struct xb_record *merged, struct kinds *kinds)
{
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    for (size_t i = 0; i < merged->case_count; i++) {
        size_t count = xb_record_warnings(merged, &merged->cases[i], warnings);
        for (size_t j = 0; j < count; j++)
            take_kind(kinds, &merged->cases[i], &warnings[j]);
    }
}

/* The first process's words stand for all: only their figures differ. */
static void note_kind(FILE *stream, const struct xb_record *merged, const struct kind *kind)
{
    char name[256], more[48], alike[64] = "";
    size_t all = xb_record_summarize(merged, kind->test).processes;
    size_t some = kind->warning.processes;
    if (some > 1)
        snprintf(alike, sizeof alike, ", and like it in %zu more of %zu processes", some - 1, all);
    else if (all > 1)
        snprintf(alike, sizeof alike, ", in 1 of %zu processes", all);
    xb_note_print(stream, "warning", LABEL_WIDTH, "%s%s: %.400s%s",
                  case_name(merged, kind->test, name, sizeof name),
                  more_rows(kind->others, more, sizeof more), kind->warning.text, alike);
}

static void note_warnings(FILE *stream, const struct xb_record *merged)
{
    struct kinds kinds = {.count = 0};
    find_kinds(merged, &kinds);
    for (size_t i = 0; i < kinds.count; i++)
        note_kind(stream, merged, &kinds.kinds[i]);
    if (kinds.more)
        xb_note_print(stream, "warning", LABEL_WIDTH, "and others, which stand in the JSON");
}

/* A signal or the deadline comes in one row, or in those that run side by side. */
static void note_cut(FILE *stream, const struct xb_record *merged)
{
    char name[256], text[XB_RECORD_CUT];
    for (size_t i = 0; i < merged->case_count; i++) {
        const struct xb_record_case *test = &merged->cases[i];
        const char *cut = xb_record_cut_text(merged, test, text, sizeof text);
        if (cut != NULL)
            xb_note_print(stream, "warning", LABEL_WIDTH, "%s: %s",
                          case_name(merged, test, name, sizeof name), cut);
    }
}

static void note_stop(FILE *stream, const struct xb_processes *set)
{
    if (set->interrupted)
        xb_note_print(stream, "STOPPED", LABEL_WIDTH,
                      "interrupted by a signal: %zu of %zu processes were begun", set->count,
                      set->asked);
    if (set->has_deadline && !set->deadline_met)
        xb_note_print(stream, "STOPPED", LABEL_WIDTH,
                      "the deadline came: %zu of %zu processes were begun", set->count, set->asked);
}

static void note_failures(FILE *stream, const struct xb_processes *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].failure[0] != '\0')
            xb_note_print(stream, "FAILED", LABEL_WIDTH, "process %zu of %zu: %s", i + 1,
                          set->asked, set->processes[i].failure);
}

static bool has_notes(const struct xb_processes *set, const struct xb_record *merged)
{
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    bool notes = set->interrupted || (set->has_deadline && !set->deadline_met);
    for (size_t i = 0; i < set->count; i++)
        notes = notes || set->processes[i].failure[0] != '\0';
    for (size_t i = 0; !notes && merged != NULL && i < merged->case_count; i++) {
        const struct xb_record_case *test = &merged->cases[i];
        struct xb_record_summary summary = xb_record_summarize(merged, test);
        notes = summary.status != XB_RESULT_OK || summary.cut > 0 ||
                xb_record_warnings(merged, test, warnings) > 0;
    }
    return notes;
}

static void print_notes(FILE *stream, const struct xb_processes *set,
                        const struct xb_record *merged)
{
    if (!has_notes(set, merged))
        return;
    fputs("\nNotes\n", stream);
    note_stop(stream, set);
    note_failures(stream, set);
    for (size_t i = 0; merged != NULL && i < merged->case_count; i++)
        note_case(stream, merged, i);
    if (merged != NULL) {
        note_cut(stream, merged);
        note_warnings(stream, merged);
    }
}

enum xb_status xb_processes_table_write(FILE *stream, const struct xb_processes *set,
                                        const struct xb_record *merged, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = XB_OK;
    print_header(stream, set, merged);
    if (merged != NULL)
        status = print_table(stream, merged, error);
    if (status == XB_OK) {
        print_notes(stream, set, merged);
        status = xb_sink_finish(stream, "the table", error);
    }
    xb_plain_locale_leave(previous);
    return status;
}
