/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "command.h"
#include "xferbench/mode.h"

/* What the help of several commands is made of. All of it fits the terminal. */

/* Prints `text` wrapped, every line behind `indent` blanks. The caller has filled the first line up
 * to there. */
#define xb_help_print_wrapped(stream, text, indent)                                                \
    xb_wrapped_print((stream), (text), (indent), (indent))
/* Prints a name and, from `column` on, wrapped, what is said of it. In a narrow window a text of
 * several lines stands below the name. */
void xb_help_print_entry(FILE *stream, int column, const char *text, const char *name, ...)
    __attribute__((format(printf, 4, 5)));

/* Prints an option with its argument, help and default. */
void xb_help_print_option(FILE *stream, const struct xb_option *option);
/* Prints each of a list, which ends with NULL, in the same way. */
void xb_help_print_options(FILE *stream, const struct xb_option *const *rows);
/* Prints those of a list that say something in brief, with no more than that. Ends with NULL. */
void xb_help_print_brief_options(FILE *stream, const struct xb_option *const *rows);

/* Prints the help of a command. */
void xb_help_print_command(FILE *stream, const struct xb_command *command);
/* For a command with a help of its own: what stands before its options, and behind. */
void xb_help_print_beginning(FILE *stream, const struct xb_command *command);
void xb_help_print_exits(FILE *stream, const struct xb_command *command);

/* " h2d d2h bidir (by default h2d d2h)" */
void xb_help_add_directions(struct xb_words *words, const struct xb_mode *mode);
