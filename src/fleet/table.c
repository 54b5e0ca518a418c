/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/stream.h"
#include "base/text.h"
#include "formats.h"
#include "table_internal.h"

#include "xferbench/figure.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_TOLD 10
#define INDENT 2 /* of further lines, by xb_lines_print() */

/* ---- what all parts share ---- */

const char *xb_fleet_table_value(const char *unit, double value, char *text, size_t size)
{
    char number[32];
    if (!isfinite(value))
        snprintf(text, size, "-");
    else if (strcmp(unit, XB_UNIT_RATE) == 0)
        snprintf(text, size, "%s GB/s", xb_rate_text(value, number, sizeof number));
    else if (strcmp(unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, text, size);
    else if (strcmp(unit, XB_UNIT_BYTES) == 0)
        snprintf(text, size, "%.4g MiB", value / (1 << 20));
    else if (strcmp(unit, XB_UNIT_RATIO) == 0)
        snprintf(text, size, "%.4g", value);
    else
        snprintf(text, size, "%.4g %.12s", value, unit);
    xb_make_plain(text); /* a document may name any unit */
    return text;
}

const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size)
{
    double percent = 100.0 * share;
    int decimals = fabs(percent) < 0.995 ? 2 : 1;
    if (isfinite(share))
        snprintf(text, size, with_sign ? "%+.*f %%" : "%.*f %%", decimals, percent);
    else
        snprintf(text, size, "-");
    return text;
}

