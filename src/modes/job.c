/* SPDX-License-Identifier: Apache-2.0 */
/* A whole job: data to the device, a kernel, the result back; timed until the host has it. */
#include "job.h"
#include "kernel_time.h"
#include "modes/readings/readings.h"
#include "proof.h"
#include "ring.h"

#include "backends/verify.h"

#include <string.h>

const struct xb_option xb_option_way = {
    XB_CHOICES("way", "WAY", "pageable,ring,pinned,overlapped",
               "How the job's data moves: 'pageable' ordinary memory, by the driver; 'ring' "
               "ordinary memory through a ring of page-locked chunks, by host threads; 'pinned' "
               "page-locked memory; 'overlapped' the same in chunks of --chunk, so that copies in, "
               "kernels and copies out go on at the same time; 'managed' managed memory, whose "
               "pages move when the kernel, and then the host, touches them; 'prefetch' the same, "
               "moved on request; 'zero-copy' not at all: the kernel works on page-locked memory "
               "of the host.",
               "pageable", "ring", "pinned", "overlapped", "managed", "prefetch", "zero-copy")};

enum way {
    WAY_PAGEABLE,
    WAY_RING,
    WAY_PINNED,
    WAY_OVERLAPPED,
    WAY_MANAGED, /* from here on in place: one buffer, and no copies */
    WAY_PREFETCH,
    WAY_ZERO_COPY
};

const struct xb_option xb_option_gpu_time = {
    XB_CASES_OF(XB_OPTION_CHOICES, "gpu-time", "TIME", "1ms",
                "How long the job's kernel takes for all of the data: a time such as 2ms, or "
                "'none' for no kernel."),
};

const struct xb_option xb_option_job_out = {
    XB_SIZE("job-out", 0, INT64_MAX / 4),
    .default_text = "1M",
    .help = "How much the job brings back; --size is how much it takes in. 0 for nothing.",
    .selects = true,
};

/* ---- the proof that all of it came back ---- */

/* What did not come back is fetched in pieces of this length when all is done, to look at it. */
#define PIECE_BYTES (UINT64_C(4) << 20)

struct xb_pattern xb_job_beside(unsigned long long seed, bool is_after)
{
    unsigned long long other = seed + (1ULL << 39);
    return is_after ? xb_proof_after(other) : xb_proof_before(other);
}

static void check_bytes(const void *memory, uint64_t offset, uint64_t bytes,
                        struct xb_pattern pattern, struct xb_mismatch *found)
{
    struct xb_mismatch here = xb_host_check(memory, offset, bytes, pattern);
    xb_proof_add(found, &here);
}

/* Checks what came back of one chunk: words that were computed, the bytes behind the last of them,
 * and what the device had behind the chunk. */
static void check_part(const struct xb_job_proof *proof, const struct xb_trip_part *part,
                       struct xb_mismatch *found)
{
    const unsigned char *memory =
        (unsigned char *)proof->trip->out->host_address + part->out.offset;
    struct xb_pattern plain = xb_proof_after(proof->seed);
    struct xb_pattern computed = plain;
    computed.steps = proof->trip->steps;
    uint64_t stepped = xb_lesser(part->out.bytes, part->in.bytes / 8 * 8);
    uint64_t words = stepped / 8 * 8;
    uint64_t input = xb_lesser(part->out.bytes, part->in.bytes);
    unsigned char word[8];
    check_bytes(memory, part->in.offset, words, computed, found);
    /* A word that is cut off can only be calculated as a whole. */
    xb_host_fill(word, part->in.offset + words, sizeof word, computed);
    xb_proof_bytes(memory + words, word, stepped - words, part->in.offset + words, found);
    check_bytes(memory + stepped, part->in.offset + stepped, input - stepped, plain, found);
    check_bytes(memory + input, part->device_offset + input, part->out.bytes - input,
                xb_job_beside(proof->seed, true), found);
}

enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                            struct xb_mismatch *all, struct xb_mismatch *spots,
                            struct xb_error *error)
{
    const struct xb_trip *trip = proof->trip;
    const void *in = trip->in->host_address;
    for (uint64_t i = 0; trip->out != NULL && i < trip->layout.count; i++) {
        struct xb_trip_part part = xb_trip_part_at(&trip->layout, i, 0);
        check_part(proof, &part, all);
        if (i == 0)
            xb_proof_check_steps(in, trip->out->host_address,
                                 xb_lesser(part.in.bytes, part.out.bytes), trip->steps, spots);
    }
    /* A job that brings less back: what arrived and was computed on is fetched in pieces. */
    struct xb_pattern expected = xb_proof_after(proof->seed);
    expected.steps = trip->steps;
    for (uint64_t at = 0; proof->piece != NULL && at < trip->layout.in; at += PIECE_BYTES) {
        void *piece = proof->piece->host_address;
        uint64_t bytes = xb_lesser(PIECE_BYTES, trip->layout.in - at);
        xb_host_fill(piece, at, bytes, xb_proof_before(proof->seed));
        XB_TRY(xb_copy_and_wait(queue, proof->piece, 0, trip->data, at, bytes, error));
        check_bytes(piece, at, bytes, expected, all);
        if (at == 0)
            xb_proof_check_steps(in, piece, bytes, trip->steps, spots);
    }
    return XB_OK;
}

/* ---- what moves it ---- */

/* So much longer, or shorter, than asked for a kernel may be before the case is refused. */
#define TOO_LONG 1.1
#define TOO_SHORT 0.9

struct state {
    struct xb_trip trip;
    struct xb_buffer *slots;   /* of the trip's ring */
    struct xb_job_proof proof; /* of the trip */
    /* A way in place has its memory here, as trip.out too; below is what its checks found. */
    struct xb_buffer *place;
    bool is_done; /* the job was run on what `place` holds */
    struct xb_mismatch all, spots;
};

static bool is_overlapped(const struct xb_case *test)
{
    return xb_variant_number(test) == WAY_OVERLAPPED;
}

static bool has_ring(const struct xb_case *test)
{
    return xb_variant_number(test) == WAY_RING;
}

static bool is_in_place(const struct xb_case *test)
{
    return xb_variant_number(test) >= WAY_MANAGED;
}

/* The memory that a job is in on the host, and what a device needs for it. */
static const struct {
    enum xb_memory memory;
    uint32_t capabilities;
} ways[] = {
    [WAY_PAGEABLE] = {XB_MEMORY_PAGEABLE, 0},
    [WAY_RING] = {XB_MEMORY_PAGEABLE, 0},
    [WAY_PINNED] = {XB_MEMORY_REGISTERED, XB_CAP_REGISTER},
    [WAY_OVERLAPPED] = {XB_MEMORY_REGISTERED, XB_CAP_REGISTER},
    [WAY_MANAGED] = {XB_MEMORY_MANAGED, XB_CAP_MANAGED},
    [WAY_PREFETCH] = {XB_MEMORY_MANAGED, XB_CAP_MANAGED},
    [WAY_ZERO_COPY] = {XB_MEMORY_MAPPED, XB_CAP_MAPPED},
};

static enum xb_status read_gpu_time(const struct xb_case *test, double *seconds,
                                    struct xb_error *error)
{
    return xb_gpu_time_parse("--gpu-time", xb_case_setting(test, &xb_option_gpu_time)->word,
                             seconds, error);
}

static struct xb_trip_layout layout_of(const struct xb_case *test)
{
    uint64_t out =
        is_in_place(test) ? test->bytes : xb_case_setting(test, &xb_option_job_out)->count;
    uint64_t chunk =
        is_overlapped(test) ? xb_case_setting(test, &xb_option_chunk)->count : UINT64_MAX;
    return xb_trip_lay_out(test->bytes, out, chunk, 0);
}

