/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Restores the format `for`, which docs/formats.md describes. The CPU and the kernels' compilers
 * read this text: built-in types only, no system headers.
 */
#include "xferbench/format.h"
#include "xferbench/kernel_text.h"

/* A value of any type that is read or written as a word. */
typedef unsigned __attribute__((may_alias)) xb_for_word;

#define XB_FOR_BLOCK_BYTES (4ULL * XB_FOR_BLOCK)
#define XB_FOR_ROWS (XB_FOR_BLOCK / XB_FOR_LANES)
#define XB_FOR_ROW_BYTES (4ULL * XB_FOR_LANES) /* the unit in which a block's place is told */
#define XB_FOR_ENTRY_BYTES 8u
#define XB_FOR_BITS_FIELD 6u /* the lowest bits of a place are the block's bits a value */

XB_KERNEL_FUNCTION unsigned long long xb_for_blocks(unsigned long long bytes)
{
    return bytes / XB_FOR_BLOCK_BYTES + (bytes % XB_FOR_BLOCK_BYTES != 0);
}

/* The directory with its padding. */
XB_KERNEL_FUNCTION unsigned long long xb_for_directory_bytes(unsigned long long bytes)
{
    unsigned long long entries = xb_for_blocks(bytes) * XB_FOR_ENTRY_BYTES;
    return (entries + XB_FORMAT_ALIGNMENT - 1) / XB_FORMAT_ALIGNMENT * XB_FORMAT_ALIGNMENT;
}

struct xb_for_packed {
    const xb_for_word *words; /* a null pointer where the block is refused */
    unsigned reference, bits;
};

XB_KERNEL_FUNCTION struct xb_for_packed xb_for_find(const unsigned char *chunk,
                                                    unsigned long long encoded_bytes,
                                                    unsigned long long bytes,
                                                    unsigned long long block)
{
    struct xb_for_packed found = {0, 0, 0};
    unsigned long long directory = xb_for_directory_bytes(bytes);
    if (block >= xb_for_blocks(bytes) || directory > encoded_bytes)
        return found;
    const xb_for_word *entry = (const xb_for_word *)(chunk + block * XB_FOR_ENTRY_BYTES);
    found.reference = entry[0];
    unsigned place = entry[1];
    found.bits = place & ((1u << XB_FOR_BITS_FIELD) - 1);
    unsigned long long first = (unsigned long long)(place >> XB_FOR_BITS_FIELD) * XB_FOR_ROW_BYTES;
    unsigned long long end = first + (unsigned long long)found.bits * XB_FOR_ROW_BYTES;
    if (found.bits <= 32 && end <= encoded_bytes - directory)
        found.words = (const xb_for_word *)(chunk + directory + first);
    return found;
}

/* Value `row` of a lane. A value that begins in one word may end in the next. */
XB_KERNEL_FUNCTION unsigned xb_for_value(struct xb_for_packed packed, unsigned mask, unsigned row,
                                         unsigned lane)
{
    if (packed.bits == 0) /* there are no words */
        return packed.reference;
    unsigned bit = row * packed.bits;
    unsigned shift = bit % 32;
    unsigned word = bit / 32 * XB_FOR_LANES + lane;
    unsigned long long both = packed.words[word];
    if (shift + packed.bits > 32)
        both |= (unsigned long long)packed.words[word + XB_FOR_LANES] << 32;
    return ((unsigned)(both >> shift) & mask) + packed.reference;
}

/* Writes what a chunk has of a value: the last one may be incomplete. */
XB_KERNEL_FUNCTION void xb_for_write_end(unsigned char *target, unsigned long long bytes,
                                         unsigned long long at, unsigned value)
{
    for (unsigned byte = 0; byte < 4 && at + byte < bytes; byte++)
        target[at + byte] = (unsigned char)(value >> (8 * byte));
}

/*
 * Restores the 32 values of one lane of one block. Neighbouring threads of a GPU take neighbouring
 * lanes: they then read and write whole lines together. Returns 1, or 0 where the block is refused:
 * then it writes nothing.
 */
XB_KERNEL_FUNCTION int xb_for_decode_lane(const unsigned char *chunk,
                                          unsigned long long encoded_bytes, unsigned char *target,
                                          unsigned long long bytes, unsigned long long block,
                                          unsigned lane)
{
    struct xb_for_packed packed = xb_for_find(chunk, encoded_bytes, bytes, block);
    if (packed.words == 0)
        return 0;
    unsigned mask = packed.bits == 0 ? 0 : 0xFFFFFFFFu >> (32 - packed.bits);
    unsigned long long first = block * XB_FOR_BLOCK_BYTES + 4ULL * lane;
    int whole = bytes - block * XB_FOR_BLOCK_BYTES >= XB_FOR_BLOCK_BYTES;
    /* Eight at a time, so that a GPU waits for eight loads together and not for each. */
    for (unsigned row = 0; row < XB_FOR_ROWS; row += 8) {
        unsigned values[8];
        for (unsigned i = 0; i < 8; i++)
            values[i] = xb_for_value(packed, mask, row + i, lane);
        for (unsigned i = 0; i < 8; i++) {
            unsigned long long at = first + (row + i) * XB_FOR_ROW_BYTES;
            if (whole)
                *(xb_for_word *)(target + at) = values[i];
            else
                xb_for_write_end(target, bytes, at, values[i]);
        }
    }
    return 1;
}
