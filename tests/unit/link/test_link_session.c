/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* `xferbench link` from the thread that measures to the verdict, over the fake backend, whose first
 * device is given a folder of PCI functions to lie in. */

#include "base/clock.h"
#include "doubles/fake_backend.h"
#include "link/session.h"
#include "pcie_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, remove_tree)

#define MIB (1u << 20)

/* How cases ended, in memory that the process that measures shares with this one. NULL where nobody
 * asks; where somebody does, no case ends by its time limit, however slow the machine is. */
struct ends {
    size_t cases, converged;
    size_t least_samples; /* of any case */
};
static struct ends *ends;

static void lift_time_limit(struct xb_run *run)
{
    assert_true(run->asked.time_limit > 0);
    run->asked.time_limit = 3600;
}

static void note_end(const struct xb_result *result)
{
    ends->cases++;
    ends->converged += result->stop_reason == XB_STOP_CONVERGED;
    if (result->times.count < ends->least_samples)
        ends->least_samples = result->times.count;
}

/* The copies are over in no time: on a loaded machine before the watch has looked at the link once.
 * So a run does not end before it has, while it is still armed. */
static pthread_t runner;
static atomic_ulong readings; /* of hops, begun by the watch */

bool __wrap_xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                             unsigned *width);
bool __real_xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                             unsigned *width);

bool __wrap_xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                             unsigned *width)
{
    if (!pthread_equal(pthread_self(), runner))
        atomic_fetch_add(&readings, 1);
    return __real_xb_pcie_hop_read(root, hop, speed_gts, width);
}

static void wait_for_watch(size_t hops)
{
    unsigned long end = atomic_load(&readings) + 2 * hops; /* the first may have begun before */
    while (hops > 0 && atomic_load(&readings) <= end)
        sched_yield();
}

/* The linker puts the first in the other's place (tests/CMakeLists.txt). */
enum xb_status __wrap_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error);
enum xb_status __real_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error);

enum xb_status __wrap_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error)
{
    if (ends != NULL)
        lift_time_limit(run);
    runner = pthread_self();
    enum xb_status status = __real_xb_run_execute(run, observer, error);
    for (size_t i = 0; ends != NULL && i < run->case_count; i++)
        note_end(&run->results[i]);
    if (run->results[0].times.count > 0)
        wait_for_watch(run->devices[0].path.count);
    return status;
}

/* What else the machine does; the test's own is no part of a test. */
static double busy_cpus;
static uint64_t retrains;

void __wrap_xb_conditions_close(struct xb_conditions *conditions,
                                struct xb_link_conditions told[2]);
void __real_xb_conditions_close(struct xb_conditions *conditions,
                                struct xb_link_conditions told[2]);

void __wrap_xb_conditions_close(struct xb_conditions *conditions, struct xb_link_conditions told[2])
{
    __real_xb_conditions_close(conditions, told);
    for (size_t i = 0; i < 2; i++)
        told[i] = (struct xb_link_conditions){.seconds = 0.1,
                                              .cpus = 16,
                                              .cpus_busy = busy_cpus,
                                              .load_s = 140e-9,
                                              .traffic_known = true,
                                              .retrains = retrains};
}

struct xb_memory_probe *__wrap_xb_memory_probe_open(void);

struct xb_memory_probe *__wrap_xb_memory_probe_open(void)
{
    return NULL;
}

struct outcome {
    struct xb_link_session *session;
    struct xb_verdict verdict; /* on the first device, of a test of one */
    struct xb_link_report report;
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
    free(o->report.verdicts);
    free(o->report.pair_verdicts);
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
    busy_cpus = 0;
    retrains = 0;
    xb_fake.pci_bdf = PCIE_FIXTURE_DEVICE;
    xb_fake.device_memory_free = 64 * (uint64_t)MIB; /* a memory of its own: copies cross a link */
    return make_tree(state);
}

