/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "base/memory.h"
#include "comparison.h"

/* A case of both files or one: NULL for the side that does not have it. Where a setting differs, a
 * pair is compared only by force. */
struct xb_pair {
    const struct xb_record_case *baseline, *candidate;
    bool is_other; /* they differ in their parameters */
    /* "measured with --kernel-time 2, the baseline with 1": settings of the mode that differ beside
     * the parameters; NULL for none. The comparison's text. */
    const char *settings;
};

/* Members of docs/compare.schema.json: of a file (struct xb_record), of what was asked and
 * what differs (struct xb_comparison), and of a case (struct xb_compared). */
extern const struct xb_field xb_compare_file_fields[], xb_compare_request_fields[],
    xb_compare_differences_fields[], xb_compare_figure_fields[], xb_compare_judged_fields[];

#define XB_COMPARE_FIGURES 64 /* the most of a case */

/* Lists the figures of the pair that are compared: its bandwidth or its latency, every other one
 * that gates by itself, and what a gate of the request names. Returns how many. */
size_t xb_compare_figures(const struct xb_comparison *comparison, const struct xb_pair *pair,
                          struct xb_figure figures[XB_COMPARE_FIGURES]);

/* Finds the parameters that differ between compared cases of one mode. */
void xb_comparison_find_parameters(struct xb_comparison *comparison);

/* Whether a figure of a case, or any (NULL), passes any of the gates. */
bool xb_gates_pass(const struct xb_gate *gates, size_t count, const struct xb_record_case *test,
                   const struct xb_figure *figure);
/* XB_ERR_USAGE for gates and thresholds of what neither file nor this program has. */
enum xb_status xb_gates_check(const struct xb_comparison *comparison, struct xb_error *error);

/* ---- verdicts ---- */

/* Fills comparison->any_differs and ->none_comparable, by all of its cases. */
void xb_comparison_count_apart(struct xb_comparison *comparison);

/* Adds to the text of a comparison, behind the separator where the text is not empty. */
void xb_compare_add(char text[512], const char *separator, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define xb_compared_note(compared, ...) xb_compare_add((compared)->note, "; ", __VA_ARGS__)

/* Fills what can be told of one figure of a pair by itself: medians, ratio, interval and P values
 * as they are, and the verdict where it does not depend on them. */
void xb_judge_measure(const struct xb_comparison *comparison, const struct xb_pair *pair,
                      struct xb_compared *compared);
/* Judges every case by its figures, now that it is known how many gate. */
void xb_judge_all(struct xb_comparison *comparison);

/* P that `after` or more of m processes are bad, and so few of the n others, where nothing but
 * chance deals out the before + after bad ones: Fisher's exact test, one-sided (Fisher, "The logic
 * of inductive inference", Journal of the Royal Statistical Society 98, 1935). */
double xb_fisher_probability(size_t before, size_t n, size_t after, size_t m);

/* About how many processes a side would decide every gating figure that the data leaves open, in 4
 * of 5 comparisons, if processes scatter as they do. 0: more than can be compared. */
size_t xb_processes_to_decide(const struct xb_comparison *comparison);

/* How far it is on the wrong side, as a logarithm, whatever its figure is: INFINITY where it no
 * longer works, -INFINITY where nothing can be said. */
double xb_compared_loss(const struct xb_compared *compared);

/* Fills the verdict over all gating cases, its sentences, and what to do next. */
void xb_judge_overall(struct xb_comparison *comparison);
