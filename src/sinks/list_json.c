/* SPDX-License-Identifier: Apache-2.0 */
#include "json_tree.h"

#include "xferbench/sink.h"
#include "xferbench/version.h"

/* The keys and their meaning stand in docs/list.schema.json. */

static cJSON *capabilities_json(uint32_t capabilities)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            ok = xb_json_append(array, xb_json_text(xb_capability_names[i]));
    return xb_json_complete(array, ok);
}

/* Of what it cannot do, why: where there is more to say than that. */
static cJSON *lacks_json(const struct xb_device_info *info)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < XB_CAPABILITIES; i++)
        if (info->lacks[i][0] != '\0')
            ok = xb_json_put(object, xb_capability_names[i], xb_json_text(info->lacks[i]));
    return xb_json_complete(object, ok);
}

static cJSON *device_json(const char *backend, const struct xb_device_info *info)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "backend", xb_json_text(backend)) &&
                    xb_json_put(object, "index", xb_json_whole(info->index)) &&
                    xb_json_put(object, "name", xb_json_text(info->name)) &&
                    xb_json_put(object, "uuid", xb_json_optional(info->uuid)) &&
                    xb_json_put(object, "architecture", xb_json_optional(info->architecture)) &&
                    xb_json_put(object, "pci_bdf", xb_json_optional(info->pci_bdf)) &&
                    xb_json_put(object, "memory_bytes", xb_json_whole(info->memory_bytes)) &&
                    xb_json_put(object, "capabilities", capabilities_json(info->capabilities)) &&
                    xb_json_put(object, "lacks", lacks_json(info)) &&
                    xb_json_put(object, "facts", xb_json_facts(info)));
}

static cJSON *checks_json(const struct xb_probe *probe)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < probe->check_count; i++) {
        cJSON *check = cJSON_CreateObject();
        ok = xb_json_append(
            array,
            xb_json_complete(
                check, xb_json_put(check, "what", xb_json_text(probe->checks[i].what)) &&
                           xb_json_put(check, "found", xb_json_text(probe->checks[i].found)) &&
                           xb_json_put(check, "ok", cJSON_CreateBool(probe->checks[i].ok))));
    }
    return xb_json_complete(array, ok);
}

static cJSON *backends_json(const struct xb_inventory *inventory)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < inventory->count; i++) {
        const struct xb_found_backend *found = &inventory->backends[i];
        const struct xb_probe *probe = &found->probe;
        cJSON *backend = cJSON_CreateObject();
        bool complete =
            xb_json_put(backend, "name", xb_json_text(found->entry->name)) &&
            xb_json_put(backend, "usable", cJSON_CreateBool(found->usable)) &&
            xb_json_put(backend, "absent_reason", xb_json_optional(found->entry->absent_reason)) &&
            xb_json_put(backend, "runtime_version", xb_json_optional(probe->runtime_version)) &&
            xb_json_put(backend, "driver_version", xb_json_optional(probe->driver_version)) &&
            xb_json_put(backend, "runtime_library", xb_json_optional(probe->runtime_library)) &&
            xb_json_put(backend, "runtime_override", xb_json_optional(probe->runtime_override)) &&
            xb_json_put(backend, "checks", checks_json(probe));
        ok = xb_json_append(array, xb_json_complete(backend, complete));
    }
    return xb_json_complete(array, ok);
}

static cJSON *devices_json(const struct xb_inventory *inventory)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; i < inventory->count; i++) {
        const struct xb_found_backend *found = &inventory->backends[i];
        for (size_t d = 0; ok && d < found->device_count; d++)
            ok = xb_json_append(array, device_json(found->entry->name, &found->devices[d]));
    }
    return xb_json_complete(array, ok);
}

/* `directions`: bits of enum xb_direction. */
static cJSON *directions_json(unsigned directions)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (unsigned i = 0; ok && i < XB_DIRECTIONS; i++) {
        enum xb_direction direction = (enum xb_direction)(1u << i);
        if ((directions & direction) != 0)
            ok = xb_json_append(array, xb_json_text(xb_direction_name(direction)));
    }
    return xb_json_complete(array, ok);
}

static cJSON *mode_options_json(const struct xb_mode *mode)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && mode->options != NULL && mode->options[i] != NULL; i++)
        ok = xb_json_append(array, xb_json_text(mode->options[i]->name));
    return xb_json_complete(array, ok);
}

static cJSON *variant_json(const struct xb_mode *mode, const char *variant)
{
    uint32_t needed = mode->capabilities != NULL ? mode->capabilities(variant) : 0;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(object, xb_json_put(object, "name", xb_json_text(variant)) &&
                                        xb_json_put(object, "needs", capabilities_json(needed)));
}

static cJSON *mode_variants_json(const struct xb_mode *mode)
{
    const char *const only[] = {mode->variant, NULL};
    const char *const *variants =
        mode->variant_option != NULL ? mode->variant_option->choices : only;
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && variants[i] != NULL; i++)
        ok = xb_json_append(array, variant_json(mode, variants[i]));
    return xb_json_complete(array, ok);
}

static cJSON *modes_json(void)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && xb_modes[i] != NULL; i++) {
        cJSON *mode = cJSON_CreateObject();
        bool complete =
            xb_json_put(mode, "name", xb_json_text(xb_modes[i]->name)) &&
            xb_json_put(mode, "summary", xb_json_text(xb_modes[i]->summary)) &&
            xb_json_put(mode, "directions", directions_json(xb_modes[i]->directions)) &&
            xb_json_put(mode, "default_directions", directions_json(xb_modes[i]->by_default)) &&
            xb_json_put(mode, "variants", mode_variants_json(xb_modes[i])) &&
            xb_json_put(mode, "options", mode_options_json(xb_modes[i]));
        ok = xb_json_append(array, xb_json_complete(mode, complete));
    }
    return xb_json_complete(array, ok);
}

static cJSON *list_json(const void *source)
{
    const struct xb_inventory *inventory = source;
    cJSON *root = cJSON_CreateObject();
    return xb_json_complete(root, xb_json_put(root, "schema", xb_json_text("xferbench.list")) &&
                                      xb_json_put(root, "schema_version", xb_json_whole(1)) &&
                                      xb_json_put(root, "version", xb_json_text(XB_VERSION)) &&
                                      xb_json_put(root, "backends", backends_json(inventory)) &&
                                      xb_json_put(root, "devices", devices_json(inventory)) &&
                                      xb_json_put(root, "modes", modes_json()));
}

enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                  struct xb_error *error)
{
    return xb_json_print(stream, list_json, inventory, error);
}
