/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Where the pieces of a transfer lie, and that a wrong one is found wherever it lies. */

#include "testing.h"

#include "backends/host/host.h"
#include "modes/piece_layout.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

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

TEST(test_every_byte_lies_in_one_piece)
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

/* How many pieces lie directly behind the one before them. */
static size_t count_neighbours(const struct xb_layout *layout, bool of_source)
{
    size_t count = 0;
    for (size_t i = 1; i < layout->count; i++) {
        const struct xb_piece *last = &layout->pieces[i - 1];
        const struct xb_piece *piece = &layout->pieces[i];
        count += of_source ? piece->source_offset == last->source_offset + last->bytes
                           : piece->target_offset == last->target_offset + last->bytes;
    }
    return count;
}

TEST(test_scattered_pieces_have_no_neighbours)
{
    struct xb_layout layout = make((struct xb_layout){.bytes = 4096 * 512,
                                                      .piece = 512,
                                                      .source = side(true, 0, 0),
                                                      .target = side(false, 0, 0)});
    assert_true(count_neighbours(&layout, true) < 41); /* one in a hundred */
    assert_int_equal(count_neighbours(&layout, false), 4095);
    xb_layout_free(&layout);
}

/* Else what is scattered on both sides would only be a copy in another order. */
TEST(test_both_sides_are_scattered_apart)
{
    struct xb_layout layout = make((struct xb_layout){.bytes = 4096 * 512,
                                                      .piece = 512,
                                                      .source = side(true, 0, 0),
                                                      .target = side(true, 0, 0),
                                                      .seed = 3});
    size_t same = 0;
    for (size_t i = 0; i < layout.count; i++)
        same += layout.pieces[i].source_offset == layout.pieces[i].target_offset;
    assert_true(same < 41);
    xb_layout_free(&layout);
}

TEST(test_another_seed_is_another_order)
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

TEST(test_a_span_does_not_wrap)
{
    const struct xb_layout_side wide = side(false, INT64_MAX, 0);
    assert_int_equal(xb_layout_span(100, 10, &wide), UINT64_MAX);
    const struct xb_layout_side late = side(false, 0, UINT64_MAX);
    assert_int_equal(xb_layout_span(100, 10, &late), UINT64_MAX);
}

/* ---- the proof ---- */

/* A transfer on the host backend, whose device memory the test cannot reach: pieces are moved by
 * copies. */
struct fixture {
    const struct xb_backend *backend;
    struct xb_driver *driver;
    struct xb_device *device;
    struct xb_queue *queue;
    struct xb_buffer *host, *there, *room;
    struct xb_layout layout;
    struct xb_mismatch all, compared;
    bool to_device;
};

/* How much behind the last piece is watched. */
#define BEHIND 64

static void must(enum xb_status status, const struct xb_error *error)
{
    if (status != XB_OK)
        fail_msg("%s", error->message);
}

static void open_fixture(struct fixture *f, struct xb_layout layout, bool to_device)
{
    struct xb_error error;
    struct xb_probe probe;
    memset(f, 0, sizeof *f);
    f->backend = &xb_host_backend;
    f->layout = make(layout);
    f->to_device = to_device;
    uint64_t source = f->layout.source_span;
    uint64_t target = f->layout.target_span + BEHIND;
    must(f->backend->driver_open(&f->driver, &probe, &error), &error);
    must(f->backend->device_open(f->driver, 0, &f->device, &error), &error);
    must(f->backend->queue_open(f->device, &f->queue, &error), &error);
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_PINNED, to_device ? source : target,
                                     &f->host, &error),
         &error);
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_DEVICE, to_device ? target : source,
                                     &f->there, &error),
         &error);
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_PINNED, to_device ? target : source,
                                     &f->room, &error),
         &error);
    must(
        xb_proof_fill(f->queue, to_device ? f->host : f->there, source, xb_proof_before(9), &error),
        &error);
    must(
        xb_proof_fill(f->queue, to_device ? f->there : f->host, target, xb_proof_around(9), &error),
        &error);
}

static void close_fixture(struct fixture *f)
{
    f->backend->buffer_free(f->room);
    f->backend->buffer_free(f->there);
    f->backend->buffer_free(f->host);
    f->backend->queue_close(f->queue);
    f->backend->device_close(f->device);
    f->backend->driver_close(f->driver);
    xb_layout_free(&f->layout);
}

static void move(struct fixture *f, uint64_t target_offset, uint64_t source_offset, uint64_t bytes)
{
    struct xb_error error;
    must(f->backend->queue_copy(f->queue, f->to_device ? f->there : f->host, target_offset,
                                f->to_device ? f->host : f->there, source_offset, bytes, &error),
         &error);
}

