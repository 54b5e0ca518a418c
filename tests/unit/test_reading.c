/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtok_r */
#include "checks.h"
#include "sink_fixture.h"

#include "base/file_text.h"
#include "measure/mode_list.h"
#include "run/reading.h"
#include "xferbench/reading.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what is printed about a record, and about a run's ---- */

/* Release with free(). */
static char *text_of(const struct xb_record *record)
{
    char *text = written_record(xb_reading_print, record);
    assert_narrow(text);
    return text;
}

static char *printed(const struct node *n)
{
    struct xb_record record;
    record_of(&n->run, &record);
    char *text = text_of(&record);
    xb_record_free(&record);
    return text;
}

/* Makes a wrapped line one again, so that a test does not depend on where it broke. */
static void unwrap(char *text)
{
    static const char turn[] = "\n               ";
    for (char *at = text; (at = strstr(at, turn)) != NULL;)
        memmove(at, at + sizeof turn - 2, strlen(at + sizeof turn - 2) + 1);
}

static void assert_read(const struct node *n, const char *part)
{
    char *text = printed(n);
    unwrap(text);
    assert_has(text, part);
    free(text);
}

static void assert_not_read(const struct node *n, const char *part)
{
    char *text = printed(n);
    unwrap(text);
    assert_lacks(text, part);
    free(text);
}

/* ---- figures ---- */

/* Gives a row the figure of that name, which a mode or the runner declares, or another value of it.
 */
static void set_figure(struct xb_result *row, const char *name, double value)
{
    const struct xb_figure *figure = xb_figure_find(name);
    assert_non_null(figure);
    set_computed(row, figure, value);
}

/* Both times of a copy: how long the call blocked, and until the data was there. */
static void set_times(struct xb_result *row, double submit, double wall)
{
    row->submit_times.count = row->wall_times.count = 0;
    add_same(&row->submit_times, submit);
    add_same(&row->wall_times, wall);
}

static void set_size(struct xb_result *row, uint64_t bytes, double gigabytes)
{
    row->test.bytes = row->bytes_moved = bytes;
    set_bandwidth(row, gigabytes);
}

/* ---- share of the link ---- */

/* 63.02 GB/s: what is no single copy over the link would show more, or another share. */
static void link_share_is_of_single_copies_only(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    n->run.device_count = 2;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    add(n, &async, "alloc", XB_BIDIR, 60);
    add(n, &double_buffer, "alloc", XB_BIDIR, 60);
    add(n, &managed, "prefetch", XB_H2D, 60); /* the runtime moves it when it likes */
    add(n, &zero_copy, "sequential", XB_H2D, 60)->bytes_moved = 512 * MIB;
    add(n, &async, "alloc", XB_H2D, 60)->device_timer = false;
    add(n, &async, "registered", XB_H2D, 60)->test.simultaneous = true;
    add(n, &async, "registered", XB_H2D, 60)->verified = XB_VERIFIED_UNKNOWN;
    add(n, &async, "registered", XB_H2D, 60)->stop_reason = XB_STOP_DEADLINE; /* cut short */
    add_pair(n, "direct-read", XB_D2D, 0, 1, 60);
    add(n, &pinned, "alloc", XB_D2H, 60)->test.peer = 1;
    struct xb_result *small = add(n, &pinned, "alloc", XB_D2H, 60);
    set_size(small, 16 * MIB - 1, 60);
    const char *rest =
        " Packet headers leave 84 to 95 % of it, for payloads of 128 to 512 bytes.\n";
    char line[256];
    snprintf(line, sizeof line,
             "Host to device, pinned alloc reaches 50 %% of the link's raw rate.%s", rest);
    assert_read(n, line);
    add(n, &zero_copy, "random", XB_D2H, 31.51);
    snprintf(line, sizeof line,
             "Host to device, pinned alloc reaches 50 %% of the link's raw rate. Device to host, "
             "zero-copy random 50 %%.%s",
             rest);
    assert_read(n, line);
    set_latency(copy, 1e-3, 1e-3);
    assert_read(n, ": Device to host, zero-copy random reaches 50 %"); /* the row itself is out */
}

static void link_share_needs_a_link_that_was_crossed(void **state)
{
    struct node *n = *state;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    assert_not_read(n, "raw rate"); /* the link is not known */
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    assert_read(n, "raw rate");
    n->devices[0].info.shares_host_memory = true;
    assert_not_read(n, "raw rate");
    n->devices[0].info.shares_host_memory = false;
    set_bandwidth(copy, 64); /* the link had gone to sleep when it was read */
    assert_not_read(n, "raw rate");
}

