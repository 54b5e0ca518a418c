/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by their names; and the conditions as a list of them, for whoever compares or prints all of
 * them. */
#include "making.h"

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

bool xb_record_add_left_out(struct xb_record *record, const char *library)
{
    const char *before = record->left_out;
    record->left_out = xb_arena_print(&record->texts, "%s%s%s", before != NULL ? before : "",
                                      before != NULL ? ", " : "", library);
    return record->left_out != NULL;
}

/* Adds to the list, which has room for all. `prefix` and `name` together are the name. */
static void add(struct xb_making *making, const char *prefix, const char *name, const char *value,
                bool is_text)
{
    struct xb_record *record = making->record;
    const char *whole =
        making->failed ? NULL : xb_arena_print(&record->texts, "%s%s", prefix, name);
    making->failed = whole == NULL;
    if (!making->failed)
        record->facts[record->fact_count++] =
            (struct xb_record_fact){.name = whole, .value = value, .is_text = is_text};
}

static void add_text(struct xb_making *making, const char *prefix, const char *name,
                     const char *value)
{
    add(making, prefix, name, value, value != NULL);
}

/* 0 stands for one that is not known. */
static void add_whole(struct xb_making *making, const char *prefix, const char *name,
                      uint64_t value)
{
    const char *text = value > 0 ? xb_arena_print(&making->record->texts, "%" PRIu64, value) : NULL;
    making->failed = making->failed || (value > 0 && text == NULL);
    add(making, prefix, name, text, false);
}

static void add_all(struct xb_making *making, const char *prefix,
                    const struct xb_record_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(making, prefix, facts[i].name, facts[i].value, facts[i].is_text);
}

static void add_device(struct xb_making *making, const struct xb_record_device *device)
{
    const char *prefix = xb_arena_print(&making->record->texts, "device %u ", device->index);
    const char *node = device->numa_node >= 0
                           ? xb_arena_print(&making->record->texts, "%d", device->numa_node)
                           : NULL;
    making->failed = making->failed || prefix == NULL || (device->numa_node >= 0 && node == NULL);
    if (making->failed)
        return;
    add_text(making, prefix, "PCI address", device->pci_bdf);
    add_text(making, prefix, "UUID", device->uuid);
    add_text(making, prefix, "architecture", device->architecture);
    add_whole(making, prefix, "memory in bytes", device->memory_bytes);
    add_text(making, prefix, "link port", device->link_port);
    add(making, prefix, "NUMA node", node, false);
    add(making, prefix, "bound to its NUMA node", device->bound ? "true" : "false", false);
    add_all(making, prefix, device->facts, device->fact_count);
}

bool xb_record_make_facts(struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    struct xb_making making = {.record = record};
    size_t most = 14 + record->environment_count; /* of the record, and 7 of a device */
    for (size_t i = 0; i < count; i++)
        most += 7 + devices[i].fact_count;
    record->fact_count = 0;
    record->facts = calloc(most, sizeof *record->facts);
    if (record->facts == NULL)
        return false;
    add_text(&making, "", "hostname", host->hostname);
    add_text(&making, "", "operating system", host->os);
    add_text(&making, "", "kernel", host->kernel);
    add_text(&making, "", "CPU model", host->cpu_model);
    add_whole(&making, "", "logical CPUs", host->logical_cpus);
    add_whole(&making, "", "memory in bytes", host->memory_bytes);
    add_whole(&making, "", "NUMA nodes", host->numa_nodes);
    add_text(&making, "", "xferbench version", record->version);
    add_text(&making, "", "compiler", record->compiler);
    add_text(&making, "", "build type", record->build_type);
    if (record->left_out != NULL)
        add_text(&making, "", "libraries left out", record->left_out);
    add_text(&making, "", "runtime version", record->runtime);
    add_text(&making, "", "runtime library", record->library);
    add_text(&making, "", "runtime named by", record->library_named_by);
    for (size_t i = 0; i < count; i++)
        add_device(&making, &devices[i]);
    add_all(&making, "environment ", record->environment, record->environment_count);
    return !making.failed;
}
