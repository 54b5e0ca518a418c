/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "format.h"

#include "base/text.h"

#include <string.h>

/* The order is that of xb_level_worse. */
const enum xb_level xb_link_bad_levels[XB_LINK_BAD_LEVELS] = {XB_LEVEL_CRITICAL, XB_LEVEL_WARNING,
                                                              XB_LEVEL_UNKNOWN};

const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size)
{
    if (lanes.speed_gts > 0 && lanes.width > 0)
        return xb_lanes_text(lanes.speed_gts, lanes.width, text, size);
    snprintf(text, size, "-");
    return text;
}

enum xb_colour xb_link_colour(enum xb_level level)
{
    if (level == XB_LEVEL_OK)
        return XB_COLOUR_GOOD;
    return level == XB_LEVEL_CRITICAL ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
}

bool xb_link_first_of_code(const struct xb_findings *found, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(found->reasons[i].code, found->reasons[index].code) == 0)
            return false;
    return true;
}

void xb_link_put_safe(FILE *stream, const char *text)
{
    char plain[XB_NOTE_SIZE];
    snprintf(plain, sizeof plain, "%s", text);
    xb_make_plain(plain);
    for (const char *c = plain; *c != '\0'; c++) {
        if (*c == '|')
            fputc('/', stream);
        else if (strchr("'\"`", *c) != NULL)
            continue;
        else
            fputc(strchr("$&<>\\!", *c) != NULL ? ' ' : *c, stream);
    }
}
