/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The damage that tests do to copies, over real backends: each kind is what it says, by every
 * slot. A test that waits for wrong data to be found proves nothing if none was made.
 */
#include "contract.h"

#include "../doubles/damaged_backend.h"
#include "backends/verify.h"
#include "codecs/codec.h"

#include <stdio.h>
#include <string.h>

static const enum xb_damage all[] = {XB_DAMAGE_NONE,           XB_DAMAGE_BIT_FLIPPED,
                                     XB_DAMAGE_BLOCKS_SWAPPED, XB_DAMAGE_SHIFTED_2MIB,
                                     XB_DAMAGE_LAST_BYTE_LOST, XB_DAMAGE_NOTHING_COPIED,
                                     XB_DAMAGE_PIECE_LOST,     XB_DAMAGE_PIECE_MISPLACED};
#define ALL (sizeof all / sizeof all[0])

/* What is wrong with a range that was poison and got a damaged copy of the pattern. */
static void expect_damage(enum xb_damage damage, struct xb_mismatch found, uint64_t bytes,
                          uint64_t block)
{
    switch (damage) {
    case XB_DAMAGE_NONE:
        assert_true(found.wrong_bytes == 0);
        break;
    case XB_DAMAGE_BIT_FLIPPED:
        assert_true(found.wrong_bytes == 1);
        assert_true(found.first_offset == bytes / 2 / 8 * 8);
        break;
    case XB_DAMAGE_BLOCKS_SWAPPED: /* bytes agree by chance, 1 in 256 */
        assert_true(found.wrong_bytes > 2 * block / 100 * 97 && found.wrong_bytes <= 2 * block);
        assert_true(found.first_offset < 16);
        break;
    case XB_DAMAGE_SHIFTED_2MIB:
        assert_true(found.wrong_bytes > bytes / 100 * 98);
        assert_true(found.first_offset < 16);
        break;
    case XB_DAMAGE_LAST_BYTE_LOST:
        assert_true(found.wrong_bytes == 1);
        assert_true(found.first_offset == bytes - 1);
        break;
    case XB_DAMAGE_NOTHING_COPIED:
        assert_true(found.wrong_bytes == bytes);
        break;
    case XB_DAMAGE_PIECE_LOST:
        assert_true(found.wrong_bytes == 4096);
        assert_true(found.first_offset == 2048);
        break;
    case XB_DAMAGE_PIECE_MISPLACED: /* 8 bytes before its place, so that the last 8 are missing */
        assert_true(found.wrong_bytes > UINT64_C(4104) / 100 * 97 && found.wrong_bytes <= 4104);
        assert_true(found.first_offset >= 2040 && found.first_offset < 2056);
        break;
    }
}

static enum xb_status copy(struct fixture *f, struct xb_buffer *target, struct xb_buffer *source,
                           uint64_t bytes, bool by_kernel, struct xb_error *error)
{
    return by_kernel ? f->backend->queue_kernel_copy(f->queue, target, 0, source, 0, bytes,
                                                     XB_ACCESS_STRIDED, 1, error)
                     : f->backend->queue_copy(f->queue, target, 0, source, 0, bytes, error);
}

static void damage_to_device(struct fixture *f, struct xb_buffer *host, enum xb_damage damage,
                             bool by_kernel)
{
    struct xb_error error;
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    fill(f, poison);
    xb_damaged_how = damage;
    must(copy(f, f->there, host, BYTES, by_kernel, &error), &error);
    expect_damage(damage, check(f, BYTES), BYTES, 4096);
}

static void damage_to_host(struct fixture *f, struct xb_buffer *host, enum xb_damage damage,
                           bool by_kernel)
{
    struct xb_error error;
    unsigned char *bytes = host->host_address;
    fill(f, pattern);
    xb_host_fill(bytes, 0, BYTES, poison);
    xb_damaged_how = damage;
    must(copy(f, host, f->there, BYTES, by_kernel, &error), &error);
    must(f->backend->queue_wait(f->queue, &error), &error);
    expect_damage(damage, xb_host_check(bytes, 0, BYTES, pattern), BYTES, 2048);
    if (damage != XB_DAMAGE_BIT_FLIPPED)
        return;
    unsigned char right[8];
    uint64_t place = BYTES / 2 / 8 * 8;
    xb_host_fill(right, place, 8, pattern);
    assert_int_equal(__builtin_popcount((unsigned)(right[0] ^ bytes[place])), 1);
}