FIXTURE_TEST(healthy_link_takes_one_attempt)
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
    assert_true(fabs(attempt->rates[XB_TO_GPU] - 1e9) < 1e6);
    assert_true(fabs(attempt->rates[XB_BACK] - 1e9) < 1e6);
    assert_string_equal(attempt->failure, "");
    assert_true(attempt->after.present);
    assert_true(attempt->health_seconds > 0);
    release(&o);
}

/* Errors are counted while data moves: few samples would do for the bandwidth. */
FIXTURE_TEST(an_attempt_takes_its_time)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    o.session->limits.min_h2d.value = o.session->limits.min_d2h.value = 1e6;
    xb_fake.operation_s = 0.05; /* which all others would take 6 samples of */
    ends = mmap(NULL, sizeof *ends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ends != MAP_FAILED);
    ends->least_samples = SIZE_MAX;
    test(&o);
    expect(&o, XB_LEVEL_OK, "");
    assert_int_equal(ends->cases, 2);
    assert_int_equal(ends->converged, 2);
    assert_int_equal(ends->least_samples, XB_STOP_MIN_SAMPLES);
    (void)munmap(ends, sizeof *ends);
    ends = NULL;
    release(&o);
}

FIXTURE_TEST(scenarios_get_their_reasons)
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
}

static void retrain(void)
{
    retrains = 100;
}
static void replay(void)
{
    xb_fake.replay_rises = 100; /* whatever time the attempts take */
}
static void count_errors(void)
{
    xb_fake.pcie_rises[XB_PCIE_BAD_TLPS] = 100;
    xb_fake.pcie_rises[XB_PCIE_RETRAINS] = 1; /* at rest: no fault */
}
static void throttle(void)
{
    xb_fake.slowed_by_hardware = true;
}

/* What speaks against the link is told, also on a busy host; what does not, is not. */
FIXTURE_TEST(faults_are_told_on_any_host)
{
    static const struct {
        const char *scenario;
        void (*change)(void);
        enum xb_level level;
        const char *code;
    } rows[] = {
        {"healthy", NULL, XB_LEVEL_OK, ""},
        {"x8", NULL, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH"},
        {"gen3", NULL, XB_LEVEL_CRITICAL, "XB-LINK-SPEED"},
        {"healthy", retrain, XB_LEVEL_WARNING, "XB-PCIE-RETRAIN"},
        {"healthy", replay, XB_LEVEL_WARNING, "XB-PCIE-REPLAY"},
        {"healthy", count_errors, XB_LEVEL_WARNING, "XB-PCIE-ERRORS"},
        {"healthy", throttle, XB_LEVEL_WARNING, "XB-THROTTLE"},
    };
    xb_fake.architecture = "sm_90";
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof rows[0]); i++) {
        struct outcome o;
        void *root = NULL;
        busy_cpus = i % 2 == 0 ? 0 : 12;
        memset(xb_fake.pcie_rises, 0, sizeof xb_fake.pcie_rises);
        xb_fake.replay_rises = retrains = 0;
        xb_fake.slowed_by_hardware = false;
        if (rows[i / 2].change != NULL)
            rows[i / 2].change();
        assert_int_equal(make_tree(&root), 0);
        pcie_fixture_scenario(root, rows[i / 2].scenario);
        ask(&o, root);
        o.session->attempts = 2;
        test(&o);
        expect(&o, rows[i / 2].level, rows[i / 2].code);
        assert_int_equal(o.session->devices[0].attempt_count,
                         rows[i / 2].level == XB_LEVEL_OK ? 1 : 2);
        release(&o);
        assert_int_equal(remove_tree(&root), 0);
    }
}

