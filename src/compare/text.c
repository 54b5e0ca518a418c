/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include "base/text.h"
#include "base/units.h"
#include "machine/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *xb_compare_plain(const char *text, char *plain, size_t size)
{
    char begin[4 * XB_COMPARE_TEXT]; /* of as many characters as there is room for */
    if (text == NULL)
        text = "not known";
    const char *end = text;
    for (size_t i = 0; i + 1 < size && i < XB_COMPARE_TEXT - 1 && *end != '\0'; i++) {
        size_t length = xb_utf8_length(end);
        end += length > 0 ? length : 1; /* a byte that is no UTF-8 stands for a character */
    }
    size_t bytes = (size_t)(end - text);
    memcpy(begin, text, bytes);
    begin[bytes] = '\0';
    xb_make_plain(begin);
    snprintf(plain, size, "%.*s", (int)size - 1, begin);
    if (*end != '\0')
        snprintf(plain + strlen(plain) - 3, sizeof "...", "...");
    return plain;
}

/* ---- the whole ---- */

bool xb_compare_refused(const struct xb_comparison *comparison)
{
    return !comparison->comparable && !comparison->request.force;
}

bool xb_compare_forced(const struct xb_comparison *comparison)
{
    return comparison->request.force && (!comparison->comparable || comparison->any_differs);
}

const char *xb_compare_overall(const struct xb_comparison *comparison)
{
    return xb_comparison_is_refused(comparison) ? "NOT COMPARABLE"
                                                : xb_outcome_name(comparison->overall);
}

bool xb_compare_is_listed(const struct xb_difference *difference, bool forbid)
{
    return forbid ? difference->forbids : !difference->forbids && !difference->of_stack;
}

const char *xb_compare_caution(const struct xb_comparison *comparison)
{
    return xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "";
}

size_t xb_compare_differences(const struct xb_comparison *comparison, bool forbid)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->difference_count; i++)
        count += xb_compare_is_listed(&comparison->differences[i], forbid);
    return count;
}

const char *xb_compare_forbidden(const struct xb_comparison *comparison, struct xb_words *words)
{
    static const size_t most = 5;
    size_t told = 0, rows = 0;
    xb_words_add(words, "%s",
                 xb_compare_forced(comparison) ? "FORCED: not comparable" : "NOT COMPARABLE");
    XB_EACH (difference, comparison->differences, comparison->difference_count)
        if (difference->forbids && told++ < most)
            xb_words_add(words, "%s%s", told > 1 ? ", " : ": ", XB_PLAIN_WORD(difference->name));
    if (told > most)
        xb_words_add(words, " and %zu more", told - most);
    for (size_t i = 0; i < comparison->case_count; i++)
        rows += !comparison->cases[i].same_settings;
    if (rows > 0)
        xb_words_add(words, "%s%zu figure%s measured with other settings", told > 0 ? ", " : ": ",
                     rows, XB_PLURAL(rows));
    return words->text;
}

const char *xb_compare_stack(const struct xb_comparison *comparison, struct xb_words *words)
{
    XB_EACH (difference, comparison->differences, comparison->difference_count)
        if (difference->of_stack && !difference->forbids)
            xb_words_add(words, "%s%s %s -> %s", words->length > 0 ? ", " : "",
                         XB_PLAIN_WORD(difference->name), XB_PLAIN_WORD(difference->baseline),
                         XB_PLAIN_WORD(difference->candidate));
    return words->text;
}

const char *xb_compare_rule(const struct xb_comparison *comparison, struct xb_words *words)
{
    const struct xb_comparison_request *request = &comparison->request;
    size_t counting = 0;
    xb_words_add(words, "worse by %g %% or more is a regression", 100 * request->threshold);
    for (size_t i = 0; i < request->thresholds.count; i++) { /* "managed h2d 64 MiB 10 %" */
        const struct xb_gate *cases = &request->thresholds.items[i];
        bool is_range = cases->least != cases->most;
        xb_words_add(words, "%s%s", i == 0 ? " (" : ", ",
                     XB_PLAIN_WORD(cases->mode != NULL ? cases->mode : "all modes"));
        if (cases->direction != NULL)
            xb_words_add(words, " %s", XB_PLAIN_WORD(cases->direction));
        if (cases->least > 0)
            xb_words_add(words, " %s%s", is_range ? "from " : "", XB_SIZE_TEXT(cases->least));
        if (is_range && cases->most > 0)
            xb_words_add(words, " to %s", XB_SIZE_TEXT(cases->most));
        if (cases->figure != NULL)
            xb_words_add(words, " %s", XB_PLAIN_WORD(cases->figure));
        xb_words_add(words, " %g %%", 100 * cases->share);
    }
    if (request->thresholds.count > 0)
        xb_words_add(words, ")");
    if (xb_compare_refused(comparison))
        return words->text;
    for (size_t i = 0; i < comparison->case_count; i++)
        counting += comparison->cases[i].gates;
    xb_words_add(words, "; %zu of %zu figures count; chance of a false alarm: %g %% at most",
                 counting, comparison->case_count, 100 * request->alpha);
    return words->text;
}

