/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* From the command line's words to cases. Nothing is measured here but what has one row to say. */

#include "testing.h"

#include "run_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* "0>1 1>0 b0-1 ...": the pairs of the plan's cases of peer, one variant. */
static void expect_pairs(const char *const *arguments, const char *expected)
{
    struct fixture f;
    char text[512] = "";
    const char *all[MAX_ARGUMENTS] = {"--mode", "peer", "--size", "4K", "--peer-path", "staged"};
    for (size_t i = 0; arguments[i] != NULL; i++)
        all[6 + i] = arguments[i];
    plan(&f, all);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s%u%c%d", i > 0 ? " " : "",
                 test->direction == XB_BIDIR ? "b" : "", test->device,
                 test->direction == XB_BIDIR ? '-' : '>', test->peer);
    }
    assert_string_equal(text, expected);
    finish(&f);
}

#define EXPECT_PAIRS(expected, ...) expect_pairs(WORDS(__VA_ARGS__), (expected))

/* ---- directions ---- */

static unsigned directions_of(const struct fixture *f, const char *mode)
{
    unsigned directions = 0;
    for (size_t i = 0; i < f->run.case_count; i++)
        if (strcmp(f->run.results[i].test.mode->name, mode) == 0)
            directions |= f->run.results[i].test.direction;
    return directions;
}

RUN_TEST(test_directions)
{
    const unsigned both = (unsigned)XB_H2D | (unsigned)XB_D2H;
    const struct {
        const char *named; /* NULL: by default */
        unsigned pageable, pinned, async, double_buffer, zero_copy, managed, local, peer;
    } rows[] = {
        {NULL, both, both, both, XB_BIDIR, both, both, XB_D2D,
         (unsigned)XB_D2D | (unsigned)XB_BIDIR},
        {"both", both, both, both, 0, both, both, 0, 0},
        {"h2d", XB_H2D, XB_H2D, XB_H2D, 0, XB_H2D, XB_H2D, 0, 0},
        {"d2h", XB_D2H, XB_D2H, XB_D2H, 0, XB_D2H, XB_D2H, 0, 0},
        {"bidir", 0, XB_BIDIR, XB_BIDIR, XB_BIDIR, XB_BIDIR, 0, 0, XB_BIDIR},
        {"d2d", 0, 0, 0, 0, 0, 0, XB_D2D, XB_D2D},
        {"both,h2d,bidir", both, both | XB_BIDIR, both | XB_BIDIR, XB_BIDIR, both | XB_BIDIR, both,
         0, XB_BIDIR},
    };
    xb_fake.device_count = 2;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        const char *arguments[] = {"--size", "4K", rows[i].named != NULL ? "--direction" : NULL,
                                   rows[i].named, NULL};
        plan(&f, arguments);
        assert_int_equal(directions_of(&f, "pageable"), rows[i].pageable);
        assert_int_equal(directions_of(&f, "pinned"), rows[i].pinned);
        assert_int_equal(directions_of(&f, "async"), rows[i].async);
        assert_int_equal(directions_of(&f, "double-buffer"), rows[i].double_buffer);
        assert_int_equal(directions_of(&f, "zero-copy"), rows[i].zero_copy);
        assert_int_equal(directions_of(&f, "managed"), rows[i].managed);
        assert_int_equal(directions_of(&f, "local"), rows[i].local);
        assert_int_equal(directions_of(&f, "peer"), rows[i].peer);
        finish(&f);
    }
}

/* No way is taken twice, however often it is named. */
RUN_TEST(test_a_direction_is_one_case)
{
    struct fixture f;
    PLAN(&f, "--mode", "pinned", "--size", "4K,8K", "--direction", "both,h2d,d2h");
    assert_int_equal(f.run.case_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f.run.results[i].test.direction, i % 2 == 0 ? XB_H2D : XB_D2H);
        assert_int_equal(f.run.results[i].test.bytes, i < 2 ? 4096 : 8192);
        assert_int_equal(f.run.results[i].test.peer, XB_NO_PEER);
    }
    finish(&f);
}

RUN_TEST(test_latency_is_of_ways_that_are_one_operation)
{
    struct fixture f;
    xb_fake.device_count = 2;
    PLAN(&f, "--mode", "peer,pinned,double-buffer", "--latency", "--size", "4");
    assert_int_equal(directions_of(&f, "peer"), XB_D2D);
    assert_int_equal(directions_of(&f, "pinned"), XB_H2D | XB_D2H);
    assert_int_equal(directions_of(&f, "double-buffer"), XB_BIDIR); /* to say that it cannot */
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_true(f.run.results[i].test.latency);
    finish(&f);
}

