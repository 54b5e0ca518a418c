/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "matrix.h"

#include "base/note.h"
#include "base/text.h"
#include "measure/mode_list.h"
#include "parameters.h"
#include "record/rows.h"
#include "xferbench/mode.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_SIZE 64
/* The place of what pairs have together, behind those of the devices. */
#define ALL (-1)

/* ---- which cases ---- */

/* The cases of a matrix, in the order of the record. */
struct matrix {
    const struct xb_record *record;
    const struct xb_record_case **cases; /* room for all of the record */
    size_t count;
};

static bool is_of_a_pair(const struct xb_record_case *test)
{
    return test->peer >= 0 && !xb_record_is_sum(test);
}

/* Whether a case belongs to the matrix of `of`. */
static bool belongs(const struct xb_record *record, const struct xb_record_case *test,
                    const struct xb_record_case *of)
{
    return xb_case_is_in_matrix(record, test) && xb_cases_alike(test, of) &&
           test->latency == of->latency && test->simultaneous == of->simultaneous;
}

static void collect(struct matrix *matrix, const struct xb_record_case *of)
{
    const struct xb_record *record = matrix->record;
    matrix->count = 0;
    for (size_t i = 0; i < record->case_count; i++)
        if (belongs(record, &record->cases[i], of))
            matrix->cases[matrix->count++] = &record->cases[i];
}

static void collect_pairs(struct matrix *matrix)
{
    const struct xb_record *record = matrix->record;
    matrix->count = 0;
    for (size_t i = 0; i < record->case_count; i++)
        if (is_of_a_pair(&record->cases[i]))
            matrix->cases[matrix->count++] = &record->cases[i];
}

/* ---- cells ---- */

static void set_text(char *cell, const char *text)
{
    snprintf(cell, CELL_SIZE, "%s", text);
    xb_make_plain(cell);
}

/* Writes what a cell shows of a case; leaves it alone where that is nothing. */
typedef void cell_text(const struct xb_record *record, const struct xb_record_case *test,
                       char *text);

/* The figure, or else why there is none. */
static void figure_cell(const struct xb_record *record, const struct xb_record_case *test,
                        char *text)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double median = xb_record_median(record, test, figure->name);
    enum xb_result_status status = xb_record_summarize(record, test).status;
    if (test->latency && isfinite(median))
        snprintf(text, CELL_SIZE, "%.*f", xb_decimals_for(1e6 * median), 1e6 * median);
    else if (isfinite(median))
        xb_rate_text(median, text, CELL_SIZE);
    else if (status != XB_RESULT_OK)
        set_text(text, status == XB_RESULT_SKIPPED ? "skip" : "ERR");
}

/* The detail of that name, of the first process that has it; NULL for none. */
static const struct xb_record_detail *detail_of(const struct xb_record *record,
                                                const struct xb_record_case *test, const char *name)
{
    for (size_t p = 0; p < record->process_count; p++) {
        const struct xb_record_row *row = &test->rows[p];
        for (size_t i = 0; i < row->detail_count; i++)
            if (strcmp(row->details[i].name, name) == 0)
                return &row->details[i];
    }
    return NULL;
}

static double number_of(const struct xb_record *record, const struct xb_record_case *test,
                        const char *name)
{
    const struct xb_record_detail *detail = detail_of(record, test, name);
    return detail != NULL && detail->text == NULL ? detail->number : 0;
}

/* "NVLink 18 x 26.6"; empty where the case says nothing of a link that its data took. */
static void link_text(const struct xb_record *record, const struct xb_record_case *test, char *text)
{
    const struct xb_record_detail *kind = detail_of(record, test, "link");
    double links = number_of(record, test, "links");
    double rate = number_of(record, test, "link_rate_bytes_per_second");
    text[0] = '\0';
    if (kind == NULL || kind->text == NULL)
        return;
    int used = snprintf(text, CELL_SIZE, "%.32s", kind->text);
    if (links > 0)
        used += snprintf(text + used, CELL_SIZE - (size_t)used, " %.0f", links);
    if (links > 0 && rate > 0)
        snprintf(text + used, CELL_SIZE - (size_t)used, " x %.1f", rate / 1e9);
    xb_make_plain(text);
}

static void link_cell(const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    char text[CELL_SIZE];
    link_text(record, test, text);
    if (text[0] != '\0')
        set_text(cell, text);
}

/*
 * What stands at a place: the first case of the pair that has something to say. Only the matrix of
 * links has several cases of a pair.
 */
static void cell_at(const struct matrix *matrix, cell_text *fill, int source, int destination,
                    char *text)
{
    set_text(text, "-");
    for (size_t i = 0; i < matrix->count && strcmp(text, "-") == 0; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        if (test->device == source && test->peer == destination)
            fill(matrix->record, test, text);
    }
}

/* ---- a matrix ---- */

/* Whether a device is an end of any pair here, and so has a row and a column. ALL has only that of
 * the two in which a case stands. */
static bool takes_part(const struct matrix *matrix, int place, bool as_source)
{
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        if ((test->device == place && (place != ALL || as_source)) ||
            (test->peer == place && (place != ALL || !as_source)))
            return true;
    }
    return false;
}

/* One more than the highest index of a device here. */
static int device_limit(const struct matrix *matrix)
{
    int limit = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        limit = test->device >= limit ? test->device + 1 : limit;
        limit = test->peer >= limit ? test->peer + 1 : limit;
    }
    return limit;
}