const char *xb_fleet_table_count(size_t count, char *text, size_t size)
{
    char digits[24];
    size_t used = 0;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", count);
    for (size_t i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

void xb_fleet_table_put(const struct xb_fleet_view *view, enum xb_colour colour, const char *format,
                        ...)
{
    char text[XB_NOTE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bool in_colour = view->colours && colour != XB_COLOUR_NONE;
    fputs(in_colour ? xb_colour_code(colour) : "", view->stream);
    xb_lines_print(view->stream, view->prose, "%s", text);
    fputs(in_colour ? xb_colour_code(XB_COLOUR_NONE) : "", view->stream);
}

/* ---- the answer ---- */

/* Some of the nodes, each counted once, and of their GPUs those that a finding is of. */
struct some {
    size_t nodes; /* but for missing ones */
    size_t whole; /* of them with findings of the node only */
    size_t gpus;
};

/* What is named. */
struct tally {
    size_t codes[XB_FLEET_CODES];
    struct some bad;  /* to be taken out of service */
    struct some many; /* what is bad, but many have it */
    bool by_siblings; /* what is bad is told by siblings alone, but for missing nodes */
    size_t missing;   /* nodes */
    struct xb_drain_list drained;
    size_t together;    /* rows that many siblings have */
    size_t unsure;      /* missing nodes that may have sent what could not be read */
    struct some warned; /* what has a warning of its own link test */
    struct some cut;    /* what was not measured to the end */
};

/* Of which findings to count nodes and GPUs. */
typedef bool is_counted(const struct xb_fleet_finding *finding);

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_different(const char **names, size_t count)
{
    size_t different = 0;
    qsort(names, count, sizeof(const char *), by_name);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || strcmp(names[i - 1], names[i]) != 0;
    return different;
}

static bool is_bad(const struct xb_fleet_finding *finding)
{
    return finding->code != XB_FLEET_MISSING && xb_fleet_is_to_drain(finding);
}

/* Bad, but many have it. */
static bool is_of_many(const struct xb_fleet_finding *finding)
{
    return finding->code != XB_FLEET_MISSING && xb_fleet_code_is_bad(finding->code) &&
           !xb_fleet_is_to_drain(finding);
}

static bool is_warned(const struct xb_fleet_finding *finding)
{
    return finding->code == XB_FLEET_LINK_WARNING;
}

static bool is_cut(const struct xb_fleet_finding *finding)
{
    return finding->code == XB_FLEET_IS_CUT;
}

/* Counts the nodes and GPUs with such a finding. False: no memory. */
static bool count_some(const struct xb_fleet_judgement *judgement, is_counted *counts,
                       struct some *some)
{
    const char **names = calloc(judgement->finding_count + 1, sizeof(const char *));
    bool *is_named = calloc(judgement->fleet->gpu_count + 1, sizeof *is_named);
    bool ok = names != NULL && is_named != NULL;
    size_t all = 0, of_gpus = 0;
    for (size_t i = 0; ok && i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if (finding->gpu == XB_FLEET_NONE || !counts(finding))
            continue;
        names[of_gpus++] = finding->node;
        some->gpus += !is_named[finding->gpu];
        is_named[finding->gpu] = true;
    }
    size_t with_gpus = ok ? count_different(names, of_gpus) : 0;
    for (size_t i = 0; ok && i < judgement->finding_count; i++)
        if (counts(&judgement->findings[i]))
            names[all++] = judgement->findings[i].node;
    some->nodes = ok ? count_different(names, all) : 0;
    some->whole = some->nodes - with_gpus;
    free(names);
    free(is_named);
    return ok;
}

static bool count_findings(const struct xb_fleet_judgement *judgement, struct tally *tally)
{
    tally->by_siblings = true;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        enum xb_fleet_code code = finding->code;
        if (is_bad(finding) && code != XB_FLEET_FEWER_GPUS && code != XB_FLEET_NARROWER &&
            code != XB_FLEET_SLOW)
            tally->by_siblings = false;
        if (!xb_fleet_table_is_row(judgement, i))
            continue;
        tally->codes[code]++;
        tally->together += finding->together && !finding->unsure;
        tally->unsure += finding->unsure;
    }
    tally->missing = tally->codes[XB_FLEET_MISSING];
    return count_some(judgement, is_bad, &tally->bad) &&
           count_some(judgement, is_of_many, &tally->many) &&
           count_some(judgement, is_warned, &tally->warned) &&
           count_some(judgement, is_cut, &tally->cut);
}

/* "3 slow, 1 missing" */
static void put_codes(const struct xb_fleet_view *view, const struct tally *tally)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    const char *name = fleet->node_count > 0 ? fleet->nodes[0].name : NULL;
    struct xb_words words = {.length = 0};
    char count[24];
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++)
        if (tally->codes[code] > 0)
            xb_words_add(&words, "%s%s %s", words.length > 0 ? ", " : "",
                         xb_fleet_table_count(tally->codes[code], count, sizeof count),
                         xb_fleet_code_name(code));
    xb_fleet_table_put(view, XB_COLOUR_NONE, "Found: %s.", words.text);
    if (tally->together > 0)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "%s of these %s: look for one cause that so many share (a setting, the "
                           "launcher, a deadline) before you drain any for it.",
                           xb_fleet_table_count(tally->together, count, sizeof count),
                           tally->together == 1 ? "is what many have" : "are what many have");
    if (tally->unsure > 0 && tally->unsure == view->judgement->request.expected_count)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "None of the expected nodes is there: are the names and the folder "
                           "right?%s%.100s",
                           name != NULL ? " The first document is of " : "",
                           name != NULL ? name : "");
    else if (tally->unsure > 0)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "The documents that could not be read (below) may come from missing "
                           "nodes: look at them before you drain any.");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static bool is_one_of(const struct some *some)
{
    return some->gpus > 0 ? some->gpus + some->whole == 1 : some->nodes == 1;
}

/* "8 of 3,976 GPUs, on 1 of 497 nodes, are" */
static void add_some(struct xb_words *words, const struct xb_fleet *fleet, const struct some *some)
{
    size_t with_gpus = some->nodes - some->whole;
    char a[24], b[24];
    if (some->gpus > 0)
        xb_words_add(words, "%s of %s GPUs, on ", xb_fleet_table_count(some->gpus, a, sizeof a),
                     xb_fleet_table_count(fleet->gpu_count, b, sizeof b));
    xb_words_add(words, "%s of %s node%s%s",
                 xb_fleet_table_count(some->gpus > 0 ? with_gpus : some->nodes, a, sizeof a),
                 xb_fleet_table_count(fleet->node_count, b, sizeof b), plural(fleet->node_count),
                 some->gpus > 0 ? "," : "");
    if (some->gpus > 0 && some->whole > 0)
        xb_words_add(words, " and %s more node%s", xb_fleet_table_count(some->whole, a, sizeof a),
                     plural(some->whole));
    xb_words_add(words, " %s", is_one_of(some) ? "is" : "are");
}

