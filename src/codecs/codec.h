/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"
#include "xferbench/format.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes data smaller on the CPU, and restores it. All functions work on one chunk, on the calling
 * thread, and may run on many threads at the same time. Memory of chunks is aligned to
 * XB_FORMAT_ALIGNMENT on both sides. `bytes` is always that of the original; what is encoded as
 * float32 has a multiple of 4.
 */

/* "fp16", "bf16", "int8", "fp8", "for", "lz4". */
const char *xb_format_name(enum xb_format format);

/* Whether the format holds float32 values and loses part of them. */
bool xb_format_is_lossy(enum xb_format format);

/* The most bytes that a chunk can become; of a lossy format exactly what it becomes. */
uint64_t xb_encoded_bound(enum xb_format format, uint64_t bytes);

/*
 * Encodes a chunk by the fastest way this CPU has; `target` has room for xb_encoded_bound bytes.
 * Returns how many it became. Cannot fail: what does not get smaller is stored as it is.
 */
uint64_t xb_encode(enum xb_format format, const void *source, uint64_t bytes, void *target);

/* Gives the same bits in plain C, with nothing that this CPU has beyond others. */
uint64_t xb_encode_plainly(enum xb_format format, const void *source, uint64_t bytes, void *target);

/* "AVX-512", "AVX2 and F16C", "plain C": what xb_encode uses here for the format. Static text. */
const char *xb_encoder_name(enum xb_format format);

/*
 * Restores a chunk of `encoded_bytes`, with the text that the kernels are made of. Reads nothing
 * outside them and writes nothing outside `bytes` of the target, whatever the encoded bytes are.
 * `offset` is added to what *report says of the target.
 */
void xb_decode(enum xb_format format, const void *encoded, uint64_t encoded_bytes, void *target,
               uint64_t bytes, uint64_t offset, struct xb_decode_report *report);
