/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of xferbench says, as the command that wrote it would print it. */
#include "cli/command.h"

#include "base/file_text.h"
#include "base/interrupt.h"
#include "base/json_read.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/places.h"
#include "compare/comparison.h"
#include "link/report.h"
#include "record/document.h"
#include "run/formats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct xb_option option_case = {
    XB_TEXT("case", "CASES"),
    .short_name = 'c',
    .help =
        "Only these cases: MODE[/DIRECTION[/SIZE]], a list with commas, '*' for any, a range of "
        "sizes as 64M..1G; such as pinned,async/h2d/64M..1G. Reading and notes then speak of "
        "these alone.",
};
static const struct xb_option option_csv = {
    XB_FILE("csv", "FILE"),
    .help = "Also write the cases of all result files as one CSV, a line a case; - for standard "
            "output, in place of the tables. Links and comparisons have no lines in it.",
};

/* What one file goes through. */
struct show {
    const char *cases, *csv_path; /* as they were written; NULL where not given */
    struct xb_gates gates;        /* of --case; none without it */
    struct xb_table_view view;
    struct xb_csv csv;
    struct xb_output output; /* of the CSV */
    bool finds_columns;      /* the first time through the files: nothing is written yet */
};

#define BIND(member, row) XB_BIND(struct show, member, row)
static const struct xb_option_field *const fields =
    XB_FIELDS(BIND(cases, &option_case), BIND(csv_path, &option_csv));

static bool writes_csv(const struct show *show)
{
    return show->output.stream != NULL;
}

static bool prints(const struct show *show)
{
    return !show->finds_columns && !show->output.is_stdout;
}

/* ---- the cases that --case names: gates without a figure; no gates are all cases ---- */

#define MOST_MODES 32

/* The modes of the cases, each once. */
struct modes {
    const char *names[MOST_MODES + 1]; /* ends with NULL */
    size_t count;
};

static void add_mode(struct modes *modes, const char *name)
{
    for (size_t i = 0; i < modes->count; i++)
        if (strcmp(modes->names[i], name) == 0)
            return;
    if (modes->count < MOST_MODES)
        modes->names[modes->count++] = name;
}

/* Where a mode is misspelt, which one is likely meant. */
static enum xb_status refuse(const char *path, const struct xb_gates *cases,
                             const struct modes *modes, struct xb_error *error)
{
    struct xb_words have = {.length = 0};
    const char *mode = cases->items[0].mode;
    const char *nearest = mode != NULL ? xb_nearest(mode, modes->names) : NULL;
    bool is_slip = nearest != NULL && strcmp(nearest, mode) != 0;
    for (size_t i = 0; i < modes->count; i++)
        xb_words_add(&have, "%s%.40s", i > 0 ? ", " : "", modes->names[i]);
    if (is_slip)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "'%.300s' has no case that --case names; did you mean %.40s?", path,
                       nearest);
    return XB_FAIL(error, XB_ERR_USAGE, "'%.300s' has no case that --case names. Its modes: %s",
                   path, modes->count > 0 ? have.text : "none");
}

static bool is_named(const struct xb_record_case *test, const void *cases)
{
    return xb_gates_name(cases, test);
}

/* Says that these are not all; nothing where they are. */
static void say_kept(size_t kept, size_t all)
{
    if (kept < all)
        printf("Only the cases of --case: %zu of %zu.\n\n", kept, all);
}

/* ---- one file, by what wrote it ---- */

/* Releases the tree as soon as there is a record of it. */
static enum xb_status show_record(struct show *show, const char *path, cJSON *tree,
                                  struct xb_error *error)
{
    struct xb_record record;
    enum xb_status status = xb_record_of_tree(path, tree, &record, error);
    cJSON_Delete(tree);
    if (status != XB_OK)
        return status;
    struct modes modes = {.count = 0};
    size_t all = record.case_count;
    for (size_t i = 0; i < all; i++)
        add_mode(&modes, record.cases[i].mode);
    if (show->gates.count > 0)
        xb_record_keep(&record, is_named, &show->gates);
    if (show->gates.count > 0 && record.case_count == 0)
        status = refuse(path, &show->gates, &modes, error);
    const size_t known = show->csv.count;
    if (status == XB_OK && writes_csv(show)) /* a file that was replaced may need more columns */
        status = xb_csv_add_columns(&show->csv, &record, error);
    if (status == XB_OK && !show->finds_columns && show->csv.count != known)
        status = XB_FAIL(error, XB_ERR_USAGE, "'%.300s' changed while it was read: try again",
                         record.path);
    if (status == XB_OK && !show->finds_columns && writes_csv(show))
        status = xb_csv_write_lines(show->output.stream, &show->csv, &record, error);
    if (status == XB_OK && prints(show)) {
        if (show->view.format != XB_AS_CROSSOVERS)
            say_kept(record.case_count, all);
        status = xb_table_write(stdout, &record, &show->view, error);
    }
    xb_record_free(&record);
    return status;
}

