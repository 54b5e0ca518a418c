/* SPDX-License-Identifier: Apache-2.0 */
/* Many small pieces between host and device, by every way that a program has. */
#include "batch.h"
#include "kv_cache.h"
#include "modes/readings/readings.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "record/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct xb_option option_batch = {
    XB_CHOICES("batch", "HOW", "each,call,graph,packed,kernel",
               "How the pieces are moved: 'each' one asynchronous copy a piece; 'call' one call of "
               "the runtime for many; 'graph' one copy a piece in a graph, which is launched again "
               "and again; 'packed' host threads and a kernel gather and scatter them around one "
               "copy; 'kernel' a kernel reads or writes them in the host's memory in place; "
               "'bulk' the same by bulk copies of the GPU's TMA engine; 'pitched' one copy of rows "
               "(--layout rows).",
               "each", "call", "graph", "packed", "kernel", "pitched", "bulk")};

const struct xb_option xb_option_piece = {
    XB_SIZES("piece", "SIZE", "4K", 1, INT64_MAX,
             "How long a piece is: sizes, or a range that doubles such as 512..1M. --size is cut "
             "into pieces; the last may be shorter.")};

const struct xb_option xb_option_pieces = {XB_COUNTS(
    "pieces", "0", 0, 1 << 24,
    "How many pieces there are, in place of --size: numbers or a range such as "
    "16..65536*4. Each with each --piece is a case, a cell of a grid, and a way that "
    "lost by far in the cells beside one is not measured there (docs/pieces.md). Short for "
    "--time-limit 25ms --warm-up 10ms too, where these are not given. 0: as many as "
    "--size has.")};

const struct xb_option xb_option_kv = {
    XB_TEXT("kv", "MODEL[,...]"),
    .help =
        "The pieces that a server of language models moves: sets --piece to the keys, or values, "
        "of one block, layer and rank, and --pieces, unless that or --size is given, to those "
        "of 1, 4, 16, 64 and 256 blocks. A model (llama-3.1-70b) or layers=80,heads=8,size=128, "
        "then tp=N (1), block=N tokens (16), dtype=bf16|fp16|fp8|int8|fp32; the models are in "
        "docs/pieces.md."};

static const struct xb_option option_layout = {
    XB_CHOICES("layout", "HOW", "scattered",
               "Where pieces lie: 'scattered' in random order on both sides, 'host-scattered' or "
               "'device-scattered' on that side, 'contiguous' one behind the other, 'rows' every "
               "--pitch bytes on the host.",
               "scattered", "host-scattered", "device-scattered", "contiguous", "rows")};

static const struct xb_option option_pitch = {
    XB_SIZE("pitch", 1, INT64_MAX),
    .default_text = "8K",
    .help = "With --layout rows: how far apart pieces begin in the host's memory.",
};

static const struct xb_option option_call_pieces = {
    XB_COUNTS("call-pieces", "4096", 0, 1 << 24,
              "Most pieces in one call of --batch call; 0 for all of them.")};

static const struct xb_option option_blocks = {
    XB_COUNTS("blocks", "0", 0, 65535,
              "How many blocks of up to 1024 threads the kernel has; each keeps about one "
              "multiprocessor busy. 0 finds the fewest that are as fast as any number.")};

static const struct xb_figure pieces_per_second = {
    XB_FIGURE("pieces_per_second", XB_UNIT_PER_SECOND, "Pieces moved in one second"),
    .more_is_better = true};
XB_OWN_FIGURE(TIME, time_per_piece, "The time of all pieces, divided by their number");
static const struct xb_figure kernel_blocks = {
    XB_FIGURE_NUMBER("blocks", "How many blocks of threads the kernel had")};
XB_OWN_FIGURE(TIME, pack_time, "Of packed, gathering the pieces alone");
XB_OWN_FIGURE(TIME, packed_copy_time, "Of packed, the one copy alone");
XB_OWN_FIGURE(TIME, unpack_time, "Of packed, scattering the pieces alone");