const char *xb_outcome_name(enum xb_outcome outcome)
{
    static const char *const names[] = {"PASS", "IMPROVED", "INCONCLUSIVE", "REGRESSION"};
    return outcome <= XB_OUTCOME_REGRESSION ? names[outcome] : "unknown";
}

bool xb_compared_is_apart(const struct xb_comparison *comparison,
                          const struct xb_compared *compared)
{
    /* Wrong data is wrong under any settings: that row has its verdict. */
    return !compared->same_settings && !comparison->request.force &&
           compared->basis == XB_BASIS_STATUS && compared->outcome == XB_OUTCOME_INCONCLUSIVE;
}

bool xb_comparison_is_refused(const struct xb_comparison *comparison)
{
    return !comparison->request.force && (!comparison->comparable || comparison->none_comparable);
}

/* Where a case failed on both sides it is not a matter of how many processes there are. */
size_t xb_compare_fewest(const struct xb_comparison *comparison)
{
    size_t fewest = 0;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        size_t n = xb_compared_processes(compared);
        bool counts =
            compared->gates && compared->basis != XB_BASIS_STATUS && !compared->cannot_pass;
        if (counts && n > 0 && (fewest == 0 || n < fewest))
            fewest = n;
    }
    return fewest;
}

const char *xb_compare_needed(const struct xb_comparison *comparison, struct xb_words *words)
{
    size_t fewest = xb_compare_fewest(comparison);
    size_t needed = comparison->processes_needed, gating = comparison->gating_count;
    if (fewest == 0 || gating == 0 || (needed > 0 && fewest >= needed))
        return words->text;
    xb_words_add(words, "too few processes: a figure has %zu in a file, and ", fewest);
    if (needed > 0)
        xb_words_add(words, "to judge %zu figure%s takes %zu", gating, XB_PLURAL(gating), needed);
    else
        xb_words_add(words, "for %zu figures no number is enough", gating);
    return words->text;
}

const char *xb_compare_file(const struct xb_record *record, struct xb_words *words)
{
    static const size_t most = 4;
    char node[XB_NODE_TEXT];
    size_t interrupted = 0, late = 0, count = 0;
    const char *told[64];
    for (size_t i = 0; i < record->process_count; i++) {
        interrupted += record->processes[i].interrupted;
        late += !record->processes[i].deadline_met;
    }
    xb_words_add(words, "%zu", record->process_count);
    if (record->asked_processes > record->process_count)
        xb_words_add(words, " of %zu", record->asked_processes);
    xb_words_add(words, " process%s", record->process_count == 1 ? "" : "es");
    if (interrupted > 0)
        xb_words_add(words, ", %zu INTERRUPTED", interrupted);
    if (late > 0)
        xb_words_add(words, ", %zu CUT BY THE DEADLINE", late);
    xb_node_text(record->host.node, record->host.hostname, node);
    if (node[0] != '\0')
        xb_words_add(words, ", node %s", XB_PLAIN_WORD(node));
    xb_words_add(words, ", %s", XB_PLAIN_WORD(record->backend));
    if (record->driver != NULL)
        xb_words_add(words, ", driver %s", XB_PLAIN_WORD(record->driver));
    /* Each model once, of any process and device, and how many more than four. */
    for (size_t i = 0; i < record->process_count; i++)
        for (size_t j = 0; j < record->processes[i].device_count; j++) {
            const char *name = record->processes[i].devices[j].name;
            size_t k = 0;
            while (name != NULL && k < count && strcmp(told[k], name) != 0)
                k++;
            if (name == NULL || k < count || count == sizeof told / sizeof told[0])
                continue;
            told[count++] = name;
            if (count <= most)
                xb_words_add(words, ", %s", XB_PLAIN_WORD(name));
        }
    if (count > most)
        xb_words_add(words, " and %zu more models", count - most);
    return words->text;
}

