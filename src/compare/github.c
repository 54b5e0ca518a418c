/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "base/text.h"
#include "text.h"

#include <stdarg.h>
#include <string.h>

/*
 * Workflow commands (docs.github.com, "Workflow commands for GitHub Actions"; what is escaped is in
 * actions/toolkit, packages/core/src/command.ts). A step shows ten annotations of a kind, and drops
 * the others without a word.
 */
#define SHOWN 9 /* of a kind; the tenth says how many more there are */

enum kind { ERROR, WARNING, NOTICE, KINDS };

static const char *const kind_names[KINDS] = {"error", "warning", "notice"};

struct log {
    FILE *stream;
    const struct xb_comparison *comparison;
    size_t count[KINDS]; /* asked for, shown or not */
};

/* Texts are plain here, but for the line breaks that are our own. */
static void put_escaped(FILE *stream, const char *text, bool property)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ',')))
            fprintf(stream, "%%%02X", (unsigned)*c);
        else
            fputc(*c, stream);
    }
}

static void put_command(const struct log *log, enum kind kind, const char *title, const char *text)
{
    struct xb_words words = {.length = 0};
    /* An annotation is read by itself: each one tells that it should not be. */
    xb_words_add(&words, "xferbench %s%s", title,
                 xb_compare_forced(log->comparison) ? " (FORCED: not comparable)" : "");
    fprintf(log->stream, "::%s title=", kind_names[kind]);
    put_escaped(log->stream, words.text, true);
    fputs("::", log->stream);
    put_escaped(log->stream, text, false);
    fputc('\n', log->stream);
}

static void annotate(struct log *log, enum kind kind, const char *title, const char *text)
{
    if (log->count[kind]++ < SHOWN)
        put_command(log, kind, title, text);
}

/* ---- the whole ---- */

/* With what it may depend on, for there is no other place. */
static void annotate_overall(struct log *log)
{
    const struct xb_comparison *comparison = log->comparison;
    char text[XB_COMPARE_TEXT];
    struct xb_words words = {.length = 0};
    struct xb_words part;
    enum kind kind = xb_comparison_is_refused(comparison)             ? ERROR
                     : comparison->overall == XB_OUTCOME_INCONCLUSIVE ? WARNING
                                                                      : NOTICE;
    xb_words_add(&words, "%s: %s", xb_compare_overall(comparison),
                 xb_compare_plain(comparison->reason, text, sizeof text));
    if (comparison->next[0] != '\0')
        xb_words_add(&words, "\nNext: %s", xb_compare_plain(comparison->next, text, sizeof text));
    if (xb_compare_stack(comparison, &part)[0] != '\0')
        xb_words_add(&words, "\nchanged: %s", part.text);
    xb_words_add(&words, "\n%s", xb_compare_rule(comparison, &part));
    if (xb_compare_forced(comparison))
        xb_words_add(&words, "\n%s", xb_compare_forbidden(comparison, &part));
    if (xb_compare_needed(comparison, &part)[0] != '\0')
        xb_words_add(&words, "\n%s", part.text);
    xb_words_add(&words, "\nbaseline %s: %s",
                 xb_compare_plain(comparison->baseline->path, text, XB_COMPARE_VALUE),
                 xb_compare_file(comparison->baseline, &part));
    xb_words_add(&words, "\ncandidate %s: %s",
                 xb_compare_plain(comparison->candidate->path, text, XB_COMPARE_VALUE),
                 xb_compare_file(comparison->candidate, &part));
    annotate(log, kind, xb_compare_overall(comparison), words.text);
}

/* One annotation for all differences that forbid it, or for all that do not. */
static void annotate_differences(struct log *log, bool forbid, enum kind kind, const char *title)
{
    const struct xb_comparison *comparison = log->comparison;
    char baseline[XB_COMPARE_VALUE], candidate[XB_COMPARE_VALUE];
    struct xb_words words = {.length = 0};
    static const size_t most = 7; /* as fit */
    size_t told = 0;
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        if (!xb_compare_is_listed(difference, forbid) || told++ >= most)
            continue;
        xb_compare_sides(difference, baseline, candidate);
        xb_words_add(&words, "%s%s: baseline %.40s, candidate %.70s", told > 1 ? "\n" : "",
                     XB_PLAIN_WORD(difference->name), baseline, candidate);
    }
    if (told > most)
        xb_words_add(&words, "\nand %zu more", told - most);
    if (told > 0)
        annotate(log, kind, title, words.text);
}

