/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "session.h"

#include "backends/choice.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "run/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Often enough to see a link that changes during a transfer, seldom enough to disturb nothing. */
#define WATCH_INTERVAL_S 0.005
/* A measurement ends so long before the deadline, for the report to be written in time. */
#define MARGIN_S 0.5
/* How long a process that is done may take to leave: drivers take their time. */
#define LEAVE_S 1.0
/* Between two looks whether there is something new. */
#define GLANCE_MS 5

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

/* Whose holder died has the lock all the same: what it guards is written in whole steps. */
static void lock(struct xb_link_session *session)
{
    if (pthread_mutex_lock(&session->lock) == EOWNERDEAD)
        (void)pthread_mutex_consistent(&session->lock);
}

/* ---- the transfers ---- */

/* The configuration of a run of `pinned` both ways on the devices that the text names. The words
 * are permuted and must outlive it. */
#define WORDS 13
static enum xb_status configure(const struct xb_link_session *session, const char *devices,
                                char *words[WORDS], struct xb_config *config,
                                struct xb_error *error)
{
    const char *const wanted[WORDS] = {"link",
                                       "--mode",
                                       "pinned",
                                       "--direction",
                                       "both",
                                       "--size",
                                       session->size_text,
                                       "--device",
                                       devices,
                                       "--backend",
                                       session->backend_name,
                                       "--quiet",
                                       NULL};
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (char *)wanted[i];
    return xb_config_parse(xb_run_rows(), WORDS - 1, words, config, error);
}

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

/* Copies both ways on one device, watched. What goes wrong is the attempt's failure. */
static void transfer(const struct xb_link_session *session, struct xb_driver *driver,
                     unsigned index, struct xb_pcie_watch *watch, struct xb_link_attempt *attempt)
{
    char device[16];
    char *words[WORDS];
    struct xb_config config;
    struct xb_error error;
    const struct xb_run_observer observer = {.progress = arm, .argument = watch};
    snprintf(device, sizeof device, "%u", index);
    if (configure(session, device, words, &config, &error) != XB_OK) {
        note_failure(attempt, "both", error.message);
        return;
    }
    struct xb_run run = {.backend = driver->backend,
                         .driver = driver,
                         .probe = session->probe,
                         .config = &config,
                         .sysfs = session->sysfs,
                         .unhurried = true, /* errors are counted meanwhile */
                         .deadline = session->deadline - MARGIN_S};
    enum xb_status status = xb_plan(&run, &error);
    if (status == XB_OK)
        status = xb_run_execute(&run, &observer, &error);
    xb_pcie_watch_arm(watch, false);
    if (status == XB_OK)
        take_results(&run, attempt);
    else
        note_failure(attempt, "both", error.message);
    run.driver = NULL; /* the session's, for the next attempt */
    xb_run_free(&run);
    xb_config_free(&config);
}

static void read_health(struct xb_driver *driver, unsigned index, struct xb_device_health *health)
{
    if (driver->backend->device_health != NULL)
        driver->backend->device_health(driver, index, health);
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
    read_health(driver, info->index, &attempt->health_before);
    if (xb_pcie_watch_start(session->sysfs, info->pci_bdf, &attempt->at_rest, WATCH_INTERVAL_S,
                            &watch, &error) == XB_OK)
        transfer(session, driver, info->index, watch, attempt);
    else
        note_failure(attempt, "both", error.message);
    read_health(driver, info->index, &attempt->health_after);
    attempt->health_seconds = xb_clock_now() - begin;
    if (watch != NULL)
        xb_pcie_watch_stop(watch, &attempt->load);
    xb_pcie_path_read(session->sysfs, info->pci_bdf, &attempt->after);
}

/* ---- devices ---- */

struct xb_link_limits xb_link_session_limits(const struct xb_link_session *session,
                                             const struct xb_link_device *device)
{
    struct xb_link_limits limits = session->limits;
    unsigned generation = 0;
    unsigned width = 0;
    (void)xb_link_under_load(device, &generation, &width);
    (void)xb_limits_file_match(session->file, device->info.name, generation, width, &limits);
    return limits;
}

