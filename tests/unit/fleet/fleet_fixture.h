/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A fleet made by hand, which verbs of a text add to, and its judgement. There is only one.
 *
 *     document [kind=K] [written=T] [dated=T] [late=S] [unsynchronised] [rank=R/OF]
 *                                     one more, and what the next ones are like
 *     with NAME=VALUE...              what is added is like this from then on: driver, model, link,
 *                                     links (a number or "unknown"), unit, options, more (0 or 1),
 *                                     speed, width, uuid, pci, told; "-" for not known
 *     nodes NAMES [GPUS] [FIGURE=VALUES...] [step=S] [noise=S] [tails=S]
 *                                     adds a document for each node, and a value of each figure for
 *                                     each GPU. Both names and GPUs are Slurm's host expressions, a
 *                                     list of values is one for each GPU, and so of width. From
 *                                     node to node values differ by -2, -1, 0, 1, 2, -2, ... times
 *                                     a step, by a random share, or lie far out at both ends
 *     value NODE GPU FIGURE VALUE [peer=P] [scatter=S]    by the last document
 *     pairs NAMES PAIRS FIGURE VALUE  of each pair, such as 0>1,1>0, by a document for each node
 *     scatter NAMES SHARE             of the values that are there
 *     complain NAMES GPU CODE TEXT [CAUSES]     by the last document; GPU "-" for the node itself
 *     host NODE NAME                  what a node calls itself
 *     expect [NAMES], alpha A
 *     broken NAME                     a document that could not be read
 *     baseline                        what was added is the baseline, and nothing is in the fleet
 *     show NAME                       tells what is kept: gpus, nodes, figures
 *     judge                           and tells all that came of it
 *
 * In uuid and pci {node} and {gpu} stand for the name and the index.
 */
#include "cases.h"

#include "fleet/fleet.h"

extern struct xb_fleet fleet;

extern const struct verb fleet_verbs[];

/* An empty fleet, alpha 1 %, H200s behind Gen5 x16, documents of link at time 1000. */
void begin_fleet(void);
/* A text, also where there is none or an empty one; and all of a figure. */
const char *known(const char *text);
void tell_figure(FILE *told, const struct xb_fleet_figure *own);
/* The teardown of a group: frees what the last test left. */
int finish_fleet(void **state);
