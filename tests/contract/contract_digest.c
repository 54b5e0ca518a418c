/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Digests of what lies in a device's memory, against the host's own, which test_pattern.c holds
 * against the words' definition. */
#include "backends/verify.h"
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A digest that nobody wrote over. */
#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

/* Where no range of these tests lies: the last whole word of a buffer. */
#define BEHIND (BYTES / 8 * 8 - 8)

/* What a buffer's bytes are, brought back as the CPU sees them. */
static const unsigned char *bring_back(struct fixture *f, struct xb_buffer *buffer, uint64_t offset,
                                       uint64_t bytes)
{
    struct xb_error error;
    must(f->backend->queue_copy(f->queue, f->pinned, 0, buffer, offset, bytes, &error), &error);
    await(f);
    return f->pinned->host_address;
}

static uint64_t word_of(struct fixture *f, struct xb_buffer *buffer, uint64_t offset)
{
    uint64_t word;
    memcpy(&word, bring_back(f, buffer, offset, sizeof word), sizeof word);
    return word;
}

/* The digest of that part of a pattern, by the host. */
static uint64_t right_digest(struct xb_pattern of, uint64_t offset, uint64_t bytes)
{
    void *memory = malloc(bytes);
    assert_non_null(memory);
    xb_host_fill(memory, offset, bytes, of);
    uint64_t digest = xb_digest_memory(memory, bytes);
    free(memory);
    return digest;
}

/* The digest of a range of f->there, by the device. What stood in its place does not count. */
static uint64_t digest_of(struct fixture *f, uint64_t offset, uint64_t bytes,
                          struct xb_buffer *target, uint64_t to)
{
    struct xb_error error;
    must(f->backend->queue_digest(f->queue, f->there, offset, bytes, target, to, &error), &error);
    return word_of(f, target, to);
}

static void test_every_short_length(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    fill(f, pattern);
    for (uint64_t offset = 0; offset < 32; offset += 8)
        for (uint64_t bytes = 1; bytes <= 100; bytes++)
            assert_true(digest_of(f, offset, bytes, target, 8) ==
                        right_digest(pattern, offset, bytes));
    f->backend->buffer_free(target);
}

static void test_long_ranges(void **state)
{
    struct fixture *f = *state;
    const struct {
        uint64_t offset, bytes;
    } ranges[] = {{0, BYTES},     {8, BYTES - 8},      {16, 65536},
                  {24, 65537},    {8, 1u << 20},       {4104, 1000003},
                  {0, 16 * 1024}, {0, 16 * 1024 + 16}, {8, 16 * 1024 - 8}};
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    fill(f, pattern);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        assert_true(digest_of(f, ranges[i].offset, ranges[i].bytes, target, 16) ==
                    right_digest(pattern, ranges[i].offset, ranges[i].bytes));
    f->backend->buffer_free(target);
}

/* The range, and the words beside the digest, stay as they are. */
static void test_the_digest_may_lie_beside_its_range(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    const struct {
        uint64_t offset, bytes, to;
    } places[] = {{16, 4096, 8}, {0, 4091, 4096}, {0, BEHIND, BEHIND}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uint64_t to = places[i].to;
        fill(f, pattern);
        assert_true(digest_of(f, places[i].offset, places[i].bytes, f->there, to) ==
                    right_digest(pattern, places[i].offset, places[i].bytes));
        const unsigned char *memory = bring_back(f, f->there, 0, BYTES);
        assert_true(xb_host_check(memory, 0, to, pattern).wrong_bytes == 0);
        assert_true(xb_host_check(memory + to + 8, to + 8, BYTES - to - 8, pattern).wrong_bytes ==
                    0);
    }
}

