/* SPDX-License-Identifier: Apache-2.0 */
/* What was found as JSON: docs/explain.schema.json. */
#include "explain.h"

#include "base/json_write.h"
#include "xferbench/version.h"

#include <math.h>

static const char *memory_name(enum xb_host_memory host)
{
    static const char *const names[] = {[XB_HOST_MEMORY_PAGEABLE] = "pageable",
                                        [XB_HOST_MEMORY_PINNED] = "pinned",
                                        [XB_HOST_MEMORY_MANAGED] = "managed"};
    return names[host]; /* NULL: not known */
}

static void write_engine(struct xb_json *json, const char *key, const struct xb_lane_use *use)
{
    xb_json_open_object(json, key);
    xb_json_put_whole(json, "count", use->count);
    xb_json_put_whole(json, "bytes", use->bytes);
    xb_json_put_number(json, "busy_s", use->busy);
    xb_json_close(json);
}

static void write_gpus(struct xb_json *json, const struct xb_explanation *found)
{
    static const char *const keys[XB_LANES] = {[XB_LANE_TO_GPU] = "h2d",
                                               [XB_LANE_BACK] = "d2h",
                                               [XB_LANE_AMONG] = "other_copies",
                                               [XB_LANE_KERNELS] = "kernels",
                                               [XB_LANE_HOST] = "host"};
    xb_json_open_array(json, "gpus");
    for (size_t i = 0; i < found->gpu_count; i++) {
        const struct xb_gpu_use *gpu = &found->gpus[i];
        xb_json_open_object(json, NULL);
        xb_json_put_index(json, "device", gpu->device);
        for (int engine = 0; engine < XB_LANES; engine++)
            write_engine(json, keys[engine], &gpu->lanes[engine]);
        xb_json_put_number(json, "copying_only_s", gpu->copying);
        xb_json_put_number(json, "neither_s", gpu->neither);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void write_groups(struct xb_json *json, const struct xb_explanation *found)
{
    xb_json_open_array(json, "copies");
    for (size_t i = 0; i < found->group_count; i++) {
        const struct xb_copy_group *group = &found->groups[i];
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "direction", group->way == XB_WAY_TO_GPU ? "h2d" : "d2h");
        xb_json_put_text(json, "host_memory", memory_name(group->host));
        xb_json_put_text(json, "call", group->call);
        xb_json_put_text(json, "operator", group->ranges[XB_RANGE_OPERATOR]);
        xb_json_put_text(json, "mark", group->ranges[XB_RANGE_MARK]);
        xb_json_put_text(json, "line", group->ranges[XB_RANGE_LINE]);
        xb_json_put_whole(json, "count", group->count);
        xb_json_put_known_whole(json, "bytes", group->bytes > 0, group->bytes);
        xb_json_put_number(json, "seconds", group->seconds);
        xb_json_put_number(json, "exposed_s", group->exposed);
        xb_json_put_number(json, "blocked_s", group->blocked);
        xb_json_put_number(json, "first_s", group->first);
        xb_json_put_whole(json, "rows_without_kernel", group->runs);
        xb_json_put_whole(json, "returns", group->returns);
        xb_json_put_number(json, "pinned_s", group->pinned);
        xb_json_put_number(json, "batched_s", group->batched);
        xb_json_put_number(json, "kept_s", group->kept);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void write_faults(struct xb_json *json, const struct xb_explanation *found)
{
    xb_json_open_array(json, "faults");
    for (size_t i = 0; i < found->fault_count; i++) {
        const struct xb_fault_found *one = &found->faults[i];
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "fault", xb_fault_names[one->fault]);
        xb_json_put_index(json, "copies",
                          one->group != NULL ? (int64_t)(one->group - found->groups) : -1);
        xb_json_put_text(json, "call", one->setup != NULL ? one->setup->call : NULL);
        xb_json_put_known_whole(json, "calls", one->setup != NULL,
                                one->setup != NULL ? one->setup->count : 0);
        xb_json_put_number(json, "seconds", one->seconds);
        xb_json_put_number(json, "predicted_s", one->predicted);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void write_program(struct xb_json *json, const struct xb_explanation *found)
{
    const struct xb_profile *profile = found->profile;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", profile->name);
    xb_json_put_whole(json, "process", profile->process);
    xb_json_put_number(json, "window_s", found->window);
    xb_json_put_whole(json, "dropped", profile->dropped);
    xb_json_put_flag(json, "is_cut", profile->is_cut);
    xb_json_put_flag(json, "is_one_stream", found->is_one_stream);
    xb_json_put_flag(json, "uses_managed", found->uses_managed);
    xb_json_put_flag(json, "lacks_bytes", found->lacks_bytes);
    xb_json_put_flag(json, "lacks_memory", found->lacks_memory);
    xb_json_put_known_whole(json, "chunk_bytes", found->chunk > 0, found->chunk);
    write_gpus(json, found);
    write_groups(json, found);
    write_faults(json, found);
    xb_json_close(json);
}

enum xb_status xb_explain_json_write(FILE *stream, const struct xb_explain_source *source,
                                     const struct xb_explanation *explanations, size_t count,
                                     struct xb_error *error)
{
    const struct xb_profiles *profiles = source->profiles;
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.explain");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    xb_json_open_object(&json, "source");
    xb_json_put_text(&json, "file", source->path);
    xb_json_put_text(&json, "recorded_by", profiles->source);
    xb_json_open_array(&json, "command");
    for (char *const *word = source->words; word != NULL && *word != NULL; word++)
        xb_json_put_text(&json, NULL, *word);
    xb_json_close(&json);
    xb_json_put_known_number(&json, "wall_s", source->wall > 0, source->wall);
    xb_json_put_known_whole(&json, "exit_code", source->path == NULL, (uint64_t)source->exit_code);
    xb_json_put_whole(&json, "events_left_out", profiles->left_out);
    xb_json_put_text(&json, "predicted_from",
                     source->with != NULL  ? source->with
                     : source->is_measured ? "measured now"
                                           : NULL);
    xb_json_close(&json);
    xb_json_open_array(&json, "programs");
    for (size_t i = 0; i < count; i++)
        write_program(&json, &explanations[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
