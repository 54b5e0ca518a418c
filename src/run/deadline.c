/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_cond_clockwait */
#include "deadline.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/terminal.h"
#include "base/text.h"
#include "measure/plan/case.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_WAIT_S 3600.0 /* a deadline may be further away than a time_t can say */

/* A process has one of these, because it has one end. All but `watched` is written and read with
 * the lock held. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool watched;      /* set before there is a second thread */
    double end;        /* when the process ends */
    int code;          /* and its exit code, unless a signal came */
    const char *doing; /* NULL: nothing that hangs */
    struct xb_run run; /* as of the end of the last case, with results and devices of its own */
    xb_deadline_write *write; /* NULL before there are cases */
    void *argument;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Ends the process without exit handlers and without closing libraries: those could hang as well.
 * Writes what is measured, and says what does not end, and where to look. */
_Noreturn static void end_process(void)
{
    struct xb_run *run = &watch.run;
    struct xb_error error;
    const char *what = watch.doing;
    char name[160], written[96] = "";
    size_t done = run->done_count;
    if (xb_terminal_has_cursor(stderr))
        fputs("\r\033[K", stderr); /* the line of progress: the table comes next */
    if (watch.write != NULL) {
        what = done < run->case_count ? xb_case_text(&run->results[done].test, name, sizeof name)
                                      : "closing the devices";
        (void)XB_FAIL(&error, XB_ERR_RUNTIME,
                      "it had not ended %.0f s after the deadline: a driver call hangs, or takes "
                      "that long",
                      XB_DEADLINE_GRACE_S);
        xb_run_abandon(run, &error);
        if (watch.write(watch.argument, run))
            snprintf(written, sizeof written, "The %zu of %zu rows before it are written. ", done,
                     run->case_count);
        else
            snprintf(written, sizeof written, "Not all of what was measured could be written. ");
    }
    xb_say("the deadline was %.0f s ago, and %s has not ended: a driver call hangs, or takes that "
           "long. %sLook for a hung GPU in the kernel's log (dmesg), take another --backend or "
           "--device, or give it more time with --deadline.",
           XB_DEADLINE_GRACE_S, what, written);
    (void)fflush(stdout);
    _exit(xb_interrupt_signal() != 0 ? 128 + xb_interrupt_signal() : watch.code);
}

static void *watch_clock(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.lock);
    for (;;) {
        double now = xb_clock_now();
        double until = watch.end - now < LONGEST_WAIT_S ? watch.end : now + LONGEST_WAIT_S;
        struct timespec time = {.tv_sec = (time_t)until};
        time.tv_nsec = (long)((until - (double)time.tv_sec) * 1e9);
        if (watch.doing == NULL)
            pthread_cond_wait(&watch.changed, &watch.lock);
        else if (now < watch.end)
            (void)pthread_cond_clockwait(&watch.changed, &watch.lock, CLOCK_MONOTONIC, &time);
        else
            end_process();
    }
}

double xb_deadline_of(double seconds)
{
    return seconds > 0 ? xb_clock_now() + seconds : 0;
}

enum xb_status xb_deadline_watch(double deadline, int code, struct xb_error *error)
{
    pthread_t thread;
    if (deadline <= 0)
        return XB_OK;
    xb_interrupt_set_deadline(deadline);
    watch.end = deadline + XB_DEADLINE_GRACE_S;
    watch.code = code;
    watch.watched = true;
    int failed = xb_thread_start(&thread, watch_clock, NULL);
    if (failed != 0)
        return XB_FAIL_ERRNO(error, "pthread_create", failed, "no thread to keep --deadline: %s",
                             strerror(failed));
    pthread_detach(thread); /* it watches until the process ends, which may hang too */
    return XB_OK;
}

void xb_deadline_doing(const char *what)
{
    if (!watch.watched)
        return;
    double least = xb_clock_now() + XB_DEADLINE_GRACE_S;
    pthread_mutex_lock(&watch.lock);
    /* Writing may take until after the deadline. What comes after it has the same grace. */
    if (watch.doing == NULL && watch.end < least)
        watch.end = least;
    watch.doing = what;
    watch.write = NULL;
    pthread_cond_signal(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
}

void xb_deadline_measuring(const struct xb_run *run, xb_deadline_write *write, void *argument)
{
    if (!watch.watched)
        return;
    struct xb_run_device *devices = xb_new(run->device_count, sizeof *devices);
    struct xb_result *results = xb_new(run->case_count, sizeof *results);
    memcpy(results, run->results, run->case_count * sizeof *results);
    xb_deadline_doing("measuring");
    pthread_mutex_lock(&watch.lock);
    watch.run = (struct xb_run){.devices = devices, .results = results};
    watch.write = write;
    watch.argument = argument;
    pthread_mutex_unlock(&watch.lock);
    xb_deadline_finished(run);
}

/* What the results point to is not copied, because a result that is final does not change. */
void xb_deadline_finished(const struct xb_run *run)
{
    if (!watch.watched)
        return;
    pthread_mutex_lock(&watch.lock);
    struct xb_run_device *devices = watch.run.devices;
    struct xb_result *results = watch.run.results;
    size_t known = watch.run.done_count;
    watch.run = *run;
    watch.run.devices = devices;
    watch.run.results = results;
    memcpy(devices, run->devices, run->device_count * sizeof *devices);
    memcpy(&results[known], &run->results[known], (run->done_count - known) * sizeof *results);
    pthread_mutex_unlock(&watch.lock);
}
