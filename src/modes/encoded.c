/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* base/clock.h */
/* Data is encoded, crosses and is restored; and what that stands beside: the plain way, each stage
 * alone, and the whole with fewer threads. */
#include "encoded.h"

#include "proof.h"

#include "backends/verify.h"
#include "base/clock.h"
#include "base/memory.h"
#include "measure/run.h"
#include "measure/sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct xb_option xb_option_encode_chunk = {XB_SIZES(
    "encode-chunk", "SIZE", "0", 0, XB_FORMAT_CHUNK_MOST,
    "How much one thread encodes at a time; it is sent and restored as one: a size, a list, a "
    "range that doubles, or 0 for 4 MiB, and for 64 MiB if all was encoded before.")};

const struct xb_option xb_option_codec = {XB_CHOICES(
    "codec", "CODEC", "for,lz4",
    "How data is compressed: 'for' takes 1024 integers of 32 bits at a time and keeps how far each "
    "is above the smallest, in as few bits as that needs; 'lz4' is LZ4 in blocks of 64 KiB.",
    "for", "lz4")};

/* A small chunk has many threads busy to the end; of a large one the device restores more at the
 * same time. Measured on an H200 beside 16 CPUs (bench/results/h200/encode-chunks*.json). */
#define CHUNK_MADE (UINT64_C(4) << 20)
#define CHUNK_SENT (UINT64_C(64) << 20)

/* Chunks cross in groups of about so many bytes with an event behind each: one between two copies
 * costs the copy engine microseconds. In chunks of 2 and 4 MiB groups were 4 to 7 % faster
 * (bench/results/h200/encode-groups.txt). What is restored begins a group later, so there are no
 * fewer groups than so many. */
#define GROUP_BYTES (UINT64_C(16) << 20)
#define GROUPS 8u

/* Kernels restore chunks on so many queues in turn, because one chunk may not keep a device busy.
 * With that of the copies they are as many as a device has for itself (8 by default,
 * CUDA_DEVICE_MAX_CONNECTIONS). */
#define RESTORING 7u

/* A chunk takes a copy, a record, a wait and a decoding. */
#define OPERATIONS 4

/* How many pieces each thread has where the encoder alone is measured: fewer would tell of the
 * slowest thread. */
#define PIECES UINT64_C(8)

enum xb_status xb_encoded_check_options(const struct xb_case *test, struct xb_error *error)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_encode_chunk)->count;
    if (chunk % XB_FORMAT_ALIGNMENT == 0)
        return xb_chunk_check(test, &xb_option_encode_chunk, OPERATIONS, error);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--encode-chunk: must be a multiple of %u bytes, and %llu is not",
                   XB_FORMAT_ALIGNMENT, (unsigned long long)chunk);
}

/* The encoder alone gets pieces no smaller than this, so that each thread has several. */
#define LEAST_PIECE (UINT64_C(64) << 10)

/* How many chunks are on their way with so many threads, and how many slots that takes. */
static void size_ring(struct xb_encoded *state, unsigned threads)
{
    state->crossing = threads + state->group;
    state->slots = state->crossing + threads;
}

/* The sizes of everything: for setup and for the check of memory before. */
static void lay_out(const struct xb_case *test, struct xb_encoded *state)
{
    const struct xb_setting *codec = xb_case_find_setting(test, &xb_option_codec);
    const char *format = codec != NULL ? codec->word : test->variant;
    while (strcmp(xb_format_name(state->format), format) != 0)
        state->format++;
    state->is_made = strcmp(test->variant, "sent") != 0;
    state->threads = xb_threads_of(test);
    uint64_t chunk = xb_case_setting(test, &xb_option_encode_chunk)->count;
    if (chunk == 0)
        chunk = state->is_made ? CHUNK_MADE : CHUNK_SENT;
    state->chunk = xb_lesser(chunk, test->bytes);
    state->count = xb_chunk_count(test->bytes, state->chunk);
    state->slot_bytes =
        xb_rounded_up(xb_encoded_bound(state->format, state->chunk), XB_FORMAT_ALIGNMENT);
    state->group = xb_larger(xb_lesser(GROUP_BYTES / state->chunk, state->count / GROUPS), 1);
    state->slots = state->count;
    if (state->is_made)
        size_ring(state, state->threads);
    uint64_t share = test->bytes / (PIECES * state->threads);
    uint64_t piece = xb_lesser(share / LEAST_PIECE * LEAST_PIECE, CHUNK_MADE);
    state->piece = xb_lesser(xb_larger(piece, LEAST_PIECE), state->chunk);
    state->room_bytes =
        xb_rounded_up(xb_encoded_bound(state->format, state->piece), XB_FORMAT_ALIGNMENT);
    state->made_bytes = state->slots * state->slot_bytes;
    state->rooms_bytes = state->is_made ? 0 : UINT64_C(2) * state->threads * state->room_bytes;
    state->back_bytes = xb_rounded_up(state->chunk, XB_FORMAT_ALIGNMENT);
    state->arrived_bytes = state->count * state->slot_bytes;
}

