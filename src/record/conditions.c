/* SPDX-License-Identifier: Apache-2.0 */
/* Under which conditions something is measured: found, listed and compared. */
#define _GNU_SOURCE /* environ */
#include "making.h"

#include "base/left_out.h"
#include "base/order.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/environment.h"
#include "xferbench/version.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *xb_record_keep_text(struct xb_record *record, const char *text)
{
    return text != NULL && text[0] != '\0' ? xb_arena_copy(&record->texts, text) : NULL;
}

void xb_record_keep_start(struct xb_record *record, const struct xb_start *start)
{
    const struct xb_clock_state *clock = &start->clock;
    bool is_late = start->asked > 0 && start->began > 0;
    /* To a microsecond, as the times themselves are told. */
    double late_s = fmax(round((start->began - start->asked) * 1e6) / 1e6, 0);
    record->start =
        (struct xb_record_start){.by = start->asked > 0 ? "start-at" : NULL,
                                 .late_s = is_late ? late_s : (double)NAN,
                                 .clock_known = clock->is_known,
                                 .synchronised = clock->is_synchronised,
                                 .clock_error_s = clock->is_known ? clock->error_s : (double)NAN};
    if (start->asked > 0)
        record->start.asked = xb_record_keep_text(record, XB_DAY_TIME_TEXT(start->asked));
    if (start->began > 0)
        record->start.began = xb_record_keep_text(record, XB_DAY_TIME_TEXT(start->began));
}

/* Keeps the variables that bear on a measurement; of two with one name the first, like getenv. */
static void keep_environment(struct xb_record *record)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    struct xb_record_fact *kept = xb_arena_new(&record->texts, count * sizeof *kept);
    record->environment = kept;
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(environ[i], '=');
        if (equals == NULL || !xb_environment_is_recorded(environ[i]))
            continue;
        const char *name =
            xb_arena_print(&record->texts, "%.*s", (int)(equals - environ[i]), environ[i]);
        if (xb_record_fact_find(kept, record->environment_count, name) == NULL)
            kept[record->environment_count++] = (struct xb_record_fact){
                .name = name, .value = xb_arena_copy(&record->texts, equals + 1), .is_text = true};
    }
}

enum xb_status xb_record_of_conditions(const struct xb_conditions *conditions,
                                       struct xb_record *record, struct xb_error *error)
{
    const struct xb_start none = {.began = 0};
    const struct xb_probe *probe = conditions->probe;
    struct xb_host_facts facts;
    struct xb_node_name node;
    struct xb_launcher launcher;
    *record = (struct xb_record){0};
    XB_TRY(xb_node_find(&node, error));
    XB_TRY(xb_launcher_find(&launcher, error));
    if (conditions->config != NULL)
        xb_record_of_config(conditions->config, record);
    record->launcher = launcher;
    record->version = XB_VERSION;
    record->compiler = XB_COMPILER;
    record->build_type = XB_BUILD_TYPE;
    for (const struct xb_left_out *next = xb_left_out; next->library != NULL; next++)
        xb_record_add_left_out(record, next->library);
    xb_host_facts_read(&facts);
    record->host = (struct xb_record_host){
        .hostname = xb_record_keep_text(record, facts.hostname),
        .os = xb_record_keep_text(record, facts.os),
        .kernel = xb_record_keep_text(record, facts.kernel),
        .cpu_model = xb_record_keep_text(record, facts.cpu_model),
        .logical_cpus = facts.logical_cpus,
        .memory_bytes = facts.memory_bytes,
        .numa_nodes =
            conditions->topology != NULL ? xb_topology_node_count(conditions->topology) : 0,
        .node = xb_record_keep_text(record, node.name),
        .node_named_by = node.named_by};
    if (conditions->backend != NULL) {
        record->backend = xb_record_keep_text(record, conditions->backend);
        record->driver = xb_record_keep_text(record, probe->driver_version);
        record->runtime = xb_record_keep_text(record, probe->runtime_version);
        record->library = xb_record_keep_text(record, probe->runtime_library);
        record->library_named_by = xb_record_keep_text(record, probe->runtime_override);
    }
    keep_environment(record);
    xb_record_keep_start(record, conditions->start != NULL ? conditions->start : &none);
    return XB_OK;
}

/* The value as JSON; a text as it is, without quotes. */
static const char *value_text(const struct xb_value *value, struct xb_arena **texts)
{
    const enum xb_option_type type = value->option->type;
    const bool is_list = xb_option_is_list(value->option);
    if (type == XB_OPTION_FLAG)
        return value->flag ? "true" : "false";
    if (type == XB_OPTION_DURATION)
        return xb_arena_copy(texts, XB_NUMBER_TEXT(value->seconds));
    if (type == XB_OPTION_TEXT || type == XB_OPTION_FILE)
        return xb_arena_copy(texts, value->text);
    struct xb_memory_text made = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&made);
    fputs(is_list ? "[" : "", stream);
    for (size_t i = 0; i < xb_value_length(value); i++) {
        fputs(i > 0 ? "," : "", stream);
        if (type != XB_OPTION_CHOICES) {
            fprintf(stream, "%" PRIu64, xb_value_number(value, i));
            continue;
        }
        fputc('"', stream);
        for (const char *c = value->words.items[i]; *c != '\0'; c++)
            if ((unsigned char)*c < ' ')
                fprintf(stream, "\\u%04x", (unsigned)*c);
            else
                fprintf(stream, strchr("\"\\", *c) != NULL ? "\\%c" : "%c", *c);
        fputc('"', stream);
    }
    fputs(is_list ? "]" : "", stream);
    return xb_memory_text_keep(&made, texts);
}

