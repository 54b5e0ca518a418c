/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of the GPUs' own memory: copies within it and to another GPU, and loads. */
#include "modes/loads.h"
#include "modes/shared_options.h"
#include "readings.h"

#include <math.h>
#include <string.h>

/* Bits of a set. */
enum way {
    STAGED = 1,
    BY_ENGINE = 2,
    BY_KERNEL = 4,
    BY_BULK = 8,
    DIRECT = BY_ENGINE | BY_KERNEL | BY_BULK
};

/* The fastest of a pair's cases by those ways. */
static const struct xb_record_case *best_of(const struct xb_reading *reading,
                                            const struct xb_record_case *const *cases, size_t count,
                                            unsigned ways)
{
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < count; i++) {
        /* Files from before the option have no word. */
        const char *by = xb_record_parameter(cases[i], xb_option_by.name);
        enum way way = strcmp(cases[i]->variant, "staged") == 0 ? STAGED
                       : strcmp(by, "kernel") == 0              ? BY_KERNEL
                       : strcmp(by, "bulk") == 0                ? BY_BULK
                                                                : BY_ENGINE;
        if ((way & ways) != 0)
            best = xb_reading_faster(reading, best, cases[i]);
    }
    return best;
}

static int by_pair(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return a->device != b->device ? a->device - b->device : a->peer - b->peer;
}

/* Describes over all pairs what copies by some ways reach: how many times as fast they are as those
 * by `others`, of pairs that have both, or without others (0) their bandwidth. False where none
 * has. *sure_gain: the median where it is certain for every pair that they are faster, else 0. */
static bool describe(struct xb_reading *reading, enum xb_direction direction, enum way ways,
                     unsigned others, struct xb_statistics *found, double *sure_gain)
{
    const struct xb_choice choice = {.direction = direction};
    const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, by_pair, &choice);
    bool is_sure = true;
    for (size_t i = 0, equal = 0; i < all.count; i += equal) {
        equal = xb_cases_equal(all.cases + i, all.count - i, by_pair, NULL);
        const struct xb_record_case *one = best_of(reading, all.cases + i, equal, ways);
        const struct xb_record_case *other = best_of(reading, all.cases + i, equal, others);
        if (one == NULL || (other == NULL && others != 0))
            continue;
        if (others == 0) {
            xb_reading_collect(reading, xb_reading_bandwidth(reading, one));
            continue;
        }
        xb_tell(reading, "{case}{case}", one, other);
        is_sure = is_sure && xb_reading_judge(reading, one, other) == XB_READING_FASTER;
        /* Small copies by their whole time: the device's clock leaves out what it takes to start
         * one. */
        double by_time = xb_reading_median(reading, other, &xb_figure_wall_time) /
                         xb_reading_median(reading, one, &xb_figure_wall_time);
        bool is_by_time = one->bytes < XB_LARGE_BYTES && by_time > 0;
        xb_reading_collect(reading, is_by_time ? by_time : xb_reading_ratio(reading, one, other));
    }
    bool any = xb_reading_spread(reading, found);
    *sure_gain = any && is_sure ? found->median : 0;
    return any;
}

static const char by_kernel[] = "a kernel";

/* "One way, direct copies are 1.5 times as fast as copies through the host (median of 6 pairs).";
 * or, about a kernel, its copies against those by copy engine. */
static void say_direct(struct xb_reading *reading)
{
    struct xb_statistics factors;
    double gain;
    bool is_kernel = reading->about == by_kernel, both_ways = reading->direction == XB_BIDIR;
    if (!describe(reading, reading->direction, is_kernel ? BY_KERNEL : DIRECT,
                  is_kernel ? BY_ENGINE : STAGED, &factors, &gain))
        return;
    xb_tell(reading,
            "{text}, direct copies[ by {text}] are {speed:ratio} as {text}[ (median of {whole} "
            "pairs)].{+factor:ratio_low}{+factor:ratio_high}{+whole:pairs}",
            both_ways ? "Both ways" : "One way", reading->about, factors.median,
            is_kernel ? "those by copy engine" : "copies through the host",
            factors.n > 1 ? (double)factors.n : 0, factors.min, factors.max, (double)factors.n);
    if (!is_kernel)
        xb_remedy_if_worth(reading, XB_EFFORT_CALL, gain,
                           "Copy from GPU to GPU directly, {gain} as fast as through the host "
                           "{text}: {call} once a pair, then {call}.",
                           both_ways ? "both ways" : "one way", XB_CALL_ENABLE_PEER,
                           XB_CALL_COPY_PEER);
}

/* "Directly, a pair of GPUs copies 396 GB/s one way and 780 GB/s both ways together.": the median
 * over the pairs, of each its best. */
void xb_peer_answer(struct xb_reading *reading)
{
    static const enum way tried[] = {DIRECT, STAGED};
    for (int i = 0; i < 2 && reading->words.length == 0; i++) {
        struct xb_statistics one = {.n = 0}, both = {.n = 0};
        double ignored;
        bool any = describe(reading, XB_D2D, tried[i], 0, &one, &ignored);
        any = describe(reading, XB_BIDIR, tried[i], 0, &both, &ignored) || any;
        if (!any)
            continue;
        xb_tell(reading,
                "{text} a pair of GPUs copies[ {rate} GB/s one way][{text}][ {rate} GB/s both ways "
                "together].",
                i == 0 ? "Directly," : "Through the host,", one.median,
                one.median > 0 && both.median > 0 ? " and" : NULL, both.median);
    }
}

