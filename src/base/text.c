/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strerrorname_np */
#include "text.h"

#include "xferbench/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts that may hold any byte ---- */

/* The length of the character at `text`, as xb_utf8_length() tells it, and its code point. */
static size_t decode(const char *text, unsigned *code)
{
    static const struct {
        unsigned char mask, lead; /* the first byte's */
        unsigned least;           /* what needs so many bytes */
    } forms[] = {{0x80, 0x00, 1}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t more = 0; /* bytes that follow */
    while (more < 4 && (bytes[0] & forms[more].mask) != forms[more].lead)
        more++;
    if (more == 4)
        return 0;
    *code = bytes[0] & (unsigned char)~forms[more].mask;
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (bytes[i] & 0x3Fu);
    }
    bool is_surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < forms[more].least || is_surrogate || *code > 0x10FFFF ? 0 : more + 1;
}

size_t xb_utf8_length(const char *text)
{
    unsigned code;
    return decode(text, &code);
}

/* Unicode 15, 23.2, 23.3, 23.8 and 23.9; and U+FFFE and U+FFFF, which XML 1.0 excludes (2.2). */
bool xb_utf8_is_harmful(const char *text)
{
    static const struct {
        unsigned first, last;
    } ranges[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
                  {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                  {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}};
    unsigned code;
    if (decode(text, &code) == 0)
        return true;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

const char *xb_plain_text(const char *text, char *plain, size_t size)
{
    size_t used = 0;
    char before = '\0';
    while (*text != '\0') {
        char piece[4 * 4 + 1]; /* four bytes, each as \xNN */
        size_t length = xb_utf8_length(text), bytes = length > 0 ? length : 1, written = 0;
        bool command = (*text == ':' || *text == '#') && *text == before;
        if (command || xb_utf8_is_harmful(text)) {
            for (size_t i = 0; i < bytes; i++) {
                char c = text[i];
                char letter = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : '\0';
                written += (size_t)sprintf(piece + written, letter != '\0' ? "\\%c" : "\\x%02X",
                                           letter != '\0' ? letter : (unsigned char)c);
            }
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

bool xb_list_has(const char *list, const char *word)
{
    for (size_t length;; list += length + 1) {
        length = strcspn(list, ",");
        if (length == strlen(word) && strncmp(list, word, length) == 0)
            return true;
        if (list[length] == '\0')
            return false;
    }
}

const char *xb_number_text(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

int xb_decimals_for(double value)
{
    int decimals = 3;
    for (double limit = 10; decimals > 0 && value >= limit; limit *= 10)
        decimals--;
    for (double limit = 1; decimals < 9 && value < limit; limit /= 10)
        decimals++;
    return decimals;
}

const char *xb_decimal_text(double value, char *text, size_t size)
{
    snprintf(text, size, "%.*f", xb_decimals_for(value), value);
    return text;
}

/* Writes the comma before a cell, if it is not the first. */
static void separate(struct xb_csv_line *line)
{
    if (line->begun)
        fputc(',', line->stream);
    line->begun = true;
}

/* Doubles quotes (RFC 4180, 2.7) and replaces invalid UTF-8. Else as xb_plain_text: one line for
 * every reader, and no command of a CI system. A cell that begins with = + - or @ gets a ' before
 * it, because spreadsheets would compute it, and a text may come from anybody. */
void xb_csv_put(struct xb_csv_line *line, const char *text)
{
    const char *quote = text != NULL && strpbrk(text, ",\"") != NULL ? "\"" : "";
    separate(line);
    fprintf(line->stream, "%s%s", quote, text != NULL && strspn(text, "=+-@") > 0 ? "'" : "");
    bool second = false; /* a colon or hash, as the one before it */
    for (size_t length; text != NULL && *text != '\0'; text += length > 0 ? length : 1) {
        char characters[6] = {*text}, plain[18];
        length = xb_utf8_length(text);
        memcpy(characters + second, text, length);
        fprintf(line->stream, "%s%s", *text == '"' ? "\"" : "",
                length > 0 ? xb_plain_text(characters, plain, sizeof plain) + second
                           : XB_UTF8_REPLACEMENT);
        second = !second && (*text == ':' || *text == '#') && text[1] == *text;
    }
    fputs(quote, line->stream);
}

void xb_csv_put_whole(struct xb_csv_line *line, bool known, uint64_t value)
{
    separate(line);
    if (known)
        fprintf(line->stream, "%" PRIu64, value);
}

void xb_csv_put_number(struct xb_csv_line *line, bool known, double value)
{
    separate(line);
    if (known && isfinite(value))
        fputs(XB_NUMBER_TEXT(value), line->stream);
}

void xb_csv_end(struct xb_csv_line *line)
{
    fputs("\r\n", line->stream);
    line->begun = false;
}

const char *xb_status_name(enum xb_status status)
{
    static const char *const names[] = {[XB_OK] = "ok",
                                        [XB_ERR_USAGE] = "usage",
                                        [XB_ERR_UNSUPPORTED] = "unsupported",
                                        [XB_ERR_UNAVAILABLE] = "unavailable",
                                        [XB_ERR_MEMORY] = "memory",
                                        [XB_ERR_SYSTEM] = "system",
                                        [XB_ERR_RUNTIME] = "runtime",
                                        [XB_ERR_STOPPED] = "stopped",
                                        [XB_ERR_INTERNAL] = "internal"};
    size_t count = sizeof names / sizeof names[0];
    return (size_t)status < count && names[status] != NULL ? names[status] : "unknown";
}

const char *xb_errno_name(int code)
{
    const char *name = strerrorname_np(code);
    return name != NULL ? name : "errno";
}

enum xb_status xb_error_set(struct xb_error *error, enum xb_status status, const char *file,
                            int line, const char *call, int64_t code, const char *name,
                            const char *format, ...)
{
    char text[sizeof error->message];
    XB_FORMAT(text, sizeof text, format); /* which may be made of what was in *error */
    struct xb_error made = {.status = status, .native_code = code, .file = file, .line = line};
    xb_plain_text(text, made.message, sizeof made.message);
    snprintf(made.call, sizeof made.call, "%s", call);
    snprintf(made.native_name, sizeof made.native_name, "%s", name);
    *error = made;
    return status;
}

const char *xb_error_text(const struct xb_error *error, char *text, size_t size)
{
    int code = (int)error->native_code;
    /* An error of libc gets its words, unless the message has them. Vendors' explain themselves. */
    bool is_libc = strcmp(error->native_name, xb_errno_name(code)) == 0 &&
                   strstr(error->message, strerror(code)) == NULL;
    const char *debug = getenv("XFERBENCH_DEBUG");
    char native[192] = "", place[160] = "";
    if (error->call[0] != '\0')
        snprintf(native, sizeof native, " [%s: %s (%lld)%s%s]", error->call, error->native_name,
                 (long long)error->native_code, is_libc ? ", " : "", is_libc ? strerror(code) : "");
    if (debug != NULL && debug[0] != '\0')
        snprintf(place, sizeof place, ", at %s:%d", error->file, error->line);
    snprintf(text, size, "%s%s%s", error->message, native, place);
    return text;
}
