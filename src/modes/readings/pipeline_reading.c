/* SPDX-License-Identifier: Apache-2.0 */
#include "modes/pipeline.h"
#include "modes/shared_options.h"
#include "readings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_by(const struct xb_record_case *test, const char *io)
{
    return strcmp(xb_record_parameter(test, xb_option_io.name), io) == 0;
}

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
        const char *own = xb_record_fact_text(xb_record_detail_find(&test->rows[i], "page_cache"));
        differs = differs || (own != NULL && cache != NULL && strcmp(own, cache) != 0);
        cache = own != NULL ? own : cache;
    }
    xb_reading_phrase(reading, "From file to GPU: {rate:bandwidth} GB/s ({name}", rate, test);
    if (cache != NULL && !differs && (is_by(test, "cached") || is_by(test, "mmap")))
        xb_reading_add(reading, ", page cache %s", cache);
    xb_reading_add(reading, ").");
}

/* From here on the slowest stage is what a case is limited by. */
#define NEAR_ITS_BOUND 0.9

/* Kernels that take that much longer beside the other stages than alone are told. */
#define SLOWED 0.05

/* "Kernels are the limit: 51.8 GB/s alone." How near the whole is to that, and what would help. */
static void add_limit(struct xb_reading *reading, const struct xb_record_case *test)
{
    static const char *const words[XB_PIPELINE_STAGES] = {
        "Reading is", "Copies to the GPU are", "Kernels are", "Copies back to the host are"};
    static const char *const advice[XB_PIPELINE_STAGES] = {
        "Read with more threads (PyTorch: num_workers) or from faster storage: reading is the "
        "limit.",
        "Send fewer bytes: the link is the limit. What that takes: --mode quantize", NULL,
        "Bring results back in larger chunks: the copies back are the limit."};
    double share = xb_reading_median(reading, test, &xb_figure_share_of_bound);
    double least = 0; /* of the stage that is slowest alone */
    size_t slowest = 0;
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        double rate = xb_reading_median(reading, test, &xb_pipeline_rates[i]);
        if (rate > 0 && (least == 0 || rate < least)) {
            slowest = i;
            least = rate;
        }
    }
    if (least > 0)
        xb_reading_phrase(reading, " {text} the limit: {rate:slowest_stage_rate} GB/s alone.",
                          words[slowest], least);
    if (least == 0 || !(share > 0))
        return;
    xb_reading_phrase(reading, " The whole reaches {share} of that.{+share:share_of_bound}",
                      share < 1 ? share : 1, share);
    if (share < NEAR_ITS_BOUND && xb_order_is_overlapped(test->variant))
        xb_reading_remedy(reading, XB_EFFORT_CALL, (double)NAN,
                          "Let the stages wait less for each other: more buffers, or chunks of "
                          "another size.");
    else if (share >= NEAR_ITS_BOUND && advice[slowest] != NULL)
        xb_reading_remedy(reading, XB_EFFORT_CALL, (double)NAN, "%s", advice[slowest]);
}

static void add_busy(struct xb_reading *reading, const struct xb_record_case *test)
{
    double busy = xb_reading_median(reading, test, &xb_figure_gpu_busy);
    double recorded = xb_reading_median(reading, test, &xb_pipeline_busy[XB_STAGE_COMPUTE]);
    if (!(busy > 0))
        return;
    xb_reading_phrase(reading, " The GPU computed {share-of-time}", busy);
    if (recorded > busy + SLOWED)
        xb_reading_phrase(reading,
                          ", {share:busy_compute} in the recorded iteration: kernels are slower "
                          "beside the other stages",
                          recorded);
    xb_reading_phrase(reading, ".{+share:gpu_busy}", busy);
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
        static const char name[] = "compute_steps";
        bool is_same = xb_record_fact_number(xb_record_detail_find(&test->rows[i], name)) ==
                       xb_record_fact_number(xb_record_detail_find(&other->rows[i], name));
        if (test->rows[i].is_there && other->rows[i].is_there && !is_same)
            return false;
    }
    return true;
}

