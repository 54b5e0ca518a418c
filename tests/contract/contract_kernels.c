/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What kernels do, and managed memory. */
#include "contract.h"

struct group kernel_tests = {"kernels", "kernels and managed memory", false, 0, {}};
#define OWN_GROUP kernel_tests

/* ---- copies ---- */

static const enum xb_access orders[] = {XB_ACCESS_SEQUENTIAL, XB_ACCESS_STRIDED, XB_ACCESS_RANDOM,
                                        XB_ACCESS_BULK};
#define ORDERS (COUNT_OF(orders) - !can(XB_CAP_BULK))

static const struct {
    uint64_t to, from, bytes;
} ranges[] = {
    {0, 0, BYTES}, {0, 0, 1},     {0, 16, 7},     {40, 16, 8},
    {8, 0, 9},     {24, 8, 4099}, {16, 24, 4096}, {4104, 48, BYTES - 4104},
};
/* ThreadSanitizer looks for races and not at what arrives: three ranges are enough for it. */
#define RANGES (HAS_THREAD_SANITIZER ? 3 : COUNT_OF(ranges))

/* However many kernels share the device: a thousand leave each less than a block for every core. */
static const unsigned shares[] = {1, 2, 1000};

static void copy_in(struct xb_buffer *source, enum xb_access access)
{
    for (size_t i = 0; i < RANGES; i++) {
        fill(poison);
        MUST(queue_kernel_copy, f->queue, f->there, ranges[i].to, source, ranges[i].from,
             ranges[i].bytes, access, shares[i % 3]);
        expect_range(bring_back(), ranges[i].to, ranges[i].from, ranges[i].bytes);
    }
}

static void copy_out(struct xb_buffer *target, enum xb_access access)
{
    for (size_t i = 0; i < RANGES; i++) {
        xb_host_fill(target->host_address, 0, BYTES, poison);
        MUST(queue_kernel_copy, f->queue, target, ranges[i].to, f->there, ranges[i].from,
             ranges[i].bytes, access, 1);
        await();
        expect_range(target->host_address, ranges[i].to, ranges[i].from, ranges[i].bytes);
    }
}

static void copy_both_ways(enum xb_memory memory)
{
    struct xb_buffer *host = allocate(memory);
    for (size_t i = 0; i < ORDERS; i++) {
        xb_host_fill(host->host_address, 0, BYTES, pattern);
        copy_in(host, orders[i]);
        fill(pattern);
        copy_out(host, orders[i]);
    }
    tested->buffer_free(host);
}

/* HIP on an NVIDIA GPU, which is the stand-in of the tests, tells of ordinary memory what is true
 * of managed memory. */
TEST(kernels_copy_memory_that_they_reach)
{
    NEEDS(XB_CAP_KERNELS);
    if (can(XB_CAP_MAPPED))
        copy_both_ways(XB_MEMORY_MAPPED);
    if (can(XB_CAP_MANAGED))
        copy_both_ways(XB_MEMORY_MANAGED);
    if (can(XB_CAP_PAGEABLE) && strstr(f->device->info.name, "NVIDIA") == NULL)
        copy_both_ways(XB_MEMORY_PAGEABLE);
}

TEST(kernels_copy_within_the_device)
{
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *source = allocate(XB_MEMORY_DEVICE);
    MUST(queue_fill, f->queue, source, BYTES, pattern);
    copy_in(source, XB_ACCESS_RANDOM);
    tested->buffer_free(source);
}

