/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs made by hand, for the tests of what results mean. */

#include "measure/run.h"
#include "run/formats.h"

#include <cjson/cJSON.h>

#define GIB (1ULL << 30)
#define MIB (1ULL << 20)
extern const struct xb_mode pageable;
extern const struct xb_mode pinned;
extern const struct xb_mode async;
extern const struct xb_mode double_buffer;
extern const struct xb_mode zero_copy;
extern const struct xb_mode managed;
extern const struct xb_mode peer;
extern const struct xb_backend backend;

/* Gives a device a Gen5 x16 path that was seen under load, with a payload of 256 and read requests
 * of 4096 bytes: 58.081 GB/s to the device, 57.459 from it. */
void set_ceiling(struct xb_run_device *device);

/* The run's record. Every device that a row names must be one of the run's, as the plan has it. */
void record_of(const struct xb_run *run, struct xb_record *record);
/* The same, which stays as it is when the run's results change: as a file has it. */
void record_copy_of(const struct xb_run *run, struct xb_record *record);
/* Its JSON. */
cJSON *parsed(const struct xb_run *run);

void assert_narrow(const char *text);

/* ---- a node made by hand: rows whose figures are plain numbers ---- */

#define NODE_ROWS 80
#define NODE_DEVICES 4

struct node {
    struct xb_config config; /* nothing was given */
    struct xb_run_device devices[NODE_DEVICES];
    struct xb_result results[NODE_ROWS];
    struct xb_run run;
};

int node_setup(void **state);
int node_teardown(void **state);
#define NODE_TEST(name) TEST_WITH(name, node_setup, node_teardown)

/* Seven samples of the same time, so that every statistic is that number. */
void add_same(struct xb_samples *samples, double value);
void set_bandwidth(struct xb_result *result, double gigabytes);

/* A measured row of 256 MiB on device 0. */
struct xb_result *add(struct node *n, const struct xb_mode *mode, const char *variant,
                      enum xb_direction direction, double gigabytes);
struct xb_result *add_pair(struct node *n, const char *variant, enum xb_direction direction,
                           unsigned source, int destination, double gigabytes);
void set_link(struct xb_result *result, const char *kind, double links, double rate);
/* Gives its case the parameter --by. */
struct xb_result *set_by(struct xb_result *result, const char *word);

/* A group on devices 0 to 3; a share of 0 is one that is not known. */
void add_together(struct node *n, enum xb_direction direction, double sum,
                  const double rates[NODE_DEVICES], const double shares[NODE_DEVICES]);
/* A group of pairs that have the device in common: their sum, and each with that rate and share. */
void add_group(struct node *n, const char *variant, enum xb_group group, unsigned device,
               double sum, double each, double share);
/* A figure that follows from others; it is replaced where it is there. */
void set_computed(struct xb_result *result, const struct xb_figure *figure, double value);
/* One with seven samples of that value. */
void add_figure(struct xb_result *result, const struct xb_figure *figure, double value);
/* Makes it one of single operations: p95 is twice the p50, p99 thrice. No p50 of the device (0):
 * its clock was not read. */
void set_latency(struct xb_result *result, double host_p50, double device_p50);
struct xb_result *add_latency(struct node *n, const struct xb_mode *mode,
                              enum xb_direction direction);

/* Takes a row out of what may be shown. */
void spoil(struct xb_result *result, enum xb_result_status status, const char *reason);
