/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sink_fixture.h"

#include "measure/run.h"

#include <cjson/cJSON.h>
#include <iconv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- a run made by hand ---- */

const struct xb_mode pageable = {.name = "pageable"};
const struct xb_mode pinned = {.name = "pinned"};
const struct xb_mode async = {.name = "async"};
const struct xb_mode double_buffer = {.name = "double-buffer"};
const struct xb_mode zero_copy = {.name = "zero-copy"};
const struct xb_mode managed = {.name = "managed"};
const struct xb_mode peer = {.name = "peer"};
const struct xb_backend backend = {.name = "cuda"};

static const struct xb_option options[OPTION_COUNT] = {
    {.name = "quiet", .type = XB_OPTION_FLAG},
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

static uint64_t size_list[] = {4096, ODD_BYTES};
static char *mode_words[] = {(char *)"pinned", (char *)"async"};
static char json_path[] = "out \xfe.json";

static void add_samples(struct xb_samples *samples, double first, size_t count)
{
    struct xb_error error;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(xb_samples_add(samples, first * (1 + 0.001 * (double)i), &error), XB_OK);
}

static void describe(struct xb_result *result)
{
    double bandwidth[64];
    struct xb_error error;
    size_t count = result->times.count;
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++)
        bandwidth[i] = (double)result->bytes_moved / result->times.values[i];
    assert_int_equal(xb_statistics_compute(bandwidth, count, &result->bandwidth, &error), XB_OK);
}

/* `count` samples from `seconds` on, and what follows from them. */
static void measure(struct xb_result *result, double seconds, size_t count)
{
    result->bytes_moved = result->test.bytes;
    add_samples(&result->times, seconds, count);
    add_samples(&result->submit_times, 3.3e-6, count);
    add_samples(&result->wall_times, seconds * 1.1, count);
    describe(result);
}

void set_ceiling(struct xb_run_device *device)
{
    device->path = (struct xb_pcie_path){.present = true, .count = 1};
    strcpy(device->path.hops[0].lower.bdf, "0000:0f:00.0");
    device->path.hops[0].lower.control = (struct xb_pcie_control){
        .known = true, .max_payload = 256, .max_payload_supported = 256, .max_read_request = 4096};
    device->load =
        (struct xb_pcie_load){.count = 1, .hops[0] = {.readings = 3, .speed_gts = 32, .width = 16}};
}

void set_reason(struct xb_result *result, const char *reason)
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
    f->values[4].numbers = (struct xb_numbers){size_list, 2};
    f->values[5].seconds = 0.1;
    f->values[6].words = (struct xb_word_list){mode_words, 2};
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
    }
    measure(&r[ROW_OK], 0.0194, 20);
    r[ROW_OK].times.values[1] = nextafter(0.3, 1); /* needs its 17 digits */
    describe(&r[ROW_OK]);
    r[ROW_OK].device_timer = true;
    r[ROW_OK].stop_reason = XB_STOP_CONVERGED;
    r[ROW_OK].row.verified = XB_VERIFIED_TRUE;
    xb_result_warn(&r[ROW_OK], "clocks moved");
    xb_result_detail_number(&r[ROW_OK], "batch", 0.1);
    xb_result_detail_text(&r[ROW_OK], "nodes", "0,1");

    r[ROW_FEW].test.mode = &async;
    r[ROW_FEW].test.direction = XB_D2H;
    r[ROW_FEW].test.bytes = 64 << 10;
    measure(&r[ROW_FEW], 8.5e-6, 3);
    r[ROW_FEW].stop_reason = XB_STOP_FIXED;
    r[ROW_FEW].row.verified = XB_VERIFIED_TRUE;
    xb_result_warn(&r[ROW_FEW], "clocks moved");
    xb_result_warn(&r[ROW_FEW], NASTY);

    r[ROW_SKIPPED].test.variant = "write-combined";
    r[ROW_SKIPPED].row.status = XB_RESULT_SKIPPED;
    set_reason(&r[ROW_SKIPPED], NASTY);

    r[ROW_ERROR].row.status = XB_RESULT_ERROR;
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
    r[ROW_UNVERIFIED].row.status = XB_RESULT_ERROR;
    r[ROW_UNVERIFIED].device_timer = true;
    r[ROW_UNVERIFIED].stop_reason = XB_STOP_TIME_LIMIT;
    r[ROW_UNVERIFIED].row.verified = XB_VERIFIED_FALSE;
    set_reason(&r[ROW_UNVERIFIED], "17 bytes are wrong, the first at 4096");
}

