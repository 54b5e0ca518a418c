/* SPDX-License-Identifier: Apache-2.0 */
/* From options to cases. A user's mistakes are found here, before anything is measured or written.
 * What a device cannot do is found by a mode's check, case by case, so that the others go on. */
#include "case.h"
#include "planning.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/units.h"
#include "machine/host_memory.h"

#include <stdlib.h>
#include <string.h>

/* A result takes some 12 KiB of memory, so these are 120 MiB. */
#define MAX_CASES 10000u

/* A plan while it is made. Zero-initialise, then set the first. */
struct planning {
    const struct xb_run_options *asked;
    struct xb_run *run;          /* NULL where the options are only checked */
    struct xb_mode_choice modes; /* none for a set of transfers */
    struct xb_device_choice choice;
    struct xb_node_choice nodes;
    uint64_t available; /* of the host's memory */
    /* What there is to measure of each device or pair: cases without one, mode by mode. */
    struct xb_case *kinds;
    size_t kind_count;
};

/* ---- cases ---- */

static enum xb_status refuse_if_full(size_t count, struct xb_error *error)
{
    if (count < MAX_CASES)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "this asks for more than %u cases; take fewer sizes, modes or devices",
                   MAX_CASES);
}

/* Kinds have no seed yet: there it is their place. */
XB_COMPARER(by_bytes, struct xb_case, XB_BY(bytes), XB_BY(seed))

/* Adds a kind for each variant, combination of parameters, size and direction (bits of enum
 * xb_direction) of a mode. `test` has the mode and the node. */
static enum xb_status add_kinds(struct planning *plan, struct xb_case test, unsigned directions,
                                struct xb_error *error)
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
    const size_t before = plan->kind_count;
    bool decides = false; /* a case has the size that its parameters say */
    for (size_t v = 0; v < (variants != NULL ? variants->count : 1); v++) {
        test.variant = variants != NULL ? variants->items[v] : mode->variant;
        for (size_t k = 0; xb_case_set(&test, k, asked->config); k++) {
            uint64_t bytes = mode->bytes_of_case != NULL ? mode->bytes_of_case(&test) : 0;
            decides = decides || bytes > 0;
            for (size_t i = 0; i < (bytes > 0 ? 1 : sizes.count) * XB_DIRECTIONS; i++) {
                test.bytes = bytes > 0 ? bytes : sizes.values[i / XB_DIRECTIONS];
                test.seed = plan->kind_count;
                test.direction = (enum xb_direction)(1u << i % XB_DIRECTIONS);
                if ((directions & test.direction) == 0)
                    continue;
                XB_TRY(refuse_if_full(plan->kind_count, error));
                plan->kinds = xb_grow(plan->kinds, plan->kind_count, sizeof *plan->kinds);
                plan->kinds[plan->kind_count++] = test;
            }
        }
    }
    if (decides)
        qsort(plan->kinds + before, plan->kind_count - before, sizeof *plan->kinds, by_bytes);
    return XB_OK;
}

/* Lists the kinds of every mode, for each NUMA node that is named. Those that use no host memory
 * come once, and first. */
static enum xb_status list_kinds(struct planning *plan, struct xb_error *error)
{
    for (size_t m = 0; m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        struct xb_case test = {.mode = mode, .peer = XB_NO_PEER};
        unsigned directions = xb_mode_directions(plan->asked, mode);
        unsigned host = plan->nodes.count > 0 ? xb_mode_host_directions(mode, directions) : 0;
        XB_TRY(add_kinds(plan, test, directions & ~host, error));
        test.has_node = true;
        for (size_t i = 0; i < plan->nodes.count; i++) {
            test.node = plan->nodes.nodes[i];
            XB_TRY(add_kinds(plan, test, host, error));
        }
    }
    return XB_OK;
}

/* Has the modes, those of pairs or the others, check the options for each of their kinds. One that
 * needs more host memory than there is is passed over: that is a better reason to refuse it. */
static enum xb_status check_options(const struct planning *plan, bool pairs, struct xb_error *error)
{
    for (size_t i = 0; i < plan->kind_count; i++) {
        const struct xb_case *kind = &plan->kinds[i];
        if (kind->mode->pairs == pairs && kind->mode->check_options != NULL &&
            xb_case_needs(kind).host_bytes <= plan->available)
            XB_TRY(kind->mode->check_options(kind, error));
    }
    return XB_OK;
}

