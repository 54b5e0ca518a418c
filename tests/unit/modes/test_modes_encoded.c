/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that is made smaller on its way: what crosses, in which order, and that it is proved. */
#include <pthread.h>

#include "testing.h"

#define ENCODED_TEST(name) TEST_WITH(name, encoded_setup, NULL)

#include "backends/host/host.h"
#include "backends/verify.h"
#include "measure_fixture.h"
#include "modes/encoded.h"
#include "modes/proof.h"
#include "sanitized.h"

/* Every operation is as long as a sample, which then is of one iteration: the next one's copies
 * would write the same bytes over what this one still restores, which a thread sanitizer tells. */
#define A_SAMPLE 1e-3

/* A chunk is restored on one of so many queues in turn. */
#define RESTORING 7

/* What is enough for a sanitizer, which makes each case many times as long. */
#define FEWER(all, few) (IS_SANITIZED ? (few) : (all))

/* ---- crews: how many jobs of an iteration were begun and ended ---- */

static struct {
    unsigned begun, ended;
} jobs;

enum xb_status __real_xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                                    struct xb_error *error);
enum xb_status __wrap_xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                                    struct xb_error *error)
{
    jobs.begun++;
    return __real_xb_crew_begin(crew, job, error);
}

void __real_xb_crew_end(struct xb_crew *crew);
void __wrap_xb_crew_end(struct xb_crew *crew)
{
    jobs.ended++;
    __real_xb_crew_end(crew);
}

/* ---- what an iteration enqueues ---- */

struct step {
    enum { COPY, RECORD, AWAIT, DECODE, HOST_WAIT } kind;
    const void *queue, *event;
    uint64_t from, to, bytes, source_bytes;
};

static struct {
    struct step steps[512];
    size_t count;
    bool on; /* in an iteration */
} seen;

static void note(const struct step *step)
{
    if (seen.on && seen.count < COUNT_OF(seen.steps))
        seen.steps[seen.count++] = *step;
}

/*
 * Copies out of a ring that are as late as they may be: each waits until the host waits for it, or
 * for all. What was written over meanwhile would cross in place of what should.
 */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t asked, allowed;
    bool on;
    struct {
        const struct xb_event *event;
        uint64_t asked; /* when it was recorded */
    } records[64];
} late = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void wait_until_allowed(const struct xb_host_work *work)
{
    pthread_mutex_lock(&late.mutex);
    while (late.allowed < work->count)
        pthread_cond_wait(&late.changed, &late.mutex);
    pthread_mutex_unlock(&late.mutex);
}

static void allow(uint64_t count)
{
    pthread_mutex_lock(&late.mutex);
    if (count > late.allowed)
        late.allowed = count;
    pthread_cond_broadcast(&late.changed);
    pthread_mutex_unlock(&late.mutex);
}

static void note_record(const struct xb_event *event)
{
    for (size_t i = 0; i < COUNT_OF(late.records); i++)
        if (late.records[i].event == event || late.records[i].event == NULL) {
            late.records[i].event = event;
            late.records[i].asked = late.asked;
            return;
        }
    fail_msg("too many events");
}

static enum xb_status spied_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                 struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                 struct xb_error *error)
{
    note(&(struct step){.kind = COPY, .queue = queue, .from = from, .to = to, .bytes = bytes});
    if (late.on && seen.on) {
        const struct xb_host_work work = {.run = wait_until_allowed, .count = ++late.asked};
        if (xb_host_queue_enqueue(queue, &work, error) != XB_OK)
            return error->status;
    }
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static enum xb_status spied_record(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error)
{
    note(&(struct step){.kind = RECORD, .queue = queue, .event = event});
    if (late.on && seen.on)
        note_record(event);
    return xb_fake_backend.event_record(event, queue, error);
}

static enum xb_status spied_await(struct xb_queue *queue, struct xb_event *event,
                                  struct xb_error *error)
{
    note(&(struct step){.kind = AWAIT, .queue = queue, .event = event});
    return xb_fake_backend.queue_wait_event(queue, event, error);
}

static unsigned decodings_left; /* before one fails; 0: none does */
static bool fails_in_setup;     /* and else in an iteration */

static enum xb_status spied_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                   struct xb_error *error)
{
    note(&(struct step){.kind = DECODE,
                        .queue = queue,
                        .from = decoding->source_offset,
                        .to = decoding->target_offset,
                        .bytes = decoding->bytes,
                        .source_bytes = decoding->source_bytes});
    if (fails_in_setup != seen.on && decodings_left > 0 && --decodings_left == 0)
        return XB_FAIL(error, XB_ERR_RUNTIME, "this decoding fails");
    return xb_fake_backend.queue_decode(queue, decoding, error);
}