static void damage_copies(struct fixture *f, enum xb_memory memory, bool by_kernel)
{
    struct xb_buffer *hosts[2] = {NULL, NULL};
    struct xb_error error;
    for (size_t i = 0; i < 2; i++)
        must(f->backend->buffer_allocate(f->device, memory, BYTES, &hosts[i], &error), &error);
    for (size_t i = 0; i < ALL; i++) {
        xb_damage_count = 0;
        damage_to_device(f, hosts[0], all[i], by_kernel);
        damage_to_host(f, hosts[1], all[i], by_kernel);
        assert_int_equal(xb_damage_count, all[i] == XB_DAMAGE_NONE ? 0 : 2);
    }
    for (size_t i = 0; i < 2; i++)
        f->backend->buffer_free(hosts[i]);
}

static void test_copies_take_damage(void **state)
{
    damage_copies(*state, XB_MEMORY_PINNED, false);
}

static void test_copies_within_the_device_take_damage(void **state)
{
    struct fixture *f = *state;
    struct xb_buffer *source = NULL;
    struct xb_error error;
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_DEVICE, BYTES, &source, &error), &error);
    must(f->backend->queue_fill(f->queue, source, BYTES, pattern, &error), &error);
    for (size_t i = 0; i < ALL; i++) {
        fill(f, poison);
        xb_damaged_how = all[i];
        must(copy(f, f->there, source, BYTES, false, &error), &error);
        expect_damage(all[i], check(f, BYTES), BYTES, 4096);
    }
    f->backend->buffer_free(source);
}

static void test_kernel_copies_take_damage(void **state)
{
    const struct fixture *f = *state;
    const uint32_t needed = XB_CAP_KERNELS | XB_CAP_MAPPED;
    if ((f->device->info.capabilities & needed) != needed)
        skip();
    damage_copies(*state, XB_MEMORY_MAPPED, true);
}

/* Where nobody knows what the device holds, a word is wrong in place of a bit. */
static void test_computed_data_takes_damage(void **state)
{
    struct fixture *f = *state;
    struct xb_pattern computed = pattern;
    struct xb_error error;
    if ((f->device->info.capabilities & XB_CAP_KERNELS) == 0)
        skip();
    computed.steps = 3;
    fill(f, pattern);
    must(f->backend->queue_compute(f->queue, f->there, 0, BYTES, 3, &error), &error);
    xb_damaged_how = XB_DAMAGE_BIT_FLIPPED;
    must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(f->backend->queue_wait(f->queue, &error), &error);
    struct xb_mismatch found = xb_host_check(f->pinned->host_address, 0, BYTES, computed);
    assert_true(found.wrong_bytes > 0 && found.wrong_bytes <= 8);
}

/* In and out again: no damage undoes itself on the way back. */
static void test_damage_adds_up(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_buffer *in = NULL;
    struct xb_error error;
    must(b->buffer_allocate(f->device, XB_MEMORY_PINNED, BYTES, &in, &error), &error);
    for (size_t i = 0; i < ALL; i++) {
        xb_host_fill(in->host_address, 0, BYTES, pattern);
        xb_host_fill(f->pinned->host_address, 0, BYTES, poison);
        fill(f, poison);
        xb_damaged_how = all[i];
        must(copy(f, f->there, in, BYTES, false, &error), &error);
        must(copy(f, f->pinned, f->there, BYTES, false, &error), &error);
        must(b->queue_wait(f->queue, &error), &error);
        uint64_t wrong = xb_host_check(f->pinned->host_address, 0, BYTES, pattern).wrong_bytes;
        assert_true((wrong > 0) == (all[i] != XB_DAMAGE_NONE));
    }
    b->buffer_free(in);
}

