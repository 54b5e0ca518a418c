/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From disk to device: files are read, copied, computed on, and the result brought back. */
#include "pipeline.h"
#include "kernel_time.h"
#include "modes/readings/readings.h"
#include "proof.h"
#include "shared_options.h"

#include "backends/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What comes back of each item: the digest of what the kernel made of it. */
#define RESULT_BYTES UINT64_C(8)

/* An item on the device: in, kernel, digest, out. */
#define OPERATIONS 4

struct state {
    struct xb_source source;
    struct xb_reader *reader; /* NULL: the device reads */
    struct xb_file *file;     /* NULL: the host's threads read */
    bool is_open;             /* `descriptor` is of the file that the device reads */
    int descriptor;
    struct xb_buffer *host; /* where they read to, one of those below */
    struct xb_buffer *pinned, *pageable;
    struct xb_buffer *slots, *digests;     /* on the device */
    struct xb_buffer *loaded;              /* room for all of the data there; NULL: too little */
    struct xb_buffer *results;             /* on the host: the digests that came back, and behind
                                              them those of the iteration before */
    struct xb_buffer *scratch;             /* on the host: an item, to check by */
    uint64_t steps;                        /* of the kernel, on every word */
    double cached_at_first, cached_before; /* shares of the files: before anything, and before the
                                              first sample */
};

/* How many items of a case are on the device at a time. */
static unsigned slots_of(const struct xb_case *test)
{
    return xb_order_is_overlapped(test->variant)
               ? (unsigned)xb_case_setting(test, &xb_option_buffers)->count
               : 1;
}

/* Whether the case has the stage `in`: not where the device reads the file itself. */
static bool copies_in(const struct xb_mode_context *context)
{
    return !xb_io_is_by_device(context->test);
}

static uint32_t capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | (xb_io_is_by_device(test) ? XB_CAP_FILE : XB_CAP_REGISTER);
}

/* For so many items of at most `item` bytes. */
static void take_for(const struct xb_case *test, uint64_t item, uint64_t items,
                     struct xb_buffers *all)
{
    uint64_t slots = slots_of(test) * item, results = items * RESULT_BYTES;
    xb_take(all, xb_io_is_by_device(test) ? XB_COUNTED : XB_FIXED, XB_MEMORY_REGISTERED, slots,
            offsetof(struct state, pinned));
    xb_take(all, XB_FIXED, XB_MEMORY_PAGEABLE, xb_order_is_pageable(test->variant) ? slots : 0,
            offsetof(struct state, pageable));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, 2 * results, offsetof(struct state, results));
    xb_take(all, XB_FIXED, XB_MEMORY_PAGEABLE, item, offsetof(struct state, scratch));
    xb_take(all, XB_FIXED, XB_MEMORY_DEVICE, slots, offsetof(struct state, slots));
    xb_take(all, XB_FIXED, XB_MEMORY_DEVICE, results, offsetof(struct state, digests));
}

/* At most: how long the files are is known once they are open. */
static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    take_for(test, xb_rounded_up(chunk, XB_STORAGE_BLOCK), xb_chunk_count(test->bytes, chunk), all);
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    double seconds;
    XB_TRY(xb_kernel_time_read(test, &seconds, error));
    XB_TRY(xb_source_check(test, error));
    return xb_chunk_check(test, &xb_option_chunk, OPERATIONS, error);
}

static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    if (xb_readers_are_processes(test) &&
        (xb_io_is_direct(test) || xb_order_is_pageable(test->variant)))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "--read-by processes takes --io cached or mmap, and --order serial or "
                       "overlapped");
    if (!xb_io_is_by_device(test) || !xb_order_is_pageable(test->variant))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "--io gds uses no host memory: take --order serial or overlapped");
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_io_is_by_device(test) && xb_case_setting(test, &xb_option_batch_files)->count > 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "--io gds reads one file in chunks; take another --io for --batch-files");
    return XB_OK;
}

/* Borrows room for all of the data where half of what is free on the device holds it: a program
 * needs memory for other things. Without room nothing is compared with it. */
