/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* base/clock.h */
/* How fast the host's own memory is, which bounds what its CPUs copy, encode or stage. */
#include "shared_options.h"

#include "base/clock.h"
#include "machine/host_memory.h"
#include "record/mode_list.h"

#include <stdio.h>
#include <string.h>

const struct xb_figure xb_figure_host_memory_rate = {
    XB_FIGURE_RATE("host_memory_rate", "All CPUs near the device copy within the host's memory: "
                                       "bytes read and written, once for a device and node")};

/* On either side: more than the caches of a socket hold. */
#define SIDE_BYTES (UINT64_C(256) << 20)
#define PIECE (UINT64_C(1) << 20)
#define REPETITIONS 3

struct sides {
    char *from, *to;
    uint64_t wrong; /* pieces; each its own number at either end */
};

static void copy_piece(void *argument, uint64_t item, unsigned thread)
{
    const struct sides *sides = argument;
    (void)thread;
    memcpy(sides->to + item * PIECE, sides->from + item * PIECE, PIECE);
}

static enum xb_status time_copies(struct sides *sides, struct xb_crew *crew, double *least,
                                  struct xb_error *error)
{
    const struct xb_crew_job job = {
        .work = copy_piece, .argument = sides, .count = SIDE_BYTES / PIECE};
    for (int i = 0; i < REPETITIONS; i++) {
        for (uint64_t at = 0; at < SIDE_BYTES; at += PIECE / 2) /* at both halves of a piece */
            *(uint64_t *)(void *)(sides->from + at) = at + (uint64_t)i;
        double begin = xb_clock_now();
        XB_TRY(xb_crew_run(crew, &job, error));
        double seconds = xb_clock_now() - begin;
        *least = i == 0 || seconds < *least ? seconds : *least;
        for (uint64_t at = 0; at < SIDE_BYTES; at += PIECE / 2)
            sides->wrong += *(uint64_t *)(void *)(sides->to + at) != at + (uint64_t)i;
    }
    return XB_OK;
}

static enum xb_status measure(unsigned threads, uint64_t *rate, struct xb_error *error)
{
    struct sides sides = {.wrong = 0};
    struct xb_crew *crew = NULL;
    void *memory = NULL;
    double seconds = 0;
    XB_TRY(xb_pages_map_huge(2 * SIDE_BYTES, &memory, error));
    sides.from = memory;
    sides.to = sides.from + SIDE_BYTES;
    enum xb_status status = xb_crew_open(threads, &crew, error);
    if (status == XB_OK)
        status = time_copies(&sides, crew, &seconds, error);
    xb_crew_close(crew);
    xb_pages_unmap(memory, 2 * SIDE_BYTES);
    *rate = sides.wrong == 0 && seconds > 0 ? (uint64_t)(2.0 * SIDE_BYTES / seconds) : 0;
    return status;
}

void xb_host_rate_tell(const struct xb_mode_context *context, struct xb_result *result)
{
    const struct xb_case *test = context->test;
    const unsigned threads = xb_threads_usual();
    struct xb_error ignored; /* too little memory, or too few threads: it is not told */
    char name[XB_WORKSPACE_NAME];
    uint64_t rate = 0;
    if (test->bytes < XB_HOST_RATE_FROM || test->latency || test->simultaneous ||
        !xb_mode_declares(test->mode, &xb_figure_host_memory_rate))
        return;
    snprintf(name, sizeof name, "host memory, node %d", test->has_node ? (int)test->node : -1);
    if (!xb_workspace_recall(context->workspace, name, &rate)) {
        if (measure(threads, &rate, &ignored) != XB_OK)
            rate = 0;
        xb_workspace_remember(context->workspace, name, rate);
    }
    if (rate == 0)
        return;
    xb_result_compute(result, &xb_figure_host_memory_rate, (double)rate);
    xb_result_detail_number(result, "host_memory_threads", threads);
}
