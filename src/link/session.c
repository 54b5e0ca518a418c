/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "session.h"

#include "backends/registry.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "run/request.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* How long a process that is done may take to leave: drivers take their time. */
#define LEAVE_S 1.0
/* Between two looks whether there is something new. */
#define GLANCE_MS 5
/* A measurement ends so long before the deadline, for the report to be written in time. */
#define MARGIN_S 0.5
/* Often enough to see a link that changes during a transfer, seldom enough to disturb nothing. */
#define WATCH_INTERVAL_S 0.005

enum xb_status xb_link_session_open(struct xb_link_session **session, struct xb_error *error)
{
    pthread_mutexattr_t shared;
    struct xb_link_session *opened =
        mmap(NULL, sizeof *opened, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (opened == MAP_FAILED)
        return XB_FAIL_ERRNO(error, "mmap", errno, "no memory for what is observed of devices");
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&opened->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    *session = opened;
    return XB_OK;
}

void xb_link_session_close(struct xb_link_session *session)
{
    if (session != NULL)
        (void)munmap(session, sizeof *session);
}

/* What the two kinds of copies are asked for by; devices or pairs follow. */
static const char *const copies[] = {"--mode=pinned", "--direction=both", "--device", NULL};
/* So few samples, of 10 ms each, that the pairs of eight devices take seconds. */
static const char *const peer_copies[] = {"--mode=peer", "--peer-path=direct-write",
                                          "--by=engine", "--direction=d2d",
                                          "--samples=5", "--pairs",
                                          NULL};

/* ---- copies between the host and one device, watched ---- */

/* One attempt while it is made. */
struct trial {
    const struct xb_link_session *session;
    const struct xb_device_info *info;
    struct xb_link_attempt *attempt;
    struct xb_pcie_watch *link;
    struct xb_conditions *conditions;
    double begin; /* when health_before was read; 0: not yet */
};

static void note_begin(void *argument, const struct xb_run *run)
{
    xb_conditions_note(((const struct trial *)argument)->conditions, run, false);
}

/* Data moves from the first sample on, that of a warm-up included. A link that trained down at rest
 * has counted by then what it takes to train up. */
static void note_copy(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    struct trial *trial = argument;
    (void)samples;
    (void)bandwidth;
    if (!(trial->begin > 0)) {
        trial->begin = xb_clock_now();
        xb_health_read(trial->session->driver, trial->info->index, XB_HEALTH_ALL,
                       &trial->attempt->health_before);
    }
    xb_pcie_watch_arm(trial->link, true);
    xb_conditions_note(trial->conditions, run, true);
}

static void note_failure(struct xb_link_attempt *attempt, const char *direction, const char *reason)
{
    size_t length = strlen(attempt->failure);
    snprintf(attempt->failure + length, sizeof attempt->failure - length, "%s%s: %s",
             length > 0 ? "; " : "", direction, reason);
}

static void take_results(const struct xb_run *run, struct xb_link_attempt *attempt)
{
    XB_EACH (result, run->results, run->case_count) {
        bool is_back = result->test.direction == XB_D2H;
        struct xb_link_conditions *seen = &attempt->conditions[is_back];
        double *rate = is_back ? &attempt->rates[XB_BACK] : &attempt->rates[XB_TO_GPU], seconds = 0;
        for (size_t k = 0; k < result->times.count; k++)
            seconds += result->times.values[k];
        if (seconds > 0)
            seen->mean = (double)result->bytes_moved * (double)result->times.count / seconds;
        seen->fastest = result->bandwidth.max;
        /* Whether the host memory of the copies lay on other NUMA nodes than the device's alone. */
        const char *nodes = xb_record_fact_text(
            xb_record_detail_find(&result->row, "host_memory_numa_nodes")); /* "0", or "0,1" */
        char near[16];
        snprintf(near, sizeof near, "%d", attempt->at_rest.numa_node);
        seen->memory_is_far = attempt->at_rest.numa_node >= 0 && nodes != NULL &&
                              nodes[0] != '\0' && !xb_list_has(nodes, near);
        if (result->row.status == XB_RESULT_OK)
            *rate = result->bandwidth.median;
        else
            note_failure(attempt, xb_direction_name(result->test.direction), result->reason);
        if (result->row.verified == XB_VERIFIED_FALSE)
            attempt->data_wrong = true;
    }
}

/* Copies both ways on one device, watched. What goes wrong is the attempt's failure. */
static void transfer(struct trial *trial)
{
    struct xb_link_attempt *attempt = trial->attempt;
    struct xb_pcie_watch_task task = {.root = trial->session->sysfs,
                                      .bdf = trial->info->pci_bdf,
                                      .path = &attempt->at_rest,
                                      .interval = WATCH_INTERVAL_S,
                                      .look = xb_conditions_look};
    const struct xb_run_observer observer = {
        .begun = note_begin, .progress = note_copy, .argument = trial};
    char device[16];
    struct xb_link_run run;
    struct xb_error error;
    snprintf(device, sizeof device, "%u", trial->info->index);
    enum xb_status status = xb_link_run_plan(trial->session, copies, device, &run, &error);
    task.argument = trial->conditions = xb_conditions_open(trial->session->driver, trial->info);
    if (status == XB_OK)
        status = xb_pcie_watch_start(&task, &trial->link, &error);
    if (status == XB_OK)
        status = xb_run_execute(&run.run, &observer, &error);
    if (trial->link != NULL) {
        xb_pcie_watch_arm(trial->link, false);
        xb_pcie_watch_stop(trial->link, &attempt->load);
    }
    xb_conditions_close(trial->conditions, attempt->conditions);
    if (status == XB_OK)
        take_results(&run.run, attempt);
    else
        note_failure(attempt, "both", error.message);
    xb_link_run_free(&run);
}

/* Where a device is in its attempts. */
struct turn {
    bool done, slow;
    double end; /* of the latest attempt */
};

static void test_once(struct xb_link_session *session, struct xb_link_device *device,
                      struct turn *turn)
{
    bool cut = xb_link_time_is_up(session), again = false;
    /* Nobody else writes to it, and no reader looks past the attempts that are counted. */
    struct xb_link_attempt *attempt = &device->attempts[device->attempt_count];
    const char *bdf = device->info.pci_bdf;
    if (!cut) {
        memset(attempt, 0, sizeof *attempt);
        xb_pcie_path_read(session->sysfs, bdf, &attempt->at_rest);
    }
    if (!cut && attempt->at_rest.present) {
        struct trial trial = {.session = session, .info = &device->info, .attempt = attempt};
        transfer(&trial);
        xb_health_read(session->driver, device->info.index, XB_HEALTH_ALL, &attempt->health_after);
        attempt->health_seconds = trial.begin > 0 ? xb_clock_now() - trial.begin : 0;
        xb_pcie_path_read(session->sysfs, bdf, &attempt->after);
    }
    xb_link_session_lock(session);
    if (!cut) {
        /* Whether another one may change what is known: not where there is no link to test. */
        struct xb_verdict verdict;
        device->attempt_count++;
        const struct xb_link_limits limits = xb_link_session_limits(session, device);
        xb_verdict_of_device(device, &limits, &verdict);
        turn->slow = verdict.ways[XB_TO_GPU].is_slow || verdict.ways[XB_BACK].is_slow;
        again = xb_verdict_is_open(device, &verdict) &&
                device->attempts[verdict.best].at_rest.present &&
                device->attempt_count < session->attempts;
    }
    device->cut = cut || again; /* an attempt that does not return leaves it so */
    device->interrupted = xb_interrupt_signal() != 0;
    xb_link_session_unlock(session);
    turn->done = !again;
    turn->end = xb_clock_now();
}

/* Tests every device, then those that are not OK again. */
static void test_devices(struct xb_link_session *session)
{
    struct turn turns[XB_RUN_DEVICES] = {{.done = false}};
    for (size_t round = 0; round < session->attempts; round++) {
        for (size_t i = 0; i < session->device_count; i++) {
            if (turns[i].done)
                continue;
            /* What slows a host down passes, often within seconds: attempts of a slow device begin
             * 1 s after the last one's end, then 2 s, 4 s, as far as time allows. */
            double now = xb_clock_now();
            double until = fmin(turns[i].end + ldexp(session->spacing, (int)round - 1),
                                now + (session->deadline - now) / 4);
            if (turns[i].slow)
                xb_link_sleep_until(session, until);
            test_once(session, &session->devices[i], &turns[i]);
        }
    }
}

/* ---- copies between every two devices: all pairs are tested once before any is tested again,
 * because whether one is slow is seen among the others ---- */

/* Once around the pairs that are still to be tested. */
struct round {
    struct xb_link_session *session;
    struct xb_link_pair *pairs[XB_RUN_PAIRS]; /* of the run, in its order */
    size_t count;
    bool at_once;            /* those that follow each other and have no device in common */
    size_t row_count, taken; /* how many rows of the run were looked at, and pairs have theirs */
};

/* Finds the pairs of the session's devices, or why none is tested. XB_ERR_USAGE where a least
 * bandwidth of pairs is asked for and none can be tested. */
static enum xb_status find_pairs(struct xb_link_session *session, struct xb_error *error)
{
    char text[sizeof session->no_pairs] = ""; /* why no pair is tested */
    const size_t size = sizeof text;
    const struct xb_backend *backend = session->backend;
    struct xb_peer_info info;
    struct xb_error detail;
    size_t count = session->device_count;
    if (session->no_peers)
        snprintf(text, size, "--no-peers leaves pairs of devices out");
    else if (count > 1 && backend->peer_info == NULL)
        snprintf(text, size, "the %s backend has no copies between devices", backend->name);
    else if (count > 1 &&
             backend->peer_info(session->driver, xb_link_index(session, 0),
                                xb_link_index(session, 1), &info, &detail) == XB_ERR_UNSUPPORTED)
        snprintf(text, size, "%.*s", (int)size - 1, detail.message);
    if (text[0] != '\0' && session->limits.min_peer.is_set)
        return XB_FAIL(error, XB_ERR_USAGE, "--min-peer: no pair is tested: %.400s", text);
    xb_link_session_lock(session);
    memcpy(session->no_pairs, text, sizeof text);
    count = text[0] == '\0' ? count : 0;
    for (size_t from = 0; from < count; from++)
        for (size_t to = 0; to < count; to++)
            if (from != to)
                session->pairs[session->pair_count++] =
                    (struct xb_link_pair){.from = from, .to = to, .cut = true};
    xb_link_session_unlock(session);
    return XB_OK;
}

/* `failure`: why there is no bandwidth; "" for no such reason. */
static void finish_attempt(struct xb_link_session *session, struct xb_link_pair *pair,
                           const char *failure)
{
    struct xb_pair_attempt *attempt = &pair->attempts[pair->attempt_count];
    snprintf(attempt->failure, sizeof attempt->failure, "%.*s", (int)sizeof attempt->failure - 1,
             failure);
    xb_link_session_lock(session);
    pair->attempt_count++;
    xb_link_session_unlock(session);
}

/* Begins an attempt: reads what the devices can do with each other. Returns whether there is a copy
 * to make; otherwise the attempt is finished. */
static bool begin_attempt(const struct round *round, struct xb_link_pair *pair)
{
    struct xb_pair_attempt *attempt = &pair->attempts[pair->attempt_count];
    const struct xb_backend *backend = round->session->backend;
    struct xb_driver *driver = round->session->driver;
    unsigned from = xb_link_index(round->session, pair->from);
    unsigned to = xb_link_index(round->session, pair->to);
    struct xb_error error;
    memset(attempt, 0, sizeof *attempt);
    attempt->reach_known = backend->peer_info(driver, from, to, &attempt->there, &error) == XB_OK &&
                           backend->peer_info(driver, to, from, &attempt->back, &error) == XB_OK;
    if (attempt->reach_known && attempt->there.can_access)
        return true;
    finish_attempt(round->session, pair, attempt->reach_known ? "" : error.message);
    return false;
}

/* An observer's callback: takes the rows that are final since the last one. The attempt of a pair
 * is its row; one that was cut before its first sample is none. */
static void take_rows(void *argument, const struct xb_run *run)
{
    struct round *round = argument;
    for (; round->row_count < run->done_count; round->row_count++) {
        const struct xb_result *result = &run->results[round->row_count];
        if (result->test.sum)
            continue;
        struct xb_link_pair *pair = round->pairs[round->taken++];
        struct xb_pair_attempt *attempt = &pair->attempts[pair->attempt_count];
        const bool is_ok = result->row.status == XB_RESULT_OK;
        if (result->row.status == XB_RESULT_SKIPPED &&
            (result->stop_reason == XB_STOP_DEADLINE || result->stop_reason == XB_STOP_INTERRUPTED))
            continue;
        attempt->bandwidth = is_ok ? result->bandwidth.median : 0;
        attempt->data_wrong = result->row.verified == XB_VERIFIED_FALSE;
        finish_attempt(round->session, pair, is_ok ? "" : result->reason);
    }
}

/* Copies between all pairs of the round. */
static void copy_all(struct round *round)
{
    struct xb_memory_text names = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&names);
    struct xb_link_run run;
    struct xb_error error;
    const struct xb_run_observer observer = {.finished = take_rows, .argument = round};
    for (size_t i = 0; i < round->count; i++)
        fprintf(stream, "%s%u:%u", i > 0 ? "," : "",
                xb_link_index(round->session, round->pairs[i]->from),
                xb_link_index(round->session, round->pairs[i]->to));
    xb_memory_text_end(&names);
    round->row_count = round->taken = 0;
    enum xb_status status = xb_link_run_plan(round->session, peer_copies, names.text, &run, &error);
    if (status == XB_OK && round->at_once)
        xb_link_run_at_once(&run);
    if (status == XB_OK)
        status = xb_run_execute(&run.run, &observer, &error);
    for (size_t i = round->taken; status != XB_OK && i < round->count; i++)
        finish_attempt(round->session, round->pairs[i], error.message);
    xb_link_run_free(&run);
    free(names.text);
}

