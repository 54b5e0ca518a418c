/* SPDX-License-Identifier: Apache-2.0 */
/* What is so by design, and does not count (docs/link.md). */
#include "report.h"

#include "base/options.h"

#include <string.h>

/* Every code of a finding, and why it cannot be accepted; NULL: it can. */
static const struct {
    const char *never, *codes[XB_ACCEPTANCES]; /* each can be accepted once */
} groups[] = {
    {NULL,
     {"XB-LINK-WIDTH", "XB-LINK-SLOT", "XB-LINK-SPEED", "XB-LINK-BOTTLENECK", "XB-LINK-UNSTABLE",
      "XB-LINK-RESTLESS", "XB-AER-CORRECTABLE", "XB-PCIE-REPLAY", "XB-PCIE-RETRAIN",
      "XB-PCIE-ERRORS", "XB-THROTTLE", "XB-NVLINK-ERRORS", "XB-NVLINK-REPLAY", "XB-NVLINK-LINKS"}},
    {"no node is so by design",
     {"XB-DATA-WRONG", "XB-DEVICE-GONE", "XB-DEVICE-MISSING", "XB-AER-UNCORRECTABLE",
      "XB-NVLINK-DOWN"}},
    {"set the least that is right: --expect, --min-h2d, --min-d2h, --min-peer, or --limits",
     {"XB-LINK-EXPECT", "XB-BW-H2D", "XB-BW-D2H", "XB-BW-PEER", "XB-PEER-SLOW",
      "XB-SLOW-UNEXPLAINED", "XB-BW-NO-LIMIT", "XB-CONFIDENTIAL"}},
    {"measure a new baseline",
     {"XB-BASELINE-GPU", "XB-BASELINE-LINK", "XB-BASELINE-NVLINK", "XB-BASELINE-BW"}},
    {"it says that something is not known, which is no state to accept",
     {"XB-LINK-UNREADABLE", "XB-LINK-NONE", "XB-HOST-BUSY", "XB-OTHER-TRAFFIC", "XB-MEMORY-FAR",
      "XB-CLOCKS-LOW", "XB-SLOW-AT-TIMES", "XB-BW-ABOVE", "XB-TEST-FAILED", "XB-NVLINK-UNREADABLE",
      "XB-INTERRUPTED", "XB-DEADLINE"}}};

#define GROUPS (sizeof groups / sizeof groups[0])

enum xb_status xb_accept(const char *code, const char *reason, enum xb_limit_source source,
                         struct xb_link_limits *limits, struct xb_error *error)
{
    const char *names[GROUPS * XB_ACCEPTANCES + 1] = {NULL}, *known = NULL, *never = NULL;
    size_t count = 0;
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t k = 0; k < XB_ACCEPTANCES && groups[i].codes[k] != NULL; k++) {
            names[count++] = groups[i].codes[k];
            if (strcmp(code, groups[i].codes[k]) != 0)
                continue;
            known = groups[i].codes[k];
            never = groups[i].never;
        }
    const char *nearest = known == NULL ? xb_nearest(code, names) : NULL;
    if (known == NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "there is no code \"%.60s\"%s%s%s", code,
                       nearest != NULL ? "; did you mean " : "; docs/link.md has all",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    if (never != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "%s cannot be accepted: %s", code, never);
    if (reason[strspn(reason, " \t\n")] == '\0' || strlen(reason) > XB_ACCEPTANCE_REASON)
        return XB_FAIL(error, XB_ERR_USAGE, "%s needs a reason, of %d characters at most", code,
                       XB_ACCEPTANCE_REASON);
    if (xb_accepted(limits, code) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "%s is accepted twice", code);
    limits->accepted[limits->accepted_count++] =
        (struct xb_acceptance){.code = known, .reason = reason, .source = source};
    return XB_OK;
}

/* Down to what it is accepted: what the slot's link must have, or copies to a peer must reach; NULL
 * of a code that has no bound. */
static struct xb_limit *bound_of(struct xb_link_limits *limits, const char *code)
{
    bool is_width = strcmp(code, "XB-LINK-WIDTH") == 0 || strcmp(code, "XB-LINK-SLOT") == 0;
    return is_width                               ? &limits->width
           : strcmp(code, "XB-LINK-SPEED") == 0   ? &limits->generation
           : strcmp(code, "XB-NVLINK-LINKS") == 0 ? &limits->min_peer
                                                  : NULL;
}

