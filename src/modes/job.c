/* SPDX-License-Identifier: Apache-2.0 */
/* A whole job: data to the device, a kernel, the result back; timed until the host has it. */
#include "job.h"
#include "kernel_time.h"
#include "proof.h"
#include "ring.h"

#include "backends/verify.h"
#include "base/terminal.h"
#include "reading/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct xb_option option_way = {
    XB_CHOICES("way", "WAY", "pageable,ring,pinned,overlapped",
               "How the job's data moves: 'pageable' ordinary memory, by the driver; 'ring' "
               "ordinary memory through a ring of page-locked chunks, by host threads; 'pinned' "
               "page-locked memory; 'overlapped' the same in chunks of --chunk, so that copies in, "
               "kernels and copies out go on at the same time.",
               "pageable", "ring", "pinned", "overlapped")};

static const struct xb_option option_gpu_time = {
    XB_TEXT("gpu-time", "TIME"),
    .default_text = "1ms",
    .help = "How long the job's kernel takes for all of the data: a time such as 2ms, or 'none' "
            "for no kernel.",
    .selects = true,
};

static const struct xb_option option_job_out = {
    XB_SIZE("job-out", 0, INT64_MAX / 4),
    .default_text = "1M",
    .help = "How much the job brings back; --size is how much it takes in. 0 for nothing.",
    .selects = true,
};

/* ---- how a job's data lies in chunks ---- */

#define WORD UINT64_C(8)

__extension__ typedef unsigned __int128 wide;

static uint64_t whole_words(uint64_t bytes)
{
    return bytes / WORD * WORD;
}

/* Where the output of the chunk begins whose input begins there: the same share of the whole. */
static uint64_t out_at(const struct xb_job_layout *layout, uint64_t in_offset)
{
    if (in_offset >= layout->in)
        return layout->out;
    return whole_words((uint64_t)((wide)layout->out * in_offset / layout->in));
}

struct xb_job_layout xb_job_lay_out(uint64_t in, uint64_t out, uint64_t chunk)
{
    uint64_t whole = whole_words(in + WORD - 1);
    struct xb_job_layout layout = {.in = in, .out = out, .chunk = chunk < whole ? chunk : whole};
    layout.count = xb_chunk_count(in, layout.chunk);
    layout.stride = layout.chunk;
    if (out > in && layout.count > 1) {
        /* The longest output of a chunk that is not the last: out_at rounds down. */
        uint64_t share = (uint64_t)((wide)out * layout.chunk / in);
        layout.stride = xb_larger(layout.chunk, whole_words(share) + WORD);
    }
    struct xb_job_part last = xb_job_part_at(&layout, layout.count - 1);
    layout.device_bytes = last.device_offset + xb_larger(last.in.bytes, last.out.bytes);
    return layout;
}

struct xb_job_part xb_job_part_at(const struct xb_job_layout *layout, uint64_t index)
{
    struct xb_job_part part = {.in = xb_chunk_at(layout->in, layout->chunk, index),
                               .device_offset = index * layout->stride};
    part.out.offset = out_at(layout, part.in.offset);
    part.out.bytes = out_at(layout, part.in.offset + part.in.bytes) - part.out.offset;
    return part;
}

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

/* Checks the first bytes of a word that the kernel computed: only the whole of it can be
 * calculated. */
static void check_word_beginning(const unsigned char *memory, uint64_t offset, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_mismatch *found)
{
    unsigned char word[8];
    xb_host_fill(word, offset, sizeof word, pattern);
    for (uint64_t i = 0; i < bytes; i++)
        if (word[i] != memory[i]) {
            struct xb_mismatch wrong = {.wrong_bytes = 1, .first_offset = offset + i};
            xb_proof_add(found, &wrong);
        }
}

/* Checks what came back of one chunk: words that were computed, the bytes behind the last of them,
 * and what the device had behind the chunk. */