/* A thirtieth of what the link can carry, without a word why. */
FIXTURE_TEST(a_slow_link_is_doubted_on_a_busy_host)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    for (int busy = 0; busy < 2; busy++) {
        busy_cpus = 12 * busy;
        ask(&o, *state);
        o.session->spacing = 0.05;
        double begin = xb_clock_now();
        o.session->limits = (struct xb_link_limits){.min_d2h.is_set = false};
        test(&o);
        expect(&o, busy ? XB_LEVEL_UNKNOWN : XB_LEVEL_CRITICAL,
               busy ? "XB-HOST-BUSY" : "XB-SLOW-UNEXPLAINED");
        assert_int_equal(o.session->devices[0].attempt_count, 3);
        assert_true(xb_clock_now() - begin >= 0.05 + 0.1); /* between the attempts */
        release(&o);
    }
}

FIXTURE_TEST(memory_that_nothing_locates_is_not_far)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    ask(&o, *state);
    o.session->limits = (struct xb_link_limits){.min_d2h.is_set = false};
    test(&o);
    expect(&o, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED");
    release(&o);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
}

/* What the copies are too slow for is retried, and what was seen stays. */
FIXTURE_TEST(slow_copies_are_critical_after_all_attempts)
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

FIXTURE_TEST(wrong_data_is_critical)
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

FIXTURE_TEST(a_failing_copy_is_unknown)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    xb_fake.sick_device = 1;
    test(&o);
    assert_int_equal(o.verdict.found.level, XB_LEVEL_UNKNOWN);
    release(&o);
}

FIXTURE_TEST(a_device_without_a_folder_is_not_measured)
{
    struct outcome o;
    ask(&o, *state);
    test(&o);
    expect(&o, XB_LEVEL_UNKNOWN, "XB-LINK-NONE");
    assert_int_equal(o.verdict.found.reason_count, 1);
    assert_int_equal(o.session->devices[0].attempt_count, 1);
    release(&o);
}

/* Runs a session whose measuring has no time left. Its process leaves by itself; the machine may
 * take longer for that than there is until the deadline, so that is not what is waited for. */
static void run_past_the_deadline(struct outcome *o)
{
    struct xb_error error;
    o->session->deadline = xb_clock_now() + 0.25; /* within the margin for the report */
    assert_int_equal(xb_link_session_start(o->session, &error), XB_OK);
    while (o->session->child.ended_at == 0)
        (void)xb_child_poll(&o->session->child, -1, 50);
    (void)xb_link_session_wait(o->session);
}

FIXTURE_TEST(a_deadline_that_has_passed_leaves_it_unknown)
{
    struct outcome o;
    pcie_fixture_scenario(*state, "healthy");
    ask(&o, *state);
    run_past_the_deadline(&o);
    judge(&o);
    expect(&o, XB_LEVEL_UNKNOWN, "XB-DEADLINE");
    assert_int_equal(o.session->devices[0].attempt_count, 0);
    release(&o);
}

FIXTURE_TEST(a_device_that_is_not_there_is_refused)
{
    struct outcome o;
    ask(&o, *state);
    o.session->device_text = "9";
    test(&o);
    assert_int_equal(o.session->error.status, XB_ERR_USAGE);
    assert_non_null(strstr(o.session->error.message, "'9'"));
    release(&o);
}

/* ---- pairs of devices, none of which has a folder: then only the pairs are measured ---- */

static void ask_pairs(struct outcome *o, const char *root, unsigned devices)
{
    xb_fake.device_count = devices;
    xb_fake.queues_are_alike = true;
    xb_fake.held_operations = 4; /* else a sample is of 64 copies */
    ask(o, root);
    o->session->device_text = "all";
    o->session->attempts = 2;
}

static void test_pairs(struct outcome *o)
{
    struct xb_error error = {.message = ""};
    assert_int_equal(xb_link_session_start(o->session, &error), XB_OK);
    assert_true(xb_link_session_wait(o->session));
    assert_int_equal(o->session->error.status, XB_OK);
    xb_link_session_judge(o->session, &o->report);
}

