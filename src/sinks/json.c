/* SPDX-License-Identifier: Apache-2.0 */
#include "json_common.h"
#include "json_tree.h"
#include "xferbench/sink.h"

/* The keys and their meaning stand in docs/result.schema.json. */

static cJSON *numbers_json(const double *values, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = xb_json_append(array, xb_json_number(values[i]));
    return xb_json_complete(array, ok);
}

static cJSON *link_json(const struct xb_pcie_link *link)
{
    if (!link->known)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "speed_gts", xb_json_number(link->speed_gts)) &&
                    xb_json_put(object, "width", xb_json_whole(link->width)) &&
                    xb_json_put(object, "max_speed_gts", xb_json_number(link->max_speed_gts)) &&
                    xb_json_put(object, "max_width", xb_json_whole(link->max_width)) &&
                    xb_json_put(object, "port", xb_json_optional(link->port)) &&
                    xb_json_put(object, "read", xb_json_text("right after transfers")));
}

static cJSON *numa_json(const struct xb_binding *binding)
{
    cJSON *numa = cJSON_CreateObject();
    return xb_json_complete(
        numa,
        xb_json_put(numa, "node",
                    binding->node >= 0 ? xb_json_number(binding->node) : cJSON_CreateNull()) &&
            xb_json_put(numa, "bound", cJSON_CreateBool(binding->bound)) &&
            xb_json_put(numa, "cpus", xb_json_whole(binding->cpu_count)) &&
            xb_json_put(numa, "note", xb_json_optional(binding->note)));
}

static cJSON *device_json(const struct xb_run *run, const struct xb_run_device *device)
{
    const struct xb_device_info *info = &device->info;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "index", xb_json_whole(info->index)) &&
                    xb_json_put(object, "name", xb_json_text(info->name)) &&
                    xb_json_put(object, "uuid", xb_json_optional(info->uuid)) &&
                    xb_json_put(object, "architecture", xb_json_optional(info->architecture)) &&
                    xb_json_put(object, "pci_bdf", xb_json_optional(info->pci_bdf)) &&
                    xb_json_put(object, "memory_bytes", xb_json_whole(info->memory_bytes)) &&
                    xb_json_put(object, "driver", xb_json_optional(run->probe.driver_version)) &&
                    xb_json_put(object, "link", link_json(&device->link)) &&
                    xb_json_put(object, "numa", numa_json(&device->binding)) &&
                    xb_json_put(object, "facts", xb_json_facts(info)));
}

static cJSON *devices_json(const struct xb_run *run)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < run->device_count; i++)
        ok = xb_json_append(array, device_json(run, &run->devices[i]));
    return xb_json_complete(array, ok);
}

static cJSON *error_json(const struct xb_error *error)
{
    if (error->status == XB_OK)
        return cJSON_CreateNull();
    char at[512] = "";
    if (error->file != NULL)
        snprintf(at, sizeof at, "%s:%d", error->file, error->line);
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "status", xb_json_text(xb_status_name(error->status))) &&
            xb_json_put(object, "native_code", xb_json_number((double)error->native_code)) &&
            xb_json_put(object, "native_name", xb_json_optional(error->native_name)) &&
            xb_json_put(object, "call", xb_json_optional(error->call)) &&
            xb_json_put(object, "message", xb_json_text(error->message)) &&
            xb_json_put(object, "at", xb_json_optional(at)));
}

static cJSON *median_json(const struct xb_samples *times)
{
    struct xb_statistics statistics;
    struct xb_error error;
    if (times->count == 0)
        return cJSON_CreateNull();
    if (xb_statistics_compute(times->values, times->count, &statistics, &error) != XB_OK)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(object,
                            xb_json_put(object, "median", xb_json_number(statistics.median)) &&
                                xb_json_put(object, "n", xb_json_whole(statistics.n)));
}

static cJSON *warnings_json(const struct xb_result *result)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < result->warning_count; i++)
        ok = xb_json_append(array, xb_json_text(result->warnings[i]));
    return xb_json_complete(array, ok);
}

