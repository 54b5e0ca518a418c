/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/units.h"
#include "record/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of modes and variants ---- */

#define FAULTS "what the CPU's page faults take before the job"

const struct xb_strategy_words xb_strategy_words[XB_STRATEGIES] = {
    [XB_STRATEGY_PAGEABLE] = {"pageable", "pageable", "pageable memory, one step after the other",
                              XB_JOB_PAGEABLE, NULL},
    [XB_STRATEGY_RING] = {"ring", "pageable, by a ring",
                          "pageable memory through a ring of pinned chunks", XB_JOB_PAGEABLE,
                          "making the ring once"},
    [XB_STRATEGY_PINNED] = {"pinned", "pinned", "pinned memory, one step after the other",
                            XB_JOB_PINNED, NULL},
    [XB_STRATEGY_OVERLAPPED] = {"overlapped", "pinned, overlapped",
                                "pinned memory, copies and kernels overlapped", XB_JOB_PINNED,
                                NULL},
    [XB_STRATEGY_MANAGED] = {"managed", "managed, on faults",
                             "managed memory, whose pages are touched in order", XB_JOB_MANAGED,
                             FAULTS},
    [XB_STRATEGY_PREFETCH] = {"prefetch", "managed, prefetch", "managed memory, prefetched",
                              XB_JOB_MANAGED, FAULTS},
    [XB_STRATEGY_ZERO_COPY] = {"zero-copy", "zero-copy",
                               "pinned memory in place, if the kernel reads and writes each byte "
                               "once and in order",
                               XB_JOB_PINNED, NULL},
};

/* The direction of rows whose bytes cross either way. */
#define BOTH_WAYS "bidir"

