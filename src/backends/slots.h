/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

/* Slots of a backend's table whose functions are named like them, behind a prefix. A list declares
 * these functions with the types of backend.h, XB_QUEUE_SLOTS(XB_DECLARE_SLOT, xb_host_), and puts
 * them into a table: XB_FILL(XB_QUEUE_SLOTS, xb_host_), at its end. */
#define XB_DECLARE_SLOT(prefix, slot) __typeof__(*((struct xb_backend *)0)->slot) prefix##slot;
#define XB_FILL_SLOT(prefix, slot) .slot = prefix##slot,
#define XB_FILL(list, prefix) list(XB_FILL_SLOT, prefix).abi = XB_BACKEND_ABI

/* Ends a slot that opens an object: *out gets it, or what was begun is undone, and the failure is
 * passed on. */
#define XB_OPENED(status, object, undo, out)                                                       \
    ((status) == XB_OK ? (void)(*(out) = &(object)->base) : (void)(undo), (status))

/* device.c */

/* Adds a line to the probe: what was looked for, and what was found, which it returns. */
const char *xb_probe_add(struct xb_probe *probe, bool ok, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Makes a driver that is no more than its backend's table, called so in a message; and its
 * driver_close. */
enum xb_status xb_driver_make(const struct xb_backend *backend, const char *called,
                              struct xb_driver **driver, struct xb_error *error);
void xb_driver_drop(struct xb_driver *driver);

/* What every backend has: queues and what is enqueued on them, events, pieces and graphs. */
#define XB_QUEUE_SLOTS(X, prefix)                                                                  \
    X(prefix, queue_open)                                                                          \
    X(prefix, queue_open_blocking)                                                                 \
    X(prefix, queue_close)                                                                         \
    X(prefix, queue_copy)                                                                          \
    X(prefix, queue_fill)                                                                          \
    X(prefix, queue_check)                                                                         \
    X(prefix, queue_kernel_copy)                                                                   \
    X(prefix, queue_compute)                                                                       \
    X(prefix, queue_chain)                                                                         \
    X(prefix, queue_chase)                                                                         \
    X(prefix, queue_hold)                                                                          \
    X(prefix, queue_release)                                                                       \
    X(prefix, queue_wait_event)                                                                    \
    X(prefix, queue_wait)                                                                          \
    X(prefix, event_open)                                                                          \
    X(prefix, event_close)                                                                         \
    X(prefix, event_record)                                                                        \
    X(prefix, event_wait)                                                                          \
    X(prefix, event_elapsed)                                                                       \
    X(prefix, pieces_open)                                                                         \
    X(prefix, pieces_close)                                                                        \
    X(prefix, queue_copy_pieces)                                                                   \
    X(prefix, queue_kernel_pieces)                                                                 \
    X(prefix, graph_open)                                                                          \
    X(prefix, graph_close)                                                                         \
    X(prefix, queue_graph)                                                                         \
    X(prefix, queue_copy_rows)                                                                     \
    X(prefix, queue_decode)                                                                        \
    X(prefix, queue_digest)
