/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include "memory.h"
#include "statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Orders in which the values are looked at. Fewer are enough for the level among 40 long rows, and
 * counting does not take seconds. */
#define ORDERS 9999
#define ORDERS_OF_LONG 4999
#define LONG 200
#define HITS_ENOUGH 250 /* so many orders as extreme: chance it is */

/* The largest, over all cuts, of |2 * (sum of the first t ranks) - t * (count + 1)|, which for
 * parts of a row by chance is 0 in the mean, by its standard deviation but for a factor that all
 * cuts share. */
static double statistic_of(const double *ranks, size_t count)
{
    double n = (double)count, sum = 0.0, most = 0.0;
    for (size_t t = 1; t + XB_CHANGE_SIDE <= count; t++) {
        double before = (double)t;
        sum += ranks[t - 1];
        double size = 2.0 * sum - before * (n + 1.0);
        /* Squares, because they need no root. */
        if (t >= XB_CHANGE_SIDE)
            most = fmax(most, size * size / (before * (n - before)));
    }
    return most;
}

/* The share of orders that are at least as extreme, the row's own among them. They are of Knuth's
 * MMIX generator ("The Art of Computer Programming" 2, 3.3.4): the same orders each time, so that a
 * report of the same files says the same. */
static double probability_of(double *ranks, size_t count, double statistic)
{
    const size_t most = count > LONG ? ORDERS_OF_LONG : ORDERS;
    uint64_t state = 1;
    size_t hits = 1, orders = 1;
    while (orders <= most && hits < HITS_ENOUGH) {
        for (size_t i = count; i > 1; i--) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t other = (size_t)((state >> 32) * i >> 32);
            double rank = ranks[i - 1];
            ranks[i - 1] = ranks[other];
            ranks[other] = rank;
        }
        orders++;
        hits += statistic_of(ranks, count) >= statistic; /* sums of halves are exact */
    }
    return (double)hits / (double)orders;
}

/* The sum of the distances of the values from their median, which is *median. */
static double spread_of(const double *values, size_t count, double *room, double *median)
{
    double sum = 0.0;
    memcpy(room, values, count * sizeof *room);
    *median = xb_median_of(room, count);
    for (size_t i = 0; i < count; i++)
        sum += fabs(values[i] - *median);
    return sum;
}

struct xb_change xb_change_find(const double *values, size_t count, size_t rows)
{
    struct xb_change change = {.probability = 1.0};
    if (count < 2 * (size_t)XB_CHANGE_SIDE || count > XB_CHANGE_VALUES)
        return change;
    double *ranks = xb_new(count, sizeof *ranks);
    /* Ranks from 1; equal values share the mean of theirs. */
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += values[k] < values[i];
            equal += values[k] == values[i];
        }
        ranks[i] = (double)less + ((double)equal + 1.0) / 2.0;
    }
    change.is_tested = true;
    change.probability = probability_of(ranks, count, statistic_of(ranks, count));
    change.is_there = change.probability * (double)rows <= XB_CHANGE_LEVEL;
    double least = (double)INFINITY;
    for (size_t t = XB_CHANGE_SIDE; change.is_there && t + XB_CHANGE_SIDE <= count; t++) {
        double before, after;
        double sum =
            spread_of(values, t, ranks, &before) + spread_of(values + t, count - t, ranks, &after);
        if (sum < least) {
            least = sum;
            change.at = t;
            change.before = before;
            change.after = after;
        }
    }
    free(ranks);
    return change;
}