static uint32_t capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | ways[xb_variant_number(test)].capabilities;
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    const struct xb_trip_layout layout = layout_of(test);
    const struct xb_ring_plan ring = xb_ring_plan_usual(xb_larger(layout.in, layout.out));
    const enum xb_memory memory = ways[xb_variant_number(test)].memory;
    xb_take(all, XB_OF_CASE, is_in_place(test) ? XB_MEMORY_PAGEABLE : memory, layout.in,
            offsetof(struct state, trip.in));
    xb_take(all, XB_FIXED, memory, layout.out, offsetof(struct state, trip.out));
    xb_take(all, layout.out < layout.in ? XB_FIXED : XB_COUNTED, XB_MEMORY_PAGEABLE,
            xb_lesser(layout.in, PIECE_BYTES), offsetof(struct state, proof.piece));
    xb_take(all, XB_FIXED, XB_MEMORY_DEVICE, layout.device_bytes,
            offsetof(struct state, trip.data));
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, has_ring(test) ? xb_ring_bytes(&ring) : 0,
            offsetof(struct state, slots));
    xb_take(all, XB_COUNTED, XB_MEMORY_DEVICE, memory == XB_MEMORY_MAPPED ? layout.in : 0, 0);
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    double seconds;
    XB_TRY(read_gpu_time(test, &seconds, error));
    if (!is_overlapped(test))
        return XB_OK;
    XB_TRY(xb_chunk_check_words(test, 8, error));
    return xb_chunk_check(test, &xb_option_chunk, 3, error);
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    double seconds;
    XB_TRY(read_gpu_time(test, &seconds, error));
    if (test->bytes < 8 && seconds > 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "the kernel works on words of 8 bytes, and %llu bytes are too few",
                       (unsigned long long)test->bytes);
    if (is_in_place(test) &&
        (seconds == 0 || xb_case_setting(test, &xb_option_job_out)->count > test->bytes))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "--way %s works in place: without a kernel nothing happens, and no more "
                       "comes back than goes in",
                       test->variant);
    return XB_OK;
}

/* In place there is nothing to copy: what the runtime is asked to move, or who touches it. */
static enum xb_status run_in(struct xb_mode_context *context, const struct xb_turn *turn,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->place == NULL)
        return xb_trip_in(context, turn, error);
    if (xb_variant_number(context->test) != WAY_PREFETCH)
        return XB_OK;
    return context->device->backend->queue_prefetch(turn->queue, state->place, context->test->bytes,
                                                    true, error);
}

static enum xb_status run_kernel(struct xb_mode_context *context, const struct xb_turn *turn,
                                 struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->place == NULL || !xb_line_is_whole(context))
        return xb_trip_kernel(context, turn, error);
    return context->device->backend->queue_compute(turn->queue, state->place, 0,
                                                   context->test->bytes, state->trip.steps, error);
}

/* What comes back of managed memory is a byte of every page, read by one thread when the kernel is
 * done. */
static enum xb_status run_out(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    const uint64_t out = context->bytes_moved - context->test->bytes;
    if (state->place == NULL)
        return xb_trip_out(context, turn, error);
    state->is_done = true;
    if (xb_variant_number(context->test) == WAY_PREFETCH && out > 0)
        return backend->queue_prefetch(turn->queue, state->place, out, false, error);
    if (xb_variant_number(context->test) != WAY_MANAGED)
        return XB_OK;
    XB_TRY(backend->queue_wait(turn->queue, error));
    (void)xb_host_read_pages(state->place->host_address, out);
    return XB_OK;
}

const struct xb_figure xb_job_time = {
    XB_FIGURE_TIME("job_time", "The whole job by the host's clock: copy in, kernel, copy out")};
XB_OWN_FIGURE(NUMBER, copy_share, "in_time and out_time together, as a share of job_time");
XB_OWN_FIGURE(NUMBER, kernel_share, "kernel_time as a share of job_time");

static bool computes(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return state->trip.steps > 0;
}

static bool copies_in(const struct xb_mode_context *context)
{
    return !is_in_place(context->test);
}

static bool copies_back(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return copies_in(context) && state->trip.out != NULL;
}

/* Finds the steps of the kernel, and refuses one that cannot be so short over so much data, or so
 * long over so little. */
