/* SPDX-License-Identifier: Apache-2.0 */
/* Did anything get slower from one file to another? */
#include "cli/command.h"

#include "base/interrupt.h"
#include "base/terminal.h"
#include "cli/places.h"
#include "comparison.h"
#include "run/request.h"

static const char *const formats[] = {
    "table", "json", "markdown", "github", "junit", "benchmark-action", NULL};

static const struct xb_option option_threshold = {
    XB_TEXT("threshold", "SHARES"),
    .default_text = "2%",
    .help =
        "How much worse is a regression: 2% or 0.02. Some cases may have another share, by a list: "
        "2%,managed=10%,pinned/h2d=1%, with cases as for --gate; the last one that fits counts.",
};
static const struct xb_option option_gate = {
    XB_TEXT("gate", "CASES"),
    .short_name = 'g',
    .help = "What counts for the exit code: MODE[/DIRECTION[/SIZE[/FIGURE]]], a list with commas, "
            "'*' for any, a range of sizes as 64M..1G; such as pinned,async/h2d/64M..1G. FIGURE is "
            "the name of one in the result files: */*/*/overlap. Without it bandwidths and "
            "latencies count, and without --gate those of all cases.",
};
static const struct xb_option option_force = {
    XB_FLAG("force"),
    .help = "Compare also what was not measured under the same conditions; the output says so.",
};
static const struct xb_option option_strict = {
    XB_FLAG("strict"),
    .help = "Refuse files of another driver, CUDA or HIP runtime, or kernel. Without it they are "
            "compared, and the output says what changed.",
};
static const struct xb_option option_format = {XB_FORMAT_OPTION(
    formats, "table, for people; json (docs/compare.schema.json); markdown, for step summaries and "
             "merge requests; github, annotations of a workflow; junit, with the figures in a "
             "failure's body; benchmark-action, the candidate's figures for "
             "github-action-benchmark's customBiggerIsBetter.")};

static const struct xb_option option_verbose = {
    XB_FLAG("verbose"),
    .short_name = 'v',
    .help = "Print all columns, the rule, and both sides of every condition that differs.",
};

static const struct xb_option *const compare_rows[] = {
    &option_threshold,      &xb_option_alpha, &option_gate,    &option_force,
    &option_strict,         &option_format,   &option_verbose, &xb_option_output,
    &xb_option_json_beside, XB_OPTIONS_OF_ALL};

/* The whole command. */
struct command {
    const struct xb_config *config;
    struct xb_comparison_request request;
    const char *threshold, *alpha, *gate; /* as they were written; no gate: NULL */
    bool verbose;
    struct xb_cli_outputs to;
    struct xb_record baseline, candidate;
    struct xb_record defaults; /* of the options that files have */
    struct xb_comparison comparison;
};

#define BIND(member, row) XB_BIND(struct command, member, row)
static const struct xb_option_field *const fields = XB_FIELDS(
    BIND(threshold, &option_threshold), BIND(alpha, &xb_option_alpha), BIND(gate, &option_gate),
    BIND(request.force, &option_force), BIND(request.strict, &option_strict),
    BIND(verbose, &option_verbose), BIND(to.format, &option_format),
    BIND(to.output_path, &xb_option_output), BIND(to.json_path, &xb_option_json_beside));

/* Ends with a code that is no verdict. */
static int fail(const struct xb_error *error)
{
    (void)xb_cli_fail(error);
    return XB_EXIT_USAGE;
}

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = command->config;
    struct xb_comparison_request *request = &command->request;
    if (config->operand_count != 2)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "compare takes two files, BASELINE and CANDIDATE, and not %zu; see "
                       "xferbench compare --help",
                       config->operand_count);
    request->threshold = 0.02; /* of what a list without a plain share leaves */
    struct xb_error cause;
    if (xb_thresholds_parse(command->threshold, &request->threshold, &request->thresholds,
                            &cause) != XB_OK)
        return XB_FAIL(error, cause.status, "--threshold: %s", cause.message);
    XB_TRY(xb_option_alpha_read(command->alpha, &request->alpha, error));
    if (command->gate == NULL)
        return XB_OK;
    if (xb_gates_parse(command->gate, &request->gates, &cause) != XB_OK)
        return XB_FAIL(error, cause.status, "--gate: %s", cause.message);
    return XB_OK;
}

static enum xb_status write_format(const void *own, FILE *stream, unsigned format,
                                   struct xb_error *error)
{
    /* In the order of `formats`. */
    static xb_compare_writer *const writers[] = {
        NULL,
        xb_compare_json_write,
        xb_compare_markdown_write,
        xb_compare_github_write,
        xb_compare_junit_write,
        xb_compare_benchmark_action_write,
    };
    const struct command *command = own;
    if (format != XB_FORMAT_TABLE)
        return writers[format](stream, &command->comparison, error);
    return xb_compare_table_write(stream, &command->comparison, xb_terminal_columns(stream),
                                  command->verbose, error);
}

/* Reads what is asked, compares and writes. */
static enum xb_status compare(struct command *command, struct xb_error *error)
{
    char *const *paths = command->config->operands;
    struct xb_cli_outputs *to = &command->to;
    struct xb_comparison_request *request = &command->request;
    XB_TRY(read_request(command, error));
    /* A file compared with itself always passes: whoever named it twice would learn nothing. */
    if (xb_cli_is_one_file(paths[0], paths[1]))
        return XB_FAIL(error, XB_ERR_USAGE, "'%.200s' and '%.200s' are one and the same file",
                       paths[0], paths[1]);
    XB_TRY(xb_record_read(paths[0], &command->baseline, error));
    XB_TRY(xb_record_read(paths[1], &command->candidate, error));
    request->defaults = &command->defaults;
    request->rows = xb_run_rows();
    XB_TRY(xb_record_of_defaults(request->rows, &command->defaults, error));
    XB_TRY(
        xb_compare(&command->baseline, &command->candidate, request, &command->comparison, error));
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    XB_TRY(xb_cli_find_outputs(to, error));
    const struct xb_cli_place places[] = {/* the output must not overwrite an input */
                                          {.option = "--output", .output = &to->output},
                                          {.option = "--json", .output = &to->json},
                                          {.option = "BASELINE", .input = paths[0]},
                                          {.option = "CANDIDATE", .input = paths[1]}};
    XB_TRY(xb_cli_open_places(places, sizeof places / sizeof places[0], 0, error));
    return xb_cli_write_outputs(to, write_format, command, error);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    struct xb_error error;
    (void)words;
    xb_config_fill(config, fields, &command);
    int code = compare(&command, &error) == XB_OK ? xb_comparison_exit_code(&command.comparison)
                                                  : fail(&error);
    xb_cli_discard_outputs(&command.to);
    xb_comparison_free(&command.comparison);
    xb_record_free(&command.candidate);
    xb_record_free(&command.baseline);
    xb_record_free(&command.defaults);
    xb_gates_free(&command.request.gates);
    xb_gates_free(&command.request.thresholds);
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
    .options = compare_rows,
    .run = run,
    .fail = fail,
};
