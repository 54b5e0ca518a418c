/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of pairs of devices, and of NUMA nodes and devices: printed, or as texts and numbers. */
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "modes/readings/piece_grid.h"
#include "plot/pictures.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IN_PICTURE 40 /* rows, and as many columns */
#define CELL 64            /* characters of a cell */
#define PLACE_WIDTH 6      /* of a row's number */
#define ALL (-1)           /* the place of what several have together, behind those with numbers */

enum kind {
    PAIRS, /* of devices: sources down, destinations across */
    NODES, /* NUMA nodes of the host's memory down, devices across */
    LINKS  /* that pairs took: all of them are one matrix */
};

/* Cases that are one matrix, in the order of the record. */
struct matrix {
    enum kind kind;
    const struct xb_record *record;
    const struct xb_parameters *parameters; /* that tell the record's rows apart */
    const struct xb_record_case *const *cases;
    size_t count;
};

static bool is_of_a_node(const struct xb_record_case *test)
{
    return xb_record_case_node(test) >= 0 && test->peer < 0 && !xb_case_is_in_grid(test) &&
           !xb_case_is_of_a_set(test);
}

static int by_matrix(const struct xb_record_case *a, const struct xb_record_case *b,
                     const void *kind)
{
    enum kind own = *(const enum kind *)kind;
    return own == LINKS ? 0
                        : xb_cases_order(a, b, XB_BUT_DEVICES | (own == NODES ? XB_BUT_NODE : 0));
}

static void each_matrix(const struct xb_record *record, enum kind kind,
                        void (*visit)(void *argument, const struct matrix *matrix), void *argument)
{
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    struct matrix matrix = {.kind = kind, .record = record, .parameters = &parameters};
    size_t count = 0;
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    XB_EACH_CASE (test, record)
        if (kind == PAIRS   ? xb_case_is_in_matrix(record, test)
            : kind == LINKS ? test->peer >= 0 && !xb_record_is_sum(test)
                            : is_of_a_node(test))
            cases[count++] = test;
    xb_cases_group(cases, count, by_matrix, &kind);
    for (size_t i = 0; i < count; i += matrix.count) {
        matrix.cases = cases + i;
        matrix.count = xb_cases_equal(matrix.cases, count - i, by_matrix, &kind);
        visit(argument, &matrix);
    }
    free(cases);
}

/* Whether the record has matrices of nodes: of one node that was named there is none. */
static bool has_nodes(const struct xb_record *record)
{
    int first = -1;
    XB_EACH_CASE (test, record) {
        int node = xb_record_case_node(test);
        if (node >= 0 && first >= 0 && node != first)
            return true;
        first = node >= 0 ? node : first;
    }
    const struct xb_record_fact *option = xb_record_option(record, XB_RECORD_NUMA);
    return first >= 0 && option != NULL && option->value != NULL &&
           strcmp(option->value, "[\"all\"]") == 0;
}

/* The case's detail of that name, of the first process that has it; NULL for none. */
static const struct xb_record_fact *find_detail(const struct xb_record *record,
                                                const struct xb_record_case *test, const char *name)
{
    const struct xb_record_fact *detail = NULL;
    for (size_t i = 0; i < record->process_count && detail == NULL; i++)
        detail = xb_record_detail_find(&test->rows[i], name);
    return detail;
}

/* The median of the figure that a case is about, in GB/s or in us; NAN where there is none. */
static double value_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double median = xb_record_median(record, test, figure->name);
    return test->latency ? 1e6 * median : median / 1e9;
}

/* The node that a device is close to; -1 where that is not known, and for a sum. */
static int own_node(const struct xb_record *record, int index)
{
    const struct xb_record_device *device = xb_record_device(record, index);
    return device != NULL ? device->numa_node : -1;
}

/* "NVLink 18 x 26.6"; empty where the case says nothing of a link that its data took. */
static void write_link(const struct xb_record *record, const struct xb_record_case *test,
                       char *cell)
{
    const char *kind = xb_record_fact_text(find_detail(record, test, "link"));
    double links = xb_record_fact_number(find_detail(record, test, "links"));
    double rate = xb_record_fact_number(find_detail(record, test, "link_rate_bytes_per_second"));
    struct xb_words words = {.length = 0};
    if (kind != NULL)
        xb_words_add(&words, "%.32s", kind);
    if (words.length > 0 && links > 0) {
        xb_words_add(&words, " %.0f", links);
        if (rate > 0)
            xb_words_add(&words, " x %.1f", rate / 1e9);
    }
    snprintf(cell, CELL, "%.*s", CELL - 1, words.text);
    xb_make_plain(cell);
}

/* What a cell shows: the figure, or why there is none, or the link. A device's own node is marked.
 */
