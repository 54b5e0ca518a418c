/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include "base/text.h"
#include "making.h"
#include "mode_list.h"

#include <math.h>
#include <string.h>

/* More of these come from no run, and would make work for nothing. */
#define MOST_VARIABLES 1024
#define MOST_OPTIONS 512
#define MOST_PARAMETERS 16
#define MOST_DEVICES 64
#define MOST_FACTS 64 /* of a device */
#define MOST_DETAILS 64
#define MOST_FIGURES 64
#define MOST_GTS 1024 /* of a link; Gen7 has 128 */
#define MOST_LANES 64
#define MOST_PACKET 65536 /* bytes; PCI Express has 4096 */
#define MOST_CPUS 1000000
#define MOST_SECONDS 1000000                  /* of an operation: eleven days */
#define MOST_RATE UINT64_C(1000000000000000)  /* of bytes: no machine has a thousandth of it */
#define MOST_OTHER UINT64_C(9007199254740992) /* of a figure that is neither: 2^53 */

/* Names of fewer letters, so that a member takes one line. */
typedef struct xb_record record;
typedef struct xb_record_host host;
typedef struct xb_launcher launcher;
typedef struct xb_record_start start;
typedef struct xb_record_process process;
typedef struct xb_record_device device;
typedef struct xb_record_case test;
typedef struct xb_record_row row;
typedef struct xb_record_error failure;
typedef struct xb_record_figure figure;

/* ---- an object with any keys, as a list of facts ---- */

/* A value as text: a text as it is, null as NULL, anything else as JSON. */
static const char *value_of(struct xb_json_reader *reader, const cJSON *item)
{
    if (cJSON_IsNull(item))
        return NULL;
    if (cJSON_IsString(item))
        return xb_fields_keep_text(reader, item->valuestring);
    if (cJSON_IsNumber(item)) /* cJSON prints one that is near enough */
        return xb_fields_keep_text(reader, XB_NUMBER_TEXT(item->valuedouble));
    char *printed = cJSON_PrintUnformatted(item);
    if (printed == NULL)
        xb_json_refuse_memory(reader);
    const char *kept = printed != NULL ? xb_fields_keep_text(reader, printed) : NULL;
    cJSON_free(printed);
    return kept;
}

static void write_facts(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const char *base = from;
    const struct xb_record_fact *facts =
        *(const struct xb_record_fact *const *)(base + field->offset);
    xb_json_open_object(json, field->key);
    for (size_t i = 0; i < *(const size_t *)(base + field->count); i++)
        if (facts[i].is_text)
            xb_json_put_text(json, facts[i].name, facts[i].value);
        else
            xb_json_put_raw(json, facts[i].name, facts[i].value);
    xb_json_close(json);
}

/* In a field's `least`: facts are neither flags nor lists; they are sorted, as cases are compared;
 * they are options. */
enum { SCALARS = 1, SORTED = 2, OPTIONS = 4 };

static void read_facts(struct xb_json_reader *reader, const cJSON *object,
                       const struct xb_field *field, void *to)
{
    const cJSON *item, *inner = xb_json_get_object(reader, object, field->key);
    size_t count = (size_t)cJSON_GetArraySize(inner), read = 0;
    if (count > field->most)
        xb_json_refuse(reader, field->key, "has more than %zu keys", (size_t)field->most);
    struct xb_record_fact *facts = xb_fields_room(reader, count, sizeof *facts);
    if (facts == NULL)
        return;
    size_t outer = xb_place_enter(&reader->place, field->key);
    cJSON_ArrayForEach(item, inner)
    {
        /* Early builds had --barrier and --barrier-tasks, which said only when to begin. */
        if ((field->least & OPTIONS) != 0 && strncmp(item->string, "barrier", 7) == 0)
            continue;
        if ((field->least & SCALARS) != 0 && !cJSON_IsNumber(item) && !cJSON_IsString(item) &&
            !cJSON_IsNull(item))
            xb_json_refuse(reader, item->string, "must be a number, a text or null");
        facts[read++] = (struct xb_record_fact){.name = xb_fields_keep_text(reader, item->string),
                                                .value = value_of(reader, item),
                                                .is_text = cJSON_IsString(item)};
    }
    xb_place_leave(&reader->place, outer);
    if (xb_json_failed(reader)) /* some have no name */
        return;
    if ((field->least & SORTED) != 0)
        xb_record_sort_facts(facts, read);
    *(struct xb_record_fact **)((char *)to + field->offset) = facts;
    *(size_t *)((char *)to + field->count) = read;
}

