/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/rows.h"
#include "xferbench/mode.h"

#include <stdio.h>

/* What a group of rows has in common, in the order in which groups are printed. */
enum xb_bar_kind { XB_BAR_TO, XB_BAR_BACK, XB_BAR_OTHER, XB_BAR_KINDS };

/* A row: a case and what is known of it. */
struct xb_bar {
    const struct xb_record_case *test;
    const struct xb_figure *figure; /* that people ask the method for */
    struct xb_statistics s;         /* of that figure, in GB/s or in seconds */
    enum xb_bar_kind kind;
    bool is_time;     /* the figure is */
    bool is_encoded;  /* its data crosses the link in another form */
    double rank;      /* rises from the best: rows stand in this order */
    int decimals;     /* of its rate */
    double copy_time; /* of a small copy, from the call until it is done; else INFINITY */
    const char *flaw; /* why it counts for less: "" for nothing */
    size_t method;    /* the same for what differs only in what stands across */
    size_t place;     /* of its value across; behind all of them if it has none */
    uint64_t part;    /* what has tables of its own: the size, where a parameter is swept */
    char name[96];
};

struct xb_bars {
    FILE *stream;
    bool only_sweeps; /* nothing of one value */
    const struct xb_record *record;
    struct xb_parameters parameters;
    const struct xb_option **swept_by; /* for each case: the parameter that is swept; or NULL */
    const struct xb_option *swept;     /* in these bars, of `mode` alone; NULL: size or device */
    const struct xb_mode *mode;
    struct xb_bar *bars;
    size_t count;
    size_t name_width;  /* of the longest, so that columns of several tables are aligned */
    bool is_beside;     /* devices stand beside each other */
    bool names_devices; /* there are several */
};

/* Orders of two struct xb_bar. What stands in one table: the same figure, of data in the same form,
 * the same way. Rows of one table, best first: those that count for less stand last. */
int xb_bars_by_table(const struct xb_bar *a, const struct xb_bar *b);
int xb_bars_by_rank(const void *a, const void *b);

/* Prints bars of one device, or of all beside each other, in the order of tables. */
void xb_bars_print(const struct xb_bars *view, struct xb_bar *bars, size_t count);
