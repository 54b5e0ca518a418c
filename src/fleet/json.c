/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"

#include "record/document.h"

/* docs/fleet.schema.json explains the keys. An unknown value is null. */

typedef struct xb_fleet_gpu gpu;
typedef struct xb_fleet_finding finding;
typedef struct xb_fleet_figure figure;
typedef struct xb_fleet_siblings siblings;
typedef struct xb_fleet_source source;
typedef struct xb_fleet_left_out left_out;
typedef struct xb_fleet fleet;

const struct xb_field xb_fleet_gpu_fields[] = {
    XB_FIELD("index", UNSIGNED, gpu, index),
    XB_FIELD("model", STRING, gpu, model, XB_NULL_IF_EMPTY),
    XB_FIELD("uuid", STRING, gpu, uuid, XB_NULL_IF_EMPTY),
    XB_FIELD("pci_bdf", STRING, gpu, pci_bdf, XB_NULL_IF_EMPTY),
    XB_FIELD("link_speed_gts", DOUBLE, gpu, link_speed_gts, XB_RATE),
    XB_FIELD("link_width", UNSIGNED, gpu, link_width, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

const struct xb_field xb_fleet_finding_fields[] = {
    XB_FIELD("value", DOUBLE, finding, value, XB_NULL_IF_NAN),
    XB_FIELD("median", DOUBLE, finding, centre, XB_NULL_IF_NAN),
    XB_FIELD("deviation", DOUBLE, finding, deviation, XB_NULL_IF_NAN),
    XB_FIELD("spreads", DOUBLE, finding, spreads, XB_NULL_IF_NAN),
    XB_FIELD("p", DOUBLE, finding, p, XB_NULL_IF_NAN),
    XB_FIELD("together", FLAG, finding, together),
    XB_FIELD("unsure", FLAG, finding, unsure),
    XB_FIELD("text", STRING, finding, text, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

const struct xb_field xb_fleet_figure_fields[] = {
    XB_FIELD("name", STRING, figure, name),
    XB_FIELD("unit", STRING, figure, unit),
    XB_FIELD("more_is_better", FLAG, figure, more_is_better),
    XB_FIELD("backend", STRING, figure, backend, XB_NULL_IF_EMPTY),
    XB_FIELD("model", STRING, figure, model, XB_NULL_IF_EMPTY),
    XB_FIELD("link", STRING, figure, link, XB_NULL_IF_EMPTY),
    XB_FIELD("driver", STRING, figure, driver, XB_NULL_IF_EMPTY),
    XB_FIELD("options", STRING, figure, options, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

static void put_bins(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        xb_json_put_whole(json, NULL, ((const siblings *)from)->bins[i]);
    xb_json_close(json);
}

static const struct xb_field histogram_fields[] = {
    XB_FIELD("from", DOUBLE, siblings, bins_from, XB_NULL_IF_NAN),
    XB_FIELD("to", DOUBLE, siblings, bins_to, XB_NULL_IF_NAN), XB_CUSTOM("counts", put_bins, NULL),
    XB_FIELDS_END};

const struct xb_field xb_fleet_siblings_fields[] = {
    XB_FIELD("values", SIZE, siblings, values),
    XB_FIELD("nodes", SIZE, siblings, nodes),
    XB_FIELD("judged", FLAG, siblings, judged),
    XB_FIELD("median", DOUBLE, siblings, centre, XB_NULL_IF_NAN),
    XB_FIELD("spread", DOUBLE, siblings, spread, XB_NULL_IF_NAN),
    XB_FIELD("spread_is_floor", FLAG, siblings, is_floor),
    XB_FIELD("least", DOUBLE, siblings, least, XB_NULL_IF_NAN),
    XB_FIELD("most", DOUBLE, siblings, most, XB_NULL_IF_NAN),
    XB_FIELD("slots_differ", DOUBLE, siblings, slots_differ),
    XB_FIELD("independent", DOUBLE, siblings, independent, XB_KNOWN(siblings, judged)),
    XB_FIELD("named_from", DOUBLE, siblings, named_from, XB_KNOWN(siblings, judged)),
    XB_FIELD("slow", SIZE, siblings, slow),
    XB_FIELD("fast", SIZE, siblings, fast),
    XB_PART("histogram", histogram_fields),
    XB_FIELDS_END};

static void put_dated(struct xb_json *json, const struct xb_field *field, const void *from)
{
    if (((const source *)from)->dated != 0)
        xb_document_put_time(json, field->key, ((const source *)from)->dated);
    else
        xb_json_put_null(json, field->key);
}

static const struct xb_field source_fields[] = {
    XB_FIELD("path", STRING, source, path),
    XB_FIELD("kind", STRING, source, kind, XB_NULL_IF_EMPTY),
    XB_FIELD("number", SIZE, source, number, XB_NULL_IF_EMPTY),
    XB_CUSTOM("timestamp", put_dated, NULL),
    XB_FIELD("began_s", DOUBLE, source, began, XB_NULL_IF_NAN),
    XB_FIELD("late_s", DOUBLE, source, late_s, XB_NULL_IF_NAN),
    XB_FIELD("clock_is_unsynchronised", FLAG, source, unsynchronised),
    XB_FIELDS_END};

static const struct xb_field left_out_fields[] = {XB_FIELD("what", STRING, left_out, what),
                                                  XB_FIELD("why", STRING, left_out, why),
                                                  XB_FIELDS_END};

const struct xb_field xb_fleet_fields[] = {
    XB_LIST("sources", fleet, sources, source_count, SIZE_MAX, source_fields),
    XB_FIELD("left_out_count", SIZE, fleet, left_out_count),
    XB_FIELD("unread_count", SIZE, fleet, unread_count),
    XB_LIST("left_out", fleet, left_out, left_out_count, XB_FLEET_TOLD, left_out_fields),
    XB_FIELDS_END};

/* The index in `siblings` of the figure; -1: none. */
static int64_t place_of(const struct xb_fleet_judgement *judgement, size_t index)
{
    for (size_t i = 0; index != XB_FLEET_NONE && i < judgement->sibling_count; i++)
        if (judgement->siblings[i].figure == index)
            return (int64_t)i;
    return -1;
}

static void put_finding(struct xb_json *json, const struct xb_fleet_judgement *judgement,
                        const finding *of)
{
    const fleet *all = judgement->fleet;
    bool has_figure = of->figure != XB_FLEET_NONE;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "code", xb_fleet_code_name(of->code));
    xb_json_put_flag(json, "is_to_drain", xb_fleet_is_to_drain(of));
    xb_json_put_text(json, "node", of->node);
    if (of->gpu != XB_FLEET_NONE)
        xb_fields_put_object(json, "gpu", xb_fleet_gpu_fields, &all->gpus[of->gpu]);
    else
        xb_json_put_null(json, "gpu");
    xb_json_put_index(json, "peer", of->peer);
    xb_json_put_text(json, "figure", has_figure ? all->figures[of->figure].name : NULL);
    xb_json_put_index(json, "siblings", place_of(judgement, of->figure));
    xb_fields_put(json, xb_fleet_finding_fields, of);
    xb_json_close(json);
}

enum xb_status xb_fleet_json_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                   struct xb_error *error)
{
    const struct xb_fleet_request *request = &judgement->request;
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.fleet", 1);
    xb_json_put_number(&json, "alpha", request->alpha);
    xb_json_put_known_whole(&json, "expected_nodes", request->expected != NULL,
                            request->expected_count);
    xb_json_put_whole(&json, "exit_code", (uint64_t)xb_fleet_exit_code(judgement));
    xb_json_put_whole(&json, "nodes", judgement->fleet->node_count);
    xb_json_put_whole(&json, "gpus", judgement->fleet->gpu_count);
    xb_json_put_whole(&json, "judged_gpus", judgement->judged_gpus);
    xb_json_put_whole(&json, "tests", judgement->tests);
    xb_json_put_whole(&json, "duplicates", judgement->duplicates);
    xb_json_open_array(&json, "findings");
    for (size_t i = 0; i < judgement->finding_count; i++)
        put_finding(&json, judgement, &judgement->findings[i]);
    xb_json_close(&json);
    xb_json_open_array(&json, "siblings");
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        const siblings *of = &judgement->siblings[i];
        xb_json_open_object(&json, NULL);
        xb_fields_put_object(&json, "figure", xb_fleet_figure_fields,
                             &judgement->fleet->figures[of->figure]);
        xb_fields_put(&json, xb_fleet_siblings_fields, of);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_open_array(&json, "notes");
    for (size_t i = 0; i < judgement->note_count; i++)
        xb_json_put_text(&json, NULL, judgement->notes[i]);
    xb_json_close(&json);
    xb_fields_put(&json, xb_fleet_fields, judgement->fleet);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
