/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What encoded transfers stand beside: the plain way, each stage alone, and the whole with fewer
 * threads. */
#include "encoded.h"

#include "base/clock.h"
#include "measure/run.h"

#include <math.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- the encoder alone ---- */

/* So many pieces for each thread: fewer would tell of the slowest thread. */
#define PIECES_A_THREAD 8u

static uint64_t bytes_for(const struct xb_mode_context *context, unsigned threads)
{
    const struct xb_encoded *state = context->state;
    return least(context->test->bytes, threads * PIECES_A_THREAD * state->piece);
}

static uint64_t bytes_of_one(const struct xb_mode_context *context)
{
    return bytes_for(context, 1);
}

static uint64_t bytes_of_all(const struct xb_mode_context *context)
{
    const struct xb_encoded *state = context->state;
    return bytes_for(context, state->threads);
}

static void make_apart(void *argument, uint64_t item, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    const struct xb_encoded *state = context->state;
    struct xb_chunk piece = xb_chunk_at(context->test->bytes, state->piece, item);
    char *original = state->original->host_address;
    char *room = state->room->host_address;
    (void)xb_encode(state->format, original + piece.offset, piece.bytes,
                    room + thread * state->room_bytes);
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

/* ---- the link and the decoder alone ---- */

static enum xb_status submit_plain(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    return context->device->backend->queue_copy(context->queues[0], state->target, 0,
                                                state->original, 0, context->test->bytes, error);
}

static enum xb_status submit_restoring(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; status == XB_OK && i < state->count; i++)
        status = xb_encoded_restore(context, i, error);
    return status;
}

const struct xb_reference xb_encoded_references[] = {
    {.figure = &xb_figure_plain_bandwidth, .submit = submit_plain, .clock = XB_CLOCK_OF_DEVICE},
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

/* ---- how many threads are enough ---- */

/* What all chunks take grows with them, so some for each thread are enough to tell; the best of a
 * few iterations counts. */
#define CHUNKS_A_THREAD 16u
#define REPETITIONS 3

/* Waits for every queue, also after a failure: what was enqueued uses events that teardown closes.
 * Returns `status`, or the first failure of waiting if there was none before. */
static enum xb_status wait_for_all(struct xb_mode_context *context, enum xb_status status,
                                   struct xb_error *error)
{
    for (size_t i = 0; i < context->queue_count; i++) {
        struct xb_error later;
        enum xb_status waited = context->device->backend->queue_wait(context->queues[i], &later);
        if (status == XB_OK && waited != XB_OK) {
            status = waited;
            *error = later;
        }
    }
    return status;
}

/* The rate of one iteration, by the host's clock until all is restored. */
static enum xb_status time_iteration(struct xb_mode_context *context, double *rate,
                                     struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    double begin = xb_clock_now();
    enum xb_status status = wait_for_all(context, xb_encoded_submit(context, error), error);
    double seconds = xb_clock_now() - begin;
    uint64_t bytes = least(state->count * state->chunk, context->test->bytes);
    *rate = seconds > 0 ? (double)bytes / seconds : 0;
    return status;
}

/* Whether the whole with `threads` threads is faster than the plain copy. One iteration that is not
 * half as fast is enough to tell. */
static enum xb_status is_faster(struct xb_mode_context *context, unsigned threads, double plain,
                                bool *faster, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    struct xb_crew *own = state->crew;
    uint64_t all = state->count;
    double rate = plain;
    enum xb_status status = xb_crew_open(threads, &state->crew, error);
    *faster = false;
    state->count = least(all, CHUNKS_A_THREAD * state->threads);
    for (int i = 0; status == XB_OK && !*faster && rate >= plain / 2 && i < REPETITIONS; i++) {
        if (xb_run_should_stop(context->run))
            status = XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        else
            status = time_iteration(context, &rate, error);
        *faster = rate > plain;
    }
    if (state->crew != own)
        xb_crew_close(state->crew);
    state->crew = own;
    state->count = all;
    return status;
}

/* By halving: more threads are taken to be no slower. */
enum xb_status xb_encoded_find_break_even(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    unsigned too_few = 0;
    unsigned enough = 0; /* none yet */
    double plain_s = 0;
    enum xb_status status = xb_mode_time(context, submit_plain, &plain_s, error);
    double plain = plain_s > 0 ? (double)context->test->bytes / plain_s : INFINITY;
    for (unsigned tried = state->threads; status == XB_OK && tried != enough;
         tried = too_few + (enough - too_few + 1) / 2) {
        bool faster = false;
        status = is_faster(context, tried, plain, &faster, error);
        if (faster)
            enough = tried;
        else if (enough == 0)
            return status;
        else
            too_few = tried;
    }
    state->break_even_threads = enough;
    return status;
}
