/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fleet/fleet.h"

#include "base/json_fields.h"
#include "base/memory.h"
#include "plot/pictures.h"
#include "run/request.h"

#include <stdbool.h>
#include <stdio.h>

/* Writers of a judgement flush the stream. XB_ERR_SYSTEM if writing failed. Texts from documents
 * cannot break any of the formats. */

/* For people, `columns` wide; if it is verbose, with all columns and a histogram of each figure. */
enum xb_status xb_fleet_table_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                    size_t columns, bool verbose, struct xb_error *error);
/* json: after docs/fleet.schema.json; csv: a line for each finding, after the names of columns;
 * prometheus: for the textfile collector of node_exporter; nodelist: the nodes to drain, in one
 * line, nothing if there are none. */
typedef enum xb_status xb_fleet_writer(FILE *stream, const struct xb_fleet_judgement *judgement,
                                       struct xb_error *error);
xb_fleet_writer xb_fleet_json_write, xb_fleet_csv_write, xb_fleet_prometheus_write,
    xb_fleet_nodelist_write;
/* What JSON has; a finding and a figure have other members before these. */
extern const struct xb_field xb_fleet_fields[], xb_fleet_finding_fields[], xb_fleet_gpu_fields[],
    xb_fleet_siblings_fields[], xb_fleet_figure_fields[];

/* The values of one figure by node, and each named GPU with a marker. */
struct xb_fleet_picture {
    struct xb_dots dots;
    struct xb_plot_level levels[3]; /* the dots' */
    const char *title, *description;
};
typedef void xb_fleet_visit(void *argument, const struct xb_fleet_picture *picture);
/* Whether there is one of a figure: it is judged, of two nodes or more. */
bool xb_fleet_is_drawn(const struct xb_fleet_siblings *siblings);
/* Calls `visit` with the pictures of those in which a GPU is named, `most` of them, and of any
 * while there are less than `least`; those of most named GPUs come first. Each lasts as long as the
 * call. Returns how many. */
size_t xb_fleet_pictures_each(const struct xb_fleet_judgement *judgement, size_t most, size_t least,
                              xb_fleet_visit *visit, void *argument);

/* Takes from what xb_fleet_json_write() wrote what can be drawn: the figures, and the GPUs that are
 * slow or fast. Nobody has checked the tree, which must stay; what is wrong in it is left out. */
void xb_fleet_take_judged(const struct cJSON *root, struct xb_fleet *fleet,
                          struct xb_fleet_judgement *judgement);

/* The nodes to take out of service. */
struct xb_drain_list {
    const char **names; /* each once */
    size_t count;
    const char *text;       /* all as a host expression of Slurm; "" for none */
    size_t left_out;        /* how many are not in the text: no scheduler takes such a name */
    struct xb_arena *arena; /* where all of it lies, to be freed */
};
void xb_fleet_drain_list(const struct xb_fleet_judgement *judgement, struct xb_drain_list *list);

/* Sorts names and drops those that are there twice. Returns how many are left. */
size_t xb_fleet_sort_names(const char **names, size_t count);
/* Whether to take its node out of service: the finding is bad, certain, and not shared with many
 * siblings. */
bool xb_fleet_is_to_drain(const struct xb_fleet_finding *finding);

/* The columns of its table; the last one's name is NULL. */
extern const struct xb_column_help xb_fleet_column_helps[];

/* ---- Slurm's host expressions: "gpu[001-003,7],login1" (slurm.conf(5), "NodeName") ---- */

struct xb_hostlist {
    const char **names; /* in the order given */
    size_t count;
    struct xb_arena *texts;
};

/* XB_ERR_USAGE says where the text is wrong. Free the list also after a failure. */
enum xb_status xb_hostlist_expand(const char *text, struct xb_hostlist *list,
                                  struct xb_error *error);
/* Reads a file with one expression per line; ignores empty lines and comments after a #. */
enum xb_status xb_hostlist_read(const char *path, struct xb_hostlist *list, struct xb_error *error);
void xb_hostlist_free(struct xb_hostlist *list); /* accepts a zeroed one */

/* Whether a name can be in an expression: letters, digits, dashes, dots and underscores; no dash in
 * front, which would make it an option of the command that it is given to; no dot, as in the
 * folders "." and ".."; and not "ALL", which Slurm takes for all nodes. */
bool xb_hostlist_is_name(const char *name);

/* A short expression that Slurm expands to these names, in order; "" for none. Leaves out and
 * counts names that no scheduler takes (with spaces, commas, brackets, ...). It is in *arena. */
const char *xb_hostlist_compress(const char *const *names, size_t count, struct xb_arena **arena,
                                 size_t *left_out);
