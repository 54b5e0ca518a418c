/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of pairs of devices, and of NUMA nodes and devices: printed, or as texts and numbers. */
#define _GNU_SOURCE
#include "matrix.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/mode.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 64       /* characters of a cell */
#define PLACE_WIDTH 6 /* of a row's number */
/* The place of what several have together, behind those that have numbers. */
#define ALL (-1)

/* What stands down and across, and which cases. */
struct kind {
    /* Whether a case stands in a matrix of this kind. */
    bool (*holds)(const struct xb_record *record, const struct xb_record_case *test);
    unsigned but; /* what those of one matrix may differ in (record/rows.h) */
    bool is_one;  /* all of them are one matrix */
    /* The number of its row and of its column: 0 and up, or ALL. */
    int (*row)(const struct xb_record_case *test);
    int (*column)(const struct xb_record_case *test);
    bool same_places; /* both are of the same things, and each of them has a row and a column */
    /* Writes what a cell shows of a case; leaves it empty where that is nothing. */
    void (*fill)(const struct xb_record *record, const struct xb_record_case *test, char *cell);
    const char *title;  /* NULL: it says what the cases have alike, and this: */
    const char *axes;   /* NULL: those of pairs, and their link if they have one alike */
    const char *unsaid; /* a parameter that the title need not say; NULL: none */
};

/* The cases of a matrix, in the order of the record. */
struct matrix {
    const struct kind *kind;
    const struct xb_record *record;
    const struct xb_parameters *parameters; /* that tell the record's rows apart */
    const struct xb_record_case *const *cases;
    size_t count;
};

/* ---- which cases ---- */

static int by_kind(const struct xb_record_case *a, const struct xb_record_case *b, const void *kind)
{
    const struct kind *of = kind;
    return of->is_one ? 0 : xb_cases_order(a, b, of->but);
}

typedef void visitor(const struct matrix *matrix, void *argument);

/* Calls `visit` for each matrix of the kind that the record has. */
static void visit_all(const struct xb_record *record, const struct kind *kind, visitor *visit,
                      void *argument)
{
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    size_t count = 0;
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    for (size_t i = 0; i < record->case_count; i++)
        if (kind->holds(record, &record->cases[i]))
            cases[count++] = &record->cases[i];
    xb_cases_group(cases, count, by_kind, kind);
    for (size_t i = 0, equal = 0; i < count; i += equal) {
        equal = xb_cases_equal(cases + i, count - i, by_kind, kind);
        const struct matrix matrix = {kind, record, &parameters, cases + i, equal};
        visit(&matrix, argument);
    }
    free(cases);
}

/* The case's detail of that name, of the first process that has it; NULL for none. */
static const struct xb_record_detail *
find_detail(const struct xb_record *record, const struct xb_record_case *test, const char *name)
{
    for (size_t p = 0; p < record->process_count; p++) {
        const struct xb_record_row *row = &test->rows[p];
        for (size_t i = 0; i < row->detail_count; i++)
            if (strcmp(row->details[i].name, name) == 0)
                return &row->details[i];
    }
    return NULL;
}

/* ---- pairs of devices: sources down, destinations across ---- */

static int device_of(const struct xb_record_case *test)
{
    return test->device;
}

static int peer_of(const struct xb_record_case *test)
{
    return test->peer;
}

/* The figure that a case is about, in GB/s or in us; NAN where there is none. */
static double value_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    return xb_record_median(record, test, figure->name) * (test->latency ? 1e6 : 1e-9);
}

/* That figure, or else why there is none. */
static void fill_figure(const struct xb_record *record, const struct xb_record_case *test,
                        char *cell)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double median = xb_record_median(record, test, figure->name);
    enum xb_result_status status = xb_record_summarize(record, test).status;
    if (test->latency && isfinite(median))
        xb_decimal_text(1e6 * median, cell, CELL);
    else if (isfinite(median))
        xb_rate_text(median, cell, CELL);
    else if (status != XB_RESULT_OK)
        snprintf(cell, CELL, "%s", status == XB_RESULT_SKIPPED ? "skip" : "ERR");
}

static double number_of(const struct xb_record *record, const struct xb_record_case *test,
                        const char *name)
{
    const struct xb_record_detail *detail = find_detail(record, test, name);
    return detail != NULL && detail->text == NULL ? detail->number : 0;
}

