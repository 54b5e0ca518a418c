/* SPDX-License-Identifier: Apache-2.0 */
/* Many small pieces between host and device, by every way that a program has. */
#include "batch.h"

#include "piece_layout.h"
#include "shared_options.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "xferbench/reading.h"
#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

static bool has_word(const struct xb_case *test, const char *word)
{
    return strcmp(xb_case_setting(test, &xb_option_layout)->word, word) == 0;
}

static uint64_t pitch_of(const struct xb_case *test)
{
    return has_word(test, "rows") ? xb_case_setting(test, &xb_option_pitch)->count : 0;
}

static struct xb_layout layout_of(const struct xb_case *test)
{
    const struct xb_layout_side host = {
        .scattered = has_word(test, "scattered") || has_word(test, "host-scattered"),
        .pitch = pitch_of(test),
        .offset = xb_case_setting(test, &xb_option_host_offset)->count,
    };
    const struct xb_layout_side device = {
        .scattered = has_word(test, "scattered") || has_word(test, "device-scattered"),
        .offset = xb_case_setting(test, &xb_option_device_offset)->count,
    };
    bool to_device = test->direction == XB_H2D;
    return (struct xb_layout){
        .bytes = test->bytes,
        .piece = xb_case_setting(test, &xb_option_piece)->count,
        .source = to_device ? host : device,
        .target = to_device ? device : host,
        .seed = test->seed,
    };
}

/* What the pieces of each side span, wherever they begin. */
static void spans_of(const struct xb_case *test, uint64_t *host, uint64_t *device)
{
    struct xb_layout layout = layout_of(test);
    layout.source.offset = layout.target.offset = 0;
    uint64_t source = xb_layout_span(layout.bytes, layout.piece, &layout.source);
    uint64_t target = xb_layout_span(layout.bytes, layout.piece, &layout.target);
    *host = test->direction == XB_H2D ? source : target;
    *device = test->direction == XB_H2D ? target : source;
}

/* How much longer than that a buffer is. */
static uint64_t room_beyond(const struct xb_case *test)
{
    return xb_largest_offset(test) + XB_WATCHED_BYTES;
}

static uint32_t capabilities(const struct xb_case *test)
{
    static const uint32_t needed[] = {
        [XB_BATCH_EACH] = 0,
        [XB_BATCH_CALL] = XB_CAP_BATCH,
        [XB_BATCH_GRAPH] = XB_CAP_GRAPH,
        [XB_BATCH_PACKED] = XB_CAP_KERNELS,
        [XB_BATCH_KERNEL] = XB_CAP_KERNELS | XB_CAP_MAPPED,
        [XB_BATCH_PITCHED] = XB_CAP_ROWS,
    };
    return needed[xb_variant_number(test)];
}

static uint64_t count_pieces(const struct xb_case *test)
{
    return xb_chunk_count(test->bytes, xb_case_setting(test, &xb_option_piece)->count);
}

