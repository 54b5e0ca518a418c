/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON, written and read by the same tables: docs/compare.schema.json. Without a
 * time of day: the same two files give the same document. */
#include "internal.h"
#include "record/document.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CASES 100000 /* rows of a table that nobody would read */
#define MOST_DIFFERENCES 10000
#define MOST_GATES 1000
#define MOST_DEVICES 1024
#define MOST_BYTES (UINT64_C(1) << 53)

/* Names of fewer letters, so that a member takes one line. */
typedef struct xb_gate gate;
typedef struct xb_difference difference;
typedef struct xb_record_device device;
typedef struct xb_record_process process;
typedef struct xb_record record;
typedef struct xb_compared compared;
typedef struct xb_compared_side side;
typedef struct xb_comparison comparison;

/* ---- the files ---- */

static const struct xb_field device_fields[] = {
    XB_FIELD("index", UNSIGNED, device, index),
    XB_FIELD("name", STRING, device, name, XB_NULL_IF_EMPTY),
    XB_FIELD("link_speed_gts", DOUBLE, device, link_speed_gts, XB_KNOWN(device, link_known)),
    XB_FIELD("link_width", UNSIGNED, device, link_width, XB_KNOWN(device, link_known)),
    XB_FIELDS_END};

static const struct xb_field process_fields[] = {
    XB_LIST("devices", process, devices, device_count, MOST_DEVICES, device_fields),
    XB_FIELD("interrupted", FLAG, process, interrupted),
    XB_FIELD("deadline_met", FLAG, process, deadline_met), XB_FIELDS_END};

static void write_process_count(struct xb_json *json, const struct xb_field *field,
                                const void *from)
{
    xb_json_put_whole(json, field->key, ((const record *)from)->process_count);
}

static void check_process_count(struct xb_json_reader *reader, const cJSON *object,
                                const struct xb_field *field, void *to)
{
    const cJSON *processes = cJSON_GetObjectItemCaseSensitive(object, "processes");
    (void)to;
    if (xb_json_get_whole(reader, object, field->key, 0, MOST_BYTES) !=
        (uint64_t)cJSON_GetArraySize(processes))
        xb_json_refuse(reader, field->key, "is not that of \"processes\"");
}

const struct xb_field xb_compare_file_fields[] = {
    XB_FIELD("path", STRING, record, path, XB_NULL_IF_EMPTY),
    XB_FIELD("backend", STRING, record, backend, XB_NULL_IF_EMPTY),
    XB_FIELD("driver_version", STRING, record, driver, XB_NULL_IF_EMPTY),
    XB_FIELD("hostname", STRING, record, host.hostname, XB_NULL_IF_EMPTY),
    XB_FIELD("node", STRING, record, host.node, XB_NULL_IF_EMPTY),
    XB_CUSTOM("process_count", write_process_count, check_process_count),
    XB_FIELD("asked_processes", SIZE, record, asked_processes),
    XB_LIST("processes", record, processes, process_count, XB_RECORD_PROCESSES, process_fields),
    XB_FIELDS_END};

/* ---- what was asked ---- */

#define GATE                                                                                       \
    XB_FIELD("mode", STRING, gate, mode, XB_NULL_IF_EMPTY),                                        \
        XB_FIELD("direction", STRING, gate, direction, XB_NULL_IF_EMPTY),                          \
        XB_FIELD("least_bytes", UINT64, gate, least),                                              \
        XB_FIELD("most_bytes", UINT64, gate, most, XB_NULL_IF_EMPTY),                              \
        XB_FIELD("figure", STRING, gate, figure, XB_NULL_IF_EMPTY)

static const struct xb_field gate_fields[] = {GATE, XB_FIELDS_END};

static const struct xb_field threshold_fields[] = {
    GATE, XB_FIELD("share", DOUBLE, gate, share, .most = 1), XB_FIELDS_END};

static const struct xb_field difference_fields[] = {
    XB_FIELD("name", STRING, difference, name, XB_NULL_IF_EMPTY),
    XB_FIELD("baseline", STRING, difference, baseline, XB_NULL_IF_EMPTY),
    XB_FIELD("candidate", STRING, difference, candidate, XB_NULL_IF_EMPTY),
    XB_FIELD("forbids", FLAG, difference, forbids),
    XB_FIELD("of_rows", FLAG, difference, of_rows),
    XB_FIELD("of_stack", FLAG, difference, of_stack),
    XB_FIELDS_END};