/* What must be known before the rest is believed. */
static void add_limits(struct xb_words *words, const struct xb_fleet_judgement *judgement,
                       const struct tally *tally)
{
    const struct xb_fleet *fleet = judgement->fleet;
    char a[24], b[24];
    if (tally->missing > 0)
        xb_words_add(words, " %s of %s expected node%s %s missing.",
                     xb_fleet_table_count(tally->missing, a, sizeof a),
                     xb_fleet_table_count(judgement->request.expected_count, b, sizeof b),
                     plural(judgement->request.expected_count), tally->missing == 1 ? "is" : "are");
    if (tally->warned.nodes > 0)
        xb_words_add(words, " On %s of %s node%s the link test gave a warning: measure %s again.",
                     xb_fleet_table_count(tally->warned.nodes, a, sizeof a),
                     xb_fleet_table_count(fleet->node_count, b, sizeof b),
                     plural(fleet->node_count), tally->warned.nodes == 1 ? "it" : "them");
    if (tally->cut.nodes > 0)
        xb_words_add(words, " %s of %s node%s %s not measured to the end: measure %s again.",
                     xb_fleet_table_count(tally->cut.nodes, a, sizeof a),
                     xb_fleet_table_count(fleet->node_count, b, sizeof b),
                     plural(fleet->node_count), tally->cut.nodes == 1 ? "was" : "were",
                     tally->cut.nodes == 1 ? "it" : "them");
    /* Those that are named need no siblings to be known. */
    size_t known = judgement->judged_gpus + tally->bad.gpus + tally->many.gpus;
    if (judgement->finding_count > 0 && known < fleet->gpu_count)
        xb_words_add(words, " %s of %s GPUs could be judged by siblings.",
                     judgement->judged_gpus == 0
                         ? "None"
                         : xb_fleet_table_count(judgement->judged_gpus, a, sizeof a),
                     xb_fleet_table_count(fleet->gpu_count, b, sizeof b));
    if (fleet->unread_count > 0 && fleet->source_count > 0)
        xb_words_add(words, " %s document%s could not be read.",
                     xb_fleet_table_count(fleet->unread_count, a, sizeof a),
                     plural(fleet->unread_count));
}

/* Names them if their names have room in a line. */
static void put_drained(const struct xb_fleet_view *view, const struct xb_drain_list *list)
{
    char count[24], but[24];
    struct xb_words left_out = {.length = 0};
    xb_fleet_table_count(list->count, count, sizeof count);
    if (list->left_out > 0)
        xb_words_add(&left_out, ", but for %s with a name that no scheduler takes",
                     xb_fleet_table_count(list->left_out, but, sizeof but));
    if (list->left_out == 0 && strlen(list->text) + INDENT <= view->prose)
        xb_fleet_table_put(view, XB_COLOUR_NONE,
                           "Drain %s node%s: %s (for a script: --format "
                           "nodelist)",
                           count, plural(list->count), list->text);
    else
        xb_fleet_table_put(view, XB_COLOUR_NONE,
                           "Drain %s node%s: the same command with --format nodelist names %s for "
                           "Slurm%s.",
                           count, plural(list->count), list->count == 1 ? "it" : "them",
                           left_out.text);
}

/* Something is named. */
static void answer_named(const struct xb_fleet_view *view, const struct tally *tally)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    struct xb_words words = {.length = 0};
    if (tally->bad.nodes > 0) {
        add_some(&words, fleet, &tally->bad);
        xb_words_add(&words, " not %s %s.", tally->by_siblings ? "like" : "as",
                     is_one_of(&tally->bad) ? tally->by_siblings ? "its siblings" : "it should be"
                     : tally->by_siblings   ? "their siblings"
                                            : "they should be");
    } else if (tally->many.nodes > 0) {
        add_some(&words, fleet, &tally->many);
        xb_words_add(&words, " not as they should be, but many have the same.");
    } else if (tally->missing == 0 && tally->cut.nodes == 0) {
        xb_words_add(&words, "No node needs to be drained, but not all are alike.");
    }
    add_limits(&words, view->judgement, tally);
    xb_fleet_table_put(view, tally->drained.count > 0 ? XB_COLOUR_BAD : XB_COLOUR_WARNING, "%s",
                       words.text + (words.text[0] == ' '));
    put_codes(view, tally);
    if (tally->drained.count > 0)
        put_drained(view, &tally->drained);
}

