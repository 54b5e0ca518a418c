/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_LINE_H
#define XFERBENCH_MEASURE_LINE_H

#include "xferbench/mode.h"
#include "xferbench/stage.h"
#include "xferbench/workspace.h"

/* The stages of a mode over slots, from setup to teardown; line_submit.c runs them. */
struct xb_line {
    struct xb_line_plan plan;
    const struct xb_stage *stages;
    unsigned stage_count;
    struct xb_line_part part;
    bool was_stopped;        /* the latest iteration, in the middle */
    struct xb_crew *crew;    /* NULL where no stage is the host's, and so is the next */
    struct xb_event **freed; /* one a slot: the host may write to it again */
    struct xb_event *latest; /* of these the one recorded last; NULL: none yet */
};

/* Closes context->line, of which nothing is under way, and sets it to NULL. Does nothing where
 * there is none. */
void xb_line_close(struct xb_mode_context *context);

#endif
