/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "measure/run.h"

/* When a run will be done: what was estimated of the cases that are left, scaled by how much longer
 * or shorter the others took. Times are seconds, and on the clock of src/base/clock.h. */
struct xb_eta {
    double guessed_done; /* that were estimated of cases that are done, */
    double took;         /* and what those took */
    double guessed_left; /* of the others, the one at work included */
    double begun;        /* when that began */
    size_t taken;        /* of the run's results, so many are counted */
};

/* For a run that is planned and about to begin; when more results of it are final. */
void xb_eta_begin(struct xb_eta *eta, const struct xb_run *run, double now);
void xb_eta_finished(struct xb_eta *eta, const struct xb_run *run, double now);
/* What is left, the deadline's at most; NAN as long as no case tells how fast it goes. */
double xb_eta_left(const struct xb_eta *eta, const struct xb_run *run, double now);
/* What is left of equal parts, of which `done` took so many seconds. */
double xb_eta_of_parts(size_t done, double took, size_t left);

#define XB_ETA_TEXT 32
/* "4 s", "15 s", "2 min": no finer than an estimate is, and 1 s at least. */
const char *xb_eta_duration(double seconds, char text[XB_ETA_TEXT]);
#define XB_ETA_DURATION(seconds) xb_eta_duration((seconds), (char[XB_ETA_TEXT]){0})
/* ", about 40 s left"; "" for NAN. */
const char *xb_eta_text(double seconds, char text[XB_ETA_TEXT]);

/* The latest cases that are done, a line each on a terminal, for people who want an answer before
 * all are. They are wiped out in the end: only then it is known what columns fit all of them. */
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

/* "pinned, 1 GiB to the GPU", and the device where there are several. */
#define XB_LIVE_NAME_SIZE 160
const char *xb_live_name(const struct xb_run *run, size_t index, char name[XB_LIVE_NAME_SIZE]);
#define XB_LIVE_NAME(run, index) xb_live_name((run), (index), (char[XB_LIVE_NAME_SIZE]){0})

/* For a run that is planned. */
void xb_live_rows_begin(struct xb_live_rows *live, FILE *stream, const struct xb_run *run);
/* Takes the results that are final since the last call, but those that were not run. */
void xb_live_rows_take(struct xb_live_rows *live, const struct xb_run *run);
/* Brings the terminal up to date. The cursor is in the line below the rows, before and after. */
void xb_live_rows_draw(struct xb_live_rows *live, FILE *stream);
/* Wipes them out; the cursor is then where the first was. */
void xb_live_rows_erase(struct xb_live_rows *live, FILE *stream);

/* What stderr shows while the work is long, when it is a terminal: the cases that are done, and
 * below them a line that tells what is measured and when it will be done. */
struct xb_progress {
    bool enabled;
    bool shown; /* the line is */
    double begin, last;
    bool is_planned; /* these are known: */
    struct xb_eta eta;
    struct xb_live_rows rows;
};
void xb_progress_start(struct xb_progress *progress, bool enabled);
/* Callbacks of an observer whose argument begins with the struct xb_progress. Without the plan no
 * rows are shown, and nothing of the time left. */
void xb_progress_plan(void *argument, const struct xb_run *run);
void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth);
/* More results of the planned run are final. */
void xb_progress_finished(struct xb_progress *progress, const struct xb_run *run);
/* Wipes everything out. */
void xb_progress_clear(struct xb_progress *progress);

#define XB_PROGRESS_LINE 256
/* What a line of progress says. */
struct xb_progress_text {
    size_t number, total;
    const char *test; /* the case's name */
    size_t samples;   /* 0: it is warming up */
    double bandwidth; /* bytes per second */
    double left;      /* seconds; NAN where that is not known */
};
/* "[3/17] pinned h2d 1 GiB: 9 samples, 55.34 GB/s, about 7 s left", in `columns` at most: first the
 * samples go, then the last words of the name, then the rate. */
const char *xb_progress_text(const struct xb_progress_text *text, size_t columns,
                             char line[XB_PROGRESS_LINE]);
