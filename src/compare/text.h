/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "comparison.h"

/* What the formats of `xferbench compare` say alike. Every text made here is plain ASCII without
 * line breaks, whatever the files hold: each format then escapes what is left to escape. */

/* What a text of a file is cut to where a person reads it: a name, a value, a path. */
#define XB_COMPARE_WORD 64
#define XB_COMPARE_VALUE 256
/* Notes and reasons of a comparison are never cut, nor is anything that is made here. */
#define XB_COMPARE_TEXT 640

/* Makes a text that came from outside plain ASCII, a character for each. One that is too long ends
 * in "..."; `size` is from 16 to XB_COMPARE_TEXT. NULL reads as "not known". One of two colons or
 * hashes in a row goes: "::" and "##[" begin a command in a log of GitHub Actions. */
const char *xb_compare_plain(const char *text, char *plain, size_t size);
/* The same in memory that lasts as long as the block in which it stands. */
#define XB_PLAIN_WORD(text) xb_compare_plain((text), (char[XB_COMPARE_WORD]){0}, XB_COMPARE_WORD)
#define XB_PLAIN_VALUE(text) xb_compare_plain((text), (char[XB_COMPARE_VALUE]){0}, XB_COMPARE_VALUE)
#define XB_PLAIN_TEXT(text) xb_compare_plain((text), (char[XB_COMPARE_TEXT]){0}, XB_COMPARE_TEXT)

/* ---- the whole ---- */

/* What a sentence is added to; it lasts as long too. */
#define XB_NEW_WORDS (&(struct xb_words){.length = 0})

/* Not comparable, and nobody asked to compare all the same: there are no cases. */
bool xb_compare_refused(const struct xb_comparison *comparison);
/* Not comparable, in whole or in some rows, but compared all the same. */
bool xb_compare_forced(const struct xb_comparison *comparison);
/* "REGRESSION", or "NOT COMPARABLE". */
const char *xb_compare_overall(const struct xb_comparison *comparison);
/* " (FORCED: not comparable)", or "". */
const char *xb_compare_caution(const struct xb_comparison *comparison);
/* Whether a difference is listed among those that forbid it, or else among the others; what people
 * exchange on purpose stands on top. And how many are. */
bool xb_compare_is_listed(const struct xb_difference *difference, bool forbid);
size_t xb_compare_differences(const struct xb_comparison *comparison, bool forbid);
/* "FORCED: not comparable: GPU model of device 0, option --chunk"; "NOT COMPARABLE: ...". */
const char *xb_compare_forbidden(const struct xb_comparison *comparison, struct xb_words *words);
/* "driver 580.159.04 -> 590.10, kernel 6.8 -> 6.9": what people exchange on purpose, or "". */
const char *xb_compare_stack(const struct xb_comparison *comparison, struct xb_words *words);
/* "worse by 2 % or more is a regression; 3 of 4 figures count; chance of a false alarm: ...". */
const char *xb_compare_rule(const struct xb_comparison *comparison, struct xb_words *words);
/* The fewest processes that a side of a result that counts has; 0 where none is to be judged. */
size_t xb_compare_fewest(const struct xb_comparison *comparison);
/* "too few processes: a figure has 3 in a file, and to judge 2 figures takes 5"; "" for enough. */
const char *xb_compare_needed(const struct xb_comparison *comparison, struct xb_words *words);
/* "8 processes, cuda, driver 580.159.04, NVIDIA H200". */
const char *xb_compare_file(const struct xb_record *record, struct xb_words *words);
/* Both sides of a difference, in XB_COMPARE_VALUE; that only cutting makes them look the same is
 * said. */
void xb_compare_sides(const struct xb_difference *difference, char *baseline, char *candidate);

/* ---- a case ---- */

/* What a format tells of a case. */
enum xb_compared_part {
    /* "pinned registered h2d 1 GiB device 0 chunk 8 MiB bandwidth": what it is and no more, so that
     * it can be a name over time, with the parameters that differ between cases of one mode. */
    XB_CASE_NAME,
    /* For people: "async, chunk 8 MiB to the GPU, 1 GiB, GPU 1, latency_host"; what most have, GPU
     * 0 and bandwidth, is left out. And its beginning: "async, chunk 8 MiB". */
    XB_CASE_TITLE,
    XB_CASE_METHOD,
    XB_CASE_DIRECTION,
    XB_CASE_SIZE,
    XB_CASE_DEVICE, /* "1", "0>1", "0 of all" */
    XB_CASE_FIGURE,
    /* A side: "55.44 GB/s", "3.31 us", or a number for what has no unit; "-" for none, and "absent"
     * where the file has no such case. */
    XB_CASE_BASELINE,
    XB_CASE_CANDIDATE,
    XB_CASE_CHANGE, /* "51 % slower", "0.3 % longer", "0.00 %"; "-" where there is no ratio */
    /* The side of the interval that matters for the verdict: "at least 50 %", "at most 0.2 %
     * slower", "not slower"; without the word that the change ends with. "-" for no level. */
    XB_CASE_SURE,
    XB_CASE_SURENESS, /* how sure of that: "99 %", never more than it is; "" for no level */
    XB_CASE_SAYS,     /* all three: "51 % slower, 99 % sure of at least 50 %" */
    /* Four decimals, or as many as it takes not to read as if it lay on the other side of what the
     * verdict depends on. "-" for none. */
    XB_CASE_RATIO,
    XB_CASE_INTERVAL,    /* "0.9402-0.9611" */
    XB_CASE_INTERVAL_TO, /* "0.9402 to 0.9611" */
    XB_CASE_LEVEL,       /* its: "98%"; "" where that cannot be told */
    XB_CASE_P,           /* of the verdict, or of the nearest: "<0.001", "0.013"; "-" for no test */
    XB_CASE_VERDICT, /* "REGRESSION (indicative, not counted)"; "-": there is nothing to judge */
    XB_CASE_NOTE     /* why, or where it is to be found: "only in the baseline; skipped: ..." */
};

/* `text` holds XB_COMPARE_TEXT. */
const char *xb_compared_text(const struct xb_comparison *comparison,
                             const struct xb_compared *compared, enum xb_compared_part part,
                             char *text);
/* The same in memory that lasts as long as the block in which it stands. */
#define XB_CASE_TEXT(comparison, compared, part)                                                   \
    xb_compared_text((comparison), (compared), (part), (char[XB_COMPARE_TEXT]){0})
/* Takes the `comparison` and the `compared` of the function in which it stands. */
#define XB_SAID(part) XB_CASE_TEXT(comparison, compared, XB_CASE_##part)

/* The name of a case that need not have been compared, with parameters of the caller's choice. */
const char *xb_compare_case_name(const struct xb_record_case *test, const struct xb_figure *figure,
                                 const struct xb_parameters *parameters, char *text);
bool xb_compare_is_rate(const struct xb_figure *figure); /* bytes per second */
/* Whether the figures gave rise to that verdict or it is certain otherwise: not one of too few
 * processes, nor none. */
bool xb_compare_judged(const struct xb_compared *compared);

/* Everything about a case's figures, with `separator` between, behind what `words` has. */
void xb_compare_tell(struct xb_words *words, const struct xb_comparison *comparison,
                     const struct xb_compared *compared, const char *separator);