static void check_part(const struct xb_job_proof *proof, const struct xb_job_part *part,
                       struct xb_mismatch *found)
{
    const unsigned char *memory = (unsigned char *)proof->out->host_address + part->out.offset;
    struct xb_pattern plain = xb_proof_after(proof->seed);
    struct xb_pattern computed = plain;
    computed.steps = proof->steps;
    uint64_t stepped = xb_lesser(part->out.bytes, part->in.bytes / 8 * 8);
    uint64_t words = stepped / 8 * 8;
    uint64_t input = xb_lesser(part->out.bytes, part->in.bytes);
    check_bytes(memory, part->in.offset, words, computed, found);
    check_word_beginning(memory + words, part->in.offset + words, stepped - words, computed, found);
    check_bytes(memory + stepped, part->in.offset + stepped, input - stepped, plain, found);
    check_bytes(memory + input, part->device_offset + input, part->out.bytes - input,
                xb_job_beside(proof->seed, true), found);
}

/* Checks what arrived and was computed on, of a job that brings less back: fetches it in pieces. */
static enum xb_status check_arrived(struct xb_queue *queue, const struct xb_job_proof *proof,
                                    struct xb_mismatch *found, struct xb_mismatch *spots,
                                    struct xb_error *error)
{
    void *piece = proof->piece->host_address;
    struct xb_pattern expected = xb_proof_after(proof->seed);
    expected.steps = proof->steps;
    for (uint64_t at = 0; at < proof->layout->in; at += PIECE_BYTES) {
        uint64_t bytes = xb_lesser(PIECE_BYTES, proof->layout->in - at);
        xb_host_fill(piece, at, bytes, xb_proof_before(proof->seed));
        XB_TRY(xb_copy_and_wait(queue, proof->piece, 0, proof->data, at, bytes, error));
        check_bytes(piece, at, bytes, expected, found);
        if (at == 0)
            xb_proof_check_steps(proof->in->host_address, piece, bytes, proof->steps, spots);
    }
    return XB_OK;
}

enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                            struct xb_mismatch *all, struct xb_mismatch *spots,
                            struct xb_error *error)
{
    for (uint64_t i = 0; proof->out != NULL && i < proof->layout->count; i++) {
        struct xb_job_part part = xb_job_part_at(proof->layout, i);
        check_part(proof, &part, all);
        if (i == 0)
            xb_proof_check_steps(proof->in->host_address, proof->out->host_address,
                                 xb_lesser(part.in.bytes, part.out.bytes), proof->steps, spots);
    }
    return proof->piece != NULL ? check_arrived(queue, proof, all, spots, error) : XB_OK;
}

/* ---- what moves it ---- */

/* So much longer, or shorter, than asked for a kernel may be before the case is refused. */
#define TOO_LONG 1.1
#define TOO_SHORT 0.9

struct state {
    struct xb_job_layout layout;
    struct xb_job_proof job; /* what moves and is proved; the kernel's steps are 0 for no kernel */
    struct xb_ring *ring;    /* NULL: the copies do without */
};

static bool is_overlapped(const struct xb_case *test)
{
    return strcmp(test->variant, "overlapped") == 0;
}

static bool has_ring(const struct xb_case *test)
{
    return strcmp(test->variant, "ring") == 0;
}

static enum xb_memory memory_of(const struct xb_case *test)
{
    return has_ring(test) || strcmp(test->variant, "pageable") == 0 ? XB_MEMORY_PAGEABLE
                                                                    : XB_MEMORY_REGISTERED;
}

static double gpu_time_of(const struct xb_case *test)
{
    struct xb_error error;
    double seconds = 0;
    const char *text = xb_case_setting(test, &option_gpu_time)->word;
    if (xb_gpu_time_parse("--gpu-time", text, &seconds, &error) != XB_OK)
        abort(); /* check_options was asked before */
    return seconds;
}

static struct xb_job_layout layout_of(const struct xb_case *test)
{
    uint64_t out = xb_case_setting(test, &option_job_out)->count;
    uint64_t chunk =
        is_overlapped(test) ? xb_case_setting(test, &xb_option_chunk)->count : UINT64_MAX;
    return xb_job_lay_out(test->bytes, out, chunk);
}

static uint32_t capabilities(const struct xb_case *test)
{
    return XB_CAP_KERNELS | (memory_of(test) == XB_MEMORY_REGISTERED ? XB_CAP_REGISTER : 0);
}

