/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The advice in words, which JSON has too, and as a table. */
#include "report.h"

#include "base/stream.h"
#include "base/units.h"
#include "machine/node.h"
#include "present/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Whether results are missing for a way that may take less than `seconds`. */
static bool any_may_beat(const struct xb_predictions *predictions, double seconds)
{
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_prediction_may_beat(&predictions->each[i], seconds))
            return true;
    return false;
}

static bool is_too_large(const struct xb_predictions *predictions)
{
    return predictions->each[0].why == XB_UNKNOWN_TOO_LARGE && !predictions->each[0].is_known;
}

enum xb_worth xb_advice_judge(const struct xb_predictions *predictions)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    if (!(cpu > 0))
        return best != NULL ? XB_WORTH_YES : XB_WORTH_UNKNOWN;
    if (is_too_large(predictions))
        return XB_WORTH_UNKNOWN;
    if (xb_predictions_least(predictions, XB_HIGH) < cpu)
        return XB_WORTH_YES;
    return xb_predictions_least(predictions, XB_LOW) >= cpu && !any_may_beat(predictions, cpu)
               ? XB_WORTH_NO
               : XB_WORTH_UNKNOWN;
}

/* "1.5 ms", "0"; "-" for what is not known. */
#define TIME(seconds) (!isfinite(seconds) ? "-" : (seconds) > 0 ? XB_DURATION_TEXT(seconds) : "0")

/* ---- the answer ---- */

static const struct {
    const char *name, *text;
} limits[] = {
    [XB_LIMIT_COPY_IN] = {"copy in", "The copy to the GPU is"},
    [XB_LIMIT_KERNEL] = {"kernel", "The kernel is"},
    [XB_LIMIT_COPY_OUT] = {"copy out", "The copy back to the host is"},
    [XB_LIMIT_COPIES] = {"copies", "The copies, both ways at once, are"},
    [XB_LIMIT_CALLS] = {"calls", "The calls that start copies and kernels are"},
    [XB_LIMIT_LINK] = {"link", "The link is"},
    [XB_LIMIT_PINNING] = {"pinning", "Pinning the data is"},
};

const char *xb_limit_name(int limit)
{
    return limits[limit].name;
}

/* Three digits, and never an exponent. */
static void add_times(struct xb_words *words, const char *before, double factor, const char *after)
{
    xb_words_add(words, factor < 100 ? "%s%.3g times as %s" : "%s%.0f times as %s", before, factor,
                 after);
}

/* Those without results that may take less than that: "pinned and overlapped". */
static void add_unmeasured(struct xb_words *words, const struct xb_predictions *predictions,
                           double seconds)
{
    const char *names[XB_STRATEGIES];
    size_t count = 0;
    for (int i = 0; i < XB_STRATEGIES; i++)
        if (xb_prediction_may_beat(&predictions->each[i], seconds))
            names[count++] = xb_strategy_words[i].name;
    for (size_t i = 0; i < count; i++)
        xb_words_add(words, "%s%s%s",
                     i == 0           ? " Perhaps faster, but not measured: "
                     : i + 1 == count ? " and "
                                      : ", ",
                     names[i], i + 1 == count ? "." : "");
}

/* Bounds that are further apart than this share are told. */
#define WIDE 0.1

/* Whether results of more sizes would bring the bounds together. */
static bool lacks_sizes(const struct xb_prediction *one)
{
    return one->total[one->lacks_both_ways ? XB_MIDDLE : XB_HIGH] > (1 + WIDE) * one->total[XB_LOW];
}

static void say_unknown(const struct xb_predictions *predictions, struct xb_words *words)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    double least = xb_predictions_least(predictions, XB_LOW);
    double most = xb_predictions_least(predictions, XB_HIGH);
    if (best == NULL) {
        xb_words_add(words, is_too_large(predictions)
                                ? "Cannot say: the job does not fit into the GPU's memory."
                                : "Cannot say: no way has all the results that it needs.");
        return;
    }
    bool is_between = least < cpu;
    xb_words_add(words, "Cannot say: %s on the CPU, %s", TIME(cpu),
                 TIME(is_between ? least : best->total[XB_MIDDLE]));
    if (is_between)
        xb_words_add(words, " to %s", TIME(most));
    xb_words_add(words, " by the fastest way known");
    if (!is_between || best->total[XB_LOW] < cpu)
        xb_words_add(words, " (%s)", xb_strategy_words[best->strategy].name);
    xb_words_add(words, ".");
    if (is_between && best->lacks_both_ways)
        xb_words_add(words, " No result is of copies both ways at once.");
    if (is_between && lacks_sizes(best))
        xb_words_add(words, " Results of more sizes would tell.");
    else if (is_between && !best->lacks_both_ways)
        xb_words_add(words, " That is close: within the error of the measurement.");
    add_unmeasured(words, predictions, cpu);
}