/* How many calls --batch call makes. */
static uint64_t count_calls(const struct xb_case *test)
{
    uint64_t a_call = xb_case_setting(test, &xb_option_call_pieces)->count;
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

/* Saturates. */
static void add_need(uint64_t *need, uint64_t more)
{
    if (__builtin_add_overflow(*need, more, need))
        *need = UINT64_MAX;
}

static struct xb_needs needs(const struct xb_case *test)
{
    struct xb_needs needs = {0};
    enum xb_batch_how how = xb_variant_number(test);
    uint64_t beyond = room_beyond(test);
    uint64_t pieces = xb_lesser(count_pieces(test), MOST_PIECES); /* check refuses more */
    spans_of(test, &needs.host_bytes, &needs.device_bytes);
    add_need(&needs.host_bytes, needs.device_bytes);
    add_need(&needs.host_bytes, 2 * beyond);
    add_need(&needs.device_bytes, beyond);
    if (how == XB_BATCH_PACKED)
        add_need(&needs.device_bytes, test->bytes + beyond);
    if ((how == XB_BATCH_PACKED || how == XB_BATCH_KERNEL) && test->bytes >= XB_LARGE_BYTES)
        add_need(&needs.device_bytes, XB_SM_TAX_BYTES);
    add_need(&needs.host_bytes, pieces * HOST_BYTES_A_PIECE);
    if (how != XB_BATCH_EACH && how != XB_BATCH_PITCHED)
        add_need(&needs.device_bytes,
                 pieces * DEVICE_BYTES_A_PIECE + test->bytes / BYTES_A_CUT_BYTE);
    return needs;
}

/* Refuses a pitch where no layout has one. */
static enum xb_status refuse_idle_pitch(const struct xb_config *config, struct xb_error *error)
{
    const struct xb_value *layouts = xb_config_get(config, &xb_option_layout);
    if (!xb_config_get(config, &xb_option_pitch)->given || xb_word_is_in(&layouts->words, "rows"))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "--%s has no effect without --%s rows",
                   xb_option_pitch.name, xb_option_layout.name);
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    XB_TRY(refuse_idle_pitch(test->asked->config, error));
    uint64_t piece = xb_case_setting(test, &xb_option_piece)->count;
    uint64_t pitch = pitch_of(test);
    if (pitch == 0 || pitch >= piece)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--pitch %s is less than --piece %s: rows would overlap; take a larger --pitch",
                   XB_SIZE_TEXT(pitch), XB_SIZE_TEXT(piece));
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    enum xb_batch_how how = xb_variant_number(test);
    uint64_t count = count_pieces(test);
    uint64_t most = how == XB_BATCH_EACH    ? MOST_COPIES
                    : how == XB_BATCH_GRAPH ? MOST_IN_GRAPH
                                            : MOST_PIECES;
    if (count > most)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "%llu pieces are more than '%s' takes here (%llu); take a larger --piece or "
                       "a smaller --size",
                       (unsigned long long)count, test->variant, (unsigned long long)most);
    if (how == XB_BATCH_CALL && count_calls(test) > MOST_CALLS)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "%llu calls are more than 'call' makes here (%llu); take more --call-pieces",
                       (unsigned long long)count_calls(test), (unsigned long long)MOST_CALLS);
    return XB_OK;
}

/* ---- setup ---- */

/* How long a buffer is for what spans so much, wherever it begins. What is as long as the case is
 * made longer by the workspace. */
static uint64_t length_for(const struct xb_mode_context *context, uint64_t bytes)
{
    if (bytes != context->test->bytes)
        add_need(&bytes, room_beyond(context->test));
    return bytes;
}

static enum xb_status borrow_buffers(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    uint64_t host = 0, device = 0, packed = 0;
    spans_of(context->test, &host, &device);
    if (state->how == XB_BATCH_PACKED)
        packed = length_for(context, state->layout.bytes);
    bool mapped = (context->device->info.capabilities & XB_CAP_MAPPED) != 0;
    enum xb_memory memory = mapped ? XB_MEMORY_MAPPED : XB_MEMORY_PINNED;
    const struct xb_borrowing wanted[] = {
        {&state->host, 0, memory, length_for(context, host), false},
        {&state->room, 1, memory, length_for(context, device), false},
        {&state->device, 0, XB_MEMORY_DEVICE, length_for(context, device), false},
        {&state->packed, 1, XB_MEMORY_DEVICE, packed, false}};
    xb_workspace_extend(context->workspace, room_beyond(context->test));
    return xb_borrow(context, wanted, sizeof wanted / sizeof wanted[0], error);
}

/* Adds a list to those that there is room for. */
static enum xb_status open_list(struct xb_mode_context *context, struct xb_buffer *target,
                                struct xb_buffer *source, const struct xb_piece *pieces,
                                size_t count, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    enum xb_status status = context->device->backend->pieces_open(
        context->device, target, source, pieces, count, &state->lists[state->list_count], error);
    state->list_count += status == XB_OK;
    return status;
}

/* The kernel's part of packed: from the packed pieces to their places, or back. */
static enum xb_status open_packed(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    struct xb_layout within = state->layout;
    enum xb_status status = xb_layout_make(&within, error);
    for (size_t i = 0; status == XB_OK && i < within.count; i++) {
        unsigned long long *packed =
            state->to_device ? &within.pieces[i].source_offset : &within.pieces[i].target_offset;
        *packed = xb_batch_packed_offset(state, i);
    }
    if (status == XB_OK)
        status = open_list(context, state->to_device ? state->device : state->packed,
                           state->to_device ? state->packed : state->device, within.pieces,
                           within.count, error);
    xb_layout_free(&within);
    return status;
}