int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    make_config(f);
    make_devices(f);
    make_results(f);
    f->run = (struct xb_run){.backend = &backend,
                             .probe = {.runtime_version = "13.0", .driver_version = "580.159.04"},
                             .asked.config = &f->config,
                             .devices = f->devices,
                             .device_count = 2,
                             .results = f->results,
                             .case_count = ROW_COUNT,
                             .done_count = ROW_COUNT};
    *state = f;
    return 0;
}

int teardown(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < ROW_COUNT; i++)
        xb_result_free(&f->results[i]);
    free(f);
    return 0;
}

static bool has_device(const struct xb_run *run, unsigned index)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].info.index == index)
            return true;
    return false;
}

void record_of(const struct xb_run *run, struct xb_record *record)
{
    struct xb_error error;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        if (!has_device(run, test->device) ||
            (test->peer != XB_NO_PEER && !has_device(run, (unsigned)test->peer)))
            fail_msg("row %zu names a device that the run does not have", i);
    }
    assert_int_equal(xb_record_of_run(run, record, &error), XB_OK);
}

char *written_record(sink write, const struct xb_record *record)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, record, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

char *written(sink write, const struct xb_run *run)
{
    struct xb_record record;
    record_of(run, &record);
    char *text = written_record(write, &record);
    xb_record_free(&record);
    return text;
}

void record_copy_of(const struct xb_run *run, struct xb_record *record)
{
    struct xb_error error;
    char *text = written(write_indented, run);
    if (xb_record_parse("a copy", text, strlen(text), record, &error) != XB_OK)
        fail_msg("%s", error.message);
    free(text);
}

void assert_utf8(const char *text)
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

/* ---- JSON ---- */

enum xb_status write_json(FILE *stream, const void *run, struct xb_error *error)
{
    struct xb_record record;
    enum xb_status status = xb_record_of_run(run, &record, error);
    if (status != XB_OK)
        return status;
    status = write_indented(stream, &record, error);
    xb_record_free(&record);
    return status;
}

const cJSON *figure_at(const cJSON *row, const char *name)
{
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItemCaseSensitive(row, "figures"))
    {
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "name")), name) ==
            0)
            return figure;
    }
    return NULL;
}

cJSON *parsed(const struct xb_run *run)
{
    char *text = written(write_indented, run);
    assert_utf8(text);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
}

/* ---- the table ---- */

void assert_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *found = text; (found = strstr(found, line)) != NULL; found++) {
        if ((found == text || found[-1] == '\n') && found[length] == '\n')
            return;
    }
    fail_msg("no line '%s' in:\n%s", line, text);
}

void assert_row(const char *text, const char *row)
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

/* ---- a node made by hand: rows whose figures are plain numbers ---- */

void add_same(struct xb_samples *samples, double value)
{
    struct xb_error error;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(xb_samples_add(samples, value, &error), XB_OK);
}

void set_bandwidth(struct xb_result *result, double gigabytes)
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

struct xb_result *add(struct node *n, const struct xb_mode *mode, const char *variant,
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
    result->device_timer = true;
    result->row.verified = XB_VERIFIED_TRUE;
    result->stop_reason = XB_STOP_CONVERGED;
    set_bandwidth(result, gigabytes);
    return result;
}

struct xb_result *add_pair(struct node *n, const char *variant, enum xb_direction direction,
                           unsigned source, int destination, double gigabytes)
{
    struct xb_result *result = add(n, &peer, variant, direction, gigabytes);
    result->test.device = source;
    result->test.peer = destination;
    return result;
}

void set_link(struct xb_result *result, const char *kind, double links, double rate)
{
    xb_result_detail_text(result, "link", "%s", kind);
    if (links > 0)
        xb_result_detail_number(result, "links", links);
    if (rate > 0)
        xb_result_detail_number(result, "link_rate_bytes_per_second", rate);
}

struct xb_result *set_by(struct xb_result *result, const char *word)
{
    static const struct xb_option by = {.name = "by", .type = XB_OPTION_CHOICES};
    result->test.settings[0] = (struct xb_setting){.option = &by, .word = word};
    result->test.setting_count = 1;
    return result;
}

