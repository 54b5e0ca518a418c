/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What kernels do, and managed memory. */
#include "backends/verify.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

/* All of f->there, where the CPU can look at it. */
static const unsigned char *bring_back(struct fixture *f)
{
    struct xb_error error;
    must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    await(f);
    return f->pinned->host_address;
}

/* [to, to + bytes) of a buffer has come from `from` on; all around it is poison. */
static void expect_range(const unsigned char *memory, uint64_t to, uint64_t from, uint64_t bytes)
{
    assert_true(xb_host_check(memory, 0, to, poison).wrong_bytes == 0);
    assert_true(xb_host_check(memory + to, from, bytes, pattern).wrong_bytes == 0);
    uint64_t end = to + bytes;
    assert_true(xb_host_check(memory + end, end, BYTES - end, poison).wrong_bytes == 0);
}

/* ---- copies ---- */

static const enum xb_access orders[] = {XB_ACCESS_SEQUENTIAL, XB_ACCESS_STRIDED, XB_ACCESS_RANDOM};

static const struct {
    uint64_t to, from, bytes;
} ranges[] = {
    {0, 0, BYTES}, {0, 0, 1},     {0, 16, 7},     {40, 16, 8},
    {8, 0, 9},     {24, 8, 4099}, {16, 24, 4096}, {4104, 48, BYTES - 4104},
};
/* ThreadSanitizer looks for races and not at what arrives: three ranges are enough for it. */
#define RANGES (HAS_THREAD_SANITIZER ? 3 : sizeof ranges / sizeof ranges[0])

/* However many kernels share the device: a thousand leave each less than a block for every core. */
static const unsigned shares[] = {1, 2, 1000};

static void copy_in(struct fixture *f, struct xb_buffer *source, enum xb_access access)
{
    struct xb_error error;
    for (size_t i = 0; i < RANGES; i++) {
        fill(f, poison);
        must(f->backend->queue_kernel_copy(f->queue, f->there, ranges[i].to, source, ranges[i].from,
                                           ranges[i].bytes, access, shares[i % 3], &error),
             &error);
        expect_range(bring_back(f), ranges[i].to, ranges[i].from, ranges[i].bytes);
    }
}

static void copy_out(struct fixture *f, struct xb_buffer *target, enum xb_access access)
{
    struct xb_error error;
    for (size_t i = 0; i < RANGES; i++) {
        xb_host_fill(target->host_address, 0, BYTES, poison);
        must(f->backend->queue_kernel_copy(f->queue, target, ranges[i].to, f->there, ranges[i].from,
                                           ranges[i].bytes, access, 1, &error),
             &error);
        await(f);
        expect_range(target->host_address, ranges[i].to, ranges[i].from, ranges[i].bytes);
    }
}

static void copy_both_ways(struct fixture *f, enum xb_memory memory)
{
    struct xb_buffer *host = allocate(f, memory);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        xb_host_fill(host->host_address, 0, BYTES, pattern);
        copy_in(f, host, orders[i]);
        fill(f, pattern);
        copy_out(f, host, orders[i]);
    }
    f->backend->buffer_free(host);
}

static void test_kernels_copy_mapped_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MAPPED))
        skip();
    copy_both_ways(f, XB_MEMORY_MAPPED);
}

static void test_kernels_copy_managed_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MANAGED))
        skip();
    copy_both_ways(f, XB_MEMORY_MANAGED);
}

/* HIP on an NVIDIA GPU, which is the stand-in of the tests, tells what is true of managed memory.
 */
static void test_kernels_copy_ordinary_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_PAGEABLE) || strstr(f->device->info.name, "NVIDIA") != NULL)
        skip();
    copy_both_ways(f, XB_MEMORY_PAGEABLE);
}

static void test_kernels_copy_within_the_device(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *source = allocate(f, XB_MEMORY_DEVICE);
    must(f->backend->queue_fill(f->queue, source, BYTES, pattern, &error), &error);
    copy_in(f, source, XB_ACCESS_RANDOM);
    f->backend->buffer_free(source);
}

