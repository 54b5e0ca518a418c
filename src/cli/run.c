/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include "../core/clock.h"
#include "../core/plain_text.h"
#include "deadline.h"
#include "processes.h"

#include "xferbench/interrupt.h"
#include "xferbench/sink.h"

#include <string.h>

/* The files of a run, and whether one of them is standard output. */
struct outputs {
    struct xb_output json, csv;
    bool on_stdout;
};

static bool is_stdout(const struct xb_value *value)
{
    return value->is_set && strcmp(value->text, "-") == 0;
}

/* What is wrong with the request whatever the machine: told before a backend is looked for. */
static enum xb_status check_request(const struct xb_config *config, struct xb_error *error)
{
    enum xb_status status = xb_cli_refuse_operands(config, error);
    if (status == XB_OK)
        status = xb_plan_check(config, error);
    if (status == XB_OK && is_stdout(xb_config_get(config, "json")) &&
        is_stdout(xb_config_get(config, "csv")))
        status =
            XB_FAIL(error, XB_ERR_USAGE, "--json - and --csv - cannot both have standard output");
    if (status == XB_OK)
        status = xb_processes_check(config, error);
    return status;
}

static enum xb_status open_outputs(const struct xb_run *run, struct outputs *outputs,
                                   struct xb_error *error)
{
    const struct xb_value *json = xb_config_get(run->config, "json");
    const struct xb_value *csv = xb_config_get(run->config, "csv");
    const struct xb_place places[] = {{.option = "--json", .output = &outputs->json},
                                      {.option = "--csv", .output = &outputs->csv}};
    enum xb_status status = XB_OK;
    if (json->is_set)
        status = xb_output_find(&outputs->json, json->text, error);
    if (status == XB_OK && csv->is_set)
        status = xb_output_find(&outputs->csv, csv->text, error);
    if (status == XB_OK)
        status = xb_cli_open_places(places, sizeof places / sizeof places[0], run->deadline, error);
    outputs->on_stdout = outputs->json.is_stdout || outputs->csv.is_stdout;
    return status;
}

/* Writes one output and puts it in its place; says so if that fails, and goes on. */
static bool write_output(struct xb_output *output, const struct xb_run *run,
                         enum xb_status (*write)(FILE *, const struct xb_run *, struct xb_error *))
{
    struct xb_error error;
    if (output->stream == NULL)
        return true;
    enum xb_status status = write(output->stream, run, &error);
    if (status == XB_OK)
        status = xb_output_commit(output, &error);
    else /* a sink knows its stream, not the file's name */
        xb_say("'%s' was not written:", output->path);
    if (status != XB_OK)
        xb_cli_fail(&error);
    return status == XB_OK;
}

/* Writes the run everywhere it was asked for. One that fails does not keep the others from it. */
static bool write_all(struct outputs *outputs, const struct xb_run *run)
{
    bool written = write_output(&outputs->json, run, xb_json_write);
    written = write_output(&outputs->csv, run, xb_csv_write) && written;
    if (outputs->on_stdout || xb_config_get(run->config, "quiet")->flag) {
        xb_failures_say(run);
        return written;
    }
    struct xb_error error;
    if (xb_table_write(stdout, run, &error) == XB_OK)
        return written;
    xb_cli_fail(&error);
    return false;
}

static int exit_code(const struct xb_run *run, bool written)
{
    size_t ok = 0;
    size_t failed = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        ok += run->results[i].status == XB_RESULT_OK;
        failed += run->results[i].status == XB_RESULT_ERROR;
    }
    if (run->interrupted)
        return 128 + xb_interrupt_signal();
    if (failed > 0 || !written)
        return XB_EXIT_FAILED;
    return ok > 0 ? XB_EXIT_OK : XB_EXIT_NOTHING;
}

/* What --quick and --latency put in place of the usual defaults. */
static enum xb_status adapt_defaults(struct xb_config *config, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    if (xb_config_get(config, "quick")->flag) {
        status = xb_config_default(config, "time-limit", "100ms", error);
        if (status == XB_OK)
            status = xb_config_default(config, "size", "64M", error);
    }
    if (status == XB_OK && xb_config_get(config, "latency")->flag)
        status = xb_config_default(config, "size", "4", error);
    return status;
}

static void note_finished(void *argument, const struct xb_run *run)
{
    (void)argument;
    xb_deadline_finished(run);
}

static void discard(struct outputs *outputs)
{
    xb_output_discard(&outputs->json);
    xb_output_discard(&outputs->csv);
}

/* Where a case does not come to an end; the process ends behind it. */
static bool write_overdue(void *argument, const struct xb_run *run)
{
    bool written = write_all(argument, run);
    discard(argument);
    return written;
}

static enum xb_status measure(struct xb_run *run, struct outputs *outputs, struct xb_error *error)
{
    struct xb_progress progress;
    struct xb_run_observer observer = {
        .progress = xb_progress_show, .finished = note_finished, .argument = &progress};
    enum xb_status status = xb_deadline_measuring(run, write_overdue, outputs, error);
    if (status != XB_OK)
        return status;
    xb_progress_start(&progress, !xb_config_get(run->config, "quiet")->flag);
    status = xb_run_execute(run, &observer, error);
    xb_deadline_doing(NULL);
    xb_progress_clear(&progress);
    return status;
}

/* Plans, measures and writes, with the backend open. */
static int run_with_backend(struct xb_run *run)
{
    struct outputs outputs = {0};
    struct xb_error error;
    enum xb_status status = xb_plan(run, &error);
    xb_deadline_doing(NULL);
    if (status == XB_OK) {
        xb_interrupt_catch(); /* before there is a temporary file to leave behind */
        status = open_outputs(run, &outputs, &error);
    }
    if (status == XB_OK)
        status = measure(run, &outputs, &error);
    int code = 0;
    if (status == XB_OK)
        code = exit_code(run, write_all(&outputs, run));
    else
        code = xb_cli_fail(&error);
    discard(&outputs);
    return code;
}

/* Counted from here: looking for devices is part of the time. */
static double deadline_of(const struct xb_config *config)
{
    const struct xb_value *deadline = xb_config_get(config, "deadline");
    return deadline->is_set ? xb_clock_now() + deadline->seconds : 0;
}

/* Measures in this process. */
static int run_here(const struct xb_config *config)
{
    struct xb_run run = {.config = config, .deadline = deadline_of(config)};
    struct xb_error error;
    xb_interrupt_set_deadline(run.deadline);
    if (xb_deadline_watch(run.deadline, &error) != XB_OK)
        return xb_cli_fail(&error);
    xb_deadline_doing("looking for devices");
    int code = (int)xb_backend_choose(xb_config_get(config, "backend")->text, &run);
    if (code == XB_EXIT_OK)
        code = run_with_backend(&run);
    xb_deadline_doing("closing the driver");
    xb_run_free(&run);
    return code;
}

int xb_command_run(int argc, char **argv)
{
    struct xb_config config;
    struct xb_error error;
    int code = 0;
    if (xb_config_parse(xb_run_rows(), argc, argv, &config, &error) != XB_OK)
        return xb_cli_fail(&error);
    if (xb_help_answer(&config, xb_help_print, &code)) {
        xb_config_free(&config);
        return code;
    }
    if (adapt_defaults(&config, &error) != XB_OK || check_request(&config, &error) != XB_OK)
        code = xb_cli_fail(&error);
    else if (xb_processes_wanted(&config))
        code = xb_processes_run(&config, deadline_of(&config));
    else
        code = run_here(&config);
    xb_config_free(&config);
    return code;
}
