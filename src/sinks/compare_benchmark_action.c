/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_text.h"
#include "finish.h"
#include "json_tree.h"

#include <math.h>
#include <stdlib.h>

/*
 * The form of github-action-benchmark's customBiggerIsBetter: name, unit, value, range, extra. A
 * chart is kept over time by name and judges by itself: the entries are the candidate's figures,
 * also where the two files cannot be compared.
 */

/* The figures of one metric of one case, larger where better. */
struct figures {
    size_t n;
    double value, half_range;
};

/* GB/s; or how many of it fit in a second. */
static double bigger_is_better(enum xb_metric metric, double value)
{
    return xb_metric_more_is_better(metric) ? value / 1e9 : 1 / value;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* `values` holds one of each process. */
static struct figures figures_of(const struct xb_record *record, const struct xb_record_case *test,
                                 enum xb_metric metric, double *values)
{
    struct figures figures = {.n = xb_record_medians(record, test, metric, values)};
    if (figures.n == 0)
        return figures;
    qsort(values, figures.n, sizeof *values, by_value);
    double median = (values[(figures.n - 1) / 2] + values[figures.n / 2]) / 2;
    double first = bigger_is_better(metric, values[0]);
    double last = bigger_is_better(metric, values[figures.n - 1]);
    figures.value = bigger_is_better(metric, median);
    figures.half_range = fabs(last - first) / 2;
    return figures;
}

/* NULL where the case has not been compared. Searches from *place on, where the last one was: both
 * are in the order of the file. */
static const struct xb_compared *compared_of(const struct xb_comparison *comparison,
                                             const struct xb_record_case *test,
                                             enum xb_metric metric, size_t *place)
{
    for (size_t i = 0; i < comparison->case_count; i++) {
        size_t index = (*place + i) % comparison->case_count;
        const struct xb_compared *compared = &comparison->cases[index];
        if (compared->test == test && compared->metric == metric) {
            *place = index;
            return compared;
        }
    }
    return NULL;
}

static cJSON *extra_json(const struct xb_comparison *comparison, const struct figures *figures,
                         const struct xb_compared *compared)
{
    char text[XB_COMPARE_TEXT];
    struct xb_words words = {.length = 0};
    struct xb_words forbidden;
    xb_words_add(&words, "%zu process%s", figures->n, figures->n == 1 ? "" : "es");
    if (compared != NULL && compared->has_ratio)
        xb_words_add(&words, "; ratio %s",
                     xb_compare_ratio(comparison, compared, text, sizeof text));
    if (compared != NULL)
        xb_words_add(&words, "; %s", xb_compare_verdict(compared, text, sizeof text));
    if (compared != NULL && xb_compare_note(compared, text, sizeof text)[0] != '\0')
        xb_words_add(&words, "; %s", text);
    if (!comparison->comparable)
        xb_words_add(&words, "; %s", xb_compare_forbidden(comparison, &forbidden));
    return xb_json_text(words.text);
}

/* Of one process there is no range, which is something else than a range of 0. */
static bool put_range(cJSON *object, const struct figures *figures)
{
    char text[48];
    if (figures->n < 2 || !isfinite(figures->half_range))
        return true;
    snprintf(text, sizeof text, "\xC2\xB1 %.3g", figures->half_range);
    return xb_json_put(object, "range", xb_json_text(text));
}

static cJSON *entry_json(const struct xb_comparison *comparison, const struct xb_record_case *test,
                         enum xb_metric metric, const struct figures *figures, size_t *place)
{
    char name[XB_COMPARE_TEXT];
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "name",
                            xb_json_text(xb_compare_case_name(test, metric, name, sizeof name))) &&
                    xb_json_put(object, "unit",
                                xb_json_text(xb_metric_more_is_better(metric) ? "GB/s" : "1/s")) &&
                    xb_json_put(object, "value", xb_json_number(figures->value)) &&
                    put_range(object, figures) &&
                    xb_json_put(object, "extra",
                                extra_json(comparison, figures,
                                           compared_of(comparison, test, metric, place))));
}

static cJSON *array_json(const void *source)
{
    const struct xb_comparison *comparison = source;
    const struct xb_record *record = comparison->candidate;
    double *values = calloc(record->process_count + 1, sizeof *values);
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL && values != NULL;
    size_t place = 0;
    for (size_t i = 0; ok && i < record->case_count * XB_METRICS; i++) {
        const struct xb_record_case *test = &record->cases[i / XB_METRICS];
        enum xb_metric metric = (enum xb_metric)(i % XB_METRICS);
        struct figures figures = figures_of(record, test, metric, values);
        if (figures.n > 0 && isfinite(figures.value) && figures.value > 0)
            ok = xb_json_append(array, entry_json(comparison, test, metric, &figures, &place));
    }
    free(values);
    return xb_json_complete(array, ok);
}

enum xb_status xb_compare_benchmark_action_write(FILE *stream,
                                                 const struct xb_comparison *comparison,
                                                 struct xb_error *error)
{
    enum xb_status status = xb_json_print(stream, array_json, comparison, error);
    return status == XB_OK ? xb_sink_finish(stream, "the JSON", error) : status;
}