#define FACTS(key_, type, member, count_, most_, ...)                                              \
    XB_CUSTOM(key_, write_facts, read_facts, .offset = offsetof(type, member),                     \
              .count = offsetof(type, count_), .most = (most_), ##__VA_ARGS__)

const struct xb_field xb_record_tool_fields[] = {
    XB_FIELD("version", STRING, record, version, XB_NOT_EMPTY),
    XB_FIELD("compiler", STRING, record, compiler, XB_NOT_EMPTY),
    XB_FIELD("build_type", STRING, record, build_type), /* "" where CMake was not told one */
    XB_FIELDS_END};

static const struct xb_field host_fields[] = {
    XB_FIELD("hostname", STRING, host, hostname, XB_TEXT_OR_NULL),
    XB_FIELD("os", STRING, host, os, XB_TEXT_OR_NULL),
    XB_FIELD("kernel", STRING, host, kernel, XB_TEXT_OR_NULL),
    XB_FIELD("cpu_model", STRING, host, cpu_model, XB_TEXT_OR_NULL),
    XB_FIELD("logical_cpus", UINT64, host, logical_cpus),
    XB_FIELD("memory_bytes", UINT64, host, memory_bytes),
    XB_FIELD("numa_nodes", UINT64, host, numa_nodes, XB_NULL_IF_EMPTY),
    XB_FIELD("node", STRING, host, node, XB_TEXT_OR_NULL),
    XB_FIELD("node_named_by", STRING, host, node_named_by, XB_TEXT_OR_NULL),
    XB_FIELDS_END};

static const struct xb_field launcher_fields[] = {
    XB_FIELD("rank", UINT64, launcher, rank, .most = XB_RANKS - 1),
    XB_FIELD("ranks", UINT64, launcher, ranks, XB_NULL_IF_EMPTY, .most = XB_RANKS),
    XB_FIELD("named_by", STRING, launcher, named_by, XB_NOT_EMPTY), XB_FIELDS_END};

const struct xb_field xb_record_node_fields[] = {
    XB_OBJECT("host", record, host, host_fields),
    XB_OBJECT("launcher", record, launcher, launcher_fields, XB_KNOWN(record, launcher.known)),
    XB_FIELDS_END};

static const struct xb_field clock_fields[] = {
    XB_FIELD("synchronised", FLAG, start, synchronised, XB_KNOWN(start, clock_known)),
    XB_FIELD("error_s", DOUBLE, start, clock_error_s, XB_NULL_IF_NAN, .most = MOST_SECONDS),
    XB_FIELDS_END};

static const struct xb_field start_fields[] = {
    XB_FIELD("asked", STRING, start, asked, XB_TEXT_OR_NULL),
    XB_FIELD("by", STRING, start, by, XB_TEXT_OR_NULL),
    XB_FIELD("began", STRING, start, began, XB_TEXT_OR_NULL),
    XB_FIELD("late_s", DOUBLE, start, late_s, XB_NULL_IF_NAN, .most = MOST_SECONDS),
    XB_PART("clock", clock_fields),
    XB_FIELDS_END};

const struct xb_field xb_record_start_fields[] = {XB_OBJECT("start", record, start, start_fields),
                                                  XB_FIELDS_END};

static const struct xb_field backend_fields[] = {
    XB_FIELD("name", STRING, record, backend, XB_NOT_EMPTY),
    XB_FIELD("runtime_version", STRING, record, runtime, XB_TEXT_OR_NULL),
    XB_FIELD("driver_version", STRING, record, driver, XB_TEXT_OR_NULL),
    XB_FIELD("runtime_library", STRING, record, library, XB_TEXT_OR_NULL),
    XB_FIELD("runtime_override", STRING, record, library_named_by, XB_TEXT_OR_NULL),
    XB_FIELDS_END};

const struct xb_field xb_record_backend_fields[] = {
    XB_PART("backend", backend_fields, XB_PRESENT(record, backend)), XB_FIELDS_END};

const struct xb_field xb_record_settings_fields[] = {
    FACTS("environment", record, environment, environment_count, MOST_VARIABLES),
    FACTS("config", record, options, option_count, MOST_OPTIONS, .least = OPTIONS,
          XB_PRESENT(record, options)),
    XB_FIELDS_END};

const struct xb_field xb_record_merged_fields[] = {
    XB_FIELD("asked", SIZE, record, asked_processes, .least = 1, .most = XB_RECORD_PROCESSES),
    XB_FIELD("role", STRING, record, role, XB_TEXT_OR_NULL),
    XB_FIELD("program", STRING, record, program, XB_TEXT_OR_NULL),
    XB_FIELD("interleaved_with", STRING, record, counterpart, XB_TEXT_OR_NULL),
    XB_FIELD("interrupted", FLAG, record, interrupted),
    XB_FIELD("deadline_met", FLAG, record, deadline_met, XB_KNOWN(record, has_deadline)),
    XB_OBJECT("start", record, start, start_fields),
    XB_FIELDS_END};

const struct xb_field xb_record_end_fields[] = {
    XB_FIELD("interrupted", FLAG, process, interrupted),
    XB_FIELD("deadline_met", FLAG, process, deadline_met, XB_KNOWN(process, has_deadline)),
    XB_FIELDS_END};

static const struct xb_field ceiling_fields[] = {
    XB_FIELD("at", STRING, device, ceiling_at, XB_NOT_EMPTY),
    XB_FIELD("speed_gts", DOUBLE, device, ceiling.speed_gts, XB_ABOVE_0, .most = MOST_GTS),
    XB_FIELD("width", UNSIGNED, device, ceiling.width, .least = 1, .most = MOST_LANES),
    XB_FIELD("payload_bytes", UNSIGNED, device, ceiling.payload, .least = 1, .most = MOST_PACKET),
    XB_FIELD("read_request_bytes", UNSIGNED, device, ceiling.read_request, .least = 1,
             .most = MOST_PACKET),
    XB_FIELD("h2d_bytes_per_second", DOUBLE, device, ceiling.h2d, XB_ABOVE_0, .most = MOST_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, device, ceiling.d2h, XB_ABOVE_0, .most = MOST_RATE),
    XB_FIELDS_END};

static const char *read_word(int under_load)
{
    return under_load ? "while data moved" : "right after transfers";
}

static const struct xb_field link_fields[] = {
    XB_FIELD("speed_gts", DOUBLE, device, link_speed_gts, XB_ABOVE_0, .most = MOST_GTS),
    XB_FIELD("width", UNSIGNED, device, link_width, .least = 1, .most = MOST_LANES),
    XB_FIELD("max_speed_gts", DOUBLE, device, link_max_speed_gts, XB_ABOVE_0, .most = MOST_GTS),
    XB_FIELD("max_width", UNSIGNED, device, link_max_width, .least = 1, .most = MOST_LANES),
    XB_FIELD("port", STRING, device, link_port, XB_TEXT_OR_NULL),
    XB_FIELD("read", WORD, device, link_under_load, .word = read_word, .most = true),
    XB_PART("ceiling", ceiling_fields, XB_KNOWN(device, ceiling.known)),
    XB_FIELDS_END};

static const struct xb_field numa_fields[] = {
    XB_FIELD("node", INDEX, device, numa_node, .most = 1023),
    XB_FIELD("bound", FLAG, device, bound),
    XB_FIELD("as_expected", FLAG, device, numa_is_normal),
    XB_FIELD("cpus", UNSIGNED, device, cpus, .most = MOST_CPUS),
    XB_FIELD("note", STRING, device, numa_note, XB_TEXT_OR_NULL),
    XB_FIELDS_END};

static const struct xb_field device_fields[] = {
    XB_FIELD("index", UNSIGNED, device, index, .most = MOST_DEVICES - 1),
    XB_FIELD("name", STRING, device, name, XB_NOT_EMPTY),
    XB_FIELD("uuid", STRING, device, uuid, XB_TEXT_OR_NULL),
    XB_FIELD("architecture", STRING, device, architecture, XB_TEXT_OR_NULL),
    XB_FIELD("pci_bdf", STRING, device, pci_bdf, XB_TEXT_OR_NULL),
    XB_FIELD("memory_bytes", UINT64, device, memory_bytes),
    XB_FIELD("shares_host_memory", FLAG, device, shares_host_memory),
    XB_FIELD("driver", STRING, device, driver, XB_TEXT_OR_NULL),
    XB_PART("link", link_fields, XB_KNOWN(device, link_known)),
    XB_PART("numa", numa_fields),
    FACTS("facts", device, facts, fact_count, MOST_FACTS),
    XB_FIELDS_END};

/* Rows name their device by its index. */
static void read_device(struct xb_json_reader *reader, const cJSON *item, size_t index, void *to)
{
    process *of = to;
    xb_fields_read(reader, item, device_fields, &of->devices[index]);
    for (size_t i = 0; i < index; i++)
        if (of->devices[i].index == of->devices[index].index)
            xb_json_refuse(reader, "index", "is that of devices[%zu] too", i);
}

const struct xb_field xb_record_devices_fields[] = {
    XB_LIST("devices", process, devices, device_count, MOST_DEVICES, device_fields, .least = 1,
            .item = read_device),
    XB_FIELDS_END};

const struct xb_field xb_record_case_fields[] = {
    XB_FIELD("mode", STRING, test, mode, XB_NOT_EMPTY),
    XB_FIELD("variant", STRING, test, variant, XB_NOT_EMPTY),
    XB_FIELD("direction", STRING, test, direction, XB_NOT_EMPTY),
    XB_FIELD("bytes", UINT64, test, bytes, .least = 1),
    XB_FIELD("device", INDEX, test, device, .most = 1023),
    XB_FIELD("peer", INDEX, test, peer, .most = 1023),
    XB_FIELD("latency", FLAG, test, latency),
    XB_FIELD("simultaneous", FLAG, test, simultaneous),
    FACTS("parameters", test, parameters, parameter_count, MOST_PARAMETERS, .least = SORTED),
    XB_FIELDS_END};

#define FIGURE                                                                                     \
    XB_FIELD("name", STRING, figure, name, XB_NOT_EMPTY),                                          \
        XB_FIELD("unit", STRING, figure, unit, XB_NOT_EMPTY),                                      \
        XB_FIELD("more_is_better", FLAG, figure, more_is_better),                                  \
        XB_FIELD("gates", FLAG, figure, gates),                                                    \
        XB_FIELD("median", DOUBLE, figure, statistics.median),                                     \
        XB_FIELD("ci95_low", DOUBLE, figure, statistics.ci95_low, XB_NULL_IF_NAN,                  \
                 XB_KNOWN(figure, statistics.has_interval)),                                       \
        XB_FIELD("ci95_high", DOUBLE, figure, statistics.ci95_high, XB_NULL_IF_NAN,                \
                 XB_KNOWN(figure, statistics.has_interval)),                                       \
        XB_FIELD("min", DOUBLE, figure, statistics.min, XB_NULL_IF_NAN),                           \
        XB_FIELD("max", DOUBLE, figure, statistics.max, XB_NULL_IF_NAN),                           \
        XB_FIELD("p5", DOUBLE, figure, statistics.p5, XB_NULL_IF_NAN),                             \
        XB_FIELD("p95", DOUBLE, figure, statistics.p95, XB_NULL_IF_NAN),                           \
        XB_FIELD("p99", DOUBLE, figure, statistics.p99, XB_NULL_IF_NAN),                           \
        XB_FIELD("mad", DOUBLE, figure, statistics.mad, XB_NULL_IF_NAN),                           \
        XB_FIELD("n", SIZE, figure, statistics.n)

const struct xb_field xb_record_figure_fields[] = {FIGURE, XB_FIELDS_END};

static const struct xb_field sampled_figure_fields[] = {
    FIGURE, XB_NUMBERS("samples", figure, samples, sample_count), XB_FIELDS_END};

#define ROUNDING 1e-6 /* between what describes samples and the samples */

static double number_of(const figure *of, const struct xb_field *field)
{
    return *(const double *)((const char *)of + field->offset);
}

/* Refuses the next figure of a row that was read, if its numbers do not fit together. */
static void check_figure(struct xb_json_reader *reader, const row *of, const figure *read)
{
    if (xb_json_failed(reader))
        return;
    const struct xb_figure *known = xb_figure_find(read->name);
    const struct xb_statistics *told = &read->statistics;
    if (known != NULL && strcmp(known->unit, read->unit) != 0)
        xb_json_refuse(reader, "unit", "is not \"%s\", which that of %s is", known->unit,
                       known->name);
    if (xb_record_row_figure(of, read->name) != NULL)
        xb_json_refuse(reader, "name", "is that of another figure of this row: %.60s", read->name);
    /* What was computed from other figures has no spread. */
    bool alone = read->sample_count == 0;
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++)
        if (field->kind == XB_FIELD_DOUBLE && strcmp(field->key, "median") != 0)
            alone = alone && isnan(number_of(read, field));
    if (told->n == 0 && !alone)
        xb_json_refuse(reader, "n", "is 0: such a figure has a median only");
    if (told->has_interval && !(told->ci95_low <= told->median && told->median <= told->ci95_high))
        xb_json_refuse(reader, NULL, "the median is not within its interval");
    const double values[] = {told->min, told->p5, told->median, told->p95, told->p99, told->max};
    double before = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (isnan(values[i]))
            continue;
        if (values[i] < before * (1.0 - ROUNDING))
            xb_json_refuse(reader, NULL, "min, p5, median, p95, p99 and max are not in this order");
        before = values[i];
    }
    if (xb_json_failed(reader) || read->sample_count == 0)
        return;
    /* Its samples give each number but for rounding. */
    figure own = *read;
    if (read->sample_count != told->n)
        xb_json_refuse(reader, "samples", "are %zu, and n is %zu", read->sample_count, told->n);
    xb_record_figure_describe(&own);
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++) {
        if (field->kind != XB_FIELD_DOUBLE || isnan(number_of(read, field)))
            continue;
        double is = number_of(&own, field), beside = number_of(read, field);
        if (!(fabs(is - beside) <= ROUNDING * is))
            xb_json_refuse(reader, "samples",
                           "these samples do not give the %.6g that stands beside them", beside);
    }
}

