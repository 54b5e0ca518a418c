/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Are the links of every GPU what they should be? */
#include "cli/command.h"
#include "backends/registry.h"
#include "base/clock.h"
#include "base/file_text.h"
#include "base/interrupt.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/places.h"
#include "machine/environment.h"
#include "machine/node.h"
#include "record/record.h"
#include "report.h"
#include "session.h"
#include "xferbench/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"table", "nagios", "nhc", "prometheus", NULL};
enum format { TABLE, NAGIOS, NHC, PROMETHEUS }; /* in that order */

static const struct xb_option option_device = {
    XB_CHOICE("device", "DEV[,DEV]"), .short_name = 'D', .default_text = "all",
    .help =
        "Which GPUs: numbers, PCI addresses (0000:0f:00.0), or all. They are tested one after the "
        "other."};
static const struct xb_option option_size = {
    XB_SIZE("size", UINT64_C(16) << 20, UINT64_MAX / 4), .short_name = 's', .default_text = "256M",
    .help = "How much one copy moves. Small copies measure latency, not the link."};
static const struct xb_option option_count = {
    XB_COUNT("count", "N", 1, XB_RUN_DEVICES),
    .help =
        "How many GPUs there must be: each missing one is CRITICAL. Without it nobody misses a GPU "
        "that the runtime does not see."};
static const struct xb_option option_attempts = {
    XB_COUNT("attempts", "N", 1, 10), .default_text = "3",
    .help = "Test a GPU or a pair up to this often before calling it anything but OK. The best "
            "attempt counts; all are on record."};
static const struct xb_option option_deadline = {
    XB_DURATION("deadline"), .default_text = "30s",
    .help = "Finish within this time, even if a GPU hangs: what is not tested by then is UNKNOWN."};
static const struct xb_option option_duration = {
    XB_DURATION("duration"),
    .help = "Between two tests load all GPUs at once for this time, of 10s or more: copies both "
            "ways, beside kernels, between GPUs, and a rest each minute, with a line each. "
            "--deadline is then the time for all else."};
static const struct xb_option option_expect = {
    XB_TEXT("expect", "LINK"),
    .help = "What the link must reach under load: gen5x16, gen4 or x8. Less is CRITICAL."};
static const struct xb_option option_min_h2d = {
    XB_TEXT("min-h2d", "GB/S"),
    .help = "The least bandwidth to the GPU, in GB/s (10^9 bytes), in place of shares of "
            "the link's ceiling. Less is CRITICAL."};
static const struct xb_option option_min_d2h = {XB_TEXT("min-d2h", "GB/S"),
                                                .help = "The same back to the host."};
static const struct xb_option option_min_peer = {
    XB_TEXT("min-peer", "GB/S"),
    .help = "The same from one GPU to another, directly, in place of shares of what "
            "their links carry."};
static const struct xb_option option_no_peers = {
    XB_FLAG("no-peers"),
    .help = "Test no copies between GPUs. Without it every pair of up to 8 GPUs is tested."};
static const struct xb_option option_limits = {
    XB_FILE("limits", "FILE"),
    .help = "Limits by model of GPU and link, a JSON file (docs/limits.schema.json). Order: "
            "command line, then this file, then defaults."};
static const struct xb_option option_accept = {
    XB_CHOICE("accept", "CODE=REASON"), .repeats = true, .selects = true,
    .help = "Accept what is so by design: a finding of that code is told with the reason, and no "
            "longer counts. Give it once for each code. XB-LINK-WIDTH, XB-LINK-SLOT and "
            "XB-LINK-SPEED need --expect or --baseline beside it, XB-NVLINK-LINKS --min-peer or "
            "--baseline, so that less is still found."};
static const struct xb_option option_baseline = {
    XB_FILE("baseline", "FILE"),
    .help = "Compare with what the node was when it was accepted: a file that --json wrote then, "
            "of a node that was OK. A missing or another GPU, fewer lanes, a lower rate, fewer "
            "NVLinks and more than 4 % less bandwidth are told."};
static const struct xb_option option_format = {XB_FORMAT_OPTION(
    formats,
    "table, for people; nagios, one line with performance data; nhc, silent unless something "
    "is wrong; prometheus, for node_exporter's textfile collector.")};
static const struct xb_option option_json = {
    XB_FILE("json", "FILE"), .short_name = 'j',
    .help = "Write all that was observed, with every attempt, as JSON (docs/link.schema.json); "
            "'-' is standard output, in place of the table." XB_FILE_NAME_HELP};
static const struct xb_option option_verbose = {
    XB_FLAG("verbose"), .short_name = 'v',
    .help =
        "Print the details of every GPU, and each pair. Without it only of GPUs that are not OK."};
