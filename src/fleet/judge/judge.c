/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "fleet/internal.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- majorities ---- */

static int compare_what(const struct xb_vote *left, const struct xb_vote *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->number, right->number),
                          xb_natural_compare(left->text, right->text));
}

static int compare_votes(const void *left, const void *right)
{
    const struct xb_vote *a = left, *b = right;
    return XB_FIRST_ORDER(xb_natural_compare(a->group, b->group), compare_what(a, b),
                          XB_ORDER(a->item, b->item));
}

void xb_votes_sort(struct xb_vote *votes, size_t count)
{
    qsort(votes, count, sizeof *votes, compare_votes);
}

bool xb_votes_next(const struct xb_vote *votes, size_t count, struct xb_majority *most)
{
    size_t begin = most->end;
    *most = (struct xb_majority){.begin = begin, .end = begin};
    while (most->end < count &&
           xb_natural_compare(votes[most->end].group, votes[begin].group) == 0) {
        size_t first = most->end;
        size_t last = first;
        while (last < count && xb_natural_compare(votes[last].group, votes[begin].group) == 0 &&
               compare_what(&votes[last], &votes[first]) == 0)
            last++;
        if (last - first > most->last - most->first) {
            most->first = first;
            most->last = last;
        }
        most->end = last;
    }
    most->judged = most->end - begin > XB_FLEET_SIBLINGS;
    most->found = 2 * (most->last - most->first) > most->end - begin;
    return most->end > begin;
}

/* ---- nodes ---- */

struct xb_node_tally xb_node_tally_open(struct xb_judging *judging)
{
    size_t *rounds = XB_SCRATCH(judging, judging->fleet->node_count, sizeof *rounds);
    return (struct xb_node_tally){.rounds = rounds, .round = 1};
}

void xb_node_tally_begin(struct xb_node_tally *tally)
{
    tally->round++;
    tally->count = 0;
}

void xb_node_tally_add(struct xb_node_tally *tally, size_t node)
{
    tally->count += tally->rounds[node] != tally->round;
    tally->rounds[node] = tally->round;
}

/* ---- all of it ---- */

static int compare_siblings(const void *left, const void *right, void *figures)
{
    const struct xb_fleet_siblings *a = left, *b = right;
    const struct xb_fleet_figure *one = (const struct xb_fleet_figure *)figures + a->figure;
    const struct xb_fleet_figure *other = (const struct xb_fleet_figure *)figures + b->figure;
    return XB_FIRST_ORDER(
        b->judged - a->judged, xb_natural_compare(one->name, other->name),
        xb_natural_compare(one->model, other->model), xb_natural_compare(one->link, other->link),
        xb_natural_compare(one->backend, other->backend),
        xb_natural_compare(one->driver, other->driver),
        xb_natural_compare(one->options, other->options), XB_ORDER(a->figure, b->figure));
}

static void sort_siblings(struct xb_judging *judging)
{
    qsort_r(judging->judgement->siblings, judging->judgement->sibling_count,
            sizeof *judging->judgement->siblings, compare_siblings, judging->fleet->figures);
}

/* What was judged with more caution, and what could not be. */
static void note_left_out(struct xb_judging *judging)
{
    const struct xb_fleet_judgement *judgement = judging->judgement;
    size_t wide = 0;
    for (size_t i = 0; i < judgement->sibling_count; i++)
        wide += judgement->siblings[i].wide > 0;
    if (wide > 0)
        xb_fleet_add_note(judging,
                          "Figures with longer tails on both sides than a normal distribution: "
                          "%zu. There a GPU must deviate more to be named.",
                          wide);
    if (judging->unusable > 0)
        xb_fleet_add_note(judging, "%zu values are not judged: they are not positive numbers.",
                          judging->unusable);
}

void xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                    struct xb_fleet_judgement *judgement)
{
    static xb_fleet_part *const parts[] = {
        xb_fleet_join_moved,
        xb_fleet_name_complaints,
        xb_fleet_take_newest,
        xb_fleet_shift_slots,
        xb_fleet_gather_siblings,
        xb_fleet_name_outliers,
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
    struct xb_judging judging = {.fleet = fleet, .judgement = judgement};
    *judgement = (struct xb_fleet_judgement){.fleet = fleet, .request = *request};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](&judging);
        xb_arena_free(judging.scratch);
        judging.scratch = NULL;
    }
    free(judging.tested);
}

void xb_fleet_judgement_free(struct xb_fleet_judgement *judgement)
{
    free(judgement->findings);
    free(judgement->siblings);
    free(judgement->notes);
    xb_arena_free(judgement->texts);
    *judgement = (struct xb_fleet_judgement){.fleet = NULL};
}

/* ---- order ---- */

int xb_natural_compare(const char *left, const char *right)
{
    static const char digits[] = "0123456789";
    if (left == NULL || right == NULL)
        return (left != NULL) - (right != NULL);
    const char *a = left, *b = right;
    while (*a != '\0' && *b != '\0') {
        if (strspn(a, digits) == 0 || strspn(b, digits) == 0) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
            continue;
        }
        /* Numbers of any length: without leading zeros the longer one is larger. */
        a += strspn(a, "0");
        b += strspn(b, "0");
        size_t length = strspn(a, digits), other = strspn(b, digits);
        int order =
            XB_FIRST_ORDER(XB_ORDER(length, other), memcmp(a, b, length < other ? length : other));
        if (order != 0)
            return order;
        a += length;
        b += length;
    }
    if (*a != *b)
        return *a == '\0' ? -1 : 1;
    return strcmp(left, right); /* "n1" and "n01" are two names */
}
