/* SPDX-License-Identifier: Apache-2.0 */
/* Cases both ways at once, whose time depends on where the host's memory lies. */
#define _GNU_SOURCE

#include "testing.h"

#define PLACED(name) TEST_WITH(name, set_up, NULL)

#include "measure_fixture.h"

#include "measure/run.h"
#include "run/formats.h"

/* ---- a fake whose copies take as many times as long as where their host buffer lies says ---- */

#define MOST_PLACES 64

static struct {
    const struct xb_buffer *buffers[MOST_PLACES]; /* in the order in which they were made */
    unsigned count;
    unsigned factors[MOST_PLACES];
    unsigned most;       /* host buffers that there is memory for; 0: any number */
    unsigned wrong_copy; /* the so-many-th copy to or from host memory does nothing; 0: none */
    unsigned copies;
} places;

static unsigned place_of(const struct xb_buffer *buffer)
{
    unsigned place = 0;
    while (place < places.count && places.buffers[place] != buffer)
        place++;
    assert_true(place < places.count);
    return place;
}

static enum xb_status placed_allocate(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error)
{
    bool on_host = memory == XB_MEMORY_REGISTERED; /* proofs have memory of another kind */
    if (on_host && places.most > 0 && places.count == places.most)
        return XB_FAIL(error, XB_ERR_MEMORY, "the host is full");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK && on_host) {
        assert_true(places.count < MOST_PLACES);
        places.buffers[places.count++] = *buffer;
    }
    return status;
}

static enum xb_status placed_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                  struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                  struct xb_error *error)
{
    const struct xb_buffer *host = target->memory == XB_MEMORY_REGISTERED ? target : source;
    bool on_host = host->memory == XB_MEMORY_REGISTERED;
    unsigned times = 1;
    if (on_host)
        times = places.factors[place_of(host)];
    xb_fake.damage =
        on_host && ++places.copies == places.wrong_copy ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
    enum xb_status status = XB_OK;
    for (unsigned i = 0; status == XB_OK && i < times; i++)
        status = xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

static int set_up(void **state)
{
    reset(state);
    memset(&places, 0, sizeof places);
    for (size_t i = 0; i < MOST_PLACES; i++)
        places.factors[i] = 1;
    xb_fake.device_memory_free = 1u << 30; /* of its own: copies cross a link */
    xb_fake.operation_s = 1.0;             /* one iteration is a long sample */
    struct xb_backend *variant = vary_fake();
    variant->buffer_allocate = placed_allocate;
    variant->queue_copy = placed_copy;
    return 0;
}

static void record_run(struct fixture *f, struct xb_record *record)
{
    struct xb_error error;
    assert_int_equal(xb_record_of_run(&f->run, record, &error), XB_OK);
}

/* As a file has it. Frees the record. */
static struct xb_record written_and_read(struct xb_record *record)
{
    struct xb_record again;
    struct xb_error error;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(xb_result_json_write(stream, record, XB_JSON_INDENTED, &error), XB_OK);
    fclose(stream);
    if (xb_record_parse("a file", text, length, &again, &error) != XB_OK)
        fail_msg("%s", error.message);
    free(text);
    xb_record_free(record);
    return again;
}

static const char *warnings_of(const struct xb_result *result)
{
    static char text[2048];
    text[0] = '\0';
    for (size_t i = 0; i < result->row.warning_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s; ", result->warnings[i]);
    return text;
}

static void expect_warning(const struct xb_result *result, const char *part, bool there)
{
    if ((strstr(warnings_of(result), part) != NULL) != there)
        fail_msg("\"%s\" is%s expected in \"%s\"", part, there ? "" : " not", warnings_of(result));
}

/* The seconds of a placement whose slower buffer takes so many times as long: the second queue is
 * twice as slow as the first (fake_backend.h), so of equal buffers it decides. */
static double rate_of(const struct xb_result *result, unsigned times)
{
    double seconds = 2 * times * (1.0 + (double)result->test.bytes * XB_FAKE_SECONDS_PER_BYTE);
    return (double)result->bytes_moved / seconds;
}

/* ---- several placements ---- */

/* Buffers 1, 2, ... are the targets of the device's copies, on the slow queue, and decide: within
 * each placement all samples agree, and one of them alone would know nothing of the others. */
PLACED(the_interval_covers_placements_that_differ)
{
    struct fixture f;
    struct xb_record record = {0};
    const unsigned factors[] = {1, 4, 2, 5, 3, 6, 4};
    memcpy(places.factors, factors, sizeof factors);
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=12");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(places.count, 7); /* each placement has one more */
    assert_int_equal(result->times.count, 12);
    assert_int_equal(result->stop_reason, XB_STOP_FIXED);
    assert_int_equal(result->placement_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(result->placement_samples[i], 2);
    assert_true(result->bandwidth.has_interval);
    expect_near(result->bandwidth.ci95_low, rate_of(result, 6), "low");
    expect_near(result->bandwidth.ci95_high, rate_of(result, 2), "high");
    expect_near(result->bandwidth.median, rate_of(result, 4), "median");
    expect_warning(result, "it depends on where the host's memory lies: 6 places gave", true);
    expect_warning(result, "noisy: the median", false);
    record_run(&f, &record);
    record = written_and_read(&record);
    const struct xb_record_row *row = &record.cases[0].rows[0];
    assert_int_equal(row->placements.count, 6);
    const struct xb_record_figure *figure = xb_record_row_figure(row, "bandwidth");
    expect_near(figure->statistics.ci95_low, rate_of(result, 6), "low on record");
    expect_near(xb_record_median(&record, &record.cases[0], "between_placements"),
                (rate_of(result, 2) - rate_of(result, 6)) / rate_of(result, 4), "spread");
    figure = xb_record_row_figure(row, "bandwidth_d2h");
    expect_near(figure->statistics.ci95_low, rate_of(result, 6) / 2, "low of one way");
    xb_record_free(&record);
    finish(&f);
}

PLACED(placements_that_agree_have_a_narrow_interval)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=20");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->times.count, 20); /* 3 or 4 in each */
    assert_int_equal(result->placement_count, 6);
    expect_near(result->bandwidth.ci95_low, result->bandwidth.ci95_high, "interval");
    assert_int_equal(figure_of(result, "bandwidth_h2d")->samples.count, 20);
    expect_warning(result, "where the host's memory lies", false);
    finish(&f);
}

/* By the time limit each placement has as many samples as the first, 3 or more. */
PLACED(placements_share_the_time_limit)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--time-limit", "1us");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->placement_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(result->placement_samples[i], 3);
    assert_int_equal(result->stop_reason, XB_STOP_TIME_LIMIT);
    finish(&f);
}

/* Buffers are kept: the next case makes none. */
PLACED(the_next_case_takes_the_same_placements)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,async", "--direction", "bidir", "--size", "64K,128K", "--samples=6");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(places.count, 7);
    finish(&f);
}

