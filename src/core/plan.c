/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From options to cases. Everything a user can get wrong is found here, before anything is
 * measured. */
#include "xferbench/host_memory.h"
#include "xferbench/run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A result takes some 9 KiB. */
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
            !any_takes(list->modes, list->count, value->option))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s has no effect on the chosen modes; see 'xferbench --help MODE' "
                           "for what a mode takes",
                           value->option->name);
    }
    return XB_OK;
}

/* ---- devices ---- */

/* One line a device, for messages about a device that is not there. */
static void list_devices(const struct xb_run *run, char *text, size_t size)
{
    text[0] = '\0';
    for (unsigned i = 0; i < run->probe.device_count; i++) {
        struct xb_device_info info;
        struct xb_error ignored;
        size_t length = strlen(text);
        if (run->backend->device_info(run->driver, i, &info, &ignored) == XB_OK)
            snprintf(text + length, size - length, "\n  %u  %s  %s", i, info.pci_bdf, info.name);
    }
}

static enum xb_status no_device(const struct xb_run *run, const char *word, struct xb_error *error)
{
    char list[480];
    list_devices(run, list, sizeof list);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--device: the %s backend has no device '%s'; its devices are:%s",
                   run->backend->name, word, list);
}

/* Whether `word` is the PCI address `bdf`, with or without the domain. */
static bool same_bdf(const char *word, const char *bdf)
{
    const char *short_bdf = strchr(bdf, ':');
    return bdf[0] != '\0' && (strcasecmp(word, bdf) == 0 ||
                              (short_bdf != NULL && strcasecmp(word, short_bdf + 1) == 0));
}

/* The index of the device a word names: a number or a PCI address. */
static enum xb_status find_device(const struct xb_run *run, const char *word, unsigned *index,
                                  struct xb_error *error)
{
    if (word[0] != '\0' && strspn(word, "0123456789") == strlen(word) && strlen(word) < 9) {
        *index = (unsigned)strtoul(word, NULL, 10);
        return *index < run->probe.device_count ? XB_OK : no_device(run, word, error);
    }
    for (unsigned i = 0; i < run->probe.device_count; i++) {
        struct xb_device_info info;
        struct xb_error ignored; /* of a device that may not be the one named */
        if (run->backend->device_info(run->driver, i, &info, &ignored) == XB_OK &&
            same_bdf(word, info.pci_bdf)) {
            *index = i;
            return XB_OK;
        }
    }
    return no_device(run, word, error);
}

static enum xb_status add_device(struct xb_run *run, unsigned index, struct xb_error *error)
{
    struct xb_run_device *device = &run->devices[run->device_count];
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].info.index == index)
            return XB_FAIL(error, XB_ERR_USAGE, "--device: device %u is named twice", index);
    enum xb_status status = run->backend->device_info(run->driver, index, &device->info, error);
    if (status == XB_ERR_RUNTIME) { /* it will not open either: error rows, and the others go on */
        memset(&device->info, 0, sizeof device->info);
        device->info.index = index;
        snprintf(device->info.name, sizeof device->info.name, "a device that does not answer");
        status = XB_OK;
    }
    if (status == XB_OK)
        status = xb_registry_check_device(run->backend, &device->info, error);
    if (status == XB_OK)
        run->device_count++;
    return status;
}

