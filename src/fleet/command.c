/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs of many nodes are not like the others? */
#define _POSIX_C_SOURCE 200809L
#include "command.h"

#include "base/interrupt.h"
#include "base/note.h"
#include "base/output.h"
#include "base/plain_text.h"
#include "base/terminal.h"
#include "cli/file_name.h"
#include "cli/options.h"
#include "cli/places.h"
#include "formats.h"
#include "hostlist.h"
#include "patient_input.h"
#include "read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The whole command. */
struct command {
    const struct xb_config *config;
    struct xb_fleet_request request;
    struct xb_hostlist expected;
    bool expected_file; /* they came from a file */
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
    struct xb_output output;
};

/* A failure must not end with the exit code of a verdict. */
static int fail(const struct xb_error *error)
{
    int code = xb_cli_fail(error);
    return code == XB_EXIT_FAILED ? XB_EXIT_USAGE : code;
}

/* ---- what is asked ---- */

/* fleet reads a pipe only if '-' says so: else a job without a terminal and without operands would
 * wait for documents. */
static enum xb_status refuse_nothing(const struct xb_config *config, struct xb_error *error)
{
    if (config->operand_count > 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "fleet needs what link or run wrote on many nodes: name files, folders, or '-' "
                   "for standard input%s",
                   isatty(STDIN_FILENO) ? "" : ", which it does not read without '-'");
}

static void tell_usual(void)
{
    fputs("  xferbench fleet results/\n"
          "  xferbench fleet --expect-hosts 'gpu[001-128]' results/*.json\n"
          "  clush -N -w 'gpu[001-128]' xferbench link --json-lines - | xferbench fleet -\n",
          stderr);
}

static bool names_a_file(const char *text)
{
    struct stat found;
    return strchr(text, '/') != NULL || stat(text, &found) == 0;
}

static enum xb_status read_expected(struct command *command, struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(command->config, "expect-hosts");
    struct xb_hostlist *expected = &command->expected;
    struct xb_error cause;
    if (!value->is_set)
        return XB_OK;
    command->expected_file = names_a_file(value->text);
    enum xb_status status = command->expected_file
                                ? xb_hostlist_read(value->text, expected, &cause)
                                : xb_hostlist_expand(value->text, expected, &cause);
    if (status != XB_OK)
        return XB_FAIL(error, status, "--expect-hosts, taken as %s: %s",
                       command->expected_file ? "a file" : "names of hosts", cause.message);
    command->request.expected = expected->names;
    command->request.expected_count = expected->count;
    return XB_OK;
}

/* Says whether it took the text as a file or as names: else a misspelt file would look like a
 * missing host. */
static void tell_expected(const struct command *command)
{
    const struct xb_value *value = xb_config_get(command->config, "expect-hosts");
    const struct xb_hostlist *expected = &command->expected;
    if (value->is_set)
        xb_say("--expect-hosts: %zu %s of the %s %.80s%s", expected->count,
               expected->count == 1 ? "node" : "nodes",
               command->expected_file ? "file" : "expression", value->text,
               strlen(value->text) > 80 ? "..." : "");
}

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    enum xb_status status = refuse_nothing(command->config, error);
    if (status != XB_OK)
        return status;
    if (xb_config_get(command->config, "format")->word_count != 1)
        return XB_FAIL(error, XB_ERR_USAGE, "--format: one at a time");
    status = xb_option_alpha_read(command->config, &command->request.alpha, error);
    return status == XB_OK ? read_expected(command, error) : status;
}

/* ---- reading ---- */

/* Shows in one line, which it overwrites, which operand it reads. A `path` of NULL clears the
 * line. */
static void show_progress(const struct command *command, size_t index, const char *path)
{
    char plain[256];
    if (!xb_terminal_has_cursor(stderr))
        return;
    fputs("\r\033[K", stderr);
    if (path != NULL) {
        snprintf(plain, sizeof plain, "%s", path);
        xb_make_plain(plain);
        fprintf(stderr, "reading %zu of %zu: %.*s", index + 1, command->config->operand_count,
                (int)xb_terminal_columns(stderr) - 30, plain);
    }
    fflush(stderr);
}

