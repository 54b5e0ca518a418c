/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "report.h"

#include "base/stream.h"
#include "base/text.h"
#include "machine/node.h"
#include "present/table.h"
#include "xferbench/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LABEL_WIDTH 11

/* ---- tables: a row a way ---- */

static struct xb_table *new_table(const struct xb_table_column *columns, size_t count)
{
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < count; i++)
        xb_table_add_column(table, &columns[i]);
    return table;
}

static void add_times(struct xb_table *table, const double *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        xb_table_cell(table, XB_COLOUR_NONE, "%s", XB_TIME(seconds[i]));
}

static enum xb_status print_table(FILE *stream, struct xb_table *table, struct xb_error *error)
{
    const struct xb_table_look look = {.elsewhere = "The JSON has all"};
    fputc('\n', stream);
    enum xb_status status = xb_table_print(stream, table, &look, error);
    xb_table_free(table);
    return status;
}

/* ---- predictions ---- */

static double shown_time(const struct xb_prediction *one)
{
    return one->is_known ? one->total[XB_MIDDLE] : INFINITY;
}

/* How long it takes, in all and by its parts. */
static void add_prediction(struct xb_table *table, const struct xb_prediction *one, double longest,
                           bool is_best)
{
    const double unknown = (double)NAN;
    double ends = one->is_known && xb_prediction_has_ends(one) ? 1 : unknown;
    /* Where only getting the data into pinned memory is not known, the rest is. */
    double rest = one->is_known || one->running[XB_MIDDLE] > 0 ? 1 : unknown;
    const double times[] = {ends * one->total[XB_LOW],
                            ends * one->total[XB_HIGH],
                            rest * one->in,
                            rest * one->kernel,
                            rest * one->out,
                            one->is_known ? one->pinning[XB_MIDDLE] : unknown};
    char chunk[32];
    xb_table_row(table);
    xb_table_cell(table, is_best ? XB_COLOUR_GOOD : XB_COLOUR_NONE, "%s",
                  xb_strategy_words[one->strategy].way);
    add_times(table, (double[]){one->is_known ? one->total[XB_MIDDLE] : unknown}, 1);
    xb_table_bar(table, one->is_known ? one->total[XB_MIDDLE] / longest : 0);
    add_times(table, times, sizeof times / sizeof times[0]);
    xb_table_cell(table, XB_COLOUR_NONE, "%s",
                  one->chunk > 0 ? xb_size_format(one->chunk, chunk, sizeof chunk) : "-");
}

/* The fastest first, and the CPU where it stands among them. */
static enum xb_status print_predictions(FILE *stream, const struct xb_predictions *all,
                                        struct xb_error *error)
{
    static const struct xb_table_column columns[] = {
        {.title = "WAY", .least = 20},
        {.title = "TIME", .is_right = true},
        {.title = "", .turn = 5},
        {.title = "LOW", .is_right = true, .turn = 1},
        {.title = "HIGH", .is_right = true, .turn = 1},
        {.title = "COPY IN", .is_right = true, .turn = 3},
        {.title = "KERNEL", .is_right = true, .turn = 3},
        {.title = "COPY OUT", .is_right = true, .turn = 3},
        {.title = "PINNING", .is_right = true, .turn = 2},
        {.title = "CHUNK", .is_right = true, .turn = 4},
    };
    struct xb_table *table = new_table(columns, sizeof columns / sizeof columns[0]);
    const struct xb_prediction *sorted[XB_STRATEGIES];
    double cpu = all->job.cpu_time;
    double longest = cpu;
    size_t count = 0;
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_prediction *one = &all->each[i];
        size_t at = count;
        if (!xb_strategy_is_asked(&all->job, one->strategy))
            continue;
        for (; at > 0 && shown_time(one) < shown_time(sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = one;
        count++;
        longest = one->is_known ? fmax(longest, one->total[XB_MIDDLE]) : longest;
    }
    for (size_t i = 0; i <= count; i++) {
        if (cpu > 0 && (i == count || cpu < shown_time(sorted[i]))) {
            xb_table_row(table);
            xb_table_cell(table, XB_COLOUR_NONE, "the CPU");
            add_times(table, &cpu, 1);
            xb_table_bar(table, cpu / longest);
            cpu = 0;
        }
        if (i < count)
            add_prediction(table, sorted[i], longest, sorted[i] == all->best);
    }
    return print_table(stream, table, error);
}

static void print_job(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_job *job = &report->predictions->job;
    const struct xb_record_host *host = &report->record->host;
    const struct xb_record_device *device = xb_record_device(report->record, report->device);
    char in[32], out[32], gpu[32], cpu[32], node[XB_NODE_TEXT];
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
    xb_node_text(host->node, host->hostname, node);
    xb_note_print(stream, "results", LABEL_WIDTH, "%s: GPU %d, %s, %s%s%s",
                  report->file != NULL ? report->file : "measured now", report->device,
                  device != NULL && device->name != NULL ? device->name : "not known",
                  report->record->backend != NULL ? report->record->backend : "not known",
                  node[0] != '\0' ? ", node " : "", node);
}

/* ---- the check ---- */

static void add_checked(struct xb_table *table, const struct xb_advice_report *report,
                        const struct xb_record_case *test, const struct xb_prediction *one)
{
    double measured = xb_advice_measured(report, one->strategy);
    double running = one->running[XB_MIDDLE];
    double predicted = running > 0 ? running : (double)NAN;
    double difference = 100 * (predicted / measured - 1);
    const double parts[] = {xb_record_median(report->check, test, "in_time"),
                            xb_record_median(report->check, test, "kernel_time"),
                            xb_record_median(report->check, test, "out_time")};
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "%s", xb_strategy_words[one->strategy].way);
    add_times(table, (double[]){predicted, measured}, 2);
    if (isfinite(difference))
        xb_table_cell(table, XB_COLOUR_NONE, "%+.1f %%", difference);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "-");
    add_times(table, parts, sizeof parts / sizeof parts[0]);
}

