/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading what a single copy of pinned memory depends on: what its queue copied before,
 * how the GPU's memory is made, which call copies, and whether data begins on a boundary. The last
 * also of other modes. */
#include "modes/shared_options.h"
#include "readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A loss of less than this is none, however narrow the intervals: they do not hold what a machine
 * drifts by from case to case. On an H200 pinned copies were 0.6 % apart so. Where the intervals
 * allow more than this, nobody knows whether there is a loss. To be faster off a boundary is luck.
 */
#define VISIBLE 0.02

/* A range that doubles has 21 offsets at most. More come from no sweep. */
#define MOST_OFFSETS 32

enum found { COSTS, NOTHING, UNKNOWN };

/* What is known of an offset, from all cases that have it. */
struct offset {
    uint64_t bytes;
    double cost; /* the largest share that is certainly lost and visible; 0 where none is */
    double most; /* where none is: the most that the intervals allow */
    const struct xb_record_case *test; /* which has that cost */
};

/* What is known of one side. */
struct side {
    const struct xb_option *option;
    const char *name;                    /* "Host buffers" */
    const char *cost, *most;             /* numbers of the line */
    struct offset offsets[MOST_OFFSETS]; /* in their order */
    size_t count;
};

static enum found found_of(const struct offset *offset)
{
    return offset->test != NULL ? COSTS : offset->most <= VISIBLE ? NOTHING : UNKNOWN;
}

static bool describe(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *figure, struct xb_statistics *statistics)
{
    return xb_record_describe(xb_reading_record(reading), test, figure->name, statistics) &&
           statistics->has_interval;
}

/* Finds what cases of that mode lose against their twins that begin on the boundary. A difference
 * is certain where the intervals do not meet. */
static void collect(struct xb_reading *reading, struct side *side, int device, uint64_t bytes,
                    const char *mode)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_cases sized = xb_record_of_size(record, bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        struct xb_statistics on, off;
        size_t place = 0;
        /* 0 in a file from before there was the option */
        uint64_t distance = strtoull(xb_record_parameter(test, side->option->name), NULL, 10);
        if (test->device != device || strcmp(test->mode, mode) != 0 || test->simultaneous ||
            distance == 0 || !xb_reading_usable(reading, test))
            continue;
        const struct xb_record_case *base = xb_find_twin(record, test, side->option->name, "0");
        if (base == NULL || !xb_reading_usable(reading, base) ||
            !describe(reading, base, &xb_figure_bandwidth, &on) ||
            !describe(reading, test, &xb_figure_bandwidth, &off) || !(on.ci95_low > 0))
            continue;
        while (place < side->count && side->offsets[place].bytes < distance)
            place++;
        struct offset *offset = &side->offsets[place];
        if (place == side->count || offset->bytes != distance) {
            if (side->count == MOST_OFFSETS)
                continue;
            memmove(offset + 1, offset, (side->count++ - place) * sizeof *offset);
            *offset = (struct offset){.bytes = distance};
        }
        xb_reading_phrase(reading, "{case}{case}", base, test);
        double cost = 1 - off.median / on.median;
        if (1 - off.ci95_high / on.ci95_low <= 0 || cost < VISIBLE) {
            offset->most = fmax(offset->most, 1 - off.ci95_low / on.ci95_high);
        } else if (cost > offset->cost) {
            offset->cost = cost;
            offset->test = test;
        }
    }
}

/* Says of the offsets of which that was found what it is, after `before`: "Host buffers 1 B and 4 B
 * off a boundary cost pinned to the GPU up to 4.0 %." */
static bool say_found(struct xb_reading *reading, const struct side *side, enum found found,
                      const char *mode, const char *before, double *most)
{
    const struct offset *worst = NULL; /* the first of those that cost most */
    double allowed = 0;
    size_t members = 0, named = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct offset *offset = &side->offsets[i];
        if (found_of(offset) != found)
            continue;
        members++;
        allowed = fmax(allowed, offset->most);
        worst = worst == NULL || offset->cost > worst->cost ? offset : worst;
    }
    if (members == 0)
        return false;
    xb_reading_add(reading, "%s%s ", before, side->name);
    for (const struct offset *offset = side->offsets; named < members; offset++)
        if (found_of(offset) == found)
            xb_reading_phrase(reading, "{text}{size}",
                              named++ == 0       ? ""
                              : named == members ? " and "
                                                 : ", ",
                              offset->bytes);
    xb_reading_add(reading, " off a boundary");
    if (found == COSTS) {
        xb_reading_phrase(reading, " cost {text}{share} ({way}).", members > 1 ? "up to " : "",
                          worst->cost, worst->test);
        xb_reading_number(reading, side->cost, worst->cost, XB_UNIT_RATIO);
        return true;
    }
    /* They cost nothing, or nobody knows: at most so much, rounded up. */
    double percent = fmax(ceil(1000 * allowed - 1e-6), 1) / 10;
    xb_reading_add(reading, ", %s copies: %s at most %.*f %% slower.", mode,
                   found == NOTHING ? "no cost," : "too noisy to tell;", percent < 10 ? 1 : 0,
                   percent < 10 ? percent : ceil(percent));
    *most = fmax(*most, allowed);
    return true;
}