const struct xb_reading_line xb_peer_reading[] = {
    {.label = "peer", .code = "XB-PEER-DIRECT", .say_of_pairs = say_direct},
    {.label = "by kernel",
     .code = "XB-PEER-BY-KERNEL",
     .say_of_pairs = say_direct,
     .about = by_kernel},
    {.label = NULL},
};

/* ---- within a GPU ---- */

void xb_local_say(struct xb_reading *reading)
{
    const struct xb_record_case *engine = xb_reading_best_of_any(reading, XB_D2D, NULL, "engine");
    const struct xb_record_case *kernel = xb_reading_best_of_any(reading, XB_D2D, NULL, "kernel");
    const struct xb_record_device *where = xb_record_device(reading->record, reading->device);
    const struct xb_record_case *pinned =
        where != NULL && where->shares_host_memory
            ? NULL
            : xb_reading_best_of_any(reading, XB_H2D, "pinned", NULL);
    const struct xb_record_case *best = xb_reading_faster(reading, engine, kernel);
    if (best == NULL || (pinned == NULL && (engine == NULL || kernel == NULL)))
        return;
    xb_tell(reading,
            "{case}A GPU copies {rate=bandwidth} GB/s within its memory[, {factor:ratio_to_pinned} "
            "what {name} brings from the host][; a kernel is {speed:kernel_to_engine} as the copy "
            "engine{case}{case}].",
            best, xb_reading_ratio(reading, best, pinned), pinned,
            xb_reading_ratio(reading, kernel, engine), kernel, engine);
}

/* ---- loads ---- */

/* What is spoken of: loads by the device, from its own memory or the host's, or (peer-loads) from
 * another GPU's. */
struct loads {
    const char *order, *mode; /* NULL: any mode of them */
    enum xb_direction direction;
};

static bool is_load(const struct xb_reading *reading, const struct xb_record_case *test,
                    const void *argument)
{
    const struct loads *loads = argument;
    int reader = test->peer >= 0 ? test->peer : test->device;
    return (reading->device < 0 || reader == reading->device) &&
           (loads->order == NULL || strcmp(test->variant, loads->order) == 0) &&
           (loads->mode == NULL ||
            (strcmp(test->mode, loads->mode) == 0 && xb_reading_goes(test, loads->direction))) &&
           xb_reading_has(reading, test, &xb_figure_load_latency);
}

/* The median over what those loads take; NAN where there are none. */
static double latency_of(struct xb_reading *reading, const struct loads *loads, size_t *count)
{
    const struct xb_record_cases all = xb_reading_group(reading, is_load, NULL, loads);
    struct xb_statistics latency = {.n = 0, .median = (double)NAN};
    for (size_t i = 0; i < all.count; i++)
        xb_reading_collect(reading,
                           xb_reading_median(reading, all.cases[i], &xb_figure_load_latency));
    *count = all.count;
    return xb_reading_spread(reading, &latency) ? latency.median : (double)NAN;
}

/* In the first order that has something to compare. */
void xb_loads_say(struct xb_reading *reading)
{
    const struct xb_record_device *device = xb_record_device(reading->record, reading->device);
    if (device == NULL || device->shares_host_memory)
        return; /* where both are one memory there is nothing to compare */
    for (const char *const *order = xb_option_access.choices;
         *order != NULL && reading->words.length == 0; order++) {
        size_t owns, hosts, peers;
        double own = latency_of(reading, &(struct loads){*order, "loads", XB_D2D}, &owns);
        double host = latency_of(reading, &(struct loads){*order, "loads", XB_H2D}, &hosts);
        double peer = latency_of(reading, &(struct loads){*order, "peer-loads", XB_D2D}, &peers);
        if (owns == 0 || hosts + peers == 0)
            continue;
        xb_tell(
            reading,
            "A load takes {duration:own_latency} from the GPU's own memory[{text} "
            "{duration:host_latency} from the host's][ and {duration:peer_latency} from another "
            "GPU's][ (median of {whole})].",
            own, peers > 0 ? "," : " and", host, peer, peers > 1 ? (double)peers : 0);
        const struct xb_record_cases all =
            xb_reading_group(reading, is_load, NULL, &(struct loads){.order = *order});
        for (size_t i = 0; i < all.count; i++)
            xb_reading_rests_on(reading, all.cases[i]);
    }
}

/* In the first order that was measured. */
void xb_peer_loads_answer(struct xb_reading *reading)
{
    struct loads loads = {.order = NULL};
    const struct xb_record_cases all = xb_reading_group(reading, is_load, NULL, &loads);
    size_t count;
    if (all.count == 0)
        return;
    loads.order = all.cases[0]->variant;
    double latency = latency_of(reading, &loads, &count);
    xb_tell(reading,
            "A load from another GPU's memory takes {duration}[ (median of {whole} pairs)].",
            latency, count > 1 ? (double)count : 0);
}
