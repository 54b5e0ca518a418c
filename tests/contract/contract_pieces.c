/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Many copies at once: batches, kernels, graphs and rows move every byte of a piece and no other.
 */
#include "backends/verify.h"
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

/* The pieces of a test: how many, how long and how far apart. A length is `least` and up to `more`
 * bytes more, and a piece begins at a multiple of `step`, up to `gap` bytes behind the one before.
 */
struct shape {
    size_t count;
    uint64_t least, more, gap, step;
};

static const struct shape shapes[] = {
    {1, BYTES, 0, 0, 1},              /* everything in one */
    {1, 4097, 0, 77, 1},              /* one */
    {MANY(10000), 1, 400, 40, 1},     /* very many, of any length and alignment */
    {MANY(1000), 1, 4096, 33, 1},     /* up to more than a page */
    {MANY(2000), 512, 0, 1024, 512},  /* small blocks, aligned and apart */
    {MANY(300), 4096, 0, 8192, 4096}, /* pages */
    {MANY(1024), 4096, 0, 0, 1},      /* pages without gaps */
    {MANY(999), 8, 2000, 64, 8},      /* words, and ends that are none */
    {MANY(5000), 16, 496, 16, 16},    /* aligned at 16 bytes, and ends that are not */
    {5, BYTES / 5 - 800, 99, 3, 1},   /* few and large */
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

/* A number that only depends on `place`. */
static uint64_t any_number(uint64_t place)
{
    return xb_pattern_word((struct xb_pattern){.seed = 2718, .flip = 0}, place) >> 20;
}

static uint64_t length_of(const struct shape *shape, size_t i)
{
    return shape->least + any_number(i) % (shape->more + 1);
}

static uint64_t gap_of(const struct shape *shape, size_t i)
{
    return any_number(i) % (shape->gap / shape->step + 1) * shape->step;
}

static uint64_t round_up(uint64_t offset, uint64_t step)
{
    return (offset + step - 1) / step * step;
}

/* Puts the pieces apart on both sides, and in another order in the source than in the target. */
static struct xb_piece *make_pieces(const struct shape *shape)
{
    struct xb_piece *pieces = calloc(shape->count, sizeof *pieces);
    assert_non_null(pieces);
    uint64_t to = 0;
    uint64_t from = 0;
    for (size_t i = 0; i < shape->count; i++) {
        size_t back = shape->count - 1 - i;
        to = round_up(to, shape->step) + gap_of(shape, 3 * i);
        pieces[i].bytes = length_of(shape, i);
        pieces[i].target_offset = to;
        to += pieces[i].bytes;
        from = round_up(from, shape->step) + gap_of(shape, 3 * i + 1);
        pieces[back].source_offset = from;
        from += length_of(shape, back);
    }
    assert_true(to <= BYTES && from <= BYTES);
    return pieces;
}

/* ---- what moves them ---- */

enum way { BATCH, KERNEL, GRAPH };

static uint32_t need_of(enum way way)
{
    return way == BATCH ? XB_CAP_BATCH : way == GRAPH ? XB_CAP_GRAPH : XB_CAP_KERNELS;
}

/* Host memory that the way reaches; mapped memory serves every one of them. */
static enum xb_memory memory_of(enum way way)
{
    return way == KERNEL ? XB_MEMORY_MAPPED : XB_MEMORY_PINNED;
}

static void fill_buffer(struct fixture *f, struct xb_buffer *buffer, struct xb_pattern with)
{
    struct xb_error error;
    await(f);
    if (buffer->memory == XB_MEMORY_DEVICE)
        must(f->backend->queue_fill(f->queue, buffer, BYTES, with, &error), &error);
    else
        xb_host_fill(buffer->host_address, 0, BYTES, with);
}

/* Every byte of a piece is the source's, and every other is as it was. */
static void expect_pieces(struct fixture *f, const struct xb_buffer *target,
                          const struct xb_piece *pieces, size_t count)
{
    static unsigned char right[BYTES];
    static unsigned char source[BYTES];
    static bool has_source = false;
    const unsigned char *found = target->host_address;
    struct xb_error error;
    xb_host_fill(right, 0, BYTES, poison);
    if (!has_source)
        xb_host_fill(source, 0, BYTES, pattern);
    has_source = true;
    for (size_t i = 0; i < count; i++)
        memcpy(right + pieces[i].target_offset, source + pieces[i].source_offset, pieces[i].bytes);
    if (target->memory == XB_MEMORY_DEVICE) {
        await(f); /* the source may be the same buffer */
        memset(f->pinned->host_address, 0, BYTES);
        must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
        found = f->pinned->host_address;
    }
    await(f);
    if (memcmp(found, right, BYTES) == 0) /* a look at every byte costs sanitizers far more */
        return;
    for (size_t i = 0; i < BYTES; i++)
        if (found[i] != right[i])
            fail_msg("byte %zu is %02x and not %02x", i, found[i], right[i]);
}

/* From one shape to the next: all of them, but with ThreadSanitizer, which looks for races and not
 * at what arrives, every fourth. */
#define NEXT_SHAPE (HAS_THREAD_SANITIZER ? 4 : 1)

/* Enqueues the list, again with more blocks where a kernel has them. */
static void move(struct fixture *f, enum way way, struct xb_pieces *list, struct xb_graph *graph,
                 unsigned turn)
{
    static const unsigned blocks[] = {0, 1, 3, 1000};
    struct xb_error error;
    switch (way) {
    case BATCH:
        must(f->backend->queue_copy_pieces(f->queue, list, &error), &error);
        break;
    case KERNEL:
        must(f->backend->queue_kernel_pieces(f->queue, list, blocks[turn % 4], &error), &error);
        break;
    case GRAPH:
        must(f->backend->queue_graph(f->queue, graph, &error), &error);
        break;
    }
}

/* Two times, or four of a kernel: a graph is enqueued again. */
static void move_list(struct fixture *f, enum way way, struct xb_buffer *target,
                      struct xb_buffer *source, const struct shape *shape)
{
    const struct xb_backend *b = f->backend;
    struct xb_piece *pieces = make_pieces(shape);
    struct xb_pieces *list = NULL;
    struct xb_graph *graph = NULL;
    struct xb_error error;
    must(b->pieces_open(f->device, target, source, pieces, shape->count, &list, &error), &error);
    assert_ptr_equal(list->device, f->device);
    assert_ptr_equal(list->target, target);
    assert_ptr_equal(list->source, source);
    assert_true(list->count == shape->count);
    uint64_t bytes = 0;
    for (size_t i = 0; i < shape->count; i++)
        bytes += pieces[i].bytes;
    assert_true(list->bytes == bytes);
    fill_buffer(f, source, pattern);
    if (way == GRAPH) {
        fill_buffer(f, target, poison);
        must(b->graph_open(f->queue, list, &graph, &error), &error);
        assert_ptr_equal(graph->device, f->device);
        expect_pieces(f, target, pieces, 0); /* what is captured does not run */
        b->pieces_close(list);
        list = NULL;
    }
    for (unsigned turn = 0; turn < (way == KERNEL ? 4 : 2); turn++) {
        fill_buffer(f, target, poison);
        move(f, way, list, graph, turn);
        expect_pieces(f, target, pieces, shape->count);
    }
    b->graph_close(graph);
    b->pieces_close(list);
    free(pieces);
}

static void move_all(struct fixture *f, enum way way)
{
    if (!can(f, need_of(way)) || (way == KERNEL && !can(f, XB_CAP_MAPPED)))
        skip();
    struct xb_buffer *host = allocate(f, memory_of(way));
    struct xb_buffer *other = allocate(f, XB_MEMORY_DEVICE);
    for (size_t i = 0; i < SHAPES; i += NEXT_SHAPE) {
        move_list(f, way, f->there, host, &shapes[i]);
        move_list(f, way, host, f->there, &shapes[i]);
        move_list(f, way, f->there, other, &shapes[i]);
    }
    f->backend->buffer_free(other);
    f->backend->buffer_free(host);
}

static void test_batches_move_pieces(void **state)
{
    move_all(*state, BATCH);
}

static void test_kernels_move_pieces(void **state)
{
    move_all(*state, KERNEL);
}

static void test_graphs_move_pieces(void **state)
{
    move_all(*state, GRAPH);
}

/* Every start within 16 bytes on either side, with lengths of less and more than a load. */
static void test_kernels_take_any_alignment(void **state)
{
    struct fixture *f = *state;
    static const uint64_t lengths[] = {1, 7, 8, 15, 16, 17, 31, 512, 4097};
    const uint64_t room = 8192;
    struct xb_piece pieces[256];
    const size_t count = sizeof pieces / sizeof pieces[0];
    struct xb_error error;
    if (!can(f, XB_CAP_KERNELS | XB_CAP_MAPPED))
        skip();
    struct xb_buffer *host = allocate(f, XB_MEMORY_MAPPED);
    fill_buffer(f, host, pattern);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct xb_pieces *list = NULL;
        for (uint64_t k = 0; k < count; k++)
            pieces[k] = (struct xb_piece){.target_offset = k * room + k % 16,
                                          .source_offset = k * room + k / 16,
                                          .bytes = lengths[i]};
        must(f->backend->pieces_open(f->device, f->there, host, pieces, count, &list, &error),
             &error);
        fill_buffer(f, f->there, poison);
        move(f, KERNEL, list, NULL, 0);
        expect_pieces(f, f->there, pieces, count);
        f->backend->pieces_close(list);
    }
    f->backend->buffer_free(host);
}

