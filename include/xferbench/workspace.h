/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_WORKSPACE_H
#define XFERBENCH_WORKSPACE_H

#include "xferbench/backend.h"

/*
 * Memory and queues of one device, kept from case to case: a sweep allocates once, at its largest
 * size, because pinning memory costs more than copying it. What a mode takes from here is borrowed
 * for one case and never freed by the mode.
 */
struct xb_workspace;

/* Opens a workspace that allocates at least the given sizes at once (0 for no hint). */
XB_MUST_CHECK enum xb_status xb_workspace_open(struct xb_device *device, uint64_t host_hint,
                                               uint64_t device_hint,
                                               struct xb_workspace **workspace,
                                               struct xb_error *error);
void xb_workspace_close(struct xb_workspace *workspace);

/* A host buffer of that memory and at least `bytes`. One is kept: asking for another kind frees it.
 */
XB_MUST_CHECK enum xb_status xb_workspace_host(struct xb_workspace *workspace,
                                               enum xb_memory memory, uint64_t bytes,
                                               struct xb_buffer **buffer, struct xb_error *error);

/* The host buffer that is kept now, for the record; NULL where there is none. */
const struct xb_buffer *xb_workspace_kept_host(const struct xb_workspace *workspace);

/* The device buffer, of at least `bytes`. */
XB_MUST_CHECK enum xb_status xb_workspace_device(struct xb_workspace *workspace, uint64_t bytes,
                                                 struct xb_buffer **buffer, struct xb_error *error);

/* `count` queues, the same ones every time. */
XB_MUST_CHECK enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                                 struct xb_queue ***queues, struct xb_error *error);

#endif