/* The words of --batch. */
enum how { HOW_EACH, HOW_CALL, HOW_GRAPH, HOW_PACKED, HOW_KERNEL, HOW_PITCHED, HOW_BULK };

/* A kernel reads or writes the pieces in the host's memory. */
static bool is_in_place(enum how how)
{
    return how == HOW_KERNEL || how == HOW_BULK;
}

struct state {
    enum how how;
    bool to_device;
    struct xb_layout layout;
    struct xb_buffer *host, *device;
    struct xb_buffer *source, *target; /* these two, by the direction */
    struct xb_buffer *room;   /* of the host: where pieces are packed, one behind the other, and
                                 the proof's room */
    struct xb_buffer *packed; /* of the device */
    /* The whole transfer, one a call; for packed its part within the device. */
    struct xb_pieces **lists;
    size_t list_count;
    struct xb_graph *graph;
    unsigned blocks;
};

static uint64_t pitch_of(const struct xb_case *test)
{
    return xb_case_is(test, &option_layout, "rows") ? xb_case_setting(test, &option_pitch)->count
                                                    : 0;
}

/* How pieces lie on the host, or on the device. */
static struct xb_layout_side side_of(const struct xb_case *test, bool is_host)
{
    const char *alone = is_host ? "host-scattered" : "device-scattered";
    const struct xb_option *offset = is_host ? &xb_option_host_offset : &xb_option_device_offset;
    return (struct xb_layout_side){.scattered = xb_case_is(test, &option_layout, "scattered") ||
                                                xb_case_is(test, &option_layout, alone),
                                   .pitch = is_host ? pitch_of(test) : 0,
                                   .offset = xb_case_setting(test, offset)->count};
}

/* What the pieces of a side span, wherever they begin. */
static uint64_t span_of(const struct xb_case *test, bool is_host)
{
    struct xb_layout_side side = side_of(test, is_host);
    side.offset = 0;
    return xb_layout_span(test->bytes, xb_case_setting(test, &xb_option_piece)->count, &side);
}

static uint32_t capabilities(const struct xb_case *test)
{
    static const uint32_t needed[] = {
        [HOW_EACH] = 0,
        [HOW_CALL] = XB_CAP_BATCH,
        [HOW_GRAPH] = XB_CAP_GRAPH,
        [HOW_PACKED] = XB_CAP_KERNELS,
        [HOW_KERNEL] = XB_CAP_KERNELS | XB_CAP_MAPPED,
        [HOW_PITCHED] = XB_CAP_ROWS,
        [HOW_BULK] = XB_CAP_KERNELS | XB_CAP_MAPPED | XB_CAP_BULK,
    };
    return needed[xb_variant_number(test)];
}

/* Whether --pieces says how many there are. */
static bool is_of_grid(const struct xb_case *test)
{
    return xb_case_setting(test, &xb_option_pieces)->count > 0;
}

static uint64_t bytes_of_case(const struct xb_case *test)
{
    uint64_t bytes = 0;
    bool is_too_much =
        __builtin_mul_overflow(xb_case_setting(test, &xb_option_pieces)->count,
                               xb_case_setting(test, &xb_option_piece)->count, &bytes);
    return is_too_much ? UINT64_MAX : bytes;
}

static uint64_t count_pieces(const struct xb_case *test)
{
    return xb_chunk_count(test->bytes, xb_case_setting(test, &xb_option_piece)->count);
}

/* How many calls --batch call makes. */
static uint64_t count_calls(const struct xb_case *test)
{
    uint64_t a_call = xb_case_setting(test, &option_call_pieces)->count;
    return a_call > 0 ? xb_chunk_count(count_pieces(test), a_call) : 1;
}

/* More copies than these take seconds to enqueue, which nothing can interrupt; a graph of more
 * takes minutes to make. */
#define MOST_COPIES UINT64_C(1000000)
#define MOST_IN_GRAPH UINT64_C(262144)
/* A list of more takes more memory than is worth having. */
#define MOST_PIECES (UINT64_C(1) << 24)
/* Every call has a list of its own, and opening more takes seconds. */
#define MOST_CALLS UINT64_C(65536)
/* What lists of pieces take: on the host ours, the proof's and the backend's with its addresses; on
 * the device one, in which long pieces are cut. */
