/* SPDX-License-Identifier: Apache-2.0 */
#include "modes/readings/readings.h"

#include "shared_options.h"

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
    const char *name;        /* "Host buffers" */
    const char *cost, *most; /* numbers of the line */
    struct offset offsets[MOST_OFFSETS];
    size_t count;
};

/* 0 in a file from before there was the option. */
static uint64_t offset_of(const struct xb_record_case *test, const struct xb_option *option)
{
    return strtoull(xb_record_parameter(test, option->name), NULL, 10);
}

/* The place of an offset, in their order; NULL where there is no room. */
static struct offset *find(struct side *side, uint64_t bytes)
{
    size_t place = 0;
    while (place < side->count && side->offsets[place].bytes < bytes)
        place++;
    struct offset *offset = &side->offsets[place];
    if (place < side->count && offset->bytes == bytes)
        return offset;
    if (side->count == MOST_OFFSETS)
        return NULL;
    memmove(offset + 1, offset, (side->count - place) * sizeof *offset);
    *offset = (struct offset){.bytes = bytes};
    side->count++;
    return offset;
}

/* Notes what a case loses against `base`, which begins on the boundary. A difference is certain
 * where the intervals do not meet. */
static void add(struct xb_reading *reading, struct side *side, const struct xb_record_case *base,
                const struct xb_record_case *test)
{
    const struct xb_record *record = xb_reading_record(reading);
    const char *figure = xb_figure_bandwidth.name;
    struct xb_statistics on, off;
    if (!xb_record_describe(record, base, figure, &on) || !on.has_interval ||
        !xb_record_describe(record, test, figure, &off) || !off.has_interval || !(on.ci95_low > 0))
        return;
    double cost = 1 - off.median / on.median;
    double least = 1 - off.ci95_high / on.ci95_low;
    double most = 1 - off.ci95_low / on.ci95_high;
    struct offset *offset = find(side, offset_of(test, side->option));
    if (offset == NULL)
        return;
    xb_reading_phrase(reading, "{case}{case}", base, test);
    if (least <= 0 || cost < VISIBLE) {
        offset->most = fmax(offset->most, most);
    } else if (cost > offset->cost) {
        offset->cost = cost;
        offset->test = test;
    }
}

static void collect(struct xb_reading *reading, struct side *side, int device, uint64_t bytes,
                    const char *mode)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_cases sized = xb_record_of_size(record, bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (test->device != device || strcmp(test->mode, mode) != 0 || test->simultaneous ||
            offset_of(test, side->option) == 0 || !xb_reading_usable(reading, test))
            continue;
        const struct xb_record_case *base = xb_find_twin(record, test, side->option->name, "0");
        if (base != NULL && xb_reading_usable(reading, base))
            add(reading, side, base, test);
    }
}

/* The offsets of one side of which the same was found. */
struct group {
    const struct offset *offsets[MOST_OFFSETS];
    size_t count;
    const struct offset *worst; /* the first of those that cost most */
    double most;                /* that the intervals allow */
};

static struct group group_of(const struct side *side, enum found found)
{
    struct group group = {.count = 0};
    for (size_t i = 0; i < side->count; i++) {
        const struct offset *offset = &side->offsets[i];
        enum found own = offset->test != NULL ? COSTS : offset->most <= VISIBLE ? NOTHING : UNKNOWN;
        if (own != found)
            continue;
        group.offsets[group.count++] = offset;
        group.most = fmax(group.most, offset->most);
        if (group.worst == NULL || offset->cost > group.worst->cost)
            group.worst = offset;
    }
    return group;
}

/* "Host buffers 1 B, 64 B and 256 B off a boundary". */
static void add_offsets(struct xb_reading *reading, const struct side *side,
                        const struct group *group)
{
    xb_reading_add(reading, "%s ", side->name);
    for (size_t i = 0; i < group->count; i++)
        xb_reading_phrase(reading, "{text}{size}",
                          i == 0                  ? ""
                          : i + 1 == group->count ? " and "
                                                  : ", ",
                          group->offsets[i]->bytes);
    xb_reading_add(reading, " off a boundary");
}

bool xb_alignment_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode)
{
    struct side sides[] = {{.option = &xb_option_host_offset,
                            .name = "Host buffers",
                            .cost = "host_cost",
                            .most = "host_cost_at_most"},
                           {.option = &xb_option_device_offset,
                            .name = "GPU buffers",
                            .cost = "device_cost",
                            .most = "device_cost_at_most"}};
    bool said = false, told = false;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        struct side *side = &sides[i];
        collect(reading, side, device, bytes, mode);
        double most = 0;
        size_t others = 0;
        for (enum found found = COSTS; found <= UNKNOWN; found++) {
            const struct group group = group_of(side, found);
            if (group.count == 0)
                continue;
            xb_reading_add(reading, "%s", said ? " " : "");
            said = true;
            told = told || found != UNKNOWN;
            add_offsets(reading, side, &group);
            if (found == COSTS) {
                /* "Host buffers 1 B and 4 B off a boundary cost pinned to the GPU up to 4.0 %." */
                xb_reading_phrase(reading, " cost {text}{share} ({way}).",
                                  group.count > 1 ? "up to " : "", group.worst->cost,
                                  group.worst->test);
                xb_reading_number(reading, side->cost, group.worst->cost, XB_UNIT_RATIO);
                continue;
            }
            /* The group's offsets cost nothing, or nobody knows: at most so much, rounded up. */
            double percent = fmax(ceil(1000 * group.most - 1e-6), 1) / 10;
            xb_reading_add(reading, ", %s copies: %s at most %.*f %% slower.", mode,
                           found == NOTHING ? "no cost," : "too noisy to tell;",
                           percent < 10 ? 1 : 0, percent < 10 ? percent : ceil(percent));
            most = fmax(most, group.most);
            others += group.count;
        }
        if (others > 0)
            xb_reading_number(reading, side->most, most, XB_UNIT_RATIO);
    }
    if (said && !told)
        xb_reading_is_untold(reading);
    return said;
}
