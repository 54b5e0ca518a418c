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

bool xb_job_fits_in_place(const struct xb_job *job)
{
    return job->gpu_time > 0 && job->out <= job->in;
}

const char *const *xb_job_rows_words(const struct xb_job *job)
{
    return xb_rows_words[job->memory][xb_job_fits_in_place(job)];
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
        prediction->lacking = work->costs->costs[kind].lacking;
        prediction->why = prediction->lacking != NULL ? XB_UNKNOWN_LACKING : XB_UNKNOWN_ROWS;
        prediction->missing = kind;
        prediction->missing_bytes = bytes;
        return false;
    }
    for (size_t i = 0; i < prediction->use_count; i++)
        if (prediction->uses[i].kind == kind && prediction->uses[i].bytes == bytes)
            return true;
    if (bytes > 0 && prediction->use_count < XB_COST_USES)
        prediction->uses[prediction->use_count++] = (struct xb_cost_use){kind, bytes};
    return true;
}

static double alone(const struct work *work, enum xb_cost_kind kind, uint64_t bytes,
                    enum xb_estimate estimate)
{
    return xb_cost_seconds(&work->costs->costs[kind], bytes, true, estimate);
}

static double behind(const struct work *work, enum xb_cost_kind kind, uint64_t bytes,
                     enum xb_estimate estimate)
{
    return xb_cost_seconds(&work->costs->costs[kind], bytes, false, estimate);
}

static void limit_to(struct xb_prediction *prediction, enum xb_limit_by limit, double seconds)
{
    if (!(seconds > prediction->limit_seconds))
        return;
    prediction->limit = limit;
    prediction->limit_seconds = seconds;
}

static void limit_to_steps(struct xb_prediction *prediction)
{
    limit_to(prediction, XB_LIMIT_COPY_IN, prediction->in);
    limit_to(prediction, XB_LIMIT_KERNEL, prediction->kernel);
    limit_to(prediction, XB_LIMIT_COPY_OUT, prediction->out);
}

/* So much longer may faults take in one run than in the next: 1.04 to 1.50 times as long as the
 * rows of minutes before said, on an H100 (bench/results/h100/code.txt). */
#define FAULTS_SCATTER 1.5

/* In, kernel, out. The host waits once, for the last: what comes out follows right behind. Pages on
 * faults come while the kernel runs. At the worst the next input, written by the CPU, brings those
 * back by faults that are still on the GPU. */
static bool predict_whole(const struct work *work, enum xb_cost_kind in, enum xb_cost_kind out)
{
    const struct xb_job *job = work->job;
    struct xb_prediction *prediction = work->prediction;
    const struct xb_cost *faults = &work->costs->costs[XB_COST_FAULT_OUT];
    bool is_managed = xb_strategy_words[prediction->strategy].memory == XB_JOB_MANAGED;
    if (!needs(work, in, job->in) || !needs(work, out, job->out))
        return false;
    for (enum xb_estimate i = XB_LOW; i < XB_ESTIMATES; i++) {
        double first = alone(work, in, job->in, i);
        first = in != XB_COST_FAULT_IN ? first + job->gpu_time
                : i < XB_HIGH          ? fmax(first, job->gpu_time)
                                       : fmax(FAULTS_SCATTER * first, job->gpu_time);
        prediction->running[i] = first + behind(work, out, job->out, i);
    }
    if (is_managed && job->times > 1 && xb_cost_is_known(faults, job->in))
        prediction->running[XB_HIGH] += behind(work, XB_COST_FAULT_OUT, job->in, XB_HIGH) -
                                        behind(work, XB_COST_FAULT_OUT, job->out, XB_HIGH);
    prediction->in = alone(work, in, job->in, XB_MIDDLE);
    prediction->out = behind(work, out, job->out, XB_MIDDLE);
    prediction->kernel = job->gpu_time;
    limit_to_steps(prediction);
    return true;
}

/* ---- steps that go on at the same time ---- */

/* In so many parts. The slowest step sets the pace. The others add what their first or last part
 * takes, when the slowest has nothing to do yet or any more. */
static double overlapping(double pace, double in, double kernel, double out, double parts)
{
    return pace + (in + kernel + out - fmax(kernel, fmax(in, out))) / parts;
}

/* ---- zero-copy ---- */

