/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include "xferbench/sink.h"
#include "xferbench/version.h"

#include <cjson/cJSON.h>
#include <string.h>

/* What `list` found out about one backend. */
struct found {
    const struct xb_backend_entry *entry;
    struct xb_driver *driver; /* NULL where it cannot run */
    struct xb_probe probe;
};

static struct found look(const struct xb_backend_entry *entry)
{
    struct found found = {.entry = entry};
    struct xb_error error;
    if (entry->backend != NULL &&
        entry->backend->driver_open(&found.driver, &found.probe, &error) != XB_OK)
        found.driver = NULL;
    return found;
}

static void close_found(const struct found *found)
{
    if (found->driver != NULL)
        found->entry->backend->driver_close(found->driver);
}

/* ---- for people ---- */

static void print_device(const struct xb_device_info *info)
{
    printf("    device %u  %s", info->index, info->name);
    if (info->pci_bdf[0] != '\0')
        printf("  %s", info->pci_bdf);
    if (info->architecture[0] != '\0')
        printf("  %s", info->architecture);
    printf("  %.1f GiB\n", (double)info->memory_bytes / 0x1p30);
}

static void print_backend(const struct found *found)
{
    const struct xb_backend_entry *entry = found->entry;
    if (entry->backend == NULL) {
        printf("  %-5s not in this build: %s\n", entry->name, entry->absent_reason);
        return;
    }
    printf("  %-5s %s%s\n", entry->name, entry->backend->summary,
           found->driver == NULL ? ": cannot run here" : "");
    xb_probe_print(stdout, &found->probe);
    for (unsigned i = 0; i < found->probe.device_count; i++) {
        struct xb_device_info info;
        struct xb_error error;
        char text[1024];
        if (entry->backend->device_info(found->driver, i, &info, &error) == XB_OK)
            print_device(&info);
        else
            printf("    device %u  %s\n", i, xb_error_text(&error, text, sizeof text));
    }
}

static void print_modes(void)
{
    printf("Modes\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        const struct xb_mode *mode = xb_modes[i];
        printf("  %-10s %s\n%13sdirections:%s%s", mode->name, mode->summary, "",
               (mode->directions & XB_H2D) != 0 ? " h2d" : "",
               (mode->directions & XB_D2H) != 0 ? " d2h" : "");
        printf("; options:");
        if (mode->options == NULL)
            printf(" none");
        for (size_t o = 0; mode->options != NULL && mode->options[o] != NULL; o++)
            printf(" --%s", mode->options[o]->name);
        printf("\n");
    }
}

/* ---- for programs ---- */

/* Names of the capabilities, in the order of their bits. */
static const char *const capability_names[] = {"register", "write-combined", "hold"};

/* Adds a new array or object to its parent; NULL if there is no memory, also for a NULL parent. */
static cJSON *add_array(cJSON *parent, const char *key)
{
    return parent != NULL ? cJSON_AddArrayToObject(parent, key) : NULL;
}

static cJSON *append_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    if (array == NULL || object == NULL || !cJSON_AddItemToArray(array, object)) {
        cJSON_Delete(object);
        return NULL;
    }
    return object;
}

