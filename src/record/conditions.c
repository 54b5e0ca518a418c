/* SPDX-License-Identifier: Apache-2.0 */
/* Under which conditions it was measured. */
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More of these come from no run, and would make work for nothing. */
#define MOST_DEVICES 64
#define MOST_VARIABLES 1024
#define MOST_OPTIONS 512
#define MOST_DEVICE_FACTS 64
#define MOST_GTS 1024.0 /* of a link; Gen7 has 128 */
#define MOST_LANES 64

/* ---- devices ---- */

static enum xb_status read_link(struct xb_place *place, const cJSON *object,
                                struct xb_record_device *device, struct xb_error *error)
{
    const cJSON *link = NULL;
    uint64_t width = 0;
    enum xb_status status = xb_json_need(place, object, "link", &link, error);
    if (status == XB_OK)
        status = xb_json_take_object(place, object, "link", MOST_DEVICE_FACTS, &link, error);
    if (status != XB_OK || link == NULL)
        return status;
    size_t length = xb_place_enter(place, "link");
    status =
        xb_json_need_number(place, link, "speed_gts", MOST_GTS, &device->link_speed_gts, error);
    if (status == XB_OK)
        status = xb_json_need_whole(place, link, "width", 1, MOST_LANES, &width, error);
    xb_place_leave(place, length);
    device->link_width = (unsigned)width;
    device->link_known = status == XB_OK;
    return status;
}

static enum xb_status read_device(struct xb_place *place, const cJSON *object,
                                  struct xb_record_device *device, struct xb_error *error)
{
    const cJSON *unused = NULL;
    uint64_t index = 0;
    if (!cJSON_IsObject(object))
        return xb_json_wrong(place, NULL, error, "must be an object");
    enum xb_status status =
        xb_json_need_whole(place, object, "index", 0, MOST_DEVICES - 1, &index, error);
    if (status == XB_OK)
        status = xb_json_need_text(place, object, "name", &device->name, error);
    device->index = (unsigned)index;
    if (status == XB_OK)
        status = xb_json_take_object(place, object, "facts", MOST_DEVICE_FACTS, &unused, error);
    if (status == XB_OK)
        status = xb_json_take_object(place, object, "numa", MOST_DEVICE_FACTS, &unused, error);
    return status == XB_OK ? read_link(place, object, device, error) : status;
}

/* Rows name their device by its index. */
static enum xb_status check_index(const struct xb_place *place,
                                  const struct xb_record_process *process, struct xb_error *error)
{
    size_t last = process->device_count - 1;
    for (size_t i = 0; i < last; i++)
        if (process->devices[i].index == process->devices[last].index)
            return xb_json_wrong(place, "index", error, "is that of devices[%zu] too", i);
    return XB_OK;
}

enum xb_status xb_record_read_devices(struct xb_place *place, const cJSON *document,
                                      struct xb_record_process *process, struct xb_error *error)
{
    const cJSON *devices = NULL;
    const cJSON *device;
    enum xb_status status = xb_json_need_array(place, document, "devices", &devices, error);
    if (status != XB_OK)
        return status;
    size_t count = (size_t)cJSON_GetArraySize(devices);
    if (count == 0 || count > MOST_DEVICES)
        return xb_json_wrong(place, "devices", error, "must be 1 to %d", MOST_DEVICES);
    process->devices = calloc(count, sizeof *process->devices);
    if (process->devices == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu devices of %.200s", count,
                       place->path);
    size_t outer = xb_place_enter(place, "devices");
    cJSON_ArrayForEach(device, devices)
    {
        size_t length = xb_place_enter_item(place, process->device_count);
        status = read_device(place, device, &process->devices[process->device_count++], error);
        if (status == XB_OK)
            status = check_index(place, process, error);
        xb_place_leave(place, length);
        if (status != XB_OK)
            break;
    }
    xb_place_leave(place, outer);
    return status;
}

/* ---- facts ---- */

/* A value as text: a string as it is, null as NULL, anything else as JSON. */
static bool text_of(const cJSON *item, struct xb_arena **texts, const char **text)
{
    *text = NULL;
    if (item == NULL || cJSON_IsNull(item))
        return true;
    if (cJSON_IsString(item)) {
        *text = item->valuestring;
        return true;
    }
    char *printed = cJSON_PrintUnformatted(item);
    *text = printed != NULL ? xb_arena_print(texts, "%s", printed) : NULL;
    cJSON_free(printed);
    return *text != NULL;
}

/* One more at the end of a list, which grows by doubling from the count alone. */
static bool append(struct xb_record *record, struct xb_record_fact **facts, size_t *count,
                   const cJSON *item, const char *prefix, const char *name)
{
    if ((*count & (*count - 1)) == 0) { /* a power of two, or none yet: it is full */
        struct xb_record_fact *grown =
            realloc(*facts, (*count > 0 ? 2 * *count : 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        *facts = grown;
    }
    struct xb_record_fact *fact = &(*facts)[*count];
    fact->name = xb_arena_print(&record->texts, "%s%s", prefix, name);
    if (fact->name == NULL || !text_of(item, &record->texts, &fact->value))
        return false;
    (*count)++;
    return true;
}

static bool append_fact(struct xb_record *record, const cJSON *object, const char *key,
                        const char *prefix, const char *name)
{
    return append(record, &record->facts, &record->fact_count,
                  cJSON_GetObjectItemCaseSensitive(object, key), prefix, name);
}

/* Every key of an object, whatever they are. */
static bool append_members(struct xb_record *record, const cJSON *object, const char *prefix)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (!append(record, &record->facts, &record->fact_count, item, prefix, item->string))
            return false;
    }
    return true;
}

