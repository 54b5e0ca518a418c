/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From options to cases. What a user can get wrong is found here, before anything is measured or
 * written; what a device cannot do is left to a mode's check, so that the others go on. */
#include "device_choice.h"

#include "xferbench/host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A result takes some 12 KiB. */
#define MAX_CASES 10000u

/* ---- modes ---- */

struct mode_list {
    const struct xb_mode *modes[64];
    size_t count;
};

static enum xb_status unknown_mode(const char *name, struct xb_error *error)
{
    const char *names[66];
    size_t count = 0;
    char list[512] = "";
    for (size_t i = 0; xb_modes[i] != NULL && count < 64; i++) {
        names[count++] = xb_modes[i]->name;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s ", xb_modes[i]->name);
    }
    names[count++] = "all";
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    return XB_FAIL(error, XB_ERR_USAGE, "--mode: there is no mode '%s'%s%s%s; the modes are: %sall",
                   name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "", list);
}

/* "all" says everything already: beside other words one of them is a mistake. */
static enum xb_status refuse_all_beside_others(const struct xb_value *value, struct xb_error *error)
{
    for (size_t i = 0; value->word_count > 1 && i < value->word_count; i++)
        if (strcmp(value->words[i], "all") == 0)
            return XB_FAIL(error, XB_ERR_USAGE, "--%s: 'all' stands alone", value->option->name);
    return XB_OK;
}

static enum xb_status choose_modes(const struct xb_config *config, struct mode_list *list,
                                   struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(config, "mode");
    const size_t capacity = sizeof list->modes / sizeof list->modes[0];
    enum xb_status status = refuse_all_beside_others(value, error);
    if (status != XB_OK)
        return status;
    list->count = 0;
    if (value->word_count == 1 && strcmp(value->words[0], "all") == 0) {
        for (size_t i = 0; xb_modes[i] != NULL && list->count < capacity; i++)
            list->modes[list->count++] = xb_modes[i];
        return XB_OK;
    }
    for (size_t i = 0; i < value->word_count && list->count < capacity; i++) {
        const struct xb_mode *mode = xb_mode_find(value->words[i]);
        if (mode == NULL)
            return unknown_mode(value->words[i], error);
        list->modes[list->count++] = mode;
    }
    return XB_OK;
}

/* Of simultaneous devices. */
#define ONE_WAY ((unsigned)XB_H2D | (unsigned)XB_D2H)

/* The directions that the user named; 0 for none. */
static unsigned named_directions(const struct xb_config *config)
{
    const struct xb_value *value = xb_config_get(config, "direction");
    unsigned directions = 0;
    for (size_t i = 0; i < value->word_count; i++) {
        if (strcmp(value->words[i], "both") == 0)
            directions |= XB_H2D | XB_D2H;
        for (unsigned d = 0; d < XB_DIRECTIONS; d++)
            if (strcmp(value->words[i], xb_direction_name((enum xb_direction)(1u << d))) == 0)
                directions |= 1u << d;
    }
    return directions;
}

/* The directions in which a mode is measured. */
static unsigned directions_of(const struct xb_config *config, const struct xb_mode *mode)
{
    unsigned named = named_directions(config);
    if (named != 0)
        return named & mode->directions;
    /* Both ways at once is no single operation; where a mode has others they are meant. */
    if (xb_config_get(config, "latency")->flag && (mode->by_default & ~(unsigned)XB_BIDIR) != 0)
        return mode->by_default & ~(unsigned)XB_BIDIR;
    return mode->by_default;
}

static bool mode_takes(const struct xb_mode *mode, const struct xb_option *option)
{
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        if (mode->options[i] == option)
            return true;
    return false;
}

static bool any_takes(const struct xb_mode *const *modes, size_t count,
                      const struct xb_option *option)
{
    for (size_t i = 0; i < count; i++)
        if (mode_takes(modes[i], option))
            return true;
    return false;
}

/* The same of the chosen modes, without those that have no case in the directions named. */
static bool any_measured_takes(const struct xb_config *config, const struct mode_list *list,
                               const struct xb_option *option)
{
    for (size_t i = 0; i < list->count; i++)
        if (directions_of(config, list->modes[i]) != 0 && mode_takes(list->modes[i], option))
            return true;
    return false;
}

static size_t mode_count(void)
{
    size_t count = 0;
    while (xb_modes[count] != NULL)
        count++;
    return count;
}

