/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs: direct copies against staged ones, kernels against engines. */
#include "modes/shared_options.h"
#include "readings.h"

#include <string.h>

/* Bits of a set. */
enum way { STAGED = 1, BY_ENGINE = 2, BY_KERNEL = 4, DIRECT = BY_ENGINE | BY_KERNEL };

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
                                                                : BY_ENGINE;
        if ((way & ways) != 0)
            best = xb_reading_faster(reading, best, cases[i]);
    }
    return best;
}

/* How many times as fast one case is: small copies by their whole time, because the device's clock
 * leaves out what it takes to start one. */
static double factor_of(const struct xb_reading *reading, const struct xb_record_case *one,
                        const struct xb_record_case *other)
{
    double by_time = xb_reading_median(reading, other, &xb_figure_wall_time) /
                     xb_reading_median(reading, one, &xb_figure_wall_time);
    return one->bytes < XB_LARGE_BYTES && by_time > 0
               ? by_time
               : xb_reading_median(reading, one, &xb_figure_bandwidth) /
                     xb_reading_median(reading, other, &xb_figure_bandwidth);
}

static bool is_of(const struct xb_reading *reading, const struct xb_record_case *test,
                  const void *direction)
{
    return test->peer >= 0 && !test->simultaneous &&
           strcmp(test->direction, xb_direction_name(*(const enum xb_direction *)direction)) == 0 &&
           strcmp(test->mode, "peer") == 0 && xb_reading_measured(reading, test);
}

static int by_pair(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return a->device != b->device ? a->device - b->device : a->peer - b->peer;
}

/* Describes over all pairs what copies by some ways reach: how many times as fast they are as those
 * by `others`, of pairs that have both, or without others (0) their bandwidth. False where none
 * has. `is_sure`: it is certain for every pair that they are faster. */
static bool describe(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes,
                     enum way ways, unsigned others, struct xb_statistics *found, bool *is_sure)
{
    const struct xb_record_cases all = xb_reading_group(reading, bytes, is_of, by_pair, &direction);
    *is_sure = true;
    for (size_t i = 0, equal = 0; i < all.count; i += equal) {
        equal = xb_cases_equal(all.cases + i, all.count - i, by_pair, NULL);
        const struct xb_record_case *one = best_of(reading, all.cases + i, equal, ways);
        const struct xb_record_case *other = best_of(reading, all.cases + i, equal, others);
        if (one == NULL || (other == NULL && others != 0))
            continue;
        if (others == 0) {
            xb_reading_collect(reading, xb_reading_median(reading, one, &xb_figure_bandwidth));
            continue;
        }
        xb_reading_phrase(reading, "{case}{case}", one, other);
        *is_sure = *is_sure && xb_reading_judge(reading, one, other) == XB_READING_FASTER;
        xb_reading_collect(reading, factor_of(reading, one, other));
    }
    return xb_reading_spread(reading, found);
}

/* Says "One way, direct copies are 1.5 times as fast as <other> (median of 6 pairs; ...)." False
 * where no pair has both. *sure_gain: the factor where that is certain, else 0. */
static bool compare(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes,
                    enum way ways, enum way others, double *sure_gain)
{
    struct xb_statistics factors;
    bool is_sure;
    if (!describe(reading, direction, bytes, ways, others, &factors, &is_sure))
        return false;
    xb_reading_phrase(reading, "{text}, {text} are {speed:ratio} as {text}",
                      direction == XB_BIDIR ? "Both ways" : "One way",
                      ways == BY_KERNEL ? "direct copies by a kernel" : "direct copies",
                      factors.median,
                      others == STAGED ? "copies through the host" : "those by copy engine");
    if (factors.n > 1)
        xb_reading_phrase(reading, " (median of {whole} pairs)", (double)factors.n);
    xb_reading_phrase(reading, ".{+factor:ratio_low}{+factor:ratio_high}{+whole:pairs}",
                      factors.min, factors.max, (double)factors.n);
    *sure_gain = is_sure ? factors.median : 0;
    return true;
}

static bool say_direct(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    double gain;
    if (!compare(reading, direction, bytes, DIRECT, STAGED, &gain))
        return false;
    if (gain >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_CALL, gain,
                          "Copy from GPU to GPU directly, %s as fast as through the host "
                          "%s: %s once a pair, then %s.",
                          xb_reading_factor_text(gain, (char[32]){0}, 32),
                          direction == XB_BIDIR ? "both ways" : "one way",
                          xb_reading_call(reading, XB_CALL_ENABLE_PEER),
                          xb_reading_call(reading, XB_CALL_COPY_PEER));
    return true;
}

static bool say_by_kernel(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    double gain;
    return compare(reading, direction, bytes, BY_KERNEL, BY_ENGINE, &gain);
}

/* The median over the pairs, of each its best by those ways; 0: there is none. */
static double rate_of(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes,
                      enum way ways)
{
    struct xb_statistics rates;
    bool ignored;
    return describe(reading, direction, bytes, ways, 0, &rates, &ignored) ? rates.median : 0;
}

/* "Directly, a pair of GPUs copies 396 GB/s one way and 780 GB/s both ways together." */
bool xb_peer_answer(struct xb_reading *reading, int device, uint64_t bytes)
{
    double one = rate_of(reading, XB_D2D, bytes, DIRECT);
    double both = rate_of(reading, XB_BIDIR, bytes, DIRECT);
    bool is_direct = one + both > 0;
    (void)device;
    one = is_direct ? one : rate_of(reading, XB_D2D, bytes, STAGED);
    both = is_direct ? both : rate_of(reading, XB_BIDIR, bytes, STAGED);
    xb_reading_add(reading, "%s a pair of GPUs copies",
                   is_direct ? "Directly," : "Through the host,");
    if (one > 0)
        xb_reading_phrase(reading, " {rate} GB/s one way{text}", one, both > 0 ? " and" : "");
    if (both > 0)
        xb_reading_phrase(reading, " {rate} GB/s both ways together", both);
    xb_reading_add(reading, ".");
    return one + both > 0;
}

const struct xb_reading_line xb_peer_reading[] = {
    {.label = "peer", .code = "XB-PEER-DIRECT", .say_of_pairs = say_direct},
    {.label = "by kernel", .code = "XB-PEER-BY-KERNEL", .say_of_pairs = say_by_kernel},
    {.label = NULL},
};
