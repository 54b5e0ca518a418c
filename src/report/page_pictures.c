/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of the page, which may also stand alone in files of their own. */
#include "page.h"

#include "base/output.h"
#include "plot/cells.h"
#include "plot/chart.h"
#include "plot/dots.h"
#include "plot/spans.h"
#include "plot/strips.h"
#include "plot/tree.h"

#include <linux/limits.h>

/* Draws what it is given, as a part of a page or alone. */
typedef void draw_picture(FILE *stream, const void *picture, bool alone);

static void draw_chart(FILE *stream, const void *picture, bool alone)
{
    xb_chart_draw(stream, picture, alone);
}

static void draw_strips(FILE *stream, const void *picture, bool alone)
{
    xb_strips_draw(stream, picture, alone);
}

static void draw_cells(FILE *stream, const void *picture, bool alone)
{
    xb_cells_draw(stream, picture, alone);
}

static void draw_dots(FILE *stream, const void *picture, bool alone)
{
    xb_dots_draw(stream, picture, alone);
}

static void draw_spans(FILE *stream, const void *picture, bool alone)
{
    xb_spans_draw(stream, picture, alone);
}

static void draw_tree(FILE *stream, const void *picture, bool alone)
{
    xb_tree_draw(stream, picture, alone);
}

/* Into FOLDER/ID.svg. */
static enum xb_status write_alone(const struct xb_page *page, const char *id, draw_picture *draw,
                                  const void *picture, struct xb_error *error)
{
    struct xb_output output = {.path = NULL};
    char path[PATH_MAX + XB_PAGE_ID];
    snprintf(path, sizeof path, "%s/%s.svg", page->folder, id);
    enum xb_status status = xb_output_find(&output, path, error);
    if (status == XB_OK)
        status = xb_output_open(&output, 0, error);
    if (status == XB_OK) {
        draw(output.stream, picture, true);
        status = xb_output_commit(&output, error);
    }
    xb_output_discard(&output);
    return status;
}

/* Whether there is still room in the page for one; then it has an id. */
static bool take_room(struct xb_page *page, char *id)
{
    if (page->pictures >= XB_PAGE_PICTURES || !xb_page_has_room(page)) {
        page->left_out++;
        return false;
    }
    page->pictures++;
    snprintf(id, XB_PAGE_ID, "%s-%zu", page->section, ++page->section_pictures);
    return true;
}

/* In the page its title stands above it, as text; a narrow window scrolls the picture alone. */
static enum xb_status put_picture(struct xb_page *page, const struct xb_picture *head,
                                  draw_picture *draw, const void *picture, struct xb_error *error)
{
    fputs("<figure><figcaption>", page->stream);
    xb_markup_text(page->stream, head->title);
    fputs("</figcaption><div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"",
          page->stream);
    xb_markup_text(page->stream, head->title);
    fputs("\">\n", page->stream);
    draw(page->stream, picture, false);
    fputs("</div></figure>\n", page->stream);
    return page->folder != NULL ? write_alone(page, head->id, draw, picture, error) : XB_OK;
}

enum xb_status xb_page_chart(struct xb_page *page, const struct xb_chart *chart,
                             struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_chart own = *chart;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_chart, &own, error) : XB_OK;
}

enum xb_status xb_page_strips(struct xb_page *page, const struct xb_strips *strips,
                              struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_strips own = *strips;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_strips, &own, error) : XB_OK;
}

enum xb_status xb_page_cells(struct xb_page *page, const struct xb_cells *cells,
                             struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_cells own = *cells;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_cells, &own, error) : XB_OK;
}

enum xb_status xb_page_dots(struct xb_page *page, const struct xb_dots *dots,
                            struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_dots own = *dots;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_dots, &own, error) : XB_OK;
}

enum xb_status xb_page_spans(struct xb_page *page, const struct xb_spans *spans,
                             struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_spans own = *spans;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_spans, &own, error) : XB_OK;
}

enum xb_status xb_page_tree(struct xb_page *page, const struct xb_tree *tree,
                            struct xb_error *error)
{
    char id[XB_PAGE_ID];
    struct xb_tree own = *tree;
    own.picture.id = id;
    return take_room(page, id) ? put_picture(page, &own.picture, draw_tree, &own, error) : XB_OK;
}
