/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"
#include "xferbench/mode.h"

/* The Reading: what the figures of a record mean, in a few sentences below the table. It says by
 * itself what applies to any mode; modes declare what only they know as lines (struct
 * xb_reading_line in mode.h). */

/* Below this size latency hides what a path carries, so the Reading uses larger rows only. */
#define XB_LARGE_BYTES ((uint64_t)16 << 20)

/* struct xb_reading is the record that is read, and the statement that is being made. */

/* ---- what was measured ---- */

const struct xb_record *xb_reading_record(const struct xb_reading *reading);

/* Whether a case ran in full, was verified and has that figure. Where NUMA nodes were named
 * (--numa), only cases of one node count: the device's, else the first. */
bool xb_reading_has(const struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_figure *figure);

/* Whether it has a bandwidth so measured, whatever its length. */
bool xb_reading_measured(const struct xb_reading *reading, const struct xb_record_case *test);
/* Whether it has one that the Reading uses: of a large case. */
bool xb_reading_usable(const struct xb_reading *reading, const struct xb_record_case *test);

/* The fastest case of that device alone, a mode and a variant (NULL: any); NULL for none. The first
 * takes usable cases, the other those of any length, for a line of all sizes. */
#define xb_reading_best(reading, device, bytes, direction, mode, variant)                          \
    ((bytes) < XB_LARGE_BYTES                                                                      \
         ? NULL                                                                                    \
         : xb_reading_best_of_any((reading), (device), (bytes), (direction), (mode), (variant)))
const struct xb_record_case *xb_reading_best_of_any(const struct xb_reading *reading, int device,
                                                    uint64_t bytes, enum xb_direction direction,
                                                    const char *mode, const char *variant);

/* Returns the cases of that size, or of all sizes for 0, that `is_one` chooses, equal ones (by
 * `compare`) side by side (xb_cases_group); both get `argument`. They last until the next call. */
typedef bool xb_reading_filter(const struct xb_reading *reading, const struct xb_record_case *test,
                               const void *argument);
struct xb_record_cases xb_reading_group(struct xb_reading *reading, uint64_t bytes,
                                        xb_reading_filter *is_one, xb_cases_comparison *compare,
                                        const void *argument);

/* The fastest of the cases of a device and size that `is_one` chooses; NULL: it chooses none. */
const struct xb_record_case *xb_reading_fastest(const struct xb_reading *reading, int device,
                                                uint64_t bytes, xb_reading_filter *is_one,
                                                const void *argument);

/* Whether the device's clock timed a usable case; false: the host's. */
bool xb_reading_device_timed(const struct xb_reading *reading, const struct xb_record_case *test);

/* How one case stands to another. Faster or slower only if it is certain: the intervals of the two
 * bandwidths do not meet, and the medians differ by 2 % or more, because a machine drifts by less
 * from case to case and no interval shows it. If one of them has too few samples for an interval,
 * but 3, or 2 against 5, all samples of one must be beyond all of the other; else it is unknown.
 * Other figures than the bandwidth are one, or two of one unit. */
enum xb_reading_order {
    XB_READING_UNKNOWN,
    XB_READING_ALIKE,
    XB_READING_FASTER,
    XB_READING_SLOWER
};
enum xb_reading_order xb_reading_judge_by(const struct xb_reading *reading,
                                          const struct xb_record_case *test,
                                          const struct xb_figure *figure,
                                          const struct xb_record_case *other,
                                          const struct xb_figure *other_figure);
#define xb_reading_judge(reading, test, other)                                                     \
    xb_reading_judge_by((reading), (test), &xb_figure_bandwidth, (other), &xb_figure_bandwidth)
/* Whether that figure of a case has enough samples for an interval. */
bool xb_reading_is_sure(const struct xb_reading *reading, const struct xb_record_case *test,
                        const struct xb_figure *figure);
/* The bytes that one iteration of a usable case moves. */
uint64_t xb_reading_bytes_moved(const struct xb_reading *reading,
                                const struct xb_record_case *test);
/* How many iterations each sample of a case has, in the process that has most; 0: unknown. */
double xb_reading_iterations(const struct xb_reading *reading, const struct xb_record_case *test);

/* The faster of two cases, either of which may be NULL. */
const struct xb_record_case *xb_reading_faster(const struct xb_reading *reading,
                                               const struct xb_record_case *a,
                                               const struct xb_record_case *b);

/* The median of a figure of the case; NAN where it has none, or `test` is NULL. */
double xb_reading_median(const struct xb_reading *reading, const struct xb_record_case *test,
                         const struct xb_figure *figure);

/* Describes many values, one per pair or device: collect each, then ask for their spread, which
 * empties the collection. False if there are none. */
void xb_reading_collect(struct xb_reading *reading, double value);
bool xb_reading_spread(struct xb_reading *reading, struct xb_statistics *spread);

/* ---- words of the line: a missing figure's number (not finite) drops the statement ---- */