void xb_encoded_buffers(const struct xb_case *test, struct xb_buffers *all)
{
    struct xb_encoded state = {.count = 0};
    lay_out(test, &state);
    xb_take(all, XB_OF_CASE, XB_MEMORY_PINNED, test->bytes, offsetof(struct xb_encoded, original));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct xb_encoded, target));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, state.made_bytes, offsetof(struct xb_encoded, made));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, state.back_bytes, offsetof(struct xb_encoded, back));
    xb_take(all, XB_FIXED, XB_MEMORY_DEVICE, state.arrived_bytes,
            offsetof(struct xb_encoded, arrived));
    xb_take(all, XB_FIXED, XB_MEMORY_DEVICE, XB_FORMAT_ALIGNMENT,
            offsetof(struct xb_encoded, report));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, state.rooms_bytes, offsetof(struct xb_encoded, rooms));
}

struct xb_chunk xb_encoded_chunk(const struct xb_mode_context *context, uint64_t index)
{
    const struct xb_encoded *state = context->state;
    return xb_chunk_at(context->test->bytes, state->chunk, index);
}

/* The queue that a chunk is restored on. */
static struct xb_queue *queue_for(const struct xb_mode_context *context, uint64_t index)
{
    return context->queues[1 + index % RESTORING];
}

/* Enqueues restoring a chunk that lies on the device. */
static enum xb_status restore(struct xb_mode_context *context, uint64_t index,
                              struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    struct xb_chunk chunk = xb_encoded_chunk(context, index);
    const struct xb_decoding decoding = {.format = state->format,
                                         .target = state->target,
                                         .target_offset = chunk.offset,
                                         .bytes = chunk.bytes,
                                         .source = state->arrived,
                                         .source_offset = index * state->slot_bytes,
                                         .source_bytes = state->lengths[index],
                                         .report = state->report};
    return context->device->backend->queue_decode(queue_for(context, index), &decoding, error);
}

/* The last chunk of the group that one is in. */
static uint64_t group_end(const struct xb_encoded *state, uint64_t index)
{
    return xb_lesser((index / state->group + 1) * state->group, state->count) - 1;
}

/* Has an encoded chunk cross, and with the last of a group all of it be restored. All cross on one
 * queue. */
static enum xb_status send(struct xb_mode_context *context, uint64_t index, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_event *crossed = state->crossed[index % state->slots];
    XB_TRY(backend->queue_copy(context->queues[0], state->arrived, index * state->slot_bytes,
                               state->made, index % state->slots * state->slot_bytes,
                               state->lengths[index], error));
    if (index != group_end(state, index))
        return XB_OK;
    XB_TRY(backend->event_record(crossed, context->queues[0], error));
    for (uint64_t i = index / state->group * state->group; i <= index; i++) {
        XB_TRY(backend->queue_wait_event(queue_for(context, i), crossed, error));
        XB_TRY(restore(context, i, error));
    }
    return XB_OK;
}

/* Encodes a chunk of the original into its slot. */
static void make_in_slot(void *argument, uint64_t index, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    const struct xb_encoded *state = context->state;
    struct xb_chunk chunk = xb_encoded_chunk(context, index);
    char *original = state->original->host_address;
    char *made = state->made->host_address;
    (void)thread;
    state->lengths[index] = xb_encode(state->format, original + chunk.offset, chunk.bytes,
                                      made + index % state->slots * state->slot_bytes);
}

/* Sends each chunk as soon as it and all before it are made, and gives its slot back once a few
 * more are on their way. */
