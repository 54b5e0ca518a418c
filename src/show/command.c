/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of xferbench says, as the command that wrote it would print it. */
#include "command.h"

#include "base/file_text.h"
#include "base/json_read.h"
#include "base/plain_text.h"
#include "base/terminal.h"
#include "cli/help.h"
#include "cli/options.h"
#include "compare/read.h"
#include "link/read.h"
#include "run/formats.h"
#include "xferbench/record.h"

#include <stdlib.h>
#include <string.h>

static enum xb_status show_record(const char *path, const char *text, size_t length,
                                  struct xb_error *error)
{
    struct xb_record record;
    enum xb_status status = xb_record_parse(path, text, length, &record, error);
    if (status != XB_OK)
        return status;
    status = xb_table_write(stdout, &record, error);
    xb_record_free(&record);
    return status;
}

static enum xb_status show_link(const char *path, const char *text, size_t length,
                                struct xb_error *error)
{
    struct xb_link_file file;
    enum xb_status status = xb_link_report_parse(path, text, length, &file, error);
    if (status != XB_OK)
        return status;
    status = xb_link_table_write(stdout, &file.report, error);
    xb_link_file_free(&file);
    return status;
}

static enum xb_status show_comparison(const char *path, const char *text, size_t length,
                                      struct xb_error *error)
{
    struct xb_comparison_file file;
    enum xb_status status = xb_comparison_parse(path, text, length, &file, error);
    if (status != XB_OK)
        return status;
    status = xb_compare_table_write(stdout, &file.comparison, xb_terminal_columns(stdout),
                                    xb_terminal_has_colours(stdout), error);
    xb_comparison_file_free(&file);
    return status;
}

static const struct {
    const char *schema;
    enum xb_status (*show)(const char *path, const char *text, size_t length,
                           struct xb_error *error);
} kinds[] = {
    {"xferbench.result", show_record},
    {"xferbench.processes", show_record},
    {"xferbench.link", show_link},
    {"xferbench.compare", show_comparison},
};

/* Whoever reads the file checks the rest of it. */
static enum xb_status show_text(const char *path, const char *text, size_t length,
                                struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *root = xb_json_read(&reader, text, length);
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    size_t kind = 0;
    while (schema != NULL && kind < sizeof kinds / sizeof *kinds &&
           strcmp(schema, kinds[kind].schema) != 0)
        kind++;
    bool known = schema != NULL && kind < sizeof kinds / sizeof *kinds;
    if (!known)
        xb_json_refuse(&reader, "schema",
                       "is not that of a file which run, link or compare wrote as JSON");
    cJSON_Delete(root);
    if (known)
        return kinds[kind].show(path, text, length, error);
    *error = reader.error;
    return error->status;
}

static enum xb_status show_file(const char *path, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    enum xb_status status =
        xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, true, &text, &length, error);
    if (status != XB_OK)
        return status;
    status = show_text(path, text, length, error);
    free(text);
    return status;
}

/* Above what each of several files says. */
static void print_title(const char *path, bool first)
{
    char plain[4096];
    printf("%s==> %s <==\n\n", first ? "" : "\n", xb_plain_text(path, plain, sizeof plain));
}

static int run(struct xb_config *config, char *const *words)
{
    int code = XB_EXIT_OK;
    (void)words;
    if (config->operand_count == 0) {
        struct xb_error error;
        (void)XB_FAIL(&error, XB_ERR_USAGE, "show takes the files to show: xferbench show FILE...");
        return xb_cli_fail(&error);
    }
    for (size_t i = 0; i < config->operand_count; i++) {
        struct xb_error error;
        if (config->operand_count > 1)
            print_title(config->operands[i], i == 0);
        if (show_file(config->operands[i], &error) == XB_OK)
            continue;
        (void)fflush(stdout); /* on a terminal or in a log the message stands where it belongs */
        xb_cli_fail(&error);
        code = XB_EXIT_FAILED;
    }
    return code;
}

static const struct xb_option *const *rows(void)
{
    static const struct xb_option *const all[] = {&xb_option_plain_help, &xb_option_version, NULL};
    return all;
}

static void print_help(FILE *stream)
{
    fputs("xferbench show FILE...: prints what files say that run or link wrote with --json, or "
          "compare\nwith --format json: the tables and notes that the command printed. Nothing is "
          "measured, and no\nGPU is needed.\n\nOptions\n",
          stream);
    xb_help_print_options(stream, rows());
    fputs("\nExit code: 0 all files were shown, 1 one of them could not be, 2 the command line is "
          "wrong.\n",
          stream);
}

const struct xb_command xb_command_show = {
    .name = "show",
    .synopsis = "show FILE...",
    .summary = "what a JSON file of xferbench says, as a table",
    .rows = rows,
    .print_help = print_help,
    .run = run,
    .fail = xb_cli_fail,
};