/* ---- modes that are about a latency of their own ---- */

RUN_TEST(test_all_modes_are_those_that_move_data)
{
    struct fixture f;
    PLAN(&f, "--size", "4K");
    assert_int_equal(directions_of(&f, "loads"), 0);
    assert_int_equal(directions_of(&f, "pinned"), XB_H2D | XB_D2H);
    finish(&f);
    PLAN(&f, "--size", "4K", "--latency");
    assert_int_equal(directions_of(&f, "loads"), XB_H2D | XB_D2D);
    assert_int_equal(directions_of(&f, "pinned"), XB_H2D | XB_D2H);
    finish(&f);
}

RUN_TEST(test_a_mode_has_a_size_of_its_own_until_one_is_given)
{
    struct fixture f;
    PLAN(&f, "--mode", "loads,pinned", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 2);
    assert_int_equal(f.run.results[0].test.bytes, 2 << 20);
    assert_true(f.run.results[0].test.latency);
    assert_int_equal(f.run.results[1].test.bytes, 256 << 20);
    assert_false(f.run.results[1].test.latency);
    finish(&f);
    PLAN(&f, "--mode", "loads", "--direction", "h2d", "--size", "4M,8M");
    assert_int_equal(f.run.case_count, 2);
    assert_int_equal(f.run.results[0].test.bytes, 4 << 20);
    assert_int_equal(f.run.results[1].test.bytes, 8 << 20);
    finish(&f);
}

/* ---- what is refused ---- */

RUN_TEST(test_plan_refuses_what_cannot_be)
{
    xb_fake.device_count = 2;
    EXPECT_USAGE("did you mean 'pinned'", "--mode", "pined");
    EXPECT_USAGE("give 'all' alone", "--mode", "pinned,all");
    EXPECT_USAGE("give 'all' alone", "--device", "all,0");
    EXPECT_USAGE("0000:02:00.0", "--device", "2");
    EXPECT_USAGE("no device 'ff:00.0'", "--device", "ff:00.0");
    EXPECT_USAGE("named twice", "--device", "0,0000:01:00.0");
    EXPECT_USAGE("--chunk has no effect", "--mode", "pinned", "--chunk", "1M");
    EXPECT_USAGE("--host-memory has no effect", "--mode", "pageable", "--host-memory", "alloc");
    EXPECT_USAGE("--pairs has no effect", "--mode", "pinned", "--pairs", "0:1");
    EXPECT_USAGE("--by has no effect", "--mode", "pinned", "--by", "kernel");
    EXPECT_USAGE("--ring-chunk has no effect without --staging ring", "--mode", "pageable,pinned",
                 "--staging", "driver", "--ring-chunk", "1M");
    EXPECT_USAGE("--chunk has no effect without --way overlapped", "--mode", "job", "--way",
                 "pinned", "--chunk", "1M");
    EXPECT_USAGE("can be had", "--size", "1000T");
    EXPECT_USAGE("pageable does not go that way", "--mode", "pinned,pageable", "--direction",
                 "bidir");
    EXPECT_USAGE("peer does not go that way", "--mode", "peer", "--direction", "both");
    EXPECT_USAGE("double-buffer does not go that way", "--mode", "double-buffer", "--direction",
                 "h2d");
}

RUN_TEST(test_simultaneous_refuses_what_cannot_be)
{
    xb_fake.device_count = 2;
    EXPECT_USAGE("leave out --latency", "--mode", "pinned", "--simultaneous", "--latency");
    EXPECT_USAGE("starts several devices together: take pinned, async, zero-copy or peer d2d (not "
                 "staged)",
                 "--mode", "pageable,managed", "--simultaneous");
    EXPECT_USAGE("starts several devices together", "--mode", "peer", "--direction", "bidir",
                 "--simultaneous");
    EXPECT_USAGE("starts several devices together", "--mode", "peer", "--peer-path", "staged",
                 "--simultaneous");
    EXPECT_USAGE("--buffers has no effect", "--direction", "h2d", "--buffers", "5");
}

