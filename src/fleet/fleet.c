/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy */
#include "fleet.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/units.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What identifies a thing: its kind and its words, and the thing. Texts are compared by address,
 * because the fleet has each text only once. */
enum kind { OF_NODE, OF_UUID, OF_ADDRESS, OF_INDEX, OF_FIGURE };
struct name {
    uintptr_t words[10];
    void *thing;
};

void xb_fleet_open(struct xb_fleet *fleet)
{
    *fleet = (struct xb_fleet){.now = xb_began().tv_sec};
}

/* The arena owns the items of the trees. */
static void leave(void *nothing)
{
    (void)nothing;
}

void xb_fleet_free(struct xb_fleet *fleet)
{
    tdestroy(fleet->known_texts, leave);
    tdestroy(fleet->known_things, leave);
    free(fleet->sources);
    free(fleet->nodes);
    free(fleet->gpus);
    free(fleet->figures);
    free(fleet->values);
    free(fleet->complaints);
    free(fleet->left_out);
    xb_arena_free(fleet->texts);
    *fleet = (struct xb_fleet){.sources = NULL};
}

/* Adds an item; its value is the item's index. */
#define APPEND(array, count, item)                                                                 \
    ((array) = xb_grow((array), (count), sizeof *(array)), (array)[count] = (item), (count)++)
/* Adds a copy of a thing, which stays where it is; its value is that copy. */
#define APPEND_THING(array, count, item)                                                           \
    ((item).number = (count), (array) = xb_grow((array), (count), sizeof(void *)),                 \
     (array)[(count)++] = copy(fleet, &(item), sizeof(item)))

static void *copy(struct xb_fleet *fleet, const void *thing, size_t bytes)
{
    return memcpy(xb_arena_new(&fleet->texts, bytes), thing, bytes);
}

XB_COMPARER(compare_texts, char, strcmp(a, b))
XB_COMPARER(compare_names, struct name, memcmp(a->words, b->words, sizeof a->words))

/* What the tree has that is like `thing`, or a copy of it, which it adds. */
static void *keep(struct xb_fleet *fleet, void **tree, const void *thing, size_t bytes,
                  int (*compare)(const void *, const void *))
{
    void *const *found = tfind(thing, tree, compare);
    if (found == NULL)
        found = tsearch(copy(fleet, thing, bytes), tree, compare);
    if (found == NULL)
        xb_memory_end(bytes);
    return *found;
}

/* Puts the fleet's own copies of texts in their places. NULL stays. */
#define KEEP_TEXTS(fleet, ...) keep_texts((fleet), (const char **[]){__VA_ARGS__, NULL})
static void keep_texts(struct xb_fleet *fleet, const char ***texts)
{
    for (; *texts != NULL; texts++)
        if (**texts != NULL)
            **texts = keep(fleet, &fleet->known_texts, **texts, strlen(**texts) + 1, compare_texts);
}

/* Where the thing with this name stands; NULL stands there at first. */
#define THING(...) find_thing(fleet, &(struct name){{__VA_ARGS__}, NULL})
static void **find_thing(struct xb_fleet *fleet, const struct name *name)
{
    struct name *kept = keep(fleet, &fleet->known_things, name, sizeof *name, compare_names);
    return &kept->thing;
}

size_t xb_fleet_add_source(struct xb_fleet *fleet, const struct xb_fleet_source *source)
{
    struct xb_fleet_source kept = *source;
    KEEP_TEXTS(fleet, &kept.path, &kept.kind);
    return APPEND(fleet->sources, fleet->source_count, kept);
}

struct xb_fleet_node *xb_fleet_add_node(struct xb_fleet *fleet, const struct xb_fleet_node *node)
{
    struct xb_fleet_node kept = *node, *old;
    KEEP_TEXTS(fleet, &kept.name, &kept.hostname, &kept.driver, &kept.kernel);
    void **place = THING(OF_NODE, (uintptr_t)kept.name);
    if (*place == NULL)
        *place = APPEND_THING(fleet->nodes, fleet->node_count, kept);
    old = *place;
    old->is_partial = old->is_partial && kept.is_partial;
    if (old->hostname == NULL)
        old->hostname = kept.hostname;
    if (kept.driver != NULL && (old->driver == NULL || kept.driver_told >= old->driver_told)) {
        old->driver = kept.driver;
        old->driver_told = kept.driver_told;
    }
    if (kept.kernel != NULL && (old->kernel == NULL || kept.kernel_told >= old->kernel_told)) {
        old->kernel = kept.kernel;
        old->kernel_told = kept.kernel_told;
    }
    return old;
}

