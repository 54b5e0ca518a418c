/* SPDX-License-Identifier: Apache-2.0 */
#include "predict.h"

#include <math.h>
#include <string.h>

struct xb_job xb_job_scaled(const struct xb_job *job, double factor)
{
    struct xb_job scaled = *job;
    double in = (double)job->in * factor;
    double out = (double)job->out * factor;
    scaled.in = in < 1 ? 1 : (uint64_t)(in + 0.5);
    scaled.out = job->out == 0 ? 0 : out < 1 ? 1 : (uint64_t)(out + 0.5);
    scaled.gpu_time *= factor;
    scaled.cpu_time *= factor;
    return scaled;
}

/* ---- costs, each of which is noted ---- */

struct work {
    const struct xb_costs *costs;
    const struct xb_job *job;
    struct xb_prediction *prediction;
};

/* Whether rows tell that cost; else the prediction says which are missing. */
static bool needs(const struct work *work, enum xb_cost_kind kind, uint64_t bytes)
{
    struct xb_prediction *prediction = work->prediction;
    if (!xb_cost_is_known(&work->costs->costs[kind], bytes)) {
        prediction->missing = kind;
        prediction->missing_bytes = bytes;
        return false;
    }
    if (bytes > 0 && prediction->use_count < XB_COST_USES)
        prediction->uses[prediction->use_count++] = (struct xb_cost_use){kind, bytes};
    return true;
}

static double alone(const struct work *work, enum xb_cost_kind kind, uint64_t bytes,
                    enum xb_estimate estimate)
{
    return xb_cost_alone(&work->costs->costs[kind], bytes, estimate);
}

static double behind(const struct work *work, enum xb_cost_kind kind, uint64_t bytes,
                     enum xb_estimate estimate)
{
    return xb_cost_behind(&work->costs->costs[kind], bytes, estimate);
}

static void limit_to(struct xb_prediction *prediction, enum xb_limit_by limit, double seconds)
{
    if (!(seconds > prediction->limit_seconds))
        return;
    prediction->limit = limit;
    prediction->limit_seconds = seconds;
}

/* ---- one step after the other ---- */

/* In, kernel, out. The host waits once, for the last: what comes out follows right behind. */
static bool predict_serial(const struct work *work, enum xb_cost_kind in, enum xb_cost_kind out)
{
    const struct xb_job *job = work->job;
    struct xb_prediction *prediction = work->prediction;
    if (!needs(work, in, job->in) || !needs(work, out, job->out))
        return false;
    for (int i = 0; i < XB_ESTIMATES; i++)
        prediction->running[i] = alone(work, in, job->in, (enum xb_estimate)i) + job->gpu_time +
                                 behind(work, out, job->out, (enum xb_estimate)i);
    prediction->in = alone(work, in, job->in, XB_MIDDLE);
    prediction->out = behind(work, out, job->out, XB_MIDDLE);
    prediction->kernel = job->gpu_time;
    prediction->copies = prediction->in + prediction->out;
    limit_to(prediction, XB_LIMIT_COPY_IN, prediction->in);
    limit_to(prediction, XB_LIMIT_KERNEL, prediction->kernel);
    limit_to(prediction, XB_LIMIT_COPY_OUT, prediction->out);
    return true;
}

/* ---- overlapped ---- */

/* Chunks of these sizes are tried. */
#define LEAST_CHUNK (UINT64_C(256) << 10)
#define MOST_CHUNK (UINT64_C(64) << 20)
/* Of two chunks whose times differ by less than this share the larger is taken. */
#define AS_GOOD 0.01

struct pipeline {
    uint64_t chunk, chunk_out;
    double count; /* of chunks */
    double in, kernel, out, copies, calls, total;
};

/* Both ways at once until the shorter is done, then the other alone. `whole_in` and `whole_out` are
 * one copy of it all: what chunks cost more than that they cost beside each other too. */
static double copies_time(const struct xb_costs *costs, const struct xb_job *job, double in,
                          double whole_in, double out, double whole_out)
{
    double longer = fmax(in, out);
    if (costs->both == NULL || !(in > 0) || !(out > 0))
        return longer;
    double in_beside = (double)job->in / costs->both_in * in / whole_in;
    double out_beside = (double)job->out / costs->both_out * out / whole_out;
    double together = fmin(in_beside, out_beside);
    double rest = in_beside > out_beside ? in * (1 - together / in_beside)
                                         : out * (1 - together / out_beside);
    return fmax(longer, together + rest);
}

