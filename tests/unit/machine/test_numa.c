/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* --numa, from the command line's words to results and their record. */

#include "measure/plan/case.h"
#include "measure/run.h"
#include "numa_fixture.h"
#include "run/formats.h"
#include "run_fixture.h"

#define NUMA_TEST(name) TEST_WITH(name, set_up, NULL)

/* ---- the fake, with memory that stays where it was taken ---- */

#define MOST_BUFFERS 64

static struct {
    const char *begin;
    uint64_t bytes;
    int node;
} taken[MOST_BUFFERS];
static size_t taken_count;
static unsigned queues_opened;
static struct {
    uint64_t bytes; /* buffers of so many lie on node 0 wherever they were to; 0: none */
    enum xb_memory memory;
} stray;

static enum xb_status noting_buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                             uint64_t bytes, struct xb_buffer **buffer,
                                             struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status != XB_OK || memory == XB_MEMORY_DEVICE)
        return status;
    assert_true(taken_count < MOST_BUFFERS);
    taken[taken_count].begin = (*buffer)->host_address;
    taken[taken_count].bytes = (*buffer)->bytes;
    bool strays = stray.bytes == bytes && stray.memory == memory;
    taken[taken_count++].node = strays ? 0 : numa.node;
    return status;
}

static enum xb_status noting_queue_open(struct xb_device *device, struct xb_queue **queue,
                                        struct xb_error *error)
{
    queues_opened++;
    if (numa.node >= 0) /* what works for a queue inherits where this thread may run */
        assert_string_equal(numa.cpus, numa.node == 0 ? "0-1" : "2-3");
    return xb_fake_backend.queue_open(device, queue, error);
}

/* The latest that was taken there. */
static int node_of(const void *address)
{
    const char *at = address;
    for (size_t i = taken_count; i-- > 0;)
        if (at + 4096 > taken[i].begin && at < taken[i].begin + taken[i].bytes)
            return taken[i].node;
    return -1;
}

static int set_up(void **state)
{
    reset(state);
    altered_backend.buffer_allocate = noting_buffer_allocate;
    altered_backend.queue_open = noting_queue_open;
    taken_count = 0;
    queues_opened = 0;
    stray.bytes = 0;
    numa_reset(state);
    numa.node_of = node_of;
    numa_describe("numa:2 pu:2");
    return 0;
}

/* ---- which cases ---- */

/* "pinned 0, pinned 1, local -": mode and node of each case. */
static void expect_cases(const char *const *arguments, const char *expected)
{
    struct fixture f;
    char text[512] = "";
    plan(&f, arguments);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        char node[16] = "-";
        size_t used = strlen(text);
        if (test->has_node)
            snprintf(node, sizeof node, "%u", test->node);
        snprintf(text + used, sizeof text - used, "%s%s %s %s%s", i > 0 ? ", " : "",
                 test->mode->name, xb_direction_name(test->direction), node,
                 test->sum ? " sum" : "");
    }
    assert_string_equal(text, expected);
    finish(&f);
}

#define EXPECT_CASES(expected, ...) expect_cases(WORDS(__VA_ARGS__), (expected))

NUMA_TEST(near_is_what_goes_without_saying)
{
    EXPECT_CASES("pinned h2d -, pinned d2h -", "--mode", "pinned", "--size", "4K");
    EXPECT_CASES("pinned h2d -, pinned d2h -", "--mode", "pinned", "--size", "4K", "--numa",
                 "near");
    EXPECT_CASES("local d2d -", "--mode", "local", "--size", "4K", "--numa", "near");
}

NUMA_TEST(each_node_is_a_case)
{
    EXPECT_CASES("pinned h2d 1, pinned d2h 1", "--mode", "pinned", "--size", "4K", "--numa", "1");
    EXPECT_CASES("pinned h2d 1, pinned h2d 0", "--mode", "pinned", "--size", "4K", "--direction",
                 "h2d", "--numa", "1,0");
    EXPECT_CASES("pinned h2d 0, pinned d2h 0, pinned h2d 1, pinned d2h 1", "--mode", "pinned",
                 "--size", "4K", "--numa", "all");
    numa_describe("numa:1 pu:2");
    EXPECT_CASES("pinned h2d 0", "--mode", "pinned", "--size", "4K", "--direction", "h2d", "--numa",
                 "all");
}

/* What has no host memory is measured once. */
NUMA_TEST(cases_without_host_memory_have_no_node)
{
    xb_fake.device_count = 2;
    EXPECT_CASES("pinned h2d 0, pinned h2d 1, local d2d -, peer d2d -, peer d2d -", "--mode",
                 "pinned,local,peer", "--direction", "h2d,d2d", "--size", "4K", "--peer-path",
                 "staged", "--numa", "all");
    EXPECT_CASES("loads d2d -, loads h2d 0, loads h2d 1", "--mode", "loads", "--size", "2M",
                 "--numa", "all");
}