/* Each way has its own ceiling. */
static void link_share_is_of_the_ceiling_where_that_is_known(void **state)
{
    struct node *n = *state;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 55.42);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    const char *rest = " It is Gen5 x16 with a payload of 256 and read requests of 4096 bytes.\n";
    char line[320];
    snprintf(line, sizeof line,
             "Host to device, pinned alloc reaches 95.4 %% of what this link can carry (55.42 of "
             "58.08 GB/s).%s",
             rest);
    assert_read(n, line);
    assert_not_read(n, "raw rate");
    add(n, &pinned, "alloc", XB_D2H, 55.42);
    snprintf(line, sizeof line,
             "(55.42 of 58.08 GB/s). Device to host, pinned alloc 96.5 %% (55.42 of 57.46 GB/s).%s",
             rest);
    assert_read(n, line);
    set_bandwidth(copy, 58.1); /* more than there can be */
    assert_not_read(n, "this link can carry");
}

/* What anything in it would have to be guessed for is no ceiling. */
static void a_ceiling_is_never_assumed(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55.42);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    n->devices[0].path.hops[0].lower.control.known = false; /* not root */
    assert_read(n, "88 % of the link's raw rate");
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].readings = 0; /* only seen at rest */
    assert_read(n, "88 % of the link's raw rate");
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].speed_gts = 64; /* whose coding leaves nobody knows how much */
    assert_not_read(n, "this link can carry");
}

/* The link above the slot's that carries less is the one that counts, and is named. */
static void link_share_is_of_the_narrowest_link(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 26.0);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    n->devices[0].path.count = n->devices[0].load.count = 2;
    strcpy(n->devices[0].path.hops[1].lower.bdf, "0000:0e:00.0");
    n->devices[0].load.hops[1] = (struct xb_pcie_seen){.readings = 1, .speed_gts = 16, .width = 16};
    assert_read(n, "It is Gen4 x16 at 0000:0e:00.0 with a payload of 256");
    assert_read(n, "reaches 89.5 % of what this link can carry (26.00 of 29.04 GB/s)");
}

/* ---- one way against another ---- */

static void reading_of_pinning(void **state)
{
    struct node *n = *state;
    struct xb_result *slow = add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &pinned, "registered", XB_H2D, 40);
    add(n, &pinned, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n, "  pinning      Host to device, pinned alloc is 7.20 times as fast as pageable "
                   "(54.00 and 7.500 GB/s).\n");
    struct xb_result *other_way = add(n, &pageable, "malloc", XB_D2H, 5);
    assert_read(n, "  pinning      Host to device, pinned alloc is 7.20 times as fast as pageable "
                   "(54.00 and 7.500 GB/s). Device to host, pinned alloc is 11.0 times as fast as "
                   "pageable (55.00 and 5.000 GB/s).\n");
    other_way->verified = XB_VERIFIED_UNKNOWN;
    slow->test.device = 1;
    n->run.device_count = 2;
    assert_not_read(n, "pinning");
    slow->test.device = 0;
    assert_read(n, "  pinning      Device 0: Host to device, pinned alloc is 7.20 times");
    set_size(slow, 16 * MIB, 7.5);
    assert_not_read(n, "pinning");
    set_size(&n->results[1], 16 * MIB, 40);
    assert_read(n, "  pinning      Device 0, 16 MiB: Host to device, pinned registered is 5.33 "
                   "times as fast as pageable (40.00 and 7.500 GB/s).\n");
    slow->stop_reason = XB_STOP_INTERRUPTED; /* cut short: too few samples to speak of */
    assert_not_read(n, "pinning");
    slow->stop_reason = XB_STOP_CONVERGED;
    set_size(slow, 16 * MIB - 1, 7.5);
    set_size(&n->results[1], 16 * MIB - 1, 40);
    assert_not_read(n, "pinning");
}

/* What is not faster is not called so, and figures by two clocks say which is whose. */
static void words_of_a_comparison_follow_its_figures(void **state)
{
    struct node *n = *state;
    struct xb_result *first = add(n, &managed, "fault", XB_D2H, 20);
    struct xb_result *second = add(n, &managed, "prefetch", XB_D2H, 20);
    assert_read(n, "Device to host, managed prefetch is as fast as managed fault (20.00 and 20.00 "
                   "GB/s).\n");
    set_bandwidth(second, 15);
    assert_read(n, "managed prefetch is 75 % as fast as managed fault (15.00 and 20.00 GB/s).\n");
    first->device_timer = false;
    assert_read(n, " (15.00 and, by the host's clock, 20.00 GB/s).\n");
    first->device_timer = true;
    second->device_timer = false;
    assert_read(n, " (by the host's clock 15.00 and 20.00 GB/s).\n");
    first->device_timer = false;
    assert_read(n, " (15.00 and 20.00 GB/s).\n"); /* like with like */
}

static void reading_of_managed(void **state)
{
    struct node *n = *state;
    add(n, &managed, "fault", XB_H2D, 12.5);
    add(n, &managed, "advise", XB_H2D, 60);
    assert_not_read(n, "  managed");
    add(n, &managed, "prefetch", XB_H2D, 50);
    assert_read(n, "  managed      Host to device, managed prefetch is 4.00 times as fast as "
                   "managed fault (50.00 and 12.50 GB/s).\n");
}

