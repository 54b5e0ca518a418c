/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/format.h"

#include <stdint.h>

/* The format `lz4` of codec.h: raw LZ4 blocks, without loss. docs/formats.md describes it. A chunk
 * has 1 to XB_FORMAT_CHUNK_MOST bytes. */

/* Makes a raw LZ4 block, by liblz4. Returns its length; 0 where it does not fit into `room`, and in
 * a build without liblz4. */
unsigned xb_lz4_compress(const void *source, unsigned size, void *target, unsigned room);

uint64_t xb_lz4_bound(uint64_t bytes);
uint64_t xb_lz4_encode(const void *source, uint64_t bytes, void *target);
void xb_lz4_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);
