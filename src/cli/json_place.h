/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/output.h"
#include "xferbench/options.h"

/* Where a command with --json and --json-lines writes its JSON. */
struct xb_json_place {
    const char *option; /* "--json" or "--json-lines" */
    const char *path;   /* as the user wrote it; NULL: no JSON is wanted */
    bool is_line;       /* the whole document in one line */
};

/* From the paths of the two, NULL where not given. XB_ERR_USAGE where both are. */
XB_MUST_CHECK enum xb_status xb_json_place_choose(const char *json, const char *json_lines,
                                                  struct xb_json_place *place,
                                                  struct xb_error *error);

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
XB_MUST_CHECK enum xb_status xb_cli_find_outputs(struct xb_cli_outputs *outputs,
                                                 struct xb_error *error);

/* Writes what a command found. */
typedef enum xb_status xb_cli_write(const void *found, FILE *stream, unsigned format,
                                    struct xb_error *error);
/* Writes to each of the outputs that is open: to `output` as --format says, to `json` as JSON.
 * Where one cannot be written, the other is all the same. */
XB_MUST_CHECK enum xb_status xb_cli_write_outputs(struct xb_cli_outputs *outputs,
                                                  xb_cli_write *write, const void *found,
                                                  struct xb_error *error);
void xb_cli_discard_outputs(struct xb_cli_outputs *outputs);