static enum xb_status send_as_made(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    xb_crew_allow(state->crew, state->slots);
    for (uint64_t i = 0; i < state->count; i++) {
        xb_crew_wait(state->crew, i);
        XB_TRY(send(context, i, error));
        if (i + 1 < state->crossing)
            continue;
        uint64_t first = i + 1 - state->crossing;
        XB_TRY(context->device->backend->event_wait(
            state->crossed[group_end(state, first) % state->slots], error));
        xb_crew_allow(state->crew, first + 1 + state->slots);
    }
    return XB_OK;
}

enum xb_status xb_encoded_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const struct xb_crew_job job = {
        .work = make_in_slot, .argument = context, .count = state->count};
    for (uint64_t i = 0; !state->is_made && i < state->count; i++)
        XB_TRY(send(context, i, error));
    if (!state->is_made)
        return XB_OK;
    XB_TRY(xb_crew_begin(state->crew, &job, error));
    enum xb_status status = send_as_made(context, error);
    xb_crew_end(state->crew);
    return status;
}

/* One thread alone takes no more pieces than this, or slow encoders would take seconds. */
#define PIECES_OF_ONE UINT64_C(32)

static uint64_t bytes_of_one(const struct xb_mode_context *context)
{
    const struct xb_encoded *state = context->state;
    return xb_lesser(context->test->bytes, PIECES_OF_ONE * state->piece);
}

static uint64_t bytes_of_all(const struct xb_mode_context *context)
{
    const struct xb_encoded *state = context->state;
    return xb_lesser(context->test->bytes, state->threads * PIECES * state->piece);
}

/* A thread has two rooms. All together they are as large as a ring: in one of its own, which its
 * cache would hold, a thread encodes faster than the pipeline can. */
static void make_apart(void *argument, uint64_t item, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    const struct xb_encoded *state = context->state;
    struct xb_chunk piece = xb_chunk_at(context->test->bytes, state->piece, item);
    char *original = state->original->host_address;
    uint64_t room = thread + item % 2 * state->threads;
    char *target = state->rooms == NULL
                       ? (char *)state->made->host_address + room * state->slot_bytes
                       : (char *)state->rooms->host_address + room * state->room_bytes;
    (void)xb_encode(state->format, original + piece.offset, piece.bytes, target);
}

static enum xb_status submit_making_by_one(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    (void)error;
    for (uint64_t i = 0; i < xb_chunk_count(bytes_of_one(context), state->piece); i++)
        make_apart(context, i, 0);
    return XB_OK;
}

static enum xb_status submit_making(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const struct xb_crew_job job = {.work = make_apart,
                                    .argument = context,
                                    .count = xb_chunk_count(bytes_of_all(context), state->piece)};
    return xb_crew_run(state->crew, &job, error);
}

static enum xb_status submit_plain(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    return context->device->backend->queue_copy(context->queues[0], state->target, 0,
                                                state->original, 0, context->test->bytes, error);
}

static enum xb_status submit_restoring(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    for (uint64_t i = 0; i < state->count; i++)
        XB_TRY(restore(context, i, error));
    return XB_OK;
}

const struct xb_reference xb_encoded_references[] = {
    /* By the clock of the whole, and with an interval: whether it pays depends on both. */
    {.figure = &xb_figure_plain_bandwidth, .submit = submit_plain, .has_interval = true},
    {.figure = &xb_figure_decode_rate, .submit = submit_restoring, .clock = XB_CLOCK_OF_DEVICE},
    {.figure = &xb_figure_encode_rate_one,
     .submit = submit_making_by_one,
     .clock = XB_CLOCK_OF_HOST,
     .bytes = bytes_of_one},
    {.figure = &xb_figure_encode_rate,
     .submit = submit_making,
     .clock = XB_CLOCK_OF_HOST,
     .bytes = bytes_of_all},
    {.figure = NULL},
};

/* What all chunks take grows with them, so some for each thread are enough to tell. */
#define CHUNKS_A_THREAD UINT64_C(16)

/* The middle one of three times of an iteration, by the host's clock until all is done. */
static enum xb_status time_by_host(struct xb_mode_context *context, xb_submit *submit,
                                   double *seconds, struct xb_error *error)
{
    double sum = 0, least = INFINITY, most = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (xb_run_should_stop(context->run))
            return XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        double begin = xb_clock_now();
        XB_TRY(
            xb_queues_wait(context->queues, context->queue_count, submit(context, error), error));
        double time = xb_clock_now() - begin;
        sum += time;
        least = fmin(least, time);
        most = fmax(most, time);
    }
    *seconds = sum - most - least;
    return XB_OK;
}

