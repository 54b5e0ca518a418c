/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: its rows, and what stands above and below them. */
#define _GNU_SOURCE
#include "table.h"

#include "base/columns.h"
#include "base/note.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "formats.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "matrix.h"
#include "reading/list.h"
#include "record/rows.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header: who measured, and on what ---- */

/* "PCIe Gen5 x16 at 0000:0e:00.0, 63.0 GB/s raw each way (device and slot can do Gen5 x16)" */
static void add_link(struct xb_words *words, const struct xb_record_device *device)
{
    char lanes[32];
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    bool is_below = device->link_speed_gts < device->link_max_speed_gts ||
                    device->link_width < device->link_max_width;
    xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes);
    xb_words_add(words, "PCIe %s", lanes);
    if (device->link_port != NULL && strcmp(device->link_port, device->pci_bdf) != 0)
        xb_words_add(words, " at %s", device->link_port);
    if (rate > 0)
        xb_words_add(words, ", %.1f GB/s raw each way", rate / 1e9);
    if (device->link_max_width == 0) /* an old file may not say */
        return;
    xb_lanes_text(device->link_max_speed_gts, device->link_max_width, lanes, sizeof lanes);
    xb_words_add(
        words, is_below ? ": BELOW the %s that the device can do" : " (device and slot can do %s)",
        lanes);
}

static void print_device(FILE *stream, const struct xb_record_device *device)
{
    struct xb_words name = {.length = 0}, link = {.length = 0}, facts = {.length = 0};
    const char *note = device->numa_note != NULL ? device->numa_note : "";
    const char *colon = note[0] != '\0' ? ": " : "";
    xb_words_add(&name, "%s", device->name);
    if (device->pci_bdf != NULL)
        xb_words_add(&name, ", %s", device->pci_bdf);
    if (device->memory_bytes > 0)
        xb_words_add(&name, ", %.1f GiB", (double)device->memory_bytes / (double)(1ULL << 30));
    if (device->architecture != NULL)
        xb_words_add(&name, ", %s", device->architecture);
    xb_heading_print(stream, XB_COLOUR_NONE, "Device %u: %s", device->index, name.text);
    if (device->pci_bdf == NULL)
        xb_words_add(&link, "none: not a PCI device");
    else if (!device->link_known)
        xb_words_add(&link, "not known");
    else
        add_link(&link, device);
    xb_note_print(stream, "link", XB_TABLE_LABEL, "%s", link.text);
    if (device->bound)
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "bound to node %d, %u CPUs%s%s",
                      device->numa_node, device->cpus, colon, note);
    else if (!device->numa_is_normal)
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "NOT bound%s%s", colon, note);
    else if (note[0] != '\0')
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "%s", note);
    if (device->shares_host_memory)
        xb_note_print(stream, "memory", XB_TABLE_LABEL,
                      "the host's own: no copy crosses a link, whatever the table calls it");
    for (size_t i = 0; i < device->fact_count; i++)
        xb_words_add(&facts, "%s%s %s", i > 0 ? "; " : "", device->facts[i].name,
                     device->facts[i].value != NULL ? device->facts[i].value : "not known");
    if (facts.length > 0)
        xb_note_print(stream, "facts", XB_TABLE_LABEL, "%s", facts.text);
}

static void print_program(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0}, role = {.length = 0};
    char node[XB_NODE_TEXT];
    xb_words_add(&words, "xferbench %s", record->version != NULL ? record->version : "?");
    if (record->backend != NULL)
        xb_words_add(&words, ", backend %s", record->backend);
    if (record->runtime != NULL)
        xb_words_add(&words, ", runtime %s", record->runtime);
    if (record->driver != NULL)
        xb_words_add(&words, ", driver %s", record->driver);
    xb_heading_print(stream, XB_COLOUR_NONE, "%s", words.text);
    xb_node_text(record->host.node, record->host.hostname, node);
    if (node[0] != '\0')
        xb_note_print(stream, "node", XB_TABLE_LABEL, "%s", node);
    if (record->library != NULL)
        xb_note_print(stream, "library", XB_TABLE_LABEL, "%s%s%s", record->library,
                      record->library_named_by != NULL ? ", NAMED BY " : "",
                      record->library_named_by != NULL ? record->library_named_by : "");
    /* Of several processes: whose they are. */
    if (record->is_merged && record->role != NULL) {
        xb_words_add(&role, "%s", record->role);
        if (record->program != NULL)
            xb_words_add(&role, ": %s", record->program);
        if (record->counterpart != NULL)
            xb_words_add(&role, ", in turn with %s", record->counterpart);
        xb_note_print(stream, "role", XB_TABLE_LABEL, "%s", role.text);
    }
}

/* Who measured, and on what devices. */
static void print_header(FILE *stream, const struct xb_record *record)
{
    size_t count = 0;
    size_t with_results = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0; i < record->process_count; i++)
        with_results += record->processes[i].has_results;
    print_program(stream, record);
    if (record->is_merged)
        fprintf(stream, "%zu of %zu processes have results\n", with_results,
                record->asked_processes);
    if (count == 0)
        return;
    fputc('\n', stream);
    for (size_t i = 0; i < count; i++)
        print_device(stream, &devices[i]);
    fputc('\n', stream);
}

/* ---- a table ---- */

/* Pairs of devices stand in matrices; how far processes differ, only a row can say. Cases that were
 * not run are counted in a note, and have no rows. */
