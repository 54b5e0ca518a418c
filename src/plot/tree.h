/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_TREE_H
#define XFERBENCH_PLOT_TREE_H

#include "svg.h"

#include <stdbool.h>

/* A tree of named boxes from the top down, such as the way from a CPU by its bridges to a GPU. */

struct xb_node {
    size_t parent;    /* index of an earlier node; its own index: a root */
    const char *name; /* in the box, up to three lines parted by '\n' */
    const char *edge; /* beside the line to its parent, such as "Gen4 x8"; NULL: nothing */
    const char *look; /* class of that line and box: "good", "bad", "unsure" or "" */
};

struct xb_tree {
    struct xb_picture picture;
    const struct xb_node *nodes;
    size_t count;
};

void xb_tree_draw(FILE *stream, const struct xb_tree *tree, bool alone);

#endif
