/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_time.h"

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

/* The longest that the kernel of one chunk may take, and those of a job. */
#define LONGEST_S 1.0
#define LONGEST_JOB_S 10.0

/* A time of at most `most` seconds; `words` are what may stand there besides. */
static enum xb_status read_time(const char *option, const char *text, const char *words,
                                double most, const char *example, double *seconds,
                                struct xb_error *error)
{
    struct xb_error cause;
    if (xb_duration_parse(text, seconds, &cause) == XB_OK && *seconds <= most)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "%s: '%.40s' is neither %s nor a time of at most %.0fs, such as %s", option,
                   text, words, most, example);
}

enum xb_status xb_kernel_time_read(const struct xb_case *test, double *seconds,
                                   struct xb_error *error)
{
    const char *text = xb_case_setting(test, &xb_option_kernel_time)->word;
    *seconds = strcmp(text, "auto") == 0 ? XB_KERNEL_TIME_AUTO : 0;
    if (*seconds != 0 || strcmp(text, "none") == 0)
        return XB_OK;
    return read_time("--kernel-time", text, "auto nor none", LONGEST_S, "500us", seconds, error);
}

enum xb_status xb_gpu_time_parse(const char *option, const char *text, double *seconds,
                                 struct xb_error *error)
{
    *seconds = 0;
    if (strcmp(text, "none") == 0 || strcmp(text, "0") == 0)
        return XB_OK;
    return read_time(option, text, "none", LONGEST_JOB_S, "2ms", seconds, error);
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
enum xb_status xb_kernel_time_tune(struct xb_mode_context *context,
                                   const struct xb_line_part *kernels, double target,
                                   uint64_t *steps, struct xb_error *error)
{
    double seconds = 0;
    double more = MOST_AT_ONCE;
    *steps = 1;
    do {
        *steps = possible_steps((double)*steps * more);
        XB_TRY(xb_line_time(context, kernels, &seconds, error));
        more = fmin(fmax(target / seconds, 2), MOST_AT_ONCE);
    } while (seconds < target / 4 && *steps < XB_KERNEL_STEPS_MOST);
    /* Scaled twice: the time found above may still hold some of the flat part, the time after the
     * first scaling holds little of it. */
    *steps = possible_steps((double)*steps * target / seconds);
    XB_TRY(xb_line_time(context, kernels, &seconds, error));
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
    return xb_kernel_time_tune(context, &kernels, target, steps, error);
}
