/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* base/clock.h */
/* How fast the host's own memory is, which bounds what its CPUs copy, encode or stage. */
#include "shared_options.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "machine/host_memory.h"
#include "record/mode_list.h"

#include <stdio.h>

const struct xb_figure xb_figure_host_memory_rate = {XB_FIGURE_RATE(
    "host_memory_rate", "All CPUs near the device read the host's memory, once for a "
                        "device and node")};

/* More than the caches of a socket hold. */
#define BYTES (UINT64_C(512) << 20)
#define PIECE (UINT64_C(1) << 20)
#define PIECES (BYTES / PIECE)
#define REPETITIONS 3

struct reading {
    const uint64_t *memory;
    uint64_t sums[PIECES];
};

/* Reading alone: a store would read its line first, which nobody counts. */
static void add_piece(void *argument, uint64_t item, unsigned thread)
{
    struct reading *reading = argument;
    const uint64_t *words = reading->memory + item * (PIECE / 8);
    uint64_t sum = 0;
    (void)thread;
    for (uint64_t i = 0; i < PIECE / 8; i++)
        sum += words[i];
    reading->sums[item] = sum;
}

static void fill(void *argument, uint64_t begin, uint64_t end)
{
    uint64_t *words = argument;
    for (uint64_t i = begin / 8; i < end / 8; i++)
        words[i] = i;
}

/* The best of a few. One thread more than read waits for the others. */
static enum xb_status measure(unsigned threads, uint64_t *rate, struct xb_error *error)
{
    struct reading reading;
    struct xb_crew *crew = NULL;
    void *memory = NULL;
    uint64_t sum = 0;
    double least = 0;
    const struct xb_crew_job job = {.work = add_piece, .argument = &reading, .count = PIECES};
    XB_TRY(xb_pages_map_huge(BYTES, &memory, error));
    xb_parallel_for(BYTES, PIECE, fill, memory);
    reading.memory = memory;
    enum xb_status status = xb_crew_open(threads + 1, &crew, error);
    for (int i = 0; i < REPETITIONS && status == XB_OK; i++) {
        double begin = xb_clock_now();
        status = xb_crew_run(crew, &job, error);
        double seconds = xb_clock_now() - begin;
        least = i == 0 || seconds < least ? seconds : least;
    }
    for (uint64_t i = 0; i < PIECES && status == XB_OK; i++)
        sum += reading.sums[i];
    xb_crew_close(crew);
    xb_pages_unmap(memory, BYTES);
    if (status == XB_OK && sum != BYTES / 8 * (BYTES / 8 - 1) / 2)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "what the host's memory gave is not what was written: test the memory");
    *rate = status == XB_OK && least > 0 ? (uint64_t)((double)BYTES / least) : 0;
    return status;
}

void xb_host_rate_tell(const struct xb_mode_context *context, struct xb_result *result)
{
    const struct xb_case *test = context->test;
    const unsigned threads = xb_threads_usual();
    struct xb_error error;
    char name[XB_WORKSPACE_NAME];
    uint64_t rate = 0;
    if (test->bytes < XB_HOST_RATE_FROM || test->latency || test->simultaneous ||
        !xb_mode_declares(test->mode, &xb_figure_host_memory_rate))
        return;
    snprintf(name, sizeof name, "host memory, node %d", test->has_node ? (int)test->node : -1);
    if (!xb_workspace_recall(context->workspace, name, &rate)) {
        enum xb_status status = measure(threads, &rate, &error);
        if (status != XB_OK && status != XB_ERR_MEMORY)
            xb_result_warn(result, "how fast the host's memory is, is not known: %.180s",
                           error.message);
        xb_workspace_remember(context->workspace, name, rate);
    }
    if (rate == 0)
        return;
    xb_result_compute(result, &xb_figure_host_memory_rate, (double)rate);
    xb_result_detail_number(result, "host_memory_threads", threads);
}
