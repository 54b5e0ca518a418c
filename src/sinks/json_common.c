/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "json_common.h"

#include "../core/environment.h"
#include "json_tree.h"
#include "xferbench/version.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* xb_json_put for a key that goes away. Of two keys of one name the first counts, as in getenv. */
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

cJSON *xb_json_tool(void)
{
    cJSON *tool = cJSON_CreateObject();
    return xb_json_complete(tool, xb_json_put(tool, "name", xb_json_text("xferbench")) &&
                                      xb_json_put(tool, "version", xb_json_text(XB_VERSION)) &&
                                      xb_json_put(tool, "compiler", xb_json_text(XB_COMPILER)) &&
                                      xb_json_put(tool, "build_type", xb_json_text(XB_BUILD_TYPE)));
}

cJSON *xb_json_time(time_t when)
{
    char text[sizeof "2000-01-01T00:00:00Z"];
    struct tm utc;
    gmtime_r(&when, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return xb_json_text(text);
}

cJSON *xb_json_timestamp(void)
{
    return xb_json_time(time(NULL));
}

cJSON *xb_json_host(const struct xb_topology *topology)
{
    struct xb_host_facts facts;
    xb_host_facts_read(&facts);
    cJSON *host = cJSON_CreateObject();
    return xb_json_complete(
        host, xb_json_put(host, "hostname", xb_json_optional(facts.hostname)) &&
                  xb_json_put(host, "os", xb_json_optional(facts.os)) &&
                  xb_json_put(host, "kernel", xb_json_optional(facts.kernel)) &&
                  xb_json_put(host, "cpu_model", xb_json_optional(facts.cpu_model)) &&
                  xb_json_put(host, "logical_cpus", xb_json_whole(facts.logical_cpus)) &&
                  xb_json_put(host, "memory_bytes", xb_json_whole(facts.memory_bytes)) &&
                  xb_json_put(host, "numa_nodes",
                              topology != NULL ? xb_json_whole(xb_topology_node_count(topology))
                                               : cJSON_CreateNull()));
}

cJSON *xb_json_backend(const struct xb_backend *backend, const struct xb_probe *probe)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "name", xb_json_text(backend->name)) &&
            xb_json_put(object, "runtime_version", xb_json_optional(probe->runtime_version)) &&
            xb_json_put(object, "driver_version", xb_json_optional(probe->driver_version)) &&
            xb_json_put(object, "runtime_library", xb_json_optional(probe->runtime_library)) &&
            xb_json_put(object, "runtime_override", xb_json_optional(probe->runtime_override)));
}

cJSON *xb_json_environment(void)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (char **entry = environ; ok && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL || !xb_environment_steers(*entry))
            continue;
        char *name = xb_json_utf8(*entry, (size_t)(equals - *entry));
        ok = name != NULL && put_copy(object, name, xb_json_text(equals + 1));
        cJSON_free(name);
    }
    return xb_json_complete(object, ok);
}

static cJSON *sizes_json(const struct xb_sizes *sizes)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < sizes->count; i++)
        ok = xb_json_append(array, xb_json_whole(sizes->bytes[i]));
    return xb_json_complete(array, ok);
}

static cJSON *words_json(const struct xb_value *value)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < value->word_count; i++)
        ok = xb_json_append(array, xb_json_text(value->words[i]));
    return xb_json_complete(array, ok);
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
        return xb_json_whole(value->count);
    case XB_OPTION_SIZES:
        return sizes_json(&value->sizes);
    case XB_OPTION_DURATION:
        return xb_json_number(value->seconds);
    case XB_OPTION_CHOICES:
        return words_json(value);
    case XB_OPTION_FLAG:
    case XB_OPTION_TEXT:
        break;
    }
    return xb_json_text(value->text);
}

cJSON *xb_json_config(const struct xb_config *config)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < config->count; i++)
        ok = xb_json_put(object, config->values[i].option->name, value_json(&config->values[i]));
    return xb_json_complete(object, ok);
}

cJSON *xb_json_statistics(const struct xb_statistics *statistics)
{
    cJSON *object = cJSON_CreateObject();
    bool interval = statistics->has_interval;
    return xb_json_complete(
        object,
        xb_json_put(object, "median", xb_json_number(statistics->median)) &&
            xb_json_put(object, "ci95_low",
                        interval ? xb_json_number(statistics->ci95_low) : cJSON_CreateNull()) &&
            xb_json_put(object, "ci95_high",
                        interval ? xb_json_number(statistics->ci95_high) : cJSON_CreateNull()) &&
            xb_json_put(object, "min", xb_json_number(statistics->min)) &&
            xb_json_put(object, "max", xb_json_number(statistics->max)) &&
            xb_json_put(object, "p5", xb_json_number(statistics->p5)) &&
            xb_json_put(object, "p95", xb_json_number(statistics->p95)) &&
            xb_json_put(object, "mad", xb_json_number(statistics->mad)) &&
            xb_json_put(object, "n", xb_json_whole(statistics->n)));
}

cJSON *xb_json_verified(enum xb_verified verified)
{
    return verified == XB_VERIFIED_UNKNOWN ? cJSON_CreateNull()
                                           : cJSON_CreateBool(verified == XB_VERIFIED_TRUE);
}
