/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: which columns its rows have, and what stands above and below them. */
#include "table.h"

#include "base/stream.h"
#include "base/text.h"
#include "base/units.h"
#include "formats.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "modes/batch.h"
#include "modes/kv_cache.h"
#include "present/table.h"
#include "record/mode_list.h"

#include <ctype.h>
#include <math.h>
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

#define CELL 64 /* characters of a cell */

/* Whose table has a column: bandwidths, latencies, any share of a link, any sum of two ways; one
 * process or several. */
enum { RATES = 1, LATENCIES = 2, ROWS = RATES | LATENCIES, SHARES = 4, SUMS = 8 };
enum { ONE = 1, SEVERAL = 2, ANY = ONE | SEVERAL };

/* What a cell shows. */
enum content {
    TEXT, /* of the case, at an offset in its struct */
    SIZE,
    PARAMETER, /* a column for each that differs */
    DEVICE,
    MAIN,  /* the median of the figure that the row is about, or else why there is none */
    VALUE, /* of a figure, at an offset in its statistics */
    INTERVAL,
    SPREAD,
    SHARE,
    SAMPLES,
    VERIFIED
};

#define OF_CASE(member) offsetof(struct xb_record_case, member)
#define OF(member) offsetof(struct xb_statistics, member)

/* The turn in which columns leave a line that is too narrow, 1 first, 0 never: first those that say
 * least of how fast a copy is, or that follow from others. */
static const struct column {
    const char *name;
    bool to_the_right;
    unsigned char turn;
    unsigned rows, processes;
    enum content content;
    size_t at;
    const struct xb_figure *figure; /* NULL: of none */
} columns[] = {
    {"MODE", false, 0, ROWS, ANY, TEXT, OF_CASE(mode), NULL},
    {"VARIANT", false, 0, ROWS, ANY, TEXT, OF_CASE(variant), NULL},
    {"DIR", false, 0, ROWS, ANY, TEXT, OF_CASE(direction), NULL},
    {"SIZE", true, 0, ROWS, ANY, SIZE, 0, NULL},
    {NULL, true, 0, ROWS, ANY, PARAMETER, 0, NULL},
    {"DEV", true, 0, ROWS, ANY, DEVICE, 0, NULL},
    {"GB/s", true, 0, RATES, ANY, MAIN, OF(median), &xb_figure_bandwidth},
    {"95% INTERVAL", true, 9, RATES, ANY, INTERVAL, 0, &xb_figure_bandwidth},
    {"MIN", true, 6, RATES, ANY, VALUE, OF(min), &xb_figure_bandwidth},
    {"MAX", true, 6, RATES, ANY, VALUE, OF(max), &xb_figure_bandwidth},
    {"SPREAD", true, 8, RATES, SEVERAL, SPREAD, 0, &xb_figure_bandwidth},
    {"OF LINK", true, 10, SHARES, ANY, SHARE, 0, &xb_figure_share_of_ceiling},
    {"SUM OF WAYS", true, 1, SUMS, ANY, VALUE, OF(median), &xb_figure_bandwidth_sum_of_ways},
    {"SUBMIT", true, 3, RATES, ONE, VALUE, OF(median), &xb_figure_submit_time},
    {"DONE", true, 2, RATES, ONE, VALUE, OF(median), &xb_figure_wall_time},
    {"HOST P50", true, 0, LATENCIES, ANY, MAIN, OF(median), &xb_figure_latency_host},
    {"P95", true, 7, LATENCIES, ONE, VALUE, OF(p95), &xb_figure_latency_host},
    {"P99", true, 5, LATENCIES, ONE, VALUE, OF(p99), &xb_figure_latency_host},
    {"MIN", true, 6, LATENCIES, SEVERAL, VALUE, OF(min), &xb_figure_latency_host},
    {"MAX", true, 6, LATENCIES, SEVERAL, VALUE, OF(max), &xb_figure_latency_host},
    {"SPREAD", true, 8, LATENCIES, SEVERAL, SPREAD, 0, &xb_figure_latency_host},
    {"DEVICE P50", true, 0, LATENCIES, ANY, VALUE, OF(median), &xb_figure_latency_device},
    {"P95", true, 7, LATENCIES, ONE, VALUE, OF(p95), &xb_figure_latency_device},
    {"P99", true, 5, LATENCIES, ONE, VALUE, OF(p99), &xb_figure_latency_device},
    {"N", true, 4, ROWS, ANY, SAMPLES, 0, NULL},
    {"VERIFIED", false, 0, ROWS, ANY, VERIFIED, 0, NULL}};

