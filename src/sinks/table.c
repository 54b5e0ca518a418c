/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reading.h"
#include "text.h"
#include "xferbench/sink.h"
#include "xferbench/version.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Notes are wrapped to this; the table stays within it for all but the longest values. */
#define LINE_COLUMNS 100

/* Any text of a run fits, with the name of a row before it. */
#define NOTE_SIZE 1536

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
    COLUMN_N,
    COLUMN_VERIFIED,
    COLUMN_COUNT
};

static const struct {
    const char *name;
    int flags;
} columns[COLUMN_COUNT] = {
    [COLUMN_MODE] = {"MODE", 0},
    [COLUMN_VARIANT] = {"VARIANT", 0},
    [COLUMN_DIRECTION] = {"DIR", 0},
    [COLUMN_SIZE] = {"SIZE", SCOLS_FL_RIGHT},
    [COLUMN_DEVICE] = {"DEV", SCOLS_FL_RIGHT},
    [COLUMN_BANDWIDTH] = {"GB/s", SCOLS_FL_RIGHT},
    [COLUMN_INTERVAL] = {"95% INTERVAL", SCOLS_FL_RIGHT},
    [COLUMN_MIN] = {"MIN", SCOLS_FL_RIGHT},
    [COLUMN_MAX] = {"MAX", SCOLS_FL_RIGHT},
    [COLUMN_SUBMIT] = {"SUBMIT", SCOLS_FL_RIGHT},
    [COLUMN_N] = {"N", SCOLS_FL_RIGHT},
    [COLUMN_VERIFIED] = {"VERIFIED", 0},
};

/* ---- text ---- */

/* Makes a text plain ASCII, in place: a note may hold a driver's words or a user's file name. */
static void make_plain(char *text)
{
    char *out = text;
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        bool plain = *text >= ' ' && *text <= '~';
        *out++ = plain ? *text : strchr("\t\r\n", *text) != NULL ? ' ' : '?';
        text += length > 0 ? length : 1;
    }
    *out = '\0';
}

/* Prints words after a label, and further lines under the first word. */
static void print_wrapped(FILE *stream, const char *label, char *text)
{
    int indent = fprintf(stream, "  %-9s", label);
    int used = indent;
    char *rest = NULL;
    make_plain(text);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int length = (int)strlen(word);
        if (used > indent && used + 1 + length > LINE_COLUMNS)
            used = fprintf(stream, "\n%*s", indent, "") - 1;
        used += fprintf(stream, used > indent ? " %s" : "%s", word);
    }
    fputc('\n', stream);
}

