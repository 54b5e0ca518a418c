/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From --mode and --direction to modes, and whether these have the options given; from --device and
 * --pairs to devices, and from --numa to the NUMA nodes of host memory. */
#include "planning.h"

#include "base/left_out.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "record/mode_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- modes ---- */

static enum xb_status unknown_mode(const char *name, struct xb_error *error)
{
    const char *names[66];
    size_t count = 0;
    struct xb_words list = {.length = 0};
    for (size_t i = 0; xb_modes[i] != NULL && count < 64; i++) {
        names[count++] = xb_modes[i]->name;
        xb_words_add(&list, "%s ", xb_modes[i]->name);
    }
    names[count++] = "all";
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    return XB_FAIL(error, XB_ERR_USAGE, "--mode: there is no mode '%s'%s%s%s The modes are: %sall",
                   name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : ".", list.text);
}

/* A word that is in the list `alone` ("near,all") says everything already: where others are beside
 * it, one of them is a mistake. */
static enum xb_status refuse_beside_others(const char *option, const char *alone,
                                           const struct xb_word_list *words, struct xb_error *error)
{
    for (size_t i = 0; words->count > 1 && i < words->count; i++)
        if (xb_list_has(alone, words->items[i]))
            return XB_FAIL(error, XB_ERR_USAGE, "--%s: give '%s' alone", option, words->items[i]);
    return XB_OK;
}

unsigned xb_mode_directions(const struct xb_run_options *asked, const struct xb_mode *mode)
{
    /* The directions that the user named; 0 for none. */
    unsigned named = xb_word_is_in(&asked->direction, "both") ? XB_H2D | XB_D2H : 0;
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if (xb_word_is_in(&asked->direction, xb_direction_name((enum xb_direction)(1u << d))))
            named |= 1u << d;
    if (named != 0)
        return named & mode->directions;
    /* Both ways at once are not a single operation: --latency means the other directions, if the
     * mode has any. */
    if (asked->latency && (mode->by_default & ~(unsigned)XB_BIDIR) != 0)
        return mode->by_default & ~(unsigned)XB_BIDIR;
    return mode->by_default;
}

/* The variant that would have to be chosen for an option of the mode to matter; NULL: it does. */
static const char *lacking_variant(const struct xb_run_options *asked, const struct xb_mode *mode,
                                   const struct xb_option *option)
{
    const struct xb_parameter *parameter = mode->parameters;
    const char *lacking = NULL;
    for (; parameter != NULL && parameter->option != NULL; parameter++) {
        if (parameter->option != option)
            continue;
        if (parameter->variant == NULL ||
            xb_word_is_in(&xb_config_get(asked->config, mode->variant_option)->words,
                          parameter->variant))
            return NULL;
        lacking = lacking == NULL ? parameter->variant : lacking;
    }
    return lacking;
}

/* Refuses an option that matters in no chosen mode that has cases in the directions named. */
static enum xb_status refuse_if_idle(const struct xb_run_options *asked,
                                     const struct xb_mode_choice *choice,
                                     const struct xb_option *option, struct xb_error *error)
{
    const struct xb_mode *has_it = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const struct xb_mode *mode = choice->modes[i];
        if (xb_mode_directions(asked, mode) == 0 ||
            xb_option_find(mode->options, option->name) == NULL)
            continue;
        if (lacking_variant(asked, mode, option) == NULL)
            return XB_OK;
        has_it = mode;
    }
    if (has_it != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "--%s has no effect without --%s %s", option->name,
                       has_it->variant_option->name, lacking_variant(asked, has_it, option));
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--%s has no effect on the chosen modes; see 'xferbench --help MODE' for what a "
                   "mode takes",
                   option->name);
}

/* Refuses a direction that a mode named by the user has not, because that mode would be left out in
 * silence. */
static enum xb_status refuse_other_ways(const struct xb_run_options *asked,
                                        const struct xb_mode_choice *choice, struct xb_error *error)
{
    bool all = xb_word_is_in(&asked->mode, "all"); /* alone */
    bool any = false;
    for (size_t m = 0; m < choice->count; m++) {
        bool goes = xb_mode_directions(asked, choice->modes[m]) != 0;
        any = any || goes;
        if (!all && !goes)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--direction %s: %s does not go that way; see 'xferbench --help %s'",
                           asked->direction_text, choice->modes[m]->name, choice->modes[m]->name);
    }
    return any ? XB_OK
               : XB_FAIL(error, XB_ERR_USAGE, "--direction %s: no mode goes that way",
                         asked->direction_text);
}

