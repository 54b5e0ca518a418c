/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "../../src/sinks/text.h"
#include "xferbench/sink.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GIB (1ULL << 30)
#define MIB (1ULL << 20)
/* Whole, but no double: 2^53 + 1. */
#define ODD_BYTES 9007199254740993ULL
#define NASTY "a \"quoted\", comma\r\nsecond line\ttab \xff\xc0\xaf end \xe2\x82"
/* What is left of it in UTF-8: every byte that belongs to no character is one U+FFFD. */
#define NASTY_UTF8                                                                                 \
    "a \"quoted\", comma\r\nsecond line\ttab \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end "            \
    "\xEF\xBF\xBD\xEF\xBF\xBD"

enum { ROW_OK, ROW_FEW, ROW_SKIPPED, ROW_ERROR, ROW_UNVERIFIED, ROW_COUNT };

/* ---- a run made by hand ---- */

static const struct xb_mode pageable = {.name = "pageable"};
static const struct xb_mode pinned = {.name = "pinned"};
static const struct xb_mode async = {.name = "async"};
static const struct xb_mode double_buffer = {.name = "double-buffer"};
static const struct xb_mode zero_copy = {.name = "zero-copy"};
static const struct xb_mode managed = {.name = "managed"};
static const struct xb_mode peer = {.name = "peer"};
static const struct xb_backend backend = {.name = "cuda"};

static const struct xb_option options[] = {{.name = "quiet", .type = XB_OPTION_FLAG},
                                           {.name = "json", .type = XB_OPTION_TEXT},
                                           {.name = "samples", .type = XB_OPTION_COUNT},
                                           {.name = "chunk", .type = XB_OPTION_SIZE},
                                           {.name = "size", .type = XB_OPTION_SIZES},
                                           {.name = "time-limit", .type = XB_OPTION_DURATION},
                                           {.name = "mode", .type = XB_OPTION_CHOICES},
                                           {.name = "csv", .type = XB_OPTION_TEXT},
                                           {.name = "streams", .type = XB_OPTION_CHOICES},
                                           {.name = "direction", .type = XB_OPTION_CHOICES},
                                           {.name = "device", .type = XB_OPTION_TEXT},
                                           {.name = "backend", .type = XB_OPTION_TEXT}};

#define OPTION_COUNT (sizeof options / sizeof options[0])

static uint64_t size_list[] = {4096, ODD_BYTES};
static char *mode_words[] = {(char *)"pinned", (char *)"async"};
static char json_path[] = "out \xfe.json";

struct fixture {
    struct xb_value values[OPTION_COUNT];
    struct xb_config config;
    struct xb_run_device devices[2];
    struct xb_result results[ROW_COUNT];
    struct xb_run run;
};

static void add_samples(struct xb_samples *samples, double first, size_t count)
{
    struct xb_error error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(xb_samples_add(samples, first * (1 + 0.001 * (double)i), &error), XB_OK);
}

/* `count` samples from `seconds` on, and what follows from them. */
static void measure(struct xb_result *result, double seconds, size_t count)
{
    double bandwidth[64];
    struct xb_error error;
    assert_true(count <= 64);
    result->bytes_moved = result->test.bytes;
    add_samples(&result->times, seconds, count);
    add_samples(&result->submit_times, 3.3e-6, count);
    add_samples(&result->wall_times, seconds * 1.1, count);
    for (size_t i = 0; i < count; i++)
        bandwidth[i] = (double)result->test.bytes / result->times.values[i];
    assert_int_equal(xb_statistics_compute(bandwidth, count, &result->bandwidth, &error), XB_OK);
}

static void set_reason(struct xb_result *result, const char *reason)
{
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

static void make_config(struct fixture *f)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        f->values[i] = (struct xb_value){.option = &options[i], .is_set = i < 7};
    f->values[0].flag = true;
    f->values[1].text = json_path;
    f->values[2].count = 20;
    f->values[3].count = ODD_BYTES;
    f->values[4].sizes = (struct xb_sizes){size_list, 2};
    f->values[5].seconds = 0.1;
    f->values[6].words = mode_words;
    f->values[6].word_count = 2;
    f->config = (struct xb_config){.values = f->values, .count = OPTION_COUNT};
}

static void make_devices(struct fixture *f)
{
    f->devices[0] = (struct xb_run_device){
        .info = {.name = "NVIDIA H200",
                 .uuid = "GPU-1",
                 .architecture = "sm_90",
                 .pci_bdf = "0000:0f:00.0",
                 .memory_bytes = 150754820096},
        .link = {.known = true, .speed_gts = 32, .width = 16, .max_speed_gts = 32, .max_width = 16},
        .binding = {.bound = true, .node = 0, .cpu_count = 16}};
    strcpy(f->devices[0].link.port, "0000:0f:00.0");
    f->devices[1] = (struct xb_run_device){
        .info = {.index = 1, .name = "Test\xe2\x84\xa2 \xff", .memory_bytes = ODD_BYTES},
        .binding = {.node = -1, .cpu_count = 4, .note = "the device names no node"}};
}

static void make_results(struct fixture *f)
{
    struct xb_result *r = f->results;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        r[i].test = (struct xb_case){.mode = &pinned,
                                     .variant = "alloc",
                                     .direction = XB_H2D,
                                     .bytes = GIB,
                                     .peer = XB_NO_PEER};
        r[i].overlap = -1;
    }
    measure(&r[ROW_OK], 0.0194, 20);
    r[ROW_OK].times.values[1] = nextafter(0.3, 1); /* needs its 17 digits */
    r[ROW_OK].device_timer = true;
    r[ROW_OK].stop_reason = XB_STOP_CONVERGED;
    r[ROW_OK].verified = XB_VERIFIED_TRUE;
    xb_result_warn(&r[ROW_OK], "clocks moved");
    xb_result_detail_number(&r[ROW_OK], "batch", 0.1);
    xb_result_detail_text(&r[ROW_OK], "nodes", "0,1");

    r[ROW_FEW].test.mode = &async;
    r[ROW_FEW].test.direction = XB_D2H;
    r[ROW_FEW].test.bytes = 64 << 10;
    measure(&r[ROW_FEW], 8.5e-6, 3);
    r[ROW_FEW].stop_reason = XB_STOP_FIXED;
    r[ROW_FEW].verified = XB_VERIFIED_TRUE;
    xb_result_warn(&r[ROW_FEW], "clocks moved");
    xb_result_warn(&r[ROW_FEW], NASTY);

    r[ROW_SKIPPED].test.variant = "write-combined";
    r[ROW_SKIPPED].status = XB_RESULT_SKIPPED;
    set_reason(&r[ROW_SKIPPED], NASTY);

    r[ROW_ERROR].status = XB_RESULT_ERROR;
    r[ROW_ERROR].error = (struct xb_error){.status = XB_ERR_RUNTIME,
                                           .native_code = 719,
                                           .native_name = "cudaErrorLaunchFailure",
                                           .call = "cudaMemcpyAsync",
                                           .file = "src/backends/cuda/queue.c",
                                           .line = 42,
                                           .message = "the copy failed"};
    set_reason(&r[ROW_ERROR], "the copy failed");
    add_samples(&r[ROW_ERROR].times, 0.02, 2); /* before it failed; not described */

    measure(&r[ROW_UNVERIFIED], 0.02, 8);
    r[ROW_UNVERIFIED].test.device = 1;
    r[ROW_UNVERIFIED].status = XB_RESULT_ERROR;
    r[ROW_UNVERIFIED].device_timer = true;
    r[ROW_UNVERIFIED].stop_reason = XB_STOP_TIME_LIMIT;
    r[ROW_UNVERIFIED].verified = XB_VERIFIED_FALSE;
    set_reason(&r[ROW_UNVERIFIED], "17 bytes are wrong, the first at 4096");
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    make_config(f);
    make_devices(f);
    make_results(f);
    f->run = (struct xb_run){.backend = &backend,
                             .probe = {.runtime_version = "13.0", .driver_version = "580.159.04"},
                             .config = &f->config,
                             .devices = f->devices,
                             .device_count = 2,
                             .results = f->results,
                             .case_count = ROW_COUNT,
                             .done_count = ROW_COUNT};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ROW_COUNT; i++)
        xb_result_free(&f->results[i]);
    free(f);
    return 0;
}

typedef enum xb_status (*sink)(FILE *, const struct xb_run *, struct xb_error *);

static char *written(sink write, const struct xb_run *run)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, run, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

static void assert_utf8(const char *text)
{
    iconv_t converter = iconv_open("UTF-32", "UTF-8");
    size_t in_left = strlen(text);
    size_t out_left = 4 * (in_left + 1);
    char *in = (char *)text;
    char *buffer = malloc(out_left);
    char *out = buffer;
    assert_non_null(buffer);
    assert_int_equal(iconv(converter, &in, &in_left, &out, &out_left), 0);
    free(buffer);
    iconv_close(converter);
}

/* ---- text ---- */

static void utf8_is_told_from_other_bytes(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"", 0},
                 {"a", 1},
                 {"\x7f", 1},
                 {"\xc3\xa4", 2},
                 {"\x80", 0},
                 {"\xc1\xbf", 0},
                 {"\xc3", 0},
                 {"\xe2\x82\xac", 3},
                 {"\xe0\x9f\xbf", 0},
                 {"\xed\xa0\x80", 0},
                 {"\xee\x80\x80", 3},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xf0\x9f\x98z", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(xb_utf8_length(cases[i].text), cases[i].length);
}

static void numbers_read_back_exactly(void **state)
{
    const double values[] = {0,      0.1,    0.3, nextafter(0.3, 1),     1.0 / 3, 55.3e9,
                             1e-300, 5e-324, -1,  1.7976931348623157e308};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_true(strtod(xb_number_text(values[i], text, sizeof text), NULL) == values[i]);
    assert_string_equal(xb_number_text(0.1, text, sizeof text), "0.1");
    assert_string_equal(xb_number_text(55300000000.0, text, sizeof text), "55300000000");
}

/* ---- JSON ---- */