const struct xb_option *const xb_link_rows[] = {
    &xb_option_backend,  &option_device,    &option_no_peers, &option_count,
    &option_size,        &option_attempts,  &option_duration, &option_deadline,
    &xb_option_start_at, &option_expect,    &option_min_h2d,  &option_min_d2h,
    &option_min_peer,    &option_limits,    &option_accept,   &option_baseline,
    &option_format,      &xb_option_output, &option_json,     &xb_option_json_lines,
    &option_verbose,     XB_OPTIONS_OF_ALL};

/* The whole command. */
struct command {
    /* What is asked of it, texts as they were written; the rest is asked of the session. */
    const char *min_h2d, *min_d2h, *min_peer; /* NULL where not given */
    const char *start_at, *expect, *limits, *baseline, *output_path, *json_path, *json_lines;
    struct xb_word_list accepted;
    uint64_t bytes; /* of a copy */
    bool verbose;
    uint64_t count; /* 0: not given */
    double deadline;
    enum format format;
    struct xb_words line; /* as a shell takes it again */
    const struct xb_config *config;
    struct xb_limits_file *file;
    struct xb_link_file then;
    struct xb_link_session *session;
    struct xb_output output, json;
    struct xb_json_place json_place;
    struct xb_node_name node;
    struct xb_host_facts host;
    double began; /* looking for devices is part of the time */
};

#define BIND(member, row) XB_BIND(struct command, member, row)
static const struct xb_option_field *const fields = XB_FIELDS(
    BIND(min_h2d, &option_min_h2d), BIND(min_d2h, &option_min_d2h),
    BIND(min_peer, &option_min_peer), BIND(start_at, &xb_option_start_at),
    BIND(expect, &option_expect), BIND(limits, &option_limits), BIND(accepted, &option_accept),
    BIND(baseline, &option_baseline), BIND(bytes, &option_size),
    BIND(output_path, &xb_option_output), BIND(json_path, &option_json),
    BIND(json_lines, &xb_option_json_lines), BIND(verbose, &option_verbose),
    BIND(count, &option_count), BIND(deadline, &option_deadline), BIND(format, &option_format));

#define BIND_SESSION(member, row) XB_BIND(struct xb_link_session, member, row)
static const struct xb_option_field *const session_fields = XB_FIELDS(
    BIND_SESSION(backend_name, &xb_option_backend), BIND_SESSION(device_text, &option_device),
    BIND_SESSION(size_text, &option_size), BIND_SESSION(no_peers, &option_no_peers),
    BIND_SESSION(duration, &option_duration), BIND_SESSION(attempts, &option_attempts));

/* Reads "48.5" in GB/s as a size of so many GB: xb_size_parse() is the one reader of numbers. */
static enum xb_status read_rate(const char *option, const char *given, struct xb_limit *limit,
                                struct xb_error *error)
{
    char text[64];
    uint64_t bytes = 0;
    struct xb_error unit;
    if (given == NULL)
        return XB_OK;
    bool plain = strspn(given, "0123456789.") == strlen(given);
    snprintf(text, sizeof text, "%.40sGB", given);
    if (!plain || strlen(given) > 40 || xb_size_parse(text, &bytes, &unit) != XB_OK)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--%s: \"%.40s\" is not a bandwidth; write a number of GB/s, such as 48",
                       option, given);
    *limit =
        (struct xb_limit){.is_set = true, .value = (double)bytes, .source = XB_LIMIT_COMMAND_LINE};
    return XB_OK;
}

/* Reads the acceptances, "CODE=REASON" each; the words stay the configuration's. */
static enum xb_status read_accepted(const struct command *command, struct xb_link_limits *limits,
                                    struct xb_error *error)
{
    enum xb_status status = XB_OK;
    struct xb_error detail;
    for (size_t i = 0; status == XB_OK && i < command->accepted.count; i++) {
        const char *word = command->accepted.items[i], *is = strchr(word, '=');
        char code[64];
        snprintf(code, sizeof code, "%.*s", is != NULL ? (int)(is - word) : 63, word);
        status = xb_accept(code, is != NULL ? is + 1 : "", XB_LIMIT_COMMAND_LINE, limits, &detail);
    }
    if (status == XB_OK && command->baseline == NULL)
        status = xb_accept_check(limits, XB_LIMIT_COMMAND_LINE, &detail);
    return status == XB_OK ? XB_OK : XB_FAIL(error, status, "--accept: %s", detail.message);
}