/*
 * The slowest stage sets the pace. The others add what their first or last chunk takes, when the
 * slowest has nothing to do yet or any more. And the job begins and is waited for once.
 */
static struct pipeline pipeline_of(const struct work *work, uint64_t chunk,
                                   enum xb_estimate estimate)
{
    const struct xb_job *job = work->job;
    struct pipeline line = {.chunk = chunk};
    line.count = ceil((double)job->in / (double)chunk);
    line.chunk_out = (uint64_t)((double)job->out / line.count);
    double one_in = behind(work, XB_COST_PINNED_IN, chunk, estimate);
    double one_out = behind(work, XB_COST_PINNED_OUT, line.chunk_out, estimate);
    double wait = fmax(0, alone(work, XB_COST_PINNED_IN, chunk, estimate) - one_in);
    double call = xb_cost_call(&work->costs->costs[XB_COST_PINNED_IN], chunk);
    /* Small rows repeat themselves out of a cache: no chunks are faster than all in one. */
    double whole_in = behind(work, XB_COST_PINNED_IN, job->in, estimate);
    double whole_out = behind(work, XB_COST_PINNED_OUT, job->out, estimate);
    line.in = fmax((double)job->in / (double)chunk * one_in, whole_in);
    line.out = fmax(line.count * one_out, whole_out);
    line.kernel = job->gpu_time;
    line.copies = copies_time(work->costs, job, line.in, whole_in, line.out, whole_out);
    line.calls = line.count * call * (1 + (job->gpu_time > 0) + (job->out > 0));
    double pace = fmax(fmax(line.copies, line.kernel), line.calls);
    double stages = line.in + line.kernel + line.out;
    double slowest = fmax(line.kernel, fmax(line.in, line.out));
    line.total = wait + pace + (stages - slowest) / line.count;
    return line;
}

static bool choose_chunk(const struct work *work, uint64_t *chunk)
{
    double best = INFINITY;
    for (uint64_t size = MOST_CHUNK; size >= LEAST_CHUNK; size /= 2) {
        if (2 * size > work->job->in)
            continue; /* nothing to overlap */
        double total = pipeline_of(work, size, XB_MIDDLE).total;
        if (!(total < best * (1 - AS_GOOD)))
            continue;
        best = total;
        *chunk = size;
    }
    return best < INFINITY;
}

static bool predict_overlapped(const struct work *work)
{
    struct xb_prediction *prediction = work->prediction;
    const struct xb_job *job = work->job;
    if (job->in < 2 * LEAST_CHUNK)
        return false;
    /* Any chunk that may be chosen has to be known. */
    if (!xb_cost_is_known(&work->costs->costs[XB_COST_PINNED_IN], LEAST_CHUNK))
        return needs(work, XB_COST_PINNED_IN, LEAST_CHUNK);
    uint64_t least_out = (uint64_t)((double)job->out * LEAST_CHUNK / (double)job->in);
    if (!xb_cost_is_known(&work->costs->costs[XB_COST_PINNED_OUT], least_out))
        return needs(work, XB_COST_PINNED_OUT, least_out);
    if (!choose_chunk(work, &prediction->chunk))
        return false;
    struct pipeline line = pipeline_of(work, prediction->chunk, XB_MIDDLE);
    (void)needs(work, XB_COST_PINNED_IN, line.chunk);
    (void)needs(work, XB_COST_PINNED_OUT, line.chunk_out);
    for (int i = 0; i < XB_ESTIMATES; i++)
        prediction->running[i] = pipeline_of(work, prediction->chunk, (enum xb_estimate)i).total;
    prediction->chunk_count = (uint64_t)line.count;
    prediction->in = line.in;
    prediction->kernel = line.kernel;
    prediction->out = line.out;
    prediction->copies = line.copies;
    prediction->uses_both_ways = job->out > 0 && work->costs->both != NULL;
    prediction->lacks_both_ways = job->out > 0 && work->costs->both == NULL;
    limit_to(prediction, XB_LIMIT_COPY_IN, line.in);
    limit_to(prediction, XB_LIMIT_KERNEL, line.kernel);
    limit_to(prediction, XB_LIMIT_COPY_OUT, line.out);
    limit_to(prediction, XB_LIMIT_COPIES, line.copies);
    limit_to(prediction, XB_LIMIT_CALLS, line.calls);
    return true;
}

