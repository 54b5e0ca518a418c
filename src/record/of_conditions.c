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

const char *xb_record_keep_text(struct xb_record *record, const char *text)
{
    return text != NULL && text[0] != '\0' ? xb_arena_copy(&record->texts, text) : NULL;
}

void xb_record_keep_start(struct xb_record *record, const struct xb_start *start)
{
    struct xb_record_start *kept = &record->start;
    const struct xb_clock_state *clock = &start->clock;
    char text[XB_DAY_TIME];
    bool is_late = start->asked > 0 && start->began > 0;
    /* To a microsecond, as the times themselves are told. */
    double late_s = fmax(round((start->began - start->asked) * 1e6) / 1e6, 0);
    *kept =
        (struct xb_record_start){.by = start->asked > 0 ? "start-at" : NULL,
                                 .late_s = is_late ? late_s : (double)NAN,
                                 .clock_known = clock->is_known,
                                 .synchronised = clock->is_synchronised,
                                 .clock_error_s = clock->is_known ? clock->error_s : (double)NAN};
    if (start->asked > 0)
        kept->asked = xb_record_keep_text(record, xb_day_time_text(start->asked, text));
    if (start->began > 0)
        kept->began = xb_record_keep_text(record, xb_day_time_text(start->began, text));
}

/* The node and the rank, as the environment names them. */
static enum xb_status keep_place(struct xb_record *record, struct xb_error *error)
{
    struct xb_node node;
    struct xb_launcher launcher;
    XB_TRY(xb_node_find(&node, error));
    XB_TRY(xb_launcher_find(&launcher, error));
    record->host.node = xb_record_keep_text(record, node.name);
    record->host.node_named_by = node.named_by;
    record->launcher = (struct xb_record_launcher){.known = launcher.rank >= 0,
                                                   .rank = (uint64_t)launcher.rank,
                                                   .ranks = launcher.ranks,
                                                   .named_by = launcher.named_by};
    return XB_OK;
}

/* The variables that bear on a measurement. Of two with one name the first counts, as in getenv. */
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
    *record = (struct xb_record){0};
    if (conditions->config != NULL)
        xb_record_of_config(conditions->config, record);
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
    };
    if (keep_place(record, error) != XB_OK) {
        xb_record_free(record);
        return error->status;
    }
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
