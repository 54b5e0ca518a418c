/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "session.h"

#include "backends/choice.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "run/command.h"
#include "session_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
void xb_session_lock(struct xb_link_session *session)
{
    if (pthread_mutex_lock(&session->lock) == EOWNERDEAD)
        (void)pthread_mutex_consistent(&session->lock);
}

void xb_session_unlock(struct xb_link_session *session)
{
    (void)pthread_mutex_unlock(&session->lock);
}

bool xb_session_time_is_up(const struct xb_link_session *session)
{
    return xb_clock_now() >= session->deadline - MARGIN_S || xb_interrupt_signal() != 0;
}

/* ---- runs and readings ---- */

enum xb_status xb_session_plan(const struct xb_link_session *session, struct xb_driver *driver,
                               const char *const *options, struct xb_session_run *run,
                               struct xb_error *error)
{
    const char *const always[] = {
        "link", "--size", session->size_text, "--backend", session->backend_name, "--quiet"};
    size_t count = 0;
    *run = (struct xb_session_run){.run = {.backend = driver->backend,
                                           .driver = driver,
                                           .probe = session->probe,
                                           .config = &run->config,
                                           .sysfs = session->sysfs,
                                           .unhurried = true, /* errors are counted meanwhile */
                                           .deadline = session->deadline - MARGIN_S}};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        run->words[count++] = (char *)always[i];
    for (; *options != NULL; options++) {
        assert(count < XB_SESSION_WORDS - 1);
        run->words[count++] = (char *)*options;
    }
    enum xb_status status =
        xb_config_parse(xb_run_rows(), (int)count, run->words, &run->config, error);
    return status != XB_OK ? status : xb_plan(&run->run, error);
}

void xb_session_run_free(struct xb_session_run *run)
{
    run->run.driver = NULL; /* the session's, for the next run */
    xb_run_free(&run->run);
    xb_config_free(&run->config);
}

void xb_session_read_health(struct xb_driver *driver, unsigned index, unsigned parts,
                            struct xb_device_health *health)
{
    memset(health, 0, sizeof *health);
    if (driver->backend->device_health != NULL)
        driver->backend->device_health(driver, index, parts, health);
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

/* A pair has a least bandwidth where both its devices have one: the lesser. */
static struct xb_limit minimum_of(const struct xb_link_session *session,
                                  const struct xb_link_pair *pair)
{
    struct xb_limit from = xb_link_session_limits(session, &session->devices[pair->from]).min_peer;
    struct xb_limit to = xb_link_session_limits(session, &session->devices[pair->to]).min_peer;
    return !to.is_set || (from.is_set && to.value < from.value) ? to : from;
}

void xb_link_session_judge_pairs(const struct xb_link_session *session,
                                 struct xb_pair_verdict *verdicts)
{
    for (size_t i = 0; i < session->pair_count; i++)
        verdicts[i].minimum = minimum_of(session, &session->pairs[i]);
    xb_verdict_of_pairs(session->devices, session->pairs, session->pair_count, verdicts);
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
    xb_session_lock(session);
    session->probe = probe;
    if (driver != NULL)
        session->backend = driver->backend;
    else
        snprintf(session->nothing, sizeof session->nothing, "%s", reasons.text);
    xb_session_unlock(session);
    return driver;
}

/* Waits until the test is to begin. */
static void begin(struct xb_link_session *session)
{
    struct xb_start start;
    xb_start_wait(session->start_at, session->deadline - MARGIN_S, &start);
    xb_session_lock(session);
    session->start = start;
    xb_session_unlock(session);
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
        status = xb_session_find_devices(session, driver, &error);
        if (status == XB_OK)
            status = xb_session_find_pairs(session, driver, &error);
        if (status == XB_OK) {
            begin(session);
            xb_session_test_devices(session, driver);
            xb_session_test_pairs(session, driver);
        }
        driver->backend->driver_close(driver);
    }
    xb_session_lock(session);
    session->status = status;
    if (status != XB_OK)
        session->error = error;
    session->done = true;
    xb_session_unlock(session);
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
    xb_session_lock(session);
    bool done = session->done;
    xb_session_unlock(session);
    return done;
}

/* The process ended before it was done: a driver crashed, or somebody killed it. */
static void note_death(struct xb_link_session *session)
{
    for (size_t i = 0; i < session->device_count; i++)
        session->devices[i].interrupted = session->devices[i].cut;
    for (size_t i = 0; i < session->pair_count; i++)
        session->pairs[i].interrupted = session->pairs[i].cut;
    if (session->device_count == 0 && session->nothing[0] == '\0')
        snprintf(session->nothing, sizeof session->nothing,
                 "the process that measures died while it looked for devices");
}

bool xb_link_session_wait(struct xb_link_session *session)
{
    struct xb_child *child = &session->child;
    double left = session->deadline - xb_clock_now();
    while (!is_done(session) && child->ended_at == 0 && left > 0) {
        (void)xb_child_poll(child, -1, GLANCE_MS);
        xb_child_pass_on_signal(child, xb_interrupt_signal(), left);
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
