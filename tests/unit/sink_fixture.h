/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs made by hand, for the tests of what is written about them. */

#include "measure/run.h"
#include "run/formats.h"

#include <cjson/cJSON.h>

#define GIB (1ULL << 30)
#define MIB (1ULL << 20)
/* Whole, but no double: 2^53 + 1. */
#define ODD_BYTES 9007199254740993ULL
#define NASTY "a \"quoted\", comma\r\nsecond line\ttab \xff\xc0\xaf end \xe2\x82"
/* What is left of it in UTF-8: every byte that belongs to no character is one U+FFFD. */
#define NASTY_UTF8                                                                                 \
    "a \"quoted\", comma\r\nsecond line\ttab \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end "            \
    "\xEF\xBF\xBD\xEF\xBF\xBD"

enum { ROW_OK, ROW_FEW, ROW_SKIPPED, ROW_ERROR, ROW_UNVERIFIED, ROW_COUNT };

typedef enum xb_status (*sink)(FILE *, const struct xb_record *, struct xb_error *);

/* ---- a run with a row of every kind ---- */

extern const struct xb_mode pageable;
extern const struct xb_mode pinned;
extern const struct xb_mode async;
extern const struct xb_mode double_buffer;
extern const struct xb_mode zero_copy;
extern const struct xb_mode managed;
extern const struct xb_mode peer;
extern const struct xb_backend backend;

#define OPTION_COUNT 12

struct fixture {
    struct xb_value values[OPTION_COUNT];
    struct xb_config config;
    struct xb_run_device devices[2];
    struct xb_result results[ROW_COUNT];
    struct xb_run run;
};

int setup(void **state);
int teardown(void **state);
#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

void set_reason(struct xb_result *result, const char *reason);
/* Gives a device a Gen5 x16 path that was seen under load, with a payload of 256 and read requests
 * of 4096 bytes: 58.081 GB/s to the device, 57.459 from it. */
void set_ceiling(struct xb_run_device *device);

/* The run's record. Every device that a row names must be one of the run's, as the plan has it. */
void record_of(const struct xb_run *run, struct xb_record *record);
/* The same, which stays as it is when the run's results change: as a file has it. */
void record_copy_of(const struct xb_run *run, struct xb_record *record);
/* What a sink writes of a run's record, or of a record; release with free(). */
char *written(sink write, const struct xb_run *run);
char *written_record(sink write, const struct xb_record *record);
/* The text for people with every row, statement and note. */
enum xb_status write_all(FILE *stream, const struct xb_record *record, struct xb_error *error);
cJSON *parsed(const struct xb_run *run);
/* The figure of that name in a row of results; NULL for none. */
const cJSON *figure_at(const cJSON *row, const char *name);
static inline enum xb_status write_indented(FILE *stream, const struct xb_record *record,
                                            struct xb_error *error)
{
    return xb_result_json_write(stream, record, XB_JSON_INDENTED, error);
}

/* write_json() as fail_every_allocation() wants it. */
enum xb_status write_json(FILE *stream, const void *run, struct xb_error *error);

void assert_utf8(const char *text);
void assert_narrow(const char *text);
/* A whole line of the text. */
void assert_line(const char *text, const char *line);
/* The line with runs of blanks made one, so that a test does not depend on the widths. */
void assert_row(const char *text, const char *row);

/* ---- a node made by hand: rows whose figures are plain numbers ---- */

#define NODE_ROWS 80
#define NODE_DEVICES 4

struct node {
    struct fixture *base; /* for the configuration */
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
/* A figure that follows from others; it is replaced where it is there. */
/* A group of pairs that have the device in common: their sum, and each with that rate and share. */
void add_group(struct node *n, const char *variant, enum xb_group group, unsigned device,
               double sum, double each, double share);
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

/* What the table has after the header with the devices; release with free(). */
char *body(const struct xb_run *run);
/* The same of a table's text, which it takes. */
char *body_of(char *text);
