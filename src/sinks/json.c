/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "../core/environment.h"
#include "text.h"
#include "xferbench/sink.h"
#include "xferbench/version.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The document is built as a tree of cJSON items. Every builder returns NULL when memory is short
 * and put() passes that on, so that a section is one chain of puts and a failure anywhere drops the
 * whole tree. The keys and their meaning stand in docs/result.schema.json.
 */

/* Takes the item. `key` is not copied and must outlive the tree. */
static bool put(cJSON *object, const char *key, cJSON *item)
{
    if (cJSON_AddItemToObjectCS(object, key, item))
        return true;
    cJSON_Delete(item);
    return false;
}

/* put for a key that goes away. Of two keys of one name the first counts, as in getenv. */
static bool put_copy(cJSON *object, const char *key, cJSON *item)
{
    if (item != NULL && cJSON_GetObjectItemCaseSensitive(object, key) != NULL) {
        cJSON_Delete(item);
        return true;
    }
    if (cJSON_AddItemToObject(object, key, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool append(cJSON *array, cJSON *item)
{
    if (cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

/* Returns `container` if it is complete, else drops it. */
static cJSON *complete(cJSON *container, bool is_complete)
{
    if (is_complete)
        return container;
    cJSON_Delete(container);
    return NULL;
}

/* A copy of `length` bytes that is UTF-8; release with cJSON_free. */
static char *utf8_copy(const char *text, size_t length)
{
    static const size_t most = sizeof XB_UTF8_REPLACEMENT - 1;
    char *copy = cJSON_malloc(length * most + 1);
    if (copy == NULL)
        return NULL;
    char *out = copy;
    for (const char *end = text + length; text < end;) {
        size_t bytes = xb_utf8_length(text);
        if (bytes > 0) {
            memcpy(out, text, bytes);
            out += bytes;
            text += bytes;
        } else {
            memcpy(out, XB_UTF8_REPLACEMENT, most);
            out += most;
            text++;
        }
    }
    *out = '\0';
    return copy;
}

static cJSON *text_json(const char *text)
{
    char *copy = utf8_copy(text, strlen(text));
    cJSON *item = copy != NULL ? cJSON_CreateString(copy) : NULL;
    cJSON_free(copy);
    return item;
}

/* null for a text that is not there. */
static cJSON *optional_json(const char *text)
{
    return text != NULL && text[0] != '\0' ? text_json(text) : cJSON_CreateNull();
}

static cJSON *whole_json(uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return cJSON_CreateRaw(text);
}

/* cJSON's own numbers may be off in the last bit: it takes 15 digits that are near enough. */
static cJSON *number_json(double value)
{
    char text[32];
    return isfinite(value) ? cJSON_CreateRaw(xb_number_text(value, text, sizeof text))
                           : cJSON_CreateNull();
}

static cJSON *numbers_json(const double *values, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = append(array, number_json(values[i]));
    return complete(array, ok);
}

static cJSON *tool_json(void)
{
    cJSON *tool = cJSON_CreateObject();
    return complete(tool, put(tool, "name", text_json("xferbench")) &&
                              put(tool, "version", text_json(XB_VERSION)) &&
                              put(tool, "compiler", text_json(XB_COMPILER)) &&
                              put(tool, "build_type", text_json(XB_BUILD_TYPE)));
}

static cJSON *timestamp_json(void)
{
    char text[sizeof "2000-01-01T00:00:00Z"];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text_json(text);
}

static cJSON *host_json(const struct xb_topology *topology)
{
    struct xb_host_facts facts;
    xb_host_facts_read(&facts);
    cJSON *host = cJSON_CreateObject();
    return complete(host, put(host, "hostname", optional_json(facts.hostname)) &&
                              put(host, "os", optional_json(facts.os)) &&
                              put(host, "kernel", optional_json(facts.kernel)) &&
                              put(host, "cpu_model", optional_json(facts.cpu_model)) &&
                              put(host, "logical_cpus", whole_json(facts.logical_cpus)) &&
                              put(host, "memory_bytes", whole_json(facts.memory_bytes)) &&
                              put(host, "numa_nodes",
                                  topology != NULL ? whole_json(xb_topology_node_count(topology))
                                                   : cJSON_CreateNull()));
}

static cJSON *backend_json(const struct xb_run *run)
{
    cJSON *backend = cJSON_CreateObject();
    return complete(
        backend, put(backend, "name", text_json(run->backend->name)) &&
                     put(backend, "runtime_version", optional_json(run->probe.runtime_version)) &&
                     put(backend, "driver_version", optional_json(run->probe.driver_version)));
}

static cJSON *link_json(const struct xb_pcie_link *link)
{
    if (!link->known)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return complete(object, put(object, "speed_gts", number_json(link->speed_gts)) &&
                                put(object, "width", whole_json(link->width)) &&
                                put(object, "max_speed_gts", number_json(link->max_speed_gts)) &&
                                put(object, "max_width", whole_json(link->max_width)) &&
                                put(object, "read", text_json("right after transfers")));
}

static cJSON *numa_json(const struct xb_binding *binding)
{
    cJSON *numa = cJSON_CreateObject();
    return complete(
        numa,
        put(numa, "node", binding->node >= 0 ? number_json(binding->node) : cJSON_CreateNull()) &&
            put(numa, "bound", cJSON_CreateBool(binding->bound)) &&
            put(numa, "cpus", whole_json(binding->cpu_count)) &&
            put(numa, "note", optional_json(binding->note)));
}

static cJSON *device_json(const struct xb_run *run, const struct xb_run_device *device)
{
    const struct xb_device_info *info = &device->info;
    cJSON *object = cJSON_CreateObject();
    return complete(object, put(object, "index", whole_json(info->index)) &&
                                put(object, "name", text_json(info->name)) &&
                                put(object, "uuid", optional_json(info->uuid)) &&
                                put(object, "architecture", optional_json(info->architecture)) &&
                                put(object, "pci_bdf", optional_json(info->pci_bdf)) &&
                                put(object, "memory_bytes", whole_json(info->memory_bytes)) &&
                                put(object, "driver", optional_json(run->probe.driver_version)) &&
                                put(object, "link", link_json(&device->link)) &&
                                put(object, "numa", numa_json(&device->binding)));
}

static cJSON *devices_json(const struct xb_run *run)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < run->device_count; i++)
        ok = append(array, device_json(run, &run->devices[i]));
    return complete(array, ok);
}

static cJSON *environment_json(void)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (char **entry = environ; ok && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL || !xb_environment_steers(*entry))
            continue;
        char *name = utf8_copy(*entry, (size_t)(equals - *entry));
        ok = name != NULL && put_copy(object, name, text_json(equals + 1));
        cJSON_free(name);
    }
    return complete(object, ok);
}

static cJSON *sizes_json(const struct xb_sizes *sizes)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < sizes->count; i++)
        ok = append(array, whole_json(sizes->bytes[i]));
    return complete(array, ok);
}

