/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "rows.h"

/* Doing it twice changes nothing. */
static void say_plain(const struct row *row, char said[ROW_TEXT])
{
    char once[128], twice[128];
    say_also(said, "%s", xb_plain_text(row->part[0], once, sizeof once));
    assert_string_equal(xb_plain_text(once, twice, sizeof twice), once);
}

TEST_ROWS(plain_text_stays_as_it_is, say_plain)
TEST_ROWS(control_characters_are_written_out, say_plain)
TEST_ROWS(what_is_not_seen_is_written_out, say_plain)
TEST_ROWS(what_is_no_utf8_is_written_out, say_plain)
TEST_ROWS(no_command_of_a_ci_system_is_left, say_plain)

/* How many bytes the first character has; 0 for none. */
static void say_length(const struct row *row, char said[ROW_TEXT])
{
    say_also(said, "%zu", xb_utf8_length(row->part[0]));
}
TEST_ROWS(utf8_is_told_from_other_bytes, say_length)

TEST(what_does_not_fit_is_left_out_whole)
{
    char plain[6];
    assert_string_equal(xb_plain_text("abcdefg", plain, sizeof plain), "abcde");
    assert_string_equal(xb_plain_text("abc\x01", plain, sizeof plain), "abc");
    assert_string_equal(xb_plain_text("abc\xE6\xB8\xAC", plain, sizeof plain), "abc");
}

TEST(the_message_of_an_error_is_plain)
{
    struct xb_error error;
    (void)XB_FAIL(&error, XB_ERR_USAGE, "cannot write '%s'", "x\n::error::y");
    assert_string_equal(error.message, "cannot write 'x\\n:\\x3A"
                                       "error:\\x3Ay'");
}
