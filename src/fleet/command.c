/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs of many nodes are not like the others? */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/places.h"
#include "fleet/write/formats.h"
#include "link/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what it takes ---- */

static const char *const formats[] = {"table", "json", "csv", "prometheus", "nodelist", NULL};

static const struct xb_option option_expect_hosts = {
    XB_FILE("expect-hosts", "FILE|NAMES"),
    .help = "The nodes you expect: fleet names those without a result file. Give a file that "
            "exists, with names, or names in Slurm's notation: gpu[001-128],login1. With a slash "
            "(./hosts) it is always a file, with a comma at the end (hosts,) always names.",
};
static const struct xb_option option_limits = {
    XB_FILE("limits", "FILE"),
    .help = "Judge link tests by this file (docs/limits.schema.json) as link would have done, in "
            "place of the limits that they were measured under.",
};
static const struct xb_option option_baseline = {
    XB_FILE("baseline", "FILE"),
    .help = "What the nodes wrote when you accepted them: a file or a folder. fleet names what is "
            "below 0.95 of its own value there, and models that got slower on all nodes.",
};
static const struct xb_option option_format = {XB_FORMAT_OPTION(
    formats, "table: for people; json: everything (docs/fleet.schema.json); csv: one line per "
             "finding, then one per value; prometheus: for node_exporter's textfile collector; "
             "nodelist: the nodes to "
             "drain in Slurm's notation, nothing if there are none.")};

static const struct xb_option option_verbose = {
    XB_FLAG("verbose"),
    .short_name = 'v',
    .help = "In the table: every row and column, and for each figure how its values are spread.",
};

static const struct xb_option *const all_rows[] = {
    &option_expect_hosts, &option_limits,         &option_baseline,
    &xb_option_alpha,     &option_format,         &xb_option_output,
    &option_verbose,      &xb_option_json_beside, XB_OPTIONS_OF_ALL,
};

/* The whole command. */
struct command {
    const char *expect_hosts, *alpha; /* as they were written; NULL where not given */
    bool verbose, expected_file;      /* the expected nodes came from a file */
    struct xb_cli_outputs to;
    const struct xb_config *config;
    struct xb_fleet_request request;
    struct xb_hostlist expected;
    struct xb_limits_file *file;
    struct xb_fleet fleet, then; /* `then`: the baseline */
    struct xb_fleet_judgement judgement;
};

#define BIND(member, row) XB_BIND(struct command, member, row)
static const struct xb_option_field *const fields =
    XB_FIELDS(BIND(expect_hosts, &option_expect_hosts), BIND(request.limits_path, &option_limits),
              BIND(request.baseline_path, &option_baseline), BIND(alpha, &xb_option_alpha),
              BIND(verbose, &option_verbose), BIND(to.format, &option_format),
              BIND(to.output_path, &xb_option_output), BIND(to.json_path, &xb_option_json_beside));

/* ---- what is asked ---- */

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    const char *given = command->expect_hosts;
    struct xb_hostlist *expected = &command->expected;
    struct xb_error cause;
    struct stat found;
    /* It reads a pipe only if '-' says so: else a job without a terminal and without operands would
     * wait for documents. */
    if (command->config->operand_count == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "fleet needs what link or run wrote on many nodes: name files, folders, or "
                       "'-' for standard input%s",
                       isatty(STDIN_FILENO) ? "" : ", which it does not read without '-'");
    XB_TRY(xb_option_alpha_read(command->alpha, &command->request.alpha, error));
    if (command->request.limits_path != NULL)
        XB_TRY(xb_limits_file_open(command->request.limits_path, &command->file, error));
    if (given == NULL)
        return XB_OK;
    command->expected_file = strchr(given, '/') != NULL || stat(given, &found) == 0;
    enum xb_status status = command->expected_file ? xb_hostlist_read(given, expected, &cause)
                                                   : xb_hostlist_expand(given, expected, &cause);
    if (status != XB_OK)
        return XB_FAIL(error, status, "--expect-hosts, taken as %s: %s",
                       command->expected_file ? "a file" : "names of hosts", cause.message);
    command->request.expected = expected->names;
    command->request.expected_count = expected->count =
        xb_fleet_sort_names(expected->names, expected->count);
    /* Say whether the text was taken as a file or as names: else a misspelt file would look like a
     * missing host. */
    xb_say("--expect-hosts: %zu %s of the %s %.80s%s", expected->count,
           expected->count == 1 ? "node" : "nodes", command->expected_file ? "file" : "expression",
           given, strlen(given) > 80 ? "..." : "");
    return XB_OK;
}

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