static bool time_is_up(const struct xb_link_session *session)
{
    return xb_clock_now() >= session->deadline - MARGIN_S || xb_interrupt_signal() != 0;
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

static void test_device(struct xb_link_session *session, struct xb_driver *driver, size_t place)
{
    /* Nobody else writes to it, and no reader looks past the attempts that are counted. */
    struct xb_link_device *device = &session->devices[place];
    bool again = true;
    while (again) {
        bool cut = time_is_up(session);
        if (!cut)
            make_attempt(session, driver, &device->info, &device->attempts[device->attempt_count]);
        lock(session);
        device->attempt_count += !cut;
        again =
            !cut && is_worth_another(session, device) && device->attempt_count < session->attempts;
        device->cut = cut || again; /* an attempt that does not return leaves it so */
        device->interrupted = xb_interrupt_signal() != 0;
        pthread_mutex_unlock(&session->lock);
    }
}

/* Which devices the text names, by planning a run of them all. */
static enum xb_status find_devices(struct xb_link_session *session, struct xb_driver *driver,
                                   struct xb_error *error)
{
    char *words[WORDS];
    struct xb_config config;
    enum xb_status status = configure(session, session->device_text, words, &config, error);
    if (status != XB_OK)
        return status;
    struct xb_run run = {
        .backend = driver->backend, .driver = driver, .probe = session->probe, .config = &config};
    status = xb_plan(&run, error);
    lock(session);
    for (size_t i = 0; status == XB_OK && i < run.device_count; i++) {
        session->devices[i].info = run.devices[i].info;
        session->devices[i].cut = true; /* until it is done with */
        session->device_count = i + 1;
    }
    pthread_mutex_unlock(&session->lock);
    run.driver = NULL;
    xb_run_free(&run);
    xb_config_free(&config);
    return status;
}

/* ---- the backend ---- */

struct reasons {
    char text[sizeof((struct xb_link_session *)NULL)->nothing];
};

/* Adds why a backend cannot run: the first thing that it looked for in vain. */
static void note_absent(void *argument, const struct xb_backend_entry *entry,
                        const struct xb_probe *probe)
{
    struct reasons *reasons = argument;
    size_t length = strlen(reasons->text);
    size_t size = sizeof reasons->text - length;
    const char *separator = length > 0 ? "; " : "";
    if (entry->backend == NULL) {
        snprintf(reasons->text + length, size, "%s%s: %s", separator, entry->name,
                 entry->absent_reason);
        return;
    }
    for (size_t i = 0; i < probe->check_count; i++)
        if (!probe->checks[i].ok) {
            snprintf(reasons->text + length, size, "%s%s: %s: %s", separator, entry->name,
                     probe->checks[i].what, probe->checks[i].found);
            return;
        }
}

/* Opens the backend that is named, or the first automatic one that can run; NULL where none can. */
static struct xb_driver *open_driver(struct xb_link_session *session)
{
    struct reasons reasons = {.text = ""};
    struct xb_probe probe;
    struct xb_driver *driver =
        xb_backend_open_first(session->backend_name, &probe, note_absent, &reasons);
    lock(session);
    session->probe = probe;
    if (driver != NULL)
        session->backend = driver->backend;
    else
        snprintf(session->nothing, sizeof session->nothing, "%s", reasons.text);
    pthread_mutex_unlock(&session->lock);
    return driver;
}

/* The other process, from beginning to end. */
static int work(void *argument, int channel)
{
    struct xb_link_session *session = argument;
    struct xb_driver *driver = open_driver(session);
    struct xb_error error;
    enum xb_status status = XB_OK;
    (void)channel; /* what it finds lies in the session */
    if (driver != NULL) {
        status = find_devices(session, driver, &error);
        for (size_t i = 0; status == XB_OK && i < session->device_count; i++)
            test_device(session, driver, i);
        driver->backend->driver_close(driver);
    }
    lock(session);
    session->status = status;
    if (status != XB_OK)
        session->error = error;
    session->done = true;
    pthread_mutex_unlock(&session->lock);
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

static bool is_done(struct xb_link_session *session)
{
    lock(session);
    bool done = session->done;
    pthread_mutex_unlock(&session->lock);
    return done;
}

/* The process ended before it was done: a driver crashed, or somebody killed it. */
static void note_death(struct xb_link_session *session)
{
    for (size_t i = 0; i < session->device_count; i++)
        session->devices[i].interrupted = session->devices[i].cut;
    if (session->device_count == 0 && session->nothing[0] == '\0')
        snprintf(session->nothing, sizeof session->nothing,
                 "the process that measures died while devices were looked for");
}

bool xb_link_session_wait(struct xb_link_session *session)
{
    struct xb_child *child = &session->child;
    double left = session->deadline - xb_clock_now();
    while (!is_done(session) && child->ended_at == 0 && left > 0) {
        (void)xb_child_glance(child, -1, GLANCE_MS);
        xb_child_heed_interrupt(child, xb_interrupt_signal(), left);
        left = session->deadline - xb_clock_now();
    }
    bool ended = child->ended_at > 0;
    bool done = is_done(session);
    if (ended && !done)
        note_death(session);
    /* One that is done only has to leave. One that cannot be ended is not waited for. */
    (void)xb_child_end(child, done ? fmin(left, LEAVE_S) : 0, 0);
    return done;
}
