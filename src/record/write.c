/* SPDX-License-Identifier: Apache-2.0 */
/* docs/result.schema.json says what the keys mean. */
#include "write.h"

#include "document.h"
#include "fields.h"

#include <math.h>

/* ---- the conditions ---- */

void xb_record_put_host(struct xb_json *json, const struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    xb_json_open_object(json, "host");
    xb_json_put_text(json, "hostname", host->hostname);
    xb_json_put_text(json, "os", host->os);
    xb_json_put_text(json, "kernel", host->kernel);
    xb_json_put_text(json, "cpu_model", host->cpu_model);
    xb_json_put_whole(json, "logical_cpus", host->logical_cpus);
    xb_json_put_whole(json, "memory_bytes", host->memory_bytes);
    xb_json_put_known_whole(json, "numa_nodes", host->numa_nodes > 0, host->numa_nodes);
    xb_json_put_text(json, "node", host->node);
    xb_json_put_text(json, "node_named_by", host->node_named_by);
    xb_json_close(json);
}

void xb_record_put_launcher(struct xb_json *json, const struct xb_record *record)
{
    const struct xb_record_launcher *launcher = &record->launcher;
    if (launcher->rank < 0) {
        xb_json_put_null(json, "launcher");
        return;
    }
    xb_json_open_object(json, "launcher");
    xb_json_put_whole(json, "rank", (uint64_t)launcher->rank);
    xb_json_put_known_whole(json, "ranks", launcher->ranks > 0, launcher->ranks);
    xb_json_put_text(json, "named_by", launcher->named_by);
    xb_json_close(json);
}

static void put_clock(struct xb_json *json, const struct xb_record_start *start)
{
    xb_json_open_object(json, "clock");
    xb_json_put_known_flag(json, "synchronised", start->clock_known, start->synchronised);
    xb_json_put_known_number(json, "error_s", start->clock_known, start->clock_error_s);
    xb_json_close(json);
}

void xb_record_put_start(struct xb_json *json, const struct xb_record *record)
{
    const struct xb_record_start *start = &record->start;
    xb_json_open_object(json, "start");
    xb_json_put_text(json, "asked", start->asked);
    xb_json_put_text(json, "by", start->by);
    xb_json_put_text(json, "began", start->began);
    xb_json_put_known_number(json, "late_s", start->asked != NULL, start->late_s);
    put_clock(json, start);
    xb_json_close(json);
}

void xb_record_put_backend(struct xb_json *json, const struct xb_record *record)
{
    if (record->backend == NULL) {
        xb_json_put_null(json, "backend");
        return;
    }
    xb_json_open_object(json, "backend");
    xb_json_put_text(json, "name", record->backend);
    xb_json_put_text(json, "runtime_version", record->runtime);
    xb_json_put_text(json, "driver_version", record->driver);
    xb_json_put_text(json, "runtime_library", record->library);
    xb_json_put_text(json, "runtime_override", record->library_named_by);
    xb_json_close(json);
}

static void put_ceiling(struct xb_json *json, const struct xb_record_ceiling *ceiling)
{
    if (ceiling == NULL) {
        xb_json_put_null(json, "ceiling");
        return;
    }
    xb_json_open_object(json, "ceiling");
    xb_json_put_text(json, "at", ceiling->at);
    xb_json_put_number(json, "speed_gts", ceiling->speed_gts);
    xb_json_put_whole(json, "width", ceiling->width);
    xb_json_put_whole(json, "payload_bytes", ceiling->payload);
    xb_json_put_whole(json, "read_request_bytes", ceiling->read_request);
    xb_json_put_number(json, "h2d_bytes_per_second", ceiling->h2d);
    xb_json_put_number(json, "d2h_bytes_per_second", ceiling->d2h);
    xb_json_close(json);
}