/* ---- from ordinary memory into pinned memory ---- */

/* Page-locking in and out where they lie, once for all runs. */
static bool cost_of_registering(const struct work *work, double *seconds)
{
    const struct xb_job *job = work->job;
    const struct xb_cost *cost = &work->costs->costs[XB_COST_REGISTER];
    if (!xb_cost_is_known(cost, job->in) || !xb_cost_is_known(cost, job->out))
        return false;
    *seconds =
        (xb_cost_alone(cost, job->in, XB_MIDDLE) + xb_cost_alone(cost, job->out, XB_MIDDLE)) /
        (double)job->times;
    return true;
}

/* What a copy through pinned memory takes longer than from it, each run; and making that memory. */
static bool cost_of_copying(const struct work *work, double *seconds)
{
    static const struct {
        enum xb_cost_kind through, plain;
    } ways[] = {{XB_COST_COPY_IN, XB_COST_PINNED_IN}, {XB_COST_COPY_OUT, XB_COST_PINNED_OUT}};
    const struct xb_cost *room = &work->costs->costs[XB_COST_COPY_ROOM];
    const uint64_t sizes[] = {work->job->in, work->job->out};
    *seconds = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct xb_cost *through = &work->costs->costs[ways[i].through];
        const struct xb_cost *plain = &work->costs->costs[ways[i].plain];
        if (!xb_cost_is_known(through, sizes[i]) || !xb_cost_is_known(plain, sizes[i]) ||
            !xb_cost_is_known(room, sizes[i]))
            return false;
        *seconds += fmax(0, xb_cost_alone(through, sizes[i], XB_MIDDLE) -
                                xb_cost_alone(plain, sizes[i], XB_MIDDLE)) +
                    xb_cost_alone(room, sizes[i], XB_MIDDLE) / (double)work->job->times;
    }
    return true;
}

/* The cheaper of both. */
static bool add_pinning(const struct work *work)
{
    struct xb_prediction *prediction = work->prediction;
    double registering = INFINITY;
    double copying = INFINITY;
    bool can_register = cost_of_registering(work, &registering);
    bool can_copy = cost_of_copying(work, &copying);
    if (!can_register && !can_copy)
        return needs(work, XB_COST_REGISTER, work->job->in) &&
               needs(work, XB_COST_REGISTER, work->job->out);
    prediction->is_copied = can_copy && (!can_register || copying < registering);
    prediction->pinning = prediction->is_copied ? copying : registering;
    (void)needs(work, prediction->is_copied ? XB_COST_COPY_IN : XB_COST_REGISTER, work->job->in);
    (void)needs(work, prediction->is_copied ? XB_COST_COPY_OUT : XB_COST_REGISTER, work->job->out);
    limit_to(prediction, XB_LIMIT_PINNING, prediction->pinning);
    return true;
}

/* ---- a strategy, and all of them ---- */

static bool predict_running(const struct work *work, enum xb_strategy strategy)
{
    switch (strategy) {
    case XB_STRATEGY_PAGEABLE:
        return predict_serial(work, XB_COST_PAGEABLE_IN, XB_COST_PAGEABLE_OUT);
    case XB_STRATEGY_RING:
        return predict_serial(work, XB_COST_RING_IN, XB_COST_RING_OUT);
    case XB_STRATEGY_PINNED:
        return predict_serial(work, XB_COST_PINNED_IN, XB_COST_PINNED_OUT);
    default:
        return predict_overlapped(work);
    }
}

void xb_predict(const struct xb_costs *costs, const struct xb_job *job, enum xb_strategy strategy,
                struct xb_prediction *prediction)
{
    const struct work work = {.costs = costs, .job = job, .prediction = prediction};
    bool is_pinned = strategy == XB_STRATEGY_PINNED || strategy == XB_STRATEGY_OVERLAPPED;
    memset(prediction, 0, sizeof *prediction);
    prediction->strategy = strategy;
    prediction->is_known = predict_running(&work, strategy);
    prediction->at_least = prediction->running[XB_MIDDLE];
    if (prediction->is_known && is_pinned && !job->is_in_pinned)
        prediction->is_known = add_pinning(&work);
    for (int i = 0; i < XB_ESTIMATES; i++)
        prediction->total[i] = prediction->running[i] + prediction->pinning;
}