bool xb_alignment_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode)
{
    struct side sides[] = {
        {&xb_option_host_offset, "Host buffers", "host_cost", "host_cost_at_most", .count = 0},
        {&xb_option_device_offset, "GPU buffers", "device_cost", "device_cost_at_most",
         .count = 0}};
    bool said = false, told = false;
    for (struct side *side = sides; side < sides + 2; side++) {
        double most = -1;
        collect(reading, side, device, bytes, mode);
        for (enum found found = COSTS; found <= UNKNOWN; found++)
            if (say_found(reading, side, found, mode, said ? " " : "", &most)) {
                said = true;
                told = told || found != UNKNOWN;
            }
        if (most >= 0)
            xb_reading_number(reading, side->most, most, XB_UNIT_RATIO);
    }
    if (said && !told)
        xb_reading_is_untold(reading);
    return said;
}

/* A smaller loss needs no advice, however sure it is. */
#define LEAST_LOSS 0.02

static bool say_after_h2d(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_statistics alone, after;
    const struct xb_record_case *test =
        xb_usual_copy(reading, xb_reading_best(reading, device, bytes, XB_D2H, "pinned", NULL));
    if (test == NULL || !describe(reading, test, &xb_figure_bandwidth, &alone) ||
        !describe(reading, test, &xb_figure_bandwidth_after_h2d, &after))
        return false;
    bool sure = after.ci95_high < alone.ci95_low || after.ci95_low > alone.ci95_high;
    double share = after.median / alone.median;
    xb_reading_phrase(
        reading, "Right after a copy to the GPU on the same queue, {name} back to the host is ",
        test);
    if (sure)
        xb_reading_phrase(reading, "{speed}", share);
    else
        xb_reading_add(reading, "as fast, within the noise");
    xb_reading_phrase(reading,
                      " ({+share:ratio}{rate:bandwidth_after_h2d}, alone {rate:bandwidth} GB/s).",
                      share, after.median, alone.median);
    if (sure && share < 1 - LEAST_LOSS)
        xb_reading_remedy(
            reading, XB_EFFORT_LINES, 1 / share,
            "Give each direction a stream of its own: one that copies only to the host keeps the "
            "faster rate. Or try HSA_ENABLE_SDMA=0: shaders then copy instead of the engines.");
    return true;
}

XB_SAY(say_alignment, xb_alignment_say, "pinned")

#define MADE(value, words)                                                                         \
    {                                                                                              \
        "pinned", NULL, &xb_option_gpu_memory, value, "kept", &xb_figure_wall_time, "To the GPU",  \
            words, "Allocate the GPU's memory once, and use it again",                             \
            "PyTorch's allocator does that."                                                       \
    }
static const struct xb_made_memory made_memory[] = {
    MADE("malloc", "that is allocated for each copy"),
    MADE("pool", "that comes from a pool for each copy"),
    {.mode = NULL}};

XB_SAY(say_made_memory, xb_made_memory_say, made_memory)

/* "The synchronous call blocks until it is done, 20.1 ms; the asynchronous one returns after
 * 2.8 us, and is done after 20.2 ms." */
static bool say_call(struct xb_reading *reading, int device, uint64_t bytes)
{
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        const struct xb_record_case *async = xb_usual_copy(
            reading, xb_reading_best_of_any(reading, device, bytes, direction, "pinned", NULL));
        const struct xb_record_case *sync =
            async != NULL
                ? xb_find_twin(xb_reading_record(reading), async, xb_option_call.name, "sync")
                : NULL;
        double blocked = xb_reading_median(reading, sync, &xb_figure_submit_time);
        if (sync == async || !(blocked > 0))
            continue;
        xb_reading_phrase(reading,
                          "The synchronous call blocks until it is done, {duration:blocked}; the "
                          "asynchronous one returns after {duration:submitted}, and is done after "
                          "{duration:done}.{case}{case}",
                          blocked, xb_reading_median(reading, async, &xb_figure_submit_time),
                          xb_reading_median(reading, async, &xb_figure_wall_time), sync, async);
        return true;
    }
    return false;
}

const struct xb_reading_line xb_pinned_reading[] = {
    {.label = "after h2d", .code = "XB-AFTER-H2D", .say = say_after_h2d},
    {.label = "GPU memory", .code = "XB-GPU-MEMORY", .say = say_made_memory},
    {.label = "call", .code = "XB-CALL", .say = say_call},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};
