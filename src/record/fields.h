/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "record.h"

/* What is in a result file, written and read by the same tables: docs/result.schema.json. */

/* Of struct xb_record: what is in "tool", */
extern const struct xb_field xb_record_tool_fields[];
/* host and launcher, which is null where none told a rank, */
extern const struct xb_field xb_record_node_fields[];
extern const struct xb_field xb_record_start_fields[];
/* backend, which is written as null where there is none, */
extern const struct xb_field xb_record_backend_fields[];
/* environment and config, which is written as null where there is none, */
extern const struct xb_field xb_record_settings_fields[];
/* and what docs/processes.schema.json says of several processes: from "asked" to "start". */
extern const struct xb_field xb_record_merged_fields[];

/* Of struct xb_record_process: interrupted and deadline_met; devices. */
extern const struct xb_field xb_record_end_fields[];
extern const struct xb_field xb_record_devices_fields[];

/* What makes a case, and what came of it. Of struct xb_record_case and struct xb_record_row. */
extern const struct xb_field xb_record_case_fields[];
extern const struct xb_field xb_record_row_fields[];

/* A figure and its statistics, but for its samples. Of struct xb_record_figure. */
extern const struct xb_field xb_record_figure_fields[];