void xb_record_of_config(const struct xb_config *config, struct xb_record *record)
{
    *record = (struct xb_record){.option_count = config->count};
    record->options = xb_arena_new(&record->texts, config->count * sizeof *record->options);
    for (size_t i = 0; i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        enum xb_option_type type = value->option->type;
        bool known = value->is_set || type == XB_OPTION_FLAG;
        record->options[i] =
            (struct xb_record_fact){.name = value->option->name,
                                    .value = known ? value_text(value, &record->texts) : NULL,
                                    .is_text = type == XB_OPTION_TEXT || type == XB_OPTION_FILE};
    }
}

enum xb_status xb_record_of_defaults(const struct xb_option *const *rows, struct xb_record *record,
                                     struct xb_error *error)
{
    char name[] = "run";
    char *argv[] = {name, NULL};
    struct xb_config config;
    XB_TRY(xb_config_parse(rows, 1, argv, &config, error));
    xb_record_of_config(&config, record);
    xb_config_free(&config);
    return XB_OK;
}

XB_COMPARER(by_name, struct xb_record_fact, strcmp(a->name, b->name))

void xb_record_sort_facts(struct xb_record_fact *facts, size_t count)
{
    if (count > 1)
        qsort(facts, count, sizeof *facts, by_name);
}

const struct xb_record_fact *xb_record_detail_find(const struct xb_record_row *row,
                                                   const char *name)
{
    return xb_record_fact_find(row->details, row->detail_count, name);
}

const char *xb_record_fact_text(const struct xb_record_fact *fact)
{
    return fact != NULL && fact->is_text ? fact->value : NULL;
}

double xb_record_fact_number(const struct xb_record_fact *fact)
{
    bool is_number = fact != NULL && !fact->is_text && fact->value != NULL;
    return is_number ? strtod(fact->value, NULL) : (double)NAN;
}

const struct xb_record_fact *xb_record_option(const struct xb_record *record, const char *name)
{
    return record != NULL ? xb_record_fact_find(record->options, record->option_count, name) : NULL;
}

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

void xb_record_make_facts(struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    size_t most = 14 + record->environment_count; /* of the record, and 7 of a device */
    for (size_t i = 0; i < count; i++)
        most += 7 + devices[i].fact_count;
    record->fact_count = 0;
    record->facts = xb_arena_new(&record->texts, most * sizeof *record->facts);
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
    XB_EACH (device, devices, count) {
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
    add_all(record, "environment ", record->environment, record->environment_count);
}

bool xb_record_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Tells of something that two records have, unless it is the same or a difference is told already:
 * "hostname is another one (node1, then node2)". `kind`, "UUID ", stands before the values. */
static void tell_other(const char *what, const char *kind, const char *first, const char *other,
                       char *text, size_t size)
{
    if (text[0] == '\0' && !xb_record_same(first, other))
        snprintf(text, size, "%.60s is another one (%s%.50s, then %.50s)", what, kind,
                 first != NULL ? first : "not known", other != NULL ? other : "not known");
}

/* Tells it where one of them alone has it. */
static void tell_missing(const char *what, bool first, bool other, char *text, size_t size)
{
    if (text[0] == '\0' && first != other)
        snprintf(text, size, "%.60s is %s", what, first ? "missing" : "new");
}

const char *xb_record_other_condition(const struct xb_record *first, const struct xb_record *other,
                                      char *text, size_t size)
{
    const struct xb_record *const sides[] = {first, other};
    char what[64];
    text[0] = '\0';
    tell_other("the backend", "", first->backend, other->backend, text, size);
    tell_other("the driver", "", first->driver, other->driver, text, size);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sides[i]->option_count; k++) {
            const char *name = sides[i]->options[k].name;
            snprintf(what, sizeof what, "option %.50s", name);
            tell_missing(what, xb_record_option(first, name) != NULL,
                         xb_record_option(other, name) != NULL, text, size);
        }
    XB_EACH (option, first->options, first->option_count) {
        const struct xb_record_fact *own = xb_record_option(other, option->name);
        snprintf(what, sizeof what, "option %.50s", option->name);
        /* What is left of a deadline differs from process to process. */
        if (own != NULL && strcmp(own->name, "deadline") != 0)
            tell_other(what, "", option->value, own->value, text, size);
    }
    tell_other("hostname", "", first->host.hostname, other->host.hostname, text, size);
    for (size_t i = 0; i < 2; i++) {
        size_t count = 0;
        const struct xb_record_device *devices = xb_record_devices(sides[i], &count);
        for (size_t k = 0; k < count && text[0] == '\0'; k++) {
            const struct xb_record_device *a = xb_record_device(first, (int)devices[k].index);
            const struct xb_record_device *b = xb_record_device(other, (int)devices[k].index);
            snprintf(what, sizeof what, "device %u", devices[k].index);
            tell_missing(what, a != NULL, b != NULL, text, size);
            if (a == NULL || b == NULL)
                continue;
            /* One of the same model is another one all the same: its state is its own. */
            tell_other(what, "", a->name, b->name, text, size);
            tell_other(what, "UUID ", a->uuid, b->uuid, text, size);
            tell_other(what, "PCI address ", a->pci_bdf, b->pci_bdf, text, size);
        }
    }
    return text[0] != '\0' ? text : NULL;
}