static bool append_text(cJSON *array, const char *text)
{
    cJSON *item = cJSON_CreateString(text);
    if (array != NULL && item != NULL && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool add_text(cJSON *object, const char *key, const char *text)
{
    if (object == NULL)
        return false;
    return (text != NULL && text[0] != '\0' ? cJSON_AddStringToObject(object, key, text)
                                            : cJSON_AddNullToObject(object, key)) != NULL;
}

static bool add_device(cJSON *devices, const struct found *found, unsigned index)
{
    struct xb_device_info info;
    struct xb_error error;
    if (found->entry->backend->device_info(found->driver, index, &info, &error) != XB_OK)
        return true; /* the table tells why; a device without properties is no device */
    cJSON *device = append_object(devices);
    bool ok = add_text(device, "backend", found->entry->name) &&
              cJSON_AddNumberToObject(device, "index", info.index) != NULL &&
              add_text(device, "name", info.name) && add_text(device, "uuid", info.uuid) &&
              add_text(device, "architecture", info.architecture) &&
              add_text(device, "pci_bdf", info.pci_bdf) &&
              cJSON_AddNumberToObject(device, "memory_bytes", (double)info.memory_bytes) != NULL;
    cJSON *capabilities = add_array(device, "capabilities");
    for (size_t i = 0; ok && i < sizeof capability_names / sizeof capability_names[0]; i++)
        if ((info.capabilities >> i & 1u) != 0)
            ok = append_text(capabilities, capability_names[i]);
    return ok && capabilities != NULL;
}

static bool add_backend(cJSON *backends, cJSON *devices, const struct found *found)
{
    cJSON *backend = append_object(backends);
    bool ok = add_text(backend, "name", found->entry->name) &&
              cJSON_AddBoolToObject(backend, "usable", found->driver != NULL) != NULL &&
              add_text(backend, "absent_reason", found->entry->absent_reason) &&
              add_text(backend, "runtime_version", found->probe.runtime_version) &&
              add_text(backend, "driver_version", found->probe.driver_version);
    cJSON *checks = add_array(backend, "checks");
    ok = ok && checks != NULL;
    for (size_t i = 0; ok && i < found->probe.check_count; i++) {
        cJSON *check = append_object(checks);
        ok = add_text(check, "what", found->probe.checks[i].what) &&
             add_text(check, "found", found->probe.checks[i].found) &&
             cJSON_AddBoolToObject(check, "ok", found->probe.checks[i].ok) != NULL;
    }
    for (unsigned i = 0; ok && i < found->probe.device_count; i++)
        ok = add_device(devices, found, i);
    return ok;
}

static bool add_mode(cJSON *modes, const struct xb_mode *entry)
{
    cJSON *mode = append_object(modes);
    bool ok = add_text(mode, "name", entry->name) && add_text(mode, "summary", entry->summary);
    cJSON *directions = add_array(mode, "directions");
    if (ok && (entry->directions & XB_H2D) != 0)
        ok = append_text(directions, "h2d");
    if (ok && (entry->directions & XB_D2H) != 0)
        ok = append_text(directions, "d2h");
    cJSON *options = add_array(mode, "options");
    for (size_t i = 0; ok && entry->options != NULL && entry->options[i] != NULL; i++)
        ok = append_text(options, entry->options[i]->name);
    return ok && directions != NULL && options != NULL;
}

static enum xb_status write_json(FILE *stream, const struct found *found, size_t count,
                                 struct xb_error *error)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = add_text(root, "schema", "xferbench.list") &&
              cJSON_AddNumberToObject(root, "schema_version", 1) != NULL &&
              add_text(root, "version", XB_VERSION);
    cJSON *backends = add_array(root, "backends");
    cJSON *devices = add_array(root, "devices");
    cJSON *modes = add_array(root, "modes");
    for (size_t i = 0; ok && i < count; i++)
        ok = add_backend(backends, devices, &found[i]);
    for (size_t i = 0; ok && xb_modes[i] != NULL; i++)
        ok = add_mode(modes, xb_modes[i]);
    char *text = ok ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (text == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to write the list as JSON");
    bool written = fprintf(stream, "%s\n", text) >= 0;
    cJSON_free(text);
    if (!written)
        return XB_FAIL(error, XB_ERR_SYSTEM, "the list could not be written");
    return XB_OK;
}

static int list(const struct xb_config *config, const struct found *found, size_t count)
{
    const struct xb_value *json = xb_config_get(config, "json");
    struct xb_output output = {0};
    struct xb_error error;
    enum xb_status status = XB_OK;
    if (json->is_set) {
        status = xb_output_open(&output, json->text, &error);
        if (status == XB_OK)
            status = write_json(output.stream, found, count, &error);
        if (status == XB_OK)
            status = xb_output_commit(&output, &error);
        xb_output_discard(&output);
    }
    if (!json->is_set || strcmp(json->text, "-") != 0) {
        printf("Backends\n");
        for (size_t i = 0; i < count; i++)
            print_backend(&found[i]);
        print_modes();
    }
    return status == XB_OK ? XB_EXIT_OK : xb_cli_fail(&error);
}

int xb_command_list(int argc, char **argv)
{
    struct xb_config config;
    struct xb_error error;
    int code = 0;
    if (xb_config_parse(xb_list_rows, argc, argv, &config, &error) != XB_OK)
        return xb_cli_fail(&error);
    if (!xb_help_answer(&config, &code)) {
        struct found found[16];
        size_t count = 0;
        for (; xb_backends[count].name != NULL && count < 16; count++)
            found[count] = look(&xb_backends[count]);
        code = list(&config, found, count);
        for (size_t i = 0; i < count; i++)
            close_found(&found[i]);
    }
    xb_config_free(&config);
    return code;
}
