/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RESULT_H
#define XFERBENCH_RESULT_H

#include "xferbench/figure.h"
#include "xferbench/mode.h"
#include "xferbench/statistics.h"
#include "xferbench/stopping.h"
#include "xferbench/timeline.h"
#include "xferbench/workspace.h"

enum xb_result_status { XB_RESULT_OK, XB_RESULT_SKIPPED, XB_RESULT_ERROR };

/* Whether the data was right. Unknown where nothing was measured. */
enum xb_verified { XB_VERIFIED_UNKNOWN, XB_VERIFIED_TRUE, XB_VERIFIED_FALSE };

#define XB_RESULT_WARNINGS 8
#define XB_RESULT_DETAILS 32
#define XB_RESULT_FIGURES 24

/* A fact about how the row was measured: a number, or a text. */
struct xb_detail {
    char key[48];
    bool is_number;
    double number;
    char text[128];
};

/* A figure beside those that follow from `times`, `submit_times` and `wall_times`. */
struct xb_result_figure {
    const struct xb_figure *figure;
    struct xb_samples samples; /* in the figure's unit, in the order taken */
    double computed;           /* where there are no samples: what follows from other figures */
};

/*
 * A case and its samples, or why it has none. `status` is ok only if the data was verified. A copy
 * whose data is wrong keeps its samples as evidence, but its record has no figures. Release with
 * xb_result_free.
 */
struct xb_result {
    struct xb_case test;
    enum xb_result_status status;
    char reason[1024];       /* why it was skipped or failed; "" for ok */
    struct xb_error error;   /* the failure behind an error row; status XB_OK where there is none */
    bool device_timer;       /* device events; false: the host's clock */
    bool event_times;        /* `times` are between two events; false: by the host's clock, because
                                submit itself waits for the data */
    uint64_t bytes_moved;    /* by one iteration, both ways together for bidir */
    struct xb_samples times; /* seconds for one iteration, in the order taken */
    /* How many of the samples are of each placement of the host's memory, one behind the other; no
     * placements where that made no difference. */
    size_t placement_samples[XB_PLACEMENTS];
    size_t placement_count;
    struct xb_statistics bandwidth; /* bytes per second; n = 0 where nothing was measured */
    struct xb_samples submit_times; /* host clock: until the call that starts it returned */
    struct xb_samples wall_times;   /* host clock: until the data was there */
    struct xb_result_figure figures[XB_RESULT_FIGURES];
    size_t figure_count;
    enum xb_stop_reason stop_reason;
    enum xb_verified verified;
    char warnings[XB_RESULT_WARNINGS][256];
    size_t warning_count;
    struct xb_detail details[XB_RESULT_DETAILS];
    size_t detail_count;
    struct xb_timeline *timeline; /* of one more iteration; NULL: none was recorded, or kept */
};

/* "ok", "skipped", "error". */
const char *xb_result_status_name(enum xb_result_status status);

/* Add a warning, or a detail in place of one of that key. One for which the array has no room is a
 * bug: a debug build aborts, another build drops it. */
void xb_result_warn(struct xb_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void xb_result_detail_number(struct xb_result *result, const char *key, double number);
void xb_result_detail_text(struct xb_result *result, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Describes figures of the samples, values[result->times.count], by their placements where there
 * are such. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_result_describe(const struct xb_result *result,
                                                const double *values,
                                                struct xb_statistics *statistics,
                                                struct xb_error *error);

/* Adds a figure that follows from others; none where the value is not finite. */
void xb_result_compute(struct xb_result *result, const struct xb_figure *figure, double value);
/* Adds a sample of a figure, which is added with its first. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_result_sample(struct xb_result *result,
                                              const struct xb_figure *figure, double value,
                                              struct xb_error *error);
bool xb_result_has(const struct xb_result *result, const struct xb_figure *figure);
/* The median of its samples, or what was computed; 0 where the result has no such figure.
 * XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_result_median(const struct xb_result *result,
                                              const struct xb_figure *figure, double *median,
                                              struct xb_error *error);

/* Frees the timeline alone: who has shown it needs it no more. */
void xb_result_drop_timeline(struct xb_result *result);

void xb_result_free(struct xb_result *result);

#endif