/* ---- both ways at once ---- */

/* Seven samples of six placements, at 80, 82, ... 90 GB/s. */
static void reading_of_placements(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 90);
    const char *line = " Where the host's memory lies decides: 6 places gave 80.00 to 90.00 GB/s.";
    set_figure(both, "overlap", 0.97);
    assert_int_equal(both->times.count, 7);
    for (size_t i = 0; i < 6; i++)
        both->times.values[i] = (double)both->bytes_moved / (80e9 + 2e9 * (double)i);
    assert_not_read(n, "Where the host's memory lies"); /* all of one, as far as anybody knows */
    both->placement_count = 6;
    for (size_t i = 0; i < 6; i++)
        both->placement_samples[i] = i < 5 ? 1 : 2;
    assert_read(n, line);
    both->placement_count = 5; /* too few */
    both->placement_samples[4] = 3;
    assert_not_read(n, "Where the host's memory lies");
}

static void reading_of_both_ways(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    assert_not_read(n, "both ways"); /* nothing says that it is two copies */
    set_figure(both, "overlap", 0.97);
    assert_read(n, "  both ways    async alloc moves 91.00 GB/s both ways at once. Both ways moved "
                   "data 97 % of the time.\n"); /* beside nothing */
    add(n, &async, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 56);
    add(n, &pinned, "alloc", XB_H2D, 55);
    add(n, &managed, "prefetch", XB_H2D, 60); /* no crossing of the link */
    assert_read(n, "at once, 1.62 times the best single way (pinned alloc d2h, 56.00 GB/s). Both");
    set_figure(both, "bandwidth_h2d", 42.9e9);
    set_figure(both, "bandwidth_d2h", 51.4e9);
    assert_read(n, "  both ways    async alloc moves 91.00 GB/s both ways at once (42.90 to the "
                   "device, 51.40 from it), 1.62 times the best single way (pinned alloc d2h, "
                   "56.00 GB/s). Both ways moved data 97 % of the time.\n");
    set_figure(both, "overlap", 0);
    assert_read(n, "(pinned alloc d2h, 56.00 GB/s).\n"); /* of a zero nothing is said */
    set_figure(both, "overlap", (double)NAN);
    assert_read(n, "(pinned alloc d2h, 56.00 GB/s).\n");
    both->bytes_moved = 256 * MIB; /* then it is no sum */
    assert_not_read(n, "both ways");
}

static void reading_of_double_buffer(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_BIDIR, 30);
    assert_not_read(n, "pipeline");
    set_figure(row, "speed_up", 1.85);
    assert_read(n, "  pipeline     double-buffer alloc is 1.85 times as fast as one step after the "
                   "other.\n");
    set_figure(row, "gpu_busy", 0.48);
    set_figure(row, "share_of_bound", 0.93);
    assert_read(n, "after the other. The device computed 48 % of the time. Throughput is 93 % of "
                   "the best possible here.\n");
    set_figure(row, "gpu_busy", 1.02); /* noise */
    set_figure(row, "share_of_bound", 1.01);
    assert_read(n, " The device computed 100 % of the time. Throughput is 100 % of the best");
    set_figure(row, "gpu_busy", 0);
    set_figure(row, "share_of_bound", (double)NAN);
    assert_read(n, "after the other.\n");
    assert_not_read(n, "both ways"); /* what computes is no sum of two copies */
}

static void reading_of_blocking(void **state)
{
    struct node *n = *state;
    struct xb_result *held = add(n, &pageable, "malloc", XB_H2D, 7.5);
    set_times(held, 0.0349, 0.035);
    add(n, &async, "alloc", XB_H2D, 54); /* 0.1 % */
    assert_read(n, "  blocking     Host to device, a pageable copy blocks the calling thread until "
                   "it is done; a pinned one returns at once.\n");
    set_times(held, 0.021, 0.035);
    /* pinned goes before async */
    struct xb_result *free_at_once = add(n, &pinned, "alloc", XB_H2D, 50);
    set_times(free_at_once, 1e-4, 5e-3);
    assert_read(n, "a pageable copy blocks the calling thread for 60 % of its time; a pinned one "
                   "blocks the calling thread for 2.0 % of its time.\n");
    free_at_once->wall_times.count = 0;
    assert_not_read(n, "blocking");
}

static void reading_of_blocking_by_one_mode(void **state)
{
    struct node *n = *state;
    add(n, &async, "registered", XB_H2D, 54);
    set_times(add(n, &async, "pageable", XB_H2D, 7), 0.035, 0.035);
    assert_read(n, "a pageable copy blocks the calling thread until it is done; a pinned one "
                   "returns at once.\n");
}