void add_together(struct node *n, enum xb_direction direction, double sum,
                  const double rates[NODE_DEVICES], const double shares[NODE_DEVICES])
{
    struct xb_result *all = add(n, &pinned, "alloc", direction, sum);
    n->run.device_count = NODE_DEVICES;
    all->test.simultaneous = all->test.sum = true;
    all->bytes_moved = NODE_DEVICES * all->test.bytes;
    set_bandwidth(all, sum);
    all->submit_times.count = all->wall_times.count = 0;
    set_computed(all, &xb_figure_overlap, 0.98);
    for (unsigned i = 0; i < NODE_DEVICES; i++) {
        struct xb_result *one = add(n, &pinned, "alloc", direction, rates[i]);
        one->test.simultaneous = true;
        one->test.device = i;
        if (shares[i] > 0)
            set_computed(one, &xb_figure_share_of_alone, shares[i]);
    }
}

void add_group(struct node *n, const char *variant, enum xb_group group, unsigned device,
               double sum, double each, double share)
{
    struct xb_result *all = add(n, &peer, variant, XB_D2D, sum);
    all->test.simultaneous = all->test.sum = true;
    all->test.group = group;
    all->test.device = device;
    all->bytes_moved = (n->run.device_count - 1) * all->test.bytes;
    set_bandwidth(all, sum);
    for (unsigned i = 0; i < n->run.device_count; i++) {
        bool begins = group == XB_GROUP_ONE_TO_ALL;
        if (i == device)
            continue;
        struct xb_result *one =
            add_pair(n, variant, XB_D2D, begins ? device : i, (int)(begins ? i : device), each);
        one->test.simultaneous = true;
        one->test.group = group;
        if (share > 0)
            set_computed(one, &xb_figure_share_of_alone, share);
    }
}

void set_computed(struct xb_result *result, const struct xb_figure *figure, double value)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == figure) {
            result->figures[i].computed = value;
            return;
        }
    xb_result_compute(result, figure, value);
}

void add_figure(struct xb_result *result, const struct xb_figure *figure, double value)
{
    struct xb_error error;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(xb_result_sample(result, figure, value, &error), XB_OK);
}

/* 101 times: half of p50 and four times it at the ends, twice from the 95th on, and thrice. */
static void spread_samples(struct xb_samples *samples, double p50)
{
    struct xb_error error;
    samples->count = 0;
    for (size_t i = 0; i < 101; i++) {
        double factor = i == 0 ? 0.5 : i < 95 ? 1 : i < 99 ? 2 : i < 100 ? 3 : 4;
        assert_int_equal(xb_samples_add(samples, factor * p50, &error), XB_OK);
    }
}

void set_latency(struct xb_result *result, double host_p50, double device_p50)
{
    result->test.latency = true;
    result->event_times = device_p50 > 0;
    spread_samples(&result->wall_times, host_p50);
    spread_samples(&result->times, result->event_times ? device_p50 : host_p50);
}

struct xb_result *add_latency(struct node *n, const struct xb_mode *mode,
                              enum xb_direction direction)
{
    struct xb_result *result = add(n, mode, "alloc", direction, 0.0004);
    result->test.bytes = result->bytes_moved = 4;
    set_latency(result, 6.6e-6, 1.5e-6);
    return result;
}

void spoil(struct xb_result *result, enum xb_result_status status, const char *reason)
{
    result->row.status = status;
    set_reason(result, reason);
    result->row.verified = status == XB_RESULT_ERROR ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN;
    if (status == XB_RESULT_SKIPPED)
        result->bandwidth.n = 0;
}

int node_setup(void **state)
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

int node_teardown(void **state)
{
    struct node *n = *state;
    void *base = n->base;
    for (size_t i = 0; i < NODE_ROWS; i++)
        xb_result_free(&n->results[i]);
    free(n);
    return teardown(&base);
}

enum xb_status write_all(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    const struct xb_table_view view = {.all_columns = true, .all_reading = true, .all_notes = true};
    return xb_table_write(stream, record, &view, error);
}

char *body(const struct xb_run *run)
{
    char *text = written(write_all, run);
    return body_of(text);
}

/* What stands behind the header of a table; takes `text`. */
char *body_of(char *text)
{
    const char *device = strstr(text, "GPU ");
    const char *blank = device != NULL ? strstr(device, "\n\n") : NULL;
    if (blank == NULL)
        fail_msg("no header in:\n%s", text);
    char *rest = strdup(blank != NULL ? blank + 2 : "");
    assert_non_null(rest);
    free(text);
    return rest;
}

void assert_narrow(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width = *c == '\n' ? 0 : width + 1;
        if (width > 100)
            fail_msg("a line is too long in:\n%s", text);
    }
}
