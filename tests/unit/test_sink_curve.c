/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream, setenv */
/* The curves that a sweep over sizes ends with. */
#include "checks.h"
#include "run/table.h"
#include "sink_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ONE "\xE2\x96\x81"
#define TWO "\xE2\x96\x82"
#define FOUR "\xE2\x96\x84"
#define SIX "\xE2\x96\x86"
#define FULL "\xE2\x96\x88"

static struct xb_result *add_size(struct node *n, const struct xb_mode *mode, uint64_t bytes,
                                  double gigabytes)
{
    struct xb_result *result = add(n, mode, "alloc", XB_H2D, gigabytes);
    result->test.bytes = bytes;
    result->bytes_moved = bytes;
    set_bandwidth(result, gigabytes);
    return result;
}

/* What is drawn of a run in so many columns; release with free(). */
static char *curve_of(const struct node *n, size_t columns)
{
    struct xb_record record;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    record_of(&n->run, &record);
    xb_curve_draw(stream, &record, columns);
    xb_record_free(&record);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* Columns that a line of UTF-8 takes, if no character is wide. */
static size_t width_of(const char *line, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)line[i] & 0xC0) != 0x80;
    return width;
}

static void assert_fits(const char *text, size_t columns)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        assert_true(width_of(line, length) < columns);
        line += length + (line[length] == '\n');
    }
}

/* Eight sizes take three cells each, joined by lines; all series have one scale. */
static void curve_has_one_scale(void **state)
{
    static const double rates[] = {0.1, 5, 10, 20, 30, 40, 40, 40};
    struct node *n = *state;
    for (size_t i = 0; i < 8; i++) {
        add_size(n, &pinned, MIB << i, rates[i]);
        add_size(n, &pageable, MIB << i, 10);
    }
    char *text = curve_of(n, 100);
    assert_line(text, "  GB/s by size (log), 1 MiB to 128 MiB; full block 40.00");
    assert_line(text, "  pageable alloc h2d  " TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO
                          TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO TWO "  10.00 to 10.00 GB/s");
    assert_has(text, "  pinned alloc h2d    " ONE);
    assert_has(text, FULL FULL FULL FULL FULL "  0.1000 to 40.00 GB/s\n");
    assert_fits(text, 100);
    free(text);
}

/* Sizes that are further apart are joined: half of the way by the logarithm is half of the way. */
static void curve_joins_sizes_far_apart(void **state)
{
    struct node *n = *state;
    add_size(n, &pinned, 1ULL << 10, 10);
    add_size(n, &pinned, 1ULL << 30, 40);
    add_size(n, &pinned, 1ULL << 20, 20); /* in any order */
    char *text = curve_of(n, 100);
    const char *drawn = strstr(text, "h2d  ") + strlen("h2d  ");
    assert_int_equal(strncmp(drawn, TWO, 3), 0);
    assert_int_equal(strncmp(drawn + 3 * 10, FOUR, 3), 0);
    assert_int_equal(strncmp(drawn + 3 * 15, SIX, 3), 0);
    assert_int_equal(strncmp(drawn + 3 * 20, FULL "  10", 7), 0);
    free(text);
}

/* Beside the least and the most of all sizes, wherever those are. */
static void curve_names_a_best_in_the_middle(void **state)
{
    struct node *n = *state;
    add_size(n, &pinned, MIB, 20);
    add_size(n, &pinned, 2 * MIB, 50);
    add_size(n, &pinned, 4 * MIB, 10);
    add_size(n, &pageable, MIB, 10);
    add_size(n, &pageable, 2 * MIB, 20.5);
    add_size(n, &pageable, 4 * MIB, 20);
    char *text = curve_of(n, 100);
    assert_has(text, "  10.00 to 50.00 GB/s, best at 2 MiB\n");
    assert_has(text, "  10.00 to 20.50 GB/s\n"); /* where it is, is noise */
    free(text);
}

/* Whatever the width, and what has no place goes. */
static void curve_fits(void **state)
{
    struct node *n = *state;
    size_t drawn_with_rates = 0, drawn_at_full = 0; /* the first widths */
    for (size_t i = 0; i < 20; i++)
        add_size(n, &double_buffer, 1024ULL << i, i == 10 ? 60 : 1 + (double)i);
    for (size_t columns = 40; columns < 140; columns++) {
        char *text = curve_of(n, columns);
        const char *drawn = strstr(text, "double-buff");
        assert_non_null(drawn);
        assert_non_null(strstr(drawn, ONE));
        if (columns >= 60) /* the title wraps elsewhere */
            assert_fits(text, columns);
        else
            assert_fits(drawn, columns);
        if (drawn_at_full == 0 && strstr(text, "best") != NULL)
            drawn_at_full = columns;
        if (drawn_with_rates == 0 && strstr(text, " to 60.00 GB") != NULL)
            drawn_with_rates = columns;
        free(text);
    }
    assert_true(drawn_with_rates > 50 && drawn_with_rates < 70);
    assert_true(drawn_at_full > drawn_with_rates + 20 && drawn_at_full <= 100);
}

/* Two sizes, latencies, what failed and what is of another kind. */
static void no_curve_of_fewer_than_three_sizes(void **state)
{
    struct node *n = *state;
    add_size(n, &pinned, MIB, 10);
    add_size(n, &pinned, 2 * MIB, 20);
    add_size(n, &async, 4 * MIB, 20);
    spoil(add_size(n, &pinned, 8 * MIB, 30), XB_RESULT_ERROR, "it failed");
    for (size_t i = 0; i < 3; i++)
        set_latency(add_size(n, &managed, MIB << i, 1), 1e-6, 1e-6);
    char *text = curve_of(n, 100);
    assert_string_equal(text, "");
    free(text);
}

static void table_in_ascii_has_no_curve(void **state)
{
    struct node *n = *state;
    setenv("LC_ALL", "C", 1);
    for (size_t i = 0; i < 4; i++)
        add_size(n, &pinned, MIB << i, 10);
    char *text = body(&n->run);
    assert_lacks(text, "full block");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(curve_has_one_scale),
        NODE_TEST(curve_joins_sizes_far_apart),
        NODE_TEST(curve_names_a_best_in_the_middle),
        NODE_TEST(curve_fits),
        NODE_TEST(no_curve_of_fewer_than_three_sizes),
        NODE_TEST(table_in_ascii_has_no_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
