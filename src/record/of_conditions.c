/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* environ */

#include "base/day_time.h"
#include "base/left_out.h"
#include "base/memory.h"
#include "machine/environment.h"
#include "machine/node.h"
#include "making.h"
#include "xferbench/version.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

void *xb_making_room(struct xb_making *making, size_t count, size_t size)
{
    void *room = making->failed ? NULL : xb_arena_new(&making->record->texts, count * size);
    making->failed = room == NULL;
    return room;
}

const char *xb_making_keep(struct xb_making *making, const char *text)
{
    if (making->failed || text == NULL || text[0] == '\0')
        return NULL;
    const char *kept = xb_arena_print(&making->record->texts, "%s", text);
    making->failed = kept == NULL;
    return kept;
}

/* To a microsecond, as the times themselves are told. */
static double late_by(const struct xb_start *start)
{
    return fmax(round((start->began - start->asked) * 1e6) / 1e6, 0);
}

void xb_making_keep_start(struct xb_making *making, const struct xb_start *start)
{
    struct xb_record_start *kept = &making->record->start;
    const struct xb_clock_state *clock = &start->clock;
    char text[XB_DAY_TIME];
    bool is_late = start->asked > 0 && start->began > 0;
    *kept =
        (struct xb_record_start){.by = start->asked > 0 ? "start-at" : NULL,
                                 .late_s = is_late ? late_by(start) : (double)NAN,
                                 .clock_known = clock->is_known,
                                 .synchronised = clock->is_synchronised,
                                 .clock_error_s = clock->is_known ? clock->error_s : (double)NAN};
    if (start->asked > 0)
        kept->asked = xb_making_keep(making, xb_day_time_text(start->asked, text));
    if (start->began > 0)
        kept->began = xb_making_keep(making, xb_day_time_text(start->began, text));
}

/* The node and the rank, as the environment names them. */
static enum xb_status keep_place(struct xb_making *making, struct xb_error *error)
{
    struct xb_record *record = making->record;
    struct xb_node node;
    struct xb_launcher launcher;
    XB_TRY(xb_node_find(&node, error));
    XB_TRY(xb_launcher_find(&launcher, error));
    record->host.node = xb_making_keep(making, node.name);
    record->host.node_named_by = node.named_by;
    record->launcher = (struct xb_record_launcher){.known = launcher.rank >= 0,
                                                   .rank = (uint64_t)launcher.rank,
                                                   .ranks = launcher.ranks,
                                                   .named_by = launcher.named_by};
    return XB_OK;
}

static void keep_backend(struct xb_making *making, const char *backend,
                         const struct xb_probe *probe)
{
    struct xb_record *record = making->record;
    record->backend = xb_making_keep(making, backend);
    record->driver = xb_making_keep(making, probe->driver_version);
    record->runtime = xb_making_keep(making, probe->runtime_version);
    record->library = xb_making_keep(making, probe->runtime_library);
    record->library_named_by = xb_making_keep(making, probe->runtime_override);
}

/* Whether a variable of that name is kept already. Of two the first counts, as in getenv. */
static bool has_variable(const struct xb_record *record, const char *name)
{
    for (size_t i = 0; i < record->environment_count; i++)
        if (strcmp(record->environment[i].name, name) == 0)
            return true;
    return false;
}

static void keep_variable(struct xb_making *making, struct xb_record_fact *kept, const char *entry)
{
    const char *equals = strchr(entry, '=');
    if (making->failed || equals == NULL || !xb_environment_is_recorded(entry))
        return;
    const char *name = xb_arena_print(&making->record->texts, "%.*s", (int)(equals - entry), entry);
    const char *value = xb_arena_print(&making->record->texts, "%s", equals + 1);
    making->failed = name == NULL || value == NULL;
    if (!making->failed && !has_variable(making->record, name))
        kept[making->record->environment_count++] =
            (struct xb_record_fact){.name = name, .value = value, .is_text = true};
}

enum xb_status xb_record_of_conditions(const struct xb_conditions *conditions,
                                       struct xb_record *record, struct xb_error *error)
{
    struct xb_making making = {.record = record};
    *record = (struct xb_record){0};
    if (conditions->config != NULL &&
        xb_record_of_config(conditions->config, record, error) != XB_OK)
        return error->status;
    record->version = XB_VERSION;
    record->compiler = XB_COMPILER;
    record->build_type = XB_BUILD_TYPE;
    for (const struct xb_left_out *next = xb_left_out; next->library != NULL; next++)
        making.failed = making.failed || !xb_record_add_left_out(making.record, next->library);
    struct xb_record_host *host = &making.record->host;
    struct xb_host_facts facts;
    xb_host_facts_read(&facts);
    host->hostname = xb_making_keep(&making, facts.hostname);
    host->os = xb_making_keep(&making, facts.os);
    host->kernel = xb_making_keep(&making, facts.kernel);
    host->cpu_model = xb_making_keep(&making, facts.cpu_model);
    host->logical_cpus = facts.logical_cpus;
    host->memory_bytes = facts.memory_bytes;
    host->numa_nodes =
        conditions->topology != NULL ? xb_topology_node_count(conditions->topology) : 0;
    enum xb_status status = keep_place(&making, error);
    if (status != XB_OK) {
        xb_record_free(record);
        return status;
    }
    if (conditions->backend != NULL)
        keep_backend(&making, conditions->backend, conditions->probe);
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    struct xb_record_fact *kept = xb_making_room(&making, count + 1, sizeof *kept);
    making.record->environment = kept;
    for (size_t i = 0; !making.failed && i < count; i++)
        keep_variable(&making, kept, environ[i]);
    const struct xb_start none = {.began = 0};
    xb_making_keep_start(&making, conditions->start != NULL ? conditions->start : &none);
    if (!making.failed)
        return XB_OK;
    xb_record_free(record);
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory for what the machine is");
}