static enum xb_status spied_event_wait(struct xb_event *event, struct xb_error *error)
{
    note(&(struct step){.kind = HOST_WAIT, .event = event});
    for (size_t i = 0; i < COUNT_OF(late.records); i++)
        if (late.records[i].event == event)
            allow(late.records[i].asked);
    return xb_fake_backend.event_wait(event, error);
}

static enum xb_status spied_wait(struct xb_queue *queue, struct xb_error *error)
{
    allow(late.asked);
    return xb_fake_backend.queue_wait(queue, error);
}

static const struct xb_mode *inner; /* the mode that is looked at */

/* The next step of the iteration. */
static const struct step *next_step(size_t *at, int kind, const void *queue)
{
    const struct step *step = &seen.steps[(*at)++];
    assert_true(*at <= seen.count);
    assert_int_equal(step->kind, kind);
    assert_ptr_equal(step->queue, queue);
    return step;
}

/* A group that ends with `last` is restored once the last has crossed. */
static void check_group(const struct xb_mode_context *context, uint64_t last, size_t *at)
{
    const struct xb_encoded *state = context->state;
    const struct xb_event *crossed = state->crossed[last % state->slots];
    assert_ptr_equal(next_step(at, RECORD, context->queues[0])->event, crossed);
    for (uint64_t i = last / state->group * state->group; i <= last; i++) {
        const struct xb_queue *queue = context->queues[1 + i % RESTORING];
        struct xb_chunk chunk = xb_encoded_chunk(context, i);
        assert_ptr_equal(next_step(at, AWAIT, queue)->event, crossed);
        const struct step *decoding = next_step(at, DECODE, queue);
        assert_int_equal(decoding->from, i * state->slot_bytes);
        assert_int_equal(decoding->source_bytes, state->lengths[i]);
        assert_int_equal(decoding->to, chunk.offset);
        assert_int_equal(decoding->bytes, chunk.bytes);
    }
}

/* All that an iteration enqueued, in its order: every chunk crosses, and is restored after that. */
static void check_steps(const struct xb_mode_context *context)
{
    const struct xb_encoded *state = context->state;
    size_t at = 0;
    size_t waits = 0;
    assert_true(seen.count < COUNT_OF(seen.steps));
    for (uint64_t i = 0; i < state->count; i++) {
        const struct step *copy = next_step(&at, COPY, context->queues[0]);
        assert_int_equal(copy->from, i % state->slots * state->slot_bytes);
        assert_int_equal(copy->to, i * state->slot_bytes);
        assert_int_equal(copy->bytes, state->lengths[i]);
        if ((i + 1) % state->group == 0 || i + 1 == state->count)
            check_group(context, i, &at);
        for (; at < seen.count && seen.steps[at].kind == HOST_WAIT; at++)
            waits++;
    }
    assert_int_equal(at, seen.count);
    if (!state->is_made)
        assert_int_equal(waits, 0);
}

static enum xb_status spied_submit(struct xb_mode_context *context, struct xb_error *error)
{
    jobs.begun = jobs.ended = 0;
    seen.count = 0;
    seen.on = true;
    enum xb_status status = inner->submit(context, error);
    seen.on = false;
    assert_int_equal(jobs.begun, jobs.ended);
    if (status == XB_OK)
        check_steps(context);
    return status;
}