#define COLUMNS (sizeof columns / sizeof columns[0])

/* False if it is not known of the case. */
static bool fill_figure(const struct column *column, const struct xb_record *record,
                        const struct xb_record_case *test, const struct xb_figure *figure,
                        char *cell)
{
    struct xb_statistics s;
    if (!xb_record_describe(record, test, figure->name, &s))
        return false;
    int decimals = xb_decimals_for(s.median / 1e9);
    if (column->content == INTERVAL || column->content == SPREAD) {
        if (column->content == SPREAD && s.n > 1)
            snprintf(cell, CELL, "%.1f%%", 100 * (s.max - s.min) / s.median);
        else if (column->content == INTERVAL && s.has_interval)
            snprintf(cell, CELL, "%.*f-%.*f", decimals, s.ci95_low / 1e9, decimals,
                     s.ci95_high / 1e9);
        return true;
    }
    double value = *(const double *)((const char *)&s + column->at);
    if (isfinite(value) && strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, cell, CELL);
    else if (isfinite(value)) /* with as many digits as its median needs */
        snprintf(cell, CELL, "%.*f", decimals, value / 1e9);
    return true;
}

/* The cell is "-" where there is nothing to show. */
static void fill_cell(const struct column *column, const char *parameter,
                      const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    const struct xb_record_summary summary = xb_record_summarize(record, test);
    const struct xb_figure *main = xb_mode_main_figure(test->mode, test->latency);
    const struct xb_figure *figure = column->figure;
    const char *text = NULL;
    struct xb_statistics s;
    char value[CELL];
    snprintf(cell, CELL, "-");
    /* A latency of the mode's own is timed by the device, and stands where that of a copy would.
     * Several processes have one spread for both clocks. */
    if (xb_mode_has_latency(test->mode) &&
        (figure == &xb_figure_latency_device ||
         (figure == &xb_figure_latency_host && column->processes == SEVERAL)))
        figure = main;
    if (column->content == TEXT) {
        text = *(const char *const *)((const char *)test + column->at);
    } else if (column->content == SIZE) {
        text = xb_size_format(test->bytes, value, sizeof value);
    } else if (column->content == PARAMETER) {
        text = xb_parameter_text(test, parameter, value, sizeof value);
    } else if (column->content == DEVICE) { /* of those that ran together the table's title tells */
        text = xb_record_case_device(test, value, sizeof value);
    } else if (column->content == SHARE) {
        /* "95.5%"; of both ways at once "84.4+88.9%", to the device first */
        double one = xb_record_median(record, test, figure->name);
        double to = xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name);
        double from = xb_record_median(record, test, xb_figure_share_of_ceiling_d2h.name);
        if (isfinite(one))
            snprintf(cell, CELL, "%.1f%%", 100 * one);
        else if (isfinite(to) && isfinite(from))
            snprintf(cell, CELL, "%.1f+%.1f%%", 100 * to, 100 * from);
    } else if (column->content == VERIFIED) {
        text = verified[summary.verified];
    } else if (column->content == SAMPLES) {
        /* of one process also those of data that is wrong; of several those that count */
        s.n = record->is_merged ? summary.ok - summary.cut : test->rows[0].time_count;
        if (!record->is_merged)
            (void)xb_record_describe(record, test, main->name, &s);
        if (s.n > 0 || record->is_merged)
            snprintf(cell, CELL, "%zu", s.n);
    } else if (!fill_figure(column, record, test, figure, cell) && column->content == MAIN &&
               test->latency == (figure == &xb_figure_latency_host)) {
        text = summary.status == XB_RESULT_SKIPPED ? "skipped"
               : summary.status != XB_RESULT_OK    ? "ERROR"
               : summary.cut > 0                   ? "cut short"
                                                   : NULL;
    }
    if (text != NULL)
        snprintf(cell, CELL, "%s", text);
}

struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which)
{
    static const enum xb_colour colours[] = {XB_COLOUR_NONE, XB_COLOUR_WARNING, XB_COLOUR_BAD};
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    const unsigned processes = record->is_merged ? SEVERAL : ONE;
    unsigned rows = record->case_count == 0 ? RATES : 0; /* which kinds there are */
    size_t times[COLUMNS];                               /* that a column is there */
    char cell[CELL];
    struct xb_table *table = xb_table_new();
    XB_EACH_CASE (test, record) {
        rows |= test->latency ? LATENCIES : RATES;
        double one = xb_record_median(record, test, xb_figure_share_of_ceiling.name);
        if (isfinite(
                fmax(one, xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name))))
            rows |= SHARES;
        if (isfinite(xb_record_median(record, test, xb_figure_bandwidth_sum_of_ways.name)))
            rows |= SUMS;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct column *column = &columns[i];
        struct xb_table_column shown = {.title = column->name,
                                        .brief = column->content == VERIFIED ? "OK" : NULL,
                                        .is_right = column->to_the_right,
                                        .turn = column->turn};
        times[i] = column->content == PARAMETER ? parameters.count
                   : column->content == DEVICE
                       ? xb_rows_name_devices(record)
                       : (column->rows & rows) != 0 && (column->processes & processes) != 0;
        for (size_t k = 0; k < times[i]; k++) {
            if (column->content == PARAMETER) {
                snprintf(cell, CELL, "%s", parameters.names[k]);
                for (char *c = cell; *c != '\0'; c++)
                    *c = (char)toupper((unsigned char)*c);
                shown.title = cell;
            }
            xb_table_add_column(table, &shown);
        }
    }
    XB_EACH_CASE (test, record) {
        bool is_shown =
            xb_table_has_row(record, test) && test->simultaneous == (which == XB_ROWS_TOGETHER);
        if (which != XB_ROWS_ALL && !is_shown)
            continue;
        xb_table_row(table);
        for (size_t k = 0; k < COLUMNS; k++)
            for (size_t time = 0; time < times[k]; time++) {
                fill_cell(&columns[k], parameters.names[time], record, test, cell);
                bool is_bad = strcmp(cell, "ERROR") == 0 || strcmp(cell, "NO") == 0;
                bool is_less = strcmp(cell, "skipped") == 0 || strcmp(cell, "cut short") == 0;
                xb_table_cell(table, colours[is_bad ? 2 : is_less], "%s", cell);
            }
    }
    return table;
}

static void print_table(FILE *stream, struct xb_table *table)
{
    xb_table_print(stream, table, &(struct xb_table_look){.elsewhere = "JSON and CSV have all"});
    xb_table_free(table);
}

/* A set of transfers: what each has beside the others, and alone; then all of them. */
static void print_set(FILE *stream, const struct xb_record *record)
{
    static const struct xb_table_column titles[] = {{.title = "TRANSFERS AT ONCE"},
                                                    {.title = "GB/s", .is_right = true},
                                                    {.title = "ALONE", .is_right = true},
                                                    {.title = "KEEPS", .is_right = true}};
    static const struct column rate = {
        .content = MAIN, .at = OF(median), .figure = &xb_figure_bandwidth};
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        xb_table_add_column(table, &titles[i]);
    for (int sums = 0; sums < 2; sums++)
        XB_EACH_CASE (test, record) {
            char cell[CELL];
            if (!xb_case_is_of_a_set(test) || xb_record_is_sum(test) != sums)
                continue;
            double share = xb_record_median(record, test, xb_figure_share_of_alone.name);
            double alone = xb_record_median(record, test, xb_figure_bandwidth.name) / share / 1e9;
            fill_cell(&rate, NULL, record, test, cell);
            xb_table_row(table);
            xb_table_text(table, "%s",
                          sums ? "all" : xb_record_parameter(test, XB_RECORD_TRANSFER));
            xb_table_text(table, "%s", cell);
            snprintf(cell, CELL, "%.0f %%", 100 * share);
            xb_table_text(table, "%s", isfinite(share) ? XB_DECIMAL_TEXT(alone) : "");
            xb_table_text(table, "%s", isfinite(share) ? cell : "");
        }
    print_table(stream, table);
}

