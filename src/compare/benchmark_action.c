/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "internal.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The form of github-action-benchmark's customBiggerIsBetter: name, unit, value, range, extra. A
 * chart is kept over time by name and judges by itself: the entries are the candidate's figures,
 * also where the two files cannot be compared.
 */

/* The figures of one figure of one case, larger where better. */
struct figures {
    size_t n;
    double value, half_range;
};

/* A rate in GB/s. What is better where it is less, by how many of it make one: a latency by how
 * many operations fit in a second. */
static double bigger_is_better(const struct xb_figure *figure, double value)
{
    double scaled = xb_compare_is_rate(figure) ? value / 1e9 : value;
    return figure->more_is_better ? scaled : 1 / scaled;
}

static const char *unit_of(const struct xb_figure *figure, char *text, size_t size)
{
    char unit[XB_COMPARE_WORD];
    xb_compare_plain(xb_compare_is_rate(figure) ? "GB/s" : figure->unit, unit, sizeof unit);
    if (figure->more_is_better || strcmp(unit, XB_UNIT_RATIO) == 0)
        snprintf(text, size, "%s", unit);
    else
        snprintf(text, size, "1/%s", unit);
    return text;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* `values` holds one of each process. */
static struct figures figures_of(const struct xb_record *record, const struct xb_record_case *test,
                                 const struct xb_figure *figure, double *values)
{
    struct figures figures = {.n = xb_record_medians(record, test, figure->name, values)};
    if (figures.n == 0)
        return figures;
    qsort(values, figures.n, sizeof *values, by_value);
    double median = (values[(figures.n - 1) / 2] + values[figures.n / 2]) / 2;
    double first = bigger_is_better(figure, values[0]);
    double last = bigger_is_better(figure, values[figures.n - 1]);
    figures.value = bigger_is_better(figure, median);
    figures.half_range = fabs(last - first) / 2;
    return figures;
}

/* NULL where the case has not been compared. Searches from *place on, where the last one was: both
 * are in the order of the file. */
static const struct xb_compared *compared_of(const struct xb_comparison *comparison,
                                             const struct xb_record_case *test,
                                             const struct xb_figure *figure, size_t *place)
{
    for (size_t i = 0; i < comparison->case_count; i++) {
        size_t index = (*place + i) % comparison->case_count;
        const struct xb_compared *compared = &comparison->cases[index];
        if (compared->test == test && strcmp(compared->figure.name, figure->name) == 0) {
            *place = index;
            return compared;
        }
    }
    return NULL;
}

static void put_extra(struct xb_json *json, const struct xb_comparison *comparison,
                      const struct figures *figures, const struct xb_compared *compared)
{
    char text[XB_COMPARE_TEXT];
    struct xb_words words = {.length = 0};
    struct xb_words forbidden;
    xb_words_add(&words, "%zu process%s", figures->n, figures->n == 1 ? "" : "es");
    if (compared != NULL && compared->has_ratio) {
        xb_words_add(&words, "; %s", xb_compare_says(compared, text, sizeof text));
        xb_words_add(&words, "; ratio %s", xb_compare_ratio(compared, text, sizeof text));
    }
    if (compared != NULL)
        xb_words_add(&words, "; %s", xb_compare_verdict(comparison, compared, text, sizeof text));
    if (compared != NULL && xb_compare_note(compared, text, sizeof text)[0] != '\0')
        xb_words_add(&words, "; %s", text);
    if (!comparison->comparable || xb_compare_forced(comparison))
        xb_words_add(&words, "; %s", xb_compare_forbidden(comparison, &forbidden));
    xb_json_put_text(json, "extra", words.text);
}

/* `values` has room for one of each process of the candidate. */
static void put_entries(struct xb_json *json, const struct xb_comparison *comparison,
                        double *values)
{
    const struct xb_record *record = comparison->candidate;
    /* The candidate alone names it: names must be the same whatever it is compared with. */
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    char text[XB_COMPARE_TEXT];
    size_t place = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_figure all[XB_COMPARE_FIGURES];
        const struct xb_record_case *test = &record->cases[i];
        size_t count = xb_compare_figures(comparison, &(struct xb_pair){.candidate = test}, all);
        for (size_t k = 0; k < count; k++) {
            struct figures figures = figures_of(record, test, &all[k], values);
            if (figures.n == 0 || !isfinite(figures.value) || figures.value <= 0)
                continue;
            xb_json_open_object(json, NULL);
            xb_json_put_text(json, "name",
                             xb_compare_case_name(test, &all[k], &parameters, text, sizeof text));
            xb_json_put_text(json, "unit", unit_of(&all[k], text, sizeof text));
            xb_json_put_number(json, "value", figures.value);
            /* One process has no range, which is not the same as a range of 0. */
            snprintf(text, sizeof text, "\xC2\xB1 %.3g", figures.half_range);
            if (figures.n >= 2 && isfinite(figures.half_range))
                xb_json_put_text(json, "range", text);
            put_extra(json, comparison, &figures, compared_of(comparison, test, &all[k], &place));
            xb_json_close(json);
        }
    }
}

enum xb_status xb_compare_benchmark_action_write(FILE *stream,
                                                 const struct xb_comparison *comparison,
                                                 struct xb_error *error)
{
    struct xb_json json;
    double *values = calloc(comparison->candidate->process_count + 1, sizeof *values);
    xb_json_begin(&json);
    xb_json_open_array(&json, NULL);
    if (values != NULL)
        put_entries(&json, comparison, values);
    else
        xb_json_fail_memory(&json);
    xb_json_close(&json);
    free(values);
    return xb_json_finish(&json, stream, "the JSON", error);
}
