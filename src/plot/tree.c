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
    double children;      /* width of all below it, each with what is between two */
    double room;          /* the same, or its own width where that is more */
    double x, y;          /* the middle of its top */
    double next;          /* where the room of its next child begins */
};

struct layout {
    const struct xb_tree *tree;
    size_t count;
    struct place places[XB_TREE_MOST], above; /* `above`: of all roots */
    struct xb_frame frame;
};

/* The lines of a name, each cut where it is very long, and how wide the widest is. */
struct lines {
    char texts[LINES][512];
    size_t count;
    double width;
};

static struct lines lines_of(const char *text, size_t most)
{
    struct lines lines = {.count = 0};
    for (; text != NULL && lines.count < most; lines.count++) {
        size_t length = strcspn(text, "\n");
        char *line = lines.texts[lines.count];
        snprintf(line, sizeof lines.texts[0], "%.*s", (int)xb_at_most(length, 511), text);
        lines.width = fmax(lines.width, xb_svg_text_width(line));
        text = text[length] == '\n' ? text + length + 1 : NULL;
    }
    return lines;
}

static struct place *parent_of(struct layout *layout, size_t node)
{
    size_t parent = layout->tree->nodes[node].parent;
    return parent < node ? &layout->places[parent] : &layout->above;
}

/* Children follow their parents, so one pass from the last node to the first sums up all rooms, and
 * one from the first to the last places them. */
static void place_nodes(const struct xb_tree *tree, struct layout *layout)
{
    for (size_t i = layout->count; i-- > 0;) {
        struct place *place = &layout->places[i];
        const struct xb_node *node = &tree->nodes[i];
        const struct lines name = lines_of(node->name, LINES);
        place->width = fmax(fmin(name.width + 20.0, BOX_MOST), BOX_LEAST);
        place->height = 14.0 + XB_LINE_HEIGHT * (double)name.count;
        /* The name of the edge stands at its right, from the middle of the box on. */
        double edge = fmin(lines_of(node->edge, EDGE_LINES).width + 10.0, BOX_MOST);
        place->room = fmax(place->width, node->edge != NULL ? 2.0 * edge : 0.0);
        place->room = fmax(place->room, place->children - BETWEEN_BOXES);
        parent_of(layout, i)->children += place->room + BETWEEN_BOXES;
    }
    double all = fmax(layout->above.children - BETWEEN_BOXES, 0.0);
    layout->frame.width = fmax(all + 16.0, WIDTH_LEAST);
    layout->frame.bottom = 40.0;
    layout->above.next = (layout->frame.width - all) / 2.0;
    layout->above.y = 8.0 - BETWEEN_LEVELS;
    for (size_t i = 0; i < layout->count; i++) {
        struct place *place = &layout->places[i];
        struct place *parent = parent_of(layout, i);
        place->x = parent->next + place->room / 2.0;
        place->y = parent->y + parent->height + BETWEEN_LEVELS;
        parent->next += place->room + BETWEEN_BOXES;
        place->next = place->x - fmax(place->children - BETWEEN_BOXES, 0.0) / 2.0;
        layout->frame.bottom = fmax(layout->frame.bottom, place->y + place->height + 10.0);
    }
}

/* Writes them one below the other: those of a box, whose first is strong, or beside an edge. */
static void write_lines(FILE *stream, const struct lines *lines, double x, double y, double width,
                        bool is_box)
{
    for (size_t i = 0; i < lines->count; i++) {
        const char *look = i == 0 ? "strong middle" : "middle";
        xb_svg_text(stream, is_box ? look : "edge-name", x, y + XB_LINE_HEIGHT * (double)i, width,
                    lines->texts[i]);
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
        const struct xb_node *node = &tree->nodes[i];
        const struct place *place = &layout.places[i], *parent = parent_of(&layout, i);
        const struct lines name = lines_of(node->name, LINES);
        const struct lines edge = lines_of(node->edge, EDGE_LINES);
        const char *look = node->look != NULL ? node->look : "";
        if (parent != &layout.above) {
            /* The part of an edge that it shares with its siblings, of which nothing is said; then
             * its own, with its name. */
            const double bottom = parent->y + parent->height, bend = bottom + TRUNK;
            xb_svg_path(stream, "edge", "M# #L# #L# #", parent->x, bottom, parent->x, bend,
                        place->x, bend);
            xb_svg_group_begin(stream, node->edge_look != NULL ? node->edge_look : look, NULL);
            xb_svg_line(stream, "edge", place->x, bend, place->x, place->y);
            write_lines(stream, &edge, place->x + 8.0,
                        place->y + 0.5 - XB_LINE_HEIGHT * (double)edge.count, BOX_MOST, false);
            xb_svg_group_end(stream);
        }
        xb_svg_group_begin(stream, look, NULL);
        xb_svg_rectangle(stream, "node", place->x - place->width / 2.0, place->y, place->width,
                         place->height, NULL);
        write_lines(stream, &name, place->x, place->y + 7.0 + XB_LINE_HEIGHT * 0.5,
                    place->width - 12.0, true);
        xb_svg_group_end(stream);
    }
    xb_frame_end(stream, &layout.frame);
}