static enum xb_status read_standard_input(struct xb_fleet *fleet, struct xb_error *error)
{
    FILE *stream = xb_patient_input_open(STDIN_FILENO, false);
    if (stream == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read standard input");
    enum xb_status status = xb_fleet_read_stream(fleet, "-", stream, error);
    fclose(stream);
    return status;
}

static enum xb_status read_operand(struct xb_fleet *fleet, const char *path, struct xb_error *error)
{
    enum xb_status status = strcmp(path, "-") == 0 ? read_standard_input(fleet, error)
                                                   : xb_fleet_read(fleet, path, error);
    if (status == XB_OK && xb_interrupt_signal() != 0)
        return XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal while reading '%.300s'", path);
    return status;
}

static enum xb_status read_all(struct command *command, struct xb_error *error)
{
    char *const *paths = command->config->operands;
    enum xb_status status = xb_fleet_open(&command->fleet, error);
    for (size_t i = 0; status == XB_OK && i < command->config->operand_count; i++) {
        show_progress(command, i, paths[i]);
        status = read_operand(&command->fleet, paths[i], error);
    }
    show_progress(command, 0, NULL);
    return status;
}

/* ---- the output ---- */

/* The output may not replace what was read: a document, in a folder neither, or the names of the
 * expected nodes. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    const struct xb_fleet *fleet = &command->fleet;
    const struct xb_config *config = command->config;
    size_t others = 1 + config->operand_count + fleet->source_count;
    size_t count = others + command->expected_file;
    struct xb_cli_place *places = calloc(count, sizeof *places);
    if (places == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the names of %zu files", count);
    if (command->expected_file)
        places[others] = (struct xb_cli_place){
            .option = "--expect-hosts", .input = xb_config_get(config, "expect-hosts")->text};
    places[0] = (struct xb_cli_place){.option = "--output", .output = &command->output};
    for (size_t i = 0; i < config->operand_count; i++)
        places[1 + i] = (struct xb_cli_place){.option = "FILE", .input = config->operands[i]};
    for (size_t i = 0; i < fleet->source_count; i++)
        places[1 + config->operand_count + i] =
            (struct xb_cli_place){.option = "FILE", .input = fleet->sources[i].path};
    enum xb_status status = xb_cli_open_places(places, count, 0, error);
    free(places);
    return status;
}

/* For formats whose lines cannot say it. */
static void tell_left_out(const struct xb_fleet *fleet)
{
    if (fleet->left_out_count > 0)
        xb_say("%zu %s left out; the first: %.300s: %.300s", fleet->left_out_count,
               fleet->left_out_count == 1 ? "document was" : "documents were",
               fleet->left_out[0].what, fleet->left_out[0].why);
}

static enum xb_status write_judgement(struct command *command, struct xb_error *error)
{
    static const struct {
        const char *format;
        enum xb_status (*write)(FILE *, const struct xb_fleet_judgement *, struct xb_error *);
        bool tells_all;
    } writers[] = {
        {"json", xb_fleet_json_write, true},
        {"csv", xb_fleet_csv_write, false},
        {"prometheus", xb_fleet_prometheus_write, false},
        {"nodelist", xb_fleet_nodelist_write, false},
    };
    const char *format = xb_config_get(command->config, "format")->words[0];
    FILE *stream = command->output.stream;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        if (strcmp(format, writers[i].format) != 0)
            continue;
        if (!writers[i].tells_all)
            tell_left_out(&command->fleet);
        return writers[i].write(stream, &command->judgement, error);
    }
    return xb_fleet_table_write(stream, &command->judgement, xb_terminal_columns(stream),
                                xb_terminal_has_colours(stream), error);
}

static enum xb_status write_output(struct command *command, struct xb_error *error)
{
    enum xb_status status = open_output(command, error);
    if (status != XB_OK)
        return status;
    status = write_judgement(command, error);
    if (status == XB_OK)
        return xb_output_commit(&command->output, error);
    if (strcmp(command->output.path, "-") != 0)
        xb_say("'%s' was not written:", command->output.path); /* a format does not know its file */
    return status;
}

/* ---- the command ---- */

static enum xb_status judge(struct command *command, struct xb_error *error)
{
    const char *path = xb_config_get(command->config, "output")->text;
    enum xb_status status = read_request(command, error);
    /* Only now: until here a signal may kill, also one that comes while --expect-hosts waits for
     * the writer of a pipe. From here on it would leave a temporary file behind. */
    xb_interrupt_catch();
    if (status == XB_OK)
        tell_expected(command);
    if (status == XB_OK)
        status = xb_cli_find_output("--output", path, &command->output, error); /* before reading */
    if (status == XB_OK)
        status = read_all(command, error);
    if (status == XB_OK)
        status = xb_fleet_judge(&command->fleet, &command->request, &command->judgement, error);
    return status == XB_OK ? write_output(command, error) : status;
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    struct xb_error error;
    (void)words;
    int code =
        judge(&command, &error) == XB_OK ? xb_fleet_exit_code(&command.judgement) : fail(&error);
    if (config->operand_count == 0)
        tell_usual();
    xb_output_discard(&command.output);
    xb_fleet_judgement_free(&command.judgement);
    xb_fleet_free(&command.fleet);
    xb_hostlist_free(&command.expected);
    return code;
}

const struct xb_command xb_command_fleet = {
    .name = "fleet",
    .synopsis = "fleet FILE|FOLDER|-...",
    .summary = "which GPUs of many nodes are not like the others?",
    .description =
        "Reads what link or run wrote as JSON on many nodes and judges each GPU by its siblings: "
        "the GPUs of the same model on the same kind of link. Names slow GPUs, failures, wrong "
        "data and missing nodes, and lists the nodes to drain. A file may hold several documents; "
        "in a folder it reads all files that end with .json, .jsonl or .ndjson; '-' is standard "
        "input.",
    .exits = "0 no findings; 1 findings, or a document could not be read; 2 none could be read, or "
             "the command line is wrong; 3 too few siblings to judge. docs/fleet.md tells how it "
             "judges.",
    .example = "xferbench fleet results/ --format nodelist",
    .operands = XB_OPERANDS_FILES,
    .rows = xb_fleet_rows,
    .run = run,
    .fail = fail,
};