/* " It is 3.0 times as fast as one step after the other." What that takes, if it is overlapped. */
static void add_other(struct xb_reading *reading, const struct xb_record_case *best,
                      const struct xb_record_case *other)
{
    double factor = xb_reading_median(reading, best, &xb_figure_bandwidth) /
                    xb_reading_median(reading, other, &xb_figure_bandwidth);
    enum xb_reading_order order = xb_reading_judge(reading, best, other);
    bool is_pageable = xb_order_is_pageable(other->variant);
    bool is_overlapped = xb_order_is_overlapped(other->variant);
    if (!is_same_work(reading, best, other) || order == XB_READING_UNKNOWN)
        return;
    xb_reading_rests_on(reading, other);
    xb_reading_phrase(reading, " It is {speed} as {text}{text}{text}.",
                      order == XB_READING_ALIKE ? 1 : factor,
                      is_overlapped ? "overlapped" : "one step after the other",
                      is_pageable ? " with pageable memory" : "",
                      order == XB_READING_ALIKE ? ", within the noise" : "");
    if (order == XB_READING_ALIKE)
        return;
    xb_reading_number(reading,
                      is_overlapped ? "ratio_overlapped_pageable"
                      : is_pageable ? "ratio_serial_pageable"
                                    : "ratio_serial",
                      factor, XB_UNIT_RATIO);
    if (xb_order_is_overlapped(best->variant) && !is_pageable && factor >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_DESIGN, factor,
                          "Read, copy and compute at the same time: %s as fast as one step "
                          "after the other here. Threads read into pinned buffers (PyTorch: "
                          "num_workers, pin_memory=True), %s sends them on another stream.",
                          xb_reading_factor_text(factor, (char[32]){0}, 32),
                          xb_reading_call(reading, XB_CALL_COPY_ASYNC));
}

/* An order of the steps, and how it reads. */
struct way {
    const char *order, *io;
};

static bool is_way(const struct xb_reading *reading, const struct xb_record_case *test,
                   const void *argument)
{
    const struct way *way = argument;
    return strcmp(test->mode, "pipeline") == 0 && strcmp(test->variant, way->order) == 0 &&
           is_by(test, way->io) && xb_reading_measured(reading, test);
}

bool xb_pipeline_say_disk(struct xb_reading *reading, int device, uint64_t bytes)
{
    static const char *const orders[] = {"overlapped", "overlapped-pageable", "serial",
                                         "serial-pageable"};
    bool said = false;
    for (const char *const *io = xb_option_io.choices; *io != NULL; io++) {
        const struct xb_record_case *best = NULL;
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            const struct way way = {orders[i], *io};
            const struct xb_record_case *row =
                xb_reading_fastest(reading, device, bytes, is_way, &way);
            if (row != NULL && best != NULL)
                add_other(reading, best, row);
            if (row == NULL || best != NULL)
                continue;
            if (said)
                xb_reading_next(reading);
            best = row;
            said = true;
            add_rate(reading, best);
            add_limit(reading, best);
            add_busy(reading, best);
        }
    }
    return said;
}

static const struct xb_record_case *find_overlapped(struct xb_reading *reading, int device,
                                                    uint64_t bytes)
{
    const struct xb_record_case *best = NULL;
    for (const char *const *io = xb_option_io.choices; *io != NULL && best == NULL; io++) {
        const struct way way = {"overlapped", *io};
        best = xb_reading_fastest(reading, device, bytes, is_way, &way);
    }
    return best;
}

/* So many samples tell where 1 in 100 lies. */
#define LEAST_FOR_P99 100