static enum xb_status choose_devices(struct xb_run *run, struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(run->config, "device");
    bool all = value->word_count == 1 && strcmp(value->words[0], "all") == 0;
    size_t count = all ? run->probe.device_count : value->word_count;
    run->devices = calloc(count, sizeof *run->devices);
    if (run->devices == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu devices", count);
    for (size_t i = 0; i < count; i++) {
        unsigned index = (unsigned)i;
        enum xb_status status = all ? XB_OK : find_device(run, value->words[i], &index, error);
        if (status == XB_OK)
            status = add_device(run, index, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

/* ---- cases ---- */

static unsigned chosen_directions(const struct xb_config *config)
{
    const struct xb_value *value = xb_config_get(config, "direction");
    unsigned directions = 0;
    for (size_t i = 0; i < value->word_count; i++) {
        if (strcmp(value->words[i], "both") == 0)
            directions |= XB_H2D | XB_D2H;
        else
            directions |= strcmp(value->words[i], "h2d") == 0 ? XB_H2D : XB_D2H;
    }
    return directions;
}

static size_t variant_count(const struct xb_config *config, const struct xb_mode *mode)
{
    return mode->variant_option == NULL
               ? 1
               : xb_config_get(config, mode->variant_option->name)->word_count;
}

/* Makes room for every case there will be; add_case fills it. */
static enum xb_status allocate_cases(struct xb_run *run, const struct mode_list *list,
                                     struct xb_error *error)
{
    size_t count = 0;
    for (size_t m = 0; m < list->count; m++) {
        unsigned directions = chosen_directions(run->config) & list->modes[m]->directions;
        count +=
            variant_count(run->config, list->modes[m]) * (size_t)__builtin_popcount(directions);
    }
    count *= run->device_count * xb_config_get(run->config, "size")->sizes.count;
    if (count > MAX_CASES)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "this asks for %zu cases, and a run takes at most %u; take fewer sizes, "
                       "modes or devices",
                       count, MAX_CASES);
    run->results = calloc(count + 1, sizeof *run->results);
    if (run->results == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", count);
    return XB_OK;
}

static void add_case(struct xb_run *run, const struct xb_case *test)
{
    struct xb_result *result = &run->results[run->case_count++];
    result->test = *test;
    /* No two cases' patterns overlap. */
    result->test.seed = (unsigned long long)run->case_count << 40;
}

/* All sizes and directions of one mode's variant on one device. */
static void add_variant(struct xb_run *run, const struct xb_mode *mode, const char *variant,
                        unsigned device)
{
    const struct xb_sizes *sizes = &xb_config_get(run->config, "size")->sizes;
    const enum xb_direction order[] = {XB_H2D, XB_D2H};
    unsigned directions = chosen_directions(run->config) & mode->directions;
    for (size_t s = 0; s < sizes->count; s++) {
        for (size_t d = 0; d < sizeof order / sizeof order[0]; d++) {
            if ((directions & order[d]) == 0)
                continue;
            struct xb_case test = {.mode = mode,
                                   .variant = variant,
                                   .direction = order[d],
                                   .bytes = sizes->bytes[s],
                                   .device = device};
            add_case(run, &test);
        }
    }
}

static void add_mode(struct xb_run *run, const struct xb_mode *mode, unsigned device)
{
    const struct xb_option *option = mode->variant_option;
    for (size_t i = 0; i < variant_count(run->config, mode); i++)
        add_variant(run, mode,
                    option == NULL ? mode->variant
                                   : xb_config_get(run->config, option->name)->words[i],
                    device);
}

/* ---- memory ---- */

static enum xb_status too_large(const struct xb_case *test, uint64_t needed, const char *what,
                                uint64_t limit, const char *reach, struct xb_error *error)
{
    char size[32];
    char need[32];
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--size %s: %s needs %s of %s memory, and %.2f GiB %s; take a smaller size",
                   xb_size_format(test->bytes, size, sizeof size), test->mode->name,
                   xb_size_format(needed, need, sizeof need), what, (double)limit / 0x1p30, reach);
}

/* The device of a case: one of the run's, always. */
static const struct xb_device_info *device_of(const struct xb_run *run, const struct xb_case *test)
{
    size_t d = 0;
    while (run->devices[d].info.index != test->device)
        d++;
    return &run->devices[d].info;
}

/* Refuses what can never fit. What is free on a device is known only once it is open. */
static enum xb_status check_memory(const struct xb_run *run, struct xb_error *error)
{
    uint64_t available = 0;
    enum xb_status status = xb_host_memory_available(&available, error);
    for (size_t i = 0; status == XB_OK && i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        const struct xb_device_info *device = device_of(run, test);
        struct xb_needs needs = test->mode->needs(test, run->config);
        bool shared = device->shares_host_memory;
        uint64_t host = needs.host_bytes;
        if (shared) /* saturating: two halves of a case may not wrap around */
            host = needs.device_bytes > UINT64_MAX - host ? UINT64_MAX : host + needs.device_bytes;
        if (host > available)
            status = too_large(test, host, "host", available,
                               "can be had without driving the machine into swap", error);
        else if (!shared && device->memory_bytes > 0 && needs.device_bytes > device->memory_bytes)
            status = too_large(test, needs.device_bytes, "device", device->memory_bytes,
                               "is all it has", error);
    }
    return status;
}

enum xb_status xb_plan_check(const struct xb_config *config, struct xb_error *error)
{
    struct mode_list list;
    enum xb_status status = choose_modes(config, &list, error);
    if (status == XB_OK)
        status = refuse_idle_options(config, &list, error);
    if (status == XB_OK)
        status = refuse_all_beside_others(xb_config_get(config, "device"), error);
    return status;
}

enum xb_status xb_plan(struct xb_run *run, struct xb_error *error)
{
    struct mode_list list;
    enum xb_status status = xb_plan_check(run->config, error);
    if (status == XB_OK)
        status = choose_modes(run->config, &list, error);
    if (status == XB_OK)
        status = choose_devices(run, error);
    if (status == XB_OK)
        status = allocate_cases(run, &list, error);
    if (status != XB_OK)
        return status;
    for (size_t d = 0; d < run->device_count; d++)
        for (size_t m = 0; m < list.count; m++)
            add_mode(run, list.modes[m], run->devices[d].info.index);
    return check_memory(run, error);
}