/* "NVLink 18 x 26.6"; empty where the case says nothing of a link that its data took. */
static void fill_link(const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    const struct xb_record_detail *kind = find_detail(record, test, "link");
    double links = number_of(record, test, "links");
    double rate = number_of(record, test, "link_rate_bytes_per_second");
    cell[0] = '\0';
    if (kind == NULL || kind->text == NULL)
        return;
    int used = snprintf(cell, CELL, "%.32s", kind->text);
    if (links > 0)
        used += snprintf(cell + used, CELL - (size_t)used, " %.0f", links);
    if (links > 0 && rate > 0)
        snprintf(cell + used, CELL - (size_t)used, " x %.1f", rate / 1e9);
    xb_make_plain(cell);
}

/* Whether all measured pairs here took the same link, or none says which; `link` is it. */
static bool one_link(const struct matrix *matrix, char *link)
{
    bool any = false;
    link[0] = '\0';
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        char other[CELL];
        if (xb_record_is_sum(test) ||
            xb_record_summarize(matrix->record, test).status != XB_RESULT_OK)
            continue;
        fill_link(matrix->record, test, other);
        if (any && strcmp(other, link) != 0)
            return false;
        memcpy(link, other, sizeof other);
        any = true;
    }
    return true;
}

static bool is_of_a_pair(const struct xb_record *record, const struct xb_record_case *test)
{
    (void)record;
    return test->peer >= 0 && !xb_record_is_sum(test);
}

static const struct kind of_pairs = {.holds = xb_case_is_in_matrix,
                                     .but = XB_BUT_DEVICES,
                                     .row = device_of,
                                     .column = peer_of,
                                     .same_places = true,
                                     .fill = fill_figure};

static const struct kind of_links = {
    .holds = is_of_a_pair,
    .is_one = true,
    .row = device_of,
    .column = peer_of,
    .same_places = true,
    .fill = fill_link,
    .title = "links between the devices, number x GB/s each way (rows: from, columns: to)"};

/* ---- NUMA nodes of the host's memory down, devices across ---- */

static bool is_of_a_node(const struct xb_record *record, const struct xb_record_case *test)
{
    (void)record;
    return xb_record_case_node(test) >= 0 && test->peer < 0;
}

/* The node that a device is close to; -1 where that is not known, and for a sum. */
static int own_node(const struct xb_record *record, int index)
{
    const struct xb_record_device *device = xb_record_device(record, index);
    return device != NULL ? device->numa_node : -1;
}

static void fill_on_node(const struct xb_record *record, const struct xb_record_case *test,
                         char *cell)
{
    char own[CELL] = "-";
    bool is_own = own_node(record, test->device) == xb_record_case_node(test);
    fill_figure(record, test, own);
    snprintf(cell, CELL, "%s%.60s", is_own ? "*" : "", own);
}

static const struct kind of_nodes = {.holds = is_of_a_node,
                                     .but = XB_BUT_DEVICES | XB_BUT_NODE,
                                     .row = xb_record_case_node,
                                     .column = device_of,
                                     .fill = fill_on_node,
                                     .axes = "rows: NUMA nodes, columns: devices",
                                     .unsaid = XB_RECORD_NUMA};

/* Whether the record has matrices of nodes: of one node that was named there is none. */
static bool has_nodes(const struct xb_record *record)
{
    int first = -1;
    for (size_t i = 0; i < record->case_count; i++) {
        int node = xb_record_case_node(&record->cases[i]);
        if (node >= 0 && first >= 0 && node != first)
            return true;
        first = node >= 0 ? node : first;
    }
    for (size_t i = 0; first >= 0 && i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        if (strcmp(option->name, XB_RECORD_NUMA) == 0 && option->value != NULL)
            return strcmp(option->value, "[\"all\"]") == 0;
    }
    return false;
}

/* ---- rows, columns, cells ---- */

/* Numbers of rows or columns, rising; what several have together, ALL, comes last. */
struct places {
    int *numbers;
    size_t count;
};

