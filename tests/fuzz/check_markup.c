/* SPDX-License-Identifier: Apache-2.0 */
#include "check_markup.h"

#include "base/text.h"

#include <string.h>

#define DEPTH 32

/* The element whose name begins at `at`; fails where there is none. */
static const char *element_at(const char *at, const char *const *elements)
{
    for (size_t i = 0; elements[i] != NULL; i++) {
        size_t length = strlen(elements[i]);
        if (strncmp(at, elements[i], length) == 0 && strchr(" >/\n", at[length]) != NULL)
            return elements[i];
    }
    require_at(false, "every element is one that may be there", at);
    return NULL;
}

/* Characters up to one of `ends`, with entities that are known. */
static const char *skip_text(const char *at, const char *ends)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    while (*at != '\0' && strchr(ends, *at) == NULL) {
        size_t length = xb_utf8_length(at);
        bool is_known = *at != '&';
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            is_known = is_known || strncmp(at, entities[i], strlen(entities[i])) == 0;
        require_at(is_known, "no ampersand stands alone", at);
        require_at(*at == '\n' || !xb_utf8_is_harmful(at), "no character is harmful", at);
        require_at(*at != '<', "no bracket opens in an attribute", at);
        at += length;
    }
    require_at(*at != '\0', "a text has an end", at);
    return at;
}

static bool is_number_of(const char *name, size_t length)
{
    static const char *const names[] = {"x",  "y",  "x1", "y1",    "x2",    "y2",
                                        "cx", "cy", "r",  "width", "height"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

/* The attributes of an element and its end; sets whether it is one without content. */
static const char *skip_tag(const char *at, bool *is_empty)
{
    while (*at == ' ') {
        const char *name = ++at;
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");
        at += length;
        require_at(length > 0 && at[0] == '=' && at[1] == '"', "an attribute has a value", name);
        const char *value = at + 2;
        at = skip_text(value, "\"");
        size_t digits = strspn(value, "-.0123456789");
        bool is_number = digits > 0 && digits == (size_t)(at - value);
        require_at(!is_number_of(name, length) || is_number, "a number is a number", name);
        at++;
    }
    *is_empty = *at == '/';
    at += *is_empty;
    require_at(*at == '>', "a tag has an end", at);
    return at + 1;
}

void check_markup(const char *text, const char *const *elements)
{
    const char *open[DEPTH] = {NULL};
    size_t depth = 0;
    const char *at = text;
    require_at(*at == '<', "an element begins", at);
    do {
        if (*at != '<') {
            at = skip_text(at, "<");
        } else if (at[1] == '/') {
            const char *element = element_at(at + 2, elements);
            require_at(depth > 0 && open[depth - 1] == element, "elements end in their order", at);
            depth--;
            at = strchr(at, '>') + 1;
        } else {
            bool is_empty;
            const char *element = element_at(at + 1, elements);
            at = skip_tag(at + 1 + strlen(element), &is_empty);
            require_at(depth < DEPTH, "elements are not too deep", at);
            open[depth] = element;
            depth += !is_empty;
        }
    } while (depth > 0);
    require_at(strcmp(at, "\n") == 0, "nothing is behind the last element", at);
}
