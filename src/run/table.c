/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: its rows, and what stands above and below them. */
#include "table.h"

#include "base/stream.h"
#include "formats.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "present/table.h"

#include <ctype.h>
#include <string.h>

#define NOTE(label, ...) xb_note_print(stream, (label), XB_TABLE_LABEL, __VA_ARGS__)

static void add_known(struct xb_words *words, const char *before, const char *text)
{
    if (text != NULL)
        xb_words_add(words, "%s%s", before, text);
}

static bool is_below(const struct xb_record_device *device)
{
    return device->link_speed_gts < device->link_max_speed_gts ||
           device->link_width < device->link_max_width;
}

/* Whether the short header says the same of both: of a link that is worse it says so. */
static bool are_alike(const struct xb_record_device *a, const struct xb_record_device *b)
{
    return strcmp(a->name, b->name) == 0 && a->link_known == b->link_known &&
           a->link_speed_gts == b->link_speed_gts && a->link_width == b->link_width &&
           a->link_max_speed_gts == b->link_max_speed_gts &&
           a->link_max_width == b->link_max_width && (a->pci_bdf == NULL) == (b->pci_bdf == NULL);
}

void xb_table_name_devices(struct xb_words *words, const struct xb_record *record)
{
    char runtime[64];
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    /* "2 x NVIDIA H200, PCIe Gen5 x16": neighbours that are alike stand together. */
    for (size_t i = 0, alike = 0; i < count; i += alike) {
        const struct xb_record_device *device = &devices[i];
        alike = 1;
        while (i + alike < count && are_alike(device, &devices[i + alike]))
            alike++;
        xb_words_add(words, "%s", i > 0 ? "; " : "");
        if (alike > 1)
            xb_words_add(words, "%zu x ", alike);
        xb_words_add(words, "%s", device->name);
        if (device->pci_bdf == NULL || !device->link_known)
            continue;
        xb_words_add(words, ", PCIe %s", XB_LANES_TEXT(device->link_speed_gts, device->link_width));
        if (device->link_max_width > 0 && is_below(device))
            xb_words_add(words, " (BELOW its %s)",
                         XB_LANES_TEXT(device->link_max_speed_gts, device->link_max_width));
    }
    /* ", driver 580.1, CUDA 13.0, without hwloc" */
    snprintf(runtime, sizeof runtime, ", %.31s ", record->backend != NULL ? record->backend : "");
    for (char *c = runtime; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    add_known(words, words->length > 0 ? ", driver " : "driver ", record->driver);
    add_known(words, runtime, record->runtime);
    add_known(words, words->length > 0 ? ", without " : "without ", record->left_out);
}

/* One line: on what, by which driver, on which node; more of what is not as it should be. */
static void print_short_header(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0};
    size_t width = xb_terminal_prose_columns(stream);
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    xb_table_name_devices(&words, record);
    /* "            node gpu07", at the right edge if the line has room. */
    char node[XB_NODE_TEXT];
    xb_node_text(record->host.node, record->host.hostname, node);
    size_t used = words.length + strlen("  node ") + strlen(node);
    if (node[0] != '\0' && used <= width)
        xb_words_add(&words, "%*snode %s", (int)(width - used + 2), "", node);
    else if (node[0] != '\0')
        xb_words_add(&words, ", node %s", node);
    xb_make_plain(words.text);
    if (strlen(words.text) <= width) /* as it is: with its blanks */
        fprintf(stream, "%s%s%s\n", xb_colour_begin(stream, XB_COLOUR_TITLE), words.text,
                xb_colour_end(stream, XB_COLOUR_TITLE));
    else
        xb_heading_print(stream, XB_COLOUR_TITLE, "%s", words.text);
    if (record->library_named_by != NULL)
        NOTE("library", "%s, NAMED BY %s", record->library, record->library_named_by);
    for (size_t i = 0; i < count; i++) {
        const char *note = devices[i].numa_note;
        if (!devices[i].bound && !devices[i].numa_is_normal)
            NOTE("NUMA", "GPU %u is NOT bound to its node%s%s", devices[i].index,
                 note != NULL ? ": " : "", note != NULL ? note : "");
    }
}

