/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* --numa, from the command line's words to results (numa.txt) and their record. */

#include "cases.h"
#include "measure/plan/case.h"
#include "measure/run.h"
#include "numa_fixture.h"
#include "run/formats.h"
#include "run_fixture.h"

#define NUMA_TEST(name) TEST_WITH(name, set_up, NULL)

/* ---- the fake, with memory that stays where it was taken ---- */

#define MOST_BUFFERS 256 /* so many placements of the memory as there is time for */

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

/* ---- texts ---- */

static void begin(void)
{
    (void)set_up(NULL);
}

/* machine DESCRIPTION */
static void run_machine(UNTOLD, char **words)
{
    numa_describe(words[1]);
}

/* devices COUNT */
static void run_devices(UNTOLD, char **words)
{
    xb_fake.device_count = (unsigned)number_of(words[1]);
}

/* kernel refuses|is-silent: nothing can be bound; the kernel does not say where pages lie. */
static void run_kernel(UNTOLD, char **words)
{
    numa.refuses = strcmp(words[1], "refuses") == 0;
    numa.is_silent = strcmp(words[1], "is-silent") == 0;
}

/* full SHARE: of 100 pages of node 0 so many lie on the other node. */
static void run_full(UNTOLD, char **words)
{
    numa.instead_of = 0;
    numa.share = (int)number_of(words[1]);
    numa.looks = 0;
}

/* stray pinned|pageable BYTES: buffers of so many lie on node 0 wherever they were to. */
static void run_stray(UNTOLD, char **words)
{
    stray.memory = strcmp(words[1], "pinned") == 0 ? XB_MEMORY_PINNED : XB_MEMORY_PAGEABLE;
    stray.bytes = (uint64_t)number_of(words[2]);
}

static const char *const *arguments_of(char **words)
{
    return (const char *const *)(words + 1);
}

/* plan ARGUMENT...: which cases there are, or what is wrong. */
static void tell_plan(FILE *told, char **words)
{
    struct fixture f;
    struct xb_error error = {0};
    if (start(&f, arguments_of(words), &error) != XB_OK) {
        assert_int_equal(error.status, XB_ERR_USAGE);
        fprintf(told, "refused: %s\n", error.message);
    }
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        fprintf(told, "%s%s %s ", i > 0 ? ", " : "", test->mode->name,
                xb_direction_name(test->direction));
        fprintf(told, test->has_node ? "%u" : "-", test->node);
        fputs(test->sum ? " sum" : "", told);
    }
    fputs(f.run.case_count > 0 ? "\n" : "", told);
    finish(&f);
}

/* What the row warns of NUMA nodes; "" for nothing. There is one such warning at most. */
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

static void tell_result(FILE *told, const struct xb_result *result)
{
    fprintf(told, "%s %s", result->test.mode->name, xb_direction_name(result->test.direction));
    if (result->test.has_node)
        fprintf(told, " on %u", result->test.node);
    if (result->row.status == XB_RESULT_OK) {
        expect_status(result, XB_RESULT_OK);
        const char *nodes = detail(result, "host_memory_numa_nodes");
        fprintf(told, ": memory %s%s", nodes[0] != '\0' ? "on " : "wherever", nodes);
        if (!isnan(detail_number(result, "host_memory_on_node")))
            fprintf(told, " (%.3f)", detail_number(result, "host_memory_on_node"));
        fprintf(told, "%s%s", detail(result, "threads_run")[0] != '\0' ? ", threads run " : "",
                detail(result, "threads_run"));
    } else {
        fprintf(told, " %s: %s", result->row.status == XB_RESULT_SKIPPED ? "skipped" : "failed",
                result->reason);
    }
    fprintf(told, "%s%s\n", doubt(result)[0] != '\0' ? "; doubted: " : "", doubt(result));
}

/* run ARGUMENT...: what came of the cases. */
static void tell_run(FILE *told, char **words)
{
    struct fixture f;
    queues_opened = 0;
    taken_count = 0;
    execute(&f, arguments_of(words), NULL);
    for (size_t i = 0; i < f.run.case_count; i++)
        tell_result(told, &f.run.results[i]);
    fprintf(told, "%u queues; the device is %s\n", queues_opened,
            f.run.devices[0].binding.bound ? "bound" : "not bound");
    if (!f.run.devices[0].binding.bound)
        assert_int_equal(f.run.devices[0].binding.node, -1);
    finish(&f);
}

static const struct verb verbs[] = {
    {"machine", run_machine}, {"devices", run_devices}, {"kernel", run_kernel}, {"full", run_full},
    {"stray", run_stray},     {"plan", tell_plan},      {"run", tell_run},      {NULL, NULL},
};

NUMA_TEST(each_node_is_a_case)
{
    run_cases("machine/numa", verbs, begin);
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