/* Its unit limits its numbers. compare divides by the median of what it judges by. */
static void read_figure(struct xb_json_reader *reader, const cJSON *item, size_t index, void *to)
{
    row *of = to;
    figure *read = &((figure *)of->figures)[index];
    struct xb_field fields[sizeof sampled_figure_fields / sizeof sampled_figure_fields[0]];
    bool gates = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "gates"));
    const char *unit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "unit"));
    uint64_t most = unit == NULL || strcmp(unit, XB_UNIT_RATIO) == 0 ? MOST_OTHER
                    : strcmp(unit, XB_UNIT_SECONDS) == 0             ? MOST_SECONDS
                                                                     : MOST_RATE;
    memcpy(fields, sampled_figure_fields, sizeof fields);
    for (struct xb_field *field = fields; field->key != NULL; field++) {
        if (field->kind == XB_FIELD_DOUBLE || field->kind == XB_FIELD_NUMBERS)
            field->most = most;
        if (gates && strcmp(field->key, "median") == 0)
            field->flags = XB_FIELD_POSITIVE;
    }
    xb_fields_read(reader, item, fields, read);
    read->statistics.has_interval =
        !isnan(read->statistics.ci95_low) || !isnan(read->statistics.ci95_high);
    if (read->sample_count == of->time_count)
        read->placements = of->placements;
    check_figure(reader, of, read);
    of->figure_count++;
}