/* The largest unsigned number is that of all together. */
static int by_number(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a;
    unsigned right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

/* Sorts them, each once; of more than there is room for the largest go, but for all together. Names
 * them, with the noun. */
static const char **name_places(struct places *places, size_t most, const char *noun,
                                struct xb_arena **memory)
{
    size_t count = 0;
    qsort(places->numbers, places->count, sizeof *places->numbers, by_number);
    for (size_t i = 0; i < places->count; i++)
        if (count == 0 || places->numbers[i] != places->numbers[count - 1])
            places->numbers[count++] = places->numbers[i];
    bool all = count > 0 && places->numbers[count - 1] == ALL;
    places->count = count - all < most ? count : most - 1 + all;
    if (all)
        places->numbers[places->count - 1] = ALL;
    const char **names = xb_arena_new(memory, places->count * sizeof *names);
    for (size_t i = 0; i < places->count; i++)
        names[i] = places->numbers[i] == ALL
                       ? "all"
                       : xb_arena_print(memory, "%s%d", noun, places->numbers[i]);
    return names;
}

/* Its index; false where it has none. */
static bool find_place(const struct places *places, int number, size_t *index)
{
    const int *found =
        bsearch(&number, places->numbers, places->count, sizeof *places->numbers, by_number);
    *index = found != NULL ? (size_t)(found - places->numbers) : 0;
    return found != NULL;
}

/* Makes names, values and texts of a grid, with at most so many rows and columns; a name is the
 * noun and a number. Every case goes to its cell, if no case that stands there already says
 * something. All of it lies in *memory. */
static void make_grid(const struct matrix *matrix, size_t most, const char *row_noun,
                      const char *column_noun, struct xb_matrix_grid *grid,
                      struct xb_arena **memory)
{
    const struct kind *kind = matrix->kind;
    struct places rows = {.numbers = xb_new(2 * matrix->count, sizeof *rows.numbers)};
    struct places columns = {.numbers = xb_new(2 * matrix->count, sizeof *columns.numbers)};
    for (size_t i = 0; i < matrix->count; i++) {
        int row = kind->row(matrix->cases[i]);
        int column = kind->column(matrix->cases[i]);
        rows.numbers[rows.count++] = row;
        columns.numbers[columns.count++] = column;
        if (kind->same_places && row != ALL)
            columns.numbers[columns.count++] = row;
        if (kind->same_places && column != ALL)
            rows.numbers[rows.count++] = column;
    }
    grid->row_names = name_places(&rows, most, row_noun, memory);
    grid->column_names = name_places(&columns, most, column_noun, memory);
    grid->row_count = rows.count;
    grid->column_count = columns.count;
    const size_t cells = rows.count * columns.count;
    double *values = xb_arena_new(memory, cells * sizeof *values);
    const char **texts = xb_arena_new(memory, cells * sizeof *texts);
    for (size_t i = 0; i < cells; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        size_t row, column;
        char cell[CELL] = "";
        if (!find_place(&rows, kind->row(test), &row) ||
            !find_place(&columns, kind->column(test), &column)) {
            grid->left_out++;
            continue;
        }
        size_t at = row * columns.count + column;
        if (texts[at] == NULL)
            kind->fill(matrix->record, test, cell);
        if (cell[0] == '\0')
            continue;
        texts[at] = xb_arena_copy(memory, cell);
        if (!xb_record_is_sum(test) && test->device >= 0)
            values[at] = value_of(matrix->record, test);
    }
    grid->values = values;
    grid->texts = texts;
    free(rows.numbers);
    free(columns.numbers);
}

/* "peer, direct read, one way, 1 GiB, chunk 8 MiB, GB/s (rows: from, columns: to)". */
static const char *title(const struct matrix *matrix, struct xb_words *words)
{
    const struct kind *kind = matrix->kind;
    const struct xb_record_case *of = matrix->cases[0]; /* any stands for all */
    char text[CELL];
    bool both_ways = strcmp(of->direction, xb_direction_name(XB_BIDIR)) == 0;
    const char *unit = xb_mode_has_latency(of->mode) ? "latency p50 in us"
                       : of->latency                 ? "host latency p50 in us"
                       : both_ways                   ? "GB/s together"
                                                     : "GB/s";
    xb_words_add(words, "%s", xb_method_name(of, text, sizeof text));
    xb_words_add(words, ", %s, %s", xb_direction_words(of),
                 xb_size_format(of->bytes, text, sizeof text));
    for (size_t i = 0; i < matrix->parameters->count; i++) {
        const char *name = matrix->parameters->names[i];
        const char *value = xb_parameter_text(of, name, text, sizeof text);
        if (value != NULL && (kind->unsaid == NULL || strcmp(name, kind->unsaid) != 0))
            xb_words_add(words, ", %s %s", name, value);
    }
    xb_words_add(words, "%s, %s (", of->simultaneous ? ", at the same time" : "", unit);
    if (kind->axes != NULL)
        xb_words_add(words, "%s)", kind->axes);
    else if (one_link(matrix, text) && text[0] != '\0')
        xb_words_add(words, "%s; %s%s)", both_ways ? "between the two" : "rows: from, columns: to",
                     text, strchr(text, '.') != NULL ? " GB/s" : "");
    else
        xb_words_add(words, "%s)", both_ways ? "between the two" : "rows: from, columns: to");
    return words->text;
}

/* ---- in print ---- */

struct printing {
    FILE *stream;
    bool first;      /* nothing stands above, so that no empty line is needed */
    bool is_line;    /* that is a line of such a matrix */
    size_t left_out; /* matrices of sizes below the largest */
    bool brief; /* the largest size is enough, and a matrix whose values are alike becomes a line */
    bool differs; /* a matrix is of several kinds of links */
};

#define ALIKE 0.02 /* the range of values that are alike, as a share of the least */

/* Values that a line can say. */
struct range {
    double least, most;
    size_t count; /* 0: they differ, or one is missing */
    bool is_of_groups;
};

/* The values of the pairs; of groups what each has together: how it divides them is chance. */
static struct range range_of(const struct matrix *matrix)
{
    struct range range = {.least = (double)INFINITY};
    for (size_t i = 0; i < matrix->count; i++)
        range.is_of_groups = range.is_of_groups || xb_record_is_sum(matrix->cases[i]);
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        double value = value_of(matrix->record, test);
        if (xb_record_is_sum(test) != range.is_of_groups)
            continue;
        if (!isfinite(value))
            return (struct range){.count = 0};
        range.least = fmin(range.least, value);
        range.most = fmax(range.most, value);
        range.count++;
    }
    range.count = range.most - range.least <= ALIKE * range.least ? range.count : 0;
    return range;
}