/* Adds a row to run->results. XB_ERR_USAGE where there are too many. */
static enum xb_status add_case(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    struct xb_run *run = plan->run;
    XB_TRY(refuse_if_full(run->case_count, error));
    run->results = xb_grow(run->results, run->case_count, sizeof *run->results);
    struct xb_result *result = &run->results[run->case_count++];
    memset(result, 0, sizeof *result);
    result->test = test;
    result->test.latency = plan->asked->latency || test.mode->latency != NULL;
    /* So far apart that no two cases' patterns overlap. */
    result->test.seed = (unsigned long long)run->case_count << 40;
    return XB_OK;
}

/* Whether the kind is measured on several devices, or by several pairs, at the same time, as
 * --simultaneous asks for. */
static bool is_together(const struct xb_run_options *asked, const struct xb_case *kind)
{
    const struct xb_mode *mode = kind->mode;
    return asked->simultaneous && mode->simultaneous &&
           (!mode->pairs || kind->direction == XB_D2D) &&
           (mode->only_alone == NULL || strcmp(kind->variant, mode->only_alone) != 0);
}

/* Adds the cases that are not of pairs: of each device alone, so that it can be compared with
 * itself beside others, then of all at the same time: the row of all, then one a device. */
static enum xb_status add_singles(struct planning *plan, struct xb_error *error)
{
    const struct xb_device_choice *choice = &plan->choice;
    for (size_t d = 0; d <= choice->device_count; d++)
        for (size_t i = 0; i < plan->kind_count; i++) {
            struct xb_case test = plan->kinds[i];
            test.simultaneous = test.sum = d == choice->device_count;
            test.device = choice->devices[test.sum ? 0 : d];
            if (test.mode->pairs || (test.sum && !is_together(plan->asked, &test)))
                continue;
            XB_TRY(add_case(plan, test, error));
            for (size_t k = 0; test.simultaneous && k < choice->device_count; k++) {
                test.sum = false;
                test.device = choice->devices[k];
                XB_TRY(add_case(plan, test, error));
            }
        }
    return XB_OK;
}

/* ---- pairs ---- */

/* Adds a kind for a pair alone. Both ways at once between two devices is one case, whichever of
 * them comes first. */
static enum xb_status add_pair(struct planning *plan, struct xb_case test,
                               const struct xb_pair *pair, struct xb_error *error)
{
    const struct xb_device_choice *choice = &plan->choice;
    test.device = pair->from;
    test.peer = (int)pair->to;
    for (size_t i = 0; test.direction == XB_BIDIR && i < choice->pair_count; i++)
        if (pair->from > pair->to && choice->pairs[i].from == pair->to &&
            choice->pairs[i].to == pair->from)
            return XB_OK;
    return add_case(plan, test, error);
}

/* How many devices of the run the pair's destination is behind its source, all in a ring. */
static size_t ring_distance(const struct xb_run *run, const struct xb_pair *pair)
{
    size_t from = xb_run_find_device(run, pair->from), to = xb_run_find_device(run, pair->to);
    return (to + run->device_count - from) % run->device_count;
}

/* Adds the pairs of a group, which has test.device or nothing in common, at the same time: the row
 * of all, then one a pair. One pair alone is no group. All pairs come by their distance, because a
 * device may copy one after the other: then no two go to the same device at a time. */
static enum xb_status add_group(struct planning *plan, struct xb_case test, struct xb_error *error)
{
    const struct xb_run *run = plan->run;
    const unsigned device = test.device;
    const size_t before = run->case_count;
    const bool are_all = test.group == XB_GROUP_ALL_TO_ALL;
    XB_TRY(add_case(plan, test, error));
    test.sum = false;
    for (size_t distance = 1; distance < (are_all ? run->device_count : 2); distance++)
        for (size_t i = 0; i < plan->choice.pair_count; i++) {
            const struct xb_pair *pair = &plan->choice.pairs[i];
            test.device = pair->from;
            test.peer = (int)pair->to;
            if (are_all ? ring_distance(run, pair) == distance
                        : device == (test.group == XB_GROUP_ONE_TO_ALL ? pair->from : pair->to))
                XB_TRY(add_case(plan, test, error));
        }
    if (run->case_count < before + 3)
        plan->run->case_count = before;
    return XB_OK;
}