static cJSON *parsed(const struct xb_run *run)
{
    char *text = written(xb_json_write, run);
    assert_utf8(text);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
}

/* The member at a path such as "results.0.reason". */
static const cJSON *at(const cJSON *item, const char *path)
{
    char copy[128];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
        item = isdigit((unsigned char)key[0]) ? cJSON_GetArrayItem(item, atoi(key))
                                              : cJSON_GetObjectItemCaseSensitive(item, key);
        if (item == NULL)
            fail_msg("no %s in %s", key, path);
    }
    return item;
}

static void assert_text_at(const cJSON *root, const char *path, const char *expected)
{
    const char *text = cJSON_GetStringValue(at(root, path));
    if (text == NULL)
        fail_msg("%s is no text", path);
    assert_string_equal(text, expected);
}

static void assert_number_at(const cJSON *root, const char *path, double expected)
{
    const cJSON *item = at(root, path);
    if (!cJSON_IsNumber(item) || item->valuedouble != expected)
        fail_msg("%s is %.17g, not %.17g", path, cJSON_GetNumberValue(item), expected);
}

static void assert_null_at(const cJSON *root, const char *path)
{
    if (!cJSON_IsNull(at(root, path)))
        fail_msg("%s is not null", path);
}

static void json_says_what_ran_where(void **state)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    assert_text_at(root, "schema", "xferbench.result");
    assert_number_at(root, "schema_version", 1);
    assert_text_at(root, "tool.name", "xferbench");
    assert_true(strlen(cJSON_GetStringValue(at(root, "timestamp"))) == 20);
    assert_true(cJSON_IsFalse(at(root, "interrupted")));
    assert_true(cJSON_GetNumberValue(at(root, "host.logical_cpus")) >= 1);
    assert_true(cJSON_GetNumberValue(at(root, "host.memory_bytes")) >= 1 << 20);
    assert_true(strncmp(cJSON_GetStringValue(at(root, "host.kernel")), "Linux ", 6) == 0);
    assert_text_at(root, "backend.runtime_version", "13.0");
    assert_text_at(root, "devices.0.pci_bdf", "0000:0f:00.0");
    assert_text_at(root, "devices.0.driver", "580.159.04");
    assert_number_at(root, "devices.0.link.max_speed_gts", 32);
    assert_text_at(root, "devices.0.link.port", "0000:0f:00.0");
    assert_text_at(root, "devices.0.link.read", "right after transfers");
    assert_true(cJSON_IsTrue(at(root, "devices.0.numa.bound")));
    assert_null_at(root, "devices.0.numa.note");
    assert_text_at(root, "devices.1.name", "Test\xe2\x84\xa2 \xEF\xBF\xBD");
    assert_null_at(root, "devices.1.uuid");
    assert_null_at(root, "devices.1.link");
    assert_null_at(root, "devices.1.numa.node");
    assert_null_at(root, "backend.runtime_library");
    assert_null_at(root, "backend.runtime_override");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices.0.facts")), 0);
    cJSON_Delete(root);
    strcpy(f->run.probe.runtime_library, "/lib/libamdhip64.so.6");
    strcpy(f->run.probe.runtime_override, "SOME_VARIABLE");
    xb_device_fact(&f->devices[0].info, "xnack", "%s", "off");
    root = parsed(&f->run);
    assert_text_at(root, "backend.runtime_library", "/lib/libamdhip64.so.6");
    assert_text_at(root, "backend.runtime_override", "SOME_VARIABLE");
    assert_text_at(root, "devices.0.facts.xnack", "off");
    cJSON_Delete(root);
    f->devices[0].link.port[0] = '\0';
    root = parsed(&f->run);
    assert_null_at(root, "devices.0.link.port");
    cJSON_Delete(root);
}

static void json_types_every_option(void **state)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    assert_true(cJSON_IsTrue(at(root, "config.quiet")));
    assert_text_at(root, "config.json", "out \xEF\xBF\xBD.json");
    assert_number_at(root, "config.samples", 20);
    assert_number_at(root, "config.size.0", 4096);
    assert_number_at(root, "config.time-limit", 0.1);
    assert_text_at(root, "config.mode.1", "async");
    assert_null_at(root, "config.csv");
    assert_null_at(root, "config.streams");
    assert_int_equal(cJSON_GetArraySize(at(root, "config")), OPTION_COUNT);
    cJSON_Delete(root);
    char *text = written(xb_json_write, &f->run);
    assert_non_null(strstr(text, "\"chunk\":\t9007199254740993"));
    assert_non_null(strstr(text, "[4096, 9007199254740993]"));
    free(text);
}

static void json_rows_measured(void **state)
{
    struct fixture *f = *state;
    const struct xb_result *ok = &f->results[ROW_OK];
    cJSON *root = parsed(&f->run);
    assert_int_equal(cJSON_GetArraySize(at(root, "results")), ROW_COUNT);
    const cJSON *row = at(root, "results.0");
    assert_text_at(row, "status", "ok");
    assert_text_at(row, "direction", "h2d");
    assert_number_at(row, "bytes", (double)GIB);
    assert_number_at(row, "bytes_moved", (double)GIB);
    assert_number_at(row, "device", 0);
    assert_null_at(row, "peer");
    assert_true(cJSON_IsFalse(at(row, "latency")));
    assert_true(cJSON_IsFalse(at(row, "simultaneous")));
    assert_null_at(row, "latency_s");
    assert_null_at(row, "overlap");
    assert_null_at(row, "share_of_alone");
    assert_int_equal(cJSON_GetArraySize(at(row, "parts")), 0);
    assert_null_at(row, "reason");
    assert_null_at(row, "error");
    assert_text_at(row, "timer", "device-event");
    assert_int_equal(cJSON_GetArraySize(at(row, "samples_s")), 20);
    assert_number_at(row, "samples_s.1", ok->times.values[1]);
    assert_number_at(row, "samples_s.19", ok->times.values[19]);
    assert_number_at(row, "bandwidth_bytes_per_second.median", ok->bandwidth.median);
    assert_number_at(row, "bandwidth_bytes_per_second.ci95_low", ok->bandwidth.ci95_low);
    assert_number_at(row, "bandwidth_bytes_per_second.mad", ok->bandwidth.mad);
    assert_number_at(row, "bandwidth_bytes_per_second.n", 20);
    assert_number_at(row, "submit_s.n", 20);
    assert_number_at(row, "details.batch", 0.1);
    assert_text_at(row, "details.nodes", "0,1");
    assert_text_at(row, "stop_reason", "converged");
    assert_true(cJSON_IsTrue(at(row, "verified")));
    row = at(root, "results.1");
    assert_text_at(row, "timer", "host-clock");
    assert_number_at(row, "submit_s.median", f->results[ROW_FEW].submit_times.values[1]);
    assert_number_at(row, "wall_s.median", f->results[ROW_FEW].wall_times.values[1]);
    assert_null_at(row, "bandwidth_bytes_per_second.ci95_low");
    assert_null_at(row, "bandwidth_bytes_per_second.ci95_high");
    assert_text_at(row, "warnings.1", NASTY_UTF8);
    cJSON_Delete(root);
}

static void json_rows_not_measured(void **state)
{
    static const char *const nulls[] = {"timer",       "bandwidth_bytes_per_second",
                                        "submit_s",    "wall_s",
                                        "verified",    "stop_reason",
                                        "bytes_moved", "latency_s",
                                        "overlap",     "share_of_alone"};
    struct fixture *f = *state;
    f->results[ROW_SKIPPED].overlap = 0; /* as a row that nobody touched has it */
    cJSON *root = parsed(&f->run);
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        assert_null_at(at(root, "results.2"), nulls[i]);
        assert_null_at(at(root, "results.3"), nulls[i]);
    }
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.samples_s")), 0);
    assert_true(cJSON_IsObject(at(root, "results.2.parts")));
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.parts")), 0);
    assert_text_at(root, "results.2.status", "skipped");
    assert_text_at(root, "results.2.reason", NASTY_UTF8);
    assert_null_at(root, "results.2.error");
    assert_text_at(root, "results.3.status", "error");
    assert_text_at(root, "results.3.error.status", "runtime");
    assert_number_at(root, "results.3.error.native_code", 719);
    assert_text_at(root, "results.3.error.call", "cudaMemcpyAsync");
    assert_text_at(root, "results.3.error.at", "src/backends/cuda/queue.c:42");
    cJSON_Delete(root);
}

static void json_gives_wrong_data_no_bandwidth(void **state)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    const cJSON *row = at(root, "results.4");
    assert_text_at(row, "status", "error");
    assert_true(cJSON_IsFalse(at(row, "verified")));
    assert_null_at(row, "bandwidth_bytes_per_second");
    assert_int_equal(cJSON_GetArraySize(at(row, "samples_s")), 8);
    assert_text_at(row, "timer", "device-event");
    assert_text_at(row, "stop_reason", "time-limit");
    cJSON_Delete(root);
}

static void json_marks_an_interrupted_run(void **state)
{
    struct fixture *f = *state;
    f->run.interrupted = true;
    cJSON *root = parsed(&f->run);
    assert_true(cJSON_IsTrue(at(root, "interrupted")));
    cJSON_Delete(root);
}

static void json_records_the_steering_variables_only(void **state)
{
    static char *variables[] = {(char *)"PATH=/bin",
                                (char *)"CUDA_VISIBLE_DEVICES=1,0",
                                (char *)"CUDA_VISIBLE_DEVICES=later",
                                (char *)"CUDA_Visible_Devices=another",
                                (char *)"HSA_X=a\xff=b",
                                (char *)"HIP_\xff=",
                                (char *)"ZE_VISIBLE_DEVICES=0",
                                (char *)"VISIBLE_DEVICES_X=0",
                                (char *)"MY_CUDA_X=1",
                                (char *)"NVIDIA_API_KEY=s3cret",
                                (char *)"CUDA_NOT_A_VARIABLE",
                                NULL};
    struct fixture *f = *state;
    char **kept = environ;
    environ = variables;
    cJSON *root = parsed(&f->run);
    environ = kept;
    assert_int_equal(cJSON_GetArraySize(at(root, "environment")), 5);
    assert_text_at(root, "environment.CUDA_VISIBLE_DEVICES", "1,0");
    assert_text_at(root, "environment.HSA_X", "a\xEF\xBF\xBD=b");
    assert_text_at(root, "environment.HIP_\xEF\xBF\xBD", "");
    assert_text_at(root, "environment.ZE_VISIBLE_DEVICES", "0");
    cJSON_Delete(root);
}