NUMA_TEST(devices_together_have_one_node)
{
    xb_fake.device_count = 2;
    EXPECT_CASES("pinned h2d 1, pinned h2d 1, pinned h2d 1 sum, pinned h2d 1, pinned h2d 1",
                 "--mode", "pinned", "--size", "4K", "--direction", "h2d", "--simultaneous",
                 "--numa", "1");
}

NUMA_TEST(mistakes_are_told)
{
    static const struct {
        const char *mode, *nodes, *part;
    } rows[] = {
        {"pinned", "0,2",
         "there is no NUMA node 2 with memory that this process may use; there are: 0, 1"},
        {"pinned", "far", "'far' is no NUMA node; take near, all, or numbers of: 0, 1"},
        {"pinned", "-1", "'-1' is no NUMA node"},
        {"pinned", "1,0,01", "node 1 is named twice"},
        {"pinned", "all,0", "give 'all' alone"},
        {"pinned", "0,near", "give 'near' alone"},
        {"local", "0", "--numa has no effect on the chosen modes"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        struct xb_error error = {0};
        assert_int_equal(
            start(&f, WORDS("--size=4K", "--mode", rows[i].mode, "--numa", rows[i].nodes), &error),
            XB_ERR_USAGE);
        if (strstr(error.message, rows[i].part) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, rows[i].part);
        finish(&f);
    }
}

/* ---- what makes a case ---- */

NUMA_TEST(a_node_tells_cases_apart)
{
    struct fixture f;
    char text[256];
    PLAN(&f, "--mode", "pinned", "--size", "4K", "--direction", "h2d", "--numa", "all");
    struct xb_case near = f.run.results[0].test;
    const struct xb_case zero = near, one = f.run.results[1].test;
    near.has_node = false;
    assert_false(xb_case_alike(&zero, &one));
    assert_false(xb_case_same_path(&zero, &one));
    assert_false(xb_case_alike(&zero, &near));
    assert_true(xb_case_alike(&zero, &zero));
    assert_string_equal(xb_case_text(&one, text, sizeof text),
                        "pinned registered h2d 4 KiB device 0, NUMA node 1");
    assert_string_equal(xb_case_text(&near, text, sizeof text),
                        "pinned registered h2d 4 KiB device 0");
    finish(&f);
}

/* ---- measuring ---- */

/* The row's warning about NUMA nodes; "" for none. There is one at most. */
static const char *doubt(const struct xb_result *result)
{
    const char *found = "";
    for (size_t i = 0; i < result->row.warning_count; i++)
        if (strstr(result->warnings[i], "NUMA node") != NULL) {
            assert_string_equal(found, "");
            found = result->warnings[i];
        }
    return found;
}

/* Memory and queues are each node's own, also where a node comes again. */
NUMA_TEST(each_case_is_measured_on_its_node)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K,128K", "--direction", "both", "--numa",
        "1,0");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.case_count, 24);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        char node[16];
        snprintf(node, sizeof node, "%u", result->test.node);
        assert_string_equal(detail(result, "host_memory_numa_nodes"), node);
        expect_number(result, "host_memory_on_node", 1);
        assert_string_equal(detail(result, "threads_run"), "");
        assert_string_equal(doubt(result), "");
    }
    assert_int_equal(queues_opened, 4);
    /* Without a node a workspace is kept from mode to mode. */
    finish(&f);
    queues_opened = 0;
    numa_describe("numa:1 pu:2");
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K,128K", "--direction", "both");
    assert_int_equal(queues_opened, 1);
    finish(&f);
}

/* What a device is said to be bound to is what is near it, whatever its cases are bound to. */
NUMA_TEST(a_device_keeps_its_own_binding)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--numa", "1");
    assert_int_equal(f.run.devices[0].binding.node, -1);
    assert_false(f.run.devices[0].binding.bound);
    finish(&f);
}

NUMA_TEST(a_node_that_cannot_be_had_is_skipped)
{
    struct fixture f;
    numa.refuses = true;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d", "--numa", "1");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                  "NUMA node 1: the system refused to bind memory to NUMA node 1");
    finish(&f);
}

/* One node is bound to by being there. */
NUMA_TEST(one_node_needs_no_binding)
{
    struct fixture f;
    numa_describe("numa:1 pu:2");
    numa.refuses = true;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d", "--numa", "all");
    expect_all(&f, XB_RESULT_OK);
    assert_string_equal(doubt(&f.run.results[0]), "");
    finish(&f);
}

/* Of 100 pages so many lie on the other node. */
static void run_full(struct fixture *f, int share, const char *mode)
{
    taken_count = 0;
    numa.instead_of = 0;
    numa.share = share;
    numa.looks = 0;
    RUN(f, "--mode", mode, "--size", "4M", "--direction", "h2d", "--numa", "0");
    assert_int_equal(f->run.case_count, 1);
}

