/* SPDX-License-Identifier: Apache-2.0 */
/* Under which conditions it was measured, but for the devices. */
#include "reader.h"

#include "machine/node.h"

#include <stdlib.h>
#include <string.h>

/* More of these come from no run, and would make work for nothing. */
#define MOST_VARIABLES 1024
#define MOST_OPTIONS 512

static void read_backend(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record *record = reader->record;
    const cJSON *backend = xb_json_get_object(&reader->json, document, "backend");
    size_t length = xb_place_enter(&reader->json.place, "backend");
    record->backend = xb_json_get_text(&reader->json, backend, "name");
    record->driver = xb_json_get_optional_text(&reader->json, backend, "driver_version");
    record->runtime = xb_json_get_optional_text(&reader->json, backend, "runtime_version");
    record->library = xb_json_get_known_text(&reader->json, backend, "runtime_library");
    record->library_named_by = xb_json_get_known_text(&reader->json, backend, "runtime_override");
    xb_place_leave(&reader->json.place, length);
}

static void read_tool(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record *record = reader->record;
    const cJSON *tool = xb_json_get_object(&reader->json, document, "tool");
    size_t length = xb_place_enter(&reader->json.place, "tool");
    record->version = xb_json_get_optional_text(&reader->json, tool, "version");
    record->compiler = xb_json_get_optional_text(&reader->json, tool, "compiler");
    const char *build_type =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tool, "build_type"));
    if (build_type != NULL && build_type[0] == '\0') /* CMake was not told one */
        record->build_type = build_type;
    else
        record->build_type = xb_json_get_optional_text(&reader->json, tool, "build_type");
    xb_place_leave(&reader->json.place, length);
}

static void read_host(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record_host *host = &reader->record->host;
    const cJSON *object = xb_json_get_object(&reader->json, document, "host");
    size_t length = xb_place_enter(&reader->json.place, "host");
    host->hostname = xb_json_get_optional_text(&reader->json, object, "hostname");
    host->os = xb_json_get_optional_text(&reader->json, object, "os");
    host->kernel = xb_json_get_optional_text(&reader->json, object, "kernel");
    host->cpu_model = xb_json_get_optional_text(&reader->json, object, "cpu_model");
    host->logical_cpus =
        xb_json_get_optional_whole(&reader->json, object, "logical_cpus", XB_RECORD_MOST_BYTES);
    host->memory_bytes =
        xb_json_get_optional_whole(&reader->json, object, "memory_bytes", XB_RECORD_MOST_BYTES);
    host->numa_nodes =
        xb_json_get_optional_whole(&reader->json, object, "numa_nodes", XB_RECORD_MOST_BYTES);
    host->node = xb_json_get_known_text(&reader->json, object, "node");
    host->node_named_by = xb_json_get_known_text(&reader->json, object, "node_named_by");
    xb_place_leave(&reader->json.place, length);
}

static void read_launcher(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record_launcher *launcher = &reader->record->launcher;
    const cJSON *object = xb_json_get_known_object(&reader->json, document, "launcher");
    launcher->rank = -1;
    if (object == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, "launcher");
    uint64_t rank = xb_json_get_whole(&reader->json, object, "rank", 0, XB_RANKS - 1);
    launcher->ranks = xb_json_get_optional_whole(&reader->json, object, "ranks", XB_RANKS);
    launcher->named_by = xb_json_get_optional_text(&reader->json, object, "named_by");
    if (launcher->ranks > 0 && rank >= launcher->ranks)
        xb_json_refuse(&reader->json, "rank", "must be below the number of ranks");
    launcher->rank = (int64_t)rank;
    xb_place_leave(&reader->json.place, length);
}

void xb_reader_read_start(struct xb_reader *reader, const cJSON *document,
                          struct xb_record_start *start)
{
    struct xb_json_reader *json = &reader->json;
    const cJSON *object = xb_json_get_object(json, document, "start");
    size_t outer = xb_place_enter(&json->place, "start");
    start->asked = xb_json_get_known_text(json, object, "asked");
    start->by = xb_json_get_known_text(json, object, "by");
    start->began = xb_json_get_known_text(json, object, "began");
    start->late_s = xb_json_get_known_number(json, object, "late_s", XB_RECORD_MOST_SECONDS);
    const cJSON *clock = xb_json_get_object(json, object, "clock");
    size_t inner = xb_place_enter(&json->place, "clock");
    start->synchronised = xb_json_get_known_flag(json, clock, "synchronised", &start->clock_known);
    start->clock_error_s = xb_json_get_known_number(json, clock, "error_s", XB_RECORD_MOST_SECONDS);
    xb_place_leave(&json->place, inner);
    xb_place_leave(&json->place, outer);
}

/* The options in effect. They are an array of their own, so that a caller can add to them. Early
 * builds had --barrier and --barrier-tasks, which said only when to begin. */
static void read_options(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record *record = reader->record;
    size_t count = 0;
    const struct xb_record_fact *options =
        xb_reader_read_facts(reader, document, "config", MOST_OPTIONS, &count);
    if (options == NULL)
        return;
    record->options = calloc(count + 1, sizeof *record->options);
    if (record->options == NULL) {
        xb_json_refuse_memory(&reader->json);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (strncmp(options[i].name, "barrier", strlen("barrier")) != 0)
            record->options[record->option_count++] = options[i];
}

void xb_reader_read_conditions(struct xb_reader *reader, const cJSON *document)
{
    struct xb_record *record = reader->record;
    read_backend(reader, document);
    read_options(reader, document);
    read_tool(reader, document);
    read_host(reader, document);
    read_launcher(reader, document);
    xb_reader_read_start(reader, document, &record->start);
    record->environment = xb_reader_read_facts(reader, document, "environment", MOST_VARIABLES,
                                               &record->environment_count);
}

void xb_reader_check_conditions(struct xb_reader *reader, const cJSON *document,
                                struct xb_record_process *process)
{
    char text[XB_RECORD_DIFFERENCE];
    struct xb_record own = {.processes = process, .process_count = 1};
    struct xb_reader of_own = *reader;
    of_own.record = &own;
    xb_reader_read_conditions(&of_own, document);
    reader->json = of_own.json;
    const char *difference =
        !xb_json_failed(&reader->json)
            ? xb_record_other_condition(reader->record, &own, text, sizeof text)
            : NULL;
    if (difference != NULL)
        xb_json_refuse(&reader->json, NULL, "measured under other conditions: %s", difference);
    free(own.options);
    xb_arena_free(own.texts);
}