static void test_bad_kernel_copies_are_refused(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS))
        skip();
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
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct xb_error error = {0};
        assert_int_equal(f->backend->queue_kernel_copy(f->queue, bad[i].target, bad[i].to,
                                                       bad[i].source, bad[i].from, bad[i].bytes,
                                                       XB_ACCESS_SEQUENTIAL, 1, &error),
                         XB_ERR_USAGE);
        assert_string_not_equal(error.message, "");
    }
}

/* ---- computing ---- */

static void expect_computed(struct fixture *f, uint64_t offset, uint64_t bytes, uint64_t steps)
{
    struct xb_pattern computed = pattern;
    struct xb_error error;
    computed.steps = steps;
    fill(f, pattern);
    must(f->backend->queue_compute(f->queue, f->there, offset, bytes, steps, &error), &error);
    const unsigned char *memory = bring_back(f);
    uint64_t end = offset + bytes;
    assert_true(xb_host_check(memory, 0, offset, pattern).wrong_bytes == 0);
    assert_true(xb_host_check(memory + offset, offset, bytes, computed).wrong_bytes == 0);
    assert_true(xb_host_check(memory + end, end, BYTES - end, pattern).wrong_bytes == 0);
}

static void test_compute_is_the_patterns_steps(void **state)
{
    struct fixture *f = *state;
    const uint64_t sizes[] = {0, 1, 7, 8, 9, 4099, BYTES - 24};
    const uint64_t steps[] = {0, 1, 2, 7};
    if (!can(f, XB_CAP_KERNELS))
        skip();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        expect_computed(f, 0, BYTES, steps[i]);
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++)
            expect_computed(f, 24, sizes[j], steps[i]);
    }
    expect_computed(f, 8, 4099, 1000);
    expect_computed(f, 8, 4099, 1001);
}

/* In memory of the host that kernels reach, too. */
static void compute_in(struct fixture *f, enum xb_memory memory)
{
    struct xb_buffer *buffer = allocate(f, memory);
    struct xb_pattern computed = pattern;
    struct xb_error error;
    computed.steps = 3;
    xb_host_fill(buffer->host_address, 0, BYTES, pattern);
    must(f->backend->queue_compute(f->queue, buffer, 8, 4099, 3, &error), &error);
    await(f);
    const unsigned char *bytes = buffer->host_address;
    assert_true(xb_host_check(bytes, 0, 8, pattern).wrong_bytes == 0);
    assert_true(xb_host_check(bytes + 8, 8, 4096, computed).wrong_bytes == 0);
    assert_true(xb_host_check(bytes + 4104, 4104, BYTES - 4104, pattern).wrong_bytes == 0);
    f->backend->buffer_free(buffer);
}

static void test_kernels_compute_in_mapped_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MAPPED))
        skip();
    compute_in(f, XB_MEMORY_MAPPED);
}

static void test_kernels_compute_in_managed_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MANAGED))
        skip();
    compute_in(f, XB_MEMORY_MANAGED);
}

