/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From disk to device: files are read, copied, computed on, and the result brought back. */
#include "pipeline.h"
#include "kernel_time.h"
#include "proof.h"
#include "readings.h"
#include "shared_options.h"

#include "xferbench/stage.h"
#include "xferbench/verify.h"
#include "xferbench/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint32_t capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | (xb_io_is_by_device(test) ? XB_CAP_FILE : XB_CAP_REGISTER);
}

static struct xb_needs needs(const struct xb_case *test)
{
    uint64_t slots = xb_pipeline_slots(test) * xb_pipeline_slot_bytes(test);
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    uint64_t results = xb_chunk_count(test->bytes, chunk) * XB_PIPELINE_RESULT_BYTES;
    uint64_t pageable = xb_order_is_pageable(test->variant) ? slots : 0;
    return (struct xb_needs){.host_bytes =
                                 slots + pageable + 2 * results + xb_pipeline_slot_bytes(test),
                             .device_bytes = slots + results};
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    double seconds;
    enum xb_status status = xb_kernel_time_read(test, &seconds, error);
    if (status == XB_OK)
        status = xb_source_check(test, error);
    return status == XB_OK ? xb_chunk_check(test, &xb_option_chunk, XB_PIPELINE_OPERATIONS, error)
                           : status;
}

static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    if (!xb_io_is_by_device(test) || !xb_order_is_pageable(test->variant))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "--io gds uses no host memory: take --order serial");
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_io_is_by_device(test) && xb_case_setting(test, &xb_option_batch_files)->count > 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "--io gds reads one file in chunks; take another --io for --batch-files");
    return XB_OK;
}

/* ---- the stages of an item ---- */

static uint64_t slot_offset(const struct xb_pipeline *state, const struct xb_turn *turn)
{
    return turn->slot * state->source.item_most;
}

static enum xb_status read_piece(struct xb_mode_context *context, const struct xb_turn *turn,
                                 struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    struct xb_source_piece piece = xb_source_piece_of(&state->source, turn->item, turn->piece);
    uint64_t at = slot_offset(state, turn) + piece.position;
    if (piece.bytes == 0)
        return XB_OK;
    if (state->file != NULL)
        return context->device->backend->file_read(state->file, piece.offset, state->slots, at,
                                                   piece.bytes, error);
    char *target = (char *)state->host->host_address + at;
    XB_TRY(xb_reader_read(state->reader, turn->thread, piece.file, piece.offset, target,
                          piece.bytes, error));
    memset(target + piece.bytes, 0, piece.padding);
    return XB_OK;
}

static uint64_t bytes_of_piece(const struct xb_mode_context *context, const struct xb_turn *turn)
{
    const struct xb_pipeline *state = context->state;
    return xb_source_piece_of(&state->source, turn->item, turn->piece).bytes;
}

static enum xb_status copy_in(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    uint64_t at = slot_offset(state, turn);
    if (state->file != NULL) /* it is there already */
        return XB_OK;
    return context->device->backend->queue_copy(turn->queue, state->slots, at, state->host, at,
                                                xb_source_item_bytes(&state->source, turn->item),
                                                error);
}

static enum xb_status compute(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t at = slot_offset(state, turn);
    uint64_t bytes = xb_source_item_bytes(&state->source, turn->item);
    enum xb_status status = XB_OK;
    if (state->steps > 0 && bytes >= 8)
        status = backend->queue_compute(turn->queue, state->slots, at, bytes, state->steps, error);
    return status == XB_OK
               ? backend->queue_digest(turn->queue, state->slots, at, bytes, state->digests,
                                       turn->item * XB_PIPELINE_RESULT_BYTES, error)
               : status;
}

static enum xb_status copy_out(struct xb_mode_context *context, const struct xb_turn *turn,
                               struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    uint64_t at = turn->item * XB_PIPELINE_RESULT_BYTES;
    return context->device->backend->queue_copy(turn->queue, state->results, at, state->digests, at,
                                                XB_PIPELINE_RESULT_BYTES, error);
}

/* ---- the line ---- */

enum {
    READ = XB_PIPELINE_READ,
    IN = XB_PIPELINE_IN,
    COMPUTE = XB_PIPELINE_COMPUTE,
    OUT = XB_PIPELINE_OUT
};

#define STAGE(which, called, of, runs)                                                             \
    .name = (called), .engine = (of), .run = (runs), .busy = &xb_pipeline_busy[which],             \
    .wait = &xb_pipeline_wait[which]
static const struct xb_stage stages[] = {
    [READ] = {STAGE(READ, "read", XB_ENGINE_HOST, read_piece), .bytes = bytes_of_piece},
    [IN] = {STAGE(IN, "in", XB_ENGINE_COPY, copy_in)},
    [COMPUTE] = {STAGE(COMPUTE, "compute", XB_ENGINE_COMPUTE, compute)},
    [OUT] = {STAGE(OUT, "out", XB_ENGINE_COPY, copy_out)},
    {.name = NULL},
};