static enum xb_status choose_steps(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_line_part *kernel_alone = XB_STAGE_ALONE(XB_TRIP_KERNEL);
    struct xb_trip *trip = context->state;
    const char *what = NULL;
    double target, seconds = 0;
    XB_TRY(read_gpu_time(context->test, &target, error));
    if (target == 0)
        return XB_OK;
    XB_TRY(xb_kernel_time_tune(context, kernel_alone, target, &trip->steps, error));
    XB_TRY(xb_line_time(context, kernel_alone, &seconds, error));
    if (seconds < TOO_SHORT * target && trip->steps == XB_KERNEL_STEPS_MOST) {
        what = "the longest kernel over the job's data";
    } else if (seconds > TOO_LONG * target) {
        uint64_t tuned = trip->steps;
        trip->steps = 1;
        XB_TRY(xb_line_time(context, kernel_alone, &seconds, error));
        trip->steps = tuned;
        if (seconds > TOO_LONG * target)
            what = "a kernel that reads and writes the job's data once";
    }
    if (what == NULL)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "--gpu-time %s: %s takes %s here; give %s or none",
                   XB_DURATION_TEXT(target), what, XB_DURATION_TEXT(seconds),
                   seconds > target ? "that or more," : "no more than that,");
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    struct xb_trip *trip = &state->trip;
    const struct xb_case *test = context->test;
    const struct xb_trip_layout layout = trip->layout = layout_of(test);
    const struct xb_ring_plan ring = xb_ring_plan_usual(xb_larger(layout.in, layout.out));
    const struct xb_line_plan plan = {.items = layout.count,
                                      .slots = is_overlapped(test) ? XB_JOB_QUEUES : 1};
    context->operations_per_iteration = 3 * layout.count;
    context->bytes_moved = layout.in + xb_case_setting(test, &xb_option_job_out)->count;
    context->host_timed = context->host_waits = true;
    XB_TRY(xb_borrow(context, NULL, plan.slots, error));
    XB_TRY(xb_line_open(context, &plan, error));
    if (has_ring(test)) {
        context->operations_per_iteration =
            1 + xb_ring_operations(&ring, layout.in) + xb_ring_operations(&ring, layout.out);
        XB_TRY(xb_ring_open(context, &ring, state->slots, &trip->ring, error));
    }
    state->proof.trip = trip;
    state->proof.seed = test->seed;
    state->place = is_in_place(test) ? trip->out : NULL;
    uint64_t piece = state->proof.piece != NULL ? xb_lesser(layout.in, PIECE_BYTES) : 0;
    context->proof_host_bytes = is_in_place(test) ? layout.in : piece;
    context->proof_device_bytes = is_in_place(test) ? layout.device_bytes : 0;
    XB_TRY((is_in_place(test) ? xb_trip_prepare : xb_trip_fill)(context, error));
    XB_TRY(xb_proof_fill(context->queues[0], trip->data, layout.device_bytes,
                         xb_job_beside(test->seed, false), error));
    return choose_steps(context, error);
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    xb_ring_close(state->trip.ring);
}

