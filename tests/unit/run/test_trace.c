/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Timelines made by hand, as they are drawn and as trace events. */

#include "testing.h"

#include "checks.h"
#include "measure/engine/stage.h"
#include "measure/run.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS 1e-3
#define MOST_SPANS 40

static const struct xb_stage stages[] = {
    {.name = "read", .engine = XB_ENGINE_HOST},
    {.name = "copy", .engine = XB_ENGINE_COPY},
    {.name = "compute", .engine = XB_ENGINE_COMPUTE},
    {.name = NULL},
};
static const struct xb_mode line = {.name = "line", .stages = stages};
static const struct xb_mode plain = {.name = "plain"};

/* A result with a timeline; threads are tracks 0 and 1, stream 0 is track 2. One column of a
 * drawing is a millisecond of its 60. */
struct made {
    struct xb_track tracks[3];
    struct xb_timeline_span spans[MOST_SPANS];
    struct xb_timeline timeline;
    struct xb_result result;
};

static void begin(struct made *made, const struct xb_mode *mode)
{
    *made = (struct made){
        .tracks = {{.kind = XB_TRACK_THREAD},
                   {.kind = XB_TRACK_THREAD, .number = 1},
                   {.kind = XB_TRACK_QUEUE}},
        .timeline = {.track_count = 3, .seconds = 60 * MS, .clock_error = 2e-6},
        .result = {.test = {.mode = mode,
                            .variant = "only",
                            .direction = XB_H2D,
                            .bytes = 1024,
                            .peer = XB_NO_PEER},
                   .bytes_moved = 1000,
                   .bandwidth = {.n = 1, .median = 20000}},
    };
    made->timeline.tracks = made->tracks;
    made->timeline.spans = made->spans;
    made->result.timeline = &made->timeline;
}

/* From and to in milliseconds. */
static struct xb_timeline_span *add(struct made *made, size_t track, enum xb_span_kind kind,
                                    double from, double to)
{
    assert_true(made->timeline.span_count < MOST_SPANS);
    struct xb_timeline_span *span = &made->spans[made->timeline.span_count++];
    *span = (struct xb_timeline_span){
        .track = track, .kind = kind, .begin = from * MS, .end = to * MS, .name = "x"};
    return span;
}

static void add_turn(struct made *made, size_t track, enum xb_span_kind kind, const char *stage,
                     uint64_t item, double from, double to)
{
    struct xb_timeline_span *span = add(made, track, kind, from, to);
    span->stage = stage;
    span->item = item;
}

/* Three items: two threads read one in 10 ms, it is copied in 5 and computed on in 10. */
static void make_line(struct made *made)
{
    begin(made, &line);
    made->timeline.workers = 2;
    for (size_t thread = 0; thread < 2; thread++)
        for (uint64_t i = 0; i < 3; i++)
            add_turn(made, thread, XB_SPAN_WORK, "read", i, 10.0 * (double)i,
                     10.0 * (double)i + 10);
    for (uint64_t i = 0; i < 3; i++) {
        double from = 10.0 * (double)i;
        add_turn(made, 2, XB_SPAN_COPY, "copy", i, from + 10, from + 15);
        add_turn(made, 2, XB_SPAN_KERNEL, "compute", i, from + 15, from + 25);
    }
}

static char *drawn_in(const struct made *made, size_t width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    xb_timeline_print(stream, width, &made->result);
    fclose(stream);
    return text;
}

static char *drawn(const struct made *made)
{
    return drawn_in(made, 100); /* more than a drawing takes */
}

#define SCALE "                    |0                            |30.0 ms              60.0 ms|\n"
#define LEGEND "numbers: chunks or batches; narrow cells show the last digit\n"

TEST(test_a_row_a_stage)
{
    struct made made;
    make_line(&made);
    char *text = drawn(&made);
    assert_string_equal(
        text, "\nTimeline: line only h2d 1 KiB device 0\n"
              "One iteration, recorded: 60.0 ms (median of the samples: 50.0 ms)\n"
              "read (CPU)          [---0----][---1----][---2----]\n"
              "copy (copy)                   [-0-]     [-1-]     [-2-]\n"
              "compute (device)                   [---0----][---1----][---2----]\n" SCALE LEGEND
              "at work: read (CPU) 50 %, copy (copy) 25 %, compute (device) 50 %\n");
    free(text);
}

