/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"

#include "base/json_write.h"
#include "record/document.h"

/* docs/fleet.schema.json explains the keys. An unknown value is null. */

static void put_gpu(struct xb_json *json, const struct xb_fleet_gpu *gpu)
{
    xb_json_open_object(json, "gpu");
    xb_json_put_whole(json, "index", gpu->index);
    xb_json_put_optional(json, "model", gpu->model);
    xb_json_put_optional(json, "uuid", gpu->uuid);
    xb_json_put_optional(json, "pci_bdf", gpu->pci_bdf);
    xb_json_put_known_number(json, "link_speed_gts", gpu->link_speed_gts > 0, gpu->link_speed_gts);
    xb_json_put_known_whole(json, "link_width", gpu->link_width > 0, gpu->link_width);
    xb_json_close(json);
}

/* The index in `siblings` of the figure; -1: none. */
static int64_t place_of(const struct xb_fleet_judgement *judgement, size_t figure)
{
    for (size_t i = 0; figure != XB_FLEET_NONE && i < judgement->sibling_count; i++)
        if (judgement->siblings[i].figure == figure)
            return (int64_t)i;
    return -1;
}

static void put_finding(struct xb_json *json, const struct xb_fleet_judgement *judgement,
                        const struct xb_fleet_finding *finding)
{
    const struct xb_fleet *fleet = judgement->fleet;
    bool has_figure = finding->figure != XB_FLEET_NONE;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "code", xb_fleet_code_name(finding->code));
    xb_json_put_flag(json, "is_to_drain", xb_fleet_is_to_drain(finding));
    xb_json_put_text(json, "node", finding->node);
    if (finding->gpu != XB_FLEET_NONE)
        put_gpu(json, &fleet->gpus[finding->gpu]);
    else
        xb_json_put_null(json, "gpu");
    xb_json_put_index(json, "peer", finding->peer);
    xb_json_put_text(json, "figure", has_figure ? fleet->figures[finding->figure].name : NULL);
    xb_json_put_index(json, "siblings", place_of(judgement, finding->figure));
    xb_json_put_known_number(json, "value", has_figure, finding->value);
    xb_json_put_known_number(json, "median", has_figure, finding->centre);
    xb_json_put_known_number(json, "deviation", has_figure, finding->deviation);
    xb_json_put_known_number(json, "spreads", has_figure, finding->spreads);
    xb_json_put_known_number(json, "p", has_figure, finding->p);
    xb_json_put_flag(json, "together", finding->together);
    xb_json_put_flag(json, "unsure", finding->unsure);
    xb_json_put_optional(json, "text", finding->text);
    xb_json_close(json);
}

static void put_figure(struct xb_json *json, const struct xb_fleet_figure *figure)
{
    xb_json_open_object(json, "figure");
    xb_json_put_text(json, "name", figure->name);
    xb_json_put_text(json, "unit", figure->unit);
    xb_json_put_flag(json, "more_is_better", figure->more_is_better);
    xb_json_put_optional(json, "backend", figure->backend);
    xb_json_put_optional(json, "model", figure->model);
    xb_json_put_optional(json, "link", figure->link);
    xb_json_put_optional(json, "driver", figure->driver);
    xb_json_put_optional(json, "options", figure->options);
    xb_json_close(json);
}

static void put_histogram(struct xb_json *json, const struct xb_fleet_siblings *siblings)
{
    xb_json_open_object(json, "histogram");
    xb_json_put_number(json, "from", siblings->bins_from);
    xb_json_put_number(json, "to", siblings->bins_to);
    xb_json_open_array(json, "counts");
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        xb_json_put_whole(json, NULL, siblings->bins[i]);
    xb_json_close(json);
    xb_json_close(json);
}