/* The rate of the whole with `threads` threads, and with the ring that a case of so many has. */
static enum xb_status time_whole(struct xb_mode_context *context, unsigned threads, double *rate,
                                 struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    const struct xb_encoded own = *state;
    double seconds = 0;
    XB_TRY(xb_crew_open(threads, &state->crew, error));
    size_ring(state, threads);
    state->count = xb_lesser(own.count, CHUNKS_A_THREAD * own.threads);
    uint64_t bytes = xb_lesser(state->count * state->chunk, context->test->bytes);
    enum xb_status status = time_by_host(context, xb_encoded_submit, &seconds, error);
    *rate = seconds > 0 ? (double)bytes / seconds : 0;
    xb_crew_close(state->crew);
    *state = own;
    return status;
}

enum xb_status xb_encoded_setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    lay_out(context->test, state);
    context->operations_per_iteration = OPERATIONS * state->count;
    context->hold = !state->is_made;
    context->host_timed = context->host_waits = state->is_made;
    context->one_iteration = true; /* else chunks cross while those before are still restored */
    XB_TRY(xb_borrow(context, NULL, 1 + RESTORING, error));
    XB_TRY(xb_workspace_crew(context->workspace, state->threads, &state->crew, error));
    state->lengths = xb_try(state->count, sizeof *state->lengths);
    if (state->lengths == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for lists of %llu chunks",
                       (unsigned long long)state->count);
    state->crossed = xb_new(state->slots, sizeof(struct xb_event *));
    for (uint64_t i = 0; i < state->slots; i++)
        XB_TRY(context->device->backend->event_open(context->device, &state->crossed[i], error));
    return XB_OK;
}

/* Finds break_even_threads by trying, where the data is encoded within the iteration. By halving:
 * more threads are taken to be no slower. */
enum xb_status xb_encoded_begin(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    const struct xb_crew_job job = {
        .work = make_in_slot, .argument = context, .count = state->count};
    unsigned too_few = 0;
    unsigned enough = 0; /* none yet */
    double plain_s = 0;
    if (!state->is_made)
        return xb_crew_run(state->crew, &job, error);
    /* First of all one that does not count: the kernel has never run. */
    XB_TRY(xb_queues_wait(context->queues, context->queue_count, xb_encoded_submit(context, error),
                          error));
    XB_TRY(time_by_host(context, submit_plain, &plain_s, error));
    for (unsigned tried = state->threads; tried != enough;
         tried = too_few + (enough - too_few + 1) / 2) {
        double rate = 0;
        XB_TRY(time_whole(context, tried, &rate, error));
        if (rate * plain_s > (double)context->test->bytes)
            enough = tried;
        else if (enough == 0)
            return XB_OK;
        else
            too_few = tried;
    }
    state->break_even_threads = enough;
    return XB_OK;
}

enum xb_status xb_encoded_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    struct xb_pattern nothing = xb_proof_before(context->test->seed);
    /* The opposite of every bit of the original: what arrives with loss is no such value either. */
    for (uint64_t i = 0; i < state->count; i++) {
        struct xb_chunk chunk = xb_encoded_chunk(context, i);
        const unsigned char *original =
            (const unsigned char *)state->original->host_address + chunk.offset;
        unsigned char *wrong = state->back->host_address;
        for (uint64_t byte = 0; byte < chunk.bytes; byte++)
            wrong[byte] = (unsigned char)~original[byte];
        XB_TRY(xb_copy_and_wait(context->queues[0], state->target, chunk.offset, state->back, 0,
                                chunk.bytes, error));
    }
    XB_TRY(xb_proof_fill(context->queues[0], state->arrived, state->count * state->slot_bytes,
                         nothing, error));
    if (state->is_made)
        xb_host_fill(state->made->host_address, 0, state->slots * state->slot_bytes, nothing);
    *(struct xb_decode_report *)state->back->host_address =
        (struct xb_decode_report){.first_refused = XB_NONE_REFUSED};
    return xb_copy_and_wait(context->queues[0], state->report, 0, state->back, 0,
                            sizeof(struct xb_decode_report), error);
}

void xb_encoded_teardown(struct xb_mode_context *context)
{
    struct xb_encoded *state = context->state;
    for (uint64_t i = 0; state->crossed != NULL && i < state->slots; i++)
        context->device->backend->event_close(state->crossed[i]);
    free(state->crossed);
    free(state->lengths);
}