/* The pair of these two has that verdict after so many attempts, and all others are OK. */
static void expect_pair(const struct outcome *o, size_t from, size_t to, const char *code,
                        enum xb_level level, size_t attempts)
{
    for (size_t i = 0; i < o->session->pair_count; i++) {
        const struct xb_link_pair *pair = &o->session->pairs[i];
        const struct xb_findings *found = &o->report.pair_verdicts[i].found;
        bool is_bad = pair->from == from && pair->to == to;
        const char *seen = found->reason_count > 0 ? found->reasons[0].code : "";
        if (strcmp(seen, is_bad ? code : "") != 0)
            fail_msg("%zu to %zu: %s %s", pair->from, pair->to, seen,
                     found->reason_count > 0 ? found->reasons[0].text : "is OK");
        assert_int_equal(found->level, is_bad ? level : XB_LEVEL_OK);
        assert_int_equal(pair->attempt_count, is_bad ? attempts : 1);
        assert_false(pair->cut);
    }
}

static const char *code_of_device(const struct outcome *o, size_t place, const char *code)
{
    const struct xb_findings *found = &o->report.verdicts[place].found;
    for (size_t i = 0; i < found->reason_count; i++)
        if (strcmp(found->reasons[i].code, code) == 0)
            return found->reasons[i].text;
    return "";
}

#define NO_PAIR SIZE_MAX, SIZE_MAX, "", XB_LEVEL_OK, 0

FIXTURE_TEST(healthy_pairs_take_one_attempt)
{
    struct outcome o;
    ask_pairs(&o, *state, 3);
    test_pairs(&o);
    assert_int_equal(o.session->pair_count, 6);
    expect_pair(&o, NO_PAIR);
    for (size_t i = 0; i < 6; i++) {
        assert_true(fabs(o.report.pair_verdicts[i].bandwidth.measured - 10e9) < 1e7);
        assert_true(fabs(o.report.pair_verdicts[i].bandwidth.share - 0.829) < 0.001);
        assert_int_equal(o.report.pair_verdicts[i].like_count, 6);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(o.session->devices[i].peers.seconds > 0);
        assert_true(o.session->devices[i].peers.after.nvlinks_known);
        /* Without a folder there is no link to judge, and nothing else is wrong. */
        assert_int_equal(o.report.verdicts[i].found.reason_count, 1);
    }
    release(&o);
}

FIXTURE_TEST(a_slow_pair_is_tested_again_and_found)
{
    struct outcome o;
    ask_pairs(&o, *state, 3);
    xb_fake.bad_pair.from = 2;
    xb_fake.bad_pair.slowness = 2;
    test_pairs(&o);
    expect_pair(&o, 2, 0, "XB-BW-PEER", XB_LEVEL_CRITICAL, 2);
    release(&o);
}

FIXTURE_TEST(wrong_data_between_peers_is_found)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.bad_pair.to = 1;
    xb_fake.bad_pair.slowness = 1;
    xb_fake.bad_pair.damage = XB_DAMAGE_BIT_FLIPPED;
    test_pairs(&o);
    expect_pair(&o, 0, 1, "XB-DATA-WRONG", XB_LEVEL_CRITICAL, 2);
    release(&o);
}

FIXTURE_TEST(a_link_that_is_down_is_found)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.links_down[1] = 1;
    test_pairs(&o);
    expect_pair(&o, NO_PAIR);
    assert_non_null(strstr(code_of_device(&o, 1, "XB-NVLINK-LINKS"), "17 NVLinks"));
    assert_string_equal(code_of_device(&o, 0, "XB-NVLINK-LINKS"), "");
    release(&o);
}

FIXTURE_TEST(recoveries_while_peers_copy_are_found)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.retraining_device = 2;
    test_pairs(&o);
    expect_pair(&o, NO_PAIR);
    assert_non_null(strstr(code_of_device(&o, 1, "XB-NVLINK-ERRORS"), "link 4 "));
    assert_string_equal(code_of_device(&o, 0, "XB-NVLINK-ERRORS"), "");
    release(&o);
}

