/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sink_fixture.h"

#include "measure/run.h"

#include <cjson/cJSON.h>
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

void set_ceiling(struct xb_run_device *device)
{
    device->path = (struct xb_pcie_path){.present = true, .count = 1};
    strcpy(device->path.hops[0].lower.bdf, "0000:0f:00.0");
    device->path.hops[0].lower.control = (struct xb_pcie_control){
        .known = true, .max_payload = 256, .max_payload_supported = 256, .max_read_request = 4096};
    device->load =
        (struct xb_pcie_load){.count = 1, .hops[0] = {.readings = 3, .speed_gts = 32, .width = 16}};
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

/* The JSON of a run's record; release with free(). */
static char *written(const struct xb_run *run)
{
    struct xb_record record;
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    record_of(run, &record);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_result_json_write(stream, &record, XB_JSON_INDENTED, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    xb_record_free(&record);
    return text;
}

void record_copy_of(const struct xb_run *run, struct xb_record *record)
{
    struct xb_error error;
    char *text = written(run);
    if (xb_record_parse("a copy", text, strlen(text), record, &error) != XB_OK)
        fail_msg("%s", error.message);
    free(text);
}

/* ---- JSON ---- */

cJSON *parsed(const struct xb_run *run)
{
    char *text = written(run);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
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
    snprintf(result->reason, sizeof result->reason, "%s", reason);
    result->row.verified = status == XB_RESULT_ERROR ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN;
    if (status == XB_RESULT_SKIPPED)
        result->bandwidth.n = 0;
}

int node_setup(void **state)
{
    struct node *n = calloc(1, sizeof *n);
    assert_non_null(n);
    for (unsigned i = 0; i < NODE_DEVICES; i++)
        n->devices[i] =
            (struct xb_run_device){.info = {.index = i, .name = "H200", .memory_bytes = GIB},
                                   .binding = {.note = "one node", .note_is_normal = true}};
    n->run = (struct xb_run){.backend = &backend,
                             .probe = {.runtime_version = "13.0", .driver_version = "580.159.04"},
                             .asked.config = &n->config,
                             .devices = n->devices,
                             .device_count = 1,
                             .results = n->results};
    *state = n;
    return 0;
}

int node_teardown(void **state)
{
    struct node *n = *state;
    for (size_t i = 0; i < NODE_ROWS; i++)
        xb_result_free(&n->results[i]);
    free(n);
    return 0;
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
