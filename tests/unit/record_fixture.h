/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Records made by hand, as if read from a file of some processes on one H200. Texts are
 * borrowed; the rest is released by xb_record_free.
 */
#include "record/making.h"
#include "record/rows.h"
#include "testing.h"

#define FIXTURE_CASES 64
#define FIXTURE_FACTS 40
#define FIXTURE_DEVICES 4
#define FIXTURE_FIGURES 4 /* of a row */

static inline void fixture_fact(struct xb_record_fact *facts, size_t *count, const char *name,
                                const char *value)
{
    size_t i = 0;
    while (i < *count && strcmp(facts[i].name, name) != 0)
        i++;
    assert_true(i < FIXTURE_FACTS);
    facts[i] = (struct xb_record_fact){.name = name, .value = value};
    *count += i == *count;
}

/* One that is there already takes the value. */
static inline void set_option(struct xb_record *record, const char *name, const char *value)
{
    fixture_fact(record->options, &record->option_count, name, value);
}

static inline void set_fact(struct xb_record *record, const char *name, const char *value)
{
    fixture_fact(record->facts, &record->fact_count, name, value);
}

/* The device as one process saw it, which it did not before where it is a new one. */
static inline struct xb_record_device *device_of(struct xb_record *record, size_t process,
                                                 unsigned index)
{
    struct xb_record_process *own = &record->processes[process];
    for (size_t i = 0; i < own->device_count; i++)
        if (own->devices[i].index == index)
            return &own->devices[i];
    assert_true(own->device_count < FIXTURE_DEVICES);
    struct xb_record_device *made = &own->devices[own->device_count++];
    *made = (struct xb_record_device){.index = index,
                                      .name = "NVIDIA H200",
                                      .link_known = true,
                                      .link_speed_gts = 32.0,
                                      .link_width = 16,
                                      .numa_node = -1,
                                      .numa_is_normal = true};
    return made;
}

/* Gen5 x16, no case yet, and no difference to another one. */
static inline struct xb_record make_record(size_t processes)
{
    struct xb_record record = {.backend = "cuda",
                               .driver = "580.82.07",
                               .is_merged = processes > 1,
                               .asked_processes = processes,
                               .process_count = processes};
    record.processes = xb_arena_new(&record.texts, processes * sizeof *record.processes);
    record.cases = xb_arena_new(&record.texts, FIXTURE_CASES * sizeof *record.cases);
    record.index = xb_new(FIXTURE_CASES, sizeof(*record.index));
    record.options = xb_arena_new(&record.texts, FIXTURE_FACTS * sizeof *record.options);
    assert_non_null(record.options);
    record.facts = xb_arena_new(&record.texts, FIXTURE_FACTS * sizeof *record.facts);
    for (size_t i = 0; i < processes; i++) {
        record.processes[i].deadline_met = true;
        record.processes[i].devices =
            xb_arena_new(&record.texts, FIXTURE_DEVICES * sizeof *record.processes[i].devices);
        (void)device_of(&record, i, 0);
    }
    set_option(&record, "mode", "[\"all\"]");
    set_option(&record, "time-limit", "0.25");
    set_option(&record, "pitch", "8388608");
    set_fact(&record, "hostname", "node1");
    set_fact(&record, "kernel", "6.8.0-1");
    return record;
}

static inline int fixture_by_key(const void *a, const void *b)
{
    return xb_cases_order(*(const struct xb_record_case *const *)a,
                          *(const struct xb_record_case *const *)b, 0);
}

/* For xb_record_find, after what makes a case was changed. */
static inline void fixture_sort(struct xb_record *record)
{
    qsort(record->index, record->case_count, sizeof(*record->index), fixture_by_key);
}

/* Of device 0, not measured in any process yet. */
static inline struct xb_record_case *add_named(struct xb_record *record, const char *mode,
                                               const char *direction, uint64_t bytes, bool latency)
{
    assert_true(record->case_count < FIXTURE_CASES);
    struct xb_record_case *made = &record->cases[record->case_count];
    *made = (struct xb_record_case){.mode = mode,
                                    .variant = "registered",
                                    .direction = direction,
                                    .bytes = bytes,
                                    .peer = -1,
                                    .latency = latency};
    made->rows = xb_arena_new(&record->texts, record->process_count * sizeof *made->rows);
    for (size_t i = 0; i < record->process_count; i++) {
        made->rows[i].figures =
            xb_arena_new(&record->texts, FIXTURE_FIGURES * sizeof *made->rows[i].figures);
        assert_non_null(made->rows[i].figures);
    }
    record->index[record->case_count++] = made;
    fixture_sort(record);
    return made;
}

/* What one process has of a figure, to be changed; one that it did not have is added. */
static inline struct xb_record_figure *figure_of(struct xb_record_case *test, size_t process,
                                                 const struct xb_figure *figure)
{
    struct xb_record_row *row = &test->rows[process];
    struct xb_record_figure *figures = (struct xb_record_figure *)row->figures; /* add_named's */
    for (size_t i = 0; i < row->figure_count; i++)
        if (strcmp(figures[i].name, figure->name) == 0)
            return &figures[i];
    assert_true(row->figure_count < FIXTURE_FIGURES);
    figures[row->figure_count] = xb_record_figure_of(figure);
    return &figures[row->figure_count++];
}

/* Measured in one process, with that median. A bandwidth has an interval of 0.1 % to either side.
 */
static inline void measure_one(struct xb_record_case *test, size_t process,
                               const struct xb_figure *figure, double median)
{
    struct xb_record_row *row = &test->rows[process];
    struct xb_statistics *statistics = &figure_of(test, process, figure)->statistics;
    row->is_there = true;
    row->status = XB_RESULT_OK;
    row->verified = XB_VERIFIED_TRUE;
    row->timer = "device-event";
    *statistics = xb_record_median_only(median, 100);
    if (figure == &xb_figure_bandwidth) {
        statistics->has_interval = true;
        statistics->ci95_low = 0.999 * median;
        statistics->ci95_high = 1.001 * median;
    }
}

/* In every process: `first`, and in each further one `step` of it more. */
static inline void measure(const struct xb_record *record, struct xb_record_case *test,
                           const struct xb_figure *figure, double first, double step)
{
    for (size_t i = 0; i < record->process_count; i++)
        measure_one(test, i, figure, first * (1.0 + step * (double)i));
}

/* Not measured in one process. */
static inline void spoil(struct xb_record_case *test, size_t process, enum xb_result_status status,
                         enum xb_verified verified, const char *reason)
{
    const struct xb_record_figure *room = test->rows[process].figures;
    test->rows[process] = (struct xb_record_row){.is_there = true,
                                                 .status = status,
                                                 .verified = verified,
                                                 .reason = reason,
                                                 .figures = room};
}

/* What became of a case that the run did not reach. */
static inline void cut_short(struct xb_record_case *test, size_t process)
{
    spoil(test, process, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "interrupted before it began");
    test->rows[process].is_cut = true;
}
