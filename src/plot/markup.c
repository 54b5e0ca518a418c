/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* locale_t */
#include "markup.h"

#include "base/plain_text.h"
#include "base/text.h"

#include <string.h>

/* Longer texts are cut: a picture stays small whatever a file calls its devices. */
#define TEXT_MOST 1000

static const char *entity_of(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
    case '\n':
    case '\r':
        return " ";
    default:
        return NULL;
    }
}

static void write_character(FILE *stream, const char *text, size_t length)
{
    const char *entity = entity_of(*text);
    if (entity != NULL)
        fputs(entity, stream);
    else if (xb_utf8_is_harmful(text, length))
        fputs(XB_UTF8_REPLACEMENT, stream);
    else
        fwrite(text, 1, length, stream);
}

void xb_markup_write(FILE *stream, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end && *text != '\0';) {
        size_t length = xb_utf8_length(text);
        write_character(stream, text, length);
        text += length > 0 ? length : 1;
    }
}

void xb_markup_text(FILE *stream, const char *text)
{
    xb_markup_write(stream, text, strlen(text));
}

void xb_markup_short(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    if (length <= TEXT_MOST) {
        xb_markup_text(stream, text);
        return;
    }
    /* The last character may begin before the limit and end behind it: xb_markup_write() writes it
     * whole. */
    xb_markup_write(stream, text, TEXT_MOST);
    fputs(XB_ELLIPSIS, stream);
}

/* In pixels of the style sheet's 13. The widths are those of DejaVu Sans, which is wider than the
 * other fonts that the style sheet names. */
static double character_width(const char *text, size_t length)
{
    if (length > 2)
        return 13.0; /* such as a character of Chinese */
    if (length != 1)
        return 9.0;
    if (strchr("ijlI.,:;'|!", *text) != NULL)
        return 4.6;
    if (strchr(" ()[]frt/-", *text) != NULL)
        return 5.2;
    if (strchr("mwMW%@", *text) != NULL)
        return 12.4;
    return *text >= 'A' && *text <= 'Z' ? 9.2 : 8.2;
}

size_t xb_text_fitting(const char *text, double width, double *used)
{
    size_t bytes = 0;
    *used = 0.0;
    while (text[bytes] != '\0' && bytes < TEXT_MOST) {
        size_t length = xb_utf8_length(text + bytes);
        double next = character_width(text + bytes, length);
        if (*used + next > width)
            break;
        *used += next;
        bytes += length > 0 ? length : 1;
    }
    return bytes;
}

double xb_svg_text_width(const char *text)
{
    double width;
    (void)xb_text_fitting(text, 1e9, &width);
    return width;
}
