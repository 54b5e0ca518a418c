/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "prometheus.h"

#include "text.h"

static void put_value(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        if (length == 0)
            fputs(XB_UTF8_REPLACEMENT, stream);
        else if (*text == '\n')
            fputs("\\n", stream);
        else if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (xb_utf8_is_harmful(text, length)) /* it could steer a terminal */
            fputc(' ', stream);
        else
            fwrite(text, 1, length, stream);
        text += length > 0 ? length : 1;
    }
}

void xb_prometheus_put_label(FILE *stream, char before, const char *name, const char *value)
{
    fprintf(stream, "%c%s=\"", before, name);
    put_value(stream, value);
    fputc('"', stream);
}
