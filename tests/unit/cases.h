/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tests that are written as text: commands, and below each what comes of it, two spaces from the
 * left.
 *
 *     ## A loss of 3 % is a regression.
 *     # why that is right
 *     both pinned/h2d/1M 0.97      # a comment
 *     compare
 *       REGRESSION, exit 1: ...
 *
 * Each title begins anew; what stands below a line without one goes on. Words are apart by blanks
 * that are in no quotes, of either kind; \n, \r, \t, \\ and \x1B are as in C. XB_UPDATE=1 in the
 * environment writes what comes: read the diff before you commit it. */

#include "testing.h"

#define MOST_WORDS 40

struct verb {
    const char *name; /* NULL in the last row, which takes all other commands or, empty, none */
    /* words[0] is the name; NULL stands behind the last. They stay until the file ends. */
    void (*run)(FILE *told, char **words);
};

/* The parameters of a verb that tells nothing, and of one that takes nothing. */
#define UNTOLD __attribute__((unused)) FILE *told
#define NO_WORDS __attribute__((unused)) char **words

/* Of tests/unit/NAME.txt. `begin`, which may be NULL, is called at each title. */
void run_cases(const char *name, const struct verb *verbs, void (*begin)(void));
#define TEST_CASES(what_holds, name, verbs, begin)                                                 \
    TEST(what_holds)                                                                               \
    {                                                                                              \
        run_cases(name, verbs, begin);                                                             \
    }

/* A verb: $ COMMAND tells what a shell prints. */
void tell_shell(FILE *told, char **words);

/* Ends the test, and says which line is wrong. */
void fail_case(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- words ---- */

/* The next character, which may be one that a backslash begins. */
char unescaped(const char **from);
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
