/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RESULT_H
#define XFERBENCH_RESULT_H

#include "xferbench/mode.h"
#include "xferbench/statistics.h"
#include "xferbench/stopping.h"

enum xb_result_status { XB_RESULT_OK, XB_RESULT_SKIPPED, XB_RESULT_ERROR };

/* Three-valued: unknown where nothing was measured. */
enum xb_verified { XB_VERIFIED_UNKNOWN, XB_VERIFIED_TRUE, XB_VERIFIED_FALSE };

#define XB_RESULT_WARNINGS 8
#define XB_RESULT_DETAILS 32
#define XB_RESULT_PARTS 8

/* A fact about how the row was measured: a number, or a text. */
struct xb_detail {
    char key[48];
    bool is_number;
    double number;
    char text[128];
};

/*
 * Something that was timed beside the whole: one direction of a case that goes both ways, out of
 * the same samples, or a reference of the mode.
 */
struct xb_part {
    const char *name;        /* static text */
    uint64_t bytes;          /* that it moves in the time of one iteration */
    struct xb_samples times; /* seconds for one iteration */
};

/*
 * A case with what came of it. `status` is ok only if the data was verified. A copy that is wrong
 * keeps its samples as evidence, but has no bandwidth: sinks show none unless `status` is ok.
 * Release with xb_result_free.
 */
struct xb_result {
    struct xb_case test;
    enum xb_result_status status;
    char reason[1024];       /* why it was skipped or failed; "" for ok */
    struct xb_error error;   /* the failure behind an error row; status XB_OK where there is none */
    bool device_timer;       /* device events; false: the host's clock */
    uint64_t bytes_moved;    /* by one iteration, both ways together for bidir */
    struct xb_samples times; /* seconds for one iteration, in the order taken */
    struct xb_statistics bandwidth;   /* bytes per second; n = 0 where nothing was measured */
    struct xb_samples submit_times;   /* host clock: until the call that starts it returned */
    struct xb_samples wall_times;     /* host clock: until the data was there */
    struct xb_latency host_latency;   /* of a latency case: until the host knew it was done */
    struct xb_latency device_latency; /* the same between two events of the device */
    struct xb_part parts[XB_RESULT_PARTS];
    size_t part_count;
    /* Of a case both of whose directions were timed: the share of the whole time in which both were
     * in flight. Of simultaneous devices: in which all were. Negative where it does not apply. */
    double overlap;
    /* Of a device that ran beside others: its bandwidth by what it had alone. 0 where unknown. */
    double share_of_alone;
    enum xb_stop_reason stop_reason;
    enum xb_verified verified;
    char warnings[XB_RESULT_WARNINGS][256];
    size_t warning_count;
    struct xb_detail details[XB_RESULT_DETAILS];
    size_t detail_count;
};

/* "ok", "skipped", "error". */
const char *xb_result_status_name(enum xb_result_status status);

/* A warning or detail past the arrays' end is a bug: it aborts in a debug build, else is dropped.
 */
void xb_result_warn(struct xb_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void xb_result_detail_number(struct xb_result *result, const char *key, double number);
void xb_result_detail_text(struct xb_result *result, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The part of that name, or NULL. */
const struct xb_part *xb_result_part(const struct xb_result *result, const char *name);
/* The median of its times, in seconds; 0 where there is no such part. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_result_part_median(const struct xb_result *result, const char *name,
                                                   double *seconds, struct xb_error *error);
/* The value of a detail that is a number, or `otherwise`. */
double xb_result_number(const struct xb_result *result, const char *key, double otherwise);

void xb_result_free(struct xb_result *result);

#endif