/* What lies in device memory is each chunk as the codec makes it, and nothing behind it. */
static void check_arrived(const struct xb_mode_context *context)
{
    const struct xb_encoded *state = context->state;
    struct xb_pattern nothing = xb_proof_before(context->test->seed);
    const unsigned char *arrived = xb_host_buffer_address(state->arrived);
    unsigned char *expected = aligned_alloc(XB_FORMAT_ALIGNMENT, state->slot_bytes);
    assert_non_null(expected);
    for (uint64_t i = 0; i < state->count; i++) {
        struct xb_chunk chunk = xb_encoded_chunk(context, i);
        const char *original = (const char *)state->original->host_address + chunk.offset;
        uint64_t begin = i * state->slot_bytes;
        uint64_t length = xb_encode(state->format, original, chunk.bytes, expected);
        assert_int_equal(length, state->lengths[i]);
        assert_memory_equal(arrived + begin, expected, length);
        for (uint64_t at = begin + length; at < begin + state->slot_bytes; at++)
            assert_int_equal(arrived[at],
                             xb_pattern_word(nothing, at / 8) >> (8 * (at % 8)) & 0xFF);
    }
    free(expected);
}

static enum xb_status spied_verify(struct xb_mode_context *context, struct xb_result *result,
                                   struct xb_error *error)
{
    check_arrived(context);
    return inner->verify(context, result, error);
}

static int encoded_setup(void **state)
{
    reset(state);
    xb_fake.operation_s = A_SAMPLE;
    memset(&seen, 0, sizeof seen);
    decodings_left = 0;
    fails_in_setup = false;
    late.asked = late.allowed = 0;
    late.on = false;
    memset(late.records, 0, sizeof late.records);
    alter(1, 1);
    altered_backend.queue_copy = spied_copy;
    altered_backend.event_record = spied_record;
    altered_backend.queue_wait_event = spied_await;
    altered_backend.queue_decode = spied_decode;
    altered_backend.event_wait = spied_event_wait;
    altered_backend.queue_wait = spied_wait;
    return 0;
}

/* Runs a mode whose iterations and whose memory are looked at. */
static void spy(struct fixture *f, const char *const *arguments)
{
    static struct xb_mode mode;
    plan(f, arguments);
    inner = f->run.results[0].test.mode;
    mode = *inner;
    mode.submit = spied_submit;
    mode.verify = spied_verify;
    for (size_t i = 0; i < f->run.case_count; i++)
        f->run.results[i].test.mode = &mode;
    go(f, NULL);
}

#define SPY(f, ...) spy((f), WORDS(__VA_ARGS__))

/* ---- what crosses ---- */