/* So much do all threads of a large GPU have in work at a time, a word of 8 bytes each. */
#define WAVE (UINT64_C(2) << 20)

/* The kernel reads all of the data over the link, and writes it: what is overlapped, by waves of
 * its threads. */
static bool predict_zero_copy(const struct work *work)
{
    const struct xb_job *job = work->job;
    struct xb_prediction *prediction = work->prediction;
    const double waves = fmax(1, (double)job->in / WAVE);
    double both[XB_ESTIMATES];
    for (enum xb_cost_kind kind = XB_COST_ZERO_COPY_IN; kind <= XB_COST_ZERO_COPY_BOTH; kind++)
        if (!needs(work, kind, job->in))
            return false;
    for (enum xb_estimate i = XB_LOW; i < XB_ESTIMATES; i++) {
        double in = behind(work, XB_COST_ZERO_COPY_IN, job->in, i);
        double out = behind(work, XB_COST_ZERO_COPY_OUT, job->in, i);
        both[i] = fmax(behind(work, XB_COST_ZERO_COPY_BOTH, job->in, i), fmax(in, out));
        double wait = fmax(0, alone(work, XB_COST_ZERO_COPY_BOTH, job->in, i) - both[i]);
        double pace = fmax(both[i], job->gpu_time);
        prediction->running[i] = wait + overlapping(pace, in, job->gpu_time, out, waves);
    }
    prediction->in = behind(work, XB_COST_ZERO_COPY_IN, job->in, XB_MIDDLE);
    prediction->kernel = job->gpu_time;
    prediction->out = behind(work, XB_COST_ZERO_COPY_OUT, job->in, XB_MIDDLE);
    limit_to(prediction, XB_LIMIT_LINK, both[XB_MIDDLE]);
    limit_to_steps(prediction);
    return true;
}

/* ---- overlapped ---- */

/* Chunks of these sizes are tried. */
#define LEAST_CHUNK (UINT64_C(256) << 10)
#define MOST_CHUNK (UINT64_C(64) << 20)
/* The larger of two chunks is taken where their times differ by less than this share. */
#define AS_GOOD 0.01

struct pipeline {
    double count; /* of chunks */
    uint64_t chunk_out;
    double in, out, copies, calls, total;
};

static bool has_both_ways(const struct xb_costs *costs)
{
    return costs->both_in > 0 && costs->both_out > 0;
}

/* Both ways at once until the shorter is done, then the other alone. `whole_in` and `whole_out` are
 * one copy of it all: what chunks cost more than that they cost beside each other too. Without rows
 * of both ways they slow each other not at all, or as much as if one waited for the other. */
static double copies_time(const struct xb_costs *costs, const struct xb_job *job, double in,
                          double whole_in, double out, double whole_out, enum xb_estimate estimate)
{
    double longer = fmax(in, out);
    if (!(out > 0)) /* a job has always something to bring in */
        return longer;
    if (!has_both_ways(costs))
        return estimate == XB_HIGH ? in + out : longer;
    double in_beside = (double)job->in / costs->both_in * in / whole_in;
    double out_beside = (double)job->out / costs->both_out * out / whole_out;
    double together = fmin(in_beside, out_beside);
    double rest = in_beside > out_beside ? in * (1 - together / in_beside)
                                         : out * (1 - together / out_beside);
    return fmax(longer, together + rest);
}

/* What leaves with one of so many chunks. */
static uint64_t pipeline_out(const struct xb_job *job, double count)
{
    return job->out > 0 ? (uint64_t)fmax(1, (double)job->out / count) : 0;
}

/* The job begins and is waited for once. */
static struct pipeline pipeline_of(const struct work *work, uint64_t chunk,
                                   enum xb_estimate estimate)
{
    const struct xb_job *job = work->job;
    struct pipeline line = {.count = ceil((double)job->in / (double)chunk)};
    line.chunk_out = pipeline_out(job, line.count);
    double one_in = behind(work, XB_COST_PINNED_IN, chunk, estimate);
    double one_out = behind(work, XB_COST_PINNED_OUT, line.chunk_out, estimate);
    double wait = fmax(0, alone(work, XB_COST_PINNED_IN, chunk, estimate) - one_in);
    double call = xb_cost_call(&work->costs->costs[XB_COST_PINNED_IN], chunk);
    /* Small rows repeat themselves out of a cache: no chunks are faster than all in one. */
    double whole_in = behind(work, XB_COST_PINNED_IN, job->in, estimate);
    double whole_out = behind(work, XB_COST_PINNED_OUT, job->out, estimate);
    line.in = fmax((double)job->in / (double)chunk * one_in, whole_in);
    line.out = fmax(line.count * one_out, whole_out);
    line.copies = copies_time(work->costs, job, line.in, whole_in, line.out, whole_out, estimate);
    line.calls = line.count * call * (1 + (job->gpu_time > 0) + (job->out > 0));
    double pace = fmax(fmax(line.copies, job->gpu_time), line.calls);
    line.total = wait + overlapping(pace, line.in, job->gpu_time, line.out, line.count);
    return line;
}

