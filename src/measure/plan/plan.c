/* SPDX-License-Identifier: Apache-2.0 */
/* From options to cases. A user's mistakes are found here, before anything is measured or written.
 * What a device cannot do is found by a mode's check, case by case, so that the others go on. */
#include "case.h"
#include "planning.h"

#include "base/memory.h"
#include "machine/host_memory.h"

#include <string.h>

/* A result takes some 12 KiB of memory, so these are 120 MiB. */
#define MAX_CASES 10000u

/* A plan while it is made. Zero-initialise, then set the first. */
struct planning {
    const struct xb_run_options *asked;
    struct xb_run *run; /* NULL where the options are only checked */
    struct xb_mode_choice modes;
    struct xb_device_choice choice;
    struct xb_node_choice nodes;
    uint64_t available; /* of the host's memory */
};

/* ---- cases ---- */

/* Takes a case: adds what there is to measure of it, a row or several, or none; or checks it. */
typedef enum xb_status take_function(struct planning *plan, struct xb_case test,
                                     struct xb_error *error);

/* Calls `take` for each variant, combination of parameters, size and direction (bits of enum
 * xb_direction) of a mode. `test` has the mode and the devices. */
static enum xb_status take_mode(struct planning *plan, struct xb_case test, unsigned directions,
                                take_function *take, struct xb_error *error)
{
    const struct xb_mode *mode = test.mode;
    const struct xb_run_options *asked = test.asked = plan->asked;
    const struct xb_word_list *variants =
        mode->variant_option != NULL ? &xb_config_get(asked->config, mode->variant_option)->words
                                     : NULL;
    /* The mode's own size, where --size is not given; 0: it takes the same as all. */
    uint64_t own = mode->bytes_of_options != NULL ? mode->bytes_of_options(asked) : 0;
    own = own > 0 ? own : mode->bytes_by_default;
    const struct xb_numbers sizes = !asked->size_given && own > 0
                                        ? (struct xb_numbers){.values = &own, .count = 1}
                                        : asked->size;
    for (size_t v = 0; v < (variants != NULL ? variants->count : 1); v++) {
        test.variant = variants != NULL ? variants->items[v] : mode->variant;
        for (size_t k = 0; xb_case_set(&test, k, asked->config); k++)
            for (size_t i = 0; i < sizes.count * XB_DIRECTIONS; i++) {
                test.bytes = sizes.values[i / XB_DIRECTIONS];
                test.direction = (enum xb_direction)(1u << i % XB_DIRECTIONS);
                if ((directions & test.direction) != 0)
                    XB_TRY(take(plan, test, error));
            }
    }
    return XB_OK;
}

/* A case that needs more host memory than there is is passed over: that is a better reason to
 * refuse it. */
static enum xb_status check_case(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    return xb_case_needs(&test).host_bytes <= plan->available
               ? test.mode->check_options(&test, error)
               : XB_OK;
}

/* Has the modes, those of pairs or the others, check the options for each of their cases. */
static enum xb_status check_options(struct planning *plan, bool pairs, struct xb_error *error)
{
    for (size_t m = 0; m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        const struct xb_case test = {.mode = mode, .peer = XB_NO_PEER};
        if (mode->pairs == pairs && mode->check_options != NULL)
            XB_TRY(take_mode(plan, test, xb_mode_directions(plan->asked, mode), check_case, error));
    }
    return XB_OK;
}

/* Adds a row to run->results. XB_ERR_USAGE where there are too many. */
static enum xb_status add_case(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    struct xb_run *run = plan->run;
    if (run->case_count == MAX_CASES)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "this asks for more than %u cases; take fewer sizes, modes or devices",
                       MAX_CASES);
    run->results = xb_grow(run->results, run->case_count, sizeof *run->results);
    struct xb_result *result = &run->results[run->case_count++];
    memset(result, 0, sizeof *result);
    result->test = test;
    result->test.latency = plan->asked->latency || test.mode->latency != NULL;
    /* So far apart that no two cases' patterns overlap. */
    result->test.seed = (unsigned long long)run->case_count << 40;
    return XB_OK;
}

/* A case on every chosen device at once: the row of all, then one a device. */
static enum xb_status add_together(struct planning *plan, struct xb_case test,
                                   struct xb_error *error)
{
    test.simultaneous = test.sum = true;
    XB_TRY(add_case(plan, test, error));
    test.sum = false;
    for (size_t i = 0; i < plan->choice.device_count; i++) {
        test.device = plan->choice.devices[i];
        XB_TRY(add_case(plan, test, error));
    }
    return XB_OK;
}

/* Adds the cases of each mode that is not of pairs, for each NUMA node that is named. Cases that
 * use no host memory come once, and first. */