/* Takes all pairs: those of many devices round by round, and one way before the other. */
static void take_all(struct round *round)
{
    struct xb_link_session *session = round->session;
    const size_t count = session->device_count;
    round->at_once = count > XB_PEER_DEVICES;
    for (size_t i = 0; !round->at_once && i < session->pair_count; i++)
        round->pairs[round->count++] = &session->pairs[i];
    for (size_t i = 0; round->at_once && i < 2 * xb_round_count(count); i++)
        for (size_t place = 0; place < count; place++) {
            size_t partner = xb_round_partner(count, i / 2, place);
            size_t from = i % 2 == 0 ? place : partner, to = i % 2 == 0 ? partner : place;
            if (place < partner) /* find_pairs has ordered them by their sources */
                round->pairs[round->count++] =
                    &session->pairs[from * (count - 1) + to - (to > from)];
        }
}

/* Tests every pair, and those that are not OK again. */
static void test_pairs(struct xb_link_session *session)
{
    struct round round = {.session = session};
    double begin = xb_clock_now();
    if (session->pair_count == 0)
        return;
    take_all(&round);
    for (size_t i = 0; i < session->device_count; i++)
        xb_health_read(session->driver, xb_link_index(session, i), XB_HEALTH_ALL,
                       &session->devices[i].peers.before);
    while (round.count > 0 && !xb_link_time_is_up(session)) {
        size_t asked = round.count;
        round.count = 0; /* of those that can reach each other */
        for (size_t i = 0; i < asked; i++)
            if (begin_attempt(&round, round.pairs[i]))
                round.pairs[round.count++] = round.pairs[i];
        if (round.count > 0)
            copy_all(&round);
        /* These readings tell of the time since `begin`, which was not after those before. */
        for (size_t i = 0; i < session->device_count; i++) {
            struct xb_device_health health = {0};
            xb_health_read(session->driver, xb_link_index(session, i), XB_HEALTH_ALL, &health);
            xb_link_session_lock(session);
            session->devices[i].peers.known = true;
            session->devices[i].peers.after = health;
            session->devices[i].peers.seconds = xb_clock_now() - begin;
            xb_link_session_unlock(session);
        }
        /* The pairs that are not OK make up the next round, unless there is no direct access: then
         * another attempt changes nothing. */
        round.count = 0;
        round.at_once = false; /* what one pair does wrong fails all that copy with it */
        struct xb_link_report node = {.version = NULL};
        xb_link_session_judge(session, &node); /* not locked: where memory lacks, a hook locks */
        xb_link_session_lock(session);
        for (size_t i = 0; i < session->pair_count; i++) {
            struct xb_link_pair *pair = &session->pairs[i];
            const struct xb_pair_verdict *verdict = &node.pair_verdicts[i];
            pair->cut = xb_findings_are_open(&verdict->found) &&
                        !xb_pair_has_no_access(XB_ATTEMPT_JUDGED(verdict, pair)) &&
                        pair->attempt_count < session->attempts;
            if (pair->cut)
                round.pairs[round.count++] = pair;
        }
        xb_link_session_unlock(session);
        free(node.verdicts);
        free(node.pair_verdicts);
    }
    xb_link_session_lock(session);
    for (size_t i = 0; i < session->pair_count; i++)
        session->pairs[i].interrupted = session->pairs[i].cut && xb_interrupt_signal() != 0;
    xb_link_session_unlock(session);
}

