/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Many copies at once: batches, kernels, graphs and rows move every byte of a piece and no other.
 */
#include "contract.h"

struct group piece_tests = {"pieces", "pieces", false, 0, {}};
#define OWN_GROUP piece_tests

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
#define SHAPES (COUNT_OF(shapes))

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

enum way { BATCH, KERNEL, BULK, GRAPH };

static uint32_t need_of(enum way way)
{
    return way == BATCH   ? XB_CAP_BATCH
           : way == GRAPH ? XB_CAP_GRAPH
           : way == BULK  ? XB_CAP_BULK | XB_CAP_MAPPED
                          : XB_CAP_KERNELS | XB_CAP_MAPPED;
}

/* Host memory that the way reaches; mapped memory serves every one of them. */
static enum xb_memory memory_of(enum way way)
{
    return way == KERNEL || way == BULK ? XB_MEMORY_MAPPED : XB_MEMORY_PINNED;
}

static void fill_buffer(struct xb_buffer *buffer, struct xb_pattern with)
{
    await();
    if (buffer->memory == XB_MEMORY_DEVICE)
        MUST(queue_fill, f->queue, buffer, BYTES, with);
    else
        xb_host_fill(buffer->host_address, 0, BYTES, with);
}

/* Every byte of a piece is the source's, and every other is as it was. */
static void expect_pieces(const struct xb_buffer *target, const struct xb_piece *pieces,
                          size_t count)
{
    static unsigned char right[BYTES];
    static unsigned char source[BYTES];
    static bool has_source = false;
    const unsigned char *found = target->host_address;
    xb_host_fill(right, 0, BYTES, poison);
    if (!has_source)
        xb_host_fill(source, 0, BYTES, pattern);
    has_source = true;
    for (size_t i = 0; i < count; i++)
        memcpy(right + pieces[i].target_offset, source + pieces[i].source_offset, pieces[i].bytes);
    if (target->memory == XB_MEMORY_DEVICE) {
        await(); /* the source may be the same buffer */
        memset(f->pinned->host_address, 0, BYTES);
        found = bring_back();
    }
    await();
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
static void move(enum way way, struct xb_pieces *list, struct xb_graph *graph, unsigned turn)
{
    static const unsigned blocks[] = {0, 1, 3, 1000};
    switch (way) {
    case BATCH:
        MUST(queue_copy_pieces, f->queue, list);
        break;
    case KERNEL:
    case BULK:
        MUST(queue_kernel_pieces, f->queue, list, blocks[turn % 4], way == BULK);
        break;
    case GRAPH:
        MUST(queue_graph, f->queue, graph);
        break;
    }
}

/* Two times, or four of a kernel: a graph is enqueued again. */
static void move_list(enum way way, struct xb_buffer *target, struct xb_buffer *source,
                      const struct shape *shape)
{
    struct xb_piece *pieces = make_pieces(shape);
    struct xb_pieces *list = NULL;
    struct xb_graph *graph = NULL;
    MUST(pieces_open, f->device, target, source, pieces, shape->count, &list);
    assert_ptr_equal(list->device, f->device);
    assert_ptr_equal(list->target, target);
    assert_ptr_equal(list->source, source);
    assert_true(list->count == shape->count);
    uint64_t bytes = 0;
    for (size_t i = 0; i < shape->count; i++)
        bytes += pieces[i].bytes;
    assert_true(list->bytes == bytes);
    fill_buffer(source, pattern);
    if (way == GRAPH) {
        fill_buffer(target, poison);
        MUST(graph_open, f->queue, list, &graph);
        assert_ptr_equal(graph->device, f->device);
        expect_pieces(target, pieces, 0); /* what is captured does not run */
        tested->pieces_close(list);
        list = NULL;
    }
    for (unsigned turn = 0; turn < (way == KERNEL || way == BULK ? 4 : 2); turn++) {
        fill_buffer(target, poison);
        move(way, list, graph, turn);
        expect_pieces(target, pieces, shape->count);
    }
    tested->graph_close(graph);
    tested->pieces_close(list);
    free(pieces);
}

static void move_all(enum way way)
{
    NEEDS(need_of(way));
    struct xb_buffer *host = allocate(memory_of(way));
    struct xb_buffer *other = allocate(XB_MEMORY_DEVICE);
    for (size_t i = 0; i < SHAPES; i += NEXT_SHAPE) {
        move_list(way, f->there, host, &shapes[i]);
        move_list(way, host, f->there, &shapes[i]);
        move_list(way, f->there, other, &shapes[i]);
    }
    tested->buffer_free(other);
    tested->buffer_free(host);
}

TEST(batches_move_pieces)
{
    move_all(BATCH);
}

TEST(kernels_move_pieces)
{
    move_all(KERNEL);
}

TEST(bulk_copies_move_pieces)
{
    move_all(BULK);
}

TEST(graphs_move_pieces)
{
    move_all(GRAPH);
}

/* Every start within 16 bytes on either side, with lengths of less and more than a load. */
TEST(kernels_take_any_alignment)
{
    static const uint64_t lengths[] = {1, 7, 8, 15, 16, 17, 31, 512, 4097};
    const uint64_t room = 8192;
    struct xb_piece pieces[256];
    const size_t count = COUNT_OF(pieces);
    NEEDS(XB_CAP_KERNELS | XB_CAP_MAPPED);
    struct xb_buffer *host = allocate(XB_MEMORY_MAPPED);
    fill_buffer(host, pattern);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct xb_pieces *list = NULL;
        for (uint64_t k = 0; k < count; k++)
            pieces[k] = (struct xb_piece){.target_offset = k * room + k % 16,
                                          .source_offset = k * room + k / 16,
                                          .bytes = lengths[i]};
        MUST(pieces_open, f->device, f->there, host, pieces, count, &list);
        for (enum way way = KERNEL; way <= (can(XB_CAP_BULK) ? BULK : KERNEL); way++) {
            fill_buffer(f->there, poison);
            move(way, list, NULL, 0);
            expect_pieces(f->there, pieces, count);
        }
        tested->pieces_close(list);
    }
    tested->buffer_free(host);
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

static void move_rows(struct xb_buffer *target, struct xb_buffer *source)
{
    fill_buffer(source, pattern);
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
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
        fill_buffer(target, poison);
        MUST(queue_copy_rows, f->queue, to, from, tables[i].bytes, tables[i].count);
        expect_pieces(target, pieces, count);
        free(pieces);
    }
}