static cJSON *words_json(const struct xb_value *value)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < value->word_count; i++)
        ok = append(array, text_json(value->words[i]));
    return complete(array, ok);
}

static cJSON *value_json(const struct xb_value *value)
{
    if (value->option->type == XB_OPTION_FLAG)
        return cJSON_CreateBool(value->flag);
    if (!value->is_set)
        return cJSON_CreateNull();
    switch (value->option->type) {
    case XB_OPTION_COUNT:
    case XB_OPTION_SIZE:
        return whole_json(value->count);
    case XB_OPTION_SIZES:
        return sizes_json(&value->sizes);
    case XB_OPTION_DURATION:
        return number_json(value->seconds);
    case XB_OPTION_CHOICES:
        return words_json(value);
    case XB_OPTION_FLAG:
    case XB_OPTION_TEXT:
        break;
    }
    return text_json(value->text);
}

static cJSON *config_json(const struct xb_config *config)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < config->count; i++)
        ok = put(object, config->values[i].option->name, value_json(&config->values[i]));
    return complete(object, ok);
}

static cJSON *error_json(const struct xb_error *error)
{
    if (error->status == XB_OK)
        return cJSON_CreateNull();
    char at[512] = "";
    if (error->file != NULL)
        snprintf(at, sizeof at, "%s:%d", error->file, error->line);
    cJSON *object = cJSON_CreateObject();
    return complete(object,
                    put(object, "status", text_json(xb_status_name(error->status))) &&
                        put(object, "native_code", number_json((double)error->native_code)) &&
                        put(object, "native_name", optional_json(error->native_name)) &&
                        put(object, "call", optional_json(error->call)) &&
                        put(object, "message", text_json(error->message)) &&
                        put(object, "at", optional_json(at)));
}

static cJSON *bandwidth_json(const struct xb_statistics *bandwidth)
{
    cJSON *object = cJSON_CreateObject();
    bool interval = bandwidth->has_interval;
    return complete(object,
                    put(object, "median", number_json(bandwidth->median)) &&
                        put(object, "ci95_low",
                            interval ? number_json(bandwidth->ci95_low) : cJSON_CreateNull()) &&
                        put(object, "ci95_high",
                            interval ? number_json(bandwidth->ci95_high) : cJSON_CreateNull()) &&
                        put(object, "min", number_json(bandwidth->min)) &&
                        put(object, "max", number_json(bandwidth->max)) &&
                        put(object, "p5", number_json(bandwidth->p5)) &&
                        put(object, "p95", number_json(bandwidth->p95)) &&
                        put(object, "mad", number_json(bandwidth->mad)) &&
                        put(object, "n", whole_json(bandwidth->n)));
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
    return complete(object, put(object, "median", number_json(statistics.median)) &&
                                put(object, "n", whole_json(statistics.n)));
}