TEST(bad_kernel_copies_are_refused)
{
    NEEDS(XB_CAP_KERNELS);
    const struct {
        struct xb_buffer *target, *source;
        uint64_t to, from, bytes;
    } bad[] = {
        {f->there, f->there, 4, 4096, 8},
        {f->there, f->there, 0, 4097, 8},
        {f->there, f->there, 8, 0, BYTES},
        {f->there, f->there, 0, 8, BYTES},
        {f->there, f->there, UINT64_MAX - 7, 0, 8},
        {f->there, f->pinned, 0, 0, 8}, /* out of a kernel's reach */
        {f->pinned, f->there, 0, 0, 8},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        REFUSED(queue_kernel_copy, f->queue, bad[i].target, bad[i].to, bad[i].source, bad[i].from,
                bad[i].bytes, XB_ACCESS_SEQUENTIAL, 1);
}

/* Where there is no engine for them: nothing stands in. */
TEST(bulk_copies_need_their_capability)
{
    const struct xb_piece piece = {.bytes = 16};
    struct xb_pieces *list = NULL;
    NEEDS(XB_CAP_KERNELS);
    if (can(XB_CAP_BULK))
        skip();
    struct xb_buffer *other = allocate(XB_MEMORY_DEVICE);
    MUST(pieces_open, f->device, f->there, other, &piece, 1, &list);
    FAILS(XB_ERR_UNSUPPORTED, queue_kernel_copy, f->queue, f->there, 0, other, 0, 16,
          XB_ACCESS_BULK, 1);
    FAILS(XB_ERR_UNSUPPORTED, queue_kernel_pieces, f->queue, list, 1, true);
    FAILS(XB_ERR_UNSUPPORTED, queue_chase, f->queue, f->there, other, 1, 0, true);
    tested->pieces_close(list);
    tested->buffer_free(other);
}

/* ---- computing ---- */

static void expect_computed(uint64_t offset, uint64_t bytes, uint64_t steps)
{
    const struct xb_pattern computed = {.seed = pattern.seed, .steps = steps};
    const uint64_t end = offset + bytes;
    fill(pattern);
    MUST(queue_compute, f->queue, f->there, offset, bytes, steps);
    const unsigned char *memory = bring_back();
    EXPECT_BYTES(memory, 0, offset, pattern);
    EXPECT_BYTES(memory + offset, offset, bytes, computed);
    EXPECT_BYTES(memory + end, end, BYTES - end, pattern);
}

TEST(compute_is_the_patterns_steps)
{
    const uint64_t sizes[] = {0, 1, 7, 8, 9, 4099, BYTES - 24};
    const uint64_t steps[] = {0, 1, 2, 7};
    NEEDS(XB_CAP_KERNELS);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        expect_computed(0, BYTES, steps[i]);
        for (size_t j = 0; j < COUNT_OF(sizes); j++)
            expect_computed(24, sizes[j], steps[i]);
    }
    expect_computed(8, 4099, 1000);
    expect_computed(8, 4099, 1001);
}

/* In memory of the host that kernels reach, too. */
static void compute_in(enum xb_memory memory)
{
    struct xb_buffer *buffer = allocate(memory);
    const struct xb_pattern computed = {.seed = pattern.seed, .steps = 3};
    xb_host_fill(buffer->host_address, 0, BYTES, pattern);
    MUST(queue_compute, f->queue, buffer, 8, 4099, 3);
    await();
    const unsigned char *bytes = buffer->host_address;
    EXPECT_BYTES(bytes, 0, 8, pattern);
    EXPECT_BYTES(bytes + 8, 8, 4096, computed);
    EXPECT_BYTES(bytes + 4104, 4104, BYTES - 4104, pattern);
    tested->buffer_free(buffer);
}

TEST(kernels_compute_in_memory_that_they_reach)
{
    NEEDS(XB_CAP_KERNELS);
    if (can(XB_CAP_MAPPED))
        compute_in(XB_MEMORY_MAPPED);
    if (can(XB_CAP_MANAGED))
        compute_in(XB_MEMORY_MANAGED);
}

TEST(bad_computing_is_refused)
{
    NEEDS(XB_CAP_KERNELS);
    REFUSED(queue_compute, f->queue, f->there, 4, 8, 1);
    REFUSED(queue_compute, f->queue, f->there, 8, BYTES, 1);
    REFUSED(queue_compute, f->queue, f->pinned, 0, 8, 1);
}

/* ---- chains ---- */

