/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/*
 * JUnit has no schema of its own; this is what GitLab's and Jenkins' readers have in common. GitLab
 * shows a failure's body. A report that looks green where the exit code is not 0 would be read as
 * "all is well", so there is always something in it that is not.
 */

enum end { PASSED, FAILURE, ERROR, SKIPPED, ENDS };

static const char *const end_names[ENDS] = {"system-out", "failure", "error", "skipped"};

/* Plain ASCII with our own line breaks: nothing in it that XML cannot hold. */
static void write_escaped(FILE *stream, const char *text)
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
    write_escaped(stream, value);
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

/* ---- what becomes of a case ---- */

static enum end end_of(const struct xb_comparison *comparison, const struct xb_compared *compared)
{
    bool good = compared->outcome == XB_OUTCOME_PASS || compared->outcome == XB_OUTCOME_IMPROVED;
    /* What was not compared has neither passed nor failed; where all is so, the whole is red. */
    if (compared->basis == XB_BASIS_NONE || xb_compared_is_apart(comparison, compared))
        return SKIPPED;
    if (!compared->gates)
        return xb_presence_of(compared) == XB_IN_BOTH && xb_compare_judged(compared) ? PASSED
                                                                                     : SKIPPED;
    if (xb_compare_judged(compared) && compared->outcome == XB_OUTCOME_REGRESSION)
        return FAILURE;
    if (!good)
        return ERROR;
    /* Green says that something was found to be good. What is indicative was not. */
    return xb_compare_judged(compared) ? PASSED : SKIPPED;
}

/* ---- the testcases ---- */

/* All of these texts, escaped, as one line. */
#define write_line(stream, ...)                                                                    \
    write_texts((stream), (const char *const[]){__VA_ARGS__, "\n", NULL})
static void write_texts(FILE *stream, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        write_escaped(stream, *texts);
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
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
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
static void write_case(FILE *stream, const struct xb_comparison *comparison,
                       const struct xb_compared *compared, const char *conditions)
{
    char class_name[XB_COMPARE_WORD + 16], message[256];
    struct xb_words figures = {.length = 0};
    enum end end = end_of(comparison, compared);
    const char *verdict = XB_CASE_TEXT(comparison, compared, XB_CASE_VERDICT);
    const char *change = XB_CASE_TEXT(comparison, compared, XB_CASE_SAYS);
    bool has_change = strcmp(change, "-") != 0;
    snprintf(class_name, sizeof class_name, "xferbench.%s", XB_PLAIN_WORD(compared->test->mode));
    snprintf(message, sizeof message, "%s%s%s",
             compared->basis == XB_BASIS_NONE ? "nothing to judge" : verdict,
             has_change ? ": " : "", has_change ? change : "");
    begin_testcase(stream, class_name, XB_CASE_TEXT(comparison, compared, XB_CASE_NAME), end,
                   message);
    xb_words_add(&figures, "%s\n", verdict);
    xb_compare_tell(&figures, comparison, compared, "\n");
    write_line(stream, figures.text);
    /* Where it fails the body may be all that a reader sees. */
    if (end == FAILURE || end == ERROR)
        fputs(conditions, stream);
    end_testcase(stream, end);
}

/* ---- the suite ---- */

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
        counts[FAILURE] + counts[ERROR] == 0 && xb_comparison_exit_code(comparison) != 0;
    counts[SKIPPED] += xb_compare_forced(comparison);
    counts[ERROR] += overall_is_needed;
    write_conditions(xb_memory_text_begin(&conditions), comparison);
    xb_memory_text_end(&conditions);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    for (size_t i = 0; i < 2; i++) /* the caution needs no escapes */
        fprintf(stream,
                "%s name=\"xferbench compare%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                "skipped=\"%zu\">\n",
                elements[i], xb_compare_caution(comparison),
                counts[PASSED] + counts[FAILURE] + counts[ERROR] + counts[SKIPPED], counts[FAILURE],
                counts[ERROR], counts[SKIPPED]);
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
                       xb_compare_refused(comparison) ? verdict : "overall verdict", ERROR,
                       verdict);
        write_overall(stream, comparison, true);
        end_testcase(stream, ERROR);
    }
    for (size_t i = 0; i < comparison->case_count; i++)
        write_case(stream, comparison, &comparison->cases[i], conditions.text);
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
