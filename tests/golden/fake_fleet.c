/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fleet` of xferbench_fake writes the judgement that XB_FAKE_FLEET in the environment names, in
 * place of its own: what `fleet --format json` writes, without what follows from the rest. Its
 * nodes are gpu001, gpu002 and so on with one GPU each, but for those that "nodes_of_gpus" names
 * for one GPU more, {"node", "index"}, and those that findings name.
 */
#define _POSIX_C_SOURCE 200809L
#include "fake_documents.h"
#include "fleet/internal.h"
#include "fleet/write/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 2000 /* nodes, and GPUs */

/* The linker puts __wrap_NAME in the place of NAME, which it calls __real_NAME
 * (tests/CMakeLists.txt). */
void __real_xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                           struct xb_fleet_judgement *judgement);

static struct xb_fleet made;
static struct xb_fleet_node nodes[MOST], *node_list[MOST];
static struct xb_fleet_gpu gpus[MOST], *gpu_list[MOST];
static cJSON *tree;

static const cJSON *at(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* NAN where there is none. */
static double number(const cJSON *object, const char *key)
{
    return cJSON_IsNumber(at(object, key)) ? at(object, key)->valuedouble : (double)NAN;
}

static size_t count(const cJSON *object, const char *key)
{
    return cJSON_IsNumber(at(object, key)) ? (size_t)at(object, key)->valuedouble : 0;
}

static bool flag(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(at(object, key));
}

/* Of a tree that stays. */
static const char *text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(at(object, key));
}

/* What `fleet --format json` writes by these fields. */
static void fill(const cJSON *object, const struct xb_field *fields, void *to)
{
    struct xb_json_reader reader = {.place = {.path = "XB_FAKE_FLEET"}, .texts = &made.texts};
    xb_fields_read(&reader, object, fields, to);
    if (xb_json_failed(&reader))
        xb_fake_fail("XB_FAKE_FLEET", &reader.error);
}

/* The array's items, zeroed, and how many. */
static void *room(const char *key, size_t size, size_t *items)
{
    *items = (size_t)cJSON_GetArraySize(at(tree, key));
    return calloc(*items + 1, size);
}

/* A node that no document is of is in no list. */
static struct xb_fleet_node *node_of(const char *name)
{
    for (size_t i = 0; i < MOST; i++) {
        if (nodes[i].name == NULL)
            nodes[i] = (struct xb_fleet_node){.name = name, .number = i};
        if (strcmp(nodes[i].name, name) == 0)
            return &nodes[i];
    }
    abort();
}

/* A node with a document: one of those in the list takes that name. */
static struct xb_fleet_node *listed_node_of(const char *name)
{
    static size_t renamed;
    for (size_t i = 0; i < made.node_count; i++)
        if (strcmp(nodes[i].name, name) == 0)
            return &nodes[i];
    struct xb_fleet_node *node = &nodes[made.node_count - ++renamed];
    node->name = name;
    return node;
}

static struct xb_fleet_gpu *gpu_of(struct xb_fleet_node *node, unsigned index)
{
    struct xb_fleet_gpu *own = NULL;
    for (size_t i = 0; own == NULL && i < made.gpu_count; i++)
        if (gpus[i].node == node && (gpus[i].index == index || gpus[i].model == NULL))
            own = &gpus[i];
    if (own == NULL) {
        gpu_list[made.gpu_count] = own = &gpus[made.gpu_count];
        own->number = made.gpu_count++;
    }
    own->node = node;
    own->index = index;
    return own;
}

static void make_fleet(void)
{
    static char names[MOST][16];
    made = (struct xb_fleet){.nodes = node_list, .gpus = gpu_list};
    made.node_count = count(tree, "nodes");
    for (size_t i = 0; i < made.node_count; i++) {
        snprintf(names[i], sizeof names[i], "gpu%03zu", i + 1);
        node_list[i] = node_of(names[i]);
        gpu_of(node_list[i], 0);
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, at(tree, "nodes_of_gpus"))
    {
        struct xb_fleet_gpu *more =
            gpu_of(node_of(text(item, "node")), (unsigned)count(item, "index"));
        more->model = "NVIDIA H200";
        more->is_gone = flag(item, "is_gone");
    }
    fill(tree, xb_fleet_fields, &made);
    made.left_out_count = count(tree, "left_out_count");
    struct xb_fleet_source *source = made.sources;
    cJSON_ArrayForEach(item, at(tree, "sources")) source++->dated =
        (time_t)count(item, "timestamp");
}

static struct xb_fleet_siblings siblings_of(const cJSON *item)
{
    const cJSON *bin;
    struct xb_fleet_figure known = {.name = NULL};
    struct xb_fleet_figure *figure = xb_arena_new(&made.texts, sizeof *figure);
    struct xb_fleet_siblings siblings = {.figure = NULL};
    size_t i = 0;
    fill(item, xb_fleet_siblings_fields, &siblings);
    siblings.judged = flag(item, "judged"); /* whatever it was judged by */
    fill(at(item, "figure"), xb_fleet_figure_fields, &known);
    *figure = *xb_fleet_add_figure(&made, &known); /* equal texts have one address */
    siblings.figure = figure;
    cJSON_ArrayForEach(bin, at(at(item, "histogram"), "counts"))
        siblings.bins[i++ % XB_FLEET_BINS] = (size_t)bin->valuedouble;
    return siblings;
}

static struct xb_fleet_finding finding_of(const cJSON *item,
                                          const struct xb_fleet_judgement *judgement)
{
    const cJSON *gpu = at(item, "gpu");
    struct xb_fleet_node *node =
        cJSON_IsObject(gpu) ? listed_node_of(text(item, "node")) : node_of(text(item, "node"));
    struct xb_fleet_finding finding = {.node = node,
                                       .peer = -1,
                                       .value = number(item, "value"),
                                       .centre = number(item, "median"),
                                       .deviation = number(item, "deviation"),
                                       .spreads = number(item, "spreads"),
                                       .p = number(item, "p"),
                                       .together = flag(item, "together"),
                                       .unsure = flag(item, "unsure"),
                                       .text = text(item, "text")};
    while (strcmp(xb_fleet_sayings[finding.code].name, text(item, "code")) != 0)
        finding.code++;
    if (cJSON_IsNumber(at(item, "peer")))
        finding.peer = (int)count(item, "peer");
    if (cJSON_IsNumber(at(item, "siblings")))
        finding.figure = judgement->siblings[count(item, "siblings")].figure;
    if (!cJSON_IsObject(gpu))
        return finding;
    finding.gpu = gpu_of(node, (unsigned)count(gpu, "index"));
    fill(gpu, xb_fleet_gpu_fields, finding.gpu);
    return finding;
}

void __wrap_xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                           struct xb_fleet_judgement *judgement)
{
    const char *path = getenv("XB_FAKE_FLEET");
    const cJSON *item;
    if (path == NULL) {
        __real_xb_fleet_judge(fleet, request, judgement);
        return;
    }
    tree = xb_fake_tree_of(path);
    make_fleet();
    *judgement = (struct xb_fleet_judgement){.fleet = &made,
                                             .request = *request,
                                             .tests = count(tree, "tests"),
                                             .judged_gpus = count(tree, "judged_gpus"),
                                             .duplicates = count(tree, "duplicates")};
    judgement->notes = room("notes", sizeof *judgement->notes, &judgement->note_count);
    judgement->siblings = room("siblings", sizeof *judgement->siblings, &judgement->sibling_count);
    judgement->findings = room("findings", sizeof *judgement->findings, &judgement->finding_count);
    size_t i = 0;
    cJSON_ArrayForEach(item, at(tree, "notes")) judgement->notes[i++] = item->valuestring;
    i = 0;
    cJSON_ArrayForEach(item, at(tree, "siblings")) judgement->siblings[i++] = siblings_of(item);
    i = 0;
    cJSON_ArrayForEach(item, at(tree, "findings"))
    {
        judgement->findings[i] = finding_of(item, judgement);
        judgement->found[judgement->findings[i].code]++;
        judgement->unsure += judgement->findings[i++].unsure;
    }
}
