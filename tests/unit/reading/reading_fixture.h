/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "checks.h"
#include "sink_fixture.h"

#include "reading/list.h"

/*
 * What the Reading says of a node made by hand. Whoever asks has it checked too that every
 * statement can be used by a program: it has a code, rests on cases of the record, and its numbers
 * have names of their own and are finite.
 */

/* As it is printed; release with free(). */
char *text_of(const struct xb_record *record);
char *printed(const struct node *n);
/* Makes a wrapped line one again, so that a test does not depend on where it broke. */
void unwrap(char *text);

void assert_read(const struct node *n, const char *part);
void assert_not_read(const struct node *n, const char *part);
/* What stands behind that label, each line of several behind the other with a turn between; "" for
 * nothing. */
void assert_said(const struct node *n, const char *label, const char *expected);

/* A number of the only statement with that code; `expected` to 1 in 10^9. */
void assert_number(const struct node *n, const char *code, const char *name, double expected);
/* The only statement with that code; its texts, numbers and cases are gone. */
struct xb_reading_entry find_statement(const struct node *n, const char *code);
/* What the only statement with that code says to change; "" for nothing. */
void assert_advised(const struct node *n, const char *code, const char *expected);
/* The answer of the record; "" for none. */
void assert_answered(const struct node *n, const char *expected);
/* How many cases the only statement with that code rests on. */
void assert_rests_on(const struct node *n, const char *code, size_t count);

/* ---- figures ---- */

/* Gives a row the figure of that name, which a mode or the runner declares, or another value of it.
 */
void set_figure(struct xb_result *row, const char *name, double value);
/* Both times of a copy: how long the call blocked, and until the data was there. */
void set_times(struct xb_result *row, double submit, double wall);
void set_size(struct xb_result *row, uint64_t bytes, double gigabytes);