/* What several costs have in common. */
#define EACH_WAY(cost, ...)                                                                        \
    [XB_COST_##cost##_IN] = {__VA_ARGS__, .direction = "h2d"},                                     \
    [XB_COST_##cost##_OUT] = {__VA_ARGS__, .direction = "d2h"}
#define PINNED                                                                                     \
    .mode = "pinned", .variants = {"registered", "alloc"}, .is_by_device = true,                   \
    .only = {"gpu-memory", "kept", "call", "async"}
#define PAGEABLE .mode = "pageable", .only = {"target", "kept", "call", "async"}
#define COPY .mode = "pin", .variants = {"copy"}
#define MANAGED(how)                                                                               \
    .mode = "managed", .variants = {how}, .only = {"touched", "100", "touch-order", "sequential"}
#define ZERO_COPY                                                                                  \
    .mode = "zero-copy", .variants = {"sequential"}, .is_by_device = true,                         \
    .only = {"passes", "1", "in-place", "mapped"}

const struct xb_cost_source xb_cost_sources[XB_COSTS] = {
    EACH_WAY(PAGEABLE, PAGEABLE, .variants = {"driver", "malloc"}),
    EACH_WAY(RING, PAGEABLE, .variants = {"ring"}),
    EACH_WAY(PINNED, PINNED),
    [XB_COST_PINNED_BOTH] = {PINNED, .direction = BOTH_WAYS},
    [XB_COST_REGISTER] = {.mode = "pin", .variants = {"used"}, .is_setup = true},
    EACH_WAY(COPY, COPY),
    [XB_COST_COPY_ROOM] = {COPY, .is_setup = true},
    EACH_WAY(FAULT, MANAGED("fault")),
    EACH_WAY(PREFETCH, MANAGED("prefetch")),
    EACH_WAY(ZERO_COPY, ZERO_COPY),
    [XB_COST_ZERO_COPY_BOTH] = {ZERO_COPY, .direction = BOTH_WAYS},
};

const char *const xb_memory_words[] = {XB_JOB_MEMORY_USUAL, "pinned", "managed", NULL};

const char *xb_memory_word(int memory)
{
    return xb_memory_words[memory];
}

#define DIRECTIONS "--direction", "both,bidir"
#define PINNING "--pin-by", "used,copy"
const char *const xb_rows_words[XB_JOB_MEMORIES][2][7] = {
    [XB_JOB_PAGEABLE] = {{"--mode", "pageable,pinned,pin", PINNING, DIRECTIONS},
                         {"--mode", "pageable,pinned,pin,managed,zero-copy", PINNING, DIRECTIONS}},
    [XB_JOB_PINNED] = {{"--mode", "pinned", DIRECTIONS},
                       {"--mode", "pinned,zero-copy", DIRECTIONS}},
    [XB_JOB_MANAGED] = {{"--mode", "managed"}, {"--mode", "managed"}}};
const char xb_job_mode[] = "job";

/* ---- rows ---- */

static bool is_of(const struct xb_record_case *test, const struct xb_cost_source *source)
{
    if (strcmp(test->mode, source->mode) != 0 ||
        (source->direction != NULL && strcmp(test->direction, source->direction) != 0))
        return false;
    for (size_t i = 0; i < 4 && source->only[i] != NULL; i += 2) {
        const char *value = xb_record_parameter(test, source->only[i]);
        if (value[0] != '\0' && strcmp(value, source->only[i + 1]) != 0)
            return false;
    }
    for (size_t i = 0; source->variants[i] != NULL; i++)
        if (strcmp(test->variant, source->variants[i]) == 0)
            return true;
    return false;
}

/* Fills in how far the ends of the interval are from the median, as factors of a time. */
static bool read_seconds(const struct xb_record *record, const struct xb_record_case *test,
                         const struct xb_figure *figure, double *seconds)
{
    struct xb_statistics found = {.n = 0};
    if (!xb_record_describe(record, test, figure->name, &found) || !(found.median > 0))
        return false;
    bool has = found.has_interval && found.ci95_low > 0;
    seconds[XB_MIDDLE] = found.median;
    seconds[XB_LOW] = has ? found.ci95_low : found.median;
    seconds[XB_HIGH] = has ? found.ci95_high : found.median;
    return true;
}

/* Samples that are batches give the bandwidth of copies one behind the other; wall_time is one
 * alone, from few samples: the interval of the first has to do for both. */
static bool read_copy(const struct xb_record *record, const struct xb_record_case *test,
                      struct xb_cost_point *point)
{
    double rates[XB_ESTIMATES];
    double wall = xb_record_median(record, test, xb_figure_wall_time.name);
    double call = xb_record_median(record, test, xb_figure_submit_time.name);
    point->call = call > 0 ? call : 0;
    if (test->latency)
        return read_seconds(record, test, &xb_figure_latency_host, point->alone) &&
               read_seconds(record, test, &xb_figure_latency_device, point->behind);
    if (!read_seconds(record, test, &xb_figure_bandwidth, rates))
        return false;
    double bytes = (double)test->bytes * (strcmp(test->direction, BOTH_WAYS) == 0 ? 2 : 1);
    double middle = bytes / rates[XB_MIDDLE];
    for (int i = 0; i < XB_ESTIMATES; i++) { /* a high bandwidth is a low time */
        point->behind[i] = bytes / rates[XB_ESTIMATES - 1 - i];
        point->alone[i] = wall > 0 ? wall * point->behind[i] / middle : point->behind[i];
    }
    return true;
}

XB_COMPARER(by_size, struct xb_cost_point, XB_BY(bytes), XB_BY(test))

/* Sorts the points, one of each size: of two copies the faster stays. */
static void sort_points(struct xb_cost *cost, bool is_setup)
{
    size_t kept = 0;
    qsort(cost->points, cost->count, sizeof *cost->points, by_size);
    XB_EACH (point, cost->points, cost->count) {
        struct xb_cost_point *last = kept > 0 ? &cost->points[kept - 1] : NULL;
        if (last == NULL || last->bytes != point->bytes)
            cost->points[kept++] = *point;
        else if (!is_setup && point->behind[XB_MIDDLE] < last->behind[XB_MIDDLE])
            *last = *point;
        if (last == NULL || last->bytes != point->bytes || !is_setup)
            continue;
        /* Page-locking h2d and d2h is the same thing twice: their mean counts. */
        double rows = (double)last->rows++;
        for (int k = 0; k < XB_ESTIMATES; k++)
            last->alone[k] = last->behind[k] =
                (last->alone[k] * rows + point->alone[k]) / (double)last->rows;
    }
    cost->count = kept;
}

/* ---- one setting ---- */

/* Orders cases of one source by variant and parameters. */
static int by_setting(const struct xb_record_case *a, const struct xb_record_case *b,
                      const void *argument)
{
    struct xb_record_case other = *b;
    (void)argument;
    other.direction = a->direction;
    other.latency = a->latency;
    other.simultaneous = a->simultaneous;
    return xb_cases_order(a, &other, XB_BUT_SIZE | XB_BUT_DEVICES);
}

static struct xb_cost read_setting(struct xb_costs *costs, const struct xb_cost_source *source,
                                   const struct xb_record *record, struct xb_record_cases setting)
{
    struct xb_cost cost = {.points =
                               xb_arena_new(&costs->points, setting.count * sizeof *cost.points),
                           .is_by_device = source->is_by_device};
    for (size_t i = 0; i < setting.count; i++) {
        const struct xb_record_case *test = setting.cases[i];
        struct xb_cost_point *point = &cost.points[cost.count];
        *point = (struct xb_cost_point){.bytes = test->bytes, .test = test, .rows = 1};
        if (test->device != costs->device || test->peer >= 0 || test->simultaneous ||
            test->bytes == 0)
            continue;
        /* Only verified rows count. Why one was skipped is told, unless time was up. */
        struct xb_record_summary summary = xb_record_summarize(record, test);
        const struct xb_record_row *worst = &test->rows[summary.worst];
        if (summary.status == XB_RESULT_SKIPPED && !worst->is_cut)
            cost.lacking = worst->reason;
        if (summary.status != XB_RESULT_OK || summary.verified != XB_VERIFIED_TRUE ||
            summary.ok <= summary.cut)
            continue;
        if (!source->is_setup) {
            cost.count += read_copy(record, test, point);
        } else if (!test->latency &&
                   read_seconds(record, test, &xb_figure_setup_time, point->alone)) {
            memcpy(point->behind, point->alone, sizeof point->alone);
            cost.count++;
        }
    }
    sort_points(&cost, source->is_setup);
    if (cost.count > 0) /* it is no row of that size that is missing, then */
        cost.lacking = NULL;
    return cost;
}

static bool is_preferred(const struct xb_cost *one, const struct xb_cost *other)
{
    if (one->count == 0 || other->count == 0)
        return one->count > 0;
    bool is_near = xb_record_case_node(one->points[0].test) < 0;
    if (is_near != (xb_record_case_node(other->points[0].test) < 0))
        return is_near;
    if (one->count != other->count)
        return one->count > other->count;
    const struct xb_cost_point *last = &one->points[one->count - 1];
    const struct xb_cost_point *others = &other->points[other->count - 1];
    return last->behind[XB_MIDDLE] / (double)last->bytes <
           others->behind[XB_MIDDLE] / (double)others->bytes;
}

/* `cases` has room for all of the record. */
static void read_cost(struct xb_costs *costs, int kind, const struct xb_record *record,
                      const struct xb_record_case **cases)
{
    struct xb_cost *cost = &costs->costs[kind];
    const struct xb_cost_source *source = &xb_cost_sources[kind];
    size_t found = 0;
    for (size_t i = 0; i < record->case_count; i++)
        if (is_of(&record->cases[i], source))
            cases[found++] = &record->cases[i];
    xb_cases_group(cases, found, by_setting, NULL);
    for (size_t i = 0, equal = 0; i < found; i += equal) {
        equal = xb_cases_equal(cases + i, found - i, by_setting, NULL);
        struct xb_cost tried =
            read_setting(costs, source, record, (struct xb_record_cases){cases + i, equal});
        bool has_others = cost->has_others || (tried.count > 0 && cost->count > 0);
        if (is_preferred(&tried, cost) || (cost->count == 0 && tried.lacking != NULL))
            *cost = tried;
        cost->has_others = has_others;
    }
}

void xb_costs_read(struct xb_costs *costs, const struct xb_record *record)
{
    const struct xb_record_device *device = xb_record_device(record, costs->device);
    const struct xb_cost *both = &costs->costs[XB_COST_PINNED_BOTH];
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    costs->memory_bytes = device != NULL ? device->memory_bytes : 0;
    for (int kind = 0; kind < XB_COSTS; kind++)
        read_cost(costs, kind, record, cases);
    free(cases);
    if (both->count == 0)
        return;
    const struct xb_record_case *largest = both->points[both->count - 1].test;
    costs->both_in = xb_record_median(record, largest, xb_figure_bandwidth_h2d.name);
    costs->both_out = xb_record_median(record, largest, xb_figure_bandwidth_d2h.name);
}

void xb_costs_free(struct xb_costs *costs)
{
    xb_arena_free(costs->points);
    *costs = (struct xb_costs){.device = costs->device};
}

/* ---- from points to any size ---- */

bool xb_cost_is_known(const struct xb_cost *cost, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    if (cost->count == 0)
        return false;
    uint64_t largest = cost->points[cost->count - 1].bytes;
    return bytes / 8 <= largest || largest >= XB_COST_LARGE;
}

/* The first point that is as large or larger; `count` where there is none. */
static size_t point_at(const struct xb_cost *cost, uint64_t bytes)
{
    size_t at = 0;
    while (at < cost->count && cost->points[at].bytes < bytes)
        at++;
    return at;
}

/* The first point that is as large or larger, else the last; NULL where there is none. */
static const struct xb_cost_point *nearest(const struct xb_cost *cost, uint64_t bytes)
{
    size_t at = point_at(cost, bytes);
    return cost->count > 0 ? &cost->points[at < cost->count ? at : at - 1] : NULL;
}

/* Less than the smallest row takes its share of that row's time and the start of a copy, and no
 * more than the row, within these bounds. Every time in the committed sweeps lies between them,
 * whichever of its rows is the smallest (tests/unit/advise/test_advise_model.c). The second of each
 * is for what the device does alone: CPUs copy faster out of their caches, and their threads start
 * late. */
static const double below_factors[][XB_ESTIMATES] = {{0.4, 1, 1.5}, {0.9, 1, 1.2}};
static const double below_starts[][XB_ESTIMATES] = {{0, 10e-6, 300e-6}, {0, 10e-6, 100e-6}};

double xb_cost_seconds(const struct xb_cost *cost, uint64_t bytes, bool is_alone,
                       enum xb_estimate estimate)
{
    size_t at = point_at(cost, bytes);
    const struct xb_cost_point *above = nearest(cost, bytes);
    if (bytes == 0 || above == NULL)
        return bytes == 0 ? 0 : (double)NAN;
    double seconds = is_alone ? above->alone[estimate] : above->behind[estimate];
    if (at == cost->count)
        return seconds +
               (double)(bytes - above->bytes) * above->behind[estimate] / (double)above->bytes;
    if (above->bytes == bytes)
        return seconds;
    if (at == 0)
        return below_factors[cost->is_by_device][estimate] *
               fmin(seconds, seconds * (double)bytes / (double)above->bytes +
                                 below_starts[cost->is_by_device][estimate]);
    const struct xb_cost_point *below = above - 1;
    double share = (double)(bytes - below->bytes) / (double)(above->bytes - below->bytes);
    double from = is_alone ? below->alone[estimate] : below->behind[estimate];
    return from + share * (seconds - from);
}

double xb_cost_call(const struct xb_cost *cost, uint64_t bytes)
{
    return cost->count > 0 && bytes > 0 ? nearest(cost, bytes)->call : 0;
}

const struct xb_record_case *xb_cost_row(const struct xb_cost *cost, uint64_t bytes)
{
    return cost->count > 0 ? nearest(cost, bytes)->test : NULL;
}

void xb_cost_basis(const struct xb_cost *cost, uint64_t bytes, struct xb_words *words)
{
    size_t at = point_at(cost, bytes);
    const struct xb_cost_point *points = cost->points;
    const char *before = " (";
    if (cost->count == 0 || bytes == 0)
        return;
    /* "pageable ring h2d (ring-slots 4, threads 8): "; a parameter of 0 is left to the mode. */
    const struct xb_record_case *test = xb_cost_row(cost, bytes);
    xb_words_add(words, "%s %s %s", test->mode, test->variant, test->direction);
    for (size_t i = 0; cost->has_others && i < test->parameter_count; i++) {
        const char *name = test->parameters[i].name;
        const char *value = xb_record_parameter(test, name);
        if (strcmp(value, "0") == 0)
            continue;
        xb_words_add(words, "%s%s %s", before, name, value);
        before = ", ";
    }
    xb_words_add(words, "%s: ", before[0] == ',' ? ")" : "");
    if (at == cost->count)
        xb_words_add(words, "beyond its largest, %s, by the rate there",
                     XB_SIZE_TEXT(points[at - 1].bytes));
    else if (points[at].bytes == bytes)
        xb_words_add(words, "row of %s", XB_SIZE_TEXT(bytes));
    else if (at == 0)
        xb_words_add(words, "below its smallest, %s: by the rate there and 10 us to start",
                     XB_SIZE_TEXT(points[0].bytes));
    else
        xb_words_add(words, "between rows of %s and %s", XB_SIZE_TEXT(points[at - 1].bytes),
                     XB_SIZE_TEXT(points[at].bytes));
}
