/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict over all that gates, in words that need no statistics. */
#include "internal.h"

#include "base/text.h"
#include "rank_test.h"
#include "text.h"

#include <math.h>
#include <string.h>

void xb_comparison_count_apart(struct xb_comparison *comparison)
{
    size_t apart = 0, gating = 0;
    comparison->any_differs = false;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        gating += compared->gates;
        apart += compared->gates && xb_compared_is_apart(comparison, compared);
        comparison->any_differs = comparison->any_differs || !compared->same_settings;
    }
    comparison->none_comparable = gating > 0 && apart == gating;
}

int xb_comparison_exit_code(const struct xb_comparison *comparison)
{
    if (xb_comparison_is_refused(comparison))
        return 4;
    return comparison->overall == XB_OUTCOME_REGRESSION     ? 1
           : comparison->overall == XB_OUTCOME_INCONCLUSIVE ? 3
                                                            : 0;
}

/* What decides over the whole, in the order in which it does. */
struct counts {
    size_t by[XB_OUTCOME_REGRESSION + 1], all;
    size_t apart, absent, unjudged; /* of the open ones: by other settings, for the candidate lacks
                                       them, and for what else became of them */
    size_t broken;     /* failed, or had wrong data, on both sides, and are not worse by figures */
    size_t fails_more; /* of these, in a larger share of the candidate's processes */
    size_t indicative;
    size_t slower;                                      /* regressions by their figures */
    const struct xb_compared *worst, *worst_indicative; /* regression by its figures; NULL: none */
    const char *worse, *better; /* bandwidths get slower and faster, others worse and better */
    char threshold[32]; /* "2 %", where all that gates has that one, else "their threshold" */
};

/* Notes the one of the two that lost more. */
static void note_worse(const struct xb_compared **worst, const struct xb_compared *compared)
{
    if (*worst == NULL || xb_compared_loss(compared) > xb_compared_loss(*worst))
        *worst = compared;
}

static struct counts count_all(const struct xb_comparison *comparison)
{
    struct counts counts = {.worse = "slower", .better = "faster"};
    double share = -1;
    bool one_share = true;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        bool is_indicative = compared->basis == XB_BASIS_INDICATIVE;
        bool is_undecided = compared->outcome == XB_OUTCOME_INCONCLUSIVE;
        bool is_open = is_undecided && compared->basis == XB_BASIS_STATUS;
        bool is_apart = xb_compared_is_apart(comparison, compared);
        bool is_absent = !compared->candidate.is_there;
        if (!compared->gates)
            continue;
        if (!xb_compare_is_rate(&compared->figure)) {
            counts.worse = "worse";
            counts.better = "better";
        }
        counts.by[compared->outcome] += xb_compare_judged(compared);
        counts.all += xb_compare_judged(compared) || is_indicative;
        counts.indicative += is_indicative;
        if (is_indicative && compared->has_ratio)
            note_worse(&counts.worst_indicative, compared);
        if (compared->basis == XB_BASIS_TEST && compared->outcome == XB_OUTCOME_REGRESSION) {
            note_worse(&counts.worst, compared);
            counts.slower++;
        }
        counts.broken += is_undecided && compared->cannot_pass;
        counts.fails_more += is_undecided && compared->cannot_pass && compared->fails_more;
        counts.apart += is_open && is_apart;
        counts.absent += is_open && !is_apart && is_absent;
        counts.unjudged += is_open && !is_apart && !is_absent;
        if (compared->basis == XB_BASIS_NONE)
            continue;
        one_share = one_share && (share < 0 || share == compared->threshold);
        share = compared->threshold;
    }
    snprintf(counts.threshold, sizeof counts.threshold, one_share ? "%g %%" : "their threshold",
             100 * (share >= 0 ? share : comparison->request.threshold));
    return counts;
}

/* ---- how many processes it would take to decide what is open ---- */

