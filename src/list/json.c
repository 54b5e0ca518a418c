/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "json.h"
#include "measure/case.h"
#include "record/document.h"
#include "record/mode_list.h"
#include "xferbench/version.h"

/* The keys and their meaning stand in docs/list.schema.json. */

static void put_capabilities(struct xb_json *json, const char *key, uint32_t capabilities)
{
    xb_json_open_array(json, key);
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            xb_json_put_text(json, NULL, xb_capability_names[i]);
    xb_json_close(json);
}

/* Of what the device cannot do, why, where there is more to say than that. */
static void put_lacks(struct xb_json *json, const struct xb_device_info *info)
{
    xb_json_open_object(json, "lacks");
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (info->lacks[i][0] != '\0')
            xb_json_put_text(json, xb_capability_names[i], info->lacks[i]);
    xb_json_close(json);
}

static void put_device(struct xb_json *json, const char *backend, const struct xb_device_info *info)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "backend", backend);
    xb_json_put_whole(json, "index", info->index);
    xb_json_put_text(json, "name", info->name);
    xb_json_put_optional(json, "uuid", info->uuid);
    xb_json_put_optional(json, "architecture", info->architecture);
    xb_json_put_optional(json, "pci_bdf", info->pci_bdf);
    xb_json_put_whole(json, "memory_bytes", info->memory_bytes);
    put_capabilities(json, "capabilities", info->capabilities);
    put_lacks(json, info);
    xb_document_put_facts(json, "facts", info);
    xb_json_close(json);
}

static void put_checks(struct xb_json *json, const struct xb_probe *probe)
{
    xb_json_open_array(json, "checks");
    for (size_t i = 0; i < probe->check_count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "what", probe->checks[i].what);
        xb_json_put_text(json, "found", probe->checks[i].found);
        xb_json_put_flag(json, "ok", probe->checks[i].ok);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void put_backend(struct xb_json *json, const struct xb_found_backend *found)
{
    const struct xb_probe *probe = &found->probe;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", found->entry->name);
    xb_json_put_flag(json, "usable", found->usable);
    xb_json_put_optional(json, "absent_reason", found->entry->absent_reason);
    xb_json_put_optional(json, "runtime_version", probe->runtime_version);
    xb_json_put_optional(json, "driver_version", probe->driver_version);
    xb_json_put_optional(json, "runtime_library", probe->runtime_library);
    xb_json_put_optional(json, "runtime_override", probe->runtime_override);
    put_checks(json, probe);
    xb_json_close(json);
}

static void put_backends(struct xb_json *json, const struct xb_inventory *inventory)
{
    xb_json_open_array(json, "backends");
    for (size_t i = 0; i < inventory->count; i++)
        put_backend(json, &inventory->backends[i]);
    xb_json_close(json);
}

static void put_devices(struct xb_json *json, const struct xb_inventory *inventory)
{
    xb_json_open_array(json, "devices");
    for (size_t i = 0; i < inventory->count; i++) {
        const struct xb_found_backend *found = &inventory->backends[i];
        for (size_t d = 0; d < found->device_count; d++)
            put_device(json, found->entry->name, &found->devices[d]);
    }
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

static void put_variant(struct xb_json *json, const struct xb_case *test)
{
    const struct xb_mode *mode = test->mode;
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
    put_capabilities(json, "needs", mode->capabilities != NULL ? mode->capabilities(test) : 0);
    xb_json_close(json);
}

static void put_variants(struct xb_json *json, const struct xb_mode *mode)
{
    const char *const only[] = {mode->variant, NULL};
    const char *const *variants =
        mode->variant_option != NULL ? mode->variant_option->choices : only;
    xb_json_open_array(json, "variants");
    for (size_t i = 0; variants[i] != NULL; i++) {
        struct xb_case test = {.mode = mode, .variant = variants[i]};
        for (size_t combination = 0; xb_case_set(&test, combination, NULL); combination++)
            if (xb_case_can_be(&test))
                put_variant(json, &test);
    }
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
    put_variants(json, mode);
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
    put_backends(&json, inventory);
    put_devices(&json, inventory);
    xb_json_open_array(&json, "modes");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        put_mode(&json, xb_modes[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
