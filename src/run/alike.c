/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

/* The length of the number that stands there: digits, and perhaps a point with more of them. */
static size_t number_length(const char *text)
{
    size_t length = strspn(text, digits);
    size_t behind = length > 0 && text[length] == '.' ? strspn(text + length + 1, digits) : 0;
    return behind > 0 ? length + 1 + behind : length;
}

/* Whether a word ends before `c`, so that a number there is one, and no part of a name. */
static bool ends_word(char c)
{
    return c == '\0' || strchr(" ,;:)%", c) != NULL;
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

/* The next number that is a word of its own; NULL: none. */
static const char *next_number(const char *text, const char *from)
{
    for (const char *c = from; *c != '\0'; c++) {
        size_t length = number_length(c);
        if (length == 0)
            continue;
        if ((c == text || c[-1] == ' ' || c[-1] == '(') && !is_name(text, c) &&
            (ends_word(c[length]) || (c[length] == '.' && ends_word(c[length + 1]))))
            return c;
        c += length - 1;
    }
    return NULL;
}

static size_t find_numbers(const char *text, const char **numbers)
{
    size_t count = 0;
    const char *number = next_number(text, text);
    while (number != NULL && count < XB_ALIKE_NUMBERS) {
        numbers[count++] = number;
        number = next_number(text, number + number_length(number));
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

/* Whether the texts are equal but for their numbers. */
static bool is_alike(const char *a, const char *const *of_a, const char *b, const char *const *of_b,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)(of_a[i] - a);
        if (length != (size_t)(of_b[i] - b) || strncmp(a, b, length) != 0)
            return false;
        a = of_a[i] + number_length(of_a[i]);
        b = of_b[i] + number_length(of_b[i]);
    }
    return strcmp(a, b) == 0;
}

bool xb_alike_add(struct xb_alike *alike, const char *text)
{
    const char *first[XB_ALIKE_NUMBERS];
    const char *numbers[XB_ALIKE_NUMBERS];
    size_t count = find_numbers(text, numbers);
    if (find_numbers(alike->text, first) != count ||
        !is_alike(alike->text, first, text, numbers, count))
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
    const char *behind = from + number_length(from);
    return strncmp(behind, between, strlen(between)) == 0 && behind + strlen(between) == to;
}

void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words)
{
    const char *numbers[XB_ALIKE_NUMBERS];
    const char *text = alike->text + from;
    size_t count = find_numbers(alike->text, numbers);
    for (size_t i = 0; i < count; i++) {
        const char *least = alike->numbers[i].least;
        const char *most = alike->numbers[i].most;
        if (numbers[i] < text)
            continue;
        bool begins = i + 1 < count && is_range(numbers[i], numbers[i + 1]);
        bool ends = i > 0 && is_range(numbers[i - 1], numbers[i]);
        xb_words_add(words, "%.*s", (int)(numbers[i] - text), text);
        if (!ends)
            xb_words_add(words, "%.*s", (int)number_length(least), least);
        if (ends || (!begins && strtod(least, NULL) < strtod(most, NULL)))
            xb_words_add(words, "%s%.*s", ends ? "" : " to ", (int)number_length(most), most);
        text = numbers[i] + number_length(numbers[i]);
    }
    xb_words_add(words, "%s", text);
}