RUN_TEST(test_bad_pairs_are_refused)
{
    static const struct {
        const char *pairs, *message;
    } rows[] = {
        {"0:0", "0:0 is one device"},
        {"0:9", "no device '9'"},
        {"9:0", "no device '9'"},
        {"0:1,1:0,0:1", "named twice"},
        {"0:1,00:01", "named twice"},
        {"0-1", "is not a pair"},
        {"", "empty"},
        {"0:1:2", "is not a pair"},
        {"0", "is not a pair"},
        {"a:b", "is not a pair"},
        {":", "no device ''"},
        {"0:", "no device ''"},
        {":1", "no device ''"},
        {"0:1,", "empty"},
        {" 0:1", "is not a pair"},
        {"4294967296:1", "no device '4294967296'"},
        {"0:4294967297", "no device"},
        {"00000000000000000000:1", "is not a pair"},
    };
    xb_fake.device_count = 3;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        EXPECT_USAGE(rows[i].message, "--mode", "peer", "--pairs", rows[i].pairs);
}

/* Of any case, though others could be measured: told before there is a row. */
RUN_TEST(test_what_no_machine_allows_is_refused)
{
    static const char *const times[] = {"AUTO", "0", "1001ms", "-1us", "soon", "none,AUTO", "5"};
    for (size_t i = 0; i < COUNT_OF(times); i++)
        EXPECT_USAGE("neither auto nor none nor a time", "--kernel-time", times[i]);
    EXPECT_USAGE("words of 8 bytes", "--mode", "double-buffer", "--chunk", "1001");
    EXPECT_USAGE("words of 8 bytes", "--mode", "async,double-buffer", "--size", "4K", "--chunk",
                 "12");
    EXPECT_USAGE("500001 B of async", "--mode", "async", "--size", "500000,500001", "--chunk", "1");
    EXPECT_USAGE("larger --chunk", "--mode", "double-buffer", "--size", "4M", "--chunk", "8");
    /* Also where another value is allowed. */
    EXPECT_USAGE("--chunk 1001", "--mode", "double-buffer", "--chunk", "1000,1001");
    EXPECT_USAGE("--chunk 2 B", "--mode", "async", "--size", "4M", "--chunk", "1M,2");
}

/* With a pair there are rows of peer to be refused, without one they are skipped. */
RUN_TEST(test_options_of_pairs_are_checked_where_there_are_pairs)
{
    struct fixture f;
    xb_fake.device_count = 2;
    EXPECT_USAGE("B of peer", "--mode", "peer", "--size", "83334", "--chunk", "1");
    EXPECT_USAGE("words of 8 bytes", "--mode", "peer", "--size", "4K", "--chunk", "1001", "--by",
                 "engine,kernel");
    PLAN(&f, "--mode", "peer", "--size", "83333", "--chunk", "1");
    finish(&f);
    EXPECT_USAGE("--chunk has no effect without --peer-path staged", "--mode", "peer", "--chunk",
                 "1M", "--peer-path", "direct-read");
    xb_fake.device_count = 1;
    PLAN(&f, "--mode", "peer", "--size", "83334", "--chunk", "1");
    finish(&f);
}

RUN_TEST(test_too_many_cases_are_refused)
{
    struct fixture f;
    xb_fake.device_count = 16;
    /* 240 ordered pairs, by 3 paths at 14 sizes: 10080. At 13: 9360. */
    EXPECT_USAGE("more than 10000 cases", "--mode", "peer", "--direction", "d2d", "--size",
                 "1..8K");
    PLAN(&f, "--mode", "peer", "--direction", "d2d", "--size", "1..4K");
    assert_int_equal(f.run.case_count, 240 * 3 * 13);
    finish(&f);
}

/* ---- devices and pairs ---- */

RUN_TEST(test_devices_by_number_address_and_all)
{
    struct fixture f;
    xb_fake.device_count = 3;
    PLAN(&f, "--mode", "pinned", "--device", "2,0000:01:00.0,02:00.0");
    assert_int_equal(f.run.device_count, 3);
    assert_int_equal(f.run.devices[0].info.index, 2);
    assert_int_equal(f.run.devices[1].info.index, 0);
    assert_int_equal(f.run.devices[2].info.index, 1);
    finish(&f);
    PLAN(&f, "--mode", "pinned", "--device", "all");
    assert_int_equal(f.run.device_count, 3);
    finish(&f);
    PLAN(&f, "--mode", "pinned");
    assert_int_equal(f.run.device_count, 1);
    finish(&f);
    PLAN(&f, "--mode", "pinned", "--simultaneous"); /* takes several: all, if none is named */
    assert_int_equal(f.run.device_count, 3);
    finish(&f);
}

