/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "document.h"

#include "xferbench/version.h"

#include <time.h>

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

void xb_document_put_tool(struct xb_json *json)
{
    xb_json_open_object(json, "tool");
    xb_json_put_text(json, "name", "xferbench");
    xb_json_put_text(json, "version", XB_VERSION);
    xb_json_put_text(json, "compiler", XB_COMPILER);
    xb_json_put_text(json, "build_type", XB_BUILD_TYPE);
    xb_json_close(json);
}

void xb_document_put_schema(struct xb_json *json, const char *schema, unsigned version)
{
    xb_json_put_text(json, "schema", schema);
    xb_json_put_whole(json, "schema_version", version);
    xb_document_put_tool(json);
    xb_document_put_time(json, "timestamp", time(NULL));
}
