/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_INTERNAL_H
#define XFERBENCH_COMPARE_INTERNAL_H

#include "../core/arena.h"
#include "xferbench/comparison.h"

/* Fills comparison->differences and ->comparable. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_compare_conditions(struct xb_comparison *comparison,
                                                   struct xb_error *error);

/* A case of both files or one: NULL for the side that has it not. */
struct xb_pair {
    const struct xb_record_case *baseline, *candidate;
};

/*
 * What can be told of one metric of a pair by itself: figures, ratio, interval and P values as they
 * are, and the verdict where it is one of status. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_judge_measure(const struct xb_comparison *comparison,
                                              struct xb_pair pair, struct xb_compared *compared,
                                              struct xb_error *error);

/* Whether the pair has that metric on either side. */
bool xb_judge_has_metric(const struct xb_comparison *comparison, struct xb_pair pair,
                         enum xb_metric metric);

/* The verdict of every case that is judged by its figures, now that it is known how many gate.
 * XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_judge_all(struct xb_comparison *comparison, struct xb_error *error);

/*
 * P that `after` or more of m processes are bad, and so few of the n others, where nothing but
 * chance deals out the before + after bad ones: Fisher's exact test, one-sided (Fisher, "The logic
 * of inductive inference", Journal of the Royal Statistical Society 98, 1935). Exact but for
 * rounding.
 */
double xb_fisher_probability(size_t before, size_t n, size_t after, size_t m);

/* Whether a P is at most alpha. A P that equals alpha counts, also where rounding made it a little
 * larger than alpha. */
static inline bool xb_at_most(double probability, double alpha)
{
    return probability <= alpha * (1.0 + 1e-12);
}

/* The verdict over all gating cases, and its sentence. */
void xb_judge_overall(struct xb_comparison *comparison);

#endif