/* Columns that do not fit into a line stand below. */
static void print_one(const struct matrix *matrix, void *argument)
{
    struct printing *printing = argument;
    FILE *stream = printing->stream;
    const struct xb_record *record = matrix->record;
    struct xb_words words = {.length = 0};
    struct xb_arena *memory = NULL;
    struct xb_matrix_grid grid = {.title = matrix->kind->title};
    struct range range = {.count = 0};
    char link[CELL];
    for (size_t i = 0; printing->brief && i < record->case_count; i++)
        if (record->cases[i].bytes > matrix->cases[0]->bytes &&
            xb_cases_order(&record->cases[i], matrix->cases[0], XB_BUT_SIZE) == 0) {
            printing->left_out++;
            return;
        }
    if (grid.title == NULL)
        grid.title = title(matrix, &words);
    printing->differs = printing->differs || !one_link(matrix, link);
    if (printing->brief)
        range = range_of(matrix);
    if (!printing->first && !(range.count > 0 && printing->is_line))
        fputc('\n', stream);
    printing->first = false;
    printing->is_line = range.count > 0;
    if (range.count > 0) {
        /* "peer, direct read, one way, 1 GiB, GB/s: 396.0 to 396.3, 12 pairs" */
        const char *low = XB_DECIMAL_TEXT(range.least), *high = XB_DECIMAL_TEXT(range.most);
        bool is_one = strcmp(low, high) == 0;
        xb_lines_print(stream, xb_terminal_prose_columns(stream), "%.*s%s: %s%s%s, %zu %s%s",
                       (int)strcspn(grid.title, "(") - 1, grid.title,
                       range.is_of_groups ? " together" : "", low, is_one ? "" : " to ",
                       is_one ? "" : high, range.count, range.is_of_groups ? "group" : "pair",
                       range.count > 1 ? "s" : "");
        return;
    }
    make_grid(matrix, SIZE_MAX, "", "", &grid, &memory);
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s", grid.title);
    int width = 4;
    for (size_t i = 0; i < grid.row_count * grid.column_count; i++)
        if (grid.texts[i] != NULL && (int)strlen(grid.texts[i]) > width)
            width = (int)strlen(grid.texts[i]);
    int room = ((int)xb_terminal_columns(stream) - PLACE_WIDTH) / (width + 2);
    size_t step = room > 0 ? (size_t)room : 1;
    for (size_t first = 0; first < grid.column_count; first += step) {
        size_t behind = first + step < grid.column_count ? first + step : grid.column_count;
        fprintf(stream, "%*s", PLACE_WIDTH, "");
        for (size_t k = first; k < behind; k++)
            fprintf(stream, "  %*s", width, grid.column_names[k]);
        for (size_t i = 0; i < grid.row_count; i++) {
            fprintf(stream, "\n%*s", PLACE_WIDTH, grid.row_names[i]);
            for (size_t k = first; k < behind; k++) {
                const char *text = grid.texts[i * grid.column_count + k];
                fprintf(stream, "  %*s", width, text != NULL ? text : "-");
            }
        }
        fputc('\n', stream);
    }
    xb_arena_free(memory);
}