/* ---- rows ---- */

/* The copies that a copy of rows stands for. */
static const struct {
    uint64_t to, to_pitch, from, from_pitch, bytes, count;
} tables[] = {
    {0, 512, 0, 2048, 512, MANY(2000)},
    {0, 2048, 0, 512, 512, MANY(2000)},
    {5, 4099, 77, 4097, 4097, MANY(1000)},
    {3, 13, 1, 7, 7, 10000},
    {0, BYTES, 0, BYTES, BYTES, 1},
    {0, 1, 0, 1, 1, 4096},
    {0, 4096, 0, 4096, 4096, 100},
    {9, 99, 9, 99, 0, 100},
    {9, 99, 9, 99, 99, 0},
};

static void move_rows(struct fixture *f, struct xb_buffer *target, struct xb_buffer *source)
{
    struct xb_error error;
    fill_buffer(f, source, pattern);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t count = tables[i].bytes > 0 ? tables[i].count : 0;
        struct xb_piece *pieces = calloc(count + 1, sizeof *pieces);
        assert_non_null(pieces);
        for (size_t row = 0; row < count; row++)
            pieces[row] =
                (struct xb_piece){.target_offset = tables[i].to + row * tables[i].to_pitch,
                                  .source_offset = tables[i].from + row * tables[i].from_pitch,
                                  .bytes = tables[i].bytes};
        const struct xb_rows to = {target, tables[i].to, tables[i].to_pitch};
        const struct xb_rows from = {source, tables[i].from, tables[i].from_pitch};
        fill_buffer(f, target, poison);
        must(f->backend->queue_copy_rows(f->queue, to, from, tables[i].bytes, tables[i].count,
                                         &error),
             &error);
        expect_pieces(f, target, pieces, count);
        free(pieces);
    }
}

