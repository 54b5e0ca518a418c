/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "report.h"

#include "base/stream.h"
#include "base/text.h"
#include "xferbench/units.h"
#include "xferbench/version.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LABEL_WIDTH 11
#define COLUMNS 9

static const char *time_text(double seconds, char *text, size_t size)
{
    if (!isfinite(seconds))
        return "-";
    return seconds > 0 ? xb_duration_format(seconds, text, size) : "0";
}

static void print_times(FILE *stream, const char *label, const double *seconds, size_t count)
{
    fprintf(stream, "%-*s", LABEL_WIDTH, label);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        fprintf(stream, "%*s", COLUMNS, time_text(seconds[i], text, sizeof text));
    }
}

static void print_headers(FILE *stream, const char *first, const char *const *headers, size_t count)
{
    fprintf(stream, "\n%-*s", LABEL_WIDTH, first);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%*s", COLUMNS, headers[i]);
    fputc('\n', stream);
}

/* ---- where it was measured, and what is asked ---- */

static void print_rows(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_record *record = report->record;
    const struct xb_record_device *device = xb_record_device(record, report->device);
    xb_note_print(stream, "rows", LABEL_WIDTH, "%s: device %d, %s, backend %s",
                  report->file != NULL ? report->file : "measured now", report->device,
                  device != NULL && device->name != NULL ? device->name : "not known",
                  record->backend != NULL ? record->backend : "not known");
}

static void print_job(FILE *stream, const struct xb_job *job)
{
    char in[32];
    char out[32];
    char gpu[32];
    char cpu[32];
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%s in, %s out, %s on the GPU", xb_size_format(job->in, in, sizeof in),
                 job->out > 0 ? xb_size_format(job->out, out, sizeof out) : "nothing",
                 job->gpu_time > 0 ? xb_duration_format(job->gpu_time, gpu, sizeof gpu)
                                   : "no time");
    if (job->cpu_time > 0)
        xb_words_add(&words, ", %s on the CPU", xb_duration_format(job->cpu_time, cpu, sizeof cpu));
    xb_words_add(&words, "; run %" PRIu64 " time%s; its data is in %s memory", job->times,
                 job->times == 1 ? "" : "s",
                 xb_memory_words[job->is_in_pinned ? XB_MEMORY_WORD_PINNED : 0]);
    xb_note_print(stream, "job", LABEL_WIDTH, "%s", words.text);
}

/* ---- predictions ---- */

static void print_predictions(FILE *stream, const struct xb_predictions *all)
{
    static const char *const headers[] = {"TOTAL",  "LOW",      "HIGH",   "COPY IN",
                                          "KERNEL", "COPY OUT", "PINNING"};
    print_headers(stream, "STRATEGY", headers, sizeof headers / sizeof *headers);
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_prediction *one = &all->each[i];
        double ends = xb_prediction_has_ends(one) ? 1 : (double)NAN;
        const double times[] = {one->total[XB_MIDDLE],
                                ends * one->total[XB_LOW],
                                ends * one->total[XB_HIGH],
                                one->in,
                                one->kernel,
                                one->out,
                                one->pinning[XB_MIDDLE]};
        /* Where only getting the data into pinned memory is not known, the rest is. */
        double rest = one->running[XB_MIDDLE] > 0 ? 1 : (double)NAN;
        const double parts[] = {(double)NAN,        (double)NAN,     (double)NAN, rest * one->in,
                                rest * one->kernel, rest * one->out, (double)NAN};
        const char *name = xb_strategy_words[i].name;
        if (!xb_strategy_is_asked(&all->job, one->strategy))
            continue;
        if (one->is_known)
            print_times(stream, name, times, sizeof times / sizeof *times);
        else
            print_times(stream, name, parts, sizeof parts / sizeof *parts);
        fputc('\n', stream);
    }
}

static void add_uses(struct xb_words *words, const struct xb_costs *costs,
                     const struct xb_prediction *one)
{
    for (size_t i = 0; i < one->use_count; i++) {
        const struct xb_cost_use *use = &one->uses[i];
        xb_words_add(words, "%s", i > 0 ? "; " : "");
        xb_cost_basis(&costs->costs[use->kind], use->bytes, words);
    }
}

/* What a strategy does, and which rows tell what it takes. */
static void print_basis(FILE *stream, const struct xb_advice_report *report,
                        const struct xb_prediction *one)
{
    const char *name = xb_strategy_words[one->strategy].name;
    struct xb_words words = {.length = 0};
    char size[32];
    if (!one->is_known) {
        xb_words_add(&words, "no prediction: ");
        xb_advice_say_missing(one, &words);
        xb_note_print(stream, name, LABEL_WIDTH, "%s", words.text);
        return;
    }
    if (one->chunk > 0)
        xb_words_add(&words, "%" PRIu64 " chunks of %s; ", one->chunk_count,
                     xb_size_format(one->chunk, size, sizeof size));
    if (one->pinning[XB_MIDDLE] > 0)
        xb_words_add(&words, "%s; ",
                     one->is_copied ? "its data is copied into pinned memory each run"
                                    : "its memory is page-locked where it lies, once");
    add_uses(&words, report->costs, one);
    if (one->strategy == XB_STRATEGY_RING)
        xb_words_add(&words, "; making the ring is not counted");
    if (one->uses_both_ways)
        xb_words_add(&words, "; %s %s %s: row of %s", report->costs->both->mode,
                     report->costs->both->variant, report->costs->both->direction,
                     xb_size_format(report->costs->both->bytes, size, sizeof size));
    if (one->lacks_both_ways)
        xb_words_add(&words,
                     "; there are no rows of both ways at once: TOTAL is for copies that do not "
                     "slow each other, HIGH for one after the other");
    xb_note_print(stream, name, LABEL_WIDTH, "%s", words.text);
}

