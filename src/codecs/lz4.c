/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/lz4.h"

#include "codecs/lz4_decode.h"

#include <string.h>

uint64_t xb_lz4_bound(uint64_t bytes)
{
    /* Blocks that are stored are as long as they were, and but for the last one need no padding. */
    return xb_lz4_directory_bytes(bytes) + bytes;
}

/* Appends a block at `end`, an offset from `begin`. Returns the entry of the directory that tells
 * where the next one may begin, and adds to the block's own whether it is stored. */
static uint32_t encode_block(const char *source, unsigned size, unsigned char *begin, uint32_t end,
                             xb_lz4_word *entry)
{
    uint32_t at = (end + XB_LZ4_BLOCK_ALIGNMENT - 1) & ~(XB_LZ4_BLOCK_ALIGNMENT - 1);
    memset(begin + end, 0, at - end);
    /* With room for one byte less than it has, liblz4 gives up where it would not get smaller. */
    unsigned length = size > 1 ? xb_lz4_compress(source, size, begin + at, size - 1) : 0;
    *entry = end;
    if (length > 0)
        return at + length;
    *entry |= XB_LZ4_STORED;
    memcpy(begin + at, source, size);
    return at + size;
}

uint64_t xb_lz4_encode(const void *source, uint64_t bytes, void *target)
{
    uint64_t directory = xb_lz4_directory_bytes(bytes);
    xb_lz4_word *entry = target;
    unsigned char *begin = (unsigned char *)target + directory;
    uint32_t end = 0;
    memset(target, 0, (size_t)directory);
    for (uint64_t at = 0; at < bytes; at += XB_LZ4_BLOCK) {
        uint64_t left = bytes - at;
        unsigned size = left < XB_LZ4_BLOCK ? (unsigned)left : XB_LZ4_BLOCK;
        end = encode_block((const char *)source + at, size, begin, end, entry++);
    }
    *entry = end;
    return directory + end;
}

void xb_lz4_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report)
{
    for (uint64_t block = 0; block < xb_lz4_blocks(bytes); block++) {
        if (xb_lz4_decode_block(encoded, encoded_bytes, target, bytes, block, 0, 1))
            continue;
        report->refused_blocks++;
        uint64_t refused = offset + block * XB_LZ4_BLOCK;
        if (refused < report->first_refused)
            report->first_refused = refused;
    }
}
