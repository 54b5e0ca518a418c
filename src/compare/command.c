/* SPDX-License-Identifier: Apache-2.0 */
/* Did anything get slower from one file to another? */
#include "command.h"

#include "base/interrupt.h"
#include "base/output.h"
#include "base/plain_text.h"
#include "base/terminal.h"
#include "cli/file_name.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/places.h"
#include "comparison.h"
#include "run/command.h"
#include "xferbench/record.h"

#include <stdlib.h>
#include <string.h>

/* The whole command. */
struct command {
    const struct xb_config *config;
    struct xb_comparison_request request;
    struct xb_record baseline, candidate;
    struct xb_record defaults; /* of the options that files have */
    struct xb_comparison comparison;
    struct xb_output output;
};

/* Whatever kept it from a verdict: never a code that is one. */
static int fail(const struct xb_error *error)
{
    (void)xb_cli_fail(error);
    return XB_EXIT_USAGE;
}

/* ---- what is asked ---- */

static enum xb_status read_thresholds(const struct xb_config *config,
                                      struct xb_comparison_request *request, struct xb_error *error)
{
    struct xb_error cause;
    request->threshold = 0.02; /* of what a list without a plain share leaves */
    enum xb_status status = xb_thresholds_parse(xb_config_get(config, "threshold")->text,
                                                &request->threshold, &request->thresholds, &cause);
    return status == XB_OK ? XB_OK : XB_FAIL(error, cause.status, "--threshold: %s", cause.message);
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
    if (xb_config_get(config, "format")->word_count != 1)
        return XB_FAIL(error, XB_ERR_USAGE, "--format: one at a time");
    request->force = xb_config_get(config, "force")->flag;
    request->strict = xb_config_get(config, "strict")->flag;
    enum xb_status status = read_thresholds(config, request, error);
    if (status != XB_OK)
        return status;
    status = xb_option_alpha_read(config, &request->alpha, error);
    if (status != XB_OK || !gate->is_set)
        return status;
    struct xb_error cause;
    if (xb_gates_parse(gate->text, &request->gates, &cause) != XB_OK)
        return XB_FAIL(error, cause.status, "--gate: %s", cause.message);
    return XB_OK;
}

/* Of a file and itself every comparison passes, and whoever named it twice learns nothing. */
static enum xb_status refuse_same(const struct command *command, struct xb_error *error)
{
    char *const *paths = command->config->operands;
    if (xb_cli_is_one_file(paths[0], paths[1]))
        return XB_FAIL(error, XB_ERR_USAGE, "'%.200s' and '%.200s' are one and the same file",
                       paths[0], paths[1]);
    return XB_OK;
}

static enum xb_status read_files(struct command *command, struct xb_error *error)
{
    char *const *paths = command->config->operands;
    enum xb_status status = refuse_same(command, error);
    if (status != XB_OK)
        return status;
    status = xb_record_read(paths[0], &command->baseline, error);
    if (status != XB_OK)
        return status;
    return xb_record_read(paths[1], &command->candidate, error);
}

/* The request borrows them. */
static enum xb_status read_defaults(struct command *command, struct xb_error *error)
{
    command->request.defaults = &command->defaults;
    command->request.rows = xb_run_rows();
    return xb_record_of_defaults(command->request.rows, &command->defaults, error);
}

/* Nor may the output take the place of what it is made of. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = command->config;
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    enum xb_status status = xb_cli_find_output("--output", xb_config_get(config, "output")->text,
                                               &command->output, error);
    const struct xb_cli_place places[] = {{.option = "--output", .output = &command->output},
                                          {.option = "BASELINE", .input = config->operands[0]},
                                          {.option = "CANDIDATE", .input = config->operands[1]}};
    if (status != XB_OK)
        return status;
    return xb_cli_open_places(places, sizeof places / sizeof places[0], 0, error);
}

/* ---- what came of it ---- */

static enum xb_status write_comparison(struct command *command, struct xb_error *error)
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
    const char *format = xb_config_get(command->config, "format")->words[0];
    FILE *stream = command->output.stream;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(format, writers[i].format) == 0)
            return writers[i].write(stream, &command->comparison, error);
    return xb_compare_table_write(stream, &command->comparison, xb_terminal_columns(stream),
                                  xb_terminal_has_colours(stream), error);
}

/* Reads what is asked, and compares. */
static enum xb_status compare_files(struct command *command, struct xb_error *error)
{
    enum xb_status status = read_request(command, error);
    if (status != XB_OK)
        return status;
    status = read_files(command, error);
    if (status != XB_OK)
        return status;
    status = read_defaults(command, error);
    if (status != XB_OK)
        return status;
    return xb_compare(&command->baseline, &command->candidate, &command->request,
                      &command->comparison, error);
}

static enum xb_status write_output(struct command *command, struct xb_error *error)
{
    enum xb_status status = open_output(command, error);
    if (status != XB_OK)
        return status;
    status = write_comparison(command, error);
    if (status == XB_OK)
        return xb_output_commit(&command->output, error);
    xb_say("'%s' was not written:", command->output.path); /* a format does not know its file */
    return status;
}

static int compare(struct command *command)
{
    struct xb_error error;
    if (compare_files(command, &error) != XB_OK || write_output(command, &error) != XB_OK)
        return fail(&error);
    return xb_comparison_exit_code(&command->comparison);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    (void)words;
    int code = compare(&command);
    xb_output_discard(&command.output);
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
    .rows = xb_compare_rows,
    .run = run,
    .fail = fail,
};