static void answer_good(const struct xb_fleet_view *view, const struct tally *tally)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t gpus = judgement->fleet->gpu_count;
    size_t nodes = judgement->fleet->node_count;
    char a[24], b[24], c[24];
    xb_fleet_table_count(judgement->judged_gpus, a, sizeof a);
    xb_fleet_table_count(gpus, b, sizeof b);
    xb_fleet_table_count(nodes, c, sizeof c);
    struct xb_words words = {.length = 0};
    if (judgement->judged_gpus == gpus)
        xb_words_add(&words, "All %s GPUs on %s node%s are like their siblings.", b, c,
                     plural(nodes));
    else
        xb_words_add(&words,
                     "%s of %s GPUs on %s node%s could be judged: all are like their siblings.", a,
                     b, c, plural(nodes));
    add_limits(&words, judgement, tally);
    xb_fleet_table_put(view,
                       judgement->fleet->unread_count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_GOOD,
                       "%s", words.text);
}

static void put_answer(const struct xb_fleet_view *view, const struct tally *tally)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    int code = xb_fleet_exit_code(judgement);
    if (code == 2) {
        xb_fleet_table_put(view, XB_COLOUR_BAD, "No document could be read: nothing was judged.");
    } else if (code == 3) {
        xb_fleet_table_put(view, XB_COLOUR_WARNING, "Too few siblings: nothing was judged.");
        xb_fleet_table_put(
            view, XB_COLOUR_NONE,
            "To judge a value fleet needs at least %d others with the same figure, model, link, "
            "driver and options. Give it the documents of more nodes.",
            XB_FLEET_SIBLINGS);
    } else if (judgement->finding_count == 0) {
        answer_good(view, tally);
    } else {
        answer_named(view, tally);
    }
}

/* ---- what a reader must know besides ---- */

static void put_left_out(const struct xb_fleet_view *view)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    size_t told = fleet->left_out_count < LEFT_OUT_TOLD ? fleet->left_out_count : LEFT_OUT_TOLD;
    char count[24];
    if (told == 0)
        return;
    fputc('\n', view->stream);
    xb_fleet_table_put(view, XB_COLOUR_WARNING, "Left out: %s document%s",
                       xb_fleet_table_count(fleet->left_out_count, count, sizeof count),
                       plural(fleet->left_out_count));
    for (size_t i = 0; i < told; i++)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "%.300s: %.1000s", fleet->left_out[i].what,
                           fleet->left_out[i].why);
    if (fleet->left_out_count > told)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "and %s more: --format json",
                           xb_fleet_table_count(fleet->left_out_count - told, count, sizeof count));
}

/* ---- all of it ---- */

static bool put_table(const struct xb_fleet_view *view, struct xb_error *error)
{
    struct tally tally = {.missing = 0};
    bool ok = xb_fleet_drain_list(view->judgement, &tally.drained, error) == XB_OK &&
              count_findings(view->judgement, &tally);
    if (ok)
        put_answer(view, &tally);
    xb_fleet_drain_list_free(&tally.drained);
    /* Without any document each expected node is missing: only why there is none helps. */
    if (ok && view->judgement->fleet->source_count > 0) {
        ok = xb_fleet_table_findings(view);
        xb_fleet_table_figures(view);
        if (view->judgement->note_count > 0)
            fputc('\n', view->stream);
        for (size_t i = 0; i < view->judgement->note_count; i++)
            xb_fleet_table_put(view, XB_COLOUR_NONE, "Note: %s", view->judgement->notes[i]);
    }
    if (ok)
        put_left_out(view);
    return ok;
}

enum xb_status xb_fleet_table_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                    size_t columns, bool colours, struct xb_error *error)
{
    const struct xb_fleet_view view = {
        .stream = stream,
        .judgement = judgement,
        .columns = columns,
        .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
        .colours = colours,
        .rows = xb_is_terminal(stream) ? XB_FLEET_ROWS : SIZE_MAX,
        .figures = xb_is_terminal(stream) ? XB_FLEET_FIGURES : SIZE_MAX,
    };
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = put_table(&view, error)
                                ? xb_stream_finish(stream, "the table", error)
                                : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for the table");
    xb_plain_locale_leave(previous);
    return status;
}