static void put_link(struct xb_json *json, const struct xb_record_device *device)
{
    if (!device->link_known) {
        xb_json_put_null(json, "link");
        return;
    }
    xb_json_open_object(json, "link");
    xb_json_put_number(json, "speed_gts", device->link_speed_gts);
    xb_json_put_whole(json, "width", device->link_width);
    xb_json_put_number(json, "max_speed_gts", device->link_max_speed_gts);
    xb_json_put_whole(json, "max_width", device->link_max_width);
    xb_json_put_text(json, "port", device->link_port);
    xb_json_put_text(json, "read",
                     device->link_under_load ? "while data moved" : "right after transfers");
    put_ceiling(json, device->ceiling);
    xb_json_close(json);
}

static void put_numa(struct xb_json *json, const struct xb_record_device *device)
{
    xb_json_open_object(json, "numa");
    xb_json_put_index(json, "node", device->numa_node);
    xb_json_put_flag(json, "bound", device->bound);
    xb_json_put_flag(json, "as_expected", device->bound || device->numa_is_normal);
    xb_json_put_whole(json, "cpus", device->cpus);
    xb_json_put_text(json, "note", device->numa_note);
    xb_json_close(json);
}

static void put_device(struct xb_json *json, const struct xb_record_device *device)
{
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "index", device->index);
    xb_json_put_text(json, "name", device->name);
    xb_json_put_text(json, "uuid", device->uuid);
    xb_json_put_text(json, "architecture", device->architecture);
    xb_json_put_text(json, "pci_bdf", device->pci_bdf);
    xb_json_put_whole(json, "memory_bytes", device->memory_bytes);
    xb_json_put_flag(json, "shares_host_memory", device->shares_host_memory);
    xb_json_put_text(json, "driver", device->driver);
    put_link(json, device);
    put_numa(json, device);
    xb_record_put_fact_list(json, "facts", device->facts, device->fact_count);
    xb_json_close(json);
}

void xb_record_put_devices(struct xb_json *json, const struct xb_record *record)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    xb_json_open_array(json, "devices");
    for (size_t i = 0; i < count; i++)
        put_device(json, &devices[i]);
    xb_json_close(json);
}

void xb_record_put_environment(struct xb_json *json, const struct xb_record *record)
{
    xb_record_put_fact_list(json, "environment", record->environment, record->environment_count);
}

void xb_record_put_config(struct xb_json *json, const struct xb_record *record)
{
    if (record->options == NULL)
        xb_json_put_null(json, "config");
    else
        xb_record_put_fact_list(json, "config", record->options, record->option_count);
}

/* ---- the results ---- */

void xb_record_put_case(struct xb_json *json, const struct xb_record_case *test)
{
    xb_fields_put(json, xb_record_case_fields, test);
}

void xb_record_put_figure(struct xb_json *json, const struct xb_record_figure *figure)
{
    xb_json_put_text(json, "name", figure->name);
    xb_json_put_text(json, "unit", figure->unit);
    xb_json_put_flag(json, "more_is_better", figure->more_is_better);
    xb_json_put_flag(json, "gates", figure->gates);
}

void xb_record_put_statistics(struct xb_json *json, const struct xb_statistics *statistics)
{
    bool interval = statistics->has_interval;
    xb_json_put_number(json, "median", statistics->median);
    xb_json_put_number(json, "ci95_low", interval ? statistics->ci95_low : (double)NAN);
    xb_json_put_number(json, "ci95_high", interval ? statistics->ci95_high : (double)NAN);
    xb_json_put_number(json, "min", statistics->min);
    xb_json_put_number(json, "max", statistics->max);
    xb_json_put_number(json, "p5", statistics->p5);
    xb_json_put_number(json, "p95", statistics->p95);
    xb_json_put_number(json, "p99", statistics->p99);
    xb_json_put_number(json, "mad", statistics->mad);
    xb_json_put_whole(json, "n", statistics->n);
}

