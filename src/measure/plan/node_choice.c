/* SPDX-License-Identifier: Apache-2.0 */
/* From --numa to the NUMA nodes of host memory. */
#include "planning.h"

#include "base/left_out.h"
#include "base/terminal.h"
#include "machine/topology.h"

#include <stdlib.h>
#include <string.h>

unsigned xb_mode_host_directions(const struct xb_mode *mode, unsigned directions)
{
    return mode->pairs ? 0 : directions & ~(unsigned)XB_D2D;
}

/* All nodes with memory that this process may use. */
static struct xb_node_choice all_nodes(const struct xb_topology *topology)
{
    struct xb_node_choice all = {.count = 0};
    for (int node = -1;
         all.count < XB_NODES && (node = xb_topology_next_node(topology, node)) >= 0;)
        all.nodes[all.count++] = (unsigned)node;
    return all;
}

static bool has_node(const struct xb_node_choice *choice, unsigned node)
{
    for (size_t i = 0; i < choice->count; i++)
        if (choice->nodes[i] == node)
            return true;
    return false;
}

static enum xb_status add_node(const struct xb_node_choice *all, const char *word,
                               struct xb_node_choice *choice, struct xb_error *error)
{
    struct xb_words there = {.length = 0};
    unsigned node = (unsigned)strtoul(word, NULL, 10);
    for (size_t i = 0; i < all->count; i++)
        xb_words_add(&there, "%s%u", i > 0 ? ", " : "", all->nodes[i]);
    if (word[0] == '\0' || strspn(word, "0123456789") != strlen(word) || strlen(word) > 8)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: '%s' is no NUMA node; take near, all, or numbers of: %s", word,
                       there.text);
    if (!has_node(all, node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: there is no NUMA node %u with memory that this process may use; "
                       "there are: %s",
                       node, there.text);
    if (has_node(choice, node))
        return XB_FAIL(error, XB_ERR_USAGE, "--numa: node %u is named twice", node);
    choice->nodes[choice->count++] = node;
    return XB_OK;
}

/* 'near' and 'all' say which nodes, so another word beside them is a mistake; and without host
 * memory the option would be ignored in silence. */
static enum xb_status check_words(const struct xb_run_options *asked,
                                  const struct xb_mode_choice *modes, struct xb_error *error)
{
    const struct xb_word_list *words = &asked->numa;
    for (size_t i = 0; words->count > 1 && i < words->count; i++)
        if (strcmp(words->items[i], "near") == 0 || strcmp(words->items[i], "all") == 0)
            return XB_FAIL(error, XB_ERR_USAGE, "--numa: give '%s' alone", words->items[i]);
    for (size_t m = 0; m < modes->count; m++)
        if (xb_mode_host_directions(modes->modes[m], xb_mode_directions(asked, modes->modes[m])) !=
            0)
            return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--numa has no effect on the chosen modes: they use no host memory");
}

enum xb_status xb_node_choose(const struct xb_run_options *asked,
                              const struct xb_mode_choice *modes, struct xb_node_choice *choice,
                              struct xb_error *error)
{
    const struct xb_word_list *words = &asked->numa;
    struct xb_topology *topology = NULL;
    choice->count = 0;
    if (words->count == 1 && strcmp(words->items[0], "near") == 0)
        return XB_OK;
    if (xb_is_left_out("hwloc"))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa needs hwloc, which is not in this build; leave it out");
    XB_TRY(check_words(asked, modes, error));
    XB_TRY(xb_topology_open(&topology, error));
    const struct xb_node_choice all = all_nodes(topology);
    xb_topology_close(topology);
    if (strcmp(words->items[0], "all") == 0) {
        *choice = all;
        return XB_OK;
    }
    for (size_t i = 0; i < words->count; i++)
        XB_TRY(add_node(&all, words->items[i], choice, error));
    return XB_OK;
}
