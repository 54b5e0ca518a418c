/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_DOCUMENT_H
#define XFERBENCH_RECORD_DOCUMENT_H

#include "base/json_write.h"
#include "xferbench/backend.h"

#include <time.h>

/* What every document of xferbench has in common: members of the innermost open object. */

/* schema, schema_version, tool and timestamp, which is now. */
void xb_document_put_schema(struct xb_json *json, const char *schema, unsigned version);
/* tool: the program's name, version, compiler and build type. */
void xb_document_put_tool(struct xb_json *json);
/* A time of day: ISO 8601, UTC, whole seconds. */
void xb_document_put_time(struct xb_json *json, const char *key, time_t when);
/* What a reader must know of a device, as one object. */
void xb_document_put_facts(struct xb_json *json, const char *key,
                           const struct xb_device_info *info);

#endif
