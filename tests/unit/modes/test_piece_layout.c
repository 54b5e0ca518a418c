/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Where the pieces of a transfer lie, and that a wrong one is found wherever it lies. */

#include "backends/verify.h"
#include "modes/piece_layout.h"
#include "testing.h"

static struct xb_layout make(struct xb_layout layout)
{
    struct xb_error error;
    assert_int_equal(xb_layout_make(&layout, &error), XB_OK);
    return layout;
}

static struct xb_layout_side side(bool scattered, uint64_t pitch, uint64_t offset)
{
    return (struct xb_layout_side){.scattered = scattered, .pitch = pitch, .offset = offset};
}

/* ---- where pieces lie ---- */

/* Marks the bytes of every piece: none twice, and none outside. */
static size_t count_bytes(const struct xb_layout *layout, bool of_source)
{
    uint64_t span = of_source ? layout->source_span : layout->target_span;
    unsigned char *seen = calloc(1, span);
    size_t bytes = 0;
    assert_non_null(seen);
    for (size_t i = 0; i < layout->count; i++) {
        const struct xb_piece *piece = &layout->pieces[i];
        uint64_t at = of_source ? piece->source_offset : piece->target_offset;
        assert_true(piece->bytes > 0 && at <= span && piece->bytes <= span - at);
        for (uint64_t k = 0; k < piece->bytes; k++)
            bytes += seen[at + k]++ == 0;
    }
    assert_int_equal(seen[span - 1], 1); /* it ends with a piece */
    free(seen);
    return bytes;
}

TEST(every_byte_lies_in_one_piece)
{
    const uint64_t sizes[][2] = {{1, 4096},     {4096, 4096}, {4097, 4096},  {100000, 512},
                                 {100000, 333}, {5, 1},       {65536, 65536}};
    const struct xb_layout_side sides[] = {side(false, 0, 0), side(true, 0, 0), side(true, 0, 13),
                                           side(false, 70000, 0), side(false, 70001, 64)};
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (size_t a = 0; a < COUNT_OF(sides); a++)
            for (size_t b = 0; b < COUNT_OF(sides); b++) {
                struct xb_layout layout = make((struct xb_layout){.bytes = sizes[s][0],
                                                                  .piece = sizes[s][1],
                                                                  .source = sides[a],
                                                                  .target = sides[b],
                                                                  .seed = 7});
                assert_int_equal(count_bytes(&layout, true), sizes[s][0]);
                assert_int_equal(count_bytes(&layout, false), sizes[s][0]);
                xb_layout_free(&layout);
            }
}

/* How many pieces lie directly behind the one before them, and how many lie at one place on both
 * sides: else what is scattered on both would only be a copy in another order. */
TEST(scattered_pieces_have_no_neighbours)
{
    for (int both = 0; both < 2; both++) {
        struct xb_layout layout = make((struct xb_layout){.bytes = 4096 * 512,
                                                          .piece = 512,
                                                          .source = side(true, 0, 0),
                                                          .target = side(both, 0, 0),
                                                          .seed = 3});
        size_t in_source = 0, in_target = 0, same = 0;
        for (size_t i = 0; i < layout.count; i++) {
            const struct xb_piece *piece = &layout.pieces[i], *last = piece - (i > 0);
            in_source += i > 0 && piece->source_offset == last->source_offset + last->bytes;
            in_target += i > 0 && piece->target_offset == last->target_offset + last->bytes;
            same += piece->source_offset == piece->target_offset;
        }
        assert_true(in_source < 41 && same < 41); /* one in a hundred */
        assert_true(both ? in_target < 41 : in_target == 4095);
        xb_layout_free(&layout);
    }
}

TEST(another_seed_is_another_order)
{
    struct xb_layout a = {.bytes = 4096 * 8, .piece = 8, .source = side(true, 0, 0), .seed = 1};
    struct xb_layout b = a;
    b.seed = 2;
    a = make(a);
    b = make(b);
    assert_memory_not_equal(a.pieces, b.pieces, a.count * sizeof *a.pieces);
    xb_layout_free(&a);
    xb_layout_free(&b);
}

TEST(a_span_does_not_wrap)
{
    const struct xb_layout_side wide = side(false, INT64_MAX, 0);
    assert_int_equal(xb_layout_span(100, 10, &wide), UINT64_MAX);
    const struct xb_layout_side late = side(false, 0, UINT64_MAX);
    assert_int_equal(xb_layout_span(100, 10, &late), UINT64_MAX);
}

/* ---- the proof ---- */

/* How much behind the last piece is watched. */
#define BEHIND 64

static const struct xb_layout rows_and_rest = {.bytes = 1000 * 300 + 77,
                                               .piece = 300,
                                               .source = {.scattered = true, .offset = 5},
                                               .target = {.pitch = 512, .offset = 3},
                                               .seed = 11};

/* A transfer whose device memory the CPU does not see: copies alone reach it. */
static unsigned char source[1 << 20], target[1 << 20], room[1 << 20];

