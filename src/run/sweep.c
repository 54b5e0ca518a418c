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

#define LEAST_VALUES 3
#define LEAST_WAYS 2
#define MOST_VALUES 64
#define MOST_WAYS 8
#define CELL_SIZE 64

/* The cases of a small table, by one of them. */
struct sweep {
    const struct xb_record *record;
    const struct xb_record_case *of;
    const struct xb_mode *mode;
    const struct xb_record_case *values[MOST_VALUES]; /* a case of each, from the least up */
    size_t value_count;
    const char *ways[MOST_WAYS]; /* in the order of the record */
    size_t way_count;
};

static const char *name_of(const struct sweep *sweep)
{
    return sweep->mode->parameters[0].option->name;
}

static unsigned long long number_of(const struct sweep *sweep, const struct xb_record_case *test)
{
    return strtoull(xb_record_parameter(test, name_of(sweep)), NULL, 10);
}

/* The mode, if such a table can be made of its cases; else NULL. A file may have modes that this
 * program does not know. */
static const struct xb_mode *mode_of(const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const struct xb_parameter *parameter = mode != NULL ? mode->parameters : NULL;
    bool swept = parameter != NULL && parameter->option != NULL && parameter->variant == NULL &&
                 parameter->option->type == XB_OPTION_SIZES;
    return swept && !test->latency && !test->simultaneous && test->peer < 0 ? mode : NULL;
}

/* Whether two cases differ in nothing but what the table is about. */
static bool belongs(const struct sweep *sweep, const struct xb_record_case *test)
{
    const struct xb_record_case *of = sweep->of;
    bool same = mode_of(test) == sweep->mode && test->device == of->device &&
                test->bytes == of->bytes && strcmp(test->direction, of->direction) == 0 &&
                xb_record_case_node(test) == xb_record_case_node(of);
    const struct xb_parameter *parameter = sweep->mode->parameters + 1;
    for (; same && parameter->option != NULL; parameter++)
        same = parameter->variant != NULL ||
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

static void add_way(struct sweep *sweep, const char *way)
{
    bool is_new = sweep->way_count < MOST_WAYS;
    for (size_t i = 0; is_new && i < sweep->way_count; i++)
        is_new = strcmp(sweep->ways[i], way) != 0;
    if (is_new)
        sweep->ways[sweep->way_count++] = way;
}

/* The bandwidth of a way with that value, the best if there are several, or why there is none. */
static void cell_of(const struct sweep *sweep, const struct xb_record_case *value, const char *way,
                    char *cell)
{
    double best = 0;
    snprintf(cell, CELL_SIZE, "-");
    for (size_t i = 0; i < sweep->record->case_count; i++) {
        const struct xb_record_case *test = &sweep->record->cases[i];
        if (!belongs(sweep, test) || strcmp(test->variant, way) != 0 ||
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

/* "batch h2d, 32 MiB, layout rows: GB/s by piece". */
static void print_title(FILE *stream, const struct sweep *sweep)
{
    const struct xb_parameters parameters = xb_parameters_that_differ(sweep->record);
    struct xb_words words = {.length = 0};
    char text[CELL_SIZE];
    size_t devices = 0;
    (void)xb_record_devices(sweep->record, &devices);
    xb_words_add(&words, "%s %s, %s", sweep->of->mode, sweep->of->direction,
                 xb_size_format(sweep->of->bytes, text, sizeof text));
    if (devices > 1)
        xb_words_add(&words, ", device %d", sweep->of->device);
    for (const struct xb_parameter *own = sweep->mode->parameters + 1; own->option != NULL; own++)
        for (size_t i = 0; own->variant == NULL && i < parameters.count; i++) {
            const char *name = own->option->name;
            const char *value = xb_parameter_text(sweep->of, name, text, sizeof text);
            if (value != NULL && strcmp(parameters.names[i], name) == 0)
                xb_words_add(&words, ", %s %s", name, value);
        }
    if (xb_record_case_node(sweep->of) >= 0)
        xb_words_add(&words, ", NUMA node %d", xb_record_case_node(sweep->of));
    xb_words_add(&words, ": GB/s by %s", name_of(sweep));
    xb_make_plain(words.text);
    fprintf(stream, "%s\n", words.text);
}

static void print_table(FILE *stream, const struct sweep *sweep)
{
    char cell[CELL_SIZE];
    fprintf(stream, "%10s", "");
    for (size_t w = 0; w < sweep->way_count; w++) {
        snprintf(cell, sizeof cell, "%s", sweep->ways[w]);
        xb_make_plain(cell);
        fprintf(stream, "  %8s", cell);
    }
    fputc('\n', stream);
    for (size_t v = 0; v < sweep->value_count; v++) {
        const char *value = xb_parameter_text(sweep->values[v], name_of(sweep), cell, sizeof cell);
        fprintf(stream, "%10s", value != NULL ? value : "-");
        for (size_t w = 0; w < sweep->way_count; w++) {
            cell_of(sweep, sweep->values[v], sweep->ways[w], cell);
            fprintf(stream, "  %8s", cell);
        }
        fputc('\n', stream);
    }
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
        add_way(sweep, test->variant);
    }
    return sweep->value_count >= LEAST_VALUES && sweep->way_count >= LEAST_WAYS;
}

void xb_sweep_print(FILE *stream, const struct xb_record *record)
{
    for (size_t i = 0; i < record->case_count; i++) {
        struct sweep sweep = {
            .record = record, .of = &record->cases[i], .mode = mode_of(&record->cases[i])};
        if (sweep.mode == NULL || !collect(&sweep))
            continue;
        fputc('\n', stream);
        print_title(stream, &sweep);
        print_table(stream, &sweep);
    }
}
