/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A part of a transfer of many: bytes that lie together on both sides, at any offsets, of any
 * length. Pieces of one transfer overlap neither in the source nor in the target. The kernels'
 * compilers read this too: built-in types only, no system headers. */
struct xb_piece {
    unsigned long long source_offset, target_offset; /* in bytes, from the buffers' beginnings */
    unsigned long long bytes;
};