void xb_compare_sides(const struct xb_difference *difference, char *baseline, char *candidate)
{
    static const char alike[] = " (looks the same, but is not)";
    xb_compare_plain(difference->baseline, baseline, XB_COMPARE_VALUE);
    xb_compare_plain(difference->candidate, candidate, XB_COMPARE_VALUE);
    if (strcmp(baseline, candidate) != 0)
        return;
    size_t room = XB_COMPARE_VALUE - sizeof alike;
    size_t length = strlen(candidate) < room ? strlen(candidate) : room;
    snprintf(candidate + length, sizeof alike, "%s", alike);
}

/* ---- a case ---- */

bool xb_compare_is_rate(const struct xb_figure *figure)
{
    return strcmp(figure->unit, XB_UNIT_RATE) == 0;
}

bool xb_compare_judged(const struct xb_compared *compared)
{
    return compared->basis == XB_BASIS_TEST || compared->basis == XB_BASIS_STATUS;
}

/* Prints into room for XB_COMPARE_TEXT. */
__attribute__((format(printf, 2, 3))) static const char *print(char *text, const char *format, ...)
{
    XB_FORMAT(text, XB_COMPARE_TEXT, format);
    return text;
}

const char *xb_compare_case_name(const struct xb_record_case *test, const struct xb_figure *figure,
                                 const struct xb_parameters *parameters, char *text)
{
    char value[XB_COMPARE_WORD], device[32];
    struct xb_words name = {.length = 0};
    xb_words_add(&name, "%s %s %s ", XB_PLAIN_WORD(test->mode), XB_PLAIN_WORD(test->variant),
                 XB_PLAIN_WORD(test->direction));
    xb_words_add(&name, "%s device %s%s", xb_size_key(test->bytes, value, sizeof value),
                 xb_record_case_device(test, device, sizeof device),
                 test->simultaneous ? " simultaneous" : "");
    for (size_t i = 0; i < parameters->count; i++) {
        const char *own = xb_parameter_key(test, parameters->names[i], value, sizeof value);
        if (own != NULL)
            xb_words_add(&name, " %s %s", XB_PLAIN_WORD(parameters->names[i]), XB_PLAIN_WORD(own));
    }
    /* Two cases that differ in nothing else would hide each other. */
    if (test->latency && xb_compare_is_rate(figure))
        xb_words_add(&name, " latency run");
    xb_words_add(&name, " %s", XB_PLAIN_WORD(figure->name));
    return print(text, "%s", name.text);
}

static const char *write_method(const struct xb_comparison *comparison,
                                const struct xb_record_case *test, char *text)
{
    const struct xb_parameters *parameters = &comparison->parameters;
    char value[XB_COMPARE_WORD], whole[4 * XB_COMPARE_TEXT];
    struct xb_words name = {.length = 0};
    xb_method_name(test, whole, sizeof whole);
    xb_words_add(&name, "%s", XB_PLAIN_WORD(whole));
    for (size_t i = 0; i < parameters->count; i++) {
        const char *own = xb_parameter_text(test, parameters->names[i], value, sizeof value);
        if (own != NULL)
            xb_words_add(&name, ", %s %s", XB_PLAIN_WORD(parameters->names[i]), XB_PLAIN_WORD(own));
    }
    return print(text, "%s", name.text);
}

static const char *write_device(const struct xb_record_case *test, char *text)
{
    return print(text, "%s%s", xb_record_case_device(test, (char[32]){0}, 32),
                 test->simultaneous ? " of all" : "");
}

static const char *write_title(const struct xb_comparison *comparison,
                               const struct xb_compared *compared, char *text)
{
    const struct xb_record_case *test = compared->test;
    const char *method = write_method(comparison, test, (char[XB_COMPARE_TEXT]){0});
    const char *device = write_device(test, (char[XB_COMPARE_TEXT]){0});
    struct xb_words name = {.length = 0};
    xb_words_add(&name, "%s%s %s, %s", method, strchr(method, ',') != NULL ? "," : "",
                 xb_direction_words(test), XB_SIZE_TEXT(test->bytes));
    if (strcmp(device, "0") != 0)
        xb_words_add(&name, ", GPU %s", device);
    if (strcmp(compared->figure.name, xb_figure_bandwidth.name) != 0)
        xb_words_add(&name, ", %s", XB_PLAIN_WORD(compared->figure.name));
    else if (test->latency) /* of two that differ in nothing else */
        xb_words_add(&name, ", latency run");
    return print(text, "%s", name.text);
}