/* Allocations left before they fail, and those that are not given back yet. */
static size_t allocations_left;
static size_t allocations_open;

static void *failing_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    allocations_open++;
    return malloc(size);
}

static void counting_free(void *memory)
{
    allocations_open -= memory != NULL;
    free(memory);
}

/* How many allocations writing a run takes, after every one of them has failed once. */
static size_t fail_every_allocation(const struct xb_run *run)
{
    cJSON_Hooks hooks = {failing_malloc, counting_free};
    cJSON_InitHooks(&hooks);
    enum xb_status status = XB_ERR_MEMORY;
    size_t tried = 0;
    for (; status != XB_OK; tried++) {
        struct xb_error error = {0};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        allocations_left = tried;
        status = xb_json_write(stream, run, &error);
        fclose(stream);
        free(text);
        assert_int_equal(allocations_open, 0);
        assert_int_equal(status, status == XB_OK ? XB_OK : XB_ERR_MEMORY);
        assert_int_equal(error.status, status);
        assert_true(status == XB_OK || size == 0);
    }
    cJSON_InitHooks(NULL);
    return tried;
}

static void json_survives_every_failed_allocation(void **state)
{
    struct fixture *f = *state;
    assert_true(fail_every_allocation(&f->run) > 300); /* else the hooks were not used */
}

/* ---- CSV ---- */

#define CSV_COLUMNS 36

/* Reads RFC 4180 strictly: every line ends with CRLF and has as many cells as the header. */
static char *next_cell(char **text, bool *last)
{
    char *in = *text;
    char *out = in;
    char *cell = in;
    if (*in == '"') {
        for (in++; in[0] != '"' || in[1] == '"'; in++) {
            assert_int_not_equal(*in, '\0');
            in += *in == '"';
            *out++ = *in;
        }
        in++;
    } else {
        while (strchr(",\"\r\n", *in) == NULL)
            *out++ = *in++;
    }
    *last = *in != ',';
    if (*last) {
        assert_int_equal(in[0], '\r');
        assert_int_equal(in[1], '\n');
        in++;
    }
    *text = in + 1;
    *out = '\0';
    return cell;
}

struct csv {
    char *text;
    char *cells[ROW_COUNT + 1][CSV_COLUMNS];
};

static struct csv read_csv(const struct xb_run *run)
{
    struct csv csv = {.text = written(xb_csv_write, run)};
    char *text = csv.text;
    assert_utf8(text);
    for (size_t row = 0; row <= ROW_COUNT; row++) {
        for (size_t column = 0; column < CSV_COLUMNS; column++) {
            bool last;
            csv.cells[row][column] = next_cell(&text, &last);
            assert_int_equal(last, column == CSV_COLUMNS - 1);
        }
    }
    assert_int_equal(*text, '\0');
    return csv;
}

static const char *csv_cell(const struct csv *csv, size_t row, const char *column)
{
    for (size_t i = 0; i < CSV_COLUMNS; i++) {
        if (strcmp(csv->cells[0][i], column) == 0)
            return csv->cells[row + 1][i];
    }
    fail_msg("no column %s", column);
    return NULL;
}

static void csv_has_a_line_a_result(void **state)
{
    struct fixture *f = *state;
    struct csv csv = read_csv(&f->run);
    assert_string_equal(csv_cell(&csv, ROW_OK, "mode"), "pinned");
    assert_string_equal(csv_cell(&csv, ROW_OK, "bytes"), "1073741824");
    assert_string_equal(csv_cell(&csv, ROW_OK, "peer"), "");
    assert_string_equal(csv_cell(&csv, ROW_OK, "timer"), "device-event");
    assert_string_equal(csv_cell(&csv, ROW_OK, "n"), "20");
    assert_string_equal(csv_cell(&csv, ROW_OK, "verified"), "true");
    assert_string_equal(csv_cell(&csv, ROW_OK, "stop_reason"), "converged");
    assert_true(strtod(csv_cell(&csv, ROW_OK, "median_bytes_per_second"), NULL) ==
                f->results[ROW_OK].bandwidth.median);
    assert_true(strtod(csv_cell(&csv, ROW_OK, "ci95_high"), NULL) ==
                f->results[ROW_OK].bandwidth.ci95_high);
    assert_true(strtod(csv_cell(&csv, ROW_FEW, "submit_s"), NULL) ==
                f->results[ROW_FEW].submit_times.values[1]);
    assert_string_equal(csv_cell(&csv, ROW_FEW, "ci95_low"), "");
    assert_string_equal(csv_cell(&csv, ROW_FEW, "warnings"), "clocks moved; " NASTY_UTF8);
    assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "reason"), NASTY_UTF8);
    assert_string_equal(csv_cell(&csv, ROW_ERROR, "status"), "error");
    assert_string_equal(csv_cell(&csv, ROW_OK, "backend"), "cuda");
    assert_string_equal(csv_cell(&csv, ROW_OK, "device_name"), "NVIDIA H200");
    free(csv.text);
}

static void csv_leaves_empty_what_was_not_measured(void **state)
{
    static const char *const empty[] = {"timer",       "median_bytes_per_second",
                                        "ci95_low",    "ci95_high",
                                        "min",         "max",
                                        "p5",          "p95",
                                        "mad",         "n",
                                        "submit_s",    "wall_s",
                                        "stop_reason", "verified",
                                        "warnings",    "bytes_moved",
                                        "overlap",     "share_of_alone"};
    struct fixture *f = *state;
    struct csv csv = read_csv(&f->run);
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        assert_string_equal(csv_cell(&csv, ROW_SKIPPED, empty[i]), "");
        assert_string_equal(csv_cell(&csv, ROW_ERROR, empty[i]), "");
    }
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "verified"), "false");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "median_bytes_per_second"), "");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "mad"), "");
    assert_string_equal(csv_cell(&csv, ROW_UNVERIFIED, "n"), "8");
    free(csv.text);
}

static void csv_quotes_what_needs_it(void **state)
{
    static const char *const reasons[] = {"two\nlines", "two\rparts", "a \"word\"", "a, b",
                                          "plain"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        set_reason(&f->results[ROW_SKIPPED], reasons[i]);
        struct csv csv = read_csv(&f->run);
        assert_string_equal(csv_cell(&csv, ROW_SKIPPED, "reason"), reasons[i]);
        free(csv.text);
    }
}

/* ---- the table ---- */

static void assert_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *found = text; (found = strstr(found, line)) != NULL; found++) {
        if ((found == text || found[-1] == '\n') && found[length] == '\n')
            return;
    }
    fail_msg("no line '%s' in:\n%s", line, text);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

/* The line with runs of blanks made one, so that a test does not depend on the widths. */
static void assert_row(const char *text, const char *row)
{
    char *squeezed = malloc(strlen(text) + 1);
    char *out = squeezed;
    assert_non_null(squeezed);
    for (const char *in = text; *in != '\0'; in++) {
        if (*in != ' ' || (in[1] != ' ' && in[1] != '\n'))
            *out++ = *in;
    }
    *out = '\0';
    assert_line(squeezed, row);
    free(squeezed);
}

static void table_is_plain_and_narrow(void **state)
{
    struct fixture *f = *state;
    f->results[ROW_FEW].test.bytes = 1048577; /* too wide for two blanks between columns */
    char *reason = f->results[ROW_ERROR].reason;
    for (size_t i = 0; i < sizeof f->results[0].reason - 1; i++)
        reason[i] = "words, \n"[i % 8];
    char *text = written(xb_table_write, &f->run);
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
        width = *c == '\n' ? 0 : width + 1;
        assert_true(width <= 100);
    }
    free(text);
}

static void table_names_devices_and_links(void **state)
{
    struct fixture *f = *state;
    f->devices[1].link = (struct xb_pcie_link){true, 16, 8, 32, 16, "0000:0e:00.0"};
    strcpy(f->devices[1].info.pci_bdf, "0000:10:00.0");
    char *text = written(xb_table_write, &f->run);
    assert_has(text, ", backend cuda, runtime 13.0, driver 580.159.04\n");
    assert_line(text, "Device 0: NVIDIA H200, 0000:0f:00.0, 140.4 GiB, sm_90");
    assert_line(text,
                "  link     PCIe Gen5 x16, 63.0 GB/s raw each way (device and slot can do Gen5 "
                "x16)");
    assert_line(text, "  NUMA     bound to node 0, 16 CPUs");
    assert_has(text, "Device 1: Test? ?, 0000:10:00.0");
    assert_has(text,
               "\n  link     PCIe Gen4 x8 at 0000:0e:00.0, 15.8 GB/s raw each way: BELOW the Gen5 "
               "x16 that the device\n           can do\n");
    assert_line(text, "  NUMA     NOT bound: the device names no node");
    free(text);
    f->devices[1].link = (struct xb_pcie_link){true, 8, 8, 8, 8, "0000:0e:00.0"};
    text = written(xb_table_write, &f->run);
    assert_line(text, "  link     PCIe Gen3 x8 at 0000:0e:00.0, 7.9 GB/s raw each way (device and "
                      "slot can do Gen3 x8)");
    free(text);
}

