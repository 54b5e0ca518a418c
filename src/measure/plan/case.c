/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a case: the values of its parameters, and whether two cases are the same. */
#include "case.h"
#include "base/options.h"
#include "base/units.h"
#include "xferbench/workspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

bool xb_case_set(struct xb_case *test, size_t combination, const struct xb_config *config)
{
    /* Make room in the case for each parameter that matters, in place of what it had. */
    const struct xb_parameter *parameter = test->mode->parameters;
    test->setting_count = 0;
    for (; parameter != NULL && parameter->option != NULL; parameter++) {
        bool matters = parameter->variant == NULL || strcmp(parameter->variant, test->variant) == 0;
        /* Without a configuration only words of a list are known. */
        if (!matters || (config == NULL && parameter->option->choices == NULL))
            continue;
        if (test->setting_count == XB_CASE_SETTINGS)
            abort();
        test->settings[test->setting_count++] = (struct xb_setting){.option = parameter->option};
    }
    for (size_t i = test->setting_count; i-- > 0;) {
        struct xb_setting *setting = &test->settings[i];
        const struct xb_option *option = setting->option;
        const struct xb_value *value = config != NULL ? xb_config_get(config, option) : NULL;
        size_t count = value != NULL ? xb_value_length(value) : 0;
        while (value == NULL && option->choices[count] != NULL)
            count++;
        if (count == 0) /* a parameter has a default */
            abort();
        if (value == NULL)
            setting->word = option->choices[combination % count];
        else if (option->type == XB_OPTION_CHOICES)
            setting->word = value->words.items[combination % count];
        else if (option->type == XB_OPTION_TEXT)
            setting->word = value->text;
        else
            setting->count = xb_value_number(value, combination % count);
        combination /= count;
    }
    return combination == 0;
}

const struct xb_setting *xb_case_find_setting(const struct xb_case *test,
                                              const struct xb_option *option)
{
    for (size_t i = 0; i < test->setting_count; i++)
        if (test->settings[i].option == option)
            return &test->settings[i];
    return NULL;
}

const struct xb_setting *xb_case_setting(const struct xb_case *test, const struct xb_option *option)
{
    const struct xb_setting *setting = xb_case_find_setting(test, option);
    if (setting == NULL) {
        fprintf(stderr, "xferbench: bug: --%s is not listed in .parameters of mode %s\n",
                option->name, test->mode->name);
        abort();
    }
    return setting;
}

bool xb_case_is(const struct xb_case *test, const struct xb_option *option, const char *word)
{
    const struct xb_setting *setting = xb_case_find_setting(test, option);
    return setting != NULL && strcmp(setting->word, word) == 0;
}

/* ---- cases ---- */

bool xb_case_can_be(const struct xb_case *test)
{
    struct xb_error error;
    return test->mode->check_variant == NULL || test->mode->check_variant(test, &error) == XB_OK;
}

struct xb_needs xb_case_needs(const struct xb_case *test)
{
    struct xb_buffers all = {.count = 0};
    struct xb_needs needs = {0, 0};
    uint64_t of_peer = 0;
    test->mode->buffers(test, &all);
    for (const struct xb_taken *one = all.list; one < all.list + all.count; one++) {
        uint64_t *there = one->how == XB_OF_PEER ? &of_peer : &needs.device_bytes;
        if (one->memory != XB_MEMORY_DEVICE)
            needs.host_bytes = xb_sum(needs.host_bytes, one->bytes);
        if (one->memory == XB_MEMORY_DEVICE || one->memory == XB_MEMORY_MANAGED)
            *there = xb_sum(*there, one->bytes);
    }
    needs.device_bytes = needs.device_bytes > of_peer ? needs.device_bytes : of_peer;
    return needs;
}

bool xb_case_concerns(const struct xb_case *test, unsigned index)
{
    return !test->sum && (test->device == index || test->peer == (int)index);
}

bool xb_case_same_node(const struct xb_case *a, const struct xb_case *b)
{
    return a->has_node == b->has_node && (!a->has_node || a->node == b->node);
}

/* Whether both are of one mode, variant, parameters and NUMA node. */
static bool same_kind(const struct xb_case *a, const struct xb_case *b)
{
    bool same = a->mode == b->mode && strcmp(a->variant, b->variant) == 0 &&
                a->setting_count == b->setting_count && xb_case_same_node(a, b);
    for (size_t i = 0; same && i < a->setting_count; i++) {
        const struct xb_setting *one = &a->settings[i], *other = &b->settings[i];
        same = one->option == other->option && one->count == other->count &&
               (one->word == NULL || strcmp(one->word, other->word) == 0);
    }
    return same;
}

