/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The fake backend's driver, devices, buffers and peers; its queues are in fake_queue.c. */
#include "fake_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct xb_fake no_faults = {
    .capabilities = XB_CAP_REGISTER | XB_CAP_WRITE_COMBINED | XB_CAP_HOLD | XB_CAP_KERNELS |
                    XB_CAP_MAPPED | XB_CAP_MANAGED | XB_CAP_BATCH | XB_CAP_GRAPH | XB_CAP_ROWS |
                    XB_CAP_FILE | XB_CAP_POOL | XB_CAP_PAGEABLE | XB_CAP_BULK,
    .device_count = 1,
    .held_operations = 64,
};

struct xb_fake xb_fake;

/* [device][other]: whether the one may reach the other's memory. */
static bool open_peers[XB_FAKE_MAX_DEVICES][XB_FAKE_MAX_DEVICES];

void xb_fake_reset(void)
{
    xb_fake = no_faults;
    memset(open_peers, 0, sizeof open_peers);
    xb_fake_begin_time();
}

/* Devices are opened by several threads at once. */
static bool is_the_one_to_fail(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool fails = ++xb_fake.calls == xb_fake.fail_at;
    xb_fake.failures += fails;
    pthread_mutex_unlock(&lock);
    return fails;
}

bool xb_fake_fails(const char *call, struct xb_error *error)
{
    if (!is_the_one_to_fail())
        return false;
    (void)!XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, 999, "fakeErrorInjected",
                          "the fake backend was told to fail at call %u", xb_fake.fail_at);
    return true;
}

/* ---- driver and device ---- */

enum xb_status xb_fake_driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                   struct xb_error *error)
{
    enum xb_status status = xb_host_backend.driver_open(driver, probe, error);
    if (status == XB_OK) {
        (*driver)->backend = &xb_fake_backend;
        xb_damager.inner = &xb_fake_plain;
        xb_damager.flip = xb_fake_flip_bit;
        if (xb_damager.damage == NULL)
            xb_damager.damage = &xb_fake.damage;
        probe->device_count = xb_fake.device_count;
    }
    return status;
}

void xb_fake_driver_close(struct xb_driver *driver)
{
    xb_host_backend.driver_close(driver);
}

enum xb_status xb_fake_device_info(struct xb_driver *driver, unsigned index,
                                   struct xb_device_info *info, struct xb_error *error)
{
    if (index >= xb_fake.device_count)
        return XB_FAIL(error, XB_ERR_USAGE, "there is no fake device %u", index);
    if (index + 1 == xb_fake.sick_device)
        return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "device_info", 999, "fakeErrorSick",
                              "the fake device %u does not answer", index);
    enum xb_status status = xb_host_backend.device_info(driver, 0, info, error);
    info->index = index;
    snprintf(info->name, sizeof info->name, "Fake GPU");
    snprintf(info->pci_bdf, sizeof info->pci_bdf, "0000:%02x:00.0", (index + 1) & 0xffu);
    if (index == 0 && xb_fake.pci_bdf != NULL)
        snprintf(info->pci_bdf, sizeof info->pci_bdf, "%s", xb_fake.pci_bdf);
    if (xb_fake.architecture != NULL)
        snprintf(info->architecture, sizeof info->architecture, "%s", xb_fake.architecture);
    info->shares_host_memory = xb_fake.device_memory_free == 0;
    info->capabilities = xb_fake.capabilities;
    info->host_clock = false; /* the virtual one is the device's own */
    info->held_operations = xb_fake.held_operations;
    info->multiprocessors = XB_FAKE_MULTIPROCESSORS;
    return status;
}

void xb_fake_device_health(struct xb_driver *driver, unsigned index, unsigned parts,
                           struct xb_device_health *health)
{
    static uint64_t readings;
    (void)driver;
    readings += (parts & XB_HEALTH_COUNTERS) != 0;
    *health =
        (struct xb_device_health){.nvlinks_known = true,
                                  .nvlinks_active = XB_FAKE_PEER_LINKS - xb_fake.links_down[index],
                                  .nvlinks_inactive = xb_fake.links_down[index],
                                  .replays_known = true,
                                  .replays = readings * xb_fake.replay_rises,
                                  .throttle_known = true,
                                  .slowed_by_hardware = xb_fake.slowed_by_hardware};
    if ((parts & XB_HEALTH_TRAFFIC) != 0 && xb_fake.pcie_overhead > 0) {
        const uint64_t begin = UINT32_MAX - UINT64_C(0xffff); /* the counters wrap soon */
        const uint64_t others = ++xb_fake.pcie_readings / 2 * xb_fake.pcie_burst;
        health->traffic_known = true;
        health->bytes_received = (uint32_t)(begin + others + (uint64_t)xb_fake.pcie_bytes[0]);
        health->bytes_sent = (uint32_t)(begin + others + (uint64_t)xb_fake.pcie_bytes[1]);
    }
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        health->counted[i] = true;
        health->counts[i] = readings * xb_fake.pcie_rises[i];
    }
    for (unsigned i = 0; i < XB_FAKE_PEER_LINKS; i++)
        health->nvlinks[i] = (struct xb_nvlink){.known = true,
                                                .active = i < health->nvlinks_active,
                                                .rate = XB_FAKE_PEER_LINK_RATE,
                                                .counted = {[XB_NVLINK_RECOVERIES] = true}};
    if (index + 1 == xb_fake.retraining_device)
        health->nvlinks[XB_FAKE_RETRAINED_LINK].counts[XB_NVLINK_RECOVERIES] = xb_fake.retrained;
}

