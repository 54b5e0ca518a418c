/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_FIELDS_H
#define XFERBENCH_RECORD_FIELDS_H

#include "base/json_fields.h"
#include "xferbench/record.h"

/* What makes a case: docs/result.schema.json. Of struct xb_record_case. */
extern const struct xb_field xb_record_case_fields[];

/* An object of facts: texts, and what is JSON already. */
void xb_record_put_fact_list(struct xb_json *json, const char *key,
                             const struct xb_record_fact *facts, size_t count);
/* For XB_CUSTOM: an object with any keys, as a list of facts. The field's offset is that of a
 * pointer to facts, `count` that of how many there are; `most` keys are read. */
void xb_record_put_facts(struct xb_json *json, const struct xb_field *field, const void *from);
void xb_record_read_facts(struct xb_json_reader *reader, const cJSON *object,
                          const struct xb_field *field, void *to);

#endif
