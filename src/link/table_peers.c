/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The part of the table about pairs of devices: a sentence, and a matrix where they differ. */
#include "format.h"

#include "base/text.h"
#include "present/table.h"

#include <math.h>
#include <string.h>

/* Pairs whose rates differ by more are told apart. */
#define ALIKE 1.05

static bool has_no_access(const struct xb_pair_attempt *attempt)
{
    return attempt != NULL && attempt->reach_known && !attempt->there.can_access;
}

/* What is said of all pairs together. */
struct pairs {
    size_t measured, judged, apart; /* that have a rate; of them judged; without direct access */
    double least, most;             /* rates */
    const struct xb_pair_verdict *first; /* that has a rate */
    bool alike;                          /* one sentence tells them: the same links and limits */
};

static struct pairs sum_up(const struct xb_link_report *report)
{
    struct pairs all = {.least = INFINITY, .alike = true};
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        double rate = verdict->bandwidth.measured;
        all.apart += has_no_access(xb_pair_verdict_attempt(verdict, &report->pairs[i]));
        if (!xb_rate_known(rate))
            continue;
        all.first = all.measured++ == 0 ? verdict : all.first;
        all.judged += xb_pair_is_judged(verdict);
        all.least = fmin(all.least, rate);
        all.most = fmax(all.most, rate);
        all.alike = all.alike && strcmp(verdict->reach.link, all.first->reach.link) == 0 &&
                    verdict->reach.links == all.first->reach.links &&
                    verdict->ceiling == all.first->ceiling &&
                    verdict->bandwidth.critical == all.first->bandwidth.critical &&
                    verdict->bandwidth.warning == all.first->bandwidth.warning;
    }
    if (all.measured > 0)
        all.alike =
            all.alike && all.measured == report->pair_count && all.most <= ALIKE * all.least;
    else
        all.alike = all.apart == 0 || all.apart == report->pair_count;
    return all;
}

/* "Pairs: 394.6 to 394.8 GB/s, 83 % of the 478.1 that 18 NVLinks carry." */
static void print_alike(FILE *stream, const struct pairs *all)
{
    struct xb_words words = {.length = 0};
    char range[XB_LINK_RANGE];
    if (all->measured == 0) {
        xb_words_add(&words, "no direct access");
    } else {
        const struct xb_pair_verdict *first = all->first;
        xb_words_add(&words, "%s GB/s", xb_link_range_text(all->least, all->most, 1, range));
        if (first->ceiling > 0 && first->reach.links > 0)
            xb_words_add(&words, ", %.0f %% of the %.0f that %u %s%s carry",
                         100 * all->least / first->ceiling, first->ceiling / 1e9,
                         first->reach.links, first->reach.link, first->reach.links == 1 ? "" : "s");
        else if (first->reach.link[0] != '\0')
            xb_words_add(&words, " over %s", first->reach.link);
        if (all->judged == 0)
            xb_words_add(&words, ", not judged: --min-peer sets a limit");
    }
    xb_lines_print(stream, xb_terminal_prose_columns(stream), "Pairs: %s.", words.text);
}

/* The cell of the copies from one device to another; what is missing says why. */
static void put_pair(struct xb_table *table, const struct xb_link_report *report, size_t from,
                     size_t to)
{
    size_t i = 0;
    while (i < report->pair_count && (report->pairs[i].from != from || report->pairs[i].to != to))
        i++;
    const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
    if (i == report->pair_count)
        xb_table_cell(table, XB_COLOUR_NONE, "%s", from == to ? "" : "-");
    else if (xb_rate_known(verdict->bandwidth.measured))
        xb_table_cell(table,
                      verdict->found.level != XB_LEVEL_OK ? xb_link_colour(verdict->found.level)
                                                          : XB_COLOUR_NONE,
                      "%.1f", verdict->bandwidth.measured / 1e9);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "%s",
                      has_no_access(xb_pair_verdict_attempt(verdict, &report->pairs[i])) ? "none"
                                                                                         : "?");
}

static enum xb_status print_matrix(FILE *stream, const struct xb_link_report *report,
                                   struct xb_error *error)
{
    struct xb_table *table = xb_table_new();
    xb_table_add_column(
        table, &(struct xb_table_column){.title = "GB/s, FROM", .brief = "FROM", .is_right = true});
    for (size_t i = 0; i < report->device_count; i++) {
        char title[32];
        snprintf(title, sizeof title, "TO %u", report->devices[i].info.index);
        xb_table_add_column(table, &(struct xb_table_column){.title = title, .is_right = true});
    }
    for (size_t from = 0; from < report->device_count; from++) {
        xb_table_row(table);
        xb_table_cell(table, XB_COLOUR_NONE, "%u", report->devices[from].info.index);
        for (size_t to = 0; to < report->device_count; to++)
            put_pair(table, report, from, to);
    }
    enum xb_status status = xb_table_print(stream, table, &(struct xb_table_look){0}, error);
    xb_table_free(table);
    return status;
}

enum xb_status xb_link_table_pairs(FILE *stream, const struct xb_link_report *report,
                                   struct xb_error *error)
{
    const struct pairs all = sum_up(report);
    if (report->no_pairs != NULL && report->no_pairs[0] != '\0')
        xb_lines_print(stream, xb_terminal_prose_columns(stream), "Pairs: not tested: %s.",
                       report->no_pairs);
    if (all.alike && (all.measured > 0 || all.apart > 0))
        print_alike(stream, &all);
    return !all.alike || (report->verbose && all.measured > 0) ? print_matrix(stream, report, error)
                                                               : XB_OK;
}