/* Whether any chunk that may be chosen is known, and one copy of it all. */
static bool has_pipeline_rows(const struct work *work)
{
    const struct xb_job *job = work->job;
    const struct {
        enum xb_cost_kind kind;
        uint64_t bytes;
    } all[] = {{XB_COST_PINNED_IN, LEAST_CHUNK},
               {XB_COST_PINNED_IN, job->in},
               {XB_COST_PINNED_OUT, pipeline_out(job, (double)job->in / LEAST_CHUNK)},
               {XB_COST_PINNED_OUT, job->out}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!xb_cost_is_known(&work->costs->costs[all[i].kind], all[i].bytes))
            return needs(work, all[i].kind, all[i].bytes);
    return true;
}

static bool predict_overlapped(const struct work *work)
{
    struct xb_prediction *prediction = work->prediction;
    const struct xb_job *job = work->job;
    prediction->why = job->gpu_time > 0 || job->out > 0 ? XB_UNKNOWN_SMALL : XB_UNKNOWN_ONE_STEP;
    if (prediction->why == XB_UNKNOWN_ONE_STEP || job->in < 2 * LEAST_CHUNK ||
        !has_pipeline_rows(work))
        return false;
    double best = INFINITY;
    for (uint64_t size = MOST_CHUNK; size >= LEAST_CHUNK; size /= 2) {
        /* With less than two chunks there is nothing to overlap. */
        double total = 2 * size > job->in ? INFINITY : pipeline_of(work, size, XB_MIDDLE).total;
        if (total < best * (1 - AS_GOOD)) {
            best = total;
            prediction->chunk = size;
        }
    }
    if (!(best < INFINITY))
        return false;
    struct pipeline line = pipeline_of(work, prediction->chunk, XB_MIDDLE);
    (void)needs(work, XB_COST_PINNED_IN, prediction->chunk);
    (void)needs(work, XB_COST_PINNED_OUT, line.chunk_out);
    for (enum xb_estimate i = XB_LOW; i < XB_ESTIMATES; i++)
        prediction->running[i] = pipeline_of(work, prediction->chunk, i).total;
    prediction->in = line.in;
    prediction->kernel = job->gpu_time;
    prediction->out = line.out;
    prediction->copies = line.copies;
    prediction->uses_both_ways = job->out > 0 && has_both_ways(work->costs);
    prediction->lacks_both_ways = job->out > 0 && !has_both_ways(work->costs);
    limit_to_steps(prediction);
    /* A result of some bytes is no second way. */
    if (line.copies > (1 + AS_GOOD) * fmax(line.in, line.out))
        limit_to(prediction, XB_LIMIT_COPIES, line.copies);
    limit_to(prediction, XB_LIMIT_CALLS, line.calls);
    return true;
}

/* ---- from ordinary memory into the memory that a strategy needs ---- */

/* One way: what a copy through pinned memory takes longer than from it, each run, which is what the
 * CPU copies; and making pinned memory. Pinned, the copy from it is in the time that this is added
 * to, and goes; else it stays a difference of two, each of which may be at its other end. */
