/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: its rows, and what stands above and below them. */
#define _GNU_SOURCE
#include "table.h"

#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "formats.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "matrix.h"
#include "present/table.h"
#include "reading/list.h"
#include "record/rows.h"

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
    xb_heading_print(stream, XB_COLOUR_NONE, "GPU %u: %s", device->index, name.text);
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
                      "host memory only: both directions are copies by the CPU; no link is used");
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
    if (record->left_out != NULL)
        xb_note_print(stream, "left out", XB_TABLE_LABEL, "%s", record->left_out);
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
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    print_program(stream, record);
    if (count > 0)
        fputc('\n', stream);
    for (size_t i = 0; i < count; i++)
        print_device(stream, &devices[i]);
    fputs(count > 0 ? "\n" : "", stream);
}

static void print_processes(FILE *stream, const struct xb_record *record, bool has_role)
{
    size_t with_results = 0;
    for (size_t i = 0; i < record->process_count; i++)
        with_results += record->processes[i].has_results;
    if (!record->is_merged)
        return;
    struct xb_words words = {.length = 0};
    if (record->role != NULL && !has_role) /* the long header has it */
        xb_words_add(&words, "%s%s%s: ", record->role, record->program != NULL ? " " : "",
                     record->program != NULL ? record->program : "");
    xb_heading_print(stream, XB_COLOUR_NONE, "%s%zu of %zu processes have results", words.text,
                     with_results, record->asked_processes);
}

/* ---- which tables there are ---- */

/* Which kinds of rows there are. */
struct kinds {
    bool alone, together;
    size_t most; /* devices that ran at the same time, all between themselves and the host */
};

static struct kinds kinds_of(const struct xb_record *record)
{
    struct kinds kinds = {.most = 0};
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        size_t devices = xb_case_is_of_pairs(test) ? 0 : xb_group_size(record, test);
        bool has = xb_table_has_row(record, test);
        kinds.alone = kinds.alone || (has && !test->simultaneous);
        kinds.together = kinds.together || (has && test->simultaneous);
        kinds.most = devices > kinds.most ? devices : kinds.most;
    }
    return kinds;
}

static enum xb_status print_table(FILE *stream, const struct xb_record *record,
                                  enum xb_row_kind which, struct xb_error *error)
{
    const struct xb_table_look look = {.elsewhere = "JSON and CSV have all"};
    struct xb_table *table = xb_table_of_rows(record, which);
    (void)error;
    xb_table_print(stream, table, &look);
    xb_table_free(table);
    return XB_OK;
}

static enum xb_status print_together(FILE *stream, const struct xb_record *record, size_t most,
                                     struct xb_error *error)
{
    if (most > 1)
        xb_heading_print(stream, XB_COLOUR_TITLE, "%zu GPUs at the same time", most);
    else
        xb_heading_print(stream, XB_COLOUR_TITLE, "GPUs at the same time");
    return print_table(stream, record, XB_ROWS_TOGETHER, error);
}

