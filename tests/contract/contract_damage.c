/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The damage that tests do to copies, over real backends: each kind is what it says, by every
 * slot. A test that waits for wrong data to be found proves nothing if none was made.
 */
#include "contract.h"

#include "../doubles/damage.h"
#include "codecs/codec.h"

struct group damage_tests = {"damage", "damage", true, 0, {}};
#define OWN_GROUP damage_tests

#define DECODED 65540u /* of a decoding: the last word is not whole */
#define PIECES MANY(1000u)
#define PIECE_BYTES 4096u

/* Every kind; which bytes of a decoding of DECODED are wrong then, word by word; and how many of a
 * list of PIECES, at most, since bytes agree by chance. */
static const struct {
    enum xb_damage damage;
    uint64_t decoded_at, decoded, in_list;
} all[] = {
    {XB_DAMAGE_NONE, 0, 0, 0},
    {XB_DAMAGE_BIT_FLIPPED, 32768, 8, 8},
    {XB_DAMAGE_BLOCKS_SWAPPED, 0, 8192, UINT64_C(2) * PIECE_BYTES},
    {XB_DAMAGE_SHIFTED_2MIB, 0, 65536, (uint64_t)PIECES *PIECE_BYTES},
    {XB_DAMAGE_LAST_BYTE_LOST, 65528, 8, 1},
    {XB_DAMAGE_NOTHING_COPIED, 0, 65536, (uint64_t)PIECES *PIECE_BYTES},
    {XB_DAMAGE_PIECE_LOST, 2048, 4096, PIECE_BYTES},
    {XB_DAMAGE_PIECE_MISPLACED, 2048, 4096, PIECE_BYTES + 8},
};
#define ALL COUNT_OF(all)

/* Has what follows damaged in that way. */
static enum xb_damage begin(size_t i)
{
    xb_damage_count = 0;
    return xb_damaged_how = all[i].damage;
}

/* What is wrong with a range that was poison and got a damaged copy of the pattern. Bytes agree by
 * chance, 1 in 256. What is misplaced is 8 bytes before its place, so that the last 8 are missing.
 */
static void expect_damage(enum xb_damage damage, struct xb_mismatch found, uint64_t bytes,
                          uint64_t block)
{
    const uint64_t middle = bytes / 2 / 8 * 8;
    const struct {
        uint64_t least, most, first, last; /* wrong bytes, and where the first of them is */
    } wanted[ALL] = {
        [XB_DAMAGE_NONE] = {0, 0, 0, UINT64_MAX},
        [XB_DAMAGE_BIT_FLIPPED] = {1, xb_damager.flip != NULL ? 1 : 8, middle, middle + 7},
        [XB_DAMAGE_BLOCKS_SWAPPED] = {2 * block / 100 * 97, 2 * block, 0, 15},
        [XB_DAMAGE_SHIFTED_2MIB] = {bytes / 100 * 98, bytes, 0, 15},
        [XB_DAMAGE_LAST_BYTE_LOST] = {1, 1, bytes - 1, bytes - 1},
        [XB_DAMAGE_NOTHING_COPIED] = {bytes, bytes, 0, 0},
        [XB_DAMAGE_PIECE_LOST] = {4096, 4096, 2048, 2048},
        [XB_DAMAGE_PIECE_MISPLACED] = {UINT64_C(4104) / 100 * 97, 4104, 2040, 2055},
    };
    assert_in_range(found.wrong_bytes, wanted[damage].least, wanted[damage].most);
    assert_in_range(found.first_offset, wanted[damage].first, wanted[damage].last);
}

static void copy_by(bool by_kernel, struct xb_buffer *target, struct xb_buffer *source)
{
    if (by_kernel)
        MUST(queue_kernel_copy, f->queue, target, 0, source, 0, BYTES, XB_ACCESS_STRIDED, 1);
    else
        copy(target, 0, source, 0, BYTES);
}

static void damage_to_device(struct xb_buffer *host, enum xb_damage damage, bool by_kernel)
{
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    fill(poison);
    copy_by(by_kernel, f->there, host);
    expect_damage(damage, check(BYTES), BYTES, 4096);
}

static void damage_to_host(struct xb_buffer *host, enum xb_damage damage, bool by_kernel)
{
    unsigned char *bytes = host->host_address;
    fill(pattern);
    xb_host_fill(bytes, 0, BYTES, poison);
    copy_by(by_kernel, host, f->there);
    await();
    expect_damage(damage, xb_host_check(bytes, 0, BYTES, pattern), BYTES, 2048);
}

static void damage_copies(enum xb_memory memory, bool by_kernel)
{
    struct xb_buffer *to = allocate(memory);
    struct xb_buffer *from = allocate(memory);
    for (size_t i = 0; i < ALL; i++) {
        const enum xb_damage damage = begin(i);
        damage_to_device(from, damage, by_kernel);
        damage_to_host(to, damage, by_kernel);
        assert_int_equal(xb_damage_count, damage == XB_DAMAGE_NONE ? 0 : 2);
    }
    tested->buffer_free(from);
    tested->buffer_free(to);
}