static void table_tells_of_a_library_and_facts(void **state)
{
    struct fixture *f = *state;
    char *text = written(xb_table_write, &f->run);
    assert_null(strstr(text, "  library  "));
    assert_null(strstr(text, "  facts    "));
    assert_null(strstr(text, "  memory   "));
    free(text);
    strcpy(f->run.probe.runtime_library, "/opt/rocm/lib/libamdhip64.so.6");
    xb_device_fact(&f->devices[0].info, "xnack", "%s", "off");
    xb_device_fact(&f->devices[0].info, "large_bar", "%s", "yes");
    f->devices[1].info.shares_host_memory = true;
    text = written(xb_table_write, &f->run);
    assert_line(text, "  library  /opt/rocm/lib/libamdhip64.so.6");
    assert_line(text, "  facts    xnack off; large_bar yes");
    assert_line(text,
                "  memory   the host's own: no copy crosses a link, whatever the table calls it");
    free(text);
    strcpy(f->run.probe.runtime_override, "SOME_VARIABLE");
    text = written(xb_table_write, &f->run);
    assert_line(text, "  library  /opt/rocm/lib/libamdhip64.so.6, NAMED BY SOME_VARIABLE");
    free(text);
}

/* Where host and device share their memory nothing crosses the link, however well it is known. */
static void table_has_no_share_of_a_link_that_nothing_crossed(void **state)
{
    struct fixture *f = *state;
    char *text = written(xb_table_write, &f->run);
    assert_has(text, "Share of the link's raw rate");
    free(text);
    f->devices[0].info.shares_host_memory = true;
    text = written(xb_table_write, &f->run);
    assert_null(strstr(text, "Share of the link's raw rate"));
    free(text);
}

static void table_without_a_link(void **state)
{
    struct fixture *f = *state;
    f->devices[0].link.known = false;
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "  link     not known");
    assert_line(text, "  link     none: not a PCI device");
    free(text);
}

static void table_with_a_link_of_unknown_rate(void **state)
{
    struct fixture *f = *state;
    f->devices[0].link = (struct xb_pcie_link){true, 64, 16, 64, 16, ""};
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "  link     PCIe Gen6 x16 (device and slot can do Gen6 x16)");
    free(text);
    f->devices[0].link = (struct xb_pcie_link){true, 12.5, 16, 12.5, 16, ""};
    text = written(xb_table_write, &f->run);
    assert_line(text, "  link     PCIe 12.5 GT/s x16 (device and slot can do 12.5 GT/s x16)");
    free(text);
}

/* 54.83 of 63.02 GB/s; the small, skipped and unverified rows say nothing of a link. */
static void table_reads_the_link(void **state)
{
    struct fixture *f = *state;
    const char *reading = "  device 0  h2d 87 % (pinned alloc)";
    f->devices[1].link = f->devices[0].link;
    char *text = written(xb_table_write, &f->run);
    assert_line(text, reading);
    assert_has(text, "Share of the link's raw rate");
    assert_null(strstr(text, "  device 1  "));
    free(text);
    f->results[ROW_FEW].test.bytes = GIB; /* its 3 samples are of a larger copy now */
    f->results[ROW_FEW].bytes_moved = GIB;
    f->results[ROW_FEW].device_timer = true;
    f->results[ROW_FEW].bandwidth.median = 0.5 * 63.0154e9;
    text = written(xb_table_write, &f->run);
    assert_line(text, "  device 0  h2d 87 % (pinned alloc), d2h 50 % (async alloc)");
    free(text);
    f->devices[0].link.known = false;
    text = written(xb_table_write, &f->run);
    assert_null(strstr(text, "Share of"));
    free(text);
}

static void table_shows_each_row(void **state)
{
    struct fixture *f = *state;
    char *text = written(xb_table_write, &f->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text,
               "pinned alloc h2d 1 GiB 0 54.83 54.58-55.07 54.32 55.35 3.33 us 21.5 ms 20 yes");
    assert_row(text, "async alloc d2h 64 KiB 0 7.702 - 7.695 7.710 3.30 us 9.36 us 3 yes");
    assert_row(text, "pinned write-combined h2d 1 GiB 0 skipped - - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 0 ERROR - - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 1 ERROR - - - 3.31 us 22.1 ms 8 NO");
    free(text);
    f->run.device_count = 1;
    text = written(xb_table_write, &f->run);
    assert_row(text, "MODE VARIANT DIR SIZE GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text, "pinned write-combined h2d 1 GiB skipped - - - - - - -");
    free(text);
}

static void table_tells_reasons_and_warnings_once(void **state)
{
    struct fixture *f = *state;
    set_reason(&f->results[ROW_UNVERIFIED], f->results[ROW_ERROR].reason);
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "Notes");
    assert_has(text, "  skipped  pinned write-combined h2d 1 GiB device 0: a \"quoted\", comma ");
    assert_line(text, "  ERROR    pinned alloc h2d 1 GiB device 0 and 1 more row: the copy failed");
    assert_line(text, "  warning  pinned alloc h2d 1 GiB device 0 and 1 more row: clocks moved");
    assert_has(text, "  warning  async alloc d2h 64 KiB device 0: a \"quoted\", comma ");
    assert_null(strstr(strstr(text, "clocks moved") + 1, "clocks moved"));
    assert_null(strstr(text, "STOPPED"));
    free(text);
}

static void table_says_that_it_was_interrupted(void **state)
{
    struct fixture *f = *state;
    f->run.interrupted = true;
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "  STOPPED  interrupted by a signal: 2 of 5 cases were measured");
    free(text);
}

static void table_without_notes_ends_with_its_rows(void **state)
{
    struct fixture *f = *state;
    f->run.case_count = 1;
    f->results[0].warning_count = 0;
    f->devices[0].link.known = false; /* nothing to read from it either */
    char *text = written(xb_table_write, &f->run);
    assert_has(text, "h2d  1 GiB    0  54.83"); /* two blanks between columns: there is room */
    assert_null(strstr(text, "Notes"));
    assert_string_equal(text + strlen(text) - 4, "yes\n");
    free(text);
}

static void table_shows_four_digits_of_any_rate(void **state)
{
    static const struct {
        double bandwidth;
        const char *cell;
    } rates[] = {{394.06e9, " 394.1 "},
                 {1234.5e9, " 1234 "},
                 {0.60666e9, " 0.6067 "},
                 {12345, " 0.00001234 "}};
    struct fixture *f = *state;
    f->run.case_count = 1;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        f->results[0].bandwidth.median = rates[i].bandwidth;
        char *text = written(xb_table_write, &f->run);
        assert_has(text, rates[i].cell);
        free(text);
    }
}

/* ---- a node made by hand: rows whose figures are plain numbers ---- */

#define NODE_ROWS 80
#define NODE_DEVICES 4

struct node {
    struct fixture *base; /* for the configuration */
    struct xb_run_device devices[NODE_DEVICES];
    struct xb_result results[NODE_ROWS];
    struct xb_run run;
};

/* Seven samples of the same time, so that every statistic is that number. */
static void add_same(struct xb_samples *samples, double value)
{
    struct xb_error error;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(xb_samples_add(samples, value, &error), XB_OK);
}

static void set_bandwidth(struct xb_result *result, double gigabytes)
{
    double bandwidth[7];
    struct xb_error error;
    result->times.count = result->submit_times.count = result->wall_times.count = 0;
    add_same(&result->times, (double)result->bytes_moved / (gigabytes * 1e9));
    add_same(&result->submit_times, 5e-6);
    add_same(&result->wall_times, 5e-3);
    for (size_t i = 0; i < 7; i++)
        bandwidth[i] = gigabytes * 1e9;
    assert_int_equal(xb_statistics_compute(bandwidth, 7, &result->bandwidth, &error), XB_OK);
}

/* A measured row of 256 MiB on device 0. */
static struct xb_result *add(struct node *n, const struct xb_mode *mode, const char *variant,
                             enum xb_direction direction, double gigabytes)
{
    assert_true(n->run.case_count < NODE_ROWS);
    struct xb_result *result = &n->results[n->run.case_count++];
    result->test = (struct xb_case){.mode = mode,
                                    .variant = variant,
                                    .direction = direction,
                                    .bytes = 256 * MIB,
                                    .peer = XB_NO_PEER};
    result->bytes_moved = direction == XB_BIDIR ? 512 * MIB : 256 * MIB;
    result->overlap = -1;
    result->device_timer = true;
    result->verified = XB_VERIFIED_TRUE;
    result->stop_reason = XB_STOP_CONVERGED;
    set_bandwidth(result, gigabytes);
    return result;
}

static struct xb_result *add_pair(struct node *n, const char *variant, enum xb_direction direction,
                                  unsigned source, int destination, double gigabytes)
{
    struct xb_result *result = add(n, &peer, variant, direction, gigabytes);
    result->test.device = source;
    result->test.peer = destination;
    return result;
}

static void set_link(struct xb_result *result, const char *kind, double links, double rate)
{
    xb_result_detail_text(result, "link", "%s", kind);
    if (links > 0)
        xb_result_detail_number(result, "links", links);
    if (rate > 0)
        xb_result_detail_number(result, "link_rate_bytes_per_second", rate);
}

/* A group on devices 0 to 3; a share of 0 is one that is not known. */
static void add_together(struct node *n, enum xb_direction direction, double sum,
                         const double rates[NODE_DEVICES], const double shares[NODE_DEVICES])
{
    struct xb_result *all = add(n, &pinned, "alloc", direction, sum);
    all->test.simultaneous = all->test.sum = true;
    all->bytes_moved = NODE_DEVICES * all->test.bytes;
    all->submit_times.count = all->wall_times.count = 0;
    all->overlap = 0.98;
    for (unsigned i = 0; i < NODE_DEVICES; i++) {
        struct xb_result *one = add(n, &pinned, "alloc", direction, rates[i]);
        one->test.simultaneous = true;
        one->test.device = i;
        one->share_of_alone = shares[i];
    }
}

static void add_part(struct xb_result *result, const char *name, uint64_t bytes, double seconds)
{
    struct xb_part *part = &result->parts[result->part_count++];
    part->name = name;
    part->bytes = bytes;
    if (seconds > 0)
        add_same(&part->times, seconds);
}

static struct xb_latency latency_of(double p50)
{
    return (struct xb_latency){
        .n = 1000, .min = 0.5 * p50, .p50 = p50, .p95 = 2 * p50, .p99 = 3 * p50, .max = 4 * p50};
}