/* Adds why a backend cannot run: the first thing that it looked for in vain. */
static void note_absent(void *argument, const struct xb_backend_entry *entry,
                        const struct xb_probe *probe)
{
    struct xb_words *reasons = argument;
    const char *separator = reasons->length > 0 ? "; " : "";
    size_t i = 0;
    while (i < probe->check_count && probe->checks[i].ok)
        i++;
    if (entry->backend == NULL)
        xb_words_add(reasons, "%s%s: %s", separator, entry->name, entry->absent_reason);
    else if (i < probe->check_count)
        xb_words_add(reasons, "%s%s: %s: %s", separator, entry->name, probe->checks[i].what,
                     probe->checks[i].found);
}

static void test(struct xb_link_session *session, double until)
{
    session->until = until;
    test_devices(session);
    test_pairs(session);
}

/* The soak, then the test again: of the first one remains what it counted, and its rates. */
static void soak(struct xb_link_session *session, int channel)
{
    session->until = session->deadline - MARGIN_S;
    xb_link_soak_run(session, channel);
    if (!session->soak.ended)
        return;
    xb_link_session_lock(session);
    for (size_t i = 0; i < session->device_count; i++) {
        struct xb_link_device *device = &session->devices[i];
        struct xb_soak_device *kept = &session->soak.devices[i];
        XB_EACH (attempt, device->attempts, XB_ATTEMPTS(device)) {
            xb_soak_add_attempt(kept, attempt, 0);
            for (size_t way = 0; way < XB_LINK_WAYS; way++)
                kept->before[way] = fmax(kept->before[way], attempt->rates[way]);
        }
        xb_nvlink_facts_add(&kept->facts.nvlinks, &device->peers.before, &device->peers.after,
                            device->peers.seconds);
        *device =
            (struct xb_link_device){.info = device->info, .setup = device->setup, .cut = true};
    }
    XB_EACH (pair, session->pairs, session->pair_count) {
        XB_EACH (attempt, pair->attempts, XB_ATTEMPTS(pair)) {
            struct xb_link_attempt wrong = {.data_wrong = attempt->data_wrong};
            memcpy(wrong.failure, attempt->failure, sizeof wrong.failure);
            for (size_t end = 0; attempt->data_wrong && end < 2; end++)
                xb_soak_add_attempt(&session->soaked[end == 0 ? pair->from : pair->to], &wrong, 0);
        }
        *pair = (struct xb_link_pair){.from = pair->from, .to = pair->to, .cut = true};
    }
    xb_link_session_unlock(session);
    test(session, session->deadline - MARGIN_S);
}

