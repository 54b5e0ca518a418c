/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/registry.h"
#include "base/json_fields.h"
#include "cli/command.h"

#define XB_INVENTORY_BACKENDS 16

/* What is there: backends and their devices. */
struct xb_inventory {
    struct xb_found_backend {
        const struct xb_backend_entry *entry;
        bool usable; /* it is built in and can run here */
        struct xb_probe probe;
        struct xb_device_info *devices;
        size_t device_count;
        struct xb_error *failures; /* of devices that do not describe themselves */
        size_t failed_count;
    } backends[XB_INVENTORY_BACKENDS];
    size_t count;
};

/* The list of what is there, as JSON after docs/list.schema.json. */
enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                  struct xb_error *error);
/* What it says of a device and of a backend, but for what these structs do not have. */
extern const struct xb_field xb_list_device_fields[], xb_list_probe_fields[];