TEST(rows_move)
{
    NEEDS(XB_CAP_ROWS);
    struct xb_buffer *host = allocate(XB_MEMORY_PINNED);
    struct xb_buffer *other = allocate(XB_MEMORY_DEVICE);
    move_rows(f->there, host);
    move_rows(host, f->there);
    move_rows(f->there, other);
    tested->buffer_free(other);
    tested->buffer_free(host);
}

/* A device that does not take rows so far apart says so, also where there is but one. */
TEST(any_pitch_is_taken_or_refused)
{
    static const uint64_t pitches[] = {UINT64_C(1) << 31, UINT64_C(1) << 40, UINT64_MAX};
    const struct xb_piece piece = {.bytes = 4099};
    struct xb_error error;
    NEEDS(XB_CAP_ROWS);
    for (size_t i = 0; i < 2 * COUNT_OF(pitches); i++) {
        bool far_target = i % 2 == 0;
        const struct xb_rows to = {f->there, 0, far_target ? pitches[i / 2] : 4099};
        const struct xb_rows from = {f->pinned, 0, far_target ? 4099 : pitches[i / 2]};
        fill_buffer(f->there, poison);
        fill_buffer(f->pinned, pattern);
        enum xb_status status = tested->queue_copy_rows(f->queue, to, from, 4099, 1, &error);
        if (status != XB_ERR_UNSUPPORTED)
            must(status, &error);
        expect_pieces(f->there, &piece, status == XB_OK ? 1 : 0);
    }
}

/* ---- order ---- */

