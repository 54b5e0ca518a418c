/* SPDX-License-Identifier: Apache-2.0 */
/* The formats for programs: CSV, Prometheus, node lists and JSON. */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"
#include "fleet/internal.h"

#include "base/stream.h"
#include "base/text.h"
#include "present/metrics.h"
#include "record/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all values, GPU by GPU ---- */

struct row {
    const struct xb_fleet_value *value;
    size_t place; /* of its figure in the judgement's siblings */
};

XB_COMPARER(by_gpu, struct row, XB_BY(value->gpu->number), XB_BY(place), XB_BY(value->peer))

/* Lists the values of figures that are described; to be freed. */
static struct row *list_values(const struct xb_fleet_judgement *judgement, size_t *count)
{
    const struct xb_fleet *fleet = judgement->fleet;
    struct row *rows = xb_new(fleet->value_count, sizeof *rows);
    size_t *places = xb_new(fleet->figure_count, sizeof *places);
    *count = 0;
    for (size_t i = 0; i < judgement->sibling_count; i++)
        places[judgement->siblings[i].figure->number] = i + 1;
    XB_EACH (value, fleet->values, fleet->value_count)
        if (places[value->figure->number] > 0)
            rows[(*count)++] = (struct row){value, places[value->figure->number] - 1};
    qsort(rows, *count, sizeof *rows, by_gpu);
    free(places);
    return rows;
}

/* ---- CSV ---- */

/* What CSV has of a finding, and Prometheus, as far as it is a label. NULL and NAN: not known. */
struct cell {
    const char *name, *text;
    enum { TEXT, LABEL, NUMBER } kind;
    double number;
};
#define CELLS 24
#define FLAG_TEXT(flag) ((flag) ? "true" : "false")

/* `code`: "" of a value that is listed with all others. `then`: in the baseline. */
static void list_cells(const struct xb_fleet_finding *finding, const char *code, double then,
                       struct cell cells[CELLS], struct xb_arena **arena)
{
    const struct xb_fleet_gpu *gpu = xb_fleet_gpu_of(finding);
    const struct xb_fleet_figure *figure = xb_fleet_figure_of(finding);
    bool is_pair = finding->peer >= 0, is_of_all = finding->code == XB_FLEET_ALL_SLOWER;
    /* Add new ones at the end, because some readers of the CSV count columns. */
    const struct cell all[CELLS] = {
        {"node", finding->node->name, LABEL, 0},
        {"code", code, LABEL, 0},
        {"gpu", finding->gpu != NULL ? xb_arena_print(arena, "%u", gpu->index) : NULL, LABEL, 0},
        {"pci", gpu->pci_bdf, LABEL, 0},
        {"uuid", gpu->uuid, LABEL, 0},
        {"peer", is_pair ? xb_arena_print(arena, "%d", finding->peer) : NULL, LABEL, 0},
        /* Where it is of no node, the model tells findings apart. */
        {"model", is_of_all ? figure->model : gpu->model, is_of_all ? LABEL : TEXT, 0},
        {"figure", figure->name, LABEL, 0},
        {"unit", figure->unit, TEXT, 0},
        {"value", NULL, NUMBER, finding->value},
        {"median", NULL, NUMBER, finding->centre},
        {"deviation", NULL, NUMBER, finding->deviation},
        {"spreads", NULL, NUMBER, finding->spreads},
        {"p", NULL, NUMBER, finding->p},
        {"text", finding->text, TEXT, 0},
        {"backend", figure->backend, TEXT, 0},
        {"link", figure->link, TEXT, 0},
        {"driver", figure->driver, TEXT, 0},
        {"options", figure->options, LABEL, 0},
        {"together", FLAG_TEXT(finding->together), LABEL, 0},
        {"unsure", FLAG_TEXT(finding->unsure), LABEL, 0},
        {"is_to_drain", FLAG_TEXT(code[0] != '\0' && xb_fleet_is_to_drain(finding)), TEXT, 0},
        {"baseline", NULL, NUMBER, then},
        {"serial", gpu->serial, TEXT, 0},
    };
    memcpy(cells, all, sizeof all);
}

static void put_line(FILE *stream, const struct xb_fleet_finding *of, const char *code, double then,
                     bool is_head)
{
    struct xb_csv_line line = {.stream = stream};
    struct xb_arena *arena = NULL;
    struct cell cells[CELLS];
    list_cells(of, code, then, cells, &arena);
    for (size_t k = 0; k < CELLS; k++)
        if (cells[k].kind == NUMBER && !is_head)
            xb_csv_put_number(&line, true, cells[k].number);
        else
            xb_csv_put(&line, is_head ? cells[k].name : cells[k].text);
    xb_csv_end(&line);
    xb_arena_free(arena);
}

