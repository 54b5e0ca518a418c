/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of pairs of devices: sources down, destinations across. */
#define _GNU_SOURCE
#include "matrix.h"
#include "matrix_internal.h"

#include "record/rows.h"
#include "xferbench/mode.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static int source_of(const struct xb_record_case *test)
{
    return test->device;
}

static int destination_of(const struct xb_record_case *test)
{
    return test->peer;
}

/* ---- links ---- */

static double number_of(const struct xb_record *record, const struct xb_record_case *test,
                        const char *name)
{
    const struct xb_record_detail *detail = xb_matrix_detail(record, test, name);
    return detail != NULL && detail->text == NULL ? detail->number : 0;
}

/* "NVLink 18 x 26.6"; empty where the case says nothing of a link that its data took. */
static void link_text(const struct xb_record *record, const struct xb_record_case *test, char *text)
{
    const struct xb_record_detail *kind = xb_matrix_detail(record, test, "link");
    double links = number_of(record, test, "links");
    double rate = number_of(record, test, "link_rate_bytes_per_second");
    text[0] = '\0';
    if (kind == NULL || kind->text == NULL)
        return;
    int used = snprintf(text, XB_MATRIX_CELL, "%.32s", kind->text);
    if (links > 0)
        used += snprintf(text + used, XB_MATRIX_CELL - (size_t)used, " %.0f", links);
    if (links > 0 && rate > 0)
        snprintf(text + used, XB_MATRIX_CELL - (size_t)used, " x %.1f", rate / 1e9);
    xb_make_plain(text);
}

static void link_cell(const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    char text[XB_MATRIX_CELL];
    link_text(record, test, text);
    if (text[0] != '\0')
        xb_matrix_set_text(cell, text);
}

/* Whether all measured pairs here took the same link, or none says which; `link` is it. */
static bool one_link(const struct xb_matrix *matrix, char *link)
{
    bool any = false;
    link[0] = '\0';
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        char other[XB_MATRIX_CELL];
        if (xb_record_is_sum(test) ||
            xb_record_summarize(matrix->record, test).status != XB_RESULT_OK)
            continue;
        link_text(matrix->record, test, other);
        if (any && strcmp(other, link) != 0)
            return false;
        xb_matrix_set_text(link, other);
        any = true;
    }
    return true;
}

static void add_axes(const struct xb_matrix *matrix, char *text, size_t size)
{
    char link[XB_MATRIX_CELL];
    bool both_ways = strcmp(matrix->cases[0]->direction, xb_direction_name(XB_BIDIR)) == 0;
    bool one = one_link(matrix, link) && link[0] != '\0';
    snprintf(text, size, "%s%s%s%s", both_ways ? "between the two" : "rows: from, columns: to",
             one ? "; " : "", one ? link : "", one && strchr(link, '.') != NULL ? " GB/s" : "");
}

/* ---- the matrices ---- */

const struct xb_matrix_kind xb_matrix_of_pairs = {
    .holds = xb_case_is_in_matrix,
    .but = XB_BUT_DEVICES,
    .row = source_of,
    .column = destination_of,
    .same_places = true,
    .fill = xb_matrix_fill_figure,
    .axes = add_axes,
};

static bool is_of_a_pair(const struct xb_record *record, const struct xb_record_case *test)
{
    (void)record;
    return test->peer >= 0 && !xb_record_is_sum(test);
}

static const struct xb_matrix_kind of_links = {
    .holds = is_of_a_pair,
    .is_one = true,
    .row = source_of,
    .column = destination_of,
    .same_places = true,
    .fill = link_cell,
};

struct printing {
    struct xb_matrix_printing of;
    bool differs; /* a matrix is of several kinds of links */
};

static enum xb_status print_one(const struct xb_matrix *matrix, void *argument,
                                struct xb_error *error)
{
    struct printing *printing = argument;
    char link[XB_MATRIX_CELL];
    printing->differs = printing->differs || !one_link(matrix, link);
    return xb_matrix_print_one(matrix, &printing->of, error);
}

static enum xb_status print_links(const struct xb_matrix *matrix, void *argument,
                                  struct xb_error *error)
{
    FILE *stream = argument;
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE,
                     "links between the devices, number x GB/s each way (rows: from, columns: to)");
    return xb_matrix_print_cells(stream, matrix, error);
}

enum xb_status xb_matrix_print(FILE *stream, const struct xb_record *record, bool first,
                               struct xb_error *error)
{
    struct printing printing = {{stream, first}, false};
    enum xb_status status =
        xb_matrix_visit_all(record, &xb_matrix_of_pairs, print_one, &printing, error);
    if (status == XB_OK && printing.differs)
        status = xb_matrix_visit_all(record, &of_links, print_links, stream, error);
    return status;
}
