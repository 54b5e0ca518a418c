/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of pairs of devices: each pair alone, and pairs that have a device in common at the
 * same time. */
#include "planning.h"

#include <string.h>

/* ---- each pair alone ---- */

static enum xb_status add_one(struct xb_planning *plan, struct xb_case test, struct xb_error *error)
{
    /* Both ways at once between two devices is one case, whichever of them comes first. */
    if (test.direction == XB_BIDIR && (int)test.device > test.peer)
        for (size_t i = 0; i < plan->choice.pair_count; i++)
            if ((int)plan->choice.pairs[i].from == test.peer &&
                plan->choice.pairs[i].to == test.device)
                return XB_OK;
    return xb_planning_add_case(plan, test, error);
}

/* Adds one row of the mode that will say that there are no pairs: more would say the same. */
static enum xb_status add_no_pair(struct xb_planning *plan, struct xb_case test,
                                  struct xb_error *error)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->run->case_count; i++)
        rows += plan->run->results[i].test.mode == test.mode;
    return rows == 0 ? xb_planning_add_case(plan, test, error) : XB_OK;
}

static enum xb_status add_pairs_of(struct xb_planning *plan, const struct xb_mode *mode,
                                   struct xb_error *error)
{
    unsigned directions = xb_mode_directions(&plan->run->asked, mode);
    struct xb_case test = {.mode = mode, .device = plan->choice.devices[0], .peer = XB_NO_PEER};
    if (plan->choice.pair_count == 0)
        return xb_planning_add_mode(plan, test, directions, add_no_pair, error);
    for (size_t p = 0; p < plan->choice.pair_count; p++) {
        test.device = plan->choice.pairs[p].from;
        test.peer = (int)plan->choice.pairs[p].to;
        XB_TRY(xb_planning_add_mode(plan, test, directions, add_one, error));
    }
    return XB_OK;
}

/* ---- pairs at the same time ---- */

/* Whether the pair is of the group that has this device in common. */
static bool is_of_group(const struct xb_pair *pair, enum xb_group group, unsigned device)
{
    return device == (group == XB_GROUP_ONE_TO_ALL ? pair->from : pair->to);
}

/* Whether several pairs are of it: one alone is no group. */
static bool is_group(const struct xb_planning *plan, enum xb_group group, unsigned device)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->choice.pair_count; i++)
        count += is_of_group(&plan->choice.pairs[i], group, device);
    return count > 1;
}

/* Adds the group that has test.device in common: the row of all, then one a pair. */
static enum xb_status add_group(struct xb_planning *plan, struct xb_case test,
                                struct xb_error *error)
{
    const unsigned device = test.device;
    test.sum = true;
    XB_TRY(xb_planning_add_case(plan, test, error));
    test.sum = false;
    for (size_t i = 0; i < plan->choice.pair_count; i++) {
        const struct xb_pair *pair = &plan->choice.pairs[i];
        test.device = pair->from;
        test.peer = (int)pair->to;
        if (is_of_group(pair, test.group, device))
            XB_TRY(xb_planning_add_case(plan, test, error));
    }
    return XB_OK;
}

static bool is_only_alone(const struct xb_case *test)
{
    return test->mode->only_alone != NULL && strcmp(test->variant, test->mode->only_alone) == 0;
}

/* Adds every group of a case. */
static enum xb_status add_groups(struct xb_planning *plan, struct xb_case test,
                                 struct xb_error *error)
{
    static const enum xb_group groups[] = {XB_GROUP_ONE_TO_ALL, XB_GROUP_ALL_TO_ONE};
    test.simultaneous = true;
    for (size_t g = 0; !is_only_alone(&test) && g < 2; g++)
        for (size_t i = 0; i < plan->run->device_count; i++) {
            test.group = groups[g];
            test.device = plan->run->devices[i].info.index;
            if (is_group(plan, test.group, test.device))
                XB_TRY(add_group(plan, test, error));
        }
    return XB_OK;
}

static bool any_group(const struct xb_planning *plan)
{
    for (size_t i = 0; i < plan->choice.pair_count; i++)
        if (is_group(plan, XB_GROUP_ONE_TO_ALL, plan->choice.pairs[i].from) ||
            is_group(plan, XB_GROUP_ALL_TO_ONE, plan->choice.pairs[i].to))
            return true;
    return false;
}

/* Adds one row of the mode that will say that there is no group: more would say the same. */
static enum xb_status add_no_group(struct xb_planning *plan, struct xb_case test,
                                   struct xb_error *error)
{
    const struct xb_run *run = plan->run;
    const struct xb_case *last = &run->results[run->case_count - 1].test;
    if (is_only_alone(&test) || (last->mode == test.mode && last->group != XB_GROUP_NONE))
        return XB_OK;
    test.simultaneous = test.sum = true;
    test.group = XB_GROUP_ONE_TO_ALL;
    return xb_planning_add_case(plan, test, error);
}

enum xb_status xb_planning_add_pairs(struct xb_planning *plan, struct xb_error *error)
{
    for (size_t m = 0; m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        if (mode->pairs)
            XB_TRY(add_pairs_of(plan, mode, error));
        if (mode->pairs && plan->choice.pair_count > 0) {
            struct xb_case test = {
                .mode = mode, .device = plan->choice.pairs[0].from, .peer = XB_NO_PEER};
            XB_TRY(xb_planning_add_mode(plan, test,
                                        xb_mode_directions_together(&plan->run->asked, mode),
                                        any_group(plan) ? add_groups : add_no_group, error));
        }
    }
    return XB_OK;
}
