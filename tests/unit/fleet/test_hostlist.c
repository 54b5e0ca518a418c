/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/memory.h"
#include "cases.h"
#include "fixture_tree.h"
#include "fleet/write/formats.h"
#include "random.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- texts ---- */

static void tell(FILE *told, enum xb_status status, struct xb_hostlist *list,
                 const struct xb_error *error)
{
    if (status != XB_OK)
        fprintf(told, "refused: %s\n", error->message);
    for (size_t i = 0; status == XB_OK && i < list->count; i++)
        fprintf(told, "%s%s", list->names[i], i + 1 < list->count ? " " : "\n");
    xb_hostlist_free(list);
}

static void expand(FILE *told, char **words)
{
    struct xb_hostlist list;
    struct xb_error error;
    enum xb_status status = xb_hostlist_expand(words[1], &list, &error);
    tell(told, status, &list, &error);
}

static void read_file(FILE *told, char **words)
{
    struct xb_hostlist list;
    struct xb_error error;
    int file = open("hosts.txt", O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(file, words[1], strlen(words[1])), strlen(words[1]));
    close(file);
    enum xb_status status = xb_hostlist_read("hosts.txt", &list, &error);
    unlink("hosts.txt");
    tell(told, status, &list, &error);
}

static void compress(FILE *told, char **words)
{
    struct xb_arena *arena = NULL;
    size_t left_out = 0, count = 0;
    while (words[1 + count] != NULL)
        count++;
    fprintf(told, "\"%s\"",
            xb_hostlist_compress((const char *const *)(words + 1), count, &arena, &left_out));
    if (left_out > 0)
        fprintf(told, " without %zu", left_out);
    fputs("\n", told);
    xb_arena_free(arena);
}

static int enter_folder(void **state)
{
    return make_tree(state) != 0 || chdir(*state) != 0;
}

static int leave_folder(void **state)
{
    return chdir("/") != 0 || remove_tree(state) != 0;
}

TEST_WITH(expressions_and_names, enter_folder, leave_folder)
{
    static const struct verb verbs[] = {
        {"expand", expand}, {"read", read_file}, {"compress", compress}, {NULL, NULL}};
    run_cases("fleet/hostlist", verbs, NULL);
}

/* ---- what no text has room for ---- */

TEST(a_name_has_at_most_255_characters)
{
    static const char *const tails[] = {"n", "nn", "[100000]"};
    for (size_t i = 0; i < 3; i++) {
        struct xb_hostlist list;
        struct xb_error error;
        char text[300];
        snprintf(text, sizeof text, "%.*s%s", i == 2 ? 250 : 254,
                 (const char *)memset((char[255]){0}, 'n', 254), tails[i]);
        assert_int_equal(xb_hostlist_expand(text, &list, &error), i == 0 ? XB_OK : XB_ERR_USAGE);
        if (i == 0)
            assert_string_equal(list.names[0], text);
        else
            assert_non_null(strstr(error.message, "more than 255 characters"));
        xb_hostlist_free(&list);
    }
}

static unsigned draw(uint64_t *state, unsigned below)
{
    return (unsigned)(next_bits(state) % below);
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
    struct xb_arena *arena = NULL;
    size_t left_out = 0;
    for (size_t i = 0; i < LARGE; i++) {
        snprintf(texts[i], sizeof texts[i], "n%05zu", i);
        names[LARGE - 1 - i] = texts[i];
    }
    assert_string_equal(xb_hostlist_compress(names, LARGE, &arena, &left_out), "n[00000-99999]");
    xb_arena_free(arena);
}
