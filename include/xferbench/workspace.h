/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"
#include "xferbench/crew.h"

/*
 * Memory and queues of one device, kept from case to case: a sweep allocates once, at its largest
 * size, because pinning memory costs more than copying it. A mode borrows what it needs for one
 * case, and never frees it.
 *
 * A workspace keeps several buffers on either side, numbered from 0. Borrowing the same number
 * again gives the same memory, as long as kind and size allow.
 */
struct xb_workspace;

#define XB_WORKSPACE_BUFFERS 128 /* on either side: two for each of many pairs */

/*
 * How many placements a case that needs several is measured in: as few as give their median an
 * interval of 95 % (xb_interval_ranks). A placement is where the host's memory lies: in the n-th,
 * counted from 0, host buffer i is the one that was host buffer i + n in the first.
 */
#define XB_PLACEMENTS 6

/* Opens a workspace that allocates buffers of a case's own size at once for the largest case,
 * `hint` (0 for no hint). */
XB_MUST_CHECK enum xb_status xb_workspace_open(struct xb_device *device, uint64_t hint,
                                               struct xb_workspace **workspace,
                                               struct xb_error *error);
void xb_workspace_close(struct xb_workspace *workspace);

/* Says that a case of `bytes` begins. What the last case borrowed may be freed for it, and its
 * queues are closed where they are not to be used again. */
void xb_workspace_begin(struct xb_workspace *workspace, uint64_t bytes);

/* Says that several pairs take device memory here at the same time. The check that all of it fits
 * counts no more than the case's size for each, so whatever is kept beyond that is freed, and until
 * the next case begins nothing is allocated larger. Before the first is borrowed. */
void xb_workspace_share(struct xb_workspace *workspace);

/* Frees every buffer that the case has not borrowed. For a mode that allocates past the workspace:
 * what is kept counts as memory that a case can have. */
void xb_workspace_give_up_idle(struct xb_workspace *workspace);

/* Has the case's buffers of its own size followed by `beyond` more bytes, for as long as it runs.
 */
void xb_workspace_extend(struct xb_workspace *workspace, uint64_t beyond);

/* Borrows a buffer of that memory and of at least `bytes`. The numbers of device memory are counted
 * apart from those of all other memory. XB_ERR_MEMORY where it does not fit. */
XB_MUST_CHECK enum xb_status xb_workspace_buffer(struct xb_workspace *workspace, unsigned number,
                                                 enum xb_memory memory, uint64_t bytes,
                                                 struct xb_buffer **buffer, struct xb_error *error);

/* The same of a buffer whose size does not follow the case's, such as a ring or a slot, also where
 * it is as long by chance. */
XB_MUST_CHECK enum xb_status xb_workspace_fixed_buffer(struct xb_workspace *workspace,
                                                       unsigned number, enum xb_memory memory,
                                                       uint64_t bytes, struct xb_buffer **buffer,
                                                       struct xb_error *error);

/*
 * Has further host buffers ready for a case that has borrowed its own, which are 0, 1, ... and all
 * of one kind and of the case's size: for `most` placements, XB_PLACEMENTS at most. Returns how
 * many there are memory for, 1 or more, and why there is none for more in *error.
 */
unsigned xb_workspace_spread(struct xb_workspace *workspace, unsigned most, struct xb_error *error);

/* Has the case borrow its host buffers in that placement. xb_workspace_begin goes back to 0. */
void xb_workspace_place(struct xb_workspace *workspace, unsigned placement);

/* Host buffer 0, for the record; NULL where the case has not borrowed it. */
const struct xb_buffer *xb_workspace_host_buffer(const struct xb_workspace *workspace);

/* The same of any host buffer, by its number. */
const struct xb_buffer *xb_workspace_host_buffer_of(const struct xb_workspace *workspace,
                                                    unsigned number);

/* How many bytes the workspace keeps now, for a new case to borrow. Managed memory counts on both
 * sides, because its pages are on either. */
void xb_workspace_kept(const struct xb_workspace *workspace, uint64_t *host_bytes,
                       uint64_t *device_bytes);

/* Borrows `count` queues: the same ones every time, but for a device with info.engine_by_history:
 * there every case has new ones, on which nothing ran before. */
XB_MUST_CHECK enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                                 struct xb_queue ***queues, struct xb_error *error);

/* Borrows a crew of that many threads, kept from case to case. They run where the calling thread
 * may run, which is near the device or on the NUMA node that --numa names. */
XB_MUST_CHECK enum xb_status xb_workspace_crew(struct xb_workspace *workspace, unsigned threads,
                                               struct xb_crew **crew, struct xb_error *error);

/* A number that a mode found for one case, such as the steps of a kernel, and wants for others that
 * are to do the same work: kept under a name of at most XB_WORKSPACE_NAME - 1 characters as long as
 * the workspace. Where there is no room for another it is not kept. */
#define XB_WORKSPACE_NAME 160
void xb_workspace_remember(struct xb_workspace *workspace, const char *name, uint64_t number);
/* False where there is none of that name. */
bool xb_workspace_recall(const struct xb_workspace *workspace, const char *name, uint64_t *number);
