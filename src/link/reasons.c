/* SPDX-License-Identifier: Apache-2.0 */
/* Levels, and how reasons are ordered by them. */
#include "reasons.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void xb_reason_add(struct xb_findings *found, enum xb_level level, const char *code,
                   const char *format, ...)
{
    size_t at = found->reason_count;
    found->level = xb_level_worse(found->level, level);
    while (at > 0 && severity(level) > severity(found->reasons[at - 1].level))
        at--;
    if (at == XB_VERDICT_REASONS)
        return;
    if (found->reason_count < XB_VERDICT_REASONS)
        found->reason_count++;
    for (size_t i = found->reason_count - 1; i > at; i--)
        found->reasons[i] = found->reasons[i - 1];

    struct xb_reason *reason = &found->reasons[at];
    va_list arguments;
    reason->code = code;
    reason->level = level;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
}

bool xb_reason_is_first(const struct xb_findings *found, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(found->reasons[i].code, found->reasons[index].code) == 0)
            return false;
    return true;
}