TEST(test_a_narrow_drawing)
{
    struct made made;
    make_line(&made);
    char *text = drawn_in(&made, 60);
    assert_string_equal(text,
                        "\nTimeline: line only h2d 1 KiB device 0\n"
                        "One iteration, recorded: 60.0 ms (median of the samples:\n  50.0 ms)\n"
                        "read (CPU)          [--0--][-1--][--2--]\n"
                        "copy (copy)                [0]   [1-]   [2]\n"
                        "compute (device)              [--0--][-1--][--2--]\n"
                        "                    |0                  |30.0 ms    60.0 ms|\n" LEGEND
                        "at work: read (CPU) 50 %, copy (copy) 25 %, compute (device)\n  50 %\n");
    free(text);
    text = drawn_in(&made, 40);
    assert_has(text, "\n                    |0          60.0 ms|\n"); /* no middle */
    free(text);
}

/* Of three readers one reads an item in two turns, and two find nothing to do: its cell spans all
 * of the time, its share is that of the turns by the three. */
TEST(test_a_share_is_the_mean_of_the_threads)
{
    struct made made;
    begin(&made, &line);
    made.timeline.workers = 3;
    add_turn(&made, 1, XB_SPAN_WORK, "read", 0, 0, 3);
    add_turn(&made, 1, XB_SPAN_WAIT, "read", 0, 3, 54);
    add_turn(&made, 1, XB_SPAN_WORK, "read", 0, 54, 60);
    add_turn(&made, 2, XB_SPAN_COPY, "copy", 0, 40, 46);
    add_turn(&made, 2, XB_SPAN_COPY, "copy", 1, 43, 49);
    add_turn(&made, 2, XB_SPAN_COPY, "copy", 2, 55, 58);
    struct xb_shares shares = xb_stage_shares(&stages[0], &made.timeline);
    assert_true(fabs(shares.busy - 9.0 / 60 / 3) < 1e-9);
    assert_true(fabs(shares.wait - 51.0 / 60 / 3) < 1e-9);
    shares = xb_stage_shares(&stages[1], &made.timeline);
    assert_true(fabs(shares.busy - 12.0 / 60) < 1e-9);
    assert_true(fabs(shares.wait - 6.0 / 60) < 1e-9);
    char *text = drawn(&made);
    assert_has(text, "\nat work: read (CPU) 5 %, copy (copy) 20 %, compute (device) 0 %\n");
    free(text);
    made.timeline.left_out = 393220;
    text = drawn(&made);
    assert_null(strstr(text, "at work:"));
    assert_has(text, "\n393220 operations were too many to record");
    free(text);
}

TEST(test_a_row_a_track)
{
    struct made made;
    begin(&made, &plain);
    add(&made, 0, XB_SPAN_CALL, 0, 1);
    add(&made, 0, XB_SPAN_CALL, 1, 2);
    add(&made, 0, XB_SPAN_WAIT, 2, 60);
    add(&made, 2, XB_SPAN_COPY, 1, 2);
    add(&made, 2, XB_SPAN_COPY, 2, 4);
    add(&made, 2, XB_SPAN_WAIT, 10, 15);
    add(&made, 2, XB_SPAN_COPY, 30, 30.001); /* what is there shows */
    made.timeline.track_count = 3;
    char *text = drawn(&made);
    assert_has(text, "\nthread 0 (submits)  01..........................................."
                     "...............\n"
                     "thread 1            \n"
                     "stream 0             011      .....               2\n");
    assert_has(text, "\nat work: thread 0 (submits) 3 %, thread 1 0 %, stream 0 5 %\n");
    free(text);
}