PLACED(one_way_has_one_placement)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "both", "--size", "64K", "--samples=12");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].placement_count, 0);
    assert_int_equal(places.count, 1);
    finish(&f);
}

/* Nothing crosses a link there. */
PLACED(memory_of_the_hosts_own_has_one_placement)
{
    struct fixture f;
    xb_fake.device_memory_free = 0;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=12");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].placement_count, 0);
    finish(&f);
}

PLACED(devices_together_have_placements_each)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--device", "all",
        "--simultaneous", "--samples=6");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        assert_int_equal(f.run.results[i].placement_count, 6);
        assert_int_equal(f.run.results[i].times.count, 6);
        assert_int_equal(f.run.results[i].stop_reason, XB_STOP_FIXED);
    }
    finish(&f);
}

/* ---- fewer of them ---- */

PLACED(fewer_samples_than_placements_are_one_each)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=4");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->times.count, 4);
    assert_int_equal(result->placement_count, 4);
    assert_false(result->bandwidth.has_interval);
    expect_warning(result, "4 places for the host's memory are too few", true);
    finish(&f);
}

/* Three of them have an interval in a narrow sense only: none is shown. */
PLACED(memory_for_fewer_placements_is_told)
{
    struct fixture f;
    places.most = 4;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=12");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->times.count, 12);
    assert_int_equal(result->placement_count, 3);
    assert_int_equal(result->placement_samples[2], 4);
    assert_false(result->bandwidth.has_interval);
    expect_warning(result, "host memory lies in only 3 of 6 places", true);
    expect_warning(result, "the host is full", true);
    finish(&f);
}

/* ---- what goes wrong in a later one ---- */

/* As many repetitions in every run: the clock of a slow machine ends no warm-up. */
#define COUNTED "--warm-up", "1us", "--time-limit", "1000s"

/* Two copies an iteration; the 4 placements before have warm-up or a first repetition, and one
 * sample each: whichever it is, the last iteration of some placement is wrong, or the next mends
 * it. The very last one is not mended. */
PLACED(wrong_data_in_the_last_placement_is_found)
{
    struct fixture f;
    (void)state;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=6", COUNTED);
    unsigned copies = places.copies;
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
    set_up(state);
    places.wrong_copy = copies;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=6", COUNTED);
    assert_int_equal(places.copies, copies);
    assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_FALSE);
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "");
    finish(&f);
}

/* And none is measured after one whose data was wrong. */
PLACED(wrong_data_ends_the_case)
{
    struct fixture f;
    (void)state;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=6", COUNTED);
    unsigned copies = places.copies;
    finish(&f);
    set_up(state);
    /* A placement but the first has one repetition and one sample of two copies each: this is the
     * last copy of the third. */
    places.wrong_copy = copies - 3 * 4;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=6", COUNTED);
    assert_int_equal(places.copies, copies - 3 * 4);
    assert_int_equal(f.run.results[0].placement_count, 3);
    assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_FALSE);
    struct xb_record record = {0};
    record_run(&f, &record);
    assert_int_equal(record.cases[0].rows[0].time_count, 3); /* as evidence */
    assert_null(record.cases[0].rows[0].stop_reason);        /* none of those there are */
    xb_record_free(&record);
    finish(&f);
}

/* The deadline comes with the fourth sample. */
static void at_fourth(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(NULL, run, samples, bandwidth);
    if (samples == 4)
        ((struct xb_run *)argument)->deadline = 1e-9;
}

PLACED(a_deadline_leaves_what_there_is)
{
    struct fixture f;
    PLAN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K", "--samples=6");
    const struct xb_run_observer observer = {.progress = at_fourth, .argument = &f.run};
    go(&f, &observer);
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->stop_reason, XB_STOP_DEADLINE);
    assert_int_equal(result->times.count, 4);
    assert_int_equal(result->placement_count, 4);
    expect_warning(result, "the deadline came after 4 samples", true);
    finish(&f);
}
