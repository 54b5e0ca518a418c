/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* `xferbench link` from the thread that measures to the verdict, over the fake backend, whose first
 * device is given a folder of PCI functions to lie in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pcie_fixture.h"

#include "../doubles/fake_backend.h"
#include "base/clock.h"
#include "link/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MIB (1u << 20)

/* The least number of samples that a case had; in memory that the process that measures shares with
 * this one. NULL where nobody asks. */
static size_t *least_samples;

/* The linker puts the first in the other's place (tests/CMakeLists.txt). */
enum xb_status __wrap_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error);
enum xb_status __real_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error);

enum xb_status __wrap_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error)
{
    enum xb_status status = __real_xb_run_execute(run, observer, error);
    for (size_t i = 0; least_samples != NULL && i < run->case_count; i++)
        if (run->results[i].times.count < *least_samples)
            *least_samples = run->results[i].times.count;
    return status;
}

struct outcome {
    struct xb_link_session *session;
    struct xb_verdict verdict;
};

static void ask(struct outcome *o, const char *root)
{
    /* The fake moves 1 GB/s, whatever its link. */
    const struct xb_limit slow = {.is_set = true, .value = 0.1e9, .source = XB_LIMIT_COMMAND_LINE};
    struct xb_error error = {.message = ""};
    *o = (struct outcome){.session = NULL};
    assert_int_equal(xb_link_session_open(&o->session, &error), XB_OK);
    o->session->backend_name = "fake";
    o->session->device_text = "0";
    o->session->size_text = "1M";
    o->session->sysfs = root;
    o->session->attempts = 3;
    o->session->deadline = xb_clock_now() + 600;
    o->session->limits.min_h2d = slow;
    o->session->limits.min_d2h = slow;
}

static void judge(struct outcome *o)
{
    struct xb_link_limits limits = xb_link_session_limits(o->session, &o->session->devices[0]);
    xb_verdict_of_device(&o->session->devices[0], &limits, &o->verdict);
}

static void test(struct outcome *o)
{
    struct xb_error error = {.message = ""};
    assert_int_equal(xb_link_session_start(o->session, &error), XB_OK);
    assert_true(xb_link_session_wait(o->session));
    judge(o);
}

static void release(struct outcome *o)
{
    xb_link_session_close(o->session);
}

static void expect(const struct outcome *o, enum xb_level level, const char *code)
{
    const char *seen = o->verdict.found.reason_count > 0 ? o->verdict.found.reasons[0].code : "";
    if (o->verdict.found.level != level || strcmp(seen, code) != 0)
        fail_msg("%s %s instead of %s %s", xb_level_name(o->verdict.found.level), seen,
                 xb_level_name(level), code);
}

static int set_up(void **state)
{
    xb_fake_reset();
    xb_fake.pci_bdf = PCIE_FIXTURE_DEVICE;
    xb_fake.device_memory_free = 64 * (uint64_t)MIB; /* a memory of its own: copies cross a link */
    return make_tree(state);
}

static void healthy_link_takes_one_attempt(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    test(&o);
    expect(&o, XB_LEVEL_OK, "");
    const struct xb_link_device *device = &o.session->devices[0];
    const struct xb_link_attempt *attempt = &device->attempts[0];
    assert_int_equal(device->attempt_count, 1);
    assert_false(device->cut);
    assert_true(attempt->load.hops[0].readings > 0);
    assert_true(attempt->load.hops[0].speed_gts == 32);
    assert_int_equal(attempt->load.hops[0].width, 16);
    assert_true(fabs(attempt->h2d - 1e9) < 1e6);
    assert_true(fabs(attempt->d2h - 1e9) < 1e6);
    assert_string_equal(attempt->failure, "");
    assert_true(attempt->after.present);
    assert_true(attempt->health_seconds > 0);
    release(&o);
}

