/* SPDX-License-Identifier: Apache-2.0 */
/* From --numa to the NUMA nodes of host memory. */
#include "node_choice.h"

#include "base/left_out.h"
#include "machine/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned xb_mode_host_directions(const struct xb_mode *mode, unsigned directions)
{
    return mode->pairs ? 0 : directions & ~(unsigned)XB_D2D;
}

/* "; there are: 0, 1" */
static void list_nodes(const struct xb_topology *topology, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int node = -1; (node = xb_topology_next_node(topology, node)) >= 0 && used < size;)
        used += (size_t)snprintf(text + used, size - used, "%s%d", used > 0 ? ", " : "", node);
}

static bool is_number(const char *word)
{
    return word[0] != '\0' && strspn(word, "0123456789") == strlen(word) && strlen(word) < 9;
}

static bool is_there(const struct xb_topology *topology, int wanted)
{
    int node = -1;
    do
        node = xb_topology_next_node(topology, node);
    while (node >= 0 && node != wanted);
    return node >= 0;
}

static enum xb_status choose_all(const struct xb_topology *topology, struct xb_node_choice *choice)
{
    for (int node = -1;
         choice->count < XB_NODES && (node = xb_topology_next_node(topology, node)) >= 0;)
        choice->nodes[choice->count++] = (unsigned)node;
    return XB_OK;
}

static enum xb_status add_node(const struct xb_topology *topology, const char *word,
                               struct xb_node_choice *choice, struct xb_error *error)
{
    char nodes[256];
    list_nodes(topology, nodes, sizeof nodes);
    if (!is_number(word))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: '%s' is no NUMA node; take near, all, or numbers of: %s", word,
                       nodes);
    unsigned node = (unsigned)strtoul(word, NULL, 10);
    if (!is_there(topology, (int)node))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa: there is no NUMA node %u with memory that this process may use; "
                       "there are: %s",
                       node, nodes);
    for (size_t i = 0; i < choice->count; i++)
        if (choice->nodes[i] == node)
            return XB_FAIL(error, XB_ERR_USAGE, "--numa: node %u is named twice", node);
    if (choice->count == XB_NODES)
        return XB_FAIL(error, XB_ERR_USAGE, "--numa names more than %d nodes", XB_NODES);
    choice->nodes[choice->count++] = node;
    return XB_OK;
}

static enum xb_status read_words(const struct xb_value *value, const struct xb_topology *topology,
                                 struct xb_node_choice *choice, struct xb_error *error)
{
    if (strcmp(value->words[0], "all") == 0)
        return choose_all(topology, choice);
    for (size_t i = 0; i < value->word_count; i++) {
        enum xb_status status = add_node(topology, value->words[i], choice, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

/* 'near' and 'all' say which nodes, so another word beside them is a mistake; and without host
 * memory the option would be ignored in silence. */
static enum xb_status check_words(const struct xb_config *config, const struct xb_value *value,
                                  const struct xb_mode_choice *modes, struct xb_error *error)
{
    for (size_t i = 0; value->word_count > 1 && i < value->word_count; i++)
        if (strcmp(value->words[i], "near") == 0 || strcmp(value->words[i], "all") == 0)
            return XB_FAIL(error, XB_ERR_USAGE, "--numa: give '%s' alone", value->words[i]);
    for (size_t m = 0; m < modes->count; m++)
        if (xb_mode_host_directions(modes->modes[m], xb_mode_directions(config, modes->modes[m])) !=
            0)
            return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--numa has no effect on the chosen modes: they use no host memory");
}

enum xb_status xb_node_choose(const struct xb_config *config, const struct xb_mode_choice *modes,
                              struct xb_node_choice *choice, struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(config, "numa");
    struct xb_topology *topology = NULL;
    choice->count = 0;
    if (value->word_count == 1 && strcmp(value->words[0], "near") == 0)
        return XB_OK;
    if (xb_is_left_out("hwloc"))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--numa needs hwloc, which is not in this build; leave it out");
    enum xb_status status = check_words(config, value, modes, error);
    if (status != XB_OK)
        return status;
    status = xb_topology_open(&topology, error);
    if (status != XB_OK)
        return status;
    status = read_words(value, topology, choice, error);
    xb_topology_close(topology);
    return status;
}
