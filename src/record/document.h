/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "record.h"
#include "xferbench/backend.h"

#include <time.h>

/* What every document of xferbench has in common: members of the innermost open object. */

/* schema, schema_version, tool and timestamp, which is now. */
void xb_document_put_schema(struct xb_json *json, const char *schema, unsigned version);
/* left_out: the libraries that are not in this build. */
void xb_document_put_left_out(struct xb_json *json);
/* tool: the program's name, version, compiler and build type, and what it left out. */
void xb_document_put_tool(struct xb_json *json);
/* A time of day: ISO 8601, UTC, whole seconds. */
void xb_document_put_time(struct xb_json *json, const char *key, time_t when);
/* What a reader must know of a device, as one object. */
void xb_document_put_facts(struct xb_json *json, const char *key,
                           const struct xb_device_info *info);

/* ---- a result file, written and read by the same tables: docs/result.schema.json ---- */

/* Members of struct xb_record. */
extern const struct xb_field xb_record_tool_fields[];     /* what is in "tool" */
extern const struct xb_field xb_record_node_fields[];     /* host; launcher: null for no rank */
extern const struct xb_field xb_record_start_fields[];    /* start */
extern const struct xb_field xb_record_backend_fields[];  /* backend: written as null for none */
extern const struct xb_field xb_record_settings_fields[]; /* environment; config: the same */
/* What docs/processes.schema.json says of several processes: from "asked" to "start". */
extern const struct xb_field xb_record_merged_fields[];

/* Members of struct xb_record_process: interrupted and deadline_met; devices. */
extern const struct xb_field xb_record_end_fields[];
extern const struct xb_field xb_record_devices_fields[];

extern const struct xb_field xb_record_case_fields[];   /* struct xb_record_case: what makes it */
extern const struct xb_field xb_record_row_fields[];    /* struct xb_record_row: what came of it */
extern const struct xb_field xb_record_figure_fields[]; /* struct xb_record_figure, no samples */

/* Puts all of a record of one process but the Reading. */
void xb_record_put(struct xb_json *json, const struct xb_record *record);

/* Which command of the program wrote a JSON file. Whoever reads the file checks the rest. */
enum xb_document_kind {
    XB_DOCUMENT_RESULT,    /* run --json */
    XB_DOCUMENT_PROCESSES, /* run --processes --json */
    XB_DOCUMENT_LINK,      /* link --json */
    XB_DOCUMENT_COMPARE,   /* compare --format json */
    XB_DOCUMENT_LIST,      /* list --json */
    XB_DOCUMENT_ADVISE,    /* advise --json */
    XB_DOCUMENT_FLEET,     /* fleet --format json */
    XB_DOCUMENT_TRACE,     /* run --trace */
    XB_DOCUMENT_FOREIGN    /* not a file of xferbench, or one that others than its user read */
};

/* `root` may be NULL. */
enum xb_document_kind xb_document_kind_of(const struct cJSON *root);

/* "result", "several processes", "link test", "comparison", ... Static text. */
const char *xb_document_kind_name(enum xb_document_kind kind);
