/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "measure/case.h"
#include "record/document.h"
#include "record/mode_list.h"
#include "xferbench/version.h"

/* The keys and their meaning stand in docs/list.schema.json. */

typedef struct xb_device_info device;
typedef struct xb_probe probe;
typedef struct xb_probe_check check;

static void put_capabilities(struct xb_json *json, const char *key, uint32_t capabilities)
{
    xb_json_open_array(json, key);
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            xb_json_put_text(json, NULL, xb_capability_names[i]);
    xb_json_close(json);
}

const struct xb_field xb_list_device_fields[] = {
    XB_FIELD("index", UNSIGNED, device, index),
    XB_FIELD("name", TEXT, device, name),
    XB_FIELD("uuid", TEXT, device, uuid, XB_NULL_IF_EMPTY),
    XB_FIELD("architecture", TEXT, device, architecture, XB_NULL_IF_EMPTY),
    XB_FIELD("pci_bdf", TEXT, device, pci_bdf, XB_NULL_IF_EMPTY),
    XB_FIELD("memory_bytes", UINT64, device, memory_bytes),
    XB_FIELDS_END};

static const struct xb_field check_fields[] = {XB_FIELD("what", TEXT, check, what),
                                               XB_FIELD("found", TEXT, check, found),
                                               XB_FIELD("ok", FLAG, check, ok), XB_FIELDS_END};

const struct xb_field xb_list_probe_fields[] = {
    XB_FIELD("runtime_version", TEXT, probe, runtime_version, XB_NULL_IF_EMPTY),
    XB_FIELD("driver_version", TEXT, probe, driver_version, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_library", TEXT, probe, runtime_library, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_override", TEXT, probe, runtime_override, XB_NULL_IF_EMPTY),
    XB_ITEMS("checks", probe, checks, check_count, XB_PROBE_CHECKS, check_fields),
    XB_FIELDS_END};

static void put_backend(struct xb_json *json, const struct xb_found_backend *found)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", found->entry->name);
    xb_json_put_flag(json, "usable", found->usable);
    xb_json_put_optional(json, "absent_reason", found->entry->absent_reason);
    xb_fields_put(json, xb_list_probe_fields, &found->probe);
    xb_json_close(json);
}

static void put_device(struct xb_json *json, const char *backend, const device *of)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "backend", backend);
    xb_fields_put(json, xb_list_device_fields, of);
    put_capabilities(json, "capabilities", of->capabilities);
    xb_json_open_object(json,
                        "lacks"); /* what it cannot do, where there is more to say than that */
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (of->lacks[i][0] != '\0')
            xb_json_put_text(json, xb_capability_names[i], of->lacks[i]);
    xb_json_close(json);
    xb_document_put_facts(json, "facts", of);
    xb_json_close(json);
}

/* `directions`: bits of enum xb_direction. */
static void put_directions(struct xb_json *json, const char *key, unsigned directions)
{
    xb_json_open_array(json, key);
    for (unsigned i = 0; i < XB_DIRECTIONS; i++) {
        enum xb_direction direction = (enum xb_direction)(1u << i);
        if ((directions & direction) != 0)
            xb_json_put_text(json, NULL, xb_direction_name(direction));
    }
    xb_json_close(json);
}

void xb_list_each_variant(const struct xb_mode *mode, xb_list_variant *take, void *argument)
{
    const char *const only[] = {mode->variant, NULL};
    const char *const *variants =
        mode->variant_option != NULL ? mode->variant_option->choices : only;
    for (size_t i = 0; variants[i] != NULL; i++) {
        struct xb_case test = {.mode = mode, .variant = variants[i]};
        for (size_t combination = 0; xb_case_set(&test, combination, NULL); combination++)
            if (xb_case_can_be(&test))
                take(argument, &test, mode->capabilities != NULL ? mode->capabilities(&test) : 0);
    }
}

static void put_variant(void *argument, const struct xb_case *test, uint32_t needs)
{
    struct xb_json *json = argument;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", test->variant);
    xb_json_open_array(json, "parameters");
    for (size_t i = 0; i < test->setting_count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "name", test->settings[i].option->name);
        xb_json_put_text(json, "value", test->settings[i].word);
        xb_json_close(json);
    }
    xb_json_close(json);
    put_capabilities(json, "needs", needs);
    xb_json_close(json);
}

static void put_mode(struct xb_json *json, const struct xb_mode *mode)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", mode->name);
    xb_json_put_text(json, "summary", mode->summary);
    put_directions(json, "directions", mode->directions);
    put_directions(json, "default_directions", mode->by_default);
    xb_json_put_text(json, "latency", mode->latency != NULL ? mode->latency->name : NULL);
    xb_json_open_array(json, "variants");
    xb_list_each_variant(mode, put_variant, json);
    xb_json_close(json);
    xb_json_open_array(json, "options");
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        xb_json_put_text(json, NULL, mode->options[i]->name);
    xb_json_close(json);
    xb_json_close(json);
}

enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                  struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.list");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    xb_json_open_array(&json, "backends");
    for (size_t i = 0; i < inventory->count; i++)
        put_backend(&json, &inventory->backends[i]);
    xb_json_close(&json);
    xb_json_open_array(&json, "devices");
    for (size_t i = 0; i < inventory->count; i++)
        for (size_t k = 0; k < inventory->backends[i].device_count; k++)
            put_device(&json, inventory->backends[i].entry->name,
                       &inventory->backends[i].devices[k]);
    xb_json_close(&json);
    xb_json_open_array(&json, "modes");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        put_mode(&json, xb_modes[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
