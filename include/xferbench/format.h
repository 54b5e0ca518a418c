/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How data is made smaller before it crosses a link: docs/formats.md describes every format byte by
 * byte. Chunks are encoded one by one and know nothing of each other. The kernels' compilers read
 * this too: built-in types only, no system headers. */

enum xb_format {
    /* float32 values, with loss: */
    XB_FORMAT_FP16, /* IEEE 754 binary16 */
    XB_FORMAT_BF16, /* the upper half of a float32 */
    XB_FORMAT_INT8, /* integers from -127 to 127 with a scale for each XB_INT8_BLOCK values */
    XB_FORMAT_FP8,  /* OCP E4M3 */
    /* Any bytes, without loss: */
    XB_FORMAT_FOR, /* frame of reference and bit packing, XB_FOR_BLOCK values of 32 bits a block */
    XB_FORMAT_LZ4  /* LZ4 blocks of XB_LZ4_BLOCK bytes */
};
#define XB_FORMATS 6

#define XB_INT8_BLOCK 64u
#define XB_FOR_BLOCK 1024u
#define XB_FOR_LANES 32u
#define XB_LZ4_BLOCK 65536u

/* An encoded chunk begins on such a boundary, and so does what it is decoded to. */
#define XB_FORMAT_ALIGNMENT 128u

/* The most bytes that a chunk is made of: the directories of `for` and `lz4` count so far. */
#define XB_FORMAT_CHUNK_MOST (1u << 30)

/* What decoders refuse because it is no valid encoding. They add to it and never reset it: it
 * begins as {0, XB_NONE_REFUSED}. The target of a refused block, within its own range, is
 * undefined. */
struct xb_decode_report {
    unsigned long long refused_blocks;
    unsigned long long first_refused; /* the least offset in the target's buffer, in bytes */
};
#define XB_NONE_REFUSED 0xFFFFFFFFFFFFFFFFULL
