/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the list of backends, and finds, names and opens those in it. */
#include "registry.h"

#include "base/options.h"

#include <stdio.h>
#include <string.h>

/* XB_OK where a table is as it must be, else XB_ERR_INTERNAL with the message. */
#define REQUIRE(is_right, error, ...)                                                              \
    ((is_right) ? XB_OK : XB_FAIL((error), XB_ERR_INTERNAL, __VA_ARGS__))

const struct xb_slot xb_slots[] = {
#define SLOT(prefix, name, needs) {#name, (needs), offsetof(struct xb_backend, name)},
    XB_SLOTS(SLOT, SLOT, SLOT, SLOT, SLOT, )
#undef SLOT
        {.name = NULL}};

static bool is_empty(const struct xb_backend *backend, const struct xb_slot *slot)
{
    void (*function)(void); /* all function pointers look alike */
    memcpy(&function, (const char *)backend + slot->offset, sizeof function);
    return function == NULL;
}

/* The first slot that the table lacks, though every backend has it, or another of its group. */
static const char *missing_slot(const struct xb_backend *backend)
{
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++) {
        bool is_grouped = (slot->needs & (XB_SLOT_PEERS | XB_SLOT_PROFILER)) != 0;
        bool is_needed = slot->needs == XB_SLOT_ALWAYS;
        for (const struct xb_slot *other = xb_slots; is_grouped && other->name != NULL; other++)
            is_needed = is_needed || (other->needs == slot->needs && !is_empty(backend, other));
        if (is_needed && is_empty(backend, slot))
            return slot->name;
    }
    return NULL;
}

static enum xb_status check_backend(const struct xb_backend_entry *entry, struct xb_error *error)
{
    const struct xb_backend *backend = entry->backend;
    if (backend == NULL)
        return REQUIRE(entry->absent_reason != NULL, error,
                       "backend %s is not in this build, and the list does not say why",
                       entry->name);
    XB_TRY(REQUIRE(backend->abi == XB_BACKEND_ABI, error,
                   "backend %s was made for table version %u, not %u", entry->name, backend->abi,
                   XB_BACKEND_ABI));
    XB_TRY(REQUIRE(backend->name != NULL && strcmp(backend->name, entry->name) == 0, error,
                   "backend %s calls itself %s", entry->name,
                   backend->name != NULL ? backend->name : "nothing"));
    XB_TRY(REQUIRE(backend->kernels != NULL || backend->queue_compute != xb_queue_compute, error,
                   "backend %s has slots of kernels that lack its `kernels`", entry->name));
    const char *slot = missing_slot(backend);
    return REQUIRE(slot == NULL, error, "backend %s lacks the slot %s", entry->name, slot);
}

enum xb_status xb_registry_check(const struct xb_backend_entry *backends, struct xb_error *error)
{
    for (size_t i = 0; backends[i].name != NULL; i++) {
        XB_TRY(check_backend(&backends[i], error));
        for (size_t before = 0; before < i; before++)
            XB_TRY(REQUIRE(strcmp(backends[before].name, backends[i].name) != 0, error,
                           "two backends are called %s", backends[i].name));
    }
    return XB_OK;
}

enum xb_status xb_registry_check_device(const struct xb_backend *backend,
                                        const struct xb_device_info *info, struct xb_error *error)
{
    XB_TRY(REQUIRE((info->capabilities & XB_CAP_HOLD) == 0 || info->held_operations != 0, error,
                   "backend %s: device %u claims to hold queues, but takes nothing behind a hold",
                   backend->name, info->index));
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++)
        for (unsigned i = 0; i < XB_CAPABILITIES; i++)
            XB_TRY(REQUIRE(
                (info->capabilities & slot->needs & 1u << i) == 0 || !is_empty(backend, slot),
                error, "backend %s: device %u claims the capability %s without the slot %s",
                backend->name, info->index, xb_capability_names[i], slot->name));
    return XB_OK;
}

const struct xb_backend_entry *xb_backend_find(const char *name)
{
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

bool xb_backend_is_automatic(const struct xb_backend_entry *entry)
{
    return entry->backend == NULL || entry->backend->automatic;
}

const char *xb_backend_names(enum xb_backend_kind kind, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        bool is_meant = kind == XB_BACKENDS_ALL ||
                        xb_backend_is_automatic(entry) == (kind == XB_BACKENDS_AUTOMATIC);
        if (!is_meant || length >= size)
            continue;
        const char *separator = length > 0 ? ", " : "";
        length += (size_t)snprintf(text + length, size - length, "%s%s", separator, entry->name);
    }
    return text;
}

enum xb_status xb_backend_check_name(const char *name, struct xb_error *error)
{
    const char *names[16] = {XB_BACKEND_AUTO};
    char all[256];
    char meant[80] = ".";
    size_t count = 1;
    if (strcmp(name, XB_BACKEND_AUTO) == 0 || xb_backend_find(name) != NULL)
        return XB_OK;
    for (size_t i = 0; xb_backends[i].name != NULL && count + 1 < sizeof names / sizeof *names; i++)
        names[count++] = xb_backends[i].name;
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    if (nearest != NULL)
        snprintf(meant, sizeof meant, "; did you mean '%s'?", nearest);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--backend: there is no backend '%.100s'%s It takes %s or " XB_BACKEND_AUTO,
                   name, meant, xb_backend_names(XB_BACKENDS_ALL, all, sizeof all));
}

struct xb_driver *xb_backend_open(const struct xb_backend_entry *entry, struct xb_probe *probe)
{
    struct xb_driver *driver = NULL;
    struct xb_error ignored; /* the probe says it in more detail */
    *probe = (struct xb_probe){.check_count = 0};
    if (entry->backend == NULL || entry->backend->driver_open(&driver, probe, &ignored) != XB_OK)
        driver = NULL;
    for (size_t i = 0; i < probe->check_count; i++)
        xb_debug("probe", "%s: %s: %s", entry->name, probe->checks[i].what, probe->checks[i].found);
    return driver;
}

struct xb_driver *xb_backend_open_first(const char *name, struct xb_probe *probe,
                                        xb_backend_refused *refused, void *argument)
{
    bool automatic = strcmp(name, XB_BACKEND_AUTO) == 0;
    *probe = (struct xb_probe){.check_count = 0}; /* where the list has no such backend */
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        if (automatic ? !xb_backend_is_automatic(entry) : strcmp(entry->name, name) != 0)
            continue;
        struct xb_driver *driver = xb_backend_open(entry, probe);
        if (driver != NULL)
            return driver;
        refused(argument, entry, probe);
    }
    return NULL;
}
