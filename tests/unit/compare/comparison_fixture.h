/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Two records made by hand, which a test or the verbs of a text change and compare. There is one of
 * each.
 *
 *     processes 8 [8]                    before the rest; as many in both files without the second
 *     both CASE [RATIO [STEP]] [WORD...] a case that both files have; the candidate's median is
 *     before CASE ..., after CASE ...    RATIO times 55 GB/s, and each process's by STEP more
 *     again SIDE CASE [RATIO [STEP]]     the same of a case that is there
 *     latency SIDE CASE HOST DEVICE [STEP]   10 and 5 us, times so much; "-" for none by that clock
 *     figure SIDE CASE PROCESSES NAME VALUE [unit=U] [less], no-interval SIDE CASE
 *     row SIDE CASE PROCESSES WHAT [REASON]   skipped, failed, verified (failed, but the data is
 *                                        right), wrong, missing, cut, unfinished; or figures=N
 *     timer SIDE CASE PROCESSES NAME
 *     process SIDE PROCESSES WHAT        interrupted, late, deviceless; or failure="..."
 *     device SIDE PROCESSES INDEX [name=N] [link=SPEEDxWIDTH [by=STEP]] [packets=PAYLOAD/REQUEST]
 *     backend SIDE [NAME], driver SIDE [NAME], fact SIDE NAME [VALUE]
 *     option SIDE NAME [VALUE] [NAME VALUE]...    SIDE may also be "defaults"
 *     passing COUNT                      so many cases of pinned h2d that are the same in both
 *     gate TEXT, threshold TEXT, alpha A, force, strict
 *     compare                            and tells all that came of it. What is written as JSON
 * must be read back the same parse TEXT                         tells what gates these are
 *
 * SIDE is before, after or both, CASE a mode/direction/size or as much of it as tells it from
 * others, and PROCESSES a list or "*". The WORDs of a case are variant=V, device=N, peer=N,
 * simultaneous, and any other name=value is a parameter.
 */
#include "cases.h"
#include "compare/comparison.h"
#include "record_fixture.h"

#define MIB (UINT64_C(1) << 20)
#define RATE 55e9     /* bytes per second */
#define SECONDS 10e-6 /* of an operation */
#define STEP 1e-4     /* from a process to the next */

extern struct xb_record before, after;
extern struct xb_comparison_request request;
extern struct xb_comparison result;

extern const struct verb comparison_verbs[];

/* Records of so many processes without a case, a threshold of 2 % and an alpha of 1 %. */
void begin(size_t baseline, size_t candidate);
void begin_comparison(void); /* of eight */
/* Releases what the last test left: a group's teardown. */
int finish_comparison(void **state);

/* In both files, the candidate's by `ratio` of the baseline's; `count` more of pinned h2d. */
void add_pinned(double ratio, size_t count);
void compare(void);

/* The widest table, with all that is known. */
xb_compare_writer table_of_all;
/* What is written of it; release with free(). */
char *comparison_text(xb_compare_writer *write, const struct xb_comparison *comparison);