static const char *write_verdict(const struct xb_comparison *comparison,
                                 const struct xb_compared *compared, char *text)
{
    bool indicative = compared->basis == XB_BASIS_INDICATIVE;
    bool any = compared->basis != XB_BASIS_NONE;
    const char *word = xb_compared_is_apart(comparison, compared) ? "NOT COMPARABLE"
                       : any ? xb_outcome_name(compared->outcome)
                             : "-";
    if (!any || (!indicative && compared->gates))
        return print(text, "%s", word);
    return print(text, "%s (%s%s%s)", word, indicative ? "indicative" : "",
                 indicative && !compared->gates ? ", " : "", compared->gates ? "" : "not counted");
}

/* One side of a case. */
static const char *write_side(const struct xb_compared *compared, enum xb_compared_part part,
                              char *text)
{
    const struct xb_figure *figure = &compared->figure;
    const struct xb_compared_side *side =
        part == XB_CASE_CANDIDATE ? &compared->candidate : &compared->baseline;
    double median = side->median;
    if (!side->is_there)
        return print(text, "absent");
    if (side->processes == 0 || !isfinite(median))
        return print(text, "-");
    if (xb_compare_is_rate(figure))
        return print(text, "%s GB/s", XB_RATE_TEXT(median));
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        return xb_duration_format(median, text, XB_COMPARE_TEXT);
    return print(text, "%.*f", median > 0 ? xb_decimals_for(median) : 0, median);
}

/* Rounded to `direction`: -1 down, 1 up. What is sure must not be more than the interval says. */
static double rounded(double percent, int decimals, int direction)
{
    static const double noise = 1e-9; /* what a computer makes of 2 % */
    double scale = pow(10, decimals);
    double scaled = percent * scale;
    return (direction < 0 ? floor(scaled + noise) : ceil(scaled - noise)) / scale;
}

/* The fewest decimals, `least` or more, with which a value lies on its side of all bounds, rounded
 * to that direction, or for 0 as printf() does. */
static int decimals_beside(double value, const double *bounds, size_t count, int least,
                           int direction)
{
    static const double on_it = 1e-10; /* a verdict does not depend on as little */
    char text[400];
    int decimals = least;
    bool good = false;
    while (!good && decimals < 10) {
        snprintf(text, sizeof text, "%.*f", decimals, value);
        double shown = direction != 0 ? rounded(value, decimals, direction) : strtod(text, NULL);
        good = true;
        for (size_t i = 0; i < count; i++)
            good =
                good &&
                (fabs(value - bounds[i]) <= on_it ||
                 ((shown < bounds[i]) == (value < bounds[i]) && fabs(shown - bounds[i]) > on_it));
        decimals += !good;
    }
    return decimals;
}

static int ratio_decimals(const struct xb_compared *compared, double ratio)
{
    double share = compared->threshold;
    const double bounds[] = {1 - share, 1 + share, 1 / (1 - share), 1 / (1 + share)};
    return decimals_beside(ratio, bounds, sizeof bounds / sizeof bounds[0], 4, 0);
}

static const char *ratio_text(double value, int decimals, char text[32])
{
    if (fabs(value) < 1e6)
        snprintf(text, 32, "%.*f", decimals, value);
    else
        snprintf(text, 32, "%.4g", value);
    return text;
}

static const char *write_interval(const struct xb_compared *compared, const char *between,
                                  char *text)
{
    if (!compared->has_interval || !isfinite(compared->low) || !isfinite(compared->high))
        return print(text, "-");
    int decimals = ratio_decimals(compared, compared->low);
    int others = ratio_decimals(compared, compared->high);
    decimals = decimals > others ? decimals : others;
    return print(text, "%s%s%s", ratio_text(compared->low, decimals, (char[32]){0}), between,
                 ratio_text(compared->high, decimals, (char[32]){0}));
}

