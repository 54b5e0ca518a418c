/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are long, or cut anywhere: golden/trace has those of every kind. */
#define _GNU_SOURCE /* nftw */
#include "fixture_tree.h"
#include "trace/profile.h"

#ifdef HAS_ZLIB
#include <zlib.h>
#endif

#define COPY(name, ts, link, more)                                                                 \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy " name "\",\"pid\":0,\"tid\":7,"       \
    "\"ts\":" ts ",\"dur\":1.5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" link more     \
    "}}"

static struct xb_profiles got;
static struct xb_error error;

static enum xb_status read_again(const char *root, const char *text)
{
    char path[PATH_MAX];
    write_file(root, "trace.json", text);
    snprintf(path, sizeof path, "%s/trace.json", root);
    memset(&error, 0, sizeof error);
    enum xb_status status = xb_profiles_read(&got, path, &error);
    xb_profiles_sort(&got);
    if (status != XB_OK)
        assert_non_null(strstr(error.message, path));
    return status;
}

static void read_text(void **state, const char *text)
{
    xb_profiles_free(&got);
    assert_int_equal(read_again(*state, text), XB_OK);
}

/* Longer than what is looked at, and deeper than cJSON goes: passed over. */
TREE_TEST(passes_over_what_is_too_long)
{
    enum { MANY = 1 << 20 };
    char *text = malloc(2 * MANY + 1000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"x\":");
    at = (char *)memset(at, '[', MANY) + MANY;
    at = (char *)memset(at, ']', MANY) + MANY;
    sprintf(at, ",\"traceEvents\":[" COPY("HtoH", "1", "1", "") "]}");
    read_text(state, text);
    assert_int_equal(got.left_out, 0); /* no event */
    assert_int_equal(got.items[0].activities[0].way, XB_WAY_HOST);
    at = text + sprintf(text, "[{\"x\":\"");
    at = (char *)memset(at, 'x', MANY) + MANY;
    at += sprintf(at, "\"},{\"x\":");
    at = (char *)memset(at, '[', 2000) + 2000;
    at = (char *)memset(at, ']', 2000) + 2000;
    sprintf(at, "}," COPY("DtoD", "1", "1", "") "]");
    read_text(state, text);
    assert_int_equal(got.left_out, 2);
    assert_int_equal(got.items[0].count, 1);
    free(text);
}

TREE_TEST(keeps_what_came_before_a_cut)
{
    static const char text[] =
        "{\"traceEvents\": [" COPY("DtoD", "1", "1", "") "," COPY("DtoD", "2", "2", "") "]}";
    char part[sizeof text];
    const size_t first = 17; /* the first byte of the list */
    for (size_t length = 0; length < sizeof text; length++) {
        snprintf(part, length + 1, "%s", text);
        xb_profiles_free(&got);
        enum xb_status status = read_again(*state, part);
        assert_int_equal(status, length < first ? XB_ERR_USAGE : XB_OK);
        if (status == XB_OK)
            assert_int_equal(got.items[0].is_cut, length < sizeof text - 1);
    }
    assert_int_equal(got.items[0].count, 2);
}

/* Names, tracks and programs are found again, however many there are. */
TEST(keeps_names_and_tracks_once)
{
    enum { MANY = 3000 };
    char name[16];
    uint32_t names[MANY], tracks[MANY];
    xb_profiles_free(&got);
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "name %u", i);
            uint32_t own = xb_profiles_name(&got, name);
            uint32_t track = xb_profiles_track(&got, i / 50, (int)(i % 3) - 1, i / 3);
            names[i] = turn > 0 ? names[i] : own;
            tracks[i] = turn > 0 ? tracks[i] : track;
            assert_int_equal(names[i], own);
            assert_int_equal(tracks[i], track);
            assert_string_equal(got.names[own], name);
            assert_int_equal(xb_profiles_find(&got, i)->process, i);
            assert_int_equal(got.count, turn > 0 ? MANY : i + 1);
        }
    assert_int_equal(got.name_count,
                     3 * MANY + 1); /* with the keys of tracks and programs, and none */
    struct xb_activity backwards = {.begin = 2, .end = 1};
    assert_true(xb_profile_add(&got, &got.items[0], &backwards));
    assert_int_equal(got.left_out, 1);
    xb_profiles_free(&got);
}

/* A program is named while its name, the last one that fits, moves all names. */
TREE_TEST(names_programs_whose_names_move_all)
{
    char text[8192];
    for (int count = 0; count < 64; count++) {
        char *at = text + sprintf(text, "[");
        for (int i = 0; i < count; i++)
            at += sprintf(at, "{\"ph\":\"M\",\"name\":\"none\",\"pid\":\"p%d\"},", i);
        sprintf(at, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":"
                    "\"seven\"}}," COPY("HtoH", "1", "1", "") "]");
        read_text(state, text);
        assert_string_equal(got.items[0].name, "seven");
    }
}

#ifdef HAS_ZLIB
TREE_TEST(unpacks_gzip)
{
    char path[PATH_MAX];
    static const char text[] = "[" COPY("DtoD", "1", "1", "") "," COPY("DtoD", "2", "2", "") "]";
    snprintf(path, sizeof path, "%s/trace.gz", (const char *)*state);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(gzclose(file), Z_OK);
    xb_profiles_free(&got);
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_OK);
    assert_int_equal(got.items[0].count, 2);
    assert_false(got.items[0].is_cut);
    assert_int_equal(truncate(path, 80), 0); /* of about 150 */
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_OK);
    assert_true(got.items[1].is_cut);
    FILE *raw = fopen(path, "r+b");
    assert_non_null(raw);
    assert_int_equal(fseek(raw, 12, SEEK_SET), 0);
    assert_int_equal(fwrite("\377\377\377\377", 1, 4, raw), 4);
    assert_int_equal(fclose(raw), 0);
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "broken"));
}
#endif

static int free_all(NO_STATE)
{
    xb_profiles_free(&got);
    return 0;
}

GROUP(NULL, free_all)
