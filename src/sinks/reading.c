/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reading.h"
#include "note.h"
#include "rows.h"
#include "text.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_WIDTH 13

/* A way this far below the best is named as one to avoid. */
#define FAR_BELOW 0.5

struct reading {
    FILE *stream;
    const struct xb_run *run;
    bool begun;
    bool many_sizes;
    struct xb_error *error;
    enum xb_status status; /* the first failure: memory was short */
};

/* ---- text ---- */

struct text {
    char text[XB_NOTE_SIZE];
    size_t used;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(text->text + text->used, sizeof text->text - text->used, format, arguments);
    va_end(arguments);
    text->used += (size_t)length;
    if (text->used >= sizeof text->text)
        text->used = sizeof text->text - 1;
}

static void add_rate(struct text *text, double rate)
{
    char digits[32];
    add(text, "%s", xb_rate_text(rate, digits, sizeof digits));
}

/* "1.64", three digits. */
static int factor_decimals(double factor)
{
    return factor < 10 ? 2 : factor < 100 ? 1 : 0;
}

static void add_factor(struct text *text, double factor)
{
    add(text, "%.*f times", factor_decimals(factor), factor);
}

static void add_percent(struct text *text, double share)
{
    if (share < 0.001)
        add(text, "less than 0.1 %%");
    else
        add(text, "%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
}

/* "pinned alloc h2d". */
static void add_name(struct text *text, const struct xb_result *result)
{
    add(text, "%s %s %s", result->test.mode->name, result->test.variant,
        xb_direction_name(result->test.direction));
}

/* Which device and size, where that is not plain: "device 0, 256 MiB: ". */
static void add_place(struct text *text, const struct reading *reading, const char *device,
                      uint64_t bytes)
{
    char size[32];
    add(text, "%s%s%s%s", device, device[0] != '\0' && reading->many_sizes ? ", " : "",
        reading->many_sizes ? xb_size_format(bytes, size, sizeof size) : "",
        device[0] != '\0' || reading->many_sizes ? ": " : "");
}

static void say(struct reading *reading, const char *label, const struct text *text)
{
    if (!reading->begun)
        fputs("\nReading\n", reading->stream);
    reading->begun = true;
    xb_note_print(reading->stream, label, LABEL_WIDTH, "%s", text->text);
}

/* ---- figures ---- */

/* NAN for no times. */
static double median_of(struct reading *reading, const struct xb_samples *times)
{
    struct xb_statistics statistics = {.median = NAN};
    if (times->count == 0 || reading->status != XB_OK)
        return NAN;
    reading->status =
        xb_statistics_compute(times->values, times->count, &statistics, reading->error);
    return statistics.median;
}

/* Bytes per second of a part; NAN where there is none. */
static double part_rate(struct reading *reading, const struct xb_result *result, const char *name)
{
    const struct xb_part *part = xb_result_part(result, name);
    return part != NULL ? (double)part->bytes / median_of(reading, &part->times) : NAN;
}

/*
 * What can be said of one device at one size: appends it and returns true, or returns false. Asked
 * for the largest size first, until there is an answer.
 */
typedef bool line(struct reading *reading, unsigned device, uint64_t bytes, struct text *text);

static void say_of_device(struct reading *reading, const char *label, line *of, unsigned device)
{
    char name[32] = "";
    if (reading->run->device_count > 1)
        snprintf(name, sizeof name, "device %u", device);
    for (uint64_t bytes = UINT64_MAX;
         (bytes = xb_rows_size_below(reading->run, bytes)) > 0 && reading->status == XB_OK;) {
        struct text text = {.used = 0};
        add_place(&text, reading, name, bytes);
        if (of(reading, device, bytes, &text) && reading->status == XB_OK) {
            say(reading, label, &text);
            return;
        }
    }
}

static void say_of_devices(struct reading *reading, const char *label, line *of)
{
    for (size_t i = 0; i < reading->run->device_count; i++)
        say_of_device(reading, label, of, reading->run->devices[i].info.index);
}

static const enum xb_direction one_ways[] = {XB_H2D, XB_D2H};

/* ---- one device ---- */

/* How one row compares with another, each way: "h2d 55.44 GB/s pinned (alloc), 7.20 times ...". */
static bool compare_each_way(struct reading *reading, unsigned device, uint64_t bytes,
                             struct text *text, const char *const better[2],
                             const char *const other[2])
{
    bool said = false;
    for (size_t i = 0; i < 2; i++) {
        const struct xb_result *a =
            xb_row_best(reading->run, device, bytes, one_ways[i], better[0], better[1]);
        const struct xb_result *b =
            xb_row_best(reading->run, device, bytes, one_ways[i], other[0], other[1]);
        if (a == NULL || b == NULL)
            continue;
        add(text, said ? "; " : "");
        add_name(text, a);
        add(text, " ");
        add_rate(text, a->bandwidth.median);
        add(text, " GB/s, ");
        add_factor(text, a->bandwidth.median / b->bandwidth.median);
        add(text, " the ");
        add_rate(text, b->bandwidth.median);
        add(text, " of %s%s", better[1] != NULL ? b->test.variant : b->test.mode->name,
            a->device_timer == b->device_timer ? "" : " (by the host's clock)");
        said = true;
    }
    return said;
}

static bool pinning(struct reading *reading, unsigned device, uint64_t bytes, struct text *text)
{
    static const char *const better[] = {"pinned", NULL};
    static const char *const other[] = {"pageable", NULL};
    return compare_each_way(reading, device, bytes, text, better, other);
}

static bool managed(struct reading *reading, unsigned device, uint64_t bytes, struct text *text)
{
    static const char *const better[] = {"managed", "prefetch"};
    static const char *const other[] = {"managed", "fault"};
    return compare_each_way(reading, device, bytes, text, better, other);
}

/* The best that either direction has by itself. */
static const struct xb_result *better_way(const struct xb_run *run, unsigned device, uint64_t bytes)
{
    const struct xb_result *best = NULL;
    for (size_t i = 0; i < 2; i++) {
        best = xb_row_faster(best, xb_row_best(run, device, bytes, one_ways[i], "pinned", NULL));
        best = xb_row_faster(best, xb_row_best(run, device, bytes, one_ways[i], "async", NULL));
    }
    return best;
}

static bool both_ways(struct reading *reading, unsigned device, uint64_t bytes, struct text *text)
{
    const struct xb_result *both =
        xb_row_faster(xb_row_best(reading->run, device, bytes, XB_BIDIR, "async", NULL),
                      xb_row_best(reading->run, device, bytes, XB_BIDIR, "pinned", NULL));
    const struct xb_result *one = better_way(reading->run, device, bytes);
    if (both == NULL || both->bytes_moved != 2 * bytes)
        return false;
    double to = part_rate(reading, both, "h2d");
    double from = part_rate(reading, both, "d2h");
    add_name(text, both);
    add(text, " ");
    add_rate(text, both->bandwidth.median);
    add(text, " GB/s together");
    if (to > 0 && from > 0) {
        add(text, " (h2d ");
        add_rate(text, to);
        add(text, ", d2h ");
        add_rate(text, from);
        add(text, ")");
    }
    if (one != NULL) {
        add(text, ", ");
        add_factor(text, both->bandwidth.median / one->bandwidth.median);
        add(text, " the ");
        add_rate(text, one->bandwidth.median);
        add(text, " of ");
        add_name(text, one);
    }
    if (both->overlap >= 0) {
        add(text, "; both in flight ");
        add_percent(text, both->overlap);
        add(text, " of the time");
    }
    return true;
}

/* The fastest double-buffer row, whatever its direction is called. */
static bool double_buffer(struct reading *reading, unsigned device, uint64_t bytes,
                          struct text *text)
{
    const struct xb_result *row = NULL;
    for (unsigned i = 0; i < XB_DIRECTIONS; i++)
        row = xb_row_faster(row, xb_row_best(reading->run, device, bytes,
                                             (enum xb_direction)(1u << i), "double-buffer", NULL));
    if (row == NULL)
        return false;
    double speed_up = xb_result_number(row, "speed_up", NAN);
    double efficiency = xb_result_number(row, "efficiency", NAN);
    double computing = xb_result_number(row, "compute_share", NAN);
    if (!(speed_up > 0))
        return false;
    add_name(text, row);
    add(text, " ");
    add_factor(text, speed_up);
    add(text, " as fast as one step after the other");
    if (computing >= 0) {
        add(text, "; computing ");
        add_percent(text, computing);
        add(text, " of the time");
    }
    if (efficiency > 0) {
        add(text, "; ");
        add_percent(text, efficiency);
        add(text, " of its bound");
    }
    return true;
}

/* Share of a copy's time that the call which starts it takes; NAN where that was not measured. */
static double kept_share(struct reading *reading, const struct xb_result *row)
{
    if (row == NULL)
        return NAN;
    return median_of(reading, &row->submit_times) / median_of(reading, &row->wall_times);
}

static bool blocking(struct reading *reading, unsigned device, uint64_t bytes, struct text *text)
{
    const struct xb_run *run = reading->run;
    const struct xb_result *locked = xb_row_best(run, device, bytes, XB_H2D, "pinned", NULL);
    const struct xb_result *unlocked = xb_row_best(run, device, bytes, XB_H2D, "pageable", NULL);
    if (locked == NULL)
        locked = xb_row_faster(xb_row_best(run, device, bytes, XB_H2D, "async", "registered"),
                               xb_row_best(run, device, bytes, XB_H2D, "async", "alloc"));
    if (unlocked == NULL)
        unlocked = xb_row_best(run, device, bytes, XB_H2D, "async", "pageable");
    double pageable = kept_share(reading, unlocked);
    double pinned = kept_share(reading, locked);
    if (!(pageable >= 0) || !(pinned >= 0))
        return false;
    add(text, "a copy of pageable memory to the device keeps its caller for ");
    add_percent(text, pageable);
    add(text, " of its time, one of pinned memory for ");
    add_percent(text, pinned);
    return true;
}

static bool in_place(struct reading *reading, unsigned device, uint64_t bytes, struct text *text)
{
    const struct xb_result *row =
        xb_row_best(reading->run, device, bytes, XB_H2D, "zero-copy", "sequential");
    /* Without the explicit copy's time nothing was compared. */
    if (row == NULL || !(xb_result_number(row, "explicit_s", 0) > 0))
        return false;
    double passes = xb_result_number(row, "break_even_passes", NAN);
    add(text, "copying the data first ");
    if (passes > 1)
        add(text, "wins from %.0f passes over it on", passes);
    else if (passes >= 0)
        add(text, "wins from the first pass over it on");
    else
        add(text, "does not win, however often it is read");
    return true;
}

/* ---- ways to avoid ---- */

/* The best of a device, direction and size among all ways to move a buffer once. */
static const struct xb_result *best_way(const struct xb_run *run, const struct xb_case *like)
{
    const struct xb_result *best = NULL;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        if (xb_row_one_way(result) && result->test.device == like->device &&
            result->test.direction == like->direction && result->test.bytes == like->bytes)
            best = xb_row_faster(best, result);
    }
    return best;
}

