/* SPDX-License-Identifier: Apache-2.0 */
#include "write.h"

#include "document.h"
#include "fields.h"

void xb_record_put(struct xb_json *json, const struct xb_record *record)
{
    xb_document_put_schema(json, "xferbench.result", XB_RECORD_VERSION);
    xb_fields_put(json, xb_record_end_fields, &record->processes[0]);
    xb_fields_put(json, xb_record_node_fields, record);
    xb_fields_put(json, xb_record_start_fields, record);
    xb_fields_put(json, xb_record_backend_fields, record);
    xb_fields_put(json, xb_record_devices_fields, &record->processes[0]);
    xb_fields_put(json, xb_record_settings_fields, record);
    xb_json_open_array(json, "results");
    for (size_t i = 0; i < record->case_count; i++) {
        xb_json_open_object(json, NULL);
        xb_fields_put(json, xb_record_case_fields, &record->cases[i]);
        xb_fields_put(json, xb_record_row_fields, &record->cases[i].rows[0]);
        xb_json_close(json);
    }
    xb_json_close(json);
}
