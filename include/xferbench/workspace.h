/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

struct xb_crew;
struct xb_mode_context;

/* Memory and queues of one device, kept from case to case: a sweep allocates once, at its largest
 * size, because pinning memory costs more than copying it. A mode borrows what it needs for one
 * case, and never frees it. Buffers on either side are numbered from 0: the same number again gives
 * the same memory, as long as kind and size allow. */
struct xb_workspace;

#define XB_SHARED_BUFFERS 2      /* on either side, of each of those that share a device */
#define XB_WORKSPACE_BUFFERS 256 /* on either side: so many for each of many pairs */

/* How many placements a case that needs several is measured in: as few as give their median an
 * interval of 95 % (xb_interval_ranks). A placement is where the host's memory lies: in the n-th,
 * from 0, host buffer i is what host buffer i + n was in the first. */
#define XB_PLACEMENTS 6

/* Opens a workspace that allocates a case's own buffers at once for the largest case, `hint` (0:
 * none). */
struct xb_workspace *xb_workspace_open(struct xb_device *device, uint64_t hint);
void xb_workspace_close(struct xb_workspace *workspace);

/* Begins a case of `bytes`. May free what the last case borrowed, and closes its queues where they
 * are not to be used again. */
void xb_workspace_begin(struct xb_workspace *workspace, uint64_t bytes);

/* Says, before the first borrowing, that several pairs take device memory here at once. The check
 * that all of it fits counts the case's size for each, so this frees what is kept beyond that, and
 * until the next case nothing is allocated larger. */
void xb_workspace_share(struct xb_workspace *workspace);

/* Frees every buffer that the case has not borrowed: for a mode that allocates past the workspace,
 * because what is kept counts as memory that a case can have. */
void xb_workspace_give_up_idle(struct xb_workspace *workspace);

/* Borrows a buffer of that memory and at least `bytes`. Device memory has numbers of its own. A
 * buffer that `follows` the case's size is that long or longer, and allocated at once as much
 * longer than the hint; a ring or a slot does not, even where it is as long by chance.
 * XB_ERR_MEMORY where it does not fit. */
enum xb_status xb_workspace_buffer(struct xb_workspace *workspace, unsigned number,
                                   enum xb_memory memory, uint64_t bytes, bool follows,
                                   struct xb_buffer **buffer, struct xb_error *error);

/* How a case takes a buffer. */
enum xb_taking {
    XB_OF_CASE, /* its size follows the case's (xb_workspace_buffer) */
    XB_FIXED,   /* its size does not */
    XB_OF_PEER, /* as XB_OF_CASE, from the destination of a pair: device memory only */
    XB_COUNTED, /* from elsewhere: it only counts, and takes a number */
};

#define XB_CASE_BUFFERS 12
/* The buffers of a case, in the order in which they are borrowed. In this order they are numbered
 * from 0, on each side of each workspace. */
struct xb_buffers {
    struct xb_taken {
        enum xb_taking how;
        enum xb_memory memory;
        uint64_t bytes; /* 0: there is none, and its number is nobody's */
        size_t place;   /* of its pointer in the mode's state */
    } list[XB_CASE_BUFFERS];
    size_t count;
    uint64_t beyond; /* so much longer are those whose size follows the case's */
};

/* For a mode's `buffers`: adds one. */
void xb_take(struct xb_buffers *all, enum xb_taking how, enum xb_memory memory, uint64_t bytes,
             size_t place);

/* For setup: borrows these buffers (NULL: those that the mode lists), but for those whose pointer
 * in the state is set, then so many queues (xb_borrow_queues); 0: none. Cases that share a device
 * have XB_SHARED_BUFFERS each there, on either side. */
enum xb_status xb_borrow(struct xb_mode_context *context, const struct xb_buffers *all,
                         size_t queues, struct xb_error *error);

/* Borrows so many queues of the case's device, and sets them. Cases that share the device have
 * theirs each: all of them take as many. */
enum xb_status xb_borrow_queues(struct xb_mode_context *context, size_t count,
                                struct xb_error *error);

/* Makes host buffers for `most` placements (XB_PLACEMENTS at most), for a case that has borrowed
 * its own: 0, 1, ... of one kind and of the case's size. Returns for how many placements there is
 * memory, 1 or more; *error says why there is none for more. */
unsigned xb_workspace_spread(struct xb_workspace *workspace, unsigned most, struct xb_error *error);

/* Puts the host buffers into that placement. xb_workspace_begin goes back to 0. */
void xb_workspace_place(struct xb_workspace *workspace, unsigned placement);

/* Returns a host buffer by its number, for the record; NULL where the case has not borrowed it. */
const struct xb_buffer *xb_workspace_host_buffer(const struct xb_workspace *workspace,
                                                 unsigned number);

/* Counts the bytes that the workspace keeps for a new case to borrow, on the host or on the device;
 * 0 for NULL. Managed memory counts on both sides, because its pages are on either. */
uint64_t xb_workspace_kept(const struct xb_workspace *workspace, bool on_host);

/* Counts the bytes that the case has borrowed; managed memory is the host's here. */
uint64_t xb_workspace_borrowed(const struct xb_workspace *workspace, bool on_host);

/* Async has so many at most, and all pairs of a device have fewer. */
#define XB_WORKSPACE_QUEUES 256

/* Borrows `count` queues, the same every time; new ones for every case on a device with
 * info.engine_by_history. The list stays where it is when more are borrowed. */
enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                   struct xb_queue ***queues, struct xb_error *error);

/* Borrows a crew of that many threads, kept from case to case. They run where the caller may: near
 * the device or on the NUMA node that --numa names. */
enum xb_status xb_workspace_crew(struct xb_workspace *workspace, unsigned threads,
                                 struct xb_crew **crew, struct xb_error *error);

/* Keeps a number that a mode found for one case and wants for others that do the same work, such as
 * a kernel's steps, as long as the workspace, under a name of at most XB_WORKSPACE_NAME - 1
 * characters. Drops it where there is no room. */
#define XB_WORKSPACE_NAME 160
void xb_workspace_remember(struct xb_workspace *workspace, const char *name, uint64_t number);
/* False where there is none of that name. */
bool xb_workspace_recall(const struct xb_workspace *workspace, const char *name, uint64_t *number);
