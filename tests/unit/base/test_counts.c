/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers: one, and lists of them and of ranges that double. */
#include "base/units.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define UNTOUCHED UINT64_C(12345) /* what a failed call must leave alone */

TEST(a_number_is_read)
{
    static const struct {
        const char *text;
        uint64_t count;
    } rows[] = {{"0", 0}, {"1", 1}, {"007", 7}, {"64", 64}, {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t count = UNTOUCHED;
        assert_int_equal(xb_count_parse(rows[i].text, 0, UINT64_MAX, &count, &error), XB_OK);
        assert_true(count == rows[i].count);
    }
}

TEST(a_number_is_refused)
{
    static const char *const rows[] = {"",
                                       "1",
                                       "65",
                                       "-2",
                                       "+2",
                                       " 2",
                                       "2 ",
                                       "2.0",
                                       "0x2",
                                       "2K",
                                       "2,3",
                                       "2..4",
                                       "18446744073709551618"}; /* 2 past 64 bits */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t count = UNTOUCHED;
        char expected[128];
        snprintf(expected, sizeof expected, "\"%s\" is not a whole number from 2 to 64", rows[i]);
        assert_int_equal(xb_count_parse(rows[i], 2, 64, &count, &error), XB_ERR_USAGE);
        assert_string_equal(error.message, expected);
        assert_true(count == UNTOUCHED);
    }
}

static void assert_list(const char *text, uint64_t maximum, size_t count, const uint64_t *values)
{
    struct xb_error error;
    struct xb_numbers counts;
    struct xb_arena *memory = NULL;
    assert_int_equal(xb_numbers_parse(text, false, 0, maximum, &counts, &memory, &error), XB_OK);
    assert_int_equal(counts.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(counts.values[i] == values[i]);
    xb_arena_free(memory);
}

/* Like a range of sizes: from the first on, as long as the last is not passed. */
TEST(lists_and_ranges_are_read)
{
    assert_list("3", 64, 1, (const uint64_t[]){3});
    assert_list("4,0,1", 64, 3, (const uint64_t[]){4, 0, 1});
    assert_list("1..16", 64, 5, (const uint64_t[]){1, 2, 4, 8, 16});
    assert_list("3..23", 64, 3, (const uint64_t[]){3, 6, 12});
    assert_list("5..5", 64, 1, (const uint64_t[]){5});
    assert_list("0,1..4,3,8..16", 64, 7, (const uint64_t[]){0, 1, 2, 4, 3, 8, 16});
}

/* What follows the last power of two would overflow. */
TEST(the_longest_range_ends)
{
    uint64_t powers[64];
    for (size_t i = 0; i < 64; i++)
        powers[i] = UINT64_C(1) << i;
    assert_list("1..18446744073709551615", UINT64_MAX, 64, powers);
}

TEST(lists_are_refused)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "\"\" has an empty place; give numbers and ranges with single commas"},
        {"1,", "\"1,\" has an empty place"},
        {",1", "\",1\" has an empty place"},
        {"1,,2", "\"1,,2\" has an empty place"},
        {"1,65", "\"65\" is not a whole number from 0 to 64"},
        {"1,x", "\"x\" is not a whole number"},
        {"1..65", "\"65\" is not a whole number"},
        {"1...4", "\".4\" is not a whole number"},
        {"1..2..4", "\"2..4\" is not a whole number"},
        {"1.5", "\"1.5\" is not a whole number"},
        {"..4", "range \"..4\" lacks a number; name both, as in 1..16"},
        {"2,4..", "range \"4..\" lacks a number"},
        {"0..8", "range \"0..8\" cannot double from 0; name 0 apart"},
        {"8..2", "range \"8..2\" runs backwards; put the smaller number first"},
        {"2,02", "2 is named twice, again by \"02\"; name it once"},
        {"4,1..8", "4 is named twice, again by \"1..8\"; name it once"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t value = 0;
        struct xb_numbers got = {.values = &value, .count = 1};
        struct xb_arena *memory = NULL;
        assert_int_equal(xb_numbers_parse(rows[i].text, false, 0, 64, &got, &memory, &error),
                         XB_ERR_USAGE);
        xb_arena_free(memory);
        if (strncmp(error.message, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("\"%s\": %s", rows[i].text, error.message);
        assert_ptr_equal(got.values, &value);
        assert_int_equal(got.count, 1);
    }
}
