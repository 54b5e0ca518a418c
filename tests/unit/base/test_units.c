/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, durations, whole numbers and times of day: units.txt says what each text means. */
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "rows.h"

#include <float.h>
#include <inttypes.h>

/* Values that a failed call must leave alone. */
#define UNTOUCHED UINT64_C(12345)
#define UNTOUCHED_SECONDS 12345.0

static void say_number(char said[ROW_TEXT], enum xb_status status, uint64_t number,
                       const struct xb_error *error)
{
    if (status == XB_OK)
        say_also(said, "%" PRIu64, number);
    else
        say_refused(said, status, error);
    assert_true(status == XB_OK || number == UNTOUCHED);
}

static void say_size(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    uint64_t bytes = UNTOUCHED;
    enum xb_status status = row->count == 1
                                ? xb_size_parse(row->part[0], &bytes, &error)
                                : xb_size_parse_within(row->part[0], row_number(row, 1),
                                                       row_number(row, 2), &bytes, &error);
    say_number(said, status, bytes, &error);
}

static void say_count(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    uint64_t count = UNTOUCHED;
    enum xb_status status =
        xb_count_parse(row->part[0], row_number(row, 1), row_number(row, 2), &count, &error);
    say_number(said, status, count, &error);
}

static void say_list(const char *text, bool are_sizes, uint64_t least, uint64_t most,
                     char said[ROW_TEXT])
{
    struct xb_error error;
    uint64_t untouched = UNTOUCHED;
    struct xb_numbers numbers = {&untouched, 77};
    struct xb_arena *memory = NULL;
    enum xb_status status =
        xb_numbers_parse(text, are_sizes, least, most, &numbers, &memory, &error);
    for (size_t i = 0; status == XB_OK && i < numbers.count; i++)
        say_also(said, i > 0 ? " %" PRIu64 : "%" PRIu64, numbers.values[i]);
    if (status != XB_OK) {
        assert_ptr_equal(numbers.values, &untouched);
        assert_int_equal(numbers.count, 77);
        say_refused(said, status, &error);
    }
    xb_arena_free(memory);
}

static void say_sizes(const struct row *row, char said[ROW_TEXT])
{
    say_list(row->part[0], true, row_number(row, 1), row_number(row, 2), said);
}

static void say_counts(const struct row *row, char said[ROW_TEXT])
{
    say_list(row->part[0], false, 0, row_number(row, 1), said);
}

/* The compiler's reading of the same decimal is the reference: no tolerance. */
static void say_duration(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    double seconds = UNTOUCHED_SECONDS;
    enum xb_status status = xb_duration_parse(row->part[0], &seconds, &error);
    if (status == XB_OK)
        say_also(said, "%s", XB_NUMBER_TEXT(seconds));
    else
        say_refused(said, status, &error);
    assert_true(status == XB_OK || seconds == UNTOUCHED_SECONDS);
}

static void say_day_time(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    double when = 0;
    enum xb_status status = xb_day_time_parse(row->part[0], &when, &error);
    if (status == XB_OK)
        say_also(said, "%s", XB_NUMBER_TEXT(when));
    else
        say_refused(said, status, &error);
}

static void say_size_written(const struct row *row, char said[ROW_TEXT])
{
    char text[32], key[32];
    uint64_t bytes = row_number(row, 0);
    assert_ptr_equal(xb_size_format(bytes, text, sizeof text), text);
    assert_ptr_equal(xb_size_key(bytes, key, sizeof key), key);
    say_also(said, "%s, %s", text, key);
}

static void say_duration_written(const struct row *row, char said[ROW_TEXT])
{
    char text[32];
    assert_ptr_equal(xb_duration_format(strtod(row->part[0], NULL), text, sizeof text), text);
    say_also(said, "%s", text);
}

static void say_day_time_written(const struct row *row, char said[ROW_TEXT])
{
    say_also(said, "%s", XB_DAY_TIME_TEXT(strtod(row->part[0], NULL)));
}

TEST_ROWS(sizes_are_read, say_size)
TEST_ROWS(what_is_no_size_is_refused, say_size)
TEST_ROWS(a_size_keeps_to_its_bounds, say_size)
TEST_ROWS(lists_of_sizes_are_read, say_sizes)
TEST_ROWS(what_is_no_list_of_sizes_is_refused, say_sizes)
TEST_ROWS(sizes_keep_to_their_bounds, say_sizes)
TEST_ROWS(numbers_are_read, say_count)
TEST_ROWS(lists_of_numbers_are_read, say_counts)
TEST_ROWS(durations_are_read, say_duration)
TEST_ROWS(what_is_no_duration_is_refused, say_duration)
TEST_ROWS(times_of_day_are_read, say_day_time)
TEST_ROWS(sizes_are_written, say_size_written)
TEST_ROWS(durations_are_written, say_duration_written)
TEST_ROWS(times_of_day_are_written, say_day_time_written)

/* A text of any length must leave room for what is accepted. */
TEST(long_text_is_cut)
{
    char text[4096];
    struct xb_error error;
    uint64_t bytes = 0;
    struct xb_numbers sizes = {NULL, 0};
    struct xb_arena *memory = NULL;
    double seconds = 0.0;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(xb_size_parse(text, &bytes, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "powers of 1000)"));
    assert_int_equal(xb_numbers_parse(text, true, 0, 0, &sizes, &memory, &error), XB_ERR_USAGE);
    xb_arena_free(memory);
    assert_non_null(strstr(error.message, "powers of 1000)"));
    assert_int_equal(xb_duration_parse(text, &seconds, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "such as 500ms or 1.5"));
}

/* More digits than a double has must not change the value by more than its last place or two. */
TEST(long_duration_is_near)
{
    struct xb_error error;
    double seconds = 0.0;
    assert_int_equal(
        xb_duration_parse("0.333333333333333333333333333333333333333333", &seconds, &error), XB_OK);
    assert_true(seconds > (1.0 - 2.0 * DBL_EPSILON) / 3.0);
    assert_true(seconds < (1.0 + 2.0 * DBL_EPSILON) / 3.0);
}

TEST(format_keeps_to_its_buffer)
{
    char text[6] = "#####";
    xb_size_format(1001, text, 4);
    assert_memory_equal(text, "100\0#", 6);
    xb_duration_format(3.31e-6, text, 4);
    assert_memory_equal(text, "3.3\0#", 6);
}
