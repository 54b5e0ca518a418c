/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "reading/reading.h"

/* What the Reading says of modes, where that stands in a file of its own. Lists of lines end with a
 * label of NULL. */

/* ---- for lines of several modes ---- */

/* Defines the function of a line, or the answer, of one mode: `say` with these arguments. */
#define XB_SAY(name, say, ...)                                                                     \
    static bool name(struct xb_reading *reading, int device, uint64_t bytes)                       \
    {                                                                                              \
        return say(reading, device, bytes, __VA_ARGS__);                                           \
    }

/*
 * For a line of the Reading: what it costs the mode of that name that its data begins off a
 * boundary, on the host and on the device. Compares cases that differ in --host-offset alone, or in
 * --device-offset alone, by the intervals of their bandwidths. False where there are none.
 */
bool xb_alignment_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode);

/*
 * For a line of the Reading: which value of an option is best for the mode of that name, and what
 * the default loses, each direction a statement. Compares the fastest case with those that differ
 * in that option alone, by the intervals of their bandwidths. `noun` names it: "chunk". False where
 * it has one value only.
 */
bool xb_parameter_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                      const struct xb_option *option, const char *noun);

/* The case of the record that differs in that parameter alone and has that value; NULL for none. */
const struct xb_record_case *xb_find_twin(const struct xb_record *record,
                                          const struct xb_record_case *test, const char *parameter,
                                          const char *value);

/* The case whose call is asynchronous and whose memory is kept, for what is said of that call or of
 * the copy engine: the case itself where its mode has no such options, NULL where it was not
 * measured. */
const struct xb_record_case *xb_usual_copy(const struct xb_reading *reading,
                                           const struct xb_record_case *test);

/* What making memory costs a copy: cases of a mode and variant (NULL: any) whose option has that
 * value, against their twins that keep the memory. Lists end with a mode of NULL. */
struct xb_made_memory {
    const char *mode, *variant;
    const struct xb_option *option;
    const char *value, *kept;     /* its values */
    const struct xb_figure *by;   /* the bandwidth, where one clock gave both; else the time */
    const char *way, *words;      /* "To the GPU", "that cudaMalloc makes for each copy" */
    const char *remedy, *pytorch; /* sentences */
};

/* For a line of the Reading: "Back to the host, pageable takes 3.4 times as long into memory that
 * was never touched as into memory that is used again." */
bool xb_made_memory_say(struct xb_reading *reading, int device, uint64_t bytes,
                        const struct xb_made_memory *made);

/* Whether it is certain that a reference of a case, a time, is longer than the case's own median
 * `time`: all samples of one are beyond all of the other. */
bool xb_takes_longer(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *reference, double time);

/* Says of every case of a mode, or of one variant of it, whether making data smaller pays here,
 * with how many threads, and what limits it. Among cases that differ in threads or chunks alone it
 * says it of the fastest. */
bool xb_encoded_say(struct xb_reading *reading, int device, uint64_t bytes, const char *mode,
                    const char *variant);

bool xb_encoded_answer(struct xb_reading *reading, int device, uint64_t bytes, const char *mode);

/* `say_first_thing`: to pin pageable memory that the driver copies, with what that gains where it
 * was measured. */
void xb_pinning_advise(struct xb_reading *reading, const struct xb_record_case *slow);

/* ---- of one mode ---- */

extern const struct xb_reading_line xb_pageable_reading[], xb_peer_reading[], xb_pipeline_lines[],
    xb_job_reading[];

bool xb_pipeline_say_disk(struct xb_reading *reading, int device, uint64_t bytes);
bool xb_job_say(struct xb_reading *reading, int device, uint64_t bytes);
bool xb_managed_say_touched(struct xb_reading *reading, int device, uint64_t bytes);
bool xb_peer_answer(struct xb_reading *reading, int device, uint64_t bytes);

/* "warm", "cold": all of it in the page cache, or out of it, but for a page or two; "partly warm";
 * "unknown" for NAN. */
const char *xb_page_cache_word(double share);
