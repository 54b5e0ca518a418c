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

/* Results of several sizes, devices or methods; or, for each mode in which one is swept, of several
 * values of a parameter. */
struct xb_bars {
    const struct xb_record *record;
    struct xb_parameters parameters;
    const struct xb_option **swept_by; /* for each case: the parameter that is swept; or NULL */
    const struct xb_option *swept;     /* in these bars, of `mode` alone; NULL: size or device */
    const struct xb_mode *mode;
    struct xb_bar *bars; /* in the order in which they are printed */
    size_t count;
    size_t name_width;  /* of the longest, so that columns of several tables are aligned */
    bool is_beside;     /* devices stand beside each other */
    bool names_devices; /* there are several */
    FILE *stream;       /* bars_tables.c's own */
    bool only_sweeps;   /* its own: print nothing of one value */
};

/* Calls `visit` with the bars that no parameter is swept in, then with those of each sweep. They
 * last as long as the call. */
typedef void xb_bars_visit(void *argument, struct xb_bars *view);
void xb_bars_each(const struct xb_record *record, xb_bars_visit *visit, void *argument);

/* Orders of two struct xb_bar. What stands in one table: the same figure, of data in the same form,
 * the same way. Rows of one table, best first: those that count for less stand last. */
int xb_bars_by_table(const struct xb_bar *a, const struct xb_bar *b);
int xb_bars_by_rank(const void *a, const void *b);
/* By device, then by what has tables of its own. */
int xb_bars_by_device(const struct xb_bar *a, const struct xb_bar *b);

/* "To the GPU", "Within GPU 1", "Both ways, and within the GPU": what bars of a table have in
 * common. */
#define XB_BARS_TITLE 64
const char *xb_bars_title(const struct xb_bar *bars, size_t count, bool names_devices, char *title);
/* What stands across: a size, a device, the value of the parameter that is swept. */
uint64_t xb_bars_across(const struct xb_bars *view, const struct xb_record_case *test);
/* What the device's link carries that way, in GB/s; 0: not known, or nothing to hold the bars
 * against. */
double xb_bars_ceiling(const struct xb_bars *view, const struct xb_bar *bars, size_t count);
