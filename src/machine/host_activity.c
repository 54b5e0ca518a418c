/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "host_activity.h"

#include "base/clock.h"
#include "host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* More than a core's caches hold, read at places that no prefetcher guesses. */
#define BYTES ((size_t)64 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define LINE 64
#define LOADS 400

bool xb_cpu_times_read(const char *path, struct xb_cpu_times *times)
{
    char line[512];
    FILE *file = fopen(path, "re");
    memset(times, 0, sizeof *times);
    if (file == NULL)
        return false;
    /* user, nice, system, idle, iowait, irq, softirq, steal; guests are in the first two */
    unsigned long long t[8] = {0};
    bool ok = fgets(line, sizeof line, file) != NULL &&
              sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                     &t[3], &t[4], &t[5], &t[6], &t[7]) >= 5;
    while (ok && fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu", 3) == 0)
        times->cpus++;
    fclose(file);
    times->busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    times->total = times->busy + t[3] + t[4];
    return ok && times->cpus > 0;
}

struct xb_memory_probe {
    volatile uint64_t *memory;
    uint64_t state; /* which line is next */
};

struct xb_memory_probe *xb_memory_probe_open(void)
{
    struct xb_error ignored;
    if (xb_host_memory_check(BYTES, &ignored) != XB_OK)
        return NULL;
    struct xb_memory_probe *probe = calloc(1, sizeof *probe);
    void *memory = aligned_alloc(HUGE_PAGE, BYTES);
    if (probe == NULL || memory == NULL) {
        free(memory);
        free(probe);
        return NULL;
    }
    (void)madvise(memory, BYTES, MADV_HUGEPAGE); /* else walks of page tables are timed too */
    memset(memory, 0, BYTES);
    probe->memory = memory;
    return probe;
}

void xb_memory_probe_close(struct xb_memory_probe *probe)
{
    if (probe != NULL)
        free((void *)probe->memory);
    free(probe);
}

/* Each load has to wait for the one before, because its place depends on the value, a zero. The
 * places are those of Knuth's generator MMIX (The Art of Computer Programming 2, 3.3.4). */
double xb_memory_probe_time(struct xb_memory_probe *probe)
{
    double begin = xb_clock_now();
    for (int i = 0; i < LOADS; i++)
        probe->state = probe->state * UINT64_C(6364136223846793005) +
                       UINT64_C(1442695040888963407) +
                       probe->memory[(probe->state >> 20) % (BYTES / LINE) * (LINE / 8)];
    return (xb_clock_now() - begin) / LOADS;
}