static void write_forced(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_put_flag(json, field->key, xb_compare_forced(from));
}

static void read_forced(struct xb_json_reader *reader, const cJSON *object,
                        const struct xb_field *field, void *to)
{
    ((comparison *)to)->request.force = xb_json_get_flag(reader, object, field->key);
}

const struct xb_field xb_compare_request_fields[] = {
    XB_FIELD("comparable", FLAG, comparison, comparable),
    XB_CUSTOM("forced", write_forced, read_forced),
    XB_FIELD("strict", FLAG, comparison, request.strict),
    XB_FIELD("threshold", DOUBLE, comparison, request.threshold, .most = 1),
    XB_LIST("thresholds", comparison, request.thresholds.items, request.thresholds.count,
            MOST_GATES, threshold_fields),
    XB_FIELD("alpha", DOUBLE, comparison, request.alpha, .most = 1, XB_ABOVE_0),
    XB_LIST("gates", comparison, request.gates.items, request.gates.count, MOST_GATES, gate_fields),
    XB_FIELD("gating_tests", SIZE, comparison, gating_count),
    XB_FIELD("processes_needed", SIZE, comparison, processes_needed, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

const struct xb_field xb_compare_differences_fields[] = {
    XB_LIST("differences", comparison, differences, difference_count, MOST_DIFFERENCES,
            difference_fields),
    XB_FIELDS_END};

/* ---- words, and plain texts ---- */

static const char *outcome_word(int outcome)
{
    return xb_outcome_name((enum xb_outcome)outcome);
}

static const char *basis_word(int basis)
{
    static const char *const words[] = {[XB_BASIS_TEST] = "test",
                                        [XB_BASIS_INDICATIVE] = "indicative",
                                        [XB_BASIS_STATUS] = "status",
                                        [XB_BASIS_NONE] = "none"};
    return words[basis];
}

/* An outcome that may be null; false for null. */
static bool read_outcome(struct xb_json_reader *reader, const cJSON *object, const char *key,
                         enum xb_outcome *outcome)
{
    struct said {
        bool known;
        int outcome;
    } read = {.known = false};
    const struct xb_field fields[] = {XB_FIELD(key, WORD, struct said, outcome,
                                               XB_KNOWN(struct said, known), .word = outcome_word,
                                               .most = XB_OUTCOME_REGRESSION),
                                      XB_FIELDS_END};
    xb_fields_read(reader, object, fields, &read);
    if (read.known)
        *outcome = (enum xb_outcome)read.outcome;
    return read.known;
}

/* A text of a comparison, "" for null. It is read as plain ASCII, which has as many characters. */
static void write_plain(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_put_optional(json, field->key, (const char *)from + field->offset);
}

static void read_plain(struct xb_json_reader *reader, const cJSON *object,
                       const struct xb_field *field, void *to)
{
    char *plain = (char *)to + field->offset;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field->key);
    const char *text = cJSON_GetStringValue(item);
    if (text == NULL && !cJSON_IsNull(item))
        xb_json_refuse(reader, field->key, "must be a text or null");
    if (text == NULL)
        return;
    char *copy = xb_copy(text);
    xb_make_plain(copy);
    if (strlen(copy) >= field->size)
        xb_json_refuse(reader, field->key, "has more than %zu characters", field->size - 1);
    else
        memcpy(plain, copy, strlen(copy) + 1);
    free(copy);
}

#define PLAIN(key, type, member)                                                                   \
    XB_CUSTOM(key, write_plain, read_plain, .offset = offsetof(type, member),                      \
              .size = sizeof(((type *)0)->member))

static const struct xb_field said_fields[] = {PLAIN("reason", comparison, reason),
                                              PLAIN("next", comparison, next), XB_FIELDS_END};

/* ---- cases ---- */

const struct xb_field xb_compare_figure_fields[] = {
    XB_FIELD("figure", STRING, compared, figure.name, XB_NOT_EMPTY),
    XB_FIELD("unit", STRING, compared, figure.unit, XB_NOT_EMPTY),
    XB_FIELD("more_is_better", FLAG, compared, figure.more_is_better),
    XB_FIELD("gates", FLAG, compared, gates),
    XB_FIELD("basis", WORD, compared, basis, .word = basis_word, .most = XB_BASIS_NONE),
    XB_FIELDS_END};

static const struct xb_field side_fields[] = {
    XB_FIELD("present", FLAG, side, is_there),
    XB_FIELD("processes", SIZE, side, processes, .most = XB_RECORD_PROCESSES),
    XB_FIELD("median", DOUBLE, side, median, XB_NULL_IF_NAN), XB_FIELDS_END};

/* P by a test; null without one, which is read as 1. */
static void write_p(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_put_known_number(json, field->key, ((const compared *)from)->basis == XB_BASIS_TEST,
                             *(const double *)((const char *)from + field->offset));
}

static void read_p(struct xb_json_reader *reader, const cJSON *object, const struct xb_field *field,
                   void *to)
{
    double p = xb_json_get_known_number(reader, object, field->key, 1);
    *(double *)((char *)to + field->offset) = isnan(p) ? 1 : p;
}

#define P(name) XB_CUSTOM(#name, write_p, read_p, .offset = offsetof(compared, name))

static const struct xb_field interval_fields[] = {
    XB_FIELD("low", DOUBLE, compared, low, XB_NULL_IF_NAN),
    XB_FIELD("high", DOUBLE, compared, high, XB_NULL_IF_NAN),
    XB_FIELD("confidence", DOUBLE, compared, confidence, XB_NULL_IF_EMPTY, .most = 1),
    XB_FIELDS_END};

const struct xb_field xb_compare_judged_fields[] = {
    XB_FIELD("cannot_pass", FLAG, compared, cannot_pass),
    XB_FIELD("same_settings", FLAG, compared, same_settings),
    XB_FIELD("threshold", DOUBLE, compared, threshold, .most = 1),
    XB_OBJECT("baseline", compared, baseline, side_fields),
    XB_OBJECT("candidate", compared, candidate, side_fields),
    XB_FIELD("ratio", DOUBLE, compared, ratio, XB_KNOWN(compared, has_ratio)),
    XB_PART("interval", interval_fields, XB_KNOWN(compared, has_interval)),
    P(p_regression),
    P(p_improved),
    P(p_pass),
    PLAIN("note", compared, note),
    XB_FIELDS_END};

static void read_case(struct xb_json_reader *reader, const cJSON *object, size_t index, void *to)
{
    comparison *whole = to;
    compared *of = &whole->cases[index];
    struct xb_record_case *test = xb_arena_new(reader->texts, sizeof *test);
    of->test = test;
    xb_fields_read(reader, object, xb_record_case_fields, test);
    xb_fields_read(reader, object, xb_compare_figure_fields, of);
    bool is_verdict = read_outcome(reader, object, "verdict", &of->outcome);
    bool is_indicative = read_outcome(reader, object, "indicative", &of->outcome);
    if (is_verdict != xb_compare_judged(of) || is_indicative != (of->basis == XB_BASIS_INDICATIVE))
        xb_json_refuse(reader, "verdict", "does not fit the basis");
    xb_fields_read(reader, object, xb_compare_judged_fields, of);
    if (!of->baseline.is_there && !of->candidate.is_there)
        xb_json_refuse(reader, "baseline", "and candidate are both absent");
}

/* ---- the document ---- */

enum xb_status xb_compare_json_write(FILE *stream, const struct xb_comparison *of,
                                     struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.compare");
    xb_json_put_whole(&json, "schema_version", XB_COMPARISON_VERSION);
    xb_document_put_tool(&json);
    xb_json_open_object(&json, "overall");
    xb_json_put_text(&json, "verdict", xb_compare_overall(of));
    xb_fields_put(&json, said_fields, of);
    xb_json_put_index(&json, "exit_code", xb_comparison_exit_code(of));
    xb_json_close(&json);
    xb_fields_put(&json, xb_compare_request_fields, of);
    xb_fields_put_object(&json, "baseline", xb_compare_file_fields, of->baseline);
    xb_fields_put_object(&json, "candidate", xb_compare_file_fields, of->candidate);
    xb_fields_put(&json, xb_compare_differences_fields, of);
    xb_json_open_array(&json, "cases");
    XB_EACH (one, of->cases, of->case_count) {
        const char *outcome = xb_outcome_name(one->outcome);
        xb_json_open_object(&json, NULL);
        xb_fields_put(&json, xb_record_case_fields, one->test);
        xb_fields_put(&json, xb_compare_figure_fields, one);
        /* What looks like a verdict and is none has a key of its own: whoever counts verdicts gets
         * the right number without knowing of it. */
        xb_json_put_text(&json, "verdict", xb_compare_judged(one) ? outcome : NULL);
        xb_json_put_text(&json, "indicative", one->basis == XB_BASIS_INDICATIVE ? outcome : NULL);
        xb_fields_put(&json, xb_compare_judged_fields, one);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}

/* What is read of it; all of it is written as in every document. */
static const struct xb_field tool_fields[] = {
    XB_FIELD("version", STRING, comparison, version, XB_NOT_EMPTY), XB_FIELDS_END};

enum xb_status xb_comparison_of_tree(const char *path, const cJSON *root,
                                     struct xb_comparison_file *file, struct xb_error *error)
{
    struct xb_json_reader state = {.place = {.path = path}, .texts = &file->memory};
    struct xb_json_reader *reader = &state;
    comparison *to = &file->comparison;
    bool forbidden = false;
    memset(file, 0, sizeof *file);
    const char *schema = xb_json_get_text(reader, root, "schema");
    if (schema != NULL && strcmp(schema, "xferbench.compare") != 0)
        xb_json_refuse(reader, "schema", "\"%.60s\" is not \"xferbench.compare\"", schema);
    uint64_t version = xb_json_get_whole(reader, root, "schema_version", 1, 1000000);
    bool is_older = version < XB_COMPARISON_VERSION;
    if (version != XB_COMPARISON_VERSION)
        xb_json_refuse(reader, "schema_version",
                       "%u was written by %s xferbench than this one, which reads %d%s",
                       (unsigned)version, is_older ? "an older" : "a newer", XB_COMPARISON_VERSION,
                       is_older ? ": compare the result files again" : "");
    xb_fields_read_object(reader, root, "tool", tool_fields, to);
    xb_fields_read(reader, root, xb_compare_request_fields, to);
    xb_fields_read_object(reader, root, "baseline", xb_compare_file_fields, &file->baseline);
    xb_fields_read_object(reader, root, "candidate", xb_compare_file_fields, &file->candidate);
    xb_fields_read(reader, root, xb_compare_differences_fields, to);
    for (size_t i = 0; i < to->difference_count; i++)
        forbidden = forbidden || to->differences[i].forbids;
    if (forbidden == to->comparable)
        xb_json_refuse(reader, "comparable", "does not fit the differences");
    size_t count = (size_t)cJSON_GetArraySize(xb_json_get_array(reader, root, "cases"));
    to->cases =
        xb_arena_new(reader->texts, (count < MOST_CASES ? count : MOST_CASES) * sizeof *to->cases);
    to->case_count = xb_fields_read_each(reader, root, "cases", MOST_CASES, read_case, to);
    xb_comparison_count_apart(to);
    const cJSON *overall = xb_json_get_object(reader, root, "overall");
    size_t outer = xb_place_enter(&reader->place, "overall");
    const char *verdict = xb_json_get_text(reader, overall, "verdict");
    to->overall = XB_OUTCOME_INCONCLUSIVE;
    if (verdict == NULL || strcmp(verdict, "NOT COMPARABLE") != 0)
        (void)read_outcome(reader, overall, "verdict", &to->overall);
    xb_fields_read(reader, overall, said_fields, to);
    int code = xb_json_get_index(reader, overall, "exit_code");
    if (!xb_json_failed(reader) && code != xb_comparison_exit_code(to))
        xb_json_refuse(reader, "exit_code", "does not fit the verdict");
    xb_place_leave(&reader->place, outer);
    to->baseline = &file->baseline;
    to->candidate = &file->candidate;
    if (!xb_json_failed(reader)) {
        xb_comparison_find_parameters(to);
        return XB_OK;
    }
    xb_comparison_file_free(file);
    *error = reader->error;
    return error->status;
}

void xb_comparison_file_free(struct xb_comparison_file *file)
{
    xb_arena_free(file->memory);
    memset(file, 0, sizeof *file);
}
