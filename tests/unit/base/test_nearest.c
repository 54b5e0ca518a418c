/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include "rows.h"

static const char *const modes[] = {
    "pageable", "pinned", "async", "double-buffer", "zero-copy", "managed", "peer", NULL,
};
static const char *const options[] = {
    "size", "sizes-from", "direction", "device", "help", "version", NULL,
};
static const char *const directions[] = {"h2d", "d2h", "bidir", NULL};
static const char *const nothing[] = {NULL};
static const char *const alone[] = {"pinned", NULL};

static void say_nearest(const struct row *row, char said[ROW_TEXT])
{
    static const struct {
        const char *name;
        const char *const *candidates;
    } lists[] = {{"modes", modes},
                 {"options", options},
                 {"directions", directions},
                 {"nothing", nothing},
                 {"alone", alone}};
    size_t i = 0;
    while (strcmp(lists[i].name, row->part[0]) != 0)
        i++;
    const char *nearest = xb_nearest(row->part[1], lists[i].candidates);
    say_also(said, "%s", nearest != NULL ? nearest : "none");
}

TEST_ROWS(slips_are_near, say_nearest)
TEST_ROWS(unique_prefix_is_near, say_nearest)
TEST_ROWS(others_are_not_near, say_nearest)

/* "h2h" is one letter from both. */
TEST(first_of_equals_wins)
{
    static const char *const turned[] = {"d2h", "h2d", NULL};
    assert_ptr_equal(xb_nearest("h2h", directions), directions[0]);
    assert_ptr_equal(xb_nearest("h2h", turned), turned[0]);
}

TEST(nearest_of_several_wins)
{
    static const char *const words[] = {"stream", "streams", "screams", NULL};
    assert_ptr_equal(xb_nearest("streems", words), words[1]);
    assert_ptr_equal(xb_nearest("streem", words), words[0]);
    assert_ptr_equal(xb_nearest("screems", words), words[2]);
}

/* Words on both sides of the longest one that is compared. */
TEST(long_words_are_safe)
{
    char candidate[66];
    char word[5000];
    const char *const one[] = {candidate, "pinned", NULL};
    for (size_t length = 62; length <= 65; length++) {
        memset(candidate, 'a', length);
        candidate[length] = '\0';
        memset(word, 'a', length);
        word[0] = 'b';
        word[length] = '\0';
        if (length <= 64)
            assert_ptr_equal(xb_nearest(word, one), candidate);
        else
            assert_null(xb_nearest(word, one));
    }
    assert_string_equal(xb_nearest("pined", one), "pinned");
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(xb_nearest(word, one));
}
