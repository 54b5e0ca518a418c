/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clocks of conditions */
#include "pcie.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The header promises this bound. Without one, a double may not fit in a struct timespec. */
#define LONGEST_INTERVAL_S 3600.0

struct xb_pcie_watch {
    pthread_t thread;
    struct xb_pcie_watch_task task;
    struct xb_pcie_path path;
    char device[PATH_MAX];
    /* Odd while armed; each change adds one: a reading across two armings shows as such. */
    atomic_uint arming;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals that `stop` changed */
    bool stop;
    /* Only the thread uses these until it has ended. */
    struct xb_pcie_load load;
    struct {
        double speed_gts;
        unsigned width;
        unsigned arming;
    } last[XB_PCIE_HOPS]; /* the last reading that counted */
};

static void read_hop(struct xb_pcie_watch *watch, size_t hop)
{
    struct xb_pcie_seen *seen = &watch->load.hops[hop];
    unsigned arming = atomic_load(&watch->arming);
    double speed_gts;
    unsigned width;
    if (arming % 2 == 0 ||
        !xb_pcie_hop_read(watch->task.root, &watch->path.hops[hop], &speed_gts, &width))
        return;
    if (atomic_load(&watch->arming) != arming) /* the reading may be from after the transfers */
        return;
    if (seen->readings > 0 &&
        (speed_gts != watch->last[hop].speed_gts || width != watch->last[hop].width))
        seen->changes++;
    /* Between two armings nothing is copied, so the link may train down: that is no drop. */
    if (seen->readings > 0 && arming == watch->last[hop].arming &&
        (speed_gts < watch->last[hop].speed_gts || width < watch->last[hop].width))
        seen->drops++;
    seen->readings++;
    watch->last[hop].arming = arming;
    watch->last[hop].speed_gts = speed_gts;
    watch->last[hop].width = width;
    if (speed_gts > seen->speed_gts)
        seen->speed_gts = speed_gts;
    if (width > seen->width)
        seen->width = width;
}

static void look_for_device(struct xb_pcie_watch *watch)
{
    if (watch->path.present && access(watch->device, F_OK) != 0 && errno == ENOENT)
        watch->load.gone = true;
}

static void *work(void *argument)
{
    struct xb_pcie_watch *watch = argument;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stop) {
        pthread_mutex_unlock(&watch->lock);
        for (size_t i = 0; i < watch->load.count; i++)
            read_hop(watch, i);
        look_for_device(watch);
        if (watch->task.look != NULL)
            watch->task.look(watch->task.argument);
        pthread_mutex_lock(&watch->lock);
        struct timespec end; /* of this clock: the condition knows no other */
        clock_gettime(CLOCK_MONOTONIC, &end);
        double whole, part = modf(watch->task.interval, &whole);
        end.tv_sec += (time_t)whole;
        end.tv_nsec += (long)(part * 1e9);
        if (end.tv_nsec >= 1000000000L) {
            end.tv_nsec -= 1000000000L;
            end.tv_sec++;
        }
        while (!watch->stop &&
               pthread_cond_timedwait(&watch->changed, &watch->lock, &end) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&watch->lock);
    look_for_device(watch); /* it may have vanished since the last round */
    return NULL;
}

static void release(struct xb_pcie_watch *watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

enum xb_status xb_pcie_watch_start(const struct xb_pcie_watch_task *task,
                                   struct xb_pcie_watch **watch, struct xb_error *error)
{
    struct xb_pcie_watch *started = xb_new(1, sizeof *started);
    pthread_condattr_t attributes;
    if (snprintf(started->device, PATH_MAX, "%s/%s", task->root, task->bdf) >= PATH_MAX) {
        free(started);
        return XB_FAIL(error, XB_ERR_SYSTEM, "the folder of %s has too long a name", task->bdf);
    }
    started->task = *task;
    started->path = *task->path;
    started->task.interval = fmin(fmax(task->interval, 0), LONGEST_INTERVAL_S); /* 0 for NaN */
    started->load.count = task->path->count;
    pthread_mutex_init(&started->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&started->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int code = xb_thread_start(&started->thread, work, started);
    if (code != 0) {
        release(started);
        return XB_FAIL_ERRNO(error, "pthread_create", code, "no thread to watch the link of %s",
                             task->bdf);
    }
    *watch = started;
    return XB_OK;
}

void xb_pcie_watch_arm(struct xb_pcie_watch *watch, bool armed)
{
    unsigned arming = atomic_load(&watch->arming);
    while ((arming % 2 == 1) != armed &&
           !atomic_compare_exchange_weak(&watch->arming, &arming, arming + 1))
        ;
}

void xb_pcie_watch_stop(struct xb_pcie_watch *watch, struct xb_pcie_load *load)
{
    pthread_mutex_lock(&watch->lock);
    watch->stop = true;
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    *load = watch->load;
    release(watch);
}
