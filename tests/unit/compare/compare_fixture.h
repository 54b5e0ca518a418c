/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compare/comparison.h"

#include <cjson/cJSON.h>

/* Comparisons made by hand, for the tests of what is written about them. */

#define CASES 200
#define PROCESSES 8
#define FIGURES 2 /* of a row */

typedef enum xb_status (*sink)(FILE *, const struct xb_comparison *, struct xb_error *);

struct side {
    struct xb_record record;
    struct xb_record_process processes[PROCESSES];
    struct xb_record_device device;
    struct xb_record_case cases[CASES];
    struct xb_record_row rows[CASES][PROCESSES];
    struct xb_record_figure figures[CASES][PROCESSES][FIGURES];
};

struct node {
    struct xb_comparison comparison;
    struct side baseline, candidate;
    struct xb_compared cases[CASES];
    struct xb_difference differences[16];
    char *long_text; /* 10 000 characters in the nasty kind */
};

int setup(void **state);
int teardown(void **state);
#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

/* A case judged by the test, gating; of it and what was there before the overall verdict. */
struct xb_compared *add_judged(struct node *n, const char *variant, enum xb_outcome outcome,
                               double ratio);
void add_difference(struct node *n, const char *name, const char *baseline, const char *candidate,
                    bool forbids);
void conclude(struct node *n, enum xb_outcome outcome, const char *reason);

void make_empty(struct node *n);
void make_pass(struct node *n);
void make_regression(struct node *n); /* of everything one */
void make_indicative(struct node *n); /* one process a side */
void make_only_passes_indicative(struct node *n);
void make_refused(struct node *n);
void make_forced(struct node *n);
void make_latency(struct node *n);
/* Cases that differ in their parameters alone. */
void make_parameters(struct node *n);
void make_rows_apart(struct node *n); /* measured with other settings */
void make_all_apart(struct node *n);
void make_many(struct node *n);
void make_nasty(struct node *n); /* texts that could break a format */

struct kind {
    const char *name;
    void (*make)(struct node *n);
};
#define KINDS ((size_t)13)
extern const struct kind kinds[KINDS];

struct format {
    const char *name;
    sink write;
};
#define SINKS ((size_t)7)
extern const struct format sinks[SINKS];
/* All that is known, in lines without end. */
enum xb_status plain_table(FILE *stream, const struct xb_comparison *comparison,
                           struct xb_error *error);
/* In 100 columns, as a file gets it. */
enum xb_status usual_table(FILE *stream, const struct xb_comparison *comparison,
                           struct xb_error *error);
enum xb_status colour_table(FILE *stream, const struct xb_comparison *comparison,
                            struct xb_error *error);

/* What a sink writes; release with free(). */
char *written(sink write, const struct node *n);
cJSON *parsed(sink write, const struct node *n);

size_t count_of(const char *text, const char *part);
/* The first line that holds `part`, without its end; release with free(). */
char *line_with(const char *text, const char *part);
/* The first line that holds `part` holds `expected` too. */
void assert_line(const char *text, const char *part, const char *expected);
/* The same, however wide the columns are. */
void assert_row(const char *text, const char *part, const char *expected);