static struct xb_needs needs(const struct xb_case *test)
{
    struct xb_job_layout layout = layout_of(test);
    struct xb_ring_plan plan = xb_ring_plan_usual(xb_larger(layout.in, layout.out));
    uint64_t host = layout.in + layout.out + xb_lesser(layout.in, PIECE_BYTES);
    return (struct xb_needs){.host_bytes = host + (has_ring(test) ? xb_ring_bytes(&plan) : 0),
                             .device_bytes = layout.device_bytes};
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    double seconds;
    XB_TRY(xb_gpu_time_parse("--gpu-time", xb_case_setting(test, &option_gpu_time)->word, &seconds,
                             error));
    if (!is_overlapped(test))
        return XB_OK;
    XB_TRY(xb_chunk_check_words(test, error));
    return xb_chunk_check(test, &xb_option_chunk, 3, error);
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    if (context->test->bytes >= 8 || gpu_time_of(context->test) == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "the kernel works on words of 8 bytes, and %llu bytes are too few",
                   (unsigned long long)context->test->bytes);
}

static enum xb_status copy(struct xb_mode_context *context, struct xb_queue *queue,
                           const struct xb_job_part *part, bool to_device, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    const struct xb_chunk chunk = to_device ? part->in : part->out;
    struct xb_buffer *host = to_device ? state->job.in : state->job.out;
    struct xb_buffer *data = state->job.data;
    uint64_t at = part->device_offset;
    if (chunk.bytes == 0)
        return XB_OK;
    if (state->ring != NULL) {
        char *memory = (char *)host->host_address + chunk.offset;
        const struct xb_ring_copy copy = {to_device, queue, data, at, memory, chunk.bytes};
        return xb_ring_submit(state->ring, &copy, error);
    }
    return to_device ? backend->queue_copy(queue, data, at, host, chunk.offset, chunk.bytes, error)
                     : backend->queue_copy(queue, host, chunk.offset, data, at, chunk.bytes, error);
}

/* Bits of a set. */
enum stage { IN = 1, KERNEL = 2, OUT = 4 };

/* Sends all chunks through those stages, one chunk a queue in turn: a queue keeps the stages of a
 * chunk in order, and those of different chunks overlap. */
static enum xb_status run(struct xb_mode_context *context, unsigned stages, struct xb_error *error)
{
    const struct state *state = context->state;
    for (uint64_t i = 0; i < state->layout.count; i++) {
        struct xb_job_part part = xb_job_part_at(&state->layout, i);
        struct xb_queue *queue = context->queues[i % context->queue_count];
        if ((stages & IN) != 0)
            XB_TRY(copy(context, queue, &part, true, error));
        if ((stages & KERNEL) != 0 && state->job.steps > 0)
            XB_TRY(context->device->backend->queue_compute(queue, state->job.data,
                                                           part.device_offset, part.in.bytes,
                                                           state->job.steps, error));
        if ((stages & OUT) != 0)
            XB_TRY(copy(context, queue, &part, false, error));
    }
    return XB_OK;
}

XB_SUBMIT(submit, run, IN | KERNEL | OUT)
XB_SUBMIT(submit_in, run, IN)
XB_SUBMIT(submit_kernel, run, KERNEL)
XB_SUBMIT(submit_out, run, OUT)

XB_OWN_FIGURE(TIME, job_time, "The whole job by the host's clock: copy in, kernel, copy out");

static bool computes(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return state->job.steps > 0;
}

static bool brings_back(const struct xb_mode_context *context)
{
    const struct state *state = context->state;
    return state->job.out != NULL;
}

