/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What page-locking costs: each way with times, counts of memory and failures that are given. */

#include "testing.h"

#define PIN_TEST(name) TEST_WITH(name, pin_setup, NULL)

#include "machine/host_memory.h"
#include "measure/plan/case.h"
#include "measure_fixture.h"
#include "modes/pin.h"
#include "modes/ring.h"

/* ---- what everything takes, in seconds: so many that those of the test itself do not matter ----
 */

/* Of a large buffer: less would be a ring's, or a window's of the proof. */
#define BYTES (2ULL << 20)
#define SIZE "2M"
#define ALLOCATE_S 190.0
#define REGISTER_NEW_S 60.0
#define LOCK_S 30.0
#define FREE_S 7.0
#define PINNED_COPY_S 25.0
#define PAGEABLE_COPY_S 100.0
#define RING_COPY_S 25.0 /* of a chunk of 1 MiB */
#define HOST_COPY_S 40.0

static struct {
    double pinned_copy_s[2]; /* in turn */
    long long live;          /* bytes of host memory in buffers now */
    long long most_live;     /* since the run began */
    uint64_t device_taken;   /* by page-locking */
    bool ahead;              /* the clock is put forward */
    bool skips_host_copies;  /* the crew does nothing */
    bool has_small_ring;
    unsigned slow_references; /* 2: the first copy of either is slow, 1: the ring's still */
    unsigned turn;
    struct xb_process_memory counts[2]; /* right before, and when all is there */
    bool no_counts, no_restart;
    uint64_t huge_bytes;      /* in huge pages when all is there */
    bool checked;             /* that there is memory for the data */
    unsigned unchecked;       /* buffers that were made without that */
    unsigned read, huge_read; /* how often */
    void *mapped;             /* NULL: none now */
} model;

static void pass(double seconds)
{
    if (model.ahead)
        atomic_fetch_add(&clock_ahead_ns, (long long)(seconds * 1e9));
}

static void note(const struct xb_buffer *buffer, int sign)
{
    if (buffer == NULL || buffer->memory == XB_MEMORY_DEVICE)
        return;
    model.live += sign * (long long)buffer->bytes;
    model.most_live = model.live > model.most_live ? model.live : model.most_live;
}

static enum xb_status timed_allocate(struct xb_device *device, enum xb_memory memory,
                                     uint64_t bytes, struct xb_buffer **buffer,
                                     struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status != XB_OK)
        return status;
    note(*buffer, 1);
    if (bytes == BYTES && (memory == XB_MEMORY_PINNED || memory == XB_MEMORY_REGISTERED)) {
        /* A check within the clock would be timed. */
        assert_int_equal(xb_host_memory_check(UINT64_MAX, error), XB_OK);
        model.unchecked += !model.checked;
        model.checked = false;
    }
    if (bytes == BYTES)
        pass(memory == XB_MEMORY_PINNED       ? ALLOCATE_S
             : memory == XB_MEMORY_REGISTERED ? REGISTER_NEW_S
                                              : 0);
    return XB_OK;
}

static enum xb_status timed_register(struct xb_device *device, void *address, uint64_t bytes,
                                     struct xb_buffer **buffer, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.buffer_register(device, address, bytes, buffer, error);
    if (status != XB_OK)
        return status;
    note(*buffer, 1);
    pass(LOCK_S);
    return XB_OK;
}

static void timed_free(struct xb_buffer *buffer)
{
    note(buffer, -1);
    if (buffer != NULL && buffer->bytes == BYTES)
        pass(FREE_S);
    xb_fake_backend.buffer_free(buffer);
}

