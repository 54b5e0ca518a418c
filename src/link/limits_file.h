/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_LIMITS_FILE_H
#define XFERBENCH_LINK_LIMITS_FILE_H

#include "verdict.h"

#include <stdbool.h>

/*
 * Limits by model of GPU and link, from a JSON file: docs/limits.schema.json is its form,
 * docs/link.md its meaning.
 */
struct xb_limits_file;

/*
 * Reads the file, a regular one or a pipe, of at most 1 MiB; waits for the writer of a pipe.
 * XB_ERR_USAGE names the file, the entry and the key of whatever is not as it has to be;
 * XB_ERR_SYSTEM, XB_ERR_MEMORY. *file is untouched on failure.
 */
XB_MUST_CHECK enum xb_status xb_limits_file_open(const char *path, struct xb_limits_file **file,
                                                 struct xb_error *error);
void xb_limits_file_close(struct xb_limits_file *file); /* NULL is accepted */

/*
 * Finds the first entry for a device of that name whose link was of that generation and width under
 * load (0: not known, which no entry matches that names one), and sets those of *limits that are
 * not set yet. False if there is no such entry, or `file` is NULL.
 */
bool xb_limits_file_match(const struct xb_limits_file *file, const char *name, unsigned generation,
                          unsigned width, struct xb_link_limits *limits);

#endif
