/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What the formats write alike. */
#include "report.h"

#include "base/text.h"
#include "present/table.h"

#include <stdio.h>
#include <string.h>

const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size)
{
    if (lanes.speed_gts > 0 && lanes.width > 0)
        return xb_lanes_text(lanes.speed_gts, lanes.width, text, size);
    snprintf(text, size, "-");
    return text;
}

const char *xb_link_range_text(double low, double high, int decimals, char text[72])
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%.*f", decimals, low / 1e9);
    snprintf(most, sizeof most, "%.*f", decimals, high / 1e9);
    bool is_one = strcmp(least, most) == 0;
    snprintf(text, 72, "%s%s%s", least, is_one ? "" : " to ", is_one ? "" : most);
    return text;
}

size_t xb_link_subjects(const struct xb_link_report *report)
{
    return report->device_count + report->pair_count;
}

struct xb_link_subject xb_link_subject_at(const struct xb_link_report *report, size_t index)
{
    struct xb_link_subject of = {.gpu = NULL};
    if (index < report->device_count) {
        const struct xb_verdict *verdict = &report->verdicts[index];
        const struct xb_ceiling *ceiling = &verdict->ceiling;
        of.gpu = &report->devices[index].info;
        of.found = &verdict->found;
        of.verdict = verdict;
        of.ways[0] = (struct xb_link_way){"h2d", &verdict->h2d, ceiling->known ? ceiling->h2d : 0};
        of.ways[1] = (struct xb_link_way){"d2h", &verdict->d2h, ceiling->known ? ceiling->d2h : 0};
    } else {
        const struct xb_link_pair *pair = &report->pairs[index - report->device_count];
        const struct xb_pair_verdict *verdict =
            &report->pair_verdicts[index - report->device_count];
        of.gpu = &report->devices[pair->from].info;
        of.peer = &report->devices[pair->to].info;
        of.found = &verdict->found;
        of.pair = verdict;
        of.ways[0] = (struct xb_link_way){NULL, &verdict->bandwidth, verdict->ceiling};
    }
    return of;
}

size_t xb_link_count_bad(const struct xb_link_report *report, size_t *pairs)
{
    size_t bad = 0;
    *pairs = 0;
    for (size_t i = 0; i < xb_link_subjects(report); i++)
        if (xb_link_subject_at(report, i).found->level != XB_LEVEL_OK)
            (*(i < report->device_count ? &bad : pairs))++;
    return bad;
}