/* "pinned, async or peer d2d (not staged)". */
enum xb_status xb_mode_refuse_simultaneous(struct xb_error *error)
{
    const struct xb_mode *last = NULL;
    struct xb_words words = {.length = 0};
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        last = xb_modes[m]->simultaneous ? xb_modes[m] : last;
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_mode *mode = xb_modes[m];
        if (!mode->simultaneous)
            continue;
        xb_words_add(&words, "%s%s%s",
                     words.length == 0 ? ""
                     : mode == last    ? " or "
                                       : ", ",
                     mode->name, mode->pairs ? " d2d" : "");
        if (mode->only_alone != NULL)
            xb_words_add(&words, " (not %s)", mode->only_alone);
    }
    return XB_FAIL(error, XB_ERR_USAGE, "--simultaneous starts several devices together: take %s",
                   words.text);
}

enum xb_status xb_mode_choose(const struct xb_run_options *asked, struct xb_mode_choice *choice,
                              struct xb_error *error)
{
    const struct xb_word_list *words = &asked->mode;
    const size_t capacity = sizeof choice->modes / sizeof choice->modes[0];
    bool all = xb_word_is_in(words, "all");
    XB_TRY(refuse_beside_others("mode", "all", words, error));
    for (size_t i = 0; all && xb_modes[i] != NULL && choice->count < capacity; i++)
        if (!xb_modes[i]->only_named && (asked->latency || xb_modes[i]->latency == NULL))
            choice->modes[choice->count++] = xb_modes[i];
    for (size_t i = 0; !all && i < words->count && choice->count < capacity; i++) {
        const struct xb_mode *mode = xb_mode_find(words->items[i]);
        if (mode == NULL)
            return unknown_mode(words->items[i], error);
        choice->modes[choice->count++] = mode;
    }
    for (size_t i = 0; i < asked->config->count; i++) {
        const struct xb_value *value = &asked->config->values[i];
        if (value->given && xb_modes_take(value->option->name))
            XB_TRY(refuse_if_idle(asked, choice, value->option, error));
    }
    XB_TRY(refuse_other_ways(asked, choice, error));
    XB_TRY(refuse_beside_others("device", "all", &asked->device, error));
    return asked->simultaneous && asked->latency
               ? XB_FAIL(error, XB_ERR_USAGE,
                         "--simultaneous measures bandwidth; leave out --latency")
               : XB_OK;
}

/* ---- devices ---- */

const struct xb_option xb_option_pairs = {
    XB_CHOICE("pairs", "FROM:TO[,FROM:TO]"),
    .help = "Which pairs of devices, by number. Without it: every ordered pair of --device, or of "
            "all devices.",
    .selects = true,
};

static enum xb_status no_device(const struct xb_run *run, const char *option, const char *word,
                                struct xb_error *error)
{
    struct xb_words list = {.length = 0}; /* " 0 0000:01:00.0 NVIDIA H200; 1 ..." */
    for (unsigned i = 0; i < run->probe.device_count; i++) {
        struct xb_device_info info;
        if (run->backend->device_info(run->driver, i, &info, error) == XB_OK)
            xb_words_add(&list, "%s %u %s%s%s", list.length > 0 ? ";" : "", i, info.pci_bdf,
                         info.pci_bdf[0] != '\0' ? " " : "", info.name);
    }
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--%s: the %s backend has no device '%s'; its devices are:%s", option,
                   run->backend->name, word, list.text);
}

/* Reads a number of at most eight digits; false for any other word. */
static bool read_number(const char *word, unsigned *number)
{
    *number = (unsigned)strtoul(word, NULL, 10);
    return word[0] != '\0' && strspn(word, "0123456789") == strlen(word) && strlen(word) <= 8;
}

static bool is_listed(const unsigned *list, size_t count, unsigned number)
{
    size_t i = 0;
    while (i < count && list[i] != number)
        i++;
    return i < count;
}

/* The index of the device that a word of the option names: a number or a PCI address. */
static enum xb_status find_device(const struct xb_run *run, const char *option, const char *word,
                                  unsigned *index, struct xb_error *error)
{
    if (read_number(word, index))
        return *index < run->probe.device_count ? XB_OK : no_device(run, option, word, error);
    for (unsigned i = 0; i < run->probe.device_count; i++) {
        struct xb_device_info info;
        struct xb_error ignored; /* this device may not be the one named */
        if (run->backend->device_info(run->driver, i, &info, &ignored) != XB_OK ||
            info.pci_bdf[0] == '\0')
            continue;
        const char *colon =
            strchr(info.pci_bdf, ':'); /* behind the domain, which may be left out */
        if (strcasecmp(word, info.pci_bdf) == 0 ||
            (colon != NULL && strcasecmp(word, colon + 1) == 0)) {
            *index = i;
            return XB_OK;
        }
    }
    return no_device(run, option, word, error);
}

