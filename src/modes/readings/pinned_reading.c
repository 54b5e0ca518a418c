/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading what a copy of pinned memory depends on: what its queue copied before, how
 * the GPU's memory is made, and which call copies. */
#include "modes/shared_options.h"
#include "readings.h"

static void say_after_h2d(struct xb_reading *reading)
{
    struct xb_statistics alone, after;
    const struct xb_record_case *test =
        xb_usual_copy(reading, xb_reading_best(reading, XB_D2H, NULL, NULL));
    if (!xb_reading_is_sure(reading, test, &xb_figure_bandwidth, &alone) ||
        !xb_reading_is_sure(reading, test, &xb_figure_bandwidth_after_h2d, &after))
        return;
    bool sure = after.ci95_high < alone.ci95_low || after.ci95_low > alone.ci95_high;
    double share = after.median / alone.median;
    xb_tell(reading,
            "Right after a copy to the GPU on the same queue, {name} {to} is [{speed}][{text}] "
            "({+share:ratio}{rate=bandwidth_after_h2d}, alone {rate=bandwidth} GB/s).",
            test, test, sure ? share : 0, sure ? NULL : "as fast, within the noise", share);
    if (sure && share < 1 - XB_VISIBLE)
        xb_remedy(reading, XB_EFFORT_LINES, 1 / share,
                  "Give each direction a stream of its own: one that copies only to the host keeps "
                  "the faster rate. Or try HSA_ENABLE_SDMA=0: shaders then copy instead of the "
                  "engines.");
}

#define MADE(value, words)                                                                         \
    {                                                                                              \
        NULL, &xb_option_gpu_memory, value, &xb_figure_wall_time, words,                           \
            "Allocate the GPU's memory once, and use it again: {gain} as fast. PyTorch's "         \
            "allocator does that."                                                                 \
    }
static const struct xb_made_memory made_memory[] = {
    MADE("malloc", "that is allocated for each copy"),
    MADE("pool", "that comes from a pool for each copy"),
    {.option = NULL}};

/* "The synchronous call blocks until it is done, 20.1 ms; the asynchronous one returns after
 * 2.8 us, and is done after 20.2 ms." */
static void say_call(struct xb_reading *reading)
{
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        const struct xb_record_case *async =
            xb_usual_copy(reading, xb_reading_best_of_any(reading, direction, NULL, NULL));
        const struct xb_record_case *sync = xb_twin(reading, async, &xb_option_call, "sync");
        double blocked = xb_reading_median(reading, sync, &xb_figure_submit_time);
        if (sync == async || !(blocked > 0) || reading->words.length > 0)
            continue;
        xb_tell(reading,
                "The synchronous call blocks until it is done, {duration:blocked}; {case}{case}the "
                "asynchronous one returns after {duration:submitted=submit_time}, and is done "
                "after {duration:done=wall_time}.",
                blocked, sync, async);
    }
}

const struct xb_reading_line xb_pinned_reading[] = {
    {.label = "after h2d", .code = "XB-AFTER-H2D", .say = say_after_h2d},
    XB_LINE("GPU memory", "XB-GPU-MEMORY", xb_made_memory_say, made_memory),
    {.label = "call", .code = "XB-CALL", .say = say_call},
    XB_LINE("alignment", "XB-ALIGNMENT", xb_alignment_say, NULL),
    {.label = NULL},
};