static bool far_below(struct reading *reading, unsigned device, uint64_t bytes,
                      enum xb_direction direction, struct text *text)
{
    const struct xb_case like = {.device = device, .bytes = bytes, .direction = direction};
    const struct xb_result *best = best_way(reading->run, &like);
    bool said = false;
    for (size_t i = 0; best != NULL && i < reading->run->case_count; i++) {
        const struct xb_result *row = &reading->run->results[i];
        const struct xb_case *test = &row->test;
        if (!xb_row_one_way(row) || test->device != device || test->direction != direction ||
            test->bytes != bytes || row->bandwidth.median >= FAR_BELOW * best->bandwidth.median)
            continue;
        if (!said) {
            add(text, "%s, less than half of ", xb_direction_name(direction));
            add_rate(text, best->bandwidth.median);
            add(text, " GB/s (%s %s): ", best->test.mode->name, best->test.variant);
        }
        add(text, "%s%s %s ", said ? ", " : "", test->mode->name, test->variant);
        add_rate(text, row->bandwidth.median);
        said = true;
    }
    return said;
}

static bool far_below_to(struct reading *reading, unsigned device, uint64_t bytes,
                         struct text *text)
{
    return far_below(reading, device, bytes, XB_H2D, text);
}

static bool far_below_from(struct reading *reading, unsigned device, uint64_t bytes,
                           struct text *text)
{
    return far_below(reading, device, bytes, XB_D2H, text);
}

