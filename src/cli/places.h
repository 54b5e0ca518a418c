/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"
#include "base/output.h"

#include <stdbool.h>
#include <stddef.h>

/* A file that a command writes, or one that it reads. */
struct xb_cli_place {
    const char *option;       /* that names it: "--json" */
    struct xb_output *output; /* NULL for an input, and for an output that is not wanted */
    const char *input;        /* the path; NULL for an output, and for no input */
};

/* XB_ERR_USAGE where an output that was found would take the place of another one, of an input or
 * of this program. Opens nothing. */
enum xb_status xb_cli_check_places(const struct xb_cli_place *places, size_t count,
                                   struct xb_error *error);

/*
 * Opens the outputs that were found. XB_ERR_USAGE where one would take the place of another one, of
 * an input or of this program: that is told before any of them waits for a reader.
 */
enum xb_status xb_cli_open_places(const struct xb_cli_place *places, size_t count, double deadline,
                                  struct xb_error *error);

/* Opens the one output of a command that reads these files: FILE... on the command line. */
enum xb_status xb_cli_open_beside(const char *option, struct xb_output *output, char *const *inputs,
                                  size_t count, struct xb_error *error);

/* Whether two paths name one file that exists. */
bool xb_cli_is_one_file(const char *path, const char *other);

/* The longest name that a kernel takes, with the zero. */
#define XB_FILE_NAME 4096

/* For the help of an option that names such a file. */
#define XB_FILE_NAME_HELP                                                                          \
    " In FILE, %h becomes the node's name, %t the time (UTC), %r the rank (docs/files.md)."

/*
 * Makes the name of the file that the user gave with `option` ("--json"), in `name`, which holds
 * XB_FILE_NAME bytes. One command line then serves all nodes of a launcher, and each writes a file
 * of its own:
 *     %h  the node's name, as xb_node_find() tells it
 *     %t  when the program began: 20261123T062400Z, without a colon, which Windows does not take
 *     %r  the rank that the launcher gave
 *     %%  a percent sign
 * XB_ERR_USAGE for any other character after a percent sign, for %r without a rank, and for a name
 * that is too long.
 */
enum xb_status xb_file_name_make(const char *option, const char *pattern, char *name,
                                 struct xb_error *error);

/* The same, and xb_output_find() for that file, which keeps what others write there meanwhile:
 * nodes and ranks that have one name by mistake must not replace each other's results. */
enum xb_status xb_cli_find_output(const char *option, const char *pattern, struct xb_output *output,
                                  struct xb_error *error);

/* Where a command with --json and --json-lines writes its JSON. */
struct xb_json_place {
    const char *option; /* "--json" or "--json-lines" */
    const char *path;   /* as the user wrote it; NULL: no JSON is wanted */
    bool is_line;       /* the whole document in one line */
};

/* From the paths of the two, NULL where not given. XB_ERR_USAGE where both are. */
enum xb_status xb_json_place_choose(const char *json, const char *json_lines,
                                    struct xb_json_place *place, struct xb_error *error);

/* The row of --json-lines, and that of --json where the report itself goes to --output. */
extern const struct xb_option xb_option_json_lines, xb_option_json_beside;

/* The first words of --format, of a command that has these options. */
enum { XB_FORMAT_TABLE, XB_FORMAT_JSON };

/* What --format, --output and --json say, and the outputs that are wanted by them. */
struct xb_cli_outputs {
    unsigned format;                     /* of the row's words */
    const char *output_path, *json_path; /* json_path: NULL where it is not given */
    struct xb_output output, json;
};

/* xb_cli_find_output for both. With JSON on standard output nothing else goes there: then
 * outputs->output is left as it is where nothing is wanted. */
enum xb_status xb_cli_find_outputs(struct xb_cli_outputs *outputs, struct xb_error *error);

/* Writes what a command found. */
typedef enum xb_status xb_cli_write(const void *found, FILE *stream, unsigned format,
                                    struct xb_error *error);
/* Writes to each of the outputs that is open: to `output` as --format says, to `json` as JSON.
 * Where one cannot be written, the other is all the same. */
enum xb_status xb_cli_write_outputs(struct xb_cli_outputs *outputs, xb_cli_write *write,
                                    const void *found, struct xb_error *error);
void xb_cli_discard_outputs(struct xb_cli_outputs *outputs);
