/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "read_internal.h"

#include "base/note.h"
#include "internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_CASES 100000 /* rows of a table that nobody would read */
#define MOST_DIFFERENCES 10000
#define MOST_GATES 1000
#define MOST_PARAMETERS 64

/* ---- values that xb_json_get_... does not have ---- */

void *xb_comparison_room(struct xb_comparison_reader *r, size_t count, size_t size)
{
    if (xb_json_failed(&r->json))
        return NULL;
    void *made = xb_arena_allocate(r->memory, (count + 1) * size);
    if (made == NULL)
        xb_json_refuse_memory(&r->json);
    return made;
}

const char *xb_comparison_get_text(struct xb_comparison_reader *r, const cJSON *object,
                                   const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsString(item) && !cJSON_IsNull(item))
        xb_json_refuse(&r->json, key, item == NULL ? "is missing" : "must be a text or null");
    return cJSON_GetStringValue(item);
}

/* The same as plain ASCII, which has as many characters, in a text of a comparison. */
static void get_plain(struct xb_comparison_reader *r, const cJSON *object, const char *key,
                      char *plain, size_t size)
{
    const char *text = xb_comparison_get_text(r, object, key);
    size_t length = text != NULL ? strlen(text) : 0;
    char *copy = text != NULL ? xb_comparison_room(r, length, 1) : NULL;
    plain[0] = '\0';
    if (copy == NULL)
        return;
    memcpy(copy, text, length + 1);
    xb_make_plain(copy);
    if (strlen(copy) >= size)
        xb_json_refuse(&r->json, key, "has more than %zu characters", size - 1);
    else
        memcpy(plain, copy, strlen(copy) + 1);
}

const cJSON *xb_comparison_get_items(struct xb_comparison_reader *r, const cJSON *object,
                                     const char *key, size_t most, size_t *count)
{
    const cJSON *array = xb_json_get_array(&r->json, object, key);
    *count = (size_t)cJSON_GetArraySize(array);
    if (*count > most) {
        xb_json_refuse(&r->json, key, "has more than %zu items", most);
        *count = 0;
    }
    return *count > 0 ? array->child : NULL;
}

/* Whole and from 0; `none` for null. */
static uint64_t get_known_whole(struct xb_comparison_reader *r, const cJSON *object,
                                const char *key, uint64_t none)
{
    if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, key)))
        return none;
    return xb_json_get_whole(&r->json, object, key, 0, MOST_BYTES);
}

/* What was added to the form has a default: files of before do not have it. */
static bool has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

static bool get_added_flag(struct xb_comparison_reader *r, const cJSON *object, const char *key,
                           bool before)
{
    return has(object, key) ? xb_json_get_flag(&r->json, object, key) : before;
}

/* 1 for null. */
static double get_p(struct xb_comparison_reader *r, const cJSON *object, const char *key)
{
    double p = xb_json_get_known_number(&r->json, object, key, 1);
    return isnan(p) ? 1 : p;
}

/* ---- words ---- */

static const enum xb_outcome outcomes[] = {XB_OUTCOME_PASS, XB_OUTCOME_IMPROVED,
                                           XB_OUTCOME_INCONCLUSIVE, XB_OUTCOME_REGRESSION};

/* False for null, and for what is refused. */
static bool get_outcome(struct xb_comparison_reader *r, const cJSON *object, const char *key,
                        enum xb_outcome *outcome)
{
    const char *name = xb_comparison_get_text(r, object, key);
    for (size_t i = 0; name != NULL && i < sizeof outcomes / sizeof outcomes[0]; i++)
        if (strcmp(name, xb_outcome_name(outcomes[i])) == 0) {
            *outcome = outcomes[i];
            return true;
        }
    if (name != NULL)
        xb_json_refuse(&r->json, key, "must be PASS, IMPROVED, INCONCLUSIVE or REGRESSION");
    return false;
}

