/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of one process, as its document describes them. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* More of these come from no run, and would make work for nothing. */
#define MOST_DEVICES 64
#define MOST_KEYS 64
#define MOST_GTS 1024.0 /* of a link; Gen7 has 128 */
#define MOST_LANES 64
#define MOST_PACKET 65536 /* bytes; PCI Express has 4096 */
#define MOST_CPUS 1000000

static void read_ceiling(struct xb_reader *reader, const cJSON *link,
                         struct xb_record_device *device)
{
    const cJSON *object = xb_json_get_known_object(&reader->json, link, "ceiling");
    struct xb_record_ceiling *ceiling =
        object != NULL ? xb_reader_room(reader, 1, sizeof *ceiling) : NULL;
    if (ceiling == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, "ceiling");
    ceiling->at = xb_json_get_text(&reader->json, object, "at");
    ceiling->speed_gts = xb_json_get_number(&reader->json, object, "speed_gts", MOST_GTS);
    ceiling->width = (unsigned)xb_json_get_whole(&reader->json, object, "width", 1, MOST_LANES);
    ceiling->payload =
        (unsigned)xb_json_get_whole(&reader->json, object, "payload_bytes", 1, MOST_PACKET);
    ceiling->read_request =
        (unsigned)xb_json_get_whole(&reader->json, object, "read_request_bytes", 1, MOST_PACKET);
    ceiling->h2d =
        xb_json_get_number(&reader->json, object, "h2d_bytes_per_second", XB_RECORD_MOST_RATE);
    ceiling->d2h =
        xb_json_get_number(&reader->json, object, "d2h_bytes_per_second", XB_RECORD_MOST_RATE);
    xb_place_leave(&reader->json.place, length);
    device->ceiling = ceiling;
}

static bool was_under_load(struct xb_reader *reader, const cJSON *link)
{
    const char *read = xb_json_get_text(&reader->json, link, "read");
    return read != NULL && strcmp(read, "while data moved") == 0;
}

static void read_link(struct xb_reader *reader, const cJSON *object,
                      struct xb_record_device *device)
{
    const cJSON *link = xb_json_get_known_object(&reader->json, object, "link");
    if (link == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, "link");
    device->link_speed_gts = xb_json_get_number(&reader->json, link, "speed_gts", MOST_GTS);
    uint64_t width = xb_json_get_whole(&reader->json, link, "width", 1, MOST_LANES);
    double fastest = xb_json_get_optional_number(&reader->json, link, "max_speed_gts", MOST_GTS);
    uint64_t widest = xb_json_get_optional_whole(&reader->json, link, "max_width", MOST_LANES);
    device->link_port = xb_json_get_known_text(&reader->json, link, "port");
    device->link_under_load = was_under_load(reader, link);
    read_ceiling(reader, link, device);
    xb_place_leave(&reader->json.place, length);
    device->link_known = true;
    device->link_width = (unsigned)width;
    device->link_max_speed_gts = fastest > 0 ? fastest : 0;
    device->link_max_width = (unsigned)widest;
}

static void read_numa(struct xb_reader *reader, const cJSON *object,
                      struct xb_record_device *device)
{
    const cJSON *numa = xb_json_get_object(&reader->json, object, "numa");
    size_t length = xb_place_enter(&reader->json.place, "numa");
    device->numa_node = xb_json_get_index(&reader->json, numa, "node");
    device->bound = xb_json_get_flag(&reader->json, numa, "bound");
    uint64_t cpus = xb_json_get_optional_whole(&reader->json, numa, "cpus", MOST_CPUS);
    device->numa_note = xb_json_get_optional_text(&reader->json, numa, "note");
    device->numa_is_normal = xb_json_get_flag(&reader->json, numa, "as_expected");
    xb_place_leave(&reader->json.place, length);
    device->cpus = (unsigned)cpus;
}

static void read_device(struct xb_reader *reader, const cJSON *object,
                        struct xb_record_device *device)
{
    if (!cJSON_IsObject(object)) {
        xb_json_refuse(&reader->json, NULL, "must be an object");
        return;
    }
    uint64_t index = xb_json_get_whole(&reader->json, object, "index", 0, MOST_DEVICES - 1);
    device->index = (unsigned)index;
    device->name = xb_json_get_text(&reader->json, object, "name");
    device->uuid = xb_json_get_optional_text(&reader->json, object, "uuid");
    device->architecture = xb_json_get_optional_text(&reader->json, object, "architecture");
    device->pci_bdf = xb_json_get_optional_text(&reader->json, object, "pci_bdf");
    device->driver = xb_json_get_optional_text(&reader->json, object, "driver");
    device->memory_bytes =
        xb_json_get_optional_whole(&reader->json, object, "memory_bytes", XB_RECORD_MOST_BYTES);
    read_link(reader, object, device);
    read_numa(reader, object, device);
    device->facts = xb_reader_read_facts(reader, object, "facts", MOST_KEYS, &device->fact_count);
    device->shares_host_memory = xb_json_get_flag(&reader->json, object, "shares_host_memory");
}

/* Rows name their device by its index. */
static void check_index(struct xb_reader *reader, const struct xb_record_process *process)
{
    size_t last = process->device_count - 1;
    for (size_t i = 0; i < last; i++)
        if (process->devices[i].index == process->devices[last].index)
            xb_json_refuse(&reader->json, "index", "is that of devices[%zu] too", i);
}

void xb_reader_read_devices(struct xb_reader *reader, const cJSON *document,
                            struct xb_record_process *process)
{
    const cJSON *device;
    const cJSON *devices = xb_json_get_array(&reader->json, document, "devices");
    size_t count = (size_t)cJSON_GetArraySize(devices);
    if (count == 0 || count > MOST_DEVICES)
        xb_json_refuse(&reader->json, "devices", "must be 1 to %d", MOST_DEVICES);
    if (xb_json_failed(&reader->json))
        return;
    process->devices = calloc(count + 1, sizeof *process->devices);
    if (process->devices == NULL) {
        xb_json_refuse_memory(&reader->json);
        return;
    }
    size_t outer = xb_place_enter(&reader->json.place, "devices");
    cJSON_ArrayForEach(device, devices)
    {
        size_t length = xb_place_enter_item(&reader->json.place, process->device_count);
        read_device(reader, device, &process->devices[process->device_count++]);
        check_index(reader, process);
        xb_place_leave(&reader->json.place, length);
    }
    xb_place_leave(&reader->json.place, outer);
}