static struct xb_result *add_latency(struct node *n, const struct xb_mode *mode,
                                     enum xb_direction direction)
{
    struct xb_result *result = add(n, mode, "alloc", direction, 0.0004);
    result->test.bytes = result->bytes_moved = 4;
    result->test.latency = true;
    result->host_latency = latency_of(6.6e-6);
    result->device_latency = latency_of(1.5e-6);
    return result;
}

/* Takes a row out of what may be shown. */
static void spoil(struct xb_result *result, enum xb_result_status status, const char *reason)
{
    result->status = status;
    set_reason(result, reason);
    result->verified = status == XB_RESULT_ERROR ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN;
    if (status == XB_RESULT_SKIPPED)
        result->bandwidth.n = 0;
}

static int node_setup(void **state)
{
    struct node *n = calloc(1, sizeof *n);
    void *base = NULL;
    assert_non_null(n);
    assert_int_equal(setup(&base), 0);
    n->base = base;
    for (unsigned i = 0; i < NODE_DEVICES; i++)
        n->devices[i] =
            (struct xb_run_device){.info = {.index = i, .name = "H200", .memory_bytes = GIB},
                                   .binding = {.note = "one node", .note_is_normal = true}};
    n->run = n->base->run;
    n->run.devices = n->devices;
    n->run.device_count = 1;
    n->run.results = n->results;
    n->run.case_count = 0;
    *state = n;
    return 0;
}

static int node_teardown(void **state)
{
    struct node *n = *state;
    void *base = n->base;
    for (size_t i = 0; i < NODE_ROWS; i++)
        xb_result_free(&n->results[i]);
    free(n);
    return teardown(&base);
}

/* What stands behind the header with the devices. */
static char *body(const struct xb_run *run)
{
    char *text = written(xb_table_write, run);
    const char *device = strstr(text, "Device ");
    const char *blank = device != NULL ? strstr(device, "\n\n") : NULL;
    if (blank == NULL)
        fail_msg("no header in:\n%s", text);
    char *rest = strdup(blank != NULL ? blank + 2 : "");
    assert_non_null(rest);
    free(text);
    return rest;
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' in:\n%s", part, text);
}

static void assert_narrow(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width = *c == '\n' ? 0 : width + 1;
        if (width > 100)
            fail_msg("a line is too long in:\n%s", text);
    }
}

/* ---- JSON of what is more than one copy ---- */

static void json_of_both_ways_has_its_parts(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    both->overlap = 0.97;
    add_part(both, "h2d", 256 * MIB, 0.006);
    add_part(both, "d2h", 256 * MIB, 0.005);
    add_part(both, "never", 256 * MIB, 0);
    both->parts[0].times.values[6] = 0.5; /* the median is no mean */
    cJSON *root = parsed(&n->run);
    const cJSON *row = at(root, "results.0");
    assert_text_at(row, "direction", "bidir");
    assert_number_at(row, "bytes", 256 * MIB);
    assert_number_at(row, "bytes_moved", 512 * MIB);
    assert_number_at(row, "bandwidth_bytes_per_second.median", 91e9);
    assert_number_at(row, "overlap", 0.97);
    assert_int_equal(cJSON_GetArraySize(at(row, "parts")), 2);
    assert_number_at(row, "parts.h2d.bytes", 256 * MIB);
    assert_number_at(row, "parts.h2d.median_s", 0.006);
    assert_int_equal(cJSON_GetArraySize(at(row, "parts.h2d.samples_s")), 7);
    assert_number_at(row, "parts.h2d.samples_s.6", 0.5);
    assert_number_at(row, "parts.d2h.median_s", 0.005);
    cJSON_Delete(root);
    /* Never in flight together is a measurement, too. */
    both->overlap = 0;
    root = parsed(&n->run);
    assert_number_at(root, "results.0.overlap", 0);
    cJSON_Delete(root);
    /* Wrong data: the times stay as evidence, the figures go. */
    spoil(both, XB_RESULT_ERROR, "17 bytes are wrong");
    root = parsed(&n->run);
    assert_null_at(root, "results.0.overlap");
    assert_number_at(root, "results.0.parts.h2d.median_s", 0.006);
    assert_number_at(root, "results.0.bytes_moved", 512 * MIB);
    cJSON_Delete(root);
}

static void json_names_the_ends_of_a_pair(void **state)
{
    struct node *n = *state;
    add_pair(n, "direct-read", XB_D2D, 2, 0, 394);
    cJSON *root = parsed(&n->run);
    assert_text_at(root, "results.0.direction", "d2d");
    assert_number_at(root, "results.0.device", 2);
    assert_number_at(root, "results.0.peer", 0);
    cJSON_Delete(root);
}

static void json_of_devices_together(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    cJSON *root = parsed(&n->run);
    assert_null_at(root, "results.0.device");
    assert_true(cJSON_IsTrue(at(root, "results.0.simultaneous")));
    assert_number_at(root, "results.0.bytes_moved", (double)GIB);
    assert_number_at(root, "results.0.overlap", 0.98);
    assert_null_at(root, "results.0.share_of_alone");
    assert_null_at(root, "results.0.submit_s");
    assert_null_at(root, "results.0.wall_s");
    assert_number_at(root, "results.1.device", 0);
    assert_true(cJSON_IsTrue(at(root, "results.1.simultaneous")));
    assert_number_at(root, "results.1.share_of_alone", 0.74);
    assert_null_at(root, "results.1.overlap");
    assert_null_at(root, "results.3.share_of_alone");
    cJSON_Delete(root);
}

static void json_of_latencies(void **state)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    add_latency(n, &pinned, XB_D2H)->device_latency.n = 0;
    spoil(add_latency(n, &async, XB_H2D), XB_RESULT_ERROR, "wrong");
    spoil(add_latency(n, &async, XB_D2H), XB_RESULT_SKIPPED, "no");
    add(n, &pinned, "alloc", XB_H2D, 55)->host_latency = latency_of(1); /* not asked for */
    cJSON *root = parsed(&n->run);
    assert_true(cJSON_IsTrue(at(root, "results.0.latency")));
    assert_number_at(root, "results.0.latency_s.host.min", 0.5 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p50", 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p95", 2 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p99", 3 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.max", 4 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.n", 1000);
    assert_number_at(root, "results.0.latency_s.device.p50", 1.5e-6);
    assert_null_at(root, "results.1.latency_s.device");
    assert_null_at(root, "results.2.latency_s");
    assert_null_at(root, "results.3.latency_s");
    assert_null_at(root, "results.4.latency_s");
    cJSON_Delete(root);
}

static void json_of_all_this_survives_every_failed_allocation(void **state)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    add_part(both, "h2d", 256 * MIB, 0.006);
    add_part(both, "d2h", 256 * MIB, 0.005);
    assert_true(fail_every_allocation(&n->run) > 100);
}

static void json_tells_of_the_deadline(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55)->stop_reason = XB_STOP_DEADLINE;
    n->run.deadline_met = false; /* means nothing without one */
    cJSON *root = parsed(&n->run);
    assert_null_at(root, "deadline_met");
    cJSON_Delete(root);
    n->run.deadline = 12.5;
    root = parsed(&n->run);
    assert_true(cJSON_IsFalse(at(root, "deadline_met")));
    assert_text_at(root, "results.0.stop_reason", "deadline");
    cJSON_Delete(root);
    n->run.deadline_met = true;
    root = parsed(&n->run);
    assert_true(cJSON_IsTrue(at(root, "deadline_met")));
    cJSON_Delete(root);
}

/* ---- CSV of the same ---- */

static void csv_has_the_same_facts(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    struct node *n = *state;
    add_together(n, XB_H2D, 166.5, rates, shares);
    n->results[0].overlap = 0.5;
    n->run.case_count = 0;
    struct xb_result *rows = n->results;
    struct csv csv;
    n->run.case_count = ROW_COUNT;
    csv = read_csv(&n->run);
    assert_string_equal(csv_cell(&csv, 0, "device"), "");
    assert_string_equal(csv_cell(&csv, 0, "bytes_moved"), "1073741824");
    assert_string_equal(csv_cell(&csv, 0, "simultaneous"), "true");
    assert_string_equal(csv_cell(&csv, 0, "overlap"), "0.5");
    assert_string_equal(csv_cell(&csv, 0, "share_of_alone"), "");
    assert_string_equal(csv_cell(&csv, 0, "submit_s"), "");
    assert_string_equal(csv_cell(&csv, 1, "device"), "0");
    assert_string_equal(csv_cell(&csv, 1, "overlap"), "");
    assert_string_equal(csv_cell(&csv, 1, "share_of_alone"), "0.74");
    assert_string_equal(csv_cell(&csv, 1, "latency"), "false");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p50_s"), "");
    free(csv.text);

    rows[1].test = (struct xb_case){.mode = &peer,
                                    .variant = "staged",
                                    .direction = XB_D2D,
                                    .bytes = 4,
                                    .device = 3,
                                    .peer = 1,
                                    .latency = true};
    rows[1].host_latency = latency_of(0.25);
    rows[1].device_latency = latency_of(0.125);
    rows[2].test.latency = true;
    rows[2].host_latency = latency_of(0.25);
    spoil(&rows[2], XB_RESULT_ERROR, "wrong");
    rows[2].share_of_alone = 0.5;
    csv = read_csv(&n->run);
    assert_string_equal(csv_cell(&csv, 1, "direction"), "d2d");
    assert_string_equal(csv_cell(&csv, 1, "device"), "3");
    assert_string_equal(csv_cell(&csv, 1, "peer"), "1");
    assert_string_equal(csv_cell(&csv, 1, "simultaneous"), "false");
    assert_string_equal(csv_cell(&csv, 1, "latency"), "true");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p50_s"), "0.25");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p95_s"), "0.5");
    assert_string_equal(csv_cell(&csv, 1, "host_latency_p99_s"), "0.75");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p50_s"), "0.125");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p95_s"), "0.25");
    assert_string_equal(csv_cell(&csv, 1, "device_latency_p99_s"), "0.375");
    assert_string_equal(csv_cell(&csv, 2, "host_latency_p50_s"), "");
    assert_string_equal(csv_cell(&csv, 2, "share_of_alone"), "");
    free(csv.text);
}