/* ---- the check ---- */

static double figure_of(const struct xb_advice_report *report, const struct xb_record_case *test,
                        const char *name)
{
    return xb_record_median(report->check, test, name);
}

static void print_checked(FILE *stream, const struct xb_advice_report *report,
                          const struct xb_record_case *test, const struct xb_prediction *one)
{
    double measured = xb_advice_measured(report, one->strategy);
    double running = one->running[XB_MIDDLE];
    double predicted = running > 0 ? running : (double)NAN;
    double difference = 100 * (predicted / measured - 1);
    const double before[] = {predicted, measured};
    const double after[] = {figure_of(report, test, "in_time"),
                            figure_of(report, test, "kernel_time"),
                            figure_of(report, test, "out_time")};
    char text[32] = "-";
    if (isfinite(difference))
        snprintf(text, sizeof text, "%+.1f %%", difference);
    print_times(stream, xb_strategy_words[one->strategy].name, before, 2);
    fprintf(stream, "%*s", COLUMNS, text);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        char part[32];
        fprintf(stream, "%*s", COLUMNS, time_text(after[i], part, sizeof part));
    }
    fputc('\n', stream);
}

static void print_check(FILE *stream, const struct xb_advice_report *report)
{
    static const char *const headers[] = {"PREDICTED", "MEASURED", "DIFF",
                                          "COPY IN",   "KERNEL",   "COPY OUT"};
    char text[XB_RECORD_REASON];
    if (report->check_failure != NULL)
        xb_note_print(stream, "check", LABEL_WIDTH, "not run: %s", report->check_failure);
    if (report->check == NULL)
        return;
    print_headers(stream, "CHECK", headers, sizeof headers / sizeof *headers);
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_record_case *test = xb_advice_checked(report, (enum xb_strategy)i);
        if (test != NULL)
            print_checked(stream, report, test, &report->predictions->each[i]);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < report->check->case_count; i++) {
        const struct xb_record_case *test = &report->check->cases[i];
        struct xb_words words = {.length = 0};
        xb_advice_say_kernel(report->predictions->job.gpu_time,
                             figure_of(report, test, "kernel_time"), &words);
        if (words.length > 0)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "%s", words.text);
        struct xb_record_summary summary = xb_record_summarize(report->check, test);
        const char *reason = xb_record_reason(test, &summary, text, sizeof text);
        if (reason != NULL)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "not measured: %s", reason);
    }
    xb_note_print(
        stream, "check", LABEL_WIDTH,
        "one job, run here: the copies alone by the host's clock, the kernel alone by the "
        "device's. PREDICTED is without PINNING: the job that is run has its data where "
        "the strategy needs it.");
}

/* ---- all of it ---- */

static bool lacks_rows(const struct xb_predictions *all)
{
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_prediction_may_beat(&all->each[i], INFINITY))
            return true;
    return false;
}

static void print_all(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_predictions *all = report->predictions;
    struct xb_words verdict = {.length = 0};
    struct xb_words break_even = {.length = 0};
    fprintf(stream, "xferbench %s, advise\n\n", XB_VERSION);
    xb_advice_say(all, &verdict);
    xb_note_print(stream, "advice", LABEL_WIDTH, "%s", verdict.text);
    print_rows(stream, report);
    print_job(stream, &all->job);
    xb_advice_say_break_even(&report->break_even, &break_even);
    if (break_even.length > 0 && lacks_rows(all))
        xb_words_add(&break_even, "; of the strategies that can be predicted");
    if (break_even.length > 0 && all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways)
        xb_words_add(&break_even, "; if copies both ways do not slow each other");
    if (break_even.length > 0)
        xb_note_print(stream, "break-even", LABEL_WIDTH, "%s", break_even.text);
    print_predictions(stream, all);
    fputc('\n', stream);
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_strategy_is_asked(&all->job, (enum xb_strategy)i))
            print_basis(stream, report, &all->each[i]);
    if (lacks_rows(all) || all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways) {
        struct xb_words words = {.length = 0};
        xb_advice_say_command(&all->job, &words);
        xb_note_print(stream, "measure", LABEL_WIDTH, "%s", words.text);
    }
    print_check(stream, report);
}

enum xb_status xb_advice_table_write(FILE *stream, const struct xb_advice_report *report,
                                     struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    print_all(stream, report);
    xb_plain_locale_leave(previous);
    return xb_stream_finish(stream, "the advice", error);
}
