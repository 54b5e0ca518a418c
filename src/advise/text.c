/* SPDX-License-Identifier: Apache-2.0 */
/* What table and JSON say alike. */
#include "report.h"

#include "xferbench/units.h"

#include <math.h>
#include <string.h>

/* Whether it may be faster than the CPU for all that is known: rows are missing, and what is known
 * of it does not take as long by itself. */
static bool may_beat(const struct xb_prediction *one, double cpu)
{
    return !one->is_known && one->missing_bytes > 0 && one->at_least < cpu;
}

enum xb_worth xb_advice_judge(const struct xb_predictions *predictions)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    if (best == NULL)
        return XB_WORTH_UNKNOWN;
    if (!(cpu > 0) || best->total[XB_MIDDLE] < cpu)
        return XB_WORTH_YES;
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (may_beat(&predictions->each[i], cpu))
            return XB_WORTH_UNKNOWN;
    return XB_WORTH_NO;
}

static const char *time_text(double seconds, char *text, size_t size)
{
    return seconds > 0 ? xb_duration_format(seconds, text, size) : "0";
}

/* ---- the answer ---- */

static const struct {
    const char *name, *text;
} limits[] = {
    [XB_LIMIT_COPY_IN] = {"copy in", "The copy to the device limits it"},
    [XB_LIMIT_KERNEL] = {"kernel", "The kernel limits it"},
    [XB_LIMIT_COPY_OUT] = {"copy out", "The copy from the device limits it"},
    [XB_LIMIT_COPIES] = {"copies", "The copies, both ways at once, limit it"},
    [XB_LIMIT_CALLS] = {"calls", "The host's calls that start copies and kernels limit it"},
    [XB_LIMIT_PINNING] = {"pinning", "Getting the data into pinned memory limits it"},
};

const char *xb_limit_name(enum xb_limit_by limit)
{
    return limits[limit].name;
}

/* "5.32 times as fast" */
static void add_factor(struct xb_words *words, double cpu, double gpu)
{
    if (cpu / gpu >= 1)
        xb_words_add(words, ", %.3g times as fast", cpu / gpu);
    else
        xb_words_add(words, ", %.3g times as long", gpu / cpu);
}

static void add_limit(struct xb_words *words, const struct xb_prediction *best)
{
    char part[32];
    char whole[32];
    xb_words_add(words, ". %s (%s of %s).", limits[best->limit].text,
                 time_text(best->limit_seconds, part, sizeof part),
                 time_text(best->total[XB_MIDDLE], whole, sizeof whole));
}

void xb_advice_say(const struct xb_predictions *predictions, struct xb_words *words)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    char gpu_text[32];
    char cpu_text[32];
    if (best == NULL) {
        xb_words_add(words, "Cannot say: for no strategy is there all that a prediction needs.");
        return;
    }
    double gpu = best->total[XB_MIDDLE];
    const char *how = xb_strategy_words[best->strategy].text;
    time_text(gpu, gpu_text, sizeof gpu_text);
    xb_duration_format(cpu, cpu_text, sizeof cpu_text);
    if (xb_advice_judge(predictions) == XB_WORTH_UNKNOWN) {
        xb_words_add(words,
                     "Cannot say: of what can be predicted the fastest takes %s, %s, and the CPU "
                     "%s, but for others rows are missing.",
                     gpu_text, how, cpu_text);
        return;
    }
    if (!(cpu > 0))
        xb_words_add(words, "Fastest: %s: %s", how, gpu_text);
    else if (gpu < cpu)
        xb_words_add(words, "Yes: use the GPU %s: %s against %s", how, gpu_text, cpu_text);
    else
        xb_words_add(words, "No: stay on the CPU: %s against %s %s", cpu_text, gpu_text, how);
    if (cpu > 0)
        add_factor(words, cpu, gpu);
    add_limit(words, best);
    if (cpu > best->total[XB_LOW] && cpu < best->total[XB_HIGH])
        xb_words_add(words, " That is close: the difference is within the error of the rows.");
}