FIXTURE_TEST(pairs_without_access_are_not_measured)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.no_peer_access = true;
    test_pairs(&o);
    expect_pair(&o, NO_PAIR);
    assert_true(o.report.pair_verdicts[0].bandwidth.measured <= 0);
    assert_string_equal(o.session->pairs[0].attempts[0].failure, "");
    release(&o);
    /* A least bandwidth is not reached; and there is nothing to try again. */
    ask_pairs(&o, *state, 2);
    o.session->limits.min_peer = (struct xb_limit){true, 1e9, XB_LIMIT_COMMAND_LINE};
    test_pairs(&o);
    assert_string_equal(o.report.pair_verdicts[1].found.reasons[0].code, "XB-BW-PEER");
    assert_int_equal(o.session->pairs[1].attempt_count, 1);
    release(&o);
}

FIXTURE_TEST(a_least_bandwidth_of_pairs_is_asked_for)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.bad_pair.from = 1;
    xb_fake.bad_pair.slowness = 1.05;
    o.session->limits.min_peer = (struct xb_limit){true, 9.8e9, XB_LIMIT_COMMAND_LINE};
    test_pairs(&o);
    expect_pair(&o, 1, 0, "XB-BW-PEER", XB_LEVEL_CRITICAL, 2);
    release(&o);
}

FIXTURE_TEST(pairs_of_a_device_that_does_not_open_are_unknown)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    xb_fake.sick_device = 2;
    test_pairs(&o);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(o.report.pair_verdicts[i].found.level, XB_LEVEL_UNKNOWN);
        assert_string_equal(o.report.pair_verdicts[i].found.reasons[0].code, "XB-TEST-FAILED");
        assert_non_null(strstr(o.report.pair_verdicts[i].found.reasons[0].text, "does not answer"));
        assert_int_equal(o.session->pairs[i].attempt_count, 2);
    }
    release(&o);
}

FIXTURE_TEST(pairs_are_left_out_and_it_is_said)
{
    static const struct {
        unsigned devices;
        bool no_peers;
        const char *words;
    } rows[] = {{1, false, ""}, {2, true, "--no-peers"}, {9, false, "9 devices are chosen"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome o;
        ask_pairs(&o, *state, rows[i].devices);
        o.session->no_peers = rows[i].no_peers;
        test_pairs(&o);
        assert_int_equal(o.session->pair_count, 0);
        assert_true(strncmp(o.session->no_pairs, rows[i].words, strlen(rows[i].words)) == 0);
        assert_int_equal(o.session->no_pairs[0] == '\0', rows[i].words[0] == '\0');
        release(&o);
    }
}

/* A limit that nothing is held against would look as if it were kept. */
FIXTURE_TEST(a_least_bandwidth_of_no_pairs_is_refused)
{
    struct outcome o;
    struct xb_error error;
    ask_pairs(&o, *state, 9);
    o.session->limits.min_peer = (struct xb_limit){true, 1e9, XB_LIMIT_COMMAND_LINE};
    assert_int_equal(xb_link_session_start(o.session, &error), XB_OK);
    assert_true(xb_link_session_wait(o.session));
    assert_int_equal(o.session->error.status, XB_ERR_USAGE);
    assert_non_null(strstr(o.session->error.message, "--min-peer: no pair is tested: 9 devices"));
    release(&o);
}

FIXTURE_TEST(a_deadline_that_has_passed_leaves_pairs_unknown)
{
    struct outcome o;
    ask_pairs(&o, *state, 2);
    run_past_the_deadline(&o);
    xb_link_session_judge(o.session, &o.report);
    for (size_t i = 0; i < o.session->pair_count; i++) {
        assert_string_equal(o.report.pair_verdicts[i].found.reasons[0].code, "XB-DEADLINE");
        assert_int_equal(o.session->pairs[i].attempt_count, 0);
    }
    release(&o);
}
