/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that is made smaller on its way: what crosses, and in which order, how many threads are
 * enough, and what narrow values lose. Its figures: tests/unit/runs/encoded.txt. */
#include "base/parallel.h"
#include "fixture_tree.h"
#include "late_copies.h"
#include "modes/encoded.h"
#include "sanitized.h"

#define ENCODED_TEST(name) TEST_WITH(name, encoded_setup, NULL)

/* Every operation is as long as a sample, which then is of one iteration: the next one's copies
 * would write the same bytes over what this one still restores, which a thread sanitizer tells. */
#define A_SAMPLE 1e-3

/* What is enough for a sanitizer, which makes each case many times as long. */
#define FEWER(all, few) (IS_SANITIZED ? (few) : (all))

/* ---- crews and encoders ---- */

static struct {
    double seconds_per_byte; /* of one thread that encodes; of n an n-th; 0: as it is */
    atomic_uint threads;     /* of the crew that works */
    float values[2];         /* in turn, in place of weights; 0: as it is */
} model;

enum xb_status __real_xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                                    struct xb_error *error);
enum xb_status __wrap_xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                                    struct xb_error *error)
{
    model.threads = xb_crew_threads(crew);
    return __real_xb_crew_begin(crew, job, error);
}

enum xb_status __real_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error);
enum xb_status __wrap_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error)
{
    model.threads = xb_crew_threads(crew);
    return __real_xb_crew_run(crew, job, error);
}

uint64_t __real_xb_encode(enum xb_format format, const void *source, uint64_t bytes, void *target);
uint64_t __wrap_xb_encode(enum xb_format format, const void *source, uint64_t bytes, void *target)
{
    double seconds = model.seconds_per_byte * (double)bytes / model.threads;
    atomic_fetch_add(&clock_ahead_ns, (long long)(seconds * 1e9));
    return __real_xb_encode(format, source, bytes, target);
}

void __real_xb_weights_fill(unsigned long long seed, void *memory, uint64_t bytes);
void __wrap_xb_weights_fill(unsigned long long seed, void *memory, uint64_t bytes)
{
    __real_xb_weights_fill(seed, memory, bytes);
    for (uint64_t i = 0; model.values[0] > 0 && i < bytes / sizeof(float); i++)
        ((float *)memory)[i] = model.values[i % 2];
}

/* ---- copies and decodings ---- */

static struct {
    bool is_in_iteration;
    unsigned decodings_left; /* before one fails; 0: none does */
    bool fails_in_setup;     /* and else in an iteration */
} steer;

static enum xb_status slow_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                struct xb_error *error)
{
    /* The copy of all of it takes 100 seconds where encoders are timed, beside which what a busy
     * machine adds is nothing. */
    if (model.seconds_per_byte > 0 && bytes == 1u << 20)
        atomic_fetch_add(&clock_ahead_ns, 100000000000LL);
    return late_copy(queue, target, to, source, from, bytes, error);
}

static enum xb_status failing_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                     struct xb_error *error)
{
    if (steer.fails_in_setup != steer.is_in_iteration && steer.decodings_left > 0 &&
        --steer.decodings_left == 0)
        return XB_FAIL(error, XB_ERR_RUNTIME, "this decoding fails");
    return xb_fake_backend.queue_decode(queue, decoding, error);
}

static struct xb_mode inner; /* the mode that is looked at */

static enum xb_status noted_submit(struct xb_mode_context *context, struct xb_error *error)
{
    steer.is_in_iteration = true;
    enum xb_status status = inner.submit(context, error);
    steer.is_in_iteration = false;
    return status;
}

static int encoded_setup(void **state)
{
    (void)state;
    reset_fake();
    be_late();
    xb_fake.operation_s = A_SAMPLE;
    memset(&steer, 0, sizeof steer);
    memset(&model, 0, sizeof model);
    model.threads = 1;
    altered_backend.queue_copy = slow_copy;
    altered_backend.queue_decode = failing_decode;
    return 0;
}

/* Below a chunk, one whole, several, and a last one that is short. And of a ring each slot is left
 * alone until it has crossed. What is enqueued in which order: tests/unit/runs/steps.txt. */