/* Of 20 items of 3 ms the first 12 fill 36 ms, so that 5 columns are an item. */
TEST(test_the_beginning_of_many_items)
{
    struct made made;
    begin(&made, &plain);
    for (unsigned i = 0; i < 20; i++)
        add(&made, 2, XB_SPAN_COPY, 3.0 * i, 3.0 * i + 3);
    char *text = drawn(&made);
    assert_has(text, "(median of the samples: 50.0 ms)\n"
                     "Only its first 36.0 ms are drawn, 60 % of it\n");
    assert_has(text, "\nstream 0            [-0-][-1-][-2-][-3-][-4-][-5-][-6-][-7-][-8-][-9-][10-]"
                     "[11-]\n");
    assert_has(text, "|18.0 ms              36.0 ms|\n");
    assert_has(text, "stream 0 100 %\n");
    free(text);
}

/* The device begins after 20 ms and has 20 items of 10 us: what shows is twice as long. */
TEST(test_a_device_that_begins_late)
{
    struct made made;
    begin(&made, &plain);
    for (unsigned i = 0; i < 20; i++)
        add(&made, 2, XB_SPAN_COPY, 20 + 0.01 * i, 20 + 0.01 * (i + 1));
    add(&made, 2, XB_SPAN_COPY, 39.99, 50);
    char *text = drawn(&made);
    assert_has(text, "|20.0 ms              40.0 ms|\n");
    assert_has(text, "\nstream 0                                          01234567890123456789"
                     "         0\n");
    free(text);
}

/* Chunk 1 waits on the device behind chunk 0, chunk 3 runs while chunk 2 does, chunk 4 ends with
 * chunk 5, and chunk 6 is in the last column alone. */
TEST(test_chunks_at_the_same_time)
{
    struct made made;
    begin(&made, &line);
    static const double ends[][2] = {{0, 10}, {1, 20}, {20, 35}, {26, 28}, {40, 45}, {40, 45}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        add_turn(&made, 2, XB_SPAN_KERNEL, "compute", i, ends[i][0], ends[i][1]);
    add_turn(&made, 2, XB_SPAN_KERNEL, "compute", 6, 59.9, 60);
    char *text = drawn(&made);
    assert_has(text, "\ncompute (device)    [---0----][---1----][-2--]33[--2--]     [-4-]5"
                     "             6\n");
    assert_has(text, "compute (device) 67 %\n"); /* 40.1 of 60 ms */
    free(text);
}

/* ---- trace events ---- */

static const struct xb_backend backend = {.name = "made"};
static const struct xb_run run = {.backend = &backend};

/* Writes the timelines of `count` results; release with cJSON_Delete. */
static cJSON *traced(const struct made *made, size_t count)
{
    struct xb_error error;
    struct xb_chrome chrome;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_chrome_begin(&chrome, stream, &error), XB_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(xb_chrome_add(&chrome, &made[i].result, &error), XB_OK);
    assert_int_equal(xb_chrome_end(&chrome, &run, &error), XB_OK);
    xb_chrome_free(&chrome);
    fclose(stream);
    cJSON *root = cJSON_Parse(text);
    if (root == NULL)
        fail_msg("no JSON: %s", text);
    free(text);
    return root;
}

/* The n-th event of that phase and name. */
static const cJSON *event(const cJSON *root, const char *phase, const char *name, size_t index)
{
    const cJSON *each;
    cJSON_ArrayForEach(
        each, at(root, "traceEvents")) if (strcmp(at(each, "ph")->valuestring, phase) == 0 &&
                                           strcmp(at(each, "name")->valuestring, name) == 0 &&
                                           index-- == 0) return each;
    fail_msg("no event %s %s", phase, name);
    return NULL;
}

TEST(test_items_under_way)
{
    static const double steps[][2] = {{0, 1},     {10000, 2}, {20000, 3},
                                      {25000, 2}, {35000, 1}, {45000, 0}};
    struct made made;
    make_line(&made);
    cJSON *root = traced(&made, 1);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_number_at(event(root, "C", "items under way", i), "ts", steps[i][0]);
        assert_number_at(event(root, "C", "items under way", i), "args.value", steps[i][1]);
    }
    assert_text_at(event(root, "M", "thread_name", 1), "args.name", "thread 1 (reads)");
    cJSON_Delete(root);
}

