/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Measures how many copies fit behind a held queue before enqueuing blocks. We choose a backend's
 * held_operations by the result. Prints JSON. If no copy is enqueued for a second, the call counts
 * as blocked; the release then lets it continue.
 */
#include "backends/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 4000u
#define BYTES (UINT64_C(64) << 20)

struct trial {
    const struct xb_backend *backend;
    struct xb_queue *queue;
    struct xb_buffer *target, *source;
    uint64_t bytes;
    atomic_uint enqueued;
    atomic_bool over;
};

static void *enqueue(void *argument)
{
    struct trial *trial = argument;
    struct xb_error error;
    for (unsigned i = 0; i < MOST; i++) {
        if (trial->backend->queue_copy(trial->queue, trial->target, 0, trial->source, 0,
                                       trial->bytes, &error) != XB_OK)
            break;
        atomic_fetch_add(&trial->enqueued, 1);
    }
    atomic_store(&trial->over, true);
    return NULL;
}

/* Waits until all copies are enqueued, or none for a second. Returns how many were. */
static unsigned watch(struct trial *trial)
{
    const struct timespec second = {.tv_sec = 1};
    unsigned before = 0;
    do {
        before = atomic_load(&trial->enqueued);
        nanosleep(&second, NULL);
    } while (!atomic_load(&trial->over) && atomic_load(&trial->enqueued) != before);
    return atomic_load(&trial->enqueued);
}

static void run(struct trial *trial, const char *direction, bool last)
{
    struct xb_error error;
    pthread_t thread;
    atomic_store(&trial->enqueued, 0);
    atomic_store(&trial->over, false);
    if (trial->backend->queue_hold(trial->queue, &error) != XB_OK ||
        pthread_create(&thread, NULL, enqueue, trial) != 0)
        exit(EXIT_FAILURE);
    unsigned enqueued = watch(trial);
    trial->backend->queue_release(trial->queue);
    pthread_join(thread, NULL);
    if (trial->backend->queue_wait(trial->queue, &error) != XB_OK)
        fprintf(stderr, "%s\n", error.message);
    printf("    {\"bytes\": %llu, \"direction\": \"%s\", \"enqueued\": %u, \"blocked\": %s}%s\n",
           (unsigned long long)trial->bytes, direction, enqueued,
           enqueued < MOST ? "true" : "false", last ? "" : ",");
}

int main(int argc, char **argv)
{
    const struct xb_backend_entry *entry = xb_backend_find(argc > 1 ? argv[1] : "cuda");
    struct trial trial = {.backend = entry != NULL ? entry->backend : NULL};
    struct xb_driver *driver = NULL;
    struct xb_device *device = NULL;
    struct xb_buffer *host = NULL;
    struct xb_buffer *memory = NULL;
    struct xb_probe probe;
    struct xb_error error = {.message = "no such backend in this build"};
    const struct xb_backend *b = trial.backend;
    if (b == NULL || b->driver_open(&driver, &probe, &error) != XB_OK ||
        b->device_open(driver, 0, &device, &error) != XB_OK ||
        b->queue_open(device, &trial.queue, &error) != XB_OK ||
        b->buffer_allocate(device, XB_MEMORY_PINNED, BYTES, &host, &error) != XB_OK ||
        b->buffer_allocate(device, XB_MEMORY_DEVICE, BYTES, &memory, &error) != XB_OK) {
        fprintf(stderr, "hold_depth: %s\n", error.message);
        return EXIT_FAILURE;
    }
    printf("{\n  \"device\": \"%s\", \"driver\": \"%s\", \"runtime\": \"%s\",\n  \"trials\": [\n",
           device->info.name, probe.driver_version, probe.runtime_version);
    const uint64_t sizes[] = {4, 65536, BYTES};
    for (size_t i = 0; i < 3; i++) {
        trial.bytes = sizes[i];
        trial.target = memory;
        trial.source = host;
        run(&trial, "h2d", false);
        trial.target = host;
        trial.source = memory;
        run(&trial, "d2h", i == 2);
    }
    printf("  ]\n}\n");
    b->buffer_free(memory);
    b->buffer_free(host);
    b->queue_close(trial.queue);
    b->device_close(device);
    b->driver_close(driver);
    return EXIT_SUCCESS;
}
