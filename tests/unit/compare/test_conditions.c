/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/comparison.h"
#include "run/request.h"

#include "testing.h"

#include "record_fixture.h"

#define MIB (UINT64_C(1) << 20)

/* ---- two records of three processes ---- */

static struct xb_record before, after;
static struct xb_comparison result;
static bool strict;

static void finish(void)
{
    xb_comparison_free(&result);
    xb_record_free(&before);
    xb_record_free(&after);
}

static void begin(void)
{
    finish();
    before = make_record(3);
    after = make_record(3);
}

static int finish_group(NO_STATE)
{
    finish();
    return 0;
}

static void add(struct xb_record *record, const char *mode)
{
    measure(record, add_named(record, mode, "h2d", MIB, false), &xb_figure_bandwidth, 55e9, 1e-4);
}

static void add_both(const char *mode)
{
    add(&before, mode);
    add(&after, mode);
}

static void compare(void)
{
    const struct xb_comparison_request request = {
        .threshold = 0.02, .alpha = 0.01, .strict = strict, .rows = xb_run_rows()};
    struct xb_error error;
    xb_comparison_free(&result);
    assert_int_equal(xb_compare(&before, &after, &request, &result, &error), XB_OK);
    bool comparable = true;
    for (size_t i = 0; i < result.difference_count; i++) {
        comparable = comparable && !result.differences[i].forbids;
        assert_true(i == 0 || result.differences[i - 1].forbids || !result.differences[i].forbids);
    }
    assert_int_equal(result.comparable, comparable);
    assert_int_equal(xb_comparison_exit_code(&result) == 4, xb_comparison_is_refused(&result));
    assert_true(comparable || xb_comparison_is_refused(&result));
    assert_int_equal(result.case_count > 0, comparable && before.case_count > 0);
}

static void assert_text(const char *text, const char *expected)
{
    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text != NULL ? text : "(null)", expected);
}

static void assert_difference(size_t i, const char *name, const char *baseline,
                              const char *candidate, bool forbids)
{
    assert_true(i < result.difference_count);
    const struct xb_difference *difference = &result.differences[i];
    assert_string_equal(difference->name, name);
    assert_text(difference->baseline, baseline);
    assert_text(difference->candidate, candidate);
    assert_int_equal(difference->forbids, forbids);
}

/* Compares, and there is this one only. */
static void assert_only(const char *name, const char *baseline, const char *candidate, bool forbids)
{
    compare();
    assert_difference(0, name, baseline, candidate, forbids);
    assert_int_equal(result.difference_count, 1);
}

/* Which rows differ in a setting of theirs: "01". */
static void assert_rows(const char *expected)
{
    assert_int_equal(result.case_count, strlen(expected));
    for (size_t i = 0; i < result.case_count; i++) {
        assert_int_equal(result.cases[i].same_settings, expected[i] != '1');
        assert_int_equal(xb_compared_is_apart(&result, &result.cases[i]), expected[i] == '1');
    }
}

static void assert_none(void)
{
    compare();
    assert_int_equal(result.difference_count, 0);
}

TEST(finds_nothing_where_nothing_differs)
{
    begin();
    add_both("pinned");
    assert_none();
}

/* ---- backend and driver ---- */

TEST(forbids_another_backend)
{
    begin();
    add_both("pinned");
    after.backend = "hip";
    assert_only("backend", "cuda", "hip", true);
}

