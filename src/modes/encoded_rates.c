/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* How fast host threads encode with nothing beside them, and how many it takes to be faster than
 * the plain copy. */
#include "encoded.h"

#include "base/clock.h"
#include "measure/run.h"

#include <math.h>

/* One measurement lasts about so long, where the data is enough for it, and the best of a few
 * counts. */
#define TARGET_S 10e-3
#define REPETITIONS 3

struct rates {
    struct xb_mode_context *context;
    double of_one; /* 0: not known yet */
};

/* Fewer pieces a thread would tell of the slowest thread. */
#define LEAST_PIECES 3u

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

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many pieces keep `threads` threads busy for long enough: as many for each. */
static uint64_t pieces_for(const struct rates *rates, unsigned threads)
{
    const struct xb_encoded *state = rates->context->state;
    double each = ceil(TARGET_S * rates->of_one / (double)state->piece);
    return least(xb_chunk_count(rates->context->test->bytes, state->piece),
                 threads * (uint64_t)fmax(each, LEAST_PIECES));
}

/* The rate of one repetition. */
static enum xb_status time_once(const struct rates *rates, struct xb_crew *crew, uint64_t pieces,
                                double *rate, struct xb_error *error)
{
    const struct xb_encoded *state = rates->context->state;
    const struct xb_crew_job job = {
        .work = make_apart, .argument = rates->context, .count = pieces};
    double begin = xb_clock_now();
    enum xb_status status = xb_crew_run(crew, &job, error);
    double seconds = xb_clock_now() - begin;
    uint64_t bytes = least(pieces * state->piece, rates->context->test->bytes);
    *rate = seconds > 0 ? (double)bytes / seconds : 0;
    return status;
}

/* The rate of `threads` threads: the best of a few repetitions. */
static enum xb_status time_threads(const struct rates *rates, unsigned threads, double *rate,
                                   struct xb_error *error)
{
    struct xb_crew *crew = NULL;
    enum xb_status status = xb_crew_open(threads, &crew, error);
    *rate = 0;
    for (int i = 0; status == XB_OK && i < REPETITIONS; i++) {
        double once = 0;
        if (xb_run_should_stop(rates->context->run))
            status = XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        else
            status = time_once(rates, crew, pieces_for(rates, threads), &once, error);
        *rate = fmax(*rate, once);
    }
    xb_crew_close(crew);
    return status;
}

/* ---- how many threads are enough ---- */

/* What all chunks take grows with them, so some for each thread are enough to tell. */
#define CHUNKS_A_THREAD 16u

/* The rate of one iteration, by the host's clock until all is restored. */
static enum xb_status time_iteration(const struct rates *rates, double *rate,
                                     struct xb_error *error)
{
    struct xb_mode_context *context = rates->context;
    const struct xb_encoded *state = context->state;
    double begin = xb_clock_now();
    enum xb_status status = xb_encoded_submit(context, error);
    for (size_t i = 0; status == XB_OK && i < context->queue_count; i++)
        status = context->device->backend->queue_wait(context->queues[i], error);
    double seconds = xb_clock_now() - begin;
    uint64_t bytes = least(state->count * state->chunk, context->test->bytes);
    *rate = seconds > 0 ? (double)bytes / seconds : 0;
    return status;
}

/* The rate of the whole with `threads` threads: the best of a few iterations. */
static enum xb_status time_whole(const struct rates *rates, unsigned threads, double *rate,
                                 struct xb_error *error)
{
    struct xb_encoded *state = rates->context->state;
    struct xb_crew *own = state->crew;
    uint64_t all = state->count;
    enum xb_status status = xb_crew_open(threads, &state->crew, error);
    *rate = 0;
    state->count = least(all, CHUNKS_A_THREAD * state->threads);
    for (int i = 0; status == XB_OK && i < REPETITIONS; i++) {
        double once = 0;
        if (xb_run_should_stop(rates->context->run))
            status = XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        else
            status = time_iteration(rates, &once, error);
        *rate = fmax(*rate, once);
    }
    if (state->crew != own)
        xb_crew_close(state->crew);
    state->crew = own;
    state->count = all;
    return status;
}

/* The fewest threads with which the whole is faster than the plain copy, by halving: more threads
 * are taken to be no slower. */
static enum xb_status find_break_even(const struct rates *rates, double plain,
                                      struct xb_error *error)
{
    struct xb_encoded *state = rates->context->state;
    unsigned too_few = 0;
    unsigned tried = state->threads;
    unsigned enough = 0; /* none yet */
    enum xb_status status = XB_OK;
    if (!(state->rate_of_all > plain))
        return XB_OK;
    while (status == XB_OK && tried > too_few && tried != enough) {
        double rate = 0;
        status = time_whole(rates, tried, &rate, error);
        if (rate > plain)
            enough = tried;
        else if (enough == 0)
            return status;
        else
            too_few = tried;
        tried = too_few + (enough - too_few + 1) / 2;
    }
    state->break_even_threads = enough;
    return status;
}

static void make_all(void *argument, uint64_t item, unsigned thread)
{
    (void)thread;
    xb_encoded_make(argument, item, item);
}

/* All of it, before anything is sent. */
static enum xb_status make_beforehand(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const struct xb_crew_job job = {.work = make_all, .argument = context, .count = state->count};
    return xb_crew_run(state->crew, &job, error);
}

enum xb_status xb_encoded_begin(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_encoded *state = context->state;
    struct rates rates = {.context = context};
    double plain_s = 0;
    enum xb_status status = time_threads(&rates, 1, &state->rate_of_one, error);
    rates.of_one = state->rate_of_one;
    if (status == XB_OK)
        status = time_threads(&rates, state->threads, &state->rate_of_all, error);
    if (status == XB_OK && !state->is_made)
        return make_beforehand(context, error);
    if (status == XB_OK)
        status = xb_mode_time(context, xb_encoded_submit_plain, &plain_s, error);
    if (status != XB_OK || !(plain_s > 0))
        return status;
    return find_break_even(&rates, (double)context->test->bytes / plain_s, error);
}
