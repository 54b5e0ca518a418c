/* SPDX-License-Identifier: Apache-2.0 */
/* What CI systems read: annotations of GitHub, JUnit, and what github-action-benchmark keeps. */
#define _GNU_SOURCE
#include "text.h"

#include "base/stream.h"
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- annotations: workflow commands (docs.github.com, "Workflow commands for GitHub Actions";
 * what is escaped is in actions/toolkit, packages/core/src/command.ts). A step shows ten
 * annotations of a kind, and drops the others without a word. ---- */

#define SHOWN 9 /* of a kind; the tenth says how many more there are */

enum kind { ERROR, WARNING, NOTICE, KINDS };

static const char *const kind_names[KINDS] = {"error", "warning", "notice"};

struct log {
    FILE *stream;
    const struct xb_comparison *comparison;
    size_t count[KINDS]; /* asked for, shown or not */
};

/* Texts are plain here, but for the line breaks that are our own. */
static void write_escaped(FILE *stream, const char *text, bool property)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ',')))
            fprintf(stream, "%%%02X", (unsigned)*c);
        else
            fputc(*c, stream);
    }
}

static void annotate(struct log *log, enum kind kind, const char *title, const char *text)
{
    if (log->count[kind]++ >= SHOWN)
        return;
    fprintf(log->stream, "::%s title=xferbench ", kind_names[kind]);
    write_escaped(log->stream, title, true);
    /* An annotation is read by itself: each one tells that it should not be. */
    write_escaped(log->stream, xb_compare_caution(log->comparison), true);
    fputs("::", log->stream);
    write_escaped(log->stream, text, false);
    fputc('\n', log->stream);
}

/* With what it may depend on, for there is no other place. */
static void annotate_overall(struct log *log)
{
    const struct xb_comparison *comparison = log->comparison;
    const struct xb_record *const files[] = {comparison->baseline, comparison->candidate};
    struct xb_words words = {.length = 0};
    const char *stack = xb_compare_stack(comparison, XB_NEW_WORDS);
    const char *needed = xb_compare_needed(comparison, XB_NEW_WORDS);
    enum kind kind = xb_comparison_is_refused(comparison)             ? ERROR
                     : comparison->overall == XB_OUTCOME_INCONCLUSIVE ? WARNING
                                                                      : NOTICE;
    xb_words_add(&words, "%s: %s", xb_compare_overall(comparison),
                 XB_PLAIN_TEXT(comparison->reason));
    if (comparison->next[0] != '\0')
        xb_words_add(&words, "\nNext: %s", XB_PLAIN_TEXT(comparison->next));
    if (stack[0] != '\0')
        xb_words_add(&words, "\nchanged: %s", stack);
    xb_words_add(&words, "\n%s", xb_compare_rule(comparison, XB_NEW_WORDS));
    if (xb_compare_forced(comparison))
        xb_words_add(&words, "\n%s", xb_compare_forbidden(comparison, XB_NEW_WORDS));
    if (needed[0] != '\0')
        xb_words_add(&words, "\n%s", needed);
    for (size_t i = 0; i < 2; i++)
        xb_words_add(&words, "\n%s %s: %s", i == 0 ? "baseline" : "candidate",
                     XB_PLAIN_VALUE(files[i]->path), xb_compare_file(files[i], XB_NEW_WORDS));
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
    XB_EACH (difference, comparison->differences, comparison->difference_count) {
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

/* An error, a warning or a notice; none of a case that needs no annotation. */
static void annotate_case(struct log *log, const struct xb_compared *compared)
{
    const struct xb_comparison *comparison = log->comparison;
    enum xb_outcome outcome = compared->outcome;
    bool passed = outcome == XB_OUTCOME_PASS;
    struct xb_words words = {.length = 0};
    if (compared->basis == XB_BASIS_NONE || (passed && compared->note[0] == '\0') ||
        (outcome == XB_OUTCOME_INCONCLUSIVE && !compared->gates))
        return;
    bool is_bad = outcome == XB_OUTCOME_REGRESSION && xb_compare_judged(compared);
    enum kind kind = is_bad ? ERROR : WARNING;
    if (passed || outcome == XB_OUTCOME_IMPROVED || !compared->gates)
        kind = NOTICE;
    const char *verdict = XB_SAID(VERDICT);
    xb_words_add(&words, "%s: %s: ", XB_SAID(NAME), verdict);
    xb_compare_tell(&words, comparison, compared, ", ");
    annotate(log, kind, verdict, words.text);
}

/* The cases that have no verdict, by what they are. */
static void annotate_unjudged(struct log *log, enum xb_presence presence, const char *what)
{
    static const size_t most = 8;
    const struct xb_comparison *comparison = log->comparison;
    struct xb_words words = {.length = 0};
    size_t told = 0;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        bool listed = presence != XB_IN_BOTH || compared->basis == XB_BASIS_NONE;
        if (listed && xb_presence_of(compared) == presence && told++ < most)
            xb_words_add(&words, "%s%.160s", told > 1 ? ", " : "", XB_SAID(NAME));
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
        log.count[i] = 0; /* there is room for this one */
        annotate(&log, (enum kind)i, "and more", words.text);
    }
    return xb_stream_finish(stream, "the annotations", error);
}

/* ---- JUnit has no schema of its own; this is what GitLab's and Jenkins' readers have in common.
 * GitLab shows a failure's body. A report that looks green where the exit code is not 0 would be
 * read as "all is well", so there is always something in it that is not. ---- */

enum end { PASSED, FAILURE, BROKEN, SKIPPED, ENDS };

static const char *const end_names[ENDS] = {"system-out", "failure", "error", "skipped"};

/* Plain ASCII with our own line breaks: nothing in it that XML cannot hold. */
static void write_xml(FILE *stream, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (const char *c = text; *c != '\0'; c++) {
        const char *found = strchr(special, *c);
        if (found != NULL)
            fputs(escapes[found - special], stream);
        else
            fputc(*c, stream);
    }
}

static void write_attribute(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, " %s=\"", name);
    write_xml(stream, value);
    fputc('"', stream);
}

