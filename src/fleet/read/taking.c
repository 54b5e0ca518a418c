/* SPDX-License-Identifier: Apache-2.0 */
/* Takes one document of any kind into a fleet, or says why it cannot. */
#include "fleet/internal.h"

#include "base/day_time.h"
#include "machine/node.h"
#include "record/document.h"

#include <math.h>
#include <string.h>

/* ---- where it comes from ---- */

#define MOST_KEYS 1000
#define LATEST 1e11 /* seconds */

/* 0 for what is no time: a document without one is older than any other, but it counts. */
static double read_time(const char *text)
{
    struct xb_error ignored;
    double when = 0.0;
    return text != NULL && xb_day_time_parse(text, &when, &ignored) == XB_OK ? when : 0.0;
}

static void read_origin(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                        const cJSON *document)
{
    const cJSON *host = xb_json_get_optional_object(reader, document, "host", MOST_KEYS);
    const cJSON *backend = xb_json_get_optional_object(reader, document, "backend", MOST_KEYS);
    const cJSON *start = xb_json_get_optional_object(reader, document, "start", MOST_KEYS);
    const cJSON *clock = xb_json_get_optional_object(reader, start, "clock", MOST_KEYS);
    const cJSON *launcher = xb_json_get_optional_object(reader, document, "launcher", MOST_KEYS);
    double began = read_time(xb_json_get_optional_text(reader, start, "began"));
    taking->host.name = xb_json_get_optional_text(reader, host, "node");
    taking->host.hostname = xb_json_get_optional_text(reader, host, "hostname");
    taking->backend = xb_json_get_optional_text(reader, backend, "name");
    taking->host.driver = xb_json_get_optional_text(reader, backend, "driver_version");
    if (taking->host.name == NULL)
        taking->host.name = taking->host.hostname;
    struct xb_fleet_source *source = &taking->origin;
    source->dated = (time_t)read_time(xb_json_get_optional_text(reader, document, "timestamp"));
    source->began = began > 0.0 ? began : (double)NAN;
    source->late_s = xb_json_get_optional_number(reader, start, "late_s", LATEST);
    source->unsynchronised = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(clock, "synchronised"));
    source->rank = (unsigned)xb_json_get_optional_whole(reader, launcher, "rank", XB_RANKS - 1);
    source->ranks = (unsigned)xb_json_get_optional_whole(reader, launcher, "ranks", XB_RANKS);
}

/* ---- what it says ---- */

/* A document that is dated ahead would outrank all others until that day. It counts so much
 * earlier: as older than all others, also those without a date, while several keep their order. */
#define BEFORE_ALL ((time_t)1 << 40)
/* A clock that was set to the local time is up to 14 hours ahead of UTC. */
#define AHEAD_S ((time_t)24 * 3600)

void xb_taking_begin(struct xb_fleet_taking *taking)
{
    struct xb_fleet_source *source = &taking->origin;
    bool is_ahead = source->dated > taking->fleet->now + AHEAD_S;
    source->written = source->dated - (is_ahead ? BEFORE_ALL : 0);
    taking->host.driver_told = source->written;
    taking->source = xb_fleet_add_source(taking->fleet, source);
    taking->node = xb_fleet_add_node(taking->fleet, &taking->host);
}

static bool is_same(const char *left, const char *right)
{
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

size_t xb_taking_add_gpu(struct xb_fleet_taking *taking, struct xb_fleet_gpu gpu)
{
    /* Parts of one GPU may have its UUID and its address: by these they would be taken for one, and
     * of their values one alone would count. The fleet has no GPUs but this document's. */
    for (size_t i = 0; i < taking->fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *other = &taking->fleet->gpus[i];
        bool apart = other->index != gpu.index;
        gpu.uuid = apart && is_same(other->uuid, gpu.uuid) ? NULL : gpu.uuid;
        gpu.pci_bdf = apart && is_same(other->pci_bdf, gpu.pci_bdf) ? NULL : gpu.pci_bdf;
    }
    gpu.node = taking->node;
    gpu.told = taking->origin.written;
    return xb_fleet_add_gpu(taking->fleet, &gpu);
}

void xb_taking_add_value(struct xb_fleet_taking *taking, struct xb_fleet_figure figure,
                         struct xb_fleet_value value)
{
    figure.backend = taking->backend;
    figure.driver = taking->host.driver;
    value.source = taking->source;
    if (value.gpu == XB_FLEET_NONE || !(value.value > 0.0) || !isfinite(value.value))
        return;
    value.figure = xb_fleet_add_figure(taking->fleet, &figure);
    xb_fleet_add_value(taking->fleet, &value);
}

void xb_taking_complain(struct xb_fleet_taking *taking, enum xb_fleet_code code, size_t gpu,
                        const char *text, const char *causes)
{
    const struct xb_fleet_complaint complaint = {.code = code,
                                                 .node = taking->node,
                                                 .gpu = gpu,
                                                 .text = text,
                                                 .source = taking->source,
                                                 .causes = causes};
    xb_fleet_add_complaint(taking->fleet, &complaint);
}

/* ---- a whole one ---- */

void xb_taking_document(struct xb_fleet *fleet, const struct xb_fleet_terms *terms,
                        const char *path, size_t number, const char *text, size_t length, char *why,
                        bool *is_foreign)
{
    static const char itself[] = "document", before[] = "document: "; /* in readers' messages */
    struct xb_json_reader reader = {.place = {.path = itself}};
    struct xb_fleet_taking taking = {.fleet = fleet, .terms = terms};
    cJSON *tree = xb_json_read(&reader, text, length);
    enum xb_document_kind kind = xb_document_kind_of(tree);
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(tree, "schema");
    *is_foreign = tree != NULL && kind != XB_DOCUMENT_LINK && kind != XB_DOCUMENT_RESULT &&
                  kind != XB_DOCUMENT_PROCESSES;
    why[0] = '\0';
    if (*is_foreign && kind != XB_DOCUMENT_FOREIGN) {
        snprintf(why, XB_TAKING_WHY, "%s: fleet reads only link tests and results",
                 xb_document_kind_name(kind));
    } else if (*is_foreign && cJSON_IsString(schema)) {
        snprintf(why, XB_TAKING_WHY, "not written by xferbench: its schema is \"%.100s\"",
                 schema->valuestring);
    } else if (*is_foreign) {
        snprintf(why, XB_TAKING_WHY, "not written by xferbench: it names no schema");
    } else if (tree != NULL) {
        bool is_link = kind == XB_DOCUMENT_LINK;
        taking.origin = (struct xb_fleet_source){
            .path = path, .number = number, .kind = is_link ? "link" : "run"};
        read_origin(&taking, &reader, tree);
        if (taking.host.name == NULL)
            snprintf(why, XB_TAKING_WHY, "it has no host name");
        else if (!xb_json_failed(&reader))
            (is_link ? xb_taking_link : xb_taking_record)(&taking, &reader, tree);
    }
    cJSON_Delete(tree);
    if (reader.error.status == XB_ERR_MEMORY)
        xb_memory_end(length);
    const char *message = reader.error.message;
    if (xb_json_failed(&reader))
        snprintf(why, XB_TAKING_WHY, "%s",
                 message +
                     (strncmp(message, before, sizeof before - 1) == 0 ? sizeof before - 1 : 0));
}
