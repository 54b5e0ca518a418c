/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that is made smaller on its way: figures, memory, options. */

#include "testing.h"

#define FIGURES_TEST(name) TEST_WITH(name, figures_setup, remove_tree)

#include "base/parallel.h"
#include "codecs/formats.h"
#include "fixture_tree.h"
#include "measure/plan/case.h"
#include "measure_fixture.h"
#include "modes/encoded.h"

/* Of an operation that is as long as a sample, which then is of one iteration: the next one's
 * copies would write the same bytes over what this one still restores, which a thread sanitizer
 * tells. */
#define A_SAMPLE 1e-3

/* ---- encoders of a known speed, and values of a known error ---- */

static struct {
    double seconds_per_byte; /* of one thread; of n an n-th; 0: as it is */
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

static int figures_setup(void **state)
{
    make_tree(state);
    reset(state);
    xb_fake.queues_are_alike = true;
    model.seconds_per_byte = 0;
    model.threads = 1;
    model.values[0] = model.values[1] = 0;
    return 0;
}

static double computed(const struct xb_result *result, const char *name)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    if (figure == NULL)
        fail_msg("%s of %s is missing", name, result->test.variant);
    return figure->computed;
}

static double sampled(const struct xb_result *result, const char *name)
{
    assert_non_null(figure_of(result, name));
    return xb_result_median(result, figure_of(result, name)->figure);
}

/* ---- figures ---- */

#define COPY_S(bytes) ((double)(bytes)*XB_FAKE_SECONDS_PER_BYTE)
#define DECODE_S(bytes) ((double)(bytes)*XB_FAKE_DECODE_SECONDS_PER_BYTE)

/* So long that a sample is of one iteration. */
#define OPERATION_S 2e-4

/* 2 MiB in two chunks, each of 256 blocks of `for`: a directory of 8 bytes a block, and nothing
 * behind it for zeros. Both chunks cross, and the second is restored. */
FIGURES_TEST(test_what_follows_from_data_that_gets_small)
{
    struct fixture f;
    xb_fake.operation_s = OPERATION_S;
    RUN(&f, "--mode", "compress", "--timed", "sent", "--codec", "for", "--data", "zeros", "--size",
        "2M", "--encode-chunk", "1M", "--threads", "2");
    const struct xb_result *result = &f.run.results[0];
    const double plain = (OPERATION_S + COPY_S(2 * MIB));
    const double sent = 3 * OPERATION_S + COPY_S(2 * 2048) + DECODE_S(MIB);
    expect_seconds(result, sent);
    expect_samples(result, "plain_bandwidth", 2 * MIB / plain);
    expect_samples(result, "decode_rate", 2 * MIB / (OPERATION_S + DECODE_S(MIB)));
    expect_computed(result, "ratio", 512);
    expect_computed(result, "speed_up", plain / sent);
    expect_computed(result, "share_of_bound", (OPERATION_S + DECODE_S(MIB)) / sent);
    expect_computed(result, "threads", 2);
    expect_computed(result, "break_even_sends",
                    ceil(2 * MIB / computed(result, "encode_rate") / (plain - sent)));
    assert_null(figure_of(result, "break_even_threads")); /* nobody encodes meanwhile */
    assert_null(figure_of(result, "error_max"));
    finish(&f);
}

/* All blocks are stored, behind their directory: the link is the limit, and it carries more. */
FIGURES_TEST(test_data_that_gets_no_smaller_has_its_row)
{
    struct fixture f;
    xb_fake.operation_s = OPERATION_S;
    RUN(&f, "--mode", "compress", "--timed", "sent", "--codec", "for", "--data", "random", "--size",
        "2M", "--encode-chunk", "1M", "--threads", "2");
    const struct xb_result *result = &f.run.results[0];
    const double stored = 2 * (MIB + 2048);
    const double sent = 3 * OPERATION_S + COPY_S(stored) + DECODE_S(MIB);
    expect_seconds(result, sent);
    assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
    expect_computed(result, "ratio", 2 * MIB / stored);
    expect_computed(result, "speed_up", (OPERATION_S + COPY_S(2 * MIB)) / sent);
    expect_computed(result, "share_of_bound",
                    (OPERATION_S + COPY_S(2 * MIB)) * stored / (2 * MIB) / sent);
    assert_null(figure_of(result, "break_even_sends"));
    finish(&f);
}