static unsigned char *memory_of(const struct xb_buffer *buffer)
{
    return buffer->host_address != NULL ? buffer->host_address
           : buffer->bytes == 1         ? source
                                        : target;
}

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *to, uint64_t to_offset,
                           struct xb_buffer *from, uint64_t from_offset, uint64_t bytes,
                           struct xb_error *error)
{
    (void)queue;
    (void)error;
    memcpy(memory_of(to) + to_offset, memory_of(from) + from_offset, bytes);
    return XB_OK;
}

static enum xb_status wait_for(struct xb_queue *queue, struct xb_error *error)
{
    (void)queue;
    (void)error;
    return XB_OK;
}

/* Piece `to` has what was sent of piece `from`, or a byte is written at a place of the target. */
struct fault {
    size_t left_out;       /* this piece was not sent; SIZE_MAX: none */
    size_t moved[2][2];    /* to, from; none where both are the same */
    uint64_t first;        /* of the bytes that are wrong */
    uint64_t least, most;  /* how many */
    uint64_t written;      /* so many bytes, at `first`; 0: none */
    uint64_t written_from; /* of the source */
    bool in_a_piece;
};

#define NONE SIZE_MAX
#define LAST_END (3 + 1000 * 512 + 77)

static const struct fault faults[] = {
    {NONE, {{0}}, 0, 0, 0, 0, 0, false},
    {NONE, {{10, 500}, {500, 10}}, 3 + 10 * 512, 500, 600, 0, 0, true},
    {NONE, {{700, 701}}, 3 + 700 * 512, 250, 300, 0, 0, true},
    {123, {{0}}, 3 + 123 * 512, 250, 300, 0, 0, true},
    {1000, {{0}}, 3 + 1000 * 512, 70, 77, 0, 0, true},
    /* The bytes around a row are no longer what they were: between two, before and behind. */
    {NONE, {{0}}, 3 + 20 * 512 + 300, 1, 1, 1, 100, false},
    {NONE, {{0}}, 0, 1, 1, 1, 100, false},
    {NONE, {{0}}, LAST_END + BEHIND - 1, 1, 1, 1, 100, false},
    /* Others over all of a piece but its first byte, and one behind it; and the last one's last. */
    {NONE, {{0}}, 3 + 999 * 512 + 1, 250, 300, 300, 100, true},
    {NONE, {{0}}, LAST_END - 1, 1, 1, 1, 50, true},
};

static void send(const struct xb_layout *layout, size_t to, size_t from)
{
    memcpy(target + layout->pieces[to].target_offset, source + layout->pieces[from].source_offset,
           layout->pieces[from].bytes);
}

static void expect_found(const struct fault *fault, bool to_device)
{
    static const struct xb_backend backend = {.queue_copy = copy, .queue_wait = wait_for};
    struct xb_device device = {.backend = &backend};
    struct xb_queue queue = {.device = &device};
    struct xb_buffer buffers[] = {{.memory = XB_MEMORY_PINNED, .host_address = source, .bytes = 1},
                                  {.memory = XB_MEMORY_PINNED, .host_address = target},
                                  {.memory = XB_MEMORY_PINNED, .host_address = room}};
    struct xb_layout layout = make(rows_and_rest);
    struct xb_mismatch all = {0}, compared = {0};
    struct xb_error error;
    buffers[to_device].memory = XB_MEMORY_DEVICE;
    buffers[to_device].host_address = NULL;
    assert_true(layout.source_span <= sizeof source &&
                layout.target_span + BEHIND <= sizeof target);
    xb_host_fill(source, 0, layout.source_span, xb_proof_before(9));
    xb_host_fill(target, 0, layout.target_span + BEHIND, xb_proof_around(9));
    for (size_t i = 0; i < layout.count; i++)
        if (i != fault->left_out)
            send(&layout, i, i);
    for (size_t i = 0; i < 2; i++)
        if (fault->moved[i][0] != fault->moved[i][1])
            send(&layout, fault->moved[i][0], fault->moved[i][1]);
    memcpy(target + fault->first, source + fault->written_from, fault->written);
    const struct xb_piece_proof proof = {
        .layout = &layout,
        .queue = &queue,
        .source = &buffers[0],
        .target = &buffers[1],
        .room = &buffers[2],
        .moved = xb_proof_before(9),
        .around = xb_proof_around(9),
        .behind = BEHIND,
    };
    assert_int_equal(xb_piece_proof_check(&proof, &all, &compared, &error), XB_OK);
    assert_in_range(all.wrong_bytes, fault->least, fault->most);
    assert_in_range(all.first_offset, fault->first, fault->first + 2);
    assert_int_equal(compared.wrong_bytes > 0, fault->in_a_piece);
    xb_layout_free(&layout);
}

TEST(wrong_pieces_are_found)
{
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        for (int to_device = 0; to_device < 2; to_device++)
            expect_found(&faults[i], to_device);
}