/* It sees what was enqueued before it, and what comes behind sees it. */
static void test_digests_keep_the_order(void **state)
{
    struct fixture *f = *state;
    struct xb_pattern computed = pattern;
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    computed.steps = 3;
    fill(f, pattern);
    for (uint64_t i = 0; i < 4; i++) { /* over the same word: the last one counts */
        must(f->backend->queue_digest(f->queue, f->there, 0, BYTES, target, 0, &error), &error);
        must(f->backend->queue_digest(f->queue, f->there, 0, 4099, target, 8 + 8 * i, &error),
             &error);
    }
    must(f->backend->queue_compute(f->queue, f->there, 0, BYTES, 3, &error), &error);
    must(f->backend->queue_digest(f->queue, f->there, 8, BYTES - 8, target, 40, &error), &error);
    fill(f, poison);
    assert_true(word_of(f, target, 0) == right_digest(pattern, 0, BYTES));
    for (uint64_t i = 0; i < 4; i++)
        assert_true(word_of(f, target, 8 + 8 * i) == right_digest(pattern, 0, 4099));
    assert_true(word_of(f, target, 40) == right_digest(computed, 8, BYTES - 8));
    f->backend->buffer_free(target);
}

/* Wherever one word is another, or two words have changed places. */
static void test_other_data_has_another_digest(void **state)
{
    struct fixture *f = *state;
    const uint64_t places[] = {0, 7, 8, 15, 16, 4095, 4096, BYTES - 9, BYTES - 1};
    unsigned char *host = f->pinned->host_address;
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    const uint64_t right = right_digest(pattern, 0, BYTES);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        xb_host_fill(host, 0, BYTES, pattern);
        host[places[i]] ^= 1;
        must(f->backend->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
        assert_true(digest_of(f, 0, BYTES, target, 0) != right);
    }
    fill(f, pattern);
    must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, 16, &error), &error);
    must(f->backend->queue_copy(f->queue, f->there, 0, f->pinned, 8, 8, &error), &error);
    must(f->backend->queue_copy(f->queue, f->there, 8, f->pinned, 0, 8, &error), &error);
    await(f);
    assert_true(digest_of(f, 0, BYTES, target, 0) != right);
    f->backend->buffer_free(target);
}

static void test_bad_digests_are_refused(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_KERNELS))
        skip();
    struct xb_buffer *target = allocate(f, XB_MEMORY_DEVICE);
    const struct {
        struct xb_buffer *buffer;
        uint64_t offset, bytes;
        struct xb_buffer *target;
        uint64_t to;
    } bad[] = {
        {f->there, 4, 8, target, 0},          {f->there, 0, 8, target, 4},
        {f->there, 8, BYTES, target, 0},      {f->there, UINT64_MAX - 7, 16, target, 0},
        {f->there, 0, 8, target, BEHIND + 8}, {f->there, 0, 8, target, UINT64_MAX - 7},
        {f->pinned, 0, 8, target, 0},         {f->there, 0, 8, f->pinned, 0},
        {f->there, 0, 8, f->there, 0},        {f->there, 0, 9, f->there, 8},
        {f->there, 8, 4096, f->there, 4096},
    };
    struct xb_error error = {0};
    memset(f->pinned->host_address, 0x5a, 8);
    must(f->backend->queue_copy(f->queue, target, 0, f->pinned, 0, 8, &error), &error);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = (struct xb_error){0};
        assert_int_equal(f->backend->queue_digest(f->queue, bad[i].buffer, bad[i].offset,
                                                  bad[i].bytes, bad[i].target, bad[i].to, &error),
                         XB_ERR_USAGE);
        assert_string_not_equal(error.message, "");
    }
    assert_true(word_of(f, target, 0) == UNTOUCHED);
    f->backend->buffer_free(target);
}

static const struct CMUnitTest tests[] = {
    TEST(test_every_short_length),
    TEST(test_long_ranges),
    TEST(test_the_digest_may_lie_beside_its_range),
    TEST(test_digests_keep_the_order),
    TEST(test_other_data_has_another_digest),
    TEST(test_bad_digests_are_refused),
};

int run_digest_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: digests", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
