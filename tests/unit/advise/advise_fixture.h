/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Records made by hand, and what is predicted from them. Include after cmocka.h. */

#include "advise/predict.h"

#include <math.h>
#include <string.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define ROWS 96

/* A record of one process. */
struct rows {
    struct xb_record record;
    struct xb_record_process process;
    struct xb_record_case cases[ROWS];
    struct xb_record_row rows[ROWS];
    struct xb_record_figure figures[ROWS][4];
};

static inline void begin(struct rows *made)
{
    memset(made, 0, sizeof *made);
    made->process.has_results = true;
    made->record.processes = &made->process;
    made->record.process_count = 1;
    made->record.cases = made->cases;
}

static inline struct xb_record_case *add_row(struct rows *made, const char *mode,
                                             const char *variant, const char *direction,
                                             uint64_t bytes)
{
    size_t at = made->record.case_count++;
    assert_true(at < ROWS);
    made->rows[at] = (struct xb_record_row){.is_there = true,
                                            .status = XB_RESULT_OK,
                                            .verified = XB_VERIFIED_TRUE,
                                            .bytes_moved = bytes,
                                            .figures = made->figures[at]};
    made->cases[at] = (struct xb_record_case){.mode = mode,
                                              .variant = variant,
                                              .direction = direction,
                                              .bytes = bytes,
                                              .peer = -1,
                                              .rows = &made->rows[at]};
    return &made->cases[at];
}

/* A figure of the row that was added last, with an interval of 10 % up and down where asked. */
static inline void set_figure(struct rows *made, const char *name, double median, bool interval)
{
    size_t at = made->record.case_count - 1;
    struct xb_record_figure *figure = &made->figures[at][made->rows[at].figure_count++];
    figure->name = name;
    figure->statistics = (struct xb_statistics){.n = 20,
                                                .median = median,
                                                .has_interval = interval,
                                                .ci95_low = 0.9 * median,
                                                .ci95_high = 1.1 * median};
}

/* A copy at `rate` bytes per second behind another one, `wait` seconds longer alone; the call takes
 * `call` seconds. */
static inline struct xb_record_case *add_copy(struct rows *made, const char *mode,
                                              const char *variant, const char *direction,
                                              uint64_t bytes, double rate, double wait, double call)
{
    struct xb_record_case *test = add_row(made, mode, variant, direction, bytes);
    set_figure(made, "bandwidth", rate, false);
    set_figure(made, "wall_time", (double)bytes / rate + wait, false);
    set_figure(made, "submit_time", call, false);
    return test;
}

/* Rows of 64 KiB, 1 MiB, 16 MiB and 256 MiB. */
static inline void add_copies(struct rows *made, const char *mode, const char *variant,
                              const char *direction, double rate, double wait, double call)
{
    for (uint64_t bytes = 64 * KIB; bytes <= 256 * MIB; bytes *= 16)
        add_copy(made, mode, variant, direction, bytes, rate, wait, call);
}

/* Those of the last call are freed. */
static inline struct xb_costs costs_of(const struct rows *made)
{
    static struct xb_costs costs;
    xb_costs_free(&costs);
    xb_costs_read(&costs, &made->record);
    return costs;
}

/* Equal but for rounding. */
static inline void assert_close(double found, double right)
{
    if (!(fabs(found - right) <= 1e-9 * fabs(right) + 1e-15))
        fail_msg("%.12g in place of %.12g", found, right);
}
