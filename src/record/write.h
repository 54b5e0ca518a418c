/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_WRITE_H
#define XFERBENCH_RECORD_WRITE_H

#include "base/json_write.h"
#include "xferbench/record.h"

/* All members of the innermost open object are those of this header's functions. */

/* What a document after docs/result.schema.json says of a record of one process: all of it but the
 * Reading. */
void xb_record_put(struct xb_json *json, const struct xb_record *record);

/* ---- parts that other documents have too ---- */

/* Each writes one member, of that name. Launcher, backend and config are null if the record has
 * none. */
void xb_record_put_host(struct xb_json *json, const struct xb_record *record);
void xb_record_put_launcher(struct xb_json *json, const struct xb_record *record);
void xb_record_put_start(struct xb_json *json, const struct xb_record *record);
void xb_record_put_backend(struct xb_json *json, const struct xb_record *record);
void xb_record_put_devices(struct xb_json *json, const struct xb_record *record);
void xb_record_put_environment(struct xb_json *json, const struct xb_record *record);
void xb_record_put_config(struct xb_json *json, const struct xb_record *record);
/* What tells a case from others: mode, variant, direction, bytes, device, peer, latency,
 * simultaneous, parameters. */
void xb_record_put_case(struct xb_json *json, const struct xb_record_case *test);
/* What a figure is: name, unit, more_is_better, gates. */
void xb_record_put_figure(struct xb_json *json, const struct xb_record_figure *figure);
/* median, ci95_low, ci95_high, min, max, p5, p95, p99, mad, n; null for what is not known. */
void xb_record_put_statistics(struct xb_json *json, const struct xb_statistics *statistics);
/* true, false, null for unknown. */
void xb_record_put_verified(struct xb_json *json, enum xb_verified verified);

#endif
