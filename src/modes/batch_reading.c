/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of many pieces: which way wins for which pieces, and what it costs. */
#include "alignment.h"
#include "batch.h"
#include "sm_tax.h"

#include "xferbench/reading.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One copy a piece is called good enough where it reaches this share of the best. */
#define GOOD_ENOUGH 0.9

#define MOST_PIECES 64

static const char *parameter(const struct xb_record_case *test, const char *name)
{
    for (size_t i = 0; i < test->parameter_count; i++)
        if (strcmp(test->parameters[i].name, name) == 0 && test->parameters[i].value != NULL)
            return test->parameters[i].value;
    return "";
}

static uint64_t piece_of(const struct xb_record_case *test)
{
    return strtoull(parameter(test, xb_option_piece.name), NULL, 10);
}

/* Which cases are told of together: one device, size, direction, layout and alignment. */
struct group {
    struct xb_reading *reading;
    const struct xb_record_case *of;
};

static bool belongs(const struct group *group, const struct xb_record_case *test)
{
    static const char *const same[] = {"layout", "pitch", "host-offset", "device-offset"};
    bool yes = strcmp(test->mode, "batch") == 0 && test->device == group->of->device &&
               test->bytes == group->of->bytes &&
               strcmp(test->direction, group->of->direction) == 0 &&
               xb_reading_usable(group->reading, test) && piece_of(test) > 0;
    for (size_t i = 0; yes && i < sizeof same / sizeof same[0]; i++)
        yes = strcmp(parameter(test, same[i]), parameter(group->of, same[i])) == 0;
    return yes;
}

/* The group's fastest case of that piece and variant; of any variant for NULL. */
static const struct xb_record_case *best_of(const struct group *group, uint64_t piece,
                                            const char *variant)
{
    const struct xb_record *record = xb_reading_record(group->reading);
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (belongs(group, test) && piece_of(test) == piece &&
            (variant == NULL || strcmp(test->variant, variant) == 0))
            best = xb_reading_faster(group->reading, best, test);
    }
    return best;
}

