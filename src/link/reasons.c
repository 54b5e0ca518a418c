/* SPDX-License-Identifier: Apache-2.0 */
/* Levels, and how reasons are ordered by them. */
#include "verdict_internal.h"

#include <stdarg.h>
#include <stdio.h>

const char *xb_level_name(enum xb_level level)
{
    switch (level) {
    case XB_LEVEL_OK:
        return "OK";
    case XB_LEVEL_WARNING:
        return "WARNING";
    case XB_LEVEL_CRITICAL:
        return "CRITICAL";
    case XB_LEVEL_UNKNOWN:
        break;
    }
    return "UNKNOWN";
}

/* The numbers of the levels are those of Nagios plugins and give no such order. */
static int severity(enum xb_level level)
{
    switch (level) {
    case XB_LEVEL_OK:
        return 0;
    case XB_LEVEL_WARNING:
        return 2;
    case XB_LEVEL_CRITICAL:
        return 3;
    case XB_LEVEL_UNKNOWN:
        break;
    }
    return 1;
}

enum xb_level xb_level_worse(enum xb_level a, enum xb_level b)
{
    return severity(b) > severity(a) ? b : a;
}

void xb_reason_add(struct xb_verdict *verdict, enum xb_level level, const char *code,
                   const char *format, ...)
{
    size_t at = verdict->reason_count;
    verdict->level = xb_level_worse(verdict->level, level);
    while (at > 0 && severity(level) > severity(verdict->reasons[at - 1].level))
        at--;
    if (at == XB_VERDICT_REASONS)
        return;
    if (verdict->reason_count < XB_VERDICT_REASONS)
        verdict->reason_count++;
    for (size_t i = verdict->reason_count - 1; i > at; i--)
        verdict->reasons[i] = verdict->reasons[i - 1];

    struct xb_reason *reason = &verdict->reasons[at];
    va_list arguments;
    reason->code = code;
    reason->level = level;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
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