/* What a copy to the device does to those to the host. All rates have intervals without width. */
static void reading_after_h2d(void **state)
{
    struct node *n = *state;
    const struct xb_figure *after = xb_figure_find("bandwidth_after_h2d");
    const char advice[] = "Give each direction a queue of its own";
    struct xb_result *row = add(n, &pinned, "registered", XB_D2H, 56);
    assert_not_read(n, "after h2d"); /* not measured */
    add_figure(row, after, 48e9);
    assert_read(n, "  after h2d    Device to host, pinned registered is 86 % as fast right after a "
                   "copy to the device on the same queue (48.00, without it 56.00 GB/s). Give each "
                   "direction a queue of its own: one that copies only to the host keeps the "
                   "faster rate. Or try HSA_ENABLE_SDMA=0, with which shaders copy in place of the "
                   "engines.\n");
    struct xb_samples *samples = &row->figures[row->figure_count - 1].samples;
    samples->values[0] = 57e9; /* of 7 the least and the most are the interval's ends */
    assert_read(n, "registered is as fast, within the noise, right after a copy to the device on "
                   "the same queue (48.00, without it 56.00 GB/s).\n");
    for (size_t i = 0; i < samples->count; i++)
        samples->values[i] = 55.5e9; /* sure, and not worth an advice */
    assert_read(n, "(55.50, without it 56.00 GB/s).\n");
    assert_not_read(n, advice);
    for (size_t i = 0; i < samples->count; i++)
        samples->values[i] = 70e9;
    assert_read(n, "registered is 1.25 times as fast right after a copy to the device");
    assert_not_read(n, advice);
    samples->count = 5; /* too few for an interval */
    assert_not_read(n, "after h2d");
}

static void reading_of_zero_copy(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    assert_not_read(n, "in place"); /* nothing was compared */
    set_figure(row, "explicit_time", 0.006);
    assert_read(n, "  in place     Read in place: copying first is not faster, however often the "
                   "kernel reads the data.\n");
    set_figure(row, "break_even_passes", 0);
    assert_read(n, "  in place     Read in place: copying first is not faster");
    set_figure(row, "break_even_passes", 2);
    assert_read(n, "  in place     Copy first if the kernel reads the data 2 times or more: that "
                   "is faster than reading it in place.\n");
    set_figure(row, "break_even_passes", 1);
    assert_read(n, "  in place     Copy first: faster even if the kernel reads the data only "
                   "once.\n");
    set_figure(row, "break_even_passes", 0.5); /* of two processes one says 1 and one never */
    assert_not_read(n, "in place");
    set_figure(row, "break_even_passes", 1);
    row->test.variant = "strided";
    assert_not_read(n, "in place");
}

static struct xb_result *add_loads(struct node *n, const char *variant, enum xb_direction direction,
                                   double seconds)
{
    const struct xb_mode *loads = xb_mode_find("loads");
    struct xb_result *row = add_latency(n, loads, direction);
    row->test.variant = variant;
    row->test.bytes = 2 * MIB;
    add_figure(row, loads->latency, seconds);
    return row;
}

/* Of however little memory, in the first order that has both. */
static void reading_of_loads(void **state)
{
    struct node *n = *state;
    add_loads(n, "random", XB_H2D, 1.5e-6);
    add_loads(n, "random", XB_D2D, 0.5e-6);
    add_loads(n, "sequential", XB_H2D, 1.175e-6);
    assert_read(n, "  loads        A load takes 500 ns from the device's own memory; 1.50 us from "
                   "the host's, 3.00 times as long.\n");
    struct xb_result *own = add_loads(n, "sequential", XB_D2D, 235e-9);
    assert_read(n, "  loads        A load takes 235 ns from the device's own memory; 1.18 us from "
                   "the host's, 5.00 times as long.\n");
    n->devices[0].info.shares_host_memory = true;
    assert_not_read(n, "loads  ");
    n->devices[0].info.shares_host_memory = false;
    add(n, &pinned, "alloc", XB_H2D, 50);
    assert_read(n, "  loads        2 MiB: A load takes 235 ns");
    spoil(own, XB_RESULT_ERROR, "wrong");
    assert_read(n, "A load takes 500 ns");
}

/* The reader of a pair is the second device. */
static void reading_of_loads_from_peers(void **state)
{
    struct node *n = *state;
    const struct xb_mode *mode = xb_mode_find("peer-loads");
    n->run.device_count = 3;
    for (unsigned from = 0; from < 3; from++) {
        struct xb_result *row = add_latency(n, mode, XB_D2D);
        row->test.variant = "sequential";
        row->test.bytes = 2 * MIB;
        row->test.device = from;
        row->test.peer = from == 0 ? 1 : 0;
        add_figure(row, mode->latency, 800e-9 + 100e-9 * from);
    }
    assert_not_read(n, "loads  ");
    add_loads(n, "sequential", XB_D2D, 200e-9);
    assert_read(n,
                "  loads        Device 0: A load takes 200 ns from the device's own memory; 950 ns "
                "from a peer's (median of 2), 4.75 times as long.\n");
    add_loads(n, "sequential", XB_H2D, 1e-6);
    add_loads(n, "sequential", XB_D2D, 200e-9)->test.device = 1;
    assert_read(
        n, "  loads        Device 0: A load takes 200 ns from the device's own memory; 1.00 us "
           "from the host's, 5.00 times as long; 950 ns from a peer's (median of 2), 4.75 "
           "times as long.\n");
    assert_read(n,
                "  loads        Device 1: A load takes 200 ns from the device's own memory; 800 ns "
                "from a peer's, 4.00 times as long.\n");
}

