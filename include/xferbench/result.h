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
#define XB_RESULT_DETAILS 24

/* A fact about how the row was measured: a number, or a text. */
struct xb_detail {
    char key[48];
    bool is_number;
    double number;
    char text[128];
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
    struct xb_samples times; /* seconds for one iteration, in the order taken */
    struct xb_statistics bandwidth; /* bytes per second; n = 0 where nothing was measured */
    struct xb_samples submit_times; /* host clock: until the call that starts it returned */
    struct xb_samples wall_times;   /* host clock: until the data was there */
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

void xb_result_free(struct xb_result *result);

#endif
