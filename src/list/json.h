/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LIST_JSON_H
#define XFERBENCH_LIST_JSON_H

#include "base/json_fields.h"
#include "measure/case.h"
#include "measure/inventory.h"

#include <stdio.h>

/* The list of what is there, as JSON after docs/list.schema.json. */
XB_MUST_CHECK enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                                struct xb_error *error);
/* What it says of a device and of a backend, but for what these structs do not have. */
extern const struct xb_field xb_list_device_fields[], xb_list_probe_fields[];

/* Takes each way in which a mode can be measured, with the capabilities that it needs. */
typedef void xb_list_variant(void *argument, const struct xb_case *test, uint32_t needs);
void xb_list_each_variant(const struct xb_mode *mode, xb_list_variant *take, void *argument);

#endif
