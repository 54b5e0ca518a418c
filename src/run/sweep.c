/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "table.h"

#include "base/note.h"
#include "base/text.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_VALUES 3
#define LEAST_WAYS 2
#define MOST_VALUES 64
#define MOST_WAYS 8
#define CELL_SIZE 64
#define CELL_WIDTH 8 /* or more */
#define VALUE_WIDTH 10

/* What the rows or the columns of a table are by. */
struct axis {
    enum { BY_VARIANT, BY_DIRECTION, BY_PARAMETER } by;
    const struct xb_option *option; /* of a parameter */
};

/* The cases of a small table, by one of them. */
struct sweep {
    const struct xb_record *record;
    const struct xb_parameters *shown; /* those that tell cases of the record apart */
    const struct xb_mode *mode;
    struct xb_record_cases cases;
    const struct xb_record_case *of; /* the first of them */
    struct axis down, across;
    const struct xb_record_case *values[MOST_VALUES]; /* a case of each, from the least up */
    size_t value_count;
    const struct xb_record_case *ways[MOST_WAYS]; /* likewise, in the order of the record */
    size_t way_count;
    bool has_more_ways; /* than there is room for */
};

/* What the case has of it; "" for a parameter that it does not have. */
static const char *key_of(struct axis axis, const struct xb_record_case *test)
{
    if (axis.by == BY_VARIANT)
        return test->variant;
    return axis.by == BY_DIRECTION ? test->direction : xb_record_parameter(test, axis.option->name);
}

static bool same_key(struct axis axis, const struct xb_record_case *a,
                     const struct xb_record_case *b)
{
    return strcmp(key_of(axis, a), key_of(axis, b)) == 0;
}

static unsigned long long number_of(const struct sweep *sweep, const struct xb_record_case *test)
{
    return strtoull(key_of(sweep->down, test), NULL, 10);
}

/* Whether it is of the mode, and of its plain copies. */
static bool is_plain(const struct xb_record_case *test, const struct xb_mode *mode)
{
    return strcmp(test->mode, mode->name) == 0 && !test->latency && !test->simultaneous &&
           test->peer < 0;
}

/* ---- what the table is by ---- */

/* Whether the mode's cases have so many different ones, 3 at most, of those that have the parameter
 * that goes down, if that is chosen yet. */
static bool has_different(const struct sweep *sweep, struct axis axis, size_t least)
{
    const struct xb_record_case *found[LEAST_VALUES];
    size_t count = 0;
    for (size_t i = 0; count < least && i < sweep->record->case_count; i++) {
        const struct xb_record_case *test = &sweep->record->cases[i];
        bool is_new = is_plain(test, sweep->mode) && key_of(axis, test)[0] != '\0' &&
                      (sweep->down.option == NULL || key_of(sweep->down, test)[0] != '\0');
        for (size_t f = 0; is_new && f < count; f++)
            is_new = !same_key(axis, found[f], test);
        if (is_new)
            found[count++] = test;
    }
    return count == least;
}

/* The first parameter that is a list of numbers and has so many different ones, but not that which
 * goes down; no option for none. */
static struct axis find_parameter(const struct sweep *sweep, size_t least)
{
    const struct xb_parameter *parameter = sweep->mode->parameters;
    for (; parameter != NULL && parameter->option != NULL; parameter++) {
        const struct xb_option *option = parameter->option;
        struct axis axis = {.by = BY_PARAMETER, .option = option};
        if ((option->type == XB_OPTION_SIZES || option->type == XB_OPTION_COUNTS) &&
            option != sweep->down.option && has_different(sweep, axis, least))
            return axis;
    }
    return (struct axis){.by = BY_PARAMETER};
}

/* ---- what is in it ---- */

/* Whether a parameter is the same in all cases of the table. One that only one variant has is not,
 * where the table is across variants. */
static bool is_common(const struct sweep *sweep, const struct xb_parameter *parameter)
{
    return parameter->option != sweep->down.option && parameter->option != sweep->across.option &&
           (parameter->variant == NULL || sweep->across.by != BY_VARIANT);
}

/* Orders cases of a mode by everything but what its tables are about. */
static int by_table(const struct xb_record_case *a, const struct xb_record_case *b,
                    const void *argument)
{
    const struct sweep *sweep = argument;
    int node = xb_record_case_node(a) - xb_record_case_node(b);
    int order = a->device != b->device ? a->device - b->device : node;
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    if (order == 0 && sweep->across.by != BY_DIRECTION)
        order = strcmp(a->direction, b->direction);
    if (order == 0 && sweep->across.by != BY_VARIANT)
        order = strcmp(a->variant, b->variant);
    for (const struct xb_parameter *own = sweep->mode->parameters;
         order == 0 && own->option != NULL; own++)
        if (is_common(sweep, own))
            order = strcmp(xb_record_parameter(a, own->option->name),
                           xb_record_parameter(b, own->option->name));
    return order;
}