static void test_bad_computing_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    assert_int_equal(b->queue_compute(f->queue, f->there, 4, 8, 1, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_compute(f->queue, f->there, 8, BYTES, 1, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_compute(f->queue, f->pinned, 0, 8, 1, &error), XB_ERR_USAGE);
}

/* ---- chains ---- */

static void place_cursor(struct fixture *f, struct xb_buffer *cursor, uint64_t offset)
{
    struct xb_error error;
    memcpy(f->pinned->host_address, &offset, sizeof offset);
    must(f->backend->queue_copy(f->queue, cursor, 0, f->pinned, 0, sizeof offset, &error), &error);
    await(f);
}

static uint64_t cursor_of(struct fixture *f, struct xb_buffer *cursor)
{
    struct xb_error error;
    uint64_t offset;
    must(f->backend->queue_copy(f->queue, f->pinned, 0, cursor, 0, sizeof offset, &error), &error);
    await(f);
    memcpy(&offset, f->pinned->host_address, sizeof offset);
    return offset;
}

/* As many loads as there are lines lead back to the beginning, and fewer end on the way. */
static void follow(struct fixture *f, struct xb_buffer *chain, struct xb_buffer *cursor,
                   uint64_t bytes, enum xb_access access)
{
    const uint64_t lines = bytes / XB_CHAIN_LINE;
    const uint64_t loads[] = {0, 1, lines / 2 + 1, lines - lines / 2 - 2, lines, 3 * lines + 5};
    uint64_t turns = 0;
    struct xb_error error;
    must(f->backend->queue_chain(f->queue, chain, bytes, access, &error), &error);
    place_cursor(f, cursor, xb_chain_offset(access, bytes, 0));
    for (unsigned i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        must(f->backend->queue_chase(f->queue, chain, cursor, loads[i], 100 * i, &error), &error);
        turns += loads[i];
        assert_true(cursor_of(f, cursor) == xb_chain_offset(access, bytes, turns));
    }
}

static void follow_in_all_orders(struct fixture *f, enum xb_memory memory)
{
    const uint64_t sizes[] = {1000, 64 << 10, BYTES}; /* the ends of some are no whole lines */
    struct xb_buffer *cursor = allocate(f, XB_MEMORY_DEVICE);
    struct xb_buffer *chain = allocate(f, memory);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++)
            follow(f, chain, cursor, sizes[j], orders[i]);
    f->backend->buffer_free(chain);
    f->backend->buffer_free(cursor);
}

static void test_one_thread_follows_a_chain_in_device_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    follow_in_all_orders(f, XB_MEMORY_DEVICE);
}

static void test_one_thread_follows_a_chain_in_mapped_memory(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MAPPED))
        skip();
    follow_in_all_orders(f, XB_MEMORY_MAPPED);
}

/* A chain is a word a line. */
static void test_a_chain_leaves_the_rest_alone(void **state)
{
    struct fixture *f = *state;
    const uint64_t bytes = (64 << 10) + 100; /* what is no whole line stays as it is */
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    fill(f, pattern);
    must(f->backend->queue_chain(f->queue, f->there, bytes, XB_ACCESS_RANDOM, &error), &error);
    const unsigned char *memory = bring_back(f);
    for (uint64_t line = 0; line + XB_CHAIN_LINE <= bytes; line += XB_CHAIN_LINE)
        assert_true(
            xb_host_check(memory + line + 8, line + 8, XB_CHAIN_LINE - 8, pattern).wrong_bytes ==
            0);
    uint64_t end = bytes / XB_CHAIN_LINE * XB_CHAIN_LINE;
    assert_true(xb_host_check(memory + end, end, BYTES - end, pattern).wrong_bytes == 0);
}

