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

/* XB_ERR_USAGE where both options are given. */
XB_MUST_CHECK enum xb_status xb_json_place_choose(const struct xb_config *config,
                                                  struct xb_json_place *place,
                                                  struct xb_error *error);

/* The row of --json-lines, and that of --json where the report itself goes to --output. */
extern const struct xb_option xb_option_json_lines, xb_option_json_beside;

/* xb_cli_find_output for --output and, where it is given, --json. With JSON on standard output
 * nothing else goes there: then *output is left as it is where nothing is wanted. */
XB_MUST_CHECK enum xb_status xb_cli_find_outputs(const struct xb_config *config,
                                                 struct xb_output *output, struct xb_output *json,
                                                 struct xb_error *error);

/* Writes what a command found. */
typedef enum xb_status xb_cli_write(const void *found, FILE *stream, const char *format,
                                    struct xb_error *error);
/* Writes to each of the outputs that is open: to `output` as --format says, to `json` as "json".
 * Where one cannot be written, the other is all the same. */
XB_MUST_CHECK enum xb_status xb_cli_write_outputs(const struct xb_config *config,
                                                  struct xb_output *output, struct xb_output *json,
                                                  xb_cli_write *write, const void *found,
                                                  struct xb_error *error);