static const char *status_word(int status)
{
    return xb_result_status_name((enum xb_result_status)status);
}

/* errno, or a vendor's code, which may be below 0. */
static const struct xb_field error_fields[] = {
    XB_FIELD("status", STRING, failure, status, XB_NOT_EMPTY),
    XB_FIELD("native_code", INT64, failure, native_code),
    XB_FIELD("native_name", STRING, failure, native_name, XB_TEXT_OR_NULL),
    XB_FIELD("call", STRING, failure, call, XB_TEXT_OR_NULL),
    XB_FIELD("message", STRING, failure, message, XB_NOT_EMPTY),
    XB_FIELD("at", STRING, failure, at, XB_TEXT_OR_NULL),
    XB_FIELDS_END};

static void write_placements(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const struct xb_record_placements *placements = &((const row *)from)->placements;
    if (placements->count == 0) {
        xb_json_put_null(json, field->key);
        return;
    }
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < placements->count; i++)
        xb_json_put_whole(json, NULL, placements->samples[i]);
    xb_json_close(json);
}

/* How many of the samples are of each placement; null where all are of one. */
static void read_placements(struct xb_json_reader *reader, const cJSON *object,
                            const struct xb_field *field, void *to)
{
    row *of = to;
    struct counts {
        const double *numbers;
        size_t count;
    } read = {NULL, 0};
    const struct xb_field fields[] = {
        XB_NUMBERS(field->key, struct counts, numbers, count, XB_ABOVE_0, .most = of->time_count),
        XB_FIELDS_END};
    double total = 0;
    if (of->status == XB_RESULT_OK && of->time_count == 0)
        xb_json_refuse(reader, "samples_s", "are none in a row that is ok");
    if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, field->key)))
        return;
    xb_fields_read(reader, object, fields, &read);
    size_t *samples = xb_fields_room(reader, read.count, sizeof *samples);
    if (samples == NULL)
        return;
    for (size_t i = 0; i < read.count; i++) {
        samples[i] = (size_t)read.numbers[i];
        total += (double)samples[i];
        if ((double)samples[i] != read.numbers[i])
            xb_json_refuse(reader, field->key, "must be whole numbers");
    }
    if (total != (double)of->time_count)
        xb_json_refuse(reader, field->key, "are not %zu samples together", of->time_count);
    of->placements = (struct xb_record_placements){.samples = samples, .count = read.count};
}