static int by_size(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a;
    uint64_t other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* The pieces that the group has, from the smallest up. */
static size_t list_pieces(const struct group *group, uint64_t pieces[MOST_PIECES])
{
    const struct xb_record *record = xb_reading_record(group->reading);
    size_t count = 0;
    for (size_t i = 0; i < record->case_count && count < MOST_PIECES; i++) {
        bool is_new = belongs(group, &record->cases[i]);
        for (size_t k = 0; is_new && k < count; k++)
            is_new = pieces[k] != piece_of(&record->cases[i]);
        if (is_new)
            pieces[count++] = piece_of(&record->cases[i]);
    }
    qsort(pieces, count, sizeof *pieces, by_size);
    return count;
}

static double rate_of(const struct group *group, const struct xb_record_case *test)
{
    return xb_reading_median(group->reading, test, &xb_figure_bandwidth);
}

static void add_size(struct xb_reading *reading, uint64_t bytes)
{
    char text[32];
    xb_reading_add(reading, "%s", xb_size_format(bytes, text, sizeof text));
}

/* "kernel for pieces of 512 B to 512 KiB (50.70 to 51.40 GB/s)" of pieces[first..last]. */
static void add_run(const struct group *group, const uint64_t *pieces, size_t first, size_t last,
                    bool is_last)
{
    struct xb_reading *reading = group->reading;
    const struct xb_record_case *from = best_of(group, pieces[first], NULL);
    const struct xb_record_case *to = best_of(group, pieces[last], NULL);
    xb_reading_add(reading, "%s ", from->variant);
    if (is_last && first > 0) {
        xb_reading_add(reading, "from ");
        add_size(reading, pieces[first]);
        xb_reading_add(reading, " on");
    } else {
        xb_reading_add(reading, "for ");
        add_size(reading, pieces[first]);
        if (last > first) {
            xb_reading_add(reading, " to ");
            add_size(reading, pieces[last]);
        }
    }
    xb_reading_add(reading, " (");
    xb_reading_add_rate(reading, rate_of(group, from));
    if (last > first) {
        xb_reading_add(reading, " to ");
        xb_reading_add_rate(reading, rate_of(group, to));
    }
    xb_reading_add(reading, " GB/s)");
}

/* "The fastest way to the device: kernel for 512 B to 512 KiB (...), call from 1 MiB on (...)." */
static void add_winners(const struct group *group, const uint64_t *pieces, size_t count)
{
    struct xb_reading *reading = group->reading;
    xb_reading_add(reading, "The fastest way %s, by piece: ",
                   strcmp(group->of->direction, "h2d") == 0 ? "to the device" : "from it");
    for (size_t first = 0; first < count;) {
        const char *winner = best_of(group, pieces[first], NULL)->variant;
        size_t last = first;
        while (last + 1 < count &&
               strcmp(best_of(group, pieces[last + 1], NULL)->variant, winner) == 0)
            last++;
        xb_reading_add(reading, "%s", first > 0 ? ", " : "");
        add_run(group, pieces, first, last, last + 1 == count);
        first = last + 1;
    }
    xb_reading_add(reading, ".");
}

/* How the best stands to one copy a piece: NAN where either is missing. */
static double gain_of(const struct group *group, uint64_t piece)
{
    return rate_of(group, best_of(group, piece, NULL)) /
           rate_of(group, best_of(group, piece, "each"));
}

/* From where on one copy a piece will do, and what it costs where it costs most. */
static void add_each(const struct group *group, const uint64_t *pieces, size_t count)
{
    struct xb_reading *reading = group->reading;
    size_t enough = count; /* from there on for all */
    size_t worst = count;
    for (size_t i = 0; i < count; i++) {
        double gain = gain_of(group, pieces[i]);
        if (!isfinite(gain))
            continue;
        if (worst == count || gain > gain_of(group, pieces[worst]))
            worst = i;
        if (!(1 / gain >= GOOD_ENOUGH))
            enough = count;
        else if (enough == count)
            enough = i;
    }
    if (worst == count)
        return;
    if (enough < count) {
        xb_reading_add(reading, " One copy a piece is good enough from ");
        add_size(reading, pieces[enough]);
        xb_reading_add(reading, " on");
    } else {
        xb_reading_add(reading, " One copy a piece is too slow for all of these");
    }
    if (enough == 0) {
        xb_reading_add(reading, ".");
        return;
    }
    xb_reading_add(reading, "; for ");
    add_size(reading, pieces[worst]);
    xb_reading_add(reading, " the best is ");
    xb_reading_add_factor(reading, gain_of(group, pieces[worst]));
    xb_reading_add(reading, " as fast.");
}

/* Finds the first usable case of a direction. */
static const struct xb_record_case *first_of(struct xb_reading *reading, int device, uint64_t bytes,
                                             enum xb_direction direction)
{
    const struct xb_record *record = xb_reading_record(reading);
    for (size_t i = 0; i < record->case_count; i++) {
        struct group group = {reading, &record->cases[i]};
        if (group.of->device == device && group.of->bytes == bytes &&
            strcmp(group.of->direction, xb_direction_name(direction)) == 0 &&
            belongs(&group, group.of))
            return group.of;
    }
    return NULL;
}

static bool say_direction(struct xb_reading *reading, int device, uint64_t bytes,
                          enum xb_direction direction, bool is_second)
{
    uint64_t pieces[MOST_PIECES];
    struct group group = {reading, first_of(reading, device, bytes, direction)};
    if (group.of == NULL)
        return false;
    size_t count = list_pieces(&group, pieces);
    const char *only = best_of(&group, pieces[0], NULL)->variant;
    bool several = false; /* one way alone is no comparison */
    const struct xb_record *record = xb_reading_record(reading);
    for (size_t i = 0; i < record->case_count; i++)
        several = several || (belongs(&group, &record->cases[i]) &&
                              strcmp(record->cases[i].variant, only) != 0);
    if (!several)
        return false;
    xb_reading_add(reading, "%s", is_second ? " " : "");
    add_winners(&group, pieces, count);
    add_each(&group, pieces, count);
    return true;
}

static bool say_pieces(struct xb_reading *reading, int device, uint64_t bytes)
{
    bool to = say_direction(reading, device, bytes, XB_H2D, false);
    bool from = say_direction(reading, device, bytes, XB_D2H, to);
    return to || from;
}

/* "Kernels compute 6 % slower beside kernel with 8 blocks (512 B to the device)". */
static bool say_tax(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_case *least = NULL;
    const struct xb_record_case *most = NULL;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        double tax = xb_reading_median(reading, test, &xb_figure_sm_tax);
        if (strcmp(test->mode, "batch") != 0 || strcmp(test->variant, "kernel") != 0 ||
            test->device != device || test->bytes != bytes || !isfinite(tax) ||
            !xb_reading_usable(reading, test))
            continue;
        if (least == NULL || tax < xb_reading_median(reading, least, &xb_figure_sm_tax))
            least = test;
        if (most == NULL || tax > xb_reading_median(reading, most, &xb_figure_sm_tax))
            most = test;
    }
    if (least == NULL)
        return false;
    const struct xb_record_case *const ends[] = {least, most};
    xb_reading_add(reading, "Beside the batch kernel other kernels compute");
    for (int i = 0; i < (least == most ? 1 : 2); i++) {
        xb_reading_add(reading, "%s ", i > 0 ? " to" : "");
        xb_reading_add_share(reading, xb_reading_median(reading, ends[i], &xb_figure_sm_tax));
        xb_reading_add(reading, " slower (%.0f blocks, ",
                       xb_reading_median(reading, ends[i], &xb_figure_blocks));
        add_size(reading, piece_of(ends[i]));
        xb_reading_add(reading, " %s)", ends[i]->direction);
    }
    xb_reading_add(reading, ".");
    return true;
}

static bool say_alignment(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_alignment_say(reading, device, bytes, "batch");
}

const struct xb_reading_line xb_batch_reading[] = {
    {.label = "pieces", .say = say_pieces},
    {.label = "sm tax", .say = say_tax},
    {.label = "alignment", .say = say_alignment},
    {.label = NULL},
};