/* Adds the cases of a mode of pairs: each pair alone and, where that was asked for, those that have
 * a device in common at the same time, and all of them, unless these are such a group. Where there
 * is no pair, or no group, one row says so: more would say the same. */
static enum xb_status add_pairs(struct planning *plan, const struct xb_mode *mode,
                                struct xb_error *error)
{
    const struct xb_run *run = plan->run;
    const struct xb_device_choice *choice = &plan->choice;
    const struct xb_case *kinds = plan->kinds, *end = kinds + plan->kind_count;
    struct xb_case none = {.mode = NULL}; /* the row that says so */
    for (size_t p = 0; p < choice->pair_count; p++)
        for (const struct xb_case *kind = kinds; kind < end; kind++)
            if (kind->mode == mode)
                XB_TRY(add_pair(plan, *kind, &choice->pairs[p], error));
    const size_t before = run->case_count;
    for (const struct xb_case *kind = kinds; kind < end; kind++) {
        struct xb_case test = *kind;
        size_t largest = 0; /* rows of a group */
        if (kind->mode != mode || (choice->pair_count > 0 && !is_together(plan->asked, kind)))
            continue;
        test.simultaneous = test.sum = choice->pair_count > 0;
        test.device = test.sum ? choice->pairs[0].from : choice->devices[0];
        test.group = test.sum ? XB_GROUP_ALL_TO_ALL : XB_GROUP_NONE;
        none = none.mode == NULL ? test : none;
        for (size_t d = 0; test.sum && d < 2 * run->device_count; d++) {
            const size_t first = run->case_count;
            test.group = d < run->device_count ? XB_GROUP_ONE_TO_ALL : XB_GROUP_ALL_TO_ONE;
            test.device = run->devices[d % run->device_count].info.index;
            XB_TRY(add_group(plan, test, error));
            largest = run->case_count - first > largest ? run->case_count - first : largest;
        }
        test.group = XB_GROUP_ALL_TO_ALL;
        if (test.sum && largest <= choice->pair_count)
            XB_TRY(add_group(plan, test, error));
    }
    return none.mode != NULL && run->case_count == before ? add_case(plan, none, error) : XB_OK;
}

/* ---- a set of transfers ---- */

/* Adds the transfers: each alone, of those that are alike one, then all at the same time: the row
 * of all, then one a transfer. */
static enum xb_status add_set(struct planning *plan, struct xb_error *error)
{
    struct xb_run *run = plan->run;
    struct xb_case sum = {.mode = &xb_mode_set,
                          .variant = xb_mode_set.variant,
                          .peer = XB_NO_PEER,
                          .simultaneous = true,
                          .sum = true,
                          .group = XB_GROUP_SET,
                          .asked = plan->asked};
    for (size_t i = 0; i < plan->kind_count; i++)
        XB_TRY(xb_set_choose(run, &plan->kinds[i], error));
    for (size_t i = 0; i < plan->kind_count; i++) {
        const struct xb_case *one = &plan->kinds[i];
        bool is_there = false;
        for (size_t k = 0; !is_there && k < run->case_count; k++)
            is_there = xb_case_same_path(&run->results[k].test, one) &&
                       xb_case_alike(&run->results[k].test, one);
        if (!is_there)
            XB_TRY(add_case(plan, *one, error));
        sum.bytes = xb_sum(sum.bytes, one->bytes);
    }
    if (plan->kind_count < 2)
        return XB_OK;
    sum.device = plan->kinds[0].device;
    XB_TRY(add_case(plan, sum, error));
    for (size_t i = 0; i < plan->kind_count; i++) {
        struct xb_case *one = &plan->kinds[i];
        one->simultaneous = true;
        one->group = XB_GROUP_SET;
        one->transfer = (unsigned)i + 1;
        XB_TRY(add_case(plan, *one, error));
    }
    return XB_OK;
}

/* ---- memory ---- */