static cJSON *verified_json(enum xb_verified verified)
{
    return verified == XB_VERIFIED_UNKNOWN ? cJSON_CreateNull()
                                           : cJSON_CreateBool(verified == XB_VERIFIED_TRUE);
}

static cJSON *warnings_json(const struct xb_result *result)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < result->warning_count; i++)
        ok = append(array, text_json(result->warnings[i]));
    return complete(array, ok);
}

static cJSON *details_json(const struct xb_result *result)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < result->detail_count; i++) {
        const struct xb_detail *detail = &result->details[i];
        ok = put(object, detail->key,
                 detail->is_number ? number_json(detail->number) : text_json(detail->text));
    }
    return complete(object, ok);
}

static bool put_case(cJSON *object, const struct xb_case *test)
{
    return put(object, "mode", text_json(test->mode->name)) &&
           put(object, "variant", text_json(test->variant)) &&
           put(object, "direction", text_json(xb_direction_name(test->direction))) &&
           put(object, "bytes", whole_json(test->bytes)) &&
           put(object, "device", whole_json(test->device)) &&
           put(object, "peer", cJSON_CreateNull());
}

/* What was measured. A copy that failed or did not verify keeps its times but has no bandwidth. */
static bool put_measured(cJSON *object, const struct xb_result *result)
{
    bool has_bandwidth = result->status == XB_RESULT_OK;
    return put(object, "timer", text_json(result->device_timer ? "device-event" : "host-clock")) &&
           put(object, "samples_s", numbers_json(result->times.values, result->times.count)) &&
           put(object, "bandwidth_bytes_per_second",
               has_bandwidth ? bandwidth_json(&result->bandwidth) : cJSON_CreateNull()) &&
           put(object, "submit_s", median_json(&result->submit_times)) &&
           put(object, "wall_s", median_json(&result->wall_times)) &&
           put(object, "stop_reason", text_json(xb_stop_reason_name(result->stop_reason)));
}

static bool put_not_measured(cJSON *object)
{
    return put(object, "timer", cJSON_CreateNull()) &&
           put(object, "samples_s", cJSON_CreateArray()) &&
           put(object, "bandwidth_bytes_per_second", cJSON_CreateNull()) &&
           put(object, "submit_s", cJSON_CreateNull()) &&
           put(object, "wall_s", cJSON_CreateNull()) &&
           put(object, "stop_reason", cJSON_CreateNull());
}

static cJSON *result_json(const struct xb_result *result)
{
    cJSON *object = cJSON_CreateObject();
    return complete(
        object,
        put_case(object, &result->test) &&
            put(object, "status", text_json(xb_result_status_name(result->status))) &&
            put(object, "reason", optional_json(result->reason)) &&
            put(object, "error", error_json(&result->error)) &&
            (result->bandwidth.n > 0 ? put_measured(object, result) : put_not_measured(object)) &&
            put(object, "verified", verified_json(result->verified)) &&
            put(object, "warnings", warnings_json(result)) &&
            put(object, "details", details_json(result)));
}

static cJSON *results_json(const struct xb_run *run)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < run->case_count; i++)
        ok = append(array, result_json(&run->results[i]));
    return complete(array, ok);
}

static cJSON *run_json(const struct xb_run *run)
{
    cJSON *root = cJSON_CreateObject();
    return complete(root, put(root, "schema", text_json("xferbench.result")) &&
                              put(root, "schema_version", whole_json(1)) &&
                              put(root, "tool", tool_json()) &&
                              put(root, "timestamp", timestamp_json()) &&
                              put(root, "interrupted", cJSON_CreateBool(run->interrupted)) &&
                              put(root, "host", host_json(run->topology)) &&
                              put(root, "backend", backend_json(run)) &&
                              put(root, "devices", devices_json(run)) &&
                              put(root, "environment", environment_json()) &&
                              put(root, "config", config_json(run->config)) &&
                              put(root, "results", results_json(run)));
}

enum xb_status xb_json_write(FILE *stream, const struct xb_run *run, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    locale_t previous = xb_plain_locale_enter();
    cJSON *root = run_json(run);
    char *text = root != NULL ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (text == NULL) {
        status = XB_FAIL(error, XB_ERR_MEMORY,
                         "not enough memory to write the JSON: measure fewer cases in one run");
    } else if (fprintf(stream, "%s\n", text) < 0) {
        int code = errno;
        status = XB_FAIL_ERRNO(error, "write", code, "cannot write the JSON: %s", strerror(code));
    }
    cJSON_free(text);
    xb_plain_locale_leave(previous);
    return status;
}