/* Finds the values and ways of its cases. False if those are too few for a table. */
static bool find_axes(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->cases.count; i++) {
        const struct xb_record_case *test = sweep->cases.cases[i];
        size_t place = 0, way = 0;
        while (place < sweep->value_count &&
               number_of(sweep, sweep->values[place]) < number_of(sweep, test))
            place++;
        bool is_known = place < sweep->value_count &&
                        number_of(sweep, sweep->values[place]) == number_of(sweep, test);
        if (!is_known && sweep->value_count < MOST_VALUES) {
            memmove(&sweep->values[place + 1], &sweep->values[place],
                    (sweep->value_count - place) * sizeof(const struct xb_record_case *));
            sweep->values[place] = test;
            sweep->value_count++;
        }
        while (way < sweep->way_count && !same_key(sweep->across, sweep->ways[way], test))
            way++;
        if (way == MOST_WAYS)
            sweep->has_more_ways = true;
        else if (way == sweep->way_count)
            sweep->ways[sweep->way_count++] = test;
    }
    return sweep->value_count >= LEAST_VALUES && sweep->way_count >= LEAST_WAYS;
}

/* ---- in print ---- */

/* The bandwidth of a way with a value, the best if there are several, or why there is none. */
struct cell {
    double best;
    char text[CELL_SIZE];
};

/* Every case goes to its cell; those of values or ways for which there is no room to none. */
static void fill_cells(const struct sweep *sweep, struct cell cells[MOST_VALUES][MOST_WAYS])
{
    for (size_t v = 0; v < sweep->value_count; v++)
        for (size_t w = 0; w < sweep->way_count; w++)
            cells[v][w] = (struct cell){.text = "-"};
    for (size_t i = 0; i < sweep->cases.count; i++) {
        const struct xb_record_case *test = sweep->cases.cases[i];
        double rate = xb_record_median(sweep->record, test, xb_figure_bandwidth.name);
        enum xb_result_status status = xb_record_summarize(sweep->record, test).status;
        size_t v = 0, w = 0;
        while (v < sweep->value_count &&
               number_of(sweep, sweep->values[v]) != number_of(sweep, test))
            v++;
        while (w < sweep->way_count && !same_key(sweep->across, sweep->ways[w], test))
            w++;
        if (v == sweep->value_count || w == sweep->way_count)
            continue;
        struct cell *cell = &cells[v][w];
        if (isfinite(rate) && rate > cell->best) {
            cell->best = rate;
            xb_rate_text(rate, cell->text, CELL_SIZE);
        } else if (cell->best <= 0 && status != XB_RESULT_OK) {
            snprintf(cell->text, CELL_SIZE, "%s", status == XB_RESULT_SKIPPED ? "skip" : "ERR");
        }
    }
}

/* What the case has of it, for people. */
static const char *label_of(struct axis axis, const struct xb_record_case *test, char *text)
{
    const char *value = axis.by == BY_PARAMETER
                            ? xb_parameter_text(test, axis.option->name, text, CELL_SIZE)
                            : key_of(axis, test);
    if (value != text)
        snprintf(text, CELL_SIZE, "%s", value != NULL ? value : "-");
    xb_make_plain(text);
    return text;
}

/* "batch h2d, 32 MiB, layout rows: GB/s by piece", "async registered h2d, 32 MiB: GB/s by chunk
 * (down) and streams (across)" */
static void print_title(FILE *stream, const struct sweep *sweep)
{
    struct xb_words words = {.length = 0};
    char text[CELL_SIZE];
    size_t devices = 0;
    (void)xb_record_devices(sweep->record, &devices);
    xb_words_add(&words, "%s", sweep->of->mode);
    if (sweep->across.by != BY_VARIANT)
        xb_words_add(&words, " %s", sweep->of->variant);
    if (sweep->across.by != BY_DIRECTION)
        xb_words_add(&words, " %s", sweep->of->direction);
    xb_words_add(&words, ", %s", xb_size_format(sweep->of->bytes, text, sizeof text));
    if (devices > 1)
        xb_words_add(&words, ", device %d", sweep->of->device);
    /* ", layout rows": what else tells the table's cases from others. */
    for (const struct xb_parameter *own = sweep->mode->parameters; own->option != NULL; own++)
        for (size_t i = 0; is_common(sweep, own) && i < sweep->shown->count; i++) {
            const char *name = own->option->name;
            const char *value = xb_parameter_text(sweep->of, name, text, sizeof text);
            if (value != NULL && strcmp(sweep->shown->names[i], name) == 0)
                xb_words_add(&words, ", %s %s", name, value);
        }
    if (xb_record_case_node(sweep->of) >= 0)
        xb_words_add(&words, ", NUMA node %d", xb_record_case_node(sweep->of));
    xb_words_add(&words, ": GB/s by %s", sweep->down.option->name);
    if (sweep->across.by == BY_PARAMETER)
        xb_words_add(&words, " (down) and %s (across)", sweep->across.option->name);
    if (sweep->has_more_ways)
        xb_words_add(&words, ", the first %zu", sweep->way_count);
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s", words.text);
}

