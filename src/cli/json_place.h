/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_JSON_PLACE_H
#define XFERBENCH_CLI_JSON_PLACE_H

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

/* The row of --json-lines. */
extern const struct xb_option xb_option_json_lines;

#endif
