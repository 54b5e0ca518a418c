/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of compare for check_statistics.py: one request a line on standard input, one
 * answer a line on standard output, with every digit that a double has.
 *
 *     least N M                       xb_rank_least_probability
 *     probability N M U               xb_rank_probability
 *     critical N M ALPHA              xb_rank_critical
 *     needed TESTS ALPHA              xb_rank_values_needed
 *     shift ALPHA LIMIT N A... M B... estimate, low, high, tail and xb_shift_probability
 *     holm N P...                     the adjusted ones
 *     median N V...                   xb_median_of
 *     interval N V...                 two ranks and two bounds, or "none"
 *
 * Ends with 2 on anything else.
 */
#include "base/statistics.h"
#include "compare/rank_test.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1000

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank_test_cli: %s\n", what);
    exit(2);
}

static double read_number(char **rest)
{
    char *end = NULL;
    double value = strtod(*rest, &end);
    require(end != *rest, "a number is missing");
    *rest = end;
    return value;
}

static size_t read_count(char **rest, size_t least, size_t most)
{
    char *end = NULL;
    unsigned long long value = strtoull(*rest, &end, 10);
    require(end != *rest && value >= least && value <= most, "a count is missing or out of range");
    *rest = end;
    return (size_t)value;
}

static size_t read_values(char **rest, size_t most, double *values)
{
    size_t count = read_count(rest, 1, most);
    for (size_t i = 0; i < count; i++)
        values[i] = read_number(rest);
    return count;
}

static void print_values(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%.17g", i > 0 ? " " : "", values[i]);
    putchar('\n');
}

static void answer_shift(char **rest)
{
    double first[XB_RANK_LARGEST];
    double second[XB_RANK_LARGEST];
    double alpha = read_number(rest);
    double limit = read_number(rest);
    size_t n = read_values(rest, XB_RANK_LARGEST, first);
    size_t m = read_values(rest, XB_RANK_LARGEST, second);
    struct xb_shift shift = xb_shift_estimate(first, n, second, m, alpha);
    double probability = xb_shift_probability(first, n, second, m, limit);
    print_values((double[]){shift.estimate, shift.low, shift.high, shift.tail, probability}, 5);
}

static void answer_interval(char **rest, struct xb_error *error)
{
    double values[LARGEST];
    struct xb_statistics statistics;
    size_t low = 0;
    size_t high = 0;
    size_t count = read_values(rest, LARGEST, values);
    bool has_ranks = xb_interval_ranks(count, &low, &high);
    require(xb_statistics_compute(values, count, &statistics, error) == XB_OK, "no memory");
    require(statistics.has_interval == has_ranks, "ranks and interval contradict each other");
    if (has_ranks)
        printf("%zu %zu %.17g %.17g\n", low, high, statistics.ci95_low, statistics.ci95_high);
    else
        puts("none");
}

static void answer_rank(const char *word, char **rest)
{
    size_t n = read_count(rest, 1, XB_RANK_LARGEST);
    size_t m = read_count(rest, 1, XB_RANK_LARGEST);
    double probability = xb_rank_least_probability(n, m);
    if (strcmp(word, "critical") == 0) {
        printf("%zu\n", xb_rank_critical(n, m, read_number(rest)));
        return;
    }
    if (strcmp(word, "probability") == 0)
        probability = xb_rank_probability(n, m, read_count(rest, 0, SIZE_MAX));
    print_values(&probability, 1);
}

static void answer_values(const char *word, char **rest)
{
    double values[LARGEST];
    size_t count = read_values(rest, LARGEST, values);
    if (strcmp(word, "holm") == 0) {
        xb_holm_adjust(values, count);
    } else {
        values[0] = xb_median_of(values, count);
        count = 1;
    }
    print_values(values, count);
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

static void answer(const char *word, char *rest)
{
    static const char *const of_ranks[] = {"least", "probability", "critical", NULL};
    static const char *const of_values[] = {"holm", "median", NULL};
    struct xb_error error;
    if (strcmp(word, "shift") == 0) {
        answer_shift(&rest);
    } else if (strcmp(word, "interval") == 0) {
        answer_interval(&rest, &error);
    } else if (strcmp(word, "needed") == 0) {
        size_t tests = read_count(&rest, 0, SIZE_MAX);
        printf("%zu\n", xb_rank_values_needed(tests, read_number(&rest)));
    } else if (is_one_of(word, of_ranks)) {
        answer_rank(word, &rest);
    } else {
        require(is_one_of(word, of_values), "no such request");
        answer_values(word, &rest);
    }
    require(rest[strspn(rest, " \n")] == '\0', "there is more than was asked for");
}

int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t length = strcspn(line, " \n");
        require(strchr(line, '\n') != NULL, "the line is too long");
        char *rest = line + length + (line[length] == ' ');
        line[length] = '\0';
        answer(line, rest);
    }
    return 0;
}
