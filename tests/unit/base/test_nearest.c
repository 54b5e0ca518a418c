/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <string.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const modes[] = {
    "pageable", "pinned", "async", "double-buffer", "zero-copy", "managed", "peer", NULL,
};
static const char *const options[] = {
    "size", "sizes-from", "direction", "device", "help", "version", NULL,
};
static const char *const directions[] = {"h2d", "d2h", "bidir", NULL};
static const char *const nothing[] = {NULL};
static const char *const alone[] = {"pinned", NULL};

struct row {
    const char *const *candidates;
    const char *word;
    const char *nearest; /* NULL: none is near */
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *nearest = xb_nearest(rows[i].word, rows[i].candidates);
        const char *shown = nearest != NULL ? nearest : "(none)";
        const char *expected = rows[i].nearest != NULL ? rows[i].nearest : "(none)";
        if (strcmp(shown, expected) != 0)
            fail_msg("nearest to \"%s\" is %s, not %s", rows[i].word, expected, shown);
    }
}

TEST(slips_are_near)
{
    static const struct row rows[] = {
        {modes, "pinned", "pinned"},
        {modes, "pined", "pinned"},   /* a letter left out */
        {modes, "pinnned", "pinned"}, /* one too many */
        {modes, "pimned", "pinned"},  /* a wrong one */
        {modes, "ipnned", "pinned"},  /* two swapped, at the start */
        {modes, "pinnde", "pinned"},  /* and at the end */
        {modes, "asink", "async"},    /* two wrong of five */
        {modes, "double_buffer", "double-buffer"},
        {modes, "doublebuffers", "double-buffer"},
        {modes, "zerocopy", "zero-copy"},
        {modes, "PINNED", "pinned"},
        {options, "sise", "size"},
        {options, "verison", "version"},
        {options, "direciton", "direction"},
        {options, "hlep", "help"},
        {directions, "H2D", "h2d"},
        {directions, "hd2", "h2d"}, /* a swap counts once: twice would be too far */
        {directions, "bidri", "bidir"},
    };
    check(rows, COUNT_OF(rows));
}

TEST(unique_prefix_is_near)
{
    static const struct row rows[] = {
        {modes, "dou", "double-buffer"},  {modes, "d", "double-buffer"},
        {modes, "z", "zero-copy"},        {modes, "pa", "pageable"},
        {options, "sizes", "sizes-from"}, /* before size, which is nearer by letters */
        {alone, "p", "pinned"},           {modes, "p", NULL}, /* pageable, pinned, peer */
        {options, "de", "device"},        {options, "d", NULL},
        {options, "siz", "size"}, /* of two, but near by letters */
    };
    check(rows, COUNT_OF(rows));
}

TEST(others_are_not_near)
{
    static const struct row rows[] = {
        {modes, "", NULL},
        {modes, "zzz", NULL},
        {modes, "x", NULL},
        {modes, "copy", NULL},
        {modes, "asikn", NULL}, /* three off in five */
        {modes, "pinned-and-more", NULL},
        {directions, "zzz", NULL},
        {directions, "d2d2", NULL}, /* two off in four */
        {options, "banana", NULL},
        {nothing, "pinned", NULL},
        {nothing, "", NULL},
        {alone, "", NULL},
    };
    check(rows, COUNT_OF(rows));
}

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
