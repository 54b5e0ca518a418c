/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>

struct xb_arena;

/* Slurm's host expressions: "gpu[001-003,7],login1" (slurm.conf(5), "NodeName"). */

struct xb_hostlist {
    const char **names; /* in the order given, each name once */
    size_t count;
    struct xb_arena *texts;
};

/* XB_ERR_USAGE says where the text is wrong. Free the list also after a failure. */
XB_MUST_CHECK enum xb_status xb_hostlist_expand(const char *text, struct xb_hostlist *list,
                                                struct xb_error *error);
/* Reads a file with one expression per line; ignores empty lines and comments after a #. */
XB_MUST_CHECK enum xb_status xb_hostlist_read(const char *path, struct xb_hostlist *list,
                                              struct xb_error *error);
void xb_hostlist_free(struct xb_hostlist *list); /* accepts a zeroed one */

/* Whether a name can be in an expression: letters, digits, dashes, dots and underscores; no dash in
 * front, which would make it an option of the command that it is given to; no dot, as in the
 * folders "." and ".."; and not "ALL", which Slurm takes for all nodes. */
bool xb_hostlist_is_name(const char *name);

/* A short expression that Slurm expands to these names, in order; "" for none. Leaves out and
 * counts names that no scheduler takes (with spaces, commas, brackets, ...). It is in *arena. */
const char *xb_hostlist_compress(const char *const *names, size_t count, struct xb_arena **arena,
                                 size_t *left_out);