void xb_record_put_verified(struct xb_json *json, enum xb_verified verified)
{
    xb_json_put_known_flag(json, "verified", verified != XB_VERIFIED_UNKNOWN,
                           verified == XB_VERIFIED_TRUE);
}

static void put_figures(struct xb_json *json, const struct xb_record_row *row)
{
    xb_json_open_array(json, "figures");
    for (size_t i = 0; i < row->figure_count; i++) {
        const struct xb_record_figure *figure = &row->figures[i];
        xb_json_open_object(json, NULL);
        xb_record_put_figure(json, figure);
        xb_record_put_statistics(json, &figure->statistics);
        xb_json_put_numbers(json, "samples", figure->samples, figure->sample_count);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void put_error(struct xb_json *json, const struct xb_record_error *error)
{
    if (error == NULL) {
        xb_json_put_null(json, "error");
        return;
    }
    xb_json_open_object(json, "error");
    xb_json_put_text(json, "status", error->status);
    xb_json_put_number(json, "native_code", (double)error->native_code);
    xb_json_put_text(json, "native_name", error->native_name);
    xb_json_put_text(json, "call", error->call);
    xb_json_put_text(json, "message", error->message);
    xb_json_put_text(json, "at", error->at);
    xb_json_close(json);
}

static void put_details(struct xb_json *json, const struct xb_record_row *row)
{
    xb_json_open_object(json, "details");
    for (size_t i = 0; i < row->detail_count; i++) {
        const struct xb_record_detail *detail = &row->details[i];
        if (detail->text != NULL)
            xb_json_put_text(json, detail->name, detail->text);
        else
            xb_json_put_number(json, detail->name, detail->number);
    }
    xb_json_close(json);
}

static void put_placements(struct xb_json *json, const struct xb_record_placements *placements)
{
    if (placements->count == 0) {
        xb_json_put_null(json, "placements");
        return;
    }
    xb_json_open_array(json, "placements");
    for (size_t i = 0; i < placements->count; i++)
        xb_json_put_whole(json, NULL, placements->samples[i]);
    xb_json_close(json);
}

static void put_row(struct xb_json *json, const struct xb_record_row *row)
{
    xb_json_put_text(json, "status", xb_result_status_name(row->status));
    xb_json_put_text(json, "reason", row->reason);
    put_error(json, row->error);
    xb_json_put_text(json, "timer", row->timer);
    xb_json_put_known_whole(json, "bytes_moved", row->bytes_moved > 0, row->bytes_moved);
    xb_json_put_numbers(json, "samples_s", row->times, row->time_count);
    put_placements(json, &row->placements);
    put_figures(json, row);
    xb_json_put_text(json, "stop_reason", row->stop_reason);
    xb_record_put_verified(json, row->verified);
    xb_json_open_array(json, "warnings");
    for (size_t i = 0; i < row->warning_count; i++)
        xb_json_put_text(json, NULL, row->warning_texts[i]);
    xb_json_close(json);
    put_details(json, row);
}

static void put_results(struct xb_json *json, const struct xb_record *record)
{
    xb_json_open_array(json, "results");
    for (size_t i = 0; i < record->case_count; i++) {
        xb_json_open_object(json, NULL);
        xb_record_put_case(json, &record->cases[i]);
        put_row(json, &record->cases[i].rows[0]);
        xb_json_close(json);
    }
    xb_json_close(json);
}

void xb_record_put(struct xb_json *json, const struct xb_record *record)
{
    xb_document_put_schema(json, "xferbench.result", XB_RECORD_VERSION);
    xb_json_put_flag(json, "interrupted", record->interrupted);
    xb_json_put_known_flag(json, "deadline_met", record->has_deadline, record->deadline_met);
    xb_record_put_host(json, record);
    xb_record_put_launcher(json, record);
    xb_record_put_start(json, record);
    xb_record_put_backend(json, record);
    xb_record_put_devices(json, record);
    xb_record_put_environment(json, record);
    xb_record_put_config(json, record);
    put_results(json, record);
}