static enum xb_status add_modes(struct planning *plan, unsigned device, bool together,
                                struct xb_error *error)
{
    take_function *add = together ? add_together : add_case;
    for (size_t m = 0; m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        struct xb_case test = {.mode = mode, .device = device, .peer = XB_NO_PEER};
        unsigned directions =
            (together ? xb_mode_directions_together : xb_mode_directions)(plan->asked, mode);
        unsigned host = xb_mode_host_directions(mode, directions);
        if (mode->pairs)
            continue;
        XB_TRY(take_mode(plan, test, plan->nodes.count > 0 ? directions & ~host : directions, add,
                         error));
        test.has_node = true;
        for (size_t i = 0; i < plan->nodes.count; i++) {
            test.node = plan->nodes.nodes[i];
            XB_TRY(take_mode(plan, test, host, add, error));
        }
    }
    return XB_OK;
}

/* ---- each pair alone ---- */

static enum xb_status add_one(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    /* Both ways at once between two devices is one case, whichever of them comes first. */
    if (test.direction == XB_BIDIR && (int)test.device > test.peer)
        for (size_t i = 0; i < plan->choice.pair_count; i++)
            if ((int)plan->choice.pairs[i].from == test.peer &&
                plan->choice.pairs[i].to == test.device)
                return XB_OK;
    return add_case(plan, test, error);
}

/* Adds one row of the mode that will say that there are no pairs: more would say the same. */
static enum xb_status add_no_pair(struct planning *plan, struct xb_case test,
                                  struct xb_error *error)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->run->case_count; i++)
        rows += plan->run->results[i].test.mode == test.mode;
    return rows == 0 ? add_case(plan, test, error) : XB_OK;
}

/* ---- pairs at the same time ---- */

/* Whether the pair is of the group that has this device in common. */
static bool is_of_group(const struct xb_pair *pair, enum xb_group group, unsigned device)
{
    return device == (group == XB_GROUP_ONE_TO_ALL ? pair->from : pair->to);
}

/* Whether several pairs are of it: one alone is no group. */
static bool is_group(const struct planning *plan, enum xb_group group, unsigned device)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->choice.pair_count; i++)
        count += is_of_group(&plan->choice.pairs[i], group, device);
    return count > 1;
}

/* Adds the group that has test.device in common: the row of all, then one a pair. */
static enum xb_status add_group(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    const unsigned device = test.device;
    test.sum = true;
    XB_TRY(add_case(plan, test, error));
    test.sum = false;
    for (size_t i = 0; i < plan->choice.pair_count; i++) {
        const struct xb_pair *pair = &plan->choice.pairs[i];
        test.device = pair->from;
        test.peer = (int)pair->to;
        if (is_of_group(pair, test.group, device))
            XB_TRY(add_case(plan, test, error));
    }
    return XB_OK;
}

static bool is_only_alone(const struct xb_case *test)
{
    return test->mode->only_alone != NULL && strcmp(test->variant, test->mode->only_alone) == 0;
}

/* Adds every group of a case. */
static enum xb_status add_groups(struct planning *plan, struct xb_case test, struct xb_error *error)
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

/* Adds one row of the mode that will say that there is no group: more would say the same. */
static enum xb_status add_no_group(struct planning *plan, struct xb_case test,
                                   struct xb_error *error)
{
    const struct xb_run *run = plan->run;
    const struct xb_case *last = &run->results[run->case_count - 1].test;
    if (is_only_alone(&test) || (last->mode == test.mode && last->group != XB_GROUP_NONE))
        return XB_OK;
    test.simultaneous = test.sum = true;
    test.group = XB_GROUP_ONE_TO_ALL;
    return add_case(plan, test, error);
}

/* Adds the cases of the chosen pairs, each alone and, where that was asked for, those that have a
 * device in common at the same time. */
static enum xb_status add_pairs(struct planning *plan, struct xb_error *error)
{
    const struct xb_pair *pairs = plan->choice.pairs;
    bool any_group = false;
    for (size_t p = 0; p < plan->choice.pair_count; p++)
        any_group = any_group || is_group(plan, XB_GROUP_ONE_TO_ALL, pairs[p].from) ||
                    is_group(plan, XB_GROUP_ALL_TO_ONE, pairs[p].to);
    for (size_t m = 0; m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        unsigned directions = xb_mode_directions(plan->asked, mode);
        struct xb_case test = {.mode = mode, .device = plan->choice.devices[0], .peer = XB_NO_PEER};
        if (!mode->pairs)
            continue;
        if (plan->choice.pair_count == 0) {
            XB_TRY(take_mode(plan, test, directions, add_no_pair, error));
            continue;
        }
        for (size_t p = 0; p < plan->choice.pair_count; p++) {
            test.device = pairs[p].from;
            test.peer = (int)pairs[p].to;
            XB_TRY(take_mode(plan, test, directions, add_one, error));
        }
        test.device = pairs[0].from;
        test.peer = XB_NO_PEER;
        XB_TRY(take_mode(plan, test, xb_mode_directions_together(plan->asked, mode),
                         any_group ? add_groups : add_no_group, error));
    }
    return XB_OK;
}