static enum xb_status timed_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                 struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                 struct xb_error *error)
{
    const struct xb_buffer *host = target->memory == XB_MEMORY_DEVICE ? source : target;
    if (model.slow_references == (host->memory == XB_MEMORY_PAGEABLE ? 2 : 1) &&
        (host->memory == XB_MEMORY_PAGEABLE || host->bytes != BYTES)) {
        model.slow_references--;
        pass(6 * PAGEABLE_COPY_S);
    }
    if (host->memory == XB_MEMORY_PAGEABLE)
        pass(PAGEABLE_COPY_S);
    else if (host->bytes == BYTES && bytes == BYTES)
        pass(model.pinned_copy_s[model.turn++ % 2]);
    else if (bytes == 1 << 20)
        pass(RING_COPY_S);
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static enum xb_status counted_memory(struct xb_device *device, uint64_t *free_bytes,
                                     struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_memory(device, free_bytes, error);
    if (model.read > 1)
        *free_bytes -= model.device_taken;
    return status;
}

enum xb_status __real_xb_host_memory_check(uint64_t bytes, struct xb_error *error);
enum xb_status __wrap_xb_host_memory_check(uint64_t bytes, struct xb_error *error)
{
    model.checked = model.checked || bytes == BYTES;
    return __real_xb_host_memory_check(bytes, error);
}

enum xb_status __real_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error);
enum xb_status __wrap_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error)
{
    pass(HOST_COPY_S);
    return model.skips_host_copies ? XB_OK : __real_xb_crew_run(crew, job, error);
}

/* The mode's own memory, which is locked where it lies. */
enum xb_status __real_xb_pages_map_small(uint64_t bytes, void **address, struct xb_error *error);
enum xb_status __wrap_xb_pages_map_small(uint64_t bytes, void **address, struct xb_error *error)
{
    enum xb_status status = __real_xb_pages_map_small(bytes, address, error);
    if (status == XB_OK)
        model.mapped = *address;
    return status;
}

void __real_xb_pages_unmap(void *address, uint64_t bytes);
void __wrap_xb_pages_unmap(void *address, uint64_t bytes)
{
    if (address == model.mapped)
        model.mapped = NULL;
    __real_xb_pages_unmap(address, bytes);
}

/* Chunks of a known length. A small ring ends before a copy that is shifted by 2 MiB could read
 * from it what a thread is writing to another slot. */
struct xb_ring_plan __wrap_xb_ring_plan_usual(uint64_t bytes)
{
    (void)bytes;
    if (model.has_small_ring)
        return (struct xb_ring_plan){.threads = 2, .chunk = 512 << 10, .slots = 3};
    return (struct xb_ring_plan){.threads = 2, .chunk = 1 << 20, .slots = 4};
}

bool __wrap_xb_process_memory_restart(void)
{
    model.read = 0;
    return !model.no_restart;
}

bool __wrap_xb_process_memory_read(struct xb_process_memory *memory)
{
    *memory = model.counts[model.read++ > 0];
    return !model.no_counts;
}

bool __wrap_xb_process_memory_huge(uint64_t *bytes)
{
    *bytes = model.huge_read++ % 2 == 0 ? 0 : model.huge_bytes;
    return true;
}

static int pin_setup(void **state)
{
    reset(state);
    memset(&model, 0, sizeof model);
    model.pinned_copy_s[0] = model.pinned_copy_s[1] = PINNED_COPY_S;
    model.ahead = true;
    model.huge_bytes = BYTES / 4;
    alter(1, 1);
    altered_backend.buffer_allocate = timed_allocate;
    altered_backend.buffer_register = timed_register;
    altered_backend.buffer_free = timed_free;
    altered_backend.queue_copy = timed_copy;
    altered_backend.device_memory = counted_memory;
    return 0;
}

/* ---- time ---- */

/* But for what the test's own work takes. */
static void expect_about(double actual, double expected, const char *what)
{
    if (!(fabs(actual - expected) <= 0.01 * expected))
        fail_msg("%s is %g, not %g", what, actual, expected);
}

static const struct xb_samples *samples_of(const struct xb_result *result, const char *name)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    if (figure == NULL)
        fail_msg("%s of %s is missing", name, result->test.variant);
    return &figure->samples;
}

static void expect_about_all(const struct xb_result *result, const char *name, size_t count,
                             double expected)
{
    const struct xb_samples *samples = samples_of(result, name);
    assert_int_equal(samples->count, count);
    for (size_t i = 0; i < count; i++)
        expect_about(samples->values[i], expected, name);
}

/* In the order of the words. Less than 1 copy is 1; 0: never. Against pageable copies a way gains
 * 75 s a copy, against the ring 25; `copy` gains 35 and loses 15. */
static const struct {
    double setup, own;
    double copies, copies_ring;
} expected[] = {{ALLOCATE_S, PINNED_COPY_S, 3, 8},
                {REGISTER_NEW_S, PINNED_COPY_S, 1, 3},
                {LOCK_S, PINNED_COPY_S, 1, 2},
                {LOCK_S, PINNED_COPY_S, 1, 2},
                {ALLOCATE_S, HOST_COPY_S + PINNED_COPY_S, 6, 0}};

