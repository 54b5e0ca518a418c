/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of judging, and the order of what was found. */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>

/* How far it deviates: half as much is as far as twice as much; 0 for none. */
static double size_of(const struct xb_fleet_finding *finding)
{
    return isnan(finding->deviation) ? 0 : fabs(log(finding->value) - log(finding->centre));
}

/* The worst first. What many have together comes behind what single ones have, which is where a
 * fault is likelier. */
#define BY_GPU(member) XB_ORDER(xb_fleet_gpu_of(a)->member, xb_fleet_gpu_of(b)->member)
XB_COMPARER(compare_findings, struct xb_fleet_finding, XB_BY(code), XB_BY(together),
            XB_BY_GREATEST(worst), XB_BY_NAME(node->name), BY_GPU(index), BY_GPU(number),
            XB_ORDER(size_of(b), size_of(a)),
            xb_natural_compare(xb_fleet_figure_of(a)->name, xb_fleet_figure_of(b)->name),
            XB_ORDER(xb_fleet_figure_of(a)->number, xb_fleet_figure_of(b)->number), XB_BY(peer))

static void sort_findings(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    double(*worst)[XB_FLEET_CODES] = XB_SCRATCH(judging, judging->fleet->gpu_count, sizeof *worst);
    if (judgement->finding_count == 0)
        return;
    for (int pass = 0; pass < 2; pass++) /* the second one has seen all */
        XB_EACH (finding, judgement->findings, judgement->finding_count) {
            if (finding->figure == NULL || finding->gpu == NULL)
                continue;
            double *own = &worst[finding->gpu->number][finding->code];
            finding->worst = *own = fmax(*own, size_of(finding));
        }
    qsort(judgement->findings, judgement->finding_count, sizeof *judgement->findings,
          compare_findings);
}

/* ---- all of it ---- */

XB_COMPARER(compare_siblings, struct xb_fleet_siblings, XB_BY_GREATEST(judged),
            XB_BY_NAME(figure->name), XB_BY_NAME(figure->model), XB_BY_NAME(figure->link),
            XB_BY_NAME(figure->backend), XB_BY_NAME(figure->driver), XB_BY_NAME(figure->options),
            XB_BY(figure->number))

/* Notes what was judged with more caution, and what could not be. */
static void sort_siblings(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    size_t long_tails = 0;
    qsort(judgement->siblings, judgement->sibling_count, sizeof *judgement->siblings,
          compare_siblings);
    for (size_t i = 0; i < judgement->sibling_count; i++)
        long_tails += judgement->siblings[i].long_tails;
    if (long_tails > 0)
        XB_NOTE("Figures with longer tails on both sides than a normal distribution: "
                "%zu. There a GPU must deviate more to be named.",
                long_tails);
    size_t limited = judging->fleet->limited_count, others = judging->fleet->unlimited_count;
    if (judging->fleet->limits != NULL && (others > 0 || limited == 0))
        XB_NOTE("%zu of %zu GPUs match no entry of the limits file: the verdict of their own link "
                "test holds. --limits judges link tests only.",
                others, limited + others);
    if (judging->unusable > 0)
        XB_NOTE("%zu values are not judged: they are not positive numbers.", judging->unusable);
}

void xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                    struct xb_fleet_judgement *judgement)
{
    static xb_fleet_part *const parts[] = {xb_fleet_join_moved,    xb_fleet_name_complaints,
                                           xb_fleet_take_newest,   xb_fleet_gather_siblings,
                                           xb_fleet_name_outliers, xb_fleet_compare_baseline,
                                           sort_siblings,          xb_fleet_note_lacking,
                                           xb_fleet_name_missing,  xb_fleet_name_unlike_most,
                                           xb_fleet_note_start,    sort_findings};
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