static void test_rows_move(void **state)
{
    struct fixture *f = *state;
    if (!can(f, XB_CAP_ROWS))
        skip();
    struct xb_buffer *host = allocate(f, XB_MEMORY_PINNED);
    struct xb_buffer *other = allocate(f, XB_MEMORY_DEVICE);
    move_rows(f, f->there, host);
    move_rows(f, host, f->there);
    move_rows(f, f->there, other);
    f->backend->buffer_free(other);
    f->backend->buffer_free(host);
}

/* A device that does not take rows so far apart says so, also where there is but one. */
static void test_any_pitch_is_taken_or_refused(void **state)
{
    struct fixture *f = *state;
    static const uint64_t pitches[] = {UINT64_C(1) << 31, UINT64_C(1) << 40, UINT64_MAX};
    const struct xb_piece piece = {.bytes = 4099};
    struct xb_error error;
    if (!can(f, XB_CAP_ROWS))
        skip();
    for (size_t i = 0; i < 2 * sizeof pitches / sizeof pitches[0]; i++) {
        bool far_target = i % 2 == 0;
        const struct xb_rows to = {f->there, 0, far_target ? pitches[i / 2] : 4099};
        const struct xb_rows from = {f->pinned, 0, far_target ? 4099 : pitches[i / 2]};
        fill_buffer(f, f->there, poison);
        fill_buffer(f, f->pinned, pattern);
        enum xb_status status = f->backend->queue_copy_rows(f->queue, to, from, 4099, 1, &error);
        if (status != XB_ERR_UNSUPPORTED)
            must(status, &error);
        expect_pieces(f, f->there, &piece, status == XB_OK ? 1 : 0);
    }
}

