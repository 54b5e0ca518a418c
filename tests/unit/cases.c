/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strsep */
#include "cases.h"

#include "checks.h"

#include <limits.h>

static const char *file_name;
static size_t line_number;

void fail_case(const char *format, ...)
{
    char text[4000];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fail_msg("%s.txt:%zu: %s", file_name, line_number, text);
    abort(); /* nobody comes here */
}

/* ---- words ---- */

char unescaped(const char **from)
{
    static const char letters[] = "n\nr\rt\t";
    char c = *(*from)++;
    if (c != '\\')
        return c;
    c = *(*from)++;
    if (c == 'x') {
        const char digits[] = {(*from)[0], (*from)[1], '\0'};
        *from += 2;
        return (char)strtoul(digits, NULL, 16);
    }
    const char *letter = strchr(letters, c);
    return letter != NULL && c > ' ' ? letter[1] : c;
}

/* Splits a line in place. " #" begins a comment. */
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
                *to++ = unescaped((const char **)&from);
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

void tell_shell(FILE *told, char **words)
{
    char command[1000] = "LC_ALL=C; export LC_ALL; ", line[1000] = "";
    while (*++words != NULL)
        snprintf(command + strlen(command), sizeof command - strlen(command), "%s ", *words);
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    while (fgets(line, sizeof line, shell) != NULL)
        fputs(line, told);
    if (line[0] != '\0' && strchr(line, '\n') == NULL)
        fputs("\n", told);
    (void)pclose(shell);
}

/* ---- the file ---- */

/* What it tells has no control characters, which would look like nothing in the file. */
static void run_line(FILE *out, char **words, const struct verb *verb)
{
    char *text = NULL;
    size_t size = 0;
    while (verb->name != NULL && strcmp(verb->name, words[0]) != 0)
        verb++;
    if (verb->run == NULL)
        fail_case("nobody knows \"%s\"", words[0]);
    FILE *told = open_memstream(&text, &size);
    verb->run(told, words);
    fclose(told);
    for (const char *c = text; *c != '\0'; c++) {
        fputs(c == text || c[-1] == '\n' ? "  " : "", out);
        fprintf(out, (unsigned char)*c < ' ' && *c != '\n' ? "\\x%02x" : "%c", *c);
    }
    free(text);
}

/* The first line that differs, and the title that it stands below. */
static void tell_difference(const char *expected, const char *came)
{
    const char *title = expected;
    size_t start = 0;
    line_number = 1;
    for (size_t i = 0; expected[i] == came[i]; i++)
        if (expected[i] == '\n') {
            start = i + 1;
            line_number++;
            if (strncmp(expected + start, "##", 2) == 0)
                title = expected + start;
        }
    fail_case("%.*s\nexpected: %.*s\ncame:     %.*s\nXB_UPDATE=1 writes what came.",
              (int)strcspn(title, "\n"), title, (int)strcspn(expected + start, "\n"),
              expected + start, (int)strcspn(came + start, "\n"), came + start);
}

void run_cases(const char *name, const struct verb *verbs, void (*begin)(void))
{
    char path[PATH_MAX], *came = NULL, *words[MOST_WORDS];
    size_t size = 0, commands = 0;
    bool is_title = false;
    snprintf(path, sizeof path, "%s/tests/unit/%s.txt", SOURCE, name);
    char *expected = file_text(path), *own = strdup(expected), *rest = own;
    FILE *out = open_memstream(&came, &size);
    file_name = name;
    line_number = 0;
    for (char *line = strsep(&rest, "\n"); rest != NULL; line = strsep(&rest, "\n")) {
        bool was_title = is_title;
        line_number++;
        if (strncmp(line, "  ", 2) == 0)
            continue; /* what is expected */
        fprintf(out, "%s\n", line);
        is_title = strncmp(line, "##", 2) == 0;
        if (is_title && !was_title && begin != NULL)
            begin();
        split(line, words);
        if (words[0] != NULL) {
            run_line(out, words, verbs);
            commands++;
        }
    }
    fclose(out);
    assert_true(commands > 0);
    if (getenv("XB_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(came, file) >= 0 && fclose(file) == 0);
    } else if (strcmp(expected, came) != 0) {
        tell_difference(expected, came);
    }
    free(own);
    free(expected);
    free(came);
}
