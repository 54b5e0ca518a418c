/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <math.h>

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

/* Documents of which a note tells. */
struct told {
    size_t count;
    const struct xb_fleet_source *named; /* the first, or the latest */
};

static void tell(struct told *told, bool is_so, const struct xb_fleet_source *source)
{
    if (is_so && told->count++ == 0)
        told->named = source;
}

enum xb_status xb_fleet_note_start(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct told ahead = {.count = 0};
    struct told agreed = {.count = 0}; /* on a time to begin: else clocks do not matter */
    struct told late = {.count = 0};
    struct told loose = {.count = 0};
    for (size_t i = 0; i < fleet->source_count; i++) {
        const struct xb_fleet_source *source = &fleet->sources[i];
        tell(&agreed, !isnan(source->late_s), source);
        tell(&ahead, source->dated > source->written, source);
        tell(&late, source->late_s > LATE_S, source);
        tell(&loose, !isnan(source->late_s) && source->unsynchronised, source);
        if (late.count > 0 && source->late_s > late.named->late_s)
            late.named = source;
    }
    enum xb_status status = XB_OK;
    if (ahead.count > 0)
        status = xb_fleet_add_note(
            judging, error,
            "Documents that are dated more than a day ahead: %zu of %zu (first: %.200s). They "
            "count as older than all others. Is the clock right there, and here?",
            ahead.count, fleet->source_count, ahead.named->path);
    if (status == XB_OK && late.count > 0)
        status = xb_fleet_add_note(
            judging, error,
            "Documents that began more than %g s after the agreed time: %zu of %zu, up to %.3g s "
            "(%.200s). Not all nodes were under load at the same time.",
            LATE_S, late.count, agreed.count, late.named->late_s, late.named->path);
    if (status == XB_OK && loose.count > 0)
        status = xb_fleet_add_note(
            judging, error,
            "Documents that began at an agreed time, of nodes whose clock nothing keeps: %zu of "
            "%zu (first: %.200s). They may have begun earlier or later than they say.",
            loose.count, agreed.count, loose.named->path);
    return status;
}
