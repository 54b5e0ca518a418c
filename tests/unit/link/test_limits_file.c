/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo */
#include "checks.h"
#include "fixture_tree.h"
#include "link/report.h"

#include <math.h>

#define HEAD "{\"schema\":\"xferbench.limits\",\"schema_version\":1,\"limits\":["
#define TAIL "]}"

static void path_of(const char *root, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/limits.json", root);
}

/* Writes a file with that content and opens it. */
static enum xb_status open_text(const char *root, const char *text, struct xb_limits_file **file,
                                struct xb_error *error)
{
    char path[PATH_MAX];
    path_of(root, path);
    write_file(root, "limits.json", text);
    memset(error, 0, sizeof *error);
    return xb_limits_file_open(path, file, error);
}

static struct xb_limits_file *open_good(const char *root, const char *text)
{
    struct xb_limits_file *file = NULL;
    struct xb_error error;
    if (open_text(root, text, &file, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_non_null(file);
    return file;
}

static void assert_limit(const struct xb_limit *limit, double value)
{
    assert_true(limit->is_set);
    assert_int_equal(limit->source, XB_LIMIT_FILE);
    if (fabs(limit->value - value) > 0.0)
        fail_msg("%.17g is not %.17g", limit->value, value);
}

TREE_TEST(reads_every_key)
{
    struct xb_link_limits limits = {0};
    struct xb_limits_file *file =
        open_good(*state, HEAD "{\"gpu\":\"*H200*\",\"link\":\"gen5x16\",\"expect\":\"gen5x8\","
                               "\"min_h2d_gbs\":48,\"min_d2h_gbs\":47.5,"
                               "\"min_peer_gbs\":300,\"warn_share\":0.9,"
                               "\"critical_share\":0.9,\"note\":\"\"}" TAIL);
    assert_true(xb_limits_file_match(file, "NVIDIA H200", 5, 16, &limits));
    assert_limit(&limits.generation, 5.0);
    assert_limit(&limits.width, 8.0);
    assert_limit(&limits.min_h2d, 48e9);
    assert_limit(&limits.min_d2h, 47.5e9);
    assert_limit(&limits.min_peer, 300e9);
    assert_limit(&limits.warn_share, 0.9);
    assert_limit(&limits.critical_share, 0.9);
    xb_limits_file_close(file);
}

TREE_TEST(matches_name_and_link)
{
    static const struct {
        const char *entry, *name;
        unsigned generation, width;
        bool matches;
    } rows[] = {
        {"", "anything", 0, 0, true},
        {"\"gpu\":\"*H200*\"", "NVIDIA H200", 0, 0, true},
        {"\"gpu\":\"*H200*\"", "NVIDIA H100", 5, 16, false},
        {"\"gpu\":\"H200\"", "NVIDIA H200", 5, 16, false}, /* the whole name */
        {"\"gpu\":\"*h200*\"", "NVIDIA H200", 5, 16, false},
        {"\"gpu\":\"*H[12]00*\"", "NVIDIA H100 PCIe", 5, 16, true},
        {"\"gpu\":\"*H?00\"", "NVIDIA H200", 5, 16, true},
        {"\"link\":\"gen5x16\"", "X", 5, 16, true},
        {"\"link\":\"gen5x16\"", "X", 5, 8, false},
        {"\"link\":\"gen5x16\"", "X", 4, 16, false},
        {"\"link\":\"gen5x16\"", "X", 6, 16, false}, /* that very link, not a better one */
        {"\"link\":\"gen5x16\"", "X", 0, 0, false},
        {"\"link\":\"gen5\"", "X", 5, 8, true},
        {"\"link\":\"x8\"", "X", 3, 8, true},
        {"\"link\":\"x8\"", "X", 3, 0, false},
        {"\"gpu\":\"*H200*\",\"link\":\"x8\"", "NVIDIA H200", 5, 16, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_link_limits limits = {0};
        char text[256];
        snprintf(text, sizeof text, HEAD "{%s}" TAIL, rows[i].entry);
        struct xb_limits_file *file = open_good(*state, text);
        if (xb_limits_file_match(file, rows[i].name, rows[i].generation, rows[i].width, &limits) !=
            rows[i].matches)
            fail_msg("row %zu: %s against %s gen%ux%u", i, rows[i].entry, rows[i].name,
                     rows[i].generation, rows[i].width);
        assert_false(limits.min_h2d.is_set);
        xb_limits_file_close(file);
    }
}

TREE_TEST(takes_the_first_entry_alone)
{
    struct xb_link_limits limits = {0};
    struct xb_limits_file *file =
        open_good(*state, HEAD "{\"gpu\":\"A\",\"min_h2d_gbs\":1},"
                               "{\"gpu\":\"*\",\"min_h2d_gbs\":2},"
                               "{\"min_h2d_gbs\":3,\"min_d2h_gbs\":3,\"min_peer_gbs\":3}" TAIL);
    assert_true(xb_limits_file_match(file, "B", 5, 16, &limits));
    assert_limit(&limits.min_h2d, 2e9);
    assert_false(limits.min_d2h.is_set);
    assert_false(limits.min_peer.is_set);
    xb_limits_file_close(file);
}

TREE_TEST(lets_the_command_line_stand)
{
    struct xb_link_limits limits = {.min_h2d = {true, 1e9, XB_LIMIT_COMMAND_LINE},
                                    .width = {true, 4.0, XB_LIMIT_COMMAND_LINE}};
    struct xb_limits_file *file =
        open_good(*state, HEAD "{\"expect\":\"gen5x16\",\"min_h2d_gbs\":2,\"min_d2h_gbs\":3}" TAIL);
    assert_true(xb_limits_file_match(file, "B", 5, 16, &limits));
    assert_int_equal(limits.min_h2d.source, XB_LIMIT_COMMAND_LINE);
    assert_true(limits.min_h2d.value < 1.5e9);
    assert_true(limits.width.value < 4.5);
    assert_limit(&limits.generation, 5.0);
    assert_limit(&limits.min_d2h, 3e9);
    xb_limits_file_close(file);
}

TREE_TEST(does_without_entries_or_a_file)
{
    struct xb_link_limits limits = {0};
    struct xb_limits_file *file = open_good(*state, HEAD TAIL);
    assert_false(xb_limits_file_match(file, "B", 5, 16, &limits));
    assert_false(xb_limits_file_match(NULL, "B", 5, 16, &limits));
    xb_limits_file_close(file);
    xb_limits_file_close(NULL);
}

/* What the message must name. */
static const struct {
    const char *text, *piece;
} refused[] = {
    {"", "line 1, column 1: the file ends here"},
    {"\n\n{\"schema\" 1}", "line 3, column 11: this is not JSON"},
    {HEAD TAIL "x", "not JSON"},
    {HEAD "{\"min_h2d_gbs\":NaN}" TAIL, "not JSON"},
    {HEAD "{\"min_h2d_gbs\":Infinity}" TAIL, "not JSON"},
    {HEAD "{\"gpu\":\"A\\u0000B\"}" TAIL, "a character is NUL"},
    {HEAD "{\"gpu\":\"A\x1B\"}" TAIL, "a control character within a text"},
    {HEAD "{\"gpu\":\"A", "this text does not end"},
    {"[]", "must be a JSON object"},
    {"1", "must be a JSON object"},
    {"{}", "schema: is missing"},
    {"{\"schema\":\"xferbench.limits\",\"limits\":[]}", "schema_version: is missing"},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":1}", "limits: is missing"},
    {"{\"schema\":\"xferbench.result\",\"schema_version\":1,\"limits\":[]}", "schema: must be"},
    {"{\"schema\":\"xferbench.result\",\"schema_version\":1,\"tool\":{}}", "schema: must be"},
    {"{\"schema\":1,\"schema_version\":1,\"limits\":[]}", "schema: must be"},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":2,\"limits\":[]}",
     "schema_version: must be 1, "},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":\"1\",\"limits\":[]}",
     "schema_version: must"},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":1,\"limits\":{}}", "limits: must be"},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":1,\"limits\":[],\"limits\":[]}",
     "limits: is there twice"},
    {"{\"schema\":\"xferbench.limits\",\"schema_version\":1,\"limits\":[],\"more\":1}",
     "more: there is no such key"},
    {HEAD "1" TAIL, "limits[0]: must be an object"},
    {HEAD "{},null" TAIL, "limits[1]: must be an object"},
    {HEAD "{},{\"gpus\":\"A\"}" TAIL, "limits[1].gpus: there is no such key"},
    {HEAD "{\"GPU\":\"A\"}" TAIL, "limits[0].GPU: there is no such key"},
    {HEAD "{\"\":\"A\"}" TAIL, "limits[0].: there is no such key"},
    {HEAD "{\"note\":\"A\",\"note\":\"B\"}" TAIL, "limits[0].note: is there twice"},
    {HEAD "{\"min_d2h_gbs\":1,\"min_d2h_gbs\":1}" TAIL, "limits[0].min_d2h_gbs: is there twice"},
    {HEAD "{\"gpu\":1}" TAIL, "limits[0].gpu: must be a text"},
    {HEAD "{\"gpu\":null}" TAIL, "limits[0].gpu: must be a text"},
    {HEAD "{\"gpu\":\"\"}" TAIL, "limits[0].gpu: must be a text that is not empty"},
    {HEAD "{\"note\":[\"A\"]}" TAIL, "limits[0].note: must be a text"},
    {HEAD "{\"link\":5}" TAIL, "limits[0].link: must be a text"},
    {HEAD "{\"link\":\"pcie5\"}" TAIL, "limits[0].link: \"pcie5\" is not a link"},
    {HEAD "{\"link\":\"\"}" TAIL, "limits[0].link: must be a text that is not empty"},
    {HEAD "{\"expect\":true}" TAIL, "limits[0].expect: must be a text"},
    {HEAD "{\"expect\":\"gen9\"}" TAIL, "limits[0].expect: \"gen9\" is not a link"},
    {HEAD "{\"min_h2d_gbs\":\"48\"}" TAIL, "limits[0].min_h2d_gbs: must be a number"},
    {HEAD "{\"min_h2d_gbs\":true}" TAIL, "limits[0].min_h2d_gbs: must be a number"},
    {HEAD "{\"min_h2d_gbs\":-1}" TAIL, "limits[0].min_h2d_gbs: must be a number above 0"},
    {HEAD "{\"min_h2d_gbs\":0}" TAIL, "limits[0].min_h2d_gbs: must be"},
    {HEAD "{\"min_h2d_gbs\":10000.1}" TAIL, "limits[0].min_h2d_gbs: must be"},
    {HEAD "{\"min_h2d_gbs\":1e999}" TAIL, "limits[0].min_h2d_gbs: the number is too large"},
    {HEAD "{\"min_d2h_gbs\":48000000000}" TAIL, "at most 10000"},
    {HEAD "{\"min_peer_gbs\":\"300\"}" TAIL, "limits[0].min_peer_gbs: must be a number"},
    {HEAD "{\"warn_share\":0}" TAIL, "limits[0].warn_share: must be"},
    {HEAD "{\"warn_share\":90}" TAIL, "limits[0].warn_share: must be"},
    {HEAD "{\"critical_share\":1.51}" TAIL, "at most 1.5"},
    {HEAD "{\"critical_share\":{}}" TAIL, "limits[0].critical_share: must be"},
    {HEAD "{\"warn_share\":0.8,\"critical_share\":0.9}" TAIL,
     "limits[0].critical_share: must not be above warn_share"},
};

