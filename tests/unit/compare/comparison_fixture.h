/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Two records made by hand, which a test changes and compares. There is one of each: every test
 * starts with begin(). Include after cmocka.h.
 */
#include "record_fixture.h"

#include "compare/comparison.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIB (UINT64_C(1) << 20)
#define RATE 55e9     /* bytes per second */
#define SECONDS 10e-6 /* of an operation */
#define STEP 1e-4     /* from a process to the next */

extern struct xb_record before, after;
extern struct xb_comparison_request request;
extern struct xb_comparison result;

/* Records of so many processes without a case, a threshold of 2 % and an alpha of 1 %. */
void begin(size_t baseline, size_t candidate);
/* Only what the text says gates. */
void gate(const char *text);
/* Releases what the last test left: a group's teardown. */
int finish_group(void **state);

/* In both files, the candidate's by `ratio` of the baseline's. */
void add_both(const char *mode, const char *direction, uint64_t bytes, double ratio);
void add_pinned(double ratio);
/* `count` cases that are the same in both. */
void add_passing(size_t count);
/* A latency by the host's clock, and one by the device's. */
void add_latency(double host_ratio, double device_ratio);

void compare(void);
/* The verdict, its exit code, and words of its reason. */
void assert_overall(enum xb_outcome outcome, int code, const char *words);
/* How many cases gate and have that outcome. Indicative ones do not count. */
size_t count_judged(enum xb_outcome outcome);
/* One case's basis, outcome, and words of its note; "" for none. */
const struct xb_compared *assert_case(size_t i, enum xb_basis basis, enum xb_outcome outcome,
                                      const char *words);
void assert_near(double value, double expected);