static bool has_row(const struct xb_record *record, const struct xb_record_case *test)
{
    return (record->is_merged || !xb_case_is_in_matrix(record, test)) &&
           !xb_case_was_not_run(record, test);
}

static enum xb_colour colour_of(const char *cell)
{
    if (strcmp(cell, "ERROR") == 0 || strcmp(cell, "NO") == 0)
        return XB_COLOUR_BAD;
    return strcmp(cell, "skipped") == 0 || strcmp(cell, "cut short") == 0 ? XB_COLOUR_WARNING
                                                                          : XB_COLOUR_NONE;
}

/* The table of those devices that ran alone, or of those that ran together; NULL: no memory. */
static char *table_text(FILE *stream, const struct xb_table_layout *layout, bool together)
{
    const struct xb_record *record = layout->record;
    unsigned char turns[XB_TABLE_COLUMNS];
    const struct xb_columns columns = {.width = xb_terminal_columns(stream),
                                       .with_colours = xb_terminal_has_colours(stream),
                                       .wordy = layout->shown_count - 1,
                                       .brief = "OK",
                                       .turns = turns,
                                       .elsewhere = "JSON and CSV have all"};
    char cell[XB_TABLE_CELL];
    struct libscols_table *table = scols_new_table();
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < layout->shown_count; i++) {
        int flags = xb_table_column_is_right(layout, i) ? SCOLS_FL_RIGHT : 0;
        struct libscols_column *column =
            scols_table_new_column(table, xb_table_column_name(layout, i, cell), 0, flags);
        turns[i] = xb_table_column_turn(layout, i);
        ok = column != NULL &&
             xb_columns_paint(scols_column_get_header(column), stream, XB_COLOUR_TITLE);
    }
    for (size_t i = 0; ok && i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!has_row(record, test) || test->simultaneous != together)
            continue;
        struct libscols_line *line = scols_table_new_line(table, NULL);
        ok = line != NULL;
        for (size_t k = 0; ok && k < layout->shown_count; k++) {
            xb_table_fill_cell(layout, k, test, cell);
            ok = scols_line_set_data(line, k, cell) == 0 &&
                 xb_columns_paint(scols_line_get_cell(line, k), stream, colour_of(cell));
        }
    }
    char *text = ok ? xb_columns_fit(table, &columns) : NULL;
    scols_unref_table(table);
    return text;
}

/* On a terminal the last table says where its columns are explained. */
static enum xb_status print_table(FILE *stream, const struct xb_table_layout *layout, bool together,
                                  bool says_columns, struct xb_error *error)
{
    char *text = table_text(stream, layout, together);
    if (text == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
    fputs(text, stream);
    if (says_columns && xb_is_terminal(stream)) {
        bool is_whole = strstr(text, "\n\n") == NULL; /* else an empty line is there */
        fprintf(stream, "%sColumns: xferbench help columns\n", is_whole ? "\n" : "");
    }
    free(text);
    return XB_OK;
}

/* ---- which tables there are ---- */

static enum xb_status print_results(FILE *stream, const struct xb_record *record,
                                    struct xb_error *error)
{
    struct xb_table_layout layout = xb_table_layout_of(record);
    enum xb_status status = XB_OK;
    size_t not_run = 0;
    size_t most = 0; /* devices that ran at the same time, all between themselves and the host */
    bool alone = false;
    bool together = false;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        size_t devices = xb_case_is_of_pairs(test) ? 0 : xb_group_size(record, test);
        bool has = has_row(record, test);
        alone = alone || (has && !test->simultaneous);
        together = together || (has && test->simultaneous);
        most = devices > most ? devices : most;
        not_run += xb_case_was_not_run(record, test);
    }
    if (not_run > 0 && not_run == record->case_count) {
        fputs("No case was run.\n", stream);
        return XB_OK;
    }
    if (alone || record->case_count == 0)
        status = print_table(stream, &layout, false, !together, error);
    if (status == XB_OK && together) {
        if (alone)
            fputc('\n', stream);
        if (most > 1)
            xb_heading_print(stream, XB_COLOUR_TITLE, "%zu devices at the same time", most);
        else
            xb_heading_print(stream, XB_COLOUR_TITLE, "Devices at the same time");
        status = print_table(stream, &layout, true, true, error);
    }
    if (status == XB_OK)
        status = xb_matrix_print_nodes(stream, record, false, error);
    if (status == XB_OK)
        status = xb_matrix_print(stream, record, !alone && !together, error);
    if (status == XB_OK)
        status = xb_sweep_print(stream, record, error);
    if (status == XB_OK)
        xb_curve_print(stream, record);
    return status;
}

static enum xb_status print_all(FILE *stream, const struct xb_record *record,
                                struct xb_error *error)
{
    struct xb_reading_list reading = {.count = 0};
    enum xb_status status = XB_OK;
    bool has_results = false; /* of any process: one that failed alone has no table, only notes */
    for (size_t i = 0; i < record->process_count; i++)
        has_results = has_results || record->processes[i].has_results;
    print_header(stream, record);
    if (has_results)
        status = print_results(stream, record, error);
    if (status == XB_OK)
        status = xb_table_notes(stream, record, error);
    if (status == XB_OK && has_results)
        status = xb_reading_make(record, &reading, error);
    if (status != XB_OK)
        return status;
    xb_reading_print(stream, &reading);
    xb_reading_free(&reading);
    return xb_stream_finish(stream, "the table", error);
}

enum xb_status xb_table_write(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = print_all(stream, record, error);
    xb_plain_locale_leave(previous);
    return status;
}