/* Ways that do not fit into a line stand below. */
static void print_table(FILE *stream, const struct sweep *sweep)
{
    struct cell cells[MOST_VALUES][MOST_WAYS];
    char cell[CELL_SIZE];
    size_t width = CELL_WIDTH;
    fill_cells(sweep, cells);
    for (size_t w = 0; w < sweep->way_count; w++) {
        size_t length = strlen(label_of(sweep->across, sweep->ways[w], cell));
        width = length > width ? length : width;
    }
    size_t room = (xb_terminal_columns(stream) - VALUE_WIDTH) / (width + 2);
    room = room > 0 ? room : 1;
    for (size_t w = 0; w < sweep->way_count; w += room) {
        size_t behind = w + room < sweep->way_count ? w + room : sweep->way_count;
        fprintf(stream, "%*s", VALUE_WIDTH, "");
        for (size_t k = w; k < behind; k++)
            fprintf(stream, "  %*s", (int)width, label_of(sweep->across, sweep->ways[k], cell));
        fputc('\n', stream);
        for (size_t v = 0; v < sweep->value_count; v++) {
            fprintf(stream, "%*s", VALUE_WIDTH, label_of(sweep->down, sweep->values[v], cell));
            for (size_t k = w; k < behind; k++)
                fprintf(stream, "  %*s", (int)width, cells[v][k].text);
            fputc('\n', stream);
        }
    }
}

/* Prints the tables of the mode's cases, or only marks them as told; `cases` has room for all.
 * False where memory is short. */
static bool print_mode(FILE *stream, const struct sweep *mode, const struct xb_record_case **cases,
                       bool *told)
{
    size_t count = 0;
    for (size_t i = 0; i < mode->record->case_count; i++) {
        const struct xb_record_case *test = &mode->record->cases[i];
        if (is_plain(test, mode->mode) && key_of(mode->down, test)[0] != '\0')
            cases[count++] = test;
    }
    bool ok = xb_cases_group(cases, count, by_table, mode);
    for (size_t i = 0, equal = 0; ok && i < count; i += equal) {
        struct sweep sweep = *mode;
        equal = xb_cases_equal(cases + i, count - i, by_table, mode);
        sweep.cases = (struct xb_record_cases){cases + i, equal};
        sweep.of = cases[i];
        if (!find_axes(&sweep))
            continue;
        for (size_t k = 0; told != NULL && k < equal; k++)
            told[cases[i + k] - mode->record->cases] = true;
        if (stream == NULL)
            continue;
        fputc('\n', stream);
        print_title(stream, &sweep);
        print_table(stream, &sweep);
    }
    return ok;
}

enum xb_status xb_sweep_print(FILE *stream, const struct xb_record *record, bool *told,
                              struct xb_error *error)
{
    const struct xb_parameters shown = xb_parameters_that_differ(record);
    const struct xb_record_case **cases =
        calloc(record->case_count + 1, sizeof(const struct xb_record_case *));
    bool ok = cases != NULL;
    for (size_t i = 0; ok && xb_modes[i] != NULL; i++) {
        struct sweep sweep = {.record = record, .shown = &shown, .mode = xb_modes[i]};
        const struct axis variant = {.by = BY_VARIANT};
        sweep.down = find_parameter(&sweep, LEAST_VALUES);
        if (sweep.down.option == NULL)
            continue;
        sweep.across = has_different(&sweep, variant, LEAST_WAYS)
                           ? variant
                           : find_parameter(&sweep, LEAST_WAYS);
        if (sweep.across.by == BY_PARAMETER && sweep.across.option == NULL)
            sweep.across = (struct axis){.by = BY_DIRECTION};
        ok = print_mode(stream, &sweep, cases, told);
    }
    free(cases);
    return ok ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}
