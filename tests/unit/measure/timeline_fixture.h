/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs whose timelines are kept. Include after cmocka.h, from a file that defines _GNU_SOURCE. */
#include "measure/timeline/timeline.h"
#include "modes_fixture.h"

static inline void record(struct fixture *f, const char *const *arguments)
{
    xb_fake.queues_are_alike = true;
    plan(f, arguments);
    f->run.keeps_timelines = true;
    go(f, NULL);
    expect_all(f, XB_RESULT_OK);
}

#define RECORD(f, ...) record((f), WORDS(__VA_ARGS__))

static inline const struct xb_timeline *timeline_of(const struct fixture *f, size_t index)
{
    const struct xb_timeline *timeline = f->run.results[index].timeline;
    assert_non_null(timeline);
    return timeline;
}

static inline size_t tracks_of(const struct xb_timeline *timeline, enum xb_track_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->track_count; i++)
        count += timeline->tracks[i].kind == kind;
    return count;
}
