/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sweep.h"

#include "base/note.h"
#include "base/text.h"
#include "measure/mode_list.h"
#include "parameters.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_VALUES 3u
#define LEAST_WAYS 2u
#define MOST_VALUES 64
#define MOST_WAYS 8
#define CELL_SIZE 64

/* What stands across: words of one axis. */
enum across { ACROSS_VARIANTS, ACROSS_PARAMETER, ACROSS_DIRECTIONS };

/* The cases of a small table, by one of them. */
struct sweep {
    const struct xb_record *record;
    const struct xb_mode *mode;
    const char *down; /* the parameter, a list of numbers; NULL: the mode has no such table */
    enum across across;
    const char *parameter; /* that stands across */
    const struct xb_record_case *of;
    const struct xb_record_case *values[MOST_VALUES]; /* a case of each, from the least up */
    size_t value_count;
    const struct xb_record_case *ways[MOST_WAYS]; /* likewise, in the order of the record */
    size_t way_count;
    bool has_more_ways; /* than there is room for */
};

static unsigned long long number_of(const struct sweep *sweep, const struct xb_record_case *test)
{
    return strtoull(xb_record_parameter(test, sweep->down), NULL, 10);
}

/* In which column the case stands. */
static const char *way_of(const struct sweep *sweep, const struct xb_record_case *test)
{
    if (sweep->across == ACROSS_PARAMETER)
        return xb_record_parameter(test, sweep->parameter);
    return sweep->across == ACROSS_VARIANTS ? test->variant : test->direction;
}

/* ---- which cases ---- */

static bool is_of_mode(const struct xb_mode *mode, const struct xb_record_case *test)
{
    return strcmp(test->mode, mode->name) == 0 && !test->latency && !test->simultaneous &&
           test->peer < 0;
}

/* Of variants that have parameters of their own the best of each counts. */
static bool is_free(const struct sweep *sweep, const struct xb_parameter *parameter)
{
    const char *name = parameter->option->name;
    return strcmp(name, sweep->down) == 0 ||
           (sweep->across == ACROSS_PARAMETER && strcmp(name, sweep->parameter) == 0) ||
           (sweep->across == ACROSS_VARIANTS && parameter->variant != NULL);
}

/* Whether two cases differ in nothing but what the table is about. */
static bool belongs(const struct sweep *sweep, const struct xb_record_case *test)
{
    const struct xb_record_case *of = sweep->of;
    bool same = is_of_mode(sweep->mode, test) && test->device == of->device &&
                test->bytes == of->bytes && xb_record_case_node(test) == xb_record_case_node(of) &&
                xb_record_parameter(test, sweep->down)[0] != '\0' &&
                (sweep->across == ACROSS_VARIANTS || strcmp(test->variant, of->variant) == 0) &&
                (sweep->across == ACROSS_DIRECTIONS || strcmp(test->direction, of->direction) == 0);
    const struct xb_parameter *parameter = sweep->mode->parameters;
    for (; same && parameter->option != NULL; parameter++)
        same = is_free(sweep, parameter) ||
               strcmp(xb_record_parameter(test, parameter->option->name),
                      xb_record_parameter(of, parameter->option->name)) == 0;
    return same;
}

static void add_value(struct sweep *sweep, const struct xb_record_case *test)
{
    size_t place = 0;
    while (place < sweep->value_count &&
           number_of(sweep, sweep->values[place]) < number_of(sweep, test))
        place++;
    if (sweep->value_count == MOST_VALUES ||
        (place < sweep->value_count &&
         number_of(sweep, sweep->values[place]) == number_of(sweep, test)))
        return;
    for (size_t i = sweep->value_count; i > place; i--)
        sweep->values[i] = sweep->values[i - 1];
    sweep->values[place] = test;
    sweep->value_count++;
}

static void add_way(struct sweep *sweep, const struct xb_record_case *test)
{
    bool is_new = true;
    for (size_t i = 0; is_new && i < sweep->way_count; i++)
        is_new = strcmp(way_of(sweep, sweep->ways[i]), way_of(sweep, test)) != 0;
    if (is_new && sweep->way_count < MOST_WAYS)
        sweep->ways[sweep->way_count++] = test;
    else if (is_new)
        sweep->has_more_ways = true;
}