static enum xb_status find_room(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    struct xb_error none;
    uint64_t left = 0;
    XB_TRY(context->device->backend->device_memory(context->device, &left, error));
    left += xb_workspace_kept(context->workspace, false);
    if (state->source.bytes > left / 2 ||
        xb_workspace_buffer(context->workspace, 2, XB_MEMORY_DEVICE, state->source.bytes, false,
                            &state->loaded, &none) != XB_OK)
        return XB_OK;
    context->proof_device_bytes = state->source.bytes; /* no cost of the stream */
    return xb_proof_fill(context->queues[0], state->loaded, state->source.bytes,
                         xb_proof_around(context->test->seed), error);
}

/* Has the host's threads read to that buffer from now on. */
static enum xb_status read_to(struct xb_mode_context *context, struct xb_buffer *buffer,
                              bool by_processes, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_reader_plan plan = {
        .io = xb_io_of(context->test),
        .threads = xb_readers_of(context->test),
        .memory = buffer->host_address,
        .memory_bytes = slots_of(context->test) * state->source.item_most,
        .opens_each = state->source.batch > 0,
        .by_processes = by_processes,
        .longest = state->source.item_most,
    };
    context->costs_elsewhere = plan.by_processes;
    xb_reader_close(state->reader);
    state->reader = NULL;
    state->host = buffer;
    return xb_reader_open(state->source.files, &plan, &state->reader, error);
}

/* Finds the steps of the kernel, or takes those of another order of the same work: orders are
 * compared, and another kernel would be other work. */
static enum xb_status choose_steps(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    char name[XB_WORKSPACE_NAME];
    const struct xb_case *test = context->test;
    const struct xb_source *source = &state->source;
    double target = 0;
    XB_TRY(xb_kernel_time_read(test, &target, error));
    if (target == 0)
        return XB_OK;
    /* It is to be the same for everything but the order, the buffers and who reads. */
    snprintf(name, sizeof name, "pipeline %llu bytes %s %u readers %llu a batch %llu a chunk %s",
             (unsigned long long)test->bytes, xb_case_setting(test, &xb_option_io)->word,
             xb_readers_of(test),
             (unsigned long long)xb_case_setting(test, &xb_option_batch_files)->count,
             (unsigned long long)xb_case_setting(test, &xb_option_chunk)->count,
             xb_case_setting(test, &xb_option_kernel_time)->word);
    if (xb_workspace_recall(context->workspace, name, &state->steps))
        return XB_OK;
    if (target > 0) {
        target *= (double)source->items;
    } else { /* 5 % more than the slower of reading and copying from page-locked memory */
        double reading = 0, copying = 0;
        XB_TRY(xb_line_time(context, XB_STAGE_ALONE(XB_STAGE_READ), &reading, error));
        if (copies_in(context))
            XB_TRY(xb_line_time(context, XB_STAGE_ALONE(XB_STAGE_IN), &copying, error));
        target = XB_KERNEL_TUNED_LONGER * (reading > copying ? reading : copying);
    }
    XB_TRY(xb_kernel_time_tune_stage(context, XB_STAGE_COMPUTE, source->bytes,
                                     xb_chunk_count(source->bytes, source->items), target,
                                     &state->steps, error));
    xb_workspace_remember(context->workspace, name, state->steps);
    return XB_OK;
}

/* The share of what is read that is in the page cache; NAN where that cannot be seen, as of files
 * of somebody else. */