static bool add_copying(const struct work *work, enum xb_cost_kind through, enum xb_cost_kind plain,
                        uint64_t bytes, double seconds[XB_ESTIMATES], double *by_cpu)
{
    const struct xb_cost *costs = work->costs->costs;
    const enum xb_strategy strategy = work->prediction->strategy;
    const bool makes_room = xb_strategy_words[strategy].memory == XB_JOB_PINNED;
    if (!xb_cost_is_known(&costs[through], bytes) || !xb_cost_is_known(&costs[plain], bytes) ||
        (makes_room && !xb_cost_is_known(&costs[XB_COST_COPY_ROOM], bytes)))
        return false;
    for (enum xb_estimate i = XB_LOW; i < XB_ESTIMATES; i++) {
        enum xb_estimate other = strategy == XB_STRATEGY_PINNED ? i : XB_HIGH - i;
        double more = fmax(0, alone(work, through, bytes, i) - alone(work, plain, bytes, other));
        double room = makes_room ? alone(work, XB_COST_COPY_ROOM, bytes, i) : 0;
        seconds[i] += more + room / (double)work->job->times;
        *by_cpu += i == XB_MIDDLE ? more : 0;
    }
    return true;
}

/* The cheaper of page-locking and copying; into managed memory the data is copied. */
static bool add_pinning(const struct work *work)
{
    static const enum xb_cost_kind by_copying[] = {XB_COST_COPY_IN, XB_COST_COPY_OUT,
                                                   XB_COST_PINNED_IN, XB_COST_PINNED_OUT};
    static const enum xb_cost_kind by_registering[4] = {XB_COST_REGISTER, XB_COST_REGISTER};
    struct xb_prediction *prediction = work->prediction;
    double registering[XB_ESTIMATES] = {0};
    double copying[XB_ESTIMATES] = {0}, by_cpu = 0;
    const struct xb_job *job = work->job;
    const struct xb_cost *registers = &work->costs->costs[XB_COST_REGISTER];
    const bool is_pinned = xb_strategy_words[prediction->strategy].memory == XB_JOB_PINNED;
    bool can_register =
        is_pinned && xb_cost_is_known(registers, job->in) && xb_cost_is_known(registers, job->out);
    /* Page-locking in and out where they lie, once for all runs. */
    for (enum xb_estimate i = XB_LOW; can_register && i < XB_ESTIMATES; i++)
        registering[i] = (alone(work, XB_COST_REGISTER, job->in, i) +
                          alone(work, XB_COST_REGISTER, job->out, i)) /
                         (double)job->times;
    bool can_copy =
        add_copying(work, XB_COST_COPY_IN, XB_COST_PINNED_IN, job->in, copying, &by_cpu) &&
        add_copying(work, XB_COST_COPY_OUT, XB_COST_PINNED_OUT, job->out, copying, &by_cpu);
    prediction->is_copied =
        !is_pinned || (can_copy && (!can_register || copying[XB_MIDDLE] < registering[XB_MIDDLE]));
    for (size_t i = 0; i < (is_pinned ? 2 : 4); i++)
        if (!needs(work, (prediction->is_copied ? by_copying : by_registering)[i],
                   i % 2 == 0 ? job->in : job->out))
            return false;
    memcpy(prediction->pinning, prediction->is_copied ? copying : registering, sizeof copying);
    prediction->by_cpu = prediction->is_copied ? by_cpu : 0;
    limit_to(prediction, XB_LIMIT_PINNING, prediction->pinning[XB_MIDDLE]);
    return true;
}

/* ---- a strategy, and all of them ---- */

bool xb_strategy_is_asked(const struct xb_job *job, enum xb_strategy strategy)
{
    return job->memory == XB_JOB_PAGEABLE || job->memory == xb_strategy_words[strategy].memory;
}

static bool fits(const struct xb_costs *costs, const struct xb_job *job)
{
    return costs->memory_bytes == 0 || job->in + job->out <= costs->memory_bytes;
}

