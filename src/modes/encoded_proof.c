/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what was restored on the device is what it should be, and the figures. */
#include "encoded.h"
#include "proof.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of a chunk that one thread looks at: whole blocks of every format with loss, so that plain
 * C makes of it alone what it would make of it in its chunk. */
#define PART_BYTES UINT64_C(16384)

const struct xb_figure xb_figure_plain_bandwidth = {XB_FIGURE_RATE(
    "plain_bandwidth", "The same data, not encoded, in one copy from page-locked memory")};
const struct xb_figure xb_figure_ratio = {
    XB_FIGURE_GAIN("ratio", "The original's bytes divided by those that crossed")};
const struct xb_figure xb_figure_encode_rate = {XB_FIGURE_RATE(
    "encode_rate",
    "The original's bytes that all host threads encode in a second, with nothing beside")};
const struct xb_figure xb_figure_encode_rate_one = {
    XB_FIGURE_RATE("encode_rate_one", "The same by one host thread")};
const struct xb_figure xb_figure_decode_rate = {XB_FIGURE_RATE(
    "decode_rate",
    "The original's bytes that the device restores in a second, with nothing beside")};
const struct xb_figure xb_figure_threads = {XB_FIGURE_NUMBER(
    "threads", "How many host threads there were; of two or more, one only feeds the device")};
const struct xb_figure xb_figure_break_even_threads = {
    XB_FIGURE_NUMBER("break_even_threads", "The fewest host threads with which the whole beats the "
                                           "plain copy; none if all of them do not")};
const struct xb_figure xb_figure_break_even_sends = {
    XB_FIGURE_NUMBER("break_even_sends", "After how many sends encoding the data once has paid; "
                                         "none if sending it encoded takes no less time")};
const struct xb_figure xb_figure_error_max = {
    XB_FIGURE_NUMBER("error_max", "The largest error of a value, divided by the value")};
const struct xb_figure xb_figure_error_rms = {XB_FIGURE_NUMBER(
    "error_rms", "The root mean square of all errors, divided by that of all values")};

/* What a part of a chunk showed, or all of them. */
struct part {
    struct xb_mismatch wrong;      /* in the target */
    double worst;                  /* relative error */
    double squared_error, squared; /* sums */
};

/* A chunk that is looked at by the crew. */
struct look {
    const struct xb_encoded *state;
    struct xb_chunk chunk;
    struct part *parts;
};

static void look_at(void *argument, uint64_t item, unsigned thread)
{
    const struct look *look = argument;
    const struct xb_encoded *state = look->state;
    struct xb_chunk at = xb_chunk_at(look->chunk.bytes, PART_BYTES, item);
    const unsigned char *original =
        (const unsigned char *)state->original->host_address + look->chunk.offset + at.offset;
    const unsigned char *back = (const unsigned char *)state->back->host_address + at.offset;
    struct part *part = &look->parts[item];
    _Alignas(XB_FORMAT_ALIGNMENT) unsigned char encoded[2 * PART_BYTES];
    _Alignas(XB_FORMAT_ALIGNMENT) unsigned char should[PART_BYTES];
    struct xb_decode_report refused = {.first_refused = XB_NONE_REFUSED};
    (void)thread;
    *part = (struct part){.worst = 0};
    if (!xb_format_is_lossy(state->format)) {
        xb_proof_bytes(back, original, at.bytes, look->chunk.offset + at.offset, &part->wrong);
        return;
    }
    uint64_t length = xb_encode_plainly(state->format, original, at.bytes, encoded);
    xb_decode(state->format, encoded, length, should, at.bytes, 0, &refused);
    xb_proof_bytes(back, should, at.bytes, look->chunk.offset + at.offset, &part->wrong);
    for (uint64_t i = 0; i < at.bytes / sizeof(float); i++) {
        double value = (double)((const float *)original)[i];
        double error = fabs((double)((const float *)should)[i] - value);
        part->worst = value != 0 ? fmax(part->worst, error / fabs(value)) : part->worst;
        part->squared_error += error * error;
        part->squared += value * value;
    }
}

