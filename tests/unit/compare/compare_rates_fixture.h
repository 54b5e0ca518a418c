/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How often the whole comparison is wrong, and how often it finds what is there: two records of
 * made-up processes, from their medians to the overall verdict. The logarithms of the medians
 * spread normally around those of the case. The same numbers in every run. Include after cmocka.h.
 */
#include "record_fixture.h"
#include "sanitized.h"

#include "compare/comparison.h"

/* What is asserted allows for the number of draws. */
#define MANY_DRAWS 5000
#define DRAWS (IS_SANITIZED ? 400 : MANY_DRAWS)
#define TABLE_DRAWS (IS_SANITIZED ? 40 : 1000)

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIB (UINT64_C(1) << 20)
#define SIDE 8
#define MANY 20
#define ALPHA 0.01
#define BOUNDARY 0.98

/* The numbers of cases and the spreads that are tried. */
#define NUMBERS ((size_t)2)
#define SPREADS ((size_t)4)
extern const size_t numbers[NUMBERS];
extern const double spreads[SPREADS];

/* ---- made-up processes ---- */

struct scenario {
    const char *what;
    size_t processes, cases;
    double spread;
    double first_ratio, other_ratio; /* the true ones: of the first case, of all others */
    bool together; /* a process is as fast or slow in all cases; else in each by itself */
    uint64_t seed;
    size_t candidate_processes; /* 0: as many as the baseline's */
    double candidate_spread;    /* 0: as the baseline's */
};

struct shares {
    size_t draws;
    size_t outcomes[XB_OUTCOME_REGRESSION + 1]; /* overall */
    size_t codes[5];
};

struct shares shares_of(const struct scenario *scenario, size_t draws);
double percent(const struct shares *shares, size_t count);
/* The shares among DRAWS comparisons; prints them. */
struct shares measured(const struct scenario *scenario);

/* ---- what theory promises ---- */

/*
 * With how great a probability a comparison of cases that all lie on the boundary finds a
 * regression, where they are independent: Holm's first step takes alpha by the number of cases, and
 * any one that passes it is enough.
 */
double attained(size_t processes, size_t cases);

/* The count is what so many draws give at that probability, or at most that. */
void assert_at(const struct shares *shares, size_t count, double probability);
void assert_at_most(const struct shares *shares, size_t count, double probability);
/* Where the count of all draws is large enough for it, also as it is. */
void assert_at_most_alpha(const struct shares *shares, size_t count);
