/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_FOLDER_H
#define XFERBENCH_FLEET_FOLDER_H

#include "xferbench/error.h"

#include <stdbool.h>

struct xb_folder_entry {
    const char *path;
    int failure; /* errno if it is a folder that cannot be read; 0 for a file */
};

/* Lists the files in a folder and all folders below it that end with .json, .jsonl or .ndjson. Does
 * not follow links to folders. */
struct xb_folder {
    void *tree; /* of fts(3) */
    const char *path;
    bool is_over;
    struct xb_folder_entry entry;
};

/* Borrows the path. XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_folder_open(struct xb_folder *folder, const char *path,
                                            struct xb_error *error);
/* The next file, by name with numbers as numbers (n2 before n10); valid until the next call. NULL
 * after the last. If the list breaks off, because memory is short, the last is the whole folder
 * with its failure. */
const struct xb_folder_entry *xb_folder_next(struct xb_folder *folder);
void xb_folder_close(struct xb_folder *folder); /* accepts one that could not be opened */

#endif
