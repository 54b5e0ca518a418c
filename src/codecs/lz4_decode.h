/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Restores the format `lz4`, which docs/formats.md describes. The CPU and the kernels' compilers
 * read this text: built-in types only, no system headers.
 *
 * Several threads, the lanes, may go through a block together. All read the same tokens and take
 * the same branches, and they share the copying. Who includes this text for them defines:
 * - XB_LANES_SYNC(): what a lane wrote before it is seen by all lanes after it.
 * - XB_LANES_TAKE(mine, lane, bytes): the `mine` of that lane, which is bytes[lane].
 */
#include "xferbench/format.h"
#include "xferbench/kernel_text.h"

#if !defined(XB_LANES_SYNC)
#define XB_LANES_SYNC() ((void)0)
#endif
#if !defined(XB_LANES_TAKE)
#define XB_LANES_TAKE(mine, lane, bytes) ((unsigned)(bytes)[lane])
#endif

#define XB_LZ4_STORED 0x80000000u /* in a directory's entry: its block is stored as it is */
#define XB_LZ4_BLOCK_ALIGNMENT 16u

/* A word of an entry of the directory; 16 bytes of a stored block. */
typedef unsigned __attribute__((may_alias)) xb_lz4_word;
struct __attribute__((may_alias, aligned(16))) xb_lz4_line {
    unsigned words[4];
};

XB_KERNEL_FUNCTION unsigned long long xb_lz4_blocks(unsigned long long bytes)
{
    return bytes / XB_LZ4_BLOCK + (bytes % XB_LZ4_BLOCK != 0);
}

/* The directory with its padding. */
XB_KERNEL_FUNCTION unsigned long long xb_lz4_directory_bytes(unsigned long long bytes)
{
    unsigned long long entries = (xb_lz4_blocks(bytes) + 1) * 4;
    return (entries + XB_FORMAT_ALIGNMENT - 1) / XB_FORMAT_ALIGNMENT * XB_FORMAT_ALIGNMENT;
}

/* A compressed block and how far it was read. */
struct xb_lz4_reader {
    const unsigned char *in;
    unsigned length;
    unsigned at;     /* the next byte */
    unsigned window; /* the lanes hold in[window], in[window + 1], ... */
    unsigned mine;   /* this lane's, 0 behind the end */
    unsigned lane, lanes;
};

/* The lanes load what comes next, all at the same time: no lane waits for memory more than once a
 * sequence, because most sequences are shorter than a window. */
XB_KERNEL_FUNCTION void xb_lz4_look(struct xb_lz4_reader *reader)
{
    unsigned mine = reader->at + reader->lane;
    reader->window = reader->at;
    reader->mine = mine < reader->length ? reader->in[mine] : 0;
}

/* The next byte, of which there must be one. */
XB_KERNEL_FUNCTION unsigned xb_lz4_take(struct xb_lz4_reader *reader)
{
    if (reader->at - reader->window >= reader->lanes)
        xb_lz4_look(reader);
    unsigned lane = reader->at++ - reader->window;
    return XB_LANES_TAKE(reader->mine, lane, reader->in + reader->window);
}

/* A length: what is in the token, and more bytes where that is 15. False where they are missing.
 * The sum cannot overflow, because a block has less than XB_LZ4_BLOCK bytes of up to 255 each. */
XB_KERNEL_FUNCTION int xb_lz4_take_length(struct xb_lz4_reader *reader, unsigned in_token,
                                          unsigned *length)
{
    *length = in_token;
    if (in_token < 15)
        return 1;
    unsigned more;
    do {
        if (reader->at >= reader->length)
            return 0;
        more = xb_lz4_take(reader);
        *length += more;
    } while (more == 255);
    return 1;
}

/*
 * Where a block is restored to.
 *
 * A GPU waits long for the bytes of a match. So the matches of short sequences are stored late:
 * what a lane loaded of them stays in a slot while the next sequences are read, and is stored when
 * the slot is needed again. A match that needs bytes of such matches makes all of them be stored.
 */
#define XB_LZ4_SLOTS 4u
struct xb_lz4_writer {
    unsigned char *out;
    unsigned size, done;
    unsigned late[XB_LZ4_SLOTS]; /* a byte for out[place + lane], or XB_LZ4_NOTHING */
    /* In the order in which slots are used next, these do not go down. All bytes before that of a
     * slot have been stored when the slots before it are. */
    unsigned place[XB_LZ4_SLOTS];
};
#define XB_LZ4_NOTHING 0x100u

XB_KERNEL_FUNCTION void xb_lz4_store_late(struct xb_lz4_writer *writer, unsigned slot,
                                          unsigned lane)
{
    if (writer->late[slot] != XB_LZ4_NOTHING)
        writer->out[writer->place[slot] + lane] = (unsigned char)writer->late[slot];
}