void xb_fake_device_setup(struct xb_driver *driver, unsigned index, struct xb_device_setup *setup)
{
    (void)driver;
    (void)index;
    *setup = xb_fake.setup;
}

enum xb_status xb_fake_device_open(struct xb_driver *driver, unsigned index,
                                   struct xb_device **device, struct xb_error *error)
{
    struct xb_device *opened = NULL;
    ENTER(device_open);
    enum xb_status status = xb_host_backend.device_open(driver, 0, &opened, error);
    if (status != XB_OK)
        return status;
    status = xb_fake_device_info(driver, index, &opened->info, error);
    if (status != XB_OK) {
        xb_host_backend.device_close(opened);
        return status;
    }
    xb_fake_number_queues_anew(index);
    opened->backend = &xb_fake_backend;
    *device = opened;
    return XB_OK;
}

void xb_fake_device_close(struct xb_device *device)
{
    xb_host_backend.device_close(device);
}

enum xb_status xb_fake_device_memory(struct xb_device *device, uint64_t *free_bytes,
                                     struct xb_error *error)
{
    if (xb_fake.device_memory_free == 0)
        return xb_host_backend.device_memory(device, free_bytes, error);
    *free_bytes = xb_fake.device_memory_free;
    return XB_OK;
}

/* ---- buffers ---- */

/* The capability that such memory takes; 0 for none. */
static uint32_t capability_of(enum xb_memory memory)
{
    return memory == XB_MEMORY_REGISTERED       ? XB_CAP_REGISTER
           : memory == XB_MEMORY_WRITE_COMBINED ? XB_CAP_WRITE_COMBINED
           : memory == XB_MEMORY_MAPPED         ? XB_CAP_MAPPED
           : memory == XB_MEMORY_MANAGED        ? XB_CAP_MANAGED
                                                : 0;
}

static enum xb_status check_managed(struct xb_device *device, uint64_t bytes,
                                    struct xb_error *error)
{
    uint64_t free_bytes = 0;
    enum xb_status status = xb_fake_device_memory(device, &free_bytes, error);
    if (status == XB_OK && bytes > free_bytes / 2)
        return XB_FAIL(error, XB_ERR_MEMORY,
                       "managed memory may take half of the %llu bytes that are free",
                       (unsigned long long)free_bytes);
    return status;
}

/* What host buffers held when they were freed, in that order. A buffer like one of them takes the
 * first. */
static struct {
    enum xb_memory memory;
    uint64_t bytes;
    void *held;
} left[64];
static size_t left_count;

static void leave(const struct xb_buffer *buffer)
{
    void *held = left_count < sizeof left / sizeof left[0] ? malloc(buffer->bytes) : NULL;
    if (held == NULL)
        return;
    memcpy(held, buffer->host_address, buffer->bytes);
    left[left_count].memory = buffer->memory;
    left[left_count].bytes = buffer->bytes;
    left[left_count++].held = held;
}

static void take_what_was_left(struct xb_buffer *buffer)
{
    for (size_t i = 0; i < left_count; i++)
        if (left[i].memory == buffer->memory && left[i].bytes == buffer->bytes) {
            memcpy(buffer->host_address, left[i].held, buffer->bytes);
            free(left[i].held);
            memmove(&left[i], &left[i + 1], (--left_count - i) * sizeof left[0]);
            return;
        }
}

enum xb_status xb_fake_buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error)
{
    ENTER(buffer_allocate);
    if (bytes == xb_fake.no_room_for && bytes > 0)
        return XB_FAIL(error, XB_ERR_MEMORY, "the fake device has no room for that");
    if ((capability_of(memory) & ~xb_fake.capabilities) != 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "the fake device has no %s memory",
                       xb_memory_name(memory));
    if (memory == XB_MEMORY_MANAGED && check_managed(device, bytes, error) != XB_OK)
        return error->status;
    /* The host backend has no such memory: plain memory plays it. */
    bool played = memory == XB_MEMORY_WRITE_COMBINED || memory == XB_MEMORY_MANAGED;
    enum xb_status status = xb_host_backend.buffer_allocate(
        device, played ? XB_MEMORY_PINNED : memory, bytes, buffer, error);
    if (status == XB_OK)
        (*buffer)->memory = memory;
    if (status == XB_OK && xb_fake.memory_comes_back && (*buffer)->host_address != NULL)
        take_what_was_left(*buffer);
    return status;
}