static void reading_of_local_copies(void **state)
{
    static const struct xb_mode local = {.name = "local"};
    struct node *n = *state;
    struct xb_result *engine = add(n, &local, "engine", XB_D2D, 1800);
    assert_not_read(n, "local");
    add(n, &pinned, "alloc", XB_H2D, 50);
    assert_read(n,
                "  local        local engine copies 1800 GB/s within the device, 36.0 times what "
                "pinned alloc brings from the host.\n");
    add(n, &local, "kernel", XB_D2D, 2000);
    assert_read(n,
                "  local        local kernel copies 2000 GB/s within the device, 40.0 times what "
                "pinned alloc brings from the host. By kernel it is 1.11 times as fast as by "
                "engine.\n");
    n->devices[0].info.shares_host_memory = true; /* which has no host beside it */
    assert_read(n, "  local        local kernel copies 2000 GB/s within the device. By kernel it "
                   "is 1.11 times as fast as by engine.\n");
    spoil(engine, XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "  local  ");
}

/* ---- several devices ---- */

static void reading_of_pairs(void **state)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 390);
    add_pair(n, "direct-write", XB_D2D, 0, 1, 400);
    assert_not_read(n, "peer");
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    assert_read(n, "  peer         One way, direct copies are 10.0 times as fast as copies staged "
                   "through the host.\n");
    add_pair(n, "direct-read", XB_D2D, 1, 0, 390);
    add_pair(n, "staged", XB_D2D, 1, 0, 30); /* 13 */
    add_pair(n, "direct-read", XB_D2D, 0, 2, 380);
    add_pair(n, "staged", XB_D2D, 0, 2, 40); /* 9.5 */
    add_pair(n, "staged", XB_D2D, 2, 0, 1);  /* has no direct one */
    spoil(add_pair(n, "direct-read", XB_D2D, 2, 0, 500), XB_RESULT_ERROR, "wrong");
    add_pair(n, "direct-read", XB_BIDIR, 0, 1, 780);
    add_pair(n, "staged", XB_BIDIR, 0, 1, 78);
    assert_read(n, "  peer         One way, direct copies are 10.0 times as fast as copies staged "
                   "through the host (median of 3 pairs; from 9.50 times to 13.0 times).\n");
    assert_read(n, "  peer         Both ways at once, direct copies are 10.0 times as fast");
}

/* Of each pair the best of either way: which copies are direct matters, not what makes them. */
static void reading_of_pairs_by_kernel(void **state)
{
    struct node *n = *state;
    n->run.device_count = 2;
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 380), "engine");
    set_by(add_pair(n, "direct-write", XB_D2D, 0, 1, 400), "engine");
    set_by(add_pair(n, "staged", XB_D2D, 0, 1, 40), "engine");
    assert_not_read(n, "by kernel");
    set_by(add_pair(n, "staged", XB_D2D, 0, 1, 20), "kernel");
    assert_not_read(n, "by kernel");
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 360), "kernel");
    set_by(add_pair(n, "direct-write", XB_D2D, 0, 1, 390), "kernel");
    assert_read(n, "  peer         One way, direct copies are 10.0 times as fast as copies staged "
                   "through the host.\n");
    assert_read(n, "  by kernel    One way, direct copies by kernel are 98 % as fast as those by "
                   "copy engine.\n");
    add_pair(n, "direct-read", XB_BIDIR, 0, 1, 800); /* of a file without the parameter */
    set_by(add_pair(n, "direct-read", XB_BIDIR, 0, 1, 880), "kernel");
    assert_read(n, "  by kernel    Both ways at once, direct copies by kernel are 1.10 times as "
                   "fast as those by copy engine.\n");
}

