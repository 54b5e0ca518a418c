/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "request.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/text.h"
#include "cli/help.h"
#include "deadline.h"
#include "formats.h"
#include "progress.h"
#include "reading/list.h"
#include "record/document.h"
#include "record/mode_list.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Where results go, and what is shown meanwhile. A timeline is written and drawn when its case has
 * ended, and freed, so that no more than one is in memory. What is drawn waits for the table. */
struct outputs {
    struct xb_progress progress; /* first: the argument of its callbacks */
    struct xb_run_places places;
    bool has_table; /* it tells what became of each case; else stderr tells what failed */
    struct xb_chrome chrome;
    struct xb_memory_text drawn; /* its stream is NULL where --timeline is not given */
    size_t taken;                /* of the run's results */
    pthread_mutex_t lock; /* held while a case is written: --deadline may end the run meanwhile */
    struct xb_error failure; /* the first; its status is XB_OK while there is none */
};

/* Ends and commits the trace, and prints what was drawn. Says so and returns false where a part of
 * it failed; the file is then as it was. */
static bool end_timelines(struct outputs *outputs, const struct xb_run *run)
{
    struct xb_output *trace = &outputs->places.outputs[XB_RUN_TRACE];
    /* Whoever holds the lock now is stuck in the middle of writing: such a file is no trace. */
    if (pthread_mutex_trylock(&outputs->lock) != 0) {
        xb_say("the timelines were not written: writing them does not end");
        return false;
    }
    struct xb_error error = outputs->failure;
    enum xb_status status = error.status;
    if (status == XB_OK && trace->stream != NULL)
        status = xb_chrome_end(&outputs->chrome, run, &error);
    if (status == XB_OK && trace->stream != NULL)
        status = xb_output_commit(trace, &error);
    if (status == XB_OK && outputs->drawn.stream != NULL) {
        xb_memory_text_end(&outputs->drawn);
        fwrite(outputs->drawn.text, 1, outputs->drawn.length, stdout);
        status = xb_stream_finish(stdout, "the timelines", &error);
    }
    if (status != XB_OK)
        xb_cli_fail(&error);
    pthread_mutex_unlock(&outputs->lock);
    return status == XB_OK;
}

/* Refuses what is wrong on any machine, before a backend is looked for. */
static enum xb_status check_request(const struct xb_run_options *asked, struct xb_error *error)
{
    struct xb_json_place json;
    const char *first = NULL; /* that has standard output, which is for one thing */
    XB_TRY(xb_plan_check(asked, error));
    XB_TRY(xb_node_check(error));
    XB_TRY(xb_json_place_choose(asked->json, asked->json_lines, &json, error));
    const char *const paths[] = {json.path, asked->csv, asked->trace};
    const char *const options[] = {json.option, "--csv", "--trace"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i] == NULL || strcmp(paths[i], "-") != 0)
            continue;
        if (first != NULL)
            return XB_FAIL(error, XB_ERR_USAGE, "%s - and %s - cannot both have standard output",
                           first, options[i]);
        first = options[i];
    }
    if (asked->timeline && first != NULL)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--timeline draws on standard output, which %s - takes: give %s a file",
                       first, first);
    bool interleaved = asked->interleave != NULL, baseline = asked->baseline_json != NULL;
    bool several = asked->processes > 1;
    bool crosses = xb_table_view_of(asked->config).format == XB_AS_CROSSOVERS;
    const struct {
        bool is_asked;
        const char *why_not;
    } rules[] = {
        {crosses && (first != NULL || asked->timeline || asked->quiet),
         "--format crossovers is JSON on standard output and nothing else: give --json and --csv "
         "files, and leave out --quiet and --timeline"},
        {several && xb_run_is_grid(asked->config),
         "--pieces is of one process, because each leaves out other cases where ways lose by far: "
         "leave out --processes, or give --piece and --size"},
        {crosses && !xb_run_is_grid(asked->config),
         "--format crossovers is of a grid: give --piece SIZES --pieces NUMBERS"},
        {asked->timeline && asked->quiet,
         "--quiet prints no timeline: leave one of them out, or give --trace FILE"},
        {baseline && !interleaved,
         "--baseline-json is where the results of a baseline go: name that with --interleave "
         "PROGRAM"},
        {interleaved && (!baseline || json.path == NULL),
         "--interleave writes two files: give --json FILE for the candidate, which is this "
         "program, and --baseline-json FILE for the baseline"},
        {interleaved && !several,
         "--interleave compares processes: give --processes N with 2 or more; 8 of each can be "
         "compared with some certainty"},
        {several && asked->csv != NULL,
         "--csv has room for one process only: write --json, or leave out --processes"},
        {several && (asked->trace != NULL || asked->timeline),
         "--trace and --timeline show an iteration of one process: leave out --processes, or "
         "record in a run of its own"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].is_asked)
            return XB_FAIL(error, XB_ERR_USAGE, "%s", rules[i].why_not);
    return XB_OK;
}

