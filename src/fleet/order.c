/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* isdigit() would make the order depend on the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(const char *text)
{
    size_t length = 0;
    while (is_digit(text[length]))
        length++;
    return length;
}

/* Compares numbers of any length: without leading zeros the longer one is larger. Moves both texts
 * behind their numbers. */
static int compare_numbers(const char **left, const char **right)
{
    const char *a = *left + strspn(*left, "0");
    const char *b = *right + strspn(*right, "0");
    size_t a_length = digits_at(a);
    size_t b_length = digits_at(b);
    *left = a + a_length;
    *right = b + b_length;
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return memcmp(a, b, a_length);
}

int xb_natural_compare(const char *left, const char *right)
{
    if (left == NULL || right == NULL)
        return (left != NULL) - (right != NULL);
    const char *a = left, *b = right;
    while (*a != '\0' && *b != '\0') {
        if (is_digit(*a) && is_digit(*b)) {
            int order = compare_numbers(&a, &b);
            if (order != 0)
                return order;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    if (*a != *b)
        return *a == '\0' ? -1 : 1;
    return strcmp(left, right); /* "n1" and "n01" are two names */
}