/* ---- memory ---- */

/* `reach` ends the sentence: what bounds the memory, and what to do about it. */
static enum xb_status too_large(const struct xb_case *test, uint64_t needed, const char *what,
                                uint64_t limit, const char *reach, struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE, "--size %s: %s needs %s of %s memory, and %.2f GiB %s",
                   XB_SIZE_TEXT(test->bytes), test->mode->name, XB_SIZE_TEXT(needed), what,
                   (double)limit / 0x1p30, reach);
}

/* XB_ERR_USAGE where a case can never fit. What is free on a device is known only once it is open.
 */
static enum xb_status check_size(const struct xb_run *run, const struct xb_case *test,
                                 uint64_t available, struct xb_error *error)
{
    const struct xb_device_info *device = &run->devices[xb_run_find_device(run, test->device)].info;
    struct xb_needs needs = xb_case_needs(test);
    bool shared = device->shares_host_memory;
    uint64_t host = needs.host_bytes;
    if (shared)
        host = xb_add_up(host, needs.device_bytes);
    char reach[448];
    if (host > available)
        return too_large(test, host, "host", available,
                         xb_host_memory_limit_text("", reach, sizeof reach), error);
    if (!shared && device->memory_bytes > 0 && needs.device_bytes > device->memory_bytes)
        return too_large(test, needs.device_bytes, "device", device->memory_bytes,
                         "is all it has; take a smaller size", error);
    return XB_OK;
}

/* ---- the whole ---- */

/* Reads what the options ask for, as far as no device has to be known. Whether there are pairs is
 * not known yet, and without pairs their cases are skipped: these are not checked. */
static enum xb_status choose(struct planning *plan, struct xb_error *error)
{
    XB_TRY(xb_mode_choose(plan->asked, &plan->modes, error));
    XB_TRY(xb_node_choose(plan->asked, &plan->modes, &plan->nodes, error));
    XB_TRY(xb_choice_refuse_beside_others("device", "all", &plan->asked->device, error));
    XB_TRY(xb_host_memory_available(&plan->available, error));
    return check_options(plan, false, error);
}

enum xb_status xb_plan_check(const struct xb_run_options *asked, struct xb_error *error)
{
    struct planning plan = {.asked = asked};
    return choose(&plan, error);
}

enum xb_status xb_plan(struct xb_run *run, struct xb_error *error)
{
    struct planning plan = {.asked = &run->asked, .run = run};
    bool wants[2] = {false, false}; /* cases of single devices, and of pairs */
    XB_TRY(choose(&plan, error));
    for (size_t m = 0; m < plan.modes.count; m++)
        wants[plan.modes.modes[m]->pairs] |=
            xb_mode_directions(&run->asked, plan.modes.modes[m]) != 0;
    XB_TRY(xb_device_choose(run, wants[false], wants[true], &plan.choice, error));
    /* In the order in which they are measured: each device alone, so that it can be compared with
     * itself beside others, then all at the same time, then pairs. */
    for (size_t d = 0; d < plan.choice.device_count; d++)
        XB_TRY(add_modes(&plan, plan.choice.devices[d], false, error));
    XB_TRY(add_modes(&plan, plan.choice.devices[0], true, error));
    XB_TRY(add_pairs(&plan, error));
    /* A size that is too large for every mode is refused. If it is too large for some modes only,
     * their cases become error rows. */
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        struct xb_error ignored;
        bool fits = check_size(run, test, plan.available, error) == XB_OK;
        for (size_t k = 0; !fits && k < run->case_count; k++) {
            const struct xb_case *other = &run->results[k].test;
            fits = other->bytes == test->bytes && other->device == test->device &&
                   check_size(run, other, plan.available, &ignored) == XB_OK;
        }
        if (!fits)
            return error->status;
    }
    plan.available = UINT64_MAX;
    if (plan.choice.pair_count > 0)
        XB_TRY(check_options(&plan, true, error));
    char name[128];
    for (size_t i = 0; i < run->case_count; i++)
        xb_debug("plan", "%s", xb_case_text(&run->results[i].test, name, sizeof name));
    return XB_OK;
}