static void put_siblings(struct xb_json *json, const struct xb_fleet *fleet,
                         const struct xb_fleet_siblings *siblings)
{
    xb_json_open_object(json, NULL);
    put_figure(json, &fleet->figures[siblings->figure]);
    xb_json_put_whole(json, "values", siblings->values);
    xb_json_put_whole(json, "nodes", siblings->nodes);
    xb_json_put_flag(json, "judged", siblings->judged);
    xb_json_put_number(json, "median", siblings->centre);
    xb_json_put_number(json, "spread", siblings->spread);
    xb_json_put_flag(json, "spread_is_floor", siblings->is_floor);
    xb_json_put_number(json, "least", siblings->least);
    xb_json_put_number(json, "most", siblings->most);
    xb_json_put_number(json, "slots_differ", siblings->slots_differ);
    xb_json_put_known_number(json, "independent", siblings->judged, siblings->independent);
    xb_json_put_known_number(json, "named_from", siblings->judged, siblings->named_from);
    xb_json_put_whole(json, "slow", siblings->slow);
    xb_json_put_whole(json, "fast", siblings->fast);
    put_histogram(json, siblings);
    xb_json_close(json);
}

static void put_source(struct xb_json *json, const struct xb_fleet_source *source)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "path", source->path);
    xb_json_put_optional(json, "kind", source->kind);
    xb_json_put_known_whole(json, "number", source->number > 0, source->number);
    if (source->dated != 0)
        xb_document_put_time(json, "timestamp", source->dated);
    else
        xb_json_put_null(json, "timestamp");
    xb_json_put_number(json, "began_s", source->began);
    xb_json_put_number(json, "late_s", source->late_s);
    xb_json_put_flag(json, "clock_is_unsynchronised", source->unsynchronised);
    xb_json_close(json);
}

static void put_left_out(struct xb_json *json, const struct xb_fleet *fleet)
{
    xb_json_put_whole(json, "left_out_count", fleet->left_out_count);
    xb_json_put_whole(json, "unread_count", fleet->unread_count);
    xb_json_open_array(json, "left_out");
    for (size_t i = 0; i < fleet->left_out_count && i < XB_FLEET_TOLD; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "what", fleet->left_out[i].what);
        xb_json_put_text(json, "why", fleet->left_out[i].why);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void put_counts(struct xb_json *json, const struct xb_fleet_judgement *judgement)
{
    const struct xb_fleet_request *request = &judgement->request;
    xb_json_put_number(json, "alpha", request->alpha);
    xb_json_put_known_whole(json, "expected_nodes", request->expected != NULL,
                            request->expected_count);
    xb_json_put_whole(json, "exit_code", (uint64_t)xb_fleet_exit_code(judgement));
    xb_json_put_whole(json, "nodes", judgement->fleet->node_count);
    xb_json_put_whole(json, "gpus", judgement->fleet->gpu_count);
    xb_json_put_whole(json, "judged_gpus", judgement->judged_gpus);
    xb_json_put_whole(json, "tests", judgement->tests);
    xb_json_put_whole(json, "duplicates", judgement->duplicates);
}

enum xb_status xb_fleet_json_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                   struct xb_error *error)
{
    const struct xb_fleet *fleet = judgement->fleet;
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.fleet", 1);
    put_counts(&json, judgement);
    xb_json_open_array(&json, "findings");
    for (size_t i = 0; i < judgement->finding_count; i++)
        put_finding(&json, judgement, &judgement->findings[i]);
    xb_json_close(&json);
    xb_json_open_array(&json, "siblings");
    for (size_t i = 0; i < judgement->sibling_count; i++)
        put_siblings(&json, fleet, &judgement->siblings[i]);
    xb_json_close(&json);
    xb_json_open_array(&json, "notes");
    for (size_t i = 0; i < judgement->note_count; i++)
        xb_json_put_text(&json, NULL, judgement->notes[i]);
    xb_json_close(&json);
    xb_json_open_array(&json, "sources");
    for (size_t i = 0; i < fleet->source_count; i++)
        put_source(&json, &fleet->sources[i]);
    xb_json_close(&json);
    put_left_out(&json, fleet);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
