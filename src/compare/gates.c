/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases count for the overall verdict, and how much worse is a regression, case by case. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Cuts `text` at the first `separator` and returns what is behind it; NULL where there is none. */
static char *cut(char *text, char separator)
{
    char *found = text != NULL ? strchr(text, separator) : NULL;
    if (found != NULL)
        *found++ = '\0';
    return found;
}

/* NULL for '*' and for what is not there. */
static const char *word_or_any(const char *word)
{
    return word == NULL || strcmp(word, "*") == 0 ? NULL : word;
}

/* "1G", or "64M..1G" with both ends. */
static enum xb_status read_sizes(char *text, struct xb_gate *gate, struct xb_error *error)
{
    gate->least = 0;
    gate->most = UINT64_MAX;
    if (word_or_any(text) == NULL)
        return XB_OK;
    char *dots = strstr(text, "..");
    if (dots != NULL)
        *dots = '\0';
    enum xb_status status = xb_size_parse(text, &gate->least, error);
    gate->most = gate->least;
    if (status != XB_OK || dots == NULL)
        return status;
    status = xb_size_parse(dots + 2, &gate->most, error);
    if (status == XB_OK && gate->least > gate->most)
        return XB_FAIL(error, XB_ERR_USAGE, "the sizes %.40s..%.40s are the wrong way round", text,
                       dots + 2);
    return status;
}

static enum xb_status read_one(char *text, struct xb_gate *gate, struct xb_error *error)
{
    char *direction = cut(text, '/');
    char *sizes = cut(direction, '/');
    char *figure = cut(sizes, '/');
    if (text[0] == '\0' || (direction != NULL && direction[0] == '\0') ||
        (sizes != NULL && sizes[0] == '\0') ||
        (figure != NULL && (figure[0] == '\0' || strchr(figure, '/') != NULL)))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "cases are MODE, MODE/DIRECTION, MODE/DIRECTION/SIZE or "
                       "MODE/DIRECTION/SIZE/FIGURE, where '*' is any");
    gate->mode = word_or_any(text);
    gate->direction = word_or_any(direction);
    gate->figure = word_or_any(figure);
    return read_sizes(sizes, gate, error);
}

/* ---- lists ---- */

static size_t count_words(const char *text)
{
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',';
    return count;
}

typedef enum xb_status read_word(char *word, void *list, struct xb_error *error);

/* Reads `words`, a copy of `text`, word by word into the list, and cuts it up. */
static enum xb_status read_words(const char *text, char *words, read_word *read, void *list,
                                 struct xb_error *error)
{
    struct xb_error cause;
    for (char *next = words; next != NULL;) {
        char *word = next;
        next = cut(word, ',');
        enum xb_status status = read(word, list, &cause);
        if (status != XB_OK)
            return XB_FAIL(error, status, "\"%.80s\": %.400s", text, cause.message);
    }
    return XB_OK;
}

static enum xb_status read_gate(char *word, void *list, struct xb_error *error)
{
    struct xb_gates *gates = list;
    enum xb_status status = read_one(word, &gates->items[gates->count], error);
    gates->count += status == XB_OK;
    return status;
}

enum xb_status xb_gates_parse(const char *text, struct xb_gates *gates, struct xb_error *error)
{
    size_t most = count_words(text);
    *gates = (struct xb_gates){.words = strdup(text), .items = calloc(most, sizeof *gates->items)};
    enum xb_status status = gates->words != NULL && gates->items != NULL
                                ? read_words(text, gates->words, read_gate, gates, error)
                                : XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu gates", most);
    if (status != XB_OK)
        xb_gates_free(gates);
    return status;
}

void xb_gates_free(struct xb_gates *gates)
{
    free(gates->items);
    free(gates->words);
    *gates = (struct xb_gates){0};
}

/* ---- thresholds ---- */

#define LARGEST_PLAIN 0.1 /* "0.5" could mean 0.5 % and 50 % */

/* "2%" or "0.02". */
static enum xb_status read_share(const char *text, double *share, struct xb_error *error)
{
    size_t digits = strspn(text, "0123456789.");
    bool percent = strcmp(text + digits, "%") == 0;
    char *end = NULL;
    double number = strtod(text, &end); /* the program keeps the C locale */
    bool whole = digits > 0 && end == text + digits && (percent || text[digits] == '\0');
    if (whole && !percent && number >= 1 && number < 100)
        return XB_FAIL(error, XB_ERR_USAGE, "for %g %% write %g%% or %g", number, number,
                       number / 100);
    if (whole && !percent && number > LARGEST_PLAIN && number < 1)
        return XB_FAIL(error, XB_ERR_USAGE, "this could mean %g %% or %g %%: write %g%% or %g%%",
                       number, 100 * number, number, 100 * number);
    *share = percent ? number / 100 : number;
    if (!whole || !(*share >= 0 && *share < 1))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.40s\" is not a share from 0 to below 100%%, such as 2%% or 0.02", text);
    return XB_OK;
}

/* A list that is read. */
struct reading {
    double share; /* of everything else */
    bool has_share;
    struct xb_thresholds *thresholds;
};

/* "2%" or "pinned=1%". */
static enum xb_status read_threshold(char *word, void *list, struct xb_error *error)
{
    struct reading *reading = list;
    struct xb_thresholds *thresholds = reading->thresholds;
    char *share = cut(word, '=');
    if (share == NULL && reading->has_share)
        return XB_FAIL(error, XB_ERR_USAGE, "there are two thresholds for everything else");
    if (share == NULL) {
        reading->has_share = true;
        return read_share(word, &reading->share, error);
    }
    struct xb_threshold *item = &thresholds->items[thresholds->count];
    enum xb_status status = read_one(word, &item->cases, error);
    if (status == XB_OK)
        status = read_share(share, &item->share, error);
    thresholds->count += status == XB_OK;
    return status;
}

enum xb_status xb_thresholds_parse(const char *text, double *share,
                                   struct xb_thresholds *thresholds, struct xb_error *error)
{
    size_t most = count_words(text);
    struct reading reading = {.share = *share, .thresholds = thresholds};
    *thresholds = (struct xb_thresholds){.words = strdup(text),
                                         .items = calloc(most, sizeof *thresholds->items)};
    enum xb_status status =
        thresholds->words != NULL && thresholds->items != NULL
            ? read_words(text, thresholds->words, read_threshold, &reading, error)
            : XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu thresholds", most);
    if (status == XB_OK)
        *share = reading.share;
    else
        xb_thresholds_free(thresholds);
    return status;
}

void xb_thresholds_free(struct xb_thresholds *thresholds)
{
    free(thresholds->items);
    free(thresholds->words);
    *thresholds = (struct xb_thresholds){0};
}

double xb_threshold_of(const struct xb_comparison_request *request,
                       const struct xb_compared *compared)
{
    double share = request->threshold;
    struct xb_figure figure = compared->figure;
    figure.gates = true; /* a threshold is for every figure of the cases unless it names one */
    for (size_t i = 0; i < request->thresholds.count; i++)
        if (xb_gate_passes(&request->thresholds.items[i].cases, compared->test, &figure))
            share = request->thresholds.items[i].share;
    return share;
}

enum xb_status xb_thresholds_check(const struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_thresholds *asked = &comparison->request.thresholds;
    for (size_t i = 0; i < asked->count; i++)
        XB_TRY(xb_gate_check_words(comparison, &asked->items[i].cases, "--threshold", error));
    return XB_OK;
}
