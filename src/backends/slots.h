/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

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

/* What needs a slot: a device with any of these capabilities; else every backend, or one of these.
 */
#define XB_SLOT_ALWAYS 0u
#define XB_SLOT_PEERS (1u << 29) /* all that need this, or none */
#define XB_SLOT_PROFILER (1u << 30)
#define XB_SLOT_NEVER (1u << 31)
#define XB_SLOT_PIECES (XB_CAP_BATCH | XB_CAP_KERNELS | XB_CAP_GRAPH)

/* Every slot of a backend's table, with what needs it. QUEUE: of queues and what is enqueued on
 * them, of events, pieces and graphs; KERNEL: what is written for every backend; MEMORY: of
 * devices and their memory; FILE: of files; OWN: others. */
#define XB_SLOTS(OWN, FILE, MEMORY, QUEUE, KERNEL, prefix)                                         \
    OWN(prefix, driver_open, XB_SLOT_ALWAYS)                                                       \
    OWN(prefix, driver_close, XB_SLOT_ALWAYS)                                                      \
    OWN(prefix, device_info, XB_SLOT_ALWAYS)                                                       \
    OWN(prefix, device_health, XB_SLOT_NEVER)                                                      \
    OWN(prefix, device_setup, XB_SLOT_NEVER)                                                       \
    OWN(prefix, device_open, XB_SLOT_ALWAYS)                                                       \
    MEMORY(prefix, device_close, XB_SLOT_ALWAYS)                                                   \
    MEMORY(prefix, device_memory, XB_SLOT_ALWAYS)                                                  \
    MEMORY(prefix, buffer_allocate, XB_SLOT_ALWAYS)                                                \
    MEMORY(prefix, buffer_register, XB_CAP_REGISTER)                                               \
    MEMORY(prefix, buffer_advise, XB_CAP_MANAGED)                                                  \
    MEMORY(prefix, buffer_free, XB_SLOT_ALWAYS)                                                    \
    QUEUE(prefix, queue_open, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, queue_open_blocking, XB_SLOT_ALWAYS)                                             \
    MEMORY(prefix, queue_allocate, XB_CAP_POOL)                                                    \
    QUEUE(prefix, queue_close, XB_SLOT_ALWAYS)                                                     \
    QUEUE(prefix, queue_copy, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, queue_fill, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, queue_check, XB_SLOT_ALWAYS)                                                     \
    KERNEL(prefix, queue_kernel_copy, XB_CAP_KERNELS)                                              \
    KERNEL(prefix, queue_compute, XB_CAP_KERNELS)                                                  \
    KERNEL(prefix, queue_chain, XB_CAP_KERNELS)                                                    \
    KERNEL(prefix, queue_chase, XB_CAP_KERNELS)                                                    \
    MEMORY(prefix, queue_prefetch, XB_CAP_MANAGED)                                                 \
    QUEUE(prefix, queue_hold, XB_CAP_HOLD)                                                         \
    QUEUE(prefix, queue_release, XB_CAP_HOLD)                                                      \
    QUEUE(prefix, queue_wait_event, XB_SLOT_ALWAYS)                                                \
    QUEUE(prefix, queue_wait, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, event_open, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, event_close, XB_SLOT_ALWAYS)                                                     \
    QUEUE(prefix, event_record, XB_SLOT_ALWAYS)                                                    \
    QUEUE(prefix, event_wait, XB_SLOT_ALWAYS)                                                      \
    QUEUE(prefix, event_elapsed, XB_SLOT_ALWAYS)                                                   \
    QUEUE(prefix, pieces_open, XB_SLOT_PIECES)                                                     \
    QUEUE(prefix, pieces_close, XB_SLOT_PIECES)                                                    \
    QUEUE(prefix, queue_copy_pieces, XB_CAP_BATCH)                                                 \
    QUEUE(prefix, queue_kernel_pieces, XB_CAP_KERNELS)                                             \
    QUEUE(prefix, graph_open, XB_CAP_GRAPH)                                                        \
    QUEUE(prefix, graph_close, XB_CAP_GRAPH)                                                       \
    QUEUE(prefix, queue_graph, XB_CAP_GRAPH)                                                       \
    QUEUE(prefix, queue_copy_rows, XB_CAP_ROWS)                                                    \
    KERNEL(prefix, queue_decode, XB_CAP_KERNELS)                                                   \
    KERNEL(prefix, queue_digest, XB_CAP_KERNELS)                                                   \
    KERNEL(prefix, queue_count, XB_CAP_KERNELS)                                                    \
    FILE(prefix, file_open, XB_CAP_FILE)                                                           \
    FILE(prefix, file_close, XB_CAP_FILE)                                                          \
    FILE(prefix, file_read, XB_CAP_FILE)                                                           \
    FILE(prefix, file_way, XB_CAP_FILE)                                                            \
    OWN(prefix, peer_info, XB_SLOT_PEERS)                                                          \
    MEMORY(prefix, peer_open, XB_SLOT_PEERS)                                                       \
    MEMORY(prefix, peer_close, XB_SLOT_PEERS)                                                      \
    MEMORY(prefix, queue_copy_peer, XB_SLOT_PEERS)                                                 \
    OWN(prefix, range_push, XB_SLOT_PROFILER)                                                      \
    OWN(prefix, range_pop, XB_SLOT_PROFILER)                                                       \
    OWN(prefix, profiler_collect, XB_SLOT_PROFILER)