static int widest_cell(const struct matrix *matrix, cell_text *fill)
{
    size_t width = 4;
    for (size_t i = 0; i < matrix->count; i++) {
        char text[CELL_SIZE];
        cell_at(matrix, fill, matrix->cases[i]->device, matrix->cases[i]->peer, text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

static void print_place(FILE *stream, int place, int width)
{
    if (place == ALL)
        fprintf(stream, "%*s", width, "all");
    else
        fprintf(stream, "%*d", width, place);
}

/* The devices' places in turn, and ALL at the end, which is the place behind the last device. */
static int place_at(int turn, int limit)
{
    return turn < limit ? turn : ALL;
}

static void print_line(FILE *stream, const struct matrix *matrix, cell_text *fill, int source,
                       int limit, int width)
{
    fputc('\n', stream);
    print_place(stream, source, 6);
    for (int turn = 0; turn <= limit; turn++) {
        char text[CELL_SIZE];
        int destination = place_at(turn, limit);
        if (!takes_part(matrix, destination, false))
            continue;
        cell_at(matrix, fill, source, destination, text);
        fprintf(stream, "  %*s", width, text);
    }
}

static void print_cells(FILE *stream, const struct matrix *matrix, cell_text *fill)
{
    int limit = device_limit(matrix);
    int width = widest_cell(matrix, fill);
    fprintf(stream, "%6s", "");
    for (int turn = 0; turn <= limit; turn++) {
        int place = place_at(turn, limit);
        if (!takes_part(matrix, place, false))
            continue;
        fputs("  ", stream);
        print_place(stream, place, width);
    }
    for (int turn = 0; turn <= limit; turn++)
        if (takes_part(matrix, place_at(turn, limit), true))
            print_line(stream, matrix, fill, place_at(turn, limit), limit, width);
    fputc('\n', stream);
}

/* ---- titles ---- */

/* Whether all measured pairs here took the same link, or none says which; `link` is it. */
static bool one_link(const struct matrix *matrix, char *link)
{
    bool any = false;
    link[0] = '\0';
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        char other[CELL_SIZE];
        if (xb_record_is_sum(test) ||
            xb_record_summarize(matrix->record, test).status != XB_RESULT_OK)
            continue;
        link_text(matrix->record, test, other);
        if (any && strcmp(other, link) != 0)
            return false;
        set_text(link, other);
        any = true;
    }
    return true;
}

/* ", chunk 8 MiB" for what tells this matrix from others of its mode. */
static void add_parameters(struct xb_words *words, const struct xb_parameters *parameters,
                           const struct xb_record_case *of)
{
    for (size_t i = 0; i < parameters->count; i++) {
        char text[CELL_SIZE];
        const char *value = xb_parameter_text(of, parameters->names[i], text, sizeof text);
        if (value != NULL)
            xb_words_add(words, ", %s %s", parameters->names[i], value);
    }
}

/* Any of its cases stands for the matrix. */
static void print_title(FILE *stream, const struct matrix *matrix, const struct xb_record_case *of,
                        const struct xb_parameters *parameters)
{
    struct xb_words words = {.length = 0};
    char bytes[32], link[CELL_SIZE];
    bool both_ways = strcmp(of->direction, xb_direction_name(XB_BIDIR)) == 0;
    const char *unit = xb_mode_has_latency(of->mode) ? "latency p50 in us"
                       : of->latency                 ? "host latency p50 in us"
                       : both_ways                   ? "GB/s both ways together"
                                                     : "GB/s";
    xb_words_add(&words, "%s %s, %s, %s", of->mode, of->variant, of->direction,
                 xb_size_format(of->bytes, bytes, sizeof bytes));
    add_parameters(&words, parameters, of);
    if (of->simultaneous)
        xb_words_add(&words, ", at the same time");
    xb_words_add(&words, ", %s (%s", unit,
                 both_ways ? "between the two" : "rows: from, columns: to");
    if (one_link(matrix, link) && link[0] != '\0')
        xb_words_add(&words, "; %s%s", link, strchr(link, '.') != NULL ? " GB/s" : "");
    xb_make_plain(words.text);
    fprintf(stream, "%s)\n", words.text);
}

/* The first of a matrix's cases stands for it. */
static bool begins_matrix(const struct xb_record *record, size_t index)
{
    if (!xb_case_is_in_matrix(record, &record->cases[index]))
        return false;
    for (size_t i = 0; i < index; i++)
        if (belongs(record, &record->cases[i], &record->cases[index]))
            return false;
    return true;
}

static void print_all(FILE *stream, struct matrix *matrix, bool first)
{
    const struct xb_record *record = matrix->record;
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    bool differs = false;
    for (size_t i = 0; i < record->case_count; i++) {
        char link[CELL_SIZE];
        if (!begins_matrix(record, i))
            continue;
        if (!first)
            fputc('\n', stream);
        first = false;
        collect(matrix, &record->cases[i]);
        print_title(stream, matrix, &record->cases[i], &parameters);
        print_cells(stream, matrix, figure_cell);
        differs = differs || !one_link(matrix, link);
    }
    if (differs) {
        collect_pairs(matrix);
        fputs("\nlinks between the devices, number x GB/s each way (rows: from, columns: to)\n",
              stream);
        print_cells(stream, matrix, link_cell);
    }
}

enum xb_status xb_matrix_print(FILE *stream, const struct xb_record *record, bool first,
                               struct xb_error *error)
{
    struct matrix matrix = {
        .record = record,
        .cases = calloc(record->case_count + 1, sizeof(const struct xb_record_case *))};
    if (matrix.cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
    print_all(stream, &matrix, first);
    free(matrix.cases);
    return XB_OK;
}