/* Two turns of 2 MB in 2 ms each overlap by one. */
TEST(test_rates_of_the_host)
{
    static const double steps[][2] = {{0, 1}, {1000, 2}, {2000, 1}, {3000, 0}};
    struct made made;
    begin(&made, &line);
    for (size_t thread = 0; thread < 2; thread++) {
        add_turn(&made, thread, XB_SPAN_WORK, "read", thread, (double)thread, (double)thread + 2);
        strcpy(made.spans[thread].name, "read");
        made.spans[thread].bytes = 2000000;
    }
    cJSON *root = traced(&made, 1);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_number_at(event(root, "C", "GB/s read", i), "ts", steps[i][0]);
        assert_number_at(event(root, "C", "GB/s read", i), "args.value", steps[i][1]);
    }
    cJSON_Delete(root);
}

/* What the clocks' error puts before the beginning moves everything by as much. */
TEST(test_a_call_and_its_copy)
{
    struct made made;
    begin(&made, &plain);
    struct xb_timeline_span *call = add(&made, 0, XB_SPAN_CALL, 0, 0.0100004);
    struct xb_timeline_span *copy = add(&made, 2, XB_SPAN_COPY, -0.005, 1.995);
    strcpy(call->name, "queue_copy");
    strcpy(copy->name, "Memcpy HtoD (Pinned -> Device)");
    call->flow = copy->flow = 7;
    call->bytes = copy->bytes = 4000000;
    made.timeline.left_out = 3;
    made.timeline.workers = 5;
    cJSON *root = traced(&made, 1);
    const cJSON *slice = event(root, "X", copy->name, 0);
    assert_number_at(slice, "ts", 0);
    assert_number_at(slice, "dur", 2000);
    assert_number_at(slice, "args.bytes", 4000000);
    assert_number_at(slice, "args.GB/s", 2);
    assert_number_at(slice, "args.correlation", 7);
    assert_text_at(slice, "cat", "copy");
    assert_number_at(event(root, "X", "queue_copy", 0), "args.correlation", 7);
    assert_number_at(event(root, "X", "queue_copy", 0), "ts", 5);
    assert_number_at(event(root, "X", "queue_copy", 0), "dur", 10);
    assert_number_at(event(root, "s", "submits", 0), "ts", 5);
    assert_number_at(event(root, "f", "submits", 0), "ts", 0);
    assert_text_at(event(root, "f", "submits", 0), "bp", "e");
    assert_number_at(event(root, "C", "GB/s HtoD", 0), "args.value", 2);
    assert_number_at(event(root, "C", "GB/s HtoD", 1), "args.value", 0);
    assert_number_at(root, "otherData.cases.0.left_out", 3);
    assert_number_at(root, "otherData.cases.0.workers", 5);
    assert_number_at(root, "otherData.cases.0.recorded_seconds", 0.06);
    assert_number_at(root, "otherData.cases.0.sampled_seconds", 0.05);
    assert_text_at(root, "otherData.backend", "made");
    cJSON_Delete(root);
}

/* No arrow leads from one case to another. */
TEST(test_two_cases)
{
    struct made made[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&made[i], &plain);
        add(&made[i], 0, XB_SPAN_CALL, 0, 1)->flow = 1;
        add(&made[i], 2, XB_SPAN_COPY, 1, 2)->flow = 1;
    }
    cJSON *root = traced(made, 2);
    assert_number_at(event(root, "s", "submits", 1), "pid", 2);
    assert_true(at(event(root, "s", "submits", 0), "id")->valuedouble <
                at(event(root, "s", "submits", 1), "id")->valuedouble);
    assert_true(at(event(root, "s", "submits", 1), "id")->valuedouble ==
                at(event(root, "f", "submits", 1), "id")->valuedouble);
    cJSON_Delete(root);
}

TEST(test_a_stream_that_takes_nothing)
{
    struct made made;
    struct xb_error error;
    struct xb_chrome chrome;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    make_line(&made);
    assert_int_equal(xb_chrome_begin(&chrome, full, &error), XB_OK);
    assert_int_equal(xb_chrome_add(&chrome, &made.result, &error), XB_ERR_SYSTEM);
    assert_has(error.message, "the trace");
    xb_chrome_free(&chrome);
    fclose(full);
}
