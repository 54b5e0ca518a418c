/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "majority.h"
#include "node_tally.h"

#include "base/arena.h"
#include "machine/pcie.h"

#include <stdlib.h>

/*
 * A GPU is compared with those of its model in the same slot of other nodes, because a slot may
 * have fewer lanes by design; where these are too few or do not agree, with all of its model.
 */

/* The link under load of most of those GPUs. */
struct usual {
    double speed_gts, width; /* 0: no majority, or too few */
    size_t alike;            /* GPUs that were compared */
};

static double vote_of(const struct xb_fleet_gpu *gpu, bool of_width)
{
    return of_width ? gpu->link_width : gpu->link_speed_gts;
}

static bool is_known(const struct xb_fleet_gpu *gpu)
{
    return gpu->link_width > 0 && gpu->link_speed_gts > 0;
}

static enum xb_status note_no_majority(struct xb_judging *judging, const struct xb_vote *votes,
                                       const struct xb_majority *most, bool of_width,
                                       struct xb_error *error)
{
    const char *model = votes[most->begin].group;
    return xb_fleet_add_note(judging, error,
                             "%.100s: links differ and no majority tells which is right: at most "
                             "%zu of %zu GPUs have the same %s under load (%s%g%s).",
                             model != NULL ? model : "GPUs", most->last - most->first,
                             most->end - most->begin, of_width ? "width" : "rate",
                             of_width ? "x" : "", votes[most->first].number,
                             of_width ? "" : " GT/s");
}

/* Fills in the width or the rate that most GPUs in a slot have, or in all. */
static enum xb_status count_votes(struct xb_judging *judging, bool of_width,
                                  const char *const *slots, struct xb_vote *votes,
                                  struct usual *usual, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    enum xb_status status = XB_OK;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (is_known(&fleet->gpus[i]) && (slots == NULL || slots[i] != NULL))
            votes[count++] =
                (struct xb_vote){.group = slots != NULL ? slots[i] : fleet->gpus[i].model,
                                 .number = vote_of(&fleet->gpus[i], of_width),
                                 .item = i};
    xb_votes_sort(votes, count);
    for (size_t begin = 0; status == XB_OK && begin < count;) {
        struct xb_majority most = xb_votes_count(votes, count, begin);
        size_t untold = 0;
        for (size_t i = begin; i < most.end; i++) {
            struct usual *own = &usual[votes[i].item];
            double *number = of_width ? &own->width : &own->speed_gts;
            if (*number > 0) /* by its slot */
                continue;
            untold++;
            if (!most.judged || !most.found)
                continue;
            *number = votes[most.first].number;
            own->alike = most.end - begin;
        }
        if (slots == NULL && untold > 0 && most.judged && !most.found)
            status = note_no_majority(judging, votes, &most, of_width, error);
        begin = most.end;
    }
    return status;
}

static bool is_narrower(const struct xb_fleet_gpu *gpu, const struct usual *usual)
{
    return is_known(gpu) &&
           (gpu->link_width < usual->width || gpu->link_speed_gts < usual->speed_gts);
}

static enum xb_status name(struct xb_judging *judging, size_t gpu, const struct usual *usual,
                           bool together, struct xb_error *error)
{
    const struct xb_fleet_gpu *of = &judging->fleet->gpus[gpu];
    struct xb_fleet_finding finding =
        xb_fleet_plain_finding(XB_FLEET_NARROWER, judging->fleet->nodes[of->node].name, gpu);
    /* If only width or rate has a majority, the text takes the other from this GPU's own link. */
    double speed = usual->speed_gts > 0 ? usual->speed_gts : of->link_speed_gts;
    double width = usual->width > 0 ? usual->width : of->link_width;
    char own[32];
    char most[32];
    finding.together = together;
    return xb_fleet_add_finding(
        judging, &finding, error, "link %s under load; most of its %zu siblings have %s",
        xb_lanes_text(of->link_speed_gts, of->link_width, own, sizeof own), usual->alike - 1,
        xb_lanes_text(speed, (unsigned)width, most, sizeof most));
}

/* Whether so many nodes have narrower GPUs of the model that it is no coincidence. */
static bool is_together(const struct xb_fleet *fleet, const struct xb_vote *votes, size_t count,
                        const struct usual *usual, struct xb_node_tally *tally)
{
    xb_node_tally_begin(tally);
    for (size_t i = 0; i < count; i++)
        if (is_narrower(&fleet->gpus[votes[i].item], &usual[votes[i].item]))
            xb_node_tally_add(tally, fleet->gpus[votes[i].item].node);
    size_t narrower = tally->count;
    xb_node_tally_begin(tally);
    for (size_t i = 0; i < count; i++)
        xb_node_tally_add(tally, fleet->gpus[votes[i].item].node);
    return xb_fleet_is_together(narrower, tally->count);
}

/* Those of one group of `votes`: GPUs of one model. */
static enum xb_status name_of_model(struct xb_judging *judging, const struct xb_vote *votes,
                                    size_t count, const struct usual *usual,
                                    struct xb_node_tally *tally, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    bool together = is_together(fleet, votes, count, usual, tally);
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < count; i++) {
        size_t gpu = votes[i].item;
        if (is_narrower(&fleet->gpus[gpu], &usual[gpu]))
            status = name(judging, gpu, &usual[gpu], together, error);
    }
    return status;
}

/* Of each GPU its model and slot, in the judgement's memory; NULL where the slot is not known.
 * Returns NULL without memory. */
static const char **list_slots(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char **slots = calloc(fleet->gpu_count + 1, sizeof *slots);
    for (size_t i = 0; slots != NULL && i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = &fleet->gpus[i];
        if (gpu->pci_bdf == NULL)
            continue;
        slots[i] = xb_arena_print(&judging->judgement->texts, "%s %s", gpu->pci_bdf,
                                  gpu->model != NULL ? gpu->model : "");
        if (slots[i] == NULL) {
            free(slots);
            return NULL;
        }
    }
    return slots;
}

/* Leaves the votes sorted by model. */
static enum xb_status find_usual(struct xb_judging *judging, const char *const *slots,
                                 struct xb_vote *votes, struct usual *usual, struct xb_error *error)
{
    const struct {
        bool of_width;
        const char *const *slots;
    } rounds[] = {{false, slots}, {true, slots}, {false, NULL}, {true, NULL}};
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < sizeof rounds / sizeof *rounds; i++)
        status = count_votes(judging, rounds[i].of_width, rounds[i].slots, votes, usual, error);
    return status;
}

enum xb_status xb_fleet_name_narrower(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_vote *votes = calloc(fleet->gpu_count + 1, sizeof *votes);
    struct usual *usual = calloc(fleet->gpu_count + 1, sizeof *usual);
    const char **slots = list_slots(judging);
    struct xb_node_tally tally;
    enum xb_status status = xb_node_tally_open(&tally, fleet, error);
    if (status == XB_OK && (votes == NULL || usual == NULL || slots == NULL))
        status = xb_fleet_no_memory(error);
    if (status == XB_OK)
        status = find_usual(judging, slots, votes, usual, error);
    size_t count = 0;
    for (size_t i = 0; status == XB_OK && i < fleet->gpu_count; i++)
        count += is_known(&fleet->gpus[i]);
    for (size_t begin = 0; status == XB_OK && begin < count;) {
        struct xb_majority most = xb_votes_count(votes, count, begin);
        status = name_of_model(judging, votes + begin, most.end - begin, usual, &tally, error);
        begin = most.end;
    }
    xb_node_tally_close(&tally);
    free(votes);
    free(usual);
    free(slots);
    return status;
}