void xb_matrix_print(FILE *stream, const struct xb_record *record, bool first, bool brief)
{
    struct printing printing = {.stream = stream, .first = first, .brief = brief};
    visit_all(record, &of_pairs, print_one, &printing);
    if (printing.left_out > 0)
        fputs("Pairs in other sizes: --columns all\n", stream);
    if (printing.differs)
        visit_all(record, &of_links, print_one, &printing);
}

/* Where its threads ran, if that was not on the node of the memory; NULL else. */
static const char *threads_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_record_detail *detail = find_detail(record, test, "threads_run");
    return detail != NULL && is_of_a_node(record, test) ? detail->text : NULL;
}

static int by_threads(const struct xb_record_case *a, const struct xb_record_case *b,
                      const void *record)
{
    return strcmp(threads_of(record, a), threads_of(record, b));
}

void xb_matrix_print_nodes(FILE *stream, const struct xb_record *record, bool first)
{
    struct printing printing = {.stream = stream, .first = first};
    const char *marks = "None is marked: the system does not say which node a device is close to.";
    bool any_known = false, any_unknown = false; /* devices whose own node is */
    size_t count = 0;
    if (!has_nodes(record))
        return;
    visit_all(record, &of_nodes, print_one, &printing);
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        bool is_known = own_node(record, test->device) >= 0;
        bool is_device = is_of_a_node(record, test) && test->device >= 0;
        any_known = any_known || (is_device && is_known);
        any_unknown = any_unknown || (is_device && !is_known);
        if (threads_of(record, test) != NULL)
            cases[count++] = test;
    }
    if (record->host.numa_nodes == 1)
        marks = "One cell a device: this machine has one NUMA node.";
    else if (any_known)
        marks = any_unknown
                    ? "* the node that the device is close to; of some devices that is not known"
                    : "* the node that the device is close to";
    xb_lines_print(stream, xb_terminal_prose_columns(stream), "%s", marks);
    xb_cases_group(cases, count, by_threads, record);
    for (size_t i = 0; i < count; i += xb_cases_equal(cases + i, count - i, by_threads, record))
        xb_note_print(stream, "", 0, "Threads ran %.200s.", threads_of(record, cases[i]));
    free(cases);
}

/* ---- for pictures ---- */

struct use {
    xb_matrix_use *use;
    void *argument;
};

static void use_one(const struct matrix *matrix, void *argument)
{
    const struct use *use = argument;
    bool is_pairs = matrix->kind == &of_pairs;
    struct xb_words words = {.length = 0};
    struct xb_arena *memory = NULL;
    struct xb_matrix_grid grid = {.title = title(matrix, &words),
                                  .unit = matrix->cases[0]->latency ? "us" : "GB/s",
                                  .rows_are = is_pairs ? "from" : "memory on",
                                  .columns_are = is_pairs ? "to" : "of"};
    make_grid(matrix, XB_MATRIX_MOST, is_pairs ? "device " : "node ", "device ", &grid, &memory);
    use->use(use->argument, &grid);
    xb_arena_free(memory);
}

bool xb_matrix_is_there(const struct xb_record *record)
{
    for (size_t i = 0; i < record->case_count; i++)
        if (of_pairs.holds(record, &record->cases[i]))
            return true;
    return has_nodes(record);
}

void xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument)
{
    struct use own = {use, argument};
    visit_all(record, &of_pairs, use_one, &own);
    if (has_nodes(record))
        visit_all(record, &of_nodes, use_one, &own);
}
