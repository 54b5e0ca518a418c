/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

/*
 * Ways in which a copy goes wrong, made of right operations of any backend: nothing reaches behind
 * its table, so the same damage is done to a real device's copies. Nothing waits here, for queues
 * may be held.
 */
enum xb_damage {
    XB_DAMAGE_NONE,
    XB_DAMAGE_BIT_FLIPPED,    /* one bit in the middle; a word where what is there is not known */
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

#define XB_DAMAGE_BLOCK UINT64_C(4096)
#define XB_DAMAGE_SHIFT (UINT64_C(2) << 20)

/* The slot by which a copy is made. */
enum xb_damaged_slot { XB_DAMAGED_COPY, XB_DAMAGED_KERNEL_COPY, XB_DAMAGED_PEER_COPY };

/* A copy as it was asked for. */
struct xb_damaged_copy {
    const struct xb_backend *inner; /* whose slots make it */
    struct xb_queue *queue;
    struct xb_buffer *target;
    uint64_t to;
    struct xb_buffer *source;
    uint64_t from;
    uint64_t bytes;
    enum xb_damaged_slot slot;
    enum xb_access access; /* of a kernel copy */
    unsigned together;     /* of a kernel copy */
};

/* What is moved, in this order, where a move of that many bytes takes that damage: parts of it, by
 * their places. Returns how many. Blocks that are swapped are of `block` bytes. */
size_t xb_damage_parts(enum xb_damage damage, uint64_t bytes, uint64_t block,
                       struct xb_piece parts[XB_DAMAGE_OPERATIONS]);

/* Enqueues the copy with that damage. Counts what it damages in xb_damage_count. */
enum xb_status xb_damage_copy(enum xb_damage damage, const struct xb_damaged_copy *copy,
                              struct xb_error *error);

/*
 * Enqueues the prefetch and then damages what it moved, in place, by kernels. Memory that one
 * address serves for both sides has no old content elsewhere: of swapped blocks the second is lost,
 * a shift ends after 2 MiB, the last byte takes its word with it, and where nothing is copied
 * another pattern stands.
 */
enum xb_status xb_damage_prefetch(enum xb_damage damage, const struct xb_backend *inner,
                                  struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  bool to_device, struct xb_error *error);

/* Enqueues the chase and, whatever the damage, lets it lose a load: as if one had brought the word
 * of another line. */
enum xb_status xb_damage_chase(enum xb_damage damage, const struct xb_backend *inner,
                               struct xb_queue *queue, struct xb_buffer *chain,
                               struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                               struct xb_error *error);

/*
 * Enqueues the decoding and then damages what it restored, in place, by a kernel that computes: no
 * word stays what it was, whatever the data is. Only what is restored to device memory. A whole
 * word is wrong in place of a bit, the last whole word in place of the last byte, and all words in
 * place of a shift.
 */
enum xb_status xb_damage_decode(enum xb_damage damage, const struct xb_backend *inner,
                                struct xb_queue *queue, const struct xb_decoding *decoding,
                                struct xb_error *error);

/*
 * Reads the file with that damage, by reads of the inner backend: a whole word is wrong in place of
 * a bit, and a shift needs a file that is so long. May be called by several threads at once.
 */
enum xb_status xb_damage_file_read(enum xb_damage damage, const struct xb_backend *inner,
                                   struct xb_file *file, uint64_t file_offset,
                                   struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   struct xb_error *error);

/* ---- damage_pieces.c: many copies at once ---- */

/*
 * A list is opened together with one for every damage that is another list. Of swapped blocks and
 * 2 MiB further on there are pieces here: the first two swap their sources, and every piece comes
 * from further on where there is so much. The damage is that of the moment of enqueuing.
 */
enum xb_status xb_damage_pieces_open(const struct xb_backend *inner, struct xb_device *device,
                                     struct xb_buffer *target, struct xb_buffer *source,
                                     const struct xb_piece *pieces, size_t count,
                                     struct xb_pieces **list, struct xb_error *error);
void xb_damage_pieces_close(struct xb_pieces *list);
enum xb_status xb_damage_copy_pieces(enum xb_damage damage, struct xb_queue *queue,
                                     struct xb_pieces *list, struct xb_error *error);
enum xb_status xb_damage_kernel_pieces(enum xb_damage damage, struct xb_queue *queue,
                                       struct xb_pieces *list, unsigned blocks,
                                       struct xb_error *error);
enum xb_status xb_damage_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                    struct xb_graph **graph, struct xb_error *error);
void xb_damage_graph_close(struct xb_graph *graph);
enum xb_status xb_damage_graph(enum xb_damage damage, struct xb_queue *queue,
                               struct xb_graph *graph, struct xb_error *error);
/* A row is a piece. */
enum xb_status xb_damage_rows(enum xb_damage damage, const struct xb_backend *inner,
                              struct xb_queue *queue, struct xb_rows target, struct xb_rows source,
                              uint64_t bytes, uint64_t count, struct xb_error *error);

/*
 * Where in the first 8 KiB of a buffer a byte stands that differs from byte `place` in one bit, at
 * a multiple of `step`; `place` itself if none was found.
 */
uint64_t xb_damage_find_flipped(const struct xb_buffer *buffer, uint64_t place, uint64_t step);

/*
 * To flip one bit, one must know what is there: tell of every fill of a buffer by a queue, of what
 * else writes to it, and when it is freed. xb_damage_copy notes its own target. Any thread may.
 */
void xb_damage_note_fill(const struct xb_buffer *buffer, uint64_t bytes, struct xb_pattern pattern);
void xb_damage_note_write(const struct xb_buffer *buffer);
void xb_damage_forget(const struct xb_buffer *buffer);

/* How many operations have been damaged. */
extern _Atomic unsigned xb_damage_count;