/* Below a chunk, one whole, several, and a last one that is short. */
ENCODED_TEST(test_values_cross_narrowed_and_in_order)
{
    struct fixture f;
    SPY(&f, "--mode", "quantize", "--size", FEWER("4,4K,16K,160K,100004", "100004"),
        "--encode-chunk", FEWER("4K,16K", "4K"), "--threads", FEWER("1,3", "3"));
    assert_int_equal(f.run.case_count, IS_SANITIZED ? 4 : 4 * 5 * 2 * 2);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

ENCODED_TEST(test_data_crosses_compressed_and_in_order)
{
    struct fixture f;
    SPY(&f, "--mode", "compress", "--size", FEWER("1,16K,160K,100001", "100001"), "--encode-chunk",
        "16K", "--threads", FEWER("1,3", "3"), "--data", "integers,text");
    assert_int_equal(f.run.case_count, 2 * 2 * 2 * (IS_SANITIZED ? 1 : 4 * 2));
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

/* A chunk is of the size that is given, or of one that the variant takes. */
ENCODED_TEST(test_chunks_have_their_size)
{
    struct fixture f;
    if (IS_SANITIZED)
        return; /* much data, and nothing that others do not show */
    RUN(&f, "--mode", "compress", "--codec", "for", "--data", "zeros", "--size", "5M", "--threads",
        "1");
    static const double chunks[] = {5 * MIB, 4 * MIB};
    assert_int_equal(f.run.case_count, 2);
    for (size_t i = 0; i < 2; i++)
        expect_number(&f.run.results[i], "chunk_bytes", chunks[i]);
    finish(&f);
}

/* ---- the ring ---- */

ENCODED_TEST(test_a_slot_is_left_alone_until_it_has_crossed)
{
    struct fixture f;
    late.on = true;
    SPY(&f, "--mode", "quantize", "--to", "fp16", "--size", "400K", "--encode-chunk", "16K",
        "--threads", "1,2,5");
    assert_int_equal(f.run.case_count, 3);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

/* The crew may then begin another job: it was ended. And nothing is under way on a queue any more
 * that would wait for an event which is closed. */
ENCODED_TEST(test_a_failure_in_an_iteration_ends_the_crew)
{
    for (unsigned i = 0; i < 8; i++) {
        struct fixture f;
        decodings_left = 1 + i / 2 * 3; /* of the 10 of an iteration */
        fails_in_setup = i % 2 == 0;
        xb_fake.operation_s = 1; /* a plain copy so slow that setup tries whole iterations */
        SPY(&f, "--mode", "quantize", "--to", "fp16,bf16", "--size", "160K", "--encode-chunk",
            "16K", "--threads", "3");
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "this decoding fails");
        expect_status(&f.run.results[1], XB_RESULT_OK);
        finish(&f);
    }
}

/* ---- proof ---- */

/* Of copies and of decodings, which are damaged too. Chunks are so large that what is made of them
 * is large enough to be damaged. */
ENCODED_TEST(test_wrong_data_never_verifies)
{
    for (int damage = XB_DAMAGE_NONE + 1; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        if (HAS_THREAD_SANITIZER && damage != XB_DAMAGE_BIT_FLIPPED)
            continue; /* the same threads make it and find it */
        fixture_backend = &xb_fake_backend;
        xb_fake.damage = (enum xb_damage)damage;
        RUN(&f, "--mode", "quantize", "--size", FEWER("192K,320K", "192K"), "--encode-chunk",
            "128K", "--threads", FEWER("1,2", "2"));
        assert_int_equal(f.run.case_count, IS_SANITIZED ? 4 : 4 * 2 * 2);
        expect_all_wrong(&f);
        finish(&f);
        RUN(&f, "--mode", "compress", "--size", FEWER("192K,320K", "192K"), "--encode-chunk",
            "128K", "--threads", FEWER("1,2", "2"), "--data", "integers,text");
        assert_int_equal(f.run.case_count, 2 * 2 * 2 * (IS_SANITIZED ? 1 : 2 * 2));
        expect_all_wrong(&f);
        finish(&f);
    }
}

static void spoil(const struct xb_host_work *work)
{
    memset(work->base.target, 0xFF, work->base.bytes);
}

/* The directory of the third chunk, between its copy and its decoding. */
static enum xb_status spoiled_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                     struct xb_error *error)
{
    char *target = (char *)xb_host_buffer_address(decoding->source) + decoding->source_offset;
    const struct xb_host_work work = {.run = spoil, .base = {.target = target, .bytes = 8}};
    if (decoding->target_offset == 2 * 16384 && xb_host_queue_enqueue(queue, &work, error) != XB_OK)
        return error->status;
    return xb_fake_backend.queue_decode(queue, decoding, error);
}

ENCODED_TEST(test_what_the_device_refuses_fails_the_row_and_says_where)
{
    struct fixture f;
    altered_backend.queue_decode = spoiled_decode;
    RUN(&f, "--mode", "compress", "--size", "64K", "--encode-chunk", "16K", "--threads", "2");
    assert_int_equal(f.run.case_count, 4);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_reason(result, XB_RESULT_ERROR, "invalid encodings");
        expect_reason(result, XB_RESULT_ERROR, "the first at byte 32768");
        assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
    }
    finish(&f);
}

static enum xb_status stop_restoring(struct xb_queue *queue, const struct xb_decoding *decoding,
                                     struct xb_error *error)
{
    (void)queue;
    (void)decoding;
    (void)error;
    return XB_OK;
}

static enum xb_status prepare_and_stop_restoring(struct xb_mode_context *context,
                                                 struct xb_error *error)
{
    enum xb_status status = own_prepare(context, error);
    altered_backend.queue_decode = stop_restoring;
    return status;
}

/* Everything is right up to the last reference, and nothing is restored after it. */
ENCODED_TEST(test_a_reference_does_not_stand_in_for_the_samples)
{
    static const char *const variants[] = {"sent", "made-and-sent"};
    for (size_t i = 0; i < COUNT_OF(variants); i++) {
        struct fixture f;
        altered_backend.queue_decode = xb_fake_backend.queue_decode;
        PLAN(&f, "--mode", "compress", "--timed", variants[i], "--codec", "for", "--size", "64K",
             "--threads", "2");
        go_prepared(&f, prepare_and_stop_restoring);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "65536 of 65536 bytes are wrong");
        finish(&f);
    }
}