/* What is enqueued behind a hold waits for the release, and enqueuing does not. */
TEST(kernels_wait_behind_a_hold)
{
    const struct shape *shape = &shapes[4];
    NEEDS(XB_CAP_KERNELS | XB_CAP_HOLD | XB_CAP_MAPPED);
    struct xb_piece *pieces = make_pieces(shape);
    struct xb_buffer *host = allocate(XB_MEMORY_MAPPED);
    struct xb_pieces *list = NULL;
    MUST(pieces_open, f->device, f->there, host, pieces, shape->count, &list);
    fill_buffer(host, pattern);
    fill_buffer(f->there, poison);
    hold();
    move(KERNEL, list, NULL, 0);
    release();
    expect_pieces(f->there, pieces, shape->count);
    tested->pieces_close(list);
    tested->buffer_free(host);
    free(pieces);
}

/* ---- errors ---- */

static void refuse_list(struct xb_buffer *target, struct xb_buffer *source,
                        const struct xb_piece *pieces, size_t count)
{
    struct xb_pieces untouched = {.count = 77};
    struct xb_pieces *list = &untouched;
    REFUSED(pieces_open, f->device, target, source, pieces, count, &list);
    assert_ptr_equal(list, &untouched);
}

TEST(bad_lists_are_refused)
{
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
    if (tested->pieces_open == NULL)
        skip();
    refuse_list(f->there, f->pinned, bad, 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct xb_piece two[] = {{.bytes = 8}, bad[i]};
        refuse_list(f->there, f->pinned, &bad[i], 1);
        refuse_list(f->there, f->pinned, two, 2);
    }
    /* More bytes than one of the buffers has. */
    struct xb_buffer *small = NULL;
    const struct xb_piece twice[] = {{.bytes = 4096}, {.bytes = 4096}};
    MUST(buffer_allocate, f->device, XB_MEMORY_PINNED, 4096, &small);
    refuse_list(f->there, small, twice, 2);
    refuse_list(small, f->there, twice, 2);
    tested->buffer_free(small);
    const struct xb_piece onto_itself = {.target_offset = 8, .source_offset = 0, .bytes = 9};
    refuse_list(f->there, f->there, &onto_itself, 1);
    tested->pieces_close(NULL);
    if (tested->graph_close != NULL)
        tested->graph_close(NULL);
}

/* Memory that the copies of a list cannot reach. */
TEST(bad_memory_is_refused)
{
    const struct xb_piece piece = {.bytes = 8};
    struct xb_graph *graph = NULL;
    struct xb_pieces *list = NULL;
    if (tested->pieces_open == NULL || !can(XB_CAP_MAPPED))
        skip();
    struct xb_buffer *host = allocate(XB_MEMORY_MAPPED);
    MUST(pieces_open, f->device, host, f->pinned, &piece, 1, &list);
    if (can(XB_CAP_BATCH))
        REFUSED(queue_copy_pieces, f->queue, list);
    if (can(XB_CAP_GRAPH))
        REFUSED(graph_open, f->queue, list, &graph);
    if (can(XB_CAP_KERNELS))
        REFUSED(queue_kernel_pieces, f->queue, list, 0, false);
    assert_null(graph);
    tested->pieces_close(list);
    tested->buffer_free(host);
}

TEST(bad_rows_are_refused)
{
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
    NEEDS(XB_CAP_ROWS);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const uint64_t least = bad[i].bytes < 16 ? bad[i].bytes : 16;
        /* The target's, the source's, and both. */
        for (unsigned wrong = 1; wrong < 4; wrong++) {
            struct xb_rows target = {f->there, 0, least};
            struct xb_rows source = {f->pinned, 0, least};
            if ((wrong & 1) != 0)
                target = (struct xb_rows){f->there, bad[i].offset, bad[i].pitch};
            if ((wrong & 2) != 0)
                source = (struct xb_rows){f->pinned, bad[i].offset, bad[i].pitch};
            REFUSED(queue_copy_rows, f->queue, target, source, bad[i].bytes, bad[i].count);
        }
    }
    const struct xb_rows there = {f->there, 0, 64};
    const struct xb_rows behind = {f->there, 32, 64};
    const struct xb_rows host = {f->pinned, 0, 64};
    REFUSED(queue_copy_rows, f->queue, there, behind, 40, 9); /* overlaps itself */
    REFUSED(queue_copy_rows, f->queue, host, host, 8, 9);     /* no device takes part */
}
