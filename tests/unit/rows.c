/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getline */
#include "rows.h"

#include "cases.h"

#include <ctype.h>

#define ARROW " ->" /* and a blank, or the end of the line */

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Between `` what a backslash begins is what it is in C. */
static char *unquoted(char *text)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '`' || text[length - 1] != '`')
        return text;
    text[length - 1] = '\0';
    char *to = ++text;
    const char *from = text;
    while (*from != '\0')
        *to++ = unescaped(&from);
    *to = '\0';
    return text;
}

/* "..." of the pattern stands for any text: for the least, for what follows must be there too. */
static bool matches(const char *text, const char *pattern)
{
    const char *gap = strstr(pattern, "...");
    if (gap == NULL)
        return strcmp(text, pattern) == 0;
    size_t length = (size_t)(gap - pattern);
    if (strncmp(text, pattern, length) != 0)
        return false;
    for (text += length; !matches(text, gap + 3); text++)
        if (*text == '\0')
            return false;
    return true;
}

/* What is said in lines of its own, behind "|". */
static void read_block(FILE *file, char block[ROW_TEXT], int *number)
{
    char line[400];
    int next;
    for (; (next = fgetc(file)) == '|'; ++*number) {
        assert_non_null(fgets(line, sizeof line, file));
        say_also(block, "%s", line);
    }
    (void)ungetc(next, file); /* or the end, which stays so */
}

/* Splits "given | given -> said" and says whether the row is right. */
static bool check_row(char *line, FILE *file, int *number, const char *place, row_say say)
{
    char said[ROW_TEXT] = "", block[ROW_TEXT] = "";
    struct row row = {.count = 0};
    char *arrow = NULL;
    for (char *next = line; (next = strstr(next, ARROW)) != NULL; next++)
        if (next[strlen(ARROW)] == ' ' || next[strlen(ARROW)] == '\0')
            arrow = next;
    if (arrow == NULL)
        fail_msg("%s: no '->'", place);
    *arrow = '\0';
    const char *expected = trimmed(arrow + strlen(ARROW));
    if (expected[0] == '\0') {
        read_block(file, block, number);
        expected = block;
    } else
        expected = unquoted((char *)expected);
    for (char *part = line, *end = NULL; part != NULL; part = end) {
        end = strstr(part, " | ");
        if (end != NULL) {
            *end = '\0';
            end += 3;
        }
        assert_true(row.count < ROW_PARTS);
        row.part[row.count++] = unquoted(trimmed(part));
    }
    for (size_t i = row.count; i < ROW_PARTS; i++)
        row.part[i] = "";
    print_message("%s: %s\n", place, row.part[0]);
    say(&row, said);
    if (matches(said, expected))
        return true;
    print_error("%s: expected %s\n  but it says %s\n", place, expected, said);
    return false;
}

void check_rows(const char *test_file, const char *section, row_say say)
{
    char path[4096], place[4200], heading[128];
    const char *name = strrchr(test_file, '/'), *room = name;
    while (room[-1] != '/')
        room--;
    snprintf(path, sizeof path, "%s/tests/unit/%.*s/%.*s.txt", SOURCE, (int)(name - room), room,
             (int)(strlen(name + 6) - 2), name + 6); /* without "/test_" and ".c" */
    snprintf(heading, sizeof heading, "[%s]", section);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("no %s", path);
    char *line = NULL;
    size_t size = 0, count = 0, wrong = 0;
    bool is_inside = false;
    for (int number = 1; getline(&line, &size, file) > 0; number++) {
        line[strcspn(line, "\n")] = '\0';
        bool is_heading = line[0] == '[' && strstr(line, ARROW) == NULL;
        if (is_heading)
            is_inside = strcmp(line, heading) == 0;
        if (is_heading || !is_inside || line[0] == '#' || line[0] == '\0')
            continue;
        snprintf(place, sizeof place, "%s:%d", path + strlen(SOURCE) + 1, number);
        count++;
        wrong += !check_row(line, file, &number, place, say);
    }
    free(line);
    fclose(file);
    if (count == 0)
        fail_msg("%s has no %s", path, heading);
    if (wrong > 0)
        fail_msg("%zu of %zu rows are wrong", wrong, count);
}

uint64_t row_number(const struct row *row, size_t part)
{
    return strtoull(row->part[part], NULL, 10);
}

void say_also(char said[ROW_TEXT], const char *format, ...)
{
    size_t length = strlen(said);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said + length, ROW_TEXT - length, format, arguments);
    va_end(arguments);
}

void say_refused(char said[ROW_TEXT], enum xb_status status, const struct xb_error *error)
{
    if (status != XB_ERR_USAGE || error->status != status)
        say_also(said, "status %d, and error of %d: ", (int)status, (int)error->status);
    say_also(said, "refused: %s", error->message);
}