static enum xb_status print_checks(FILE *stream, const struct xb_advice_report *report,
                                   struct xb_error *error)
{
    static const struct xb_table_column columns[] = {
        {.title = "CHECK"},
        {.title = "PREDICTED", .is_right = true},
        {.title = "MEASURED", .is_right = true},
        {.title = "DIFF", .is_right = true},
        {.title = "COPY IN", .is_right = true, .turn = 1},
        {.title = "KERNEL", .is_right = true, .turn = 1},
        {.title = "COPY OUT", .is_right = true, .turn = 1},
    };
    struct xb_table *table = new_table(columns, sizeof columns / sizeof columns[0]);
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_record_case *test = xb_advice_checked(report, (enum xb_strategy)i);
        if (test != NULL)
            add_checked(table, report, test, &report->predictions->each[i]);
    }
    return print_table(stream, table, error);
}

static enum xb_status print_check(FILE *stream, const struct xb_advice_report *report,
                                  struct xb_error *error)
{
    char text[XB_RECORD_REASON];
    if (report->check_failure != NULL)
        xb_note_print_in(stream, XB_COLOUR_WARNING, "check", LABEL_WIDTH, "not run: %s",
                         report->check_failure);
    if (report->check == NULL)
        return XB_OK;
    XB_TRY(print_checks(stream, report, error));
    for (size_t i = 0; i < report->check->case_count; i++) {
        const struct xb_record_case *test = &report->check->cases[i];
        struct xb_words words = {.length = 0};
        xb_advice_say_kernel(report->predictions->job.gpu_time,
                             xb_record_median(report->check, test, "kernel_time"), &words);
        if (words.length > 0)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "%s", words.text);
        struct xb_record_summary summary = xb_record_summarize(report->check, test);
        const char *reason = xb_record_reason(test, &summary, text, sizeof text);
        if (reason != NULL)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "not measured: %s", reason);
    }
    xb_note_print(stream, "check", LABEL_WIDTH,
                  "one job, run here with its data where the way needs it: PREDICTED is without "
                  "PINNING");
    return XB_OK;
}

/* ---- all of it ---- */

/* The answer, and from which size on it holds. */
static void print_answer(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_predictions *all = report->predictions;
    const size_t width = xb_terminal_prose_columns(stream);
    struct xb_words words = {.length = 0};
    xb_advice_say(all, &words);
    xb_heading_print(stream,
                     xb_advice_judge(all) == XB_WORTH_YES ? XB_COLOUR_GOOD : XB_COLOUR_WARNING,
                     "%s", words.text);
    words.length = 0;
    xb_advice_say_break_even(&report->break_even, &words);
    if (words.length > 0)
        xb_lines_print(stream, width, "%s", words.text);
}

/* Which ways are not known, and the command that measures what they need. */
static void print_unknown(FILE *stream, const struct xb_predictions *all)
{
    const size_t width = xb_terminal_prose_columns(stream);
    struct xb_words names = {.length = 0}, why = {.length = 0}, command = {.length = 0};
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_prediction *one = &all->each[i];
        struct xb_words own = {.length = 0};
        if (!xb_strategy_is_asked(&all->job, one->strategy) || one->is_known)
            continue;
        xb_advice_say_missing(one, &own);
        if (names.length > 0 && strcmp(own.text, why.text) != 0) {
            xb_lines_print(stream, width, "Not known: %s: %s.", names.text, why.text);
            names.length = 0;
        }
        xb_words_add(&names, "%s%s", names.length > 0 ? ", " : "", xb_strategy_words[i].name);
        why = own;
    }
    if (names.length > 0)
        xb_lines_print(stream, width, "Not known: %s: %s.", names.text, why.text);
    if (!xb_advice_any_may_beat(all, INFINITY) &&
        !all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways)
        return;
    xb_advice_say_command(&all->job, &command);
    xb_lines_print(stream, width, "To know all: %s", command.text);
}

enum xb_status xb_advice_table_write(FILE *stream, const struct xb_advice_report *report,
                                     struct xb_error *error)
{
    const struct xb_predictions *all = report->predictions;
    print_answer(stream, report);
    if (all->best != NULL)
        XB_TRY(print_predictions(stream, all, error));
    fputc('\n', stream);
    print_unknown(stream, all);
    print_job(stream, report);
    XB_TRY(print_check(stream, report, error));
    return xb_stream_finish(stream, "the advice", error);
}
