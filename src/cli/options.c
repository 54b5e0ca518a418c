/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

const struct xb_option xb_option_help = {
    .name = "help",
    .short_name = 'h',
    .type = XB_OPTION_FLAG,
    .help = "Print this help, or with the name of a mode or command the help on that.",
    .selects = true,
};
const struct xb_option xb_option_plain_help = {
    .name = "help",
    .short_name = 'h',
    .type = XB_OPTION_FLAG,
    .help = "Show this help.",
    .selects = true,
};
const struct xb_option xb_option_version = {
    .name = "version",
    .short_name = 'V',
    .type = XB_OPTION_FLAG,
    .help = "Print the version and what is built in.",
    .selects = true,
};
const struct xb_option xb_option_output = {
    .name = "output",
    .short_name = 'o',
    .type = XB_OPTION_TEXT,
    .argument = "FILE",
    .default_text = "-",
    .help = "Where that goes; '-' is standard output. A file is replaced only when its new content "
            "is complete.",
};