TEST(copies_take_damage)
{
    damage_copies(XB_MEMORY_PINNED, false);
}

/* All the ways from memory of a device to f->there. */
static void damage_between(struct xb_buffer *source, bool is_peer)
{
    for (size_t i = 0; i < ALL; i++) {
        fill(poison);
        begin(i);
        if (is_peer)
            MUST(queue_copy_peer, f->queue, f->there, 0, source, 0, BYTES);
        else
            copy(f->there, 0, source, 0, BYTES);
        expect_damage(all[i].damage, check(BYTES), BYTES, 4096);
    }
}

TEST(copies_within_the_device_take_damage)
{
    struct xb_buffer *source = allocate(XB_MEMORY_DEVICE);
    MUST(queue_fill, f->queue, source, BYTES, pattern);
    damage_between(source, false);
    tested->buffer_free(source);
}

TEST(kernel_copies_take_damage)
{
    NEEDS(XB_CAP_KERNELS | XB_CAP_MAPPED);
    damage_copies(XB_MEMORY_MAPPED, true);
}

/* In and out again: no damage undoes itself on the way back. */
TEST(damage_adds_up)
{
    struct xb_buffer *in = allocate(XB_MEMORY_PINNED);
    for (size_t i = 0; i < ALL; i++) {
        xb_host_fill(in->host_address, 0, BYTES, pattern);
        xb_host_fill(f->pinned->host_address, 0, BYTES, poison);
        fill(poison);
        begin(i);
        copy(f->there, 0, in, 0, BYTES);
        bring_back();
        uint64_t wrong = xb_host_check(f->pinned->host_address, 0, BYTES, pattern).wrong_bytes;
        assert_true((wrong > 0) == (all[i].damage != XB_DAMAGE_NONE));
    }
    tested->buffer_free(in);
}

TEST(small_copies_are_left_alone)
{
    for (size_t i = 0; i < ALL; i++) {
        xb_host_fill(f->pinned->host_address, 0, BYTES, pattern);
        fill(poison);
        begin(i);
        copy(f->there, 0, f->pinned, 0, XB_DAMAGE_LEAST - 1);
        assert_true(check(XB_DAMAGE_LEAST - 1).wrong_bytes == 0);
    }
}

TEST(prefetches_take_damage)
{
    NEEDS(XB_CAP_MANAGED);
    struct xb_buffer *managed = allocate(XB_MEMORY_MANAGED);
    for (size_t i = 0; i < 2 * ALL; i++) {
        struct xb_mismatch found = {.wrong_bytes = 77};
        begin(i / 2);
        xb_host_fill(managed->host_address, 0, BYTES, pattern);
        MUST(queue_prefetch, f->queue, managed, BYTES, i % 2 == 0);
        MUST(queue_check, f->queue, managed, BYTES, pattern, &found);
        assert_true((found.wrong_bytes > 0) == (xb_damaged_how != XB_DAMAGE_NONE));
        struct xb_mismatch seen = xb_host_check(managed->host_address, 0, BYTES, pattern);
        assert_true(seen.wrong_bytes == found.wrong_bytes);
    }
    tested->buffer_free(managed);
}

TEST(peer_copies_take_damage)
{
    struct xb_device *device = NULL;
    struct xb_queue *queue = NULL;
    struct xb_buffer *source = NULL;
    if (tested->peer_info == NULL || f->probe.device_count < 2)
        skip();
    MUST(device_open, f->driver, 1, &device);
    assert_ptr_equal(device->backend, tested);
    MUST(queue_open, device, &queue);
    MUST(buffer_allocate, device, XB_MEMORY_DEVICE, BYTES, &source);
    MUST(queue_fill, queue, source, BYTES, pattern);
    MUST(queue_wait, queue);
    damage_between(source, true);
    tested->buffer_free(source);
    tested->queue_close(queue);
    tested->device_close(device);
}

/* A chase that loses a load ends a line too early, and one that loses all where it began. */
TEST(chases_take_damage)
{
    struct xb_buffer *cursor = NULL;
    NEEDS(XB_CAP_KERNELS);
    MUST(buffer_allocate, f->device, XB_MEMORY_DEVICE, 8, &cursor);
    MUST(queue_chain, f->queue, f->there, BYTES, XB_ACCESS_SEQUENTIAL);
    for (size_t i = 0; i < ALL; i++) {
        begin(i);
        place_word(cursor, 0);
        MUST(queue_chase, f->queue, f->there, cursor, 100, 0, false);
        const uint64_t loads = all[i].damage == XB_DAMAGE_NONE             ? 100
                               : all[i].damage == XB_DAMAGE_NOTHING_COPIED ? 0
                                                                           : 99;
        assert_true(word_of(cursor, 0) == XB_CHAIN_LINE * loads);
    }
    tested->buffer_free(cursor);
}

