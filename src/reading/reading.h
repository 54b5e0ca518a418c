/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "measure/run.h"
#include "record/rows.h"
#include "xferbench/mode.h"

/* The Reading: what the figures of a record mean, in a few sentences below the table. It says by
 * itself what applies to any mode; modes declare what only they know as lines (struct
 * xb_reading_line in mode.h). */

/* Below this size latency hides what a path carries, so the Reading uses larger rows only. */
#define XB_LARGE_BYTES ((uint64_t)16 << 20)

struct xb_reading_number {
    const char *name; /* "ratio_h2d"; once in a statement */
    double value;     /* finite */
    const char *unit; /* XB_UNIT_..., or "B" */
};

/* How much of a program a remedy changes. */
enum xb_effort { XB_EFFORT_CALL, XB_EFFORT_LINES, XB_EFFORT_DESIGN };

/* One statement, and what it stands on. */
struct xb_reading_entry {
    const char *label; /* "pinning" */
    const char *code;  /* "XB-PINNING" */
    int device;        /* that it is of; -1: of several, or of pairs */
    uint64_t bytes;    /* the size that it is of; 0: of several */
    const char *text;  /* whole sentences; does not name the device and size that it is of */
    const struct xb_reading_number *numbers;
    size_t number_count;
    const struct xb_record_case *const *cases; /* the record's, one or more */
    size_t case_count;
    const char *remedy;    /* what the reader's program should change; NULL: nothing */
    enum xb_effort effort; /* that this takes */
    double gain;           /* how many times as fast that is; NAN: not measured */
    bool is_fine;          /* it tells of something that is as it should be */
    bool is_untold;        /* it says only that the samples cannot decide */
    bool is_repeated;      /* the text of another statement tells it too: not printed */
};

struct xb_reading {
    /* What a line is asked about, which it may lead to another size; and what it says. */
    const struct xb_record *record;
    const char *mode;  /* whose line it is; NULL: of no mode */
    const void *about; /* the line's */
    int device;        /* -1: of several, or of pairs */
    uint64_t bytes;
    enum xb_direction direction; /* of pairs */
    struct xb_reading_entry entry;
    struct xb_words words;

    /* Only for the files of src/reading: */
    struct xb_parameters parameters; /* that tell its cases apart */
    struct xb_reading_list *list;    /* what was said so far */
    bool lacks_figure;               /* a number of the words is not known */
    struct xb_reading_number *numbers;
    const struct xb_record_case **cases;
    const struct xb_record_case **grouped; /* by xb_reading_group: room for all cases */
    double *collected;                     /* by xb_reading_collect */
    size_t collected_count;
    /* The NUMA node of the cases of each device that are spoken of, unless all_nodes. */
    struct xb_reading_node {
        int rank; /* why that one; 0: there is no case of the device alone */
        int node; /* -1: near it */
    } nodes[XB_RUN_DEVICES];
    bool all_nodes;
};

/* Says something, or nothing (struct xb_reading_line). */
typedef void xb_reading_say(struct xb_reading *reading);

/* ---- what was measured, of the device and size that is spoken of ---- */

#define xb_reading_goes(test, to) (strcmp((test)->direction, xb_direction_name(to)) == 0)
/* Whether a case ran in full, was verified and has that figure. Where NUMA nodes were named
 * (--numa), only cases of one node count: the device's, else the first. */
bool xb_reading_has(const struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_figure *figure);
/* Whether it is a large case that has a bandwidth so measured. */
bool xb_reading_usable(const struct xb_reading *reading, const struct xb_record_case *test);

/* A way to move data: a mode (NULL: the line's own), and a variant or NULL for the fastest. */
struct xb_reading_way {
    const char *mode, *variant;
};

/* The fastest case of a device alone; NULL for none. The second is for lines of all sizes, the
 * first takes usable cases. */
#define xb_reading_best(reading, direction, mode, variant)                                         \
    ((reading)->bytes < XB_LARGE_BYTES                                                             \
         ? NULL                                                                                    \
         : xb_reading_best_of_any((reading), (direction), (mode), (variant)))
const struct xb_record_case *xb_reading_best_of_any(const struct xb_reading *reading,
                                                    enum xb_direction direction, const char *mode,
                                                    const char *variant);

/* Goes to the next smaller size, from the largest on; false: there is none. */
bool xb_reading_next_size(struct xb_reading *reading);

typedef bool xb_reading_filter(const struct xb_reading *reading, const struct xb_record_case *test,
                               const void *argument);

