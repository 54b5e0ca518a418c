/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "table_peers.h"

#include "base/note.h"
#include "base/text.h"
#include "format.h"

#include <string.h>

/* ---- a line for each pair ---- */

#define LINE "  %-*s  %-20s  %8s  %8s  %7s  %s"

/* "NVLink, 18 x 26.56"; "-" where nothing is known. */
static const char *link_text(const struct xb_peer_info *reach, char *text, size_t size)
{
    char rate[32];
    if (reach->link[0] == '\0')
        snprintf(text, size, "-");
    else if (reach->links > 0 && xb_rate_known(reach->link_rate))
        snprintf(text, size, "%s, %u x %s", reach->link, reach->links,
                 xb_rate_text(reach->link_rate, rate, sizeof rate));
    else
        snprintf(text, size, "%s", reach->link);
    xb_make_plain(text);
    return text;
}

static const char *number_text(double rate, char *text, size_t size)
{
    if (xb_rate_known(rate))
        return xb_rate_text(rate, text, size);
    snprintf(text, size, "-");
    return text;
}

static bool has_no_access(const struct xb_pair_attempt *attempt)
{
    return attempt != NULL && attempt->reach_known && !attempt->there.can_access;
}

static const char *verdict_text(const struct xb_pair_verdict *verdict,
                                const struct xb_pair_attempt *attempt)
{
    if (verdict->found.level != XB_LEVEL_OK)
        return xb_level_name(verdict->found.level);
    if (has_no_access(attempt))
        return "no direct access";
    return xb_pair_is_judged(verdict) ? "OK" : "not judged";
}

static void print_pair(FILE *stream, int width, const struct xb_link_report *report, size_t index)
{
    const struct xb_link_pair *pair = &report->pairs[index];
    const struct xb_pair_verdict *verdict = &report->pair_verdicts[index];
    struct xb_words line = {.length = 0};
    char label[32];
    char link[64];
    char measured[32];
    char ceiling[32];
    char share[16] = "-";
    snprintf(label, sizeof label, "%u to %u", report->devices[pair->from].info.index,
             report->devices[pair->to].info.index);
    if (verdict->bandwidth.share > 0)
        snprintf(share, sizeof share, "%.1f %%", 100 * verdict->bandwidth.share);
    xb_words_add(&line, LINE, width, label, link_text(&verdict->reach, link, sizeof link),
                 number_text(verdict->bandwidth.measured, measured, sizeof measured),
                 number_text(verdict->ceiling, ceiling, sizeof ceiling), share,
                 verdict_text(verdict, xb_pair_verdict_attempt(verdict, pair)));
    if (xb_pair_attempts(pair) > 1)
        xb_words_add(&line, ", attempt %zu of %zu", verdict->best + 1, xb_pair_attempts(pair));
    xb_link_put_line(stream, &line);
}

/* ---- why one is not OK ---- */

static void print_reasons(FILE *stream, int width, const struct xb_link_report *report)
{
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_findings *found = &report->pair_verdicts[i].found;
        for (size_t j = 0; j < found->reason_count; j++)
            xb_note_print(stream, xb_level_name(found->reasons[j].level), width, "%u to %u: %s: %s",
                          report->devices[report->pairs[i].from].info.index,
                          report->devices[report->pairs[i].to].info.index, found->reasons[j].code,
                          found->reasons[j].text);
    }
}

void xb_link_table_pairs(FILE *stream, int width, const struct xb_link_report *report)
{
    bool is_told = report->no_pairs != NULL && report->no_pairs[0] != '\0';
    if (report->pair_count == 0 && !is_told)
        return;
    fprintf(stream, "\nPeers: direct copies, sent by the source's copy engine\n");
    if (is_told)
        xb_note_print(stream, "pairs", width, "not tested: %s", report->no_pairs);
    if (report->pair_count == 0)
        return;
    fprintf(stream, LINE "\n", width, "FROM, TO", "LINKS, GB/s EACH", "GB/s", "CEILING", "SHARE",
            "VERDICT");
    for (size_t i = 0; i < report->pair_count; i++)
        print_pair(stream, width, report, i);
    print_reasons(stream, width, report);
}

void xb_link_table_count_pairs(FILE *stream, int width, const struct xb_link_report *report)
{
    struct xb_words words = {.length = 0};
    size_t good = 0;
    size_t not_judged = 0;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        bool judged = xb_pair_is_judged(verdict) &&
                      !has_no_access(xb_pair_verdict_attempt(verdict, &report->pairs[i]));
        if (verdict->found.level != XB_LEVEL_OK)
            continue;
        good += judged;
        not_judged += !judged;
    }
    if (report->pair_count == 0)
        return;
    xb_words_add(&words, "%zu of %zu OK", good, report->pair_count);
    if (not_judged > 0)
        xb_words_add(&words, ", %zu not judged", not_judged);
    xb_note_print(stream, "pairs", width, "%s", words.text);
}
