/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* `xferbench link` from the thread that measures to the verdict, over the fake backend, whose first
 * device is given a folder of PCI functions to lie in: link_session.txt. */

#include "base/clock.h"
#include "cases.h"
#include "doubles/fake_backend.h"
#include "fields.h"
#include "link/session.h"
#include "pcie_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MIB (1u << 20)

/* How cases ended, in memory that the process that measures shares with this one. NULL where nobody
 * asks; where somebody does, no case ends by its time limit, however slow the machine is. */
struct ends {
    size_t cases, converged;
    size_t least_samples; /* of any case */
};
static struct ends *ends;
static size_t *groups; /* of pairs that copied at once; shared too */

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

/* The linker puts __wrap_NAME in the place of NAME, which it calls __real_NAME (unit.cmake). */
enum xb_status __real_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error);

enum xb_status __wrap_xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                                     struct xb_error *error)
{
    if (ends != NULL)
        lift_time_limit(run);
    for (size_t i = 0; i < run->case_count; i++)
        *groups += run->results[i].test.sum;
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

struct xb_memory_probe *__wrap_xb_memory_probe_open(void)
{
    return NULL;
}

/* ---- verbs that make a machine and a test of it ---- */

static void *root;
static struct xb_link_session *session;
static struct xb_link_report report;

static void release(void)
{
    free(report.verdicts);
    free(report.pair_verdicts);
    if (session != NULL)
        xb_link_session_close(session);
    session = NULL;
    memset(&report, 0, sizeof report);
}

static void set_limit(struct xb_limit *limit, double value)
{
    *limit = (struct xb_limit){value > 0, value, XB_LIMIT_COMMAND_LINE};
}

/* The fake moves 1 GB/s, whatever its link: limits ask for less. */
static void new_session(void)
{
    struct xb_error error = {.message = ""};
    release();
    assert_int_equal(xb_link_session_open(&session, &error), XB_OK);
    session->backend_name = "fake";
    session->device_text = "0";
    session->size_text = "1M";
    session->sysfs = root;
    session->attempts = 3;
    session->deadline = xb_clock_now() + 600;
    set_limit(&session->limits.min_h2d, 0.1e9);
    set_limit(&session->limits.min_d2h, 0.1e9);
}

static void begin(void)
{
    release();
    xb_fake_reset();
    busy_cpus = 0;
    retrains = 0;
    if (groups == NULL)
        groups =
            mmap(NULL, sizeof *groups, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(groups != MAP_FAILED);
    *groups = 0;
    xb_fake.pci_bdf = PCIE_FIXTURE_DEVICE;
    xb_fake.device_memory_free = 64 * (uint64_t)MIB; /* of its own: copies cross a link */
    if (root != NULL)
        assert_int_equal(remove_tree(&root), 0);
    assert_int_equal(make_tree(&root), 0);
    new_session();
}

static int end(NO_STATE)
{
    release();
    return root != NULL ? remove_tree(&root) : 0;
}
GROUP(NULL, end)

static void run_scenario(UNTOLD, char **words)
{
    (void)pcie_fixture_scenario(root, words[1]);
}

/* The same machine is to be tested anew. */
static void run_again(UNTOLD, NO_WORDS)
{
    new_session();
}

#define FAKE(name, kind, member) XB_FIELD(name, kind, struct xb_fake, member)

/* fake MEMBER=VALUE... */
static void run_fake(UNTOLD, char **words)
{
    static const struct xb_field fields[] = {
        FAKE("replays", COUNTER, replay_rises),
        FAKE("bad_tlps", COUNTER, pcie_rises[XB_PCIE_BAD_TLPS]),
        FAKE("retrains", COUNTER, pcie_rises[XB_PCIE_RETRAINS]),
        FAKE("slowed_by_hardware", FLAG, slowed_by_hardware),
        FAKE("confidential", UNSIGNED, setup.confidential),
        FAKE("sick_device", UNSIGNED, sick_device),
        FAKE("damage", UNSIGNED, damage),
        FAKE("bad_from", UNSIGNED, bad_pair.from),
        FAKE("bad_to", UNSIGNED, bad_pair.to),
        FAKE("slowness", DOUBLE, bad_pair.slowness),
        FAKE("pair_damage", UNSIGNED, bad_pair.damage),
        FAKE("links_down_of_1", UNSIGNED, links_down[1]),
        FAKE("retraining_device", UNSIGNED, retraining_device),
        FAKE("no_peer_access", FLAG, no_peer_access),
        XB_FIELDS_END};
    xb_fake.architecture = "sm_90";
    set_fields(fields, &xb_fake, words + 1);
}

/* host [busy=CPUS] [retrains=COUNT]: what is seen beside the copies. */
static void run_host(UNTOLD, char **words)
{
    busy_cpus = number_or(words, "busy", busy_cpus);
    retrains = (uint64_t)number_or(words, "retrains", (double)retrains);
}

/* limits [h2d=RATE] [d2h=RATE] [peer=RATE]: no others. */
static void run_limits(UNTOLD, char **words)
{
    set_limit(&session->limits.min_h2d, number_or(words, "h2d", 0));
    set_limit(&session->limits.min_d2h, number_or(words, "d2h", 0));
    set_limit(&session->limits.min_peer, number_or(words, "peer", 0));
}

/* baseline [node=NAME] [uuid=TEXT] [h2d=RATE]: of one device at the same address. */
static void run_baseline(UNTOLD, char **words)
{
    static struct xb_link_device device;
    static struct xb_verdict verdict;
    static struct xb_link_report baseline = {
        .devices = &device, .verdicts = &verdict, .device_count = 1};
    static char node[16];
    snprintf(node, sizeof node, "%s", value_of(words, "node"));
    snprintf(device.info.pci_bdf, sizeof device.info.pci_bdf, "%s", PCIE_FIXTURE_DEVICE);
    verdict.ways[XB_TO_GPU].measured = number_or(words, "h2d", 0);
    baseline.node = node;
    session->baseline = &baseline;
    session->node = "here";
}

/* ask [attempts=COUNT] [device=TEXT] */
static void run_ask(UNTOLD, char **words)
{
    static char device[16];
    session->attempts = (uint64_t)number_or(words, "attempts", (double)session->attempts);
    if (value_of(words, "device") != NULL) {
        snprintf(device, sizeof device, "%s", value_of(words, "device"));
        session->device_text = device;
    }
}

/* devices COUNT [no-peers]: all of them. None has a folder: then only pairs are measured. */
static void run_devices(UNTOLD, char **words)
{
    xb_fake.device_count = (unsigned)number_of(words[1]);
    xb_fake.queues_are_alike = true;
    xb_fake.held_operations = 4; /* else a sample is of 64 copies */
    session->device_text = "all";
    session->attempts = 2;
    session->no_peers = words[2] != NULL;
}

/* ---- what comes of it ---- */

static void tell_found(FILE *told, const struct xb_findings *found, size_t attempts, bool cut,
                       bool with_words)
{
    fprintf(told, "%s after %zu attempts%s", xb_level_name(found->level), attempts,
            cut ? ", cut" : "");
    for (size_t i = 0; i < found->reason_count; i++)
        fprintf(told, "%s %s%s%s", i > 0 ? "," : ":", found->reasons[i].code, with_words ? " " : "",
                with_words ? found->reasons[i].text : "");
    fputs("\n", told);
}

static void tell_device(FILE *told, size_t index, bool with_words)
{
    const struct xb_link_device *device = &session->devices[index];
    const struct xb_link_attempt *attempt = &device->attempts[0];
    const struct xb_pcie_seen *seen = &attempt->load.hops[0];
    fprintf(told, "device %zu: ", index);
    tell_found(told, &report.verdicts[index].found, device->attempt_count, device->cut, with_words);
    if (attempt->rates[XB_BACK] > 0) /* else the watch may have been too late */
        fprintf(told, "  %.2f and %.2f GB/s over %gx%u%s%s%s\n", attempt->rates[XB_TO_GPU] / 1e9,
                attempt->rates[XB_BACK] / 1e9, seen->speed_gts, seen->width,
                seen->readings > 0 ? "" : ", not seen", attempt->after.present ? "" : ", gone",
                attempt->health_seconds > 0 ? "" : ", nothing counted");
    if (attempt->data_wrong)
        fputs("  wrong data\n", told);
    if (device->peers.seconds > 0)
        fprintf(told, "  peers: NVLinks %s\n",
                device->peers.after.nvlinks_known ? "read" : "not known");
}

static void tell_all(FILE *told, bool with_words)
{
    xb_link_session_judge(session, &report);
    for (size_t i = 0; i < session->device_count; i++)
        tell_device(told, i, with_words);
    for (size_t i = 0; i < session->pair_count; i++) {
        const struct xb_link_pair *pair = &session->pairs[i];
        const struct xb_pair_verdict *verdict = &report.pair_verdicts[i];
        fprintf(told, "%zu to %zu, %.2f GB/s, %.3f, like %zu: ", pair->from, pair->to,
                verdict->bandwidth.measured / 1e9, verdict->bandwidth.share, verdict->like_count);
        tell_found(told, &verdict->found, pair->attempt_count, pair->cut, with_words);
    }
    if (session->no_pairs[0] != '\0')
        fprintf(told, "no pairs: %s\n", session->no_pairs);
}

static void measure(void)
{
    struct xb_error error = {.message = ""};
    assert_int_equal(xb_link_session_start(session, &error), XB_OK);
    assert_true(xb_link_session_wait(session));
}

/* test [words]: with the reasons' words, where they are the same each time. */
static void test_now(FILE *told, char **words)
{
    measure();
    if (session->error.status != XB_OK)
        fprintf(told, "status %d: %s\n", (int)session->error.status, session->error.message);
    else
        tell_all(told, words[1] != NULL);
}

/* The same of many devices: only pairs that are not OK, or that took several attempts. */
static void test_pairs(FILE *told, NO_WORDS)
{
    size_t alike = 0;
    measure();
    xb_link_session_judge(session, &report);
    for (size_t i = 0; i < session->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report.pair_verdicts[i];
        const struct xb_link_pair *pair = &session->pairs[i];
        alike += verdict->found.level == XB_LEVEL_OK && pair->attempt_count == 1;
        if (verdict->found.level == XB_LEVEL_OK && pair->attempt_count == 1)
            continue;
        fprintf(told, "%zu to %zu, %.2f GB/s: ", pair->from, pair->to,
                verdict->bandwidth.measured / 1e9);
        tell_found(told, &verdict->found, pair->attempt_count, pair->cut, false);
    }
    fprintf(told, "%zu of %zu pairs were OK at once, in %zu groups\n", alike, session->pair_count,
            *groups);
}

/* Measuring has no time left. Its process leaves by itself; the machine may take longer for that
 * than there is until the deadline, so that is not what is waited for. */
static void run_too_late(FILE *told, NO_WORDS)
{
    struct xb_error error;
    session->deadline = xb_clock_now() + 0.25; /* within the margin for the report */
    assert_int_equal(xb_link_session_start(session, &error), XB_OK);
    while (session->child.ended_at == 0)
        (void)xb_child_poll(&session->child, -1, 50);
    (void)xb_link_session_wait(session);
    tell_all(told, false);
}

static const struct verb verbs[] = {
    {"scenario", run_scenario},
    {"again", run_again},
    {"fake", run_fake},
    {"host", run_host},
    {"limits", run_limits},
    {"baseline", run_baseline},
    {"ask", run_ask},
    {"devices", run_devices},
    {"test", test_now},
    {"test-pairs", test_pairs},
    {"test-too-late", run_too_late},
    {NULL, NULL},
};

TEST_CASES(sessions_find_what_is_wrong, "link/link_session", verbs, begin)

/* Errors are counted while data moves: few samples would do for the bandwidth. */
TEST(an_attempt_takes_its_time)
{
    begin();
    pcie_fixture_scenario(root, "healthy");
    set_limit(&session->limits.min_h2d, 1e6);
    set_limit(&session->limits.min_d2h, 1e6);
    xb_fake.operation_s = 0.05; /* which all others would take 6 samples of */
    ends = mmap(NULL, sizeof *ends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ends != MAP_FAILED);
    ends->least_samples = SIZE_MAX;
    measure();
    assert_int_equal(ends->cases, 2);
    assert_int_equal(ends->converged, 2);
    assert_int_equal(ends->least_samples, XB_STOP_MIN_SAMPLES);
    (void)munmap(ends, sizeof *ends);
    ends = NULL;
}

TEST(slow_devices_are_tried_again_later_and_later)
{
    begin();
    pcie_fixture_scenario(root, "healthy");
    session->spacing = 0.05;
    set_limit(&session->limits.min_h2d, 2e9);
    double started = xb_clock_now();
    measure();
    assert_int_equal(session->devices[0].attempt_count, 3);
    assert_true(xb_clock_now() - started >= 0.05 + 0.1); /* between the attempts */
}

TEST(memory_that_nothing_locates_is_not_far)
{
    begin();
    pcie_fixture_scenario(root, "healthy");
    set_limit(&session->limits.min_h2d, 0);
    setenv("HWLOC_SYNTHETIC", "numa:2 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
    measure();
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    xb_link_session_judge(session, &report);
    assert_string_equal(report.verdicts[0].found.reasons[0].code, "XB-SLOW-UNEXPLAINED");
}
