/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include "xferbench/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED 200     /* values */
#define ORDERS 9999     /* in which the values are looked at */
#define HITS_ENOUGH 250 /* so many orders as extreme: chance it is */

/* Ranks from 1; equal values share the mean of theirs. */
static void make_ranks(const double *values, size_t count, double *ranks)
{
    for (size_t i = 0; i < count; i++) {
        size_t less = 0;
        size_t equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += values[k] < values[i];
            equal += values[k] == values[i];
        }
        ranks[i] = (double)less + ((double)equal + 1.0) / 2.0;
    }
}

/* Pettitt's K: the largest of |2 * (sum of the first t ranks) - t * (count + 1)|. */
static double statistic_of(const double *ranks, size_t count)
{
    double sum = 0.0;
    double most = -1.0;
    for (size_t t = 1; t + XB_CHANGE_SIDE <= count; t++) {
        sum += ranks[t - 1];
        double size = fabs(2.0 * sum - (double)t * ((double)count + 1.0));
        if (t >= XB_CHANGE_SIDE)
            most = fmax(most, size);
    }
    return most;
}

/* Knuth's MMIX generator ("The Art of Computer Programming" 2, 3.3.4): the same orders each time,
 * so that a report of the same files says the same. */
static size_t take_random(uint64_t *state, size_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((*state >> 33) % below);
}

static void shuffle(double *ranks, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = take_random(state, i);
        double rank = ranks[i - 1];
        ranks[i - 1] = ranks[other];
        ranks[other] = rank;
    }
}

/* The share of orders that are at least as extreme, the row's own among them. */
static double counted_probability(double *ranks, size_t count, double statistic)
{
    uint64_t state = 1;
    size_t hits = 1;
    size_t orders = 1;
    while (orders <= ORDERS && hits < HITS_ENOUGH) {
        shuffle(ranks, count, &state);
        orders++;
        /* Sums of halves are exact. */
        hits += statistic_of(ranks, count) >= statistic;
    }
    return (double)hits / (double)orders;
}

/* Of many values Pettitt's own approximation does, and counting would take seconds. */
static double probability_of(double *ranks, size_t count, double statistic)
{
    double n = (double)count;
    if (count <= COUNTED)
        return counted_probability(ranks, count, statistic);
    return fmin(2.0 * exp(-6.0 * statistic * statistic / (n * n * n + n * n)), 1.0);
}

static double median_of(const double *values, size_t count, double *room)
{
    memcpy(room, values, count * sizeof *room);
    return xb_median_of(room, count);
}

/* The sum of the distances of the values from their median, which is *median. */
static double spread_of(const double *values, size_t count, double *room, double *median)
{
    double sum = 0.0;
    *median = median_of(values, count, room);
    for (size_t i = 0; i < count; i++)
        sum += fabs(values[i] - *median);
    return sum;
}

static void place(const double *values, size_t count, double *room, struct xb_change *change)
{
    double least = (double)INFINITY;
    for (size_t t = XB_CHANGE_SIDE; t + XB_CHANGE_SIDE <= count; t++) {
        double before;
        double after;
        double sum =
            spread_of(values, t, room, &before) + spread_of(values + t, count - t, room, &after);
        if (sum >= least)
            continue;
        least = sum;
        change->at = t;
        change->before = before;
        change->after = after;
    }
}

enum xb_status xb_change_find(const double *values, size_t count, size_t rows,
                              struct xb_change *change, struct xb_error *error)
{
    *change = (struct xb_change){.probability = 1.0};
    if (count < 2 * (size_t)XB_CHANGE_SIDE || count > XB_CHANGE_VALUES)
        return XB_OK;
    double *ranks = malloc(count * sizeof *ranks);
    if (ranks == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a trend");
    make_ranks(values, count, ranks);
    change->is_tested = true;
    double statistic = statistic_of(ranks, count);
    change->probability = probability_of(ranks, count, statistic);
    change->is_there = change->probability * (double)rows <= XB_CHANGE_LEVEL;
    if (change->is_there)
        place(values, count, ranks, change);
    free(ranks);
    return XB_OK;
}