TREE_TEST(refuses_what_is_no_limits_file)
{
    char path[PATH_MAX];
    path_of(*state, path);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct xb_limits_file *file = NULL;
        struct xb_error error;
        if (open_text(*state, refused[i].text, &file, &error) != XB_ERR_USAGE)
            fail_msg("%s: %s", refused[i].text, error.message);
        assert_null(file);
        assert_names(&error, path);
        if (strstr(error.message, refused[i].piece) == NULL)
            fail_msg("%s: %s", refused[i].text, error.message);
    }
}

TREE_TEST(takes_numbers_at_their_bounds)
{
    struct xb_link_limits limits = {0};
    struct xb_limits_file *file =
        open_good(*state, HEAD "{\"min_h2d_gbs\":10000,\"min_d2h_gbs\":1e-9,"
                               "\"warn_share\":1.5,\"critical_share\":1.5}" TAIL);
    assert_true(xb_limits_file_match(file, "", 0, 0, &limits));
    assert_limit(&limits.min_h2d, 1e13);
    assert_limit(&limits.warn_share, 1.5);
    xb_limits_file_close(file);
}

static void fill_file(const char *path, size_t bytes, const char *begin, char filling)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(begin, file) >= 0);
    for (size_t i = strlen(begin); i < bytes; i++)
        assert_true(fputc(filling, file) != EOF);
    assert_int_equal(fclose(file), 0);
}

TREE_TEST(bounds_the_size)
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

TREE_TEST(reads_files_and_pipes_only)
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
    assert_limit(&limits.min_h2d, 5e9);
    xb_limits_file_close(file);
    close(ends[0]);
}

/* A glob that others take exponential time for. */
TREE_TEST(matches_any_glob_in_time)
{
    struct xb_link_limits limits = {0};
    char name[128];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct xb_limits_file *file = open_good(
        *state, HEAD "{\"gpu\":\"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\"}" TAIL);
    assert_false(xb_limits_file_match(file, name, 0, 0, &limits));
    xb_limits_file_close(file);
}
