/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that begins behind a boundary: right copies verify, and those that round an address do not.
 */

#include "testing.h"

#define OFFSETS_TEST(name) TEST_WITH(name, offsets_setup, NULL)

#include "modes_fixture.h"

#define MODES "--mode", "pageable,pinned,async", "--staging", "driver", "--direction", "both,bidir"
#define BOUNDARY 256u

/* ---- the fake backend, with copies that take liberties at the ends of what they copy ---- */

enum liberty {
    NONE,
    TARGET_ROUNDED, /* begins at the boundary before its target */
    SOURCE_ROUNDED, /* the same of the source */
    BEGINS_EARLY,   /* copies what lies before the data too, from the boundary on */
    ENDS_LATE,      /* copies a byte more */
};

static struct {
    enum liberty liberty;
    unsigned taken;       /* liberties */
    unsigned allocations; /* of pages or more: windows of a proof are that large at most */
    uint64_t target_offset, source_offset; /* of the last copy of more than a page */
} own;

static enum xb_status allocate(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                               struct xb_buffer **buffer, struct xb_error *error)
{
    own.allocations += bytes > 4096;
    return xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
}

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                           struct xb_buffer *source, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    uint64_t asked_to = to, asked_from = from, asked = bytes;
    uint64_t early = to % BOUNDARY < from ? to % BOUNDARY : from;
    bool is_data = bytes > 4096;
    if (is_data) {
        own.target_offset = to;
        own.source_offset = from;
    }
    if (is_data && own.liberty == TARGET_ROUNDED)
        to -= to % BOUNDARY;
    if (is_data && own.liberty == SOURCE_ROUNDED)
        from -= from % BOUNDARY;
    if (is_data && own.liberty == BEGINS_EARLY) {
        to -= early;
        from -= early;
        bytes += early;
    }
    if (is_data && own.liberty == ENDS_LATE && to + bytes < target->bytes &&
        from + bytes < source->bytes)
        bytes++;
    own.taken += to != asked_to || from != asked_from || bytes != asked;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static int offsets_setup(void **state)
{
    modes_setup(state);
    memset(&own, 0, sizeof own);
    struct xb_backend *variant = vary_fake();
    variant->buffer_allocate = allocate;
    variant->queue_copy = copy;
    return 0;
}

/* ---- right copies ---- */

OFFSETS_TEST(test_every_offset_verifies)
{
    struct fixture f;
    RUN(&f, MODES, "--host-memory", "registered,write-combined", "--host-offset", "0,1,64,5000",
        "--device-offset", "0,3,256,1048575", "--size", "1,7,4095,100001", "--chunk", "8195");
    /* Of pageable two directions, of the others two kinds of memory in three. */
    assert_int_equal(f.run.case_count, (2 + 2 * 3 + 2 * 3) * 16 * 4);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

OFFSETS_TEST(test_every_offset_verifies_elsewhere)
{
    const char *const ways[] = {"--latency", "--simultaneous"};
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
        struct fixture f;
        xb_fake.device_count = 2;
        RUN(&f, "--mode", "pinned,async", "--device", "all", ways[w], "--host-offset", "0,1",
            "--device-offset", "0,3", "--size", "5000");
        assert_true(f.run.case_count >= 32);
        expect_all(&f, XB_RESULT_OK);
        finish(&f);
    }
}

/* Host memory and the device's each begin where they are told to. */
OFFSETS_TEST(test_copies_begin_at_their_offsets)
{
    static const char *const ways[][2] = {{"pageable", "--staging=driver"},
                                          {"pinned", "--host-memory=registered"},
                                          {"async", "--host-memory=registered"}};
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (int to_device = 0; to_device < 2; to_device++) {
            struct fixture f;
            RUN(&f, "--mode", ways[w][0], ways[w][1], "--direction", to_device ? "h2d" : "d2h",
                "--size", "64K", "--host-offset", "64", "--device-offset", "3");
            expect_all(&f, XB_RESULT_OK);
            assert_int_equal(own.target_offset, to_device ? 3 : 64);
            assert_int_equal(own.source_offset, to_device ? 64 : 3);
            finish(&f);
        }
}

