/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_H
#define XFERBENCH_MODES_PIPELINE_H

#include "pipeline_figures.h"
#include "pipeline_source.h"
#include "storage/reader.h"
#include "xferbench/stage.h"

/* The private state of the mode `pipeline`, and how a case of it is set up. */

/* What comes back of each item: the digest of what the kernel made of it. */
#define XB_PIPELINE_RESULT_BYTES UINT64_C(8)

/* Of each item on the device: in, kernel, digest, out. */
#define XB_PIPELINE_OPERATIONS 4

struct xb_pipeline {
    struct xb_source source;
    struct xb_reader *reader; /* NULL: the device reads */
    struct xb_file *file;     /* NULL: the host's threads read */
    bool is_open;             /* `descriptor` is of the file that the device reads */
    int descriptor;
    struct xb_buffer *host; /* where they read to, one of those below */
    struct xb_buffer *pinned, *pageable;
    struct xb_buffer *slots, *digests;     /* on the device */
    struct xb_buffer *results;             /* on the host: the digests that came back, and behind
                                              them those of the iteration before */
    struct xb_buffer *scratch;             /* on the host: an item, to check by */
    uint64_t steps;                        /* of the kernel, on every word */
    double cached_at_first, cached_before; /* shares of the files: before anything, and before the
                                              first sample */
};

/* How many items of a case are on the device at a time, and how long a slot is at most, in whole
 * blocks. */
unsigned xb_pipeline_slots(const struct xb_case *test);
uint64_t xb_pipeline_slot_bytes(const struct xb_case *test);

/* Each stage alone. */
extern const struct xb_line_part xb_pipeline_parts[XB_PIPELINE_STAGES];

/* Whether the case has the stage `in`: not where the device reads the file itself. */
bool xb_pipeline_copies_in(const struct xb_mode_context *context);

/* The share of what is read that is in the page cache; NAN where that cannot be seen, as of files
 * of somebody else. */
XB_MUST_CHECK enum xb_status xb_pipeline_look_at_cache(const struct xb_pipeline *state,
                                                       double *share, struct xb_error *error);

/* Those of each item that came back in the latest iteration that was not stopped. */
const unsigned long long *xb_pipeline_digests(const struct xb_mode_context *context);

/* The mode's hooks of these names. */
enum xb_status xb_pipeline_setup(struct xb_mode_context *context, struct xb_error *error);
enum xb_status xb_pipeline_restore(struct xb_mode_context *context, struct xb_error *error);
enum xb_status xb_pipeline_prepare(struct xb_mode_context *context, struct xb_error *error);
void xb_pipeline_teardown(struct xb_mode_context *context);

#endif