#define HOST_BYTES_A_PIECE UINT64_C(128)
#define DEVICE_BYTES_A_PIECE ((uint64_t)sizeof(struct xb_piece))
#define BYTES_A_CUT_BYTE 64 /* one of the list for so many of the data */

/* Less is over too soon, and of a grid only the rates are asked. */
static bool has_sm_tax(const struct xb_case *test)
{
    return test->bytes >= XB_LARGE_BYTES && !is_of_grid(test);
}

/* With the host's memory of that kind. */
static void take_with(const struct xb_case *test, enum xb_memory memory, struct xb_buffers *all)
{
    enum how how = xb_variant_number(test);
    uint64_t device = span_of(test, false);
    uint64_t pieces = xb_lesser(count_pieces(test), MOST_PIECES); /* check refuses more */
    bool has_tax = (how == HOW_PACKED || is_in_place(how)) && has_sm_tax(test);
    bool has_list = how != HOW_EACH && how != HOW_PITCHED;
    all->beyond = xb_largest_offset(test) + XB_WATCHED_BYTES;
    xb_take(all, XB_OF_CASE, memory, span_of(test, true), offsetof(struct state, host));
    xb_take(all, XB_OF_CASE, memory, device, offsetof(struct state, room));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, device, offsetof(struct state, device));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, how == HOW_PACKED ? test->bytes : 0,
            offsetof(struct state, packed));
    xb_take(all, XB_COUNTED, XB_MEMORY_DEVICE, has_tax ? XB_SM_TAX_BYTES : 0, 0);
    xb_take(all, XB_COUNTED, memory, pieces * HOST_BYTES_A_PIECE, 0);
    if (has_list)
        xb_take(all, XB_COUNTED, XB_MEMORY_DEVICE,
                pieces * DEVICE_BYTES_A_PIECE + test->bytes / BYTES_A_CUT_BYTE, 0);
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    take_with(test, XB_MEMORY_PINNED, all);
}

static enum xb_status imply(struct xb_config *config, bool size_given, struct xb_error *error)
{
    struct xb_kv_cache cache;
    struct xb_error cause;
    char piece[24], pieces[128];
    const struct xb_value *kv = xb_config_get(config, &xb_option_kv);
    if (!kv->given)
        return XB_OK;
    if (xb_kv_cache_read(kv->text, &cache, &cause) != XB_OK)
        return XB_FAIL(error, XB_ERR_USAGE, "--kv: %s", cause.message);
    unsigned long long n = cache.pieces;
    snprintf(piece, sizeof piece, "%llu", (unsigned long long)cache.piece);
    snprintf(pieces, sizeof pieces, "%llu,%llu,%llu,%llu,%llu", n, 4 * n, 16 * n, 64 * n, 256 * n);
    XB_TRY(xb_config_default(config, &xb_option_piece, piece, error));
    return xb_config_default(config, &xb_option_pieces, size_given ? "0" : pieces, error);
}

