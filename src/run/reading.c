/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading: what it says of any mode, and its order. */
#include "reading.h"

#include "measure/mode_list.h"
#include "reading_internal.h"
#include "rows.h"
#include "xferbench/units.h"

#include <string.h>

#define LABEL_WIDTH 13

/* A way with less than this share of the best is called slow. */
#define SLOW_BELOW 0.5

/* ---- a line ---- */

/* Begins a line with the device and size that it is of, where there are several: "Device 0, 256
 * MiB: ". */
static void begin(struct xb_reading *reading, const char *device, uint64_t bytes)
{
    char size[32];
    const char *text = reading->many_sizes ? xb_size_format(bytes, size, sizeof size) : "";
    bool both = device[0] != '\0' && text[0] != '\0';
    reading->words.length = 0;
    reading->words.text[0] = '\0';
    xb_reading_add(reading, "%s%s%s%s", device, both ? ", " : "", text,
                   device[0] != '\0' || text[0] != '\0' ? ": " : "");
}

static void print(struct xb_reading *reading, const char *label)
{
    if (!reading->begun)
        fputs("\nReading\n", reading->stream);
    reading->begun = true;
    xb_note_print(reading->stream, label, LABEL_WIDTH, "%s", reading->words.text);
}

typedef bool sayer(struct xb_reading *reading, int device, uint64_t bytes);

/* More sizes than these come from no sweep: they double. For each every case is looked at. */
#define MOST_SIZES 64

/* The next of the sizes that a line is asked for, from the largest down: smaller than `bytes`.
 * False after the last. *left counts down from MOST_SIZES. */
static bool next_size(const struct xb_reading *reading, uint64_t least, uint64_t *bytes,
                      size_t *left)
{
    *bytes = *left > 0 ? xb_rows_size_below(reading->record, *bytes) : 0;
    *left -= *left > 0;
    return *bytes >= least;
}

/* The largest size that there is something to say of, `least` or more. */
static void say_of_device(struct xb_reading *reading, const char *label, sayer *say, int device,
                          uint64_t least)
{
    size_t count = 0;
    char name[32] = "";
    (void)xb_record_devices(reading->record, &count);
    if (count > 1)
        snprintf(name, sizeof name, "Device %d", device);
    uint64_t bytes = UINT64_MAX;
    size_t left = MOST_SIZES;
    while (next_size(reading, least, &bytes, &left)) {
        begin(reading, name, bytes);
        if (say(reading, device, bytes)) {
            print(reading, label);
            return;
        }
    }
}

static void say_of_devices(struct xb_reading *reading, const char *label, sayer *say,
                           uint64_t least)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    for (size_t i = 0; i < count; i++)
        say_of_device(reading, label, say, (int)devices[i].index, least);
}

static void say_of_pairs(struct xb_reading *reading, const struct xb_reading_line *line,
                         enum xb_direction direction)
{
    uint64_t bytes = UINT64_MAX;
    size_t left = MOST_SIZES;
    while (next_size(reading, XB_LARGE_BYTES, &bytes, &left)) {
        begin(reading, "", bytes);
        if (line->say_of_pairs(reading, direction, bytes)) {
            print(reading, line->label);
            return;
        }
    }
}

static void say_for_mode(struct xb_reading *reading, const struct xb_mode *mode)
{
    uint64_t least = mode->latency != NULL ? 1 : XB_LARGE_BYTES; /* which hides no latency */
    for (const struct xb_reading_line *line = mode->reading; line != NULL && line->label != NULL;
         line++) {
        if (line->say != NULL)
            say_of_devices(reading, line->label, line->say, least);
        if (line->say_of_pairs == NULL)
            continue;
        say_of_pairs(reading, line, XB_D2D);
        say_of_pairs(reading, line, XB_BIDIR);
    }
}

/* ---- both ways at once ---- */

typedef bool choice(const struct xb_reading *reading, const struct xb_record_case *test);

