/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that declare the options of `advise`. */
#include "command.h"

#include "cli/options.h"
#include "ways.h"

static const struct xb_option option_in = {
    .name = "in",
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .help = "How much data the job takes to the GPU. Required.",
    .minimum = 0, /* which is refused with the limits of a job, not of any size */
    .maximum = UINT64_C(1) << 40,
};
static const struct xb_option option_out = {
    .name = "out",
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .default_text = "0",
    .help = "How much data it brings back.",
    .minimum = 0,
    .maximum = UINT64_C(1) << 40,
};
static const struct xb_option option_gpu_time = {
    .name = "gpu-time",
    .type = XB_OPTION_TEXT,
    .argument = "TIME",
    .help = "How long the GPU computes, without any copy: a time such as 2ms, or 'none'. Required.",
};
static const struct xb_option option_cpu_time = {
    .name = "cpu-time",
    .type = XB_OPTION_DURATION,
    .argument = "TIME",
    .help = "How long the same work takes on the CPU. Without it, advise compares only the "
            "strategies.",
};
static const struct xb_option option_times = {
    .name = "times",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .default_text = "1",
    .help = "How often the job runs with the same memory: the cost of page-locking it is divided "
            "by that.",
    .minimum = 1,
    .maximum = UINT64_C(1000000000000),
};
static const struct xb_option option_memory = {
    .name = "memory",
    .type = XB_OPTION_CHOICES,
    .argument = "KIND",
    .default_text = XB_MEMORY_WORD_USUAL,
    .help = "Where the job's data lies: in 'pageable' memory, as malloc gives it, so that pinned "
            "strategies have to page-lock it or copy it first; or in 'pinned' memory.",
    .choices = xb_memory_words,
};
static const struct xb_option option_device = {
    .name = "device",
    .short_name = 'D',
    .type = XB_OPTION_COUNT,
    .argument = "DEV",
    .default_text = "0",
    .help = "Which device, by its number: the one to measure, or the one whose rows in FILE count.",
    .minimum = 0,
    .maximum = 1000,
};
static const struct xb_option option_check = {
    .name = "check",
    .type = XB_OPTION_FLAG,
    .help = "Run the job by each strategy, and print the prediction beside the measurement. With "
            "FILE, only on the machine where FILE was measured.",
};
static const struct xb_option option_json = {
    .name = "json",
    .short_name = 'j',
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help = "Write the advice as JSON (docs/advise.schema.json); '-' is standard output, in place "
            "of the table.",
};
static const struct xb_option *const rows[] = {&option_in,          &option_out,
                                               &option_gpu_time,    &option_cpu_time,
                                               &option_times,       &option_memory,
                                               &option_check,       &xb_option_backend,
                                               &xb_option_deadline, &option_device,
                                               &option_json,        &xb_option_plain_help,
                                               &xb_option_version,  NULL};

const struct xb_option *const *xb_advise_rows(void)
{
    xb_option_backend_describe();
    return rows;
}
