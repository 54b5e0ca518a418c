/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "metrics.h"

#include "base/text.h"

static void write_value(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        if (length == 0)
            fputs(XB_UTF8_REPLACEMENT, stream);
        else if (*text == '\n')
            fputs("\\n", stream);
        else if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (xb_utf8_is_harmful(text)) /* it could steer a terminal */
            fputc(' ', stream);
        else
            fwrite(text, 1, length, stream);
        text += length > 0 ? length : 1;
    }
}

const char *xb_metric_number(size_t number, char text[24])
{
    snprintf(text, 24, "%zu", number);
    return text;
}

void xb_metric_begin(FILE *stream, const char *prefix, const char *name, const char *help)
{
    fprintf(stream, "# HELP %s%s %s\n# TYPE %s%s gauge\n", prefix, name, help, prefix, name);
}

void xb_metric_put_labels(FILE *stream, const struct xb_metric_label *labels)
{
    for (char before = '{'; labels->name != NULL; labels++) {
        if (labels->value == NULL)
            continue;
        fprintf(stream, "%c%s=\"", before, labels->name);
        write_value(stream, labels->value);
        fputc('"', stream);
        before = ',';
    }
    fputc('}', stream);
}
