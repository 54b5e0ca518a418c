/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What encoded transfers stand beside: the plain way, each stage alone, and the whole with fewer
 * threads. */
#include "encoded.h"

#include "base/clock.h"
#include "measure/run.h"

#include <math.h>

/* ---- the encoder alone ---- */

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
    return xb_lesser(context->test->bytes, state->threads * XB_ENCODED_PIECES * state->piece);
}

/* A thread has two rooms. All together they are as large as a ring: in one of its own, which its
 * cache would hold, a thread encodes faster than the pipeline can. */
static char *room_of(const struct xb_encoded *state, uint64_t item, unsigned thread)
{
    uint64_t number = thread + item % 2 * state->threads;
    return state->rooms == NULL ? (char *)state->made->host_address + number * state->slot_bytes
                                : (char *)state->rooms->host_address + number * state->room_bytes;
}

static void make_apart(void *argument, uint64_t item, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    const struct xb_encoded *state = context->state;
    struct xb_chunk piece = xb_chunk_at(context->test->bytes, state->piece, item);
    char *original = state->original->host_address;
    (void)xb_encode(state->format, original + piece.offset, piece.bytes,
                    room_of(state, item, thread));
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
    for (uint64_t i = 0; i < state->count; i++)
        XB_TRY(xb_encoded_restore(context, i, error));
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

/* ---- how many threads are enough ---- */

/* What all chunks take grows with them, so some for each thread are enough to tell. */
#define CHUNKS_A_THREAD UINT64_C(16)
#define REPETITIONS 3u

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

/* The middle one of three times of an iteration, by the host's clock until all is done. */
static enum xb_status time_by_host(struct xb_mode_context *context, xb_submit *submit,
                                   double *seconds, struct xb_error *error)
{
    double times[REPETITIONS] = {0};
    enum xb_status status = XB_OK;
    for (unsigned i = 0; status == XB_OK && i < REPETITIONS; i++) {
        if (xb_run_should_stop(context->run))
            return XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        double begin = xb_clock_now();
        status = wait_for_all(context, submit(context, error), error);
        times[i] = xb_clock_now() - begin;
    }
    double most = fmax(fmax(times[0], times[1]), times[2]);
    double sum = times[0] + times[1] + times[2];
    *seconds = sum - most - fmin(fmin(times[0], times[1]), times[2]);
    return status;
}

/* The rate of the whole with `threads` threads, and with the ring that a case of so many has. */
static enum xb_status time_whole(struct xb_mode_context *context, unsigned threads, double *rate,
                                 struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    const struct xb_encoded own = *state;
    double seconds = 0;
    XB_TRY(xb_crew_open(threads, &state->crew, error));
    xb_encoded_size_ring(state, threads);
    state->count = xb_lesser(own.count, CHUNKS_A_THREAD * own.threads);
    uint64_t bytes = xb_lesser(state->count * state->chunk, context->test->bytes);
    enum xb_status status = time_by_host(context, xb_encoded_submit, &seconds, error);
    *rate = seconds > 0 ? (double)bytes / seconds : 0;
    xb_crew_close(state->crew);
    state->crew = own.crew;
    state->crossing = own.crossing;
    state->slots = own.slots;
    state->count = own.count;
    return status;
}

/* By halving: more threads are taken to be no slower. */
enum xb_status xb_encoded_find_break_even(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    unsigned too_few = 0;
    unsigned enough = 0; /* none yet */
    double plain_s = 0;
    /* First of all one that does not count: the kernel has never run. */
    enum xb_status status = wait_for_all(context, xb_encoded_submit(context, error), error);
    if (status == XB_OK)
        status = time_by_host(context, submit_plain, &plain_s, error);
    for (unsigned tried = state->threads; status == XB_OK && tried != enough;
         tried = too_few + (enough - too_few + 1) / 2) {
        double rate = 0;
        status = time_whole(context, tried, &rate, error);
        if (rate * plain_s > (double)context->test->bytes)
            enough = tried;
        else if (enough == 0)
            return status;
        else
            too_few = tried;
    }
    state->break_even_threads = enough;
    return status;
}
