/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "reading/reading.h"

/* What the Reading says of modes. Lists of lines end with a label of NULL. */

/* ---- for lines of several modes ---- */

#define XB_LINE(its_label, its_code, function, subject)                                            \
    {                                                                                              \
        .label = (its_label), .code = (its_code), .say = (function), .about = (subject)            \
    }

/* Says what it costs that data begins off a boundary, on the host and on the device. Compares cases
 * that differ in --host-offset alone, or in --device-offset alone, by the intervals of their
 * bandwidths. */
void xb_alignment_say(struct xb_reading *reading);

/* Says which value of the option that the line is about is best for its mode, and what the default
 * loses, each direction a statement. Compares the fastest case with those that differ in that
 * option alone, by the intervals of their bandwidths. */
void xb_parameter_say(struct xb_reading *reading);

/* The case of the record that differs in that parameter alone and has that value; NULL for none. */
const struct xb_record_case *xb_twin(const struct xb_reading *reading,
                                     const struct xb_record_case *test,
                                     const struct xb_option *option, const char *value);

/* The case whose call is asynchronous and whose memory is kept, for what is said of that call or of
 * the copy engine: the case itself where its mode has no such options, NULL where it was not
 * measured. */
const struct xb_record_case *xb_usual_copy(const struct xb_reading *reading,
                                           const struct xb_record_case *test);

/* What making memory costs a copy: cases of the mode and a variant (NULL: any) whose option has
 * that value, against their twins that keep the memory. A line is about a list of these, which ends
 * without an option. */
struct xb_made_memory {
    const char *variant;
    const struct xb_option *option;
    const char *value;
    const struct xb_figure *by; /* the bandwidth, where one clock gave both; else the time */
    const char *words;          /* "that cudaMalloc makes for each copy" */
    const char *remedy;         /* sentences, "{gain}" for how many times */
};

/* Says "Back to the host, pageable takes 3.4 times as long into memory that was never touched as
 * into memory that is used again." */
void xb_made_memory_say(struct xb_reading *reading);

/* Says of every case of the variant that the line is about whether making data smaller pays here,
 * with how many threads, and what limits it. Among cases that differ in threads or chunks alone it
 * says it of the fastest. */
xb_reading_say xb_encoded_say, xb_encoded_answer;

/* `say_first_thing`: to pin pageable memory that the driver copies, with what that gains where it
 * was measured. */
void xb_pinning_advise(struct xb_reading *reading, const struct xb_record_case *slow);

/* ---- of one mode ---- */

extern const struct xb_reading_line xb_pinned_reading[], xb_pageable_reading[], xb_peer_reading[],
    xb_pipeline_lines[], xb_job_reading[], xb_batch_reading[], xb_pin_reading[],
    xb_managed_reading[], xb_double_buffer_reading[];

xb_reading_say xb_pipeline_say_disk, xb_job_say, xb_batch_answer, xb_pin_say_cost, xb_resident_say,
    xb_double_buffer_answer, xb_local_say, xb_loads_say, xb_peer_loads_answer, xb_peer_answer;
void xb_managed_try(struct xb_reading *reading, const struct xb_record_case *slow);

/* "warm", "cold": all of it in the page cache, or out of it, but for a page or two; "partly warm";
 * "unknown" for NAN. */
const char *xb_page_cache_word(double share);