static void expect_copies(const struct xb_result *result, const char *name, double copies,
                          const char *key)
{
    if (copies > 0) {
        expect_computed(result, name, copies);
        assert_string_equal(detail(result, key), "");
    } else {
        assert_null(figure_of(result, name));
        assert_string_equal(detail(result, key), "never");
    }
}

PIN_TEST(test_each_way_has_its_times_and_when_it_has_paid)
{
    struct fixture f;
    RUN(&f, "--mode", "pin", "--size", SIZE);
    assert_int_equal(f.run.case_count, 2 * COUNT_OF(expected));
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_status(result, XB_RESULT_OK);
        assert_string_equal(result->test.variant, xb_pin_words[i / 2]);
        expect_about_all(result, "setup_time", XB_PIN_LEAST, expected[i / 2].setup);
        expect_about_all(result, "unpin_time", XB_PIN_LEAST, FREE_S);
        expect_about_all(result, "pageable_time", 6, PAGEABLE_COPY_S);
        expect_about_all(result, "ring_time", 6, 2 * RING_COPY_S);
        expect_about((double)BYTES / result->bandwidth.median, expected[i / 2].own, "an iteration");
        expect_copies(result, "break_even_copies", expected[i / 2].copies, "pays_against_pageable");
        expect_copies(result, "break_even_copies_ring", expected[i / 2].copies_ring,
                      "pays_against_ring");
        assert_false(result->event_times);
    }
    finish(&f);
    assert_int_equal(model.live, 0);
    assert_int_equal(model.unchecked, 0);
    struct xb_error error;
    assert_int_equal(xb_host_memory_check(UINT64_MAX, &error), XB_ERR_MEMORY);
}

/* Pinned copies take 40 and 60 s in turn, and the ring's 50. */
PIN_TEST(test_what_is_within_the_noise_is_not_told)
{
    struct fixture f;
    model.pinned_copy_s[0] = 40;
    model.pinned_copy_s[1] = 60;
    RUN(&f, "--mode", "pin", "--pin-by", "used", "--size", SIZE, "--direction", "h2d");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    expect_computed(result, "break_even_copies", 1);
    assert_null(figure_of(result, "break_even_copies_ring"));
    assert_string_equal(detail(result, "pays_against_ring"), "too close to tell");
    finish(&f);
}

/* The ring takes 50 s. Pinned copies take 40 and 48 in turn: it pays, but after 5 copies by the
 * medians, or as late as after 15. */
PIN_TEST(test_a_number_is_given_only_where_it_is_known)
{
    struct fixture f;
    model.pinned_copy_s[0] = 40;
    model.pinned_copy_s[1] = 48;
    RUN(&f, "--mode", "pin", "--pin-by", "used", "--size", SIZE, "--direction", "h2d");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    expect_computed(result, "break_even_copies", 1);
    assert_null(figure_of(result, "break_even_copies_ring"));
    assert_string_equal(detail(result, "pays_against_ring"), "too close to tell");
    finish(&f);
}

/* The first takes seven times as long as the others. */
PIN_TEST(test_the_first_repetition_of_a_reference_does_not_count)
{
    struct fixture f;
    model.slow_references = 2;
    RUN(&f, "--mode", "pin", "--pin-by", "used", "--size", SIZE, "--direction", "h2d");
    const struct xb_result *result = &f.run.results[0];
    expect_about_all(result, "pageable_time", 6, PAGEABLE_COPY_S);
    expect_about_all(result, "ring_time", 6, 2 * RING_COPY_S);
    assert_int_equal(model.slow_references, 0);
    finish(&f);
}

/* As often as a case does it at the most, if the time limit is that long. */
PIN_TEST(test_more_time_gives_more_samples)
{
    struct fixture f;
    model.ahead = false;
    RUN(&f, "--mode", "pin", "--pin-by", "used,alloc", "--size", "64K", "--samples=2",
        "--time-limit", "1000s");
    for (size_t i = 0; i < f.run.case_count; i++) {
        assert_int_equal(samples_of(&f.run.results[i], "setup_time")->count, XB_PIN_MOST);
        assert_int_equal(samples_of(&f.run.results[i], "unpin_time")->count, XB_PIN_MOST);
    }
    finish(&f);
}