static enum xb_basis get_basis(struct xb_comparison_reader *r, const cJSON *object, const char *key)
{
    static const enum xb_basis all[] = {XB_BASIS_TEST, XB_BASIS_INDICATIVE, XB_BASIS_STATUS,
                                        XB_BASIS_NONE};
    const char *name = xb_json_get_text(&r->json, object, key);
    for (size_t i = 0; name != NULL && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(name, xb_basis_name(all[i])) == 0)
            return all[i];
    xb_json_refuse(&r->json, key, "must be test, indicative, status or none");
    return XB_BASIS_NONE;
}

/* ---- what was asked, and what differs ---- */

static struct xb_gate read_gate(struct xb_comparison_reader *r, const cJSON *item)
{
    return (struct xb_gate){
        .mode = xb_comparison_get_text(r, item, "mode"),
        .direction = xb_comparison_get_text(r, item, "direction"),
        .least = xb_json_get_whole(&r->json, item, "least_bytes", 0, MOST_BYTES),
        .most = get_known_whole(r, item, "most_bytes", UINT64_MAX),
        .figure = xb_comparison_get_text(r, item, "figure"),
    };
}

static void read_gates(struct xb_comparison_reader *r, const cJSON *root, struct xb_gates *gates)
{
    size_t count = 0;
    const cJSON *item = xb_comparison_get_items(r, root, "gates", MOST_GATES, &count);
    gates->items = xb_comparison_room(r, count, sizeof *gates->items);
    if (gates->items == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "gates");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        gates->items[i] = read_gate(r, item);
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    gates->count = count;
}

static void read_thresholds(struct xb_comparison_reader *r, const cJSON *root,
                            struct xb_thresholds *thresholds)
{
    size_t count = 0;
    const cJSON *item = has(root, "thresholds")
                            ? xb_comparison_get_items(r, root, "thresholds", MOST_GATES, &count)
                            : NULL;
    thresholds->items = xb_comparison_room(r, count, sizeof *thresholds->items);
    if (thresholds->items == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "thresholds");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        thresholds->items[i] =
            (struct xb_threshold){.cases = read_gate(r, item),
                                  .share = xb_json_get_known_number(&r->json, item, "share", 1)};
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    thresholds->count = count;
}

static void read_differences(struct xb_comparison_reader *r, const cJSON *root,
                             struct xb_comparison *comparison)
{
    size_t count = 0;
    bool forbidden = false;
    const cJSON *item = xb_comparison_get_items(r, root, "differences", MOST_DIFFERENCES, &count);
    comparison->differences = xb_comparison_room(r, count, sizeof *comparison->differences);
    if (comparison->differences == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "differences");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        comparison->differences[i] =
            (struct xb_difference){.name = xb_comparison_get_text(r, item, "name"),
                                   .baseline = xb_comparison_get_text(r, item, "baseline"),
                                   .candidate = xb_comparison_get_text(r, item, "candidate"),
                                   .forbids = xb_json_get_flag(&r->json, item, "forbids"),
                                   .of_rows = get_added_flag(r, item, "of_rows", false),
                                   .of_stack = get_added_flag(r, item, "of_stack", false)};
        forbidden = forbidden || comparison->differences[i].forbids;
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    comparison->difference_count = count;
    if (!xb_json_failed(&r->json) && forbidden == comparison->comparable)
        xb_json_refuse(&r->json, "comparable", "does not fit the differences");
}

/* ---- cases ---- */

static const char *value_of(struct xb_comparison_reader *r, const cJSON *item)
{
    if (cJSON_IsNull(item))
        return NULL;
    if (cJSON_IsString(item))
        return item->valuestring;
    char *text = cJSON_PrintUnformatted(item);
    const char *kept = text != NULL ? xb_arena_print(r->memory, "%s", text) : NULL;
    cJSON_free(text);
    if (kept == NULL)
        xb_json_refuse_memory(&r->json);
    return kept;
}

