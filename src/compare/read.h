/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_READ_H
#define XFERBENCH_COMPARE_READ_H

#include "comparison.h"

/* What `xferbench compare --format json` wrote, read back (docs/compare.schema.json). */

/*
 * A comparison from a file, with everything that it borrows. The table says of it what it said when
 * the files were compared; nobody judges again. Of the two records there is only what the table
 * tells of them: path, backend, driver, and the processes with their devices' names; they have no
 * cases. The texts of verdicts are plain ASCII.
 */
struct xb_comparison_file {
    struct xb_comparison comparison;
    struct xb_record baseline, candidate;
    struct xb_arena *memory; /* where all of it lies */
};

/*
 * Reads the text, which has a zero byte behind it, into *file; `path` is for messages only.
 * XB_ERR_USAGE names the file and the place of whatever is wrong; keys that this version does not
 * know are passed over. XB_ERR_MEMORY. On failure nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_comparison_parse(const char *path, const char *text, size_t length,
                                                 struct xb_comparison_file *file,
                                                 struct xb_error *error);
void xb_comparison_file_free(struct xb_comparison_file *file);

#endif