/* Reads the file of --baseline: of a node that was OK, with copies as large as these. */
static enum xb_status read_baseline(struct command *command, struct xb_error *error)
{
    const char *path = command->baseline;
    struct xb_link_file *baseline = &command->then;
    struct xb_json_reader reader = {.place = {.path = path}};
    char *text = NULL;
    size_t length = 0;
    XB_TRY(xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, true, &text, &length, error));
    cJSON *tree = xb_json_read(&reader, text, length);
    free(text);
    *error = reader.error;
    enum xb_status status =
        tree != NULL ? xb_link_report_of_tree(path, tree, baseline, error) : reader.error.status;
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(tree, "config");
    const double size = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(config, "size"));
    cJSON_Delete(tree);
    XB_TRY(status);
    if (baseline->report.level != XB_LEVEL_OK)
        return XB_FAIL(
            error, XB_ERR_USAGE,
            "%s: its node is %s: accept what is so by design, mend the rest, and measure "
            "a baseline that is OK",
            path, xb_level_name(baseline->report.level));
    if (size != (double)command->bytes) /* or it is not known */
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: was not measured with the same --size: its bandwidths cannot be "
                       "compared",
                       path);
    command->session->baseline = &baseline->report;
    return XB_OK;
}

/* Shorter turns of load have hardly a reading. */
#define SHORTEST_SOAK_S 10.0
#define LONGEST_SOAK_S (7 * 86400.0)

static enum xb_status prepare(struct command *command, struct xb_error *error)
{
    struct xb_link_session *session = command->session;
    struct xb_link_limits *limits = &session->limits;
    xb_config_fill(command->config, session_fields, session);
    session->sysfs = XB_PCI_DEVICES;
    if (session->duration > 0 &&
        (session->duration < SHORTEST_SOAK_S || session->duration > LONGEST_SOAK_S))
        return XB_FAIL(error, XB_ERR_USAGE, "--duration: give %.0fs to %.0fh", SHORTEST_SOAK_S,
                       LONGEST_SOAK_S / 3600);
    session->spacing = 1;
    XB_TRY(xb_backend_check_name(session->backend_name, error));
    XB_TRY(xb_node_check(error));
    XB_TRY(xb_node_find(&command->node, error));
    xb_host_facts_read(&command->host);
    XB_TRY(xb_start_at_read(command->start_at, session->deadline, &session->start_at, error));
    session->deadline += session->duration;
    XB_TRY(read_rate("min-h2d", command->min_h2d, &limits->min_h2d, error));
    XB_TRY(read_rate("min-d2h", command->min_d2h, &limits->min_d2h, error));
    XB_TRY(read_rate("min-peer", command->min_peer, &limits->min_peer, error));
    if (command->expect != NULL)
        XB_TRY(xb_expect_parse(command->expect, XB_LIMIT_COMMAND_LINE, limits, error));
    if (command->limits != NULL)
        XB_TRY(xb_limits_file_open(command->limits, &command->file, error));
    session->file = command->file;
    XB_TRY(read_accepted(command, limits, error));
    session->node = command->node.name;
    return command->baseline != NULL ? read_baseline(command, error) : XB_OK;
}

/* Opens outputs before anything is measured: a user must not learn afterwards that nothing can be
 * written. */
static enum xb_status open_outputs(struct command *command, struct xb_error *error)
{
    const struct xb_json_place *json = &command->json_place;
    double deadline = command->session->deadline;
    xb_interrupt_catch(); /* A signal must leave no temporary file behind. */
    XB_TRY(
        xb_json_place_choose(command->json_path, command->json_lines, &command->json_place, error));
    if (json->path != NULL)
        XB_TRY(xb_cli_find_output(json->option, json->path, &command->json, error));
    XB_TRY(xb_cli_find_output("--output", command->output_path, &command->output, error));
    /* With JSON on standard output nothing else goes there. */
    if (command->json.is_stdout && command->output.is_stdout)
        xb_output_discard(&command->output);
    const struct xb_cli_place places[] = {{.option = json->option, .output = &command->json},
                                          {.option = "--output", .output = &command->output},
                                          {.option = "--limits", .input = command->limits},
                                          {.option = "--baseline", .input = command->baseline}};
    XB_TRY(xb_cli_open_places(places, sizeof places / sizeof places[0], deadline, error));
    if (json->is_line)
        xb_output_unbuffer(&command->json);
    /* Lines of progress stand above the table, and nowhere else where a format is read. */
    command->session->progress =
        command->format == TABLE && command->output.is_stdout && command->output.stream != NULL
            ? stdout
            : stderr;
    return XB_OK;
}