/* ---- order ---- */

/* What is enqueued behind a hold waits for the release, and enqueuing does not. */
static void test_kernels_wait_behind_a_hold(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    const struct shape *shape = &shapes[4];
    if (!can(f, XB_CAP_KERNELS | XB_CAP_HOLD | XB_CAP_MAPPED)) {
        skip();
        return;
    }
    struct xb_piece *pieces = make_pieces(shape);
    struct xb_buffer *host = allocate(f, XB_MEMORY_MAPPED);
    struct xb_pieces *list = NULL;
    struct xb_error error;
    must(b->pieces_open(f->device, f->there, host, pieces, shape->count, &list, &error), &error);
    fill_buffer(f, host, pattern);
    fill_buffer(f, f->there, poison);
    must(b->queue_hold(f->queue, &error), &error);
    move(f, KERNEL, list, NULL, 0);
    b->queue_release(f->queue);
    expect_pieces(f, f->there, pieces, shape->count);
    b->pieces_close(list);
    b->buffer_free(host);
    free(pieces);
}

/* ---- errors ---- */

static void refuse_list(struct fixture *f, struct xb_buffer *target, struct xb_buffer *source,
                        const struct xb_piece *pieces, size_t count)
{
    struct xb_pieces untouched = {.count = 77};
    struct xb_pieces *list = &untouched;
    struct xb_error error = {0};
    assert_int_equal(
        f->backend->pieces_open(f->device, target, source, pieces, count, &list, &error),
        XB_ERR_USAGE);
    assert_ptr_equal(list, &untouched);
    assert_string_not_equal(error.message, "");
}

static void test_bad_lists_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct xb_piece bad[] = {
        {.bytes = 0},
        {.bytes = BYTES + 1},
        {.bytes = UINT64_MAX},
        {.target_offset = BYTES, .bytes = 1},
        {.source_offset = BYTES, .bytes = 1},
        {.target_offset = 1, .bytes = BYTES},
        {.source_offset = 1, .bytes = BYTES},
        {.target_offset = UINT64_MAX, .bytes = 1},
        {.source_offset = UINT64_MAX, .bytes = 1},
        {.target_offset = UINT64_MAX - 7, .bytes = 16},
        {.source_offset = UINT64_MAX - 7, .bytes = 16},
        {.target_offset = 2, .source_offset = 2, .bytes = UINT64_MAX - 1},
    };
    if (f->backend->pieces_open == NULL) {
        skip();
        return;
    }
    refuse_list(f, f->there, f->pinned, bad, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct xb_piece two[] = {{.bytes = 8}, bad[i]};
        refuse_list(f, f->there, f->pinned, &bad[i], 1);
        refuse_list(f, f->there, f->pinned, two, 2);
    }
    /* More bytes than one of the buffers has. */
    struct xb_buffer *small = NULL;
    struct xb_error error;
    const struct xb_piece twice[] = {{.bytes = 4096}, {.bytes = 4096}};
    must(f->backend->buffer_allocate(f->device, XB_MEMORY_PINNED, 4096, &small, &error), &error);
    refuse_list(f, f->there, small, twice, 2);
    refuse_list(f, small, f->there, twice, 2);
    f->backend->buffer_free(small);
    const struct xb_piece onto_itself = {.target_offset = 8, .source_offset = 0, .bytes = 9};
    refuse_list(f, f->there, f->there, &onto_itself, 1);
    f->backend->pieces_close(NULL);
    if (f->backend->graph_close != NULL)
        f->backend->graph_close(NULL);
}

