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
    const char *cache = NULL; /* what every process says of it that has it */
    bool differs = false;
    for (size_t i = 0; i < reading->record->process_count; i++) {
        const char *own = xb_record_fact_text(xb_record_detail_find(&test->rows[i], "page_cache"));
        differs = differs || (own != NULL && cache != NULL && strcmp(own, cache) != 0);
        cache = own != NULL ? own : cache;
    }
    bool is_cached = !differs && (is_by(test, "cached") || is_by(test, "mmap"));
    xb_tell(reading, "From file to GPU: {rate:bandwidth} GB/s ({name}[, page cache {text}]).",
            xb_reading_bandwidth(reading, test), test, is_cached ? cache : NULL);
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
    xb_tell(reading, "[ {text} the limit: {rate:slowest_stage_rate} GB/s alone.]", words[slowest],
            least);
    if (least == 0 || !(share > 0))
        return;
    xb_tell(reading, "{case} The whole reaches {part=share_of_bound} of that.", test);
    if (share < NEAR_ITS_BOUND && xb_order_is_overlapped(test->variant))
        xb_remedy(reading, XB_EFFORT_CALL, (double)NAN,
                  "Let the stages wait less for each other: more buffers, or chunks of another "
                  "size.");
    else if (share >= NEAR_ITS_BOUND && advice[slowest] != NULL)
        xb_remedy(reading, XB_EFFORT_CALL, (double)NAN, advice[slowest]);
}

/* Whether both are the same work: of the same files in the same batches, and with the same kernel
 * in every process. */
static bool is_same_work(const struct xb_reading *reading, const struct xb_record_case *test,
                         const struct xb_record_case *other)
{
    if (strcmp(xb_record_parameter(test, xb_option_batch_files.name),
               xb_record_parameter(other, xb_option_batch_files.name)) != 0)
        return false;
    for (size_t i = 0; i < reading->record->process_count; i++) {
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
    double factor = xb_reading_ratio(reading, best, other);
    enum xb_reading_order order = xb_reading_judge(reading, best, other);
    bool is_pageable = xb_order_is_pageable(other->variant);
    bool is_overlapped = xb_order_is_overlapped(other->variant);
    bool is_alike = order == XB_READING_ALIKE;
    if (!is_same_work(reading, best, other) || order == XB_READING_UNKNOWN)
        return;
    xb_tell(reading, "{case} It is {speed} as {text}{text}{text}.[{+factor:*}]", other,
            is_alike ? 1 : factor, is_overlapped ? "overlapped" : "one step after the other",
            is_pageable ? " with pageable memory" : "", is_alike ? ", within the noise" : "",
            is_alike ? 0 : factor,
            is_overlapped ? "ratio_overlapped_pageable"
            : is_pageable ? "ratio_serial_pageable"
                          : "ratio_serial");
    if (!is_alike && xb_order_is_overlapped(best->variant) && !is_pageable)
        xb_remedy_if_worth(reading, XB_EFFORT_DESIGN, factor,
                           "Read, copy and compute at the same time: {gain} as fast as one step "
                           "after the other here. Threads read into pinned buffers (PyTorch: "
                           "num_workers, pin_memory=True), {call} sends them on another stream.",
                           XB_CALL_COPY_ASYNC);
}

/* The fastest case of an order of the steps, read like that. */
static const struct xb_record_case *find(const struct xb_reading *reading, const char *order,
                                         const char *io)
{
    const struct xb_choice choice = {.variant = order, .option = &xb_option_io, .value = io};
    return xb_reading_fastest(reading, xb_is_chosen, &choice);
}

void xb_pipeline_say_disk(struct xb_reading *reading)
{
    static const char *const orders[] = {"overlapped", "overlapped-pageable", "serial",
                                         "serial-pageable"};
    for (const char *const *io = xb_option_io.choices; *io != NULL; io++) {
        const struct xb_record_case *best = NULL;
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            const struct xb_record_case *row = find(reading, orders[i], *io);
            if (row != NULL && best != NULL)
                add_other(reading, best, row);
            if (row == NULL || best != NULL)
                continue;
            xb_tell_next(reading);
            best = row;
            add_rate(reading, best);
            add_limit(reading, best);
            double busy = xb_reading_median(reading, best, &xb_figure_gpu_busy);
            double recorded = xb_reading_median(reading, best, &xb_pipeline_busy[XB_STAGE_COMPUTE]);
            xb_tell(reading,
                    "[ The GPU computed {part} of the time][, {share:busy_compute} in the recorded "
                    "iteration: kernels are slower beside the other stages][.{+share:gpu_busy}]",
                    busy, recorded > busy + SLOWED ? recorded : 0, busy);
        }
    }
}

