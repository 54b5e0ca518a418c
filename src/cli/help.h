/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_HELP_H
#define XFERBENCH_CLI_HELP_H

#include "xferbench/mode.h"

#include <stdio.h>

/* What the help of several commands is made of. */

/* Prints `text` wrapped, every line behind `indent` blanks. The caller has filled the first line up
 * to there. */
void xb_help_print_wrapped(FILE *stream, const char *text, int indent);
/* Prints an option with its argument, help and default. */
void xb_help_print_option(FILE *stream, const struct xb_option *option);
/* Prints all options of a list that ends with NULL. */
void xb_help_print_options(FILE *stream, const struct xb_option *const *rows);

/* Prints what `help MODE` says. */
void xb_help_print_mode(FILE *stream, const struct xb_mode *mode);
/* " h2d d2h bidir (by default h2d d2h)" */
void xb_help_print_directions(FILE *stream, const struct xb_mode *mode);

/* "xferbench 0.1.0" with what is built in. */
void xb_version_print(FILE *stream);

#endif