enum xb_status xb_fleet_csv_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                  struct xb_error *error)
{
    static const struct xb_fleet_node nobody;
    size_t count = 0;
    struct row *rows = list_values(judgement, &count);
    put_line(stream, &(const struct xb_fleet_finding){.node = &nobody}, "", 0, true);
    XB_EACH (of, judgement->findings, judgement->finding_count) {
        bool by_past = of->code == XB_FLEET_ALL_SLOWER || of->code == XB_FLEET_BELOW_BASELINE;
        put_line(stream, of, xb_fleet_sayings[of->code].name, by_past ? of->centre : (double)NAN,
                 false);
    }
    for (size_t i = 0; i < count && !ferror(stream); i++) {
        const struct xb_fleet_value *own = rows[i].value;
        const struct xb_fleet_finding of =
            xb_fleet_finding_of(XB_FLEET_MISSING, own, judgement->siblings[rows[i].place].centre);
        put_line(stream, &of, "", own->then > 0 ? own->then : (double)NAN, false);
    }
    free(rows);
    return xb_stream_finish(stream, "the CSV", error);
}

/* ---- Prometheus ---- */

#define PREFIX "xferbench_fleet_" /* of all names */

static void write_counts(FILE *stream, const struct xb_fleet_judgement *judgement)
{
    const struct {
        const char *name, *help;
        size_t value;
    } counts[] = {
        {"status",
         "Verdict: 0 no findings, 1 findings, or a document could not be read, 2 none could be "
         "read, 3 too few siblings to judge.",
         (size_t)xb_fleet_exit_code(judgement)},
        {"nodes", "Nodes with a document.", judgement->fleet->node_count},
        {"gpus", "GPUs with a document.", judgement->fleet->gpu_count},
        {"judged_gpus", "GPUs judged by their siblings.", judgement->judged_gpus},
        {"missing_nodes", "Expected nodes without a document.", judgement->found[XB_FLEET_MISSING]},
        {"left_out_documents", "Documents, files and folders that were left out.",
         judgement->fleet->left_out_count}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        xb_metric_begin(stream, PREFIX, counts[i].name, counts[i].help);
        fprintf(stream, PREFIX "%s %zu\n", counts[i].name, counts[i].value);
    }
    /* Codes without a finding too: a rule that watches one needs its sample. */
    xb_metric_begin(stream, PREFIX, "findings", "Findings of each code.");
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++) {
        fputs(PREFIX "findings", stream);
        xb_metric_put_labels(stream, XB_METRIC_LABELS({"code", xb_fleet_sayings[code].name}));
        fprintf(stream, " %zu\n", judgement->found[code]);
    }
}

/* A sample a finding. */
struct sample {
    const char *labels;
    const struct xb_fleet_finding *finding;
};

/* The worst comes first among those with the same labels. */
XB_COMPARER(by_labels, struct sample, strcmp(a->labels, b->labels), XB_BY(finding))

enum xb_status xb_fleet_prometheus_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                         struct xb_error *error)
{
    static const char *const families[][2] = {
        {"finding", "1 for each finding."},
        {"deviation_ratio",
         "Value of a finding / its siblings' median, or what it was when accepted, - 1."}};
    struct xb_arena *arena = NULL;
    size_t count = judgement->finding_count, kept = 0;
    struct sample *samples = xb_new(count, sizeof *samples);
    write_counts(stream, judgement);
    XB_EACH (finding, judgement->findings, count) {
        struct xb_memory_text text = {.text = NULL};
        struct xb_metric_label labels[CELLS + 1] = {{NULL, NULL}};
        struct cell cells[CELLS];
        list_cells(finding, xb_fleet_sayings[finding->code].name, 0, cells, &arena);
        for (size_t k = 0, listed = 0; k < CELLS; k++) {
            const char *own = cells[k].text;
            if (cells[k].kind == LABEL && own != NULL && strcmp(own, "false") != 0 &&
                (k == 0 || own[0] != '\0'))
                labels[listed++] = (struct xb_metric_label){cells[k].name, own};
        }
        xb_metric_put_labels(xb_memory_text_begin(&text), labels);
        samples[finding - judgement->findings] =
            (struct sample){xb_memory_text_keep(&text, &arena), finding};
    }
    /* A sample may not appear twice, and a node may have failed twice. */
    qsort(samples, count, sizeof *samples, by_labels);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(samples[kept - 1].labels, samples[i].labels) != 0)
            samples[kept++] = samples[i];
    for (int family = 0; family < 2; family++) {
        for (size_t i = 0, begun = 0; i < kept; i++) {
            double value = family == 0 ? 1 : samples[i].finding->deviation;
            if (!isfinite(value))
                continue;
            if (begun++ == 0)
                xb_metric_begin(stream, PREFIX, families[family][0], families[family][1]);
            fprintf(stream, PREFIX "%s%s %s\n", families[family][0], samples[i].labels,
                    XB_NUMBER_TEXT(value));
        }
    }
    free(samples);
    xb_arena_free(arena);
    return xb_stream_finish(stream, "the metrics", error);
}