static const struct xb_record_case *find_overlapped(const struct xb_reading *reading)
{
    const struct xb_record_case *best = NULL;
    for (const char *const *io = xb_option_io.choices; *io != NULL && best == NULL; io++)
        best = find(reading, "overlapped", *io);
    return best;
}

/* So many samples tell where 1 in 100 lies. */
#define LEAST_FOR_P99 100

/* "A chunk is done 1.7 ms after its first read with 2 buffers (P99 3.2 ms), 2.4 ms with 4." */
static void say_batch_time(struct xb_reading *reading)
{
    const struct xb_record_case *best = find_overlapped(reading);
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    if (best == NULL)
        return;
    bool is_batch = strcmp(xb_record_parameter(best, xb_option_batch_files.name), "0") != 0;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        const char *buffers = xb_record_parameter(test, xb_option_buffers.name);
        struct xb_statistics time;
        char median[32], p99[32]; /* their names */
        if (xb_twin(reading, best, &xb_option_buffers, buffers) != test ||
            !xb_record_describe(reading->record, test, xb_batch_time.name, &time))
            continue;
        snprintf(median, sizeof median, "batch_time_%.8s", buffers);
        snprintf(p99, sizeof p99, "batch_time_p99_%.8s", buffers);
        if (reading->words.length == 0)
            xb_tell(reading,
                    "A {text} is done {duration:*} after its first read with {text} "
                    "buffers{case}",
                    is_batch ? "batch" : "chunk", time.median, median, buffers, test);
        else
            xb_tell(reading, ", {duration:*} with {text}{case}", time.median, median, buffers,
                    test);
        if (time.n >= LEAST_FOR_P99 && isfinite(time.p99)) /* processes have none */
            xb_tell(reading, " (P99 {duration:*})", time.p99, p99);
    }
    xb_tell(reading, reading->words.length > 0 ? "." : "");
}

static void say_read_by(struct xb_reading *reading)
{
    const struct xb_record_case *best = find_overlapped(reading);
    const struct xb_record_case *threads = xb_twin(reading, best, &xb_option_read_by, "threads");
    const struct xb_record_case *processes =
        xb_twin(reading, best, &xb_option_read_by, "processes");
    if (threads == NULL || processes == NULL || threads == processes ||
        !is_same_work(reading, threads, processes))
        return;
    enum xb_reading_order order = xb_reading_judge(reading, processes, threads);
    if (order == XB_READING_UNKNOWN)
        return;
    xb_tell(reading,
            "Read by processes, with a copy to pinned memory, it is {speed:ratio} as by "
            "threads{text}.{case}{case}",
            order == XB_READING_ALIKE ? 1 : xb_reading_ratio(reading, processes, threads),
            order == XB_READING_ALIKE ? ", within the noise" : "", threads, processes);
}

#define EPOCHS 10

/* What a loader for data that fits into the GPU's memory costs a training. */
static void say_epochs(struct xb_reading *reading)
{
    const struct xb_record_case *best = find_overlapped(reading);
    double loaded = xb_reading_median(reading, best, &xb_loaded_epoch_time);
    double streamed = xb_reading_median(reading, best, &xb_figure_wall_time);
    if (!(loaded > 0) || !(streamed > 0))
        return;
    double once = streamed + (EPOCHS - 1) * loaded, each = EPOCHS * streamed;
    xb_tell(reading,
            "Ten epochs take {duration:streamed_time} if each streams the data, "
            "{duration:loaded_once_time} if the GPU's memory, in which it fits, keeps it.{case}",
            each, once, best);
    xb_remedy_if_worth(reading, XB_EFFORT_DESIGN, each / once,
                       "Load the data once and keep it on the GPU: ten epochs {gain} as fast.");
}

const struct xb_reading_line xb_pipeline_lines[] = {
    {.label = "from disk", .code = "XB-DISK", .say = xb_pipeline_say_disk},
    XB_LINE("readers", "XB-READERS", xb_parameter_say, &xb_option_readers),
    XB_LINE("buffers", "XB-BUFFERS", xb_parameter_say, &xb_option_buffers),
    XB_LINE("chunk", "XB-CHUNK", xb_parameter_say, &xb_option_chunk),
    {.label = "batch time", .code = "XB-BATCH-TIME", .say = say_batch_time},
    {.label = "read by", .code = "XB-READ-BY", .say = say_read_by},
    {.label = "epochs", .code = "XB-EPOCHS", .say = say_epochs},
    {.label = NULL},
};