/* The fastest of the cases of a device and size that `is_one` chooses; NULL: it chooses none. */
static const struct xb_record_case *fastest(const struct xb_reading *reading, int device,
                                            uint64_t bytes, choice *is_one)
{
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        if (test->device == device && test->bytes == bytes && is_one(reading, test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

/* A mode that copies both ways at once has a figure of that. One that also computes has none: what
 * it moves is no sum of two ways. */
static bool goes_both_ways(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_alone(test) && xb_reading_goes(test, XB_BIDIR) &&
           xb_reading_usable(reading, test) &&
           xb_reading_bytes_moved(reading, test) == 2 * test->bytes &&
           (xb_reading_median(reading, test, &xb_figure_overlap) > 0 ||
            xb_reading_median(reading, test, &xb_figure_bandwidth_h2d) > 0);
}

static void add_best_single_way(struct xb_reading *reading, const struct xb_record_case *both,
                                const struct xb_record_case *one)
{
    double rate = xb_reading_bandwidth(reading, one);
    xb_reading_add(reading, ", ");
    xb_reading_add_factor(reading, xb_reading_bandwidth(reading, both) / rate);
    xb_reading_add(reading, " the best single way (");
    xb_reading_add_name(reading, one);
    xb_reading_add(reading, " %s, ", one->direction);
    xb_reading_add_rate(reading, rate);
    xb_reading_add(reading, " GB/s)");
}

/* What other places of the host's memory gave, within one process. */
static void add_placements(struct xb_reading *reading, const struct xb_record_case *both)
{
    struct xb_statistics statistics;
    const struct xb_record_row *row = &both->rows[0];
    if (reading->record->is_merged || row->placements.count < 2 ||
        !xb_record_describe(reading->record, both, xb_figure_bandwidth.name, &statistics) ||
        !statistics.has_interval)
        return;
    xb_reading_add(reading, " Where the host's memory lies decides: %zu places gave ",
                   row->placements.count);
    xb_reading_add_rate(reading, statistics.ci95_low);
    xb_reading_add(reading, " to ");
    xb_reading_add_rate(reading, statistics.ci95_high);
    xb_reading_add(reading, " GB/s.");
}

static bool say_both_ways(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *both = fastest(reading, device, bytes, goes_both_ways);
    const struct xb_record_case *one = fastest(reading, device, bytes, xb_reading_crosses_link);
    double to = xb_reading_median(reading, both, &xb_figure_bandwidth_h2d);
    double from = xb_reading_median(reading, both, &xb_figure_bandwidth_d2h);
    double overlap = xb_reading_median(reading, both, &xb_figure_overlap);
    if (both == NULL)
        return false;
    xb_reading_add_name(reading, both);
    xb_reading_add(reading, " moves ");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, both));
    xb_reading_add(reading, " GB/s both ways at once");
    if (to > 0 && from > 0) {
        xb_reading_add(reading, " (");
        xb_reading_add_rate(reading, to);
        xb_reading_add(reading, " to the device, ");
        xb_reading_add_rate(reading, from);
        xb_reading_add(reading, " from it)");
    }
    if (one != NULL)
        add_best_single_way(reading, both, one);
    xb_reading_add(reading, ".");
    add_placements(reading, both);
    if (overlap > 0) {
        xb_reading_add(reading, " Both ways moved data ");
        xb_reading_add_share_of_time(reading, overlap);
        xb_reading_add(reading, ".");
    }
    return true;
}

/* ---- slow ways ---- */

static bool is_to_device(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_goes(test, XB_H2D) && xb_reading_one_way(reading, test);
}

static bool is_from_device(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_goes(test, XB_D2H) && xb_reading_one_way(reading, test);
}

/* More modes and variants than these come from no run. */
#define MOST_WAYS 64

/* The fastest case of each mode and variant that `is_one` chooses of a device and size: those that
 * differ in parameters alone are one way. Returns how many. */
static size_t collect_ways(const struct xb_reading *reading, int device, uint64_t bytes,
                           choice *is_one, const struct xb_record_case *ways[MOST_WAYS])
{
    size_t count = 0;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        if (test->device != device || test->bytes != bytes || !is_one(reading, test))
            continue;
        size_t way = 0;
        while (way < count && (strcmp(ways[way]->mode, test->mode) != 0 ||
                               strcmp(ways[way]->variant, test->variant) != 0))
            way++;
        if (way < count)
            ways[way] = xb_reading_faster(reading, ways[way], test);
        else if (count < MOST_WAYS)
            ways[count++] = test;
    }
    return count;
}

static bool say_slow(struct xb_reading *reading, int device, uint64_t bytes, choice *is_one,
                     const char *before)
{
    const struct xb_record_case *ways[MOST_WAYS];
    const struct xb_record_case *best = fastest(reading, device, bytes, is_one);
    size_t count = collect_ways(reading, device, bytes, is_one, ways);
    double most = xb_reading_bandwidth(reading, best);
    bool said = false;
    for (size_t i = 0; i < count; i++) {
        double rate = xb_reading_bandwidth(reading, ways[i]);
        if (rate >= SLOW_BELOW * most)
            continue;
        xb_reading_add(reading, "%s", said ? "; " : before);
        xb_reading_add_name(reading, ways[i]);
        xb_reading_add(reading, said ? " " : " reaches ");
        xb_reading_add_rate(reading, rate);
        xb_reading_add(reading, " GB/s, ");
        xb_reading_add_share(reading, rate / most);
        if (!said) {
            xb_reading_add(reading, " of ");
            xb_reading_add_name(reading, best);
        }
        said = true;
    }
    if (said)
        xb_reading_add(reading, ".");
    return said;
}

