/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fleet/write/formats.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

/* The names with a blank between each two. */
static void join(const struct xb_hostlist *list, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? " " : "",
                                   list->names[i]);
}

static void assert_expands(const char *text, const char *expected)
{
    struct xb_hostlist list;
    struct xb_error error;
    char names[1024];
    assert_int_equal(xb_hostlist_expand(text, &list, &error), XB_OK);
    join(&list, names, sizeof names);
    assert_string_equal(names, expected);
    xb_hostlist_free(&list);
}

TEST(expressions_are_expanded_in_the_order_given)
{
    assert_expands("login1", "login1");
    assert_expands("gpu[001-003,7],login1", "gpu001 gpu002 gpu003 gpu7 login1");
    assert_expands("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02");
    assert_expands("a[1-2]b[3]c[4-5]", "a1b3c4 a1b3c5 a2b3c4 a2b3c5");
    assert_expands("n[8-11]", "n8 n9 n10 n11");
    assert_expands("n[08-11]", "n08 n09 n10 n11");
    assert_expands("n[1,01,001]", "n1 n01 n001");
    assert_expands("n[099-101]", "n099 n100 n101");
    assert_expands("n[1-3]-ib.example.com",
                   "n1-ib.example.com n2-ib.example.com n3-ib.example.com");
    assert_expands("[1-3]", "1 2 3");
    assert_expands("a[1,3]b[2,4-5]-x", "a1b2-x a1b4-x a1b5-x a3b2-x a3b4-x a3b5-x");
    assert_expands(" a, b\tc\n,,d ", "a b c d");
}

TEST(a_name_that_is_given_twice_is_there_once)
{
    assert_expands("b,a,n[1-3],b,n2,n[1,1]", "b a n1 n2 n3");
}

static void assert_refused(const char *text, const char *why)
{
    struct xb_hostlist list;
    struct xb_error error;
    assert_int_equal(xb_hostlist_expand(text, &list, &error), XB_ERR_USAGE);
    if (strstr(error.message, why) == NULL)
        fail_msg("\"%s\" is refused by \"%s\", which does not say \"%s\"", text, error.message,
                 why);
    xb_hostlist_free(&list);
}

TEST(nonsense_is_refused_and_the_place_is_told)
{
    assert_refused("", "names no host");
    assert_refused(" , ,\n", "names no host");
    assert_refused("gpu[1-3", "character 4: this bracket is not closed");
    assert_refused("gpu]1", "character 4: this bracket was not opened");
    assert_refused("gpu[]", "character 5: brackets hold numbers");
    assert_refused("gpu[1-]", "character 7: brackets hold numbers");
    assert_refused("gpu[1,]", "character 7: brackets hold numbers");
    assert_refused("gpu[a-c]", "character 5: brackets hold numbers");
    assert_refused("gpu[1-2-3]", "character 8: brackets hold numbers");
    assert_refused("gpu[1 - 2]", "character 6: brackets hold numbers");
    assert_refused("gpu[1[2]", "character 6: brackets hold numbers");
    assert_refused("gpu[1[2]]", "character 6: brackets hold numbers");
    assert_refused("a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]", "character 34: a name of more than 8");
    assert_refused("gpu[5-3]", "character 5: this range ends before it begins");
    assert_refused("gpu[1234567890123456789]", "more than 18 digits");
    assert_refused("a,b c$d", "character 6: names are of letters");
    assert_refused("-n1", "begins with a dash");
    assert_refused("n1,..", "character 4: no name of a host");
    assert_refused("all", "ALL, which Slurm takes for all");
    assert_refused("n\xff", "names are of letters");
}

TEST(an_expression_cannot_take_all_memory)
{
    assert_refused("n[0-999999999999999999]", "more than 1000000 names");
    assert_refused("a[1-9999]b[1-9999]c[1-9999]", "more than 1000000 names");
    char longest[300];
    memset(longest, 'n', sizeof longest);
    longest[255] = '\0';
    assert_expands(longest, longest);
    longest[255] = 'n';
    longest[256] = '\0';
    assert_refused(longest, "more than 255 characters");
    memcpy(longest + 250, "[100000]", 9);
    assert_refused(longest, "more than 255 characters");
}

TEST(a_file_has_an_expression_a_line)
{
    char path[] = "/tmp/xferbench-hosts-XXXXXX";
    static const char good[] = "# all of them\n\nn[1-2] # the old ones\n  n2,n4\r\nn3";
    static const char bad[] = "n1\nn2\nn[3\n";
    struct xb_hostlist list;
    struct xb_error error;
    char names[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, good, sizeof good - 1), sizeof good - 1);
    assert_int_equal(xb_hostlist_read(path, &list, &error), XB_OK);
    join(&list, names, sizeof names);
    assert_string_equal(names, "n1 n2 n4 n3");
    xb_hostlist_free(&list);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, bad, sizeof bad - 1, 0), sizeof bad - 1);
    assert_int_equal(xb_hostlist_read(path, &list, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "line 3: \"n[3\", character 2: "));
    xb_hostlist_free(&list);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(xb_hostlist_read(path, &list, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "names no host"));
    xb_hostlist_free(&list);
    close(file);
    unlink(path);
}

/* ---- the other way ---- */