static const char *write_p(const struct xb_comparison *comparison,
                           const struct xb_compared *compared, char *text)
{
    static const double least = 0.001;
    double alpha = comparison->request.alpha;
    double share = compared->threshold;
    bool is_worse = compared->figure.more_is_better ? compared->ratio <= 1 - share
                                                    : compared->ratio >= 1 + share;
    bool is_open = compared->outcome == XB_OUTCOME_INCONCLUSIVE;
    /* What speaks for the verdict; where none is reached, for the one that is nearest. */
    double p = compared->outcome == XB_OUTCOME_IMPROVED ? compared->p_improved
               : compared->outcome == XB_OUTCOME_REGRESSION || (is_open && is_worse)
                   ? compared->p_regression
                   : compared->p_pass;
    if (compared->basis != XB_BASIS_TEST || !isfinite(p))
        return print(text, "-");
    if (p < least && alpha >= least)
        return print(text, "<%g", least);
    return print(text, "%.*f", decimals_beside(p, &alpha, 1, alpha < least ? 6 : 3, 0), p);
}

/* For a figure that became less, or more. */
static const char *change_word(const struct xb_figure *figure, bool more)
{
    if (xb_compare_is_rate(figure))
        return more ? "faster" : "slower";
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        return more ? "longer" : "shorter";
    return more ? "higher" : "lower";
}

static bool is_number(double value)
{
    return isfinite(value) && fabs(value) < 1e9;
}

/* Two digits that count, and more where a rounded percentage would read as if it lay on the other
 * side of the threshold. */
static int decimals_of(double percent, double threshold)
{
    const double bound = 100 * threshold;
    return decimals_beside(percent, &bound, 1, percent >= 99.5 ? 0 : percent >= 0.995 ? 1 : 2, 0);
}

/* In percent, never more than it is, nor all. */
static double sureness_of(const struct xb_compared *compared)
{
    return fmin(rounded(50 * (1 + compared->confidence), 1, -1), 99.9);
}

static const char *write_change(const struct xb_compared *compared, char *text)
{
    double percent = 100 * fabs(compared->ratio - 1);
    if (!compared->has_ratio || !is_number(percent))
        return print(text, "-");
    int decimals = decimals_of(percent, compared->threshold);
    if (!(round(percent * pow(10, decimals)) > 0))
        return print(text, "%.*f %%", decimals, 0.0); /* which way nobody can tell */
    return print(text, "%.*f %% %s", decimals, percent,
                 change_word(&compared->figure, !(compared->ratio < 1)));
}

/* The bound of the interval that the verdict is about, which is exceeded with a probability of at
 * most (1 - confidence) / 2: how large a loss is at least, and how large it may be where there is
 * none or it is open. */
static const char *write_sure(const struct xb_compared *compared, char *text)
{
    bool more = compared->figure.more_is_better;
    double most = more ? 100 * (1 - compared->low) : 100 * (compared->high - 1);
    double least = more ? 100 * (1 - compared->high) : 100 * (compared->low - 1);
    bool is_loss = compared->outcome == XB_OUTCOME_REGRESSION && least > 0;
    double percent = is_loss ? least : fabs(most);
    double bound = 100 * compared->threshold;
    int direction = is_loss || most <= 0 ? -1 : 1;
    if (!compared->has_interval || !(compared->confidence > 0) || !is_number(percent))
        return print(text, "-");
    /* A bound is rounded one way only: 1.96 %, rounded up, must not read as a threshold of 2 %
     * reached. */
    int decimals =
        decimals_beside(percent, &bound, 1, decimals_of(percent, compared->threshold), direction);
    double shown = rounded(percent, decimals, direction);
    if (!(shown > 0))
        return print(text, "not %s", change_word(&compared->figure, !more));
    const char *word = change_word(&compared->figure, is_loss || direction > 0 ? !more : more);
    const char *told = strrchr(write_change(compared, (char[XB_COMPARE_TEXT]){0}), ' ');
    bool is_told = told != NULL && strcmp(told + 1, word) == 0;
    return print(text, "at %s %.*f %%%s%s", direction < 0 ? "least" : "most", decimals, shown,
                 is_told ? "" : " ", is_told ? "" : word);
}