void xb_predict(const struct xb_costs *costs, const struct xb_job *job, enum xb_strategy strategy,
                struct xb_prediction *prediction)
{
    static const enum xb_cost_kind whole[][2] = {
        [XB_STRATEGY_PAGEABLE] = {XB_COST_PAGEABLE_IN, XB_COST_PAGEABLE_OUT},
        [XB_STRATEGY_RING] = {XB_COST_RING_IN, XB_COST_RING_OUT},
        [XB_STRATEGY_PINNED] = {XB_COST_PINNED_IN, XB_COST_PINNED_OUT},
        [XB_STRATEGY_MANAGED] = {XB_COST_FAULT_IN, XB_COST_FAULT_OUT},
        [XB_STRATEGY_PREFETCH] = {XB_COST_PREFETCH_IN, XB_COST_PREFETCH_OUT}};
    const struct work work = {.costs = costs, .job = job, .prediction = prediction};
    memset(prediction, 0, sizeof *prediction);
    prediction->strategy = strategy;
    if (!fits(costs, job))
        prediction->why = XB_UNKNOWN_TOO_LARGE;
    else if (!xb_strategy_is_asked(job, strategy))
        prediction->why = XB_UNKNOWN_NOT_ASKED;
    else if (strategy >= XB_STRATEGY_MANAGED && !xb_job_fits_in_place(job))
        prediction->why = XB_UNKNOWN_IN_PLACE;
    if (prediction->why != XB_UNKNOWN_ROWS)
        return;
    prediction->is_known = strategy == XB_STRATEGY_OVERLAPPED ? predict_overlapped(&work)
                           : strategy == XB_STRATEGY_ZERO_COPY
                               ? predict_zero_copy(&work)
                               : predict_whole(&work, whole[strategy][0], whole[strategy][1]);
    prediction->at_least = fmax(prediction->running[XB_LOW], job->gpu_time);
    if (prediction->is_known && job->memory != xb_strategy_words[strategy].memory)
        prediction->is_known = add_pinning(&work);
    for (enum xb_estimate i = XB_LOW; i < XB_ESTIMATES; i++)
        prediction->total[i] = prediction->running[i] + prediction->pinning[i];
    prediction->has_ends = prediction->total[XB_LOW] < prediction->total[XB_HIGH];
    prediction->has_pinning = prediction->pinning[XB_MIDDLE] > 0;
}

bool xb_prediction_may_beat(const struct xb_prediction *prediction, double seconds)
{
    return !prediction->is_known && prediction->why == XB_UNKNOWN_ROWS &&
           prediction->at_least < seconds;
}

double xb_predictions_least(const struct xb_predictions *all, enum xb_estimate estimate)
{
    double least = INFINITY;
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (all->each[i].is_known)
            least = fmin(least, all->each[i].total[estimate]);
    return least;
}

void xb_predict_all(const struct xb_costs *costs, const struct xb_job *job,
                    struct xb_predictions *all)
{
    *all = (struct xb_predictions){.job = *job};
    for (int i = 0; i < XB_STRATEGIES; i++)
        xb_predict(costs, job, (enum xb_strategy)i, &all->each[i]);
    double fastest = xb_predictions_least(all, XB_MIDDLE);
    for (int i = XB_STRATEGIES - 1; i >= 0; i--) /* from the least simple one on */
        if (all->each[i].is_known && all->each[i].total[XB_MIDDLE] * (1 - AS_GOOD) <= fastest)
            all->best = &all->each[i];
    /* A ring and prefetching are not faster than page-locked memory in which the data lies already,
     * and nothing gets over the link faster than from there. */
    struct xb_prediction pinned;
    struct xb_job in_pinned = *job;
    in_pinned.memory = XB_JOB_PINNED;
    xb_predict(costs, &in_pinned, XB_STRATEGY_PINNED, &pinned);
    const double crossing =
        xb_cost_seconds(&costs->costs[XB_COST_PINNED_IN], job->in, false, XB_LOW);
    for (int i = XB_STRATEGY_RING; i < XB_STRATEGIES; i++) {
        struct xb_prediction *one = &all->each[i];
        if (i == XB_STRATEGY_RING || i == XB_STRATEGY_PREFETCH)
            one->at_least = fmax(one->at_least, pinned.at_least);
        else if (i >= XB_STRATEGY_MANAGED && pinned.is_known)
            one->at_least = fmax(one->at_least, crossing);
    }
}

/* ---- break-even ---- */

#define MOST_BYTES ((double)(UINT64_C(1) << 40))
/* From one size that is looked at to the next. */
#define STEP 1.189207115002721 /* 2^(1/4) */
#define HALVINGS 40

static bool is_looked_at(const struct xb_job *job, double factor)
{
    return (double)job->in * factor >= 1 && (double)job->in * factor <= MOST_BYTES &&
           (double)job->out * factor <= MOST_BYTES;
}

/* A job of any size, and which of its times counts. */
struct walk {
    const struct xb_costs *costs;
    const struct xb_job *job;
    enum xb_estimate estimate;
};

