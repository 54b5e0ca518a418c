/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/terminal.h"

#include "testing.h"

/* What is printed into a text, which is no terminal. */
struct printed {
    char *text;
    size_t size;
    FILE *stream;
};

static struct printed *begin(struct printed *printed)
{
    printed->stream = open_memstream(&printed->text, &printed->size);
    assert_non_null(printed->stream);
    return printed;
}

static void assert_printed(struct printed *printed, const char *expected)
{
    assert_int_equal(fclose(printed->stream), 0);
    assert_string_equal(printed->text, expected);
    free(printed->text);
}

TEST(lines_stay_within_the_width)
{
    struct printed printed;
    xb_lines_print(begin(&printed)->stream, 20, "%s", "Device 0: a card that has a long name");
    assert_printed(&printed, "Device 0: a card\n  that has a long\n  name\n");
}

TEST(number_stays_with_its_unit)
{
    struct printed printed;
    xb_lines_print(begin(&printed)->stream, 20, "%s", "abcdefghijk only 55.3 GB/s");
    assert_printed(&printed, "abcdefghijk only\n  55.3 GB/s\n");
}

TEST(words_that_belong_together_stay_so)
{
    struct printed printed;
    xb_lines_print(begin(&printed)->stream, 20, "%s",
                   "it can do no Gen5 x16, or NVLink 18 x 26.6 GB/s");
    assert_printed(&printed, "it can do no\n  Gen5 x16, or\n  NVLink\n  18 x 26.6 GB/s\n");
}

TEST(path_stays_whole_in_a_file)
{
    struct printed printed;
    xb_lines_print(begin(&printed)->stream, 20, "%s", "see /a/path/of/thirty/characters now");
    assert_printed(&printed, "see\n  /a/path/of/thirty/characters\n  now\n");
}

TEST(further_lines_of_a_note_stand_below_its_first_word)
{
    struct printed printed;
    xb_note_print(begin(&printed)->stream, "link", 6, "%s",
                  "55.31 GB/s is what this note is about, and it goes on to the end of a line "
                  "that has no room for all of it");
    assert_printed(&printed,
                   "  link  55.31 GB/s is what this note is about, and it goes on to the end of a "
                   "line that has no room\n"
                   "        for all of it\n");
}