const char *xb_compared_text(const struct xb_comparison *comparison,
                             const struct xb_compared *compared, enum xb_compared_part part,
                             char *text)
{
    static const char *const places[] = {[XB_IN_BOTH] = "",
                                         [XB_ONLY_IN_BASELINE] = "only in the baseline",
                                         [XB_ONLY_IN_CANDIDATE] = "only in the candidate"};
    const struct xb_record_case *test = compared->test;
    char own[XB_COMPARE_TEXT];
    text[0] = '\0';
    switch (part) {
    case XB_CASE_NAME:
        return xb_compare_case_name(test, &compared->figure, &comparison->parameters, text);
    case XB_CASE_TITLE:
        return write_title(comparison, compared, text);
    case XB_CASE_METHOD:
        return write_method(comparison, test, text);
    case XB_CASE_DIRECTION:
        return xb_compare_plain(test->direction, text, 16);
    case XB_CASE_SIZE:
        return xb_size_format(test->bytes, text, XB_COMPARE_TEXT);
    case XB_CASE_DEVICE:
        return write_device(test, text);
    case XB_CASE_FIGURE:
        return xb_compare_plain(compared->figure.name, text, XB_COMPARE_WORD);
    case XB_CASE_BASELINE:
    case XB_CASE_CANDIDATE:
        return write_side(compared, part, text);
    case XB_CASE_CHANGE:
        return write_change(compared, text);
    case XB_CASE_SURE:
        return write_sure(compared, text);
    case XB_CASE_SURENESS:
        return compared->confidence > 0 ? print(text, "%g %%", sureness_of(compared)) : text;
    case XB_CASE_SAYS:
        write_change(compared, text);
        write_sure(compared, own);
        if (strcmp(text, "-") != 0 && strcmp(own, "-") != 0)
            snprintf(text + strlen(text), XB_COMPARE_TEXT - strlen(text), ", %g %% sure of %s",
                     sureness_of(compared), own);
        return text;
    case XB_CASE_RATIO:
        if (!compared->has_ratio || !isfinite(compared->ratio))
            return print(text, "-");
        return ratio_text(compared->ratio, ratio_decimals(compared, compared->ratio), text);
    case XB_CASE_INTERVAL:
        return write_interval(compared, "-", text);
    case XB_CASE_INTERVAL_TO:
        return write_interval(compared, " to ", text);
    case XB_CASE_LEVEL: /* nothing is certain */
        if (compared->confidence > 0)
            print(text, "%.4g%%", 100 * compared->confidence);
        return compared->confidence < 1 && strcmp(text, "100%") == 0 ? print(text, ">99.99%%")
                                                                     : text;
    case XB_CASE_P:
        return write_p(comparison, compared, text);
    case XB_CASE_VERDICT:
        return write_verdict(comparison, compared, text);
    case XB_CASE_NOTE:
        xb_compare_plain(compared->note, own, sizeof compared->note + 1);
        return print(text, "%s%s%s", places[xb_presence_of(compared)],
                     xb_presence_of(compared) != XB_IN_BOTH && own[0] != '\0' ? ": " : "", own);
    }
    return text;
}

void xb_compare_tell(struct xb_words *words, const struct xb_comparison *comparison,
                     const struct xb_compared *compared, const char *separator)
{
    const char *level = XB_SAID(LEVEL), *note = XB_SAID(NOTE);
    if (compared->has_ratio)
        xb_words_add(words, "%s%s", XB_SAID(SAYS), separator);
    for (int side = 0; side < 2; side++) {
        size_t n = side == 0 ? compared->baseline.processes : compared->candidate.processes;
        xb_words_add(words, "%s %s", side == 0 ? "baseline" : "candidate",
                     side == 0 ? XB_SAID(BASELINE) : XB_SAID(CANDIDATE));
        if (n > 0)
            xb_words_add(words, " (%zu process%s)", n, n == 1 ? "" : "es");
        xb_words_add(words, "%s", side == 0 ? separator : "");
    }
    if (compared->has_ratio)
        xb_words_add(words, "%sratio %s", separator, XB_SAID(RATIO));
    if (compared->has_interval)
        xb_words_add(words, "%s%s%sinterval %s%s", separator, level, level[0] != '\0' ? " " : "",
                     XB_SAID(INTERVAL_TO),
                     level[0] != '\0' ? "" : " (of samples; its level is not known)");
    if (compared->basis == XB_BASIS_TEST)
        xb_words_add(words, "%sP %s", separator, XB_SAID(P));
    if (note[0] != '\0')
        xb_words_add(words, "%s%s", separator, note);
}
