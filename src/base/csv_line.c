/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "csv_line.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void xb_csv_separate(struct xb_csv_line *line)
{
    if (line->begun)
        fputc(',', line->stream);
    line->begun = true;
    line->has_text = false;
}

void xb_csv_put_part(struct xb_csv_line *line, const char *text)
{
    FILE *stream = line->stream;
    if (!line->has_text && strspn(text, "=+-@") > 0)
        fputc('\'', stream);
    line->has_text = line->has_text || *text != '\0';
    for (size_t length; *text != '\0'; text += length) {
        length = xb_utf8_length(text);
        if (length == 0) {
            fputs(XB_UTF8_REPLACEMENT, stream);
            length = 1;
            continue;
        }
        char character[5] = "", plain[17];
        memcpy(character, text, length);
        if (*text == '"')
            fputc('"', stream);
        fputs(xb_plain_text(character, plain, sizeof plain), stream);
    }
}

bool xb_csv_needs_quotes(const char *text)
{
    return strpbrk(text, ",\"") != NULL;
}

void xb_csv_put(struct xb_csv_line *line, const char *text)
{
    const char *quote = xb_csv_needs_quotes(text) ? "\"" : "";
    xb_csv_separate(line);
    fputs(quote, line->stream);
    xb_csv_put_part(line, text);
    fputs(quote, line->stream);
}

void xb_csv_put_whole(struct xb_csv_line *line, bool known, uint64_t value)
{
    xb_csv_separate(line);
    if (known)
        fprintf(line->stream, "%" PRIu64, value);
}

void xb_csv_put_number(struct xb_csv_line *line, bool known, double value)
{
    xb_csv_separate(line);
    if (known && isfinite(value))
        fputs(XB_NUMBER_TEXT(value), line->stream);
}

void xb_csv_end(struct xb_csv_line *line)
{
    fputs("\r\n", line->stream);
    line->begun = false;
}
