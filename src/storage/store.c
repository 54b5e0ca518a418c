/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

/* Of no case of a run: those are counted from 1 << 40 on. */
#define SEED (1ULL << 32)

void xb_store_close(struct xb_store *store)
{
    xb_files_close(&store->files);
    *store = (struct xb_store){.end_at = store->end_at};
}

enum xb_status xb_store_files(struct xb_store *store, const char *where, size_t count,
                              uint64_t bytes_each, bool need_names, const struct xb_files **files,
                              struct xb_error *error)
{
    const struct xb_pattern pattern = {.seed = SEED};
    *files = &store->files;
    if (store->files.count == count && store->bytes_each == bytes_each &&
        (store->has_names || !need_names))
        return XB_OK;
    xb_store_close(store);
    enum xb_status status = xb_files_make(where, count, bytes_each, need_names, store->end_at,
                                          pattern, &store->files, error);
    if (status != XB_OK) {
        *store = (struct xb_store){.end_at = store->end_at};
        return status;
    }
    store->bytes_each = bytes_each;
    store->has_names = need_names || count > 1;
    store->pattern = pattern;
    return XB_OK;
}
