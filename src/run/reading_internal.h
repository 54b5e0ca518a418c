/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_READING_INTERNAL_H
#define XFERBENCH_RUN_READING_INTERNAL_H

#include "base/note.h"
#include "xferbench/reading.h"

#include <stdio.h>

struct xb_reading {
    FILE *stream;
    const struct xb_record *record;
    bool begun; /* its heading is printed */
    bool many_sizes;
    struct xb_words words;       /* of the line that is being written */
    struct xb_samples collected; /* by xb_reading_collect */
    struct xb_error *error;
    enum xb_status status; /* the first failure: memory was short */
};

/* Whether the case is of that direction. */
bool xb_reading_goes(const struct xb_record_case *test, enum xb_direction direction);

/* Whether it is of one device that had the machine for itself, between it and the host. */
bool xb_reading_alone(const struct xb_record_case *test);

/* A usable case of a device alone whose bandwidth is that of the buffer moved once, h2d or d2h; not
 * of a mode that is about something else (only_named in mode.h). */
bool xb_reading_one_way(const struct xb_reading *reading, const struct xb_record_case *test);

/* Such a case that the device's clock timed and whose time is that of one crossing of the link. */
bool xb_reading_crosses_link(const struct xb_reading *reading, const struct xb_record_case *test);

/* Whether the device's clock timed a usable case; false: the host's. */
bool xb_reading_device_timed(const struct xb_reading *reading, const struct xb_record_case *test);

/* The bytes that one iteration of a usable case moves. */
uint64_t xb_reading_bytes_moved(const struct xb_reading *reading,
                                const struct xb_record_case *test);

/* Of a usable case. */
double xb_reading_bandwidth(const struct xb_reading *reading, const struct xb_record_case *test);

/* How much of what its link can carry the fastest copy each way reached, of one device and size;
 * of the raw rate where the ceiling is not known. False where no copy crossed a known link. */
bool xb_reading_say_link(struct xb_reading *reading, int device, uint64_t bytes);

/* XB-NUMA: what memory on the farthest NUMA node costs the fastest copy each way, of one device and
 * size. False where no node was measured but the near one, where it is not known which is near, or
 * where the intervals meet. */
bool xb_reading_say_numa(struct xb_reading *reading, int device, uint64_t bytes);

/* For xb_reading_line: the fastest way to copy from one device to several others at the same time,
 * and from several to one. */
bool xb_reading_say_one_to_all(struct xb_reading *reading, enum xb_direction direction,
                               uint64_t bytes);
bool xb_reading_say_all_to_one(struct xb_reading *reading, enum xb_direction direction,
                               uint64_t bytes);

#endif