/* ---- decodings ---- */

/* Whatever the data is, here numbers that are all the same. */
TEST(decodings_take_damage)
{
    static float original[DECODED / sizeof(float)];
    static uint64_t wanted[DECODED / 8 + 1];
    struct xb_buffer *buffers[2] = {NULL, NULL};
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    NEEDS(XB_CAP_KERNELS);
    for (size_t i = 0; i < 2; i++)
        MUST(buffer_allocate, f->device, XB_MEMORY_DEVICE, DECODED, &buffers[i]);
    unsigned char *host = f->pinned->host_address;
    uint64_t encoded = xb_encode(XB_FORMAT_BF16, original, DECODED, host);
    xb_decode(XB_FORMAT_BF16, host, encoded, wanted, DECODED, 0, &report);
    copy(buffers[0], 0, f->pinned, 0, encoded);
    const struct xb_decoding decoding = {.format = XB_FORMAT_BF16,
                                         .target = f->there,
                                         .bytes = DECODED,
                                         .source = buffers[0],
                                         .source_bytes = encoded,
                                         .report = buffers[1]};
    for (size_t i = 0; i < ALL; i++) {
        fill(poison);
        begin(i);
        MUST(queue_decode, f->queue, &decoding);
        xb_damaged_how = XB_DAMAGE_NONE;
        copy(f->pinned, 0, f->there, 0, DECODED);
        await();
        assert_int_equal(xb_damage_count, all[i].damage != XB_DAMAGE_NONE);
        const uint64_t *seen = f->pinned->host_address;
        for (uint64_t at = 0; at + 8 <= DECODED; at += 8)
            assert_true((seen[at / 8] != wanted[at / 8]) ==
                        (at >= all[i].decoded_at && at - all[i].decoded_at < all[i].decoded));
    }
    for (size_t i = 0; i < 2; i++)
        tested->buffer_free(buffers[i]);
}

/* ---- many copies at once ---- */

/* Enqueues the pieces, which are the buffers' first bytes in order, or as many rows. */
static void move_pieces(unsigned way, struct xb_pieces *list, struct xb_graph *graph)
{
    const struct xb_rows target = {f->there, 0, PIECE_BYTES};
    const struct xb_rows source = {list->source, 0, PIECE_BYTES};
    if (way == 0)
        MUST(queue_copy_pieces, f->queue, list);
    else if (way == 1)
        MUST(queue_kernel_pieces, f->queue, list, 0, false);
    else if (way == 2)
        MUST(queue_graph, f->queue, graph);
    else
        MUST(queue_copy_rows, f->queue, target, source, PIECE_BYTES, PIECES);
}

static void damage_pieces(unsigned way, struct xb_pieces *list, struct xb_graph *graph)
{
    for (size_t i = 0; i < ALL; i++) {
        const enum xb_damage damage = begin(i);
        fill(poison);
        move_pieces(way, list, graph);
        struct xb_mismatch found = check((uint64_t)PIECES * PIECE_BYTES);
        assert_true(found.wrong_bytes <= all[i].in_list);
        /* A shift ends where the source does. */
        assert_true(found.wrong_bytes >=
                    (damage == XB_DAMAGE_SHIFTED_2MIB ? 1 : all[i].in_list / 100 * 98));
        assert_true((found.wrong_bytes > 0) == (damage != XB_DAMAGE_NONE));
        assert_int_equal(xb_damage_count, damage != XB_DAMAGE_NONE);
    }
}

TEST(pieces_take_damage)
{
    static const uint32_t needs[] = {XB_CAP_BATCH, XB_CAP_KERNELS, XB_CAP_GRAPH, XB_CAP_ROWS};
    static struct xb_piece pieces[PIECES];
    struct xb_pieces *list = NULL;
    struct xb_graph *graph = NULL;
    if (tested->pieces_open == NULL || !can(XB_CAP_MAPPED))
        skip();
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (struct xb_piece){i * PIECE_BYTES, i * PIECE_BYTES, PIECE_BYTES};
    struct xb_buffer *host = allocate(XB_MEMORY_MAPPED);
    xb_host_fill(host->host_address, 0, BYTES, pattern);
    MUST(pieces_open, f->device, f->there, host, pieces, PIECES, &list);
    if (can(XB_CAP_GRAPH))
        MUST(graph_open, f->queue, list, &graph);
    for (unsigned way = 0; way < 4; way++)
        if (can(needs[way]))
            damage_pieces(way, list, graph);
    if (graph != NULL)
        tested->graph_close(graph);
    tested->pieces_close(list);
    tested->buffer_free(host);
}
