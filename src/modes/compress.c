/* SPDX-License-Identifier: Apache-2.0 */
/* Data compressed on the host without loss, and restored on the device. */
#include "base/left_out.h"
#include "encoded.h"
#include "modes/readings/readings.h"
#include "sample_data.h"

#include <string.h>

static const struct xb_option option_timed = {
    XB_CHOICES("timed", "WHAT", "sent,made-and-sent",
               "What is timed: 'sent' sends and restores data that was compressed before, as a "
               "checkpoint is; 'made-and-sent' also compresses it, at the same time.",
               "sent", "made-and-sent")};

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    XB_TRY(xb_data_check(xb_case_setting(test, &xb_option_data)->word, error));
    return xb_encoded_check_options(test, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_encoded *state = context->state;
    const struct xb_case *test = context->test;
    if (strcmp(xb_case_setting(test, &xb_option_codec)->word, "lz4") == 0 &&
        xb_is_left_out("liblz4"))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "liblz4 is not in this build");
    XB_TRY(xb_encoded_setup(context, error));
    XB_TRY(xb_data_fill(xb_case_setting(test, &xb_option_data)->word, test->seed,
                        state->original->host_address, test->bytes, error));
    return xb_encoded_begin(context, error);
}

const struct xb_mode xb_mode_compress = {
    .name = "compress",
    .summary = "data compressed on the host, sent, and restored on the GPU",
    .description =
        "'made-and-sent': host threads (--threads) compress data chunk by chunk, the result "
        "crosses, and kernels restore it, all at the same time on different chunks. 'sent' begins "
        "with compressed data. The row shows the original's bytes divided by the whole time, "
        "until the last is restored. Beside it stand the plain copy of the same data "
        "(plain_bandwidth, speed_up), the ratio, compressing alone by one thread and by all, "
        "restoring alone, how many threads beat the plain copy, and for 'sent' after how many "
        "sends compressing has paid. What pays depends on the data (--data): give a file of your "
        "own. All restored data is compared with the original.",
    .variant_option = &option_timed,
    .names = XB_NAMES({"sent", "compressed before"}, {"made-and-sent", "compress and send"}),
    .options = XB_OPTIONS(&option_timed, &xb_option_codec, &xb_option_data, &xb_option_encode_chunk,
                          &xb_option_threads),
    .parameters = XB_PARAMETERS({&xb_option_codec, NULL}, {&xb_option_data, NULL},
                                {&xb_option_encode_chunk, NULL}, {&xb_option_threads, NULL}),
    .figures = XB_FIGURES(XB_ENCODED_FIGURES, &xb_figure_break_even_sends),
    .reading = XB_READING(XB_LINE("sent", "XB-COMPRESS-SENT", xb_encoded_say, "sent"),
                          XB_LINE("made", "XB-COMPRESS-MADE", xb_encoded_say, "made-and-sent")),
    .answer = xb_encoded_answer,
    .check_options = check_options,
    XB_ENCODED_MODE,
};
