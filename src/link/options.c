/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that declare the options of `link`. */
#include "command.h"

#include "cli/file_name.h"
#include "cli/json_place.h"
#include "cli/options.h"
#include "cli/start_at.h"
#include "measure/run.h"

static const char *const formats[] = {"table", "nagios", "nhc", "prometheus", NULL};

static const struct xb_option option_device = {
    .name = "device",
    .short_name = 'D',
    .type = XB_OPTION_CHOICES,
    .argument = "DEV[,DEV]",
    .default_text = "all",
    .help =
        "Which devices: numbers, PCI addresses (0000:0f:00.0), or all. They are tested one after "
        "the other.",
};
static const struct xb_option option_size = {
    .name = "size",
    .short_name = 's',
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .default_text = "256M",
    .help = "How much one copy moves. Small copies measure latency, not the link.",
    .minimum = UINT64_C(16) << 20,
    .maximum = UINT64_MAX / 4,
};
static const struct xb_option option_count = {
    .name = "count",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .help =
        "How many devices there must be: each missing one is CRITICAL. Without it nobody misses a "
        "GPU that the runtime does not see.",
    .minimum = 1,
    .maximum = XB_RUN_DEVICES,
};
static const struct xb_option option_attempts = {
    .name = "attempts",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .default_text = "3",
    .help = "Test a device or a pair up to this often before calling it anything but OK. The best "
            "attempt counts; all are on record.",
    .minimum = 1,
    .maximum = 10,
};
static const struct xb_option option_deadline = {
    .name = "deadline",
    .type = XB_OPTION_DURATION,
    .argument = "TIME",
    .default_text = "30s",
    .help = "Finish within this time, even if a GPU hangs: what is not tested by then is UNKNOWN.",
};
static const struct xb_option option_expect = {
    .name = "expect",
    .type = XB_OPTION_TEXT,
    .argument = "LINK",
    .help = "What the link must reach under load: gen5x16, gen4 or x8. Less is CRITICAL.",
};
static const struct xb_option option_min_h2d = {
    .name = "min-h2d",
    .type = XB_OPTION_TEXT,
    .argument = "GB/S",
    .help = "The least bandwidth from host to device, in GB/s (10^9 bytes), in place of shares of "
            "the link's ceiling. Less is CRITICAL.",
};
static const struct xb_option option_min_d2h = {
    .name = "min-d2h",
    .type = XB_OPTION_TEXT,
    .argument = "GB/S",
    .help = "The same from device to host.",
};
static const struct xb_option option_min_peer = {
    .name = "min-peer",
    .type = XB_OPTION_TEXT,
    .argument = "GB/S",
    .help = "The same of a direct copy from one device to another, in place of shares of what "
            "their links carry.",
};
static const struct xb_option option_no_peers = {
    .name = "no-peers",
    .type = XB_OPTION_FLAG,
    .help = "Test no copies between devices. Without it every pair of up to 8 devices is tested.",
};
static const struct xb_option option_limits = {
    .name = "limits",
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help = "Limits by model of GPU and link, a JSON file (docs/limits.schema.json). Order: "
            "command line, then this file, then defaults.",
};
static const struct xb_option option_format = {
    .name = "format",
    .short_name = 'f',
    .type = XB_OPTION_CHOICES,
    .argument = "FORMAT",
    .default_text = "table",
    .help =
        "table, for people; nagios, one line with performance data; nhc, silent unless something "
        "is wrong; prometheus, for node_exporter's textfile collector.",
    .choices = formats,
};
static const struct xb_option option_json = {
    .name = "json",
    .short_name = 'j',
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help = "Write all that was observed, with every attempt, as JSON (docs/link.schema.json); "
            "'-' is standard output, in place of the table." XB_FILE_NAME_HELP,
};
static const struct xb_option *const link_rows[] = {
    &xb_option_backend,    &option_device,        &option_no_peers,   &option_count,
    &option_size,          &option_attempts,      &option_deadline,   &xb_option_start_at,
    &option_expect,        &option_min_h2d,       &option_min_d2h,    &option_min_peer,
    &option_limits,        &option_format,        &xb_option_output,  &option_json,
    &xb_option_json_lines, &xb_option_plain_help, &xb_option_version, NULL};

const struct xb_option *const *xb_link_rows(void)
{
    xb_option_backend_describe();
    return link_rows;
}