static void test_bad_chains_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_buffer *small = NULL;
    struct xb_error error = {0};
    if (!can(f, XB_CAP_KERNELS))
        skip();
    must(b->buffer_allocate(f->device, XB_MEMORY_DEVICE, 7, &small, &error), &error);
    const enum xb_access order = XB_ACCESS_SEQUENTIAL;
    assert_int_equal(b->queue_chain(f->queue, f->pinned, 4096, order, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_chain(f->queue, f->there, BYTES + 1, order, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_chain(f->queue, f->there, XB_CHAIN_LINE - 1, order, &error),
                     XB_ERR_USAGE);
    assert_int_equal(b->queue_chase(f->queue, f->pinned, f->there, 1, 0, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_chase(f->queue, f->there, f->pinned, 1, 0, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_chase(f->queue, f->there, small, 1, 0, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_chase(f->queue, small, f->there, 1, 0, &error), XB_ERR_USAGE);
    assert_string_not_equal(error.message, "");
    b->buffer_free(small);
}

/* Nothing may have to be loaded for them when they stand behind a hold: that would hang. */
static void test_kernels_stand_behind_a_hold(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_HOLD))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    struct xb_buffer *cursor = allocate(f, XB_MEMORY_DEVICE);
    place_cursor(f, cursor, 0);
    must(b->queue_hold(f->queue, &error), &error);
    must(b->queue_chain(f->queue, target, BYTES, XB_ACCESS_SEQUENTIAL, &error), &error);
    must(b->queue_chase(f->queue, target, cursor, 77, 1, &error), &error);
    fill(f, pattern);
    must(b->queue_compute(f->queue, f->there, 0, BYTES, 3, &error), &error);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        must(b->queue_kernel_copy(f->queue, target, 0, f->there, 0, BYTES, orders[i], 1, &error),
             &error);
    must(b->queue_copy(f->queue, f->pinned, 0, target, 0, BYTES, &error), &error);
    b->queue_release(f->queue);
    await(f);
    struct xb_pattern computed = pattern;
    computed.steps = 3;
    assert_true(xb_host_check(f->pinned->host_address, 0, BYTES, computed).wrong_bytes == 0);
    assert_true(cursor_of(f, cursor) == 77 * XB_CHAIN_LINE);
    b->buffer_free(cursor);
    b->buffer_free(target);
}

/* ---- managed memory ---- */

/* Each side writes what the other reads. */
static void expect_both_sides_see(struct fixture *f, struct xb_buffer *managed)
{
    const struct xb_backend *b = f->backend;
    struct xb_mismatch mismatch = {.wrong_bytes = 77};
    struct xb_error error;
    xb_host_fill(managed->host_address, 0, BYTES, pattern);
    must(b->queue_prefetch(f->queue, managed, BYTES, true, &error), &error);
    must(b->queue_check(f->queue, managed, BYTES, pattern, &mismatch, &error), &error);
    assert_true(mismatch.wrong_bytes == 0);
    must(b->queue_check(f->queue, managed, BYTES, poison, &mismatch, &error), &error);
    assert_true(mismatch.wrong_bytes == BYTES);

    must(b->queue_fill(f->queue, managed, BYTES, poison, &error), &error);
    must(b->queue_prefetch(f->queue, managed, BYTES, false, &error), &error);
    await(f);
    assert_true(xb_host_check(managed->host_address, 0, BYTES, poison).wrong_bytes == 0);

    /* Without moving anything beforehand: pages go to whoever touches them. */
    xb_host_fill(managed->host_address, 0, BYTES, pattern);
    must(b->queue_check(f->queue, managed, BYTES, pattern, &mismatch, &error), &error);
    assert_true(mismatch.wrong_bytes == 0);
    must(b->queue_fill(f->queue, managed, BYTES, poison, &error), &error);
    await(f);
    assert_true(xb_host_check(managed->host_address, 0, BYTES, poison).wrong_bytes == 0);
}

/* A kernel for pieces fetches those that it is to, in either direction. */
static void expect_pieces_cross(struct fixture *f, struct xb_buffer *managed)
{
    const struct xb_backend *b = f->backend;
    const uint64_t at = 8 * 4097, behind = at + 65536;
    const struct xb_piece piece = {at, at, behind - at};
    struct xb_error error;
    for (int to_device = 0; to_device < 2; to_device++) {
        struct xb_buffer *target = to_device ? f->there : managed;
        struct xb_buffer *source = to_device ? managed : f->there;
        struct xb_pieces *list = NULL;
        xb_host_fill(managed->host_address, 0, BYTES, to_device ? pattern : poison);
        fill(f, to_device ? poison : pattern);
        must(b->pieces_open(f->device, target, source, &piece, 1, &list, &error), &error);
        must(b->queue_kernel_pieces(f->queue, list, 0, &error), &error);
        must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
        await(f);
        b->pieces_close(list);
        const unsigned char *bytes = to_device ? f->pinned->host_address : managed->host_address;
        assert_true(xb_host_check(bytes, 0, at, poison).wrong_bytes == 0);
        assert_true(xb_host_check(bytes + at, at, behind - at, pattern).wrong_bytes == 0);
        assert_true(xb_host_check(bytes + behind, behind, BYTES - behind, poison).wrong_bytes == 0);
    }
}

static void test_managed_memory_is_both_sides(void **state)
{
    struct fixture *f = *state;
    const enum xb_advice advice[] = {XB_ADVICE_NONE, XB_ADVICE_STAY_ON_HOST, XB_ADVICE_STAY_ON_HOST,
                                     XB_ADVICE_NONE};
    struct xb_error error;
    if (!can(f, XB_CAP_MANAGED))
        skip();
    struct xb_buffer *managed = allocate(f, XB_MEMORY_MANAGED);
    expect_both_sides_see(f, managed);
    expect_pieces_cross(f, managed);
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++) {
        must(f->backend->buffer_advise(managed, advice[i], &error), &error);
        expect_both_sides_see(f, managed);
    }
    f->backend->buffer_free(managed);
}

/* More than the device holds would only show how it swaps. */
static void test_managed_memory_leaves_half_of_the_device(void **state)
{
    struct fixture *f = *state;
    struct xb_buffer *buffer = NULL;
    struct xb_error error = {0};
    uint64_t free_bytes = 0;
    if (!can(f, XB_CAP_MANAGED))
        skip();
    must(f->backend->device_memory(f->device, &free_bytes, &error), &error);
    uint64_t bytes = free_bytes / 4 * 3; /* others may free some meanwhile */
    assert_int_equal(
        f->backend->buffer_allocate(f->device, XB_MEMORY_MANAGED, bytes, &buffer, &error),
        XB_ERR_MEMORY);
    assert_null(buffer);
    assert_string_not_equal(error.message, "");
}

static void test_bad_use_of_managed_memory_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_error error = {0};
    if (!can(f, XB_CAP_MANAGED))
        skip();
    struct xb_buffer *managed = allocate(f, XB_MEMORY_MANAGED);
    assert_int_equal(b->queue_copy(f->queue, f->there, 0, managed, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_copy(f->queue, managed, 0, f->there, 0, 8, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_prefetch(f->queue, managed, BYTES + 1, true, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_prefetch(f->queue, f->there, 8, true, &error), XB_ERR_USAGE);
    assert_int_equal(b->queue_prefetch(f->queue, f->pinned, 8, false, &error), XB_ERR_USAGE);
    assert_int_not_equal(b->buffer_advise(f->pinned, XB_ADVICE_STAY_ON_HOST, &error), XB_OK);
    assert_string_not_equal(error.message, "");
    b->buffer_free(managed);
}

static const struct CMUnitTest tests[] = {
    TEST(test_kernels_copy_mapped_memory),
    TEST(test_kernels_copy_managed_memory),
    TEST(test_kernels_copy_ordinary_memory),
    TEST(test_kernels_copy_within_the_device),
    TEST(test_bad_kernel_copies_are_refused),
    TEST(test_compute_is_the_patterns_steps),
    TEST(test_kernels_compute_in_mapped_memory),
    TEST(test_kernels_compute_in_managed_memory),
    TEST(test_bad_computing_is_refused),
    TEST(test_one_thread_follows_a_chain_in_device_memory),
    TEST(test_one_thread_follows_a_chain_in_mapped_memory),
    TEST(test_a_chain_leaves_the_rest_alone),
    TEST(test_bad_chains_are_refused),
    TEST(test_kernels_stand_behind_a_hold),
    TEST(test_managed_memory_is_both_sides),
    TEST(test_managed_memory_leaves_half_of_the_device),
    TEST(test_bad_use_of_managed_memory_is_refused),
};

int run_kernel_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: kernels and managed memory", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
