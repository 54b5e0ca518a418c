/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_LIVE_ROWS_H
#define XFERBENCH_RUN_LIVE_ROWS_H

#include "base/terminal.h"
#include "measure/run.h"

/*
 * The latest cases that are done, a line each on a terminal, for people who want an answer before
 * all are. Nothing of it stays: the table has their rows, with columns that fit all of them, under
 * a header that tells what the device was like under load. Neither is known before the last case.
 */
#define XB_LIVE_ROWS 50
#define XB_LIVE_ROW 256 /* characters of a line */

struct xb_live_rows {
    size_t most;           /* lines that there is room for; 0: none are shown */
    size_t name_width;     /* of the longest name of a case */
    size_t columns, lines; /* of the window, when they began */
    struct {
        char text[XB_LIVE_ROW];
        enum xb_colour colour;
    } rows[XB_LIVE_ROWS];
    size_t count;
    size_t drawn; /* so many lines stand on the terminal */
    bool moved;   /* they are other ones since */
    size_t taken; /* of the run's results */
};

/* The name of a case of the run, without its device where there is one only. */
const char *xb_live_name(const struct xb_run *run, size_t index, char *name, size_t size);

/* For a run that is planned. */
void xb_live_rows_begin(struct xb_live_rows *live, FILE *stream, const struct xb_run *run);
/* Takes the results that are final since the last call, those that were not run left out. */
void xb_live_rows_take(struct xb_live_rows *live, const struct xb_run *run);
/* Brings the terminal up to date. The cursor is in the line below the rows, before and after. */
void xb_live_rows_draw(struct xb_live_rows *live, FILE *stream);
/* Wipes them out; the cursor is then where the first was. */
void xb_live_rows_erase(struct xb_live_rows *live, FILE *stream);

#endif
