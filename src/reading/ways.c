/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of both ways at once, of far memory, and of ways far below the best one. */
#include "internal.h"

#include "record/mode_list.h"

#include <math.h>
#include <string.h>

/* A mode that copies both ways has a figure of that. One that computes too moves no sum of ways. */
static bool goes_both_ways(const struct xb_reading *reading, const struct xb_record_case *test,
                           const void *argument)
{
    (void)argument;
    return xb_reading_alone(test) && xb_reading_goes(test, XB_BIDIR) &&
           xb_reading_usable(reading, test) &&
           xb_reading_row(reading, test)->bytes_moved == 2 * test->bytes &&
           (xb_reading_median(reading, test, &xb_figure_overlap) > 0 ||
            xb_reading_median(reading, test, &xb_figure_bandwidth_h2d) > 0);
}

/* Tells of the fastest copy both ways at once, beside the fastest single way. */
void xb_reading_say_both_ways(struct xb_reading *reading)
{
    const struct xb_record_case *both = xb_reading_fastest(reading, goes_both_ways, NULL);
    const struct xb_record_case *one = xb_reading_fastest(reading, xb_reading_crosses_link, NULL);
    if (both == NULL)
        return;
    xb_tell(reading,
            "Both ways at once, {name} moves {rate=bandwidth} GB/s[, {factor:ratio} the best "
            "single way ({way}){+rate:single_bandwidth=bandwidth}]."
            "[{case} {rate=bandwidth_h2d} GB/s go to the GPU, {rate=bandwidth_d2h} back.]"
            "[{case} They add up to {rate=bandwidth_sum_of_ways} GB/s, each by its own time, as "
            "nvbandwidth counts.]",
            both, xb_reading_ratio(reading, both, one), one, both, both);
    /* What other places of the host's memory gave, within one process. */
    struct xb_statistics statistics;
    size_t places = both->rows[0].placements.count;
    if (!reading->record->is_merged && places >= 2 &&
        xb_reading_is_sure(reading, both, &xb_figure_bandwidth, &statistics))
        xb_tell(reading,
                " The rate depends on where the host's memory lies: {whole:placements} places gave "
                "{rate:bandwidth_low} to {rate:bandwidth_high} GB/s.",
                (double)places, statistics.ci95_low, statistics.ci95_high);
    xb_tell(reading, "[{case} Both directions moved data {part=overlap} of the time.]", both);
}

/* ---- what memory far from a device costs ---- */

/* A case of a direction and node whose bandwidth the Reading may speak of. */
struct place {
    enum xb_direction direction;
    int node;
};

static bool is_there(const struct xb_reading *reading, const struct xb_record_case *test,
                     const void *argument)
{
    const struct place *place = argument;
    return xb_reading_goes(test, place->direction) && xb_record_case_node(test) == place->node &&
           xb_reading_one_way(reading, test);
}

/* Finds the same work with its memory on the far node that costs it most, and the share of the near
 * one's bandwidth that it reaches; NULL where no node costs anything. */
static const struct xb_record_case *find_far(const struct xb_reading *reading,
                                             const struct xb_record_case *near, double *share)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, near->bytes);
    const struct xb_record_case *worst = NULL;
    *share = 1;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *far = sized.cases[i];
        double own = xb_reading_ratio(reading, far, near);
        if (!(own < *share) || xb_record_case_node(far) < 0 || !xb_reading_one_way(reading, far) ||
            xb_cases_order(far, near, XB_BUT_NODE) != 0 ||
            xb_reading_judge(reading, far, near) != XB_READING_SLOWER)
            continue;
        worst = far;
        *share = own;
    }
    return worst;
}

/* Says what memory on the farthest NUMA node costs the fastest copy each way. */
void xb_reading_say_numa(struct xb_reading *reading)
{
    const struct xb_record_device *info = xb_record_device(reading->record, reading->device);
    double least = 1;
    if (info == NULL || info->numa_node < 0)
        return; /* it is not known which is near */
    reading->all_nodes = true;
    for (int i = 0; i < 2; i++) {
        const struct place place = {i == 0 ? XB_H2D : XB_D2H, info->numa_node};
        const struct xb_record_case *near = xb_reading_fastest(reading, is_there, &place);
        double share = 1;
        const struct xb_record_case *far = near != NULL ? find_far(reading, near, &share) : NULL;
        if (far == NULL)
            continue;
        xb_tell(reading,
                " Memory on NUMA node {whole} costs {name:but} {whole} % {to}; node {whole} is "
                "near.{+share:cost_}{case}",
                (double)xb_record_case_node(far), near, XB_RECORD_NUMA, 100 - 100 * share, near,
                (double)info->numa_node, 1 - share, far);
        least = fmin(least, share);
    }
    if (least < 1)
        xb_remedy(reading, XB_EFFORT_CALL, 1 / least,
                  "Bind the process to the GPU's NUMA node, or its memory lies far from it: "
                  "numactl --cpunodebind={whole} --membind={whole}",
                  (double)info->numa_node, (double)info->numa_node);
}