static void read_parameters(struct xb_comparison_reader *r, const cJSON *object,
                            struct xb_record_case *test)
{
    const cJSON *parameters = xb_json_get_object(&r->json, object, "parameters");
    size_t count = (size_t)cJSON_GetArraySize(parameters);
    if (count > MOST_PARAMETERS)
        xb_json_refuse(&r->json, "parameters", "has more than %d keys", MOST_PARAMETERS);
    struct xb_record_fact *facts = xb_comparison_room(r, count, sizeof *facts);
    const cJSON *item = count > 0 ? parameters->child : NULL;
    for (size_t i = 0; facts != NULL && i < count; i++, item = item->next)
        facts[i] = (struct xb_record_fact){
            .name = item->string, .value = value_of(r, item), .is_text = cJSON_IsString(item)};
    test->parameters = facts;
    test->parameter_count = facts != NULL ? count : 0;
}

static void read_key(struct xb_comparison_reader *r, const cJSON *object,
                     struct xb_compared *compared, struct xb_record_case *test)
{
    *test = (struct xb_record_case){
        .mode = xb_json_get_text(&r->json, object, "mode"),
        .variant = xb_json_get_text(&r->json, object, "variant"),
        .direction = xb_json_get_text(&r->json, object, "direction"),
        .bytes = xb_json_get_whole(&r->json, object, "bytes", 0, MOST_BYTES),
        .device = xb_json_get_index(&r->json, object, "device"),
        .peer = xb_json_get_index(&r->json, object, "peer"),
        .latency = xb_json_get_flag(&r->json, object, "latency"),
        .simultaneous = xb_json_get_flag(&r->json, object, "simultaneous"),
    };
    read_parameters(r, object, test);
    compared->test = test;
    compared->figure = (struct xb_figure){
        .name = xb_json_get_text(&r->json, object, "figure"),
        .unit = xb_json_get_text(&r->json, object, "unit"),
        .more_is_better = xb_json_get_flag(&r->json, object, "more_is_better"),
    };
}

static void read_verdict(struct xb_comparison_reader *r, const cJSON *object,
                         struct xb_compared *compared)
{
    compared->gates = xb_json_get_flag(&r->json, object, "gates");
    compared->basis = get_basis(r, object, "basis");
    compared->cannot_pass = xb_json_get_flag(&r->json, object, "cannot_pass");
    compared->differs = !get_added_flag(r, object, "same_settings", true);
    bool is_verdict = get_outcome(r, object, "verdict", &compared->outcome);
    bool is_indicative = get_outcome(r, object, "indicative", &compared->outcome);
    bool judged = compared->basis == XB_BASIS_TEST || compared->basis == XB_BASIS_STATUS;
    if (is_verdict != judged || is_indicative != (compared->basis == XB_BASIS_INDICATIVE))
        xb_json_refuse(&r->json, "verdict", "does not fit the basis");
}

/* Whether the file has the case. */
static bool read_side(struct xb_comparison_reader *r, const cJSON *object, const char *key,
                      size_t *n, double *median)
{
    const cJSON *side = xb_json_get_object(&r->json, object, key);
    size_t outer = xb_place_enter(&r->json.place, key);
    bool is_present = xb_json_get_flag(&r->json, side, "present");
    *n = (size_t)xb_json_get_whole(&r->json, side, "processes", 0, XB_RECORD_PROCESSES);
    *median = xb_json_get_known_number(&r->json, side, "median", DBL_MAX);
    xb_place_leave(&r->json.place, outer);
    return is_present;
}

static void read_sides(struct xb_comparison_reader *r, const cJSON *object,
                       struct xb_compared *compared)
{
    bool before =
        read_side(r, object, "baseline", &compared->baseline_n, &compared->baseline_median);
    bool after =
        read_side(r, object, "candidate", &compared->candidate_n, &compared->candidate_median);
    if (!before && !after)
        xb_json_refuse(&r->json, "baseline", "and candidate are both absent");
    compared->presence = !before ? XB_ONLY_IN_CANDIDATE : !after ? XB_ONLY_IN_BASELINE : XB_IN_BOTH;
}