static cJSON *details_json(const struct xb_result *result)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < result->detail_count; i++) {
        const struct xb_detail *detail = &result->details[i];
        ok = xb_json_put(object, detail->key,
                         detail->is_number ? xb_json_number(detail->number)
                                           : xb_json_text(detail->text));
    }
    return xb_json_complete(object, ok);
}

static cJSON *percentiles_json(const struct xb_latency *latency)
{
    if (latency->n == 0)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(object, xb_json_put(object, "min", xb_json_number(latency->min)) &&
                                        xb_json_put(object, "p50", xb_json_number(latency->p50)) &&
                                        xb_json_put(object, "p95", xb_json_number(latency->p95)) &&
                                        xb_json_put(object, "p99", xb_json_number(latency->p99)) &&
                                        xb_json_put(object, "max", xb_json_number(latency->max)) &&
                                        xb_json_put(object, "n", xb_json_whole(latency->n)));
}

static cJSON *latency_json(const struct xb_result *result)
{
    if (!result->test.latency)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "host", percentiles_json(&result->host_latency)) &&
                    xb_json_put(object, "device", percentiles_json(&result->device_latency)));
}

static cJSON *part_json(const struct xb_part *part)
{
    struct xb_statistics statistics;
    struct xb_error error;
    const struct xb_samples *times = &part->times;
    if (xb_statistics_compute(times->values, times->count, &statistics, &error) != XB_OK)
        return NULL;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "bytes", xb_json_whole(part->bytes)) &&
                    xb_json_put(object, "median_s", xb_json_number(statistics.median)) &&
                    xb_json_put(object, "samples_s", numbers_json(times->values, times->count)));
}

static cJSON *parts_json(const struct xb_result *result)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < result->part_count; i++)
        if (result->parts[i].times.count > 0)
            ok = xb_json_put(object, result->parts[i].name, part_json(&result->parts[i]));
    return xb_json_complete(object, ok);
}

static bool put_case(cJSON *object, const struct xb_case *test)
{
    return xb_json_put(object, "mode", xb_json_text(test->mode->name)) &&
           xb_json_put(object, "variant", xb_json_text(test->variant)) &&
           xb_json_put(object, "direction", xb_json_text(xb_direction_name(test->direction))) &&
           xb_json_put(object, "bytes", xb_json_whole(test->bytes)) &&
           xb_json_put(object, "device",
                       test->sum ? cJSON_CreateNull() : xb_json_whole(test->device)) &&
           xb_json_put(object, "peer",
                       test->peer >= 0 ? xb_json_number(test->peer) : cJSON_CreateNull()) &&
           xb_json_put(object, "latency", cJSON_CreateBool(test->latency)) &&
           xb_json_put(object, "simultaneous", cJSON_CreateBool(test->simultaneous || test->sum));
}

/* What a copy has only if its data was right. */
static bool put_figures(cJSON *object, const struct xb_result *result)
{
    bool ok = result->status == XB_RESULT_OK;
    return xb_json_put(object, "bandwidth_bytes_per_second",
                       ok ? xb_json_statistics(&result->bandwidth) : cJSON_CreateNull()) &&
           xb_json_put(object, "latency_s", ok ? latency_json(result) : cJSON_CreateNull()) &&
           xb_json_put(object, "overlap",
                       ok && result->overlap >= 0 ? xb_json_number(result->overlap)
                                                  : cJSON_CreateNull()) &&
           xb_json_put(object, "share_of_alone",
                       ok && result->share_of_alone > 0 ? xb_json_number(result->share_of_alone)
                                                        : cJSON_CreateNull());
}

