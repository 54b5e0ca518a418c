/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From --device and --pairs to devices, and from --numa to the NUMA nodes of host memory. */
#include "planning.h"

#include "base/left_out.h"
#include "base/memory.h"
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    if (run->probe.device_count > XB_RUN_DEVICES)
        return XB_FAIL(error, XB_ERR_USAGE, "there are %u devices, and a run takes at most %d",
                       run->probe.device_count, XB_RUN_DEVICES);
    run->devices = xb_new(XB_RUN_DEVICES + 1, sizeof *run->devices);
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

static enum xb_status add_node(const struct xb_node_choice *all, const char *word,
                               struct xb_node_choice *choice, struct xb_error *error)
{
    struct xb_words there = {.length = 0};
    unsigned node = 0;
    for (size_t i = 0; i < all->count; i++)
        xb_words_add(&there, "%s%u", i > 0 ? ", " : "", all->nodes[i]);
    if (!read_number(word, &node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: '%s' is no NUMA node; take near, all, or numbers of: %s", word,
                       there.text);
    if (!is_listed(all->nodes, all->count, node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: there is no NUMA node %u with memory that this process may use; "
                       "there are: %s",
                       node, there.text);
    if (is_listed(choice->nodes, choice->count, node))
        return XB_FAIL(error, XB_ERR_USAGE, "--numa: node %u is named twice", node);
    choice->nodes[choice->count++] = node;
    return XB_OK;
}

enum xb_status xb_node_choose(const struct xb_run_options *asked,
                              const struct xb_mode_choice *modes, struct xb_node_choice *choice,
                              struct xb_error *error)
{
    const struct xb_word_list *words = &asked->numa;
    struct xb_topology *topology = NULL;
    struct xb_node_choice all = {.count = 0}; /* with memory that this process may use */
    if (words->count == 1 && strcmp(words->items[0], "near") == 0)
        return XB_OK;
    if (xb_is_left_out("hwloc"))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa needs hwloc, which is not in this build; leave it out");
    XB_TRY(xb_choice_refuse_beside_others("numa", "near,all", words, error));
    bool has_effect = false; /* a mode has host memory: else it would be ignored in silence */
    for (size_t m = 0; m < modes->count; m++)
        has_effect = has_effect || xb_mode_host_directions(
                                       modes->modes[m], xb_mode_directions(asked, modes->modes[m]));
    if (!has_effect)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa has no effect on the chosen modes: they use no host memory");
    XB_TRY(xb_topology_open(&topology, error));
    for (int node = -1;
         all.count < XB_NODES && (node = xb_topology_next_node(topology, node)) >= 0;)
        all.nodes[all.count++] = (unsigned)node;
    xb_topology_close(topology);
    if (strcmp(words->items[0], "all") == 0) {
        *choice = all;
        return XB_OK;
    }
    for (size_t i = 0; i < words->count; i++)
        XB_TRY(add_node(&all, words->items[i], choice, error));
    return XB_OK;
}