/* The session of the other process. */
static struct xb_link_session *measured;

static int end_measuring(const struct xb_error *error)
{
    xb_link_session_lock(measured);
    measured->error = *error;
    measured->done = true;
    xb_link_session_unlock(measured);
    return EXIT_FAILURE;
}

/* The other process, from beginning to end. */
static int work(void *argument, int channel)
{
    struct xb_link_session *session = measured = argument;
    xb_memory_end_with(end_measuring);
    struct xb_words reasons = {.length = 0};
    struct xb_probe probe;
    struct xb_error error = {.status = XB_OK};
    enum xb_status status = XB_OK;
    session->until = session->deadline - MARGIN_S;
    session->driver = xb_backend_open_first(session->backend_name, &probe, note_absent, &reasons);
    xb_link_session_lock(session);
    session->probe = probe;
    if (session->driver != NULL)
        session->backend = session->driver->backend;
    else
        snprintf(session->nothing, sizeof session->nothing, "%.*s",
                 (int)sizeof session->nothing - 1, reasons.text);
    xb_link_session_unlock(session);
    if (session->driver != NULL) {
        struct xb_link_run run; /* the devices that the session's text names */
        status = xb_link_run_plan(session, copies, session->device_text, &run, &error);
        xb_link_session_lock(session);
        for (size_t i = 0; status == XB_OK && i < run.run.device_count; i++) {
            session->devices[i].info = run.run.devices[i].info;
            session->devices[i].cut = true; /* until it is done with */
            session->soak.device_count = session->device_count = i + 1;
        }
        session->soak.asked = session->duration;
        session->soak.devices = session->soaked;
        xb_link_session_unlock(session);
        xb_link_run_free(&run);
        for (size_t i = 0; session->backend->device_setup != NULL && i < session->device_count; i++)
            session->backend->device_setup(session->driver, xb_link_index(session, i),
                                           &session->devices[i].setup);
        if (status == XB_OK)
            status = xb_baseline_check(session, &error);
        if (status == XB_OK)
            status = find_pairs(session, &error);
        if (status == XB_OK) {
            struct xb_start start;
            xb_start_wait(session->start_at, session->until, &start);
            xb_link_session_lock(session);
            session->start = start;
            xb_link_session_unlock(session);
            double now = xb_clock_now(), left = session->until - session->duration - now;
            test(session, session->duration > 0 ? now + left / 2 : session->until);
            if (session->duration > 0)
                soak(session, channel);
        }
        session->backend->driver_close(session->driver);
    }
    error.status = status; /* a device that does not open left its own there, and is no failure */
    (void)end_measuring(&error);
    exit(EXIT_SUCCESS); /* what drivers and libraries do at the end of a program, they do here */
}