/* Where memory lies must not be what differs between two offsets. */
OFFSETS_TEST(test_all_offsets_use_the_same_memory)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K,1M", "--host-offset", "0,1,4K", "--device-offset",
        "0,64");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(own.allocations, 2);
    finish(&f);
}

OFFSETS_TEST(test_all_pieces_use_the_same_memory)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "each,call", "--size", "64K,1M", "--host-offset",
        "0,1,4K", "--device-offset", "0,64");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(own.allocations, 3); /* one is room for the proof */
    finish(&f);
}

static struct xb_needs needs_of(const struct fixture *f, size_t i)
{
    const struct xb_case *test = &f->run.results[i].test;
    return xb_case_needs(test);
}

static void expect_needs(const struct fixture *f, const char *mode, uint64_t bytes)
{
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_case *test = &f->run.results[i].test;
        struct xb_needs needs = needs_of(f, i);
        uint64_t ways = test->direction == XB_BIDIR ? 2 : 1;
        if (strcmp(test->mode->name, mode) != 0)
            continue;
        assert_int_equal(needs.host_bytes, ways * bytes);
        assert_int_equal(needs.device_bytes, ways * bytes);
    }
}

OFFSETS_TEST(test_offsets_take_memory)
{
    struct fixture f;
    PLAN(&f, "--mode", "pinned,zero-copy", "--direction", "both,bidir", "--size", "64K");
    expect_needs(&f, "pinned", 65536);
    /* Of the last: zero-copy, which takes no offsets. */
    struct xb_needs others = needs_of(&f, f.run.case_count - 1);
    finish(&f);
    PLAN(&f, "--mode", "pinned,zero-copy", "--direction", "both,bidir", "--size", "64K",
         "--host-offset", "0,8K", "--device-offset", "1");
    assert_int_equal(f.run.case_count, 3 * 2 + 3);
    expect_needs(&f, "pinned", 65536 + 8192 + 4096);
    assert_int_equal(needs_of(&f, f.run.case_count - 1).host_bytes, others.host_bytes);
    assert_int_equal(needs_of(&f, f.run.case_count - 1).device_bytes, others.device_bytes);
    finish(&f);
}

/* ---- wrong copies ---- */

static void expect_unverified(enum liberty liberty, const char *host, const char *device,
                              const char *part)
{
    struct fixture f;
    own.liberty = liberty;
    own.taken = 0;
    /* A chunk is larger than a page; the last is shorter. */
    RUN(&f, MODES, "--size", "64K,20001", "--chunk", "11K", "--host-offset", host,
        "--device-offset", device);
    for (size_t i = 0; i < f.run.case_count; i++) {
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, part);
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
    }
    assert_true(own.taken > 0);
    finish(&f);
}

OFFSETS_TEST(test_copies_that_round_never_verify)
{
    expect_unverified(TARGET_ROUNDED, "64", "192", "bytes are wrong after the copy");
    expect_unverified(SOURCE_ROUNDED, "64", "192", "bytes are wrong after the copy");
    expect_unverified(TARGET_ROUNDED, "4097", "1", "bytes are wrong after the copy");
    expect_unverified(SOURCE_ROUNDED, "1", "300", "bytes are wrong after the copy");
}

/* Every byte that was to be copied is right. */
OFFSETS_TEST(test_copies_of_more_than_the_data_never_verify)
{
    expect_unverified(BEGINS_EARLY, "64", "64", "bytes before its target and 0 behind it");
    expect_unverified(BEGINS_EARLY, "64", "320", "bytes before its target and 0 behind it");
    expect_unverified(ENDS_LATE, "64", "192", "the copy also changed 0 bytes before its target");
    expect_unverified(ENDS_LATE, "1", "0", "the copy also changed 0 bytes before its target");
}

/* One copy is one piece. */
OFFSETS_TEST(test_pieces_that_are_too_long_never_verify)
{
    struct fixture f;
    own.liberty = ENDS_LATE;
    RUN(&f, "--mode", "batch", "--batch", "each", "--piece", "64K", "--size", "64K");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "bytes are wrong after the copy");
    assert_true(own.taken > 0);
    finish(&f);
}