/* z with P(Z > z) = p for a normal Z, p below 0.5, by halving. */
static double normal_quantile(double p)
{
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(middle / sqrt(2)) > p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* For one figure: an interval's half width shrinks with the root of the processes a side, and a
 * test at alpha decides in 4 of 5 cases where the distance to the threshold is z(alpha) + z(0.2)
 * standard errors; the half width is z(tail) of them. 0 where more than can be compared are needed.
 */
static size_t processes_of(const struct xb_comparison *comparison,
                           const struct xb_compared *compared)
{
    static const double missed = 0.2;
    bool more = compared->figure.more_is_better;
    double threshold = log(more ? 1 - compared->threshold : 1 + compared->threshold);
    double ratio = log(compared->ratio);
    double tail = (1 - compared->confidence) / 2;
    bool is_worse = more ? ratio <= threshold : ratio >= threshold;
    /* The end of the interval that has to come over to the ratio's side of the threshold. */
    double end = log(is_worse == more ? compared->high : compared->low);
    double alpha = comparison->request.alpha;
    if (is_worse && comparison->gating_count > 0)
        alpha /= (double)comparison->gating_count; /* as the first of Holm's steps asks */
    size_t n = xb_compared_processes(compared);
    double factor = (normal_quantile(alpha) + normal_quantile(missed)) / normal_quantile(tail);
    double times = factor * fabs(end - ratio) / fabs(ratio - threshold);
    double needed = ceil((double)n * times * times);
    if (!(needed <= XB_RANK_LARGEST))
        return 0;
    return needed > (double)n ? (size_t)needed : n + 1;
}

size_t xb_processes_to_decide(const struct xb_comparison *comparison)
{
    size_t most = comparison->processes_needed;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        if (!compared->gates || compared->basis != XB_BASIS_TEST || compared->cannot_pass ||
            compared->outcome != XB_OUTCOME_INCONCLUSIVE)
            continue;
        bool has_level = compared->has_interval && compared->confidence > 0;
        size_t needed = has_level ? processes_of(comparison, compared) : 0;
        if (needed == 0 || needed > XB_RANK_LARGEST)
            return 0;
        most = needed > most ? needed : most;
    }
    return most;
}

/* Adds a sentence to the reason, or what ends one; or to what to do next. */
#define REASON(...) xb_compare_add(comparison->reason, " ", __VA_ARGS__)
#define MORE(...) xb_compare_add(comparison->reason, "", __VA_ARGS__)
#define NEXT(...) xb_compare_add(comparison->next, " ", __VA_ARGS__)

double xb_compared_loss(const struct xb_compared *compared)
{
    if (compared->basis == XB_BASIS_STATUS && compared->outcome == XB_OUTCOME_REGRESSION)
        return INFINITY;
    if (compared->basis == XB_BASIS_NONE || !compared->has_ratio || isnan(compared->ratio))
        return -INFINITY;
    return compared->figure.more_is_better ? -log(compared->ratio) : log(compared->ratio);
}

static void say_refused(struct xb_comparison *comparison, const struct counts *counts)
{
    bool by_strict = true; /* alone */
    if (comparison->comparable) {
        REASON("%s was measured with other settings in the candidate than in the baseline.",
               counts->by[XB_OUTCOME_INCONCLUSIVE] == 1 ? "The only result that counts"
                                                        : "Every result that counts");
        NEXT("Measure both files with the same settings; --force compares them anyway.");
        return;
    }
    REASON("The files were not measured under the same conditions.");
    XB_EACH (difference, comparison->differences, comparison->difference_count)
        by_strict = by_strict && (!difference->forbids || difference->of_stack);
    NEXT("%s", by_strict ? "Without --strict they are compared."
                         : "Measure both files under the same conditions; --force compares them "
                           "anyway.");
}

static void say_regression(struct xb_comparison *comparison, const struct counts *counts)
{
    size_t slower = counts->slower, all = counts->all;
    size_t broken = counts->by[XB_OUTCOME_REGRESSION] - slower;
    if (slower > 0)
        REASON("%zu of %zu result%s %s %s by %s or more.", slower, all, XB_PLURAL(all),
               slower == 1 ? "is" : "are", counts->worse, counts->threshold);
    if (broken > 0)
        REASON("%zu of %zu result%s no longer work%s.", broken, all, XB_PLURAL(all),
               broken == 1 ? "s" : "");
    const struct xb_compared *worst = counts->worst;
    if (worst == NULL)
        return;
    const char *before = XB_CASE_TEXT(comparison, worst, XB_CASE_BASELINE);
    REASON("Worst: %.160s: %s (%.*s to %s).", XB_CASE_TEXT(comparison, worst, XB_CASE_TITLE),
           XB_CASE_TEXT(comparison, worst, XB_CASE_CHANGE),
           (int)strcspn(before, xb_compare_is_rate(&worst->figure) ? " " : ""), before,
           XB_CASE_TEXT(comparison, worst, XB_CASE_CANDIDATE)); /* one unit is enough */
}

/* What no figures decide, and no number of processes. */
static void say_not_judged(struct xb_comparison *comparison, const struct counts *counts)
{
    char all[32];
    snprintf(all, sizeof all, "%zu result%s", counts->all, XB_PLURAL(counts->all));
    if (counts->apart > 0) {
        REASON("%zu of %s cannot be compared: measured with other settings.", counts->apart, all);
        NEXT("Measure both files with the same settings, or leave those results out (--gate).");
    }
    if (counts->absent > 0) {
        REASON("%zu of %s %s not in the candidate.", counts->absent, all,
               counts->absent == 1 ? "is" : "are");
        NEXT("Measure what the candidate lacks, or leave it out (--gate).");
    }
    if (counts->unjudged > 0) {
        REASON("%zu of %s cannot be judged: see the notes.", counts->unjudged, all);
        NEXT("Mend what the notes tell of and measure again, or leave those results out (--gate).");
    }
}