/* Finds the values and ways of all cases that belong to it. False if it is not the first of them
 * that the table is asked for by. */
static bool collect(struct sweep *sweep)
{
    const struct xb_record *record = sweep->record;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!belongs(sweep, test))
            continue;
        if (test < sweep->of)
            return false;
        add_value(sweep, test);
        add_way(sweep, test);
    }
    return sweep->value_count >= LEAST_VALUES && sweep->way_count >= LEAST_WAYS;
}

/* ---- what stands down and across: the same for all tables of a mode ---- */

/* Whether the mode's cases that have the parameter `down` have so many values of it, or ways. */
static bool has_enough(struct sweep *sweep, size_t values, size_t ways)
{
    sweep->value_count = sweep->way_count = 0;
    for (size_t i = 0; i < sweep->record->case_count; i++) {
        const struct xb_record_case *test = &sweep->record->cases[i];
        if (!is_of_mode(sweep->mode, test) || xb_record_parameter(test, sweep->down)[0] == '\0')
            continue;
        add_value(sweep, test);
        add_way(sweep, test);
    }
    return sweep->value_count >= values && sweep->way_count >= ways;
}

/* The first parameter of the mode that is a list of numbers and has enough values. */
static bool choose_down(struct sweep *sweep)
{
    const struct xb_parameter *own = sweep->mode->parameters;
    for (; own != NULL && own->option != NULL; own++) {
        sweep->down = own->option->name;
        if ((own->option->type == XB_OPTION_SIZES || own->option->type == XB_OPTION_COUNTS) &&
            has_enough(sweep, LEAST_VALUES, 0))
            return true;
    }
    return false;
}

/* The variants where there are several, else another parameter, else the directions. */
static bool choose_across(struct sweep *sweep)
{
    sweep->across = ACROSS_VARIANTS;
    if (has_enough(sweep, 0, LEAST_WAYS))
        return true;
    sweep->across = ACROSS_PARAMETER;
    for (const struct xb_parameter *own = sweep->mode->parameters; own->option != NULL; own++) {
        sweep->parameter = own->option->name;
        if (strcmp(sweep->parameter, sweep->down) != 0 && has_enough(sweep, 0, LEAST_WAYS))
            return true;
    }
    sweep->across = ACROSS_DIRECTIONS;
    return has_enough(sweep, 0, LEAST_WAYS);
}

/* A file may have modes that this program does not know. */
static struct sweep sweep_of_mode(const struct xb_record *record, const char *name)
{
    struct sweep sweep = {.record = record, .mode = xb_mode_find(name)};
    if (sweep.mode == NULL || !choose_down(&sweep) || !choose_across(&sweep))
        sweep.down = NULL;
    sweep.value_count = sweep.way_count = 0;
    sweep.has_more_ways = false;
    return sweep;
}

/* ---- the table ---- */

/* The bandwidth of a way with that value, the best if there are several, or why there is none. */
static void cell_of(const struct sweep *sweep, const struct xb_record_case *value,
                    const struct xb_record_case *way, char *cell)
{
    double best = 0;
    snprintf(cell, CELL_SIZE, "-");
    for (size_t i = 0; i < sweep->record->case_count; i++) {
        const struct xb_record_case *test = &sweep->record->cases[i];
        if (!belongs(sweep, test) || strcmp(way_of(sweep, test), way_of(sweep, way)) != 0 ||
            number_of(sweep, test) != number_of(sweep, value))
            continue;
        double rate = xb_record_median(sweep->record, test, xb_figure_bandwidth.name);
        enum xb_result_status status = xb_record_summarize(sweep->record, test).status;
        if (isfinite(rate) && rate > best) {
            best = rate;
            xb_rate_text(rate, cell, CELL_SIZE);
        } else if (best <= 0 && status != XB_RESULT_OK) {
            snprintf(cell, CELL_SIZE, "%s", status == XB_RESULT_SKIPPED ? "skip" : "ERR");
        }
    }
}