/* As many loads as there are lines lead back to the beginning, and fewer end on the way. */
static void follow(struct xb_buffer *chain, struct xb_buffer *cursor, uint64_t bytes,
                   enum xb_access access)
{
    const uint64_t lines = bytes / XB_CHAIN_LINE;
    const uint64_t loads[] = {0, 1, lines / 2 + 1, lines - lines / 2 - 2, lines, 3 * lines + 5};
    uint64_t turns = 0;
    MUST(queue_chain, f->queue, chain, bytes, access);
    place_word(cursor, xb_chain_offset(access, bytes, 0));
    for (unsigned i = 0; i < COUNT_OF(loads); i++) {
        MUST(queue_chase, f->queue, chain, cursor, loads[i], 100 * i, access == XB_ACCESS_BULK);
        turns += loads[i];
        assert_true(word_of(cursor, 0) == xb_chain_offset(access, bytes, turns));
    }
}

static void follow_in_all_orders(enum xb_memory memory)
{
    const uint64_t sizes[] = {1000, 64 << 10, BYTES}; /* the ends of some are no whole lines */
    struct xb_buffer *cursor = allocate(XB_MEMORY_DEVICE);
    struct xb_buffer *chain = allocate(memory);
    for (size_t i = 0; i < ORDERS; i++)
        for (size_t j = 0; j < COUNT_OF(sizes); j++)
            follow(chain, cursor, sizes[j], orders[i]);
    tested->buffer_free(chain);
    tested->buffer_free(cursor);
}

TEST(one_thread_follows_a_chain)
{
    NEEDS(XB_CAP_KERNELS);
    follow_in_all_orders(XB_MEMORY_DEVICE);
    if (can(XB_CAP_MAPPED))
        follow_in_all_orders(XB_MEMORY_MAPPED);
}

/* A chain is a word a line. */
TEST(a_chain_leaves_the_rest_alone)
{
    const uint64_t bytes = (64 << 10) + 100; /* what is no whole line stays as it is */
    NEEDS(XB_CAP_KERNELS);
    fill(pattern);
    MUST(queue_chain, f->queue, f->there, bytes, XB_ACCESS_RANDOM);
    const unsigned char *memory = bring_back();
    for (uint64_t line = 0; line + XB_CHAIN_LINE <= bytes; line += XB_CHAIN_LINE)
        EXPECT_BYTES(memory + line + 8, line + 8, XB_CHAIN_LINE - 8, pattern);
    uint64_t end = bytes / XB_CHAIN_LINE * XB_CHAIN_LINE;
    EXPECT_BYTES(memory + end, end, BYTES - end, pattern);
}

TEST(bad_chains_are_refused)
{
    const enum xb_access order = XB_ACCESS_SEQUENTIAL;
    struct xb_buffer *small = NULL;
    NEEDS(XB_CAP_KERNELS);
    MUST(buffer_allocate, f->device, XB_MEMORY_DEVICE, 7, &small);
    REFUSED(queue_chain, f->queue, f->pinned, 4096, order);
    REFUSED(queue_chain, f->queue, f->there, BYTES + 1, order);
    REFUSED(queue_chain, f->queue, f->there, XB_CHAIN_LINE - 1, order);
    REFUSED(queue_chase, f->queue, f->pinned, f->there, 1, 0, false);
    REFUSED(queue_chase, f->queue, f->there, f->pinned, 1, 0, false);
    REFUSED(queue_chase, f->queue, f->there, small, 1, 0, false);
    REFUSED(queue_chase, f->queue, small, f->there, 1, 0, false);
    tested->buffer_free(small);
}

/* Nothing may have to be loaded for them when they stand behind a hold: that would hang. */
TEST(kernels_stand_behind_a_hold)
{
    NEEDS(XB_CAP_KERNELS | XB_CAP_HOLD);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    struct xb_buffer *cursor = allocate(XB_MEMORY_DEVICE);
    place_word(cursor, 0);
    hold();
    MUST(queue_chain, f->queue, target, BYTES, XB_ACCESS_SEQUENTIAL);
    MUST(queue_chase, f->queue, target, cursor, 77, 1, can(XB_CAP_BULK));
    fill(pattern);
    MUST(queue_compute, f->queue, f->there, 0, BYTES, 3);
    for (size_t i = 0; i < ORDERS; i++)
        MUST(queue_kernel_copy, f->queue, target, 0, f->there, 0, BYTES, orders[i], 1);
    copy(f->pinned, 0, target, 0, BYTES);
    release();
    await();
    struct xb_pattern computed = pattern;
    computed.steps = 3;
    EXPECT_BYTES(f->pinned->host_address, 0, BYTES, computed);
    assert_true(word_of(cursor, 0) == 77 * XB_CHAIN_LINE);
    tested->buffer_free(cursor);
    tested->buffer_free(target);
}