static enum xb_status open_lists(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    const struct xb_layout *layout = &state->layout;
    size_t most = layout->count; /* pieces that one list holds */
    if (state->how == XB_BATCH_CALL) {
        uint64_t a_call = xb_case_setting(context->test, &xb_option_call_pieces)->count;
        most = a_call > 0 && a_call < most ? a_call : most;
    }
    if (state->how == XB_BATCH_EACH || state->how == XB_BATCH_PITCHED)
        return XB_OK;
    state->lists = xb_try(xb_chunk_count(layout->count, most), sizeof(struct xb_pieces *));
    if (state->lists == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for lists of %zu pieces", layout->count);
    if (state->how == XB_BATCH_PACKED)
        return open_packed(context, error);
    for (size_t first = 0; first < layout->count; first += most) {
        size_t left = layout->count - first;
        XB_TRY(open_list(context, xb_batch_target(state), xb_batch_source(state),
                         &layout->pieces[first], left < most ? left : most, error));
    }
    if (state->how != XB_BATCH_GRAPH)
        return XB_OK;
    return context->device->backend->graph_open(context->queues[0], state->lists[0], &state->graph,
                                                error);
}

/* One kernel is called as fast as another if it is not slower by more than this. */
#define AS_FAST 1.01

/* Finds the least blocks that are as fast as any, in steps of two. */
static enum xb_status choose_blocks(struct xb_mode_context *context, struct xb_error *error)
{
    static const unsigned tries[] = {1, 2, 4, 8, 16, 32, 64, 0}; /* 0: all that there is room for */
    double seconds[sizeof tries / sizeof tries[0]] = {0};
    struct xb_batch *state = context->state;
    const size_t count = sizeof tries / sizeof tries[0];
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        state->blocks = tries[i];
        XB_TRY(xb_mode_time(context, xb_batch_submit, &seconds[i], error));
        best = best == 0 || seconds[i] < best ? seconds[i] : best;
    }
    for (size_t i = 0; i < count; i++) {
        state->blocks = tries[i];
        if (seconds[i] <= best * AS_FAST)
            break;
    }
    return XB_OK;
}

