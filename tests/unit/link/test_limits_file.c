/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo */
#include "link/report.h"

#include "rows.h"

#define WITH_TREE(test) TEST_WITH(test, make_tree, remove_tree)

#include "checks.h"
#include "fixture_tree.h"

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

static void fill_file(const char *path, size_t bytes, const char *begin, char filling)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(begin, file) >= 0);
    for (size_t i = strlen(begin); i < bytes; i++)
        assert_true(fputc(filling, file) != EOF);
    assert_int_equal(fclose(file), 0);
}

WITH_TREE(bounds_the_size)
{
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    char path[PATH_MAX];
    path_of(*state, path);
    fill_file(path, 1 << 20, HEAD TAIL, ' ');
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_OK);
    xb_limits_file_close(file);
    fill_file(path, (1 << 20) + 1, HEAD TAIL, ' ');
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "larger than 1 MiB"));
    fill_file(path, 1 << 20, "{\"schema\":", '[');
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "deeper than 32 levels"));
    fill_file(path, 4096, HEAD TAIL, '\0');
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "NUL"));
}

WITH_TREE(reads_files_and_pipes_only)
{
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    char path[PATH_MAX];
    int ends[2];
    assert_int_equal(xb_limits_file_open(*state, &file, &error), XB_ERR_USAGE); /* a folder */
    assert_int_equal(xb_limits_file_open("/dev/zero", &file, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "neither a regular file nor a pipe"));
    path_of(*state, path);
    assert_int_equal(xb_limits_file_open(path, &file, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.native_name, "ENOENT");
    assert_names(&error, path);

    static const char text[] = HEAD "{\"min_h2d_gbs\":5}" TAIL;
    struct xb_link_limits limits = {0};
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
