/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that begins behind a boundary: copies that round an address, or copy more than the data,
 * never verify. Where right ones begin: tests/unit/runs/steps.txt. */

#include "every_mode.h"

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
    unsigned taken; /* liberties */
} own;

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                           struct xb_buffer *source, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    uint64_t asked_to = to, asked_from = from, asked = bytes;
    uint64_t early = to % BOUNDARY < from ? to % BOUNDARY : from;
    enum liberty liberty = bytes > 4096 ? own.liberty : NONE;
    if (liberty == TARGET_ROUNDED)
        to -= to % BOUNDARY;
    if (liberty == SOURCE_ROUNDED)
        from -= from % BOUNDARY;
    if (liberty == BEGINS_EARLY) {
        to -= early;
        from -= early;
        bytes += early;
    }
    if (liberty == ENDS_LATE && to + bytes < target->bytes && from + bytes < source->bytes)
        bytes++;
    own.taken += to != asked_to || from != asked_from || bytes != asked;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static void take_liberties(enum liberty liberty)
{
    begin_modes(1);
    memset(&own, 0, sizeof own);
    own.liberty = liberty;
    altered_backend.queue_copy = copy;
}

RUN_TEST(liberties_never_verify)
{
    static const struct {
        enum liberty liberty;
        const char *host, *device, *part;
    } rows[] = {
        {TARGET_ROUNDED, "64", "192", "bytes are wrong after the copy"},
        {SOURCE_ROUNDED, "64", "192", "bytes are wrong after the copy"},
        {TARGET_ROUNDED, "4097", "1", "bytes are wrong after the copy"},
        {SOURCE_ROUNDED, "1", "300", "bytes are wrong after the copy"},
        /* Every byte that was to be copied is right. */
        {BEGINS_EARLY, "64", "64", "bytes before its target and 0 behind it"},
        {BEGINS_EARLY, "64", "320", "bytes before its target and 0 behind it"},
        {ENDS_LATE, "64", "192", "the copy also changed 0 bytes before its target"},
        {ENDS_LATE, "1", "0", "the copy also changed 0 bytes before its target"},
        {ENDS_LATE, NULL, NULL, "bytes are wrong after the copy"}, /* one copy is one piece */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        take_liberties(rows[i].liberty);
        /* A chunk is larger than a page; the last is shorter. */
        if (rows[i].host != NULL)
            RUN(&f, "--mode", "pageable,pinned,async", "--staging", "driver", "--direction",
                "both,bidir", "--size", "64K,20001", "--chunk", "11K", "--host-offset",
                rows[i].host, "--device-offset", rows[i].device);
        else
            run_line(&f, "--mode batch --batch each --piece 64K --size 64K");
        for (size_t k = 0; k < f.run.case_count; k++) {
            expect_reason(&f.run.results[k], XB_RESULT_ERROR, rows[i].part);
            assert_int_equal(f.run.results[k].row.verified, XB_VERIFIED_FALSE);
        }
        assert_true(own.taken > 0);
        finish(&f);
    }
}