static void print_note(FILE *stream, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_note(FILE *stream, const char *label, const char *format, ...)
{
    char text[NOTE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_wrapped(stream, label, text);
}

/* ---- what was measured, and on what ---- */

/* "Gen5 x16". */
static const char *lanes_text(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
    return text;
}

static void print_link(FILE *stream, const struct xb_run_device *device)
{
    const struct xb_pcie_link *link = &device->link;
    char now[32], most[32], raw[48] = "";
    if (device->info.pci_bdf[0] == '\0') {
        print_note(stream, "link", "none: not a PCI device");
        return;
    }
    if (!link->known) {
        print_note(stream, "link", "not known");
        return;
    }
    lanes_text(link->speed_gts, link->width, now, sizeof now);
    lanes_text(link->max_speed_gts, link->max_width, most, sizeof most);
    double rate = xb_pcie_raw_rate(link->speed_gts, link->width);
    if (rate > 0)
        snprintf(raw, sizeof raw, ", %.1f GB/s raw each way", rate / 1e9);
    if (link->speed_gts < link->max_speed_gts || link->width < link->max_width)
        print_note(stream, "link", "PCIe %s%s: BELOW the %s that the device can do", now, raw,
                   most);
    else
        print_note(stream, "link", "PCIe %s%s (device and slot can do %s)", now, raw, most);
}

static void print_binding(FILE *stream, const struct xb_binding *binding)
{
    const char *colon = binding->note[0] != '\0' ? ": " : "";
    if (binding->bound)
        print_note(stream, "NUMA", "bound to node %d, %u CPUs%s%s", binding->node,
                   binding->cpu_count, colon, binding->note);
    else if (binding->note_is_normal)
        print_note(stream, "NUMA", "%s", binding->note);
    else
        print_note(stream, "NUMA", "NOT bound%s%s", colon, binding->note);
}

static void print_device(FILE *stream, const struct xb_run_device *device)
{
    const struct xb_device_info *info = &device->info;
    char text[NOTE_SIZE];
    snprintf(text, sizeof text, "%s%s%s, %.1f GiB%s%s", info->name,
             info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf,
             (double)info->memory_bytes / (double)(1ULL << 30),
             info->architecture[0] != '\0' ? ", " : "", info->architecture);
    make_plain(text);
    fprintf(stream, "Device %u: %s\n", info->index, text);
    print_link(stream, device);
    print_binding(stream, &device->binding);
}

static void print_header(FILE *stream, const struct xb_run *run)
{
    const struct xb_probe *probe = &run->probe;
    fprintf(stream, "xferbench %s, backend %s", XB_VERSION, run->backend->name);
    if (probe->runtime_version[0] != '\0')
        fprintf(stream, ", runtime %s", probe->runtime_version);
    if (probe->driver_version[0] != '\0')
        fprintf(stream, ", driver %s", probe->driver_version);
    fputs("\n\n", stream);
    for (size_t i = 0; i < run->device_count; i++)
        print_device(stream, &run->devices[i]);
    fputc('\n', stream);
}

/* ---- the table ---- */

/* Decimals that show four digits of `value`, and of what stands beside it in its row. */
static int decimals_for(double value)
{
    int decimals = 3;
    for (double limit = 10; decimals > 0 && value >= limit; limit *= 10)
        decimals--;
    for (double limit = 1; decimals < 9 && value < limit; limit /= 10)
        decimals++;
    return decimals;
}

struct row {
    char size[32];
    char device[16];
    char bandwidth[32];
    char interval[64];
    char min[32];
    char max[32];
    char submit[32];
    char n[24];
};

static void fill_bandwidth(struct row *row, const struct xb_statistics *bandwidth)
{
    int decimals = decimals_for(bandwidth->median / 1e9);
    snprintf(row->bandwidth, sizeof row->bandwidth, "%.*f", decimals, bandwidth->median / 1e9);
    snprintf(row->min, sizeof row->min, "%.*f", decimals, bandwidth->min / 1e9);
    snprintf(row->max, sizeof row->max, "%.*f", decimals, bandwidth->max / 1e9);
    if (bandwidth->has_interval)
        snprintf(row->interval, sizeof row->interval, "%.*f-%.*f", decimals,
                 bandwidth->ci95_low / 1e9, decimals, bandwidth->ci95_high / 1e9);
}

static enum xb_status fill_row(struct row *row, const struct xb_result *result,
                               struct xb_error *error)
{
    *row = (struct row){.bandwidth = "-", .interval = "-", .min = "-", .max = "-", .submit = "-"};
    xb_size_format(result->test.bytes, row->size, sizeof row->size);
    snprintf(row->device, sizeof row->device, "%u", result->test.device);
    snprintf(row->n, sizeof row->n, "%zu", result->bandwidth.n);
    if (result->status == XB_RESULT_SKIPPED)
        strcpy(row->bandwidth, "skipped");
    else if (result->status == XB_RESULT_ERROR)
        strcpy(row->bandwidth, "ERROR");
    else if (result->bandwidth.n > 0)
        fill_bandwidth(row, &result->bandwidth);
    if (result->bandwidth.n == 0) {
        strcpy(row->n, "-");
        return XB_OK;
    }
    if (result->submit_times.count == 0)
        return XB_OK;
    struct xb_statistics submit;
    enum xb_status status = xb_statistics_compute(result->submit_times.values,
                                                  result->submit_times.count, &submit, error);
    if (status == XB_OK)
        xb_duration_format(submit.median, row->submit, sizeof row->submit);
    return status;
}

static enum xb_status out_of_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

static enum xb_status add_row(struct libscols_table *table, const struct xb_result *result,
                              struct xb_error *error)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    struct row row;
    enum xb_status status = fill_row(&row, result, error);
    if (status != XB_OK)
        return status;
    const char *const cells[COLUMN_COUNT] = {
        [COLUMN_MODE] = result->test.mode->name,
        [COLUMN_VARIANT] = result->test.variant,
        [COLUMN_DIRECTION] = xb_direction_name(result->test.direction),
        [COLUMN_SIZE] = row.size,
        [COLUMN_DEVICE] = row.device,
        [COLUMN_BANDWIDTH] = row.bandwidth,
        [COLUMN_INTERVAL] = row.interval,
        [COLUMN_MIN] = row.min,
        [COLUMN_MAX] = row.max,
        [COLUMN_SUBMIT] = row.submit,
        [COLUMN_N] = row.n,
        [COLUMN_VERIFIED] = verified[result->verified],
    };
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (scols_line_set_data(line, i, cells[i]) != 0)
            return out_of_memory(error);
    }
    return XB_OK;
}