/* A ring that is made once, and is used so often, costs next to nothing. */
#define OFTEN 100

/* What a reader has to know of the fastest. */
static void add_caveats(const struct xb_predictions *predictions, enum xb_worth worth,
                        struct xb_words *words)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    if (lacks_sizes(best))
        xb_words_add(words, " It may take %s to %s: more sizes would tell.",
                     TIME(best->total[XB_LOW]), TIME(best->total[XB_HIGH]));
    else if (best->lacks_both_ways)
        xb_words_add(words, " It takes up to %s if copies both ways slow each other.",
                     TIME(best->total[XB_HIGH]));
    if (cpu > 0 && worth == XB_WORTH_YES && best->total[XB_HIGH] >= cpu) {
        /* Where the fastest may take longer than the CPU: which way surely takes less. */
        const struct xb_prediction *one = predictions->each;
        while (!one->is_known || !(one->total[XB_HIGH] < predictions->job.cpu_time))
            one++;
        xb_words_add(words, " Even so the GPU is faster: %s takes %s at most.",
                     xb_strategy_words[one->strategy].name, TIME(one->total[XB_HIGH]));
    }
    add_unmeasured(words, predictions, best->total[XB_MIDDLE]);
    /* What many go by. */
    bool says_yes =
        predictions->job.gpu_time > (double)(predictions->job.in + predictions->job.out) / 12e9;
    if (cpu > 0 && says_yes != (worth == XB_WORTH_YES))
        xb_words_add(
            words, " A rule of thumb, compute for longer than the bytes take at 12 GB/s, says %s.",
            says_yes ? "yes" : "no");
}

void xb_advice_say(const struct xb_predictions *predictions, struct xb_words *words)
{
    const struct xb_prediction *best = predictions->best;
    double cpu = predictions->job.cpu_time;
    const enum xb_worth worth = xb_advice_judge(predictions);
    if (worth == XB_WORTH_UNKNOWN) {
        say_unknown(predictions, words);
        return;
    }
    if (best == NULL) {
        xb_words_add(words, "No: stay on the CPU. The kernel alone takes %s, the CPU %s.",
                     TIME(predictions->job.gpu_time), TIME(cpu));
        return;
    }
    double gpu = best->total[XB_MIDDLE];
    const char *how = xb_strategy_words[best->strategy].text;
    const char *left_out = xb_strategy_words[best->strategy].left_out;
    if (best->strategy == XB_STRATEGY_RING && predictions->job.times >= OFTEN)
        left_out = NULL;
    if (!(cpu > 0))
        xb_words_add(words, "Fastest%s: %s: %s", any_may_beat(predictions, gpu) ? " known way" : "",
                     how, TIME(gpu));
    else if (worth == XB_WORTH_YES)
        xb_words_add(words, "Yes: use the GPU. %s against %s on the CPU", TIME(gpu), TIME(cpu));
    else
        xb_words_add(words, "No: stay on the CPU. %s against %s on the GPU", TIME(cpu), TIME(gpu));
    if (cpu > 0) {
        /* "5.32 times as fast" */
        if (fmax(cpu / gpu, gpu / cpu) < 1.05)
            xb_words_add(words, ", about as fast");
        else if (cpu > gpu)
            add_times(words, ", ", cpu / gpu, "fast");
        else
            add_times(words, ", ", gpu / cpu, "long");
        xb_words_add(words, ": %s", how);
    }
    if (left_out != NULL)
        xb_words_add(words, " (%s is not counted)", left_out);
    xb_words_add(words, ". %s the limit.", limits[best->limit].text);
    add_caveats(predictions, worth, words);
}

/* ---- what is missing ---- */

void xb_advice_say_command(const struct xb_job *job, struct xb_words *words)
{
    /* Up to the end of a range that doubles from 4K on and holds the larger of both: "512M". */
    uint64_t end = 8 << 10;
    while (end < job->in || end < job->out)
        end *= 2;
    const char *text = XB_SIZE_TEXT(end), *unit = strchr(text, ' ');
    xb_words_add(words, "xferbench");
    for (const char *const *word = xb_job_rows_words(job); *word != NULL; word++)
        xb_words_add(words, " %s", *word);
    xb_words_add(words, " --size 4K..%.*s%c --json FILE", (int)(unit - text), text, unit[1]);
}