static void reading_of_devices_together(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    /* of another direction, and in a file nothing says that they have a sum */
    for (unsigned i = 0; i < NODE_DEVICES; i++) {
        struct xb_result *other = add(n, &pinned, "alloc", XB_D2H, 50);
        other->test.simultaneous = true;
        other->test.device = i;
    }
    assert_read(n, "  all at once  pinned alloc h2d moves 166.5 GB/s on 4 devices at once. All "
                   "moved data 98 % of the time. Each by what it has alone: device 1 74 %, device "
                   "3 74 %, device 0 76 % (the others were not measured alone).\n");
    add(n, &pinned, "alloc", XB_H2D, 100)->test.device = 1; /* slow is said of those alone */
    assert_not_read(n, "slow");
    set_figure(&n->results[0], "overlap", 0);
    set_figure(&n->results[3], "share_of_alone", 0.5);
    assert_read(n, "on 4 devices at once. Each by what it has alone: device 2 50 %, device 1 74 %, "
                   "device 3 74 %, device 0 76 %.\n");
    spoil(&n->results[2], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all at once");
}

static void larger_groups_speak_for_smaller_ones(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0.75, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 150, rates, shares);
    for (size_t i = 0; i <= NODE_DEVICES; i++) {
        n->results[i].test.bytes /= 4;
        n->results[i].bytes_moved /= 4;
    }
    set_bandwidth(&n->results[0], 150);
    assert_read(n, "  all at once  pinned alloc h2d moves 150.0 GB/s");
    add_together(n, XB_H2D, 166.5, rates, shares);
    assert_read(n, "  all at once  256 MiB: pinned alloc h2d moves 166.5 GB/s");
    assert_not_read(n, "150.0 GB/s");
}

static void reading_of_groups_of_pairs(void **state)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 0, 390, 195, 0.49);
    assert_read(n,
                "  one to all   peer direct-read moves 390.0 GB/s from one device to 2 others at "
                "once. A pair keeps 49 % of what it has alone (median).\n");
    assert_not_read(n, "all to one");
    assert_not_read(n, "all at once");
    /* The fastest way is told, by the median of its groups. */
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 0, 700, 350, 0);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 1, 396, 198, 0.51);
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 1, 100, 50, 0);
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 2, 100, 50, 0);
    assert_read(n,
                "  one to all   peer direct-read moves 393.0 GB/s from one device to 2 others at "
                "once (median of 2; from 390.0 to 396.0). A pair keeps 50 % of");
    add_group(n, "direct-write", XB_GROUP_ALL_TO_ONE, 2, 380, 190, 0);
    assert_read(n,
                "  all to one   peer direct-write moves 380.0 GB/s from 2 others to one device at "
                "once.\n");
    assert_read(n, "  one to all   peer direct-read moves 393.0 GB/s");
    spoil(&n->results[n->run.case_count - 1], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all to one");
}

static void reading_of_slow_ways(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &managed, "fault", XB_H2D, 24.99);
    struct xb_result *half = add(n, &zero_copy, "strided", XB_H2D, 25);
    add(n, &pageable, "malloc", XB_D2H, 14.8);
    add(n, &double_buffer, "alloc", XB_BIDIR, 1); /* computes as well */
    add(n, &async, "alloc", XB_BIDIR, 200);
    add(n, &zero_copy, "random", XB_H2D, 1)->bytes_moved = 512 * MIB; /* two passes */
    assert_read(n, "  slow         Host to device, pageable reaches 7.500 GB/s, 15 % of pinned "
                   "alloc; managed fault 24.99 GB/s, 50 %.\n");
    assert_not_read(n, "strided");
    assert_not_read(n, "slow         Device to host");
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n, "  slow         Device to host, pageable reaches 14.80 GB/s, 27 % of pinned "
                   "alloc.\n");
    set_bandwidth(half, 24.9);
    half->test.device = 1; /* compared with nothing of device 0 */
    n->run.device_count = 2;
    assert_not_read(n, "strided");
}

/* ---- any mode ---- */

static const struct xb_figure hops = {
    .name = "hops", .unit = XB_UNIT_RATIO, .help = "What only this mode knows"};
static const struct xb_figure *const visitor_figures[] = {&hops, NULL};

static bool say_hops(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *test =
        xb_reading_best(reading, device, bytes, XB_H2D, "visitor", NULL);
    double count = xb_reading_median(reading, test, &hops);
    if (!(count > 0))
        return false;
    xb_reading_add_name(reading, test);
    xb_reading_add(reading, " took %.0f hops.", count);
    return true;
}

static const struct xb_reading_line visitor_lines[] = {{.label = "visiting", .say = say_hops},
                                                       {.label = NULL}};

/* A mode that nothing else knows; tests/CMakeLists.txt adds it to this program's list. */
extern const struct xb_mode xb_mode_visitor;
const struct xb_mode xb_mode_visitor = {.name = "visitor",
                                        .variant = "only",
                                        .directions = XB_H2D,
                                        .figures = visitor_figures,
                                        .reading = visitor_lines};

static void a_mode_of_its_own_has_its_line_and_the_general_ones(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &xb_mode_visitor, "only", XB_H2D, 10);
    assert_not_read(n, "Reading");
    set_figure(row, "hops", 3);
    assert_read(n, "\nReading\n  visiting     visitor took 3 hops.\n");
    add(n, &pinned, "alloc", XB_H2D, 50);
    assert_read(n, "  slow         Host to device, visitor reaches 10.00 GB/s, 20 % of pinned "
                   "alloc.\n");
}

