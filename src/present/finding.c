/* SPDX-License-Identifier: Apache-2.0 */
#include "finding.h"

#include "base/order.h"
#include "base/terminal.h"
#include "base/text.h"

#include <string.h>

const char *xb_level_name(enum xb_level level)
{
    static const char *const names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    return names[level <= XB_LEVEL_UNKNOWN ? level : XB_LEVEL_UNKNOWN];
}

enum xb_colour xb_level_colour(enum xb_level level)
{
    if (level == XB_LEVEL_OK)
        return XB_COLOUR_GOOD;
    return level == XB_LEVEL_CRITICAL ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
}

/* The numbers of the levels are those of Nagios plugins and give no such order. */
static int severity(enum xb_level level)
{
    static const int severities[] = {0, 2, 3, 1};
    return severities[level <= XB_LEVEL_UNKNOWN ? level : XB_LEVEL_UNKNOWN];
}

enum xb_level xb_level_worse(enum xb_level a, enum xb_level b)
{
    return severity(b) > severity(a) ? b : a;
}

void xb_finding_add(struct xb_findings *found, enum xb_level level, const char *code,
                    const char *format, ...)
{
    size_t at = found->reason_count;
    found->level = xb_level_worse(found->level, level);
    while (at > 0 && severity(level) > severity(found->reasons[at - 1].level))
        at--;
    if (at == XB_FINDINGS)
        return;
    if (found->reason_count < XB_FINDINGS)
        found->reason_count++;
    for (size_t i = found->reason_count - 1; i > at; i--)
        found->reasons[i] = found->reasons[i - 1];

    struct xb_finding *reason = &found->reasons[at];
    reason->code = code;
    reason->level = level;
    XB_FORMAT(reason->text, sizeof reason->text, format);
}

bool xb_finding_is_first(const struct xb_findings *found, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(found->reasons[i].code, found->reasons[index].code) == 0)
            return false;
    return true;
}

bool xb_finding_is_any(const struct xb_findings *found, const char *const *codes)
{
    for (size_t i = 0; i < found->reason_count; i++)
        for (size_t j = 0; codes[j] != NULL; j++)
            if (strcmp(found->reasons[i].code, codes[j]) == 0)
                return true;
    return false;
}

void xb_findings_print(FILE *stream, const struct xb_findings *found, int width, const char *of)
{
    XB_EACH (finding, found->reasons, found->reason_count)
        xb_note_print_in(stream, xb_level_colour(finding->level), xb_level_name(finding->level),
                         width, "%s%s: %s", of, finding->code, finding->text);
}
