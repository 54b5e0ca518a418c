/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Is the PCIe link of every GPU what it should be? */
#include "link_session.h"

#include "../core/clock.h"
#include "cli.h"

#include "xferbench/interrupt.h"
#include "xferbench/link_report.h"
#include "xferbench/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole command. */
struct command {
    char line[512]; /* as the user called it, cut to this */
    struct xb_config config;
    struct xb_limits_file *file;
    struct xb_link_session *session;
    struct xb_output output, json;
    bool only_json; /* both are standard output */
};

typedef enum xb_status write_report(FILE *stream, const struct xb_link_report *report,
                                    struct xb_error *error);

/* ---- what is asked ---- */

/* "48.5" in GB/s, read as a size of so many GB: the one reader of numbers there is. */
static enum xb_status read_rate(const struct xb_config *config, const char *option,
                                struct xb_limit *limit, struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(config, option);
    char text[64];
    uint64_t bytes = 0;
    struct xb_error unit;
    if (!value->is_set)
        return XB_OK;
    bool plain = strspn(value->text, "0123456789.") == strlen(value->text);
    snprintf(text, sizeof text, "%.40sGB", value->text);
    if (!plain || strlen(value->text) > 40 || xb_size_parse(text, &bytes, &unit) != XB_OK)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--%s: \"%.40s\" is not a bandwidth; write a number of GB/s, such as 48",
                       option, value->text);
    *limit =
        (struct xb_limit){.is_set = true, .value = (double)bytes, .source = XB_LIMIT_COMMAND_LINE};
    return XB_OK;
}

static enum xb_status read_limits(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = &command->config;
    struct xb_link_limits *limits = &command->session->limits;
    const struct xb_value *expect = xb_config_get(config, "expect");
    const struct xb_value *file = xb_config_get(config, "limits");
    enum xb_status status = read_rate(config, "min-h2d", &limits->min_h2d, error);
    if (status == XB_OK)
        status = read_rate(config, "min-d2h", &limits->min_d2h, error);
    if (status == XB_OK && expect->is_set)
        status = xb_expect_parse(expect->text, XB_LIMIT_COMMAND_LINE, limits, error);
    if (status == XB_OK && file->is_set)
        status = xb_limits_file_open(file->text, &command->file, error);
    command->session->file = command->file;
    return status;
}

static enum xb_status check_backend(const char *name, struct xb_error *error)
{
    if (strcmp(name, "auto") == 0 || xb_backend_find(name) != NULL)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--backend: there is no backend '%s'; it takes cuda, hip, host or auto", name);
}

/* One word. */
static enum xb_status check_format(const struct xb_config *config, struct xb_error *error)
{
    if (xb_config_get(config, "format")->word_count == 1)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "--format: one at a time");
}

static enum xb_status prepare(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = &command->config;
    struct xb_link_session *session = command->session;
    session->backend_name = xb_config_get(config, "backend")->text;
    session->device_text = xb_config_get(config, "device")->text;
    session->size_text = xb_config_get(config, "size")->text;
    session->sysfs = XB_PCI_DEVICES;
    session->attempts = (unsigned)xb_config_get(config, "attempts")->count;
    enum xb_status status = xb_cli_refuse_operands(config, error);
    if (status == XB_OK)
        status = check_backend(session->backend_name, error);
    if (status == XB_OK)
        status = check_format(config, error);
    if (status == XB_OK)
        status = read_limits(command, error);
    return status;
}

/* Before anything is measured: whether it can be written is no news to learn after. */
static enum xb_status open_outputs(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = &command->config;
    const struct xb_value *json = xb_config_get(config, "json");
    double deadline = command->session->deadline;
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    enum xb_status status = XB_OK;
    if (json->is_set)
        status = xb_output_find(&command->json, json->text, error);
    if (status == XB_OK)
        status = xb_output_find(&command->output, xb_config_get(config, "output")->text, error);
    /* With JSON on standard output nothing else goes there. */
    command->only_json = command->json.is_stdout && command->output.is_stdout;
    const struct xb_place places[] = {
        {.option = "--json", .output = &command->json},
        {.option = "--output", .output = command->only_json ? NULL : &command->output},
        {.option = "--limits", .input = xb_config_get(config, "limits")->text}};
    if (status == XB_OK)
        status = xb_cli_open_places(places, sizeof places / sizeof places[0], deadline, error);
    return status;
}

/* ---- what came of it ---- */

static write_report *writer(const char *format)
{
    return strcmp(format, "nagios") == 0       ? xb_link_nagios_write
           : strcmp(format, "nhc") == 0        ? xb_link_nhc_write
           : strcmp(format, "prometheus") == 0 ? xb_link_prometheus_write
                                               : xb_link_table_write;
}

static bool write_output(struct xb_output *output, write_report *write,
                         const struct xb_link_report *report)
{
    struct xb_error error;
    if (output->stream == NULL)
        return true;
    enum xb_status status = write(output->stream, report, &error);
    if (status == XB_OK)
        status = xb_output_commit(output, &error);
    if (status != XB_OK)
        (void)xb_cli_fail(&error);
    return status == XB_OK;
}