/* So many show more than the least that a test needs. */
#define USUAL_PROCESSES 8

static void say_indicative(struct xb_comparison *comparison, const struct counts *counts)
{
    const struct xb_compared *worst = counts->worst_indicative;
    size_t fewest = xb_compare_fewest(comparison);
    size_t needed = comparison->processes_needed;
    if (fewest == 1)
        REASON("One process a file cannot decide");
    else
        REASON("%zu processes a file cannot decide", fewest);
    if (counts->indicative < counts->all)
        MORE(" %zu of %zu results", counts->indicative, counts->all);
    MORE(".");
    if (worst != NULL && xb_compared_loss(worst) > 0)
        REASON("As measured: %.160s, %s.", XB_CASE_TEXT(comparison, worst, XB_CASE_TITLE),
               XB_CASE_TEXT(comparison, worst, XB_CASE_CHANGE));
    else if (worst != NULL)
        REASON("As measured, none is %s.", counts->worse);
    if (needed > 0)
        NEXT("Measure with --processes %zu.",
             needed > USUAL_PROCESSES ? needed : (size_t)USUAL_PROCESSES);
    else
        NEXT("No number of processes is enough for so many results: let fewer count "
             "(--gate), or accept a higher --alpha.");
    say_not_judged(comparison, counts);
}

static void say_open(struct xb_comparison *comparison, const struct counts *counts)
{
    size_t unsure =
        counts->by[XB_OUTCOME_INCONCLUSIVE] - counts->apart - counts->absent - counts->unjudged;
    size_t needed = xb_processes_to_decide(comparison);
    if (unsure > 0)
        REASON("%zu of %zu result%s scatter%s too much to tell if %s %s by %s or more.", unsure,
               counts->all, XB_PLURAL(counts->all), unsure == 1 ? "s" : "",
               unsure == 1 ? "it is" : "they are", counts->worse, counts->threshold);
    if (unsure > 0 && needed > 0)
        NEXT("Measure again with --processes %zu: probably enough, if change and scatter "
             "stay as they are.",
             needed);
    else if (unsure > 0)
        NEXT("More processes will hardly decide it: the change is too near the threshold, or the "
             "machine too noisy. Make it quieter, or choose another --threshold.");
    say_not_judged(comparison, counts);
}

void xb_judge_overall(struct xb_comparison *comparison)
{
    const struct counts counts = count_all(comparison);
    comparison->reason[0] = comparison->next[0] = '\0';
    comparison->overall = XB_OUTCOME_INCONCLUSIVE;
    xb_comparison_count_apart(comparison);
    if (xb_comparison_is_refused(comparison)) {
        say_refused(comparison, &counts);
    } else if (counts.by[XB_OUTCOME_REGRESSION] > 0) {
        comparison->overall = XB_OUTCOME_REGRESSION;
        say_regression(comparison, &counts);
    } else if (comparison->idle_gate > 0) {
        REASON("Gate %zu of --gate has nothing to judge: none of its results is in both files.",
               comparison->idle_gate);
        NEXT("Measure them in both files, or take that gate out of the list.");
    } else if (counts.broken > 0) {
        /* More processes mend nothing, but they can tell a higher rate of failures from chance. */
        REASON("%zu of %zu result%s failed, or had wrong data, in processes of both files.",
               counts.broken, counts.all, XB_PLURAL(counts.all));
        if (counts.fails_more > 0) {
            REASON("%zu did so more often in the candidate.", counts.fails_more);
            NEXT("Find out why first. More processes may show whether the higher share "
                 "in the candidate is chance.");
        } else {
            NEXT("Find out why first: more processes do not help.");
        }
    } else if (counts.indicative > 0) {
        say_indicative(comparison, &counts);
    } else if (counts.by[XB_OUTCOME_INCONCLUSIVE] > 0) {
        say_open(comparison, &counts);
    } else if (counts.all == 0) {
        REASON("No result that counts was measured in both files.");
    } else {
        size_t improved = counts.by[XB_OUTCOME_IMPROVED];
        comparison->overall = improved > 0 ? XB_OUTCOME_IMPROVED : XB_OUTCOME_PASS;
        if (counts.all == 1)
            REASON("The result is %s%s by %s or more", improved == 1 ? "" : "not ",
                   improved == 1 ? counts.better : counts.worse, counts.threshold);
        else
            REASON("None of %zu results is %s by %s or more", counts.all, counts.worse,
                   counts.threshold);
        if (improved > 0 && counts.all > 1)
            MORE(", and %zu %s %s by as much", improved, improved == 1 ? "is" : "are",
                 counts.better);
        MORE(".");
    }
}