static bool write_output(struct xb_output *output, xb_link_writer *write,
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

/* Judges what the session has and writes it. Returns the exit code: that of a Nagios plugin. */
static int report(struct command *command, bool done)
{
    struct xb_link_session *session = command->session;
    struct xb_link_report report = {.version = XB_VERSION,
                                    .backend =
                                        session->backend != NULL ? session->backend->name : NULL,
                                    .probe = session->probe,
                                    .command = command->line.text,
                                    .no_pairs = session->no_pairs,
                                    .attempts_allowed = (unsigned)session->attempts,
                                    .deadline = command->deadline,
                                    .elapsed = xb_clock_now() - command->began,
                                    .cut = !done,
                                    .verbose = command->verbose,
                                    .in_a_line = command->json_place.is_line,
                                    .config = command->config,
                                    .start = &session->start,
                                    .node = command->node.name,
                                    .hostname = command->host.hostname,
                                    .kernel = command->host.kernel};
    xb_platform_read("", &report.platform);
    xb_link_session_judge(session, &report);
    if (session->baseline != NULL)
        xb_baseline_tell(&report, command->baseline, &command->then);
    snprintf(report.nothing, sizeof report.nothing, "%s", session->nothing);
    if (!done && report.device_count == 0 && report.nothing[0] == '\0')
        snprintf(report.nothing, sizeof report.nothing,
                 "the deadline came while it looked for devices");
    static xb_link_writer *const writers[] = {xb_link_table_write, xb_link_nagios_write,
                                              xb_link_nhc_write, xb_link_prometheus_write};
    bool written = write_output(&command->json, xb_link_json_write, &report);
    written = write_output(&command->output, writers[command->format], &report) && written;
    free(report.verdicts);
    free(report.pair_verdicts);
    return written ? (int)report.level : XB_LEVEL_UNKNOWN;
}

/* --format, once it is read. */
static enum format answers_in = TABLE;

/* Ends as UNKNOWN, because 2 would say that a link is broken. The formats of one line tell it on
 * standard output as well, because Nagios and NHC read nothing else. */
static int fail(const struct xb_error *error)
{
    (void)xb_cli_fail(error);
    if (answers_in == NAGIOS || answers_in == NHC)
        printf("XFERBENCH LINK UNKNOWN - %.*s\n", (int)strcspn(error->message, "|\n"),
               error->message);
    return XB_LEVEL_UNKNOWN;
}

/* Adds a word of the command line, quoted where a shell would read it otherwise. */
static void add_word(struct xb_words *line, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-_=+,./:@%";
    const char *quote = word[strspn(word, plain)] != '\0' || word[0] == '\0' ? "'" : "";
    xb_words_add(line, " %s", quote);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            xb_words_add(line, "'\\''");
        else
            xb_words_add(line, "%c", *word);
    xb_words_add(line, "%s", quote);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config, .began = xb_clock_now()};
    struct xb_error error;
    xb_words_add(&command.line, "xferbench");
    for (; *words != NULL; words++)
        add_word(&command.line, *words);
    xb_config_fill(config, fields, &command);
    answers_in = command.format;
    enum xb_status status = xb_link_session_open(&command.session, &error);
    if (status == XB_OK) {
        command.session->deadline = command.began + command.deadline;
        status = prepare(&command, &error);
    }
    if (status == XB_OK)
        status = open_outputs(&command, &error);
    if (status == XB_OK) {
        xb_start_at_say(command.session->start_at);
        status = xb_link_session_start(command.session, &error);
    }
    bool done = status == XB_OK && xb_link_session_wait(command.session);
    if (status == XB_OK) {
        error = command.session->error;
        status = error.status;
    }
    /* Devices that should be there and are not are in the report, like any other; all that the
     * runtime sees count as there. If the deadline came before it told them, nobody knows. */
    struct xb_link_session *session = command.session;
    size_t here = status == XB_OK ? session->device_count : 0;
    if (status == XB_OK && (done || here > 0))
        xb_baseline_add_missing(session);
    uint64_t missing = status == XB_OK ? session->probe.device_count + session->device_count - here
                                       : command.count;
    for (; missing < command.count && (done || session->device_count > 0); missing++) {
        struct xb_link_device *device = &session->devices[session->device_count++];
        device->missing = true;
        device->info.index = (unsigned)missing;
        snprintf(device->info.name, sizeof device->info.name, "a device that is not there");
    }
    int code = status == XB_OK ? report(&command, done) : fail(&error);
    xb_output_discard(&command.output);
    xb_output_discard(&command.json);
    xb_limits_file_close(command.file);
    xb_link_file_free(&command.then);
    xb_link_session_close(command.session);
    return code;
}

/* The command line cannot be read, so nobody knows which format it asks for. */
const struct xb_command xb_command_link = {
    .name = "link",
    .synopsis = "link",
    .summary = "are the links of each GPU what they should be?",
    .description = "Copies both ways and between GPUs, reads every hop of the link under load, and "
                   "judges: one answer, and an exit code.",
    .exits = "0 OK; 1 WARNING; 2 CRITICAL; 3 UNKNOWN: it could not be tested, or the command line "
             "is wrong. Codes of reasons: docs/link.md.",
    .example = "xferbench link --format nagios --expect gen5x16",
    .options = xb_link_rows,
    .run = run,
    .fail = fail};
