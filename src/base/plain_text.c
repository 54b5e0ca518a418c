/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How many bytes follow this lead byte, 0 if it is none, and the range of the first of them. The
 * later ones are in 80..BF. */
static size_t count_following(unsigned char byte, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (byte >= 0xC2 && byte <= 0xDF)
        return 1;
    if (byte >= 0xE0 && byte <= 0xEF) {
        *low = byte == 0xE0 ? 0xA0 : 0x80;
        *high = byte == 0xED ? 0x9F : 0xBF;
        return 2;
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        *low = byte == 0xF0 ? 0x90 : 0x80;
        *high = byte == 0xF4 ? 0x8F : 0xBF;
        return 3;
    }
    return 0;
}

size_t xb_utf8_length(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80)
        return bytes[0] != 0;
    unsigned char low;
    unsigned char high;
    size_t more = count_following(bytes[0], &low, &high);
    for (size_t i = 1; i <= more; i++) {
        if (bytes[i] < low || bytes[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return more != 0 ? more + 1 : 0;
}

/* The code point of a character of two bytes or more; 0 for others. */
static unsigned code_point(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 2)
        return (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
    if (length == 3)
        return (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
    if (length == 4)
        return (bytes[0] & 0x07u) << 18 | (bytes[1] & 0x3Fu) << 12 | (bytes[2] & 0x3Fu) << 6 |
               (bytes[3] & 0x3Fu);
    return 0;
}

/* Unicode 15, 23.2, 23.3, 23.8 and 23.9; and U+FFFE and U+FFFF, which XML 1.0 excludes (2.2). */
bool xb_utf8_is_harmful(const char *text, size_t length)
{
    static const struct {
        unsigned first, last;
    } ranges[] = {{0x80, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},    {0x180E, 0x180E},
                  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},  {0xFEFF, 0xFEFF},
                  {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}};
    unsigned code = code_point(text, length);
    if (length <= 1)
        return (unsigned char)*text < ' ' || *text == 0x7F || length == 0;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* Writes a byte as \n or \x1B. `text` holds 5 bytes. */
static size_t escape(unsigned char byte, char *text)
{
    const char *letter = byte == '\n' ? "n" : byte == '\t' ? "t" : byte == '\r' ? "r" : NULL;
    if (letter != NULL)
        return (size_t)snprintf(text, 5, "\\%s", letter);
    return (size_t)snprintf(text, 5, "\\x%02X", byte);
}

const char *xb_plain_text(const char *text, char *plain, size_t size)
{
    size_t used = 0;
    char before = '\0';
    while (*text != '\0') {
        char piece[4 * 4 + 1]; /* four bytes, each as \xNN */
        size_t length = xb_utf8_length(text);
        size_t bytes = length > 0 ? length : 1;
        size_t written = 0;
        bool command = (*text == ':' || *text == '#') && *text == before;
        if (command || xb_utf8_is_harmful(text, length)) {
            for (size_t i = 0; i < bytes; i++)
                written += escape((unsigned char)text[i], piece + written);
        } else {
            memcpy(piece, text, bytes);
            written = bytes;
        }
        if (used + written >= size)
            break;
        memcpy(plain + used, piece, written);
        used += written;
        before = command ? '\0' : *text;
        text += bytes;
    }
    plain[used] = '\0';
    return plain;
}
