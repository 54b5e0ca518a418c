/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"
#include "readings.h"
#include "shared_options.h"
#include "stage_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- which rows ---- */

static bool is_by(const struct xb_record_case *test, const char *io)
{
    return strcmp(xb_record_parameter(test, xb_option_io.name), io) == 0;
}

static const struct xb_record_detail *find_detail(const struct xb_record_case *test, size_t process,
                                                  const char *name)
{
    for (size_t i = 0; i < test->rows[process].detail_count; i++)
        if (strcmp(test->rows[process].details[i].name, name) == 0)
            return &test->rows[process].details[i];
    return NULL;
}

/* ---- words ---- */

const char *xb_page_cache_word(double share)
{
    if (isnan(share))
        return "unknown";
    return share >= 0.999 ? "warm" : share <= 0.001 ? "cold" : "partly warm";
}

static void add_rate(struct xb_reading *reading, const struct xb_record_case *test)
{
    double rate = xb_reading_median(reading, test, &xb_figure_bandwidth);
    const char *cache = NULL; /* what every process says of it that has it */
    bool differs = false;
    for (size_t i = 0; i < xb_reading_record(reading)->process_count; i++) {
        const struct xb_record_detail *detail = find_detail(test, i, "page_cache");
        const char *own = detail != NULL ? detail->text : NULL;
        differs = differs || (own != NULL && cache != NULL && strcmp(own, cache) != 0);
        cache = own != NULL ? own : cache;
    }
    xb_reading_phrase(reading, "{name}: {rate:bandwidth} GB/s from file to device", test, rate);
    if (cache != NULL && !differs && (is_by(test, "cached") || is_by(test, "mmap")))
        xb_reading_add(reading, ", page cache %s", cache);
    xb_reading_add(reading, ".");
}

/* From here on the slowest stage is what a case is limited by. */
#define NEAR_ITS_BOUND 0.9

/* Kernels that take that much longer beside the other stages than alone are told. */
#define SLOWED 0.05

/* Which stage sets the pace, and what helps there. */
static void add_pace(struct xb_reading *reading, const struct xb_record_case *test)
{
    static const struct {
        const char *words, *advice;
    } stages[XB_PIPELINE_STAGES] = {
        {"Reading sets", "More --readers or faster storage would help."},
        {"The copies to the device set", "The link is the limit: move less (mode quantize)."},
        {"The kernels set", "The device is kept busy: only a faster kernel would help."},
        {"Bringing results back sets", "Larger chunks would help (--chunk)."}};
    double share = xb_reading_median(reading, test, &xb_figure_share_of_bound);
    size_t slowest = XB_PIPELINE_STAGES;
    double least = 0;
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        double rate = xb_reading_median(reading, test, &xb_pipeline_rates[i]);
        if (rate > 0 && (slowest == XB_PIPELINE_STAGES || rate < least)) {
            slowest = i;
            least = rate;
        }
    }
    if (slowest == XB_PIPELINE_STAGES || !(share > 0))
        return;
    xb_reading_phrase(
        reading,
        " {text} the pace: {rate:slowest_stage_rate} GB/s alone. Throughput is {share} of that.",
        stages[slowest].words, least, share < 1 ? share : 1);
    xb_reading_number(reading, "share_of_bound", share, XB_UNIT_RATIO);
    if (share >= NEAR_ITS_BOUND)
        xb_reading_add(reading, " %s", stages[slowest].advice);
    else if (xb_order_is_overlapped(test->variant))
        xb_reading_add(reading, " The stages wait for each other: try more --buffers, or another "
                                "--chunk.");
}

static void add_busy(struct xb_reading *reading, const struct xb_record_case *test)
{
    double busy = xb_reading_median(reading, test, &xb_figure_gpu_busy);
    double recorded = xb_reading_median(reading, test, &xb_pipeline_busy[XB_PIPELINE_COMPUTE]);
    if (!(busy > 0))
        return;
    xb_reading_phrase(reading, " The device computed {share-of-time}", busy);
    if (recorded > busy + SLOWED)
        xb_reading_phrase(reading,
                          ", and {share:busy_compute} in the recorded iteration: its kernels are "
                          "slower beside the other stages than alone",
                          recorded);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "gpu_busy", busy, XB_UNIT_RATIO);
}