/* Stores what is late, so that all bytes before `done` are stored. */
XB_KERNEL_FUNCTION void xb_lz4_store_all(struct xb_lz4_writer *writer, unsigned lane)
{
    for (unsigned slot = 0; slot < XB_LZ4_SLOTS; slot++) {
        xb_lz4_store_late(writer, slot, lane);
        writer->late[slot] = XB_LZ4_NOTHING;
        writer->place[slot] = writer->done;
    }
}

/*
 * The common case: few literals and a short match, into a slot; these are used in turn. Returns 0,
 * and did nothing, where the next sequence is not so, or not valid, or the lanes are too few.
 */
XB_KERNEL_FUNCTION int xb_lz4_short_sequence(struct xb_lz4_reader *reader,
                                             struct xb_lz4_writer *writer, unsigned slot)
{
    unsigned lane = reader->lane, left = reader->length - reader->at;
    if (left < 4)
        return 0;
    unsigned token = XB_LANES_TAKE(reader->mine, 0, reader->in + reader->at);
    unsigned literals = token >> 4, match = (token & 15) + 4;
    if (literals == 15 || match == 15 + 4 ||
        (reader->lanes < 15 + 4 && (literals + 3 > reader->lanes || match > reader->lanes)) ||
        literals + 3 >= left || literals + match > writer->size - writer->done)
        return 0;
    unsigned offset = XB_LANES_TAKE(reader->mine, literals + 1, reader->in + reader->at);
    offset |= XB_LANES_TAKE(reader->mine, literals + 2, reader->in + reader->at) << 8;
    unsigned place = writer->done + literals;
    if (offset - 1 >= place)
        return 0;
    if (lane - 1 < literals) /* not lane 0, of which this is a large number */
        writer->out[writer->done + lane - 1] = (unsigned char)reader->mine;
    writer->done = place;
    reader->at += literals + 3;
    xb_lz4_look(reader);
    xb_lz4_store_late(writer, slot, lane);
    writer->late[slot] = XB_LZ4_NOTHING;
    if (place - offset + match > writer->place[(slot + 1) % XB_LZ4_SLOTS])
        xb_lz4_store_all(writer, lane);
    XB_LANES_SYNC();
    writer->place[slot] = place;
    if (lane < match) {
        /* A match that is longer than its offset repeats it. */
        unsigned from = offset < match ? lane % offset : lane;
        writer->late[slot] = writer->out[place - offset + from];
    }
    writer->done += match;
    return 1;
}

/* Copies between ranges that do not overlap. Loads four times before it stores: these take as long
 * together as one. */
XB_KERNEL_FUNCTION void xb_lz4_copy(unsigned char *target, const unsigned char *source,
                                    unsigned length, unsigned lane, unsigned lanes)
{
    unsigned i = lane;
    for (; i + 3 * lanes < length; i += 4 * lanes) {
        unsigned char bytes[4];
        for (unsigned k = 0; k < 4; k++)
            bytes[k] = source[i + k * lanes];
        for (unsigned k = 0; k < 4; k++)
            target[i + k * lanes] = bytes[k];
    }
    for (; i < length; i += lanes)
        target[i] = source[i];
}

/*
 * Copies a match. One that is longer than its offset repeats the `offset` bytes before the target.
 * They are complete, so no lane reads what another one writes here.
 */
XB_KERNEL_FUNCTION void xb_lz4_copy_match(unsigned char *target, unsigned offset, unsigned length,
                                          unsigned lane, unsigned lanes)
{
    const unsigned char *source = target - offset;
    if (offset >= length) {
        xb_lz4_copy(target, source, length, lane, lanes);
        return;
    }
    unsigned from = lane % offset;
    unsigned step = lanes % offset;
    for (unsigned i = lane; i < length; i += lanes) {
        target[i] = source[from];
        from += step;
        if (from >= offset)
            from -= offset;
    }
}

/* What a sequence is followed by. */
enum xb_lz4_step { XB_LZ4_MORE, XB_LZ4_END, XB_LZ4_REFUSED };

/* Any sequence, of any lengths. */
XB_KERNEL_FUNCTION enum xb_lz4_step xb_lz4_sequence(struct xb_lz4_reader *reader,
                                                    struct xb_lz4_writer *writer)
{
    unsigned literals, match;
    xb_lz4_store_all(writer, reader->lane);
    if (reader->at >= reader->length)
        return XB_LZ4_REFUSED;
    unsigned token = xb_lz4_take(reader);
    if (!xb_lz4_take_length(reader, token >> 4, &literals) ||
        literals > reader->length - reader->at || literals > writer->size - writer->done)
        return XB_LZ4_REFUSED;
    xb_lz4_copy(writer->out + writer->done, reader->in + reader->at, literals, reader->lane,
                reader->lanes);
    reader->at += literals;
    writer->done += literals;
    if (reader->at == reader->length) /* only the last sequence has no match */
        return writer->done == writer->size ? XB_LZ4_END : XB_LZ4_REFUSED;
    if (reader->length - reader->at < 2)
        return XB_LZ4_REFUSED;
    xb_lz4_look(reader);
    unsigned offset = xb_lz4_take(reader);
    offset |= xb_lz4_take(reader) << 8;
    if (!xb_lz4_take_length(reader, token & 15, &match))
        return XB_LZ4_REFUSED;
    match += 4;
    if (offset == 0 || offset > writer->done || match > writer->size - writer->done)
        return XB_LZ4_REFUSED;
    xb_lz4_look(reader); /* before the match, so that both are loaded at the same time */
    XB_LANES_SYNC();
    xb_lz4_copy_match(writer->out + writer->done, offset, match, reader->lane, reader->lanes);
    writer->done += match;
    xb_lz4_store_all(writer, reader->lane);
    return XB_LZ4_MORE;
}