/* ---- cases ---- */

/* Chooses error, warning or notice. Returns false if the case needs no annotation. */
static bool kind_of(const struct xb_compared *compared, enum kind *kind)
{
    bool judged = xb_compare_judged(compared);
    bool passed = compared->outcome == XB_OUTCOME_PASS;
    if (compared->basis == XB_BASIS_NONE || (passed && compared->note[0] == '\0'))
        return false;
    if (passed || compared->outcome == XB_OUTCOME_IMPROVED || !compared->gates)
        *kind = NOTICE;
    else if (compared->outcome == XB_OUTCOME_REGRESSION && judged)
        *kind = ERROR;
    else
        *kind = WARNING;
    return compared->outcome != XB_OUTCOME_INCONCLUSIVE || compared->gates;
}

static void annotate_case(struct log *log, const struct xb_compared *compared)
{
    enum kind kind;
    char verdict[XB_COMPARE_TEXT], name[XB_COMPARE_TEXT];
    struct xb_words words = {.length = 0};
    if (!kind_of(compared, &kind))
        return;
    xb_compare_verdict(log->comparison, compared, verdict, sizeof verdict);
    xb_words_add(&words, "%s: %s: ", xb_compare_name(log->comparison, compared, name, sizeof name),
                 verdict);
    xb_compare_tell(&words, log->comparison, compared, ", ");
    annotate(log, kind, verdict, words.text);
}

/* The cases that have no verdict, by what they are. */
static void annotate_unjudged(struct log *log, enum xb_presence presence, const char *what)
{
    static const size_t most = 8;
    const struct xb_comparison *comparison = log->comparison;
    char name[XB_COMPARE_TEXT];
    struct xb_words words = {.length = 0};
    size_t told = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        bool listed = presence != XB_IN_BOTH || compared->basis == XB_BASIS_NONE;
        if (listed && compared->presence == presence && told++ < most)
            xb_words_add(&words, "%s%.160s", told > 1 ? ", " : "",
                         xb_compare_name(comparison, compared, name, sizeof name));
    }
    if (told > most)
        xb_words_add(&words, " and %zu more", told - most);
    if (told > 0)
        annotate(log, NOTICE, what, words.text);
}

enum xb_status xb_compare_github_write(FILE *stream, const struct xb_comparison *comparison,
                                       struct xb_error *error)
{
    struct log log = {.stream = stream, .comparison = comparison};
    /* First, so that it is among those that are shown. */
    annotate_overall(&log);
    if (xb_compare_refused(comparison))
        annotate_differences(&log, true, ERROR, "NOT COMPARABLE");
    else if (xb_compare_forced(comparison))
        annotate_differences(&log, true, WARNING, "FORCED");
    annotate_unjudged(&log, XB_ONLY_IN_BASELINE, "only in the baseline");
    annotate_unjudged(&log, XB_ONLY_IN_CANDIDATE, "only in the candidate");
    annotate_unjudged(&log, XB_IN_BOTH, "nothing to judge");
    annotate_differences(&log, false, NOTICE, "other differences");
    for (size_t i = 0; i < comparison->case_count; i++)
        annotate_case(&log, &comparison->cases[i]);
    for (int i = 0; i < KINDS; i++) { /* what did not fit */
        struct xb_words words = {.length = 0};
        if (log.count[i] <= SHOWN)
            continue;
        xb_words_add(&words, "%zu more of this kind: see the table or the JSON",
                     log.count[i] - SHOWN);
        put_command(&log, (enum kind)i, "and more", words.text);
    }
    return xb_stream_finish(stream, "the annotations", error);
}
