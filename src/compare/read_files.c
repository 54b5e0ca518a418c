/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison that is read back says of the files that were compared. */
#include "read_internal.h"

#define MOST_DEVICES 1024

static void read_devices(struct xb_comparison_reader *r, const cJSON *object,
                         struct xb_record_process *process)
{
    size_t count = 0;
    const cJSON *item = xb_comparison_get_items(r, object, "devices", MOST_DEVICES, &count);
    process->devices = xb_comparison_room(r, count, sizeof *process->devices);
    if (process->devices == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "devices");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        process->devices[i].name = xb_comparison_get_text(r, item, "name");
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    process->device_count = count;
}

static void read_processes(struct xb_comparison_reader *r, const cJSON *object,
                           struct xb_record *record)
{
    size_t count = 0;
    const cJSON *item =
        xb_comparison_get_items(r, object, "processes", XB_RECORD_PROCESSES, &count);
    record->processes = xb_comparison_room(r, count, sizeof *record->processes);
    if (record->processes == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "processes");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        record->processes[i].interrupted = xb_json_get_flag(&r->json, item, "interrupted");
        record->processes[i].deadline_met = xb_json_get_flag(&r->json, item, "deadline_met");
        read_devices(r, item, &record->processes[i]);
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    record->process_count = count;
}

void xb_comparison_read_file(struct xb_comparison_reader *r, const cJSON *root, const char *key,
                             struct xb_record *record)
{
    const cJSON *object = xb_json_get_object(&r->json, root, key);
    size_t outer = xb_place_enter(&r->json.place, key);
    record->path = (char *)xb_comparison_get_text(r, object, "path"); /* nobody writes to it */
    record->backend = xb_comparison_get_text(r, object, "backend");
    record->driver = xb_comparison_get_text(r, object, "driver_version");
    /* Files of early builds have none of these. */
    record->host.hostname = xb_json_get_optional_text(&r->json, object, "hostname");
    record->host.node = xb_json_get_optional_text(&r->json, object, "node");
    record->asked_processes =
        (size_t)xb_json_get_whole(&r->json, object, "asked_processes", 0, MOST_BYTES);
    read_processes(r, object, record);
    if (xb_json_get_whole(&r->json, object, "process_count", 0, MOST_BYTES) !=
        record->process_count)
        xb_json_refuse(&r->json, "process_count", "is not that of \"processes\"");
    xb_place_leave(&r->json.place, outer);
}