/* Prints bars, and tables of what they cannot show; or, for `all`, every row with every column, and
 * the curves of sweeps. */
static void print_results(FILE *stream, const struct xb_record *record, bool all)
{
    bool has_alone = false, has_together = false, has_set = false;
    size_t not_run = 0, most = 0; /* devices at the same time, between themselves and the host */
    XB_EACH_CASE (test, record) {
        size_t devices = xb_case_is_of_pairs(test) ? 0 : xb_group_size(record, test);
        bool has_row = xb_table_has_row(record, test);
        has_alone = has_alone || (has_row && !test->simultaneous);
        has_together = has_together || (has_row && test->simultaneous);
        has_set = has_set || (has_row && xb_case_is_of_a_set(test));
        most = devices > most ? devices : most;
        not_run += xb_case_was_not_run(record, test);
    }
    if (not_run > 0 && not_run == record->case_count) {
        fputs("Nothing was measured.\n", stream);
        return;
    }
    if (!all && has_set) {
        print_set(stream, record);
        return;
    }
    if (!all)
        xb_bars_print(stream, record, false);
    else if (has_alone || record->case_count == 0)
        print_table(stream, xb_table_of_rows(record, XB_ROWS_ALONE));
    xb_grids_print(stream, record);
    if (has_together) {
        fputs(!all || has_alone ? "\n" : "", stream);
        if (has_set)
            xb_heading_print(stream, XB_COLOUR_TITLE, "Transfers at the same time");
        else if (most > 1)
            xb_heading_print(stream, XB_COLOUR_TITLE, "%zu GPUs at the same time", most);
        else
            xb_heading_print(stream, XB_COLOUR_TITLE, "GPUs at the same time");
        print_table(stream, xb_table_of_rows(record, XB_ROWS_TOGETHER));
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
    XB_EACH (entry, list->entries, list->count) {
        char subject[64];
        bool is_answer = list->answer != NULL && strcmp(list->answer, entry->text) == 0;
        if (entry->is_fine && !is_answer)
            xb_heading_print(stream, XB_COLOUR_NONE, "Fine: %s%s",
                             xb_reading_subject(list, entry, subject, sizeof subject), entry->text);
    }
}

/* "KV of llama-3.1-70b, tp 4, blocks of 16 tokens: pieces of 8 KiB, 160 a block" */
static void print_kv(FILE *stream, const struct xb_record *record)
{
    const char *text = xb_record_fact_text(xb_record_option(record, xb_option_kv.name));
    struct xb_kv_cache cache;
    struct xb_error ignored;
    if (text == NULL || xb_kv_cache_read(text, &cache, &ignored) != XB_OK)
        return;
    xb_heading_print(stream, XB_COLOUR_NONE,
                     "KV of %s, tp %llu, blocks of %llu tokens: pieces of %s, %llu a block",
                     cache.model[0] != '\0' ? cache.model : "a model",
                     (unsigned long long)cache.ranks, (unsigned long long)cache.tokens,
                     XB_SIZE_TEXT(cache.piece), (unsigned long long)cache.pieces);
}

/* For a paper or an issue: on what, the answer, every row. */
static enum xb_status write_markdown(FILE *stream, const struct xb_record *record,
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

enum xb_status xb_table_write(FILE *stream, const struct xb_record *record,
                              const struct xb_table_view *view, struct xb_error *error)
{
    if (view->format == XB_AS_MARKDOWN)
        return write_markdown(stream, record, error);
    if (view->format == XB_AS_CROSSOVERS)
        return xb_crossovers_write(stream, record, error);
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
    print_kv(stream, record);
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
