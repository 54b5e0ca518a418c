/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_read.h"
#include "fleet/fleet.h"
#include "record/record.h"

struct xb_option;

/* What the names of figures depend on, the same for all documents. */
struct xb_fleet_terms {
    const struct xb_option *const *rows; /* every option of `run` */
    struct xb_record defaults;           /* their defaults */
    uint64_t link_bytes;                 /* the default size of a copy of `link` */
};

/* A document on its way into a fleet. */
struct xb_fleet_taking {
    struct xb_fleet *fleet; /* with nothing but this document */
    const struct xb_fleet_terms *terms;
    struct xb_fleet_source origin;
    struct xb_fleet_node host; /* its name is that for launcher and scheduler, else its host name */
    const char *backend;       /* NULL: not known; texts belong to the tree */
    size_t source, node;       /* in the fleet */
};

/* Adds the document itself and its node, which must have a name. */
void xb_taking_begin(struct xb_fleet_taking *taking);
/* Adds a GPU of its node; `gpu` has neither node nor time. Leaves out a UUID or an address that
 * another GPU of the document has. */
size_t xb_taking_add_gpu(struct xb_fleet_taking *taking, struct xb_fleet_gpu gpu);
/* Adds a value; fills in the figure's backend and driver. Ignores a value that is not above 0 or
 * has no GPU. */
void xb_taking_add_value(struct xb_fleet_taking *taking, struct xb_fleet_figure figure,
                         struct xb_fleet_value value);
/* Adds a complaint about a GPU, or about the node if `gpu` is XB_FLEET_NONE. `causes` as in struct
 * xb_fleet_complaint. */
void xb_taking_complain(struct xb_fleet_taking *taking, enum xb_fleet_code code, size_t gpu,
                        const char *text, const char *causes);

/* ---- documents by their kind: kinds.c ---- */

/* Takes every value, fault and GPU of a link test. If the document is wrong, the reader has the
 * error, and the fleet gets nothing of the document. */
void xb_taking_link(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                    const cJSON *document);
/* Takes results of one process or several in the same way. */
void xb_taking_record(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                      const cJSON *document);

/* ---- from outside ---- */

#define XB_TAKING_WHY 640
/* Takes a document from memory, with a zero byte behind it, or leaves in `why` (XB_TAKING_WHY) why
 * it is left out; "" if it is not. *is_foreign: it can be read, and is of no node. Several threads
 * may do so, each with a fleet of its own. */
void xb_taking_document(struct xb_fleet *fleet, const struct xb_fleet_terms *terms,
                        const char *path, size_t number, const char *text, size_t length, char *why,
                        bool *is_foreign);