/* A file of a newer program may have such a mode. */
static void a_mode_that_is_not_known_has_the_general_lines(void **state)
{
    static const struct xb_mode stranger = {.name = "stranger"};
    struct node *n = *state;
    struct xb_result *both = add(n, &stranger, "word", XB_BIDIR, 80);
    set_figure(both, "bandwidth_h2d", 40e9);
    set_figure(both, "bandwidth_d2h", 40e9);
    add(n, &stranger, "word", XB_H2D, 50);
    assert_read(n, "  both ways    stranger word moves 80.00 GB/s both ways at once (40.00 to the "
                   "device, 40.00 from it), 1.60 times the best single way (stranger word h2d, "
                   "50.00 GB/s).\n");
}

/* ---- several processes ---- */

#define PROCESSES 3

/* Records of one process each as one of several; it borrows their rows. */
static void merge(struct xb_record records[PROCESSES], struct xb_record *merged)
{
    *merged = records[0];
    merged->is_merged = true;
    merged->process_count = merged->asked_processes = PROCESSES;
    merged->processes = calloc(PROCESSES, sizeof *merged->processes);
    merged->cases = calloc(records[0].case_count, sizeof *merged->cases);
    assert_non_null(merged->processes);
    assert_non_null(merged->cases);
    for (size_t p = 0; p < PROCESSES; p++)
        merged->processes[p] = records[p].processes[0];
    for (size_t i = 0; i < merged->case_count; i++) {
        struct xb_record_case *test = &merged->cases[i];
        *test = records[0].cases[i];
        test->rows = calloc(PROCESSES, sizeof *test->rows);
        assert_non_null(test->rows);
        for (size_t p = 0; p < PROCESSES; p++)
            test->rows[p] = records[p].cases[i].rows[0];
    }
}

static void free_merged(struct xb_record *merged)
{
    for (size_t i = 0; i < merged->case_count; i++)
        free(merged->cases[i].rows);
    free(merged->cases);
    free(merged->processes);
}

/* Of the three the middle one has the medians; it says alone what they say together. */
static void several_processes_are_read_as_one(void **state)
{
    static const double factors[PROCESSES] = {1.1, 1, 0.9};
    static const double shares[] = {0.76, 0.74, 0.75, 0.74};
    static const double rates[] = {41, 42, 41.5, 42};
    struct node *n = *state;
    struct xb_record records[PROCESSES];
    struct xb_record merged;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    struct xb_result *slow = add(n, &pageable, "malloc", XB_H2D, 7.5);
    struct xb_result *fast = add(n, &pinned, "alloc", XB_H2D, 50);
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    struct xb_result *piped = add(n, &double_buffer, "alloc", XB_BIDIR, 80);
    struct xb_result *placed = add(n, &zero_copy, "sequential", XB_H2D, 40);
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    set_figure(placed, "explicit_time", 1);
    for (size_t p = 0; p < PROCESSES; p++) {
        set_bandwidth(slow, 7.5 * factors[p]);
        set_bandwidth(fast, 50 * factors[p]);
        set_figure(both, "overlap", 0.9 * factors[p]);
        set_figure(piped, "speed_up", 2 * factors[p]);
        set_figure(placed, "break_even_passes", (double)p + 1);
        record_of(&n->run, &records[p]);
    }
    merge(records, &merged);
    char *together = text_of(&merged);
    char *alone = text_of(&records[1]);
    assert_string_equal(together, alone);
    unwrap(together);
    static const char *const parts[] = {"  link  ",    "  pinning  ", "  blocking  ",
                                        "  both ways", "  pipeline ", "reads the data 2 times",
                                        "  peer  ",    "all at once", "  slow  "};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_has(together, parts[i]);
    free(together);
    free(alone);
    free_merged(&merged);
    for (size_t p = 0; p < PROCESSES; p++)
        xb_record_free(&records[p]);
}

/* One that failed takes the case out; one that was cut short only leaves the others to speak. */
static void processes_that_did_not_finish(void **state)
{
    struct node *n = *state;
    struct xb_record records[PROCESSES];
    struct xb_record merged;
    struct xb_result *slow = add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &pinned, "alloc", XB_H2D, 50);
    record_of(&n->run, &records[0]);
    record_of(&n->run, &records[2]);
    set_bandwidth(slow, 1);
    slow->stop_reason = XB_STOP_DEADLINE;
    record_of(&n->run, &records[1]);
    merge(records, &merged);
    char *text = text_of(&merged);
    assert_has(text, "pageable reaches 7.500 GB/s, 15 % of pinned alloc.");
    free(text);
    merged.cases[0].rows[2].status = XB_RESULT_ERROR;
    text = text_of(&merged);
    assert_lacks(text, "Reading");
    free(text);
    free_merged(&merged);
    for (size_t p = 0; p < PROCESSES; p++)
        xb_record_free(&records[p]);
}