static void print_device(FILE *stream, const struct xb_record_device *device)
{
    struct xb_words name = {.length = 0}, link = {.length = 0}, facts = {.length = 0};
    const char *note = device->numa_note != NULL ? device->numa_note : "";
    const char *colon = note[0] != '\0' ? ": " : "";
    xb_words_add(&name, "%s", device->name);
    add_known(&name, ", ", device->pci_bdf);
    if (device->memory_bytes > 0)
        xb_words_add(&name, ", %.1f GiB", (double)device->memory_bytes / (double)(1ULL << 30));
    add_known(&name, ", ", device->architecture);
    xb_heading_print(stream, XB_COLOUR_NONE, "GPU %u: %s", device->index, name.text);
    /* "PCIe Gen5 x16 at 0000:0e:00.0, 63.0 GB/s raw each way (device and slot can do Gen5 x16)" */
    bool has_link = device->pci_bdf != NULL && device->link_known;
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    if (!has_link)
        xb_words_add(&link, device->pci_bdf == NULL ? "none: not a PCI device" : "not known");
    else
        xb_words_add(&link, "PCIe %s", XB_LANES_TEXT(device->link_speed_gts, device->link_width));
    if (has_link && device->link_port != NULL && strcmp(device->link_port, device->pci_bdf) != 0)
        xb_words_add(&link, " at %s", device->link_port);
    if (has_link && rate > 0)
        xb_words_add(&link, ", %.1f GB/s raw each way", rate / 1e9);
    if (has_link && device->link_max_width > 0) /* an old file may not say */
        xb_words_add(&link,
                     is_below(device) ? ": BELOW the %s that the device can do"
                                      : " (device and slot can do %s)",
                     XB_LANES_TEXT(device->link_max_speed_gts, device->link_max_width));
    NOTE("link", "%s", link.text);
    if (device->bound)
        NOTE("NUMA", "bound to node %d, %u CPUs%s%s", device->numa_node, device->cpus, colon, note);
    else if (!device->numa_is_normal)
        NOTE("NUMA", "NOT bound%s%s", colon, note);
    else if (note[0] != '\0')
        NOTE("NUMA", "%s", note);
    if (device->shares_host_memory)
        NOTE("memory", "host memory only: both directions are copies by the CPU; no link is used");
    for (size_t i = 0; i < device->fact_count; i++)
        xb_words_add(&facts, "%s%s %s", i > 0 ? "; " : "", device->facts[i].name,
                     device->facts[i].value != NULL ? device->facts[i].value : "not known");
    if (facts.length > 0)
        NOTE("facts", "%s", facts.text);
}

/* All that is known of who measured, and on what devices. */
static void print_long_header(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0}, library = {.length = 0}, role = {.length = 0};
    char node[XB_NODE_TEXT];
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    xb_words_add(&words, "xferbench %s", record->version != NULL ? record->version : "?");
    add_known(&words, ", backend ", record->backend);
    add_known(&words, ", runtime ", record->runtime);
    add_known(&words, ", driver ", record->driver);
    xb_heading_print(stream, XB_COLOUR_NONE, "%s", words.text);
    xb_node_text(record->host.node, record->host.hostname, node);
    if (node[0] != '\0')
        NOTE("node", "%s", node);
    add_known(&library, "", record->library);
    add_known(&library, ", NAMED BY ", record->library_named_by);
    if (record->library != NULL)
        NOTE("library", "%s", library.text);
    if (record->left_out != NULL)
        NOTE("left out", "%s", record->left_out);
    if (record->is_merged && record->role != NULL) { /* whose processes they are */
        add_known(&role, record->role, "");
        add_known(&role, ": ", record->program);
        add_known(&role, ", in turn with ", record->counterpart);
        NOTE("role", "%s", role.text);
    }
    fputs(count > 0 ? "\n" : "", stream);
    for (size_t i = 0; i < count; i++)
        print_device(stream, &devices[i]);
    fputs(count > 0 ? "\n" : "", stream);
}

static void print_rows(FILE *stream, const struct xb_record *record, enum xb_row_kind which)
{
    struct xb_table *table = xb_table_of_rows(record, which);
    xb_table_print(stream, table, &(struct xb_table_look){.elsewhere = "JSON and CSV have all"});
    xb_table_free(table);
}

/* Prints bars, and tables of what they cannot show; or, for `all`, every row with every column, and
 * the curves of sweeps. */
