/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The part of the table about pairs of devices. */
#include "format.h"

#include "base/columns.h"
#include "base/text.h"

/* ---- a line for each pair ---- */

enum { CELL_PAIR, CELL_LINKS, CELL_RATE, CELL_CEILING, CELL_SHARE, CELL_VERDICT, CELLS };

static const struct {
    const char *name;
    int flags;
} headers[CELLS] = {
    {"FROM, TO", 0},           {"LINKS, GB/s EACH", 0},
    {"GB/s", SCOLS_FL_RIGHT},  {"CEILING", SCOLS_FL_RIGHT},
    {"SHARE", SCOLS_FL_RIGHT}, {"VERDICT", 0},
};
static const unsigned char turns[CELLS] = {[CELL_LINKS] = 1, [CELL_CEILING] = 2};

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

static bool add_pair(FILE *stream, struct libscols_table *table,
                     const struct xb_link_report *report, size_t index)
{
    const struct xb_link_pair *pair = &report->pairs[index];
    const struct xb_pair_verdict *verdict = &report->pair_verdicts[index];
    const struct xb_pair_attempt *attempt = xb_pair_verdict_attempt(verdict, pair);
    bool is_bad = verdict->found.level != XB_LEVEL_OK;
    bool is_judged = !has_no_access(attempt) && xb_pair_is_judged(verdict);
    struct libscols_line *line = scols_table_new_line(table, NULL);
    struct xb_words words = {.length = 0};
    char text[CELLS][64];
    const size_t size = sizeof text[0];
    snprintf(text[CELL_PAIR], size, "%u to %u", report->devices[pair->from].info.index,
             report->devices[pair->to].info.index);
    snprintf(text[CELL_SHARE], size, "-");
    if (verdict->bandwidth.share > 0)
        snprintf(text[CELL_SHARE], size, "%.1f %%", 100 * verdict->bandwidth.share);
    link_text(&verdict->reach, text[CELL_LINKS], size);
    number_text(verdict->bandwidth.measured, text[CELL_RATE], size);
    number_text(verdict->ceiling, text[CELL_CEILING], size);
    xb_words_add(&words, "%s",
                 is_bad || is_judged      ? xb_level_name(verdict->found.level)
                 : has_no_access(attempt) ? "no direct access"
                                          : "not judged");
    if (xb_pair_attempts(pair) > 1)
        xb_words_add(&words, ", attempt %zu of %zu", verdict->best + 1, xb_pair_attempts(pair));
    snprintf(text[CELL_VERDICT], size, "%.63s", words.text);
    bool ok = line != NULL;
    for (size_t i = 0; ok && i < CELLS; i++)
        ok = scols_line_set_data(line, i, text[i]) == 0;
    return ok && ((!is_bad && !is_judged) ||
                  xb_columns_paint(scols_line_get_cell(line, CELL_VERDICT), stream,
                                   xb_link_colour(verdict->found.level)));
}

bool xb_link_table_pairs(FILE *stream, const struct xb_link_report *report)
{
    bool is_told = report->no_pairs != NULL && report->no_pairs[0] != '\0';
    if (report->pair_count == 0 && !is_told)
        return true;
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE,
                     "Peers: direct copies, sent by the source's copy engine");
    if (is_told)
        xb_note_print(stream, "pairs", XB_LINK_LABEL, "not tested: %s", report->no_pairs);
    if (report->pair_count == 0)
        return true;
    const struct xb_columns columns = {.width = xb_terminal_columns(stream),
                                       .label = "  ",
                                       .with_colours = xb_terminal_has_colours(stream),
                                       .wordy = CELL_LINKS,
                                       .brief = "LINKS",
                                       .turns = turns,
                                       .elsewhere = "The JSON has all"};
    struct libscols_table *table = scols_new_table();
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < CELLS; i++)
        ok = scols_table_new_column(table, headers[i].name, 0, headers[i].flags) != NULL;
    for (size_t i = 0; ok && i < report->pair_count; i++)
        ok = add_pair(stream, table, report, i);
    ok = xb_columns_print(stream, "", table, ok, &columns);
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_findings *found = &report->pair_verdicts[i].found;
        for (size_t j = 0; j < found->reason_count; j++)
            xb_note_print_in(stream, xb_link_colour(found->reasons[j].level),
                             xb_level_name(found->reasons[j].level), XB_LINK_LABEL,
                             "%u to %u: %s: %s", report->devices[report->pairs[i].from].info.index,
                             report->devices[report->pairs[i].to].info.index,
                             found->reasons[j].code, found->reasons[j].text);
    }
    return ok;
}

void xb_link_table_count_pairs(FILE *stream, const struct xb_link_report *report)
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
    xb_note_print(stream, "pairs", XB_LINK_LABEL, "%s", words.text);
}
