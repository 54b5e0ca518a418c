/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "codecs/codec.h"
#include "shared_options.h"

struct xb_result;

/*
 * A transfer to the device of data that was made smaller: host threads encode it chunk by chunk,
 * what they made crosses, and kernels restore it. All three go on at the same time, each on another
 * chunk. What modes that do so share; the state of such a mode begins with struct xb_encoded.
 */

/* --encode-chunk: how much is encoded as one. --codec: the format; where that is no parameter of
 * the mode, the format is the variant's word. */
extern const struct xb_option xb_option_encode_chunk, xb_option_codec;

struct xb_encoded {
    enum xb_format format;
    bool is_made; /* within the iteration; else all of it beforehand, by setup */
    uint64_t chunk, count;
    uint64_t slot_bytes; /* what a chunk may become, in whole boundaries */
    uint64_t slots;      /* of `made`, for chunks on the host: a ring, or one for every chunk */
    uint64_t group;      /* so many chunks cross one behind the other before they are restored */
    uint64_t crossing;   /* of a ring: how many chunks are on their way before one is waited for */
    uint64_t *lengths;   /* of each chunk, once it is encoded */
    uint64_t piece;      /* what a thread encodes at a time where the encoder alone is measured */
    uint64_t room_bytes; /* what a piece may become; each thread has two rooms in turn */
    /* Lengths of the buffers below. */
    uint64_t made_bytes, rooms_bytes, back_bytes, arrived_bytes;
    unsigned threads;
    struct xb_crew *crew;
    struct xb_buffer *original; /* on the host */
    struct xb_buffer *made;     /* on the host, encoded */
    struct xb_buffer *rooms;    /* on the host; NULL for a ring: its slots are rooms too */
    struct xb_buffer *back;     /* on the host, one chunk: what is taken back to be looked at */
    struct xb_buffer *arrived;  /* on the device, encoded, each chunk in a place of its own */
    struct xb_buffer *target;   /* on the device, restored */
    struct xb_buffer *report;   /* on the device: what was refused */
    /* One a slot: its chunk and those before have crossed. Recorded for the last of a group. */
    struct xb_event **crossed;
    unsigned break_even_threads; /* 0: not found */
};

/* For check_options: what of --encode-chunk can be. */
enum xb_status xb_encoded_check_options(const struct xb_case *test, struct xb_error *error);
void xb_encoded_buffers(const struct xb_case *test, struct xb_buffers *all);

/* Borrows memory, queues and the crew, and sets the context. The original is then to be written,
 * and xb_encoded_begin called. */
xb_submit xb_encoded_setup;
/* Encodes what is encoded beforehand; else finds how many threads are enough. */
xb_submit xb_encoded_begin;

/* Makes every word of the target wrong, and what was encoded no encoding. */
xb_submit xb_encoded_prepare, xb_encoded_submit;
/* Compares all of the target with the original, or with what plain C makes of it where the format
 * has loss, and computes the figures. */
enum xb_status xb_encoded_verify(struct xb_mode_context *context, struct xb_result *result,
                                 struct xb_error *error);
void xb_encoded_teardown(struct xb_mode_context *context);

struct xb_chunk xb_encoded_chunk(const struct xb_mode_context *context, uint64_t index);

/* The plain way, and the encoder and the decoder alone. */
extern const struct xb_reference xb_encoded_references[];

/* What every such mode has; its setup() is the file's own. */
#define XB_ENCODED_MODE                                                                            \
    XB_ALL_BY_DEFAULT(XB_H2D),                                                                     \
        XB_HOOKS(struct xb_encoded, xb_encoded_buffers, setup, xb_encoded_prepare,                 \
                 xb_encoded_submit, xb_encoded_verify),                                            \
        .only_named = true, .crosses_otherwise = true, .capabilities = xb_kernel_capabilities,     \
        .references = xb_encoded_references, .teardown = xb_encoded_teardown

/* What both modes compute. */
#define XB_ENCODED_FIGURES                                                                         \
    &xb_figure_plain_bandwidth, &xb_figure_speed_up, &xb_figure_share_of_bound, &xb_figure_ratio,  \
        &xb_figure_encode_rate, &xb_figure_encode_rate_one, &xb_figure_decode_rate,                \
        &xb_figure_threads, &xb_figure_break_even_threads, &xb_figure_host_memory_rate

/* Figures. A rate is of bytes of the original; break_even_sends is of what is encoded beforehand,
 * an error of formats with loss. */
extern const struct xb_figure xb_figure_plain_bandwidth, xb_figure_ratio, xb_figure_threads;
extern const struct xb_figure xb_figure_encode_rate, xb_figure_encode_rate_one;
extern const struct xb_figure xb_figure_decode_rate;
extern const struct xb_figure xb_figure_break_even_threads, xb_figure_break_even_sends;
extern const struct xb_figure xb_figure_error_max, xb_figure_error_rms;
