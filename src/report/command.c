/* SPDX-License-Identifier: Apache-2.0 */
/* One page of what any number of files say. */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

#include "base/file_text.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/places.h"
#include "record/record.h"
#include "report.h"
#include "run/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct xb_option option_svg = {
    XB_FILE("svg", "FOLDER"),
    .help = "Also write each picture into a file of its own, named after what it shows, such as "
            "nvidia-h200-on-gpu07-to-the-gpu-by-size.svg. Makes the folder if it is not there; "
            "replaces pictures of the same names.",
};

static const struct xb_option *const all_rows[] = {&xb_option_output, &option_svg,
                                                   XB_OPTIONS_OF_ALL};

static enum xb_status read_text(const char *path, char **text, size_t *length,
                                struct xb_error *error)
{
    return xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, true, text, length, error);
}

/* The files that are named, and those in the folders that are. */
struct inputs {
    char **paths;
    size_t count;
};

static bool add_input(void *argument, const char *path, int code)
{
    struct inputs *inputs = argument;
    (void)code; /* what cannot be read is told of when it is read */
    inputs->paths = xb_grow(inputs->paths, inputs->count, sizeof *inputs->paths);
    inputs->paths[inputs->count++] = xb_copy(path);
    return true;
}

static bool add_document(void *argument, const char *path, int code)
{
    const char *end = strrchr(path, '.');
    /* A file of JSON lines holds many documents: `fleet` reads those. */
    bool is_other = code == 0 && (end == NULL || strcmp(end, ".json") != 0);
    return is_other || add_input(argument, path, code);
}

static enum xb_status write_report(const struct xb_config *config, const struct inputs *inputs,
                                   struct xb_output *output, struct xb_record *defaults,
                                   size_t *left_out, struct xb_error *error)
{
    const char *svg = xb_config_get(config, &option_svg)->text;
    const char *to = xb_config_get(config, &xb_option_output)->text;
    char folder[XB_FILE_NAME];
    struct stat found;
    const struct xb_report_request request = {.paths = inputs->paths,
                                              .count = inputs->count,
                                              .read = read_text,
                                              .defaults = defaults,
                                              .rows = xb_run_rows(),
                                              .tell = xb_cli_fail};
    if (inputs->count == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "report takes the files or folders to show: xferbench report FILE... "
                       "--output report.html");
    if (strcmp(to, "-") == 0 && xb_is_terminal(stdout))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "the page is HTML, which a terminal does not show: name a file with "
                       "--output report.html");
    XB_TRY(xb_record_of_defaults(xb_run_rows(), defaults, error));
    if (svg != NULL) {
        XB_TRY(xb_file_name_make("--svg", svg, folder, error));
        int code = mkdir(folder, 0777) == 0 ? 0 : errno;
        if (code != 0 && !(code == EEXIST && stat(folder, &found) == 0 && S_ISDIR(found.st_mode)))
            return XB_FAIL(error, XB_ERR_USAGE, "--svg: cannot make the folder '%.300s': %s: %s",
                           folder, strerror(code), xb_output_advice(code));
    }
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    XB_TRY(xb_cli_find_output("--output", to, output, error));
    /* The page may not take the place of a file that it is made of. */
    XB_TRY(xb_cli_open_beside("--output", output, inputs->paths, inputs->count, error));
    struct xb_page page = {.stream = output->stream, .folder = svg != NULL ? folder : NULL};
    if (xb_report_write(&page, &request, left_out) != XB_OK) {
        *error = page.error;
        return error->status;
    }
    XB_TRY(xb_stream_finish(output->stream, "the report", error));
    return xb_output_commit(output, error);
}

static int run(struct xb_config *config, char *const *words)
{
    struct xb_output output = {.path = NULL};
    struct xb_record defaults = {.path = NULL};
    struct inputs inputs = {.count = 0};
    struct stat file;
    struct xb_error error;
    size_t left_out = 0;
    (void)words;
    for (size_t i = 0; i < config->operand_count; i++) {
        const char *path = config->operands[i];
        const size_t before = inputs.count;
        if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
            xb_folder_each(path, add_document, &inputs);
        if (inputs.count == before) /* that of an empty folder says so */
            (void)add_input(&inputs, path, 0);
    }
    enum xb_status status = write_report(config, &inputs, &output, &defaults, &left_out, &error);
    for (size_t i = 0; i < inputs.count; i++)
        free(inputs.paths[i]);
    free(inputs.paths);
    xb_record_free(&defaults);
    xb_output_discard(&output);
    if (status != XB_OK)
        return xb_cli_fail(&error);
    return left_out == 0 ? XB_EXIT_OK : XB_EXIT_FAILED;
}

const struct xb_command xb_command_report = {
    .name = "report",
    .synopsis = "report FILE...",
    .summary = "an HTML page with pictures of JSON files of xferbench",
    .description =
        "Makes one HTML page of files that run, link, compare, list, advise or fleet wrote as "
        "JSON, or run as a trace, and of folders with such files: the answer, pictures, what to "
        "do; then all numbers. Machines, builds or dates stand side by side in one picture. The "
        "page stands alone: no script, no network. docs/report.md tells what is in it.",
    .exits = "0 the page shows all files; 1 one could not be read (the page names it) or the page "
             "could not be written; 2 the command line is wrong.",
    .example = "xferbench report result.json --output report.html",
    .operands = XB_OPERANDS_FILES,
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail,
};