void xb_advice_say_missing(const struct xb_prediction *prediction, struct xb_words *words)
{
    static const char *const reasons[] = {
        [XB_UNKNOWN_SMALL] = "too little data comes in to cut it into chunks that overlap",
        [XB_UNKNOWN_ONE_STEP] = "nothing to overlap: no kernel, and nothing comes back",
        [XB_UNKNOWN_IN_PLACE] =
            "in place there has to be a kernel, and no larger result than input",
        [XB_UNKNOWN_TOO_LARGE] = "the job does not fit into the GPU's memory",
    };
    const struct xb_cost_source *source = &xb_cost_sources[prediction->missing];
    if (prediction->why == XB_UNKNOWN_LACKING)
        xb_words_add(words, "%s", prediction->lacking);
    else if (prediction->why != XB_UNKNOWN_ROWS)
        xb_words_add(words, "%s", reasons[prediction->why]);
    else
        xb_words_add(words, "no result of %s %s%s%s%s tells what %s take", source->mode,
                     source->variants[0], source->direction != NULL ? " " : "",
                     source->direction != NULL ? source->direction : "",
                     source->is_setup ? " (setup_time)" : "",
                     XB_SIZE_TEXT(prediction->missing_bytes));
}

/* ---- break-even ---- */

/* "3.2 MiB" */
#define ABOUT(bytes) XB_ABOUT_TEXT((bytes), 1024, 3)

/* Whether there is a range to tell, and not one size. */
static bool is_wide(const struct xb_edge *edge)
{
    return edge->high > (1 + WIDE) * edge->low;
}

/* " from 3.2 MiB"; a range where the bounds are wide; "or less" where one is not known. */
static void add_edge(struct xb_words *words, const char *before, const struct xb_edge *edge)
{
    const bool has_low = edge->low > 0;
    if (!(edge->middle > 0))
        xb_words_add(words, "%s%s, perhaps %s,", before, ABOUT(has_low ? edge->low : edge->high),
                     has_low ? "more" : "less");
    else if (is_wide(edge))
        xb_words_add(words, "%ssomewhere between %s and %s", before, ABOUT(edge->low),
                     ABOUT(edge->high));
    else
        xb_words_add(words, "%s%s", before, ABOUT(edge->middle));
}

void xb_advice_say_break_even(const struct xb_break_even *found, struct xb_words *words)
{
    const struct xb_edge *from = &found->from, *to = &found->to;
    const bool has_from = from->high > 0, has_to = to->low > 0;
    if (!found->is_known)
        return;
    if (!found->is_sure)
        xb_words_add(words, "It is not known at which sizes the GPU wins: too little is known of "
                            "its times");
    else if (has_from || has_to)
        xb_words_add(words, "The GPU wins");
    else
        xb_words_add(words, "The %s wins at every size, %s to %s of input",
                     found->wins ? "GPU" : "CPU", ABOUT(found->least), ABOUT(found->most));
    if (has_from)
        add_edge(words, " from ", from);
    if (has_to)
        add_edge(words, has_from ? " to " : " up to ", to);
    if (has_from || has_to)
        xb_words_add(words, " of input%s", has_to ? "" : " on");
    if (found->fills_device)
        xb_words_add(words, ", up to what fits into its memory");
    if (has_from && is_wide(from) && from->low < (double)found->smallest_row)
        xb_words_add(words, ". Below %s nothing was measured", ABOUT((double)found->smallest_row));
    xb_words_add(words, ". Output and both times are taken to grow with the input.");
}

/* ---- the check ---- */

struct xb_checked xb_advice_checked(const struct xb_advice_report *report,
                                    const struct xb_prediction *one)
{
    const struct xb_record *check = &report->check;
    const char *name = xb_strategy_words[one->strategy].name;
    size_t place = 0;
    while (place < check->case_count && strcmp(check->cases[place].variant, name) != 0)
        place++;
    if (place == check->case_count)
        return (struct xb_checked){.test = NULL};
    const struct xb_record_case *test = &check->cases[place];
    struct xb_record_summary summary = xb_record_summarize(check, test);
    bool is_right = summary.status == XB_RESULT_OK && summary.verified == XB_VERIFIED_TRUE;
    double seconds = is_right ? xb_record_median(check, test, "job_time") : (double)NAN;
    double predicted = one->running[XB_MIDDLE] > 0 ? one->running[XB_MIDDLE] : (double)NAN;
    return (struct xb_checked){test,
                               seconds,
                               predicted / seconds,
                               {xb_record_median(check, test, "in_time"),
                                xb_record_median(check, test, "kernel_time"),
                                xb_record_median(check, test, "out_time")}};
}