/* Errors are counted while data moves: few samples would do for the bandwidth. */
static void an_attempt_takes_its_time(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    o.session->size_text = "9M"; /* 9.4 ms: 6 samples would last 50 ms */
    least_samples = mmap(NULL, sizeof *least_samples, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(least_samples != MAP_FAILED);
    *least_samples = SIZE_MAX;
    test(&o);
    expect(&o, XB_LEVEL_OK, "");
    assert_true(*least_samples >= 20 && *least_samples < SIZE_MAX);
    (void)munmap(least_samples, sizeof *least_samples);
    least_samples = NULL;
    release(&o);
}

static void scenarios_get_their_reasons(void **state)
{
    static const struct {
        const char *scenario;
        enum xb_level level;
        const char *code;
        size_t attempts;
    } rows[] = {
        {"x8", XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", 3},
        {"gen3", XB_LEVEL_CRITICAL, "XB-LINK-SPEED", 3},
        {"gen1", XB_LEVEL_CRITICAL, "XB-LINK-SPEED", 3},
        {"switch-x8", XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", 3},
        {"amd", XB_LEVEL_WARNING, "XB-LINK-SLOT", 3}, /* x8 for a card of x16 */
        {"vm", XB_LEVEL_OK, "", 1},
        {"unknown-speed", XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome o;
        void *root = NULL;
        assert_int_equal(make_tree(&root), 0);
        pcie_fixture_scenario(root, rows[i].scenario);
        ask(&o, root);
        test(&o);
        printf("%s\n", rows[i].scenario);
        expect(&o, rows[i].level, rows[i].code);
        assert_int_equal(o.session->devices[0].attempt_count, rows[i].attempts);
        release(&o);
        assert_int_equal(remove_tree(&root), 0);
    }
    (void)state;
}

/* What the copies are too slow for is retried, and what was seen stays. */
static void slow_copies_are_critical_after_all_attempts(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    o.session->limits.min_h2d.value = 2e9;
    o.session->attempts = 2;
    test(&o);
    expect(&o, XB_LEVEL_CRITICAL, "XB-BW-H2D");
    assert_int_equal(o.session->devices[0].attempt_count, 2);
    release(&o);
}

static void wrong_data_is_critical(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    xb_fake.damage = XB_DAMAGE_BIT_FLIPPED;
    test(&o);
    expect(&o, XB_LEVEL_CRITICAL, "XB-DATA-WRONG");
    assert_true(o.session->devices[0].attempts[0].data_wrong);
    release(&o);
}

static void a_failing_copy_is_unknown(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    xb_fake.sick_device = 1;
    test(&o);
    assert_int_equal(o.verdict.found.level, XB_LEVEL_UNKNOWN);
    release(&o);
}

static void a_device_without_a_folder_is_not_measured(void **state)
{
    struct outcome o;
    ask(&o, *state);
    test(&o);
    expect(&o, XB_LEVEL_UNKNOWN, "XB-LINK-NONE");
    assert_int_equal(o.verdict.found.reason_count, 1);
    assert_int_equal(o.session->devices[0].attempt_count, 1);
    release(&o);
}

static void a_deadline_that_has_passed_leaves_it_unknown(void **state)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    o.session->deadline = xb_clock_now() + 0.25; /* within the margin for the report */
    struct xb_error error;
    assert_int_equal(xb_link_session_start(o.session, &error), XB_OK);
    (void)xb_link_session_wait(o.session);
    judge(&o);
    expect(&o, XB_LEVEL_UNKNOWN, "XB-DEADLINE");
    assert_int_equal(o.session->devices[0].attempt_count, 0);
    release(&o);
}

static void a_device_that_is_not_there_is_refused(void **state)
{
    struct outcome o;
    ask(&o, *state);
    o.session->device_text = "9";
    test(&o);
    assert_int_equal(o.session->status, XB_ERR_USAGE);
    assert_non_null(strstr(o.session->error.message, "'9'"));
    release(&o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, remove_tree)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(healthy_link_takes_one_attempt),
        TEST(an_attempt_takes_its_time),
        TEST(scenarios_get_their_reasons),
        TEST(slow_copies_are_critical_after_all_attempts),
        TEST(wrong_data_is_critical),
        TEST(a_failing_copy_is_unknown),
        TEST(a_device_without_a_folder_is_not_measured),
        TEST(a_deadline_that_has_passed_leaves_it_unknown),
        TEST(a_device_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
