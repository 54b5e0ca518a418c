/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A fleet made by hand, and its judgement. There is only one, so every test starts with begin().
 * Include after cmocka.h. */
#include "fleet/fleet.h"

extern struct xb_fleet fleet;
extern struct xb_fleet_judgement judged;
extern struct xb_fleet_request request;
/* The next GPUs, figures and documents are made like these. */
extern struct xb_fleet_figure next_figure;
extern struct xb_fleet_gpu next_gpu;
extern struct xb_fleet_source next_source;
extern const char *next_driver;
/* of the next complaints; NULL */
extern const char *next_causes;

/* An empty fleet, alpha 1 %, H200s behind Gen5 x16, documents of link at time 1000, figure h2d. */
void begin(void);
/* The teardown of a group: frees what the last test left. */
int finish_group(void **state);

/* These return the number of what they add. */
size_t add_document(void);
size_t add_node(const char *format, ...) __attribute__((format(printf, 1, 2))); /* its name */
/* Adds a GPU of a node that add_node() returned, with a UUID made of both numbers. */
size_t add_gpu(size_t node, unsigned index);
size_t add_figure(const char *name);
void add_value(size_t figure, size_t gpu, double value);
void add_pair(size_t figure, size_t gpu, int peer, double value); /* the same, of a pair */
/* Adds nodes "n0", "n1", ..., each with one document and one GPU. Their figure h2d is
 * `centre` x (1 + step x -2, -1, 0, 1, 2, -2, ...). Returns the figure. */
size_t add_fleet(size_t nodes, double centre, double step);
/* By the last document. */
void complain(enum xb_fleet_code code, size_t gpu, const char *text);
void complain_of_node(enum xb_fleet_code code, size_t node, const char *text);

void judge(void);
/* Asserts that the only finding with the code is about that node, and that its text has the words.
 */
const struct xb_fleet_finding *assert_finding(enum xb_fleet_code code, const char *node,
                                              const char *words);
size_t count_of(enum xb_fleet_code code);
/* Asserts that one note, or no note, has these words. */
void assert_note(const char *words);
void assert_no_note(const char *words);
void assert_close(double value, double expected);