/* An option that no chosen mode takes would be ignored without a word. */
static enum xb_status refuse_idle_options(const struct xb_config *config,
                                          const struct mode_list *list, struct xb_error *error)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        if (value->given && any_takes(xb_modes, mode_count(), value->option) &&
            !any_measured_takes(config, list, value->option))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s has no effect on the chosen modes; see 'xferbench --help MODE' "
                           "for what a mode takes",
                           value->option->name);
    }
    return XB_OK;
}

/* ---- cases ---- */

/* Through all variants, sizes and directions of a mode. */
struct walk {
    const struct xb_config *config;
    struct xb_case test; /* its mode and devices are given, the rest is each case's own */
    unsigned directions; /* bits of enum xb_direction */
    size_t next;         /* 0 at the beginning */
};

/* Puts the next case into walk->test; false behind the last. */
static bool next_case(struct walk *walk)
{
    const struct xb_sizes *sizes = &xb_config_get(walk->config, "size")->sizes;
    const struct xb_option *option = walk->test.mode->variant_option;
    const struct xb_value *words =
        option != NULL ? xb_config_get(walk->config, option->name) : NULL;
    size_t a_variant = sizes->count * XB_DIRECTIONS;
    while (walk->next < a_variant * (words != NULL ? words->word_count : 1)) {
        size_t variant = walk->next / a_variant;
        walk->test.variant = words != NULL ? words->words[variant] : walk->test.mode->variant;
        walk->test.bytes = sizes->bytes[walk->next % a_variant / XB_DIRECTIONS];
        walk->test.direction = (enum xb_direction)(1u << walk->next % XB_DIRECTIONS);
        walk->next++;
        if ((walk->directions & walk->test.direction) != 0)
            return true;
    }
    return false;
}

/* What a plan is made from. */
struct plan {
    struct xb_run *run;
    struct mode_list modes;
    struct xb_device_choice choice;
    size_t capacity; /* of run->results */
    bool latency, simultaneous;
};

/* A mode that was named and does not go where the user wants it to go would be left out in silence.
 */
static enum xb_status refuse_other_ways(const struct xb_config *config,
                                        const struct mode_list *list, struct xb_error *error)
{
    const struct xb_value *named = xb_config_get(config, "mode");
    bool all = named->word_count == 1 && strcmp(named->words[0], "all") == 0;
    bool any = false;
    for (size_t m = 0; m < list->count; m++) {
        bool goes = directions_of(config, list->modes[m]) != 0;
        any = any || goes;
        if (!all && !goes)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--direction %s: %s does not go that way; see 'xferbench --help %s'",
                           xb_config_get(config, "direction")->text, list->modes[m]->name,
                           list->modes[m]->name);
    }
    return any ? XB_OK
               : XB_FAIL(error, XB_ERR_USAGE, "--direction %s: no mode goes that way",
                         xb_config_get(config, "direction")->text);
}

static enum xb_status refuse_idle_simultaneous(const struct xb_config *config,
                                               const struct mode_list *list, struct xb_error *error)
{
    if (!xb_config_get(config, "simultaneous")->flag)
        return XB_OK;
    if (xb_config_get(config, "latency")->flag)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--simultaneous is about bandwidth; leave --latency away");
    for (size_t m = 0; m < list->count; m++)
        if (list->modes[m]->simultaneous && (directions_of(config, list->modes[m]) & ONE_WAY) != 0)
            return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--simultaneous starts several devices together, one way at a time: take pinned "
                   "or async, h2d or d2h");
}

/* What a mode says is wrong with the options for one of its cases, whatever the machine. A case
 * that takes more than `available` host memory is passed over: that is the better reason to refuse
 * it. */
static enum xb_status check_options(const struct xb_config *config, const struct xb_mode *mode,
                                    uint64_t available, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    struct walk walk = {.config = config,
                        .test = {.mode = mode, .peer = XB_NO_PEER},
                        .directions = directions_of(config, mode)};
    while (status == XB_OK && mode->check_options != NULL && next_case(&walk))
        if (mode->needs(&walk.test, config).host_bytes <= available)
            status = mode->check_options(&walk.test, config, error);
    return status;
}

/* Of all modes but those that go by pairs: where there are none, these are skipped. */
static enum xb_status check_single_modes(const struct xb_config *config,
                                         const struct mode_list *list, struct xb_error *error)
{
    uint64_t available = 0;
    enum xb_status status = xb_host_memory_available(&available, error);
    for (size_t m = 0; status == XB_OK && m < list->count; m++)
        if (!list->modes[m]->pairs)
            status = check_options(config, list->modes[m], available, error);
    return status;
}