/* ", layout rows": what else differs in the record, and is one in this table. */
static void add_parameters(struct xb_words *words, const struct sweep *sweep)
{
    const struct xb_parameters parameters = xb_parameters_that_differ(sweep->record);
    char text[CELL_SIZE];
    for (const struct xb_parameter *own = sweep->mode->parameters; own->option != NULL; own++)
        for (size_t i = 0; !is_free(sweep, own) && i < parameters.count; i++) {
            const char *name = own->option->name;
            const char *value = xb_parameter_text(sweep->of, name, text, sizeof text);
            if (value != NULL && strcmp(parameters.names[i], name) == 0)
                xb_words_add(words, ", %s %s", name, value);
        }
}

/* "batch h2d, 32 MiB, layout rows: GB/s by piece" */
static void print_title(FILE *stream, const struct sweep *sweep)
{
    struct xb_words words = {.length = 0};
    char text[CELL_SIZE];
    size_t devices = 0;
    (void)xb_record_devices(sweep->record, &devices);
    xb_words_add(&words, "%s", sweep->of->mode);
    if (sweep->across != ACROSS_VARIANTS && sweep->mode->variant_option != NULL)
        xb_words_add(&words, " %s", sweep->of->variant);
    if (sweep->across != ACROSS_DIRECTIONS)
        xb_words_add(&words, " %s", sweep->of->direction);
    xb_words_add(&words, ", %s", xb_size_format(sweep->of->bytes, text, sizeof text));
    if (devices > 1)
        xb_words_add(&words, ", device %d", sweep->of->device);
    add_parameters(&words, sweep);
    if (xb_record_case_node(sweep->of) >= 0)
        xb_words_add(&words, ", NUMA node %d", xb_record_case_node(sweep->of));
    xb_words_add(&words, ": GB/s by %s", sweep->down);
    if (sweep->across == ACROSS_PARAMETER)
        xb_words_add(&words, " (down) and %s (across%s)", sweep->parameter,
                     sweep->has_more_ways ? ", the first few" : "");
    xb_make_plain(words.text);
    fprintf(stream, "%s\n", words.text);
}

/* What stands above a column. */
static void heading_of(const struct sweep *sweep, const struct xb_record_case *way, char *heading)
{
    char text[CELL_SIZE];
    const char *value = sweep->across == ACROSS_PARAMETER
                            ? xb_parameter_text(way, sweep->parameter, text, sizeof text)
                            : way_of(sweep, way);
    snprintf(heading, CELL_SIZE, "%s", value != NULL ? value : "-");
    xb_make_plain(heading);
}

static void print_table(FILE *stream, const struct sweep *sweep)
{
    char cell[CELL_SIZE];
    int widths[MOST_WAYS];
    fprintf(stream, "%10s", "");
    for (size_t w = 0; w < sweep->way_count; w++) {
        heading_of(sweep, sweep->ways[w], cell);
        widths[w] = strlen(cell) > 8 ? (int)strlen(cell) : 8;
        fprintf(stream, "  %*s", widths[w], cell);
    }
    fputc('\n', stream);
    for (size_t v = 0; v < sweep->value_count; v++) {
        const char *value = xb_parameter_text(sweep->values[v], sweep->down, cell, sizeof cell);
        fprintf(stream, "%10s", value != NULL ? value : "-");
        for (size_t w = 0; w < sweep->way_count; w++) {
            cell_of(sweep, sweep->values[v], sweep->ways[w], cell);
            fprintf(stream, "  %*s", widths[w], cell);
        }
        fputc('\n', stream);
    }
}

void xb_sweep_print(FILE *stream, const struct xb_record *record)
{
    struct sweep of_mode = {.mode = NULL};
    const char *mode = "";
    for (size_t i = 0; i < record->case_count; i++) {
        if (strcmp(record->cases[i].mode, mode) != 0)
            of_mode = sweep_of_mode(record, record->cases[i].mode);
        mode = record->cases[i].mode;
        struct sweep sweep = of_mode;
        sweep.of = &record->cases[i];
        if (sweep.down == NULL || !belongs(&sweep, sweep.of) || !collect(&sweep))
            continue;
        fputc('\n', stream);
        print_title(stream, &sweep);
        print_table(stream, &sweep);
    }
}