/* ---- the output ---- */

#define READ(option, path) (places[count++] = (struct xb_cli_place){(option), NULL, (path)})

/* The output may not replace what was read: a document, in a folder neither, the names of the
 * expected nodes, or the limits. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    const struct xb_fleet *fleet = &command->fleet, *then = &command->then;
    const struct xb_config *config = command->config;
    struct xb_cli_place *places = xb_new(
        5 + config->operand_count + fleet->source_count + then->source_count, sizeof *places);
    size_t count = 0;
    places[count++] = (struct xb_cli_place){.option = "--output", .output = &command->to.output};
    places[count++] = (struct xb_cli_place){.option = "--json", .output = &command->to.json};
    for (size_t i = 0; i < config->operand_count; i++)
        READ("FILE", config->operands[i]);
    for (size_t i = 0; i < fleet->source_count; i++)
        READ("FILE", fleet->sources[i].path);
    for (size_t i = 0; i < then->source_count; i++)
        READ("--baseline", then->sources[i].path);
    READ("--baseline", command->request.baseline_path);
    READ("--limits", command->request.limits_path);
    if (command->expected_file)
        READ("--expect-hosts", command->expect_hosts);
    enum xb_status status = xb_cli_open_places(places, count, 0, error);
    free(places);
    return status;
}

static void say_left_out(const char *of, const struct xb_fleet *fleet)
{
    if (fleet->left_out_count > 0)
        xb_say("%s%zu %s left out; the first: %.300s: %.300s", of, fleet->left_out_count,
               fleet->left_out_count == 1 ? "file was" : "files were", fleet->left_out[0].what,
               fleet->left_out[0].why);
}

static enum xb_status write_format(const void *own, FILE *stream, unsigned format,
                                   struct xb_error *error)
{
    /* In the order of `formats`. */
    static xb_fleet_writer *const writers[] = {NULL, xb_fleet_json_write, xb_fleet_csv_write,
                                               xb_fleet_prometheus_write, xb_fleet_nodelist_write};
    const struct command *command = own;
    if (format == XB_FORMAT_TABLE)
        return xb_fleet_table_write(stream, &command->judgement, xb_terminal_columns(stream),
                                    command->verbose, error);
    if (format != XB_FORMAT_JSON) /* which tells all */
        say_left_out("", &command->fleet);
    return writers[format](stream, &command->judgement, error);
}

/* Reads what the fleet was. */
static enum xb_status read_baseline(struct command *command, struct xb_error *error)
{
    const char *path = command->request.baseline_path;
    struct xb_fleet *then = &command->then;
    if (path == NULL)
        return XB_OK;
    xb_fleet_open(then);
    XB_TRY(xb_fleet_read(then, path, error));
    command->request.baseline = then;
    if (then->source_count == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--baseline: nothing can be read: %.200s: %.300s",
                       then->left_out[0].what, then->left_out[0].why);
    say_left_out("--baseline: ", then);
    return XB_OK;
}