static void test_small_copies_are_left_alone(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    for (size_t i = 0; i < ALL; i++) {
        xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
        fill(f, poison);
        xb_damaged_how = all[i];
        must(copy(f, f->there, f->pinned, XB_DAMAGE_LEAST - 1, false, &error), &error);
        assert_true(check(f, XB_DAMAGE_LEAST - 1).wrong_bytes == 0);
    }
}

static void test_prefetches_take_damage(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_buffer *managed = NULL;
    struct xb_error error;
    if ((f->device->info.capabilities & XB_CAP_MANAGED) == 0)
        skip();
    must(b->buffer_allocate(f->device, XB_MEMORY_MANAGED, BYTES, &managed, &error), &error);
    for (size_t i = 0; i < 2 * ALL; i++) {
        struct xb_mismatch found = {.wrong_bytes = 77};
        xb_damaged_how = all[i / 2];
        xb_host_fill(managed->host_address, 0, BYTES, pattern);
        must(b->queue_prefetch(f->queue, managed, BYTES, i % 2 == 0, &error), &error);
        must(b->queue_check(f->queue, managed, BYTES, pattern, &found, &error), &error);
        assert_true((found.wrong_bytes > 0) == (xb_damaged_how != XB_DAMAGE_NONE));
        struct xb_mismatch seen = xb_host_check(managed->host_address, 0, BYTES, pattern);
        assert_true(seen.wrong_bytes == found.wrong_bytes);
    }
    b->buffer_free(managed);
}

static void test_peer_copies_take_damage(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_device *device = NULL;
    struct xb_queue *queue = NULL;
    struct xb_buffer *source = NULL;
    struct xb_error error;
    if (b->peer_info == NULL || f->probe.device_count < 2)
        skip();
    must(b->device_open(f->driver, 1, &device, &error), &error);
    assert_ptr_equal(device->backend, b);
    must(b->queue_open(device, &queue, &error), &error);
    must(b->buffer_allocate(device, XB_MEMORY_DEVICE, BYTES, &source, &error), &error);
    must(b->queue_fill(queue, source, BYTES, pattern, &error), &error);
    must(b->queue_wait(queue, &error), &error);
    for (size_t i = 0; i < ALL; i++) {
        xb_damaged_how = all[i];
        fill(f, poison);
        must(b->queue_copy_peer(f->queue, f->there, 0, source, 0, BYTES, &error), &error);
        expect_damage(all[i], check(f, BYTES), BYTES, 4096);
    }
    b->buffer_free(source);
    b->queue_close(queue);
    b->device_close(device);
}

/* A chase that loses a load ends a line too early. */
static void test_chases_take_damage(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_buffer *cursor = NULL;
    struct xb_error error;
    if ((f->device->info.capabilities & XB_CAP_KERNELS) == 0)
        skip();
    must(b->buffer_allocate(f->device, XB_MEMORY_DEVICE, 8, &cursor, &error), &error);
    must(b->queue_chain(f->queue, f->there, BYTES, XB_ACCESS_SEQUENTIAL, &error), &error);
    uint64_t *offset = f->pinned->host_address;
    for (size_t i = 0; i < ALL; i++) {
        xb_damaged_how = all[i];
        *offset = 0;
        must(b->queue_copy(f->queue, cursor, 0, f->pinned, 0, 8, &error), &error);
        must(b->queue_chase(f->queue, f->there, cursor, 100, 0, &error), &error);
        must(b->queue_copy(f->queue, f->pinned, 0, cursor, 0, 8, &error), &error);
        must(b->queue_wait(f->queue, &error), &error);
        assert_true(*offset == XB_CHAIN_LINE * (all[i] == XB_DAMAGE_NONE ? 100 : 99));
    }
    b->buffer_free(cursor);
}

/* ---- decodings ---- */

#define DECODED 65540u /* the last word is not whole */

