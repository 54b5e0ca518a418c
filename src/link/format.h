/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_FORMAT_H
#define XFERBENCH_LINK_FORMAT_H

#include "base/note.h"
#include "report.h"

/* What the formats of `xferbench link` write alike, and the parts of its table. */

/* "Gen5 x16"; "48 GT/s x16" for a rate that is no generation; "-" where either is not known. */
const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size);

/* "394.6 to 394.8", in GB/s with so many decimals; one number where both are the same. */
#define XB_LINK_RANGE 72
const char *xb_link_range_text(double low, double high, int decimals, char text[XB_LINK_RANGE]);

/* What a verdict is on: a GPU, or a pair, whose source is the GPU. */
struct xb_link_subject {
    const struct xb_device_info *gpu, *peer; /* `peer` is NULL of a GPU */
    const struct xb_findings *found;
    const struct xb_verdict *verdict;   /* NULL of a pair */
    const struct xb_pair_verdict *pair; /* NULL of a GPU */
    struct xb_link_way {
        const char *direction; /* "h2d", "d2h"; NULL of a pair */
        const struct xb_link_direction *copies;
        double ceiling; /* 0 where not known */
    } ways[2];          /* a pair has one: `copies` of the other is NULL */
};

/* All GPUs of a report, then all pairs. */
size_t xb_link_subjects(const struct xb_link_report *report);
struct xb_link_subject xb_link_subject_at(const struct xb_link_report *report, size_t index);

/* How many GPUs are not OK, and how many pairs. */
size_t xb_link_count_bad(const struct xb_link_report *report, size_t *pairs);

#define XB_LINK_LABEL 9 /* how wide the table's labels are */
/* Words behind a label, on the `stream` of the function that it stands in. */
#define NOTE(label, ...) xb_note_print(stream, (label), XB_LINK_LABEL, __VA_ARGS__)

/* A plain cell of the `table` of that function. */
#define CELL(...) xb_table_cell(table, XB_COLOUR_NONE, __VA_ARGS__)

/* The colour of a verdict on a terminal. */
enum xb_colour xb_link_colour(enum xb_level level);

/* Why a verdict is not OK, a line a reason; `of` begins each. */
void xb_link_print_reasons(FILE *stream, const struct xb_findings *found, const char *of);

/* Prints all that is known of a GPU. XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_link_table_device(FILE *stream, const struct xb_link_device *device,
                                                  const struct xb_verdict *verdict,
                                                  struct xb_error *error);

#endif
