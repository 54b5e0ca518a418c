/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading of a record: who says something of what, and in which order. */
#define _GNU_SOURCE /* locale_t, in base/text.h */
#include "internal.h"

#include "base/text.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <stdlib.h>

/* More sizes than these come from no sweep: they double. */
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
static void say_of_device(struct xb_reading *reading, const struct xb_reading_line *line,
                          int device, uint64_t least)
{
    uint64_t bytes = UINT64_MAX;
    size_t left = MOST_SIZES;
    while (next_size(reading, least, &bytes, &left)) {
        xb_reading_begin(reading, line->label, line->code, device, bytes);
        if (line->say(reading, device, bytes)) {
            xb_reading_keep(reading);
            return;
        }
    }
}

static void say_of_sizes(struct xb_reading *reading, const struct xb_reading_line *line, int device)
{
    xb_reading_begin(reading, line->label, line->code, device, 0);
    if (line->say_of_sizes(reading, device))
        xb_reading_keep(reading);
}

static void say_of_devices(struct xb_reading *reading, const struct xb_reading_line *line,
                           uint64_t least)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    for (size_t i = 0; i < count; i++) {
        if (!xb_reading_has_alone(reading, (int)devices[i].index))
            continue; /* of pairs there is nothing to say here, however many there are */
        if (line->say != NULL)
            say_of_device(reading, line, (int)devices[i].index, least);
        if (line->say_of_sizes != NULL)
            say_of_sizes(reading, line, (int)devices[i].index);
    }
}

static void say_of_pairs(struct xb_reading *reading, const struct xb_reading_line *line,
                         enum xb_direction direction)
{
    uint64_t bytes = UINT64_MAX;
    size_t left = MOST_SIZES;
    while (next_size(reading, XB_LARGE_BYTES, &bytes, &left)) {
        xb_reading_begin(reading, line->label, line->code, -1, bytes);
        if (line->say_of_pairs(reading, direction, bytes)) {
            xb_reading_keep(reading);
            return;
        }
    }
}

static void say_for_mode(struct xb_reading *reading, const struct xb_mode *mode)
{
    uint64_t least = mode->latency != NULL ? 1 : XB_LARGE_BYTES; /* which hides no latency */
    for (const struct xb_reading_line *line = mode->reading; line != NULL && line->label != NULL;
         line++) {
        say_of_devices(reading, line, least);
        if (line->say_of_pairs == NULL)
            continue;
        say_of_pairs(reading, line, XB_D2D);
        say_of_pairs(reading, line, XB_BIDIR);
    }
}

const struct xb_reading_line xb_reading_first[] = {
    {.label = "link", .code = "XB-SHARE-OF-LINK", .say = xb_reading_say_link},
    {.label = "slow link", .code = "XB-SLOW-LINK", .say = xb_reading_say_slow_link},
    {.label = "both ways", .code = "XB-BOTH-WAYS", .say = xb_reading_say_both_ways},
    {.label = NULL},
};

const struct xb_reading_line xb_reading_groups[] = {
    {.label = "one to all", .code = "XB-ONE-TO-ALL", .say_of_pairs = xb_reading_say_one_to_all},
    {.label = "all to one", .code = "XB-ALL-TO-ONE", .say_of_pairs = xb_reading_say_all_to_one},
    {.label = NULL},
};

const struct xb_reading_line xb_reading_last[] = {
    {.label = "NUMA", .code = "XB-NUMA", .say = xb_reading_say_numa},
    {.label = "slow", .code = "XB-SLOW-H2D", .say = xb_reading_say_slow_to},
    {.label = "slow", .code = "XB-SLOW-D2H", .say = xb_reading_say_slow_from},
    {.label = NULL},
};

static void say_all(struct xb_reading *reading)
{
    for (const struct xb_reading_line *line = xb_reading_first; line->label != NULL; line++)
        say_of_devices(reading, line, XB_LARGE_BYTES);
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        say_for_mode(reading, *mode);
    xb_reading_say_together(reading);
    for (const struct xb_reading_line *line = xb_reading_groups; line->label != NULL; line++)
        say_of_pairs(reading, line, XB_D2D);
    for (const struct xb_reading_line *line = xb_reading_last; line->label != NULL; line++)
        say_of_devices(reading, line, XB_LARGE_BYTES);
}

enum xb_status xb_reading_make(const struct xb_record *record, struct xb_reading_list *list,
                               struct xb_error *error)
{
    size_t devices = 0;
    size_t count = record->case_count;
    struct xb_reading reading = {.record = record,
                                 .parameters = xb_parameters_that_differ(record),
                                 .list = list,
                                 .error = error};
    (void)xb_record_devices(record, &devices);
    *list = (struct xb_reading_list){
        .many_sizes = count > 0 && record->by_size[0]->bytes != record->by_size[count - 1]->bytes,
        .many_devices = devices > 1};
    reading.rested = calloc(count + 1, sizeof *reading.rested);
    reading.grouped = calloc(count + 1, sizeof(const struct xb_record_case *));
    if (reading.rested == NULL || reading.grouped == NULL)
        xb_reading_fail_memory(&reading);
    locale_t previous = xb_plain_locale_enter();
    xb_reading_choose_nodes(&reading);
    if (reading.status == XB_OK)
        say_all(&reading);
    xb_plain_locale_leave(previous);
    xb_reading_end(&reading);
    return reading.status;
}