/* Cases that did not run beside others and have all that is given; a filter (xb_is_chosen). */
struct xb_choice {
    const char *variant, *mode; /* no mode: the line's own */
    enum xb_direction direction;
    const struct xb_option *option;
    const char *value;              /* that its option has */
    const struct xb_figure *figure; /* beside the bandwidth */
};
bool xb_is_chosen(const struct xb_reading *reading, const struct xb_record_case *test,
                  const void *choice);

/* Returns the cases of the size, or of all sizes for 0, that `is_one` takes, equal ones (by
 * `compare`, NULL: as they stand) side by side (xb_cases_group); both get `argument`. They last
 * until the next call. */
struct xb_record_cases xb_reading_group(struct xb_reading *reading, xb_reading_filter *is_one,
                                        xb_cases_comparison *compare, const void *argument);

/* The fastest of the device's cases that `is_one` takes; NULL: it takes none. */
const struct xb_record_case *xb_reading_fastest(const struct xb_reading *reading,
                                                xb_reading_filter *is_one, const void *argument);

/* The number that an option has in a case; 0 in a file from before there was the option. */
uint64_t xb_reading_value(const struct xb_record_case *test, const char *option);

/* Whether the device's clock timed a usable case; false: the host's. */
bool xb_reading_device_timed(const struct xb_reading *reading, const struct xb_record_case *test);

/* A smaller difference is none, however narrow the intervals: they do not hold what a machine
 * drifts by from case to case. On an H200 pinned copies were 0.6 % apart so. */
#define XB_VISIBLE 0.02

/* How one case stands to another: faster or slower only if it is certain (docs/reading.md). Other
 * figures than the bandwidth are one, or two of one unit. */
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
/* Describes a figure of a case; false where it has too few samples for an interval. */
#define xb_reading_is_sure(reading, test, figure, statistics)                                      \
    (xb_record_describe((reading)->record, (test), (figure)->name, (statistics)) &&                \
     (statistics)->has_interval)
/* The first process's row that counts; a usable case has one. */
const struct xb_record_row *xb_reading_row(const struct xb_reading *reading,
                                           const struct xb_record_case *test);

/* The faster of two cases, either of which may be NULL. */
const struct xb_record_case *xb_reading_faster(const struct xb_reading *reading,
                                               const struct xb_record_case *a,
                                               const struct xb_record_case *b);

/* The median of a figure of the case; NAN where it has none, or `test` is NULL. */
#define xb_reading_median(reading, test, figure)                                                   \
    xb_record_median((reading)->record, (test), (figure)->name)
#define xb_reading_bandwidth(reading, test)                                                        \
    xb_reading_median((reading), (test), &xb_figure_bandwidth)
/* How many times the bandwidth of `base` that is. */
double xb_reading_ratio(const struct xb_reading *reading, const struct xb_record_case *test,
                        const struct xb_record_case *base);

/* Describes many values, one per pair or device: collect each, then ask for their spread, which
 * empties the collection. False if there are none. */
void xb_reading_collect(struct xb_reading *reading, double value);
bool xb_reading_spread(struct xb_reading *reading, struct xb_statistics *spread);

/* ---- words, and what stands behind them for programs (`reading` in a result file) ---- */

/*
 * Adds a phrase to the statement: "{name} moves {rate=bandwidth} GB/s on {text}." In braces stands
 * a word, and what it takes from the arguments:
 *
 *   {name} {way} {case} {to} {speed-of}     const struct xb_record_case *
 *   {text}                                  const char *
 *   {call}                                  enum xb_call
 *   {size}                                  uint64_t
 *   {value}                                 const struct xb_record_case *, and an option's name
 *   {rate} {factor} {speed} {share} {part} {duration} {whole} {one}       double
 *   {gain}                                  none: the factor of a remedy
 *
 * "{rate:name}" also adds the value to the statement's numbers by that name, in its own unit; a
 * name of "*" is the argument behind the value, and one that ends with "_" goes on with the
 * direction of the phrase's case before it: "ratio_h2d". "{rate=figure}" takes no argument: the
 * value is the median of that figure of the phrase's case before it, and is added by the figure's
 * name;
 * "{rate:name=figure}" by another. "{+rate:name}" adds a number and no words.
 *
 * What stands in [...] is left out, unless all its values are there and above 0, and its texts and
 * cases not NULL. Outside of these a value that is not finite drops the statement. A space with
 * which a statement begins is left out.
 *
 * Names are "pinned", "Pinned" where a sentence begins, "async with chunk 8 MiB, streams 2" where
 * these differ between the record's rows of that mode; "{name:but}" leaves out the parameter that
 * the argument behind it names. A way also tells the direction, {to} only that. {case} says only
 * that the statement rests on the case, as its name does. {speed-of} gives the rate of a case, of a
 * small one its time; "{speed-of:unit}" says GB/s too. A rate is "55.4", of GB/s: the fewest digits
 * that are within 1 % of it. A speed is "1.6 times as fast"; a part is a share of at most all,
 * because more is noise; a whole number has no decimals, and {one} has one. A value is what the
 * case has of the option: a size or a whole number. The compiler checks no arguments; an unknown
 * word ends the program.
 */
