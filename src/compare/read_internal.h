/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_READ_INTERNAL_H
#define XFERBENCH_COMPARE_READ_INTERNAL_H

#include "base/json_read.h"
#include "internal.h"

#define MOST_BYTES (UINT64_C(1) << 53)

struct xb_comparison_reader {
    struct xb_json_reader json;
    struct xb_arena **memory;
};

/* ---- values that xb_json_get_... does not have ---- */

/* Zeroed; NULL where the reader has failed. */
void *xb_comparison_room(struct xb_comparison_reader *r, size_t count, size_t size);
/* May be empty; NULL for null. Belongs to the tree. */
const char *xb_comparison_get_text(struct xb_comparison_reader *r, const cJSON *object,
                                   const char *key);
/* The array's first item and how many it has; refused where these are more than `most`. */
const cJSON *xb_comparison_get_items(struct xb_comparison_reader *r, const cJSON *object,
                                     const char *key, size_t most, size_t *count);

/* One of the files that were compared. */
void xb_comparison_read_file(struct xb_comparison_reader *r, const cJSON *root, const char *key,
                             struct xb_record *record);

#endif