/* A ring is not faster than page-locked memory in which the data lies already. */
static void bound_ring(const struct xb_costs *costs, struct xb_predictions *all)
{
    struct xb_prediction *ring = &all->each[XB_STRATEGY_RING];
    struct xb_prediction pinned;
    struct xb_job job = all->job;
    job.is_in_pinned = true;
    xb_predict(costs, &job, XB_STRATEGY_PINNED, &pinned);
    ring->at_least = ring->is_known ? ring->at_least : pinned.at_least;
}

void xb_predict_all(const struct xb_costs *costs, const struct xb_job *job,
                    struct xb_predictions *all)
{
    *all = (struct xb_predictions){.job = *job};
    for (int i = 0; i < XB_STRATEGIES; i++) {
        struct xb_prediction *prediction = &all->each[i];
        xb_predict(costs, job, (enum xb_strategy)i, prediction);
        if (prediction->is_known &&
            (all->best == NULL || prediction->total[XB_MIDDLE] < all->best->total[XB_MIDDLE]))
            all->best = prediction;
    }
    bound_ring(costs, all);
}

/* ---- break-even ---- */

#define MOST_INPUT ((double)(UINT64_C(1) << 40))
/* From one size that is looked at to the next. */
#define STEP 1.189207115002721 /* 2^(1/4) */
#define HALVINGS 40

/* By how much the GPU is faster, in seconds; NAN where nothing can be predicted. */
static double gain_at(const struct xb_costs *costs, const struct xb_job *job, double factor)
{
    struct xb_job scaled = xb_job_scaled(job, factor);
    struct xb_predictions all;
    xb_predict_all(costs, &scaled, &all);
    return all.best != NULL ? scaled.cpu_time - all.best->total[XB_MIDDLE] : (double)NAN;
}

/* The factor between `wins` and `loses` at which both take as long. */
static double find_edge(const struct xb_costs *costs, const struct xb_job *job, double wins,
                        double loses)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(wins * loses);
        if (gain_at(costs, job, middle) > 0)
            wins = middle;
        else
            loses = middle;
    }
    return wins;
}

/* Goes from `from` by steps until the outcome is another, or nothing is known, or the sizes end.
 * *last is the last factor with the same outcome; returns whether it ended with another. */
static bool walk(const struct xb_costs *costs, const struct xb_job *job, double from, double step,
                 double *last, double *other)
{
    bool wins = gain_at(costs, job, from) > 0;
    *last = from;
    for (double at = from * step;; at *= step) {
        double bytes = (double)job->in * at;
        double gain = bytes >= 1 && bytes <= MOST_INPUT ? gain_at(costs, job, at) : (double)NAN;
        if (isnan(gain))
            return false;
        if ((gain > 0) != wins) {
            *other = at;
            return true;
        }
        *last = at;
    }
}

struct xb_break_even xb_find_break_even(const struct xb_costs *costs, const struct xb_job *job)
{
    struct xb_break_even found = {.is_known = false};
    double here = gain_at(costs, job, 1);
    double in = (double)job->in;
    double last = 1;
    double other = 1;
    if (isnan(here) || !(job->cpu_time > 0))
        return found;
    found.is_known = true;
    double inside = 1; /* where the GPU wins */
    if (!(here > 0)) {
        if (walk(costs, job, 1, STEP, &last, &other)) {
            found.has_from = true;
            found.from = in * find_edge(costs, job, other, last);
        } else {
            found.most = in * last;
            found.has_to = walk(costs, job, 1, 1 / STEP, &last, &other);
            found.least = in * last;
            if (!found.has_to)
                return found;
            found.to = in * find_edge(costs, job, other, last);
        }
        inside = other;
    }
    found.wins = true;
    if (!found.has_from) {
        found.has_from = walk(costs, job, inside, 1 / STEP, &last, &other);
        found.from = in * find_edge(costs, job, last, other);
        found.least = in * last;
    }
    if (!found.has_to) {
        found.has_to = walk(costs, job, inside, STEP, &last, &other);
        found.to = in * find_edge(costs, job, last, other);
        found.most = in * last;
    }
    return found;
}