PIN_TEST(test_a_deadline_ends_page_locking)
{
    struct fixture f;
    PLAN(&f, "--mode", "pin", "--pin-by", "used,copy", "--size", SIZE);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    f.run.deadline = (double)now.tv_sec + LOCK_S / 2;
    go(&f, NULL);
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before");
    finish(&f);
    assert_int_equal(model.live, 0);
}

PIN_TEST(test_single_operations_are_compared_with_nothing)
{
    const struct xb_ring_plan ring = xb_ring_plan_usual(64 * 1024);
    struct fixture f;
    model.ahead = false;
    xb_fake.no_room_for = xb_ring_bytes(&ring); /* and borrow no memory for it */
    RUN(&f, "--mode", "pin", "--pin-by", "alloc,used,copy", "--size", "64K", "--latency");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_status(result, XB_RESULT_OK);
        assert_non_null(figure_of(result, "setup_time"));
        assert_null(figure_of(result, "ring_time"));
        assert_null(figure_of(result, "break_even_copies"));
        assert_string_equal(detail(result, "pays_against_ring"), "");
    }
    finish(&f);
}

/* ---- memory ---- */

#define KIB 1024ULL

static void count_memory(void)
{
    model.ahead = false;
    model.counts[0] = (struct xb_process_memory){.resident = 1000 * KIB,
                                                 .highest = 1000 * KIB,
                                                 .anonymous = 600 * KIB,
                                                 .file = 400 * KIB,
                                                 .pinned = 8 * KIB};
    model.counts[1] = (struct xb_process_memory){.resident = 5000 * KIB,
                                                 .highest = 9000 * KIB,
                                                 .anonymous = 3600 * KIB,
                                                 .file = 1300 * KIB,
                                                 .shared = 100 * KIB,
                                                 .locked = 16 * KIB,
                                                 .pinned = 40 * KIB};
}

PIN_TEST(test_memory_is_what_was_added)
{
    struct fixture f;
    count_memory();
    xb_fake.device_memory_free = 1 << 30;
    model.device_taken = 3 << 20;
    RUN(&f, "--mode", "pin", "--size", SIZE, "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_computed(result, "peak_host_memory", 8000 * KIB);
        expect_computed(result, "peak_device_memory", 3 << 20);
        assert_string_equal(detail(result, "host_memory_by"), "VmHWM");
        expect_number(result, "rss_anon_bytes", 3000 * KIB);
        expect_number(result, "rss_file_bytes", 900 * KIB);
        expect_number(result, "rss_shmem_bytes", 100 * KIB);
        expect_number(result, "locked_bytes", 16 * KIB);
        expect_number(result, "pinned_bytes", 32 * KIB);
        expect_number(result, "huge_page_bytes", BYTES / 4);
        bool should_be_huge = strcmp(result->test.variant, "used-huge") == 0 ||
                              strcmp(result->test.variant, "register") == 0;
        assert_int_equal(warns(result, "huge pages"), should_be_huge);
    }
    finish(&f);
}

/* The third MiB has no huge page to be in. */
PIN_TEST(test_as_many_huge_pages_as_fit_are_enough)
{
    struct fixture f;
    count_memory();
    model.huge_bytes = 2 << 20;
    RUN(&f, "--mode", "pin", "--pin-by", "used-huge,register", "--size", "3M", "--direction",
        "h2d");
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_false(warns(&f.run.results[i], "huge pages"));
    finish(&f);
}

/* Without VmHWM there is still what the process has once all of it is there. */
PIN_TEST(test_without_a_restart_the_end_counts)
{
    struct fixture f;
    count_memory();
    model.no_restart = true;
    RUN(&f, "--mode", "pin", "--pin-by", "copy", "--size", SIZE, "--direction", "h2d");
    expect_computed(&f.run.results[0], "peak_host_memory", 4000 * KIB);
    assert_non_null(strstr(detail(&f.run.results[0], "host_memory_by"), "VmRSS"));
    finish(&f);
}

PIN_TEST(test_what_nobody_counts_is_not_told)
{
    struct fixture f;
    count_memory();
    model.no_counts = true; /* and the device's memory is the host's */
    RUN(&f, "--mode", "pin", "--pin-by", "alloc", "--size", SIZE, "--direction", "h2d");
    assert_null(figure_of(&f.run.results[0], "peak_host_memory"));
    assert_null(figure_of(&f.run.results[0], "peak_device_memory"));
    assert_non_null(strstr(detail(&f.run.results[0], "host_memory_by"), "nothing"));
    finish(&f);
}

