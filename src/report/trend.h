/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_TREND_H
#define XFERBENCH_REPORT_TREND_H

#include "change.h"
#include "document.h"
#include "page.h"

/* One case by date, of files of one host, backend and GPU model. */

#define XB_TREND_LEAST 3 /* files of different dates that make a trend */

struct xb_trend_point {
    double date;                 /* seconds since 1970 */
    double value, low, high;     /* NAN: no interval */
    size_t file;                 /* its number in the report */
    const char *driver, *kernel; /* "not known" */
};

struct xb_trend {
    const char *key;   /* all that makes the case */
    const char *name;  /* "pinned registered h2d 1 GiB, device 0" */
    const char *place; /* "NVIDIA H200 on host vm-1, backend cuda" */
    const char *unit;  /* "GB/s", "us" */
    uint64_t bytes;
    struct xb_trend_point *points; /* by date when they are written */
    size_t count, capacity;
    struct xb_change change;
};

/* "2026-11-21 05:18 UTC". */
const char *xb_trend_date(double date, char *text, size_t size);

/* A picture of the trend with its numbers. */
XB_MUST_CHECK enum xb_status xb_trend_write(struct xb_page *page, const struct xb_trend *trend,
                                            struct xb_error *error);

#endif
