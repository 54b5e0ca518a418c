/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Tables beside their tests: test_units.c has its own in units.txt, a line a case.
 *
 *     [sizes_are_read]                   the test that these are of
 *     # a comment
 *     64K,1M -> 65536 1048576            given -> said
 *     0..4K | 0 | 4096 -> refused: ...cannot double from 0...
 *
 * What is given may have parts. Each stands as it is, without the blanks around it; within `` also
 * with these, and with \n, \r, \t, \\ and \x1B as in C. In what is said "..." stands for any text.
 * Several lines of it stand below the row, each behind "|".
 */
#include "testing.h"
#include "xferbench/error.h"

#define ROW_PARTS 16
#define ROW_TEXT 8192

struct row {
    size_t count;
    const char *part[ROW_PARTS]; /* "" behind the last */
};

/* Writes what comes of a row. */
typedef void (*row_say)(const struct row *row, char said[ROW_TEXT]);

/* Each row of the section says what the table of this test's file says. */
void check_rows(const char *test_file, const char *section, row_say say);
#define TEST_ROWS(name, say)                                                                       \
    TEST(name)                                                                                     \
    {                                                                                              \
        check_rows(__FILE__, #name, say);                                                          \
    }

/* That part as a number in decimal digits. */
uint64_t row_number(const struct row *row, size_t part);
/* Appends to what is said. */
void say_also(char said[ROW_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "refused: " and the message of a usage error; another status says its number. */
void say_refused(char said[ROW_TEXT], enum xb_status status, const struct xb_error *error);
