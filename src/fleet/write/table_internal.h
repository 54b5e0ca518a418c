/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "fleet/judge/judgement.h"

/* The parts of the table, each in a file of its name, and the helpers that they share. */

/* GPUs of one node. */
struct xb_fleet_gpus {
    size_t count;     /* how many */
    size_t all;       /* how many the node has */
    uint64_t indices; /* a bit for each index below 64 */
};

struct xb_fleet_view {
    FILE *stream;
    const struct xb_fleet_judgement *judgement;
    size_t columns;   /* width of a line */
    size_t prose;     /* width of a line of sentences */
    bool verbose;     /* the figures too, and all columns */
    size_t most_rows; /* that are printed */
};

/* "55.44 GB/s", "3.31 us"; "-" for NAN. */
const char *xb_fleet_table_value(const char *unit, double value, char text[64]);
/* "-12.3 %"; with one digit more if the share is small. */
const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size);
/* "4,000" */
const char *xb_fleet_table_count(size_t count, char text[32]);
/* Such texts in memory of the block that they stand in. */
#define VALUE(unit, value) xb_fleet_table_value((unit), (value), (char[64]){0})
#define SHARE(share) xb_fleet_table_share((share), false, (char[32]){0}, 32)
#define COUNT(count) xb_fleet_table_count((count), (char[32]){0})

/* Adds a GPU, unless one of its index is there already. */
void xb_fleet_table_add_gpu(struct xb_fleet_gpus *gpus, const struct xb_fleet_gpu *gpu);
/* "2, 5-7", in order; "" where there are too many to list, or one has an index of 64 or more. */
#define XB_FLEET_INDICES 32
const char *xb_fleet_table_indices(const struct xb_fleet_gpus *gpus, char text[XB_FLEET_INDICES]);

/* Prints sentences, wrapped, in a colour or without. */
#define table_print_in(view, colour, ...)                                                          \
    xb_lines_print_in((view)->stream, (view)->prose, (colour), __VA_ARGS__)
#define table_print(view, ...) table_print_in((view), XB_COLOUR_NONE, __VA_ARGS__)

void xb_fleet_table_findings(const struct xb_fleet_view *view);