static bool is_grid(const struct xb_config *config)
{
    const struct xb_value *pieces = xb_config_get(config, &xb_option_pieces);
    return xb_value_length(pieces) > 1 || xb_value_number(pieces, 0) > 0;
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    const struct xb_config *config = test->asked->config;
    const struct xb_value *layouts = xb_config_get(config, &option_layout);
    uint64_t piece = xb_case_setting(test, &xb_option_piece)->count;
    uint64_t pitch = pitch_of(test);
    if (xb_config_get(config, &option_pitch)->given && !xb_word_is_in(&layouts->words, "rows"))
        return XB_FAIL(error, XB_ERR_USAGE, "--%s has no effect without --%s rows",
                       option_pitch.name, option_layout.name);
    if (xb_config_get(config, &xb_option_kv)->given &&
        xb_config_get(config, &xb_option_piece)->given)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--kv and --piece both say how long a piece is: leave one of them out");
    if (is_of_grid(test) && test->asked->size_given)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--pieces and --size both say how much is moved: leave one of them out");
    if (is_of_grid(test) &&
        (xb_value_length(xb_config_get(config, &xb_option_piece)) > XB_GRID_VALUES ||
         xb_value_length(xb_config_get(config, &xb_option_pieces)) > XB_GRID_VALUES))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--pieces: a grid has at most %d values of --piece and of --pieces",
                       XB_GRID_VALUES);
    if (pitch == 0 || pitch >= piece)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--pitch %s is less than --piece %s: rows would overlap; take a larger --pitch",
                   XB_SIZE_TEXT(pitch), XB_SIZE_TEXT(piece));
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    enum how how = xb_variant_number(test);
    uint64_t count = count_pieces(test);
    uint64_t most = how == HOW_EACH ? MOST_COPIES : how == HOW_GRAPH ? MOST_IN_GRAPH : MOST_PIECES;
    if (count > most)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "%llu pieces are more than '%s' takes here (%llu); take a larger --piece or "
                       "a smaller --size",
                       (unsigned long long)count, test->variant, (unsigned long long)most);
    uint64_t aligned = xb_case_setting(test, &xb_option_piece)->count | pitch_of(test) |
                       side_of(test, true).offset | side_of(test, false).offset;
    if (how == HOW_BULK && aligned % XB_BULK_BYTES != 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "bulk copies move multiples of %u bytes: take such a --piece, --pitch and "
                       "offsets",
                       XB_BULK_BYTES);
    if (how == HOW_CALL && count_calls(test) > MOST_CALLS)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "%llu calls are more than 'call' makes here (%llu); take more --call-pieces",
                       (unsigned long long)count_calls(test), (unsigned long long)MOST_CALLS);
    return is_of_grid(test) ? xb_batch_check_needed(context, &option_call_pieces, error) : XB_OK;
}

/* Only rows have a pitch. */
static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    if (xb_variant_number(test) != HOW_PITCHED || xb_case_is(test, &option_layout, "rows"))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "'pitched' copies rows: give --layout rows");
}