/* ---- tables of more than one copy ---- */

static void table_of_latencies(void **state)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    add_latency(n, &async, XB_D2H)->device_latency.n = 0;
    spoil(add_latency(n, &pageable, XB_H2D), XB_RESULT_ERROR, "wrong");
    spoil(add_latency(n, &managed, XB_H2D), XB_RESULT_SKIPPED, "cannot");
    n->results[3].host_latency.n = 0;
    char *text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE HOST P50 P95 P99 DEVICE P50 P95 P99 N VERIFIED");
    assert_row(text, "pinned alloc h2d 4 B 6.60 us 13.2 us 19.8 us 1.50 us 3.00 us 4.50 us 1000 "
                     "yes");
    assert_row(text, "async alloc d2h 4 B 6.60 us 13.2 us 19.8 us - - - 1000 yes");
    assert_row(text, "pageable alloc h2d 4 B ERROR - - - - - 1000 NO");
    assert_row(text, "managed alloc h2d 4 B skipped - - - - - - -");
    assert_narrow(text);
    free(text);
    n->run.device_count = 2;
    text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV HOST P50 P95 P99 DEVICE P50 P95 P99 N VERIFIED");
    assert_narrow(text);
    free(text);
}

static void table_of_devices_together(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0.75, 0.76};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    add_together(n, XB_D2H, 135.8, rates, shares);
    add(n, &pinned, "alloc", XB_H2D, 55)->test.device = 3;
    add(n, &async, "alloc", XB_H2D, 33)->test.simultaneous = true; /* of no group */
    spoil(&n->results[0], XB_RESULT_ERROR, "the sum is wrong");
    spoil(&n->results[6], XB_RESULT_SKIPPED, "no memory");
    char *text = body(&n->run);
    assert_row(text, "pinned alloc h2d 256 MiB sum ERROR - - - - - 7 NO");
    assert_row(text, "pinned alloc h2d 256 MiB 2 of 4 41.50 41.50-41.50 41.50 41.50 5.00 us 5.00 "
                     "ms 7 yes");
    assert_row(text, "pinned alloc d2h 256 MiB sum 135.8 135.8-135.8 135.8 135.8 - - 7 yes");
    assert_row(text,
               "async alloc h2d 256 MiB 0 33.00 33.00-33.00 33.00 33.00 5.00 us 5.00 ms 7 yes");
    /* Those alone come first. */
    assert_has(text, "     3   55.00");
    assert_true(strstr(text, "     3   55.00") < strstr(text, "sum"));
    assert_has(text, "  ERROR    pinned alloc h2d 256 MiB sum of 4: the sum is wrong\n");
    assert_has(text, "  skipped  pinned alloc d2h 256 MiB device 0 of 4: no memory\n");
    assert_narrow(text);
    free(text);
}

/* All modes of a default run on several devices: as wide as usual rows get. */
static void table_of_many_columns_is_narrow(void **state)
{
    struct node *n = *state;
    n->run.device_count = 2;
    add(n, &double_buffer, "alloc", XB_BIDIR, 60.1);
    add(n, &zero_copy, "sequential", XB_H2D, 51)->bandwidth.n = 127;
    add(n, &pinned, "alloc", XB_H2D, 0)->status = XB_RESULT_SKIPPED;
    char *text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX SUBMIT DONE N OK");
    assert_narrow(text);
    free(text);
}

static void matrix_of_pairs(void **state)
{
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    for (unsigned from = 0; from < NODE_DEVICES; from++)
        for (int to = 0; to < NODE_DEVICES; to++)
            if ((int)from != to)
                set_link(add_pair(n, "direct-read", XB_D2D, from, to, 390 + from + 0.1 * to),
                         "NVLink", 18, 26.5625e9);
    spoil(&n->results[0], XB_RESULT_ERROR, "17 bytes are wrong");
    spoil(&n->results[1], XB_RESULT_SKIPPED, "not in reach");
    n->results[1].detail_count = 0;
    n->results[11].test.bytes = GIB; /* 3>2 stands in a matrix of its own */
    char *text = body(&n->run);
    assert_has(text, "peer direct-read, d2d, 256 MiB, GB/s (rows: from, columns: to; NVLink 18 x "
                     "26.6 GB/s)\n"
                     "            0      1      2      3\n"
                     "     0      -    ERR   skip  390.3\n"
                     "     1  391.0      -  391.2  391.3\n"
                     "     2  392.0  392.1      -  392.3\n"
                     "     3  393.0  393.1      -      -\n"
                     "\n"
                     "peer direct-read, d2d, 1 GiB, GB/s (");
    assert_has(text, "            2      3\n"
                     "     2      -      -\n"
                     "     3  393.2      -\n");
    assert_has(text, "  ERROR    peer direct-read d2d 256 MiB 0>1: 17 bytes are wrong\n");
    assert_has(text, "  skipped  peer direct-read d2d 256 MiB 0>2: not in reach\n");
    assert_lacks(text, "VERIFIED"); /* no rows but pairs: no main table */
    assert_lacks(text, "links between");
    free(text);
}

static void matrix_of_both_ways_and_of_links(void **state)
{
    struct node *n = *state;
    n->run.device_count = 3;
    set_link(add_pair(n, "direct-write", XB_BIDIR, 0, 1, 779), "NVLink", 2, 25e9);
    set_link(add_pair(n, "direct-write", XB_BIDIR, 0, 2, 0.0561), "PCIe", 0, 0);
    set_link(add_pair(n, "direct-write", XB_BIDIR, 1, 2, 50.4), "NVLink", 1, 0);
    set_link(add_pair(n, "staged", XB_D2D, 0, 1, 37.5), "NVLink", 2, 25e9);
    set_link(add_pair(n, "direct-write", XB_D2D, 1, 0, 400), "NVLink", 2, 25e9);
    add(n, &pinned, "alloc", XB_H2D, 55);
    char *text = body(&n->run);
    assert_true(strncmp(text, "MODE", 4) == 0);
    assert_has(text, "yes\n"
                     "\n"
                     "peer direct-write, bidir, 256 MiB, GB/s both ways together (between the "
                     "two)\n"
                     "              0        1        2\n"
                     "     0        -    779.0  0.05610\n"
                     "     1        -        -    50.40\n"
                     "     2        -        -        -\n"
                     "\n"
                     "peer staged, d2d, 256 MiB, GB/s (rows: from, columns: to)\n"
                     "            0      1\n"
                     "     0      -  37.50\n"
                     "     1      -      -\n"
                     "\n"
                     "peer direct-write, d2d, 256 MiB, GB/s (rows: from, columns: to; NVLink 2 x "
                     "25.0 GB/s)\n"
                     "            0      1\n"
                     "     0      -      -\n"
                     "     1  400.0      -\n"
                     "\n"
                     "links between the devices, number x GB/s each way (rows: from, columns: "
                     "to)\n"
                     "                      0                1                2\n"
                     "     0                -  NVLink 2 x 25.0             PCIe\n"
                     "     1  NVLink 2 x 25.0                -         NVLink 1\n"
                     "     2                -                -                -\n");
    assert_lacks(text, "peer staged d2d"); /* not in the main table */
    free(text);
}

static void matrix_of_latencies(void **state)
{
    struct node *n = *state;
    n->run.device_count = 2;
    struct xb_result *there = add_pair(n, "direct-read", XB_D2D, 0, 1, 0.001);
    struct xb_result *back = add_pair(n, "direct-read", XB_D2D, 1, 0, 0.001);
    there->test.latency = back->test.latency = true;
    there->test.bytes = back->test.bytes = 4;
    there->host_latency = latency_of(12.34e-6);
    back->host_latency = latency_of(0.828e-6);
    char *text = body(&n->run);
    assert_string_equal(text, "peer direct-read, d2d, 4 B, host latency p50 in us (rows: from, "
                              "columns: to)\n"
                              "             0       1\n"
                              "     0       -   12.34\n"
                              "     1  0.8280       -\n");
    spoil(back, XB_RESULT_ERROR, "wrong");
    free(text);
    text = body(&n->run);
    assert_has(text, "     1    ERR      -\n");
    free(text);
}

static void table_says_that_the_deadline_came(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55);
    spoil(add(n, &pinned, "alloc", XB_D2H, 55), XB_RESULT_SKIPPED, "the deadline came");
    n->run.deadline = 3;
    n->run.deadline_met = false;
    char *text = body(&n->run);
    assert_has(text, "  STOPPED  the deadline came: 1 of 2 cases were measured\n");
    free(text);
    n->run.deadline_met = true;
    text = body(&n->run);
    assert_lacks(text, "STOPPED");
    free(text);
    n->run.deadline = 0;
    n->run.deadline_met = false;
    text = body(&n->run);
    assert_lacks(text, "STOPPED");
    free(text);
}

/* ---- the reading ---- */

static char *reading_of(const struct node *n, char **text)
{
    *text = body(&n->run);
    assert_narrow(*text);
    char *reading = strstr(*text, "\nReading\n");
    return reading != NULL ? reading : *text + strlen(*text);
}

/* Makes a wrapped note one line again, so that a test does not depend on where it broke. */
static void unwrap(char *text)
{
    static const char turn[] = "\n               ";
    for (char *at = text; (at = strstr(at, turn)) != NULL;)
        memmove(at, at + sizeof turn - 2, strlen(at + sizeof turn - 2) + 1);
}

static void assert_read(const struct node *n, const char *part)
{
    char *text;
    char *reading = reading_of(n, &text);
    unwrap(reading);
    assert_has(reading, part);
    free(text);
}

static void assert_not_read(const struct node *n, const char *part)
{
    char *text;
    assert_lacks(reading_of(n, &text), part);
    free(text);
}