static bool add_columns(struct libscols_table *table, bool with_device)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        int hidden = i == COLUMN_DEVICE && !with_device ? SCOLS_FL_HIDDEN : 0;
        if (scols_table_new_column(table, columns[i].name, 0, columns[i].flags | hidden) == NULL)
            return false;
    }
    return true;
}

/* With two blanks between the columns where the lines have room for them. */
static char *table_text(struct libscols_table *table)
{
    static const char *const separators[] = {" ", "  "};
    char *text = NULL;
    /* On a narrow terminal the library would drop columns; let the terminal wrap instead. */
    if (scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) != 0)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        char *wider = NULL;
        if (scols_table_set_column_separator(table, separators[i]) != 0 ||
            scols_print_table_to_string(table, &wider) != 0) {
            free(text);
            return NULL;
        }
        if (text != NULL && strcspn(wider, "\n") > LINE_COLUMNS) {
            free(wider);
            break;
        }
        free(text);
        text = wider;
    }
    return text;
}

static enum xb_status print_table(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    struct libscols_table *table = scols_new_table();
    if (table == NULL || !add_columns(table, run->device_count > 1)) {
        status = out_of_memory(error);
        goto release;
    }
    for (size_t i = 0; status == XB_OK && i < run->case_count; i++)
        status = add_row(table, &run->results[i], error);
    if (status != XB_OK)
        goto release;
    char *text = table_text(table);
    if (text == NULL)
        status = out_of_memory(error);
    else
        fprintf(stream, "%s\n", text);
    free(text);
release:
    scols_unref_table(table);
    return status;
}

/* ---- the notes ---- */

/* "pinned alloc h2d 1 GiB", and the device where there are several. */
static const char *row_name(const struct xb_run *run, const struct xb_result *result, char *text,
                            size_t size)
{
    char bytes[32], device[32] = "";
    if (run->device_count > 1)
        snprintf(device, sizeof device, " device %u", result->test.device);
    snprintf(text, size, "%s %s %s %s%s", result->test.mode->name, result->test.variant,
             xb_direction_name(result->test.direction),
             xb_size_format(result->test.bytes, bytes, sizeof bytes), device);
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
    print_note(stream, result->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR", "%s%s: %s",
               row_name(run, result, name, sizeof name), more_rows(others, more, sizeof more),
               result->reason);
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
    print_note(stream, "warning", "%s%s: %s",
               row_name(run, &run->results[index], name, sizeof name),
               more_rows(others, more, sizeof more), warning);
}

static bool has_notes(const struct xb_run *run)
{
    bool notes = run->interrupted;
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
        print_note(stream, "STOPPED", "interrupted by a signal: %zu of %zu cases were measured",
                   measured, run->case_count);
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
    enum xb_status status = print_table(stream, run, error);
    if (status == XB_OK) {
        xb_reading_print(stream, run);
        print_notes(stream, run);
        bool written = !ferror(stream);
        if (fflush(stream) != 0 || !written) {
            int code = errno;
            status =
                XB_FAIL_ERRNO(error, "write", code, "cannot write the table: %s", strerror(code));
        }
    }
    xb_plain_locale_leave(previous);
    return status;
}
