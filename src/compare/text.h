/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "comparison.h"
#include "present/table.h"

/*
 * What the formats of `xferbench compare` say alike. Every text made here is plain ASCII without
 * line breaks, whatever the files hold: each format then escapes what is left to escape.
 */

/* What a text of a file is cut to where a person reads it: a name, a value, a path. */
#define XB_COMPARE_WORD 64
#define XB_COMPARE_VALUE 256
/* Notes and reasons of a comparison are never cut, nor is anything that is made here. */
#define XB_COMPARE_TEXT 640

/*
 * A text that came from outside as plain ASCII, a character for each. One that is too long ends in
 * "..."; `size` is from 16 to XB_COMPARE_TEXT. NULL reads as "not known". One of two colons or
 * hashes in a row goes: "::" and "##[" are what begins a command in a log of GitHub Actions, where
 * any format may be printed.
 */
const char *xb_compare_plain(const char *text, char *plain, size_t size);
/* The same in memory that lasts as long as the block in which it stands. */
#define XB_PLAIN_WORD(text) xb_compare_plain((text), (char[XB_COMPARE_WORD]){0}, XB_COMPARE_WORD)
#define XB_PLAIN_VALUE(text) xb_compare_plain((text), (char[XB_COMPARE_VALUE]){0}, XB_COMPARE_VALUE)

/* ---- the whole ---- */

/* Not comparable, and nobody asked to compare all the same: there are no cases. */
bool xb_compare_refused(const struct xb_comparison *comparison);
/* Not comparable, in whole or in some rows, but compared all the same. */
bool xb_compare_forced(const struct xb_comparison *comparison);
/* "REGRESSION", or "NOT COMPARABLE". */
const char *xb_compare_overall(const struct xb_comparison *comparison);
/* Whether a difference is listed among those that forbid it, or else among the others; what people
 * exchange on purpose stands on top. */
bool xb_compare_is_listed(const struct xb_difference *difference, bool forbid);
/* How many of either are. */
size_t xb_compare_differences(const struct xb_comparison *comparison, bool forbid);
/* "FORCED: not comparable: GPU model of device 0, option --chunk"; "NOT COMPARABLE: ...". */
const char *xb_compare_forbidden(const struct xb_comparison *comparison, struct xb_words *words);
/* "driver 580.159.04 -> 590.10, kernel 6.8 -> 6.9": what people exchange on purpose; "" for none.
 */
const char *xb_compare_stack(const struct xb_comparison *comparison, struct xb_words *words);
/* "worse by 2 % or more is a regression; 3 of 4 figures count; chance of a false alarm: 1 % at
 * most". */
const char *xb_compare_rule(const struct xb_comparison *comparison, struct xb_words *words);
/* The fewest processes that a side of a result that counts has; 0 where none is to be judged. */
size_t xb_compare_fewest(const struct xb_comparison *comparison);
/* "too few processes: a figure has 3 in a file, and to judge 2 figures takes 5"; "" where there are
 * enough. */
const char *xb_compare_needed(const struct xb_comparison *comparison, struct xb_words *words);
/* "8 processes, cuda, driver 580.159.04, NVIDIA H200". */
const char *xb_compare_file(const struct xb_record *record, struct xb_words *words);
/* Both sides of a difference; where cutting makes them look the same, that is said. Both texts
 * hold XB_COMPARE_VALUE. */
void xb_compare_sides(const struct xb_difference *difference, char *baseline, char *candidate);

/* ---- a case ---- */

/* "pinned registered h2d 1 GiB device 0 bandwidth": what it is and no more, so that it can be a
 * name over time. Behind the device stand the parameters that differ between cases of one mode:
 * "chunk 8 MiB". Holds XB_COMPARE_TEXT, as all below. */
const char *xb_compare_name(const struct xb_comparison *comparison,
                            const struct xb_compared *compared, char *text, size_t size);
/* The same for people: "async, chunk 8 MiB to the GPU, 1 GiB, GPU 1, latency_host"; what most
 * have, GPU 0 and bandwidth, is left out. And its beginning: "async, chunk 8 MiB". */
const char *xb_compare_title(const struct xb_comparison *comparison,
                             const struct xb_compared *compared, char *text, size_t size);
const char *xb_compare_method(const struct xb_comparison *comparison,
                              const struct xb_compared *compared, char *text, size_t size);
/* "1", "0>1", "0 of all". */
const char *xb_compare_device(const struct xb_compared *compared, char *text, size_t size);
/* The same of a case that need not have been compared, with parameters of the caller's choice. */
const char *xb_compare_case_name(const struct xb_record_case *test, const struct xb_figure *figure,
                                 const struct xb_parameters *parameters, char *text, size_t size);