static enum xb_status add_case(struct plan *plan, const struct xb_case *test,
                               struct xb_error *error)
{
    struct xb_run *run = plan->run;
    if (run->case_count == MAX_CASES)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "this asks for more than %u cases; take fewer sizes, modes or devices",
                       MAX_CASES);
    if (run->case_count == plan->capacity) {
        size_t capacity = plan->capacity > 0 ? 2 * plan->capacity : 16;
        struct xb_result *grown = realloc(run->results, capacity * sizeof *grown);
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", capacity);
        run->results = grown;
        plan->capacity = capacity;
    }
    struct xb_result *result = &run->results[run->case_count++];
    memset(result, 0, sizeof *result);
    result->overlap = -1;
    result->test = *test;
    result->test.latency = plan->latency;
    /* No two cases' patterns overlap. */
    result->test.seed = (unsigned long long)run->case_count << 40;
    return XB_OK;
}

/* A case on every chosen device at once: the row of all, then one a device. */
static enum xb_status add_together(struct plan *plan, struct xb_case test, struct xb_error *error)
{
    test.simultaneous = true;
    test.sum = true;
    test.device = plan->choice.devices[0];
    enum xb_status status = add_case(plan, &test, error);
    test.sum = false;
    for (size_t i = 0; status == XB_OK && i < plan->choice.device_count; i++) {
        test.device = plan->choice.devices[i];
        status = add_case(plan, &test, error);
    }
    return status;
}

typedef enum xb_status add_function(struct plan *plan, struct xb_case test, struct xb_error *error);

static enum xb_status add_one(struct plan *plan, struct xb_case test, struct xb_error *error)
{
    /* Both ways at once is the same case from either side: the second of the two is left out. */
    if (test.peer != XB_NO_PEER && test.direction == XB_BIDIR && (int)test.device > test.peer)
        for (size_t i = 0; i < plan->choice.pair_count; i++)
            if ((int)plan->choice.pairs[i].from == test.peer &&
                plan->choice.pairs[i].to == test.device)
                return XB_OK;
    return add_case(plan, &test, error);
}

static enum xb_status add_mode(struct plan *plan, struct xb_case test, unsigned directions,
                               add_function *add, struct xb_error *error)
{
    struct walk walk = {.config = plan->run->config, .test = test, .directions = directions};
    enum xb_status status = XB_OK;
    while (status == XB_OK && next_case(&walk))
        status = add(plan, walk.test, error);
    return status;
}

static enum xb_status add_single_devices(struct plan *plan, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t d = 0; d < plan->choice.device_count; d++)
        for (size_t m = 0; status == XB_OK && m < plan->modes.count; m++) {
            const struct xb_mode *mode = plan->modes.modes[m];
            struct xb_case test = {
                .mode = mode, .device = plan->choice.devices[d], .peer = XB_NO_PEER};
            if (!mode->pairs)
                status =
                    add_mode(plan, test, directions_of(plan->run->config, mode), add_one, error);
        }
    return status;
}

/* One row that will say that there are no pairs; all would say the same. */
static enum xb_status add_no_pair(struct plan *plan, struct xb_case test, struct xb_error *error)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->run->case_count; i++)
        rows += plan->run->results[i].test.mode == test.mode;
    return rows == 0 ? add_case(plan, &test, error) : XB_OK;
}

static enum xb_status add_pairs(struct plan *plan, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t m = 0; status == XB_OK && m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        unsigned directions = directions_of(plan->run->config, mode);
        struct xb_case test = {.mode = mode, .device = plan->choice.devices[0], .peer = XB_NO_PEER};
        if (mode->pairs && plan->choice.pair_count == 0)
            status = add_mode(plan, test, directions, add_no_pair, error);
        for (size_t p = 0; mode->pairs && status == XB_OK && p < plan->choice.pair_count; p++) {
            test.device = plan->choice.pairs[p].from;
            test.peer = (int)plan->choice.pairs[p].to;
            status = add_mode(plan, test, directions, add_one, error);
        }
    }
    return status;
}

/* The chosen devices at the same time, behind each alone. */
static enum xb_status add_simultaneous(struct plan *plan, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t m = 0; status == XB_OK && m < plan->modes.count; m++) {
        const struct xb_mode *mode = plan->modes.modes[m];
        struct xb_case test = {.mode = mode, .peer = XB_NO_PEER};
        if (plan->simultaneous && mode->simultaneous)
            status = add_mode(plan, test, directions_of(plan->run->config, mode) & ONE_WAY,
                              add_together, error);
    }
    return status;
}

/* ---- memory ---- */