/* Whether both are the same work: of the same files in the same batches, and with the same kernel
 * in every process. */
static bool is_same_work(const struct xb_reading *reading, const struct xb_record_case *test,
                         const struct xb_record_case *other)
{
    if (strcmp(xb_record_parameter(test, xb_option_batch_files.name),
               xb_record_parameter(other, xb_option_batch_files.name)) != 0)
        return false;
    for (size_t i = 0; i < xb_reading_record(reading)->process_count; i++) {
        const struct xb_record_detail *own = find_detail(test, i, "compute_steps");
        const struct xb_record_detail *others = find_detail(other, i, "compute_steps");
        bool is_same = own != NULL && others != NULL && own->number == others->number;
        if (test->rows[i].is_there && other->rows[i].is_there && !is_same)
            return false;
    }
    return true;
}

/* " It is 3.0 times as fast as serial, where the device computed 33 % of the time." */
static void add_other(struct xb_reading *reading, const struct xb_record_case *best,
                      const struct xb_record_case *other)
{
    double factor = xb_reading_median(reading, best, &xb_figure_bandwidth) /
                    xb_reading_median(reading, other, &xb_figure_bandwidth);
    double busy = xb_reading_median(reading, other, &xb_figure_gpu_busy);
    enum xb_reading_order order = xb_reading_judge(reading, best, other);
    char name[64];
    if (!is_same_work(reading, best, other) || order == XB_READING_UNKNOWN)
        return;
    xb_reading_rests_on(reading, other);
    if (order == XB_READING_ALIKE) {
        xb_reading_add(reading, " It and %s differ by no more than the noise.", other->variant);
        return;
    }
    xb_reading_phrase(reading, " It is {speed} as {text}", factor, other->variant);
    if (busy > 0)
        xb_reading_phrase(reading, " (device busy {share-of-time})", busy);
    xb_reading_add(reading, ".");
    snprintf(name, sizeof name, "ratio_%s",
             xb_order_is_pageable(other->variant) ? "serial_pageable" : "serial");
    xb_reading_number(reading, name, factor, XB_UNIT_RATIO);
}

/* The fastest row of that order that reads that way. */
static const struct xb_record_case *best_by(const struct xb_reading *reading, int device,
                                            uint64_t bytes, const char *order, const char *io)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (strcmp(test->mode, "pipeline") == 0 && strcmp(test->variant, order) == 0 &&
            test->device == device && is_by(test, io) && xb_reading_usable(reading, test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

static bool say_disk(struct xb_reading *reading, int device, uint64_t bytes)
{
    static const char *const orders[] = {"overlapped", "serial", "serial-pageable"};
    bool said = false;
    for (const char *const *io = xb_option_io.choices; *io != NULL; io++) {
        const struct xb_record_case *best = NULL;
        for (size_t i = 0; i < 3; i++) {
            const struct xb_record_case *row = best_by(reading, device, bytes, orders[i], *io);
            if (row != NULL && best != NULL)
                add_other(reading, best, row);
            if (row == NULL || best != NULL)
                continue;
            if (said)
                xb_reading_next(reading);
            best = row;
            said = true;
            add_rate(reading, best);
            add_pace(reading, best);
            add_busy(reading, best);
        }
    }
    return said;
}

static bool say_readers(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_parameter_say(reading, device, bytes, "pipeline", &xb_option_readers,
                            "number of readers");
}

static bool say_buffers(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_parameter_say(reading, device, bytes, "pipeline", &xb_option_buffers,
                            "number of buffers");
}

static bool say_chunk(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_parameter_say(reading, device, bytes, "pipeline", &xb_option_chunk, "chunk");
}

const struct xb_reading_line xb_pipeline_lines[] = {
    {.label = "from disk", .code = "XB-DISK", .say = say_disk},
    {.label = "readers", .code = "XB-READERS", .say = say_readers},
    {.label = "buffers", .code = "XB-BUFFERS", .say = say_buffers},
    {.label = "chunk", .code = "XB-CHUNK", .say = say_chunk},
    {.label = NULL},
};