/* Which words of what was restored are wrong: none where there are no bytes. */
static struct xb_piece wrong_words(enum xb_damage damage)
{
    switch (damage) {
    case XB_DAMAGE_NONE:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
        return (struct xb_piece){.target_offset = 32768, .bytes = 8};
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return (struct xb_piece){.target_offset = 0, .bytes = 8192};
    case XB_DAMAGE_SHIFTED_2MIB:
    case XB_DAMAGE_NOTHING_COPIED:
        return (struct xb_piece){.target_offset = 0, .bytes = 65536};
    case XB_DAMAGE_LAST_BYTE_LOST:
        return (struct xb_piece){.target_offset = 65528, .bytes = 8};
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return (struct xb_piece){.target_offset = 2048, .bytes = 4096};
    }
    return (struct xb_piece){.bytes = 0};
}

static void expect_wrong_words(enum xb_damage damage, const uint64_t *seen, const uint64_t *wanted)
{
    const struct xb_piece wrong = wrong_words(damage);
    for (uint64_t at = 0; at + 8 <= DECODED; at += 8)
        assert_true((seen[at / 8] != wanted[at / 8]) ==
                    (at >= wrong.target_offset && at - wrong.target_offset < wrong.bytes));
}

/* Whatever the data is, here numbers that are all the same. */
static void test_decodings_take_damage(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    static float original[DECODED / sizeof(float)];
    static uint64_t wanted[DECODED / 8 + 1];
    struct xb_buffer *buffers[2] = {NULL, NULL};
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    struct xb_error error;
    if ((f->device->info.capabilities & XB_CAP_KERNELS) == 0)
        skip();
    for (size_t i = 0; i < 2; i++)
        must(b->buffer_allocate(f->device, XB_MEMORY_DEVICE, DECODED, &buffers[i], &error), &error);
    unsigned char *host = f->pinned->host_address;
    uint64_t encoded = xb_encode(XB_FORMAT_BF16, original, DECODED, host);
    xb_decode(XB_FORMAT_BF16, host, encoded, wanted, DECODED, 0, &report);
    must(b->queue_copy(f->queue, buffers[0], 0, f->pinned, 0, encoded, &error), &error);
    const struct xb_decoding decoding = {.format = XB_FORMAT_BF16,
                                         .target = f->there,
                                         .bytes = DECODED,
                                         .source = buffers[0],
                                         .source_bytes = encoded,
                                         .report = buffers[1]};
    for (size_t i = 0; i < ALL; i++) {
        fill(f, poison);
        xb_damage_count = 0;
        xb_damaged_how = all[i];
        must(b->queue_decode(f->queue, &decoding, &error), &error);
        xb_damaged_how = XB_DAMAGE_NONE;
        must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, DECODED, &error), &error);
        must(b->queue_wait(f->queue, &error), &error);
        assert_int_equal(xb_damage_count, all[i] != XB_DAMAGE_NONE);
        expect_wrong_words(all[i], f->pinned->host_address, wanted);
    }
    for (size_t i = 0; i < 2; i++)
        b->buffer_free(buffers[i]);
}

/* ---- many copies at once ---- */

#define PIECES MANY(1000u)
#define PIECE_BYTES 4096u

/* Enqueues the pieces, which are the buffers' first bytes in order, or as many rows. */
static enum xb_status move_pieces(struct fixture *f, unsigned way, struct xb_pieces *list,
                                  struct xb_graph *graph, struct xb_error *error)
{
    const struct xb_rows target = {f->there, 0, PIECE_BYTES};
    const struct xb_rows source = {list->source, 0, PIECE_BYTES};
    return way == 0   ? f->backend->queue_copy_pieces(f->queue, list, error)
           : way == 1 ? f->backend->queue_kernel_pieces(f->queue, list, 0, error)
           : way == 2
               ? f->backend->queue_graph(f->queue, graph, error)
               : f->backend->queue_copy_rows(f->queue, target, source, PIECE_BYTES, PIECES, error);
}