/* 63.02 GB/s: what is no single copy over the link would show more, or another share. */
static void link_share_is_of_single_copies_only(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    strcpy(n->devices[0].info.pci_bdf, "0000:0f:00.0");
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    add(n, &async, "alloc", XB_BIDIR, 60);
    add(n, &double_buffer, "alloc", XB_H2D, 60);
    add(n, &managed, "prefetch", XB_H2D, 60);
    add(n, &zero_copy, "sequential", XB_H2D, 60)->bytes_moved = 512 * MIB;
    xb_result_detail_number(add(n, &zero_copy, "strided", XB_H2D, 60), "passes", 2);
    add(n, &async, "alloc", XB_H2D, 60)->device_timer = false;
    add(n, &async, "registered", XB_H2D, 60)->test.simultaneous = true;
    add(n, &async, "registered", XB_H2D, 60)->verified = XB_VERIFIED_UNKNOWN;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 60);
    add(n, &pinned, "alloc", XB_D2H, 60)->test.peer = 1;
    struct xb_result *small = add(n, &pinned, "alloc", XB_D2H, 60);
    small->test.bytes = small->bytes_moved = 16 * MIB - 1;
    char *text = body(&n->run);
    assert_has(text, "  device 0  h2d 50 % (pinned alloc)\n");
    free(text);
    xb_result_detail_number(add(n, &zero_copy, "random", XB_D2H, 31.51), "passes", 1);
    text = body(&n->run);
    assert_has(text, "  device 0  h2d 50 % (pinned alloc), d2h 50 % (zero-copy random)\n");
    free(text);
    copy->test.latency = true;
    copy->host_latency = latency_of(1e-3);
    text = body(&n->run);
    assert_has(text, "  device 0  d2h 50 %"); /* the row itself is out */
    free(text);
}

static void reading_of_pinning(void **state)
{
    struct node *n = *state;
    struct xb_result *slow = add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &pinned, "registered", XB_H2D, 40);
    add(n, &pinned, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n,
                "  pinning      pinned alloc h2d 54.00 GB/s, 7.20 times the 7.500 of pageable\n");
    add(n, &pageable, "malloc", XB_D2H, 5)->test.device = 0;
    assert_read(n, "  pinning      pinned alloc h2d 54.00 GB/s, 7.20 times the 7.500 of pageable; "
                   "pinned "
                   "alloc d2h 55.00 GB/s, 11.0 times the 5.000 of pageable\n");
    n->results[4].verified = XB_VERIFIED_UNKNOWN;
    slow->test.device = 1;
    n->run.device_count = 2;
    assert_not_read(n, "pinning");
    slow->test.device = 0;
    assert_read(n, "  pinning      device 0: pinned alloc h2d 54.00 GB/s, 7.20 times");
    slow->test.bytes = slow->bytes_moved = 16 * MIB;
    assert_not_read(n, "pinning");
    n->results[1].test.bytes = n->results[1].bytes_moved = 16 * MIB;
    assert_read(n, "  pinning      device 0, 16 MiB: pinned registered h2d 40.00 GB/s, 5.33 times "
                   "the 7.500 of pageable\n");
    slow->test.bytes = n->results[1].test.bytes = 16 * MIB - 1;
    assert_not_read(n, "pinning");
}

static void reading_of_both_ways(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    assert_read(n, "  overlap      async alloc bidir 91.00 GB/s together\n"); /* beside nothing */
    add(n, &async, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 56);
    add(n, &pinned, "alloc", XB_H2D, 55);
    add(n, &zero_copy, "sequential", XB_H2D, 60);
    assert_read(n, "  overlap      async alloc bidir 91.00 GB/s together, 1.62 times the 56.00 of "
                   "pinned alloc d2h\n");
    both->overlap = 0.97;
    add_part(both, "h2d", 256 * MIB, (double)(256 * MIB) / 42.9e9);
    add_part(both, "d2h", 256 * MIB, (double)(256 * MIB) / 51.4e9);
    assert_read(n,
                "  overlap      async alloc bidir 91.00 GB/s together (h2d 42.90, d2h 51.40), 1.62 "
                "times the 56.00 "
                "of pinned alloc d2h; both in flight 97 % of the time\n");
    both->bytes_moved = 256 * MIB; /* then it is no sum */
    assert_not_read(n, "overlap");
}

static void reading_of_double_buffer(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_H2D, 30);
    assert_not_read(n, "overlap");
    xb_result_detail_number(row, "speed_up", 1.85);
    assert_read(n,
                "  overlap      double-buffer alloc h2d 1.85 times as fast as one step after the "
                "other\n");
    xb_result_detail_number(row, "compute_share", 0.48);
    xb_result_detail_number(row, "efficiency", 0.93);
    assert_read(n, "times as fast as one step after the other; computing "
                   "48 % of the time; 93 % of its bound\n");
}

static void reading_of_blocking(void **state)
{
    struct node *n = *state;
    struct xb_result *held = add(n, &pageable, "malloc", XB_H2D, 7.5);
    held->submit_times.count = held->wall_times.count = 0;
    add_same(&held->submit_times, 0.0343);
    add_same(&held->wall_times, 0.035);
    add(n, &async, "alloc", XB_H2D, 54);
    assert_read(n,
                "  blocking     a copy of pageable memory to the device keeps its caller for 98 % "
                "of its time, one "
                "of pinned memory for 0.1 %\n");
    /* pinned goes before async */
    struct xb_result *free_at_once = add(n, &pinned, "alloc", XB_H2D, 50);
    free_at_once->submit_times.count = 0;
    add_same(&free_at_once->submit_times, 1e-6);
    assert_read(n, "of pinned memory for less than 0.1 %\n");
    free_at_once->wall_times.count = 0;
    assert_not_read(n, "blocking");
}

static void reading_of_zero_copy(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    assert_not_read(n, "in place"); /* nothing was compared */
    xb_result_detail_number(row, "explicit_s", 0.006);
    assert_read(n, "  in place     copying the data first does not win, however often it "
                   "is read\n");
    xb_result_detail_number(row, "break_even_passes", 2);
    assert_read(n, "  in place     copying the data first wins from 2 passes over it on\n");
    row->details[1].number = 1;
    assert_read(n, "  in place     copying the data first wins from the first pass over it on\n");
    row->test.variant = "strided";
    assert_not_read(n, "in place");
}

static void reading_of_managed(void **state)
{
    struct node *n = *state;
    add(n, &managed, "fault", XB_H2D, 12.5);
    add(n, &managed, "advise", XB_H2D, 60);
    assert_not_read(n, "  managed");
    add(n, &managed, "prefetch", XB_H2D, 50);
    assert_read(n, "  managed      managed prefetch h2d 50.00 GB/s, 4.00 times the 12.50 of "
                   "fault\n");
}

static void reading_of_pairs(void **state)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 390);
    add_pair(n, "direct-write", XB_D2D, 0, 1, 400);
    assert_not_read(n, "peer");
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    assert_read(n, "  peer         d2d direct 10.0 times as fast as staged through the host\n");
    add_pair(n, "direct-read", XB_D2D, 1, 0, 390);
    add_pair(n, "staged", XB_D2D, 1, 0, 30); /* 13 */
    add_pair(n, "direct-read", XB_D2D, 0, 2, 380);
    add_pair(n, "staged", XB_D2D, 0, 2, 40); /* 9.5 */
    add_pair(n, "staged", XB_D2D, 2, 0, 1);  /* has no direct one */
    spoil(add_pair(n, "direct-read", XB_D2D, 2, 0, 500), XB_RESULT_ERROR, "wrong");
    assert_read(n,
                "  peer         d2d direct 10.0 times as fast as staged through the host (median "
                "of 3 pairs; 9.5 "
                "to 13.0)\n");
}

static void reading_of_devices_together(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    assert_read(n,
                "  all at once  pinned alloc h2d 166.5 GB/s on 4 devices together, all in flight "
                "98 % of the time; "
                "of what each has alone: device 1 74 %, device 3 74 %, device 0 "
                "76 % (the others were "
                "not measured alone)\n");
    add(n, &pinned, "alloc", XB_H2D, 100)->test.device = 1; /* far below speaks of those alone */
    assert_not_read(n, "far below");
    n->results[0].overlap = -1;
    n->results[3].share_of_alone = 0.5;
    assert_read(n, "on 4 devices together; of what each has alone: device 2 50 %, "
                   "device 1 74 %, device 3 74 %, device 0 76 %\n");
    spoil(&n->results[2], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all at once");
}

static void reading_of_ways_far_below(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &managed, "fault", XB_H2D, 24.99);
    struct xb_result *half = add(n, &zero_copy, "strided", XB_H2D, 25);
    add(n, &pageable, "malloc", XB_D2H, 14.8);
    add(n, &double_buffer, "alloc", XB_H2D, 1); /* computes as well */
    add(n, &async, "alloc", XB_BIDIR, 200);
    assert_read(n,
                "  far below    h2d, less than half of 50.00 GB/s (pinned alloc): pageable malloc "
                "7.500, managed "
                "fault 24.99\n");
    assert_not_read(n, "strided");
    assert_not_read(n, "far below    d2h");
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n,
                "  far below    d2h, less than half of 55.00 GB/s (pinned alloc): pageable malloc "
                "14.80\n");
    set_bandwidth(half, 24.9);
    half->test.device = 1; /* compared with nothing of device 0 */
    n->run.device_count = 2;
    assert_not_read(n, "strided");
}

static void readings_break_between_words_not_before_units(void **state)
{
    struct node *n = *state;
    char variant[20] = "";
    for (size_t length = 1; length < sizeof variant; length++) {
        memset(variant, 'v', length);
        n->run.case_count = 0;
        xb_result_free(&n->results[0]);
        memset(&n->results[0], 0, sizeof n->results[0]);
        add(n, &double_buffer, variant, XB_H2D, 30);
        xb_result_detail_number(&n->results[0], "speed_up", 1.85);
        xb_result_detail_number(&n->results[0], "compute_share", 0.48);
        char *text;
        assert_lacks(reading_of(n, &text), "\n               %");
        free(text);
    }
}

/* Percentiles are for figures of their own: nothing is concluded from them. */
static void nothing_is_read_from_latencies(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 5);
    assert_read(n, "far below");
    for (size_t i = 0; i < 2; i++) {
        n->results[i].test.latency = true;
        n->results[i].host_latency = latency_of(5e-3);
    }
    char *text = body(&n->run);
    assert_lacks(text, "Reading");
    assert_lacks(text, "Share of");
    free(text);
}