static enum xb_status open_outputs(const struct xb_run *run, struct outputs *outputs,
                                   struct xb_error *error)
{
    struct xb_run_places *places = &outputs->places;
    struct xb_output *trace = &places->outputs[XB_RUN_TRACE];
    XB_TRY(xb_run_find_places(&run->asked, places, error));
    outputs->has_table = !run->asked.quiet;
    for (size_t i = 0; i < XB_RUN_OUTPUTS; i++)
        outputs->has_table = outputs->has_table && !places->outputs[i].is_stdout;
    XB_TRY(xb_cli_open_places(places->all, XB_RUN_OUTPUTS, run->deadline, error));
    if (places->json.is_line)
        xb_output_unbuffer(&places->outputs[XB_RUN_JSON]);
    if (trace->stream != NULL)
        XB_TRY(xb_chrome_begin(&outputs->chrome, trace->stream, error));
    if (run->asked.timeline)
        (void)xb_memory_text_begin(&outputs->drawn);
    return XB_OK;
}

enum xb_status xb_result_json_write(FILE *stream, const struct xb_record *record,
                                    enum xb_json_form form, struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_record_put(&json, record);
    xb_reading_put_of(&json, record);
    xb_json_close(&json);
    return xb_json_finish_as(&json, stream, form, "the JSON", error);
}

/* Writes one output, the CSV or JSON, and commits it. Says so and returns false if that fails. */
static bool write_output(struct xb_run_places *places, unsigned which,
                         const struct xb_record *record)
{
    struct xb_output *output = &places->outputs[which];
    struct xb_error error;
    if (output->stream == NULL)
        return true;
    enum xb_status status =
        which == XB_RUN_CSV
            ? xb_csv_write(output->stream, record, &error)
            : xb_result_json_write(output->stream, record,
                                   places->json.is_line ? XB_JSON_LINE : XB_JSON_INDENTED, &error);
    if (status != XB_OK) /* a format knows its stream, but not the file's name */
        xb_say("'%s' was not written:", output->path);
    else
        status = xb_output_commit(output, &error);
    if (status != XB_OK)
        xb_cli_fail(&error);
    return status == XB_OK;
}

/* Writes the record everywhere it was asked for: also to the other outputs if one fails. */
static bool write_all(struct outputs *outputs, const struct xb_run *run)
{
    const struct xb_table_view view = xb_table_view_of(run->asked.config);
    struct xb_record record;
    struct xb_error error;
    if (xb_record_of_run(run, &record, &error) != XB_OK) {
        xb_cli_fail(&error);
        return false;
    }
    struct xb_run_places *places = &outputs->places;
    bool written = write_output(places, XB_RUN_JSON, &record);
    written = write_output(places, XB_RUN_CSV, &record) && written;
    if (!outputs->has_table) {
        xb_failures_say(&record);
    } else {
        enum xb_status status = xb_table_write(stdout, &record, &view, &error);
        /* What `compare` needs, while the file is made that it will be given. */
        if (status == XB_OK && view.format == XB_AS_TABLE && !xb_run_is_grid(run->asked.config) &&
            places->json.path != NULL && !places->json.is_line) {
            fputs("To compare with another file: measure with --processes 8.\n", stdout);
            status = xb_stream_finish(stdout, "the table", &error);
        }
        if (status != XB_OK)
            xb_cli_fail(&error);
        written = written && status == XB_OK;
    }
    xb_record_free(&record);
    return end_timelines(outputs, run) && written;
}

static int exit_code(const struct xb_run *run, const struct outputs *outputs, bool written)
{
    size_t ok = 0, failed = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        ok += run->results[i].row.status == XB_RESULT_OK;
        failed += run->results[i].row.status == XB_RESULT_ERROR;
    }
    if (run->interrupted)
        return 128 + xb_interrupt_signal();
    if (failed > 0 || !written)
        return XB_EXIT_FAILED;
    if (ok == 0 && !outputs->has_table)
        xb_say("nothing was measured: %s: %s", XB_LIVE_NAME(run, 0), run->results[0].reason);
    return ok > 0 ? XB_EXIT_OK : XB_EXIT_NOTHING;
}

/* Takes their timelines from the results before these are final for those who read them. */
static void note_finished(void *argument, const struct xb_run *run)
{
    struct outputs *outputs = argument;
    pthread_mutex_lock(&outputs->lock);
    for (; outputs->taken < run->done_count; outputs->taken++) {
        struct xb_result *result = &run->results[outputs->taken];
        bool shows = result->timeline != NULL && result->row.status == XB_RESULT_OK &&
                     outputs->failure.status == XB_OK;
        if (shows && outputs->places.outputs[XB_RUN_TRACE].stream != NULL)
            shows = xb_chrome_add(&outputs->chrome, result, &outputs->failure) == XB_OK;
        if (shows && outputs->drawn.stream != NULL)
            xb_timeline_print(outputs->drawn.stream, xb_terminal_columns(stdout), result);
        xb_result_drop_timeline(result);
    }
    pthread_mutex_unlock(&outputs->lock);
    xb_progress_finished(&outputs->progress, run);
    xb_deadline_finished(run);
}