bool xb_compare_is_rate(const struct xb_figure *figure); /* bytes per second */
/* "REGRESSION (indicative, not counted)"; "-" where there is nothing to judge. */
const char *xb_compare_verdict(const struct xb_comparison *comparison,
                               const struct xb_compared *compared, char *text, size_t size);
/* One side of a case: "55.44 GB/s", "3.31 us", or a number for what has no unit; "-" for none, and
 * "absent" where the file has no such case. The unit of a bandwidth is left out unless `unit`. */
const char *xb_compare_baseline(const struct xb_compared *compared, bool unit, char *text,
                                size_t size);
const char *xb_compare_candidate(const struct xb_compared *compared, bool unit, char *text,
                                 size_t size);
/* ---- change.c: what became of it, in words ---- */

/* "51 % slower", "0.3 % longer", "0.00 %"; "-" where there is no ratio. */
const char *xb_compare_change(const struct xb_compared *compared, char *text, size_t size);
/* The one side of the interval that matters for the verdict: "at least 50 %", "at most 0.2 %
 * slower", "not slower"; without the word that xb_compare_change ends with. "-" where no interval
 * has a level. */
const char *xb_compare_sure(const struct xb_compared *compared, char *text, size_t size);
/* How sure of that: "99 %", never more than it is; "" where it cannot be told. */
const char *xb_compare_sureness(const struct xb_compared *compared, char *text, size_t size);
/* Both: "51 % slower, 99 % sure of at least 50 %". */
const char *xb_compare_says(const struct xb_compared *compared, char *text, size_t size);
/* The fewest decimals, `least` or more, with which a value lies on its side of all bounds. */
int xb_compare_decimals(double value, const double *bounds, size_t count, int least);

/*
 * Four decimals, or as many as it takes not to read as if it lay on the other side of what the
 * verdict depends on. "-" for none.
 */
const char *xb_compare_ratio(const struct xb_compared *compared, char *text, size_t size);
/* "0.9402-0.9611", with what stands between the bounds given. */
const char *xb_compare_interval(const struct xb_compared *compared, const char *between, char *text,
                                size_t size);
/* "98%"; "" for an interval whose level cannot be told. */
const char *xb_compare_level(const struct xb_compared *compared, char *text, size_t size);
/* The level that all intervals have, or "" where they differ, have none, or there is none. */
const char *xb_compare_common_level(const struct xb_comparison *comparison, char *text,
                                    size_t size);
/* P of the verdict, for an INCONCLUSIVE case of the nearest verdict: "<0.001", "0.013"; "-" where
 * nothing was tested. */
const char *xb_compare_p(const struct xb_comparison *comparison, const struct xb_compared *compared,
                         char *text, size_t size);
/* Why, or where it is to be found: "only in the baseline; skipped: ...". "" for nothing to say. */
const char *xb_compare_note(const struct xb_compared *compared, char *text, size_t size);

/* Everything about a case's figures, with `separator` between, behind what `words` has. */
void xb_compare_tell(struct xb_words *words, const struct xb_comparison *comparison,
                     const struct xb_compared *compared, const char *separator);

/* Whether the figures gave rise to that verdict or it is certain otherwise: not one of too few
 * processes, nor none. */
bool xb_compare_judged(const struct xb_compared *compared);

/* The tables that text and Markdown have in common. */

/* The colour of an outcome; of one that is only indicative, or forced, that of a caution. */
enum xb_colour xb_compare_colour(enum xb_outcome outcome, bool sure);

/* The results that were compared, the worst first, those that count before the others; release with
 * free(). NULL: no memory. */
const struct xb_compared **xb_compare_sorted(const struct xb_comparison *comparison);

/* How a text of a file is written into a table, whose cell lasts as long as the block. */
typedef const char *xb_compare_quote(const char *text, char *quoted, size_t size);

struct xb_compare_look {
    const struct xb_compared **rows;
    bool is_whole;           /* also what people read who know statistics */
    xb_compare_quote *quote; /* NULL: as it is */
};

/*
 * A row for each result; `shared` gets what all of them have in common and no column tells: "To the
 * GPU, 1 GiB, bandwidth in GB/s". Where memory is short printing the table says so, as it does for
 * that of the conditions that differ: those that forbid a comparison, or the others.
 */
struct xb_table *xb_compare_cases_table(const struct xb_comparison *comparison,
                                        const struct xb_compare_look *look,
                                        struct xb_words *shared);
struct xb_table *xb_compare_differences_table(const struct xb_comparison *comparison, bool forbid,
                                              xb_compare_quote *quote);

/* The note of the row at that place of `rows`, of which it counts those behind it that have the
 * same: "pinned to the GPU, 1 GiB and the next 2: only in the baseline". "" for none, and for one
 * that an earlier row told. */
const char *xb_compare_row_note(const struct xb_comparison *comparison,
                                const struct xb_compared *const *rows, size_t index,
                                struct xb_words *words);