/* `reach` ends the sentence: what bounds the memory, and what to do about it. */
static enum xb_status too_large(const struct xb_case *test, uint64_t needed, const char *what,
                                uint64_t limit, const char *reach, struct xb_error *error)
{
    bool is_own = test->mode->bytes_of_case != NULL && test->mode->bytes_of_case(test) > 0;
    return XB_FAIL(error, XB_ERR_USAGE, "%s%s: %s needs %s of %s memory, and %.2f GiB %s",
                   is_own ? "" : "--size ", XB_SIZE_TEXT(test->bytes), test->mode->name,
                   XB_SIZE_TEXT(needed), what, (double)limit / 0x1p30, reach);
}

/* XB_ERR_USAGE where a case can never fit. What is free on a device is known only once it is open.
 */
static enum xb_status check_size(const struct xb_run *run, const struct xb_case *test,
                                 uint64_t available, struct xb_error *error)
{
    const struct xb_device_info *device = &run->devices[xb_run_find_device(run, test->device)].info;
    struct xb_needs needs = xb_case_needs(test);
    bool shared = device->shares_host_memory;
    uint64_t host = shared ? xb_sum(needs.host_bytes, needs.device_bytes) : needs.host_bytes;
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
    XB_TRY(xb_set_read(plan->asked, &plan->kinds, &plan->kind_count, error));
    if (plan->kind_count > 0)
        return XB_OK;
    XB_TRY(xb_mode_choose(plan->asked, &plan->modes, error));
    XB_TRY(xb_node_choose(plan->asked, &plan->modes, &plan->nodes, error));
    XB_TRY(xb_host_memory_available(&plan->available, error));
    XB_TRY(list_kinds(plan, error));
    bool is_possible = !plan->asked->simultaneous;
    for (size_t i = 0; i < plan->kind_count; i++)
        is_possible = is_possible || is_together(plan->asked, &plan->kinds[i]);
    return is_possible ? check_options(plan, false, error) : xb_mode_refuse_simultaneous(error);
}

enum xb_status xb_plan_check(const struct xb_run_options *asked, struct xb_error *error)
{
    struct planning plan = {.asked = asked};
    enum xb_status status = choose(&plan, error);
    free(plan.kinds);
    return status;
}

/* A size that is too large for every mode is refused. If it is too large for some modes only, their
 * cases become error rows. */
static enum xb_status check_sizes(const struct planning *plan, struct xb_error *error)
{
    const struct xb_run *run = plan->run;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        struct xb_error ignored;
        bool fits = check_size(run, test, plan->available, error) == XB_OK;
        for (size_t k = 0; !fits && k < run->case_count; k++) {
            const struct xb_case *other = &run->results[k].test;
            fits = other->bytes == test->bytes && other->device == test->device &&
                   check_size(run, other, plan->available, &ignored) == XB_OK;
        }
        if (!fits)
            return error->status;
    }
    return XB_OK;
}

static enum xb_status fill(struct planning *plan, struct xb_error *error)
{
    bool wants[2] = {false, false}; /* cases of single devices, and of pairs */
    XB_TRY(choose(plan, error));
    if (plan->run->probe.device_count > XB_RUN_DEVICES)
        return XB_FAIL(error, XB_ERR_USAGE, "there are %u devices, and a run takes at most %d",
                       plan->run->probe.device_count, XB_RUN_DEVICES);
    plan->run->devices = xb_new(XB_RUN_DEVICES + 1, sizeof *plan->run->devices);
    if (plan->modes.count == 0)
        return add_set(plan, error);
    for (size_t i = 0; i < plan->kind_count; i++)
        wants[plan->kinds[i].mode->pairs] = true;
    XB_TRY(xb_device_choose(plan->run, wants[false], wants[true], &plan->choice, error));
    XB_TRY(add_singles(plan, error));
    for (size_t m = 0; m < plan->modes.count; m++)
        if (plan->modes.modes[m]->pairs)
            XB_TRY(add_pairs(plan, plan->modes.modes[m], error));
    XB_TRY(check_sizes(plan, error));
    plan->available = UINT64_MAX;
    return plan->choice.pair_count > 0 ? check_options(plan, true, error) : XB_OK;
}

enum xb_status xb_plan(struct xb_run *run, struct xb_error *error)
{
    struct planning plan = {.asked = &run->asked, .run = run};
    char name[128];
    enum xb_status status = fill(&plan, error);
    free(plan.kinds);
    for (size_t i = 0; status == XB_OK && i < run->case_count; i++)
        xb_debug("plan", "%s", xb_case_text(&run->results[i].test, name, sizeof name));
    return status;
}
