/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_FILE_NAME_H
#define XFERBENCH_CLI_FILE_NAME_H

#include "base/output.h"

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
XB_MUST_CHECK enum xb_status xb_file_name_make(const char *option, const char *pattern, char *name,
                                               struct xb_error *error);

/* The same, and xb_output_find() for that file, which keeps what others write there meanwhile:
 * nodes and ranks that have one name by mistake must not replace each other's results. */
XB_MUST_CHECK enum xb_status xb_cli_find_output(const char *option, const char *pattern,
                                                struct xb_output *output, struct xb_error *error);

#endif