FIGURES_TEST(test_no_random_data_fails)
{
    struct fixture f;
    xb_fake.operation_s = A_SAMPLE;
    RUN(&f, "--mode", "compress", "--data", "random", "--size", "300K", "--encode-chunk", "128K",
        "--threads", "1,2");
    assert_int_equal(f.run.case_count, 8);
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_true(computed(&f.run.results[i], "ratio") <= 1);
    finish(&f);
}

/* int8 has a scale of 4 bytes for each 64 values. */
FIGURES_TEST(test_narrow_values_have_the_ratio_of_their_formats)
{
    static const double ratios[] = {2, 2, 256 / 68.0, 4};
    struct fixture f;
    RUN(&f, "--mode", "quantize", "--size", "256K", "--encode-chunk", "64K", "--threads", "1,3");
    assert_int_equal(f.run.case_count, 2 * COUNT_OF(ratios));
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        double plain = sampled(result, "plain_bandwidth");
        double decode = sampled(result, "decode_rate");
        double ratio = ratios[i / 2];
        double bound = fmin(fmin(ratio * plain, decode), computed(result, "encode_rate"));
        expect_computed(result, "ratio", ratio);
        expect_computed(result, "threads", i % 2 == 0 ? 1 : 3);
        expect_computed(result, "speed_up", result->bandwidth.median / plain);
        expect_computed(result, "share_of_bound", result->bandwidth.median / bound);
        assert_false(result->event_times); /* by the host's clock: threads are part of it */
        assert_null(figure_of(result, "break_even_sends"));
    }
    finish(&f);
}

FIGURES_TEST(test_as_many_threads_as_there_are_cpus_near)
{
    struct fixture f;
    xb_fake.operation_s = A_SAMPLE;
    unsigned near = xb_cpus_allowed();
    RUN(&f, "--mode", "quantize", "--to", "fp16", "--size", "64K", "--encode-chunk", "4K");
    expect_computed(&f.run.results[0], "threads", near < 64 ? near : 64);
    finish(&f);
}

/* The copy of all of it takes 100 seconds of the host's clock, beside which what a busy machine
 * adds is nothing. */
static enum xb_status copy_slowly(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    if (bytes == 1u << 20)
        atomic_fetch_add(&clock_ahead_ns, 100000000000LL);
    return xb_fake_backend.queue_copy(queue, target, target_offset, source, source_offset, bytes,
                                      error);
}

/* One thread narrows 1 MiB in 450 s, and the plain copy takes 100: 4 threads are too slow, 5 are
 * not. */