/* How many bytes are wrong under that damage; where bytes agree by chance, at most. */
static uint64_t wrong_in_pieces(enum xb_damage damage)
{
    switch (damage) {
    case XB_DAMAGE_NONE:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
    case XB_DAMAGE_LAST_BYTE_LOST:
        return 1;
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return UINT64_C(2) * PIECE_BYTES;
    case XB_DAMAGE_SHIFTED_2MIB:
    case XB_DAMAGE_NOTHING_COPIED:
        return (uint64_t)PIECES * PIECE_BYTES;
    case XB_DAMAGE_PIECE_LOST:
        return PIECE_BYTES;
    case XB_DAMAGE_PIECE_MISPLACED:
        return PIECE_BYTES + 8;
    }
    return 0;
}

static void damage_pieces(struct fixture *f, unsigned way, struct xb_pieces *list,
                          struct xb_graph *graph)
{
    struct xb_error error;
    for (size_t i = 0; i < ALL; i++) {
        xb_damage_count = 0;
        xb_damaged_how = all[i];
        fill(f, poison);
        must(move_pieces(f, way, list, graph, &error), &error);
        uint64_t most = wrong_in_pieces(all[i]);
        struct xb_mismatch found = check(f, (uint64_t)PIECES * PIECE_BYTES);
        assert_true(found.wrong_bytes <= most);
        /* A shift ends where the source does. */
        assert_true(found.wrong_bytes >= (all[i] == XB_DAMAGE_SHIFTED_2MIB ? 1 : most / 100 * 98));
        assert_true((found.wrong_bytes > 0) == (all[i] != XB_DAMAGE_NONE));
        assert_int_equal(xb_damage_count, all[i] != XB_DAMAGE_NONE);
    }
}

static void test_pieces_take_damage(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    static const uint32_t needs[] = {XB_CAP_BATCH, XB_CAP_KERNELS, XB_CAP_GRAPH, XB_CAP_ROWS};
    static struct xb_piece pieces[PIECES];
    struct xb_buffer *host = NULL;
    struct xb_pieces *list = NULL;
    struct xb_graph *graph = NULL;
    struct xb_error error;
    if (b->pieces_open == NULL || (f->device->info.capabilities & XB_CAP_MAPPED) == 0)
        skip();
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (struct xb_piece){i * PIECE_BYTES, i * PIECE_BYTES, PIECE_BYTES};
    must(b->buffer_allocate(f->device, XB_MEMORY_MAPPED, BYTES, &host, &error), &error);
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    must(b->pieces_open(f->device, f->there, host, pieces, PIECES, &list, &error), &error);
    if ((f->device->info.capabilities & XB_CAP_GRAPH) != 0)
        must(b->graph_open(f->queue, list, &graph, &error), &error);
    for (unsigned way = 0; way < 4; way++)
        if ((f->device->info.capabilities & needs[way]) != 0)
            damage_pieces(f, way, list, graph);
    if (graph != NULL)
        b->graph_close(graph);
    b->pieces_close(list);
    b->buffer_free(host);
}

static int heal(void **state)
{
    xb_damaged_how = XB_DAMAGE_NONE;
    return tear_down(state);
}

#define DAMAGE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, heal)

static const struct CMUnitTest tests[] = {
    DAMAGE_TEST(test_copies_take_damage),
    DAMAGE_TEST(test_kernel_copies_take_damage),
    DAMAGE_TEST(test_copies_within_the_device_take_damage),
    DAMAGE_TEST(test_computed_data_takes_damage),
    DAMAGE_TEST(test_damage_adds_up),
    DAMAGE_TEST(test_small_copies_are_left_alone),
    DAMAGE_TEST(test_prefetches_take_damage),
    DAMAGE_TEST(test_peer_copies_take_damage),
    DAMAGE_TEST(test_chases_take_damage),
    DAMAGE_TEST(test_decodings_take_damage),
    DAMAGE_TEST(test_pieces_take_damage),
};

int run_damage_tests(const char *name)
{
    const struct xb_backend *undamaged = tested;
    char group[64];
    snprintf(group, sizeof group, "%s: damage", name);
    tested = xb_damaged_wrap(undamaged);
    int failed = _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
    tested = undamaged;
    return failed;
}
