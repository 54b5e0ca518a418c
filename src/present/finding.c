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

/* One that is accepted comes after all others. */
static int severity_of(const struct xb_finding *finding)
{
    return finding->accepted != NULL ? 0 : severity(finding->level);
}

void xb_finding_put(struct xb_findings *found, const char *accepted, enum xb_level level,
                    const char *code, const char *format, ...)
{
    const struct xb_finding added = {.code = code, .level = level, .accepted = accepted};
    size_t at = found->reason_count;
    if (accepted == NULL)
        found->level = xb_level_worse(found->level, level);
    while (at > 0 && severity_of(&added) > severity_of(&found->reasons[at - 1]))
        at--;
    if (at == XB_FINDINGS)
        return;
    if (found->reason_count < XB_FINDINGS)
        found->reason_count++;
    for (size_t i = found->reason_count - 1; i > at; i--)
        found->reasons[i] = found->reasons[i - 1];

    struct xb_finding *reason = &found->reasons[at];
    *reason = added;
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
            if (found->reasons[i].accepted == NULL && strcmp(found->reasons[i].code, codes[j]) == 0)
                return true;
    return false;
}

void xb_findings_print(FILE *stream, const struct xb_findings *found, int width, const char *of)
{
    XB_EACH (finding, found->reasons, found->reason_count)
        if (finding->accepted != NULL)
            xb_note_print(stream, "accepted", width, "%s%s: %s (%s)", of, finding->code,
                          finding->accepted, finding->text);
        else
            xb_note_print_in(stream, xb_level_colour(finding->level), xb_level_name(finding->level),
                             width, "%s%s: %s", of, finding->code, finding->text);
}
