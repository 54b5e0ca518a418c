/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: one address for both sides, and pages that move because somebody touches them,
 * because they are asked to, or not at all. */
#include "modes/readings/readings.h"
#include "piece_layout.h"

#include "backends/verify.h"

#include <stdio.h>
#include <stdlib.h>

static const struct xb_option option_managed = {
    XB_CHOICES("managed", "HOW", "fault,prefetch",
               "How managed memory gets to the other side: 'fault': whoever touches a page fetches "
               "it; 'prefetch': the runtime moves it on request; 'advise': it is told to stay on "
               "the host, and the device reads or writes it there.",
               "fault", "prefetch", "advise")};

const struct xb_option xb_option_touched = {
    XB_COUNTS("touched", "100", 1, 100,
              "How many percent of managed memory are touched, by faults or in place: a number, a "
              "list (1,10,100) or a range that doubles (1..64). Touched are pieces of 64 KiB, "
              "spread evenly.")};

const struct xb_option xb_option_touch_order = {
    XB_CHOICES("touch-order", "ORDER", "sequential",
               "In which order managed memory is touched: 'sequential', or 'random' from one piece "
               "of 64 KiB to another.",
               "sequential", "random")};

#define TOUCHED_PIECE (UINT64_C(64) << 10)

XB_OWN_FIGURE(NUMBER, break_even_share,
              "From which share of the memory on moving all of it first is faster, if touching "
              "takes as long for every piece; above 1 for never");
const struct xb_figure xb_figure_full_copy_time = {
    XB_FIGURE_TIME("full_copy_time", "All of the memory prefetched, and then touched as much")};

enum how { HOW_FAULT, HOW_PREFETCH, HOW_ADVISE };

struct state {
    enum how how;
    bool to_device, has_device_end;
    struct xb_buffer *managed;
    struct xb_buffer *device;          /* what the device's kernels read into or write from */
    struct xb_buffer *source, *target; /* of these two, where the device's is one end of the copy */
    /* What is touched, unless that is all of it in order: then there are no pieces. */
    struct xb_layout touched;
    struct xb_pieces *list; /* for the kernel; NULL: the CPU touches */
    struct xb_buffer *room; /* the proof's, on the host */
    uint64_t read;          /* the sum of the bytes that the CPU read last */
};

/* Whether the case touches pieces. A prefetch always moves all. */
static bool has_pieces(const struct xb_case *test)
{
    const struct xb_setting *touched = xb_case_find_setting(test, &xb_option_touched);
    return touched != NULL &&
           (touched->count < 100 || xb_case_is(test, &xb_option_touch_order, "random"));
}

static uint32_t capabilities(const struct xb_case *test)
{
    (void)test;
    return XB_CAP_MANAGED | XB_CAP_KERNELS;
}

/* Whether the device's buffer is one end of the copy. Else managed memory is both ends. */
static bool has_device_end(const struct xb_case *test)
{
    enum how how = xb_variant_number(test);
    return how == HOW_ADVISE || (how == HOW_FAULT && test->direction == XB_H2D);
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_take(all, XB_OF_CASE, XB_MEMORY_MANAGED, test->bytes, offsetof(struct state, managed));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct state, device));
    if (has_pieces(test))
        xb_take(all, has_device_end(test) ? XB_OF_CASE : XB_COUNTED, XB_MEMORY_PINNED, test->bytes,
                offsetof(struct state, room));
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    if (xb_variant_number(context->test) != HOW_FAULT || !context->device->info.coherent_with_host)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "this device and the host reach each other's memory in place: touching a page "
                   "need not move it, so there is nothing to time");
}

static enum xb_status prefetch(const struct xb_mode_context *context, bool to_device,
                               struct xb_error *error)
{
    const struct state *state = context->state;
    return context->device->backend->queue_prefetch(context->queues[0], state->managed,
                                                    context->test->bytes, to_device, error);
}

/* Puts the pages back to the side that the direction starts from. With `advise` they never leave
 * the host. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->how == HOW_ADVISE)
        return XB_OK;
    XB_TRY(prefetch(context, !state->to_device, error));
    return context->device->backend->queue_wait(context->queues[0], error);
}

/* Writes the pattern to managed memory, on the side that the direction starts from. The CPU fetches
 * every page that it writes, several threads at a time: nothing has to be put back for it. */
static enum xb_status fill_managed(struct xb_mode_context *context, struct xb_pattern pattern,
                                   struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    if (state->to_device || state->how == HOW_ADVISE) {
        xb_host_fill(state->managed->host_address, 0, context->test->bytes, pattern);
        return XB_OK;
    }
    XB_TRY(restore(context, error));
    XB_TRY(backend->queue_fill(context->queues[0], state->managed, context->test->bytes, pattern,
                               error));
    return backend->queue_wait(context->queues[0], error);
}