/* Of a mode with memory of its own; what it borrows besides lies where it is to lie. */
NUMA_TEST(a_modes_own_memory_counts_too)
{
    static const enum xb_memory of_copy[] = {XB_MEMORY_PINNED, XB_MEMORY_PAGEABLE};
    struct fixture f;
    RUN(&f, "--mode", "pin", "--pin-by", "alloc,register,copy", "--size", "2M", "--direction",
        "h2d", "--numa", "1");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        assert_string_equal(detail(&f.run.results[i], "host_memory_numa_nodes"), "1");
        expect_number(&f.run.results[i], "host_memory_on_node", 1);
    }
    finish(&f);
    for (size_t i = 0; i < 2; i++) {
        taken_count = 0;
        stray.bytes = 2 << 20;
        stray.memory = of_copy[i];
        RUN(&f, "--mode", "pin", "--pin-by", "copy", "--size", "2M", "--direction", "h2d", "--numa",
            "1");
        expect_reason(&f.run.results[0], XB_RESULT_ERROR,
                      "only 0 % of a host buffer lies on NUMA node 1");
        finish(&f);
    }
}

NUMA_TEST(memory_that_lies_elsewhere_is_no_measurement)
{
    struct fixture f;
    run_full(&f, 100, "pinned");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR,
                  "only 0 % of a host buffer lies on NUMA node 0 (it lies on 1)");
    finish(&f);
    run_full(&f, 30, "async");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "does not measure that node");
    finish(&f);
    run_full(&f, 5, "pinned"); /* 15 of 256 */
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_string_equal(doubt(result), "6 % of a host buffer does not lie on NUMA node 0 (0,1)");
    expect_number(result, "host_memory_on_node", 241.0 / 256);
    assert_string_equal(detail(result, "host_memory_numa_nodes"), "0,1");
    finish(&f);
}

/* Memory near the device is as it was: such a row has a warning. */
NUMA_TEST(a_row_near_the_device_says_where_its_memory_lies)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d");
    expect_all(&f, XB_RESULT_OK);
    assert_non_null(strstr(doubt(&f.run.results[0]), "not bound to a NUMA node"));
    finish(&f);
}

NUMA_TEST(what_nobody_knows_is_doubted)
{
    struct fixture f;
    numa.is_silent = true;
    RUN(&f, "--mode", "pinned,managed", "--size", "64K", "--direction", "h2d", "--managed",
        "prefetch", "--numa", "1");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(doubt(&f.run.results[i]),
                            "unknown whether the host memory lies on NUMA node 1");
    }
    finish(&f);
}

/* ---- the record ---- */

/* Writes the run's record and reads it again. */
static void make_record(const struct fixture *f, struct xb_record *record)
{
    struct xb_record made = {0};
    struct xb_error error = {0};
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(xb_record_of_run(&f->run, &made, &error), XB_OK);
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(xb_result_json_write(stream, &made, XB_JSON_INDENTED, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    if (xb_record_parse("made", text, length, record, &error) != XB_OK)
        fail_msg("%s", error.message);
    xb_record_free(&made);
    free(text);
}

NUMA_TEST(a_record_tells_nodes_apart)
{
    struct fixture f;
    struct xb_record nodes = {0}, near = {0};
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d", "--numa", "0,1");
    make_record(&f, &nodes);
    finish(&f);
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d");
    make_record(&f, &near);
    finish(&f);
    assert_int_equal(nodes.case_count, 2);
    for (int node = 0; node < 2; node++) {
        const struct xb_record_case *test = &nodes.cases[node];
        assert_int_equal(xb_record_case_node(test), node);
        assert_string_equal(xb_record_parameter(test, "numa"), node == 0 ? "0" : "1");
        assert_ptr_equal(xb_record_find(&nodes, test), test);
        assert_null(xb_record_find(&near, test));
    }
    assert_int_equal(xb_record_case_node(&near.cases[0]), -1);
    assert_string_equal(xb_record_parameter(&near.cases[0], "numa"), "");
    xb_record_free(&nodes);
    xb_record_free(&near);
}

NUMA_TEST(only_numbers_of_nodes_are_nodes)
{
    const struct {
        const char *value;
        int node;
    } rows[] = {{"0", 0},    {"17", 17}, {"9999", 9999}, {"10000", -1}, {"-1", -1},
                {"1.5", -1}, {"", -1},   {"near", -1},   {NULL, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct xb_record_fact fact = {.name = "numa", .value = rows[i].value};
        const struct xb_record_case test = {.parameters = &fact, .parameter_count = 1};
        assert_int_equal(xb_record_case_node(&test), rows[i].node);
    }
}
