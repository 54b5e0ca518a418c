/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "testing.h"

#include "text_cases.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0)
        fail_msg("%s cannot be read", path);
    fclose(file);
    return text;
}

/* The first line that differs, and the paragraph that it is of. */
static void tell_difference(const char *expected, const char *actual)
{
    const char *heading = "";
    while (*expected != '\0' && *actual != '\0') {
        size_t length = strcspn(expected, "\n");
        if (strncmp(expected, "## ", 3) == 0)
            heading = expected;
        if (strncmp(expected, actual, length + 1) != 0)
            break;
        expected += length + (expected[length] == '\n');
        actual += length + (actual[length] == '\n');
    }
    fail_msg(
        "%.*s\nexpected: %.*s\ncame:     %.*s\nIf this is meant, XB_UPDATE=1 in the environment "
        "writes what came.",
        (int)strcspn(heading, "\n"), heading, (int)strcspn(expected, "\n"), expected,
        (int)strcspn(actual, "\n"), actual);
}

void expect_text(const char *name, void (*begin)(void),
                 void (*obey)(FILE *out, const char *const *words))
{
    char path[4096];
    char *actual = NULL, *rest = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/tests/unit/runs/%s.txt", SOURCE, name);
    char *expected = read_all(path), *copy = strdup(expected);
    FILE *out = open_memstream(&actual, &size);
    assert_non_null(out);
    begin();
    rest = copy;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        const char *words[MOST_WORDS] = {0};
        size_t count = 0;
        char *left = line;
        if (strncmp(line, "  ", 2) == 0)
            continue; /* what is expected */
        if (*line == '\0')
            begin();
        if (*line != '\0' || rest != NULL)
            fprintf(out, "%s\n", line);
        for (char *word = strsep(&left, " "); word != NULL; word = strsep(&left, " "))
            if (*word != '\0' && *line != '#') {
                assert_true(count + 1 < MOST_WORDS);
                words[count++] = word;
            }
        if (count > 0)
            obey(out, words);
    }
    assert_int_equal(fclose(out), 0);
    bool is_new = getenv("XB_UPDATE") != NULL && strcmp(expected, actual) != 0;
    if (is_new) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(actual, file) >= 0 && fclose(file) == 0);
    } else if (strcmp(expected, actual) != 0) {
        tell_difference(expected, actual);
    }
    free(copy);
    free(expected);
    free(actual);
}