#define AS_ASKED 0.05

void xb_advice_say_kernel(double asked, double measured, struct xb_words *words)
{
    if (asked > 0 && fabs(measured / asked - 1) > AS_ASKED)
        xb_words_add(words, "its kernel took %s instead of %s, which is part of DIFF",
                     XB_DURATION_TEXT(measured), XB_DURATION_TEXT(asked));
}

#define LABEL_WIDTH 11

/* ---- tables: a row a way ---- */

static void add_cells(struct xb_table *table, const double *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        xb_table_cell(table, XB_COLOUR_NONE, "%s", TIME(seconds[i]));
}

static void print_table(FILE *stream, struct xb_table *table)
{
    fputc('\n', stream);
    xb_table_print(stream, table, &(struct xb_table_look){.elsewhere = "The JSON has all"});
    xb_table_free(table);
}

/* ---- predictions ---- */

static double shown_time(const struct xb_prediction *one)
{
    return one->is_known ? one->total[XB_MIDDLE] : INFINITY;
}

static void add_prediction(struct xb_table *table, const struct xb_prediction *one, double longest,
                           bool is_best)
{
    const double unknown = (double)NAN;
    double ends = one->is_known && one->has_ends ? 1 : unknown;
    /* Where only getting the data into pinned memory is not known, the rest is. */
    double rest = one->is_known || one->running[XB_MIDDLE] > 0 ? 1 : unknown;
    const double times[] = {ends * one->total[XB_LOW],
                            ends * one->total[XB_HIGH],
                            rest * one->in,
                            rest * one->kernel,
                            rest * one->out,
                            one->is_known ? one->pinning[XB_MIDDLE] : unknown};
    xb_table_row(table);
    xb_table_cell(table, is_best ? XB_COLOUR_GOOD : XB_COLOUR_NONE, "%s",
                  xb_strategy_words[one->strategy].way);
    add_cells(table, (double[]){one->is_known ? one->total[XB_MIDDLE] : unknown}, 1);
    xb_table_bar(table, one->is_known ? one->total[XB_MIDDLE] / longest : 0);
    add_cells(table, times, sizeof times / sizeof times[0]);
    xb_table_cell(table, XB_COLOUR_NONE, "%s", one->chunk > 0 ? XB_SIZE_TEXT(one->chunk) : "-");
}

/* The fastest first, and the CPU where it stands among them. */
static void print_predictions(FILE *stream, const struct xb_predictions *all)
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
    struct xb_table *table = XB_TABLE(columns);
    const struct xb_prediction *sorted[XB_STRATEGIES];
    double cpu = all->job.cpu_time;
    double longest = cpu;
    size_t count = 0;
    XB_EACH (one, all->each, XB_STRATEGIES) {
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
            add_cells(table, &cpu, 1);
            xb_table_bar(table, cpu / longest);
            cpu = 0;
        }
        if (i < count)
            add_prediction(table, sorted[i], longest, sorted[i] == all->best);
    }
    print_table(stream, table);
}

static void print_job(FILE *stream, const struct xb_advice_report *report)
{
    const struct xb_job *job = &report->predictions.job;
    const struct xb_record_host *host = &report->record.host;
    const struct xb_record_device *device = xb_record_device(&report->record, report->costs.device);
    char node[XB_NODE_TEXT];
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%s in, %s out, %s on the GPU", XB_SIZE_TEXT(job->in),
                 job->out > 0 ? XB_SIZE_TEXT(job->out) : "nothing",
                 job->gpu_time > 0 ? XB_DURATION_TEXT(job->gpu_time) : "no time");
    if (job->cpu_time > 0)
        xb_words_add(&words, ", %s on the CPU", XB_DURATION_TEXT(job->cpu_time));
    xb_words_add(&words, "; run %" PRIu64 " time%s; its data is in %s memory", job->times,
                 XB_PLURAL(job->times), xb_memory_word((int)job->memory));
    xb_note_print(stream, "job", LABEL_WIDTH, "%s", words.text);
    xb_node_text(host->node, host->hostname, node);
    xb_note_print(stream, "results", LABEL_WIDTH, "%s: GPU %d, %s, %s%s%s",
                  report->file != NULL ? report->file : "measured now", report->costs.device,
                  device != NULL && device->name != NULL ? device->name : "not known",
                  report->record.backend != NULL ? report->record.backend : "not known",
                  node[0] != '\0' ? ", node " : "", node);
}

