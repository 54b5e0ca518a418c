/* SPDX-License-Identifier: Apache-2.0 */
/* This program's own options as those of a result file. Apart from the reader, which writes no JSON
 * and is fuzzed by itself. */
#include "internal.h"

#include "../sinks/json_common.h"

enum xb_status xb_record_of_config(const struct xb_config *config, struct xb_record *record,
                                   struct xb_error *error)
{
    *record = (struct xb_record){.tree = xb_json_config(config)};
    if (record->tree != NULL && xb_record_append_options(record, record->tree))
        return XB_OK;
    xb_record_free(record);
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu options", config->count);
}
