/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_FIELDS_H
#define XFERBENCH_LINK_FIELDS_H

#include "base/json_fields.h"

/* The members of docs/link.schema.json, each bound to its place: json.c writes by these tables,
 * read.c reads by them. */
extern const struct xb_field xb_link_report_fields[];  /* struct xb_link_report */
extern const struct xb_field xb_link_backend_fields[]; /* its backend and probe */
extern const struct xb_field xb_link_info_fields[];    /* struct xb_device_info */
extern const struct xb_field xb_link_device_fields[];  /* struct xb_link_device: what was tried */
extern const struct xb_field xb_link_verdict_fields[]; /* struct xb_verdict, but what counts */
extern const struct xb_field xb_link_finding_fields[]; /* struct xb_findings */
extern const struct xb_field xb_link_attempt_fields[]; /* struct xb_link_attempt */
extern const struct xb_field xb_link_pair_fields[];    /* struct xb_link_pair: what was tried */
extern const struct xb_field xb_link_pair_verdict_fields[]; /* struct xb_pair_verdict, the same */

#endif