/* Each way alone: what a case of its own takes at the most is what it says, also where the case
 * before it left memory to be borrowed. What is registered
 * where it lies is memory of the mode's, as large. */
PIN_TEST(test_it_takes_the_memory_that_it_says)
{
    model.ahead = false;
    for (size_t i = 0; xb_pin_words[i] != NULL; i++) {
        struct fixture f;
        model.most_live = 0;
        RUN(&f, "--mode", "pageable,pin", "--staging", "driver", "--pin-by", xb_pin_words[i],
            "--size", SIZE, "--direction", "h2d");
        expect_all(&f, XB_RESULT_OK);
        const struct xb_case *test = &f.run.results[1].test;
        /* The windows of the proof are compared through pages of its own. */
        long long needed = (long long)xb_case_needs(test).host_bytes;
        assert_true(model.most_live >= needed && model.most_live <= needed + 8192);
        finish(&f);
        assert_int_equal(model.live, 0);
    }
}

/* ---- the data ---- */

PIN_TEST(test_wrong_copies_never_verify)
{
    static const enum xb_damage damages[] = {XB_DAMAGE_BIT_FLIPPED, XB_DAMAGE_BLOCKS_SWAPPED,
                                             XB_DAMAGE_SHIFTED_2MIB, XB_DAMAGE_LAST_BYTE_LOST,
                                             XB_DAMAGE_NOTHING_COPIED};
    for (size_t d = 0; d < COUNT_OF(damages); d++) {
        struct fixture f;
        fixture_backend = &xb_fake_backend;
        xb_fake.damage = damages[d];
        model.has_small_ring = true;
        RUN(&f, "--mode", "pin", "--size", "2560K");
        assert_int_equal(f.run.case_count, 10);
        for (size_t i = 0; i < f.run.case_count; i++) {
            expect_reason(&f.run.results[i], XB_RESULT_ERROR, "bytes are wrong after the copy");
            assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
        }
        finish(&f);
    }
}

static void skip_host_copies_when_warm(void *argument, const struct xb_run *run, size_t samples,
                                       double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    model.skips_host_copies = true;
}

/* What warm-up left in the page-locked buffer does not stand in for the samples. */
PIN_TEST(test_the_copy_on_the_host_is_proved_too)
{
    static const char *const directions[] = {"h2d", "d2h"};
    const struct xb_run_observer observer = {.progress = skip_host_copies_when_warm};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        model.skips_host_copies = false;
        execute(&f,
                WORDS("--mode", "pin", "--pin-by", "copy", "--size", SIZE, "--direction",
                      directions[i]),
                &observer);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "bytes are wrong after the copy");
        finish(&f);
    }
}

/* ---- what cannot be ---- */

PIN_TEST(test_what_a_device_or_a_size_does_not_allow_is_skipped)
{
    struct fixture f;
    model.ahead = false;
    RUN(&f, "--mode", "pin", "--size", "2M,2097151", "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        if (strcmp(test->variant, "used-huge") == 0 && test->bytes < 2 << 20)
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "less than a huge page");
        else
            expect_status(&f.run.results[i], XB_RESULT_OK);
    }
    finish(&f);
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_REGISTER;
    RUN(&f, "--mode", "pin", "--size", SIZE, "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++)
        if (strcmp(f.run.results[i].test.variant, "alloc") == 0 ||
            strcmp(f.run.results[i].test.variant, "copy") == 0)
            expect_status(&f.run.results[i], XB_RESULT_OK);
        else
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "'register'");
    finish(&f);
}

/* Whatever call fails, all memory is given back. */
PIN_TEST(test_nothing_is_left_after_a_failure)
{
    model.ahead = false;
    for (size_t i = 0; xb_pin_words[i] != NULL; i++)
        for (unsigned at = 1; at <= 40; at += 1 + at / 8) {
            struct fixture f;
            xb_fake.calls = 0;
            xb_fake.fail_at = at;
            RUN(&f, "--mode", "pin", "--pin-by", xb_pin_words[i], "--size", SIZE, "--direction",
                "h2d", "--samples=1", "--time-limit", "10ms");
            finish(&f);
            assert_int_equal(model.live, 0);
            assert_null(model.mapped);
        }
}
