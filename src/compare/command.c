/* SPDX-License-Identifier: Apache-2.0 */
/* Did anything get slower from one file to another? */
#include "cli/command.h"

#include "base/interrupt.h"
#include "base/output.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/places.h"
#include "comparison.h"
#include "run/command.h"
#include "xferbench/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static const char *const formats[] = {
    "table", "json", "markdown", "github", "junit", "benchmark-action", NULL};

static const struct xb_option option_threshold = {
    .name = "threshold",
    .type = XB_OPTION_TEXT,
    .argument = "SHARES",
    .default_text = "2%",
    .help =
        "How much worse is a regression: 2% or 0.02. Some cases may have another share, by a list: "
        "2%,managed=10%,pinned/h2d=1%, with cases as for --gate; the last one that fits counts.",
};
static const struct xb_option option_gate = {
    .name = "gate",
    .short_name = 'g',
    .type = XB_OPTION_TEXT,
    .argument = "CASES",
    .help =
        "What counts for the exit code: MODE[/DIRECTION[/SIZE[/FIGURE]]], a list with commas, '*' "
        "for any, a range of sizes as 64M..1G; such as pinned,async/h2d/64M..1G. FIGURE is the "
        "name of one in the result files: */*/*/overlap. Without it bandwidths and latencies "
        "count, and without --gate those of all cases.",
};
static const struct xb_option option_force = {
    .name = "force",
    .type = XB_OPTION_FLAG,
    .help = "Compare also what was not measured under the same conditions; the output says so.",
};
static const struct xb_option option_strict = {
    .name = "strict",
    .type = XB_OPTION_FLAG,
    .help = "Refuse files of another driver, CUDA or HIP runtime, or kernel. Without it they are "
            "compared, and the output says what changed.",
};
static const struct xb_option option_format = XB_FORMAT_OPTION(
    formats, "table, for people; json (docs/compare.schema.json); markdown, for step summaries and "
             "merge requests; github, annotations of a workflow; junit, with the figures in a "
             "failure's body; benchmark-action, the candidate's figures for "
             "github-action-benchmark's customBiggerIsBetter.");

static const struct xb_option option_verbose = {
    .name = "verbose",
    .short_name = 'v',
    .type = XB_OPTION_FLAG,
    .help = "Print all columns, the rule, and both sides of every condition that differs.",
    .selects = true,
};

static const struct xb_option *const compare_rows[] = {
    &option_threshold,      &xb_option_alpha, &option_gate,    &option_force,
    &option_strict,         &option_format,   &option_verbose, &xb_option_output,
    &xb_option_json_beside, XB_OPTIONS_OF_ALL};

static const struct xb_option *const *rows(void)
{
    return compare_rows;
}

/* ---- what is asked ---- */

/* The whole command. */
struct command {
    const struct xb_config *config;
    struct xb_comparison_request request;
    struct xb_record baseline, candidate;
    struct xb_record defaults; /* of the options that files have */
    struct xb_comparison comparison;
    struct xb_output output, json; /* those that are wanted */
};

/* Whatever kept it from a verdict: never a code that is one. */
static int fail(const struct xb_error *error)
{
    (void)xb_cli_fail(error);
    return XB_EXIT_USAGE;
}

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = command->config;
    const struct xb_value *gate = xb_config_get(config, "gate");
    struct xb_comparison_request *request = &command->request;
    if (config->operand_count != 2)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "compare takes two files, BASELINE and CANDIDATE, and not %zu; see "
                       "xferbench compare --help",
                       config->operand_count);
    request->force = xb_config_get(config, "force")->flag;
    request->strict = xb_config_get(config, "strict")->flag;
    request->threshold = 0.02; /* of what a list without a plain share leaves */
    struct xb_error cause;
    if (xb_thresholds_parse(xb_config_get(config, "threshold")->text, &request->threshold,
                            &request->thresholds, &cause) != XB_OK)
        return XB_FAIL(error, cause.status, "--threshold: %s", cause.message);
    XB_TRY(xb_option_alpha_read(config, &request->alpha, error));
    if (!gate->is_set)
        return XB_OK;
    if (xb_gates_parse(gate->text, &request->gates, &cause) != XB_OK)
        return XB_FAIL(error, cause.status, "--gate: %s", cause.message);
    return XB_OK;
}