/* Bars, curves and small matrices of what stands in no other table than that of rows. */
static enum xb_status print_bars(FILE *stream, const struct xb_record *record, bool only_sweeps,
                                 struct xb_error *error)
{
    bool *told = calloc(record->case_count + 1, sizeof *told);
    if (told == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
    for (size_t i = 0; i < record->case_count; i++)
        told[i] = !xb_table_has_row(record, &record->cases[i]) || record->cases[i].simultaneous ||
                  xb_case_is_in_matrix(record, &record->cases[i]);
    enum xb_status status = xb_overview_bars(stream, record, told, only_sweeps, error);
    free(told);
    return status;
}

/* Every row with every column, and the curves of sweeps over sizes. On a terminal it says where the
 * columns are explained. */
static enum xb_status print_rows(FILE *stream, const struct xb_record *record,
                                 struct xb_error *error)
{
    const struct kinds kinds = kinds_of(record);
    enum xb_status status = XB_OK;
    if (kinds.alone || record->case_count == 0)
        status = print_table(stream, record, XB_ROWS_ALONE, error);
    if (status == XB_OK && kinds.together) {
        fputs(kinds.alone ? "\n" : "", stream);
        status = print_together(stream, record, kinds.most, error);
    }
    if (status == XB_OK && xb_is_terminal(stream))
        fputs("\nColumns: xferbench help columns\n", stream);
    if (status == XB_OK)
        status = xb_matrix_print_nodes(stream, record, false, error);
    if (status == XB_OK)
        status = xb_matrix_print(stream, record, !kinds.alone && !kinds.together, false, error);
    return status == XB_OK ? print_bars(stream, record, true, error) : status;
}

/* Bars; what they cannot show stands in tables. */
static enum xb_status print_overview(FILE *stream, const struct xb_record *record,
                                     struct xb_error *error)
{
    const struct kinds kinds = kinds_of(record);
    enum xb_status status = print_bars(stream, record, false, error);
    if (status == XB_OK && kinds.together) {
        fputc('\n', stream);
        status = print_together(stream, record, kinds.most, error);
    }
    if (status == XB_OK)
        status = xb_matrix_print_nodes(stream, record, false, error);
    return status == XB_OK ? xb_matrix_print(stream, record, false, true, error) : status;
}

static enum xb_status print_results(FILE *stream, const struct xb_record *record, bool all,
                                    struct xb_error *error)
{
    size_t not_run = 0;
    for (size_t i = 0; i < record->case_count; i++)
        not_run += xb_case_was_not_run(record, &record->cases[i]);
    if (not_run > 0 && not_run == record->case_count) {
        fputs("Nothing was measured.\n", stream);
        return XB_OK;
    }
    return all ? print_rows(stream, record, error) : print_overview(stream, record, error);
}

enum xb_status xb_table_write(FILE *stream, const struct xb_record *record,
                              const struct xb_table_view *view, struct xb_error *error)
{
    struct xb_reading_list reading = {.count = 0};
    enum xb_status status = XB_OK;
    bool has_results = false; /* of any process: one that failed alone has no table, only notes */
    for (size_t i = 0; i < record->process_count; i++)
        has_results = has_results || record->processes[i].has_results;
    if (has_results)
        xb_reading_make(record, &reading);
    if (view->all_notes)
        print_header(stream, record);
    else
        xb_overview_header(stream, record);
    print_processes(stream, record, view->all_notes);
    if (reading.answer != NULL)
        xb_heading_print(stream, XB_COLOUR_NONE, "%s", reading.answer);
    if (has_results)
        status = print_results(stream, record, view->all_columns, error);
    if (status == XB_OK && view->all_notes)
        status = xb_table_notes(stream, record, false, &reading, error);
    if (view->all_reading)
        xb_reading_print(stream, &reading);
    else
        xb_overview_advice(stream, &reading);
    if (status == XB_OK && !view->all_notes)
        status = xb_table_notes(stream, record, true, &reading, error);
    if (has_results && !view->all_columns)
        xb_heading_print(
            stream, XB_COLOUR_NONE,
            "All numbers: --json FILE, --columns all. The words: xferbench help words");
    xb_reading_free(&reading);
    return status == XB_OK ? xb_stream_finish(stream, "the table", error) : status;
}

enum xb_status xb_table_write_markdown(FILE *stream, const struct xb_record *record,
                                       struct xb_error *error)
{
    struct xb_reading_list reading = {.count = 0};
    struct xb_table *table = xb_table_of_rows(record, XB_ROWS_ALL);
    xb_reading_make(record, &reading);
    xb_overview_header(stream, record);
    fprintf(stream, "\n%s\n\n", reading.answer != NULL ? reading.answer : "");
    xb_table_markdown(stream, table);
    xb_reading_free(&reading);
    xb_table_free(table);
    return xb_stream_finish(stream, "the table", error);
}
