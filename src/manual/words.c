/* SPDX-License-Identifier: Apache-2.0 */
/* What the writers share. */
#include "manual.h"

#include <string.h>

bool xb_manual_takes_several(const struct xb_option *option)
{
    return option->argument != NULL && strchr(option->argument, ',') != NULL;
}

const char *xb_manual_brief(const struct xb_option *option, char *text, size_t size)
{
    if (option->brief != NULL)
        return option->brief;
    const char *end = strstr(option->help, ". ");
    size_t length = end != NULL ? (size_t)(end - option->help) : strlen(option->help);
    length -= length > 0 && option->help[length - 1] == '.' ? 1 : 0;
    if (length >= size) { /* whole words, as many as there is room for */
        for (length = size - 4; length > 0 && option->help[length] != ' '; length--)
            continue;
        snprintf(text, size, "%.*s...", (int)length, option->help);
    } else {
        snprintf(text, size, "%.*s", (int)length, option->help);
    }
    return text;
}

void xb_manual_put_escaped(FILE *stream, const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs(quote, stream);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

void xb_manual_put_words(FILE *stream, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        fprintf(stream, " %s", words[i]);
}