void xb_reading_add(struct xb_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes the factor for a remedy; returns `text`. */
const char *xb_reading_factor_text(double factor, char *text, size_t size);

/* ---- what stands behind the words, for programs (`reading` in a result file) ---- */

/* Adds a number to those of the line: a name in snake_case, a value in that unit (XB_UNIT_..., or
 * "B" for a size). Leaves out one that is not finite. */
void xb_reading_number(struct xb_reading *reading, const char *name, double value,
                       const char *unit);

/*
 * Adds a whole phrase to a statement of the Reading: "{name} moves {rate:bandwidth} GB/s on
 * {text}." In braces stands what takes the next argument, and behind a colon the name of a number
 * that is added with it, in its own unit. The compiler does not check the arguments:
 *
 *   {name} {way} {case} {speed-of}   const struct xb_record_case *
 *   {text}                       const char *
 *   {size}                       uint64_t
 *   {rate} {factor} {speed} {share} {share-of-time} {duration} {whole}      double
 *
 * "{+rate:bandwidth_low}" adds the number alone, and no words. A name of "*" is the argument behind
 * the value. "{case}" says only that the statement rests on that case, as a name does.
 * "{name:but}" leaves out the parameter that the argument behind it names. "{speed-of}" gives the
 * rate of a case, of a small one its time; "{speed-of:unit}" says GB/s too.
 *
 * Names are "pinned", "Pinned" where a sentence begins; "async with chunk 8 MiB, streams 2" where
 * these differ between the record's rows of that mode; a way also tells the direction. A rate is
 * "55.4", of GB/s: the fewest digits that are within 1 % of it. A share of the time above 1, which
 * is noise, is all of it. An unknown word ends the program.
 */
void xb_reading_phrase(struct xb_reading *reading, const char *phrase, ...);

/* Notes once that the line rests on that case, as adding its name does. NULL is no case. */
void xb_reading_rests_on(struct xb_reading *reading, const struct xb_record_case *test);

/* Ends the statement so far, with its numbers and cases. What is added next, if anything, is
 * another statement under the same label. */
void xb_reading_next(struct xb_reading *reading);

/* ---- what follows from a statement ---- */

/* How much of a program a remedy changes. */
enum xb_effort { XB_EFFORT_CALL, XB_EFFORT_LINES, XB_EFFORT_DESIGN };

/* Says what the reader's program should change, in whole sentences that name the calls
 * (xb_reading_call), the gain with the condition that it was measured under, and what the change
 * costs once. `gain`: how many times as fast; NAN if it was not measured for certain: then the
 * words have no number. A statement has one remedy or none. Keeps none for a device that shares the
 * host's memory: what was copied there crossed no link. */
void xb_reading_remedy(struct xb_reading *reading, enum xb_effort effort, double gain,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes that the statement tells of something that is as it should be. */
void xb_reading_is_fine(struct xb_reading *reading);
/* Notes that the statement says only that the samples cannot decide. */
void xb_reading_is_untold(struct xb_reading *reading);

/* Returns a program's call by the record's backend: "cudaHostRegister()" for XB_CALL_PIN;
 * "cudaHostRegister() or hipHostRegister()" for a backend without names for them. */
enum xb_call {
    XB_CALL_ALLOCATE_PINNED,
    XB_CALL_PIN,
    XB_CALL_COPY_ASYNC,
    XB_CALL_PREFETCH,
    XB_CALL_COPY_BATCH,
    XB_CALL_ALLOCATE_MAPPED,
    XB_CALL_COPY_PEER,
    XB_CALL_ENABLE_PEER,
    XB_CALLS
};
const char *xb_reading_call(const struct xb_reading *reading, enum xb_call call);

/* A smaller gain is no advice: in small copies processes differ by more than their intervals. */
#define XB_WORTH_SAYING 1.25

/* ---- one way to move data against another ---- */

/* A way to move data: a mode, and one of its variants or NULL for the fastest. */
struct xb_reading_way {
    const char *mode, *variant;
};

/* How many times as fast a way is where that is certain; `words` also say where it is slower. */
struct xb_reading_gain {
    double most;    /* of the two directions; NAN: in none */
    char words[80]; /* "6.7 times as fast to the GPU, 3.3 times back"; "" */
};

/* Adds "Pinned is 7.2 times as fast as pageable to the GPU and 3.3 times back.", or that the
 * samples cannot tell. Judges small copies by their whole time. Adds the numbers ratio_h2d and, for
 * both ways, WAY_bandwidth_h2d or WAY_wall_time_h2d, and those of the other direction; WAY is the
 * mode or, where both are of one mode, the variant. False where neither direction has both ways.
 * *gain becomes what the first way gains; NULL: not wanted. */
bool xb_reading_compare(struct xb_reading *reading, int device, uint64_t bytes,
                        struct xb_reading_way way, struct xb_reading_way other,
                        struct xb_reading_gain *gain);

/* Finds what the first way gains; false where that is not certain in any direction. */
bool xb_reading_find_gain(const struct xb_reading *reading, int device, uint64_t bytes,
                          struct xb_reading_way way, struct xb_reading_way other,
                          struct xb_reading_gain *gain);

/* For say_first_thing: whether that way is faster than `slow` for certain at the same device, size
 * and direction. Its number is first_thing_ratio. `gain` is that of both directions. */
bool xb_reading_try(struct xb_reading *reading, const struct xb_record_case *slow,
                    struct xb_reading_way way, struct xb_reading_gain *gain);