/* A bound that no number stands for is null. */
static void read_interval(struct xb_comparison_reader *r, const cJSON *object,
                          struct xb_compared *compared)
{
    const cJSON *interval = cJSON_GetObjectItemCaseSensitive(object, "interval");
    compared->has_interval = !cJSON_IsNull(interval);
    if (!compared->has_interval)
        return;
    interval = xb_json_get_object(&r->json, object, "interval");
    size_t outer = xb_place_enter(&r->json.place, "interval");
    compared->low = xb_json_get_known_number(&r->json, interval, "low", DBL_MAX);
    compared->high = xb_json_get_known_number(&r->json, interval, "high", DBL_MAX);
    double confidence = xb_json_get_known_number(&r->json, interval, "confidence", 1);
    compared->confidence = isnan(confidence) ? 0 : confidence;
    xb_place_leave(&r->json.place, outer);
}

static void read_case(struct xb_comparison_reader *r, const cJSON *object,
                      struct xb_compared *compared, struct xb_record_case *test)
{
    read_key(r, object, compared, test);
    read_verdict(r, object, compared);
    read_sides(r, object, compared);
    compared->ratio = xb_json_get_known_number(&r->json, object, "ratio", DBL_MAX);
    compared->has_ratio = !isnan(compared->ratio);
    read_interval(r, object, compared);
    compared->p_regression = get_p(r, object, "p_regression");
    compared->p_improved = get_p(r, object, "p_improved");
    compared->p_pass = get_p(r, object, "p_pass");
    get_plain(r, object, "note", compared->note, sizeof compared->note);
    double threshold = xb_json_get_optional_number(&r->json, object, "threshold", 1);
    compared->threshold = isnan(threshold) ? compared->threshold : threshold;
}

static void read_cases(struct xb_comparison_reader *r, const cJSON *root,
                       struct xb_comparison *comparison)
{
    size_t count = 0;
    const cJSON *item = xb_comparison_get_items(r, root, "cases", MOST_CASES, &count);
    struct xb_compared *cases = xb_comparison_room(r, count, sizeof *cases);
    struct xb_record_case *tests = xb_comparison_room(r, count, sizeof *tests);
    if (cases == NULL || tests == NULL)
        return;
    size_t outer = xb_place_enter(&r->json.place, "cases");
    for (size_t i = 0; i < count && !xb_json_failed(&r->json); i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->json.place, i);
        cases[i].threshold = comparison->request.threshold;
        read_case(r, item, &cases[i], &tests[i]);
        xb_place_leave(&r->json.place, inner);
    }
    xb_place_leave(&r->json.place, outer);
    comparison->cases = cases;
    comparison->case_count = count;
}

/* ---- the document ---- */

static void check_schema(struct xb_comparison_reader *r, const cJSON *root)
{
    const char *schema = xb_json_get_text(&r->json, root, "schema");
    if (schema != NULL && strcmp(schema, "xferbench.compare") != 0)
        xb_json_refuse(&r->json, "schema", "\"%.60s\" is not \"xferbench.compare\"", schema);
    uint64_t version = xb_json_get_whole(&r->json, root, "schema_version", 1, 1000000);
    if (version < XB_COMPARISON_VERSION)
        xb_json_refuse(
            &r->json, "schema_version",
            "%u was written by an older xferbench than this one, which reads %d: compare "
            "the result files again",
            (unsigned)version, XB_COMPARISON_VERSION);
    else if (version > XB_COMPARISON_VERSION)
        xb_json_refuse(&r->json, "schema_version",
                       "%u was written by a newer xferbench than this one, which reads %d",
                       (unsigned)version, XB_COMPARISON_VERSION);
}

