/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"
#include "run/table.h"

/* Sentences, one added after the other: what is said of those that are alike, and, each in
 * brackets, those that are not. */
static void say_alike(const struct row *row, char said[ROW_TEXT])
{
    struct xb_alike alike = xb_alike_begin(row->part[0]);
    struct xb_words words = {.length = 0};
    char others[ROW_TEXT] = "";
    for (size_t i = 1; i < row->count; i++)
        if (!xb_alike_add(&alike, row->part[i]))
            say_also(others, " (%s)", row->part[i]);
    xb_alike_say(&alike, 0, &words);
    say_also(said, "%s%s", words.text, others);
}

TEST_ROWS(numbers_that_differ_are_a_range, say_alike)
TEST_ROWS(other_words_are_another_kind, say_alike)
TEST_ROWS(numbers_within_names_must_be_equal, say_alike)
TEST_ROWS(numbers_that_are_names_must_be_equal, say_alike)

TEST(what_stands_first_may_be_left_out)
{
    struct xb_alike alike = xb_alike_begin("noisy: known to within 9 %");
    struct xb_words words = {.length = 0};
    assert_true(xb_alike_add(&alike, "noisy: known to within 13 %"));
    xb_alike_say(&alike, 7, &words);
    assert_string_equal(words.text, "known to within 9 to 13 %");
}