/* Its body follows, escaped; these texts are plain and not yet escaped. */
static void begin_testcase(FILE *stream, const char *class_name, const char *name, enum end end,
                           const char *message)
{
    fputs("    <testcase", stream);
    write_attribute(stream, "classname", class_name);
    write_attribute(stream, "name", name);
    fprintf(stream, ">\n      <%s", end_names[end]);
    if (end != PASSED)
        write_attribute(stream, "message", message);
    fputc('>', stream);
}

static void end_testcase(FILE *stream, enum end end)
{
    fprintf(stream, "</%s>\n    </testcase>\n", end_names[end]);
}

static enum end end_of(const struct xb_comparison *comparison, const struct xb_compared *compared)
{
    bool good = compared->outcome == XB_OUTCOME_PASS || compared->outcome == XB_OUTCOME_IMPROVED;
    bool judged = xb_compare_judged(compared);
    /* What was not compared has neither passed nor failed; where all is so, the whole is red. */
    if (compared->basis == XB_BASIS_NONE || xb_compared_is_apart(comparison, compared))
        return SKIPPED;
    if (!compared->gates)
        return judged && xb_presence_of(compared) == XB_IN_BOTH ? PASSED : SKIPPED;
    if (judged && compared->outcome == XB_OUTCOME_REGRESSION)
        return FAILURE;
    if (!good)
        return BROKEN;
    /* Green says that something was found to be good. What is indicative was not. */
    return judged ? PASSED : SKIPPED;
}

/* All of these texts, escaped, as one line. */
#define write_line(stream, ...)                                                                    \
    write_texts((stream), (const char *const[]){__VA_ARGS__, "\n", NULL})
static void write_texts(FILE *stream, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        write_xml(stream, *texts);
}

/* "baseline file a.json: 8 processes": both files, and how they were compared. */
static void write_conditions(FILE *stream, const struct xb_comparison *comparison)
{
    const struct xb_record *const files[] = {comparison->baseline, comparison->candidate};
    const char *stack = xb_compare_stack(comparison, XB_NEW_WORDS);
    const char *needed = xb_compare_needed(comparison, XB_NEW_WORDS);
    if (xb_compare_forced(comparison))
        write_line(stream, xb_compare_forbidden(comparison, XB_NEW_WORDS));
    if (stack[0] != '\0')
        write_line(stream, "changed: ", stack);
    write_line(stream, xb_compare_rule(comparison, XB_NEW_WORDS));
    if (needed[0] != '\0')
        write_line(stream, needed);
    for (size_t i = 0; i < 2; i++)
        write_line(stream, i == 0 ? "baseline" : "candidate", " file ",
                   XB_PLAIN_VALUE(files[i]->path), ": ", xb_compare_file(files[i], XB_NEW_WORDS));
}