/* Lists the pieces, in the order in which they are touched. */
static enum xb_status list_pieces(const struct xb_case *test, struct xb_layout *touched,
                                  struct xb_error *error)
{
    uint64_t all = xb_chunk_count(test->bytes, TOUCHED_PIECE);
    uint64_t percent = xb_case_setting(test, &xb_option_touched)->count;
    bool is_random = xb_case_is(test, &xb_option_touch_order, "random");
    touched->count = (all * percent + 99) / 100;
    touched->pieces = calloc(touched->count, sizeof *touched->pieces);
    if (touched->pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", touched->count);
    for (uint64_t i = 0; i < touched->count; i++) {
        uint64_t turn = is_random ? xb_access_random(touched->count, i) : i;
        struct xb_chunk chunk =
            xb_chunk_at(test->bytes, TOUCHED_PIECE, turn * all / touched->count);
        touched->pieces[i] = (struct xb_piece){chunk.offset, chunk.offset, chunk.bytes};
        touched->bytes += chunk.bytes;
        touched->source_span = xb_larger(touched->source_span, chunk.offset + chunk.bytes);
    }
    touched->target_span = touched->source_span;
    return XB_OK;
}

static enum xb_status set_up_pieces(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    XB_TRY(list_pieces(context->test, &state->touched, error));
    context->bytes_moved = state->touched.bytes;
    context->operations_per_iteration = 2; /* of a reference */
    if (!state->has_device_end)
        return XB_OK;
    return context->device->backend->pieces_open(context->device, state->target, state->source,
                                                 state->touched.pieces, state->touched.count,
                                                 &state->list, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    struct xb_pattern before = xb_proof_before(test->seed);
    state->how = xb_variant_number(test);
    state->to_device = test->direction == XB_H2D;
    state->has_device_end = has_device_end(test);
    context->operations_per_iteration = 1;
    context->one_iteration = true; /* else the next finds the pages where this one has put them */
    /* The CPU faults inside submit itself, where only the host's clock can time it. */
    context->host_timed = state->how == HOW_FAULT && !state->to_device;
    XB_TRY(xb_borrow(context, NULL, 1, error));
    state->source = state->to_device ? state->managed : state->device;
    state->target = state->to_device ? state->device : state->managed;
    XB_TRY(context->device->backend->buffer_advise(
        state->managed, state->how == HOW_ADVISE ? XB_ADVICE_STAY_ON_HOST : XB_ADVICE_NONE, error));
    if (has_pieces(test))
        XB_TRY(set_up_pieces(context, error));
    XB_TRY(fill_managed(context, before, error));
    return xb_proof_fill(context->queues[0], state->device, test->bytes, before, error);
}

/* Writes the other pattern to the device's buffer, or to managed memory where that is both ends:
 * nothing that arrives from now on is at the target yet. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_pattern after = xb_proof_after(context->test->seed);
    if (state->has_device_end)
        return xb_proof_fill(context->queues[0], state->device, context->test->bytes, after, error);
    return fill_managed(context, after, error);
}

/* What the target holds once a timed iteration has put it right. */
static struct xb_pattern expected(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return state->has_device_end && state->to_device ? xb_proof_before(context->test->seed)
                                                     : xb_proof_after(context->test->seed);
}

/* One thread of the host, or one kernel, touches what is to be touched. */
static enum xb_status touch(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = context->test->bytes;
    if (state->list != NULL)
        return backend->queue_kernel_pieces(context->queues[0], state->list, 0, false, error);
    if (state->has_device_end)
        return backend->queue_kernel_copy(context->queues[0], state->target, 0, state->source, 0,
                                          bytes, XB_ACCESS_SEQUENTIAL, 1, error);
    const unsigned char *memory = state->managed->host_address;
    state->read = state->touched.count == 0 ? xb_host_read_pages(memory, bytes) : 0;
    for (size_t i = 0; i < state->touched.count; i++)
        state->read += xb_host_read_pages(memory + state->touched.pieces[i].source_offset,
                                          state->touched.pieces[i].bytes);
    return XB_OK;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return state->how == HOW_PREFETCH ? prefetch(context, state->to_device, error)
                                      : touch(context, error);
}

/* What a program does that does not want faults: no page is missing once all were moved. */
static enum xb_status submit_full(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    XB_TRY(prefetch(context, state->to_device, error));
    if (!state->to_device)
        XB_TRY(context->device->backend->queue_wait(context->queues[0], error));
    return touch(context, error);
}

static bool faults_by_piece(const struct xb_mode_context *context)
{
    return xb_variant_number(context->test) == HOW_FAULT && has_pieces(context->test);
}

/* Whether the CPU read each page that it was to read, while it held what it holds now. */
static bool has_read_pages(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    const struct xb_piece whole = {.bytes = context->test->bytes};
    size_t count = state->touched.count;
    uint64_t sum = 0;
    for (size_t i = 0; i < xb_larger(count, 1); i++) {
        const struct xb_piece piece = count > 0 ? state->touched.pieces[i] : whole;
        for (uint64_t page = 0; page < xb_chunk_count(piece.bytes, XB_HOST_PAGE); page++)
            sum += xb_pattern_word(expected(context),
                                   piece.source_offset / 8 + page * XB_HOST_PAGE / 8) &
                   0xFF;
    }
    return sum == state->read;
}

/* Checks every byte of the pieces in the target, and that nothing round them was written. */
static enum xb_status check_pieces(const struct xb_mode_context *context, struct xb_mismatch *all,
                                   struct xb_mismatch *compared, struct xb_error *error)
{
    const struct state *state = context->state;
    unsigned long long seed = context->test->seed;
    const struct xb_piece_proof proof = {
        .layout = &state->touched,
        .queue = context->queues[0],
        .source = state->source,
        .target = state->target,
        .room = state->room,
        .moved = expected(context),
        .around = state->to_device ? xb_proof_after(seed) : xb_proof_before(seed),
        .behind = context->test->bytes - state->touched.target_span,
    };
    return xb_piece_proof_check(&proof, all, compared, error);
}

/* Checks every byte of the target: the device's buffer, or managed memory as the far side sees it.
 */
static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_mismatch all = {0};
    struct xb_mismatch windows = {0};
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    /* A latency case has no such time, nor has one cut short. */
    double full = xb_result_median(result, &xb_figure_full_copy_time);
    double touched = (double)result->bytes_moved;
    if (full > 0)
        xb_result_compute(result, &break_even_share,
                          touched / (double)bytes * full / (touched / result->bandwidth.median));
    if (state->list != NULL)
        XB_TRY(check_pieces(context, &all, &windows, error));
    else if (state->to_device && state->how == HOW_PREFETCH)
        XB_TRY(context->device->backend->queue_check(queue, state->managed, bytes,
                                                     expected(context), &all, error));
    else
        XB_TRY(xb_proof_check(queue, state->target, bytes, expected(context), &all, error));
    if (state->has_device_end && state->list == NULL) {
        const struct xb_proof_side here = {queue, state->managed, 0};
        const struct xb_proof_side there = {queue, state->device, 0};
        XB_TRY(xb_proof_compare(&here, &there, bytes, &windows, error));
    }
    xb_result_detail_text(result, "verified_by",
                          !state->to_device     ? "host"
                          : state->list == NULL ? "device"
                                                : "host, by copies back");
    if (context->host_timed)
        xb_result_detail_text(result, "clock", "host: the CPU takes the faults, one read a page");
    xb_proof_conclude(result, &all, &windows);
    if (result->row.verified != XB_VERIFIED_TRUE || !context->host_timed || has_read_pages(context))
        return XB_OK;
    result->row.verified = XB_VERIFIED_FALSE;
    snprintf(result->reason, sizeof result->reason,
             "the memory is right, but the CPU has not read what it was to read");
    return XB_OK;
}

/* The workspace keeps the memory for other cases, and these expect none of this case's advice. */
static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    struct xb_error ignored;
    if (state->list != NULL)
        context->device->backend->pieces_close(state->list);
    xb_layout_free(&state->touched);
    if (state->managed != NULL && state->how == HOW_ADVISE)
        (void)!context->device->backend->buffer_advise(state->managed, XB_ADVICE_NONE, &ignored);
}

