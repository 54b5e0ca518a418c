/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/sample/stopping.h"
#include "measure/timeline/timeline.h"
#include "record/record.h"
#include "xferbench/figure.h"
#include "xferbench/mode.h"
#include "xferbench/workspace.h"

#define XB_RESULT_DETAILS 32
#define XB_RESULT_FIGURES 28 /* the runner's own besides */

/* A figure beside those that follow from `times`, `submit_times` and `wall_times`. */
struct xb_result_figure {
    const struct xb_figure *figure;
    struct xb_samples samples; /* in the figure's unit, in the order taken */
    double computed;           /* where there are no samples: what follows from other figures */
};

/* A case, its row of the record, and what that points to: samples while they are taken, texts.
 * `row.status` is ok only if the data was verified. A copy whose data is wrong keeps its samples as
 * evidence, but its row has no figures. Release with xb_result_free. */
struct xb_result {
    struct xb_case test;
    struct xb_record_row row; /* status, verified, warnings and details, as they are found; the rest
                                 of it by xb_result_finish */
    char reason[1024];        /* why it was skipped or failed; "" for ok */
    struct xb_error error;   /* the failure behind an error row; status XB_OK where there is none */
    bool device_timer;       /* device events; false: the host's clock */
    bool event_times;        /* `times` are between two events; false: by the host's clock, because
                                submit itself waits for the data */
    uint64_t bytes_moved;    /* by one iteration, both ways together for bidir */
    struct xb_samples times; /* seconds for one iteration, in the order taken */
    /* How many samples, one behind the other, each placement of the host's memory has; none where
     * that made no difference. */
    size_t placement_samples[XB_PLACEMENTS];
    size_t placement_count;
    double *rates;                  /* bytes per second, of each of these */
    struct xb_statistics bandwidth; /* and of all; n = 0 where nothing was measured */
    struct xb_samples submit_times; /* host clock: until the call that starts it returned */
    struct xb_samples wall_times;   /* host clock: until the data was there */
    struct xb_result_figure figures[XB_RESULT_FIGURES];
    size_t figure_count;
    enum xb_stop_reason stop_reason;
    struct xb_timeline *timeline; /* of one more iteration; NULL: none was recorded, or kept */
    /* What the row points to. */
    char warnings[XB_RESULT_WARNINGS][256];
    const char *warning_list[XB_RESULT_WARNINGS];
    struct xb_record_fact details[XB_RESULT_DETAILS + 1];
    char detail_texts[XB_RESULT_DETAILS + 1][128];
    char error_place[512];
    struct xb_record_figure *described;
};

/* Add a warning, or a detail in place of one of that key, a static text. No room in the array is a
 * bug: a debug build aborts, another drops it. */
void xb_result_warn(struct xb_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void xb_result_detail_number(struct xb_result *result, const char *key, double number);
void xb_result_detail_text(struct xb_result *result, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills `rates` and `bandwidth` from the times, by placements if there are any. XB_ERR_MEMORY only.
 */
enum xb_status xb_result_describe(struct xb_result *result, struct xb_error *error);

/* Adds a figure that follows from others; none where the value is not finite. */
void xb_result_compute(struct xb_result *result, const struct xb_figure *figure, double value);
/* Adds a sample of a figure, which is added with its first. XB_ERR_MEMORY only. */
enum xb_status xb_result_sample(struct xb_result *result, const struct xb_figure *figure,
                                double value, struct xb_error *error);
bool xb_result_has(const struct xb_result *result, const struct xb_figure *figure);
/* The median of its samples, or what was computed; 0 for no such figure. */
double xb_result_median(const struct xb_result *result, const struct xb_figure *figure);

/* Fills what follows from samples and outcome into the row of a final result: times, figures with
 * their statistics, the reason, the error. `ceiling` of the device's link is for the shares of it;
 * NULL: unknown. The row points into the result; a second call makes its figures anew. */
void xb_result_finish(struct xb_result *result, const struct xb_ceiling *ceiling);

/* Frees the timeline alone: who has shown it needs it no more. */
void xb_result_drop_timeline(struct xb_result *result);

void xb_result_free(struct xb_result *result);