static void print_results(FILE *stream, const struct xb_record *record, bool all)
{
    bool has_alone = false, has_together = false;
    size_t not_run = 0, most = 0; /* devices at the same time, between themselves and the host */
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        size_t devices = xb_case_is_of_pairs(test) ? 0 : xb_group_size(record, test);
        bool has_row = xb_table_has_row(record, test);
        has_alone = has_alone || (has_row && !test->simultaneous);
        has_together = has_together || (has_row && test->simultaneous);
        most = devices > most ? devices : most;
        not_run += xb_case_was_not_run(record, test);
    }
    if (not_run > 0 && not_run == record->case_count) {
        fputs("Nothing was measured.\n", stream);
        return;
    }
    if (!all)
        xb_bars_print(stream, record, false);
    else if (has_alone || record->case_count == 0)
        print_rows(stream, record, XB_ROWS_ALONE);
    if (has_together) {
        fputs(!all || has_alone ? "\n" : "", stream);
        if (most > 1)
            xb_heading_print(stream, XB_COLOUR_TITLE, "%zu GPUs at the same time", most);
        else
            xb_heading_print(stream, XB_COLOUR_TITLE, "GPUs at the same time");
        print_rows(stream, record, XB_ROWS_TOGETHER);
    }
    if (all && xb_is_terminal(stream))
        fputs("\nColumns: xferbench help columns\n", stream);
    xb_matrix_print_nodes(stream, record);
    xb_matrix_print(stream, record, all && !has_alone && !has_together, !all);
    if (all)
        xb_bars_print(stream, record, true);
}

/* What the reader's program should change, at most three things; what is fine. */
static void print_advice(FILE *stream, const struct xb_reading_list *list)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    size_t count = xb_reading_advice(list, advice);
    fputc('\n', stream);
    if (count > 0)
        xb_heading_print(stream, XB_COLOUR_TITLE, "What to do");
    for (size_t i = 0; i < count; i++) {
        char number[24], subject[64];
        snprintf(number, sizeof number, "%zu", i + 1);
        int length = (int)strlen(xb_reading_subject(list, advice[i], subject, sizeof subject));
        xb_note_print(stream, number, 2, "%s%s%.*s%s", advice[i]->remedy, length > 0 ? " (" : "",
                      length > 0 ? length - 2 : 0, subject, length > 0 ? ")" : ""); /* "1 GiB: " */
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        char subject[64];
        bool is_answer = list->answer != NULL && strcmp(list->answer, entry->text) == 0;
        if (entry->is_fine && !is_answer)
            xb_heading_print(stream, XB_COLOUR_NONE, "Fine: %s%s",
                             xb_reading_subject(list, entry, subject, sizeof subject), entry->text);
    }
}

enum xb_status xb_table_write(FILE *stream, const struct xb_record *record,
                              const struct xb_table_view *view, struct xb_error *error)
{
    struct xb_reading_list reading = {.count = 0};
    size_t with_results = 0; /* of processes: one that failed alone has no table, only notes */
    for (size_t i = 0; i < record->process_count; i++)
        with_results += record->processes[i].has_results;
    bool has_results = with_results > 0;
    if (has_results)
        xb_reading_make(record, &reading);
    (view->all_notes ? print_long_header : print_short_header)(stream, record);
    if (record->is_merged) {
        struct xb_words words = {.length = 0};
        if (record->role != NULL && !view->all_notes) /* the long header has it */
            xb_words_add(&words, "%s%s%s: ", record->role, record->program != NULL ? " " : "",
                         record->program != NULL ? record->program : "");
        xb_heading_print(stream, XB_COLOUR_NONE, "%s%zu of %zu processes have results", words.text,
                         with_results, record->asked_processes);
    }
    if (reading.answer != NULL)
        xb_heading_print(stream, XB_COLOUR_NONE, "%s", reading.answer);
    if (has_results)
        print_results(stream, record, view->all_columns);
    if (view->all_notes)
        xb_table_notes(stream, record, false, &reading);
    if (view->all_reading)
        xb_reading_print(stream, &reading);
    else
        print_advice(stream, &reading);
    if (!view->all_notes)
        xb_table_notes(stream, record, true, &reading);
    if (has_results && !view->all_columns)
        xb_heading_print(
            stream, XB_COLOUR_NONE,
            "All numbers: --json FILE, --columns all. The words: xferbench help words");
    xb_reading_free(&reading);
    return xb_stream_finish(stream, "the table", error);
}

enum xb_status xb_table_write_markdown(FILE *stream, const struct xb_record *record,
                                       struct xb_error *error)
{
    struct xb_reading_list reading = {.count = 0};
    struct xb_table *table = xb_table_of_rows(record, XB_ROWS_ALL);
    xb_reading_make(record, &reading);
    print_short_header(stream, record);
    fprintf(stream, "\n%s\n\n", reading.answer != NULL ? reading.answer : "");
    xb_table_markdown(stream, table);
    xb_reading_free(&reading);
    xb_table_free(table);
    return xb_stream_finish(stream, "the table", error);
}
