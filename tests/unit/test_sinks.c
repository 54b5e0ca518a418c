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
/* Whole, but no double: 2^53 + 1. */
#define ODD_BYTES 9007199254740993ULL
#define NASTY "a \"quoted\", comma\r\nsecond line\ttab \xff\xc0\xaf end \xe2\x82"
/* What is left of it in UTF-8: every byte that belongs to no character is one U+FFFD. */
#define NASTY_UTF8                                                                                 \
    "a \"quoted\", comma\r\nsecond line\ttab \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD end "            \
    "\xEF\xBF\xBD\xEF\xBF\xBD"

enum { ROW_OK, ROW_FEW, ROW_SKIPPED, ROW_ERROR, ROW_UNVERIFIED, ROW_COUNT };

/* ---- a run made by hand ---- */

static const struct xb_mode pinned = {.name = "pinned"};
static const struct xb_mode async = {.name = "async"};
static const struct xb_backend backend = {.name = "cuda"};

static const struct xb_option options[] = {{.name = "quiet", .type = XB_OPTION_FLAG},
                                           {.name = "json", .type = XB_OPTION_TEXT},
                                           {.name = "samples", .type = XB_OPTION_COUNT},
                                           {.name = "chunk", .type = XB_OPTION_SIZE},
                                           {.name = "size", .type = XB_OPTION_SIZES},
                                           {.name = "time-limit", .type = XB_OPTION_DURATION},
                                           {.name = "mode", .type = XB_OPTION_CHOICES},
                                           {.name = "csv", .type = XB_OPTION_TEXT},
                                           {.name = "streams", .type = XB_OPTION_CHOICES}};

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
    f->devices[1] = (struct xb_run_device){
        .info = {.index = 1, .name = "Test\xe2\x84\xa2 \xff", .memory_bytes = ODD_BYTES},
        .binding = {.node = -1, .cpu_count = 4, .note = "the device names no node"}};
}

static void make_results(struct fixture *f)
{
    struct xb_result *r = f->results;
    for (size_t i = 0; i < ROW_COUNT; i++)
        r[i].test = (struct xb_case){
            .mode = &pinned, .variant = "alloc", .direction = XB_H2D, .bytes = GIB};
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
    assert_text_at(root, "devices.0.link.read", "right after transfers");
    assert_true(cJSON_IsTrue(at(root, "devices.0.numa.bound")));
    assert_null_at(root, "devices.0.numa.note");
    assert_text_at(root, "devices.1.name", "Test\xe2\x84\xa2 \xEF\xBF\xBD");
    assert_null_at(root, "devices.1.uuid");
    assert_null_at(root, "devices.1.link");
    assert_null_at(root, "devices.1.numa.node");
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
    assert_null_at(row, "peer");
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
    static const char *const nulls[] = {
        "timer", "bandwidth_bytes_per_second", "submit_s", "wall_s", "verified", "stop_reason"};
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        assert_null_at(at(root, "results.2"), nulls[i]);
        assert_null_at(at(root, "results.3"), nulls[i]);
    }
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.samples_s")), 0);
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

static void json_survives_every_failed_allocation(void **state)
{
    struct fixture *f = *state;
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
        status = xb_json_write(stream, &f->run, &error);
        fclose(stream);
        free(text);
        assert_int_equal(allocations_open, 0);
        assert_int_equal(status, status == XB_OK ? XB_OK : XB_ERR_MEMORY);
        assert_int_equal(error.status, status);
        assert_true(status == XB_OK || size == 0);
    }
    cJSON_InitHooks(NULL);
    assert_true(tried > 300); /* else the hooks were not used */
}

/* ---- CSV ---- */

#define CSV_COLUMNS 23

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
                                        "warnings"};
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
    f->devices[1].link = (struct xb_pcie_link){true, 16, 8, 32, 16};
    strcpy(f->devices[1].info.pci_bdf, "0000:10:00.0");
    char *text = written(xb_table_write, &f->run);
    assert_has(text, ", backend cuda, runtime 13.0, driver 580.159.04\n");
    assert_line(text, "Device 0: NVIDIA H200, 0000:0f:00.0, 140.4 GiB, sm_90");
    assert_line(text,
                "  link     PCIe Gen5 x16, 63.0 GB/s raw each way (device and slot can do Gen5 "
                "x16)");
    assert_line(text, "  NUMA     bound to node 0, 16 CPUs");
    assert_has(text, "Device 1: Test? ?, 0000:10:00.0");
    assert_line(text, "  link     PCIe Gen4 x8, 15.8 GB/s raw each way: BELOW the Gen5 x16 that "
                      "the device can do");
    assert_line(text, "  NUMA     NOT bound: the device names no node");
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
    f->devices[0].link = (struct xb_pcie_link){true, 64, 16, 64, 16};
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "  link     PCIe Gen6 x16 (device and slot can do Gen6 x16)");
    free(text);
    f->devices[0].link = (struct xb_pcie_link){true, 12.5, 16, 12.5, 16};
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
    assert_row(text, "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX SUBMIT N VERIFIED");
    assert_row(text, "pinned alloc h2d 1 GiB 0 54.83 54.58-55.07 54.32 55.35 3.33 us 20 yes");
    assert_row(text, "async alloc d2h 64 KiB 0 7.702 - 7.695 7.710 3.30 us 3 yes");
    assert_row(text, "pinned write-combined h2d 1 GiB 0 skipped - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 0 ERROR - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 1 ERROR - - - 3.31 us 8 NO");
    free(text);
    f->run.device_count = 1;
    text = written(xb_table_write, &f->run);
    assert_row(text, "MODE VARIANT DIR SIZE GB/s 95% INTERVAL MIN MAX SUBMIT N VERIFIED");
    assert_row(text, "pinned write-combined h2d 1 GiB skipped - - - - - -");
    free(text);
}

static void table_tells_reasons_and_warnings_once(void **state)
{
    struct fixture *f = *state;
    set_reason(&f->results[ROW_UNVERIFIED], f->results[ROW_ERROR].reason);
    char *text = written(xb_table_write, &f->run);
    assert_line(text, "Notes");
    assert_has(text, "h2d   1 GiB"); /* two blanks between columns */
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

/* `test_sinks FILE` writes the run above as JSON, to be held against the schema. */
static int write_example(const char *path)
{
    void *state = NULL;
    struct xb_error error;
    FILE *file = fopen(path, "w");
    if (file == NULL || setup(&state) != 0)
        return 1;
    struct fixture *f = state;
    int status = xb_json_write(file, &f->run, &error) != XB_OK;
    teardown(&state);
    return fclose(file) != 0 ? 1 : status;
}

int main(int argc, char **argv)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
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
        RUN_TEST(table_without_a_link),
        RUN_TEST(table_with_a_link_of_unknown_rate),
        RUN_TEST(table_reads_the_link),
        RUN_TEST(table_shows_each_row),
        RUN_TEST(table_tells_reasons_and_warnings_once),
        RUN_TEST(table_says_that_it_was_interrupted),
        RUN_TEST(table_without_notes_ends_with_its_rows),
        RUN_TEST(table_shows_four_digits_of_any_rate),
        RUN_TEST(sinks_report_a_full_disk),
        RUN_TEST(sinks_do_not_follow_the_locale),
    };
    if (argc == 2)
        return write_example(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
