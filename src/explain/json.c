/* SPDX-License-Identifier: Apache-2.0 */
/* What was found as JSON: docs/explain.schema.json. */
#include "explain.h"

#include "base/json_fields.h"
#include "xferbench/version.h"

typedef struct xb_lane_use lane;
typedef struct xb_gpu_use gpu;
typedef struct xb_copy_group group;
typedef struct xb_fault_found fault;
typedef struct xb_profile profile;
typedef struct xb_explanation explanation;

static const char *memory_word(int host)
{
    static const char *const words[] = {[XB_HOST_MEMORY_PAGEABLE] = "pageable",
                                        [XB_HOST_MEMORY_PINNED] = "pinned",
                                        [XB_HOST_MEMORY_MANAGED] = "managed"};
    return words[host]; /* NULL: not known */
}

static const char *way_word(int way)
{
    return way == XB_WAY_TO_GPU ? "h2d" : "d2h";
}

static const char *fault_word(int number)
{
    static const char *const words[] = {[XB_FAULT_PAGEABLE] = "pageable",
                                        [XB_FAULT_SMALL] = "small",
                                        [XB_FAULT_RETURNS] = "returns",
                                        [XB_FAULT_SETUP] = "setup_in_loop",
                                        [XB_FAULT_SERIAL] = "not_overlapped"};
    return words[number];
}

static const struct xb_field lane_fields[] = {
    XB_FIELD("count", SIZE, lane, count), XB_FIELD("bytes", UINT64, lane, bytes),
    XB_FIELD("busy_s", DOUBLE, lane, busy), XB_FIELDS_END};

static const struct xb_field gpu_fields[] = {
    XB_FIELD("device", INDEX, gpu, device),
    XB_OBJECT("h2d", gpu, lanes[XB_LANE_TO_GPU], lane_fields),
    XB_OBJECT("d2h", gpu, lanes[XB_LANE_BACK], lane_fields),
    XB_OBJECT("other_copies", gpu, lanes[XB_LANE_AMONG], lane_fields),
    XB_OBJECT("kernels", gpu, lanes[XB_LANE_KERNELS], lane_fields),
    XB_OBJECT("host", gpu, lanes[XB_LANE_HOST], lane_fields),
    XB_FIELD("copying_only_s", DOUBLE, gpu, copying),
    XB_FIELD("neither_s", DOUBLE, gpu, neither),
    XB_FIELDS_END};

static const struct xb_field group_fields[] = {
    XB_FIELD("direction", WORD, group, way, .word = way_word),
    XB_FIELD("host_memory", WORD, group, host, .word = memory_word),
    XB_FIELD("call", STRING, group, origin[XB_ORIGIN_CALL]),
    XB_FIELD("operator", STRING, group, origin[XB_RANGE_OPERATOR]),
    XB_FIELD("mark", STRING, group, origin[XB_RANGE_MARK]),
    XB_FIELD("line", STRING, group, origin[XB_RANGE_LINE]),
    XB_FIELD("count", SIZE, group, count),
    XB_FIELD("bytes", UINT64, group, bytes, XB_NULL_IF_EMPTY),
    XB_FIELD("seconds", DOUBLE, group, seconds),
    XB_FIELD("exposed_s", DOUBLE, group, exposed),
    XB_FIELD("blocked_s", DOUBLE, group, blocked, XB_NULL_IF_NAN),
    XB_FIELD("first_s", DOUBLE, group, first),
    XB_FIELD("rows_without_kernel", SIZE, group, runs),
    XB_FIELD("returns", SIZE, group, returns),
    XB_FIELD("pinned_s", DOUBLE, group, pinned, XB_NULL_IF_NAN),
    XB_FIELD("batched_s", DOUBLE, group, batched, XB_NULL_IF_NAN),
    XB_FIELD("kept_s", DOUBLE, group, kept, XB_NULL_IF_NAN),
    XB_FIELDS_END};

static const struct xb_field fault_fields[] = {
    XB_FIELD("fault", WORD, fault, fault, .word = fault_word),
    XB_FIELD("copies", INDEX, fault, group),
    XB_FIELD("call", STRING, fault, setup.call),
    XB_FIELD("calls", SIZE, fault, setup.count, XB_NULL_IF_EMPTY),
    XB_FIELD("seconds", DOUBLE, fault, seconds),
    XB_FIELD("predicted_s", DOUBLE, fault, predicted, XB_NULL_IF_NAN),
    XB_FIELDS_END};

static const struct xb_field profile_fields[] = {
    XB_FIELD("name", STRING, profile, name), XB_FIELD("process", UINT64, profile, process),
    XB_FIELD("dropped", UINT64, profile, dropped), XB_FIELD("is_cut", FLAG, profile, is_cut),
    XB_FIELDS_END};

static const struct xb_field explanation_fields[] = {
    XB_FIELD("window_s", DOUBLE, explanation, window),
    XB_FIELD("is_one_stream", FLAG, explanation, is_one_stream),
    XB_FIELD("uses_managed", FLAG, explanation, uses_managed),
    XB_FIELD("lacks_bytes", FLAG, explanation, lacks_bytes),
    XB_FIELD("lacks_memory", FLAG, explanation, lacks_memory),
    XB_FIELD("chunk_bytes", UINT64, explanation, chunk, XB_NULL_IF_EMPTY),
    XB_LIST("gpus", explanation, gpus, gpu_count, SIZE_MAX, gpu_fields),
    XB_LIST("copies", explanation, groups, group_count, SIZE_MAX, group_fields),
    XB_LIST("faults", explanation, faults, fault_count, SIZE_MAX, fault_fields),
    XB_FIELDS_END};

enum xb_status xb_explain_json_write(FILE *stream, const struct xb_explain_source *source,
                                     const struct xb_explanation *explanations, size_t count,
                                     struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.explain");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    xb_json_open_object(&json, "source");
    xb_json_put_text(&json, "file", source->path);
    xb_json_put_text(&json, "recorded_by", source->profiles->source);
    xb_json_open_array(&json, "command");
    for (char *const *word = source->words; word != NULL && *word != NULL; word++)
        xb_json_put_text(&json, NULL, *word);
    xb_json_close(&json);
    xb_json_put_known_number(&json, "wall_s", source->wall > 0, source->wall);
    xb_json_put_known_whole(&json, "exit_code", source->path == NULL, (uint64_t)source->exit_code);
    xb_json_put_whole(&json, "events_left_out", source->profiles->left_out);
    xb_json_put_text(&json, "predicted_from", source->is_measured ? "measured now" : source->with);
    xb_json_close(&json);
    xb_json_open_array(&json, "programs");
    for (size_t i = 0; i < count; i++) {
        xb_json_open_object(&json, NULL);
        xb_fields_put(&json, profile_fields, explanations[i].profile);
        xb_fields_put(&json, explanation_fields, &explanations[i]);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
