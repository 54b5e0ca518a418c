/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *unit;
    void (*add)(struct xb_reading *reading, double value);
} numbers[] = {
    {"rate", XB_UNIT_RATE, xb_reading_add_rate},
    {"factor", XB_UNIT_RATIO, xb_reading_add_factor},
    {"speed", XB_UNIT_RATIO, xb_reading_add_speed},
    {"share", XB_UNIT_RATIO, xb_reading_add_share},
    {"share-of-time", XB_UNIT_RATIO, xb_reading_add_share_of_time},
    {"duration", XB_UNIT_SECONDS, xb_reading_add_duration},
    {"whole", XB_UNIT_RATIO, xb_reading_add_whole},
};

static void add_number(struct xb_reading *reading, const char *word, const char *name, double value)
{
    size_t i = 0;
    while (strcmp(word, numbers[i].word) != 0)
        if (++i == sizeof numbers / sizeof numbers[0])
            abort();
    numbers[i].add(reading, value);
    if (name[0] != '\0')
        xb_reading_number(reading, name, value, numbers[i].unit);
}

void xb_reading_phrase(struct xb_reading *reading, const char *phrase, ...)
{
    va_list arguments;
    va_start(arguments, phrase);
    for (const char *c = phrase; *c != '\0';) {
        char word[16] = "", name[48] = "";
        size_t plain = strcspn(c, "{");
        xb_reading_add(reading, "%.*s", (int)plain, c);
        c += plain;
        if (*c == '\0')
            break;
        (void)sscanf(c, "{%15[^:}]:%47[^}]", word, name);
        c += strcspn(c, "}") + 1;
        if (strcmp(word, "name") == 0) {
            xb_reading_add_name(reading, va_arg(arguments, const struct xb_record_case *));
        } else if (strcmp(word, "way") == 0) {
            xb_reading_add_way(reading, va_arg(arguments, const struct xb_record_case *));
        } else if (strcmp(word, "text") == 0) {
            xb_reading_add(reading, "%s", va_arg(arguments, const char *));
        } else if (strcmp(word, "size") == 0) {
            uint64_t bytes = va_arg(arguments, uint64_t);
            xb_reading_add_size(reading, bytes);
            if (name[0] != '\0')
                xb_reading_number(reading, name, (double)bytes, XB_UNIT_BYTES);
        } else {
            add_number(reading, word, name, va_arg(arguments, double));
        }
    }
    va_end(arguments);
}
