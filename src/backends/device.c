/* SPDX-License-Identifier: Apache-2.0 */
/* Describes devices and kinds of memory, and writes chains. */
#include "slots.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const xb_capability_names[XB_CAPABILITIES + 1] = {
    "register", "write-combined", "hold", "kernels", "mapped",   "managed", "batch",
    "graph",    "rows",           "file", "pool",    "pageable", "bulk",    NULL};

const char *xb_probe_add(struct xb_probe *probe, bool ok, const char *what, const char *format, ...)
{
    struct xb_probe_check *check = &probe->checks[probe->check_count++];
    check->ok = ok;
    snprintf(check->what, sizeof check->what, "%s", what);
    XB_FORMAT(check->found, sizeof check->found, format);
    return check->found;
}

enum xb_status xb_driver_make(const struct xb_backend *backend, const char *called,
                              struct xb_driver **driver, struct xb_error *error)
{
    struct xb_driver *made = calloc(1, sizeof *made);
    if (made == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open the %s backend", called);
    made->backend = backend;
    *driver = made;
    return XB_OK;
}

void xb_driver_drop(struct xb_driver *driver)
{
    free(driver);
}

const char *xb_memory_name(enum xb_memory memory)
{
    static const char *const names[] = {[XB_MEMORY_DEVICE] = "device",
                                        [XB_MEMORY_PAGEABLE] = "pageable",
                                        [XB_MEMORY_PINNED] = "pinned",
                                        [XB_MEMORY_REGISTERED] = "registered",
                                        [XB_MEMORY_WRITE_COMBINED] = "write-combined",
                                        [XB_MEMORY_MAPPED] = "mapped",
                                        [XB_MEMORY_MANAGED] = "managed"};
    return (unsigned)memory < sizeof names / sizeof names[0] ? names[memory] : "unknown";
}

bool xb_memory_in_reach(enum xb_memory memory, const struct xb_device *device)
{
    return memory == XB_MEMORY_DEVICE || memory == XB_MEMORY_MAPPED ||
           memory == XB_MEMORY_MANAGED ||
           (memory == XB_MEMORY_PAGEABLE && (device->info.capabilities & XB_CAP_PAGEABLE) != 0);
}

const char *xb_device_lacks(const struct xb_device_info *info, uint32_t capability)
{
    for (unsigned i = 0; i < XB_CAPABILITIES; i++)
        if (capability == 1u << i)
            return info->lacks[i];
    return "";
}

void xb_device_withhold(struct xb_device_info *info, uint32_t capabilities, const char *reason)
{
    for (unsigned i = 0; i < XB_CAPABILITIES; i++)
        if ((capabilities & 1u << i) != 0)
            snprintf(info->lacks[i], sizeof info->lacks[i], "%s", reason);
    info->capabilities &= ~capabilities;
}

void xb_device_tells_access(struct xb_device_info *info, bool reaches, bool by_host_tables)
{
    xb_device_fact(info, "pageable_access", "%s",
                   !reaches         ? "no"
                   : by_host_tables ? "yes, by the host's page tables (ATS)"
                                    : "yes, by page faults (HMM)");
    if (reaches)
        info->capabilities |= XB_CAP_PAGEABLE;
    else
        xb_device_withhold(
            info, XB_CAP_PAGEABLE,
            "the driver lets kernels reach no memory of malloc: neither HMM nor ATS");
}

void xb_device_fact(struct xb_device_info *info, const char *key, const char *format, ...)
{
    assert(info->fact_count < XB_DEVICE_FACTS);
    if (info->fact_count == XB_DEVICE_FACTS)
        return;
    struct xb_fact *fact = &info->facts[info->fact_count++];
    snprintf(fact->key, sizeof fact->key, "%s", key);
    XB_FORMAT(fact->value, sizeof fact->value, format);
}

void xb_chain_write(void *memory, void *seen, uint64_t bytes, enum xb_access access)
{
    uint64_t lines = bytes / XB_CHAIN_LINE;
    uint64_t at = xb_chain_offset(access, bytes, 0);
    for (uint64_t turn = 1; turn <= lines; turn++) {
        uint64_t next = xb_chain_offset(access, bytes, turn);
        const void *address = (char *)seen + next;
        memcpy((char *)memory + at, &address, sizeof address);
        at = next;
    }
}