static enum xb_status fill(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    unsigned long long seed = context->test->seed;
    XB_TRY(xb_proof_fill(context->queues[0], xb_batch_source(state), state->layout.source_span,
                         xb_proof_before(seed), error));
    return xb_proof_fill(context->queues[0], xb_batch_target(state),
                         state->layout.target_span + XB_WATCHED_BYTES, xb_proof_around(seed),
                         error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    const struct xb_case *test = context->test;
    state->how = xb_variant_number(test);
    state->to_device = test->direction == XB_H2D;
    state->layout = layout_of(test);
    context->queue_count = 1;
    context->operations_per_iteration = 1;
    /* The calls are what is measured, so no queue is held; and host threads are part of it. */
    context->host_timed = true;
    context->host_waits = true;
    /* The second queue is for the SM tax. */
    XB_TRY(xb_workspace_queues(context->workspace, 2, &context->queues, error));
    XB_TRY(xb_layout_make(&state->layout, error));
    XB_TRY(borrow_buffers(context, error));
    XB_TRY(fill(context, error));
    XB_TRY(open_lists(context, error));
    if (state->how != XB_BATCH_KERNEL)
        return XB_OK;
    state->blocks = (unsigned)xb_case_setting(test, &xb_option_blocks)->count;
    return state->blocks == 0 ? choose_blocks(context, error) : XB_OK;
}

static void teardown(struct xb_mode_context *context)
{
    struct xb_batch *state = context->state;
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
    const struct xb_batch *state = context->state;
    return xb_proof_fill(context->queues[0], xb_batch_source(state), state->layout.source_span,
                         xb_proof_after(context->test->seed), error);
}

/* ---- what else is timed ---- */

static bool is_packed(const struct xb_mode_context *context)
{
    return xb_variant_number(context->test) == XB_BATCH_PACKED;
}

/* ---- verify ---- */

static enum xb_status prove(struct xb_mode_context *context, struct xb_result *result,
                            struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    unsigned long long seed = context->test->seed;
    const struct xb_piece_proof proof = {
        .layout = &state->layout,
        .queue = context->queues[0],
        .source = xb_batch_source(state),
        .target = xb_batch_target(state),
        .room = state->room,
        .moved = xb_proof_after(seed),
        .around = xb_proof_around(seed),
        .behind = XB_WATCHED_BYTES,
    };
    struct xb_mismatch all = {0};
    struct xb_mismatch compared = {0};
    XB_TRY(xb_piece_proof_check(&proof, &all, &compared, error));
    xb_result_detail_text(result, "verified_by", "%s",
                          state->to_device ? "host, by copies back" : "host");
    xb_proof_conclude(result, &all, &compared);
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    double count = (double)state->layout.count;
    double seconds = (double)result->bytes_moved / result->bandwidth.median;
    xb_result_detail_number(result, "pieces", count);
    xb_result_compute(result, &xb_figure_pieces_per_second, count / seconds);
    xb_result_compute(result, &xb_figure_time_per_piece, seconds / count);
    /* Asked for 0, the kernel has as many as there is room for. */
    unsigned blocks = state->blocks > 0 ? state->blocks : context->device->info.multiprocessors;
    if (state->how == XB_BATCH_KERNEL && blocks > 0)
        xb_result_compute(result, &xb_figure_blocks, (double)blocks);
    enum xb_status status = prove(context, result, error);
    bool uses_kernels = (state->how == XB_BATCH_KERNEL || state->how == XB_BATCH_PACKED) &&
                        context->test->bytes >= XB_LARGE_BYTES; /* less is over too soon */
    /* A device that is the CPU has no other kernels than the threads that move the data. */
    if (status != XB_OK || result->row.verified != XB_VERIFIED_TRUE || !uses_kernels ||
        context->device->info.host_clock)
        return status;
    status = xb_sm_tax_measure(context, xb_batch_submit, seconds, state->how == XB_BATCH_PACKED, 2,
                               result, error);
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
        "'kernel' and 'packed' the SM tax says how much slower other kernels compute meanwhile. "
        "Checks every piece, and what lies around it. --mode all leaves this mode out.",
    .calls = "each: cudaMemcpyAsync(). call: cudaMemcpyBatchAsync() (hipMemcpyBatchAsync; CUDA "
             "12.8 or ROCm 7.1). graph: cudaGraphLaunch(). pitched: cudaMemcpy2DAsync(). packed: "
             "memcpy() into one pinned buffer, one copy, and a kernel that scatters. kernel: one "
             "that loads from mapped host memory.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .only_named = true,
    .variant_option = &xb_option_batch,
    .names = XB_NAMES({"each", "batch, a copy a piece"}, {"call", "batch, one call"},
                      {"graph", "batch, a graph"}, {"kernel", "batch, by a kernel"},
                      {"packed", "batch, packed"}, {"pitched", "batch, 2D copy"}),
    .options = XB_OPTIONS(&xb_option_batch, &xb_option_piece, &xb_option_layout, &xb_option_pitch,
                          &xb_option_call_pieces, &xb_option_blocks, &xb_option_host_offset,
                          &xb_option_device_offset),
    .parameters =
        XB_PARAMETERS({&xb_option_piece, NULL}, {&xb_option_layout, NULL}, {&xb_option_pitch, NULL},
                      {&xb_option_call_pieces, "call"}, {&xb_option_blocks, "kernel"},
                      {&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL}),
    .figures = XB_FIGURES(&xb_figure_pieces_per_second, &xb_figure_time_per_piece,
                          &xb_figure_sm_tax, &xb_figure_blocks, &xb_figure_pack_time,
                          &xb_figure_packed_copy_time, &xb_figure_unpack_time),
    .bytes_by_default = UINT64_C(32) << 20,
    .reading = xb_batch_reading,
    .answer = xb_batch_say_pieces,
    .state_bytes = sizeof(struct xb_batch),
    .capabilities = capabilities,
    .needs = needs,
    .check_options = check_options,
    .check_variant = xb_batch_check_variant,
    .check = check,
    .setup = setup,
    .references = XB_REFERENCES({.figure = &xb_figure_pack_time,
                                 .submit = xb_batch_submit_gathering,
                                 .is_wanted = is_packed},
                                {.figure = &xb_figure_packed_copy_time,
                                 .submit = xb_batch_submit_copy,
                                 .is_wanted = is_packed},
                                {.figure = &xb_figure_unpack_time,
                                 .submit = xb_batch_submit_scattering,
                                 .is_wanted = is_packed}),
    .prepare = prepare,
    .submit = xb_batch_submit,
    .verify = verify,
    .teardown = teardown,
};
