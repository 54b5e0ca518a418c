/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* All that a record says, as a text: lines "what: value", "-" for what is not known. */

#include "record/record.h"
#include "testing.h"

/* To release with free(). */
char *text_of_record(const struct xb_record *record);

/* Writes into `said` the lines that `text` has and `before` has not, with "; " between, and "no
 * WHAT" for those that it lacks altogether. */
void say_new_lines(const char *text, const char *before, char *said, size_t size);

/* The record has that line. */
void assert_line(const struct xb_record *record, const char *what, const char *value);