/* Makes the device one of the run's, if it is not yet. */
static enum xb_status add_device(struct xb_run *run, unsigned index, struct xb_error *error)
{
    struct xb_run_device *device = &run->devices[run->device_count];
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].info.index == index)
            return XB_OK;
    /* One that does not answer will not open either: its cases become error rows, and those of the
     * others go on. */
    enum xb_status status = run->backend->device_info(run->driver, index, &device->info, error);
    if (status == XB_ERR_RUNTIME) {
        device->info = (struct xb_device_info){.index = index};
        snprintf(device->info.name, sizeof device->info.name, "a device that does not answer");
    } else if (status != XB_OK) {
        return status;
    }
    XB_TRY(xb_registry_check_device(run->backend, &device->info, error));
    /* This holds until a case needs the device. */
    device->binding = (struct xb_binding){.node = -1, .note_is_normal = true};
    snprintf(device->binding.note, sizeof device->binding.note, "no case has used the device");
    run->device_count++;
    return XB_OK;
}

/* Adds the pair that a word such as "0:1" names. Its devices are numbers: a PCI address has colons
 * of its own. */
static enum xb_status read_pair(const struct xb_run *run, const char *word,
                                struct xb_device_choice *choice, struct xb_error *error)
{
    unsigned from = 0, to = 0;
    char first[16];
    const char *colon = strchr(word, ':');
    if (colon == NULL || strspn(word, "0123456789:") != strlen(word) ||
        strchr(colon + 1, ':') != NULL || (size_t)(colon - word) >= sizeof first)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--pairs: \"%.40s\" is not a pair; write source:destination, such as 0:1",
                       word);
    snprintf(first, sizeof first, "%.*s", (int)(colon - word), word);
    XB_TRY(find_device(run, "pairs", first, &from, error));
    XB_TRY(find_device(run, "pairs", colon + 1, &to, error));
    if (from == to)
        return XB_FAIL(error, XB_ERR_USAGE, "--pairs: %u:%u is one device, not two", from, to);
    for (size_t i = 0; i < choice->pair_count; i++)
        if (choice->pairs[i].from == from && choice->pairs[i].to == to)
            return XB_FAIL(error, XB_ERR_USAGE, "--pairs: %u:%u is named twice", from, to);
    choice->pairs[choice->pair_count++] = (struct xb_pair){from, to};
    return XB_OK;
}

/* Adds the pairs that are named, or every ordered pair of the chosen devices, or of all devices if
 * none was chosen. Only modes of pairs have the option. */
static enum xb_status choose_pairs(const struct xb_run *run, struct xb_device_choice *choice,
                                   struct xb_error *error)
{
    const struct xb_word_list *named = &xb_config_get(run->asked.config, &xb_option_pairs)->words;
    bool chosen = run->asked.device_given;
    size_t count = chosen ? choice->device_count : run->probe.device_count;
    for (size_t i = 0; i < named->count; i++)
        XB_TRY(read_pair(run, named->items[i], choice, error));
    for (size_t a = 0; named->count == 0 && a < count; a++)
        for (size_t b = 0; b < count; b++)
            if (a != b)
                choice->pairs[choice->pair_count++] =
                    (struct xb_pair){chosen ? choice->devices[a] : (unsigned)a,
                                     chosen ? choice->devices[b] : (unsigned)b};
    return XB_OK;
}