static void reading_keeps_quiet_where_there_is_nothing(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &async, "alloc", XB_H2D, 50);
    char *text = body(&n->run);
    assert_lacks(text, "Reading");
    free(text);
}

/* ---- the list ---- */

static void list_names_directions(void **state)
{
    static const struct xb_inventory none;
    struct xb_error error;
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_list_json_write(stream, &none, &error), XB_OK);
    fclose(stream);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        const cJSON *mode = cJSON_GetArrayItem(at(root, "modes"), (int)i);
        unsigned all = 0;
        unsigned some = 0;
        for (unsigned d = 0; d < XB_DIRECTIONS; d++) {
            const cJSON *name;
            const char *direction = xb_direction_name((enum xb_direction)(1u << d));
            cJSON_ArrayForEach(name, at(mode, "directions")) all |=
                strcmp(name->valuestring, direction) == 0 ? 1u << d : 0;
            cJSON_ArrayForEach(name, at(mode, "default_directions")) some |=
                strcmp(name->valuestring, direction) == 0 ? 1u << d : 0;
        }
        assert_int_equal(all, xb_modes[i]->directions);
        assert_int_equal(some, xb_modes[i]->by_default);
    }
    cJSON_Delete(root);
    free(text);
}

/* ---- all sinks ---- */

static void sinks_report_a_full_disk(void **state)
{
    static const sink sinks[] = {xb_json_write, xb_csv_write, xb_table_write};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        struct xb_error error = {0};
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(sinks[i](full, &f->run, &error), XB_ERR_SYSTEM);
        assert_int_equal(error.native_code, ENOSPC);
        fclose(full);
    }
}

static void sinks_do_not_follow_the_locale(void **state)
{
    static const sink sinks[] = {xb_csv_write, xb_table_write};
    struct fixture *f = *state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        char *text = written(sinks[i], &f->run);
        setlocale(LC_ALL, "C");
        char *plain = written(sinks[i], &f->run);
        assert_string_equal(text, plain);
        free(text);
        free(plain);
        setlocale(LC_ALL, "de_DE.UTF-8");
    }
    char *json = written(xb_json_write, &f->run);
    assert_non_null(strstr(json, "0.30000000000000004"));
    free(json);
    setlocale(LC_ALL, "C");
}

/* A row of every kind that is measured for bandwidth. */
static void make_example(struct node *n)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    n->run.device_count = NODE_DEVICES;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    strcpy(n->devices[0].info.pci_bdf, "0000:0f:00.0");
    struct xb_result *row = add(n, &pageable, "malloc", XB_H2D, 7.7);
    row->submit_times.count = row->wall_times.count = 0;
    add_same(&row->submit_times, 0.0341);
    add_same(&row->wall_times, 0.0349);
    add(n, &pageable, "malloc", XB_D2H, 14.8);
    add(n, &pinned, "alloc", XB_H2D, 55.4);
    add(n, &pinned, "alloc", XB_D2H, 55.3);
    add(n, &async, "alloc", XB_H2D, 54.8);
    row = add(n, &async, "alloc", XB_BIDIR, 91);
    row->overlap = 0.97;
    add_part(row, "h2d", 256 * MIB, (double)(256 * MIB) / 46.2e9);
    add_part(row, "d2h", 256 * MIB, (double)(256 * MIB) / 45.6e9);
    row = add(n, &double_buffer, "alloc", XB_BIDIR, 60.1);
    add_part(row, "serial", 512 * MIB, 0.0165);
    add_part(row, "kernel", 0, 0.0049);
    xb_result_detail_number(row, "speed_up", 1.85);
    xb_result_detail_number(row, "efficiency", 0.93);
    xb_result_detail_number(row, "compute_share", 0.55);
    row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    xb_result_detail_number(row, "explicit_s", 0.0049);
    xb_result_detail_number(row, "break_even_passes", 2);
    add(n, &managed, "fault", XB_H2D, 11.3);
    add(n, &managed, "prefetch", XB_H2D, 50);
    add_together(n, XB_H2D, 166.5, rates, shares);
    for (unsigned from = 0; from < NODE_DEVICES; from++) {
        for (int to = 0; to < NODE_DEVICES; to++) {
            if ((int)from == to)
                continue;
            set_link(add_pair(n, "direct-read", XB_D2D, from, to, 393 + 0.3 * to), "NVLink", 18,
                     26.5625e9);
            add_pair(n, "staged", XB_D2D, from, to, 37 + 0.2 * to);
            if ((int)from < to)
                add_pair(n, "direct-read", XB_BIDIR, from, to, 779)->overlap = 0.99;
        }
    }
    spoil(&n->results[n->run.case_count - 1], XB_RESULT_ERROR, "17 bytes are wrong");
    spoil(add(n, &managed, "advise", XB_H2D, 1), XB_RESULT_SKIPPED, "the deadline came");
    n->run.deadline = 60;
}

static void make_latency_example(struct node *n)
{
    n->run.device_count = 2;
    add_latency(n, &pageable, XB_H2D);
    add_latency(n, &pinned, XB_H2D);
    add_latency(n, &pinned, XB_D2H)->device_latency.n = 0;
    for (unsigned from = 0; from < 2; from++) {
        struct xb_result *row = add_latency(n, &peer, XB_D2D);
        row->test.variant = "direct-read";
        row->test.device = from;
        row->test.peer = 1 - (int)from;
    }
    spoil(add_latency(n, &async, XB_H2D), XB_RESULT_ERROR, "17 bytes are wrong");
}

static int write_one(const char *directory, const char *name, sink write, const struct xb_run *run)
{
    char path[512];
    struct xb_error error;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    int status = write(file, run, &error) != XB_OK;
    return fclose(file) != 0 ? 1 : status;
}

/* `test_sinks DIRECTORY` writes runs as above as JSON, to be held against the schema, and as tables
 * to be looked at. */
static int write_examples(const char *directory)
{
    void *first = NULL, *second = NULL, *third = NULL;
    if (setup(&first) != 0 || node_setup(&second) != 0 || node_setup(&third) != 0)
        return 1;
    const struct fixture *rows = first;
    struct node *node = second;
    struct node *latencies = third;
    make_example(node);
    make_latency_example(latencies);
    int status = write_one(directory, "rows.json", xb_json_write, &rows->run) |
                 write_one(directory, "node.json", xb_json_write, &node->run) |
                 write_one(directory, "latencies.json", xb_json_write, &latencies->run) |
                 write_one(directory, "rows.txt", xb_table_write, &rows->run) |
                 write_one(directory, "node.txt", xb_table_write, &node->run) |
                 write_one(directory, "latencies.txt", xb_table_write, &latencies->run);
    teardown(&first);
    node_teardown(&second);
    node_teardown(&third);
    return status;
}

int main(int argc, char **argv)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define NODE_TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        cmocka_unit_test(numbers_read_back_exactly),
        RUN_TEST(json_says_what_ran_where),
        RUN_TEST(json_types_every_option),
        RUN_TEST(json_rows_measured),
        RUN_TEST(json_rows_not_measured),
        RUN_TEST(json_gives_wrong_data_no_bandwidth),
        RUN_TEST(json_marks_an_interrupted_run),
        RUN_TEST(json_records_the_steering_variables_only),
        RUN_TEST(json_survives_every_failed_allocation),
        RUN_TEST(csv_has_a_line_a_result),
        RUN_TEST(csv_leaves_empty_what_was_not_measured),
        RUN_TEST(csv_quotes_what_needs_it),
        RUN_TEST(table_is_plain_and_narrow),
        RUN_TEST(table_names_devices_and_links),
        RUN_TEST(table_tells_of_a_library_and_facts),
        RUN_TEST(table_has_no_share_of_a_link_that_nothing_crossed),
        RUN_TEST(table_without_a_link),
        RUN_TEST(table_with_a_link_of_unknown_rate),
        RUN_TEST(table_reads_the_link),
        RUN_TEST(table_shows_each_row),
        RUN_TEST(table_tells_reasons_and_warnings_once),
        RUN_TEST(table_says_that_it_was_interrupted),
        RUN_TEST(table_without_notes_ends_with_its_rows),
        RUN_TEST(table_shows_four_digits_of_any_rate),
        NODE_TEST(json_of_both_ways_has_its_parts),
        NODE_TEST(json_names_the_ends_of_a_pair),
        NODE_TEST(json_of_devices_together),
        NODE_TEST(json_of_latencies),
        NODE_TEST(json_of_all_this_survives_every_failed_allocation),
        NODE_TEST(json_tells_of_the_deadline),
        NODE_TEST(csv_has_the_same_facts),
        NODE_TEST(table_of_latencies),
        NODE_TEST(table_of_devices_together),
        NODE_TEST(table_of_many_columns_is_narrow),
        NODE_TEST(matrix_of_pairs),
        NODE_TEST(matrix_of_both_ways_and_of_links),
        NODE_TEST(matrix_of_latencies),
        NODE_TEST(table_says_that_the_deadline_came),
        NODE_TEST(link_share_is_of_single_copies_only),
        NODE_TEST(reading_of_pinning),
        NODE_TEST(reading_of_both_ways),
        NODE_TEST(reading_of_double_buffer),
        NODE_TEST(reading_of_blocking),
        NODE_TEST(reading_of_zero_copy),
        NODE_TEST(reading_of_managed),
        NODE_TEST(reading_of_pairs),
        NODE_TEST(reading_of_devices_together),
        NODE_TEST(reading_of_ways_far_below),
        NODE_TEST(readings_break_between_words_not_before_units),
        NODE_TEST(nothing_is_read_from_latencies),
        NODE_TEST(reading_keeps_quiet_where_there_is_nothing),
        cmocka_unit_test(list_names_directions),
        RUN_TEST(sinks_report_a_full_disk),
        RUN_TEST(sinks_do_not_follow_the_locale),
    };
    if (argc == 2)
        return write_examples(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