enum xb_status xb_link_session_start(struct xb_link_session *session, struct xb_error *error)
{
    const struct xb_child_task task = {.what = "the process that measures",
                                       .work = work,
                                       .argument = session,
                                       .files = XB_CHILD_IS_SILENT,
                                       .dies_with_parent = true};
    (void)fflush(NULL); /* else both would write what is in the buffers */
    return xb_child_start(&session->child, &task, error);
}

/* Passes on what the soak says of its minutes, if there is something within `pause_ms`. Returns
 * whether there was. */
static bool pass_on(struct xb_link_session *session, int pause_ms)
{
    char line[XB_SOAK_LINE];
    if (session->duration == 0 || session->child.channel < 0) {
        (void)xb_child_poll(&session->child, -1, pause_ms);
        return false;
    }
    if (!xb_child_poll(&session->child, session->child.channel, pause_ms) ||
        !xb_channel_read(session->child.channel, line, sizeof line))
        return false;
    if (session->progress != NULL) {
        fprintf(session->progress, "%.*s", (int)sizeof line, line);
        (void)fflush(session->progress);
    }
    return true;
}

bool xb_link_session_wait(struct xb_link_session *session)
{
    struct xb_child *child = &session->child;
    double left;
    bool done;
    for (;;) {
        left = session->deadline - xb_clock_now();
        xb_link_session_lock(session);
        done = session->done;
        xb_link_session_unlock(session);
        if (done || child->ended_at > 0 || left <= 0)
            break;
        (void)pass_on(session, GLANCE_MS);
        xb_child_pass_on_signal(child, xb_interrupt_signal(), left);
    }
    while (pass_on(session, 0))
        ;
    if (child->ended_at > 0 && !done) {
        session->soak.interrupted = !session->soak.ended;
        /* The process ended before it was done: a driver crashed, or somebody killed it. */
        for (size_t i = 0; i < session->device_count; i++)
            session->devices[i].interrupted = session->devices[i].cut;
        for (size_t i = 0; i < session->pair_count; i++)
            session->pairs[i].interrupted = session->pairs[i].cut;
        if (session->device_count == 0 && session->nothing[0] == '\0')
            snprintf(session->nothing, sizeof session->nothing,
                     "the process that measures died while it looked for devices");
    }
    /* One that is done only has to leave. One that cannot be ended is not waited for. */
    (void)xb_child_end(child, done ? fmin(left, LEAVE_S) : 0, 0);
    return done;
}