/* ---- managed memory ---- */

/* Each side writes what the other reads. */
static void expect_both_sides_see(struct xb_buffer *managed)
{
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    /* In the second round without moving anything beforehand: pages go to whoever touches them. */
    for (int round = 0; round < 2; round++) {
        xb_host_fill(managed->host_address, 0, BYTES, pattern);
        if (round == 0)
            MUST(queue_prefetch, f->queue, managed, BYTES, true);
        MUST(queue_check, f->queue, managed, BYTES, pattern, &mismatch);
        assert_true(mismatch.wrong_bytes == 0);
        MUST(queue_check, f->queue, managed, BYTES, poison, &mismatch);
        assert_true(mismatch.wrong_bytes == BYTES);
        MUST(queue_fill, f->queue, managed, BYTES, poison);
        if (round == 0)
            MUST(queue_prefetch, f->queue, managed, BYTES, false);
        await();
        EXPECT_BYTES(managed->host_address, 0, BYTES, poison);
    }
}

/* A kernel for pieces fetches those that it is to, in either direction. */
static void expect_pieces_cross(struct xb_buffer *managed)
{
    const uint64_t at = 8 * 4097;
    const struct xb_piece piece = {at, at, 65536};
    for (int to_device = 0; to_device < 2; to_device++) {
        struct xb_buffer *target = to_device ? f->there : managed;
        struct xb_buffer *source = to_device ? managed : f->there;
        struct xb_pieces *list = NULL;
        xb_host_fill(managed->host_address, 0, BYTES, to_device ? pattern : poison);
        fill(to_device ? poison : pattern);
        MUST(pieces_open, f->device, target, source, &piece, 1, &list);
        MUST(queue_kernel_pieces, f->queue, list, 0, false);
        const unsigned char *there = bring_back();
        tested->pieces_close(list);
        expect_range(to_device ? there : managed->host_address, at, at, piece.bytes);
    }
}

TEST(managed_memory_is_both_sides)
{
    const enum xb_advice advice[] = {XB_ADVICE_NONE, XB_ADVICE_STAY_ON_HOST, XB_ADVICE_STAY_ON_HOST,
                                     XB_ADVICE_NONE};
    NEEDS(XB_CAP_MANAGED);
    struct xb_buffer *managed = allocate(XB_MEMORY_MANAGED);
    expect_both_sides_see(managed);
    expect_pieces_cross(managed);
    for (size_t i = 0; i < COUNT_OF(advice); i++) {
        MUST(buffer_advise, managed, advice[i]);
        expect_both_sides_see(managed);
    }
    tested->buffer_free(managed);
}

/* More than the device holds would only show how it swaps. */
TEST(managed_memory_leaves_half_of_the_device)
{
    struct xb_buffer *buffer = NULL;
    uint64_t free_bytes = 0;
    NEEDS(XB_CAP_MANAGED);
    MUST(device_memory, f->device, &free_bytes);
    uint64_t bytes = free_bytes / 4 * 3; /* others may free some meanwhile */
    FAILS(XB_ERR_MEMORY, buffer_allocate, f->device, XB_MEMORY_MANAGED, bytes, &buffer);
    assert_null(buffer);
}

TEST(bad_use_of_managed_memory_is_refused)
{
    NEEDS(XB_CAP_MANAGED);
    struct xb_buffer *managed = allocate(XB_MEMORY_MANAGED);
    REFUSED(queue_copy, f->queue, f->there, 0, managed, 0, 8);
    REFUSED(queue_copy, f->queue, managed, 0, f->there, 0, 8);
    REFUSED(queue_prefetch, f->queue, managed, BYTES + 1, true);
    REFUSED(queue_prefetch, f->queue, f->there, 8, true);
    REFUSED(queue_prefetch, f->queue, f->pinned, 8, false);
    FAILS(XB_OK, buffer_advise, f->pinned, XB_ADVICE_STAY_ON_HOST);
    tested->buffer_free(managed);
}