static bool say_slow_to(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, is_to_device, "Host to device, ");
}

static bool say_slow_from(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, is_from_device, "Device to host, ");
}

/* ---- devices at the same time ---- */

static double share_of_alone(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_share_of_alone);
}

/* The case with the least share behind (share, place) `last`; NULL: none is left. */
static const struct xb_record_case *next_worse(const struct xb_reading *reading,
                                               const struct xb_record_case *cases, size_t count,
                                               const struct xb_record_case *last)
{
    const struct xb_record_case *next = NULL;
    double before = last != NULL ? share_of_alone(reading, last) : 0;
    double least = 0;
    for (const struct xb_record_case *test = cases; test < cases + count; test++) {
        double share = share_of_alone(reading, test);
        bool later = share > before || (share > 0 && share == before && test > last);
        if (later && (next == NULL || share < least)) {
            next = test;
            least = share;
        }
    }
    return next;
}

static void add_shares(struct xb_reading *reading, const struct xb_record_case *cases, size_t count)
{
    size_t known = 0;
    for (const struct xb_record_case *test = NULL;
         (test = next_worse(reading, cases, count, test)) != NULL;) {
        xb_reading_add(reading, known == 0 ? " Each by what it has alone: " : ", ");
        xb_reading_add(reading, "device %d ", test->device);
        xb_reading_add_share(reading, share_of_alone(reading, test));
        known++;
    }
    if (known > 0 && known < count)
        xb_reading_add(reading, " (the others were not measured alone)");
    if (known > 0)
        xb_reading_add(reading, ".");
}

static bool all_usable(const struct xb_reading *reading, const struct xb_record_case *cases,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!xb_reading_usable(reading, &cases[i]))
            return false;
    return true;
}

/* Whether a sum of the same kind at a larger size says it already. */
static bool has_larger(const struct xb_reading *reading, const struct xb_record_case *sum)
{
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        struct xb_record_case as_small = *test;
        as_small.bytes = sum->bytes;
        if (xb_record_is_sum(test) && test->bytes > sum->bytes && xb_cases_alike(&as_small, sum) &&
            xb_reading_usable(reading, test))
            return true;
    }
    return false;
}

static void say_of_group(struct xb_reading *reading, const struct xb_record_case *sum)
{
    bool of_devices = xb_record_is_sum(sum) && !xb_case_is_of_pairs(sum);
    size_t count = of_devices ? xb_group_size(reading->record, sum) : 0;
    if (count == 0 || !all_usable(reading, sum, count + 1) || has_larger(reading, sum))
        return;
    double overlap = xb_reading_median(reading, sum, &xb_figure_overlap);
    begin(reading, "", sum->bytes);
    xb_reading_add_name(reading, sum);
    xb_reading_add(reading, " %s moves ", sum->direction);
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, sum));
    xb_reading_add(reading, " GB/s on %zu devices at once.", count);
    if (overlap > 0) {
        xb_reading_add(reading, " All moved data ");
        xb_reading_add_share_of_time(reading, overlap);
        xb_reading_add(reading, ".");
    }
    add_shares(reading, sum + 1, count);
    print(reading, "all at once");
}

static const struct xb_reading_line of_groups[] = {
    {.label = "one to all", .say_of_pairs = xb_reading_say_one_to_all},
    {.label = "all to one", .say_of_pairs = xb_reading_say_all_to_one},
};

/* ---- all of it ---- */

static bool has_many_sizes(const struct xb_record *record)
{
    for (size_t i = 1; i < record->case_count; i++)
        if (record->cases[i].bytes != record->cases[0].bytes)
            return true;
    return false;
}

enum xb_status xb_reading_print(FILE *stream, const struct xb_record *record,
                                struct xb_error *error)
{
    struct xb_reading reading = {
        .stream = stream, .record = record, .many_sizes = has_many_sizes(record), .error = error};
    say_of_devices(&reading, "link", xb_reading_say_link, XB_LARGE_BYTES);
    say_of_devices(&reading, "both ways", say_both_ways, XB_LARGE_BYTES);
    say_of_devices(&reading, "NUMA", xb_reading_say_numa, XB_LARGE_BYTES);
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        say_for_mode(&reading, *mode);
    for (size_t i = 0; i < record->case_count; i++)
        say_of_group(&reading, &record->cases[i]);
    for (size_t i = 0; i < 2; i++)
        say_of_pairs(&reading, &of_groups[i], XB_D2D);
    say_of_devices(&reading, "slow", say_slow_to, XB_LARGE_BYTES);
    say_of_devices(&reading, "slow", say_slow_from, XB_LARGE_BYTES);
    xb_samples_free(&reading.collected);
    return reading.status;
}