void xb_tell(struct xb_reading *reading, const char *phrase, ...);

/* Ends the statement so far, if it has words, with its numbers and cases. What is added next, if
 * anything, is another statement under the same label. */
void xb_tell_next(struct xb_reading *reading);

/* Adds a number: a name in snake_case, a value in that unit. Leaves out one that is not finite. */
void xb_reading_number(struct xb_reading *reading, const char *name, double value,
                       const char *unit);

/* Notes once that the line rests on that case, as adding its name does. NULL is no case. */
void xb_reading_rests_on(struct xb_reading *reading, const struct xb_record_case *test);

/* Writes the factor for a remedy; returns `text`. */
const char *xb_reading_factor_text(double factor, char *text, size_t size);
#define XB_FACTOR_TEXT(factor) xb_reading_factor_text((factor), (char[32]){0}, 32)

/* ---- what follows from a statement ---- */

/* Says by a phrase what the reader's program should change, in whole sentences that name the calls,
 * the gain with the condition that it was measured under, and what the change costs once. `gain`:
 * how many times as fast; NAN if it was not measured for certain: then the words have no number. A
 * statement has one remedy or none. Keeps none for a device that shares the host's memory: what was
 * copied there crossed no link. */
void xb_remedy(struct xb_reading *reading, enum xb_effort effort, double gain, const char *phrase,
               ...);

/* A smaller gain is no advice: in small copies processes differ by more than their intervals. */
#define XB_WORTH_SAYING 1.25
#define xb_remedy_if_worth(reading, effort, gain, ...)                                             \
    ((gain) >= XB_WORTH_SAYING ? xb_remedy((reading), (effort), (gain), __VA_ARGS__) : (void)0)

/* A program's call by the record's backend: "cudaHostRegister()" for XB_CALL_PIN;
 * "cudaHostRegister() or hipHostRegister()" for a backend without names for them. */
enum xb_call {
    XB_CALL_ALLOCATE_PINNED,
    XB_CALL_PIN,
    XB_CALL_COPY_ASYNC,
    XB_CALL_PREFETCH,
    XB_CALL_COPY_BATCH,
    XB_CALL_COPY_PEER,
    XB_CALL_ENABLE_PEER,
    XB_CALLS
};

/* ---- one way to move data against another ---- */

/* What a way gains over another, to the device and back. */
struct xb_reading_gain {
    struct xb_reading_pair {
        const struct xb_record_case *way, *other;
        double ratio; /* how many times as fast the first is; 0: one was not measured */
        enum xb_reading_order order; /* alike only if the medians are */
    } pairs[2];
    double most;    /* that is certain, of both directions; NAN: in none */
    char words[80]; /* "6.7 times as fast to the GPU, 3.3 times back, but slower ..."; "" */
};
struct xb_reading_gain xb_reading_find_gain(const struct xb_reading *reading,
                                            struct xb_reading_way way, struct xb_reading_way other);

/* Adds "Pinned is 7.2 times as fast as pageable to the GPU and 3.3 times back.", or that the
 * samples cannot tell. Judges small copies by their whole time. Adds the numbers ratio_h2d and, for
 * both ways, WAY_bandwidth_h2d or WAY_wall_time_h2d, and those of the other direction; WAY is the
 * mode or, where both are of one mode, the variant. False where neither direction has both ways.
 * *gain becomes what the first way gains. */
bool xb_reading_compare(struct xb_reading *reading, struct xb_reading_way way,
                        struct xb_reading_way other, struct xb_reading_gain *gain);

/* For say_first_thing: whether that way is faster than `slow` for certain at the same device, size
 * and direction. Its number is first_thing_ratio. `gain` is that of both directions. */
bool xb_reading_try(struct xb_reading *reading, const struct xb_record_case *slow,
                    struct xb_reading_way way, struct xb_reading_gain *gain);
