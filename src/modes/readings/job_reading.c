/* SPDX-License-Identifier: Apache-2.0 */
#include "modes/job.h"
#include "readings.h"

#include <math.h>
#include <string.h>

/* The fastest, or the slowest, of the ways that this build knows, and which that is: a file may
 * have others. */
static const struct xb_record_case *extreme(const struct xb_reading *reading, bool fastest,
                                            size_t *way)
{
    const struct xb_record_case *found = NULL;
    for (size_t i = 0; xb_option_way.choices[i] != NULL; i++) {
        const struct xb_record_case *test =
            xb_reading_best_of_any(reading, XB_BIDIR, NULL, xb_option_way.choices[i]);
        bool is_faster = test != NULL && xb_reading_faster(reading, found, test) == test;
        if (test != NULL && (found == NULL || is_faster == fastest)) {
            found = test;
            *way = i;
        }
    }
    return found;
}

/* Each step that makes it faster for certain, the easiest first. */
static void advise(struct xb_reading *reading, const struct xb_record_case *slow)
{
    static const char *const steps[] = {"pinned", "overlapped"};
    const struct xb_record_case *best = slow;
    double most = xb_reading_median(reading, slow, &xb_job_time), times[2] = {0, 0}, time = most;
    /* What is slow overlapped is pinned as it is. */
    for (size_t i = strcmp(slow->variant, "overlapped") == 0; i < 2; i++) {
        const struct xb_record_case *test =
            xb_reading_best_of_any(reading, XB_BIDIR, NULL, steps[i]);
        if (test == NULL || xb_reading_judge(reading, test, best) != XB_READING_FASTER)
            continue;
        best = test;
        time = times[i] = xb_reading_median(reading, best, &xb_job_time);
    }
    xb_remedy_if_worth(reading, XB_EFFORT_LINES, most / time,
                       "[Pin the buffers of this job, {call}: {duration} instead of {duration}.]"
                       "[ Overlap copies and kernels of this job, {call} in chunks on several "
                       "streams, from and to pinned memory: {duration} instead of {duration}.]",
                       XB_CALL_PIN, times[0], most, XB_CALL_COPY_ASYNC, times[1], most);
}

#define COPYING_WAYS 4 /* of --way: the others have no memory that can be pinned */

/* "Overlapped, this job takes 1.42 ms. From pageable memory it takes 11.1 ms, and copies are 89 %
 * of that." */
void xb_job_say(struct xb_reading *reading)
{
    static const char *const words[] = {"From pageable memory",
                                        "Through a ring of pinned memory",
                                        "From pinned memory",
                                        "Overlapped",
                                        "In managed memory",
                                        "In managed memory that is prefetched",
                                        "In pinned memory, without copies"}; /* as --way */
    size_t way = 0, slow_way = 0;
    const struct xb_record_case *best = extreme(reading, true, &way);
    const struct xb_record_case *slow = extreme(reading, false, &slow_way);
    double out = xb_reading_median(reading, slow, &xb_figure_out_time);
    double most = xb_reading_median(reading, slow, &xb_job_time);
    double share = xb_reading_median(reading, slow, &xb_figure_in_time) + (out > 0 ? out : 0);
    if (best == NULL)
        return;
    xb_tell(reading,
            "{text}, this job takes {duration:job_time}[. {text} it takes "
            "{duration:slowest_job_time}][, and copies are {share:copies_share} of that]."
            "{case}{case}",
            words[way], xb_reading_median(reading, best, &xb_job_time),
            slow != best ? words[slow_way] : NULL, most,
            strcmp(slow->variant, "overlapped") != 0 ? share / most : 0, best, slow);
    if (slow_way < COPYING_WAYS)
        advise(reading, slow);
}

/* ---- with several kernel times ---- */

/* Whether it is of the job that the other case is, overlapped. */
static bool is_same_overlapped(const struct xb_reading *reading, const struct xb_record_case *test,
                               const void *argument)
{
    const struct xb_record_case *other = argument;
    const char *const names[] = {xb_option_gpu_time.name, xb_option_job_out.name};
    bool is_one = strcmp(test->mode, other->mode) == 0 && strcmp(test->variant, "overlapped") == 0;
    for (size_t i = 0; is_one && i < 2; i++)
        is_one =
            strcmp(xb_record_parameter(test, names[i]), xb_record_parameter(other, names[i])) == 0;
    return is_one && xb_reading_has(reading, test, &xb_job_time);
}

/* Overlap saves less than this: it does not pay. */
#define PAYS 1.05

/* "Overlapping pays up to a kernel of 5 ms (1.23 times as fast); with one of 50 ms it does not
 * (1.02 times)." */
static void say_end_of_overlap(struct xb_reading *reading)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    const struct xb_record_case *cases[2] = {NULL, NULL}; /* pays longest; does not, shortest */
    double times[2] = {0, INFINITY}, gains[2] = {0, 0};
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        struct xb_error ignored;
        double seconds = 0;
        if (strcmp(test->mode, "job") != 0 || strcmp(test->variant, "pinned") != 0 ||
            test->device != reading->device ||
            xb_duration_parse(xb_record_parameter(test, xb_option_gpu_time.name), &seconds,
                              &ignored) != XB_OK)
            continue;
        const struct xb_record_case *other = xb_reading_fastest(reading, is_same_overlapped, test);
        double gain = xb_reading_median(reading, test, &xb_job_time) /
                      xb_reading_median(reading, other, &xb_job_time);
        size_t which = gain < PAYS;
        if (!isfinite(gain) || (which == 0 ? seconds <= times[0] : seconds >= times[1]))
            continue;
        cases[which] = other;
        times[which] = seconds;
        gains[which] = gain;
    }
    if (cases[0] == NULL || cases[1] == NULL || times[0] > times[1])
        return; /* it pays everywhere, nowhere, or the samples do not tell from where */
    xb_tell(reading,
            "Overlapping pays up to a kernel of {duration:pays_until} ({factor} as fast); with one "
            "of {duration:pays_no_more_at} it does not ({factor}).{case}{case}",
            times[0], gains[0], times[1], gains[1], cases[0], cases[1]);
}

const struct xb_reading_line xb_job_reading[] = {
    {.label = "job", .code = "XB-JOB", .say = xb_job_say},
    {.label = "job", .code = "XB-JOB-OVERLAP", .say = say_end_of_overlap},
    {.label = NULL},
};
