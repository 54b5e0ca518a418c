/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_ENCODED_INTERNAL_H
#define XFERBENCH_MODES_ENCODED_INTERNAL_H

/* What the files encoded*.c share. */

#include "encoded.h"
#include "shared_options.h"

struct xb_chunk xb_encoded_chunk(const struct xb_mode_context *context, uint64_t index);

/* Encodes a chunk of the original into a slot. */
void xb_encoded_make(const struct xb_mode_context *context, uint64_t index, uint64_t slot);

/* One iteration of the plain way. */
enum xb_status xb_encoded_submit_plain(struct xb_mode_context *context, struct xb_error *error);

#endif
