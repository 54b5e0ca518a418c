/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <math.h>

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

static enum xb_status note_late(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t agreed = 0;
    size_t late = 0;
    const struct xb_fleet_source *latest = NULL;
    for (size_t i = 0; i < fleet->source_count; i++) {
        const struct xb_fleet_source *source = &fleet->sources[i];
        if (isnan(source->late_s))
            continue;
        agreed++;
        late += source->late_s > LATE_S;
        if (latest == NULL || source->late_s > latest->late_s)
            latest = source;
    }
    if (late == 0)
        return XB_OK;
    return xb_fleet_add_note(
        judging, error,
        "Documents that began more than %g s after the agreed time: %zu of "
        "%zu, up to %.3g s (%.200s). Not all nodes were under load at the same "
        "time.",
        LATE_S, late, agreed, latest->late_s, latest->path != NULL ? latest->path : "-");
}

/* Where no time was agreed it does not matter. */
static enum xb_status note_clocks(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = 0;
    size_t agreed = 0;
    const char *first = NULL;
    for (size_t i = 0; i < fleet->source_count; i++) {
        if (isnan(fleet->sources[i].late_s))
            continue;
        agreed++;
        if (!fleet->sources[i].unsynchronised)
            continue;
        count++;
        if (first == NULL)
            first = fleet->sources[i].path;
    }
    if (count == 0)
        return XB_OK;
    return xb_fleet_add_note(judging, error,
                             "Documents that began at an agreed time, of nodes whose clock nothing "
                             "keeps: %zu of %zu (first: %.200s). They may have begun earlier or "
                             "later than they say.",
                             count, agreed, first != NULL ? first : "-");
}

enum xb_status xb_fleet_note_start(struct xb_judging *judging, struct xb_error *error)
{
    enum xb_status status = note_late(judging, error);
    return status == XB_OK ? note_clocks(judging, error) : status;
}
