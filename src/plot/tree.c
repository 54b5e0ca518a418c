/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <string.h>

#define LINES 3
#define EDGE_LINES 2
#define BOX_MOST 200.0
#define BOX_LEAST 90.0
#define BETWEEN_BOXES 18.0
#define BETWEEN_LEVELS 54.0
#define TRUNK 10.0
#define WIDTH_LEAST 360.0

struct place {
    double width, height; /* of the box */
    double room;          /* width of all below it, and of itself */
    double x, y;          /* the middle of its top */
    double next;          /* where the room of its next child begins */
    size_t edge_lines;
};

struct layout {
    const struct xb_tree *tree;
    size_t count;
    struct place places[XB_TREE_MOST];
    struct xb_frame frame;
};

/* Copies a line of a name, which is cut where it is very long; returns the rest, or NULL. */
static const char *take_line(const char *text, char *line, size_t size)
{
    size_t length = strcspn(text, "\n");
    size_t kept = length < size ? length : size - 1;
    memcpy(line, text, kept);
    line[kept] = '\0';
    return text[length] == '\n' ? text + length + 1 : NULL;
}

/* NULL: it is a root. */
static struct place *parent_of(struct layout *layout, size_t node)
{
    size_t parent = layout->tree->nodes[node].parent;
    return parent < node ? &layout->places[parent] : NULL;
}

/* The width of the widest of so many lines; *lines is how many there are. */
static double measure(const char *text, size_t most, size_t *lines)
{
    char line[512];
    double width = 0.0;
    *lines = 0;
    for (const char *rest = text; rest != NULL && *lines < most; (*lines)++) {
        rest = take_line(rest, line, sizeof line);
        width = fmax(width, xb_svg_text_width(line));
    }
    return width;
}

/* Children follow their parents, so one pass from the last node to the first sums up all rooms, and
 * one from the first to the last places them. */
static void place_nodes(const struct xb_tree *tree, struct layout *layout)
{
    double children[XB_TREE_MOST] = {0.0};
    double roots = 0.0;
    for (size_t i = layout->count; i-- > 0;) {
        struct place *place = &layout->places[i];
        const struct xb_node *node = &tree->nodes[i];
        size_t lines;
        place->width = fmax(fmin(measure(node->name, LINES, &lines) + 20.0, BOX_MOST), BOX_LEAST);
        place->height = 14.0 + XB_LINE_HEIGHT * (double)lines;
        /* The name of the edge stands at its right, from the middle of the box on. */
        double edge = fmin(measure(node->edge, EDGE_LINES, &place->edge_lines) + 10.0, BOX_MOST);
        place->room = fmax(place->width, node->edge != NULL ? 2.0 * edge : 0.0);
        place->room = fmax(place->room, children[i] - BETWEEN_BOXES);
        *(node->parent < i ? &children[node->parent] : &roots) += place->room + BETWEEN_BOXES;
    }
    double all = fmax(roots - BETWEEN_BOXES, 0.0);
    layout->frame.width = fmax(all + 16.0, WIDTH_LEAST);
    layout->frame.bottom = 40.0;
    double next_root = (layout->frame.width - all) / 2.0;
    for (size_t i = 0; i < layout->count; i++) {
        struct place *place = &layout->places[i];
        struct place *parent = parent_of(layout, i);
        double *next = parent == NULL ? &next_root : &parent->next;
        place->x = *next + place->room / 2.0;
        place->y = parent == NULL ? 8.0 : parent->y + parent->height + BETWEEN_LEVELS;
        *next += place->room + BETWEEN_BOXES;
        place->next = place->x - fmax(children[i] - BETWEEN_BOXES, 0.0) / 2.0;
        layout->frame.bottom = fmax(layout->frame.bottom, place->y + place->height + 10.0);
    }
}

/* Writes so many lines of a text, one below the other: those of a box, whose first is strong, or
 * those beside an edge. */
static void write_lines(FILE *stream, const char *text, size_t count, double x, double y,
                        double width, bool is_box)
{
    char line[512];
    for (size_t i = 0; text != NULL && i < count; i++, y += XB_LINE_HEIGHT) {
        text = take_line(text, line, sizeof line);
        const char *look = !is_box ? "edge-name" : i == 0 ? "strong" : "";
        xb_svg_text_within(stream, look, x, y, is_box ? XB_ANCHOR_MIDDLE : XB_ANCHOR_START, width,
                           line);
    }
}

void xb_tree_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_tree *tree = picture;
    struct layout layout = {.tree = tree,
                            .frame = {.picture = &tree->picture, .is_empty = tree->count == 0}};
    layout.count = xb_frame_take(&layout.frame, tree->count, XB_TREE_MOST, "are");
    place_nodes(tree, &layout);
    layout.frame.right = layout.frame.width;
    xb_frame_begin(stream, &layout.frame, is_alone);
    for (size_t i = 0; i < layout.count; i++) {
        const struct place *parent = parent_of(&layout, i);
        if (parent == NULL)
            continue;
        /* The part of an edge that it shares with its siblings: nothing is said of it. */
        double bottom = parent->y + parent->height, x = layout.places[i].x;
        xb_svg_path(stream, "edge", "M# #L# #L# #", parent->x, bottom, parent->x, bottom + TRUNK, x,
                    bottom + TRUNK);
    }
    for (size_t i = 0; i < layout.count; i++) {
        const struct xb_node *node = &tree->nodes[i];
        const struct place *place = &layout.places[i], *parent = parent_of(&layout, i);
        const char *look = node->look != NULL ? node->look : "";
        xb_svg_group_begin(stream, node->edge_look != NULL ? node->edge_look : look, NULL);
        if (parent != NULL) { /* the part of an edge that is its own, with its name */
            xb_svg_line(stream, "edge", place->x, parent->y + parent->height + TRUNK, place->x,
                        place->y);
            write_lines(stream, node->edge, place->edge_lines, place->x + 8.0,
                        place->y + 0.5 - XB_LINE_HEIGHT * (double)place->edge_lines, BOX_MOST,
                        false);
        }
        xb_svg_group_end(stream);
        xb_svg_group_begin(stream, look, NULL);
        xb_svg_rectangle(stream, "node", place->x - place->width / 2.0, place->y, place->width,
                         place->height, NULL);
        write_lines(stream, node->name, LINES, place->x, place->y + 7.0 + XB_LINE_HEIGHT * 0.5,
                    place->width - 12.0, true);
        xb_svg_group_end(stream);
    }
    xb_frame_end(stream, &layout.frame);
}
