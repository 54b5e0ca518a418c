/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CODECS_LZ4_DECODE_H
#define XFERBENCH_CODECS_LZ4_DECODE_H

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
#define XB_LANES_TAKE(mine, lane, bytes) ((bytes)[lane])
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

/* Copies the literals, which most often are in the window. */
XB_KERNEL_FUNCTION void xb_lz4_copy_literals(const struct xb_lz4_reader *reader,
                                             unsigned char *target, unsigned literals)
{
    unsigned before = reader->at - reader->window;
    if (before + literals > reader->lanes)
        xb_lz4_copy(target, reader->in + reader->at, literals, reader->lane, reader->lanes);
    else if (reader->lane >= before && reader->lane - before < literals)
        target[reader->lane - before] = (unsigned char)reader->mine;
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

/* Restores exactly `size` bytes of a compressed block, or refuses it. */
XB_KERNEL_FUNCTION int xb_lz4_decompress(const unsigned char *in, unsigned length,
                                         unsigned char *target, unsigned size, unsigned lane,
                                         unsigned lanes)
{
    struct xb_lz4_reader reader = {in, length, 0, 0, 0, lane, lanes};
    unsigned done = 0;
    xb_lz4_look(&reader);
    while (reader.at < length) {
        unsigned token = xb_lz4_take(&reader);
        unsigned literals, match;
        if (!xb_lz4_take_length(&reader, token >> 4, &literals) || literals > length - reader.at ||
            literals > size - done)
            return 0;
        xb_lz4_copy_literals(&reader, target + done, literals);
        reader.at += literals;
        done += literals;
        if (reader.at == length) /* only the last sequence has no match */
            return done == size;
        if (length - reader.at < 2)
            return 0;
        unsigned offset = xb_lz4_take(&reader);
        offset |= xb_lz4_take(&reader) << 8;
        if (!xb_lz4_take_length(&reader, token & 15, &match))
            return 0;
        match += 4;
        if (offset == 0 || offset > done || match > size - done)
            return 0;
        xb_lz4_look(&reader); /* before the match, so that both are loaded at the same time */
        XB_LANES_SYNC();
        xb_lz4_copy_match(target + done, offset, match, lane, lanes);
        done += match;
    }
    return 0;
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

/*
 * Restores one block of a chunk. All `lanes` lanes call it, with their numbers. Returns 1, or 0
 * where the block is refused: then what it wrote is inside the block.
 */
XB_KERNEL_FUNCTION int xb_lz4_decode_block(const unsigned char *chunk,
                                           unsigned long long encoded_bytes, unsigned char *target,
                                           unsigned long long bytes, unsigned long long block,
                                           unsigned lane, unsigned lanes)
{
    unsigned long long directory = xb_lz4_directory_bytes(bytes);
    if (block >= xb_lz4_blocks(bytes) || directory > encoded_bytes)
        return 0;
    const xb_lz4_word *entry = (const xb_lz4_word *)chunk + block;
    unsigned before = entry[0] & ~XB_LZ4_STORED;
    unsigned end = entry[1] & ~XB_LZ4_STORED;
    unsigned begin = (before + XB_LZ4_BLOCK_ALIGNMENT - 1) & ~(XB_LZ4_BLOCK_ALIGNMENT - 1);
    if (begin > end || end > encoded_bytes - directory)
        return 0;
    unsigned long long left = bytes - block * XB_LZ4_BLOCK;
    unsigned size = left < XB_LZ4_BLOCK ? (unsigned)left : XB_LZ4_BLOCK;
    const unsigned char *in = chunk + directory + begin;
    target += block * XB_LZ4_BLOCK;
    if ((entry[0] & XB_LZ4_STORED) != 0) {
        if (end - begin != size)
            return 0;
        xb_lz4_copy_stored(target, in, size, lane, lanes);
        return 1;
    }
    /* Only what gets smaller is compressed. */
    return end - begin < size && xb_lz4_decompress(in, end - begin, target, size, lane, lanes);
}

#endif