/* A way with less than this share of the best is called slow. */
#define SLOW_BELOW 0.5

bool xb_reading_is_one_method(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return strcmp(a->mode, b->mode) == 0 && strcmp(a->variant, b->variant) == 0;
}

struct xb_reading_ways xb_reading_collect_ways(const struct xb_reading *reading,
                                               enum xb_direction direction)
{
    struct xb_reading_ways ways = {.count = 0};
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        size_t way = 0;
        if (test->device != reading->device || !xb_reading_goes(test, direction) ||
            !xb_reading_one_way_of_any(reading, test))
            continue;
        while (way < ways.count && !xb_reading_is_one_method(ways.all[way], test))
            way++;
        if (way == XB_READING_WAYS)
            continue;
        if (way == ways.count)
            ways.all[ways.count++] = test;
        else if (xb_reading_speed(reading, test) > xb_reading_speed(reading, ways.all[way]))
            ways.all[way] = test;
        if (ways.best == NULL ||
            xb_reading_speed(reading, test) > xb_reading_speed(reading, ways.best))
            ways.best = test;
    }
    return ways;
}

/* What a way reaches of the best one. */
static double share_of(const struct xb_reading *reading, const struct xb_reading_ways *ways,
                       const struct xb_record_case *way)
{
    return xb_reading_speed(reading, way) / xb_reading_speed(reading, ways->best);
}

static bool is_slow(const struct xb_reading *reading, const struct xb_reading_ways *ways,
                    const struct xb_record_case *way)
{
    return share_of(reading, ways, way) < SLOW_BELOW &&
           (way->bytes >= XB_LARGE_BYTES ||
            xb_reading_judge_by(reading, way, &xb_figure_wall_time, ways->best,
                                &xb_figure_wall_time) == XB_READING_SLOWER);
}

/* Tells of every way in a direction to move one buffer once that is far below the best one, each a
 * statement. A way that is slow in both directions is told by the first, and the second is not
 * printed. */
void xb_reading_say_slow(struct xb_reading *reading)
{
    bool is_back = strcmp(reading->entry.code, "XB-SLOW-D2H") == 0;
    const struct xb_reading_ways ways = xb_reading_collect_ways(reading, is_back ? XB_D2H : XB_H2D);
    const struct xb_reading_ways back = xb_reading_collect_ways(reading, is_back ? XB_H2D : XB_D2H);
    bool is_told = false;
    /* The slow ways to the device may have been told at another size. */
    XB_EACH (entry, reading->list->entries, reading->list->count)
        is_told = is_told || (strcmp(entry->code, "XB-SLOW-H2D") == 0 &&
                              entry->device == reading->device && entry->bytes == reading->bytes);
    for (size_t i = 0; i < ways.count; i++) {
        const struct xb_record_case *way = ways.all[i];
        const struct xb_mode *mode = xb_mode_find(way->mode);
        if (!is_slow(reading, &ways, way))
            continue;
        xb_tell_next(reading);
        /* The same way in the other direction, if it is slow there too. */
        const struct xb_record_case *twin = NULL;
        for (size_t k = 0; k < back.count && twin == NULL; k++)
            if (xb_reading_is_one_method(back.all[k], way) && is_slow(reading, &back, back.all[k]))
                twin = back.all[k];
        /* "Pageable reaches 14 % of pinned to the GPU and 30 % of async back." */
        bool with_back = twin != NULL && !is_back;
        xb_tell(reading, "{name} reaches {share:share} of {name} {to}", way,
                share_of(reading, &ways, way), ways.best, way);
        if (with_back)
            xb_tell(reading, " and {share}[ of {name}] back", share_of(reading, &back, twin),
                    xb_reading_is_one_method(ways.best, back.best) ? NULL : back.best);
        xb_tell(reading, "{text}.{+rate:bandwidth}{+rate:best_bandwidth}",
                reading->bytes < XB_LARGE_BYTES ? ", from the call until it is done" : "",
                xb_reading_speed(reading, way), xb_reading_speed(reading, ways.best));
        if (mode != NULL && mode->say_first_thing != NULL)
            mode->say_first_thing(reading, way);
        if (twin != NULL && is_back && is_told) {
            reading->entry.is_repeated = true;
            reading->entry.remedy = NULL;
            reading->entry.gain = (double)NAN;
        }
    }
}
