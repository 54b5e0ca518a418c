/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"
#include "order.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdlib.h>

struct named_siblings {
    struct xb_fleet_siblings siblings;
    const struct xb_fleet_figure *figure;
};

static int compare_siblings(const void *left, const void *right)
{
    const struct named_siblings *a = left, *b = right;
    const char *const texts[][2] = {
        {a->figure->name, b->figure->name},     {a->figure->model, b->figure->model},
        {a->figure->link, b->figure->link},     {a->figure->backend, b->figure->backend},
        {a->figure->driver, b->figure->driver}, {a->figure->options, b->figure->options},
    };
    int order = b->siblings.judged - a->siblings.judged;
    for (size_t i = 0; order == 0 && i < sizeof texts / sizeof *texts; i++)
        order = xb_natural_compare(texts[i][0], texts[i][1]);
    return order != 0 ? order : XB_ORDER(a->siblings.figure, b->siblings.figure);
}

static enum xb_status sort_siblings(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    if (judgement->sibling_count == 0)
        return XB_OK;
    struct named_siblings *sorted = malloc(judgement->sibling_count * sizeof *sorted);
    if (sorted == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < judgement->sibling_count; i++)
        sorted[i] = (struct named_siblings){
            judgement->siblings[i], &judging->fleet->figures[judgement->siblings[i].figure]};
    qsort(sorted, judgement->sibling_count, sizeof *sorted, compare_siblings);
    for (size_t i = 0; i < judgement->sibling_count; i++)
        judgement->siblings[i] = sorted[i].siblings;
    free(sorted);
    return XB_OK;
}

/* What was judged with more caution, and what could not be. */
static enum xb_status note_left_out(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet_judgement *judgement = judging->judgement;
    size_t wide = 0;
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < judgement->sibling_count; i++)
        wide += judgement->siblings[i].wide > 0;
    if (wide > 0)
        status = xb_fleet_add_note(judging, error,
                                   "Figures with longer tails on both sides than a normal "
                                   "distribution: %zu. There a GPU must deviate more to be named.",
                                   wide);
    if (status == XB_OK && judging->unusable > 0)
        status = xb_fleet_add_note(judging, error,
                                   "%zu values are not judged: they are not positive numbers.",
                                   judging->unusable);
    return status;
}

static enum xb_status judge(struct xb_judging *judging, struct xb_error *error)
{
    static enum xb_status (*const parts[])(struct xb_judging *, struct xb_error *) = {
        xb_fleet_join_moved,
        xb_fleet_name_complaints,
        xb_fleet_take_newest,
        xb_fleet_shift_slots,
        xb_fleet_gather_siblings,
        xb_fleet_name_outliers,
        xb_fleet_note_more,
        sort_siblings,
        note_left_out,
        xb_fleet_note_lacking,
        xb_fleet_name_missing,
        xb_fleet_name_fewer_gpus,
        xb_fleet_name_narrower,
        xb_fleet_name_narrower_pairs,
        xb_fleet_name_drivers,
        xb_fleet_note_start,
        xb_fleet_sort_findings,
    };
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < sizeof parts / sizeof *parts; i++)
        status = parts[i](judging, error);
    return status;
}

enum xb_status xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                              struct xb_fleet_judgement *judgement, struct xb_error *error)
{
    struct xb_judging judging = {.fleet = fleet, .judgement = judgement};
    *judgement = (struct xb_fleet_judgement){.fleet = fleet, .request = *request};
    locale_t before = xb_plain_locale_enter();
    enum xb_status status = judge(&judging, error);
    xb_plain_locale_leave(before);
    free(judging.tested);
    if (status != XB_OK)
        xb_fleet_judgement_free(judgement);
    return status;
}

void xb_fleet_judgement_free(struct xb_fleet_judgement *judgement)
{
    free(judgement->findings);
    free(judgement->siblings);
    free(judgement->notes);
    xb_arena_free(judgement->texts);
    *judgement = (struct xb_fleet_judgement){.fleet = NULL};
}