static enum xb_status look_at_cache(const struct state *state, double *share,
                                    struct xb_error *error)
{
    enum xb_status status =
        xb_files_cached_share(state->source.files, state->source.bytes, share, error);
    if (status != XB_ERR_UNSUPPORTED)
        return status;
    *share = NAN;
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    XB_TRY(xb_source_open(context, &state->source, error));
    XB_TRY(look_at_cache(state, &state->cached_at_first, error));
    uint64_t item = state->source.item_most;
    struct xb_buffers all = {.count = 0};
    take_for(test, item, state->source.items, &all);
    XB_TRY(xb_borrow(context, &all, slots_of(test), error));
    if (xb_order_is_overlapped(test->variant) && !test->latency && !test->simultaneous)
        XB_TRY(find_room(context, error));
    /* The kernel is tuned by threads that read to pinned memory, whoever reads where. */
    context->proof_host_bytes = item + state->source.items * RESULT_BYTES +
                                (state->pageable != NULL ? slots_of(test) * item : 0);
    if (xb_io_is_direct(test))
        XB_TRY(xb_files_check_direct(state->source.files, error));
    if (xb_io_is_by_device(test)) {
        XB_TRY(xb_files_open_to_read(state->source.files, 0, true, &state->descriptor, error));
        state->is_open = true;
        XB_TRY(context->device->backend->file_open(context->device, state->descriptor, &state->file,
                                                   error));
    } else {
        XB_TRY(read_to(context, state->pinned, false, error));
    }
    const struct xb_line_plan plan = {
        .items = state->source.items,
        .slots = slots_of(test),
        .in_a_row = !xb_order_is_overlapped(test->variant),
        .threads = xb_readers_of(test) + 1, /* thread 0 only submits */
        .pieces = state->source.pieces,
        .frees = state->file != NULL ? XB_STAGE_OUT : XB_STAGE_IN,
    };
    XB_TRY(xb_line_open(context, &plan, error));
    context->operations_per_iteration = OPERATIONS * state->source.items;
    context->bytes_moved = state->source.bytes;
    context->host_timed = context->host_waits = true;
    XB_TRY(choose_steps(context, error));
    if (state->pageable == NULL && !xb_readers_are_processes(test))
        return XB_OK;
    return read_to(context, state->pageable != NULL ? state->pageable : state->pinned,
                   xb_readers_are_processes(test), error);
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    xb_reader_close(state->reader);
    if (state->file != NULL)
        context->device->backend->file_close(state->file);
    if (state->is_open)
        close(state->descriptor);
    xb_source_close(&state->source);
}

/* Makes wrong what came back, and what the slots hold of the iteration before and would be right
 * again without being read or copied. A stage alone is not verified, and `in` would copy what the
 * CPU's caches hold of the filling: it is slower then than out of memory. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_pattern wrong = xb_proof_around(context->test->seed);
    uint64_t results = state->source.items * RESULT_BYTES, end = 0;
    char *back = state->results->host_address;
    const unsigned slots = slots_of(context->test);
    if (!xb_line_is_whole(context))
        return XB_OK;
    memcpy(back + results, back, results);
    xb_host_fill(back, 0, results, wrong);
    XB_TRY(xb_proof_fill(context->queues[0], state->digests, results, wrong, error));
    for (unsigned i = 0; i < slots; i++) {
        struct xb_source_own own = xb_source_own(&state->source, slots, i);
        uint64_t at = i * state->source.item_most + own.from;
        if (own.from == own.until)
            continue;
        end = i * state->source.item_most + own.until;
        if (state->host != NULL)
            xb_host_fill((char *)state->host->host_address + at, at, end - at, wrong);
    }
    /* The device fills from the beginning only, which does no harm. */
    return end > 0 ? xb_proof_fill(context->queues[0], state->slots, end, wrong, error) : XB_OK;
}

/* Nothing is to be made wrong: restore does that before every iteration. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    return look_at_cache(state, &state->cached_before, error);
}

static const struct xb_source_piece *piece_of(const struct xb_mode_context *context,
                                              const struct xb_turn *turn)
{
    const struct state *state = context->state;
    return &state->source.parts[turn->item * state->source.pieces + turn->piece];
}

static enum xb_status read_piece(struct xb_mode_context *context, const struct xb_turn *turn,
                                 struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_source_piece *piece = piece_of(context, turn);
    uint64_t at = turn->slot * state->source.item_most + piece->position;
    if (piece->bytes == 0)
        return XB_OK;
    if (state->file != NULL)
        return context->device->backend->file_read(state->file, piece->offset, state->slots, at,
                                                   piece->bytes, error);
    char *target = (char *)state->host->host_address + at;
    XB_TRY(xb_reader_read(state->reader, turn->thread - 1, piece->file, piece->offset, target,
                          piece->bytes, error));
    memset(target + piece->bytes, 0, piece->padding);
    return XB_OK;
}

static uint64_t bytes_of_piece(const struct xb_mode_context *context, const struct xb_turn *turn)
{
    return piece_of(context, turn)->bytes;
}

static enum xb_status copy_in(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t at = turn->slot * state->source.item_most;
    if (state->file != NULL) /* it is there already */
        return XB_OK;
    return context->device->backend->queue_copy(turn->queue, state->slots, at, state->host, at,
                                                state->source.item_bytes[turn->item], error);
}