#define NAMES(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void assert_compressed(const char *const *names, size_t count, const char *expected)
{
    struct xb_arena *arena = NULL;
    size_t left_out = 0;
    assert_string_equal(xb_hostlist_compress(names, count, &arena, &left_out), expected);
    assert_int_equal(left_out, 0);
    xb_arena_free(arena);
}

TEST(names_become_one_expression)
{
    assert_compressed(NULL, 0, "");
    assert_compressed(NAMES("n1"), "n1");
    assert_compressed(NAMES("n2", "n1", "n3", "n1"), "n[1-3]");
    assert_compressed(NAMES("n2", "n1", "n5"), "n[1-2,5]");
    assert_compressed(NAMES("n10", "n9", "n8"), "n[8-10]");
    assert_compressed(NAMES("n08", "n09", "n10"), "n[08-10]");
    assert_compressed(NAMES("n1", "n01", "n2", "n02"), "n[1-2,01-02]");
    assert_compressed(NAMES("r1n01", "r1n02", "r2n01", "r2n02"), "r[1-2]n[01-02]");
    assert_compressed(NAMES("r1n01", "r2n01"), "r[1-2]n[01]");
    assert_compressed(NAMES("r1n01", "r2n02"), "r1n01,r2n02");
    assert_compressed(NAMES("login", "n1", "n2"), "login,n[1-2]");
    assert_compressed(NAMES("1", "2"), "[1-2]");
}

/* Slurm 22.05 calls "n[1-2]-ib" invalid: nothing may stand behind the last bracket. */
TEST(nothing_stands_behind_the_last_bracket)
{
    assert_compressed(NAMES("n1-ib", "n2-ib"), "n1-ib,n2-ib");
    assert_compressed(NAMES("n1.example.com", "n2.example.com"), "n1.example.com,n2.example.com");
}

TEST(what_is_no_name_of_a_host_is_left_out)
{
    struct xb_arena *arena = NULL;
    size_t left_out = 0;
    const char *text =
        xb_hostlist_compress(NAMES("n1", "", "a b", "a,b", "a[1]", "-n", "a\nb", "$(x)", "n2",
                                   "\xff", "ALL", "all", ".", "..", ".n"),
                             &arena, &left_out);
    assert_string_equal(text, "n[1-2]");
    assert_int_equal(left_out, 13);
    xb_arena_free(arena);
}

/* xorshift64: the same sets every time. */
static unsigned draw(uint64_t *state, unsigned below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 33) % below;
}

static void make_name(uint64_t *state, char *name, size_t size)
{
    static const char *const prefixes[] = {"n", "gpu", "gpu-", "", "n0", "r1-", "a.b"};
    static const char *const suffixes[] = {"", "", "", "-ib", ".x", "9z"};
    const char *prefix = prefixes[draw(state, 7)], *suffix = suffixes[draw(state, 6)];
    if (draw(state, 2) == 0)
        snprintf(name, size, "%s%0*u%s", prefix, (int)draw(state, 5), draw(state, 130), suffix);
    else
        snprintf(name, size, "%s%0*un%0*u%s", prefix, (int)draw(state, 3), draw(state, 5),
                 (int)draw(state, 4), draw(state, 12), suffix);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each name once and in order; returns how many. */
static size_t sort_names(const char **names, size_t count)
{
    size_t kept = 0;
    qsort(names, count, sizeof(const char *), by_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

/* The text must also be one that Slurm takes: nothing behind the last bracket of a word. */
static void assert_slurm_takes(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const char *next = c + 1;
        bool goes_on = *c == ']' && *next != ',' && *next != '\0';
        if (goes_on && strchr(next, '[') != next + strcspn(next, "[,"))
            fail_msg("Slurm does not take %s", text);
    }
}

TEST(what_is_compressed_expands_to_the_same_names)
{
    static char texts[200][32];
    const char *names[200];
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    for (int i = 0; i < 10000; i++) {
        size_t count = 1 + draw(&random, i % 50 == 0 ? 200 : 30);
        struct xb_arena *arena = NULL;
        struct xb_hostlist list;
        struct xb_error error;
        size_t left_out = 0;
        for (size_t j = 0; j < count; j++) {
            make_name(&random, texts[j], sizeof texts[j]);
            names[j] = texts[j];
        }
        const char *text = xb_hostlist_compress(names, count, &arena, &left_out);
        assert_slurm_takes(text);
        assert_int_equal(xb_hostlist_expand(text, &list, &error), XB_OK);
        size_t expected = sort_names(names, count);
        qsort(list.names, list.count, sizeof(const char *), by_text);
        assert_int_equal(list.count, expected); /* so none is there twice either */
        for (size_t j = 0; j < expected; j++)
            assert_string_equal(list.names[j], names[j]);
        xb_hostlist_free(&list);
        xb_arena_free(arena);
    }
}

TEST(a_large_cluster_is_one_range)
{
    enum { LARGE = 100000 };
    static char texts[LARGE][8];
    static const char *names[LARGE];
    for (size_t i = 0; i < LARGE; i++) {
        snprintf(texts[i], sizeof texts[i], "n%05zu", i);
        names[LARGE - 1 - i] = texts[i];
    }
    assert_compressed(names, LARGE, "n[00000-99999]");
}