static enum xb_status show_link(struct show *show, const char *path, cJSON *tree,
                                struct xb_error *error)
{
    struct xb_link_file file;
    enum xb_status status = xb_link_report_of_tree(path, tree, &file, error);
    cJSON_Delete(tree);
    if (status == XB_OK && show->gates.count > 0)
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "'%.300s' is of links, which have no cases: show it without --case", path);
    if (status == XB_OK && show->view.format != XB_AS_TABLE)
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "'%.300s' is of links, which have a table only: show it without --format",
                         path);
    file.report.verbose = show->view.all_notes;
    if (status == XB_OK && prints(show))
        status = xb_link_table_write(stdout, &file.report, error);
    xb_link_file_free(&file);
    return status;
}

static enum xb_status show_comparison(struct show *show, const char *path, cJSON *tree,
                                      struct xb_error *error)
{
    struct xb_comparison_file file;
    enum xb_status status = xb_comparison_of_tree(path, tree, &file, error);
    cJSON_Delete(tree);
    if (status != XB_OK)
        return status;
    /* The verdict stays that of all rows. */
    struct xb_compared *cases = file.comparison.cases;
    struct modes modes = {.count = 0};
    size_t all = file.comparison.case_count, kept = 0;
    for (size_t i = 0; i < all; i++) {
        add_mode(&modes, cases[i].test->mode);
        if (show->gates.count == 0 || xb_gates_name(&show->gates, cases[i].test))
            cases[kept++] = cases[i];
    }
    file.comparison.case_count = kept;
    if (kept == 0 && show->gates.count > 0)
        status = refuse(path, &show->gates, &modes, error);
    if (status == XB_OK && show->view.format == XB_AS_CROSSOVERS)
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "'%.300s' is a comparison, which has no crossovers: show the result files",
                         path);
    if (status == XB_OK && prints(show)) {
        say_kept(file.comparison.case_count, all);
        status = show->view.format == XB_AS_MARKDOWN
                     ? xb_compare_markdown_write(stdout, &file.comparison, error)
                     : xb_compare_table_write(stdout, &file.comparison, xb_terminal_columns(stdout),
                                              show->view.all_notes, error);
    }
    xb_comparison_file_free(&file);
    return status;
}

/* Whoever reads a file of a kind checks the rest of it. */
static enum xb_status show_text(struct show *show, const char *path, const char *text,
                                size_t length, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *root = xb_json_read(&reader, text, length);
    enum xb_document_kind kind = xb_document_kind_of(root);
    if (kind == XB_DOCUMENT_RESULT || kind == XB_DOCUMENT_PROCESSES)
        return show_record(show, path, root, error);
    if (kind == XB_DOCUMENT_LINK)
        return show_link(show, path, root, error);
    if (kind == XB_DOCUMENT_COMPARE)
        return show_comparison(show, path, root, error);
    cJSON_Delete(root);
    switch (kind) {
    case XB_DOCUMENT_FOREIGN:
        xb_json_refuse(&reader, "schema",
                       "is not that of a file which run, link or compare wrote as JSON");
        *error = reader.error;
        return error->status;
    case XB_DOCUMENT_FLEET:
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%.300s: is a %s, which show cannot print: xferbench fleet prints it from "
                       "the documents it was made of",
                       path, xb_document_kind_name(kind));
    default:
        return XB_FAIL(
            error, XB_ERR_USAGE,
            "%.300s: is a file of the kind '%s', which show cannot print: xferbench report "
            "makes a page of it",
            path, xb_document_kind_name(kind));
    }
}

static enum xb_status show_file(struct show *show, const char *path, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    XB_TRY(xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, true, &text, &length, error));
    enum xb_status status = show_text(show, path, text, length, error);
    free(text);
    return status;
}

/* ---- all files: one after the other, so that any number of them takes the memory of one ---- */

