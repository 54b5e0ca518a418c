/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "natural.h"
#include "order.h"

#include "base/arena.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct xb_fleet_finding xb_fleet_plain_finding(enum xb_fleet_code code, const char *node,
                                               size_t gpu)
{
    return (struct xb_fleet_finding){.code = code,
                                     .node = node,
                                     .gpu = gpu,
                                     .peer = -1,
                                     .figure = XB_FLEET_NONE,
                                     .value = NAN,
                                     .centre = NAN,
                                     .deviation = NAN,
                                     .spreads = NAN,
                                     .p = NAN};
}

enum xb_status xb_fleet_add_finding(struct xb_judging *judging,
                                    const struct xb_fleet_finding *finding, struct xb_error *error,
                                    const char *format, ...)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (judgement->finding_count == judging->finding_capacity) {
        size_t capacity = judging->finding_capacity == 0 ? 16 : 2 * judging->finding_capacity;
        struct xb_fleet_finding *grown = realloc(judgement->findings, capacity * sizeof *grown);
        if (grown == NULL)
            return xb_fleet_no_memory(error);
        judgement->findings = grown;
        judging->finding_capacity = capacity;
    }
    const char *kept = xb_arena_print(&judgement->texts, "%s", text);
    if (kept == NULL)
        return xb_fleet_no_memory(error);
    struct xb_fleet_finding *added = &judgement->findings[judgement->finding_count++];
    *added = *finding;
    added->text = kept;
    return XB_OK;
}

/* A finding with what it is sorted by. */
struct ranked {
    struct xb_fleet_finding finding;
    double size;  /* of its deviation, half as much as far as twice as much; 0 for none */
    double worst; /* that of its GPU's findings of the same code */
    unsigned gpu; /* index in its node */
    const char *figure;
};

/* The worst first. What many have together comes behind what single ones have, which is where a
 * fault is likelier. */
static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    return XB_FIRST_ORDER(
        XB_ORDER(a->finding.code, b->finding.code), a->finding.together - b->finding.together,
        XB_ORDER(b->worst, a->worst), xb_natural_compare(a->finding.node, b->finding.node),
        XB_ORDER(a->gpu, b->gpu), XB_ORDER(a->finding.gpu, b->finding.gpu),
        XB_ORDER(b->size, a->size), xb_natural_compare(a->figure, b->figure),
        XB_ORDER(a->finding.figure, b->finding.figure), XB_ORDER(a->finding.peer, b->finding.peer));
}

/* Of slow and of fast GPUs. `worst` has two places a GPU. */
static double *worst_of(double *worst, const struct xb_fleet_finding *finding)
{
    return &worst[2 * finding->gpu + (finding->code == XB_FLEET_FAST)];
}

static double size_of(const struct xb_fleet_finding *finding)
{
    return isnan(finding->deviation) ? 0 : fabs(log(finding->value) - log(finding->centre));
}

static struct ranked rank(const struct xb_fleet *fleet, const struct xb_fleet_finding *finding,
                          double *worst)
{
    struct ranked ranked = {.finding = *finding, .size = size_of(finding)};
    if (finding->gpu != XB_FLEET_NONE)
        ranked.gpu = fleet->gpus[finding->gpu].index;
    if (finding->figure != XB_FLEET_NONE) {
        ranked.figure = fleet->figures[finding->figure].name;
        ranked.worst = *worst_of(worst, finding);
    }
    return ranked;
}

enum xb_status xb_fleet_sort_findings(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    const struct xb_fleet *fleet = judging->fleet;
    double *worst = calloc(2 * fleet->gpu_count + 1, sizeof *worst);
    struct ranked *ranked = calloc(judgement->finding_count + 1, sizeof *ranked);
    if (worst != NULL && ranked != NULL) {
        for (size_t i = 0; i < judgement->finding_count; i++) {
            const struct xb_fleet_finding *finding = &judgement->findings[i];
            if (finding->figure != XB_FLEET_NONE)
                *worst_of(worst, finding) = fmax(*worst_of(worst, finding), size_of(finding));
        }
        for (size_t i = 0; i < judgement->finding_count; i++)
            ranked[i] = rank(fleet, &judgement->findings[i], worst);
        qsort(ranked, judgement->finding_count, sizeof *ranked, compare_ranked);
        for (size_t i = 0; i < judgement->finding_count; i++)
            judgement->findings[i] = ranked[i].finding;
    }
    bool done = worst != NULL && ranked != NULL;
    free(worst);
    free(ranked);
    return done ? XB_OK : xb_fleet_no_memory(error);
}
