/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the list of backends, and finds, names and opens those in it. */
#include "registry.h"

#include "base/options.h"

#include <stdio.h>
#include <string.h>

/* XB_OK where a table is as it must be, else XB_ERR_INTERNAL with the message. */
#define REQUIRE(is_right, error, ...)                                                              \
    ((is_right) ? XB_OK : XB_FAIL((error), XB_ERR_INTERNAL, __VA_ARGS__))

/* The first mandatory slot that the table lacks, or NULL. */
static const char *missing_slot(const struct xb_backend *backend)
{
#define SLOT(name) ((struct slot){#name, backend->name != NULL})
    const struct slot {
        const char *name;
        bool present;
    } slots[] = {SLOT(driver_open),         SLOT(driver_close), SLOT(device_info),
                 SLOT(device_open),         SLOT(device_close), SLOT(device_memory),
                 SLOT(buffer_allocate),     SLOT(buffer_free),  SLOT(queue_open),
                 SLOT(queue_close),         SLOT(queue_copy),   SLOT(queue_fill),
                 SLOT(queue_open_blocking), SLOT(queue_check),  SLOT(queue_wait_event),
                 SLOT(queue_wait),          SLOT(event_open),   SLOT(event_close),
                 SLOT(event_record),        SLOT(event_wait),   SLOT(event_elapsed)};
#undef SLOT
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (!slots[i].present)
            return slots[i].name;
    bool peers = backend->peer_info != NULL;
    if ((backend->peer_open != NULL) != peers || (backend->peer_close != NULL) != peers ||
        (backend->queue_copy_peer != NULL) != peers)
        return "peer_info, peer_open, peer_close and queue_copy_peer, all or none";
    bool profiler = backend->range_push != NULL;
    if ((backend->range_pop != NULL) != profiler || (backend->profiler_collect != NULL) != profiler)
        return "range_push, range_pop and profiler_collect, all or none";
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
#define HAS(slot) (backend->slot != NULL)
    bool pieces = HAS(pieces_open) && HAS(pieces_close);
    const struct {
        const char *what;
        uint32_t capability;
        bool served;
    } needs[] = {
        {"to hold queues, without the slots or the depth for it", XB_CAP_HOLD,
         HAS(queue_hold) && HAS(queue_release) && info->held_operations != 0},
        {"to run kernels, without the slots for it", XB_CAP_KERNELS,
         pieces && HAS(queue_kernel_copy) && HAS(queue_compute) && HAS(queue_chain) &&
             HAS(queue_chase) && HAS(queue_kernel_pieces) && HAS(queue_decode) &&
             HAS(queue_digest)},
        {"to have managed memory, without the slots for it", XB_CAP_MANAGED,
         HAS(queue_prefetch) && HAS(buffer_advise)},
        {"to page-lock memory, without the slot for it", XB_CAP_REGISTER, HAS(buffer_register)},
        {"to copy many pieces by one call, without the slots for it", XB_CAP_BATCH,
         pieces && HAS(queue_copy_pieces)},
        {"to replay graphs, without the slots for it", XB_CAP_GRAPH,
         pieces && HAS(graph_open) && HAS(graph_close) && HAS(queue_graph)},
        {"to copy rows, without the slot for it", XB_CAP_ROWS, HAS(queue_copy_rows)},
        {"to have a pool, without the slot for it", XB_CAP_POOL, HAS(queue_allocate)},
        {"to read files, without the slots for it", XB_CAP_FILE,
         HAS(file_open) && HAS(file_close) && HAS(file_read) && HAS(file_way)},
    };
#undef HAS
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        XB_TRY(REQUIRE((info->capabilities & needs[i].capability) == 0 || needs[i].served, error,
                       "backend %s: device %u claims %s", backend->name, info->index,
                       needs[i].what));
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