/* Opens the lists that the variant needs, each of at most so many pieces. */
static enum xb_status open_lists(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    const struct xb_layout *layout = &state->layout;
    struct xb_buffer *target = state->target;
    struct xb_buffer *source = state->source;
    uint64_t most = 0;
    if (state->how == HOW_EACH || state->how == HOW_PITCHED)
        return XB_OK;
    if (state->how == HOW_CALL)
        most = xb_case_setting(context->test, &option_call_pieces)->count;
    most = most > 0 ? xb_lesser(most, layout->count) : layout->count;
    state->lists = xb_try(xb_chunk_count(layout->count, most), sizeof(struct xb_pieces *));
    if (state->lists == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for lists of %zu pieces", layout->count);
    struct xb_layout within = {.pieces = NULL};
    if (state->how == HOW_PACKED) {
        /* The kernel's part: from the packed pieces to their places, or back. */
        within = *layout;
        XB_TRY(xb_layout_make(&within, error));
        for (size_t i = 0; i < within.count; i++)
            *(state->to_device ? &within.pieces[i].source_offset
                               : &within.pieces[i].target_offset) = i * within.piece;
        *(state->to_device ? &source : &target) = state->packed;
        *(state->to_device ? &target : &source) = state->device;
        layout = &within;
    }
    enum xb_status status = XB_OK;
    for (uint64_t first = 0; status == XB_OK && first < layout->count; first += most) {
        status = backend->pieces_open(context->device, target, source, &layout->pieces[first],
                                      xb_lesser(layout->count - first, most),
                                      &state->lists[state->list_count], error);
        state->list_count += status == XB_OK;
    }
    xb_layout_free(&within);
    if (status != XB_OK || state->how != HOW_GRAPH)
        return status;
    return backend->graph_open(context->queues[0], state->lists[0], &state->graph, error);
}

/* Host threads move pieces between their places and the room. */
static void move_on_host(void *argument, uint64_t begin, uint64_t end)
{
    const struct state *state = argument;
    char *places = state->host->host_address;
    char *room = state->room->host_address;
    for (uint64_t i = begin; i < end; i++) {
        const struct xb_piece *piece = &state->layout.pieces[i];
        char *packed = room + i * state->layout.piece;
        if (state->to_device)
            memcpy(packed, places + piece->source_offset, piece->bytes);
        else
            memcpy(places + piece->target_offset, packed, piece->bytes);
    }
}

/* Less than this is no work for another thread. */
#define LEAST_BYTES_A_THREAD (UINT64_C(256) << 10)

/* Waits for the queue first: what is in the room may be under way, or not there yet. */
static enum xb_status submit_host_part(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    uint64_t piece = state->layout.piece;
    uint64_t grain = piece >= LEAST_BYTES_A_THREAD ? 1 : LEAST_BYTES_A_THREAD / piece;
    XB_TRY(context->device->backend->queue_wait(context->queues[0], error));
    xb_parallel_for(state->layout.count, grain, move_on_host, state);
    return XB_OK;
}

static enum xb_status submit_kernel_part(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return context->device->backend->queue_kernel_pieces(
        context->queues[0], state->lists[0], state->blocks, state->how == HOW_BULK, error);
}

static enum xb_status submit_copy(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return context->device->backend->queue_copy(
        context->queues[0], state->to_device ? state->packed : state->room, 0,
        state->to_device ? state->room : state->packed, 0, state->layout.bytes, error);
}

/* The source's side gathers, the target's side scatters. */
static enum xb_status submit_side(struct xb_mode_context *context, bool gathers,
                                  struct xb_error *error)
{
    const struct state *state = context->state;
    return (state->to_device == gathers ? submit_host_part : submit_kernel_part)(context, error);
}

XB_SUBMIT(submit_gathering, submit_side, true)
XB_SUBMIT(submit_scattering, submit_side, false)

static enum xb_status copy_rows(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_layout *layout = &state->layout;
    struct xb_rows ends[] = {
        {state->target, layout->target.offset, layout->target.pitch},
        {state->source, layout->source.offset, layout->source.pitch},
    };
    uint64_t whole = layout->bytes / layout->piece;
    for (int i = 0; i < 2; i++)
        ends[i].pitch = ends[i].pitch > 0 ? ends[i].pitch : layout->piece;
    if (whole > 0)
        XB_TRY(context->device->backend->queue_copy_rows(context->queues[0], ends[0], ends[1],
                                                         layout->piece, whole, error));
    if (whole == layout->count)
        return XB_OK;
    const struct xb_piece *last = &layout->pieces[whole]; /* a shorter row */
    return context->device->backend->queue_copy(context->queues[0], ends[0].buffer,
                                                last->target_offset, ends[1].buffer,
                                                last->source_offset, last->bytes, error);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    switch (state->how) {
    case HOW_EACH:
        for (size_t i = 0; i < state->layout.count; i++) {
            const struct xb_piece *piece = &state->layout.pieces[i];
            XB_TRY(backend->queue_copy(context->queues[0], state->target, piece->target_offset,
                                       state->source, piece->source_offset, piece->bytes, error));
        }
        return XB_OK;
    case HOW_CALL:
        for (size_t i = 0; i < state->list_count; i++)
            XB_TRY(backend->queue_copy_pieces(context->queues[0], state->lists[i], error));
        return XB_OK;
    case HOW_GRAPH:
        return backend->queue_graph(context->queues[0], state->graph, error);
    case HOW_PACKED:
        XB_TRY(submit_gathering(context, error));
        XB_TRY(submit_copy(context, error));
        return submit_scattering(context, error);
    case HOW_KERNEL:
    case HOW_BULK:
        return submit_kernel_part(context, error);
    case HOW_PITCHED:
        return copy_rows(context, error);
    }
    return XB_OK;
}

/* One kernel is called as fast as another if it is not slower by more than this. */
#define AS_FAST 1.01

/* Finds the least blocks that are as fast as any, in steps of two. Where two steps gain nothing,
 * more would not either. */
static enum xb_status choose_blocks(struct xb_mode_context *context, struct xb_error *error)
{
    static const unsigned tries[] = {1, 2, 4, 8, 16, 32, 64, 0}; /* 0: all that there is room for */
    double seconds[sizeof tries / sizeof tries[0]] = {0};
    struct state *state = context->state;
    double best = 0;
    size_t count = 0;
    for (int idle = 0; idle < 2 && count < sizeof tries / sizeof tries[0]; count++) {
        state->blocks = tries[count];
        XB_TRY(xb_mode_time(context, submit, &seconds[count], error));
        idle = best > 0 && seconds[count] * AS_FAST >= best ? idle + 1 : 0;
        best = best == 0 || seconds[count] < best ? seconds[count] : best;
    }
    for (size_t i = 0; i < count; i++) {
        state->blocks = tries[i];
        if (seconds[i] <= best * AS_FAST)
            break;
    }
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    state->how = xb_variant_number(test);
    state->to_device = test->direction == XB_H2D;
    state->layout = (struct xb_layout){.bytes = test->bytes,
                                       .piece = xb_case_setting(test, &xb_option_piece)->count,
                                       .source = side_of(test, state->to_device),
                                       .target = side_of(test, !state->to_device),
                                       .seed = test->seed};
    context->queue_count = 1;
    context->operations_per_iteration = 1;
    /* The calls are what is measured, so no queue is held; and host threads are part of it. */
    context->host_timed = context->host_waits = true;
    /* The second queue is for the SM tax. */
    XB_TRY(xb_workspace_queues(context->workspace, 2, &context->queues, error));
    XB_TRY(xb_layout_make(&state->layout, error));
    bool is_mapped = (context->device->info.capabilities & XB_CAP_MAPPED) != 0;
    struct xb_buffers all = {.count = 0};
    take_with(test, is_mapped ? XB_MEMORY_MAPPED : XB_MEMORY_PINNED, &all);
    XB_TRY(xb_borrow(context, &all, 0, error));
    state->source = state->to_device ? state->host : state->device;
    state->target = state->to_device ? state->device : state->host;
    XB_TRY(xb_proof_fill(context->queues[0], state->source, state->layout.source_span,
                         xb_proof_before(test->seed), error));
    XB_TRY(xb_proof_fill(context->queues[0], state->target,
                         state->layout.target_span + XB_WATCHED_BYTES, xb_proof_around(test->seed),
                         error));
    XB_TRY(open_lists(context, error));
    if (!is_in_place(state->how))
        return XB_OK;
    state->blocks = (unsigned)xb_case_setting(test, &option_blocks)->count;
    return state->blocks == 0 ? choose_blocks(context, error) : XB_OK;
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    if (state->graph != NULL)
        backend->graph_close(state->graph);
    while (state->list_count > 0)
        backend->pieces_close(state->lists[--state->list_count]);
    free(state->lists);
    xb_layout_free(&state->layout);
}

/* The source's other pattern: no byte of the target is right until it is moved again. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return xb_proof_fill(context->queues[0], state->source, state->layout.source_span,
                         xb_proof_after(context->test->seed), error);
}

static bool has_parts(const struct xb_mode_context *context)
{
    return xb_variant_number(context->test) == HOW_PACKED && !is_of_grid(context->test);
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    double count = (double)state->layout.count;
    double seconds = (double)result->bytes_moved / result->bandwidth.median;
    xb_result_detail_number(result, "pieces", count);
    xb_result_compute(result, &pieces_per_second, count / seconds);
    xb_result_compute(result, &time_per_piece, seconds / count);
    /* Asked for 0, the kernel has as many as there is room for. */
    unsigned blocks = state->blocks > 0 ? state->blocks : context->device->info.multiprocessors;
    if (is_in_place(state->how) && blocks > 0)
        xb_result_compute(result, &kernel_blocks, (double)blocks);
    const struct xb_piece_proof proof = {
        .layout = &state->layout,
        .queue = context->queues[0],
        .source = state->source,
        .target = state->target,
        .room = state->room,
        .moved = xb_proof_after(context->test->seed),
        .around = xb_proof_around(context->test->seed),
        .behind = XB_WATCHED_BYTES,
    };
    struct xb_mismatch all = {0};
    struct xb_mismatch compared = {0};
    XB_TRY(xb_piece_proof_check(&proof, &all, &compared, error));
    xb_result_detail_text(result, "verified_by", "%s",
                          state->to_device ? "host, by copies back" : "host");
    xb_proof_conclude(result, &all, &compared);
    bool uses_kernels =
        (is_in_place(state->how) || state->how == HOW_PACKED) && has_sm_tax(context->test);
    /* A device that is the CPU has no other kernels than the threads that move the data. */
    if (result->row.verified != XB_VERIFIED_TRUE || !uses_kernels ||
        context->device->info.host_clock)
        return XB_OK;
    enum xb_status status =
        xb_sm_tax_measure(context, submit, seconds, state->how == HOW_PACKED, 2, result, error);
    if (status != XB_ERR_MEMORY)
        return status;
    /* Someone took the memory meanwhile. The bandwidth is as good without. */
    xb_result_warn(result, "SM tax not measured: %.150s", error->message);
    return XB_OK;
}