/* Refuses a kernel that cannot be so short over so much data, or so long over so little. */
static enum xb_status check_time(struct xb_mode_context *context, double target,
                                 struct xb_error *error)
{
    struct state *state = context->state;
    uint64_t tuned = state->job.steps;
    const char *what = NULL;
    double seconds = 0;
    XB_TRY(xb_mode_time(context, submit_kernel, &seconds, error));
    if (seconds < TOO_SHORT * target && tuned == XB_KERNEL_STEPS_MOST) {
        what = "the longest kernel over the job's data";
    } else if (seconds > TOO_LONG * target) {
        state->job.steps = 1;
        XB_TRY(xb_mode_time(context, submit_kernel, &seconds, error));
        state->job.steps = tuned;
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
    const struct xb_case *test = context->test;
    const struct xb_job_layout layout = state->layout = layout_of(test);
    const struct xb_ring_plan plan = xb_ring_plan_usual(xb_larger(layout.in, layout.out));
    state->job = (struct xb_job_proof){.layout = &state->layout, .seed = test->seed};
    context->operations_per_iteration = 3 * layout.count;
    context->bytes_moved = layout.in + layout.out;
    context->host_timed = context->host_waits = true;
    uint64_t piece = layout.out < layout.in ? xb_lesser(layout.in, PIECE_BYTES) : 0;
    XB_TRY(XB_BORROW(context, is_overlapped(test) ? XB_JOB_QUEUES : 1, error,
                     {&state->job.in, 0, memory_of(test), layout.in, false},
                     {&state->job.out, 1, memory_of(test), layout.out, true},
                     {&state->job.piece, 2, XB_MEMORY_PAGEABLE, piece, true},
                     {&state->job.data, 0, XB_MEMORY_DEVICE, layout.device_bytes, true}));
    if (has_ring(test)) {
        context->operations_per_iteration =
            1 + xb_ring_operations(&plan, layout.in) + xb_ring_operations(&plan, layout.out);
        XB_TRY(xb_ring_open(context, &plan, 3, &state->ring, error));
    }
    xb_host_fill(state->job.in->host_address, 0, test->bytes, xb_proof_before(test->seed));
    XB_TRY(xb_proof_fill(context->queues[0], state->job.data, layout.device_bytes,
                         xb_job_beside(test->seed, false), error));
    double target = gpu_time_of(test);
    if (target == 0)
        return XB_OK;
    XB_TRY(xb_kernel_time_tune(context, submit_kernel, target, &state->job.steps, error));
    return check_time(context, target, error);
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    xb_ring_close(state->ring);
}

/* Changes the input and what the device has beside it: nothing that warm-up and references left is
 * right any more. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    xb_host_fill(state->job.in->host_address, 0, context->test->bytes,
                 xb_proof_after(context->test->seed));
    return xb_proof_fill(context->queues[0], state->job.data, state->layout.device_bytes,
                         xb_job_beside(context->test->seed, true), error);
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_mismatch all = {0};
    struct xb_mismatch spots = {0};
    xb_result_detail_number(result, "compute_steps", (double)state->job.steps);
    xb_result_detail_text(result, "verified_by", "host");
    xb_result_compute(result, &job_time, (double)result->bytes_moved / result->bandwidth.median);
    XB_TRY(xb_job_check(context->queues[0], &state->job, &all, &spots, error));
    xb_proof_conclude(result, &all, &spots);
    return XB_OK;
}

/* The fastest, or the slowest, of the ways that this build knows, and which that is: a file may
 * have others. */
static const struct xb_record_case *extreme(struct xb_reading *reading, int device, uint64_t bytes,
                                            bool fastest, size_t *way)
{
    const struct xb_record_case *found = NULL;
    for (size_t i = 0; option_way.choices[i] != NULL; i++) {
        const struct xb_record_case *test =
            xb_reading_best_of_any(reading, device, bytes, XB_BIDIR, "job", option_way.choices[i]);
        bool is_faster = test != NULL && xb_reading_faster(reading, found, test) == test;
        if (test != NULL && (found == NULL || is_faster == fastest)) {
            found = test;
            *way = i;
        }
    }
    return found;
}

/* Each step that makes it faster for certain, the easiest first. */
static void advise(struct xb_reading *reading, const struct xb_record_case *slow, uint64_t bytes)
{
    static const struct {
        const char *way, *what, *how;
        enum xb_call call;
    } steps[] = {{"pinned", "Pin the buffers of this job", "", XB_CALL_PIN},
                 {"overlapped", "Overlap copies and kernels of this job",
                  " in chunks on two streams, from and to pinned memory", XB_CALL_COPY_ASYNC}};
    const struct xb_record_case *best = slow;
    double most = xb_reading_median(reading, slow, &job_time), time = most;
    struct xb_words words = {.length = 0};
    /* What is slow overlapped is pinned as it is. */
    for (size_t i = strcmp(slow->variant, "overlapped") == 0; i < sizeof steps / sizeof steps[0];
         i++) {
        const struct xb_record_case *test =
            xb_reading_best_of_any(reading, slow->device, bytes, XB_BIDIR, "job", steps[i].way);
        if (test == NULL || xb_reading_judge(reading, test, best) != XB_READING_FASTER)
            continue;
        best = test;
        time = xb_reading_median(reading, best, &job_time);
        xb_words_add(&words, "%s%s, %s%s: %s instead of %s.", words.length > 0 ? " " : "",
                     steps[i].what, xb_reading_call(reading, steps[i].call), steps[i].how,
                     XB_DURATION_TEXT(time), XB_DURATION_TEXT(most));
    }
    if (most / time >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_LINES, most / time, "%s", words.text);
}

/* "Overlapped, this job takes 1.42 ms. From pageable memory it takes 11.1 ms, and copies are 89 %
 * of that." */
static bool say_job(struct xb_reading *reading, int device, uint64_t bytes)
{
    static const char *const words[] = {"From pageable memory", "Through a ring of pinned memory",
                                        "From pinned memory", "Overlapped"}; /* as --way */
    size_t way = 0, slow_way = 0;
    const struct xb_record_case *best = extreme(reading, device, bytes, true, &way);
    const struct xb_record_case *slow = extreme(reading, device, bytes, false, &slow_way);
    double out = xb_reading_median(reading, slow, &xb_figure_out_time);
    double most = xb_reading_median(reading, slow, &job_time);
    double share = xb_reading_median(reading, slow, &xb_figure_in_time) + (out > 0 ? out : 0);
    if (best == NULL)
        return false;
    xb_reading_phrase(reading, "{text}, this job takes {duration:job_time}", words[way],
                      xb_reading_median(reading, best, &job_time));
    if (slow != best)
        xb_reading_phrase(reading, ". {text} it takes {duration:slowest_job_time}", words[slow_way],
                          most);
    if (isfinite(share) && strcmp(slow->variant, "overlapped") != 0)
        xb_reading_phrase(reading, ", and copies are {share:copies_share} of that", share / most);
    xb_reading_phrase(reading, ".{case}{case}", best, slow);
    advise(reading, slow, bytes);
    return true;
}

const struct xb_mode xb_mode_job = {
    .name = "job",
    .summary = "a whole job: data in, a kernel, the result back, until the host has it",
    .description =
        "Brings --size bytes to the device, computes on them for --gpu-time and brings --job-out "
        "bytes back, by each --way. The host's clock times one iteration from the first call "
        "until all is done: a program waits that long for such a job. in_time and out_time are "
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
    .variant_option = &option_way,
    .names = XB_NAMES({"pageable", "job, pageable"}, {"pinned", "job, pinned"},
                      {"ring", "job, by a ring"}, {"overlapped", "job, overlapped"}),
    .headline = &job_time,
    .parts = XB_PARTS({"IN", &xb_figure_in_time}, {"KERNEL", &xb_figure_kernel_time},
                      {"OUT", &xb_figure_out_time}),
    .options = XB_OPTIONS(&option_way, &option_gpu_time, &option_job_out, &xb_option_chunk),
    .parameters = XB_PARAMETERS({&option_gpu_time, NULL}, {&option_job_out, NULL},
                                {&xb_option_chunk, "overlapped"}),
    .figures =
        XB_FIGURES(&job_time, &xb_figure_in_time, &xb_figure_kernel_time, &xb_figure_out_time),
    .reading = XB_READING({.label = "job", .code = "XB-JOB", .say = say_job}),
    .answer = say_job,
    XB_HOOKS(struct state, needs, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check_options = check_options,
    .check = check,
    /* The copies by the clock of the case, which is the host's: so a program waits for them. The
     * kernel by the device's, because --gpu-time is what a profiler shows. */
    .references = XB_REFERENCES(
        {.figure = &xb_figure_in_time, .submit = submit_in},
        {.figure = &xb_figure_kernel_time,
         .submit = submit_kernel,
         .clock = XB_CLOCK_OF_DEVICE,
         .is_wanted = computes},
        {.figure = &xb_figure_out_time, .submit = submit_out, .is_wanted = brings_back}),
    .teardown = teardown,
};
