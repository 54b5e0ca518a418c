/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include "shared_options.h"
#include "stage_figures.h"

#include <string.h>

static const char *const order_words[] = {"overlapped", "serial", "serial-pageable", NULL};

const struct xb_option xb_option_order = {
    .name = "order",
    .type = XB_OPTION_CHOICES,
    .argument = "ORDER[,ORDER]",
    .default_text = "overlapped,serial,serial-pageable",
    .help = "In which order chunks are read, copied and computed on: 'overlapped' all steps at the "
            "same time, over --buffers chunks; 'serial' one step after the other, from page-locked "
            "memory; 'serial-pageable' the same from ordinary memory. One case is run for each.",
    .choices = order_words,
    .selects = true,
};

bool xb_order_is_overlapped(const char *variant)
{
    return strcmp(variant, "overlapped") == 0;
}

bool xb_order_is_pageable(const char *variant)
{
    return strcmp(variant, "serial-pageable") == 0;
}

static const char *const io_words[] = {"cached", "direct", "mmap", "gds", NULL};

const struct xb_option xb_option_io = {
    .name = "io",
    .type = XB_OPTION_CHOICES,
    .argument = "WAY[,WAY]",
    .default_text = "cached",
    .help = "How files are read: 'cached' through the page cache; 'direct' past it (O_DIRECT, by "
            "io_uring); 'mmap' out of a mapping; 'gds' to the device's memory by the runtime "
            "(cuFile). One case is run for each.",
    .choices = io_words,
    .selects = true,
};

static const char *io_word(const struct xb_case *test)
{
    return xb_case_setting(test, &xb_option_io)->word;
}

bool xb_io_is_by_device(const struct xb_case *test)
{
    return strcmp(io_word(test), "gds") == 0;
}

enum xb_io xb_io_of(const struct xb_case *test)
{
    if (strcmp(io_word(test), "direct") == 0)
        return XB_IO_DIRECT;
    return strcmp(io_word(test), "mmap") == 0 ? XB_IO_MMAP : XB_IO_CACHED;
}

bool xb_io_is_direct(const struct xb_case *test)
{
    return xb_io_is_by_device(test) || xb_io_of(test) == XB_IO_DIRECT;
}

const struct xb_option xb_option_readers = {
    .name = "readers",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "0",
    .help = "How many host threads read: a number, a list (1,4,16), a range that doubles (1..16), "
            "or 0 for one on each CPU near the device except one, which feeds the device (16 at "
            "most; 4 for direct and gds). One case is run for each.",
    .minimum = 0,
    .maximum = XB_CREW_THREADS - 1,
    .selects = true,
};

#define MOST_BY_DEFAULT 16u
#define PAST_THE_CACHE_BY_DEFAULT 4u

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned xb_readers_of(const struct xb_case *test)
{
    unsigned given = (unsigned)xb_case_setting(test, &xb_option_readers)->count;
    if (given > 0)
        return given;
    if (xb_io_is_direct(test))
        return PAST_THE_CACHE_BY_DEFAULT;
    unsigned cpus = xb_threads_usual();
    return least(cpus > 1 ? cpus - 1 : 1, MOST_BY_DEFAULT);
}

/* Through the page cache a piece is copied by the thread, so all threads are to have one of each
 * chunk; a disk wants long reads. */
#define CACHED_PIECE (UINT64_C(512) << 10)
#define DIRECT_PIECE (UINT64_C(2) << 20)

/* So many pieces of a file are recorded (recorder_internal.h) with room for what else there is. */
#define MOST_PIECES UINT64_C(32768)

uint64_t xb_reader_piece_of(const struct xb_case *test)
{
    uint64_t piece = xb_io_is_direct(test) ? DIRECT_PIECE : CACHED_PIECE;
    while (test->bytes / piece > MOST_PIECES)
        piece *= 2;
    return piece;
}

/* ---- figures ---- */

#define RATE(stage, what)                                                                          \
    {                                                                                              \
        .name = "rate_" stage, .unit = XB_UNIT_RATE, .more_is_better = true,                       \
        .help = what " alone: the files' bytes divided by its time",                               \
    }
const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES] = {
    RATE("read", "Reading"),
    RATE("in", "The copies into the device"),
    RATE("compute", "The kernels"),
    RATE("out", "Bringing the results back"),
};

#define BUSY(stage, when)                                                                          \
    {                                                                                              \
        .name = "busy_" stage, .unit = XB_UNIT_RATIO, .more_is_better = true,                      \
        .help = "In one recorded iteration: the share of the time in which " when,                 \
    }
const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES] = {
    BUSY("read", "the readers read, on average"),
    BUSY("in", "data was copied into the device"),
    BUSY("compute", "kernels ran"),
    BUSY("out", "results were brought back"),
};

#define WAIT(stage, who)                                                                           \
    {                                                                                              \
        .name = "wait_" stage, .unit = XB_UNIT_RATIO,                                              \
        .help = "In one recorded iteration: the share of the time in which " who                   \
                " waited between the first turn and the last",                                     \
    }
const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES] = {
    WAIT("read", "the readers, on average,"),
    WAIT("in", "the copies into the device"),
    WAIT("compute", "the kernels"),
    WAIT("out", "the copies out of the device"),
};

#define EACH(figures)                                                                              \
    &(figures)[XB_PIPELINE_READ], &(figures)[XB_PIPELINE_IN], &(figures)[XB_PIPELINE_COMPUTE],     \
        &(figures)[XB_PIPELINE_OUT]
const struct xb_figure *const xb_pipeline_figures[] = {
    &xb_figure_gpu_busy,       &xb_figure_speed_up,
    &xb_figure_share_of_bound, &xb_figure_serial_time,
    EACH(xb_pipeline_rates),   EACH(xb_pipeline_busy),
    EACH(xb_pipeline_wait),    NULL};

enum xb_status xb_pipeline_compute(struct xb_result *result, struct xb_error *error)
{
    double whole = result->bandwidth.median;
    double rates[XB_PIPELINE_STAGES] = {0};
    double slowest = 0;
    double serial = 0;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < XB_PIPELINE_STAGES; i++) {
        status = xb_result_median(result, &xb_pipeline_rates[i], &rates[i], error);
        if (rates[i] > 0 && (slowest == 0 || rates[i] < slowest))
            slowest = rates[i];
    }
    if (status == XB_OK)
        status = xb_result_median(result, &xb_figure_serial_time, &serial, error);
    if (status != XB_OK || !(rates[XB_PIPELINE_OUT] > 0)) /* the last one that is timed */
        return status;
    xb_result_compute(result, &xb_figure_gpu_busy, whole / rates[XB_PIPELINE_COMPUTE]);
    xb_result_compute(result, &xb_figure_share_of_bound, whole / slowest);
    if (serial > 0)
        xb_result_compute(result, &xb_figure_speed_up,
                          serial * whole / (double)result->bytes_moved);
    return XB_OK;
}
