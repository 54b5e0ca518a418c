/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_TREE_H
#define XFERBENCH_PLOT_TREE_H

#include "svg.h"

/* A tree of named boxes from the top down, such as the way from a CPU by its bridges to a GPU. */

struct xb_node {
    size_t parent;    /* index of an earlier node; its own index: a root */
    const char *name; /* in the box, up to three lines parted by '\n' */
    /* Beside the line to its parent, such as "Gen4 x8", up to two lines; NULL: nothing. */
    const char *edge;
    const char *look;      /* class of the box: "good", "bad", "unsure" or "" */
    const char *edge_look; /* class of that line; NULL: as the box */
};

struct xb_tree {
    struct xb_picture picture;
    const struct xb_node *nodes;
    size_t count;
};

/* As many nodes are drawn; the picture says how many more there are. */
#define XB_TREE_MOST 64

void xb_tree_draw(FILE *stream, const void *picture, bool is_alone);

#endif