static enum xb_status judge(struct command *command, struct xb_error *error)
{
    enum xb_status status = read_request(command, error);
    /* Only now: until here a signal may kill, also one that comes while --expect-hosts waits for
     * the writer of a pipe. From here on it would leave a temporary file behind. */
    xb_interrupt_catch();
    XB_TRY(status);
    XB_TRY(xb_cli_find_outputs(&command->to, error));
    xb_fleet_open(&command->fleet);
    command->fleet.limits = command->file;
    for (size_t i = 0; status == XB_OK && i < command->config->operand_count; i++) {
        const char *path = command->config->operands[i];
        show_progress(command, i, path);
        status = xb_fleet_read(&command->fleet, path, error);
        if (status == XB_OK && xb_interrupt_signal() != 0)
            status =
                XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal while reading '%.300s'", path);
    }
    show_progress(command, 0, NULL);
    XB_TRY(status);
    XB_TRY(read_baseline(command, error));
    xb_fleet_judge(&command->fleet, &command->request, &command->judgement);
    if (command->request.baseline != NULL && command->judgement.compared == 0 &&
        command->fleet.value_count > 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--baseline %.300s has no value of a GPU that is here: its first node is "
                       "%.64s, the first here %.64s",
                       command->request.baseline_path, command->then.nodes[0]->name,
                       command->fleet.nodes[0]->name);
    XB_TRY(open_output(command, error));
    return xb_cli_write_outputs(&command->to, write_format, command, error);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    struct xb_error error;
    (void)words;
    xb_config_fill(config, fields, &command);
    int code = judge(&command, &error) == XB_OK ? xb_fleet_exit_code(&command.judgement)
                                                : xb_cli_fail_as_usage(&error);
    if (config->operand_count == 0)
        fputs("  xferbench fleet results/\n"
              "  xferbench fleet --expect-hosts 'gpu[001-128]' results/*.json\n"
              "  clush -N -w 'gpu[001-128]' xferbench link --json-lines - | xferbench fleet -\n",
              stderr);
    xb_cli_discard_outputs(&command.to);
    xb_fleet_judgement_free(&command.judgement);
    xb_fleet_free(&command.fleet);
    xb_fleet_free(&command.then);
    xb_hostlist_free(&command.expected);
    xb_limits_file_close(command.file);
    return code;
}

/* docs/fleet-output.md says the same. */
const struct xb_column_help xb_fleet_column_helps[] = {
    {"NODE", "The node's name. A long one may have \"...\" in its middle."},
    {"GPU", "Its number; 0>4: a copy from GPU 0 to GPU 4; all 8, or 2, 5-7: GPUs of the node that "
            "are off alike in that figure; -: the node."},
    {"PCI", "The GPU's PCI address."},
    {"UUID", "The GPU's UUID."},
    {"FIGURE", "What was measured: link h2d, link d2h, link peer, or a row of run."},
    {"VALUE", "What this GPU reached."},
    {"MEDIAN", "The median of its siblings: GPUs of the same model on the same kind of link. Of "
               "below-baseline: what the GPU reached when it was accepted."},
    {"DEVIATION", "How far the value is from that."},
    {"SPREADS", "The same distance, in spreads of the siblings. The spread is below the table."},
    {"MORE", "How many other figures of these GPUs are named. The row shows the worst."},
    {"REASON", "Why it is named. Lines below the table say what to do."},
    {NULL, NULL},
};

const struct xb_command xb_command_fleet = {
    .name = "fleet",
    .synopsis = "fleet FILE|FOLDER|-...",
    .summary = "which GPUs of many nodes are not like the others?",
    .description = "Reads what link or run wrote as JSON on many nodes and judges each GPU by its "
                   "siblings: the GPUs of the same model on the same kind of link. Names slow "
                   "GPUs, failures, wrong data and missing nodes, and lists the nodes to drain. A "
                   "file may hold several documents; in a folder it reads all files that end with "
                   ".json, .jsonl or .ndjson; '-' is standard input.",
    .exits = "0 no findings; 1 findings, or a file could not be read; 2 none could be read, or "
             "the command line is wrong; 3 too few siblings to judge, and no baseline. "
             "docs/fleet.md tells how it "
             "judges.",
    .example = "xferbench fleet results/ --format nodelist",
    .operands = XB_OPERANDS_FILES,
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail_as_usage,
};
