/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include "xferbench/verify.h"

#include <stdio.h>

/* What was found wrong so far. */
struct wrong {
    uint64_t count, first;
};

static void conclude(const struct xb_source *source, const struct wrong *wrong,
                     struct xb_result *result)
{
    result->row.verified = wrong->count == 0 ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (wrong->count == 0)
        return;
    snprintf(result->reason, sizeof result->reason,
             "%llu of %llu %s of %.400s arrived wrong or were not computed on; the first is "
             "number %llu",
             (unsigned long long)wrong->count, (unsigned long long)source->items,
             source->batch > 0 ? "batches" : "chunks", source->files->path,
             (unsigned long long)wrong->first);
}

enum xb_status xb_pipeline_prove(const struct xb_source *source, const unsigned long long *digests,
                                 uint64_t steps, void *scratch, struct xb_result *result,
                                 struct xb_error *error)
{
    struct wrong wrong = {.count = 0};
    for (uint64_t i = 0; i < source->items; i++) {
        enum xb_status status = xb_source_expect(source, i, scratch, error);
        if (status != XB_OK)
            return status;
        if (xb_digest_stepped(scratch, xb_source_item_bytes(source, i), steps) == digests[i])
            continue;
        if (wrong.count++ == 0)
            wrong.first = i;
    }
    conclude(source, &wrong, result);
    return XB_OK;
}