RUN_TEST(test_pairs)
{
    xb_fake.device_count = 3;
    EXPECT_PAIRS("0>1 b0-1 0>2 b0-2 1>0 1>2 b1-2 2>0 2>1", "--time-limit", "1s");
    EXPECT_PAIRS("0>1 0>2 1>0 1>2 2>0 2>1", "--direction", "d2d");
    EXPECT_PAIRS("b0-1 b0-2 b1-2", "--direction", "bidir");
    EXPECT_PAIRS("1>2 b1-2 2>1", "--device", "1,2");
    EXPECT_PAIRS("2>0 0>2 b0-2", "--device", "2,0");
    EXPECT_PAIRS("2>1 0>1", "--pairs", "2:1,0:1", "--direction", "d2d");
    EXPECT_PAIRS("0>1 b0-1", "--pairs", "0:1");
    EXPECT_PAIRS("1>0 b1-0", "--pairs", "1:0");
    EXPECT_PAIRS("0>1 b0-1 1>0", "--pairs", "0:1,1:0");
    EXPECT_PAIRS("1>2 b1-2", "--pairs", "1:2", "--device", "0");
}

/* Devices of pairs are the run's, each once and none besides. */
RUN_TEST(test_devices_of_pairs)
{
    struct fixture f;
    xb_fake.device_count = 4;
    PLAN(&f, "--mode", "peer", "--pairs", "3:1,3:2", "--device", "2");
    assert_int_equal(f.run.device_count, 3);
    assert_int_equal(f.run.devices[0].info.index, 3);
    assert_int_equal(f.run.devices[1].info.index, 1);
    assert_int_equal(f.run.devices[2].info.index, 2);
    finish(&f);
    PLAN(&f, "--mode", "pinned,pageable"); /* nobody asked for pairs */
    assert_int_equal(f.run.device_count, 1);
    finish(&f);
}

RUN_TEST(test_one_device_has_one_row_to_say_so)
{
    const char *const ways[][8] = {{"--mode", "peer", NULL},
                                   {"--mode", "peer", "--size", "4K,8K,16K", NULL},
                                   {"--mode", "peer", "--device", "1", NULL}};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct fixture f;
        xb_fake.device_count = i == 2 ? 3 : 1; /* of three, one was named */
        execute(&f, ways[i], NULL);
        assert_int_equal(f.run.case_count, 1);
        expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "needs two GPUs");
        finish(&f);
    }
}

RUN_TEST(test_a_backend_without_pairs_says_so)
{
    struct fixture f;
    struct xb_backend lonely = xb_fake_backend;
    lonely.peer_info = NULL;
    fixture_backend = &lonely;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer,pinned", "--size", "4K", "--direction", "d2d,h2d");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    for (size_t i = 1; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "no copies between devices");
    finish(&f);
}

/* ---- cases ---- */

RUN_TEST(test_no_two_cases_share_a_pattern)
{
    struct fixture f;
    xb_fake.device_count = 3;
    PLAN(&f, "--size", "4K,8K", "--simultaneous");
    assert_true(f.run.case_count > 50);
    for (size_t i = 0; i < f.run.case_count; i++)
        for (size_t k = 0; k < i; k++) {
            /* A pattern takes a number a word, and the way back half of the room. */
            unsigned long long a = f.run.results[i].test.seed;
            unsigned long long b = f.run.results[k].test.seed;
            assert_true((a > b ? a - b : b - a) >= 1ULL << 40);
        }
    finish(&f);
}

/* The device of a sum is none of its own: only its devices' rows are checked and measured for it.
 */
RUN_TEST(test_a_sum_is_of_all_devices)
{
    struct fixture f;
    xb_fake.device_count = 3;
    PLAN(&f, "--mode", "pinned", "--size", "4K", "--simultaneous", "--device", "2,1", "--direction",
         "h2d");
    assert_int_equal(f.run.case_count, 2 + 3);
    assert_int_equal(f.run.device_count, 2);
    assert_true(f.run.results[2].test.sum && f.run.results[2].test.simultaneous);
    assert_int_equal(f.run.results[2].test.peer, XB_NO_PEER);
    assert_int_equal(f.run.results[3].test.device, 2);
    assert_int_equal(f.run.results[4].test.device, 1);
    finish(&f);
}

/* "0>all 0>1 0>2": what runs at the same time, in its order; each sum before its pairs. */
static void expect_groups(const char *const *arguments, const char *expected)
{
    struct fixture f;
    char text[512] = "";
    plan(&f, arguments);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        char one[32];
        if (test->group == XB_GROUP_NONE)
            continue;
        assert_true(test->simultaneous);
        assert_string_not_equal(test->variant, "staged");
        if (!test->sum)
            snprintf(one, sizeof one, "%u>%d", test->device, test->peer);
        else if (test->group == XB_GROUP_ONE_TO_ALL)
            snprintf(one, sizeof one, "%u>all", test->device);
        else
            snprintf(one, sizeof one, "all>%u", test->device);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 && *text ? " " : "",
                 one);
    }
    assert_string_equal(text, expected);
    finish(&f);
}