struct xb_fleet_gpu *xb_fleet_add_gpu(struct xb_fleet *fleet, const struct xb_fleet_gpu *gpu)
{
    struct xb_fleet_gpu kept = *gpu, *old;
    KEEP_TEXTS(fleet, &kept.model, &kept.uuid, &kept.pci_bdf, &kept.serial, &kept.vbios);
    uintptr_t node = (uintptr_t)kept.node, address = (uintptr_t)kept.pci_bdf;
    void *none = NULL, **by_uuid = &none;
    if (kept.uuid != NULL)
        by_uuid = THING(OF_UUID, node, (uintptr_t)kept.uuid);
    void **place = address != 0 ? THING(OF_ADDRESS, node, address)
                                : THING(OF_INDEX, node, (uintptr_t)kept.model, kept.index);
    /* By its UUID, unless that GPU is at another place; else by its place: a document without UUIDs
     * is of the GPU that a document with them found there. */
    old = *by_uuid;
    if (old != NULL &&
        (old->pci_bdf != NULL || kept.pci_bdf != NULL
             ? old->pci_bdf != NULL && kept.pci_bdf != NULL && old->pci_bdf != kept.pci_bdf
             : old->index != kept.index))
        old = NULL;
    if (old == NULL)
        old = *place;
    if (old != NULL && kept.uuid != NULL && old->uuid != NULL && kept.uuid != old->uuid)
        old = NULL;
    kept.first_told = kept.link_told = kept.told;
    if (old == NULL)
        old = APPEND_THING(fleet->gpus, fleet->gpu_count, kept);
    *by_uuid = *place = old;
    bool newer = kept.told >= old->told;
    old->uuid = old->uuid != NULL ? old->uuid : kept.uuid;
    old->pci_bdf = old->pci_bdf != NULL ? old->pci_bdf : kept.pci_bdf;
    if (kept.model != NULL && (newer || old->model == NULL))
        old->model = kept.model;
    if (kept.serial != NULL && (newer || old->serial == NULL))
        old->serial = kept.serial;
    if (kept.vbios != NULL && (newer || old->vbios == NULL))
        old->vbios = kept.vbios;
    if (newer) {
        old->index = kept.index;
        old->told = kept.told;
    }
    if (kept.told < old->first_told)
        old->first_told = kept.told;
    if (kept.link_speed_gts > 0 && kept.link_width > 0 &&
        (old->link_width == 0 || kept.told >= old->link_told)) {
        old->link_speed_gts = kept.link_speed_gts;
        old->link_width = kept.link_width;
        old->link_told = kept.told;
    }
    return old;
}

const struct xb_fleet_figure *xb_fleet_add_figure(struct xb_fleet *fleet,
                                                  const struct xb_fleet_figure *figure)
{
    struct xb_fleet_figure kept = *figure;
    KEEP_TEXTS(fleet, &kept.name, &kept.unit, &kept.backend, &kept.model, &kept.link, &kept.driver,
               &kept.options);
    void **place = THING(OF_FIGURE, kept.more_is_better, (uintptr_t)kept.name, (uintptr_t)kept.unit,
                         (uintptr_t)kept.backend, (uintptr_t)kept.model, (uintptr_t)kept.link,
                         (uintptr_t)kept.driver, (uintptr_t)kept.options);
    if (*place == NULL)
        *place = APPEND_THING(fleet->figures, fleet->figure_count, kept);
    return *place;
}

void xb_fleet_add_value(struct xb_fleet *fleet, const struct xb_fleet_value *value)
{
    (void)APPEND(fleet->values, fleet->value_count, *value);
}

void xb_fleet_add_complaint(struct xb_fleet *fleet, const struct xb_fleet_finding *complaint)
{
    struct xb_fleet_finding kept = *complaint;
    KEEP_TEXTS(fleet, &kept.text, &kept.causes);
    (void)APPEND(fleet->complaints, fleet->complaint_count, kept);
}

void xb_fleet_leave_out(struct xb_fleet *fleet, const char *what, const char *why, bool is_foreign)
{
    struct xb_fleet_left_out kept = {what, why};
    fleet->unread_count += !is_foreign;
    if (fleet->left_out_count >= XB_FLEET_TOLD) {
        fleet->left_out_count++;
        return;
    }
    KEEP_TEXTS(fleet, &kept.what, &kept.why);
    (void)APPEND(fleet->left_out, fleet->left_out_count, kept);
}
