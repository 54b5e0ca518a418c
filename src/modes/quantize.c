/* SPDX-License-Identifier: Apache-2.0 */
/* float32 values made smaller on the host, with loss, and widened again on the device. */
#include "encoded.h"
#include "modes/readings/readings.h"
#include "sample_data.h"

static const struct xb_option option_to = {
    XB_CHOICES("to", "FORMAT", "fp16,bf16,int8,fp8",
               "What float32 values become on their way: 'fp16', 'bf16', 'int8' (with a scale for "
               "each 64 values) or 'fp8' (E4M3).",
               "fp16", "bf16", "int8", "fp8")};

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    if (test->bytes % sizeof(float) != 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--size: %llu bytes are no whole number of float32 values",
                       (unsigned long long)test->bytes);
    return xb_encoded_check_options(test, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    XB_TRY(xb_encoded_setup(context, error));
    xb_weights_fill(context->test->seed, state->original->host_address, context->test->bytes);
    return xb_encoded_begin(context, error);
}

const struct xb_mode xb_mode_quantize = {
    .name = "quantize",
    .summary = "float32 values narrowed on the host, sent, and widened again on the GPU",
    .description =
        "Host threads (--threads) narrow float32 values chunk by chunk, the result crosses, and a "
        "kernel widens it again, all at the same time on different chunks. The row shows the "
        "float32 values' bytes divided by the whole time, until the last is widened. Beside it "
        "stand the plain copy of the same values (plain_bandwidth, speed_up), narrowing alone by "
        "one thread and by all, widening alone, how many threads beat the plain copy, and what is "
        "lost: the largest error of a value divided by the value, and the root mean square of all "
        "errors divided by that of the values. The values are made: any sign and mantissa, "
        "magnitudes from 2^-6 to 2. Every value on the device is compared with what plain C makes "
        "of it.",
    .calls = "a loop of your own, such as float to half, then cudaMemcpyAsync() (hipMemcpyAsync) "
             "and a kernel that widens. PyTorch: tensor.half().pin_memory().to(device, "
             "non_blocking=True).float().",
    .variant_option = &option_to,
    .names = XB_NAMES({"fp16", "quantize to fp16"}, {"bf16", "quantize to bf16"},
                      {"int8", "quantize to int8"}, {"fp8", "quantize to fp8"}),
    .options = XB_OPTIONS(&option_to, &xb_option_encode_chunk, &xb_option_threads),
    .parameters = XB_PARAMETERS({&xb_option_encode_chunk, NULL}, {&xb_option_threads, NULL}),
    .figures = XB_FIGURES(XB_ENCODED_FIGURES, &xb_figure_error_max, &xb_figure_error_rms),
    .reading = XB_READING(XB_LINE("fp16", "XB-QUANTIZE", xb_encoded_say, "fp16"),
                          XB_LINE("bf16", "XB-QUANTIZE", xb_encoded_say, "bf16"),
                          XB_LINE("int8", "XB-QUANTIZE", xb_encoded_say, "int8"),
                          XB_LINE("fp8", "XB-QUANTIZE", xb_encoded_say, "fp8")),
    .answer = xb_encoded_answer,
    .check_options = check_options,
    XB_ENCODED_MODE,
};