/* Memory that the copies of a list cannot reach. */
static void test_bad_memory_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    const struct xb_piece piece = {.bytes = 8};
    struct xb_graph *graph = NULL;
    struct xb_pieces *list = NULL;
    struct xb_error error;
    if (b->pieces_open == NULL || !can(f, XB_CAP_MAPPED)) {
        skip();
        return;
    }
    struct xb_buffer *host = allocate(f, XB_MEMORY_MAPPED);
    must(b->pieces_open(f->device, host, f->pinned, &piece, 1, &list, &error), &error);
    if (can(f, XB_CAP_BATCH))
        assert_int_equal(b->queue_copy_pieces(f->queue, list, &error), XB_ERR_USAGE);
    if (can(f, XB_CAP_GRAPH))
        assert_int_equal(b->graph_open(f->queue, list, &graph, &error), XB_ERR_USAGE);
    if (can(f, XB_CAP_KERNELS))
        assert_int_equal(b->queue_kernel_pieces(f->queue, list, 0, &error), XB_ERR_USAGE);
    assert_null(graph);
    b->pieces_close(list);
    b->buffer_free(host);
}

static void test_bad_rows_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        uint64_t offset, pitch, bytes, count;
    } bad[] = {
        {0, 7, 8, 2},
        {0, 0, 1, 1},
        {BYTES, 1, 1, 1},
        {BYTES + 1, 1, 0, 0},
        {0, BYTES, BYTES + 1, 1},
        {0, BYTES + 1, BYTES + 1, 1},
        {0, 1, 1, BYTES + 1},
        {1, 1, 1, BYTES},
        {0, BYTES, 1, 2},
        {0, 4096, 4096, BYTES / 4096 + 1},
        {0, UINT64_MAX, 8, 2},
        {8, UINT64_MAX - 7, 8, 2},
        {0, 16, 8, UINT64_MAX},
        {0, 16, 8, UINT64_MAX / 16 + 2},
        {UINT64_MAX, 8, 8, 1},
        {0, UINT64_MAX, UINT64_MAX, UINT64_MAX},
    };
    struct xb_error error;
    if (!can(f, XB_CAP_ROWS))
        skip();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const uint64_t least = bad[i].bytes < 16 ? bad[i].bytes : 16;
        /* The target's, the source's, and both. */
        for (unsigned wrong = 1; wrong < 4; wrong++) {
            struct xb_rows target = {f->there, 0, least};
            struct xb_rows source = {f->pinned, 0, least};
            if ((wrong & 1) != 0)
                target = (struct xb_rows){f->there, bad[i].offset, bad[i].pitch};
            if ((wrong & 2) != 0)
                source = (struct xb_rows){f->pinned, bad[i].offset, bad[i].pitch};
            assert_int_equal(f->backend->queue_copy_rows(f->queue, target, source, bad[i].bytes,
                                                         bad[i].count, &error),
                             XB_ERR_USAGE);
        }
    }
    const struct xb_rows there = {f->there, 0, 64};
    const struct xb_rows behind = {f->there, 32, 64};
    const struct xb_rows host = {f->pinned, 0, 64};
    assert_int_equal(f->backend->queue_copy_rows(f->queue, there, behind, 40, 9, &error),
                     XB_ERR_USAGE); /* overlaps itself */
    assert_int_equal(f->backend->queue_copy_rows(f->queue, host, host, 8, 9, &error),
                     XB_ERR_USAGE); /* no device takes part */
}

static const struct CMUnitTest tests[] = {
    TEST(test_batches_move_pieces),
    TEST(test_kernels_move_pieces),
    TEST(test_graphs_move_pieces),
    TEST(test_kernels_take_any_alignment),
    TEST(test_rows_move),
    TEST(test_any_pitch_is_taken_or_refused),
    TEST(test_kernels_wait_behind_a_hold),
    TEST(test_bad_lists_are_refused),
    TEST(test_bad_memory_is_refused),
    TEST(test_bad_rows_are_refused),
};

int run_piece_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: pieces", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
