/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by their names; and the conditions as a list of them, for whoever compares or prints all of
 * them. */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct xb_record_fact *)a)->name,
                  ((const struct xb_record_fact *)b)->name);
}

void xb_record_sort_facts(struct xb_record_fact *facts, size_t count)
{
    if (count > 1)
        qsort(facts, count, sizeof *facts, by_name);
}

const struct xb_record_fact *xb_record_fact_find(const struct xb_record_fact *facts, size_t count,
                                                 const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

const struct xb_record_fact *xb_record_option(const struct xb_record *record, const char *name)
{
    return record != NULL ? xb_record_fact_find(record->options, record->option_count, name) : NULL;
}

/* ---- the conditions ---- */

/* The list while it is made; there is room for all. Once memory was short nothing is added. */
struct list {
    struct xb_record *record;
    bool failed;
};

/* `prefix` and `name` together are the name. */
static void add(struct list *list, const char *prefix, const char *name, const char *value,
                bool is_text)
{
    struct xb_record *record = list->record;
    const char *whole = list->failed ? NULL : xb_arena_print(&record->texts, "%s%s", prefix, name);
    list->failed = whole == NULL;
    if (!list->failed)
        record->facts[record->fact_count++] =
            (struct xb_record_fact){.name = whole, .value = value, .is_text = is_text};
}

static void add_text(struct list *list, const char *prefix, const char *name, const char *value)
{
    add(list, prefix, name, value, value != NULL);
}

/* 0 stands for one that is not known. */
static void add_whole(struct list *list, const char *prefix, const char *name, uint64_t value)
{
    const char *text = value > 0 ? xb_arena_print(&list->record->texts, "%" PRIu64, value) : NULL;
    list->failed = list->failed || (value > 0 && text == NULL);
    add(list, prefix, name, text, false);
}

static void add_all(struct list *list, const char *prefix, const struct xb_record_fact *facts,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(list, prefix, facts[i].name, facts[i].value, facts[i].is_text);
}

static void add_device(struct list *list, const struct xb_record_device *device)
{
    const char *prefix = xb_arena_print(&list->record->texts, "device %u ", device->index);
    const char *node = device->numa_node >= 0
                           ? xb_arena_print(&list->record->texts, "%d", device->numa_node)
                           : NULL;
    list->failed = list->failed || prefix == NULL || (device->numa_node >= 0 && node == NULL);
    if (list->failed)
        return;
    add_text(list, prefix, "PCI address", device->pci_bdf);
    add_text(list, prefix, "UUID", device->uuid);
    add_text(list, prefix, "architecture", device->architecture);
    add_whole(list, prefix, "memory in bytes", device->memory_bytes);
    add_text(list, prefix, "link port", device->link_port);
    add(list, prefix, "NUMA node", node, false);
    add(list, prefix, "bound to its NUMA node", device->bound ? "true" : "false", false);
    add_all(list, prefix, device->facts, device->fact_count);
}

bool xb_record_make_facts(struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    struct list list = {.record = record};
    size_t most = 13 + record->environment_count; /* of the record, and 7 of a device */
    for (size_t i = 0; i < count; i++)
        most += 7 + devices[i].fact_count;
    record->fact_count = 0;
    record->facts = calloc(most, sizeof *record->facts);
    if (record->facts == NULL)
        return false;
    add_text(&list, "", "hostname", host->hostname);
    add_text(&list, "", "operating system", host->os);
    add_text(&list, "", "kernel", host->kernel);
    add_text(&list, "", "CPU model", host->cpu_model);
    add_whole(&list, "", "logical CPUs", host->logical_cpus);
    add_whole(&list, "", "memory in bytes", host->memory_bytes);
    add_whole(&list, "", "NUMA nodes", host->numa_nodes);
    add_text(&list, "", "xferbench version", record->version);
    add_text(&list, "", "compiler", record->compiler);
    add_text(&list, "", "build type", record->build_type);
    add_text(&list, "", "runtime version", record->runtime);
    add_text(&list, "", "runtime library", record->library);
    add_text(&list, "", "runtime named by", record->library_named_by);
    for (size_t i = 0; i < count; i++)
        add_device(&list, &devices[i]);
    add_all(&list, "environment ", record->environment, record->environment_count);
    return !list.failed;
}
