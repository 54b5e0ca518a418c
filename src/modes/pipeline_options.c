/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include "shared_options.h"

#include <string.h>

const struct xb_option xb_option_order = {
    XB_CHOICES("order", "ORDER", "overlapped,serial,serial-pageable",
               "In which order chunks are read, copied and computed on: 'overlapped' all steps at "
               "the same time, over --buffers chunks; 'serial' one step after the other, from "
               "page-locked memory; 'serial-pageable' the same from ordinary memory.",
               "overlapped", "serial", "serial-pageable")};

bool xb_order_is_overlapped(const char *variant)
{
    return strcmp(variant, "overlapped") == 0;
}

bool xb_order_is_pageable(const char *variant)
{
    return strcmp(variant, "serial-pageable") == 0;
}

const struct xb_option xb_option_io = {XB_CHOICES(
    "io", "WAY", "cached",
    "How files are read: 'cached' through the page cache; 'direct' past it (O_DIRECT, by "
    "io_uring); 'mmap' out of a mapping; 'gds' to the device's memory by the runtime (cuFile).",
    "cached", "direct", "mmap", "gds")};

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
    XB_COUNTS("readers", "0", 0, XB_CREW_THREADS - 1,
              "How many host threads read: a number, a list (1,4,16), a range that doubles "
              "(1..16), or 0 for one on each CPU near the device except one, which feeds the "
              "device (16 at most; 4 for direct and gds).")};

#define MOST_BY_DEFAULT 16u
#define PAST_THE_CACHE_BY_DEFAULT 4u

unsigned xb_readers_of(const struct xb_case *test)
{
    unsigned given = (unsigned)xb_case_setting(test, &xb_option_readers)->count;
    if (given > 0)
        return given;
    if (xb_io_is_direct(test))
        return PAST_THE_CACHE_BY_DEFAULT;
    unsigned cpus = xb_threads_usual();
    return cpus > MOST_BY_DEFAULT ? MOST_BY_DEFAULT : cpus > 1 ? cpus - 1 : 1;
}

/* Through the page cache a piece is copied by the thread, so all threads are to have one of each
 * chunk; a disk wants long reads. */
#define CACHED_PIECE (UINT64_C(512) << 10)
#define DIRECT_PIECE (UINT64_C(2) << 20)

/* So many pieces of a file are recorded (recorder.c) with room for what else there is. */
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
    XB_FIGURE_RATE("rate_" stage, what " alone: the files' bytes divided by its time")
const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES] = {
    {RATE("read", "Reading")},
    {RATE("in", "The copies into the device")},
    {RATE("compute", "The kernels")},
    {RATE("out", "Bringing the results back")},
};

#define SHARE "In one recorded iteration: the share of the time in which "
const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES] = {
    {XB_FIGURE_GAIN("busy_read", SHARE "the readers read, on average")},
    {XB_FIGURE_GAIN("busy_in", SHARE "data was copied into the device")},
    {XB_FIGURE_GAIN("busy_compute", SHARE "kernels ran")},
    {XB_FIGURE_GAIN("busy_out", SHARE "results were brought back")},
};

#define WAIT(stage, who)                                                                           \
    XB_FIGURE_NUMBER("wait_" stage, SHARE who " waited between the first turn and the last")
const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES] = {
    {WAIT("read", "the readers, on average,")},
    {WAIT("in", "the copies into the device")},
    {WAIT("compute", "the kernels")},
    {WAIT("out", "the copies out of the device")},
};