static void move_piece(struct fixture *f, size_t target, size_t source)
{
    move(f, f->layout.pieces[target].target_offset, f->layout.pieces[source].source_offset,
         f->layout.pieces[source].bytes);
}

static void check(struct fixture *f)
{
    struct xb_error error;
    const struct xb_piece_proof proof = {
        .layout = &f->layout,
        .queue = f->queue,
        .source = f->to_device ? f->host : f->there,
        .target = f->to_device ? f->there : f->host,
        .room = f->room,
        .moved = xb_proof_before(9),
        .around = xb_proof_around(9),
        .behind = BEHIND,
    };
    must(f->backend->queue_wait(f->queue, &error), &error);
    must(xb_piece_proof_check(&proof, &f->all, &f->compared, &error), &error);
}

static const struct xb_layout rows_and_rest = {.bytes = 1000 * 300 + 77,
                                               .piece = 300,
                                               .source = {.scattered = true, .offset = 5},
                                               .target = {.pitch = 512, .offset = 3},
                                               .seed = 11};

typedef void damage(struct fixture *f);

static void nothing(struct fixture *f)
{
    (void)f;
}

static void swap_two(struct fixture *f)
{
    move_piece(f, 10, 500);
    move_piece(f, 500, 10);
}

static void repeat_one(struct fixture *f)
{
    move_piece(f, 700, 701);
}

/* The bytes around a row are no longer what they were. */
static void write_between(struct fixture *f)
{
    move(f, f->layout.pieces[20].target_offset + f->layout.pieces[20].bytes, 100, 1);
}

static void write_before(struct fixture *f)
{
    move(f, 0, 100, 1);
}

/* One byte further on: all but the first of it are wrong, and one behind it. */
static void shift_one(struct fixture *f)
{
    move(f, f->layout.pieces[999].target_offset + 1, f->layout.pieces[999].source_offset, 300);
}

static void change_the_last(struct fixture *f)
{
    const struct xb_piece *last = &f->layout.pieces[f->layout.count - 1];
    move(f, last->target_offset + last->bytes - 1, 50, 1);
}

static void write_behind(struct fixture *f)
{
    move(f, f->layout.target_span + BEHIND - 1, 100, 1);
}

/* Moves every piece but `left_out`, does the damage, and checks. */
static struct fixture check_after(damage *how, size_t left_out, bool to_device)
{
    struct fixture f;
    open_fixture(&f, rows_and_rest, to_device);
    for (size_t i = 0; i < f.layout.count; i++)
        if (i != left_out)
            move_piece(&f, i, i);
    how(&f);
    check(&f);
    close_fixture(&f);
    return f;
}

#define NONE SIZE_MAX

TEST(test_right_pieces_pass)
{
    for (int to_device = 0; to_device < 2; to_device++) {
        struct fixture f = check_after(nothing, NONE, to_device);
        assert_int_equal(f.all.wrong_bytes, 0);
        assert_int_equal(f.compared.wrong_bytes, 0);
    }
}

TEST(test_wrong_pieces_are_found)
{
    const struct {
        damage *how;
        size_t left_out;
        uint64_t first, least, most; /* of the bytes that are wrong */
        bool in_a_piece;
    } faults[] = {
        {swap_two, NONE, 3 + 10 * 512, 500, 600, true},
        {repeat_one, NONE, 3 + 700 * 512, 250, 300, true},
        {nothing, 123, 3 + 123 * 512, 250, 300, true},
        {nothing, 1000, 3 + 1000 * 512, 70, 77, true},
        {write_between, NONE, 3 + 20 * 512 + 300, 1, 1, false},
        {write_before, NONE, 0, 1, 1, false},
        {write_behind, NONE, 3 + 1000 * 512 + 77 + BEHIND - 1, 1, 1, false},
        {shift_one, NONE, 3 + 999 * 512 + 1, 250, 300, true},
        {change_the_last, NONE, 3 + 1000 * 512 + 76, 1, 1, true},
    };
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        for (int to_device = 0; to_device < 2; to_device++) {
            struct fixture f = check_after(faults[i].how, faults[i].left_out, to_device);
            assert_in_range(f.all.wrong_bytes, faults[i].least, faults[i].most);
            assert_in_range(f.all.first_offset, faults[i].first, faults[i].first + 2);
            assert_int_equal(f.compared.wrong_bytes > 0, faults[i].in_a_piece);
        }
}
