/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * How often `fleet` names a GPU of a fleet of equals, and how often it finds slow ones: it judges
 * whole fleets of made-up values like documents. Prints one line per case, the same in every run.
 *
 *     fleet_simulation [FLEETS [CASE...]]    10000 fleets of every case unless told otherwise
 *     fleet_simulation 0 | xargs -P 64 -n 1 fleet_simulation 10000    0 lists the cases
 */
#include "fleet/fleet.h"
#include "tests/unit/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 55.7e9
#define ALPHA 0.01

/* One-sided: the sum of a normal value and an exponential loss of the same variance, as of GPUs of
 * which some are a little warmer. */
enum shape { NORMAL, LOG_NORMAL, LAPLACE, STUDENT_3 = 3, STUDENT_5 = 5, ONE_SIDED };

struct simulated {
    const char *name;
    size_t nodes, gpus, figures;
    double spread;     /* standard deviation of a GPU's value, as a share */
    double node_share; /* the share of its variance that all GPUs of a node have in common */
    enum shape shape;
    double scatter; /* as the documents tell it; NAN: they do not */
    size_t slow;    /* so many nodes' first GPUs ... */
    double loss;    /* ... are slower by this share */
    size_t slots;   /* so many of a node's GPUs, the last ones, ... */
    double less;    /* ... are slower by this share on every node */
};

