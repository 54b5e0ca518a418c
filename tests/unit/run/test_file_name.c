/* SPDX-License-Identifier: Apache-2.0 */
/* What %h, %t and %r become in the names of files. */
#define _POSIX_C_SOURCE 200809L
#include "base/units.h"
#include "cli/places.h"
#include "testing.h"

#include <time.h>

static int begin(NO_STATE)
{
    static const char *const variables[] = {"SLURMD_NODENAME", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
    return setenv("XFERBENCH_NODE", "gpu007", 1);
}

static void assert_name(const char *pattern, const char *expected)
{
    char name[XB_FILE_NAME];
    struct xb_error error = {.message = ""};
    if (xb_file_name_make("--json", pattern, name, &error) != XB_OK)
        fail_msg("%s: %s", pattern, error.message);
    assert_string_equal(name, expected);
}

static void assert_refused(const char *pattern, const char *words)
{
    char name[XB_FILE_NAME];
    struct xb_error error;
    assert_int_equal(xb_file_name_make("--json", pattern, name, &error), XB_ERR_USAGE);
    assert_memory_equal(error.message, "--json: ", strlen("--json: "));
    if (strstr(error.message, words) == NULL)
        fail_msg("%s: %s", pattern, error.message);
}

TEST_WITH(letters_stand_for_node_and_rank, begin, NULL)
{
    assert_name("out.json", "out.json");
    assert_name("-", "-");
    assert_name("/dev/fd/9", "/dev/fd/9");
    assert_name("%h", "gpu007");
    assert_name("run/%h/%h.json", "run/gpu007/gpu007.json");
    assert_name("100%%", "100%");
    assert_name("%%h", "%h");
    assert_int_equal(setenv("XFERBENCH_NODE", "%t", 1), 0); /* a name is no pattern */
    assert_name("%h", "%t");
    assert_refused("%r", "no launcher told one");
    assert_int_equal(setenv("SLURM_PROCID", "12", 1), 0);
    assert_name("%h-%r.json", "%t-12.json");
}

/* However often it is asked: all files of a run have the same time. */
TEST_WITH(the_time_is_when_the_program_began, begin, NULL)
{
    char expected[32];
    time_t began = xb_began().tv_sec;
    struct tm utc;
    assert_non_null(gmtime_r(&began, &utc));
    assert_int_equal(strftime(expected, sizeof expected, "a-%Y%m%dT%H%M%SZ", &utc), 18);
    assert_name("a-%t", expected);
    assert_name("a-%t", expected);
}

TEST_WITH(what_means_nothing_is_refused, begin, NULL)
{
    assert_refused("%x", "%x means nothing");
    assert_refused("a%", "the name ends with %");
    assert_refused("%H", "use %h (node)");
    assert_int_equal(setenv("XFERBENCH_NODE", "../../etc/passwd", 1), 0);
    char name[XB_FILE_NAME];
    struct xb_error error;
    assert_int_equal(xb_file_name_make("--json", "%h", name, &error), XB_ERR_USAGE);
}

/* The longest that a kernel takes, and one byte more, from the text and from what it stands for. */
TEST_WITH(a_name_has_an_end, begin, NULL)
{
    char pattern[XB_FILE_NAME + 1];
    char name[XB_FILE_NAME];
    struct xb_error error;
    memset(pattern, 'a', sizeof pattern);
    pattern[XB_FILE_NAME - 1] = '\0';
    assert_name(pattern, pattern);
    pattern[XB_FILE_NAME - 1] = 'a';
    pattern[XB_FILE_NAME] = '\0';
    assert_refused(pattern, "use a shorter one");
    memcpy(pattern + XB_FILE_NAME - 8, "%h", sizeof "%h");
    assert_int_equal(setenv("XFERBENCH_NODE", "gpu0007", 1), 0);
    assert_int_equal(xb_file_name_make("--json", pattern, name, &error), XB_OK);
    assert_int_equal(strlen(name), XB_FILE_NAME - 1);
    assert_int_equal(setenv("XFERBENCH_NODE", "gpu00007", 1), 0);
    assert_refused(pattern, "use a shorter one");
}
