/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate.h"
#include "case.h"

#include "base/units.h"
#include "measure/sample/measure.h"
#include "xferbench/workspace.h"

#include <math.h>

/* ---- what nodes are like, bytes per second ---- */

/* A copy: over a Gen5 x16 link, and of pageable memory through a driver or over a Gen3 x4. */
#define FAST_COPY 50e9
#define SLOW_COPY 6e9
/* What is done to each byte around the samples: memory is mapped, filled and page-locked, and data
 * is checked. On 16 cores, and on two that others use too. */
#define FAST_CARE 20e9
#define SLOW_CARE 2.5e9

/* Seconds for a device's context, as field measurements have it for CUDA. */
#define LEAST_OPENING_S 0.1
#define MOST_OPENING_S 1.0

/* Copies that are taken besides the samples: a warm-up that agrees, and what it is proved with. */
#define COPIES_BESIDE (XB_WARM_SAMPLES + 2.0)
/* And of each reference, as references.c has it: two that agree or three, or those of an interval
 * and one before them. */
#define LEAST_OF_REFERENCE 2.0
#define MOST_OF_REFERENCE 3.0
#define OF_REFERENCE_WITH_INTERVAL (XB_STOP_LEAST_SAMPLES + 1.0)

/* ---- one case ---- */

const char *xb_estimate_skips(const struct xb_run *run, size_t first, size_t count,
                              struct xb_error *error)
{
    const char *reason = xb_run_cannot(run, first, count);
    for (size_t i = first; reason == NULL && i < first + count; i++) {
        const struct xb_case *test = &run->results[i].test;
        if (!test->sum &&
            xb_measure_check_capabilities(
                test, &run->devices[xb_run_find_device(run, test->device)].info, error) != XB_OK)
            reason = error->message;
    }
    if (reason == NULL && run->results[first].test.latency &&
        run->results[first].test.direction == XB_BIDIR)
        reason = XB_MEASURE_NO_LATENCY;
    return reason;
}

/* How many times its memory is set up anew: residence.c. */
static unsigned placements_of(const struct xb_run *run, const struct xb_case *test)
{
    const struct xb_device_info *info = &run->devices[xb_run_find_device(run, test->device)].info;
    return test->direction == XB_BIDIR && !test->mode->pairs && !info->shares_host_memory
               ? XB_PLACEMENTS
               : 1;
}

/* A case that converges at once on a fast node, or takes all the time that it may on a slow one. */
static double seconds_of(const struct xb_run *run, const struct xb_case *test, bool slow)
{
    const struct xb_run_options *asked = &run->asked;
    double limit = asked->time_limit, copies = COPIES_BESIDE;
    struct xb_needs needs = xb_case_needs(test);
    double copy = (double)test->bytes / (slow ? SLOW_COPY : FAST_COPY);
    double care = ((double)needs.host_bytes + (double)needs.device_bytes) *
                  placements_of(run, test) / (slow ? SLOW_CARE : FAST_CARE);
    const struct xb_reference *reference = test->mode->references;
    for (; reference != NULL && reference->figure != NULL; reference++) {
        if (reference->is_wanted != NULL && !slow)
            continue; /* only some cases have it */
        copies += reference->has_interval || reference->before != NULL ? OF_REFERENCE_WITH_INTERVAL
                  : slow                                               ? MOST_OF_REFERENCE
                                                                       : LEAST_OF_REFERENCE;
    }
    double warm =
        slow ? fmax(asked->warm_up, limit * XB_WARM_UP_MOST) : fmin(asked->warm_up, limit);
    double samples = (asked->samples > 0 ? (double)asked->samples : XB_STOP_LEAST_SAMPLES) * copy;
    if (slow && asked->samples == 0)
        samples = fmax(samples, limit);
    return warm + samples + copies * copy + care;
}

/* By ratio a third of the way: nodes with GPUs are nearer to the fast one. A host alone may be any
 * machine, and is nearer to the slow one. */
static double between(const struct xb_run *run, double least, double most)
{
    bool is_host = run->device_count > 0 && run->devices[0].info.host_clock;
    return cbrt(least * most * (is_host ? most : least));
}

struct xb_duration_guess xb_estimate_case(const struct xb_run *run, size_t first, size_t count)
{
    struct xb_error error;
    double least = 0, most = 0; /* of the longest lane */
    if (xb_estimate_skips(run, first, count, &error) != NULL)
        return (struct xb_duration_guess){.least = 0};
    for (size_t i = first; i < first + count; i++) {
        const struct xb_case *lane = &run->results[i].test;
        if (lane->sum)
            continue;
        least = fmax(least, seconds_of(run, lane, false));
        most = fmax(most, seconds_of(run, lane, true));
    }
    return (struct xb_duration_guess){
        .least = least, .likely = between(run, least, most), .most = most};
}

/* ---- all of them ---- */

static uint64_t times(uint64_t bytes, uint64_t count)
{
    return count > 0 && bytes > UINT64_MAX / count ? UINT64_MAX : bytes * count;
}

/* What a case that needs so much gets: buffers that are as long as the case are allocated for the
 * largest case of the run, because they are kept for it (workspace.c). */
static uint64_t allocated(const struct xb_case *test, uint64_t needed, uint64_t largest)
{
    if (test->bytes == 0 || test->simultaneous)
        return needed;
    return xb_sum(times(largest, needed / test->bytes), needed % test->bytes);
}

struct xb_estimate xb_estimate_run(const struct xb_run *run)
{
    struct xb_estimate estimate = {.rows = run->case_count};
    uint64_t largest = 0; /* the size of the largest case */
    for (size_t i = 0; i < run->case_count; i++)
        if (!run->results[i].test.sum && run->results[i].test.bytes > largest)
            largest = run->results[i].test.bytes;
    for (size_t first = 0, count; first < run->case_count; first += count) {
        count = xb_run_rows_of(run, first);
        struct xb_duration_guess one = xb_estimate_case(run, first, count);
        if (!(one.most > 0)) {
            estimate.skipped += count;
            continue;
        }
        estimate.time.least += one.least;
        estimate.time.most += one.most;
        uint64_t host = 0, devices[XB_RUN_DEVICES] = {0};
        for (size_t i = first; i < first + count; i++) {
            const struct xb_case *test = &run->results[i].test;
            if (test->sum)
                continue;
            const struct xb_needs needs = xb_case_needs(test);
            uint64_t others = times(test->bytes, placements_of(run, test) - 1);
            host = xb_sum(host, allocated(test, xb_sum(needs.host_bytes, others), largest));
            for (size_t d = 0; d < run->device_count; d++)
                if (xb_case_concerns(test, run->devices[d].info.index))
                    devices[d] = xb_sum(devices[d], allocated(test, needs.device_bytes, largest));
        }
        estimate.host_bytes = host > estimate.host_bytes ? host : estimate.host_bytes;
        for (size_t d = 0; d < run->device_count; d++)
            if (devices[d] > estimate.device_bytes)
                estimate.device_bytes = devices[d];
    }
    if (estimate.skipped < estimate.rows) {
        estimate.time.least += LEAST_OPENING_S;
        estimate.time.most += MOST_OPENING_S * (double)run->device_count;
    }
    estimate.time.likely = between(run, estimate.time.least, estimate.time.most);
    return estimate;
}
