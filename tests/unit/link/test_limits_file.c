/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo */
#include "checks.h"
#include "fixture_tree.h"
#include "link/report.h"
#include "rows.h"

#define HEAD "{\"schema\":\"xferbench.limits\",\"schema_version\":1,\"limits\":["
#define TAIL "]}"

static void path_of(const char *root, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/limits.json", root);
}

/* The entries, or behind "=" the whole file. */
static enum xb_status open_text(const char *root, const char *text, struct xb_limits_file **file,
                                struct xb_error *error)
{
    char path[PATH_MAX], content[2000];
    path_of(root, path);
    snprintf(content, sizeof content, text[0] == '=' ? "%s" : HEAD "%s" TAIL,
             text + (text[0] == '='));
    write_file(root, "limits.json", content);
    memset(error, 0, sizeof *error);
    return xb_limits_file_open(path, file, error);
}

static void say_limits(const struct row *row, char said[ROW_TEXT], struct xb_link_limits limits)
{
    static const char *const names[] = {"h2d",      "d2h",        "peer", "warn",
                                        "critical", "generation", "width"};
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    void *root = NULL;
    assert_int_equal(make_tree(&root), 0);
    if (strcmp(row->part[0], "=none") != 0 && open_text(root, row->part[0], &file, &error) != XB_OK)
        fail_msg("%s", error.message);
    if (!xb_limits_file_match(file, row->part[1], (unsigned)row_number(row, 2),
                              (unsigned)row_number(row, 3), &limits))
        say_also(said, "no match");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (limits.all[i].is_set)
            say_also(said, "%s%s %g%s", said[0] != '\0' ? ", " : "", names[i],
                     limits.all[i].value / (i < 3 ? 1e9 : 1),
                     limits.all[i].source == XB_LIMIT_FILE ? "" : " of the command line");
    xb_limits_file_close(file);
    assert_int_equal(remove_tree(&root), 0);
}

static void say_entry(const struct row *row, char said[ROW_TEXT])
{
    say_limits(row, said, (struct xb_link_limits){.min_h2d.is_set = false});
}
TEST_ROWS(what_an_entry_sets, say_entry)

static void say_entry_and_options(const struct row *row, char said[ROW_TEXT])
{
    say_limits(row, said,
               (struct xb_link_limits){.min_h2d = {true, 1e9, XB_LIMIT_COMMAND_LINE},
                                       .width = {true, 4.0, XB_LIMIT_COMMAND_LINE}});
}
TEST_ROWS(the_command_line_stands, say_entry_and_options)

/* Behind the file's name. */
static void say_file(const struct row *row, char said[ROW_TEXT])
{
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    char path[PATH_MAX];
    void *root = NULL;
    assert_int_equal(make_tree(&root), 0);
    path_of(root, path);
    enum xb_status status = open_text(root, row->part[0], &file, &error);
    assert_null(file);
    assert_names(&error, path);
    const char *behind = error.message + strlen(path) + strlen(": ");
    memmove(error.message, behind, strlen(behind) + 1);
    say_refused(said, status, &error);
    assert_int_equal(remove_tree(&root), 0);
}
TEST_ROWS(refuses_what_is_no_limits_file, say_file)

TREE_TEST(bounds_the_size)
{
    static char content[(1 << 20) + 2];
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    char path[PATH_MAX];
    path_of(*state, path);
    memset(content, ' ', sizeof content - 1);
    memcpy(content, HEAD TAIL, strlen(HEAD TAIL));
    for (size_t more = 0; more < 2; more++) {
        content[(1 << 20) + more] = '\0';
        content[(1 << 20) + more - 1] = ' ';
        write_file(*state, "limits.json", content);
        assert_int_equal(xb_limits_file_open(path, &file, &error),
                         more == 0 ? XB_OK : XB_ERR_USAGE);
        xb_limits_file_close(more == 0 ? file : NULL);
    }
    assert_has(error.message, "larger than 1 MiB");
}

TREE_TEST(reads_pipes_too_and_names_what_cannot_be_read)
{
    static const char text[] = HEAD "{\"min_h2d_gbs\":5}" TAIL;
    struct xb_limits_file *file = NULL;
    struct xb_link_limits limits = {0};
    struct xb_error error;
    char path[PATH_MAX];
    int ends[2];
    path_of(*state, path);
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.native_name, "ENOENT");
    assert_names(&error, path);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_OK);
    assert_true(xb_limits_file_match(file, "", 0, 0, &limits));
    assert_true(limits.min_h2d.is_set && limits.min_h2d.value == 5e9);
    xb_limits_file_close(file);
    close(ends[0]);
}