ENCODED_TEST(data_crosses_encoded)
{
    const struct {
        size_t cases;
        bool is_late;
        const char *words[7];
    } rows[] = {
        {IS_SANITIZED ? 4 : 4 * 5 * 2 * 2,
         false,
         {"--mode=quantize", FEWER("--size=4,4K,16K,160K,100004", "--size=100004"),
          FEWER("--encode-chunk=4K,16K", "--encode-chunk=4K"),
          FEWER("--threads=1,3", "--threads=3")}},
        {2 * 2 * 2 * (IS_SANITIZED ? 1 : 4 * 2),
         false,
         {"--mode=compress", FEWER("--size=1,16K,160K,100001", "--size=100001"),
          "--encode-chunk=16K", FEWER("--threads=1,3", "--threads=3"), "--data=integers,text"}},
        {3,
         true,
         {"--mode=quantize", "--to=fp16", "--size=400K", "--encode-chunk=16K", "--threads=1,2,5"}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        late.is_on = rows[i].is_late;
        execute(&f, rows[i].words, NULL);
        assert_int_equal(f.run.case_count, rows[i].cases);
        expect_all(&f, XB_RESULT_OK);
        finish(&f);
    }
    assert_true(late.most_pending > 1);
}

/* The crew may then begin another job: it was ended. And nothing is under way on a queue any more
 * that would wait for an event which is closed. */
ENCODED_TEST(a_failure_in_an_iteration_ends_the_crew)
{
    for (unsigned i = 0; i < 8; i++) {
        struct fixture f;
        steer.decodings_left = 1 + i / 2 * 3; /* of the 10 of an iteration */
        steer.fails_in_setup = i % 2 == 0;
        xb_fake.operation_s = 1; /* a plain copy so slow that setup tries whole iterations */
        plan_line(&f, "--mode=quantize --to=fp16,bf16 --size=160K --encode-chunk=16K --threads=3");
        struct xb_mode *mode = replace_mode(&f);
        inner = *mode;
        mode->submit = noted_submit;
        go(&f, NULL);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "this decoding fails");
        expect_status(&f.run.results[1], XB_RESULT_OK);
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

ENCODED_TEST(what_the_device_refuses_fails_the_row_and_says_where)
{
    struct fixture f;
    altered_backend.queue_decode = spoiled_decode;
    run_line(&f, "--mode compress --size 64K --encode-chunk 16K --threads 2");
    assert_int_equal(f.run.case_count, 4);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_reason(result, XB_RESULT_ERROR, "invalid encodings");
        expect_reason(result, XB_RESULT_ERROR, "the first at byte 32768");
        assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
    }
    finish(&f);
}

/* ---- figures ---- */

/* One thread narrows 1 MiB in 450 s, and the plain copy takes 100: 4 threads are too slow, 5 are
 * not. */
ENCODED_TEST(threads_that_are_enough_are_found)
{
    static const struct {
        const char *threads;
        unsigned enough; /* 0: these are not */
    } cases[] = {{"8", 5}, {"16", 5}, {"5", 5}, {"4", 0}, {"1", 0}};
    model.seconds_per_byte = 450 / MIB;
    xb_fake.operation_s = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        RUN(&f, "--mode", "quantize", "--to", "fp16", "--size", "1M", "--encode-chunk", "32K",
            "--threads", cases[i].threads, "--samples=2", "--time-limit", "100000s");
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, XB_RESULT_OK);
        if (cases[i].enough > 0)
            expect_computed(result, "break_even_threads", cases[i].enough);
        else
            assert_null(figure_of(result, "break_even_threads"));
        finish(&f);
    }
}

/* Every second value has a known error: bf16 keeps 7 bits of the fraction, fp16 10 and fp8 3; the
 * scale of int8 is 1 here. */
ENCODED_TEST(known_values_have_known_errors)
{
    static const struct {
        const char *format;
        float exact, other;
        double becomes;
    } cases[] = {{"fp16", 1, 1 + 0x1p-12f, 1},
                 {"bf16", 2, 1 + 0x1p-9f, 1},
                 {"int8", 127, 1.25f, 1},
                 {"fp8", 1, 1 - 0x1p-6f, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        double exact = (double)cases[i].exact;
        double other = (double)cases[i].other;
        double error = fabs(cases[i].becomes - other);
        model.values[0] = cases[i].exact;
        model.values[1] = cases[i].other;
        RUN(&f, "--mode", "quantize", "--to", cases[i].format, "--size", "100K", "--encode-chunk",
            "16K", "--threads", "2");
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, XB_RESULT_OK);
        expect_computed(result, "error_max", error / other);
        expect_computed(result, "error_rms", sqrt(error * error / (exact * exact + other * other)));
        finish(&f);
    }
}

ENCODED_TEST(as_many_threads_as_there_are_cpus_near)
{
    struct fixture f;
    unsigned near = xb_cpus_allowed();
    run_line(&f, "--mode quantize --to fp16 --size 64K --encode-chunk 4K");
    expect_computed(&f.run.results[0], "threads", near < 64 ? near : 64);
    finish(&f);
}

static enum xb_status look_at_original(struct xb_mode_context *context, struct xb_result *result,
                                       struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const char *original = state->original->host_address;
    for (uint64_t i = 0; i < context->test->bytes; i++)
        assert_int_equal(original[i], "of a file"[i % 9]);
    return inner.verify(context, result, error);
}

TREE_TEST(the_data_may_be_a_file)
{
    struct fixture f;
    encoded_setup(NULL);
    write_file(*state, "data", "of a file");
    assert_int_equal(chdir(*state), 0);
    plan_line(
        &f, "--mode compress --codec for --timed sent --size 100001 --data file:data --threads 1");
    struct xb_mode *mode = replace_mode(&f);
    inner = *mode;
    mode->verify = look_at_original;
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
    assert_int_equal(chdir("/"), 0);
}