static int show_files(struct show *show, const struct xb_config *config)
{
    int code = XB_EXIT_OK;
    for (size_t i = 0; i < config->operand_count; i++) {
        struct xb_error error;
        char plain[4096];
        if (xb_interrupt_signal() != 0 || (writes_csv(show) && ferror(show->output.stream)))
            break;
        if (config->operand_count > 1 && prints(show) && show->view.format != XB_AS_CROSSOVERS)
            printf("%s==> %s <==\n\n", i == 0 ? "" : "\n",
                   xb_plain_text(config->operands[i], plain, sizeof plain));
        if (show_file(show, config->operands[i], &error) == XB_OK)
            continue;
        (void)fflush(stdout); /* on a terminal or in a log the message stands where it belongs */
        xb_cli_fail(&error);
        code = XB_EXIT_FAILED;
    }
    return code;
}

/* Opens the CSV, finds its columns, writes its header. What cannot be read is told when shown. */
static enum xb_status begin_csv(struct show *show, const struct xb_config *config,
                                struct xb_error *error)
{
    char *const *paths = config->operands;
    enum xb_status status = XB_OK;
    struct stat file;
    for (size_t i = 0; i < config->operand_count; i++)
        if (stat(paths[i], &file) == 0 && S_ISFIFO(file.st_mode))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "'%.300s' is a pipe, and --csv reads each file twice: write it to a "
                           "file first",
                           paths[i]);
    XB_TRY(xb_cli_find_output("--csv", show->csv_path, &show->output, error));
    if (show->output.target != NULL)
        xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    /* The CSV must not take the place of a file that is shown. */
    XB_TRY(xb_cli_open_beside("--csv", &show->output, paths, config->operand_count, error));
    show->finds_columns = true;
    for (size_t i = 0; i < config->operand_count && status != XB_ERR_MEMORY; i++)
        status = show_file(show, paths[i], error);
    show->finds_columns = false;
    return status == XB_ERR_MEMORY ? status
                                   : xb_csv_write_header(show->output.stream, &show->csv, error);
}

/* A gate may have a figure, a case may not. */
static enum xb_status read_cases(struct show *show, struct xb_error *error)
{
    struct xb_error cause;
    bool is_wrong = xb_gates_parse(show->cases, &show->gates, &cause) != XB_OK;
    for (size_t i = 0; !is_wrong && i < show->gates.count; i++)
        is_wrong = show->gates.items[i].figure != NULL;
    if (is_wrong)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--case takes MODE, MODE/DIRECTION or MODE/DIRECTION/SIZE, such as "
                       "pinned/h2d/64M..1G, and '*' for any; not '%.100s'",
                       show->cases);
    return XB_OK;
}

static int show_all(struct show *show, const struct xb_config *config)
{
    struct xb_error error;
    xb_config_fill(config, fields, show);
    enum xb_status status = show->cases != NULL ? read_cases(show, &error) : XB_OK;
    show->view = xb_table_view_of(config);
    if (status == XB_OK && show->csv_path != NULL)
        status = begin_csv(show, config, &error);
    if (status != XB_OK)
        return xb_cli_fail(&error);
    int code = show_files(show, config);
    if (xb_interrupt_signal() != 0)
        return 128 + xb_interrupt_signal();
    if (code != XB_EXIT_OK && show->output.target != NULL)
        xb_say("'%.300s' was not written: not all files could be shown", show->output.path);
    if (code == XB_EXIT_OK && writes_csv(show) && xb_output_commit(&show->output, &error) != XB_OK)
        return xb_cli_fail(&error);
    return code;
}

static int run(struct xb_config *config, char *const *words)
{
    struct show show = {.finds_columns = false};
    (void)words;
    if (config->operand_count == 0) {
        struct xb_error error;
        (void)XB_FAIL(&error, XB_ERR_USAGE, "show takes the files to show: xferbench show FILE...");
        return xb_cli_fail(&error);
    }
    int code = show_all(&show, config);
    xb_output_discard(&show.output);
    xb_csv_free(&show.csv);
    xb_gates_free(&show.gates);
    return code;
}

static const struct xb_option *const all_rows[] = {
    &option_case,       &option_csv,        &xb_option_format, &xb_option_columns,
    &xb_option_reading, &xb_option_verbose, XB_OPTIONS_OF_ALL};

const struct xb_command xb_command_show = {
    .name = "show",
    .synopsis = "show FILE...",
    .summary = "what a JSON file of xferbench says, as a table",
    .description = "Prints what files say that run or link wrote with --json, or compare with "
                   "--format json: the tables and notes that the command printed. Nothing is "
                   "measured, and no GPU is needed.",
    .exits = "0 all files were shown; 1 one of them could not be, and --csv writes no file; 2 the "
             "command line is wrong.",
    .example = "xferbench show result.json",
    .operands = XB_OPERANDS_FILES,
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail,
};
