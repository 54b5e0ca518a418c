/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_PLACES_H
#define XFERBENCH_CLI_PLACES_H

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
XB_MUST_CHECK enum xb_status xb_cli_check_places(const struct xb_cli_place *places, size_t count,
                                                 struct xb_error *error);

/*
 * Opens the outputs that were found. XB_ERR_USAGE where one would take the place of another one, of
 * an input or of this program: that is told before any of them waits for a reader.
 */
XB_MUST_CHECK enum xb_status xb_cli_open_places(const struct xb_cli_place *places, size_t count,
                                                double deadline, struct xb_error *error);

/* The same for one output of a command that reads these files: FILE... on the command line. */
XB_MUST_CHECK enum xb_status xb_cli_open_beside(const char *option, struct xb_output *output,
                                                char *const *inputs, size_t count,
                                                struct xb_error *error);

/* Whether two paths name one file that exists. */
bool xb_cli_is_one_file(const char *path, const char *other);

#endif