/* The kernels for an item that lies in that buffer. */
static enum xb_status work_on(struct xb_mode_context *context, struct xb_queue *queue,
                              struct xb_buffer *buffer, uint64_t at, uint64_t item,
                              struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = state->source.item_bytes[item];
    if (state->steps > 0 && bytes >= 8)
        XB_TRY(backend->queue_compute(queue, buffer, at, bytes, state->steps, error));
    return backend->queue_digest(queue, buffer, at, bytes, false, state->digests,
                                 item * RESULT_BYTES, error);
}

static enum xb_status compute(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    const struct state *state = context->state;
    return work_on(context, turn->queue, state->slots, turn->slot * state->source.item_most,
                   turn->item, error);
}

/* An epoch over data that was loaded before: as many kernels, over memory that no cache holds. */
static enum xb_status submit_loaded(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t at = 0;
    for (uint64_t i = 0; i < state->source.items; i++) {
        uint64_t bytes = state->source.item_bytes[i];
        at = at + bytes <= state->loaded->bytes ? at : 0; /* batches have room between files */
        XB_TRY(work_on(context, context->queues[i % context->queue_count], state->loaded, at, i,
                       error));
        at = xb_rounded_up(at + bytes, 8);
    }
    return XB_OK;
}

static bool has_room(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return state->loaded != NULL;
}

static enum xb_status copy_out(struct xb_mode_context *context, const struct xb_turn *turn,
                               struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t at = turn->item * RESULT_BYTES;
    return context->device->backend->queue_copy(turn->queue, state->results, at, state->digests, at,
                                                RESULT_BYTES, error);
}