/* ---- the text ---- */

static void readings_break_between_words_not_before_units(void **state)
{
    struct node *n = *state;
    char variant[20] = "";
    for (size_t length = 1; length < sizeof variant; length++) {
        memset(variant, 'v', length);
        n->run.case_count = 0;
        xb_result_free(&n->results[0]);
        memset(&n->results[0], 0, sizeof n->results[0]);
        struct xb_result *row = add(n, &double_buffer, variant, XB_BIDIR, 30);
        set_figure(row, "speed_up", 1.85);
        set_figure(row, "gpu_busy", 0.48);
        char *text = printed(n);
        assert_lacks(text, "\n               %");
        free(text);
    }
}

/* Percentiles are for figures of their own: nothing is concluded from them. */
static void nothing_is_read_from_latencies(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 5);
    assert_read(n, "slow");
    for (size_t i = 0; i < 2; i++)
        set_latency(&n->results[i], 5e-3, 5e-3);
    char *text = printed(n);
    assert_string_equal(text, "");
    free(text);
}

static void reading_keeps_quiet_where_there_is_nothing(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &async, "alloc", XB_H2D, 50);
    char *text = printed(n);
    assert_string_equal(text, "");
    free(text);
}

/* A file may name its modes as it likes: that must not reach a terminal as it is. */
static void names_are_printed_as_plain_text(void **state)
{
    static const struct xb_mode nasty = {.name = "\x1b[31mred"};
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &nasty, "a\x07", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 5);
    char *text = printed(n);
    assert_has(text, "Host to device, ?[31mred a? reaches 79 %");
    assert_has(text, "10 % of ?[31mred a?.\n");
    assert_null(strpbrk(text, "\x1b\x07"));
    free(text);
}

/* ---- the README ---- */

/* The README shows what is printed for a file that is there: a sample that was edited by hand, or
 * sentences that changed since, are found. */
static void readme_shows_what_is_printed(void **state)
{
    (void)state;
    struct xb_record record = {0};
    struct xb_error error;
    char *readme = NULL;
    size_t length = 0;
    char *rest = NULL;
    assert_int_equal(xb_record_read(SOURCE "/bench/results/h200/all-1g-5.json", &record, &error),
                     XB_OK);
    assert_int_equal(
        xb_file_text_read(SOURCE "/README.md", 1 << 20, false, &readme, &length, &error), XB_OK);
    char *text = text_of(&record);
    assert_has(text, "Reading");
    for (char *part = strtok_r(text, "\n", &rest); part != NULL;
         part = strtok_r(NULL, "\n", &rest)) {
        char line[200];
        snprintf(line, sizeof line, "\n    %s\n", part);
        assert_has(readme, line);
    }
    free(text);
    free(readme);
    xb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(link_share_is_of_single_copies_only),
        NODE_TEST(link_share_needs_a_link_that_was_crossed),
        NODE_TEST(link_share_is_of_the_ceiling_where_that_is_known),
        NODE_TEST(a_ceiling_is_never_assumed),
        NODE_TEST(link_share_is_of_the_narrowest_link),
        NODE_TEST(reading_of_pinning),
        NODE_TEST(words_of_a_comparison_follow_its_figures),
        NODE_TEST(reading_of_managed),
        NODE_TEST(reading_of_placements),
        NODE_TEST(reading_of_both_ways),
        NODE_TEST(reading_of_double_buffer),
        NODE_TEST(reading_of_blocking),
        NODE_TEST(reading_of_blocking_by_one_mode),
        NODE_TEST(reading_after_h2d),
        NODE_TEST(reading_of_zero_copy),
        NODE_TEST(reading_of_loads),
        NODE_TEST(reading_of_loads_from_peers),
        NODE_TEST(reading_of_local_copies),
        NODE_TEST(reading_of_pairs),
        NODE_TEST(reading_of_pairs_by_kernel),
        NODE_TEST(reading_of_devices_together),
        NODE_TEST(reading_of_groups_of_pairs),
        NODE_TEST(larger_groups_speak_for_smaller_ones),
        NODE_TEST(reading_of_slow_ways),
        NODE_TEST(a_mode_of_its_own_has_its_line_and_the_general_ones),
        NODE_TEST(a_mode_that_is_not_known_has_the_general_lines),
        NODE_TEST(several_processes_are_read_as_one),
        NODE_TEST(processes_that_did_not_finish),
        NODE_TEST(readings_break_between_words_not_before_units),
        NODE_TEST(nothing_is_read_from_latencies),
        NODE_TEST(reading_keeps_quiet_where_there_is_nothing),
        NODE_TEST(names_are_printed_as_plain_text),
        cmocka_unit_test(readme_shows_what_is_printed),
    };
    return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