/* The output must not overwrite an input. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = command->config;
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    enum xb_status status = xb_cli_find_outputs(config, &command->output, &command->json, error);
    const struct xb_cli_place places[] = {{.option = "--output", .output = &command->output},
                                          {.option = "--json", .output = &command->json},
                                          {.option = "BASELINE", .input = config->operands[0]},
                                          {.option = "CANDIDATE", .input = config->operands[1]}};
    if (status != XB_OK)
        return status;
    return xb_cli_open_places(places, sizeof places / sizeof places[0], 0, error);
}

/* ---- what came of it ---- */

static enum xb_status write_format(const void *own, FILE *stream, const char *format,
                                   struct xb_error *error)
{
    static const struct {
        const char *format;
        enum xb_status (*write)(FILE *, const struct xb_comparison *, struct xb_error *);
    } writers[] = {
        {"json", xb_compare_json_write},
        {"markdown", xb_compare_markdown_write},
        {"github", xb_compare_github_write},
        {"junit", xb_compare_junit_write},
        {"benchmark-action", xb_compare_benchmark_action_write},
    };
    const struct command *command = own;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(format, writers[i].format) == 0)
            return writers[i].write(stream, &command->comparison, error);
    return xb_compare_table_write(stream, &command->comparison, xb_terminal_columns(stream),
                                  xb_config_get(command->config, "verbose")->flag, error);
}

/* Reads what is asked, compares and writes. */
static enum xb_status compare(struct command *command, struct xb_error *error)
{
    char *const *paths = command->config->operands;
    struct xb_comparison_request *request = &command->request;
    enum xb_status status = read_request(command, error);
    /* A file compared with itself always passes: whoever named it twice would learn nothing. */
    if (status == XB_OK && xb_cli_is_one_file(paths[0], paths[1]))
        status = XB_FAIL(error, XB_ERR_USAGE, "'%.200s' and '%.200s' are one and the same file",
                         paths[0], paths[1]);
    if (status == XB_OK)
        status = xb_record_read(paths[0], &command->baseline, error);
    if (status == XB_OK)
        status = xb_record_read(paths[1], &command->candidate, error);
    request->defaults = &command->defaults;
    request->rows = xb_run_rows();
    if (status == XB_OK)
        status = xb_record_of_defaults(request->rows, &command->defaults, error);
    if (status == XB_OK)
        status = xb_compare(&command->baseline, &command->candidate, request, &command->comparison,
                            error);
    if (status == XB_OK)
        status = open_output(command, error);
    return status == XB_OK ? xb_cli_write_outputs(command->config, &command->output, &command->json,
                                                  write_format, command, error)
                           : status;
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    struct xb_error error;
    (void)words;
    int code = compare(&command, &error) == XB_OK ? xb_comparison_exit_code(&command.comparison)
                                                  : fail(&error);
    xb_output_discard(&command.output);
    xb_output_discard(&command.json);
    xb_comparison_free(&command.comparison);
    xb_record_free(&command.candidate);
    xb_record_free(&command.baseline);
    xb_record_free(&command.defaults);
    xb_gates_free(&command.request.gates);
    xb_thresholds_free(&command.request.thresholds);
    return code;
}

const struct xb_command xb_command_compare = {
    .name = "compare",
    .synopsis = "compare BASELINE CANDIDATE",
    .summary = "did anything get slower between two JSON files?",
    .description = "Says whether anything got slower from one file to the other. The files are "
                   "those of `xferbench --processes 8 --json FILE`: processes are compared, not "
                   "the samples within one. Rows that were measured with other settings are "
                   "listed and not compared.",
    .exits = "0 no regression; 1 regression; 2 the command line is wrong, or a file cannot be read "
             "or is not one of xferbench; 3 inconclusive; 4 not comparable. docs/compare.md tells "
             "how.",
    .example = "xferbench compare baseline.json candidate.json",
    .operands = XB_OPERANDS_FILES,
    .rows = rows,
    .run = run,
    .fail = fail,
};