/* `reach` is what bounds the memory, and what to do: it ends the sentence. */
static enum xb_status too_large(const struct xb_case *test, uint64_t needed, const char *what,
                                uint64_t limit, const char *reach, struct xb_error *error)
{
    char size[32];
    char need[32];
    return XB_FAIL(error, XB_ERR_USAGE, "--size %s: %s needs %s of %s memory, and %.2f GiB %s",
                   xb_size_format(test->bytes, size, sizeof size), test->mode->name,
                   xb_size_format(needed, need, sizeof need), what, (double)limit / 0x1p30, reach);
}

/* XB_ERR_USAGE where a case can never fit. What is free on a device is known only once it is open.
 */
static enum xb_status check_case(const struct xb_run *run, const struct xb_case *test,
                                 uint64_t available, struct xb_error *error)
{
    const struct xb_device_info *device = &run->devices[xb_run_find_device(run, test->device)].info;
    struct xb_needs needs = test->mode->needs(test, run->config);
    bool shared = device->shares_host_memory;
    uint64_t host = needs.host_bytes;
    if (shared) /* saturating: two halves of a case may not wrap around */
        host = needs.device_bytes > UINT64_MAX - host ? UINT64_MAX : host + needs.device_bytes;
    char reach[448];
    if (host > available)
        return too_large(test, host, "host", available, xb_host_memory_reach(reach, sizeof reach),
                         error);
    if (!shared && device->memory_bytes > 0 && needs.device_bytes > device->memory_bytes)
        return too_large(test, needs.device_bytes, "device", device->memory_bytes,
                         "is all it has; take a smaller size", error);
    return XB_OK;
}

/* Refuses a size with which no mode can do anything. One that only some modes cannot take becomes
 * error rows of these. */
static enum xb_status check_memory(const struct xb_run *run, struct xb_error *error)
{
    uint64_t available = 0;
    enum xb_status status = xb_host_memory_available(&available, error);
    for (size_t i = 0; status == XB_OK && i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        status = check_case(run, test, available, error);
        for (size_t k = 0; status != XB_OK && k < run->case_count; k++) {
            const struct xb_case *other = &run->results[k].test;
            struct xb_error ignored;
            if (other->bytes == test->bytes && other->device == test->device &&
                check_case(run, other, available, &ignored) == XB_OK)
                status = XB_OK;
        }
    }
    return status;
}

/* ---- the whole ---- */

enum xb_status xb_plan_check(const struct xb_config *config, struct xb_error *error)
{
    struct mode_list list;
    enum xb_status status = choose_modes(config, &list, error);
    if (status == XB_OK)
        status = refuse_idle_options(config, &list, error);
    if (status == XB_OK)
        status = refuse_other_ways(config, &list, error);
    if (status == XB_OK)
        status = refuse_idle_simultaneous(config, &list, error);
    if (status == XB_OK)
        status = refuse_all_beside_others(xb_config_get(config, "device"), error);
    if (status == XB_OK)
        status = check_single_modes(config, &list, error);
    return status;
}

/* Whether any chosen mode goes by pairs, or by single devices, in a direction that was asked for.
 */
static bool wants(const struct plan *plan, bool pairs)
{
    for (size_t m = 0; m < plan->modes.count; m++)
        if (plan->modes.modes[m]->pairs == pairs &&
            directions_of(plan->run->config, plan->modes.modes[m]) != 0)
            return true;
    return false;
}

static enum xb_status make(struct plan *plan, struct xb_error *error)
{
    enum xb_status status = choose_modes(plan->run->config, &plan->modes, error);
    if (status == XB_OK)
        status = xb_device_choose(plan->run, wants(plan, false), plan->simultaneous,
                                  wants(plan, true), &plan->choice, error);
    if (status == XB_OK)
        status = add_single_devices(plan, error);
    if (status == XB_OK)
        status = add_simultaneous(plan, error);
    if (status == XB_OK)
        status = add_pairs(plan, error);
    return status;
}

enum xb_status xb_plan(struct xb_run *run, struct xb_error *error)
{
    enum xb_status status = xb_plan_check(run->config, error);
    if (status != XB_OK)
        return status;
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a plan");
    plan->run = run;
    plan->latency = xb_config_get(run->config, "latency")->flag;
    plan->simultaneous = xb_config_get(run->config, "simultaneous")->flag;
    status = make(plan, error);
    if (status == XB_OK)
        status = check_memory(run, error);
    for (size_t m = 0; status == XB_OK && m < plan->modes.count; m++)
        if (plan->modes.modes[m]->pairs && plan->choice.pair_count > 0)
            status = check_options(run->config, plan->modes.modes[m], UINT64_MAX, error);
    free(plan);
    return status;
}