enum xb_status xb_device_choose(struct xb_run *run, bool singles, bool pairs,
                                struct xb_device_choice *choice, struct xb_error *error)
{
    const struct xb_run_options *asked = &run->asked;
    bool all =
        (asked->simultaneous && !asked->device_given) || xb_word_is_in(&asked->device, "all");
    for (unsigned i = 0; all && i < run->probe.device_count; i++)
        choice->devices[choice->device_count++] = i;
    for (size_t i = 0; !all && i < asked->device.count; i++) {
        unsigned index = 0;
        XB_TRY(find_device(run, "device", asked->device.items[i], &index, error));
        if (is_listed(choice->devices, choice->device_count, index))
            return XB_FAIL(error, XB_ERR_USAGE, "--device: device %u is named twice", index);
        choice->devices[choice->device_count++] = index;
    }
    if (pairs)
        XB_TRY(choose_pairs(run, choice, error));
    /* If only pairs are measured, no device that is in none of them takes part. */
    for (size_t i = 0; (singles || choice->pair_count == 0) && i < choice->device_count; i++)
        XB_TRY(add_device(run, choice->devices[i], error));
    for (size_t i = 0; i < choice->pair_count; i++) {
        XB_TRY(add_device(run, choice->pairs[i].from, error));
        XB_TRY(add_device(run, choice->pairs[i].to, error));
    }
    return XB_OK;
}

/* ---- NUMA nodes ---- */

unsigned xb_mode_host_directions(const struct xb_mode *mode, unsigned directions)
{
    return mode->pairs ? 0 : directions & ~(unsigned)XB_D2D;
}

/* Lists those with memory that this process may use. `option` asks for it. */
static enum xb_status list_nodes(const char *option, struct xb_node_choice *all,
                                 struct xb_error *error)
{
    struct xb_topology *topology = NULL;
    if (xb_is_left_out("hwloc"))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s needs hwloc, which is not in this build; leave it out", option);
    XB_TRY(xb_topology_open(&topology, error));
    for (int node = -1;
         all->count < XB_NODES && (node = xb_topology_next_node(topology, node)) >= 0;)
        all->nodes[all->count++] = (unsigned)node;
    xb_topology_close(topology);
    return XB_OK;
}

/* `option` names the node. */
static enum xb_status add_node(const struct xb_node_choice *all, const char *option,
                               const char *word, struct xb_node_choice *choice,
                               struct xb_error *error)
{
    struct xb_words there = {.length = 0};
    unsigned node = 0;
    for (size_t i = 0; i < all->count; i++)
        xb_words_add(&there, "%s%u", i > 0 ? ", " : "", all->nodes[i]);
    if (!read_number(word, &node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: '%s' is no NUMA node; take near, all, or numbers of: %s", option, word,
                       there.text);
    if (!is_listed(all->nodes, all->count, node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: there is no NUMA node %u with memory that this process may use; "
                       "there are: %s",
                       option, node, there.text);
    if (is_listed(choice->nodes, choice->count, node))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: node %u is named twice", option, node);
    choice->nodes[choice->count++] = node;
    return XB_OK;
}

enum xb_status xb_node_choose(const struct xb_run_options *asked,
                              const struct xb_mode_choice *modes, struct xb_node_choice *choice,
                              struct xb_error *error)
{
    const struct xb_word_list *words = &asked->numa;
    struct xb_node_choice all = {.count = 0};
    if (words->count == 1 && strcmp(words->items[0], "near") == 0)
        return XB_OK;
    XB_TRY(list_nodes("--numa", &all, error));
    XB_TRY(refuse_beside_others("numa", "near,all", words, error));
    bool has_effect = false; /* a mode has host memory: else it would be ignored in silence */
    for (size_t m = 0; m < modes->count; m++)
        has_effect = has_effect || xb_mode_host_directions(
                                       modes->modes[m], xb_mode_directions(asked, modes->modes[m]));
    if (!has_effect)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa has no effect on the chosen modes: they use no host memory");
    if (strcmp(words->items[0], "all") == 0) {
        *choice = all;
        return XB_OK;
    }
    for (size_t i = 0; i < words->count; i++)
        XB_TRY(add_node(&all, "--numa", words->items[i], choice, error));
    return XB_OK;
}

/* ---- a set of transfers ---- */

enum xb_status xb_set_choose(struct xb_run *run, const struct xb_case *transfer,
                             struct xb_error *error)
{
    const int devices[] = {(int)transfer->device, transfer->peer};
    struct xb_node_choice all = {.count = 0}, chosen = {.count = 0};
    char word[16];
    for (int i = 0; i < 2 && devices[i] != XB_NO_PEER; i++) {
        unsigned index;
        snprintf(word, sizeof word, "%d", devices[i]);
        XB_TRY(find_device(run, "transfer", word, &index, error));
        XB_TRY(add_device(run, index, error));
    }
    if (!transfer->has_node)
        return XB_OK;
    snprintf(word, sizeof word, "%u", transfer->node);
    XB_TRY(list_nodes("--transfer", &all, error));
    return add_node(&all, "--transfer", word, &chosen, error);
}