static void write_cell(const struct matrix *matrix, const struct xb_record_case *test, char *cell)
{
    const struct xb_record *record = matrix->record;
    double value = value_of(record, test);
    enum xb_result_status status = xb_record_summarize(record, test).status;
    bool is_own =
        matrix->kind == NODES && own_node(record, test->device) == xb_record_case_node(test);
    if (matrix->kind == LINKS)
        write_link(record, test, cell);
    else
        snprintf(cell, CELL, "%s%s", is_own ? "*" : "",
                 isfinite(value)               ? XB_DECIMAL_TEXT(value)
                 : status == XB_RESULT_SKIPPED ? "skip"
                 : status == XB_RESULT_ERROR   ? "ERR"
                 : matrix->kind == NODES       ? "-"
                                               : "");
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
        write_link(matrix->record, test, other);
        if (any && strcmp(other, link) != 0)
            return false;
        memcpy(link, other, sizeof other);
        any = true;
    }
    return true;
}

/* Numbers of rows or columns, rising; what several have together, ALL, comes last. */
struct places {
    int *numbers;
    const char **names;
    size_t count;
};

/* The number of a case's row or column: 0 and up, or ALL. */
static int place_of(const struct matrix *matrix, const struct xb_record_case *test, bool is_column)
{
    if (matrix->kind == NODES)
        return is_column ? test->device : xb_record_case_node(test);
    return is_column ? test->peer : test->device;
}

/* The largest unsigned number is that of all together. */
XB_COMPARER(by_number, unsigned, XB_ORDER(*a, *b))

/* Each end of a pair has a row and a column. A picture has no room for the largest of many, but for
 * all together. A name is a number, in a picture behind its noun. */
static struct places places_of(const struct matrix *matrix, bool is_column, bool is_picture,
                               struct xb_arena **memory)
{
    const size_t most = is_picture ? MOST_IN_PICTURE : SIZE_MAX;
    const char *noun = !is_picture ? "" : matrix->kind == NODES && !is_column ? "node " : "device ";
    struct places places = {.numbers = xb_arena_new(memory, 2 * matrix->count * sizeof(int))};
    size_t count = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        int other = place_of(matrix, matrix->cases[i], !is_column);
        places.numbers[count++] = place_of(matrix, matrix->cases[i], is_column);
        if (matrix->kind != NODES && other != ALL)
            places.numbers[count++] = other;
    }
    qsort(places.numbers, count, sizeof(int), by_number);
    for (size_t i = 0; i < count; i++)
        if (places.count == 0 || places.numbers[i] != places.numbers[places.count - 1])
            places.numbers[places.count++] = places.numbers[i];
    bool all = places.count > 0 && places.numbers[places.count - 1] == ALL;
    places.count = places.count - all < most ? places.count : most - 1 + all;
    if (all)
        places.numbers[places.count - 1] = ALL;
    places.names = xb_arena_new(memory, places.count * sizeof *places.names);
    for (size_t i = 0; i < places.count; i++)
        places.names[i] = places.numbers[i] == ALL
                              ? "all"
                              : xb_arena_print(memory, "%s%d", noun, places.numbers[i]);
    return places;
}

/* The index of a case's row or column; places->count where it has none. */
static size_t find_place(const struct places *places, int number)
{
    const int *found = bsearch(&number, places->numbers, places->count, sizeof(int), by_number);
    return found != NULL ? (size_t)(found - places->numbers) : places->count;
}

/* "peer, direct read, one way, 1 GiB, chunk 8 MiB, GB/s (rows: from, columns: to)". */
static const char *title(const struct matrix *matrix, struct xb_words *words)
{
    const struct xb_record_case *of = matrix->cases[0]; /* any stands for all */
    char text[CELL];
    bool both_ways = strcmp(of->direction, xb_direction_name(XB_BIDIR)) == 0;
    const char *unit = xb_mode_has_latency(of->mode) ? "latency p50 in us"
                       : of->latency                 ? "host latency p50 in us"
                       : both_ways                   ? "GB/s together"
                                                     : "GB/s";
    if (matrix->kind == LINKS)
        return "links between the devices, number x GB/s each way (rows: from, columns: to)";
    xb_words_add(words, "%s", xb_method_name(of, text, sizeof text));
    xb_words_add(words, ", %s, %s", xb_direction_words(of), XB_SIZE_TEXT(of->bytes));
    for (size_t i = 0; i < matrix->parameters->count; i++) {
        const char *name = matrix->parameters->names[i];
        const char *value = xb_parameter_text(of, name, text, sizeof text);
        if (value != NULL && (matrix->kind != NODES || strcmp(name, XB_RECORD_NUMA) != 0))
            xb_words_add(words, ", %s %s", name, value);
    }
    bool has_link = matrix->kind == PAIRS && one_link(matrix, text) && text[0] != '\0';
    xb_words_add(words, "%s, %s (%s", of->simultaneous ? ", at the same time" : "", unit,
                 matrix->kind == NODES ? "rows: NUMA nodes, columns: devices"
                 : both_ways           ? "between the two"
                                       : "rows: from, columns: to");
    if (has_link)
        xb_words_add(words, "; %s%s", text, strchr(text, '.') != NULL ? " GB/s" : "");
    xb_words_add(words, ")");
    return words->text;
}