#define STAGE(which, called, of, runs)                                                             \
    .name = (called), .engine = (of), .run = (runs), .busy = &xb_pipeline_busy[XB_STAGE_##which],  \
    .wait = &xb_pipeline_wait[XB_STAGE_##which]
static const struct xb_stage stages[] = {
    [XB_STAGE_READ] = {STAGE(READ, "read", XB_ENGINE_HOST, read_piece), .bytes = bytes_of_piece},
    [XB_STAGE_IN] = {STAGE(IN, "in", XB_ENGINE_COPY, copy_in)},
    [XB_STAGE_COMPUTE] = {STAGE(COMPUTE, "compute", XB_ENGINE_COMPUTE, compute)},
    [XB_STAGE_OUT] = {STAGE(OUT, "out", XB_ENGINE_COPY, copy_out), .through = &xb_batch_time},
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
    const struct state *state = context->state;
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
    const struct state *state = context->state;
    double after = 0;
    enum xb_status status = look_at_cache(state, &after, error);
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

/* Every byte of the files arrived and was computed on: the digests that came back are those that
 * the host calculates. */
static enum xb_status prove(const struct xb_mode_context *context, struct xb_result *result,
                            struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_source *source = &state->source;
    /* The digests of each item that came back in the latest iteration that was not stopped. */
    const unsigned long long *back = state->results->host_address;
    const unsigned long long *digests = xb_line_was_stopped(context) ? back + source->items : back;
    void *scratch = state->scratch->host_address;
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < source->items; i++) {
        XB_TRY(xb_source_expect(source, i, scratch, error));
        uint64_t bytes = source->item_bytes[i];
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

/* Computes also what follows from the rates and the bandwidth, and speed_up where there is a
 * serial_time. Nothing where not all stages were timed. */
static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    double whole = result->bandwidth.median;
    double rates[XB_PIPELINE_STAGES] = {0};
    double slowest = 0, serial = xb_result_median(result, &xb_figure_serial_time);
    XB_TRY(xb_files_check_lengths(state->source.files, error));
    XB_TRY(tell_way(context, result, error));
    XB_TRY(tell_files(context, result, error));
    XB_TRY(prove(context, result, error));
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        rates[i] = xb_result_median(result, &xb_pipeline_rates[i]);
        if (rates[i] > 0 && (slowest == 0 || rates[i] < slowest))
            slowest = rates[i];
    }
    if (!(rates[XB_STAGE_OUT] > 0)) /* the last one that is timed */
        return XB_OK;
    xb_result_compute(result, &xb_figure_gpu_busy, whole / rates[XB_STAGE_COMPUTE]);
    xb_result_compute(result, &xb_figure_share_of_bound, whole / slowest);
    if (serial > 0)
        xb_result_compute(result, &xb_figure_speed_up,
                          serial * whole / (double)result->bytes_moved);
    return XB_OK;
}

#define ALONE(which)                                                                               \
    .figure = &xb_pipeline_rates[XB_STAGE_##which], .part = XB_STAGE_ALONE(XB_STAGE_##which)
#define EACH_OF(figures)                                                                           \
    &(figures)[XB_STAGE_READ], &(figures)[XB_STAGE_IN], &(figures)[XB_STAGE_COMPUTE],              \
        &(figures)[XB_STAGE_OUT]

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
                 {"overlapped", "pipeline, overlapped"},
                 {"overlapped-pageable", "pipeline, overlapped pageable"}),
    .parts = XB_PARTS({"READ", &xb_pipeline_rates[XB_STAGE_READ]},
                      {"IN", &xb_pipeline_rates[XB_STAGE_IN]},
                      {"KERNEL", &xb_pipeline_rates[XB_STAGE_COMPUTE]},
                      {"OUT", &xb_pipeline_rates[XB_STAGE_OUT]}),
    .options = XB_OPTIONS(&xb_option_order, &xb_option_io, &xb_option_file, &xb_option_readers,
                          &xb_option_read_by, &xb_option_batch_files, &xb_option_chunk,
                          &xb_option_buffers, &xb_option_kernel_time),
    .parameters =
        XB_PARAMETERS({&xb_option_io, NULL}, {&xb_option_readers, NULL}, {&xb_option_read_by, NULL},
                      {&xb_option_batch_files, NULL}, {&xb_option_chunk, NULL},
                      {&xb_option_buffers, "overlapped"},
                      {&xb_option_buffers, "overlapped-pageable"}, {&xb_option_kernel_time, NULL}),
    .figures = XB_FIGURES(XB_COST_FIGURES, &xb_figure_gpu_busy, &xb_figure_speed_up,
                          &xb_figure_share_of_bound, &xb_figure_serial_time,
                          EACH_OF(xb_pipeline_rates), EACH_OF(xb_pipeline_busy),
                          EACH_OF(xb_pipeline_wait), &xb_batch_time, &xb_loaded_epoch_time),
    .reading = xb_pipeline_lines,
    .answer = xb_pipeline_say_disk,
    XB_HOOKS(struct state, buffers, setup, prepare, xb_line_submit, verify),
    .capabilities = capabilities,
    .check_options = check_options,
    .check_variant = check_variant,
    .check = check,
    .stages = stages,
    /* The kernels by the device's clock: that is what a profiler calls the GPU's busy time. */
    .references = XB_REFERENCES(
        {.figure = &xb_figure_serial_time, .part = &in_a_row, .is_wanted = is_overlapped},
        {ALONE(READ)}, {ALONE(IN), .is_wanted = copies_in},
        {ALONE(COMPUTE), .clock = XB_CLOCK_OF_DEVICE}, {ALONE(OUT)},
        {.figure = &xb_loaded_epoch_time, .submit = submit_loaded, .is_wanted = has_room}),
    .restore = restore,
    .teardown = teardown,
};
