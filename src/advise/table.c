/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "report.h"

#include "base/columns.h"
#include "base/stream.h"
#include "base/text.h"
#include "machine/node.h"
#include "xferbench/units.h"
#include "xferbench/version.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 11
#define CELL 32 /* characters of a cell */
/* Columns behind the name of a strategy. */
#define PREDICTED 7
#define CHECKED 6

/* ---- tables: a row a strategy ---- */

struct columns {
    const char *const *headers;
    const unsigned char *turns;
    size_t count;
};

static struct libscols_table *new_table(FILE *stream, const struct columns *columns)
{
    struct libscols_table *table = scols_new_table();
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < columns->count; i++) {
        struct libscols_column *column =
            scols_table_new_column(table, columns->headers[i], 0, i > 0 ? SCOLS_FL_RIGHT : 0);
        ok = column != NULL &&
             xb_columns_paint(scols_column_get_header(column), stream, XB_COLOUR_TITLE);
    }
    if (ok)
        return table;
    scols_unref_table(table);
    return NULL;
}

/* Adds a row of `count` texts behind its name. */
static bool add_row(struct libscols_table *table, const char *name, const char (*texts)[CELL],
                    size_t count)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    bool ok = line != NULL && scols_line_set_data(line, 0, name) == 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = scols_line_set_data(line, i + 1, texts[i]) == 0;
    return ok;
}

static void fill_times(char (*texts)[CELL], const double *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[CELL];
        snprintf(texts[i], CELL, "%s", xb_advice_time_text(seconds[i], text, sizeof text));
    }
}

/* Prints the table, if it is whole, behind an empty line, and frees it. False: no memory. */
static bool print_table(FILE *stream, struct libscols_table *table, bool is_whole,
                        const struct columns *columns)
{
    const struct xb_columns fitting = {.width = xb_terminal_columns(stream),
                                       .with_colours = xb_terminal_has_colours(stream),
                                       .turns = columns->turns,
                                       .elsewhere = "The JSON has all"};
    return xb_columns_print(stream, "\n", table, is_whole, &fitting) && fputc('\n', stream) != EOF;
}

static void print_job(FILE *stream, const struct xb_job *job)
{
    char in[32], out[32], gpu[32], cpu[32];
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

static bool add_prediction(struct libscols_table *table, const struct xb_prediction *one)
{
    double ends = xb_prediction_has_ends(one) ? 1 : (double)NAN;
    const double times[PREDICTED] = {one->total[XB_MIDDLE],
                                     ends * one->total[XB_LOW],
                                     ends * one->total[XB_HIGH],
                                     one->in,
                                     one->kernel,
                                     one->out,
                                     one->pinning[XB_MIDDLE]};
    /* Where only getting the data into pinned memory is not known, the rest is. */
    double rest = one->running[XB_MIDDLE] > 0 ? 1 : (double)NAN;
    const double parts[PREDICTED] = {(double)NAN,    (double)NAN,        (double)NAN,
                                     rest * one->in, rest * one->kernel, rest * one->out,
                                     (double)NAN};
    char texts[PREDICTED][CELL];
    fill_times(texts, one->is_known ? times : parts, PREDICTED);
    return add_row(table, xb_strategy_words[one->strategy].name, texts, PREDICTED);
}

static bool print_predictions(FILE *stream, const struct xb_predictions *all)
{
    static const char *const headers[PREDICTED + 1] = {"STRATEGY", "TOTAL",  "LOW",      "HIGH",
                                                       "COPY IN",  "KERNEL", "COPY OUT", "PINNING"};
    static const unsigned char turns[PREDICTED + 1] = {0, 0, 1, 1, 3, 3, 3, 2};
    const struct columns columns = {headers, turns, PREDICTED + 1};
    struct libscols_table *table = new_table(stream, &columns);
    bool ok = table != NULL;
    for (int i = 0; ok && i < XB_STRATEGIES; i++)
        if (xb_strategy_is_asked(&all->job, all->each[i].strategy))
            ok = add_prediction(table, &all->each[i]);
    return print_table(stream, table, ok, &columns);
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
    for (size_t i = 0; i < one->use_count; i++) {
        const struct xb_cost_use *use = &one->uses[i];
        xb_words_add(&words, "%s", i > 0 ? "; " : "");
        xb_cost_basis(&report->costs->costs[use->kind], use->bytes, &words);
    }
    if (one->strategy == XB_STRATEGY_RING)
        xb_words_add(&words, "; making the ring is not counted");
    if (one->uses_both_ways)
        xb_words_add(&words, "; %s %s %s: row of %s", report->costs->both->mode,
                     report->costs->both->variant, report->costs->both->direction,
                     xb_size_format(report->costs->both->bytes, size, sizeof size));
    if (one->lacks_both_ways)
        xb_words_add(&words,
                     "; there are no rows of both ways at once: TOTAL assumes copies that do not "
                     "slow each other, HIGH one after the other");
    xb_note_print(stream, name, LABEL_WIDTH, "%s", words.text);
}

/* ---- the check ---- */

static double figure_of(const struct xb_advice_report *report, const struct xb_record_case *test,
                        const char *name)
{
    return xb_record_median(report->check, test, name);
}

static bool add_checked(struct libscols_table *table, const struct xb_advice_report *report,
                        const struct xb_record_case *test, const struct xb_prediction *one)
{
    double measured = xb_advice_measured(report, one->strategy);
    double running = one->running[XB_MIDDLE];
    double predicted = running > 0 ? running : (double)NAN;
    double difference = 100 * (predicted / measured - 1);
    const double times[CHECKED] = {predicted,
                                   measured,
                                   (double)NAN,
                                   figure_of(report, test, "in_time"),
                                   figure_of(report, test, "kernel_time"),
                                   figure_of(report, test, "out_time")};
    char texts[CHECKED][CELL];
    fill_times(texts, times, CHECKED);
    if (isfinite(difference))
        snprintf(texts[2], CELL, "%+.1f %%", difference);
    return add_row(table, xb_strategy_words[one->strategy].name, texts, CHECKED);
}

static bool print_checks(FILE *stream, const struct xb_advice_report *report)
{
    static const char *const headers[CHECKED + 1] = {"CHECK",   "PREDICTED", "MEASURED", "DIFF",
                                                     "COPY IN", "KERNEL",    "COPY OUT"};
    static const unsigned char turns[CHECKED + 1] = {0, 0, 0, 0, 1, 1, 1};
    const struct columns columns = {headers, turns, CHECKED + 1};
    struct libscols_table *table = new_table(stream, &columns);
    bool ok = table != NULL;
    for (int i = 0; ok && i < XB_STRATEGIES; i++) {
        const struct xb_record_case *test = xb_advice_checked(report, (enum xb_strategy)i);
        if (test != NULL)
            ok = add_checked(table, report, test, &report->predictions->each[i]);
    }
    return print_table(stream, table, ok, &columns);
}

static bool print_check(FILE *stream, const struct xb_advice_report *report)
{
    char text[XB_RECORD_REASON];
    if (report->check_failure != NULL)
        xb_note_print_in(stream, XB_COLOUR_WARNING, "check", LABEL_WIDTH, "not run: %s",
                         report->check_failure);
    if (report->check == NULL)
        return true;
    if (!print_checks(stream, report))
        return false;
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
    return true;
}

/* ---- all of it ---- */

static bool lacks_rows(const struct xb_predictions *all)
{
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_prediction_may_beat(&all->each[i], INFINITY))
            return true;
    return false;
}

