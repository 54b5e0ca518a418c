/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "document.h"

#include "base/left_out.h"
#include "xferbench/version.h"

#include <string.h>

void xb_document_put_facts(struct xb_json *json, const char *key, const struct xb_device_info *info)
{
    xb_json_open_object(json, key);
    for (size_t i = 0; i < info->fact_count; i++)
        xb_json_put_text(json, info->facts[i].key, info->facts[i].value);
    xb_json_close(json);
}

void xb_document_put_time(struct xb_json *json, const char *key, time_t when)
{
    char text[sizeof "2000-01-01T00:00:00Z"];
    struct tm utc;
    gmtime_r(&when, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    xb_json_put_text(json, key, text);
}

void xb_document_put_left_out(struct xb_json *json)
{
    xb_json_open_array(json, "left_out");
    for (const struct xb_left_out *next = xb_left_out; next->library != NULL; next++)
        xb_json_put_text(json, NULL, next->library);
    xb_json_close(json);
}

void xb_document_put_tool(struct xb_json *json)
{
    static const struct xb_record own = {
        .version = XB_VERSION, .compiler = XB_COMPILER, .build_type = XB_BUILD_TYPE};
    xb_json_open_object(json, "tool");
    xb_json_put_text(json, "name", "xferbench");
    xb_fields_put(json, xb_record_tool_fields, &own);
    xb_document_put_left_out(json);
    xb_json_close(json);
}

void xb_document_put_schema(struct xb_json *json, const char *schema, unsigned version)
{
    xb_json_put_text(json, "schema", schema);
    xb_json_put_whole(json, "schema_version", version);
    xb_document_put_tool(json);
    xb_document_put_time(json, "timestamp", time(NULL));
}

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

/* ---- which document it is ---- */

static const struct {
    const char *schema, *name;
} kinds[] = {
    [XB_DOCUMENT_RESULT] = {"xferbench.result", "result"},
    [XB_DOCUMENT_PROCESSES] = {"xferbench.processes", "result of several processes"},
    [XB_DOCUMENT_LINK] = {"xferbench.link", "link test"},
    [XB_DOCUMENT_COMPARE] = {"xferbench.compare", "comparison"},
    [XB_DOCUMENT_LIST] = {"xferbench.list", "list of devices"},
    [XB_DOCUMENT_ADVISE] = {"xferbench.advise", "advice"},
    [XB_DOCUMENT_FLEET] = {"xferbench.fleet", "judgement of many nodes"},
    [XB_DOCUMENT_TRACE] = {NULL, "timeline"}, /* its form is that of the browsers' traces */
    [XB_DOCUMENT_FOREIGN] = {NULL, "unknown"},
};

enum xb_document_kind xb_document_kind_of(const cJSON *root)
{
    static const char program[] = "xferbench ";
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    for (int i = 0; schema != NULL && i < XB_DOCUMENT_FOREIGN; i++)
        if (kinds[i].schema != NULL && strcmp(schema, kinds[i].schema) == 0)
            return (enum xb_document_kind)i;
    /* A trace says in otherData which program wrote it. */
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(root, "otherData");
    const char *tool = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "tool"));
    return tool != NULL && strncmp(tool, program, sizeof program - 1) == 0 &&
                   cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
               ? XB_DOCUMENT_TRACE
               : XB_DOCUMENT_FOREIGN;
}

const char *xb_document_kind_name(enum xb_document_kind kind)
{
    return kinds[kind].name;
}