bool xb_case_alike(const struct xb_case *a, const struct xb_case *b)
{
    return same_kind(a, b) && a->direction == b->direction && a->bytes == b->bytes;
}

bool xb_case_same_path(const struct xb_case *a, const struct xb_case *b)
{
    bool same_direction = a->direction == b->direction ||
                          ((a->direction | b->direction) & ~(unsigned)(XB_H2D | XB_D2H)) == 0;
    return same_kind(a, b) && same_direction && a->device == b->device && a->peer == b->peer;
}

const char *xb_case_settings_text(const struct xb_case *test, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < test->setting_count && used < size; i++) {
        const struct xb_setting *setting = &test->settings[i];
        const struct xb_option *option = setting->option;
        char number[24], bytes[32];
        snprintf(number, sizeof number, "%" PRIu64, setting->count);
        const char *word = setting->word != NULL ? setting->word : number;
        if (!xb_option_is_list(option) || xb_option_is_usual(option, word))
            continue;
        /* For people: a size as "8 MiB", and 0 B as "0". */
        if (setting->word == NULL && setting->count > 0 &&
            (option->type == XB_OPTION_SIZE || option->type == XB_OPTION_SIZES))
            word = xb_size_format(setting->count, bytes, sizeof bytes);
        used += (size_t)snprintf(text + used, size - used, " %s %s", option->name, word);
    }
    return text;
}

bool xb_case_is_by_kernel(const struct xb_case *test)
{
    return test->mode->capabilities != NULL &&
           (test->mode->capabilities(test) & XB_CAP_KERNELS) != 0;
}

const char *xb_case_transfer_text(const struct xb_case *test, char *text)
{
    const unsigned peer = test->peer != XB_NO_PEER ? (unsigned)test->peer : test->device;
    char host[24] = "host", from[24], to[24], bytes[32];
    if (test->has_node)
        snprintf(host, sizeof host, "host:%u", test->node);
    snprintf(from, sizeof from, "gpu:%u", test->device);
    snprintf(to, sizeof to, "gpu:%u", test->direction == XB_H2D ? test->device : peer);
    snprintf(text, XB_CASE_PLACE_TEXT, "%s > %s %s%s", test->direction == XB_H2D ? host : from,
             test->direction == XB_D2H ? host : to, xb_size_format(test->bytes, bytes, 32),
             xb_case_is_by_kernel(test) ? " by kernel" : "");
    return text;
}

const char *xb_case_place_text(const struct xb_case *test, char *text)
{
    char node[32] = "", transfer[XB_CASE_PLACE_TEXT];
    if (test->has_node)
        snprintf(node, sizeof node, ", NUMA node %u", test->node);
    if (test->transfer > 0)
        snprintf(text, XB_CASE_PLACE_TEXT, "transfer %u: %.80s", test->transfer,
                 xb_case_transfer_text(test, transfer));
    else if (test->peer != XB_NO_PEER)
        snprintf(text, XB_CASE_PLACE_TEXT, "device %u to %d%s", test->device, test->peer, node);
    else if (test->group == XB_GROUP_ONE_TO_ALL)
        snprintf(text, XB_CASE_PLACE_TEXT, "device %u to all others%s", test->device, node);
    else if (test->group == XB_GROUP_ALL_TO_ONE)
        snprintf(text, XB_CASE_PLACE_TEXT, "all others to device %u%s", test->device, node);
    else if (test->group == XB_GROUP_ALL_TO_ALL)
        snprintf(text, XB_CASE_PLACE_TEXT, "all pairs at the same time");
    else if (test->sum)
        snprintf(text, XB_CASE_PLACE_TEXT, "at the same time%s", node);
    else
        snprintf(text, XB_CASE_PLACE_TEXT, "device %u%s", test->device, node);
    return text;
}

const char *xb_case_text(const struct xb_case *test, char *text, size_t size)
{
    char settings[XB_CASE_SETTINGS_TEXT], bytes[32], place[XB_CASE_PLACE_TEXT];
    snprintf(text, size, "%s %s%s %s %s %s", test->mode->name, test->variant,
             xb_case_settings_text(test, settings, sizeof settings),
             xb_direction_name(test->direction), xb_size_format(test->bytes, bytes, sizeof bytes),
             xb_case_place_text(test, place));
    return text;
}