/* What was measured. A copy that failed or did not verify keeps its times but has no figures. */
static bool put_measured(cJSON *object, const struct xb_result *result)
{
    return xb_json_put(object, "timer",
                       xb_json_text(result->device_timer ? "device-event" : "host-clock")) &&
           xb_json_put(object, "bytes_moved", xb_json_whole(result->bytes_moved)) &&
           xb_json_put(object, "samples_s",
                       numbers_json(result->times.values, result->times.count)) &&
           put_figures(object, result) && xb_json_put(object, "parts", parts_json(result)) &&
           xb_json_put(object, "submit_s", median_json(&result->submit_times)) &&
           xb_json_put(object, "wall_s", median_json(&result->wall_times)) &&
           xb_json_put(object, "stop_reason",
                       xb_json_text(xb_stop_reason_name(result->stop_reason)));
}

/* Of a row without samples: null, or what kept the run from it. */
static cJSON *cut_json(const struct xb_result *result)
{
    bool cut = result->status == XB_RESULT_SKIPPED && (result->stop_reason == XB_STOP_INTERRUPTED ||
                                                       result->stop_reason == XB_STOP_DEADLINE);
    return cut ? xb_json_text(xb_stop_reason_name(result->stop_reason)) : cJSON_CreateNull();
}

static bool put_not_measured(cJSON *object, const struct xb_result *result)
{
    static const char *const unknown[] = {"timer",     "bytes_moved", "bandwidth_bytes_per_second",
                                          "latency_s", "overlap",     "share_of_alone",
                                          "submit_s",  "wall_s"};
    bool ok = xb_json_put(object, "samples_s", cJSON_CreateArray()) &&
              xb_json_put(object, "parts", cJSON_CreateObject()) &&
              xb_json_put(object, "stop_reason", cut_json(result));
    for (size_t i = 0; ok && i < sizeof unknown / sizeof unknown[0]; i++)
        ok = xb_json_put(object, unknown[i], cJSON_CreateNull());
    return ok;
}

static cJSON *result_json(const struct xb_result *result)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        put_case(object, &result->test) &&
            xb_json_put(object, "status", xb_json_text(xb_result_status_name(result->status))) &&
            xb_json_put(object, "reason", xb_json_optional(result->reason)) &&
            xb_json_put(object, "error", error_json(&result->error)) &&
            (result->bandwidth.n > 0 ? put_measured(object, result)
                                     : put_not_measured(object, result)) &&
            xb_json_put(object, "verified", xb_json_verified(result->verified)) &&
            xb_json_put(object, "warnings", warnings_json(result)) &&
            xb_json_put(object, "details", details_json(result)));
}

static cJSON *results_json(const struct xb_run *run)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < run->case_count; i++)
        ok = xb_json_append(array, result_json(&run->results[i]));
    return xb_json_complete(array, ok);
}

/* null where the run had none. */
static cJSON *deadline_json(const struct xb_run *run)
{
    return run->deadline > 0 ? cJSON_CreateBool(run->deadline_met) : cJSON_CreateNull();
}

static cJSON *run_json(const void *source)
{
    const struct xb_run *run = source;
    cJSON *root = cJSON_CreateObject();
    return xb_json_complete(
        root, xb_json_put(root, "schema", xb_json_text("xferbench.result")) &&
                  xb_json_put(root, "schema_version", xb_json_whole(1)) &&
                  xb_json_put(root, "tool", xb_json_tool()) &&
                  xb_json_put(root, "timestamp", xb_json_timestamp()) &&
                  xb_json_put(root, "interrupted", cJSON_CreateBool(run->interrupted)) &&
                  xb_json_put(root, "deadline_met", deadline_json(run)) &&
                  xb_json_put(root, "host", xb_json_host(run->topology)) &&
                  xb_json_put(root, "backend", xb_json_backend(run->backend, &run->probe)) &&
                  xb_json_put(root, "devices", devices_json(run)) &&
                  xb_json_put(root, "environment", xb_json_environment()) &&
                  xb_json_put(root, "config", xb_json_config(run->config)) &&
                  xb_json_put(root, "results", results_json(run)));
}

enum xb_status xb_json_write(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    return xb_json_print(stream, run_json, run, error);
}
