/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Where the number ends that begins there: digits, and perhaps a point with more of them. `text`
 * itself where none does. */
static const char *number_end(const char *text)
{
    static const char digits[] = "0123456789";
    const char *end = text + strspn(text, digits);
    size_t behind = end > text && *end == '.' ? strspn(end + 1, digits) : 0;
    return behind > 0 ? end + 1 + behind : end;
}

/* Whether the word before the number says that it is a name: nodes 0 and 3 are not "node 0 to 3".
 */
static bool is_name(const char *text, const char *number)
{
    static const char *const words[] = {"node ", "device ", "GPU ", "lies on "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(number - text) >= length && strncmp(number - length, words[i], length) == 0)
            return true;
    }
    return false;
}

/* Finds the numbers that are words of their own and no part of a name; returns how many. */
static size_t find_numbers(const char *text, const char **numbers)
{
    static const char behind[] = " ,;:)%"; /* or the end */
    size_t count = 0;
    for (const char *c = text; *c != '\0' && count < XB_ALIKE_NUMBERS; c++) {
        const char *end = number_end(c);
        if (end == c)
            continue;
        if ((c == text || c[-1] == ' ' || c[-1] == '(') && !is_name(text, c) &&
            strchr(behind, *end == '.' ? end[1] : *end) != NULL)
            numbers[count++] = c;
        c = end - 1;
    }
    return count;
}

struct xb_alike xb_alike_begin(const char *text)
{
    struct xb_alike alike = {.text = text};
    const char *numbers[XB_ALIKE_NUMBERS];
    size_t count = find_numbers(text, numbers);
    for (size_t i = 0; i < count; i++)
        alike.numbers[i].least = alike.numbers[i].most = numbers[i];
    return alike;
}

bool xb_alike_add(struct xb_alike *alike, const char *text)
{
    const char *first[XB_ALIKE_NUMBERS], *numbers[XB_ALIKE_NUMBERS];
    const char *a = alike->text, *b = text;
    size_t count = find_numbers(text, numbers);
    if (find_numbers(alike->text, first) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (first[i] - a != numbers[i] - b || strncmp(a, b, (size_t)(first[i] - a)) != 0)
            return false;
        a = number_end(first[i]);
        b = number_end(numbers[i]);
    }
    if (strcmp(a, b) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        double number = strtod(numbers[i], NULL);
        if (number < strtod(alike->numbers[i].least, NULL))
            alike->numbers[i].least = numbers[i];
        if (number > strtod(alike->numbers[i].most, NULL))
            alike->numbers[i].most = numbers[i];
    }
    return true;
}

/* Whether two numbers are the ends of a range in the text itself: "5.1 to 7.2". */
static bool is_range(const char *from, const char *to)
{
    static const char between[] = " to ";
    const char *end = number_end(from);
    return strncmp(end, between, strlen(between)) == 0 && end + strlen(between) == to;
}

void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words)
{
    const char *numbers[XB_ALIKE_NUMBERS];
    const char *text = alike->text + from;
    size_t count = find_numbers(alike->text, numbers);
    for (size_t i = 0; i < count; i++) {
        const char *least = alike->numbers[i].least, *most = alike->numbers[i].most;
        if (numbers[i] < text)
            continue;
        bool begins = i + 1 < count && is_range(numbers[i], numbers[i + 1]);
        bool ends = i > 0 && is_range(numbers[i - 1], numbers[i]);
        xb_words_add(words, "%.*s", (int)(numbers[i] - text), text);
        if (!ends)
            xb_words_add(words, "%.*s", (int)(number_end(least) - least), least);
        if (ends || (!begins && strtod(least, NULL) < strtod(most, NULL)))
            xb_words_add(words, "%s%.*s", ends ? "" : " to ", (int)(number_end(most) - most), most);
        text = number_end(numbers[i]);
    }
    xb_words_add(words, "%s", text);
}