enum xb_status xb_accept_check(struct xb_link_limits *limits, enum xb_limit_source source,
                               struct xb_error *error)
{
    static const char *const places[][2] = {
        {"set \"expect\" beside it, such as \"gen4x8\"",
         "give --expect, such as --expect gen4x8, or --baseline"},
        {"set \"min_peer_gbs\" beside it, such as 250",
         "give --min-peer, such as --min-peer 250, or --baseline"}};
    XB_EACH (acceptance, limits->accepted, limits->accepted_count) {
        const struct xb_limit *bound = bound_of(limits, acceptance->code);
        if (bound != NULL && !bound->is_set)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s needs the least that is right, else what is worse would be accepted "
                           "too: %s",
                           acceptance->code,
                           places[bound == &limits->min_peer][source == XB_LIMIT_COMMAND_LINE]);
    }
    return XB_OK;
}

struct xb_acceptance *xb_accepted(struct xb_link_limits *limits, const char *code)
{
    XB_EACH (acceptance, limits->accepted, limits->accepted_count)
        if (strcmp(acceptance->code, code) == 0)
            return acceptance;
    return NULL;
}

const char *xb_why_accepted(struct xb_verdict *verdict, enum xb_level level, const char *code)
{
    struct xb_acceptance *accepted = verdict != NULL ? xb_accepted(&verdict->limits, code) : NULL;
    if (accepted == NULL)
        return NULL;
    const struct xb_link_facts *facts = &verdict->facts;
    const struct xb_limit *bound = bound_of(&verdict->limits, code);
    const struct xb_link_was *was = &verdict->limits.was;
    bool is_width = bound == &verdict->limits.width;
    bool is_link = is_width || bound == &verdict->limits.generation;
    if (!is_link &&
        (level == XB_LEVEL_CRITICAL || (bound != NULL && !bound->is_set && was->nvlinks == 0)))
        return NULL;
    for (size_t i = facts->slot; is_link && i < facts->hop_count; i++) {
        const struct xb_link_hop *hop = &facts->hops[i];
        unsigned has = is_width ? hop->load.width : xb_pcie_generation(hop->load.speed_gts);
        unsigned least = bound->is_set ? (unsigned)bound->value
                         : is_width    ? was->load.width
                                       : xb_pcie_generation(was->load.speed_gts);
        if (!hop->on_package && hop->load.width > 0 && (least == 0 || has < least))
            return NULL;
    }
    accepted->met = true;
    return accepted->reason;
}

bool xb_link_accepted_text(const struct xb_link_report *report, struct xb_words *words)
{
    *words = (struct xb_words){.length = 0};
    XB_EACH (verdict, report->verdicts, report->device_count)
        XB_EACH (finding, verdict->found.reasons, verdict->found.reason_count) {
            const char *separator = "", *end = finding->text, *next = end;
            char begin[200];
            if (finding->accepted == NULL)
                continue;
            snprintf(begin, sizeof begin, "%s: %s (GPU ", finding->code, finding->accepted);
            if (strstr(words->text, begin) != NULL) /* it is said already */
                continue;
            xb_words_add(words, "%s%s", words->length > 0 ? "; " : "", begin);
            for (size_t i = 0; i < report->device_count * XB_FINDINGS; i++) {
                const struct xb_findings *found = &report->verdicts[i / XB_FINDINGS].found;
                const struct xb_finding *other = &found->reasons[i % XB_FINDINGS];
                if (i % XB_FINDINGS >= found->reason_count || other->accepted == NULL ||
                    strcmp(other->code, finding->code) != 0 ||
                    strcmp(other->accepted, finding->accepted) != 0)
                    continue;
                xb_words_add(words, "%s%u", separator, report->devices[i / XB_FINDINGS].info.index);
                separator = ", ";
                i += XB_FINDINGS - 1 - i % XB_FINDINGS; /* each GPU once */
            }
            while ((next = strstr(next + 1, ": ")) != NULL) /* what to do is behind the last */
                end = next;
            xb_words_add(words, ": %.*s)", end > finding->text ? (int)(end - finding->text) : -1,
                         finding->text);
        }
    return words->length > 0;
}
