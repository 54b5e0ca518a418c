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

void xb_record_add_left_out(struct xb_record *record, const char *library)
{
    const char *before = record->left_out;
    record->left_out = xb_arena_print(&record->texts, "%s%s%s", before != NULL ? before : "",
                                      before != NULL ? ", " : "", library);
}

/* Adds to the list, which has room for all. `prefix` and `name` together are the name. */
static void add(struct xb_record *record, const char *prefix, const char *name, const char *value,
                bool is_text)
{
    record->facts[record->fact_count++] =
        (struct xb_record_fact){.name = xb_arena_print(&record->texts, "%s%s", prefix, name),
                                .value = value,
                                .is_text = is_text && value != NULL};
}

/* 0 stands for one that is not known. */
static void add_whole(struct xb_record *record, const char *prefix, const char *name,
                      uint64_t value)
{
    add(record, prefix, name, value > 0 ? xb_arena_print(&record->texts, "%" PRIu64, value) : NULL,
        false);
}

static void add_all(struct xb_record *record, const char *prefix,
                    const struct xb_record_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(record, prefix, facts[i].name, facts[i].value, facts[i].is_text);
}

static void add_device(struct xb_record *record, const struct xb_record_device *device)
{
    const char *prefix = xb_arena_print(&record->texts, "device %u ", device->index);
    const char *node =
        device->numa_node >= 0 ? xb_arena_print(&record->texts, "%d", device->numa_node) : NULL;
    add(record, prefix, "PCI address", device->pci_bdf, true);
    add(record, prefix, "UUID", device->uuid, true);
    add(record, prefix, "architecture", device->architecture, true);
    add_whole(record, prefix, "memory in bytes", device->memory_bytes);
    add(record, prefix, "link port", device->link_port, true);
    add(record, prefix, "NUMA node", node, false);
    add(record, prefix, "bound to its NUMA node", device->bound ? "true" : "false", false);
    add_all(record, prefix, device->facts, device->fact_count);
}

void xb_record_make_facts(struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    size_t most = 14 + record->environment_count; /* of the record, and 7 of a device */
    for (size_t i = 0; i < count; i++)
        most += 7 + devices[i].fact_count;
    record->fact_count = 0;
    record->facts = xb_new(most, sizeof *record->facts);
    add(record, "", "hostname", host->hostname, true);
    add(record, "", "operating system", host->os, true);
    add(record, "", "kernel", host->kernel, true);
    add(record, "", "CPU model", host->cpu_model, true);
    add_whole(record, "", "logical CPUs", host->logical_cpus);
    add_whole(record, "", "memory in bytes", host->memory_bytes);
    add_whole(record, "", "NUMA nodes", host->numa_nodes);
    add(record, "", "xferbench version", record->version, true);
    add(record, "", "compiler", record->compiler, true);
    add(record, "", "build type", record->build_type, true);
    if (record->left_out != NULL)
        add(record, "", "libraries left out", record->left_out, true);
    add(record, "", "runtime version", record->runtime, true);
    add(record, "", "runtime library", record->library, true);
    add(record, "", "runtime named by", record->library_named_by, true);
    for (size_t i = 0; i < count; i++)
        add_device(record, &devices[i]);
    add_all(record, "environment ", record->environment, record->environment_count);
}