/* What people exchange to see what that does, unless they want to be sure that nothing did. */
TEST(compares_drivers_runtimes_and_kernels)
{
    static const struct {
        const char *name, *baseline, *candidate;
    } rows[] = {{"driver", "580.159.04", "580.82"}, {"driver", "580.82", "575.1"},
                {"driver", "580.1", NULL},          {"driver", NULL, "580.1"},
                {"kernel", "6.8", "6.9"},           {"kernel", NULL, "6.9"},
                {"runtime version", "12.9", "13.0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            bool both = rows[i].baseline != NULL && rows[i].candidate != NULL;
            begin();
            add_both("pinned");
            if (strcmp(rows[i].name, "driver") == 0) {
                before.driver = rows[i].baseline;
                after.driver = rows[i].candidate;
            } else {
                set_fact(&before, rows[i].name, rows[i].baseline);
                set_fact(&after, rows[i].name, rows[i].candidate);
            }
            strict = is_strict;
            assert_only(rows[i].name, rows[i].baseline, rows[i].candidate, is_strict);
            assert_int_equal(result.differences[0].of_stack, both || is_strict);
        }
    strict = false;
    begin();
    add_both("pinned");
    before.driver = after.driver = NULL; /* the host backend has none */
    assert_none();
}

/* ---- devices ---- */

static void set_link(struct xb_record *record, size_t process, double speed_gts, unsigned width)
{
    struct xb_record_device *device = device_of(record, process, 0);
    device->link_known = width > 0;
    device->link_speed_gts = speed_gts;
    device->link_width = width;
}

TEST(forbids_another_model)
{
    begin();
    add_both("pinned");
    for (size_t i = 0; i < 3; i++)
        device_of(&after, i, 0)->name = "NVIDIA H100";
    assert_only("model of device 0", "NVIDIA H200", "NVIDIA H100", true);

    begin(); /* of one device of several */
    add_both("pinned");
    for (size_t i = 0; i < 3; i++) {
        (void)device_of(&before, i, 3);
        device_of(&after, i, 3)->name = "NVIDIA H100";
    }
    assert_only("model of device 3", "NVIDIA H200", "NVIDIA H100", true);

    begin(); /* in one process of several */
    add_both("pinned");
    device_of(&after, 2, 0)->name = "NVIDIA H100";
    assert_only("model of device 0", "NVIDIA H200", "NVIDIA H100, NVIDIA H200", true);
}

TEST(forbids_another_link)
{
    begin();
    add_both("pinned");
    for (size_t i = 0; i < 3; i++)
        set_link(&after, i, 16.0, 16);
    assert_only("link of device 0", "32 GT/s x16", "16 GT/s x16", true);
    for (size_t i = 0; i < 3; i++)
        set_link(&after, i, 32.0, 8);
    assert_only("link of device 0", "32 GT/s x16", "32 GT/s x8", true);
}

TEST(forbids_a_link_that_differs_in_one_process)
{
    for (size_t i = 0; i < 3; i++) {
        begin();
        add_both("pinned");
        set_link(&after, i, 2.5, 16);
        assert_only("link of device 0", "32 GT/s x16", "2.5 GT/s x16, 32 GT/s x16", true);
    }
    begin(); /* one text is within the other */
    add_both("pinned");
    set_link(&after, 2, 32.0, 1);
    assert_only("link of device 0", "32 GT/s x16", "32 GT/s x1, 32 GT/s x16", true);
}

/* Which process came first is chance. */
TEST(takes_links_in_any_order)
{
    begin();
    add_both("pinned");
    set_link(&before, 0, 16.0, 16);
    set_link(&after, 2, 16.0, 16);
    assert_none();
    set_link(&after, 1, 16.0, 16);
    assert_none();
}

/* A setting of the firmware, whose effect somebody may want to see. */
TEST(takes_other_packets_as_context)
{
    static const struct xb_ceiling small = {.known = true, .payload = 128, .read_request = 512};
    static const struct xb_ceiling large = {.known = true, .payload = 256, .read_request = 4096};
    begin();
    add_both("pinned");
    for (size_t i = 0; i < 3; i++) {
        device_of(&before, i, 0)->ceiling = small;
        device_of(&after, i, 0)->ceiling = small;
    }
    assert_none();
    for (size_t i = 0; i < 3; i++)
        device_of(&after, i, 0)->ceiling = large;
    assert_only("packets of device 0", "payload 128, read request 512",
                "payload 256, read request 4096", false);
}

TEST(takes_a_link_that_is_not_known_as_context)
{
    begin();
    add_both("pinned");
    set_link(&after, 1, 0.0, 0); /* in one process: the others know it */
    assert_none();
    set_link(&after, 0, 0.0, 0);
    set_link(&after, 2, 0.0, 0);
    assert_only("link of device 0", "32 GT/s x16", NULL, false);
    for (size_t i = 0; i < 3; i++) {
        set_link(&before, i, 0.0, 0);
        set_link(&after, i, 16.0, 16);
    }
    assert_only("link of device 0", NULL, "16 GT/s x16", false);
    for (size_t i = 0; i < 3; i++)
        set_link(&after, i, 0.0, 0);
    assert_none();
}

/* What it had alone is in one file only, and says so itself. */
TEST(takes_a_device_that_vanished_as_context)
{
    begin();
    add_both("pinned");
    for (size_t i = 0; i < 3; i++)
        (void)device_of(&before, i, 1);
    assert_only("device 1", "NVIDIA H200", NULL, false);
    add(&before, "async");
    before.cases[1].device = 1;
    compare();
    assert_int_equal(result.overall, XB_OUTCOME_INCONCLUSIVE);
    assert_int_equal(xb_presence_of(&result.cases[1]), XB_ONLY_IN_BASELINE);
    assert_true(result.cases[1].gates);

    begin();
    add_both("pinned");
    (void)device_of(&after, 2, 2);
    assert_only("device 2", NULL, "NVIDIA H200", false);
    (void)device_of(&before, 0, 2); /* it need not be the same process that saw it */
    assert_none();
}

/* A process that died has no devices. */
/* Those that run at the same time share what is between them and the host. */
TEST(forbids_other_devices_at_the_same_time)
{
    for (int both = 0; both < 2; both++) {
        begin();
        add_both("pinned");
        add_both("pinned");
        before.cases[1].simultaneous = true;
        after.cases[1].simultaneous = both;
        before.cases[1].device = after.cases[1].device = -1;
        for (size_t i = 0; i < 3; i++)
            (void)device_of(&before, i, 1);
        assert_only("device 1", "NVIDIA H200", NULL, both);
    }
}

/* Of the pairs that begin at device 0; that of peer -1 is their sum. */
static void add_of_group(struct xb_record *record, int peer)
{
    static const struct xb_record_fact group = {
        .name = "group", .value = "one-to-all", .is_text = true};
    add(record, "peer");
    struct xb_record_case *test = &record->cases[record->case_count - 1];
    test->direction = "d2d";
    test->simultaneous = true;
    test->peer = peer;
    test->parameters = &group;
    test->parameter_count = 1;
    fixture_sort(record);
}

/* So do pairs that have a device in common: 0>1 beside two others is not 0>1 beside one. */
TEST(forbids_other_pairs_at_the_same_time)
{
    for (int which = 0; which < 2; which++) {
        begin();
        for (int peer = -1; peer < 3; peer++) {
            if (peer == 0)
                continue;
            add_of_group(&before, peer);
            add_of_group(&after, peer);
        }
        assert_none();
        add_of_group(which == 0 ? &before : &after, 3);
        assert_only("pair 0>3 at the same time", which == 0 ? "measured" : NULL,
                    which == 0 ? NULL : "measured", true);
    }
    begin(); /* a group that one file lacks says so itself */
    add_both("pinned");
    add_of_group(&before, -1);
    add_of_group(&before, 1);
    assert_none();
}

TEST(takes_processes_without_devices)
{
    begin();
    add_both("pinned");
    before.processes[0].device_count = 0;
    after.processes[2].device_count = 0;
    assert_none();
}

TEST(compares_a_hundred_processes)
{
    finish();
    before = make_record(100);
    after = make_record(100);
    add_both("pinned");
    for (size_t i = 0; i < 100; i++)
        set_link(&after, i, 1.0 + (double)i, 16);
    compare();
    assert_int_equal(result.difference_count, 1);
    assert_true(result.differences[0].forbids);
    for (size_t i = 0; i < 100; i++)
        set_link(&before, i, 100.0 - (double)i, 16);
    assert_none();
}

/* ---- options ---- */

TEST(forbids_another_option_of_all_modes)
{
    begin();
    add_both("pageable");
    set_option(&after, "time-limit", "0.1");
    assert_only("option --time-limit", "0.25", "0.1", true);
    set_option(&after, "time-limit", NULL);
    assert_only("option --time-limit", "0.25", NULL, true);
    set_option(&before, "time-limit", NULL);
    assert_none();
}

/* What a case does not say itself matters where the case is in both files. */
TEST(asks_whose_option_it_is)
{
    begin();
    add_both("pinned");
    set_option(&after, "pitch", "4194304");
    assert_only("option --pitch", "8388608", "4194304", false);
    add(&before, "batch");
    assert_only("option --pitch", "8388608", "4194304", false);
    add(&after, "batch");
    assert_only("option --pitch", "8388608", "4194304", false);
    assert_rows("01"); /* pinned has no such option */

    begin();
    add_both("pinned");
    add(&after, "batch"); /* in the candidate only */
    set_option(&after, "pitch", "4194304");
    assert_only("option --pitch", "8388608", "4194304", false);

    begin(); /* of the first mode, of another than the first one that has options */
    add_both("double-buffer");
    set_option(&before, "kernel-time", "1");
    set_option(&after, "kernel-time", "2");
    set_option(&after, "pitch", "4194304");
    compare();
    assert_difference(0, "option --pitch", "8388608", "4194304", false);
    assert_difference(1, "option --kernel-time", "1", "2", false);
    assert_int_equal(result.difference_count, 2);
    assert_false(result.differences[0].of_rows);
    assert_true(result.differences[1].of_rows);
    assert_rows("1");
    assert_string_equal(result.cases[0].note, "measured with --kernel-time 2, the baseline with 1");
}

/* Where cases say themselves what they were measured with, the files' option does not matter. */
TEST(takes_a_case_s_own_parameter)
{
    static const struct xb_record_fact own = {.name = "kernel-time", .value = "1"};
    begin();
    add_both("double-buffer");
    set_option(&before, "kernel-time", "1");
    set_option(&after, "kernel-time", "2");
    before.cases[0].parameters = after.cases[0].parameters = &own;
    before.cases[0].parameter_count = after.cases[0].parameter_count = 1;
    compare();
    assert_rows("0");
}

/* Of a program that has more modes than this one. */
TEST(expects_the_worst_of_a_mode_that_it_does_not_know)
{
    begin();
    add_both("teleport");
    set_option(&after, "pitch", "4194304");
    assert_only("option --pitch", "8388608", "4194304", false);
    assert_rows("1");
}

TEST(takes_an_option_of_one_file_as_context)
{
    begin();
    add_both("async");
    set_option(&after, "frobnicate", "true");
    assert_only("option --frobnicate", NULL, "true", false);
    set_option(&before, "wibble", "3");
    compare();
    assert_difference(0, "option --wibble", "3", NULL, false);
    assert_difference(1, "option --frobnicate", NULL, "true", false);
    assert_int_equal(result.difference_count, 2);
    set_option(&before, "frobnicate", "false"); /* both know it, though this program does not */
    set_option(&after, "wibble", "3");
    assert_only("option --frobnicate", "false", "true", true);
}

TEST(ignores_what_only_selects)
{
    static const char *const names[] = {
        "mode",      "size",      "direction",    "device",        "backend", "latency",
        "pairs",     "quick",     "simultaneous", "host-memory",   "access",  "managed",
        "peer-path", "deadline",  "json",         "csv",           "quiet",   "help",
        "version",   "processes", "interleave",   "baseline-json", "chunk",   "streams",
        "buffers",   "passes",    "threads",      "steps"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        begin();
        add_both("peer");
        add_both("async");
        add_both("managed");
        add_both("zero-copy");
        add_both("double-buffer");
        add_both("resident");
        set_option(&before, names[i], "1");
        set_option(&after, names[i], "2");
        assert_none();
        if (strcmp(names[i], "mode") != 0) { /* which the fixture has */
            after.option_count--;
            assert_none();
            after.option_count++;
            before.option_count--;
            assert_none();
        }
    }
}

/* ---- facts ---- */

TEST(takes_facts_as_context)
{
    begin();
    add_both("pinned");
    set_fact(&after, "hostname", "node2");
    assert_only("hostname", "node1", "node2", false);
    set_fact(&after, "kernel", NULL);
    set_fact(&before, "device 0 UUID", "GPU-1");
    set_fact(&after, "CPU model", "Xeon");
    set_fact(&after, "nothing", NULL); /* neither knows it */
    compare();
    assert_difference(0, "hostname", "node1", "node2", false);
    assert_difference(1, "kernel", "6.8.0-1", NULL, false);
    assert_difference(2, "device 0 UUID", "GPU-1", NULL, false);
    assert_difference(3, "CPU model", NULL, "Xeon", false);
    assert_int_equal(result.difference_count, 4);
    assert_true(result.comparable);
}

TEST(tells_first_what_forbids)
{
    begin();
    add_both("batch");
    after.driver = "580.1";
    for (size_t i = 0; i < 3; i++)
        set_link(&after, i, 16.0, 16);
    set_option(&after, "new", "1");
    set_option(&after, "pitch", "1");
    set_option(&before, "old", "1");
    set_option(&after, "time-limit", "1");
    set_fact(&after, "hostname", "node2");
    (void)device_of(&after, 0, 1);
    compare();
    assert_int_equal(result.difference_count, 8);
    assert_difference(0, "link of device 0", "32 GT/s x16", "16 GT/s x16", true);
    assert_difference(1, "option --time-limit", "0.25", "1", true);
    assert_difference(2, "driver", "580.82.07", "580.1", false);
    assert_difference(3, "device 1", NULL, "NVIDIA H200", false);
    assert_difference(4, "option --pitch", "8388608", "1", false);
    assert_difference(5, "option --old", "1", NULL, false);
    assert_difference(6, "option --new", NULL, "1", false);
    assert_difference(7, "hostname", "node1", "node2", false);
}

GROUP(NULL, finish_group)
