/* SPDX-License-Identifier: Apache-2.0 */
/* How the time divides, against a count of each nanosecond; and more than there is room for. */
#include "base/memory.h"
#include "explain/explain.h"
#include "random.h"
#include "testing.h"

#include <math.h>

#define SPANS 10000
#define TIME 60000 /* nanoseconds */
#define GPUS 2

struct fixture {
    struct xb_profiles profiles;
    struct xb_arena *memory;
    struct xb_explanation found;
};

static void add(struct fixture *f, const struct xb_activity *activity)
{
    struct xb_profile *profile = xb_profiles_find(&f->profiles, 1);
    assert_true(xb_profile_add(&f->profiles, profile, activity));
}

static void explain(struct fixture *f)
{
    xb_profiles_sort(&f->profiles);
    f->found = xb_explain(&f->profiles, NULL, &f->memory)[0];
}

static void clean_up(struct fixture *f)
{
    xb_profiles_free(&f->profiles);
    xb_arena_free(f->memory);
}

static void assert_ns(double seconds, size_t nanoseconds)
{
    if (fabs(seconds * 1e9 - (double)nanoseconds) > 1e-3)
        fail_msg("%.9g s in place of %zu ns", seconds, nanoseconds);
}

static bool works[GPUS][XB_LANES][TIME]; /* nanosecond by nanosecond */

TEST(each_nanosecond_counts)
{
    static const struct xb_activity kinds[] = {
        {.kind = XB_ACTIVITY_COPY, .way = XB_WAY_TO_GPU},
        {.kind = XB_ACTIVITY_COPY, .way = XB_WAY_BACK},
        {.kind = XB_ACTIVITY_FILL},
        {.kind = XB_ACTIVITY_KERNEL},
    };
    static const enum xb_lane lanes[] = {XB_LANE_TO_GPU, XB_LANE_BACK, XB_LANE_AMONG,
                                         XB_LANE_KERNELS};
    struct fixture f = {.memory = NULL};
    (void)xb_profiles_name(&f.profiles, ""); /* of all activities */
    uint64_t random = 1;
    int64_t first = TIME, last = 0;
    for (int i = 0; i < SPANS; i++) {
        size_t kind = next_bits(&random) % 4;
        struct xb_activity one = kinds[kind];
        one.device = (int16_t)(next_bits(&random) % GPUS);
        one.begin = (int64_t)(next_bits(&random) % (TIME - 200));
        one.end = one.begin + (int64_t)(next_bits(&random) % (i % 50 == 0 ? 200 : 9));
        add(&f, &one);
        for (int64_t t = one.begin; t < one.end; t++)
            works[one.device][lanes[kind]][t] = true;
        first = one.begin < first ? one.begin : first;
        last = one.end > last ? one.end : last;
    }
    explain(&f);
    assert_ns(f.found.window, (size_t)(last - first));
    assert_int_equal(f.found.gpu_count, GPUS);
    for (size_t i = 0; i < GPUS; i++) {
        const struct xb_gpu_use *gpu = &f.found.gpus[i];
        size_t copying = 0, neither = 0;
        for (int64_t t = first; t < last; t++) {
            bool(*const at)[TIME] = works[gpu->device];
            bool copies = at[XB_LANE_TO_GPU][t] || at[XB_LANE_BACK][t] || at[XB_LANE_AMONG][t];
            copying += copies && !at[XB_LANE_KERNELS][t];
            neither += !copies && !at[XB_LANE_KERNELS][t];
        }
        assert_ns(gpu->copying, copying);
        assert_ns(gpu->neither, neither);
        for (int lane = 0; lane < XB_LANES; lane++) {
            size_t busy = 0;
            double shares = 0;
            for (int64_t t = first; t < last; t++)
                busy += works[gpu->device][lane][t];
            for (size_t k = 0; k < XB_EXPLAIN_BINS; k++) {
                assert_in_range(gpu->lanes[lane].shares[k] * 1e6, 0, 1000001);
                shares += gpu->lanes[lane].shares[k];
            }
            assert_ns(gpu->lanes[lane].busy, busy);
            assert_ns(shares * f.found.window / XB_EXPLAIN_BINS, busy);
        }
    }
    assert_int_equal(f.found.group_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const bool is_back = f.found.groups[i].way == XB_WAY_BACK;
        size_t seconds = 0, exposed = 0;
        for (int device = 0; device < GPUS; device++)
            for (int64_t t = first; t < last; t++) {
                bool copies = works[device][is_back ? XB_LANE_BACK : XB_LANE_TO_GPU][t];
                seconds += copies;
                exposed += copies && !works[device][XB_LANE_KERNELS][t];
            }
        assert_ns(f.found.groups[i].seconds, seconds);
        assert_ns(f.found.groups[i].exposed, exposed);
    }
    clean_up(&f);
}

/* In parts of 1021 / 40 ns rounding puts some beginnings into the part before. */
TEST(a_long_span_fills_each_part)
{
    struct fixture f = {.memory = NULL};
    (void)xb_profiles_name(&f.profiles, "");
    add(&f, &(struct xb_activity){.kind = XB_ACTIVITY_KERNEL, .end = 1021});
    explain(&f);
    for (size_t i = 0; i < XB_EXPLAIN_BINS; i++)
        assert_in_range(f.found.gpus[0].lanes[XB_LANE_KERNELS].shares[i] * 1e6, 999999, 1000001);
    clean_up(&f);
}

/* What finds no room of its own is in a group without names. */
TEST(nothing_is_lost_where_there_are_too_many)
{
    struct fixture f = {.memory = NULL};
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "call %d", i);
        struct xb_activity call = {.kind = XB_ACTIVITY_CALL, .begin = i, .end = i + 1};
        call.link = (uint32_t)i + 1;
        call.name = xb_profiles_name(&f.profiles, name);
        call.track = xb_profiles_track(&f.profiles, 1, -1, 1);
        struct xb_activity copy = {.kind = XB_ACTIVITY_COPY, .way = XB_WAY_TO_GPU, .bytes = 2};
        copy.begin = i;
        copy.end = i + 1;
        copy.link = call.link;
        copy.device = (int16_t)(i % 100);
        add(&f, &call);
        add(&f, &copy);
    }
    explain(&f);
    size_t copies = 0, of_gpus = 0;
    for (size_t i = 0; i < f.found.group_count; i++)
        copies += f.found.groups[i].count;
    for (size_t i = 0; i < f.found.gpu_count; i++)
        of_gpus += f.found.gpus[i].lanes[XB_LANE_TO_GPU].count;
    assert_int_equal(f.found.group_count, XB_EXPLAIN_GROUPS + 1);
    assert_int_equal(f.found.gpu_count, XB_EXPLAIN_GPUS);
    assert_int_equal(copies, 300);
    assert_int_equal(of_gpus, 300);
    clean_up(&f);
}