static const struct xb_line_part in_a_row = {.in_a_row = true};

static bool is_overlapped(const struct xb_mode_context *context)
{
    return xb_order_is_overlapped(context->test->variant);
}

static enum xb_status tell_way(struct xb_mode_context *context, struct xb_result *result,
                               struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    if (state->file == NULL) {
        const char *way = xb_reader_way(state->reader);
        xb_result_detail_text(result, "read_by", "%s", way);
        if (xb_reader_is_second_choice(state->reader))
            xb_result_warn(result, "files are not read the way that --io asks for: %.180s", way);
        return XB_OK;
    }
    struct xb_file_way way;
    XB_TRY(context->device->backend->file_way(state->file, &way, error));
    xb_result_detail_text(result, "read_by", "%.120s", way.how);
    if (!way.is_direct)
        xb_result_warn(result, "gds did not take the direct way: %.180s", way.how);
    return XB_OK;
}

static enum xb_status tell_files(struct xb_mode_context *context, struct xb_result *result,
                                 struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    double after = 0;
    enum xb_status status = xb_pipeline_look_at_cache(state, &after, error);
    xb_result_detail_text(result, "file_system", "%s", state->source.files->file_system);
    xb_result_detail_number(result, "files", (double)state->source.files->count);
    xb_result_detail_text(result, "page_cache_at_first", "%s",
                          xb_page_cache_word(state->cached_at_first));
    xb_result_detail_text(result, "page_cache", "%s", xb_page_cache_word(state->cached_before));
    if (!isnan(after)) {
        xb_result_detail_number(result, "page_cache_share", state->cached_before);
        xb_result_detail_number(result, "page_cache_share_after", after);
    }
    xb_result_detail_number(result, "readers", (double)xb_readers_of(context->test));
    xb_result_detail_number(result, "compute_steps", (double)state->steps);
    if (state->steps == 1)
        xb_result_warn(result, "the shortest kernel possible here may be longer than "
                               "--kernel-time asks");
    xb_result_detail_text(result, "verified_by", "%s",
                          state->source.is_made ? "digests of what was written"
                                                : "digests of what plain reads give");
    return status;
}

/* ---- figures and proof ---- */

/* Computes what follows from the rates and the bandwidth, and speed_up where there is a
 * serial_time. Nothing where not all stages were timed. */
static enum xb_status compute_figures(struct xb_result *result, struct xb_error *error)
{
    double whole = result->bandwidth.median;
    double rates[XB_PIPELINE_STAGES] = {0};
    double slowest = 0;
    double serial = 0;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < XB_PIPELINE_STAGES; i++) {
        status = xb_result_median(result, &xb_pipeline_rates[i], &rates[i], error);
        if (rates[i] > 0 && (slowest == 0 || rates[i] < slowest))
            slowest = rates[i];
    }
    if (status == XB_OK)
        status = xb_result_median(result, &xb_figure_serial_time, &serial, error);
    if (status != XB_OK || !(rates[OUT] > 0)) /* the last one that is timed */
        return status;
    xb_result_compute(result, &xb_figure_gpu_busy, whole / rates[COMPUTE]);
    xb_result_compute(result, &xb_figure_share_of_bound, whole / slowest);
    if (serial > 0)
        xb_result_compute(result, &xb_figure_speed_up,
                          serial * whole / (double)result->bytes_moved);
    return XB_OK;
}

/* Every byte of the files arrived and was computed on: the digests that came back are those that
 * the host calculates. */
static enum xb_status prove(const struct xb_mode_context *context, struct xb_result *result,
                            struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    const struct xb_source *source = &state->source;
    const unsigned long long *digests = xb_pipeline_digests(context);
    void *scratch = state->scratch->host_address;
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < source->items; i++) {
        XB_TRY(xb_source_expect(source, i, scratch, error));
        uint64_t bytes = xb_source_item_bytes(source, i);
        if (xb_digest_stepped(scratch, bytes, state->steps) != digests[i] && wrong++ == 0)
            first = i;
    }
    result->row.verified = wrong == 0 ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (wrong > 0)
        snprintf(result->reason, sizeof result->reason,
                 "%llu of %llu %s of %.400s arrived wrong or were not computed on; the first is "
                 "number %llu",
                 (unsigned long long)wrong, (unsigned long long)source->items,
                 source->batch > 0 ? "batches" : "chunks", source->files->path,
                 (unsigned long long)first);
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    enum xb_status status = xb_files_check_lengths(state->source.files, error);
    if (status == XB_OK)
        status = tell_way(context, result, error);
    if (status == XB_OK)
        status = tell_files(context, result, error);
    if (status == XB_OK)
        status = compute_figures(result, error);
    return status == XB_OK ? prove(context, result, error) : status;
}

