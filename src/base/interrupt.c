/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "interrupt.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* A signal that arrives sooner than this after a noted one belongs to the same request. */
#define SAME_REQUEST_NS 1000000000LL

/* These are atomic because the handler can run in two threads at once. */
static atomic_int caught;
static atomic_int count;
static atomic_int most_noted = 1;
static atomic_llong last_ns; /* when the last request was noted; 0 if none was */

/* The end of the whole process's time; 0 if there is none. */
static double deadline;

/* Signals that end a run. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING_COUNT (sizeof ending / sizeof ending[0])

/* Notes a request. The one after the last that may be noted kills the process. */
static void note(int number)
{
    int code = errno;
    int none = 0;
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    long long now = time.tv_sec * 1000000000LL + time.tv_nsec;
    long long last = atomic_load(&last_ns);
    if ((last == 0 || now - last >= SAME_REQUEST_NS) &&
        atomic_compare_exchange_strong(&last_ns, &last, now)) {
        (void)atomic_compare_exchange_strong(&caught, &none, number);
        if (atomic_fetch_add(&count, 1) >= atomic_load(&most_noted)) {
            signal(number, SIG_DFL);
            (void)raise(number); /* it is blocked in the handler and kills when that returns */
        }
    }
    errno = code;
}

void xb_interrupt_catch_times(int requests)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    struct sigaction inherited;
    atomic_store(&most_noted, requests);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        sigaddset(&action.sa_mask, ending[i]);
    /* Leaves an ignored signal ignored: nohup and shells' background jobs rely on that. */
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (sigaction(ending[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    /* If a pipe's reader left or a file may not grow, let the write fail instead: these signals
     * would kill the process and lose its results. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int xb_interrupt_signal(void)
{
    return atomic_load(&caught);
}

int xb_interrupt_count(void)
{
    return atomic_load(&count);
}

void xb_interrupt_set_deadline(double when)
{
    deadline = when;
}

bool xb_interrupt_is_due(void)
{
    return xb_interrupt_signal() != 0 || (deadline > 0 && xb_clock_now() >= deadline);
}