/* ---- the check ---- */

static void print_check(FILE *stream, const struct xb_advice_report *report)
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
    char text[XB_RECORD_REASON];
    if (report->check_failure != NULL)
        xb_note_print_in(stream, XB_COLOUR_WARNING, "check", LABEL_WIDTH, "not run: %s",
                         report->check_failure);
    if (report->check.process_count == 0)
        return;
    struct xb_table *table = XB_TABLE(columns);
    struct xb_checked checked[XB_STRATEGIES];
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_prediction *one = &report->predictions.each[i];
        double running = one->running[XB_MIDDLE];
        checked[i] = xb_advice_checked(report, one);
        if (checked[i].test == NULL)
            continue;
        xb_table_row(table);
        xb_table_cell(table, XB_COLOUR_NONE, "%s", xb_strategy_words[i].way);
        add_cells(table, (double[]){running > 0 ? running : (double)NAN, checked[i].seconds}, 2);
        if (isfinite(checked[i].share))
            xb_table_cell(table, XB_COLOUR_NONE, "%+.1f %%", 100 * (checked[i].share - 1));
        else
            xb_table_cell(table, XB_COLOUR_NONE, "-");
        add_cells(table, checked[i].parts, 3);
    }
    print_table(stream, table);
    for (int i = 0; i < XB_STRATEGIES; i++) {
        const struct xb_record_case *test = checked[i].test;
        struct xb_words words = {.length = 0};
        if (test == NULL)
            continue;
        xb_advice_say_kernel(report->predictions.job.gpu_time, checked[i].parts[1], &words);
        if (words.length > 0)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "%s", words.text);
        struct xb_record_summary summary = xb_record_summarize(&report->check, test);
        const char *reason = xb_record_reason(test, &summary, text, sizeof text);
        if (reason != NULL)
            xb_note_print(stream, test->variant, LABEL_WIDTH, "not measured: %s", reason);
    }
    xb_note_print(stream, "check", LABEL_WIDTH,
                  "one job, run here with its data where the way needs it: PREDICTED is without "
                  "PINNING");
}

/* Which ways are not known, and the command that measures what they need. */
static void print_unknown(FILE *stream, const struct xb_predictions *all)
{
    const size_t width = xb_terminal_prose_columns(stream);
    struct xb_words names = {.length = 0}, why = {.length = 0}, command = {.length = 0};
    for (int i = 0; i <= XB_STRATEGIES; i++) {
        const struct xb_prediction *one = i < XB_STRATEGIES ? &all->each[i] : NULL;
        struct xb_words own = {.length = 0};
        if (one != NULL && (!xb_strategy_is_asked(&all->job, one->strategy) || one->is_known))
            continue;
        if (one != NULL)
            xb_advice_say_missing(one, &own);
        if (names.length > 0 && strcmp(own.text, why.text) != 0) {
            xb_lines_print(stream, width, "Not known: %s: %s.", names.text, why.text);
            names.length = 0;
        }
        if (one != NULL)
            xb_words_add(&names, "%s%s", names.length > 0 ? ", " : "", xb_strategy_words[i].name);
        why = own;
    }
    if (!any_may_beat(all, INFINITY) && !all->each[XB_STRATEGY_OVERLAPPED].lacks_both_ways)
        return;
    xb_advice_say_command(&all->job, &command);
    xb_lines_print(stream, width, "To know all: %s", command.text);
}

enum xb_status xb_advice_table_write(FILE *stream, const struct xb_advice_report *report,
                                     struct xb_error *error)
{
    const struct xb_predictions *all = &report->predictions;
    struct xb_words words = {.length = 0};
    /* The answer, and from which size on it holds. */
    xb_advice_say(all, &words);
    xb_heading_print(stream,
                     xb_advice_judge(all) == XB_WORTH_YES ? XB_COLOUR_GOOD : XB_COLOUR_WARNING,
                     "%s", words.text);
    words.length = 0;
    xb_advice_say_break_even(&report->break_even, &words);
    if (words.length > 0)
        xb_lines_print(stream, xb_terminal_prose_columns(stream), "%s", words.text);
    if (all->best != NULL)
        print_predictions(stream, all);
    fputc('\n', stream);
    print_unknown(stream, all);
    print_job(stream, report);
    print_check(stream, report);
    return xb_stream_finish(stream, "the advice", error);
}
