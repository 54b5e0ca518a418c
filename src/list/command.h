/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LIST_COMMAND_H
#define XFERBENCH_LIST_COMMAND_H

#include "base/json_fields.h"
#include "cli/command.h"
#include "measure/inventory.h"

/* `xferbench list`: what is there. */
extern const struct xb_command xb_command_list;

/* The list of what is there, as JSON after docs/list.schema.json. */
XB_MUST_CHECK enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                                struct xb_error *error);
/* What it says of a device and of a backend, but for what these structs do not have. */
extern const struct xb_field xb_list_device_fields[], xb_list_probe_fields[];

#endif