/* How much faster the GPU is, in seconds; NAN where nothing can be predicted. */
static double gain_at(const struct walk *on, double factor)
{
    struct xb_predictions all;
    if (!is_looked_at(on->job, factor))
        return (double)NAN;
    struct xb_job scaled = xb_job_scaled(on->job, factor);
    xb_predict_all(on->costs, &scaled, &all);
    double seconds = xb_predictions_least(&all, on->estimate);
    for (int i = 0; on->estimate == XB_LOW && i < XB_STRATEGIES; i++)
        if (xb_prediction_may_beat(&all.each[i], seconds)) /* what was not measured may be faster */
            seconds = all.each[i].at_least;
    return all.best != NULL ? scaled.cpu_time - seconds : (double)NAN;
}

/* The factor between `wins` and `loses` at which both take as long. */
static double find_edge(const struct walk *on, double wins, double loses)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(wins * loses);
        bool is_won = gain_at(on, middle) > 0;
        wins = is_won ? middle : wins;
        loses = is_won ? loses : middle;
    }
    return wins;
}

/* Goes from a factor by steps while the GPU wins, or while it loses. Returns where that ends; 0
 * where it does not, because nothing more is known or the sizes end. */
static double end_of(const struct walk *on, double from, double step, bool wins)
{
    double gain = gain_at(on, from), last = from;
    for (double at = from; !isnan(gain); gain = gain_at(on, at *= step)) {
        if ((gain > 0) != wins)
            return at == from ? from : wins ? find_edge(on, last, at) : find_edge(on, at, last);
        last = at;
    }
    return 0;
}

/* The last factor at which anything is known. */
static double last_known(const struct walk *on, double step)
{
    double last = 1;
    while (!isnan(gain_at(on, last * step)))
        last *= step;
    return last;
}

static struct xb_edge edge_of(double low, double middle, double high, double in)
{
    return (struct xb_edge){in * low, low > 0 && high > 0 ? in * middle : 0, in * high};
}

struct xb_break_even xb_find_break_even(const struct xb_costs *costs, const struct xb_job *job)
{
    const struct walk usual = {costs, job, XB_MIDDLE}, low = {costs, job, XB_LOW},
                      high = {costs, job, XB_HIGH};
    struct xb_break_even found = {.smallest_row = UINT64_MAX};
    const double in = (double)job->in;
    for (int kind = 0; kind < XB_COSTS; kind++)
        if (costs->costs[kind].count > 0 && costs->costs[kind].points[0].bytes < found.smallest_row)
            found.smallest_row = costs->costs[kind].points[0].bytes;
    if (!(job->cpu_time > 0) || isnan(gain_at(&usual, 1)))
        return found;
    double least = last_known(&usual, 1 / STEP), most = last_known(&usual, STEP);
    const struct xb_job larger = xb_job_scaled(job, most * STEP);
    found.is_known = true;
    found.fills_device = is_looked_at(job, most * STEP) && !fits(costs, &larger);
    found.least = in * least;
    found.most = in * most;
    /* Somewhere it wins: at the size asked for, or nearest above it, or below it. */
    double inside = end_of(&usual, 1, STEP, false);
    if (!(inside > 0))
        inside = end_of(&usual, 1, 1 / STEP, false);
    if (!(inside > 0)) { /* not even if the GPU takes as little as it may? */
        found.is_sure = !(end_of(&low, least, STEP, false) > 0);
        return found;
    }
    found.wins = true;
    double usual_from = end_of(&usual, inside, 1 / STEP, true);
    double usual_to = end_of(&usual, inside, STEP, true);
    double from = end_of(&high, usual_from > 0 ? usual_from : least, STEP, false);
    double to = end_of(&high, usual_to > 0 ? usual_to : most, 1 / STEP, false);
    found.fills_device = found.fills_device && !(usual_to > 0);
    found.is_sure = from > 0 && to >= from;
    if (found.is_sure && (usual_from > 0 || from > least)) {
        found.least = 0;
        found.from = edge_of(usual_from > 0 ? end_of(&low, usual_from, 1 / STEP, true) : 0,
                             usual_from, from, in);
    }
    if (found.is_sure && (usual_to > 0 || to < most)) {
        found.most = 0;
        found.to = edge_of(to, usual_to, usual_to > 0 ? end_of(&low, usual_to, STEP, true) : 0, in);
    }
    return found;
}