static void write_warnings(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const row *of = from;
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < of->warning_count; i++)
        xb_json_put_text(json, NULL, of->warning_texts[i]);
    xb_json_close(json);
}

static void read_warnings(struct xb_json_reader *reader, const cJSON *object,
                          const struct xb_field *field, void *to)
{
    row *of = to;
    const cJSON *item, *warnings = xb_json_get_array(reader, object, field->key);
    size_t count = (size_t)cJSON_GetArraySize(warnings);
    if (count > XB_RESULT_WARNINGS)
        xb_json_refuse(reader, field->key, "are more than %d", XB_RESULT_WARNINGS);
    const char **texts = xb_fields_room(reader, count, sizeof *texts);
    if (texts == NULL)
        return;
    cJSON_ArrayForEach(item, warnings)
    {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            xb_json_refuse(reader, field->key, "must be texts that are not empty");
        else
            texts[of->warning_count++] = xb_fields_keep_text(reader, item->valuestring);
    }
    of->warning_texts = texts;
}

/* What is read before is needed by what comes after: times by placements, both by figures. */
const struct xb_field xb_record_row_fields[] = {
    XB_FIELD("status", WORD, row, status, .word = status_word, .most = XB_RESULT_ERROR),
    XB_FIELD("reason", STRING, row, reason, XB_TEXT_OR_NULL),
    XB_OBJECT("error", row, error, error_fields, XB_KNOWN(row, error.known)),
    XB_FIELD("timer", STRING, row, timer, XB_TEXT_OR_NULL),
    XB_FIELD("bytes_moved", UINT64, row, bytes_moved, XB_NULL_IF_EMPTY, .least = 1),
    XB_NUMBERS("samples_s", row, times, time_count, XB_ABOVE_0, .most = MOST_SECONDS),
    XB_CUSTOM("placements", write_placements, read_placements),
    XB_LIST("figures", row, figures, figure_count, MOST_FIGURES, sampled_figure_fields,
            .item = read_figure),
    XB_FIELD("stop_reason", STRING, row, stop_reason, XB_TEXT_OR_NULL),
    XB_FIELD("verified", MAYBE, row, verified, XB_NULL_IF_EMPTY),
    XB_CUSTOM("warnings", write_warnings, read_warnings),
    FACTS("details", row, details, detail_count, MOST_DETAILS, .least = SCALARS),
    XB_FIELDS_END};
