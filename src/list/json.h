/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LIST_JSON_H
#define XFERBENCH_LIST_JSON_H

#include "measure/inventory.h"

#include <stdio.h>

/* The list of what is there, as JSON after docs/list.schema.json. */
XB_MUST_CHECK enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                                struct xb_error *error);

#endif