FIGURES_TEST(test_threads_that_are_enough_are_found)
{
    static const struct {
        const char *threads;
        unsigned enough; /* 0: these are not */
    } cases[] = {{"8", 5}, {"16", 5}, {"5", 5}, {"4", 0}, {"1", 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        model.seconds_per_byte = 450 / MIB;
        alter(1, 1);
        altered_backend.queue_copy = copy_slowly;
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
FIGURES_TEST(test_known_values_have_known_errors)
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

/* ---- memory ---- */

static struct {
    uint64_t host, device;
    unsigned large; /* buffers of 1 MiB or more */
} taken;

static enum xb_status counted_allocate(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error)
{
    *(memory == XB_MEMORY_DEVICE ? &taken.device : &taken.host) += bytes;
    taken.large += bytes >= 1 << 20;
    return xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
}

static void count_memory(void)
{
    alter(1, 1);
    altered_backend.buffer_allocate = counted_allocate;
    memset(&taken, 0, sizeof taken);
}

static void expect_needs(const char *const *arguments)
{
    struct fixture f;
    count_memory();
    execute(&f, arguments, NULL);
    const struct xb_case *test = &f.run.results[0].test;
    struct xb_needs needs = xb_case_needs(test);
    assert_int_equal(f.run.case_count, 1);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(taken.host, needs.host_bytes);
    assert_int_equal(taken.device, needs.device_bytes);
    finish(&f);
}

FIGURES_TEST(test_it_takes_the_memory_that_it_says)
{
    xb_fake.operation_s = A_SAMPLE;
    static const char *const sizes[] = {"4K", "64K", "100004"};
    static const char *const threads[] = {"1", "2", "3"};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t k = 0; k < COUNT_OF(threads); k++) {
            expect_needs(WORDS("--mode", "quantize", "--to", "fp16", "--encode-chunk", "64K",
                               "--size", sizes[i], "--threads", threads[k]));
            expect_needs(WORDS("--mode", "compress", "--timed", "sent", "--codec", "for",
                               "--encode-chunk", "64K", "--size", sizes[i], "--threads",
                               threads[k]));
        }
}

/* The original and the target are kept for the largest case. What is as long as a small case only
 * by chance is not. */
FIGURES_TEST(test_a_small_case_does_not_take_the_memory_of_a_large_one)
{
    struct fixture f;
    xb_fake.operation_s = A_SAMPLE;
    count_memory();
    RUN(&f, "--mode", "quantize", "--to", "fp16,fp8", "--encode-chunk", "64K", "--size", "64K,1M",
        "--threads", "1,2,4");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(taken.large, 2);
    finish(&f);
}

/* ---- options ---- */

static enum xb_status (*verify)(struct xb_mode_context *context, struct xb_result *result,
                                struct xb_error *error);

static enum xb_status look_at_original(struct xb_mode_context *context, struct xb_result *result,
                                       struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const char *original = state->original->host_address;
    for (uint64_t i = 0; i < context->test->bytes; i++)
        assert_int_equal(original[i], "of a file"[i % 9]);
    return verify(context, result, error);
}

FIGURES_TEST(test_the_data_may_be_a_file)
{
    struct fixture f;
    static const char zeros[64];
    char block[sizeof zeros];
    bool has_lz4 = xb_lz4_compress(zeros, sizeof zeros, block, sizeof block) > 0; /* this build */
    xb_fake.operation_s = A_SAMPLE;
    write_file(*state, "data", "of a file");
    assert_int_equal(chdir(*state), 0);
    PLAN(&f, "--mode", "compress", "--codec", "lz4", "--timed", "sent", "--size", "100001",
         "--data", "file:data", "--threads", "1");
    struct xb_mode mode = *f.run.results[0].test.mode;
    verify = mode.verify;
    mode.verify = look_at_original;
    f.run.results[0].test.mode = &mode;
    go(&f, NULL);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    assert_true(computed(&f.run.results[0], "ratio") > (has_lz4 ? 10 : 0.9));
    finish(&f);
    assert_int_equal(chdir("/"), 0);
}

FIGURES_TEST(test_what_cannot_be_is_refused)
{
    EXPECT_USAGE("must be a multiple of 128 bytes, and 1000 is not", "--mode", "quantize",
                 "--encode-chunk", "4K,1000");
    EXPECT_USAGE("must be a multiple of 128 bytes", "--mode", "compress", "--encode-chunk", "64");
    EXPECT_USAGE("4098 bytes are no whole number of float32 values", "--mode", "quantize", "--size",
                 "4K,4098");
    EXPECT_USAGE("did you mean 'integers'?", "--mode", "compress", "--data", "zeros,integer");
    EXPECT_USAGE("cannot be read", "--mode", "compress", "--data", "file:/nowhere/at/all");
    EXPECT_USAGE("--threads", "--mode", "quantize", "--threads", "257");
    EXPECT_USAGE("take a larger --encode-chunk", "--mode", "quantize", "--size", "256M",
                 "--encode-chunk", "128");
}

FIGURES_TEST(test_any_number_of_bytes_is_compressed)
{
    struct fixture f;
    xb_fake.operation_s = A_SAMPLE;
    RUN(&f, "--mode", "compress", "--size", "1,4098,70001", "--threads", "1");
    assert_int_equal(f.run.case_count, 3 * 2 * 2);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

FIGURES_TEST(test_a_device_without_kernels_is_skipped)
{
    static const char *const modes[] = {"quantize", "compress"};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct fixture f;
        xb_fake.capabilities &= ~(uint32_t)XB_CAP_KERNELS;
        RUN(&f, "--mode", modes[i], "--size", "64K", "--threads", "1");
        for (size_t k = 0; k < f.run.case_count; k++)
            expect_reason(&f.run.results[k], XB_RESULT_SKIPPED, "'kernels'");
        finish(&f);
    }
}