#define EXPECT_GROUPS(expected, ...)                                                               \
    expect_groups(WORDS("--mode", "peer", "--size", "4K", "--simultaneous", __VA_ARGS__),          \
                  (expected))

RUN_TEST(test_groups_of_pairs)
{
    xb_fake.device_count = 3;
    EXPECT_GROUPS("0>all 0>1 0>2 1>all 1>0 1>2 2>all 2>0 2>1 "
                  "all>0 1>0 2>0 all>1 0>1 2>1 all>2 0>2 1>2",
                  "--peer-path", "staged,direct-read");
    EXPECT_GROUPS("0>all 0>1 0>2", "--pairs", "0:1,0:2,1:0", "--peer-path", "direct-read");
    EXPECT_GROUPS("all>2 0>2 1>2", "--pairs", "0:2,1:2", "--peer-path", "direct-write");
    /* Of two devices there is one row, which says why there are no others. */
    EXPECT_GROUPS("1>all", "--device", "1,2");
    EXPECT_GROUPS("0>all", "--pairs", "0:1,1:2");
    EXPECT_GROUPS("", "--device", "1"); /* that there is no pair is said already */
}

/* Variants stand outside of sizes, sizes outside of directions. */
RUN_TEST(test_order_of_cases)
{
    struct fixture f;
    PLAN(&f, "--mode", "pinned", "--size", "8K,4K", "--host-memory", "write-combined,alloc");
    assert_int_equal(f.run.case_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        assert_string_equal(test->variant, i < 4 ? "write-combined" : "alloc");
        assert_int_equal(test->bytes, i % 4 < 2 ? 8192 : 4096);
        assert_int_equal(test->direction, i % 2 == 0 ? XB_H2D : XB_D2H);
    }
    finish(&f);
}

/* What a parameter's words give stands between variants and sizes. */
RUN_TEST(test_order_of_cases_with_a_parameter)
{
    struct fixture f;
    xb_fake.device_count = 2;
    PLAN(&f, "--mode", "peer", "--size", "8K,4K", "--by", "kernel,engine", "--peer-path",
         "staged,direct-read", "--pairs", "0:1", "--direction", "d2d");
    assert_int_equal(f.run.case_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        const struct xb_option *by = test->settings[0].option;
        assert_string_equal(test->variant, i < 4 ? "staged" : "direct-read");
        assert_string_equal(xb_case_setting(test, by)->word, i % 4 < 2 ? "kernel" : "engine");
        assert_int_equal(test->bytes, i % 2 == 0 ? 8192 : 4096);
        /* --chunk matters for staged copies only. */
        assert_int_equal(test->setting_count, i < 4 ? 2 : 1);
    }
    finish(&f);
}

/* Those of each list of numbers too, the last parameter's the fastest. */
RUN_TEST(test_order_of_cases_with_lists)
{
    static const uint64_t offsets[][2] = {{64, 0}, {64, 1}, {64, 2}, {0, 0}, {0, 1}, {0, 2}};
    struct fixture f;
    PLAN(&f, "--mode", "pinned", "--size", "8K,4K", "--direction", "h2d", "--host-offset", "64,0",
         "--device-offset", "0,1..2");
    assert_int_equal(f.run.case_count, 12);
    for (size_t i = 0; i < 12; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        assert_int_equal(test->setting_count, 4); /* --gpu-memory and --call too */
        assert_string_equal(test->settings[0].option->name, "host-offset");
        assert_string_equal(test->settings[1].option->name, "device-offset");
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(test->settings[k].count, offsets[i / 2][k]);
            assert_null(test->settings[k].word);
        }
        assert_int_equal(test->bytes, i % 2 == 0 ? 8192 : 4096);
    }
    finish(&f);
}

/* Every chunk with every number of queues. */
RUN_TEST(test_a_sweep_of_chunks_and_streams)
{
    struct fixture f;
    PLAN(&f, "--mode", "async", "--size", "16M", "--chunk", "64K..8M", "--streams", "1,2,4");
    assert_int_equal(f.run.case_count, 24 * 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        assert_string_equal(test->settings[0].option->name, "chunk");
        assert_int_equal(test->settings[0].count, 65536 << i / 6);
        assert_string_equal(test->settings[1].option->name, "streams");
        assert_int_equal(test->settings[1].count, 1 << i / 2 % 3);
        assert_int_equal(test->direction, i % 2 == 0 ? XB_H2D : XB_D2H);
    }
    finish(&f);
}
