/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_PAIRS_H
#define XFERBENCH_COMPARE_PAIRS_H

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

/* In the baseline's order; what only the candidate has comes last. Release with xb_pairs_free, also
 * a zeroed one. */
struct xb_pairs {
    struct xb_pair *items;
    size_t count;
};

/*
 * Pairs the cases of both files that are the same. A parameter that only one file has counts as
 * being at its default in the other. Two cases that differ in nothing but parameters are a pair
 * too, marked as such, where each file has one such case only that is left over. XB_ERR_MEMORY.
 */
XB_MUST_CHECK enum xb_status xb_pairs_make(const struct xb_comparison *comparison,
                                           struct xb_pairs *pairs, struct xb_error *error);
void xb_pairs_free(struct xb_pairs *pairs);

/* "measured with chunk 64 KiB, the baseline with chunk 8 MiB": of a pair that is another. */
const char *xb_pair_parameters_text(const struct xb_pair *pair, char *text, size_t size);

#endif