/* ---- what is missing ---- */

/* "512M": the end of a range that doubles from 4K on and holds that many bytes. */
static const char *range_end(uint64_t bytes, char *text, size_t size)
{
    static const char units[] = "KMGT";
    unsigned number = 8;
    size_t unit = 0;
    for (uint64_t end = UINT64_C(8) << 10; end < bytes; end *= 2) {
        number *= 2;
        if (number == 1024 && units[unit + 1] != '\0') {
            number = 1;
            unit++;
        }
    }
    snprintf(text, size, "%u%c", number, units[unit]);
    return text;
}

void xb_advice_say_missing(const struct xb_job *job, const struct xb_prediction *prediction,
                           struct xb_words *words)
{
    const struct xb_cost_source *source = &xb_cost_sources[prediction->missing];
    uint64_t larger = job->in > job->out ? job->in : job->out;
    char size[32];
    char most[32];
    if (prediction->missing_bytes == 0) {
        xb_words_add(words, "too little comes in to cut it into chunks that overlap");
        return;
    }
    xb_words_add(words,
                 "no rows of %s %s%s%s%s tell what %s take. Measure them: xferbench %s "
                 "--size 4K..%s --json FILE",
                 source->mode, source->variants[0], source->direction != NULL ? " " : "",
                 source->direction != NULL ? source->direction : "",
                 source->is_setup ? " (setup_time)" : "",
                 xb_size_format(prediction->missing_bytes, size, sizeof size), source->options,
                 range_end(larger, most, sizeof most));
}

/* ---- break-even ---- */

/* "3.2 MiB" */
static const char *about(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
    return text;
}

void xb_advice_say_break_even(const struct xb_break_even *found, struct xb_words *words)
{
    char from[32];
    char to[32];
    char least[32];
    char most[32];
    if (!found->is_known)
        return;
    about(found->from, from, sizeof from);
    about(found->to, to, sizeof to);
    about(found->least, least, sizeof least);
    about(found->most, most, sizeof most);
    if (!found->wins)
        xb_words_add(words, "never: the CPU is faster at every size from %s to %s in", least, most);
    else if (found->has_from && found->has_to)
        xb_words_add(words, "the GPU is faster from %s to %s in", from, to);
    else if (found->has_from)
        xb_words_add(words, "the GPU is faster from %s in on", from);
    else if (found->has_to)
        xb_words_add(words, "the GPU is faster up to %s in", to);
    else
        xb_words_add(words, "always: the GPU is faster at every size from %s to %s in", least,
                     most);
    xb_words_add(words, ", if bytes out, GPU time and CPU time grow with the bytes in");
}

/* ---- the check ---- */

const struct xb_record_case *xb_advice_checked(const struct xb_advice_report *report,
                                               enum xb_strategy strategy)
{
    for (size_t i = 0; report->check != NULL && i < report->check->case_count; i++) {
        const struct xb_record_case *test = &report->check->cases[i];
        if (strcmp(test->variant, xb_strategy_words[strategy].name) == 0)
            return test;
    }
    return NULL;
}

double xb_advice_measured(const struct xb_advice_report *report, enum xb_strategy strategy)
{
    const struct xb_record_case *test = xb_advice_checked(report, strategy);
    struct xb_record_summary summary;
    if (test == NULL)
        return (double)NAN;
    summary = xb_record_summarize(report->check, test);
    if (summary.status != XB_RESULT_OK || summary.verified != XB_VERIFIED_TRUE)
        return (double)NAN;
    return xb_record_median(report->check, test, "job_time");
}

#define AS_ASKED 0.05

void xb_advice_say_kernel(double asked, double measured, struct xb_words *words)
{
    char one[32];
    char other[32];
    if (!(asked > 0) || !(fabs(measured / asked - 1) > AS_ASKED))
        return;
    xb_words_add(words, "its kernel took %s and not %s, which is part of DIFF",
                 xb_duration_format(measured, one, sizeof one),
                 xb_duration_format(asked, other, sizeof other));
}