/* Part of that list, of slots whose functions are named like them, behind a prefix:
 * XB_HOST_SLOTS(XB_DECLARE_SLOT, xb_host_) declares these functions with the types of backend.h,
 * and XB_FILL(XB_HOST_SLOTS, xb_host_) puts them into a table, at its end. */
#define XB_NO_SLOT(prefix, slot, needs)
#define XB_DECLARE_SLOT(prefix, slot, needs)                                                       \
    __typeof__(*((struct xb_backend *)0)->slot) prefix##slot;
#define XB_FILL_SLOT(prefix, slot, needs) .slot = prefix##slot,
#define XB_FILL(list, prefix) list(XB_FILL_SLOT, prefix).abi = XB_BACKEND_ABI

/* ---- slot_checks.c: the slots of kernels, written over what a backend has for them ---- */

/* What a kernel does. Addresses are those at which it sees memory. */
struct xb_kernel {
    enum xb_kernel_kind {
        XB_KERNEL_COPY,
        XB_KERNEL_COMPUTE,
        XB_KERNEL_DIGEST,
        XB_KERNEL_COUNT,
        XB_KERNEL_CHAIN,
        XB_KERNEL_CHASE, /* from the source, a chain; the target is the cursor */
        XB_KERNEL_DECODE
    } kind;
    enum xb_access access; /* COPY, CHAIN */
    enum xb_format format; /* DECODE */
    unsigned together;     /* COPY */
    unsigned turn;         /* CHASE */
    bool bulk;             /* CHASE */
    bool plain;            /* DIGEST */
    char *target, *source;
    uint64_t bytes;
    uint64_t times;                  /* COMPUTE: steps; CHASE: loads; COUNT: the first */
    uint64_t source_bytes;           /* DECODE */
    uint64_t offset;                 /* DECODE: of the target in its buffer */
    struct xb_decode_report *report; /* DECODE */
};

struct xb_kernels {
    /* Finds the address at which kernels of a device, which may be another than the buffer's, see
     * its memory. */
    enum xb_status (*find_address)(const struct xb_device *device, const struct xb_buffer *buffer,
                                   uint64_t offset, char **address, struct xb_error *error);
    /* Enqueues a kernel. All that the slots promise is checked. */
    enum xb_status (*enqueue)(struct xb_queue *queue, const struct xb_kernel *work,
                              struct xb_error *error);
};

#define XB_KERNEL_SLOTS(X, prefix)                                                                 \
    XB_SLOTS(XB_NO_SLOT, XB_NO_SLOT, XB_NO_SLOT, XB_NO_SLOT, X, prefix)
XB_KERNEL_SLOTS(XB_DECLARE_SLOT, xb_)
#define XB_FILL_KERNELS(own) .kernels = &(own), XB_KERNEL_SLOTS(XB_FILL_SLOT, xb_)