static void write_differences(FILE *stream, const struct xb_comparison *comparison, bool forbid)
{
    char baseline[XB_COMPARE_VALUE], candidate[XB_COMPARE_VALUE];
    XB_EACH (difference, comparison->differences, comparison->difference_count) {
        if (!xb_compare_is_listed(difference, forbid))
            continue;
        xb_compare_sides(difference, baseline, candidate);
        write_line(stream, XB_PLAIN_VALUE(difference->name), ": baseline ", baseline,
                   ", candidate ", candidate);
    }
}

/* The verdict and the conditions. `differs`: with those that forbid a comparison in between. */
static void write_overall(FILE *stream, const struct xb_comparison *comparison, bool differs)
{
    write_line(stream, xb_compare_overall(comparison), ": ", XB_PLAIN_TEXT(comparison->reason));
    if (comparison->next[0] != '\0')
        write_line(stream, "Next: ", XB_PLAIN_TEXT(comparison->next));
    if (differs)
        write_differences(stream, comparison, true);
    write_conditions(stream, comparison);
}

/* `conditions` are the text of write_conditions. */
static void write_testcase(FILE *stream, const struct xb_comparison *comparison,
                           const struct xb_compared *compared, const char *conditions)
{
    char class_name[XB_COMPARE_WORD + 16], message[256];
    struct xb_words figures = {.length = 0};
    enum end end = end_of(comparison, compared);
    const char *verdict = XB_SAID(VERDICT), *change = XB_SAID(SAYS);
    bool has_change = strcmp(change, "-") != 0;
    snprintf(class_name, sizeof class_name, "xferbench.%s", XB_PLAIN_WORD(compared->test->mode));
    snprintf(message, sizeof message, "%s%s%s",
             compared->basis == XB_BASIS_NONE ? "nothing to judge" : verdict,
             has_change ? ": " : "", has_change ? change : "");
    begin_testcase(stream, class_name, XB_SAID(NAME), end, message);
    xb_words_add(&figures, "%s\n", verdict);
    xb_compare_tell(&figures, comparison, compared, "\n");
    write_line(stream, figures.text);
    /* Where it fails the body may be all that a reader sees. */
    if (end == FAILURE || end == BROKEN)
        fputs(conditions, stream);
    end_testcase(stream, end);
}

enum xb_status xb_compare_junit_write(FILE *stream, const struct xb_comparison *comparison,
                                      struct xb_error *error)
{
    static const char *const elements[] = {"<testsuites", "  <testsuite"};
    struct xb_memory_text conditions = {.text = NULL};
    size_t counts[ENDS] = {0};
    for (size_t i = 0; i < comparison->case_count; i++)
        counts[end_of(comparison, &comparison->cases[i])]++;
    /* The whole is red, and no case is: a testcase has to be. */
    bool overall_is_needed =
        counts[FAILURE] + counts[BROKEN] == 0 && xb_comparison_exit_code(comparison) != 0;
    counts[SKIPPED] += xb_compare_forced(comparison);
    counts[BROKEN] += overall_is_needed;
    write_conditions(xb_memory_text_begin(&conditions), comparison);
    xb_memory_text_end(&conditions);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    for (size_t i = 0; i < 2; i++) /* the caution needs no escapes */
        fprintf(stream,
                "%s name=\"xferbench compare%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                "skipped=\"%zu\">\n",
                elements[i], xb_compare_caution(comparison),
                counts[PASSED] + counts[FAILURE] + counts[BROKEN] + counts[SKIPPED],
                counts[FAILURE], counts[BROKEN], counts[SKIPPED]);
    /* Seen beside the cases: a report has no better place for what holds for all of them. */
    if (xb_compare_forced(comparison)) {
        begin_testcase(stream, "xferbench", "FORCED: not comparable", SKIPPED,
                       xb_compare_forbidden(comparison, XB_NEW_WORDS));
        write_differences(stream, comparison, true);
        end_testcase(stream, SKIPPED);
    }
    if (overall_is_needed) {
        const char *verdict = xb_compare_overall(comparison);
        begin_testcase(stream, "xferbench",
                       xb_compare_refused(comparison) ? verdict : "overall verdict", BROKEN,
                       verdict);
        write_overall(stream, comparison, true);
        end_testcase(stream, BROKEN);
    }
    for (size_t i = 0; i < comparison->case_count; i++)
        write_testcase(stream, comparison, &comparison->cases[i], conditions.text);
    fputs("    <system-out>", stream);
    write_overall(stream, comparison, false);
    if (xb_compare_differences(comparison, false) > 0)
        fputs("other differences:\n", stream);
    write_differences(stream, comparison, false);
    fputs("</system-out>\n  </testsuite>\n</testsuites>\n", stream);
    enum xb_status status = xb_stream_finish(stream, "the JUnit report", error);
    free(conditions.text);
    return status;
}