static const struct simulated cases[] = {
    {"equal-500", 500, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500-2-figures", 500, 1, 2, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500x8", 500, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500x8-2-figures", 500, 8, 2, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-6", 6, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-7", 7, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-8", 8, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-12", 12, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-16", 16, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-48", 48, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-120", 120, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-50", 50, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-5000", 5000, 1, 1, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-1x8-4-figures", 1, 8, 4, 0.003, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-8-spread-2%", 8, 1, 1, 0.02, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500-spread-2%", 500, 1, 1, 0.02, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"log-normal-8-spread-2%", 8, 1, 1, 0.02, 0, LOG_NORMAL, NAN, 0, 0, 0, 0},
    {"log-normal-500-spread-2%", 500, 1, 1, 0.02, 0, LOG_NORMAL, NAN, 0, 0, 0, 0},
    {"equal-8-spread-0.05%", 8, 1, 1, 0.0005, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500-spread-0.05%", 500, 1, 1, 0.0005, 0, NORMAL, NAN, 0, 0, 0, 0},
    {"equal-500-scatter-0.3%", 500, 1, 1, 0.003, 0, NORMAL, 0.003, 0, 0, 0, 0},
    {"nodes-differ-2x8", 2, 8, 1, 0.003, 0.9, NORMAL, NAN, 0, 0, 0, 0},
    {"nodes-differ-3x8", 3, 8, 1, 0.003, 0.9, NORMAL, NAN, 0, 0, 0, 0},
    {"nodes-differ-6x8", 6, 8, 1, 0.003, 0.9, NORMAL, NAN, 0, 0, 0, 0},
    {"nodes-half-differ-6x8", 6, 8, 1, 0.003, 0.5, NORMAL, NAN, 0, 0, 0, 0},
    {"nodes-differ-20x8", 20, 8, 1, 0.003, 0.9, NORMAL, NAN, 0, 0, 0, 0},
    {"nodes-differ-500x8", 500, 8, 1, 0.003, 0.9, NORMAL, NAN, 0, 0, 0, 0},
    {"laplace-8", 8, 1, 1, 0.003, 0, LAPLACE, NAN, 0, 0, 0, 0},
    {"laplace-16", 16, 1, 1, 0.003, 0, LAPLACE, NAN, 0, 0, 0, 0},
    {"laplace-48", 48, 1, 1, 0.003, 0, LAPLACE, NAN, 0, 0, 0, 0},
    {"laplace-120", 120, 1, 1, 0.003, 0, LAPLACE, NAN, 0, 0, 0, 0},
    {"laplace-500", 500, 1, 1, 0.003, 0, LAPLACE, NAN, 0, 0, 0, 0},
    {"student-3-8", 8, 1, 1, 0.003, 0, STUDENT_3, NAN, 0, 0, 0, 0},
    {"student-3-16", 16, 1, 1, 0.003, 0, STUDENT_3, NAN, 0, 0, 0, 0},
    {"student-3-48", 48, 1, 1, 0.003, 0, STUDENT_3, NAN, 0, 0, 0, 0},
    {"student-3-120", 120, 1, 1, 0.003, 0, STUDENT_3, NAN, 0, 0, 0, 0},
    {"student-3-500", 500, 1, 1, 0.003, 0, STUDENT_3, NAN, 0, 0, 0, 0},
    {"student-5-8", 8, 1, 1, 0.003, 0, STUDENT_5, NAN, 0, 0, 0, 0},
    {"student-5-16", 16, 1, 1, 0.003, 0, STUDENT_5, NAN, 0, 0, 0, 0},
    {"student-5-48", 48, 1, 1, 0.003, 0, STUDENT_5, NAN, 0, 0, 0, 0},
    {"student-5-120", 120, 1, 1, 0.003, 0, STUDENT_5, NAN, 0, 0, 0, 0},
    {"student-5-500", 500, 1, 1, 0.003, 0, STUDENT_5, NAN, 0, 0, 0, 0},
    {"one-sided-8", 8, 1, 1, 0.003, 0, ONE_SIDED, NAN, 0, 0, 0, 0},
    {"one-sided-48", 48, 1, 1, 0.003, 0, ONE_SIDED, NAN, 0, 0, 0, 0},
    {"one-sided-120", 120, 1, 1, 0.003, 0, ONE_SIDED, NAN, 0, 0, 0, 0},
    {"one-sided-500", 500, 1, 1, 0.003, 0, ONE_SIDED, NAN, 0, 0, 0, 0},
    {"3-of-500-slower-1%", 500, 1, 1, 0.003, 0, NORMAL, NAN, 3, 0.01, 0, 0},
    {"3-of-500-slower-2%", 500, 1, 1, 0.003, 0, NORMAL, NAN, 3, 0.02, 0, 0},
    {"3-of-500-slower-5%", 500, 1, 1, 0.003, 0, NORMAL, NAN, 3, 0.05, 0, 0},
    {"3-of-500-slower-1%-2-figures", 500, 1, 2, 0.003, 0, NORMAL, NAN, 3, 0.01, 0, 0},
    {"3-of-500-slower-2%-2-figures", 500, 1, 2, 0.003, 0, NORMAL, NAN, 3, 0.02, 0, 0},
    {"3-of-500-slower-5%-2-figures", 500, 1, 2, 0.003, 0, NORMAL, NAN, 3, 0.05, 0, 0},
    {"3-of-500x8-slower-2%", 500, 8, 1, 0.003, 0, NORMAL, NAN, 3, 0.02, 0, 0},
    {"1-of-8-slower-2%", 8, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.02, 0, 0},
    {"1-of-8-slower-5%", 8, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.05, 0, 0},
    {"1-of-8-slower-10%", 8, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.1, 0, 0},
    {"1-of-16-slower-5%", 16, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.05, 0, 0},
    {"1-of-24-slower-3%", 24, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.03, 0, 0},
    {"1-of-48-slower-2%", 48, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.02, 0, 0},
    {"1-of-48-slower-3%", 48, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.03, 0, 0},
    {"1-of-120-slower-2%", 120, 1, 1, 0.003, 0, NORMAL, NAN, 1, 0.02, 0, 0},
    {"50-of-500-slower-5%", 500, 1, 1, 0.003, 0, NORMAL, NAN, 50, 0.05, 0, 0},
    {"slots-differ-500x8", 500, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.04},
    {"slots-differ-40x8", 40, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.04},
    {"slots-differ-6x8", 6, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.04},
    {"one-slot-differs-40x8", 40, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 1, 0.04},
    {"slots-differ-1%-40x8", 40, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.01},
    {"slots-differ-0.2%-40x8", 40, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.002},
    {"slots-differ-0.05%-500x8", 500, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 1, 0.0005},
    {"1-of-6x8-slower-10%-one-slot", 6, 8, 1, 0.003, 0, NORMAL, NAN, 1, 0.1, 1, 0.05},
    {"slots-differ-1%-8x8", 8, 8, 1, 0.003, 0, NORMAL, NAN, 0, 0, 4, 0.01},
    {"3-of-500x8-slower-2%-slots", 500, 8, 1, 0.003, 0, NORMAL, NAN, 3, 0.02, 4, 0.04},
    {"1-of-40x8-slower-5%", 40, 8, 1, 0.003, 0, NORMAL, NAN, 1, 0.05, 0, 0},
    {"1-of-40x8-slower-5%-slots", 40, 8, 1, 0.003, 0, NORMAL, NAN, 1, 0.05, 4, 0.04},
};

/* With a standard deviation of 1. */
static double draw(enum shape shape, uint64_t *state)
{
    if (shape == NORMAL || shape == LOG_NORMAL)
        return normal(state);
    if (shape == LAPLACE) {
        double size = -log(uniform(state)) / sqrt(2);
        return uniform(state) < 0.5 ? -size : size;
    }
    if (shape == ONE_SIDED)
        return (normal(state) + log(uniform(state)) + 1) / sqrt(2);
    double squares = 0;
    double top = normal(state);
    double degrees = shape;
    for (int i = 0; i < (int)shape; i++)
        squares += pow(normal(state), 2);
    return top / sqrt(squares / degrees) / sqrt(degrees / (degrees - 2));
}

/* A fleet whose values have no value yet. */
static void build(const struct simulated *simulated, struct xb_fleet *fleet)
{
    char name[32];
    char address[32];
    xb_fleet_open(fleet);
    for (size_t i = 0; i < simulated->nodes * simulated->gpus; i++) {
        struct xb_fleet_node node = {.name = name};
        struct xb_fleet_gpu gpu = {.index = (unsigned)(i % simulated->gpus), .pci_bdf = address};
        struct xb_fleet_source document = {.path = name, .late_s = NAN, .began = NAN};
        snprintf(name, sizeof name, "n%zu", i / simulated->gpus);
        snprintf(address, sizeof address, "0000:%02x:00.0", gpu.index);
        (void)xb_fleet_add_source(fleet, &document);
        gpu.node = xb_fleet_add_node(fleet, &node);
        struct xb_fleet_value value = {.peer = -1, .scatter = simulated->scatter};
        value.gpu = xb_fleet_add_gpu(fleet, &gpu);
        for (size_t k = 0; k < simulated->figures; k++) {
            snprintf(name, sizeof name, "figure %zu", k);
            struct xb_fleet_figure figure = {.name = name, .unit = "B/s", .more_is_better = true};
            value.figure = xb_fleet_add_figure(fleet, &figure);
            xb_fleet_add_value(fleet, &value);
        }
    }
}

static bool is_slow(const struct simulated *simulated, const struct xb_fleet_gpu *gpu)
{
    return gpu->node->number < simulated->slow && gpu->index == 0;
}

/* Each fleet has its own random numbers, which do not depend on the fleets before it. Judging sorts
 * the values by figure and node, so values of one node lie together. */
static void fill(const struct simulated *simulated, uint64_t number, struct xb_fleet *fleet)
{
    uint64_t state = UINT64_C(0x5EED) + (number << 32);
    double common = 0;
    const struct xb_fleet_node *node = NULL;
    for (size_t i = 0; i < fleet->value_count; i++) {
        struct xb_fleet_value *value = &fleet->values[i];
        if (value->gpu->node != node) {
            node = value->gpu->node;
            common = draw(simulated->shape, &state);
        }
        double own = draw(simulated->shape, &state);
        double share = simulated->node_share;
        double off = share > 0 ? sqrt(share) * common + sqrt(1 - share) * own : own;
        double loss = is_slow(simulated, value->gpu) ? simulated->loss : 0;
        if (value->gpu->index >= simulated->gpus - simulated->slots)
            loss += simulated->less;
        if (simulated->shape == LOG_NORMAL)
            value->value = RATE * exp(simulated->spread * off) * (1 - loss);
        else
            value->value = RATE * (1 + simulated->spread * off - loss);
    }
}

struct outcome {
    size_t alarms;        /* fleets in which an equal GPU was named */
    size_t found;         /* slow GPUs */
    size_t all;           /* fleets in which all slow GPUs were found */
    size_t named, spoken; /* equal GPUs' values that were named; fleets with notes */
};

static void judge(const struct simulated *simulated, struct xb_fleet *fleet,
                  struct outcome *outcome)
{
    struct xb_fleet_request request = {.alpha = ALPHA};
    struct xb_fleet_judgement judgement;
    bool found[64] = {false};
    size_t named = 0;
    size_t all = 0;
    xb_fleet_judge(fleet, &request, &judgement);
    for (size_t i = 0; i < judgement.finding_count; i++) {
        const struct xb_fleet_gpu *gpu = judgement.findings[i].gpu;
        if (is_slow(simulated, gpu) && judgement.findings[i].code == XB_FLEET_SLOW)
            found[gpu->node->number] = true;
        else
            named++;
    }
    for (size_t i = 0; i < simulated->slow; i++)
        all += found[i];
    outcome->alarms += named > 0;
    outcome->named += named;
    outcome->found += all;
    outcome->all += all == simulated->slow;
    outcome->spoken += judgement.note_count > 0;
    xb_fleet_judgement_free(&judgement);
}

/* Wilson, Journal of the American Statistical Association 22, 1927: 95 %. */
static void print_share(size_t count, size_t of)
{
    double n = (double)of;
    double p = (double)count / n;
    double z = 1.959964;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    printf(" %8.3f [%.3f, %.3f]", 100 * p, 100 * fmax(middle - half, 0),
           100 * fmin(middle + half, 1));
}

static void simulate(const struct simulated *simulated, size_t fleets)
{
    struct xb_fleet fleet;
    struct outcome outcome = {.alarms = 0};
    build(simulated, &fleet);
    for (size_t i = 0; i < fleets; i++) {
        fill(simulated, i, &fleet);
        judge(simulated, &fleet, &outcome);
    }
    printf("%-30s", simulated->name);
    print_share(outcome.alarms, fleets);
    printf("  %zu values, notes in %zu", outcome.named, outcome.spoken);
    if (simulated->slow > 0) {
        printf("; found each");
        print_share(outcome.found, fleets * simulated->slow);
        printf(" all");
        print_share(outcome.all, fleets);
    }
    printf("\n");
    fflush(stdout);
    xb_fleet_free(&fleet);
}

/* Two fleets of equal GPUs, one the baseline of the other, which has lost something everywhere. */
static const struct past {
    const char *name;
    size_t nodes, gpus;
    double spread, loss;
} pasts[] = {
    {"baseline-60x8", 60, 8, 0.003, 0},
    {"baseline-60x8-spread-5%", 60, 8, 0.05, 0},
    {"baseline-3x8", 3, 8, 0.003, 0},
    {"baseline-12-spread-3%", 12, 1, 0.03, 0},
    {"baseline-60x8-slower-1%", 60, 8, 0.003, 0.01},
    {"baseline-60x8-slower-1.5%", 60, 8, 0.003, 0.015},
    {"baseline-60x8-slower-2.5%", 60, 8, 0.003, 0.025},
    {"baseline-60x8-slower-5%", 60, 8, 0.003, 0.05},
    {"baseline-9-slower-5%", 9, 1, 0.003, 0.05},
};

static void simulate_past(const struct past *past, size_t fleets)
{
    const struct simulated like = {.name = past->name,
                                   .nodes = past->nodes,
                                   .gpus = past->gpus,
                                   .figures = 3,
                                   .spread = past->spread,
                                   .scatter = NAN};
    size_t slower = 0;
    size_t alarms = 0;
    struct xb_fleet then;
    struct xb_fleet now;
    build(&like, &then);
    build(&like, &now);
    for (size_t i = 0; i < fleets; i++) {
        struct xb_fleet_request request = {.alpha = ALPHA, .baseline = &then};
        struct xb_fleet_judgement judgement;
        bool named[XB_FLEET_CODES] = {false};
        fill(&like, 2 * i, &then);
        fill(&like, 2 * i + 1, &now);
        for (size_t k = 0; k < now.value_count; k++)
            now.values[k].value *= 1 - past->loss;
        xb_fleet_judge(&now, &request, &judgement);
        for (size_t k = 0; k < judgement.finding_count; k++)
            named[judgement.findings[k].code] = true;
        slower += named[XB_FLEET_ALL_SLOWER];
        alarms += named[XB_FLEET_BELOW_BASELINE];
        xb_fleet_judgement_free(&judgement);
    }
    printf("%-30s", past->name);
    print_share(alarms, fleets);
    printf("  all slower");
    print_share(slower, fleets);
    printf("\n");
    fflush(stdout);
    xb_fleet_free(&then);
    xb_fleet_free(&now);
}

int main(int argc, char **argv)
{
    const size_t past_count = sizeof pasts / sizeof *pasts;
    size_t count = sizeof cases / sizeof *cases;
    size_t fleets = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    if (argc <= 2 && fleets > 0)
        printf("# %zu fleets a case, alpha %g. Percent [95 %% interval] of fleets in which a GPU "
               "that is like the others was named.\n",
               fleets, ALPHA);
    bool any = fleets == 0;
    for (size_t i = 0; i < count + past_count; i++) {
        const char *name = i < count ? cases[i].name : pasts[i - count].name;
        bool wanted = argc <= 2;
        for (int k = 2; k < argc; k++)
            wanted = wanted || strcmp(argv[k], name) == 0;
        any = any || wanted;
        if (fleets == 0)
            printf("%s\n", name);
        else if (wanted && i < count)
            simulate(&cases[i], fleets);
        else if (wanted)
            simulate_past(&pasts[i - count], fleets);
    }
    if (!any)
        fprintf(stderr, "no case of that name: fleet_simulation 0 lists them\n");
    return any ? EXIT_SUCCESS : EXIT_FAILURE;
}