/* ---- nodes to drain ---- */

#define TOLD 10 /* names that cannot be listed: so many are told */

void xb_fleet_drain_list(const struct xb_fleet_judgement *judgement, struct xb_drain_list *list)
{
    size_t found = 0;
    *list = (struct xb_drain_list){.arena = NULL};
    list->names = xb_arena_new(&list->arena, judgement->finding_count * sizeof(const char *));
    /* As the user calls them: hosts that call themselves gpu1.cluster are gpu1 to a scheduler that
     * knows them so, and it refuses a list with one name that it does not know. */
    XB_EACH (of, judgement->findings, judgement->finding_count)
        if (xb_fleet_is_to_drain(of))
            list->names[found++] = of->node->expected ? of->node->expected : of->node->name;
    list->count = xb_fleet_sort_names(list->names, found);
    list->text = xb_hostlist_compress(list->names, list->count, &list->arena, &list->left_out);
}

enum xb_status xb_fleet_nodelist_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                       struct xb_error *error)
{
    struct xb_drain_list list;
    size_t told = 0;
    xb_fleet_drain_list(judgement, &list);
    /* A node that is left out would stay in service without anybody knowing. */
    for (size_t i = 0; i < list.count && told < TOLD; i++)
        if (!xb_hostlist_is_name(list.names[i]) && ++told > 0)
            xb_say("not in the node list, because it is no valid host name: '%.80s'",
                   list.names[i]);
    if (list.left_out > told)
        xb_say("and %zu more names that are no valid host names", list.left_out - told);
    /* The list may be all that a script looks at. */
    const size_t *found = judgement->found, unsure = judgement->unsure;
    size_t doubtful = found[XB_FLEET_CUT] + found[XB_FLEET_LINK_WARNING];
    size_t slower = found[XB_FLEET_ALL_SLOWER] + found[XB_FLEET_BELOW_BASELINE], shared = 0;
    XB_EACH (of, judgement->findings, judgement->finding_count)
        shared += of->together && !of->unsure && xb_fleet_code_is_bad(of->code);
    if (unsure > 0 && unsure == judgement->request.expected_count)
        xb_say("expected nodes are not listed: %zu, but none of them is there. Are the names and "
               "the folder right?",
               unsure);
    else if (unsure > 0)
        xb_say("missing nodes are not listed: %zu, but %zu files could not be read, and may be "
               "theirs; see --format table",
               unsure, judgement->fleet->unread_count);
    if (doubtful > 0)
        xb_say("findings of cut-short and link-warning list no node: %zu; measure those nodes "
               "again, see --format table",
               doubtful);
    if (slower > 0)
        xb_say("findings of all-slower and below-baseline list no node: %zu; see --format table",
               slower);
    if (shared > 0)
        xb_say("%zu findings drain no node: so many have the same that one cause is likelier than "
               "so many faults; see --format table",
               shared);
    if (list.text[0] != '\0')
        fprintf(stream, "%s\n", list.text);
    xb_arena_free(list.arena);
    return xb_stream_finish(stream, "the node list", error);
}

/* ---- JSON ---- */

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
    XB_FIELD("serial", STRING, gpu, serial, .flags = XB_FIELD_ADDED | XB_FIELD_EMPTY_IS_NULL),
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

static void write_bins(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        xb_json_put_whole(json, NULL, ((const siblings *)from)->bins[i]);
    xb_json_close(json);
}

static const struct xb_field histogram_fields[] = {
    XB_FIELD("from", DOUBLE, siblings, bins_from, XB_NULL_IF_NAN),
    XB_FIELD("to", DOUBLE, siblings, bins_to, XB_NULL_IF_NAN),
    XB_CUSTOM("counts", write_bins, NULL), XB_FIELDS_END};

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
    XB_FIELD("fast_from", DOUBLE, siblings, fast_from, XB_ADDED_NULL_IF_NAN),
    XB_FIELD("slow", SIZE, siblings, slow),
    XB_FIELD("fast", SIZE, siblings, fast),
    XB_PART("histogram", histogram_fields),
    XB_FIELDS_END};