static void read_conditions(struct xb_comparison_reader *r, const cJSON *root,
                            struct xb_comparison *comparison)
{
    struct xb_comparison_request *request = &comparison->request;
    comparison->comparable = xb_json_get_flag(&r->json, root, "comparable");
    request->force = xb_json_get_flag(&r->json, root, "forced");
    request->threshold = xb_json_get_known_number(&r->json, root, "threshold", 1);
    request->alpha = xb_json_get_number(&r->json, root, "alpha", 1);
    if (isnan(request->threshold))
        xb_json_refuse(&r->json, "threshold", "must be a number");
    comparison->gating_count =
        (size_t)xb_json_get_whole(&r->json, root, "gating_tests", 0, MOST_BYTES);
    comparison->processes_needed = (size_t)get_known_whole(r, root, "processes_needed", 0);
    request->strict = get_added_flag(r, root, "strict", false);
    read_gates(r, root, &request->gates);
    read_thresholds(r, root, &request->thresholds);
    read_differences(r, root, comparison);
}

/* The comparison has been read, but for what stands here. */
static void read_overall(struct xb_comparison_reader *r, const cJSON *root,
                         struct xb_comparison *comparison)
{
    const cJSON *object = xb_json_get_object(&r->json, root, "overall");
    size_t outer = xb_place_enter(&r->json.place, "overall");
    const char *verdict = xb_json_get_text(&r->json, object, "verdict");
    comparison->overall = XB_OUTCOME_INCONCLUSIVE;
    if (verdict == NULL || strcmp(verdict, "NOT COMPARABLE") != 0)
        get_outcome(r, object, "verdict", &comparison->overall);
    get_plain(r, object, "reason", comparison->reason, sizeof comparison->reason);
    if (has(object, "next"))
        get_plain(r, object, "next", comparison->next, sizeof comparison->next);
    int code = xb_json_get_index(&r->json, object, "exit_code");
    if (!xb_json_failed(&r->json) && code != xb_comparison_exit_code(comparison))
        xb_json_refuse(&r->json, "exit_code", "does not fit the verdict");
    xb_place_leave(&r->json.place, outer);
}

static void read_comparison(struct xb_comparison_reader *r, const cJSON *root,
                            struct xb_comparison_file *file)
{
    struct xb_comparison *comparison = &file->comparison;
    check_schema(r, root);
    const cJSON *tool = xb_json_get_object(&r->json, root, "tool");
    size_t outer = xb_place_enter(&r->json.place, "tool");
    comparison->version = xb_json_get_text(&r->json, tool, "version");
    xb_place_leave(&r->json.place, outer);
    read_conditions(r, root, comparison);
    xb_comparison_read_file(r, root, "baseline", &file->baseline);
    xb_comparison_read_file(r, root, "candidate", &file->candidate);
    read_cases(r, root, comparison);
    xb_comparison_count_apart(comparison);
    read_overall(r, root, comparison);
    comparison->baseline = &file->baseline;
    comparison->candidate = &file->candidate;
}

enum xb_status xb_comparison_parse(const char *path, const char *text, size_t length,
                                   struct xb_comparison_file *file, struct xb_error *error)
{
    memset(file, 0, sizeof *file);
    struct xb_comparison_reader r = {.json = {.place = {.path = path}}, .memory = &file->memory};
    file->tree = xb_json_read(&r.json, text, length);
    read_comparison(&r, file->tree, file);
    enum xb_status status = r.json.error.status;
    if (status == XB_OK)
        status = xb_comparison_find_parameters(&file->comparison, &r.json.error);
    if (status == XB_OK)
        return XB_OK;
    xb_comparison_file_free(file);
    *error = r.json.error;
    return status;
}

void xb_comparison_file_free(struct xb_comparison_file *file)
{
    xb_arena_free(file->memory);
    cJSON_Delete(file->tree);
    memset(file, 0, sizeof *file);
}