/* Makes the matrix with its texts and numbers. Every case goes to its cell, if no case that stands
 * there already says something; *left_out have no cell. Texts lie in *words and *memory. */
static struct xb_cells make_cells(const struct matrix *matrix, bool is_picture, size_t *left_out,
                                  struct xb_words *words, struct xb_arena **memory)
{
    const struct places rows = places_of(matrix, false, is_picture, memory);
    const struct places columns = places_of(matrix, true, is_picture, memory);
    const size_t count = rows.count * columns.count;
    double *values = xb_arena_new(memory, count * sizeof *values);
    const char **texts = xb_arena_new(memory, count * sizeof *texts);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        size_t row = find_place(&rows, place_of(matrix, test, false));
        size_t column = find_place(&columns, place_of(matrix, test, true));
        size_t at = row * columns.count + column;
        char cell[CELL] = "";
        bool has_cell = row < rows.count && column < columns.count;
        *left_out += !has_cell;
        if (has_cell && texts[at] == NULL)
            write_cell(matrix, test, cell);
        if (cell[0] == '\0')
            continue;
        texts[at] = xb_arena_copy(memory, cell);
        if (!xb_record_is_sum(test) && test->device >= 0)
            values[at] = value_of(matrix->record, test);
    }
    return (struct xb_cells){.picture = {.title = title(matrix, words)},
                             .rows_are = matrix->kind == PAIRS ? "from" : "memory on",
                             .columns_are = matrix->kind == PAIRS ? "to" : "of",
                             .row_names = rows.names,
                             .column_names = columns.names,
                             .row_count = rows.count,
                             .column_count = columns.count,
                             .values = values,
                             .texts = texts,
                             .unit = matrix->cases[0]->latency ? "us" : "GB/s"};
}

struct printing {
    FILE *stream;
    bool first;      /* nothing stands above, so that no empty line is needed */
    bool is_line;    /* that is a line of such a matrix */
    size_t left_out; /* matrices of sizes below the largest */
    bool brief; /* the largest size is enough, and a matrix whose values are alike becomes a line */
    bool differs; /* a matrix is of several kinds of links */
};

#define ALIKE 0.02 /* the range of values that are alike, as a share of the least */

void xb_cells_print(FILE *stream, const struct xb_cells *cells, size_t gap)
{
    int width = 4, place = PLACE_WIDTH;
    for (size_t i = 0; i < cells->row_count * cells->column_count; i++)
        if (cells->texts[i] != NULL && (int)strlen(cells->texts[i]) > width)
            width = (int)strlen(cells->texts[i]);
    for (size_t i = 0; i < cells->row_count; i++)
        if ((int)strlen(cells->row_names[i]) > place)
            place = (int)strlen(cells->row_names[i]);
    width += (int)gap;
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s", cells->picture.title);
    int room = ((int)xb_terminal_columns(stream) - place) / width;
    size_t step = room > 0 ? (size_t)room : 1;
    for (size_t first = 0; first < cells->column_count; first += step) {
        size_t behind = first + step < cells->column_count ? first + step : cells->column_count;
        fprintf(stream, "%*s", place, "");
        for (size_t k = first; k < behind; k++)
            fprintf(stream, "%*s", width, cells->column_names[k]);
        for (size_t i = 0; i < cells->row_count; i++) {
            fprintf(stream, "\n%*s", place, cells->row_names[i]);
            for (size_t k = first; k < behind; k++) {
                const char *text = cells->texts[i * cells->column_count + k];
                fprintf(stream, "%*s", width, text != NULL ? text : "-");
            }
        }
        fputc('\n', stream);
    }
}

