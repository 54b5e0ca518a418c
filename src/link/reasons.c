/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and speeds in words. */
#include "verdict_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *xb_limit_source_name(enum xb_limit_source source)
{
    return source == XB_LIMIT_FILE           ? "file"
           : source == XB_LIMIT_COMMAND_LINE ? "command line"
                                             : "default";
}

/* Reads a number of one or two digits that does not begin with 0; 0 if there is none. */
static unsigned read_number(const char **text)
{
    unsigned number = 0;
    if (**text == '0')
        return 0;
    for (int i = 0; i < 2 && isdigit((unsigned char)**text); i++)
        number = number * 10 + (unsigned)(*(*text)++ - '0');
    return number;
}

enum xb_status xb_expect_parse(const char *text, enum xb_limit_source source,
                               struct xb_link_limits *limits, struct xb_error *error)
{
    const char *at = text;
    unsigned generation = 0;
    unsigned width = 0;
    bool ok = *at != '\0';
    if (strncasecmp(at, "gen", 3) == 0) {
        at += 3;
        generation = read_number(&at);
        ok = generation >= 1 && generation <= 6;
    }
    if (ok && (*at == 'x' || *at == 'X')) {
        at++;
        width = read_number(&at);
        /* The widths that exist: PCI Express Base Specification 5.0, 7.5.3.6. */
        ok = width == 1 || width == 2 || width == 4 || width == 8 || width == 12 || width == 16 ||
             width == 32;
    }
    if (!ok || *at != '\0')
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.40s\" is not a link; write gen5x16, gen5 or x16 (generations 1 to 6, "
                       "widths 1, 2, 4, 8, 12, 16 and 32)",
                       text);
    if (generation > 0)
        limits->generation = (struct xb_limit){true, generation, source};
    if (width > 0)
        limits->width = (struct xb_limit){true, width, source};
    return XB_OK;
}

const char *xb_speed_name(double speed_gts, char text[24])
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, 24, "Gen%u", generation);
    else
        snprintf(text, 24, "%.10g GT/s", speed_gts);
    return text;
}
