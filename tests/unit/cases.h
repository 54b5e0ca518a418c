/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tests that are written as text, in a file beside the test's:
 *
 *     # A loss of 3 % is a regression.
 *     both pinned/h2d/1M 0.97
 *     ----
 *     REGRESSION, exit 1: ...
 *
 * Each line above the dashes is a verb of the test and its words. What verbs print, and `tell` at
 * the dashes, must be what stands below them, up to a blank line. What follows without a title of
 * its own goes on where the case before it ended. XB_UPDATE=1 in the environment writes the file
 * anew: read the diff before you commit it. Include after testing.h. */

#include <stdbool.h>
#include <stdio.h>

#define MOST_WORDS 40

struct verb {
    const char *name;
    /* words[0] is the name; NULL stands behind the last. */
    void (*run)(FILE *told, char **words);
};

/* The parameter of a verb that tells nothing. */
#define UNTOLD __attribute__((unused)) FILE *told

/* `path` is below tests/unit/. `begin` starts a case; it and `tell` may be NULL. */
void run_cases(const char *path, const struct verb *verbs, size_t count, void (*begin)(void),
               void (*tell)(FILE *told));
#define RUN_CASES(path, verbs, begin, tell)                                                        \
    run_cases(path, verbs, sizeof(verbs) / sizeof *(verbs), begin, tell)

/* Ends the test, and says which line is wrong. */
void fail_case(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- words ---- */

/* The text behind "name=" among the words, or NULL. */
const char *value_of(char **words, const char *name);
double number_of(const char *word);
/* The same of "name=number", or what stands in for it where there is none. */
double number_or(char **words, const char *name, double otherwise);
/* Whether a list such as "0-3,7" has the number; "*" and NULL have all. */
bool list_has(const char *list, size_t number);
/* The number-th (from 0) of items with commas between them, the last one for all behind it. Static
 * memory. */
const char *item_of(const char *list, size_t number);
