/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/slots.h"

/*
 * Ways in which a copy goes wrong, made of right operations of any backend: nothing reaches behind
 * its table, so the same damage is done to a real device's copies. Nothing waits here, for queues
 * may be held.
 */
enum xb_damage {
    XB_DAMAGE_NONE,
    XB_DAMAGE_BIT_FLIPPED,    /* one bit in the middle, or a word where nobody can flip one */
    XB_DAMAGE_BLOCKS_SWAPPED, /* the first two blocks of 4 KiB, of 2 KiB on the way to the host */
    XB_DAMAGE_SHIFTED_2MIB,   /* everything comes from 2 MiB further on, where there is so much */
    XB_DAMAGE_LAST_BYTE_LOST, /* the last byte is not written */
    XB_DAMAGE_NOTHING_COPIED,
    XB_DAMAGE_PIECE_LOST,     /* one piece of many is not written; of a single copy, 4 KiB */
    XB_DAMAGE_PIECE_MISPLACED /* the same, but it is written 8 bytes from its place */
};

/* Smaller operations are left alone: the windows of the spot check. Many pieces count together. */
#define XB_DAMAGE_LEAST 8192u

/* The most operations that stand in for one. */
#define XB_DAMAGE_OPERATIONS 3u

#define XB_DAMAGE_SHIFT (UINT64_C(2) << 20)

static inline uint64_t xb_damage_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * What damages, and the backend whose slots make the operations. By these all functions here go.
 * Set while nothing is open.
 */
struct xb_damager {
    const enum xb_damage *damage;
    const struct xb_backend *inner;
    /* Enqueues what flips one bit of that byte. NULL: another word comes in place of the right one.
     */
    enum xb_status (*flip)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                           struct xb_error *error);
};
extern struct xb_damager xb_damager;

/* How many operations have been damaged. */
extern _Atomic unsigned xb_damage_count;

/*
 * Slots that damage what they do, named like them. All are declared; those of copies, prefetches,
 * chases, decodings, files, pieces, graphs and rows are there.
 *
 * chase: it loses all loads if nothing is to be copied, and else one: as if one had brought the
 * word of another line.
 *
 * decode, prefetch: damage what is there, in place, by a kernel that computes: no word stays what
 * it was, whatever the data is. Only what is restored to device memory. A whole word is wrong in
 * place of a bit, the last whole word in place of the last byte, and all words in place of a shift;
 * also where nothing was to be moved by a prefetch, for both sides have one memory.
 *
 * file_read: a whole word is wrong in place of a bit, and a shift needs a file that is so long. May
 * be called by several threads at once.
 *
 * pieces_open: opens a list together with one for every damage that is another list. Of swapped
 * blocks and 2 MiB further on there are pieces here: the first two swap their sources, and every
 * piece comes from further on where there is so much. The damage is that of the moment of
 * enqueuing. A row is a piece.
 */
#define XB_DAMAGE_SLOTS(X, prefix) XB_SLOTS(X, X, X, X, X, prefix)
XB_DAMAGE_SLOTS(XB_DECLARE_SLOT, xb_damage_)

/*
 * A backend like `inner`, name and all, whose copies and prefetches take xb_damaged_how. Its
 * objects are the inner one's own; those that carry a table carry this one. There is one such
 * table: wrapping another backend changes it, so nothing of the first may be open then. It is used
 * by one thread.
 */
const struct xb_backend *xb_damaged_wrap(const struct xb_backend *inner);

extern enum xb_damage xb_damaged_how;