/* Restores exactly `size` bytes of a compressed block, or refuses it. */
XB_KERNEL_FUNCTION int xb_lz4_decompress(const unsigned char *in, unsigned length,
                                         unsigned char *target, unsigned size, unsigned lane,
                                         unsigned lanes)
{
    struct xb_lz4_reader reader = {in, length, 0, 0, 0, lane, lanes};
    struct xb_lz4_writer writer;
    enum xb_lz4_step step = XB_LZ4_MORE;
    writer.out = target;
    writer.size = size;
    writer.done = 0;
    for (unsigned slot = 0; slot < XB_LZ4_SLOTS; slot++)
        writer.late[slot] = XB_LZ4_NOTHING;
    xb_lz4_store_all(&writer, lane); /* nothing; sets the slots' places */
    xb_lz4_look(&reader);
    while (step == XB_LZ4_MORE) {
        /* Each by its number, so that the compiler keeps it in registers. */
        while (xb_lz4_short_sequence(&reader, &writer, 0) &&
               xb_lz4_short_sequence(&reader, &writer, 1) &&
               xb_lz4_short_sequence(&reader, &writer, 2) &&
               xb_lz4_short_sequence(&reader, &writer, 3))
            continue;
        step = xb_lz4_sequence(&reader, &writer);
    }
    return step == XB_LZ4_END;
}

/* Copies a stored block: both sides are aligned to 16 bytes. */
XB_KERNEL_FUNCTION void xb_lz4_copy_stored(unsigned char *target, const unsigned char *source,
                                           unsigned size, unsigned lane, unsigned lanes)
{
    unsigned lines = size / 16;
    for (unsigned i = lane; i < lines; i += lanes)
        ((struct xb_lz4_line *)target)[i] = ((const struct xb_lz4_line *)source)[i];
    for (unsigned i = lines * 16 + lane; i < size; i += lanes)
        target[i] = source[i];
}

struct xb_lz4_found {
    const unsigned char *in; /* a null pointer where the block is refused */
    unsigned length, size;   /* bytes here and bytes of the original */
    int stored;
};

XB_KERNEL_FUNCTION struct xb_lz4_found xb_lz4_find(const unsigned char *chunk,
                                                   unsigned long long encoded_bytes,
                                                   unsigned long long bytes,
                                                   unsigned long long block)
{
    struct xb_lz4_found found = {0, 0, 0, 0};
    unsigned long long directory = xb_lz4_directory_bytes(bytes);
    if (block >= xb_lz4_blocks(bytes) || directory > encoded_bytes)
        return found;
    const xb_lz4_word *entry = (const xb_lz4_word *)chunk + block;
    unsigned before = entry[0] & ~XB_LZ4_STORED;
    unsigned end = entry[1] & ~XB_LZ4_STORED;
    unsigned begin = (before + XB_LZ4_BLOCK_ALIGNMENT - 1) & ~(XB_LZ4_BLOCK_ALIGNMENT - 1);
    if (begin > end || end > encoded_bytes - directory)
        return found;
    unsigned long long left = bytes - block * XB_LZ4_BLOCK;
    found.size = left < XB_LZ4_BLOCK ? (unsigned)left : XB_LZ4_BLOCK;
    found.length = end - begin;
    found.stored = (entry[0] & XB_LZ4_STORED) != 0;
    /* Only what gets smaller is compressed. */
    if (found.stored ? found.length == found.size : found.length < found.size)
        found.in = chunk + directory + begin;
    return found;
}

/*
 * Restores one block of a chunk. All `lanes` lanes call it, with their numbers. Returns 1, or 0
 * where the block is refused: then what it wrote is inside the block.
 */
XB_KERNEL_FUNCTION int xb_lz4_decode_block(const unsigned char *chunk,
                                           unsigned long long encoded_bytes, unsigned char *target,
                                           unsigned long long bytes, unsigned long long block,
                                           unsigned lane, unsigned lanes)
{
    struct xb_lz4_found found = xb_lz4_find(chunk, encoded_bytes, bytes, block);
    if (found.in == 0)
        return 0;
    target += block * XB_LZ4_BLOCK;
    if (!found.stored)
        return xb_lz4_decompress(found.in, found.length, target, found.size, lane, lanes);
    xb_lz4_copy_stored(target, found.in, found.size, lane, lanes);
    return 1;
}
