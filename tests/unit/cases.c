/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, strchrnul */
#include "testing.h"

#include "cases.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *file_name;
static size_t line_number;

void fail_case(const char *format, ...)
{
    char text[1000];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fail_msg("%s:%zu: %s", file_name, line_number, text);
    abort(); /* nobody comes here */
}

/* ---- words ---- */

static char unescaped(char **from)
{
    char c = *(*from)++;
    if (c != '\\')
        return c;
    c = *(*from)++;
    if (c != 'x')
        return c == 'n' ? '\n' : c;
    char digits[] = {(*from)[0], (*from)[1], '\0'};
    *from += 2;
    return (char)strtoul(digits, NULL, 16);
}

/* Splits a line in place: at blanks that are in no quotes, of either kind. " #" begins a comment.
 */
static void split(char *line, char **words)
{
    size_t count = 0;
    for (char *from = line, *to; *(from += strspn(from, " \n")) != '\0' && *from != '#';) {
        char quote = '\0';
        if (count + 1 == MOST_WORDS)
            fail_case("more than %d words", MOST_WORDS - 1);
        words[count++] = to = from;
        for (; *from != '\0' && (quote != '\0' || strchr(" \n", *from) == NULL);) {
            if (quote != '\0' ? *from == quote : strchr("'\"", *from) != NULL)
                quote = *from++ == quote ? '\0' : from[-1];
            else
                *to++ = unescaped(&from);
        }
        from += *from != '\0';
        *to = '\0';
    }
    words[count] = NULL;
}

const char *value_of(char **words, const char *name)
{
    size_t length = strlen(name);
    for (; *words != NULL; words++)
        if (strncmp(*words, name, length) == 0 && (*words)[length] == '=')
            return *words + length + 1;
    return NULL;
}

double number_of(const char *word)
{
    char *end = NULL;
    double number = word != NULL ? strtod(word, &end) : 0;
    if (word == NULL || end == word || *end != '\0')
        fail_case("%s is no number", word != NULL ? word : "nothing");
    return number;
}

double number_or(char **words, const char *name, double otherwise)
{
    const char *text = value_of(words, name);
    return text != NULL ? number_of(text) : otherwise;
}

bool list_has(const char *list, size_t number)
{
    if (list == NULL || strcmp(list, "*") == 0)
        return true;
    while (*list != '\0') {
        char *end = NULL;
        size_t first = strtoul(list, &end, 10), last = first;
        if (end == list)
            fail_case("%s is no list of numbers", list);
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (number >= first && number <= last)
            return true;
        list = end + (*end == ',');
    }
    return false;
}

const char *item_of(const char *list, size_t number)
{
    static char item[200];
    for (; number > 0 && strchr(list, ',') != NULL; number--)
        list = strchr(list, ',') + 1;
    snprintf(item, sizeof item, "%.*s", (int)strcspn(list, ","), list);
    return item;
}

/* ---- the file ---- */

static void run_line(char *line, const struct verb *verbs, size_t count, FILE *told)
{
    char *words[MOST_WORDS];
    split(line, words);
    for (size_t i = 0; i < count; i++)
        if (words[0] != NULL && strcmp(verbs[i].name, words[0]) == 0) {
            verbs[i].run(told, words);
            return;
        }
    fail_case("nobody knows \"%s\"", words[0]);
}

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || getdelim(&text, &room, '\0', file) < 0)
        fail_msg("no %s", path);
    fclose(file);
    return text;
}

/* Where the lines end that are no blank one. */
static char *end_of(char *lines)
{
    while (*lines != '\0' && *lines != '\n') {
        char *end = strchrnul(lines, '\n');
        lines = end + (*end == '\n');
    }
    return lines;
}

/* Without control characters, which would look like nothing in the file. */
static char *readable(char *text)
{
    char *own = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&own, &size);
    for (const char *c = text; *c != '\0'; c++)
        fprintf(stream, (unsigned char)*c < ' ' && *c != '\n' ? "\\x%02x" : "%c", *c);
    fclose(stream);
    free(text);
    return own;
}

void run_cases(const char *path, const struct verb *verbs, size_t count, void (*begin)(void),
               void (*tell)(FILE *told))
{
    char full[PATH_MAX], title[200] = "", *told_text = NULL, *now_text = NULL;
    size_t size = 0, cases = 0, wrong = 0;
    snprintf(full, sizeof full, "%s/tests/unit/%s", SOURCE, path);
    char *text = text_of(full);
    FILE *told = open_memstream(&told_text, &size), *now = open_memstream(&now_text, &size);
    bool was_title = false;
    file_name = path;
    line_number = 1;
    for (char *line = text, *next; *line != '\0'; line = next, line_number++) {
        next = strchrnul(line, '\n');
        next += *next == '\n';
        fprintf(now, "%.*s", (int)(next - line), line);
        bool is_title = *line == '#';
        if (strncmp(line, "----\n", 5) == 0) {
            if (tell != NULL)
                tell(told);
            fclose(told);
            told_text = readable(told_text);
            fputs(told_text, now);
            char *end = end_of(next);
            bool same = strlen(told_text) == (size_t)(end - next) &&
                        strncmp(told_text, next, (size_t)(end - next)) == 0;
            if (!same)
                fprintf(stderr, "%s:%zu: %s\n-- expected:\n%.*s-- told:\n%s", path, line_number,
                        title, (int)(end - next), next, told_text);
            wrong += !same;
            cases++;
            free(told_text);
            told = open_memstream(&told_text, &size);
            for (next = end, end = line + 5; end < next; end++)
                line_number += *end == '\n';
        } else if (is_title && !was_title) {
            snprintf(title, sizeof title, "%.*s", (int)strcspn(line, "\n"), line);
            if (begin != NULL)
                begin();
        } else if (!is_title && *line != '\n') {
            char *words = strndup(line, (size_t)(next - line));
            run_line(words, verbs, count, told);
            free(words);
        }
        was_title = is_title;
    }
    fclose(told);
    fclose(now);
    if (wrong > 0 && getenv("XB_UPDATE") != NULL) {
        FILE *file = fopen(full, "w");
        assert_non_null(file);
        fputs(now_text, file);
        fclose(file);
    }
    free(text);
    free(told_text);
    free(now_text);
    if (wrong > 0 || cases == 0)
        fail_msg("%zu of %zu cases of %s", wrong, cases, path);
}
