/* SPDX-License-Identifier: Apache-2.0 */
/* What stands above the rows of the table: who measured, and on what. */
#define _GNU_SOURCE
#include "table.h"

#include "base/note.h"
#include "machine/node.h"
#include "machine/pcie.h"

#include <string.h>

static bool below_its_best(const struct xb_record_device *device)
{
    return device->link_speed_gts < device->link_max_speed_gts ||
           device->link_width < device->link_max_width;
}

/* "PCIe Gen5 x16 at 0000:0e:00.0, 63.0 GB/s raw each way" */
static void add_link(struct xb_words *words, const struct xb_record_device *device)
{
    char lanes[32];
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes);
    xb_words_add(words, "PCIe %s", lanes);
    if (device->link_port != NULL && strcmp(device->link_port, device->pci_bdf) != 0)
        xb_words_add(words, " at %s", device->link_port);
    if (rate > 0)
        xb_words_add(words, ", %.1f GB/s raw each way", rate / 1e9);
}

static void print_link(FILE *stream, const struct xb_record_device *device)
{
    struct xb_words words = {.length = 0};
    char most[32];
    if (device->pci_bdf == NULL) {
        xb_note_print(stream, "link", XB_TABLE_LABEL, "none: not a PCI device");
        return;
    }
    if (!device->link_known) {
        xb_note_print(stream, "link", XB_TABLE_LABEL, "not known");
        return;
    }
    add_link(&words, device);
    if (device->link_max_width > 0) { /* an old file may not say */
        xb_lanes_text(device->link_max_speed_gts, device->link_max_width, most, sizeof most);
        xb_words_add(&words,
                     below_its_best(device) ? ": BELOW the %s that the device can do"
                                            : " (device and slot can do %s)",
                     most);
    }
    xb_note_print(stream, "link", XB_TABLE_LABEL, "%s", words.text);
}

static void print_binding(FILE *stream, const struct xb_record_device *device)
{
    const char *note = device->numa_note != NULL ? device->numa_note : "";
    const char *colon = note[0] != '\0' ? ": " : "";
    if (device->bound)
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "bound to node %d, %u CPUs%s%s",
                      device->numa_node, device->cpus, colon, note);
    else if (!device->numa_is_normal)
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "NOT bound%s%s", colon, note);
    else if (note[0] != '\0')
        xb_note_print(stream, "NUMA", XB_TABLE_LABEL, "%s", note);
}

static void print_facts(FILE *stream, const struct xb_record_device *device)
{
    struct xb_words words = {.length = 0};
    if (device->shares_host_memory)
        xb_note_print(stream, "memory", XB_TABLE_LABEL,
                      "the host's own: no copy crosses a link, whatever the table calls it");
    for (size_t i = 0; i < device->fact_count; i++)
        xb_words_add(&words, "%s%s %s", i > 0 ? "; " : "", device->facts[i].name,
                     device->facts[i].value != NULL ? device->facts[i].value : "not known");
    if (words.length > 0)
        xb_note_print(stream, "facts", XB_TABLE_LABEL, "%s", words.text);
}

static void print_device(FILE *stream, const struct xb_record_device *device)
{
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%s", device->name);
    if (device->pci_bdf != NULL)
        xb_words_add(&words, ", %s", device->pci_bdf);
    if (device->memory_bytes > 0)
        xb_words_add(&words, ", %.1f GiB", (double)device->memory_bytes / (double)(1ULL << 30));
    if (device->architecture != NULL)
        xb_words_add(&words, ", %s", device->architecture);
    xb_heading_print(stream, XB_COLOUR_NONE, "Device %u: %s", device->index, words.text);
    print_link(stream, device);
    print_binding(stream, device);
    print_facts(stream, device);
}

static void print_program(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0};
    char node[XB_NODE_TEXT];
    xb_words_add(&words, "xferbench %s", record->version != NULL ? record->version : "?");
    if (record->backend != NULL)
        xb_words_add(&words, ", backend %s", record->backend);
    if (record->runtime != NULL)
        xb_words_add(&words, ", runtime %s", record->runtime);
    if (record->driver != NULL)
        xb_words_add(&words, ", driver %s", record->driver);
    xb_heading_print(stream, XB_COLOUR_NONE, "%s", words.text);
    xb_node_text(record->host.node, record->host.hostname, node);
    if (node[0] != '\0')
        xb_note_print(stream, "node", XB_TABLE_LABEL, "%s", node);
    if (record->library != NULL)
        xb_note_print(stream, "library", XB_TABLE_LABEL, "%s%s%s", record->library,
                      record->library_named_by != NULL ? ", NAMED BY " : "",
                      record->library_named_by != NULL ? record->library_named_by : "");
}

/* Of several processes: whose they are, and how many count. */
static void print_processes(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0};
    size_t count = 0;
    if (record->role != NULL) {
        xb_words_add(&words, "%s", record->role);
        if (record->program != NULL)
            xb_words_add(&words, ": %s", record->program);
        if (record->counterpart != NULL)
            xb_words_add(&words, ", in turn with %s", record->counterpart);
        xb_note_print(stream, "role", XB_TABLE_LABEL, "%s", words.text);
    }
    for (size_t i = 0; i < record->process_count; i++)
        count += record->processes[i].has_results;
    fprintf(stream, "%zu of %zu processes have results\n", count, record->asked_processes);
}

void xb_table_header(FILE *stream, const struct xb_record *record)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    print_program(stream, record);
    if (record->is_merged)
        print_processes(stream, record);
    if (count == 0)
        return;
    fputc('\n', stream);
    for (size_t i = 0; i < count; i++)
        print_device(stream, &devices[i]);
    fputc('\n', stream);
}
