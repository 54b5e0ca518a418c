/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Copies between the host and one device, watched. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "session.h"
#include "session_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Often enough to see a link that changes during a transfer, seldom enough to disturb nothing. */
#define WATCH_INTERVAL_S 0.005

/* One attempt while it is made. */
struct trial {
    const struct xb_link_session *session;
    struct xb_driver *driver;
    const struct xb_device_info *info;
    struct xb_link_attempt *attempt;
    struct xb_pcie_watch *link;
    struct xb_conditions *conditions;
    double begin; /* when health_before was read; 0: not yet */
};

/* Observers' callbacks. */
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
        xb_session_read_health(trial->driver, trial->info->index, XB_HEALTH_ALL,
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

/* Whether the host memory of the copies lay on other NUMA nodes than the device's alone. */
static bool is_far(const struct xb_result *result, int node)
{
    char near[16];
    char nodes[132] = "";
    for (size_t i = 0; i < result->row.detail_count; i++)
        if (strcmp(result->details[i].name, "host_memory_numa_nodes") == 0)
            snprintf(nodes, sizeof nodes, ",%s,", result->details[i].text); /* "0", or "0,1" */
    snprintf(near, sizeof near, ",%d,", node);
    return node >= 0 && nodes[0] != '\0' && strstr(nodes, near) == NULL;
}

static void take_conditions(const struct xb_result *result, struct xb_link_attempt *attempt)
{
    struct xb_link_conditions *seen = &attempt->conditions[result->test.direction == XB_D2H];
    double seconds = 0;
    for (size_t i = 0; i < result->times.count; i++)
        seconds += result->times.values[i];
    if (seconds > 0)
        seen->mean = (double)result->bytes_moved * (double)result->times.count / seconds;
    seen->fastest = result->bandwidth.max;
    seen->memory_is_far = is_far(result, attempt->at_rest.numa_node);
}

static void take_results(const struct xb_run *run, struct xb_link_attempt *attempt)
{
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        double *rate = result->test.direction == XB_H2D ? &attempt->h2d : &attempt->d2h;
        take_conditions(result, attempt);
        if (result->row.status == XB_RESULT_OK)
            *rate = result->bandwidth.median;
        else
            note_failure(attempt, xb_direction_name(result->test.direction), result->reason);
        if (result->row.verified == XB_VERIFIED_FALSE)
            attempt->data_wrong = true;
    }
}

/* Plans copies both ways on the devices that the text names. */
static enum xb_status plan(const struct xb_link_session *session, struct xb_driver *driver,
                           const char *devices, struct xb_session_run *run, struct xb_error *error)
{
    const char *const options[] = {"--mode",   "pinned", "--direction", "both",
                                   "--device", devices,  NULL};
    return xb_session_plan(session, driver, options, run, error);
}

enum xb_status xb_session_find_devices(struct xb_link_session *session, struct xb_driver *driver,
                                       struct xb_error *error)
{
    struct xb_session_run run;
    enum xb_status status = plan(session, driver, session->device_text, &run, error);
    xb_session_lock(session);
    for (size_t i = 0; status == XB_OK && i < run.run.device_count; i++) {
        session->devices[i].info = run.run.devices[i].info;
        session->devices[i].cut = true; /* until it is done with */
        session->device_count = i + 1;
    }
    xb_session_unlock(session);
    xb_session_run_free(&run);
    return status;
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
    struct xb_session_run run;
    struct xb_error error;
    snprintf(device, sizeof device, "%u", trial->info->index);
    enum xb_status status = plan(trial->session, trial->driver, device, &run, &error);
    if (status == XB_OK)
        status = xb_conditions_open(trial->driver, trial->info->index, trial->info->pci_bdf,
                                    &trial->conditions, &error);
    task.argument = trial->conditions;
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
    xb_session_run_free(&run);
}

static void make_attempt(const struct xb_link_session *session, struct xb_driver *driver,
                         const struct xb_device_info *info, struct xb_link_attempt *attempt)
{
    struct trial trial = {.session = session, .driver = driver, .info = info, .attempt = attempt};
    memset(attempt, 0, sizeof *attempt);
    xb_pcie_path_read(session->sysfs, info->pci_bdf, &attempt->at_rest);
    if (!attempt->at_rest.present)
        return;
    transfer(&trial);
    xb_session_read_health(driver, info->index, XB_HEALTH_ALL, &attempt->health_after);
    attempt->health_seconds = trial.begin > 0 ? xb_clock_now() - trial.begin : 0;
    xb_pcie_path_read(session->sysfs, info->pci_bdf, &attempt->after);
}

/* Whether another attempt may change what is known: not where there is no link to test. Sets *slow
 * where it was one of low bandwidth. */
static bool is_worth_another(const struct xb_link_session *session,
                             const struct xb_link_device *device, bool *slow)
{
    struct xb_link_limits limits = xb_link_session_limits(session, device);
    struct xb_verdict verdict;
    xb_verdict_of_device(device, &limits, &verdict);
    *slow = verdict.h2d.is_slow || verdict.d2h.is_slow;
    return xb_verdict_is_open(device, &verdict) && device->attempts[verdict.best].at_rest.present;
}

/* Where a device is in its attempts. */
struct turn {
    bool done, slow;
    double end; /* of the latest attempt */
};

/* What slows a host down passes, often within seconds: attempts of a slow device begin 1 s after
 * the last one's end, then 2 s, 4 s, as far as time allows. */
static void pause_before(const struct xb_link_session *session, const struct turn *turn,
                         size_t round)
{
    const struct timespec glance = {.tv_nsec = 20000000};
    double left = session->deadline - xb_clock_now();
    double until =
        fmin(turn->end + session->spacing * (double)(1u << (round - 1)), xb_clock_now() + left / 4);
    while (turn->slow && xb_clock_now() < until && !xb_session_time_is_up(session))
        (void)nanosleep(&glance, NULL);
}

static void test_once(struct xb_link_session *session, struct xb_driver *driver,
                      struct xb_link_device *device, struct turn *turn)
{
    bool cut = xb_session_time_is_up(session);
    /* Nobody else writes to it, and no reader looks past the attempts that are counted. */
    if (!cut)
        make_attempt(session, driver, &device->info, &device->attempts[device->attempt_count]);
    xb_session_lock(session);
    device->attempt_count += !cut;
    bool again = !cut && is_worth_another(session, device, &turn->slow) &&
                 device->attempt_count < session->attempts;
    device->cut = cut || again; /* an attempt that does not return leaves it so */
    device->interrupted = xb_interrupt_signal() != 0;
    xb_session_unlock(session);
    turn->done = !again;
    turn->end = xb_clock_now();
}

void xb_session_test_devices(struct xb_link_session *session, struct xb_driver *driver)
{
    struct turn turns[XB_RUN_DEVICES] = {{.done = false}};
    for (size_t round = 0; round < session->attempts; round++) {
        for (size_t i = 0; i < session->device_count; i++) {
            if (turns[i].done)
                continue;
            if (round > 0)
                pause_before(session, &turns[i], round);
            test_once(session, driver, &session->devices[i], &turns[i]);
        }
    }
}