/* ---- pairs ---- */

static bool is_variant(const struct xb_result *result, const char *variant)
{
    return strcmp(result->test.variant, variant) == 0;
}

/* The faster direct row of the same pair, direction and size. */
static const struct xb_result *direct_of(const struct xb_run *run, const struct xb_case *staged)
{
    const struct xb_result *best = NULL;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *row = &run->results[i];
        const struct xb_case *test = &row->test;
        if (xb_row_usable(row) && test->mode == staged->mode && test->device == staged->device &&
            test->peer == staged->peer && test->direction == staged->direction &&
            test->bytes == staged->bytes &&
            (is_variant(row, "direct-read") || is_variant(row, "direct-write")))
            best = xb_row_faster(best, row);
    }
    return best;
}

/* Direct by staged of every pair that has both. */
static void pair_factors(struct reading *reading, enum xb_direction direction, uint64_t bytes,
                         struct xb_samples *factors)
{
    for (size_t i = 0; reading->status == XB_OK && i < reading->run->case_count; i++) {
        const struct xb_result *staged = &reading->run->results[i];
        if (!xb_row_usable(staged) || staged->test.peer < 0 || staged->test.bytes != bytes ||
            staged->test.direction != direction || !is_variant(staged, "staged"))
            continue;
        const struct xb_result *direct = direct_of(reading->run, &staged->test);
        if (direct != NULL)
            reading->status = xb_samples_add(
                factors, direct->bandwidth.median / staged->bandwidth.median, reading->error);
    }
}