/* Changes the input and what the device has beside it: nothing that warm-up and references left is
 * right any more. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    XB_TRY(xb_trip_prepare(context, error));
    return xb_proof_fill(context->queues[0], state->trip.data, state->trip.layout.device_bytes,
                         xb_job_beside(context->test->seed, true), error);
}

/* Gives a job in place its input again, written by the CPU as a program does, and looks first at
 * what the job made of the last one: it is gone then. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    if (state->place == NULL)
        return XB_OK;
    if (state->is_done)
        XB_TRY(xb_job_check(context->queues[0], &state->proof, &state->all, &state->spots, error));
    memcpy(state->place->host_address, state->trip.in->host_address, context->test->bytes);
    state->is_done = false;
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    struct state *state = context->state;
    double whole = (double)result->bytes_moved / result->bandwidth.median;
    double in = xb_result_median(result, &xb_figure_in_time);
    double kernel = xb_result_median(result, &xb_figure_kernel_time);
    double out = xb_result_median(result, &xb_figure_out_time);
    xb_result_detail_number(result, "compute_steps", (double)state->trip.steps);
    xb_result_detail_text(result, "verified_by", "host");
    xb_result_compute(result, &xb_job_time, whole);
    if (in > 0)
        xb_result_compute(result, &copy_share, (in + out) / whole);
    if (kernel > 0)
        xb_result_compute(result, &kernel_share, kernel / whole);
    if (state->place == NULL || state->is_done)
        XB_TRY(xb_job_check(context->queues[0], &state->proof, &state->all, &state->spots, error));
    xb_proof_conclude(result, &state->all, &state->spots);
    return XB_OK;
}

const struct xb_mode xb_mode_job = {
    .name = "job",
    .summary = "a whole job: data in, a kernel, the result back, until the host has it",
    .description =
        "Brings --size bytes to the device, computes on them for --gpu-time and brings --job-out "
        "bytes back, by each --way. The host's clock times one iteration from the first call "
        "until all is done: a program waits that long for such a job. In one stream nothing "
        "overlaps: but for overlapped the whole is the sum of its steps. managed, prefetch and "
        "zero-copy work in place: there are no copies, what comes back of managed memory is a "
        "byte of every page, and the CPU writes the input again before each job, untimed. In place "
        "the kernel writes all of --size, whatever --job-out is: zero-copy sends all of it back. "
        "in_time "
        "and out_time are "
        "the copies alone by the same clock, kernel_time is the kernel alone by the device's. The "
        "kernel repeats its steps on every word until --gpu-time is over; a time shorter than "
        "reading and writing the data once is refused. The row shows the bytes in and out divided "
        "by the time of the job. Checks every byte that came back; if less came back than went "
        "in, it fetches and checks the rest too. `xferbench advise --check` prints this mode's "
        "times beside its prediction. --mode all leaves this mode out.",
    .calls = "those of pinned (`xferbench help pinned`); overlapped: those of double-buffer, on "
             "several streams.",
    XB_ALL_BY_DEFAULT(XB_BIDIR),
    .only_named = true,
    .variant_option = &xb_option_way,
    .names = XB_NAMES({"pageable", "job, pageable"}, {"pinned", "job, pinned"},
                      {"ring", "job, by a ring"}, {"overlapped", "job, overlapped"},
                      {"managed", "job, managed"}, {"prefetch", "job, prefetched"},
                      {"zero-copy", "job, in place"}),
    .headline = &xb_job_time,
    .parts = XB_PARTS({"IN", &xb_figure_in_time}, {"KERNEL", &xb_figure_kernel_time},
                      {"OUT", &xb_figure_out_time}),
    .options =
        XB_OPTIONS(&xb_option_way, &xb_option_gpu_time, &xb_option_job_out, &xb_option_chunk),
    .parameters = XB_PARAMETERS({&xb_option_gpu_time, NULL}, {&xb_option_job_out, NULL},
                                {&xb_option_chunk, "overlapped"}),
    .figures = XB_FIGURES(XB_COST_FIGURES, &xb_job_time, &xb_figure_in_time, &xb_figure_kernel_time,
                          &xb_figure_out_time, &copy_share, &kernel_share),
    .reading = xb_job_reading,
    .answer = xb_job_say,
    XB_HOOKS(struct state, buffers, setup, prepare, xb_line_submit, verify),
    .capabilities = capabilities,
    .check_options = check_options,
    .check = check,
    /* The copies by the clock of the case, which is the host's: so a program waits for them. The
     * kernel by the device's, because --gpu-time is what a profiler shows. */
    .stages = XB_TRIP_STAGES(run_in, run_kernel, run_out),
    .references = XB_REFERENCES(
        {.figure = &xb_figure_in_time, .part = XB_STAGE_ALONE(XB_TRIP_IN), .is_wanted = copies_in},
        {.figure = &xb_figure_kernel_time,
         .part = XB_STAGE_ALONE(XB_TRIP_KERNEL),
         .clock = XB_CLOCK_OF_DEVICE,
         .is_wanted = computes},
        {.figure = &xb_figure_out_time,
         .part = XB_STAGE_ALONE(XB_TRIP_OUT),
         .is_wanted = copies_back}),
    .restore = restore,
    .teardown = teardown,
};
