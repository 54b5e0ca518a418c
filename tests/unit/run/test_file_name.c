/* SPDX-License-Identifier: Apache-2.0 */
/* What %h, %t and %r become in the names of files. */
#define _POSIX_C_SOURCE 200809L
#include "base/units.h"
#include "checks.h"
#include "cli/places.h"
#include "rows.h"

#include <time.h>

static void set_node(const char *node)
{
    static const char *const variables[] = {"SLURMD_NODENAME", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
    assert_int_equal(setenv("XFERBENCH_NODE", node, 1), 0);
}

static const char *made_of(const char *pattern)
{
    static char name[XB_FILE_NAME];
    static char said[ROW_TEXT];
    struct xb_error error;
    enum xb_status status = xb_file_name_make("--json", pattern, name, &error);
    said[0] = '\0';
    if (status != XB_OK)
        say_refused(said, status, &error);
    return status == XB_OK ? name : said;
}

static void say_name(const struct row *row, char said[ROW_TEXT])
{
    set_node(row->part[0]);
    if (strcmp(row->part[1], "none") != 0)
        assert_int_equal(setenv("SLURM_PROCID", row->part[1], 1), 0);
    say_also(said, "%s", made_of(row->part[2]));
}

TEST_ROWS(letters_stand_for_node_and_rank, say_name)
TEST_ROWS(what_means_nothing_is_refused, say_name)

/* However often it is asked: all files of a run have the same time. */
TEST(the_time_is_when_the_program_began)
{
    char expected[32];
    time_t began = xb_began().tv_sec;
    struct tm utc;
    assert_non_null(gmtime_r(&began, &utc));
    assert_int_equal(strftime(expected, sizeof expected, "a-%Y%m%dT%H%M%SZ", &utc), 18);
    for (int i = 0; i < 2; i++)
        assert_string_equal(made_of("a-%t"), expected);
}

/* The longest that a kernel takes, and one byte more, from the text and from what it stands for. */
TEST(a_name_has_an_end)
{
    char pattern[XB_FILE_NAME + 1];
    memset(pattern, 'a', sizeof pattern);
    pattern[XB_FILE_NAME - 1] = '\0';
    assert_string_equal(made_of(pattern), pattern);
    pattern[XB_FILE_NAME - 1] = 'a';
    pattern[XB_FILE_NAME] = '\0';
    assert_has(made_of(pattern), "use a shorter one");
    memcpy(pattern + XB_FILE_NAME - 8, "%h", sizeof "%h");
    set_node("gpu0007");
    assert_int_equal(strlen(made_of(pattern)), XB_FILE_NAME - 1);
    set_node("gpu00007");
    assert_has(made_of(pattern), "use a shorter one");
}
