/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What page-locking takes besides time: memory, as given counts tell, and checks of it. What it
 * takes of time, and when it has paid: tests/unit/runs/pin.txt. */

#include "machine/host_memory.h"
#include "measure/engine/crew.h"
#include "modes/pin.h"
#include "run_fixture.h"

#define PIN_TEST(name) TEST_WITH(name, pin_setup, NULL)

#define KIB 1024ULL
/* Of a large buffer: less would be a ring's, or a window's of the proof. */
#define BYTES (2ULL << 20)
#define SIZE "--mode pin --size 2M"

static struct {
    struct xb_process_memory counts[2]; /* right before, and when all is there */
    bool no_counts, no_restart;
    uint64_t huge_bytes;      /* in huge pages when all is there */
    unsigned read, huge_read; /* how often */
    bool checked;             /* that there is memory for the data */
    unsigned unchecked;       /* buffers that were made without that */
    double host_copy_s;       /* what the crew takes */
    bool skips_host_copies;   /* the crew does nothing */
    void *mapped;             /* NULL: none now */
} model;

enum xb_status __real_xb_host_memory_check(uint64_t bytes, struct xb_error *error);
enum xb_status __wrap_xb_host_memory_check(uint64_t bytes, struct xb_error *error)
{
    model.checked = model.checked || bytes == BYTES;
    return __real_xb_host_memory_check(bytes, error);
}

static enum xb_status checked_allocate(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error)
{
    if (bytes == BYTES && (memory == XB_MEMORY_PINNED || memory == XB_MEMORY_REGISTERED)) {
        /* A check within the clock would be timed. */
        assert_int_equal(__real_xb_host_memory_check(UINT64_MAX, error), XB_OK);
        model.unchecked += !model.checked;
        model.checked = false;
    }
    return xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
}

enum xb_status __real_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error);
enum xb_status __wrap_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error)
{
    atomic_fetch_add(&clock_ahead_ns, (long long)(model.host_copy_s * 1e9));
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

/* Page-locking takes 3 MiB of the device. */
static enum xb_status counted_memory(struct xb_device *device, uint64_t *free_bytes,
                                     struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_memory(device, free_bytes, error);
    if (model.read > 1)
        *free_bytes -= 3 << 20;
    return status;
}

static int pin_setup(void **state)
{
    reset(state);
    memset(&model, 0, sizeof model);
    model.huge_bytes = BYTES / 4;
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
    altered_backend.buffer_allocate = checked_allocate;
    altered_backend.device_memory = counted_memory;
    return 0;
}

PIN_TEST(memory_is_what_was_added)
{
    static const struct {
        const char *detail;
        double added;
    } rows[] = {{"rss_anon_bytes", 3000 * KIB}, {"rss_file_bytes", 900 * KIB},
                {"rss_shmem_bytes", 100 * KIB}, {"locked_bytes", 16 * KIB},
                {"pinned_bytes", 32 * KIB},     {"huge_page_bytes", BYTES / 4}};
    struct fixture f;
    xb_fake.device_memory_free = 1 << 30;
    run_line(&f, SIZE " --direction h2d");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_computed(result, "peak_host_memory", 8000 * KIB);
        expect_computed(result, "peak_device_memory", 3 << 20);
        assert_string_equal(detail(result, "host_memory_by"), "VmHWM");
        for (size_t k = 0; k < COUNT_OF(rows); k++)
            expect_number(result, rows[k].detail, rows[k].added);
        bool should_be_huge = strcmp(result->test.variant, "used-huge") == 0 ||
                              strcmp(result->test.variant, "register") == 0;
        assert_int_equal(warns(result, "huge pages"), should_be_huge);
    }
    finish(&f);
    assert_int_equal(model.unchecked, 0);
    struct xb_error error;
    assert_int_equal(xb_host_memory_check(UINT64_MAX, &error), XB_ERR_MEMORY);
}

/* The third MiB has no huge page to be in. */
PIN_TEST(as_many_huge_pages_as_fit_are_enough)
{
    struct fixture f;
    model.huge_bytes = 2 << 20;
    run_line(&f, "--mode pin --pin-by used-huge,register --size 3M --direction h2d");
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_false(warns(&f.run.results[i], "huge pages"));
    finish(&f);
}

/* Without VmHWM there is still what the process has once all of it is there; without VmRSS there is
 * nothing, as of the device's memory where that is the host's. */
PIN_TEST(what_nobody_counts_is_not_told)
{
    struct fixture f;
    model.no_restart = true;
    run_line(&f, SIZE " --pin-by copy --direction h2d");
    expect_computed(&f.run.results[0], "peak_host_memory", 4000 * KIB);
    assert_non_null(strstr(detail(&f.run.results[0], "host_memory_by"), "VmRSS"));
    finish(&f);
    model.no_counts = true;
    run_line(&f, SIZE " --pin-by alloc --direction h2d");
    assert_null(figure_of(&f.run.results[0], "peak_host_memory"));
    assert_null(figure_of(&f.run.results[0], "peak_device_memory"));
    assert_non_null(strstr(detail(&f.run.results[0], "host_memory_by"), "nothing"));
    finish(&f);
}

static void skip_host_copies_when_warm(void *argument, const struct xb_run *run, size_t samples,
                                       double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    model.skips_host_copies = true;
}

/* What warm-up left in the page-locked buffer does not stand in for the samples. */
PIN_TEST(the_copy_on_the_host_is_timed_and_proved)
{
    static const char *const directions[] = {"h2d", "d2h"};
    const struct xb_run_observer observer = {.progress = skip_host_copies_when_warm};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        model.host_copy_s = 40;
        model.skips_host_copies = false;
        run_line(&f, SIZE " --pin-by copy --direction %s", directions[i]);
        expect_all(&f, XB_RESULT_OK);
        double seconds = (double)BYTES / f.run.results[0].bandwidth.median;
        assert_true(seconds >= 40 && seconds < 41);
        finish(&f);
        model.host_copy_s = 0;
        plan_line(&f, SIZE " --pin-by copy --direction %s", directions[i]);
        go(&f, &observer);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "bytes are wrong after the copy");
        finish(&f);
    }
}

/* Whatever call fails, also the mode's own memory is given back. */
PIN_TEST(nothing_is_left_after_a_failure)
{
    for (size_t i = 0; xb_pin_words[i] != NULL; i++)
        for (unsigned n = 1; n > 0; n = next_failing(n, 1 + n / 8)) {
            struct fixture f;
            plan_line(&f, SIZE " --pin-by %s --direction h2d --samples=1", xb_pin_words[i]);
            fail_call(n);
            go(&f, NULL);
            finish(&f);
            assert_null(model.mapped);
        }
}
