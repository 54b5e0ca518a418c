/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_WORKSPACE_H
#define XFERBENCH_WORKSPACE_H

#include "xferbench/backend.h"

/*
 * Memory and queues of one device, kept from case to case: a sweep allocates once, at its largest
 * size, because pinning memory costs more than copying it. What a mode takes from here is borrowed
 * for one case and never freed by the mode.
 *
 * A workspace has several places for a buffer on either side; a mode numbers them from 0. Asking
 * for the same place again gives the same memory, as long as kind and size allow.
 */
struct xb_workspace;

#define XB_WORKSPACE_PLACES 4

/* Opens a workspace whose buffers of a case's own size are made for the largest case, `hint` (0 for
 * no hint): a sweep then allocates them once. */
XB_MUST_CHECK enum xb_status xb_workspace_open(struct xb_device *device, uint64_t hint,
                                               struct xb_workspace **workspace,
                                               struct xb_error *error);
void xb_workspace_close(struct xb_workspace *workspace);

/* A case of `bytes` begins: what the last one borrowed may be given up for it. */
void xb_workspace_begin(struct xb_workspace *workspace, uint64_t bytes);

/* A buffer of that memory (DEVICE or not: each side has its own places) and at least `bytes`. */
XB_MUST_CHECK enum xb_status xb_workspace_buffer(struct xb_workspace *workspace, unsigned place,
                                                 enum xb_memory memory, uint64_t bytes,
                                                 struct xb_buffer **buffer, struct xb_error *error);

/* The buffer in host place 0, for the record; NULL where the case has borrowed none. */
const struct xb_buffer *xb_workspace_host_buffer(const struct xb_workspace *workspace);

/* Bytes that the workspace keeps now: a new case can have them. Managed memory counts on both
 * sides: its pages are on either. */
void xb_workspace_kept(const struct xb_workspace *workspace, uint64_t *host_bytes,
                       uint64_t *device_bytes);

/* `count` queues, the same ones every time. */
XB_MUST_CHECK enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                                 struct xb_queue ***queues, struct xb_error *error);

#endif
