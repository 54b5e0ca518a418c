/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Copies between the host and one device, watched. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "session.h"
#include "session_internal.h"

#include <stdio.h>
#include <string.h>

/* Often enough to see a link that changes during a transfer, seldom enough to disturb nothing. */
#define WATCH_INTERVAL_S 0.005

/* An observer's callback: data moves from the first sample on, that of a warm-up included. */
static void arm(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    (void)run;
    (void)samples;
    (void)bandwidth;
    xb_pcie_watch_arm(argument, true);
}

static void note_failure(struct xb_link_attempt *attempt, const char *direction, const char *reason)
{
    size_t length = strlen(attempt->failure);
    snprintf(attempt->failure + length, sizeof attempt->failure - length, "%s%s: %s",
             length > 0 ? "; " : "", direction, reason);
}

static void take_results(const struct xb_run *run, struct xb_link_attempt *attempt)
{
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        double *rate = result->test.direction == XB_H2D ? &attempt->h2d : &attempt->d2h;
        if (result->status == XB_RESULT_OK)
            *rate = result->bandwidth.median;
        else
            note_failure(attempt, xb_direction_name(result->test.direction), result->reason);
        if (result->verified == XB_VERIFIED_FALSE)
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
static void transfer(const struct xb_link_session *session, struct xb_driver *driver,
                     unsigned index, struct xb_pcie_watch *watch, struct xb_link_attempt *attempt)
{
    char device[16];
    struct xb_session_run run;
    struct xb_error error;
    const struct xb_run_observer observer = {.progress = arm, .argument = watch};
    snprintf(device, sizeof device, "%u", index);
    enum xb_status status = plan(session, driver, device, &run, &error);
    if (status == XB_OK)
        status = xb_run_execute(&run.run, &observer, &error);
    xb_pcie_watch_arm(watch, false);
    if (status == XB_OK)
        take_results(&run.run, attempt);
    else
        note_failure(attempt, "both", error.message);
    xb_session_run_free(&run);
}

static void make_attempt(const struct xb_link_session *session, struct xb_driver *driver,
                         const struct xb_device_info *info, struct xb_link_attempt *attempt)
{
    struct xb_pcie_watch *watch = NULL;
    struct xb_error error;
    memset(attempt, 0, sizeof *attempt);
    xb_pcie_path_read(session->sysfs, info->pci_bdf, &attempt->at_rest);
    if (!attempt->at_rest.present)
        return;
    double begin = xb_clock_now();
    xb_session_read_health(driver, info->index, &attempt->health_before);
    if (xb_pcie_watch_start(session->sysfs, info->pci_bdf, &attempt->at_rest, WATCH_INTERVAL_S,
                            &watch, &error) == XB_OK)
        transfer(session, driver, info->index, watch, attempt);
    else
        note_failure(attempt, "both", error.message);
    xb_session_read_health(driver, info->index, &attempt->health_after);
    attempt->health_seconds = xb_clock_now() - begin;
    if (watch != NULL)
        xb_pcie_watch_stop(watch, &attempt->load);
    xb_pcie_path_read(session->sysfs, info->pci_bdf, &attempt->after);
}

/* Whether another attempt may change what is known: not where there is no link to test. */
static bool is_worth_another(const struct xb_link_session *session,
                             const struct xb_link_device *device)
{
    struct xb_link_limits limits = xb_link_session_limits(session, device);
    struct xb_verdict verdict;
    xb_verdict_of_device(device, &limits, &verdict);
    return verdict.found.level != XB_LEVEL_OK && device->attempts[verdict.best].at_rest.present;
}

void xb_session_test_device(struct xb_link_session *session, struct xb_driver *driver, size_t place)
{
    /* Nobody else writes to it, and no reader looks past the attempts that are counted. */
    struct xb_link_device *device = &session->devices[place];
    bool again = true;
    while (again) {
        bool cut = xb_session_time_is_up(session);
        if (!cut)
            make_attempt(session, driver, &device->info, &device->attempts[device->attempt_count]);
        xb_session_lock(session);
        device->attempt_count += !cut;
        again =
            !cut && is_worth_another(session, device) && device->attempt_count < session->attempts;
        device->cut = cut || again; /* an attempt that does not return leaves it so */
        device->interrupted = xb_interrupt_signal() != 0;
        xb_session_unlock(session);
    }
}