bool xb_record_append_options(struct xb_record *record, const cJSON *config)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, config)
    {
        if (!append(record, &record->options, &record->option_count, item, "", item->string))
            return false;
    }
    return true;
}

static bool append_device(struct xb_record *record, const cJSON *device)
{
    static const char *const keys[][2] = {{"pci_bdf", "PCI address"},
                                          {"uuid", "UUID"},
                                          {"architecture", "architecture"},
                                          {"memory_bytes", "memory in bytes"}};
    const cJSON *numa = cJSON_GetObjectItemCaseSensitive(device, "numa");
    const cJSON *link = cJSON_GetObjectItemCaseSensitive(device, "link");
    char prefix[32];
    snprintf(prefix, sizeof prefix, "device %.0f ",
             cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(device, "index")));
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof keys / sizeof keys[0]; i++)
        ok = append_fact(record, device, keys[i][0], prefix, keys[i][1]);
    return ok && append_fact(record, link, "port", prefix, "link port") &&
           append_fact(record, numa, "node", prefix, "NUMA node") &&
           append_fact(record, numa, "bound", prefix, "bound to its NUMA node") &&
           append_members(record, cJSON_GetObjectItemCaseSensitive(device, "facts"), prefix);
}

static bool append_facts(struct xb_record *record, const cJSON *document)
{
    static const char *const keys[][3] = {{"host", "hostname", "hostname"},
                                          {"host", "os", "operating system"},
                                          {"host", "kernel", "kernel"},
                                          {"host", "cpu_model", "CPU model"},
                                          {"host", "logical_cpus", "logical CPUs"},
                                          {"host", "memory_bytes", "memory in bytes"},
                                          {"host", "numa_nodes", "NUMA nodes"},
                                          {"tool", "version", "xferbench version"},
                                          {"tool", "compiler", "compiler"},
                                          {"tool", "build_type", "build type"},
                                          {"backend", "runtime_version", "runtime version"},
                                          {"backend", "runtime_library", "runtime library"},
                                          {"backend", "runtime_override", "runtime named by"}};
    const cJSON *device;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof keys / sizeof keys[0]; i++)
        ok = append_fact(record, cJSON_GetObjectItemCaseSensitive(document, keys[i][0]), keys[i][1],
                         "", keys[i][2]);
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(document, "devices")) ok =
        ok && append_device(record, device);
    return ok && append_members(record, cJSON_GetObjectItemCaseSensitive(document, "environment"),
                                "environment ");
}

/* ---- the whole ---- */

static enum xb_status read_backend(struct xb_place *place, const cJSON *document, const char **name,
                                   const char **driver, struct xb_error *error)
{
    const cJSON *backend = NULL;
    enum xb_status status = xb_json_need_object(place, document, "backend", &backend, error);
    if (status != XB_OK)
        return status;
    size_t length = xb_place_enter(place, "backend");
    status = xb_json_need_text(place, backend, "name", name, error);
    if (status == XB_OK)
        status = xb_json_take_text(place, backend, "driver_version", driver, error);
    xb_place_leave(place, length);
    return status;
}

/* Checks what says the conditions; *config: the options in effect. */
static enum xb_status read_objects(const struct xb_place *place, const cJSON *document,
                                   const cJSON **config, struct xb_error *error)
{
    static const char *const others[] = {"host", "tool", "environment"};
    const cJSON *unused = NULL;
    enum xb_status status = xb_json_need_object(place, document, "config", config, error);
    if (status == XB_OK)
        status = xb_json_take_object(place, document, "config", MOST_OPTIONS, &unused, error);
    for (size_t i = 0; status == XB_OK && i < sizeof others / sizeof others[0]; i++)
        status = xb_json_take_object(place, document, others[i], MOST_VARIABLES, &unused, error);
    return status;
}

enum xb_status xb_record_read_conditions(struct xb_place *place, const cJSON *document,
                                         struct xb_record *record, struct xb_error *error)
{
    const cJSON *config = NULL;
    enum xb_status status = read_backend(place, document, &record->backend, &record->driver, error);
    if (status == XB_OK)
        status = read_objects(place, document, &config, error);
    if (status != XB_OK)
        return status;
    if (!append_facts(record, document) || !xb_record_append_options(record, config))
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the conditions of %.200s", place->path);
    return XB_OK;
}

enum xb_status xb_record_check_conditions(struct xb_place *place, const cJSON *document,
                                          const struct xb_record *record,
                                          struct xb_record_process *process, struct xb_error *error)
{
    char text[XB_RECORD_DIFFERENCE];
    struct xb_record own = {.path = record->path, .processes = process, .process_count = 1};
    enum xb_status status = xb_record_read_conditions(place, document, &own, error);
    const char *difference =
        status == XB_OK ? xb_record_other_condition(record, &own, text, sizeof text) : NULL;
    if (difference != NULL)
        status =
            xb_json_wrong(place, NULL, error, "measured under other conditions: %s", difference);
    free(own.options);
    free(own.facts);
    xb_arena_free(own.texts);
    return status;
}
