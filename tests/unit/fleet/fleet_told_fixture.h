/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Judgements made by hand, for the tests of the formats that write them. */

#include "fleet/write/formats.h"

#define NASTY "a \"q\" | 'b', `c` $(d) \\ <e>;\nsecond\r\tline \x1b[31m::x \xff\xc0 end \xe2\x82"
#define NODES 40
#define FINDINGS 100

struct fleet_made {
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
    struct xb_fleet_source sources[NODES];
    struct xb_fleet_node nodes[NODES], gone, *node_list[NODES];
    struct xb_fleet_gpu gpus[NODES], *gpu_list[NODES];
    struct xb_fleet_figure figures[8];
    struct xb_fleet_left_out left_out[XB_FLEET_TOLD];
    struct xb_fleet_finding findings[FINDINGS];
    struct xb_fleet_siblings siblings[8];
    const char *notes[4];
    const char *expected[NODES];
    char names[NODES][16], uuids[NODES][48], addresses[NODES][16];
};

/* 40 nodes with one GPU each, all alike. */
void make_alike(struct fleet_made *made);

/* A slow GPU, a slow pair, a failed GPU, a fast GPU and a missing node; figures that could not be
 * judged, and a document that was left out. */
void make_outliers(struct fleet_made *made);

/* A hundred slow findings. */
void make_many(struct fleet_made *made);

/* Only findings that drain no node. */
void make_mild(struct fleet_made *made);

/* No document could be read. */
void make_nothing(struct fleet_made *made);

/* Too few siblings. */
void make_few(struct fleet_made *made);

/* Every text from outside could break a format. */
void make_nasty(struct fleet_made *made);

struct kind {
    const char *name;
    void (*make)(struct fleet_made *made);
};

#define KINDS ((size_t)7)
extern const struct kind kinds[KINDS];

typedef enum xb_status write_judgement(FILE *, const struct xb_fleet_judgement *,
                                       struct xb_error *);

struct format {
    const char *name;
    write_judgement *write;
};

/* The table is 100 columns wide. */
#define FORMATS ((size_t)5)
extern const struct format formats[FORMATS];

/* The output of a format, until the next call. */
char *written(write_judgement *write, const struct fleet_made *made);