static void print_matrix(void *argument, const struct matrix *matrix)
{
    struct printing *printing = argument;
    FILE *stream = printing->stream;
    const struct xb_record *record = matrix->record;
    struct xb_words words = {.length = 0};
    double least = (double)INFINITY, most = 0;
    bool is_of_groups = false;
    size_t count = 0; /* of values that a line can say; 0: they differ, or one is missing */
    char link[CELL];
    XB_EACH_CASE (test, record)
        if (printing->brief && test->bytes > matrix->cases[0]->bytes &&
            xb_cases_order(test, matrix->cases[0], XB_BUT_SIZE) == 0) {
            printing->left_out++; /* a larger size of the same is in the record */
            return;
        }
    printing->differs = printing->differs || !one_link(matrix, link);
    /* Values of pairs; of groups what each has together: how it divides them is chance. */
    for (size_t i = 0; i < matrix->count; i++)
        is_of_groups = is_of_groups || xb_record_is_sum(matrix->cases[i]);
    for (size_t i = 0; printing->brief && i < matrix->count; i++) {
        double value = value_of(record, matrix->cases[i]);
        if (xb_record_is_sum(matrix->cases[i]) != is_of_groups)
            continue;
        least = fmin(least, value);
        most = isfinite(value) ? fmax(most, value) : (double)INFINITY;
        count++;
    }
    count = most - least <= ALIKE * least ? count : 0;
    if (!printing->first && !(count > 0 && printing->is_line))
        fputc('\n', stream);
    printing->first = false;
    printing->is_line = count > 0;
    if (count > 0) {
        /* "peer, direct read, one way, 1 GiB, GB/s: 396.0 to 396.3, 12 pairs" */
        const char *of = title(matrix, &words);
        const char *low = XB_DECIMAL_TEXT(least), *high = XB_DECIMAL_TEXT(most);
        bool is_one = strcmp(low, high) == 0;
        xb_heading_print(stream, XB_COLOUR_NONE, "%.*s%s: %s%s%s, %zu %s%s",
                         (int)strcspn(of, "(") - 1, of, is_of_groups ? " together" : "", low,
                         is_one ? "" : " to ", is_one ? "" : high, count,
                         is_of_groups ? "group" : "pair", count > 1 ? "s" : "");
        return;
    }
    size_t left_out = 0;
    struct xb_arena *memory = NULL;
    const struct xb_cells cells = make_cells(matrix, false, &left_out, &words, &memory);
    xb_cells_print(stream, &cells, 2);
    xb_arena_free(memory);
}

void xb_matrix_print(FILE *stream, const struct xb_record *record, bool first, bool brief)
{
    struct printing printing = {.stream = stream, .first = first, .brief = brief};
    each_matrix(record, PAIRS, print_matrix, &printing);
    if (printing.left_out > 0)
        fputs("Pairs in other sizes: --columns all\n", stream);
    if (printing.differs)
        each_matrix(record, LINKS, print_matrix, &printing);
}

void xb_matrix_print_nodes(FILE *stream, const struct xb_record *record)
{
    struct printing printing = {.stream = stream};
    const char *marks = "None is marked: the system does not say which node a device is close to.";
    bool any_known = false, any_unknown = false; /* devices whose own node is */
    size_t count = 0;
    if (!has_nodes(record))
        return;
    each_matrix(record, NODES, print_matrix, &printing);
    const char **threads = xb_new(record->case_count, sizeof *threads); /* each once */
    XB_EACH_CASE (test, record) {
        const char *run = xb_record_fact_text(find_detail(record, test, "threads_run"));
        size_t k = 0;
        if (!is_of_a_node(test))
            continue;
        any_known |= test->device >= 0 && own_node(record, test->device) >= 0;
        any_unknown |= test->device >= 0 && own_node(record, test->device) < 0;
        if (run == NULL) /* they ran on the node of the memory */
            continue;
        while (k < count && strcmp(threads[k], run) != 0)
            k++;
        threads[k] = run;
        count += k == count;
    }
    if (record->host.numa_nodes == 1)
        marks = "One cell a device: this machine has one NUMA node.";
    else if (any_known)
        marks = any_unknown
                    ? "* the node that the device is close to; of some devices that is not known"
                    : "* the node that the device is close to";
    xb_heading_print(stream, XB_COLOUR_NONE, "%s", marks);
    for (size_t k = 0; k < count; k++)
        xb_note_print(stream, "", 0, "Threads ran %.200s.", threads[k]);
    free(threads);
}

struct drawing {
    xb_matrix_use *use;
    void *argument;
};

static void draw_matrix(void *argument, const struct matrix *matrix)
{
    const struct drawing *drawing = argument;
    struct xb_words words = {.length = 0};
    struct xb_arena *memory = NULL;
    size_t left_out = 0;
    struct xb_cells cells = make_cells(matrix, true, &left_out, &words, &memory);
    drawing->use(drawing->argument, &cells, left_out);
    xb_arena_free(memory);
}

void xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument)
{
    struct drawing drawing = {use, argument};
    each_matrix(record, PAIRS, draw_matrix, &drawing);
    if (has_nodes(record))
        each_matrix(record, NODES, draw_matrix, &drawing);
}