static bool peer(struct reading *reading, enum xb_direction direction, uint64_t bytes)
{
    struct xb_samples factors = {0};
    struct xb_statistics all = {0};
    struct text text = {.used = 0};
    pair_factors(reading, direction, bytes, &factors);
    if (reading->status == XB_OK && factors.count > 0)
        reading->status =
            xb_statistics_compute(factors.values, factors.count, &all, reading->error);
    xb_samples_free(&factors);
    if (reading->status != XB_OK || all.n == 0)
        return false;
    int decimals = factor_decimals(all.median);
    add_place(&text, reading, "", bytes);
    add(&text, "%s direct ", xb_direction_name(direction));
    add_factor(&text, all.median);
    add(&text, " as fast as staged through the host");
    if (all.n > 1)
        add(&text, " (median of %zu pairs; %.*f to %.*f)", all.n, decimals, all.min, decimals,
            all.max);
    say(reading, "peer", &text);
    return true;
}

static void say_of_pairs(struct reading *reading, enum xb_direction direction)
{
    uint64_t bytes = UINT64_MAX;
    while ((bytes = xb_rows_size_below(reading->run, bytes)) > 0 && reading->status == XB_OK)
        if (peer(reading, direction, bytes))
            return;
}

/* ---- devices at the same time ---- */

/* The row with the least share behind (share, index) `last`; NULL: none is left. */
static const struct xb_result *next_worse(const struct xb_result *rows, size_t count,
                                          const struct xb_result *last)
{
    const struct xb_result *next = NULL;
    for (const struct xb_result *row = rows; row < rows + count; row++) {
        if (!(row->share_of_alone > 0))
            continue;
        bool later = last == NULL || row->share_of_alone > last->share_of_alone ||
                     (row->share_of_alone == last->share_of_alone && row > last);
        if (later && (next == NULL || row->share_of_alone < next->share_of_alone))
            next = row;
    }
    return next;
}

static void add_shares(struct text *text, const struct xb_result *rows, size_t count)
{
    size_t known = 0;
    for (const struct xb_result *row = NULL; (row = next_worse(rows, count, row)) != NULL;) {
        add(text, known == 0 ? "; of what each has alone: " : ", ");
        add(text, "device %u ", row->test.device);
        add_percent(text, row->share_of_alone);
        known++;
    }
    if (known > 0 && known < count)
        add(text, " (the others were not measured alone)");
}

static bool all_usable(const struct xb_result *rows, size_t count)
{
    bool usable = true;
    for (size_t i = 0; i < count; i++)
        usable = usable && xb_row_usable(&rows[i]);
    return usable;
}

/* Whether a sum of the same kind at a larger size says it already. */
static bool has_larger(const struct xb_run *run, const struct xb_case *test)
{
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *row = &run->results[i];
        if (row->test.sum && xb_row_usable(row) && row->test.bytes > test->bytes &&
            row->test.mode == test->mode && row->test.direction == test->direction &&
            is_variant(row, test->variant))
            return true;
    }
    return false;
}

static void all_at_once(struct reading *reading, const struct xb_result *sum)
{
    struct text text = {.used = 0};
    size_t count = xb_group_size(reading->run, sum);
    if (!sum->test.sum || count == 0 || !all_usable(sum, count + 1) ||
        has_larger(reading->run, &sum->test))
        return;
    add_place(&text, reading, "", sum->test.bytes);
    add_name(&text, sum);
    add(&text, " ");
    add_rate(&text, sum->bandwidth.median);
    add(&text, " GB/s on %zu devices together", count);
    if (sum->overlap >= 0) {
        add(&text, ", all in flight ");
        add_percent(&text, sum->overlap);
        add(&text, " of the time");
    }
    add_shares(&text, sum + 1, count);
    say(reading, "all at once", &text);
}

/* ---- all of it ---- */

static bool has_many_sizes(const struct xb_run *run)
{
    for (size_t i = 1; i < run->case_count; i++)
        if (run->results[i].test.bytes != run->results[0].test.bytes)
            return true;
    return false;
}

enum xb_status xb_reading_print(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    struct reading reading = {
        .stream = stream, .run = run, .many_sizes = has_many_sizes(run), .error = error};
    xb_link_share_print(stream, run);
    say_of_devices(&reading, "pinning", pinning);
    say_of_devices(&reading, "overlap", both_ways);
    say_of_devices(&reading, "overlap", double_buffer);
    say_of_devices(&reading, "blocking", blocking);
    say_of_devices(&reading, "in place", in_place);
    say_of_devices(&reading, "managed", managed);
    say_of_pairs(&reading, XB_D2D);
    say_of_pairs(&reading, XB_BIDIR);
    for (size_t i = 0; i < run->case_count; i++)
        all_at_once(&reading, &run->results[i]);
    say_of_devices(&reading, "far below", far_below_to);
    say_of_devices(&reading, "far below", far_below_from);
    return reading.status;
}