const struct xb_mode xb_mode_managed = {
    .name = "managed",
    .summary = "memory with one address for both sides, moved by faults, on request or not at all",
    .description =
        "Moves managed (unified) memory. fault: h2d is a kernel that reads pages lying on the "
        "host (and writes what it read to device memory); d2h is one CPU thread that reads a byte "
        "of every page lying on the device, timed by the host's clock. prefetch: the runtime "
        "moves the pages on request. advise: the pages are told to stay on the host, and a kernel "
        "reads or writes them there across the link. Putting the pages back between iterations is "
        "not timed. With --touched below 100 only so much of the memory is touched, and the "
        "bandwidth is of that; a prefetch still moves all. Never asks for more than half of the "
        "device's free memory.",
    .calls = "cudaMallocManaged() (hipMallocManaged). prefetch: cudaMemPrefetchAsync() "
             "(hipMemPrefetchAsync) before the kernel. advise: cudaMemAdvise() (hipMemAdvise), "
             "with the host as the preferred location and accessed by the GPU.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .variant_option = &option_managed,
    .names = XB_NAMES({"fault", "managed, on faults"}, {"prefetch", "managed, prefetch"},
                      {"advise", "managed, advise"}),
    .options = XB_OPTIONS(&option_managed, &xb_option_touched, &xb_option_touch_order),
    .parameters = XB_PARAMETERS({&xb_option_touched, "fault"}, {&xb_option_touch_order, "fault"},
                                {&xb_option_touched, "advise"}, {&xb_option_touch_order, "advise"}),
    .figures = XB_FIGURES(&xb_figure_full_copy_time, &break_even_share),
    .reading = xb_managed_reading,
    .say_first_thing = xb_managed_try,
    .crosses_otherwise = true,
    XB_HOOKS(struct state, buffers, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check = check,
    .references = XB_REFERENCES({.figure = &xb_figure_full_copy_time,
                                 .submit = submit_full,
                                 .has_interval = true,
                                 .is_wanted = faults_by_piece}),
    .restore = restore,
    .teardown = teardown,
};
