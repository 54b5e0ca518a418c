/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "files.h"

/* Files that were made for one case, kept for the next: to write gigabytes takes longer than to
 * read them. Zero-initialise; xb_store_close removes them. */
struct xb_store {
    struct xb_files files; /* none where the count is 0 */
    uint64_t bytes_each;
    bool has_names;
    double end_at;             /* the run's deadline, on the clock of src/base/clock.h; 0: none */
    struct xb_pattern pattern; /* of their contents, as one run of bytes, file behind file */
};

/* Gives files as xb_files_make does: those of the last call where these are such, else others in
 * place of them. What *files points to is the store's, until the next call. Of one place only. */
XB_MUST_CHECK enum xb_status xb_store_files(struct xb_store *store, const char *where, size_t count,
                                            uint64_t bytes_each, bool need_names,
                                            const struct xb_files **files, struct xb_error *error);
void xb_store_close(struct xb_store *store);