/* False: no memory. */
static bool print_all(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_predictions *all = report->predictions;
    struct xb_words verdict = {.length = 0}, break_even = {.length = 0};
    const struct xb_record_host *host = &report->record->host;
    const struct xb_record_device *device = xb_record_device(report->record, report->device);
    char node[XB_NODE_TEXT];
    fprintf(stream, "xferbench %s, advise\n", XB_VERSION);
    xb_node_text(host->node, host->hostname, node);
    if (node[0] != '\0')
        xb_note_print(stream, "node", LABEL_WIDTH, "%s", node);
    fputc('\n', stream);
    xb_advice_say(all, &verdict);
    xb_note_print_in(stream,
                     xb_advice_judge(all) == XB_WORTH_YES ? XB_COLOUR_GOOD : XB_COLOUR_WARNING,
                     "advice", LABEL_WIDTH, "%s", verdict.text);
    xb_note_print(stream, "rows", LABEL_WIDTH, "%s: device %d, %s, backend %s",
                  report->file != NULL ? report->file : "measured now", report->device,
                  device != NULL && device->name != NULL ? device->name : "not known",
                  report->record->backend != NULL ? report->record->backend : "not known");
    print_job(stream, &all->job);
    xb_advice_say_break_even(&report->break_even, &break_even);
    if (break_even.length > 0 && lacks_rows(all))
        xb_words_add(&break_even, "; of the strategies that can be predicted");
    if (break_even.length > 0 && all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways)
        xb_words_add(&break_even, "; if copies both ways do not slow each other");
    if (break_even.length > 0)
        xb_note_print(stream, "break-even", LABEL_WIDTH, "%s", break_even.text);
    if (!print_predictions(stream, all))
        return false;
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_strategy_is_asked(&all->job, (enum xb_strategy)i))
            print_basis(stream, report, &all->each[i]);
    if (lacks_rows(all) || all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways) {
        struct xb_words words = {.length = 0};
        xb_advice_say_command(&all->job, &words);
        xb_note_print(stream, "measure", LABEL_WIDTH, "%s", words.text);
    }
    return print_check(stream, report);
}

enum xb_status xb_advice_table_write(FILE *stream, const struct xb_advice_report *report,
                                     struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    bool ok = print_all(stream, report);
    xb_plain_locale_leave(previous);
    return ok ? xb_stream_finish(stream, "the advice", error)
              : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the advice");
}