static void write_dated(struct xb_json *json, const struct xb_field *field, const void *from)
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
    XB_CUSTOM("timestamp", write_dated, NULL),
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

static void write_json_finding(struct xb_json *json, const struct xb_fleet_judgement *judgement,
                               const finding *of)
{
    size_t place = 0; /* of its figure in `siblings` */
    while (place < judgement->sibling_count && judgement->siblings[place].figure != of->figure)
        place++;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "code", xb_fleet_sayings[of->code].name);
    xb_json_put_flag(json, "is_to_drain", xb_fleet_is_to_drain(of));
    xb_json_put_optional(json, "node", of->node->name); /* none has no name */
    if (of->gpu != NULL)
        xb_fields_put_object(json, "gpu", xb_fleet_gpu_fields, of->gpu);
    else
        xb_json_put_null(json, "gpu");
    xb_json_put_index(json, "peer", of->peer);
    xb_json_put_text(json, "figure", xb_fleet_figure_of(of)->name);
    xb_json_put_index(json, "siblings", place < judgement->sibling_count ? (int64_t)place : -1);
    xb_fields_put(json, xb_fleet_finding_fields, of);
    xb_json_close(json);
}

/* A line for each GPU, its values in arrays: indented, those of many nodes would take five times as
 * much, and `report` reads at most 64 MiB. */
static void write_values(struct xb_json *json, const struct xb_fleet_judgement *judgement)
{
    static const char *const keys[] = {"siblings", "peers", "values", "baseline"};
    const size_t all = judgement->fleet->value_count;
    const double none = (double)NAN;
    size_t count = 0;
    struct row *rows = list_values(judgement, &count);
    double *columns = xb_new(all, sizeof(double[4]));
    xb_json_open_array(json, "values_by_gpu");
    json->in_lines = true;
    for (size_t i = 0; i < count;) {
        const gpu *own = rows[i].value->gpu;
        bool any[4] = {false};
        size_t found = 0;
        for (; i < count && rows[i].value->gpu == own; i++, found++) {
            const struct xb_fleet_value *value = rows[i].value;
            const double cells[] = {(double)rows[i].place, value->peer >= 0 ? value->peer : none,
                                    value->value, value->then > 0 ? value->then : none};
            for (size_t k = 0; k < 4; k++) {
                columns[k * all + found] = cells[k];
                any[k] = any[k] || isfinite(cells[k]);
            }
        }
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "node", own->node->name);
        xb_fields_put(json, xb_fleet_gpu_fields, own);
        for (size_t k = 0; k < 4; k++)
            if (any[k])
                xb_json_put_numbers(json, keys[k], columns + k * all, found);
        xb_json_close(json);
    }
    json->in_lines = false;
    xb_json_close(json);
    free(columns);
    free(rows);
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
    xb_json_put_optional(&json, "limits", request->limits_path);
    if (request->baseline != NULL) {
        xb_json_open_object(&json, "baseline");
        xb_json_put_text(&json, "path", request->baseline_path);
        xb_json_put_whole(&json, "nodes", judgement->compared_nodes);
        xb_json_put_whole(&json, "gpus", judgement->compared_gpus);
        xb_json_put_whole(&json, "values", judgement->compared);
        xb_json_close(&json);
    } else {
        xb_json_put_null(&json, "baseline");
    }
    xb_json_put_whole(&json, "exit_code", (uint64_t)xb_fleet_exit_code(judgement));
    xb_json_put_whole(&json, "nodes", judgement->fleet->node_count);
    xb_json_put_whole(&json, "gpus", judgement->fleet->gpu_count);
    xb_json_put_whole(&json, "judged_gpus", judgement->judged_gpus);
    xb_json_put_whole(&json, "tests", judgement->tests);
    xb_json_put_whole(&json, "duplicates", judgement->duplicates);
    xb_json_open_array(&json, "findings");
    XB_EACH (of, judgement->findings, judgement->finding_count)
        write_json_finding(&json, judgement, of);
    xb_json_close(&json);
    xb_json_open_array(&json, "siblings");
    XB_EACH (of, judgement->siblings, judgement->sibling_count) {
        xb_json_open_object(&json, NULL);
        xb_fields_put_object(&json, "figure", xb_fleet_figure_fields, of->figure);
        xb_fields_put(&json, xb_fleet_siblings_fields, of);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    write_values(&json, judgement);
    xb_json_open_array(&json, "notes");
    for (size_t i = 0; i < judgement->note_count; i++)
        xb_json_put_text(&json, NULL, judgement->notes[i]);
    xb_json_close(&json);
    xb_fields_put(&json, xb_fleet_fields, judgement->fleet);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