/* "A chunk is done 1.7 ms after its first read with 2 buffers (P99 3.2 ms), 2.4 ms with 4." */
static bool say_batch_time(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_case *best = find_overlapped(reading, device, bytes);
    const struct xb_record_cases sized = xb_record_of_size(record, bytes);
    if (best == NULL)
        return false;
    bool is_batch = strcmp(xb_record_parameter(best, xb_option_batch_files.name), "0") != 0;
    unsigned said = 0;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        const char *buffers = xb_record_parameter(test, xb_option_buffers.name);
        struct xb_statistics time;
        char median[32], p99[32]; /* their names */
        if (xb_find_twin(record, best, xb_option_buffers.name, buffers) != test ||
            !xb_record_describe(record, test, xb_batch_time.name, &time))
            continue;
        snprintf(median, sizeof median, "batch_time_%.8s", buffers);
        snprintf(p99, sizeof p99, "batch_time_p99_%.8s", buffers);
        if (said++ == 0)
            xb_reading_add(reading, "A %s is done ", is_batch ? "batch" : "chunk");
        xb_reading_phrase(reading,
                          said == 1 ? "{duration:*} after its first read with {text} buffers{case}"
                                    : ", {duration:*} with {text}{case}",
                          time.median, median, buffers, test);
        if (time.n >= LEAST_FOR_P99 && isfinite(time.p99)) /* processes have none */
            xb_reading_phrase(reading, " (P99 {duration:*})", time.p99, p99);
    }
    if (said > 0)
        xb_reading_add(reading, ".");
    return said > 0;
}

static bool say_read_by(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_case *best = find_overlapped(reading, device, bytes);
    const struct xb_record_case *ways[2] = {NULL, NULL}; /* threads, processes */
    for (size_t i = 0; best != NULL && i < 2; i++)
        ways[i] = xb_find_twin(record, best, xb_option_read_by.name, xb_option_read_by.choices[i]);
    if (ways[0] == NULL || ways[1] == NULL || ways[0] == ways[1] ||
        !is_same_work(reading, ways[0], ways[1]))
        return false;
    double rates[2] = {xb_reading_median(reading, ways[0], &xb_figure_bandwidth),
                       xb_reading_median(reading, ways[1], &xb_figure_bandwidth)};
    enum xb_reading_order order = xb_reading_judge(reading, ways[1], ways[0]);
    if (order == XB_READING_UNKNOWN)
        return false;
    xb_reading_phrase(reading,
                      "Read by processes, with a copy to pinned memory, it is {speed:ratio} as by "
                      "threads{text}.{case}{case}",
                      order == XB_READING_ALIKE ? 1 : rates[1] / rates[0],
                      order == XB_READING_ALIKE ? ", within the noise" : "", ways[0], ways[1]);
    return true;
}

#define EPOCHS 10

/* What a loader for data that fits into the GPU's memory costs a training. */
static bool say_epochs(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *best = find_overlapped(reading, device, bytes);
    double loaded = xb_reading_median(reading, best, &xb_loaded_epoch_time);
    double streamed = xb_reading_median(reading, best, &xb_figure_wall_time);
    if (!(loaded > 0) || !(streamed > 0))
        return false;
    double once = streamed + (EPOCHS - 1) * loaded, each = EPOCHS * streamed;
    xb_reading_phrase(reading,
                      "Ten epochs take {duration:streamed_time} if each streams the data, "
                      "{duration:loaded_once_time} if the GPU's memory, in which it fits, keeps "
                      "it.{case}",
                      each, once, best);
    if (each >= XB_WORTH_SAYING * once)
        xb_reading_remedy(reading, XB_EFFORT_DESIGN, each / once,
                          "Load the data once and keep it on the GPU: ten epochs %s as fast.",
                          xb_reading_factor_text(each / once, (char[32]){0}, 32));
    return true;
}

XB_SAY(say_readers, xb_parameter_say, "pipeline", &xb_option_readers, "number of readers")
XB_SAY(say_buffers, xb_parameter_say, "pipeline", &xb_option_buffers, "number of buffers")
XB_SAY(say_chunk, xb_parameter_say, "pipeline", &xb_option_chunk, "chunk")

const struct xb_reading_line xb_pipeline_lines[] = {
    {.label = "from disk", .code = "XB-DISK", .say = xb_pipeline_say_disk},
    {.label = "readers", .code = "XB-READERS", .say = say_readers},
    {.label = "buffers", .code = "XB-BUFFERS", .say = say_buffers},
    {.label = "chunk", .code = "XB-CHUNK", .say = say_chunk},
    {.label = "batch time", .code = "XB-BATCH-TIME", .say = say_batch_time},
    {.label = "read by", .code = "XB-READ-BY", .say = say_read_by},
    {.label = "epochs", .code = "XB-EPOCHS", .say = say_epochs},
    {.label = NULL},
};
