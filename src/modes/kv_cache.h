/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdint.h>

/* What servers of language models move: blocks of a cache of keys and values (--kv). */

struct xb_kv_cache {
    char model[32]; /* "" where it was described by its numbers */
    uint64_t layers, heads, size, ranks, tokens, bytes;
    uint64_t piece;  /* bytes of the keys, or of the values, of one block, layer and rank */
    uint64_t pieces; /* of a block: of all layers, keys and values apart */
};

/* Reads "llama-3.1-70b,tp=4,block=16", or "layers=80,heads=8,size=128,dtype=bf16,tp=4".
 * XB_ERR_USAGE says what is wrong, and which models there are. */
enum xb_status xb_kv_cache_read(const char *text, struct xb_kv_cache *cache,
                                struct xb_error *error);