/* ---- github-action-benchmark's customBiggerIsBetter: name, unit, value, range, extra. A chart is
 * kept over time by name and judges by itself: the entries are the candidate's figures, also where
 * the two files cannot be compared. ---- */

/* A rate in GB/s. What is better where it is less, by how many of it make one: a latency by how
 * many operations fit in a second. */
static double bigger_is_better(const struct xb_figure *figure, double value)
{
    double scaled = xb_compare_is_rate(figure) ? value / 1e9 : value;
    return figure->more_is_better ? scaled : 1 / scaled;
}

/* The entry of a figure of a case. `values` has room for one of each process of the candidate.
 * Searches what was compared from *place on, where the last was: both are in the file's order. */
static void write_entry(struct xb_json *json, const struct xb_comparison *comparison,
                        const struct xb_record_case *test, const struct xb_figure *figure,
                        const struct xb_parameters *parameters, double *values, size_t *place)
{
    const struct xb_compared *compared = NULL; /* where the case has been compared */
    struct xb_words words = {.length = 0};
    char text[XB_COMPARE_TEXT];
    size_t n = xb_record_medians(comparison->candidate, test, figure->name, values);
    if (n == 0)
        return;
    double value = bigger_is_better(figure, xb_median_of(values, n)); /* it sorts them */
    double half_range =
        fabs(bigger_is_better(figure, values[n - 1]) - bigger_is_better(figure, values[0])) / 2;
    if (!isfinite(value) || value <= 0)
        return;
    for (size_t i = 0; compared == NULL && i < comparison->case_count; i++) {
        size_t index = (*place + i) % comparison->case_count;
        const struct xb_compared *own = &comparison->cases[index];
        if (own->test == test && strcmp(own->figure.name, figure->name) == 0) {
            *place = index;
            compared = own;
        }
    }
    const char *unit = XB_PLAIN_WORD(xb_compare_is_rate(figure) ? "GB/s" : figure->unit);
    bool is_plain = figure->more_is_better || strcmp(unit, XB_UNIT_RATIO) == 0;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", xb_compare_case_name(test, figure, parameters, text));
    snprintf(text, sizeof text, "%s%s", is_plain ? "" : "1/", unit);
    xb_json_put_text(json, "unit", text);
    xb_json_put_number(json, "value", value);
    /* One process has no range, which is not the same as a range of 0. */
    snprintf(text, sizeof text, "\xC2\xB1 %.3g", half_range);
    if (n >= 2 && isfinite(half_range))
        xb_json_put_text(json, "range", text);
    xb_words_add(&words, "%zu process%s", n, n == 1 ? "" : "es");
    if (compared != NULL && compared->has_ratio)
        xb_words_add(&words, "; %s; ratio %s", XB_SAID(SAYS), XB_SAID(RATIO));
    if (compared != NULL) {
        const char *note = XB_SAID(NOTE);
        xb_words_add(&words, "; %s%s%s", XB_SAID(VERDICT), note[0] != '\0' ? "; " : "", note);
    }
    if (!comparison->comparable || xb_compare_forced(comparison))
        xb_words_add(&words, "; %s", xb_compare_forbidden(comparison, XB_NEW_WORDS));
    xb_json_put_text(json, "extra", words.text);
    xb_json_close(json);
}

enum xb_status xb_compare_benchmark_action_write(FILE *stream,
                                                 const struct xb_comparison *comparison,
                                                 struct xb_error *error)
{
    const struct xb_record *record = comparison->candidate;
    /* The candidate alone names it: names must be the same whatever it is compared with. */
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    double *values = xb_new(record->process_count, sizeof *values);
    struct xb_json json;
    size_t place = 0;
    xb_json_begin(&json);
    xb_json_open_array(&json, NULL);
    XB_EACH (test, record->cases, record->case_count) {
        struct xb_figure all[XB_COMPARE_FIGURES];
        size_t count = xb_compare_figures(comparison, &(struct xb_pair){.candidate = test}, all);
        for (size_t k = 0; k < count; k++)
            write_entry(&json, comparison, test, &all[k], &parameters, values, &place);
    }
    xb_json_close(&json);
    free(values);
    return xb_json_finish(&json, stream, "the JSON", error);
}
