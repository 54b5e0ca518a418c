/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "xferbench/error.h"

#include <string.h>

#include "testing.h"

static void assert_plain(const char *text, const char *expected)
{
    char once[128], twice[128];
    assert_string_equal(xb_plain_text(text, once, sizeof once), expected);
    assert_string_equal(xb_plain_text(once, twice, sizeof twice), expected);
}

TEST(plain_text_stays_as_it_is)
{
    assert_plain("", "");
    assert_plain("/a b/c.json: no \"such\" file (50 %)", "/a b/c.json: no \"such\" file (50 %)");
    assert_plain("0000:01:00.0 #1", "0000:01:00.0 #1");
    assert_plain("Gr\xC3\xBC\xC3\x9F"
                 "e \xE6\xB8\xAC\xE8\xA9\xA6 \xF0\x9F\x9A\x80",
                 "Gr\xC3\xBC\xC3\x9F"
                 "e \xE6\xB8\xAC\xE8\xA9\xA6 \xF0\x9F\x9A\x80");
}

TEST(control_characters_are_written_out)
{
    assert_plain("a\nb\tc\rd", "a\\nb\\tc\\rd");
    assert_plain("\x1B[31m\x7F\x01", "\\x1B[31m\\x7F\\x01");
    assert_plain("\xC2\x9B"
                 "31m",
                 "\\xC2\\x9B"
                 "31m"); /* CSI of C1 */
}

/* As numbers, for in the source too they would not be seen. */
TEST(what_is_not_seen_is_written_out)
{
    static const char right_to_left[] = {(char)0xE2, (char)0x80, (char)0xAE, 'g', '\0'};
    static const char isolated[] = {(char)0xE2, (char)0x81, (char)0xA6, '\0'};
    static const char line_end[] = {(char)0xE2, (char)0x80, (char)0xA8, '\0'};
    static const char mark[] = {(char)0xEF, (char)0xBB, (char)0xBF, '\0'};
    static const char mongolian[] = {(char)0xE1, (char)0xA0, (char)0x8E, '\0'};
    static const char note[] = {(char)0xEF, (char)0xBF, (char)0xBA, '\0'};
    static const char tag[] = {(char)0xF3, (char)0xA0, (char)0x81, (char)0x81, '\0'};
    assert_plain(right_to_left, "\\xE2\\x80\\xAEg");
    assert_plain(isolated, "\\xE2\\x81\\xA6");
    assert_plain(line_end, "\\xE2\\x80\\xA8");
    assert_plain(mark, "\\xEF\\xBB\\xBF");
    assert_plain(mongolian, "\\xE1\\xA0\\x8E");
    assert_plain(note, "\\xEF\\xBF\\xBA");
    assert_plain(tag, "\\xF3\\xA0\\x81\\x81");
    assert_plain("\xEF\xBF\xBD", "\xEF\xBF\xBD"); /* the sign of what could not be read */
}

TEST(what_is_no_utf8_is_written_out)
{
    assert_plain("\xFF"
                 "a\xC3",
                 "\\xFF"
                 "a\\xC3");
    assert_plain("\xED\xA0\x80", "\\xED\\xA0\\x80");
}

TEST(no_command_of_a_ci_system_is_left)
{
    assert_plain("::error::x", ":\\x3Aerror:\\x3Ax");
    assert_plain("##[error]x", "#\\x23[error]x");
    assert_plain(":::", ":\\x3A:");
}

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
