/* SPDX-License-Identifier: Apache-2.0 */
/* Did anything get slower from one file to another? */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include "cli.h"

#include "../core/plain_text.h"

#include "xferbench/comparison.h"
#include "xferbench/interrupt.h"
#include "xferbench/sink.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole command. */
struct command {
    struct xb_config config;
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

/* "2%" or "0.02", from 0 (or above it) to below `most`. */
static enum xb_status read_share(const struct xb_config *config, const char *option, bool zero,
                                 double most, double *share, struct xb_error *error)
{
    const char *text = xb_config_get(config, option)->text;
    size_t digits = strspn(text, "0123456789.");
    bool percent = strcmp(text + digits, "%") == 0;
    char *end = NULL;
    double number = strtod(text, &end); /* the program keeps the C locale */
    *share = percent ? number / 100.0 : number;
    bool whole = digits > 0 && end == text + digits && (percent || text[digits] == '\0');
    if (!whole || !(*share < most) || !(*share > 0.0 || (zero && *share == 0.0)))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--%s: \"%.40s\" is not a share %s 0 and below %g, such as 2%% or 0.02",
                       option, text, zero ? "from" : "above", most);
    return XB_OK;
}

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = &command->config;
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
    enum xb_status status = read_share(config, "threshold", true, 1.0, &request->threshold, error);
    if (status == XB_OK)
        status = read_share(config, "alpha", false, 0.5, &request->alpha, error);
    struct xb_error cause;
    if (status == XB_OK && gate->is_set &&
        xb_gates_parse(gate->text, &request->gates, &cause) != XB_OK)
        status = XB_FAIL(error, cause.status, "--gate: %s", cause.message);
    return status;
}

/* Of a file and itself every comparison passes, and whoever named it twice learns nothing. */
static enum xb_status refuse_same(const struct command *command, struct xb_error *error)
{
    char *const *paths = command->config.operands;
    if (xb_cli_is_one_file(paths[0], paths[1]))
        return XB_FAIL(error, XB_ERR_USAGE, "'%.200s' and '%.200s' are one and the same file",
                       paths[0], paths[1]);
    return XB_OK;
}

static enum xb_status read_files(struct command *command, struct xb_error *error)
{
    char *const *paths = command->config.operands;
    enum xb_status status = refuse_same(command, error);
    if (status == XB_OK)
        status = xb_record_read(paths[0], &command->baseline, error);
    if (status == XB_OK)
        status = xb_record_read(paths[1], &command->candidate, error);
    return status;
}

/* What `run` would have measured by without any option. */
static enum xb_status read_defaults(struct command *command, struct xb_error *error)
{
    char name[] = "run";
    char *argv[] = {name, NULL};
    struct xb_config config;
    enum xb_status status = xb_config_parse(xb_run_rows(), 1, argv, &config, error);
    if (status != XB_OK)
        return status;
    status = xb_record_of_config(&config, &command->defaults, error);
    command->request.defaults = &command->defaults;
    xb_config_free(&config);
    return status;
}

/* Nor may the output take the place of what it is made of. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = &command->config;
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    enum xb_status status =
        xb_output_find(&command->output, xb_config_get(config, "output")->text, error);
    const struct xb_place places[] = {{.option = "--output", .output = &command->output},
                                      {.option = "BASELINE", .input = config->operands[0]},
                                      {.option = "CANDIDATE", .input = config->operands[1]}};
    if (status == XB_OK)
        status = xb_cli_open_places(places, sizeof places / sizeof places[0], 0, error);
    return status;
}

/* ---- what came of it ---- */

/* https://no-color.org: any value but an empty one. */
static bool wants_colour(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) == 1 && (no == NULL || no[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

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
    const char *format = xb_config_get(&command->config, "format")->words[0];
    FILE *stream = command->output.stream;
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        if (strcmp(format, writers[i].format) == 0)
            return writers[i].write(stream, &command->comparison, error);
    return xb_compare_table_write(stream, &command->comparison, wants_colour(stream), error);
}

static int run(struct command *command)
{
    struct xb_error error;
    enum xb_status status = read_request(command, &error);
    if (status == XB_OK)
        status = read_files(command, &error);
    if (status == XB_OK)
        status = read_defaults(command, &error);
    if (status == XB_OK)
        status = xb_compare(&command->baseline, &command->candidate, &command->request,
                            &command->comparison, &error);
    if (status == XB_OK)
        status = open_output(command, &error);
    if (status == XB_OK) {
        status = write_comparison(command, &error);
        if (status == XB_OK)
            status = xb_output_commit(&command->output, &error);
        else /* a sink knows its stream, not the file's name */
            xb_say("'%s' was not written:", command->output.path);
    }
    return status == XB_OK ? xb_comparison_exit_code(&command->comparison) : fail(&error);
}

int xb_command_compare(int argc, char **argv)
{
    struct command command = {.request = {.threshold = 0}};
    struct xb_error error;
    int code = XB_EXIT_OK;
    if (xb_config_parse(xb_compare_rows, argc, argv, &command.config, &error) != XB_OK)
        return fail(&error);
    if (!xb_help_answer(&command.config, xb_help_print_compare, &code))
        code = run(&command);
    xb_output_discard(&command.output);
    xb_comparison_free(&command.comparison);
    xb_record_free(&command.candidate);
    xb_record_free(&command.baseline);
    xb_record_free(&command.defaults);
    xb_gates_free(&command.request.gates);
    xb_config_free(&command.config);
    return code;
}