enum xb_status xb_fake_queue_allocate(struct xb_queue *queue, uint64_t bytes,
                                      struct xb_buffer **buffer, struct xb_error *error)
{
    return xb_fake_buffer_allocate(queue->device, XB_MEMORY_DEVICE, bytes, buffer, error);
}

enum xb_status xb_fake_buffer_register(struct xb_device *device, void *address, uint64_t bytes,
                                       struct xb_buffer **buffer, struct xb_error *error)
{
    ENTER(buffer_register);
    if ((xb_fake.capabilities & XB_CAP_REGISTER) == 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "the fake device has no %s memory",
                       xb_memory_name(XB_MEMORY_REGISTERED));
    return xb_host_backend.buffer_register(device, address, bytes, buffer, error);
}

enum xb_status xb_fake_buffer_advise(struct xb_buffer *buffer, enum xb_advice advice,
                                     struct xb_error *error)
{
    ENTER(buffer_advise);
    if (buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "there is no advice on %s memory",
                       xb_memory_name(buffer->memory));
    xb_fake.advice = advice;
    return XB_OK;
}

void xb_fake_buffer_free(struct xb_buffer *buffer)
{
    if (xb_fake.memory_comes_back && buffer != NULL && buffer->host_address != NULL)
        leave(buffer);
    xb_host_backend.buffer_free(buffer);
}

/* ---- peers ---- */

static bool *peer_place(unsigned device, unsigned other)
{
    return &open_peers[device % XB_FAKE_MAX_DEVICES][other % XB_FAKE_MAX_DEVICES];
}

bool xb_fake_peer_is_open(const struct xb_device *device, const struct xb_device *other)
{
    return *peer_place(device->info.index, other->info.index);
}

static enum xb_status check_pair(unsigned index, unsigned other, struct xb_error *error)
{
    if (index < xb_fake.device_count && other < xb_fake.device_count && index != other)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "the fake devices %u and %u are no pair", index, other);
}

enum xb_status xb_fake_peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                 struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    if (xb_fake_fails("peer_info", error) || check_pair(index, other, error) != XB_OK)
        return error->status;
    *info = (struct xb_peer_info){.can_access = !xb_fake.no_peer_access,
                                  .link = "NVLink",
                                  .links = XB_FAKE_PEER_LINKS - xb_fake.links_down[index],
                                  .link_rate = XB_FAKE_PEER_LINK_RATE};
    return XB_OK;
}

enum xb_status xb_fake_peer_open(struct xb_device *device, struct xb_device *other,
                                 struct xb_error *error)
{
    if (xb_fake_fails("peer_open", error) ||
        check_pair(device->info.index, other->info.index, error) != XB_OK)
        return error->status;
    if (xb_fake.no_peer_access)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "device %u cannot reach the memory of device %u",
                       device->info.index, other->info.index);
    bool *place = peer_place(device->info.index, other->info.index);
    xb_fake.peers_open += !*place; /* opening twice is opening once */
    *place = true;
    return XB_OK;
}

void xb_fake_peer_close(struct xb_device *device, struct xb_device *other)
{
    if (device == NULL || other == NULL)
        return;
    bool *place = peer_place(device->info.index, other->info.index);
    xb_fake.peers_open -= *place;
    *place = false;
}

/* ---- files: the host backend's, with faults ---- */

enum xb_status xb_fake_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error)
{
    ENTER(file_open);
    return xb_host_file_open(device, descriptor, file, error);
}

void xb_fake_file_close(struct xb_file *file)
{
    xb_host_file_close(file);
}

enum xb_status xb_fake_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error)
{
    ENTER(file_read);
    return xb_damage_file_read(file, file_offset, buffer, offset, bytes, error);
}

enum xb_status xb_fake_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error)
{
    ENTER(file_way);
    return xb_host_file_way(file, way, error);
}

/* ---- profiler ---- */

void xb_fake_range_push(const char *name)
{
    xb_fake.range_depth++;
    xb_fake.ranges++;
    xb_fake.samples_collected += xb_fake.collecting && strcmp(name, "sample") == 0;
}

void xb_fake_range_pop(void)
{
    xb_fake.range_depth--;
}

/* In turns, in the range of a case and in none of its samples. */
void xb_fake_profiler_collect(bool on)
{
    xb_fake.badly_collected |= on == xb_fake.collecting || xb_fake.range_depth != 1;
    xb_fake.collecting = on;
}

const struct xb_backend xb_fake_backend = {
    .name = "fake",
    .summary = "the host backend with faults",
    .automatic = true,
    .kernels = &xb_fake_kernels,
    XB_FILL(XB_FAKE_SLOTS, xb_fake_),
};
