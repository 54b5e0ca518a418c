/* SPDX-License-Identifier: Apache-2.0 */
#include "run/table.h"
#include "testing.h"

static void assert_said(const struct xb_alike *alike, size_t from, const char *expected)
{
    struct xb_words words = {.length = 0};
    xb_alike_say(alike, from, &words);
    assert_string_equal(words.text, expected);
}

TEST(numbers_that_differ_are_a_range)
{
    struct xb_alike alike = xb_alike_begin("noisy: known to within 9 % (of 3 samples)");
    assert_said(&alike, 0, "noisy: known to within 9 % (of 3 samples)");
    assert_true(xb_alike_add(&alike, "noisy: known to within 13 % (of 3 samples)"));
    assert_true(xb_alike_add(&alike, "noisy: known to within 4.5 % (of 3 samples)"));
    assert_true(xb_alike_add(&alike, "noisy: known to within 5 % (of 3 samples)"));
    assert_said(&alike, 0, "noisy: known to within 4.5 to 13 % (of 3 samples)");
    assert_said(&alike, 7, "known to within 4.5 to 13 % (of 3 samples)");
}

TEST(other_words_are_another_kind)
{
    struct xb_alike alike = xb_alike_begin("after 3 samples");
    assert_false(xb_alike_add(&alike, "after 4 operations"));
    assert_false(xb_alike_add(&alike, "before 4 samples"));
    assert_false(xb_alike_add(&alike, "after 4 samples of 5"));
    assert_false(xb_alike_add(&alike, "after samples"));
    assert_said(&alike, 0, "after 3 samples");
}

/* A range of what is no number of its own would be nonsense. */
TEST(numbers_within_names_must_be_equal)
{
    struct xb_alike alike = xb_alike_begin("by /opt/lib1.so on nodes 0-1, 0000:0f:00.0");
    assert_true(xb_alike_add(&alike, "by /opt/lib1.so on nodes 0-1, 0000:0f:00.0"));
    assert_false(xb_alike_add(&alike, "by /opt/lib2.so on nodes 0-1, 0000:0f:00.0"));
    assert_false(xb_alike_add(&alike, "by /opt/lib1.so on nodes 0-2, 0000:0f:00.0"));
    assert_false(xb_alike_add(&alike, "by /opt/lib1.so on nodes 0-1, 0000:1f:00.0"));
}

/* So would one of what is the name of something. */
TEST(numbers_that_are_names_must_be_equal)
{
    struct xb_alike alike = xb_alike_begin("100 % lie elsewhere than on NUMA node 1 (GPU 0)");
    assert_false(xb_alike_add(&alike, "100 % lie elsewhere than on NUMA node 2 (GPU 0)"));
    assert_false(xb_alike_add(&alike, "100 % lie elsewhere than on NUMA node 1 (GPU 1)"));
    assert_true(xb_alike_add(&alike, "90 % lie elsewhere than on NUMA node 1 (GPU 0)"));
    assert_said(&alike, 0, "90 to 100 % lie elsewhere than on NUMA node 1 (GPU 0)");
    alike = xb_alike_begin("the host buffer lies on 1");
    assert_false(xb_alike_add(&alike, "the host buffer lies on 0"));
}

TEST(ranges_become_one)
{
    struct xb_alike alike = xb_alike_begin("40 places gave 5.1 to 7.2 GB/s");
    assert_said(&alike, 0, "40 places gave 5.1 to 7.2 GB/s");
    assert_true(xb_alike_add(&alike, "36 places gave 6.3 to 9.9 GB/s"));
    assert_true(xb_alike_add(&alike, "38 places gave 5.5 to 7.0 GB/s"));
    assert_said(&alike, 0, "36 to 40 places gave 5.1 to 9.9 GB/s");
}

TEST(number_at_either_end_counts)
{
    struct xb_alike alike = xb_alike_begin("3 of 16.");
    assert_true(xb_alike_add(&alike, "2 of 8."));
    assert_said(&alike, 0, "2 to 3 of 8 to 16.");
    alike = xb_alike_begin("warning 1");
    assert_true(xb_alike_add(&alike, "warning 2"));
    assert_said(&alike, 0, "warning 1 to 2");
}

/* There is room for eight. */
TEST(further_numbers_must_be_equal)
{
    struct xb_alike alike = xb_alike_begin("1 2 3 4 5 6 7 8 9");
    assert_true(xb_alike_add(&alike, "1 2 3 4 5 6 7 9 9"));
    assert_false(xb_alike_add(&alike, "1 2 3 4 5 6 7 8 8"));
    assert_said(&alike, 0, "1 2 3 4 5 6 7 8 to 9 9");
}
