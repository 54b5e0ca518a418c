/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_JSON_INTERNAL_H
#define XFERBENCH_LINK_JSON_INTERNAL_H

#include "base/json_write.h"
#include "report.h"

/* The parts of the JSON. docs/link.schema.json tells the keys and their meaning. What is not known
 * is null. */

/* A rate or share of 0 is none: null. */
void xb_link_json_put_positive(struct xb_json *json, const char *key, double value);
/* "level" and "reasons" of a verdict. */
void xb_link_json_put_findings(struct xb_json *json, const struct xb_findings *found);
/* What is asked of a bandwidth. */
void xb_link_json_put_bandwidth_limit(struct xb_json *json, const char *key,
                                      const struct xb_link_direction *bandwidth);

/* "pairs", and "pairs_not_tested". */
void xb_link_json_put_pairs(struct xb_json *json, const struct xb_link_report *report);

#endif