const struct xb_mode xb_mode_batch = {
    .name = "batch",
    .summary = "many small pieces, in each way that a program can move them",
    .description =
        "Moves --size bytes as pieces of --piece between page-locked host memory and the device. "
        "Each way of --batch is a variant. The host's clock times all of them, from the first "
        "call until the last byte is there: with small pieces the calls take most of the time. "
        "'packed' includes gathering and scattering; beside it stands each part alone. For "
        "'kernel', 'bulk' and 'packed' the SM tax says how much slower other kernels compute "
        "meanwhile. "
        "Checks every piece, and what lies around it. --mode all leaves this mode out.",
    .calls =
        "each: cudaMemcpyAsync(). call: cudaMemcpyBatchAsync() (hipMemcpyBatchAsync; CUDA "
        "12.8 or ROCm 7.1). graph: cudaGraphLaunch(). pitched: cudaMemcpy2DAsync(). packed: "
        "memcpy() into one pinned buffer, one copy, and a kernel that scatters. kernel: one "
        "that loads from mapped host memory. bulk: one with cp.async.bulk (PTX; CUDA 12, sm_90).",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .only_named = true,
    .variant_option = &option_batch,
    .names = XB_NAMES({"each", "batch, a copy a piece"}, {"call", "batch, one call"},
                      {"graph", "batch, a graph"}, {"kernel", "batch, by a kernel"},
                      {"packed", "batch, packed"}, {"pitched", "batch, 2D copy"},
                      {"bulk", "batch, by TMA"}),
    .options = XB_OPTIONS(&option_batch, &xb_option_piece, &xb_option_pieces, &xb_option_kv,
                          &option_layout, &option_pitch, &option_call_pieces, &option_blocks,
                          &xb_option_host_offset, &xb_option_device_offset),
    .parameters = XB_PARAMETERS(
        {&xb_option_piece, NULL}, {&xb_option_pieces, NULL}, {&option_layout, NULL},
        {&option_pitch, NULL}, {&option_call_pieces, "call"}, {&option_blocks, "kernel"},
        {&option_blocks, "bulk"}, {&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL}),
    .figures = XB_FIGURES(&pieces_per_second, &time_per_piece, &xb_figure_sm_tax, &kernel_blocks,
                          &pack_time, &packed_copy_time, &unpack_time),
    .bytes_by_default = UINT64_C(32) << 20,
    .bytes_of_case = bytes_of_case,
    .imply = imply,
    .is_grid = is_grid,
    .reading = xb_batch_reading,
    .answer = xb_batch_answer,
    XB_HOOKS(struct state, buffers, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check_options = check_options,
    .check_variant = check_variant,
    .check = check,
    .references = XB_REFERENCES(
        {.figure = &pack_time, .submit = submit_gathering, .is_wanted = has_parts},
        {.figure = &packed_copy_time, .submit = submit_copy, .is_wanted = has_parts},
        {.figure = &unpack_time, .submit = submit_scattering, .is_wanted = has_parts}),
    .teardown = teardown,
};