/* For a case that does not come to an end: the process ends right after this. */
static bool write_overdue(void *argument, const struct xb_run *run)
{
    struct outputs *outputs = argument;
    bool written = write_all(outputs, run);
    xb_run_release_places(&outputs->places);
    return written;
}

/* Plans, measures and writes, with the backend open. */
static int run_with_backend(struct xb_run *run)
{
    struct outputs outputs = {.lock = PTHREAD_MUTEX_INITIALIZER};
    /* The plan is told late: waiting for other nodes says nothing of how long a case takes. */
    struct xb_run_observer observer = {.begun = xb_progress_plan,
                                       .progress = xb_progress_show,
                                       .finished = note_finished,
                                       .argument = &outputs};
    struct xb_error error;
    enum xb_status status = xb_plan(run, &error);
    xb_deadline_doing(NULL);
    if (status != XB_OK)
        return xb_cli_fail(&error);
    if (run->asked.dry_run)
        return xb_dry_run(run);
    xb_interrupt_catch(); /* before there is a temporary file that a signal could leave behind */
    status = xb_memory_reserve(XB_RUN_RESERVE(run->case_count), &error);
    if (status == XB_OK)
        status = open_outputs(run, &outputs, &error);
    if (status == XB_OK) {
        xb_deadline_measuring(run, write_overdue, &outputs);
        xb_progress_start(&outputs.progress, !run->asked.quiet);
        status = xb_run_execute(run, &observer, &error);
        xb_deadline_doing(NULL);
        xb_progress_clear(&outputs.progress);
    }
    int code =
        status == XB_OK ? exit_code(run, &outputs, write_all(&outputs, run)) : xb_cli_fail(&error);
    xb_chrome_free(&outputs.chrome);
    if (outputs.drawn.stream != NULL)
        fclose(outputs.drawn.stream);
    free(outputs.drawn.text);
    pthread_mutex_destroy(&outputs.lock);
    xb_run_release_places(&outputs.places);
    return code;
}

static int run(struct xb_config *config, char *const *words)
{
    struct xb_error error;
    double start_at = 0;
    (void)words;
    if (xb_run_adapt_defaults(config, &error) != XB_OK)
        return xb_cli_fail(&error);
    const struct xb_run_options asked = xb_run_options_of(config);
    double deadline = xb_deadline_of(asked.deadline);
    if (check_request(&asked, &error) != XB_OK ||
        xb_start_at_read(asked.start_at, deadline, &start_at, &error) != XB_OK)
        return xb_cli_fail(&error);
    if (!asked.dry_run)
        xb_start_at_say(start_at);
    if (asked.processes > 1 && !asked.dry_run)
        return xb_processes_run(&asked, deadline, start_at);
    struct xb_run here = {.asked = asked,
                          .deadline = deadline,
                          .start_at = start_at,
                          .keeps_timelines = asked.trace != NULL || asked.timeline};
    if (xb_deadline_watch(deadline, XB_EXIT_FAILED, &error) != XB_OK)
        return xb_cli_fail(&error);
    xb_deadline_doing("looking for devices");
    int code = (int)xb_backend_choose(asked.backend, &here);
    if (code == XB_EXIT_OK)
        code = run_with_backend(&here);
    xb_deadline_doing("closing the driver");
    xb_run_free(&here);
    return code;
}

static void print_help(FILE *stream)
{
    xb_run_print_help(stream, false);
}

void xb_run_print_help(FILE *stream, bool all)
{
    const struct xb_option *const *row = xb_run_rows();
    xb_help_print_beginning(stream, &xb_command_run);
    xb_run_print_modes(stream);
    fprintf(stream, "\nOptions:\n");
    for (; *row != NULL && !xb_modes_take((*row)->name); row++)
        xb_help_print_option(stream, *row);
    fprintf(stream, "\nOptions of modes:%s", all ? "\n" : " ");
    for (; all && *row != NULL; row++) {
        char takers[512], text[600];
        xb_help_print_option(stream, *row);
        snprintf(text, sizeof text, "(%s)", xb_run_takers(*row, takers, sizeof takers));
        xb_help_print_entry(stream, 30, text, "%s", "");
    }
    if (!all)
        xb_help_print_wrapped(stream,
                              "`xferbench help MODE` has those of a mode, `xferbench help all` has "
                              "all.",
                              (int)strlen("Options of modes: "));
    xb_help_print_exits(stream, &xb_command_run);
}

const struct xb_command xb_command_run = {
    .name = "run",
    .synopsis = "[run]",
    .summary = "measure; the same as no command",
    .description = "Measures how fast data moves, by every mode or by those that --mode names, and "
                   "checks every byte that was moved. Prints a table and, below it, what it means.",
    .exits = "0 every case is ok or was skipped for a stated reason; 1 a case failed or its data "
             "did not verify, or a file could not be written; 2 the command line is wrong; 3 "
             "nothing could be tested; 128 and the signal's number after a signal.",
    .example = "xferbench --mode pinned,async --size 1G",
    .rows = xb_run_rows,
    .print_help = print_help,
    .run = run,
    .fail = xb_cli_fail};