/* Takes each chunk back and has the crew look at it. */
static enum xb_status look_at_all(struct xb_mode_context *context, struct part *sum,
                                  struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    struct part *parts = xb_try(xb_chunk_count(state->chunk, PART_BYTES), sizeof *parts);
    if (parts == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to look at chunks of %llu bytes",
                       (unsigned long long)state->chunk);
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; status == XB_OK && i < state->count; i++) {
        struct look look = {.state = state, .chunk = xb_encoded_chunk(context, i), .parts = parts};
        uint64_t count = xb_chunk_count(look.chunk.bytes, PART_BYTES);
        const struct xb_crew_job job = {.work = look_at, .argument = &look, .count = count};
        status = xb_copy_and_wait(context->queues[0], state->back, 0, state->target,
                                  look.chunk.offset, look.chunk.bytes, error);
        if (status == XB_OK)
            status = xb_crew_run(state->crew, &job, error);
        for (uint64_t p = 0; status == XB_OK && p < count; p++) {
            xb_proof_add(&sum->wrong, &parts[p].wrong);
            sum->worst = fmax(sum->worst, parts[p].worst);
            sum->squared_error += parts[p].squared_error;
            sum->squared += parts[p].squared;
        }
    }
    free(parts);
    return status;
}

/* The slowest of the stages bounds the whole: the encoder, where it is part of it, the link with
 * what is left to cross, and the decoder. */
static void compare_with_stages(struct xb_result *result, const struct xb_encoded *state)
{
    double plain = xb_result_median(result, &xb_figure_plain_bandwidth);
    double encode = xb_result_median(result, &xb_figure_encode_rate);
    double decode = xb_result_median(result, &xb_figure_decode_rate);
    double bytes = (double)result->test.bytes;
    uint64_t sent = 0;
    for (uint64_t i = 0; i < state->count; i++)
        sent += state->lengths[i];
    double ratio = bytes / (double)sent;
    xb_result_compute(result, &xb_figure_ratio, ratio);
    xb_result_compute(result, &xb_figure_threads, state->threads);
    if (!(plain > 0) || !(encode > 0) || !(decode > 0)) /* cut short before */
        return;
    double bound = fmin(ratio * plain, decode);
    double saved = bytes / plain - bytes / result->bandwidth.median;
    if (state->is_made)
        bound = fmin(bound, encode);
    else if (saved > 0) /* what one encoding cost beforehand, by what each sending then saves */
        xb_result_compute(result, &xb_figure_break_even_sends, ceil(bytes / encode / saved));
    double speed_up = result->bandwidth.median / plain;
    xb_result_compute(result, &xb_figure_speed_up, speed_up);
    if (state->break_even_threads > 0 && speed_up > 1)
        xb_result_compute(result, &xb_figure_break_even_threads, state->break_even_threads);
    xb_result_compute(result, &xb_figure_share_of_bound, result->bandwidth.median / bound);
}

enum xb_status xb_encoded_verify(struct xb_mode_context *context, struct xb_result *result,
                                 struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    struct xb_decode_report report = {.refused_blocks = 0};
    struct part sum = {.worst = 0};
    xb_result_detail_text(result, "verified_by", "host");
    xb_result_detail_number(result, "chunk_bytes", (double)state->chunk);
    xb_result_detail_text(result, "encoder", "%s", xb_encoder_name(state->format));
    if (state->is_made)
        xb_host_rate_tell(context, result);
    compare_with_stages(result, state);
    XB_TRY(xb_copy_and_wait(context->queues[0], state->back, 0, state->report, 0, sizeof report,
                            error));
    memcpy(&report, state->back->host_address, sizeof report);
    XB_TRY(look_at_all(context, &sum, error));
    if (xb_format_is_lossy(state->format)) {
        xb_result_compute(result, &xb_figure_error_max, sum.worst);
        if (sum.squared > 0)
            xb_result_compute(result, &xb_figure_error_rms, sqrt(sum.squared_error / sum.squared));
    }
    result->row.verified = sum.wrong.wrong_bytes == 0 && report.refused_blocks == 0
                               ? XB_VERIFIED_TRUE
                               : XB_VERIFIED_FALSE;
    if (report.refused_blocks != 0)
        snprintf(result->reason, sizeof result->reason,
                 "the device refused invalid encodings: %llu times in all samples, the first at "
                 "byte %llu",
                 report.refused_blocks, report.first_refused);
    else if (sum.wrong.wrong_bytes != 0)
        snprintf(result->reason, sizeof result->reason,
                 "%llu of %llu bytes are wrong after they were restored, the first is byte %llu",
                 (unsigned long long)sum.wrong.wrong_bytes, (unsigned long long)result->test.bytes,
                 (unsigned long long)sum.wrong.first_offset);
    return XB_OK;
}
