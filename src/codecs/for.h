/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/format.h"

#include <stdint.h>

/* The format `for` of codec.h: frame of reference and bit packing, without loss. docs/formats.md
 * describes it. A chunk has 1 to XB_FORMAT_CHUNK_MOST bytes. */

uint64_t xb_for_bound(uint64_t bytes);
uint64_t xb_for_encode(const void *source, uint64_t bytes, void *target);
uint64_t xb_for_encode_plainly(const void *source, uint64_t bytes, void *target);
void xb_for_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);

/* A way to encode. All ways make the same bytes. */
struct xb_for_way {
    const char *name; /* of the instructions that it uses */
    uint64_t (*encode)(const void *source, uint64_t bytes, void *target);
};

/* The `number`-th way that this CPU can take, the fastest first; NULL behind the last. */
const struct xb_for_way *xb_for_usable(unsigned number);
