/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/options.h"

/* The rows of options that several commands have. */

extern const struct xb_option xb_option_help, xb_option_color, xb_option_version;
/* The end of every command's rows. */
#define XB_OPTIONS_OF_ALL &xb_option_help, &xb_option_color, &xb_option_version, NULL
/* Tells base/terminal.h what --color says. */
void xb_option_color_apply(const struct xb_config *config);
/* The row of --format: one of these words, "table" unless another is given. */
#define XB_FORMAT_OPTION(words, text)                                                              \
    {                                                                                              \
        .name = "format", .short_name = 'f', .type = XB_OPTION_CHOICES, .argument = "FORMAT",      \
        .default_text = "table", .help = (text), .choices = (words), .takes_one = true             \
    }
/* Where the report of a command goes that writes one. */
extern const struct xb_option xb_option_output;
/* When measuring ends; src/run/deadline.h keeps it. */
extern const struct xb_option xb_option_deadline;
/* The row of --alpha, and the value of its text: XB_ERR_USAGE unless that is above 0 and below 0.5.
 */
extern const struct xb_option xb_option_alpha;
XB_MUST_CHECK enum xb_status xb_option_alpha_read(const char *text, double *alpha,
                                                  struct xb_error *error);
/* Which backend measures. Its help names those that there are: each rows() that has it calls
 * xb_option_backend_describe, which writes that. */
extern const struct xb_option xb_option_backend;
void xb_option_backend_describe(void);
