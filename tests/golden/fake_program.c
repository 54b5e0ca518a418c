/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xferbench over the fake backend, in virtual time: the same command gives the same figures,
 * whatever the machine does. compare_builds.py runs it from two builds and compares what they
 * print.
 *
 * XB_FAKE_DEVICES in the environment is the number of devices (2); XB_FAKE_WITHOUT names the
 * capabilities that they lack, XB_FAKE_DAMAGE what copies do wrong (enum xb_damage), and
 * XB_FAKE_FAIL_AT the call that fails, as numbers. XB_FAKE_OPERATION_MS is what each operation
 * takes beside its bytes, XB_FAKE_ARCHITECTURE what the devices are; XB_FAKE_EVENTS: fake_events.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "doubles/fake_internal.h"
#include "fake_events.h"
#include "machine/host_memory.h"
#include "measure/sample/measure.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each look at a clock takes so long. Nothing else but queues takes any time. */
#define LOOK_NS 1000
/* When every run begins: 2026-01-01 00:00:00 UTC. */
#define BEGIN_S 1767225600

/* The linker puts __wrap_NAME in the place of NAME, which it calls __real_NAME
 * (tests/CMakeLists.txt). */

static _Thread_local bool is_main;
/* Every thread has a time of its own: how the threads take turns makes no difference. */
static _Thread_local long long passed_ns;

static unsigned number_of(const char *variable, unsigned usual)
{
    const char *text = getenv(variable);
    return text != NULL ? (unsigned)strtoul(text, NULL, 0) : usual;
}

__attribute__((constructor)) static void begin(void)
{
    is_main = true;
    xb_fake_reset();
    xb_fake.device_count = number_of("XB_FAKE_DEVICES", 2);
    xb_fake.capabilities &= ~number_of("XB_FAKE_WITHOUT", 0);
    xb_fake.damage = (enum xb_damage)number_of("XB_FAKE_DAMAGE", XB_DAMAGE_NONE);
    xb_fake.fail_at = number_of("XB_FAKE_FAIL_AT", 0);
    xb_fake.device_memory_free = UINT64_C(1) << 30;
    xb_fake.operation_s = number_of("XB_FAKE_OPERATION_MS", 0) / 1e3;
    xb_fake.architecture = getenv("XB_FAKE_ARCHITECTURE");
    xb_fake.varies = true;
    xb_fake.pci_bdf = "ffff:ff:1f.0"; /* which no machine has, so that none tells of its path */
}

/* Only the main thread waits for queues. */
static long long time_ns(void)
{
    return passed_ns + (is_main ? (long long)(xb_fake_host_time() * 1e9) : 0);
}

double xb_fake_event(const char *name)
{
    const char *events = getenv("XB_FAKE_EVENTS"),
               *event = events != NULL ? strstr(events, name) : NULL;
    double from = 0, to = 0, now = (double)time_ns() * 1e-9;
    if (event == NULL || sscanf(event + strlen(name), "%lf %lf", &from, &to) != 2)
        return 0;
    return now > from && now < to ? now - from : 0;
}

/* What changes whenever somebody looks at the clock. */
static void have_events(void)
{
    static bool interrupted;
    if (getenv("XB_FAKE_EVENTS") == NULL || !is_main)
        return;
    xb_fake.damage = xb_fake_event("wrong") > 0 ? XB_DAMAGE_BIT_FLIPPED : XB_DAMAGE_NONE;
    if (xb_fake_event("signal") > 0 && !interrupted) {
        interrupted = true;
        (void)raise(SIGINT);
    }
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    passed_ns += LOOK_NS;
    have_events();
    long long ns = time_ns();
    if (id == CLOCK_REALTIME)
        ns += BEGIN_S * 1000000000LL;
    *now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = ns % 1000000000};
    return 0;
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    (void)left;
    passed_ns += (long long)pause->tv_sec * 1000000000 + pause->tv_nsec;
    return 0;
}

time_t __wrap_time(time_t *now)
{
    if (now != NULL)
        *now = BEGIN_S;
    return BEGIN_S;
}

/* Nothing is late here. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until)
{
    (void)until;
    return pthread_cond_wait(condition, lock);
}

/* Nobody opens devices ahead: who waits for that looks at the clock as often as it takes. */
void __wrap_xb_openings_begin(struct xb_opening *openings, const bool *wanted, size_t count,
                              bool also_one)
{
    (void)openings;
    (void)wanted;
    (void)count;
    (void)also_one;
}

bool __wrap_xb_process_memory_read(struct xb_process_memory *memory)
{
    *memory =
        (struct xb_process_memory){.resident = 1 << 20, .highest = 2 << 20, .anonymous = 1 << 19};
    return true;
}
