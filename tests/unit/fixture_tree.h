/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A temporary directory, in TMPDIR where that is set, in which a test lays out files as /proc and
 * /sys have them. For cmocka: both functions below serve as setup and teardown of a test, whose
 * state is the directory's path. */

#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_tree(void **state)
{
    const char *parent = getenv("TMPDIR");
    char root[PATH_MAX];

    snprintf(root, sizeof root, "%s/xferbench-test-XXXXXX", parent != NULL ? parent : "/tmp");
    *state = mkdtemp(root) != NULL ? strdup(root) : NULL;
    return *state != NULL ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int remove_tree(void **state)
{
    int outcome = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return outcome;
}

/* The same, and the test runs in it. */
static int tree_outside;

static inline int enter_tree(void **state)
{
    tree_outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return tree_outside < 0 || make_tree(state) != 0 || chdir(*state) != 0;
}

static inline int leave_tree(void **state)
{
    int failed = fchdir(tree_outside);
    close(tree_outside);
    return remove_tree(state) != 0 || failed;
}

/* Of texts (cases.h): begin_in_tree() at each title, and end_in_tree() behind the last. */
static void *case_tree;

static inline void end_in_tree(void)
{
    if (case_tree != NULL)
        assert_int_equal(leave_tree(&case_tree), 0);
    case_tree = NULL;
}

static inline void begin_in_tree(void)
{
    end_in_tree();
    assert_int_equal(enter_tree(&case_tree), 0);
}

/* Writes `content` to root/path, with the directories on the way. */
static inline void write_file(const char *root, const char *path, const char *content)
{
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s/%s", root, path);

    assert_in_range(length, 1, sizeof full - 1);
    for (char *slash = full + strlen(root); (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        if (mkdir(full, 0700) != 0)
            assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* How many files and folders there are in it. */
static inline size_t entries_in(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

#define TREE_TEST(name) TEST_WITH(name, make_tree, remove_tree)
