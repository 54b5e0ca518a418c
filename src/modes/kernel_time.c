/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_time.h"

#include "measure/engine/stage.h"
#include "shared_options.h"

#include <math.h>
#include <string.h>

const struct xb_option xb_option_kernel_time = {
    XB_CHOICE("kernel-time", "TIME[,TIME]"),
    .default_text = "auto",
    .help = "How long the kernel computes on a chunk: 'auto' 5 % longer than the rest takes "
            "(double-buffer: the copies both ways; pipeline: the slower of reading and copying "
            "in), 'none' for no kernel, or a time such as 500us. One case is run for each.",
};

/* The longest that the kernel of one chunk may take. */
#define LONGEST_S 1.0

enum xb_status xb_kernel_time_read(const struct xb_case *test, double *seconds,
                                   struct xb_error *error)
{
    const char *text = xb_case_setting(test, &xb_option_kernel_time)->word;
    *seconds = strcmp(text, "auto") == 0 ? XB_KERNEL_TIME_AUTO : 0;
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0)
        return XB_OK;
    struct xb_error cause;
    if (xb_duration_parse(text, seconds, &cause) == XB_OK && *seconds <= LONGEST_S)
        return XB_OK;
    return XB_FAIL(
        error, XB_ERR_USAGE,
        "--kernel-time: '%.40s' is neither auto nor none nor a time of at most 1s, such as 500us",
        text);
}

enum xb_status xb_gpu_time_parse(const char *option, const char *text, double *seconds,
                                 struct xb_error *error)
{
    struct xb_error cause;
    *seconds = 0;
    if (strcmp(text, "none") == 0 || strcmp(text, "0") == 0)
        return XB_OK;
    if (xb_duration_parse(text, seconds, &cause) == XB_OK && *seconds <= XB_GPU_TIME_MOST)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "%s: '%.40s' is neither none nor a time of at most %.0fs, such as 2ms", option,
                   text, XB_GPU_TIME_MOST);
}

/* The nearest number of steps that a kernel can take. */
static uint64_t possible_steps(double wanted)
{
    if (wanted < 1)
        return 1;
    return wanted > (double)XB_KERNEL_STEPS_MOST ? XB_KERNEL_STEPS_MOST : (uint64_t)(wanted + 0.5);
}

/* By so much the number of steps grows from one try to the next. */
#define MOST_AT_ONCE 8.0

/* Few steps take as long as one, because reading and writing the memory takes longer than they do.
 * With more steps the time grows along a straight line, and there it can be scaled. */
enum xb_status xb_kernel_time_tune(struct xb_mode_context *context, xb_submit *submit,
                                   double target, uint64_t *steps, struct xb_error *error)
{
    double seconds = 0;
    double more = MOST_AT_ONCE;
    *steps = 1;
    do {
        *steps = possible_steps((double)*steps * more);
        XB_TRY(xb_mode_time(context, submit, &seconds, error));
        more = fmin(fmax(target / seconds, 2), MOST_AT_ONCE);
    } while (seconds < target / 4 && *steps < XB_KERNEL_STEPS_MOST);
    /* Scaled twice: the time found above may still hold some of the flat part, the time after the
     * first scaling holds little of it. */
    *steps = possible_steps((double)*steps * target / seconds);
    XB_TRY(xb_mode_time(context, submit, &seconds, error));
    *steps = possible_steps((double)*steps * target / seconds);
    return XB_OK;
}

/* The time of all kernels grows with the chunks, so some of them are enough to tune by. */
#define TUNED_CHUNKS 32u

enum xb_status xb_kernel_time_tune_stage(struct xb_mode_context *context, unsigned stage,
                                         uint64_t bytes, uint64_t chunk, double target,
                                         uint64_t *steps, struct xb_error *error)
{
    const struct xb_line_part kernels = {.stages = 1u << stage, .items = TUNED_CHUNKS};
    if (xb_chunk_count(bytes, chunk) > TUNED_CHUNKS)
        target *= (double)(TUNED_CHUNKS * chunk) / (double)bytes;
    xb_line_take(context, &kernels);
    enum xb_status status = xb_kernel_time_tune(context, xb_line_submit, target, steps, error);
    xb_line_take(context, NULL);
    return status;
}
