/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Rounds in which devices copy in pairs, all pairs of a round at once: each device is in one pair
 * of a round, or, where their number is odd, rests in one round. In all rounds together every two
 * meet once. By the circle method (Kirkman, 1847): the sum of the places of two that meet is the
 * number of the round, modulo the number of rounds. */

/* How many rounds `count` devices need; 0 for fewer than two. */
static inline size_t xb_round_count(size_t count)
{
    return count < 2 ? 0 : count - 1 + count % 2;
}

/* Whom the device at that place, below `count`, meets in a round; itself: it rests. */
static inline size_t xb_round_partner(size_t count, size_t round, size_t place)
{
    const size_t circle = xb_round_count(count);
    if (circle == 0)
        return place;
    if (place == circle) /* of an even number the last one meets whoever would meet itself */
        return round * ((circle + 1) / 2) % circle;
    size_t partner = (round + circle - place) % circle;
    return partner != place || circle == count ? partner : circle;
}
