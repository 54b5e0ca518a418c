/* SPDX-License-Identifier: Apache-2.0 */
/* How much worse is a regression, case by case. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

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

/* One word of the list, which it cuts up: "2%" or "pinned=1%". */
static enum xb_status read_word(char *word, double *share, bool *has_share,
                                struct xb_thresholds *thresholds, struct xb_error *error)
{
    char *equals = strchr(word, '=');
    if (equals == NULL && *has_share)
        return XB_FAIL(error, XB_ERR_USAGE, "there are two thresholds for everything else");
    if (equals == NULL) {
        *has_share = true;
        return read_share(word, share, error);
    }
    *equals = '\0';
    struct xb_threshold *item = &thresholds->items[thresholds->count];
    enum xb_status status = xb_gate_read(word, &item->cases, error);
    if (status == XB_OK)
        status = read_share(equals + 1, &item->share, error);
    thresholds->count += status == XB_OK;
    return status;
}

enum xb_status xb_thresholds_parse(const char *text, double *share,
                                   struct xb_thresholds *thresholds, struct xb_error *error)
{
    size_t most = 1;
    bool has_share = false;
    struct xb_error cause;
    enum xb_status status = XB_OK;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',';
    *thresholds = (struct xb_thresholds){.words = strdup(text),
                                         .items = calloc(most, sizeof *thresholds->items)};
    if (thresholds->words == NULL || thresholds->items == NULL) {
        xb_thresholds_free(thresholds);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu thresholds", most);
    }
    for (char *next = thresholds->words; next != NULL && status == XB_OK;) {
        char *word = next;
        next = strchr(word, ',');
        if (next != NULL)
            *next++ = '\0';
        status = read_word(word, share, &has_share, thresholds, &cause);
    }
    if (status == XB_OK)
        return XB_OK;
    xb_thresholds_free(thresholds);
    return XB_FAIL(error, status, "\"%.80s\": %.400s", text, cause.message);
}

void xb_thresholds_free(struct xb_thresholds *thresholds)
{
    free(thresholds->items);
    free(thresholds->words);
    *thresholds = (struct xb_thresholds){0};
}

/* A threshold is for every figure of the cases unless it names one. */
static bool takes(const struct xb_gate *cases, const struct xb_compared *compared)
{
    struct xb_figure figure = compared->figure;
    figure.gates = true;
    return xb_gate_passes(cases, compared->test, &figure);
}

double xb_threshold_of(const struct xb_comparison_request *request,
                       const struct xb_compared *compared)
{
    double share = request->threshold;
    for (size_t i = 0; i < request->thresholds.count; i++)
        if (takes(&request->thresholds.items[i].cases, compared))
            share = request->thresholds.items[i].share;
    return share;
}

enum xb_status xb_thresholds_check(const struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_thresholds *asked = &comparison->request.thresholds;
    for (size_t i = 0; i < asked->count; i++) {
        enum xb_status status =
            xb_gate_check_words(comparison, &asked->items[i].cases, "--threshold", error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}