static bool write_all(struct command *command, const struct xb_link_report *report)
{
    const char *format = xb_config_get(&command->config, "format")->words[0];
    bool written = write_output(&command->json, xb_link_json_write, report);
    if (!command->only_json)
        written = write_output(&command->output, writer(format), report) && written;
    return written;
}

/* Judges what the session has and writes it. Returns the exit code: that of a Nagios plugin. */
static int report(struct command *command, bool done)
{
    struct xb_link_session *session = command->session;
    size_t count = session->device_count;
    struct xb_link_limits *limits = calloc(count + 1, sizeof *limits);
    struct xb_verdict *verdicts = calloc(count + 1, sizeof *verdicts);
    size_t *best = calloc(count + 1, sizeof *best);
    enum xb_level level = count > 0 ? XB_LEVEL_OK : XB_LEVEL_UNKNOWN;
    bool written = false;
    if (!done && count == 0 && session->nothing[0] == '\0')
        snprintf(session->nothing, sizeof session->nothing,
                 "the deadline came while devices were looked for");
    if (limits != NULL && verdicts != NULL && best != NULL) {
        for (size_t i = 0; i < count; i++) {
            limits[i] = xb_link_session_limits(session, &session->devices[i]);
            xb_verdict_of_device(&session->devices[i], &limits[i], &verdicts[i], &best[i]);
            level = xb_level_worse(level, verdicts[i].level);
        }
        struct xb_link_report report = {
            .backend = session->backend,
            .probe = session->probe,
            .command = command->line,
            .devices = session->devices,
            .device_count = count,
            .limits = limits,
            .verdicts = verdicts,
            .best = best,
            .level = level,
            .attempts_allowed = session->attempts,
            .deadline = xb_config_get(&command->config, "deadline")->seconds,
            .cut = !done,
            .config = &command->config,
        };
        snprintf(report.nothing, sizeof report.nothing, "%s", session->nothing);
        written = write_all(command, &report);
    }
    free(best);
    free(verdicts);
    free(limits);
    return written ? (int)level : XB_LEVEL_UNKNOWN;
}

/* A usage error is UNKNOWN too: 2 would say that a link is broken. Who reads one line of standard
 * output finds it there as well. */
static int fail(const struct command *command, const struct xb_error *error)
{
    const struct xb_value *format = xb_config_get(&command->config, "format");
    const char *word = format->word_count > 0 ? format->words[0] : "";
    (void)xb_cli_fail(error);
    if (strcmp(word, "nagios") == 0 || strcmp(word, "nhc") == 0)
        printf("XFERBENCH LINK UNKNOWN - %.*s\n", (int)strcspn(error->message, "|\n"),
               error->message);
    return XB_LEVEL_UNKNOWN;
}

/*
 * Devices that should be there and are not have a place in the report like any other. Those that
 * the runtime sees count, whichever of them are tested; where it was not asked to the end nobody
 * knows.
 */
static void add_missing(struct command *command, bool done)
{
    struct xb_link_session *session = command->session;
    const struct xb_value *count = xb_config_get(&command->config, "count");
    if (!count->is_set || (!done && session->device_count == 0))
        return;
    for (uint64_t index = session->probe.device_count; index < count->count; index++) {
        struct xb_link_device *device = &session->devices[session->device_count++];
        device->missing = true;
        device->info.index = (unsigned)index;
        snprintf(device->info.name, sizeof device->info.name, "a device that is not there");
    }
}

static int run(struct command *command)
{
    struct xb_link_session *session = command->session;
    struct xb_error error;
    if (xb_link_session_start(session, &error) != XB_OK)
        return fail(command, &error);
    bool done = xb_link_session_wait(session);
    if (session->status != XB_OK)
        return fail(command, &session->error);
    add_missing(command, done);
    return report(command, done);
}

/* Before the options are read, which sorts them. */
static void note_line(struct command *command, int argc, char *const *argv)
{
    snprintf(command->line, sizeof command->line, "xferbench link");
    for (int i = 1; i < argc; i++) {
        size_t length = strlen(command->line);
        snprintf(command->line + length, sizeof command->line - length, " %s", argv[i]);
    }
}

int xb_command_link(int argc, char **argv)
{
    struct command command = {.line = ""};
    struct xb_error error;
    int code = XB_EXIT_OK;
    double begin = xb_clock_now(); /* looking for devices is part of the time */
    note_line(&command, argc, argv);
    if (xb_config_parse(xb_link_rows, argc, argv, &command.config, &error) != XB_OK) {
        (void)xb_cli_fail(&error);
        return XB_LEVEL_UNKNOWN;
    }
    if (xb_help_answer(&command.config, xb_help_print_link, &code)) {
        xb_config_free(&command.config);
        return code;
    }
    enum xb_status status = xb_link_session_open(&command.session, &error);
    if (status == XB_OK) {
        command.session->deadline = begin + xb_config_get(&command.config, "deadline")->seconds;
        status = prepare(&command, &error);
    }
    if (status == XB_OK)
        status = open_outputs(&command, &error);
    code = status == XB_OK ? run(&command) : fail(&command, &error);
    xb_output_discard(&command.output);
    xb_output_discard(&command.json);
    xb_limits_file_close(command.file);
    xb_link_session_close(command.session);
    xb_config_free(&command.config);
    return code;
}