#define EACH_OF(figures) &(figures)[READ], &(figures)[IN], &(figures)[COMPUTE], &(figures)[OUT]

const struct xb_mode xb_mode_pipeline = {
    .name = "pipeline",
    .summary = "from disk to GPU: read, copy, compute, bring the result back",
    .description =
        "Reads a file (--file, or one of --size that it makes and removes), copies it to the "
        "device in chunks of --chunk, has a kernel compute on every word, and brings the result "
        "back: a digest of each chunk, made by a second kernel. --order says whether these stages "
        "follow one another or overlap, with --buffers chunks; --io says how --readers threads "
        "read. One iteration is all of the file, timed by the host's clock from the first call "
        "until the last result is there. The row shows the file's bytes divided by that time. "
        "Beside it stand each stage's rate alone (rate_read and so on), the share of the time in "
        "which the device computed (gpu_busy), how near it is to its slowest stage's rate "
        "(share_of_bound), and how much faster it is than one step after the other (speed_up). "
        "busy_ and wait_ of each stage come from one more, recorded iteration. The row says "
        "whether the file was in the page cache before. With --kernel-time auto the kernel takes "
        "5 % longer than the slower of reading and copying. With --batch-files an item is not a "
        "chunk but a batch of small files, as a data loader has them. Checks what the kernel made "
        "of every chunk. --mode all leaves this mode out.",
    .calls =
        "read() in several threads or cuFileRead() (gds), and those of double-buffer. PyTorch: "
        "DataLoader(num_workers=N, pin_memory=True), and tensor.to(device, non_blocking=True).",
    XB_ALL_BY_DEFAULT(XB_H2D),
    .only_named = true,
    .bytes_by_default = UINT64_C(1) << 30,
    .bytes_of_options = xb_source_bytes,
    .crosses_otherwise = true,
    .variant_option = &xb_option_order,
    .names =
        XB_NAMES({"serial", "pipeline, serial"}, {"serial-pageable", "pipeline, serial pageable"},
                 {"overlapped", "pipeline, overlapped"}),
    .parts = XB_PARTS({"READ", &xb_pipeline_rates[READ]}, {"IN", &xb_pipeline_rates[IN]},
                      {"KERNEL", &xb_pipeline_rates[COMPUTE]}, {"OUT", &xb_pipeline_rates[OUT]}),
    .options = XB_OPTIONS(&xb_option_order, &xb_option_io, &xb_option_file, &xb_option_readers,
                          &xb_option_batch_files, &xb_option_chunk, &xb_option_buffers,
                          &xb_option_kernel_time),
    .parameters = XB_PARAMETERS({&xb_option_io, NULL}, {&xb_option_readers, NULL},
                                {&xb_option_batch_files, NULL}, {&xb_option_chunk, NULL},
                                {&xb_option_buffers, "overlapped"}, {&xb_option_kernel_time, NULL}),
    .figures = XB_FIGURES(&xb_figure_gpu_busy, &xb_figure_speed_up, &xb_figure_share_of_bound,
                          &xb_figure_serial_time, EACH_OF(xb_pipeline_rates),
                          EACH_OF(xb_pipeline_busy), EACH_OF(xb_pipeline_wait)),
    .reading = xb_pipeline_lines,
    .answer = xb_pipeline_say_disk,
    .state_bytes = sizeof(struct xb_pipeline),
    .capabilities = capabilities,
    .needs = needs,
    .check_options = check_options,
    .check_variant = check_variant,
    .check = check,
    .setup = xb_pipeline_setup,
    .stages = stages,
    /* The kernels by the device's clock, because that is what a profiler calls the GPU's busy time.
     */
    .references = XB_REFERENCES(
        {.figure = &xb_figure_serial_time, .part = &in_a_row, .is_wanted = is_overlapped},
        {.figure = &xb_pipeline_rates[READ], .part = &xb_pipeline_parts[READ]},
        {.figure = &xb_pipeline_rates[IN],
         .part = &xb_pipeline_parts[IN],
         .is_wanted = xb_pipeline_copies_in},
        {.figure = &xb_pipeline_rates[COMPUTE],
         .part = &xb_pipeline_parts[COMPUTE],
         .clock = XB_CLOCK_OF_DEVICE},
        {.figure = &xb_pipeline_rates[OUT], .part = &xb_pipeline_parts[OUT]}),
    .restore = xb_pipeline_restore,
    .prepare = xb_pipeline_prepare,
    .submit = xb_line_submit,
    .verify = verify,
    .teardown = xb_pipeline_teardown,
};
