/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "measure/plan/case.h"
#include "measure/plan/planning.h"
#include "record/making.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* None where any part of it would be a guess: a link that nobody saw under load, packets whose
 * sizes only root can read, a rate without a certain coding. */
static void keep_ceiling(struct xb_record *record, const struct xb_run_device *device,
                         struct xb_record_device *kept)
{
    size_t hop = 0;
    if (device->info.shares_host_memory || device->info.coherent_with_host)
        return; /* copies cross no PCIe link */
    struct xb_ceiling ceiling = xb_ceiling_of_path(&device->path, &device->load, &hop);
    if (!ceiling.known || ceiling.derived || ceiling.payload_assumed ||
        ceiling.read_request_assumed)
        return;
    kept->ceiling = ceiling;
    kept->ceiling_at = xb_record_keep_text(record, device->path.hops[hop].lower.bdf);
}

/* ---- to which NUMA node a device's rows were bound ---- */

/* A row of that device whose host memory was bound, to a node that is named or near the device. */
static bool is_bound(const struct xb_result *result, unsigned device, bool named)
{
    const struct xb_case *test = &result->test;
    return result->row.status == XB_RESULT_OK && test->device == device &&
           test->has_node == named &&
           xb_mode_host_directions(test->mode, (unsigned)test->direction) != 0;
}

static void keep_binding(struct xb_record *record, const struct xb_run *run,
                         const struct xb_run_device *device, struct xb_record_device *kept)
{
    const struct xb_binding *near = &device->binding;
    unsigned index = device->info.index;
    struct xb_words nodes = {.length = 0}; /* that rows of the device name: "0, 1" */
    bool has_near = !near->bound && near->note_is_normal;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *row = &run->results[i];
        bool is_new = is_bound(row, index, true);
        has_near = has_near || is_bound(row, index, false);
        for (size_t k = 0; is_new && k < i; k++)
            is_new = !is_bound(&run->results[k], index, true) ||
                     run->results[k].test.node != row->test.node;
        if (is_new)
            xb_words_add(&nodes, "%s%u", nodes.length > 0 ? ", " : "", row->test.node);
    }
    kept->numa_node = near->node;
    if (has_near || nodes.length == 0) {
        kept->bound = near->bound;
        kept->cpus = near->cpu_count;
        kept->numa_note = xb_record_keep_text(record, near->note);
        kept->numa_is_normal = near->bound || near->note_is_normal;
        return;
    }
    /* The device was opened near it, and no row was measured so. */
    kept->numa_note =
        xb_arena_print(&record->texts, "each row bound to the node that it names: %s", nodes.text);
    kept->numa_is_normal = true;
}

/* ---- devices ---- */

static void keep_device(struct xb_record *record, const struct xb_run *run,
                        const struct xb_run_device *device, struct xb_record_device *kept)
{
    const struct xb_device_info *info = &device->info;
    struct xb_pcie_link link = device->link;
    /* As it was seen under load, if that was no slower than right after a case. */
    size_t slot = xb_pcie_path_slot(&device->path);
    bool under_load = false;
    if (link.known && slot < device->load.count && device->load.hops[slot].readings > 0) {
        const struct xb_pcie_seen *seen = &device->load.hops[slot];
        under_load = seen->speed_gts * seen->width >= link.speed_gts * link.width;
        link.speed_gts = under_load ? seen->speed_gts : link.speed_gts;
        link.width = under_load ? seen->width : link.width;
    }
    struct xb_record_fact *facts = xb_arena_new(&record->texts, info->fact_count * sizeof *facts);
    *kept = (struct xb_record_device){
        .index = info->index,
        .name = xb_record_keep_text(record, info->name[0] != '\0' ? info->name : "(no name)"),
        .uuid = xb_record_keep_text(record, info->uuid),
        .architecture = xb_record_keep_text(record, info->architecture),
        .pci_bdf = xb_record_keep_text(record, info->pci_bdf),
        .driver = xb_record_keep_text(record, record->driver),
        .memory_bytes = info->memory_bytes,
        .shares_host_memory = info->shares_host_memory,
        .link_known = link.known,
        .link_speed_gts = link.speed_gts,
        .link_max_speed_gts = link.max_speed_gts,
        .link_width = link.width,
        .link_max_width = link.max_width,
        .link_port = xb_record_keep_text(record, link.port),
        .link_under_load = under_load,
        .facts = facts,
    };
    keep_ceiling(record, device, kept);
    keep_binding(record, run, device, kept);
    for (size_t i = 0; i < info->fact_count; i++)
        facts[kept->fact_count++] =
            (struct xb_record_fact){.name = xb_record_keep_text(record, info->facts[i].key),
                                    .value = xb_record_keep_text(record, info->facts[i].value),
                                    .is_text = true};
}

/* ---- cases ---- */

/* "host > gpu:0 1 GiB, gpu:0 > gpu:1 1 GiB": all transfers of a set, of which `sum` is the sum. */
static const char *name_set(struct xb_record *record, const struct xb_run *run,
                            const struct xb_result *sum)
{
    const char *all = "";
    char text[XB_CASE_PLACE_TEXT];
    for (size_t i = 1; i < xb_run_rows_of(run, (size_t)(sum - run->results)); i++)
        all = xb_arena_print(&record->texts, "%s%s%s", all, i > 1 ? ", " : "",
                             xb_case_transfer_text(&sum[i].test, text));
    return all;
}

static void keep_parameters(struct xb_record *record, const struct xb_run *run,
                            const struct xb_result *result, struct xb_record_case *kept)
{
    const struct xb_case *test = &result->test;
    char text[XB_CASE_PLACE_TEXT];
    struct xb_record_fact *facts =
        xb_arena_new(&record->texts, (test->setting_count + 3) * sizeof *facts);
    size_t count = test->setting_count;
    for (size_t i = 0; i < test->setting_count; i++) {
        const struct xb_setting *setting = &test->settings[i];
        facts[i] = (struct xb_record_fact){
            .name = setting->option->name,
            .value = setting->word != NULL
                         ? xb_record_keep_text(record, setting->word)
                         : xb_arena_print(&record->texts, "%" PRIu64, setting->count),
            .is_text = setting->word != NULL,
        };
    }
    if (test->group == XB_GROUP_SET)
        facts[count++] = (struct xb_record_fact){
            .name = XB_RECORD_SET,
            .value = test->sum ? name_set(record, run, result)
                               : xb_record_parameter(kept - 1, XB_RECORD_SET),
            .is_text = true};
    else if (test->group != XB_GROUP_NONE)
        facts[count++] = (struct xb_record_fact){
            .name = XB_RECORD_GROUP, .value = xb_group_name(test->group), .is_text = true};
    if (test->transfer > 0)
        facts[count++] = (struct xb_record_fact){
            .name = XB_RECORD_TRANSFER,
            .value = xb_arena_print(&record->texts, "%u: %s", test->transfer,
                                    xb_case_transfer_text(test, text)),
            .is_text = true};
    if (test->has_node)
        facts[count++] = (struct xb_record_fact){
            .name = XB_RECORD_NUMA, .value = xb_arena_print(&record->texts, "%u", test->node)};
    xb_record_sort_facts(facts, count);
    kept->parameters = facts;
    kept->parameter_count = count;
}

static void keep_cases(struct xb_record *record, const struct xb_run *run)
{
    const struct xb_record_process *process = &record->processes[0];
    record->cases = xb_arena_new(&record->texts, run->case_count * sizeof *record->cases);
    for (size_t i = 0; i < run->case_count; i++) {
        struct xb_result *result = &run->results[i];
        const struct xb_case *test = &result->test;
        struct xb_record_case *kept = &record->cases[record->case_count++];
        const struct xb_ceiling *ceiling = NULL; /* of its device's link */
        /* A sum has only the device that all have in common. */
        bool has_source = !test->sum || test->group == XB_GROUP_ONE_TO_ALL;
        bool is_destination = test->sum && test->group == XB_GROUP_ALL_TO_ONE;
        *kept = (struct xb_record_case){
            .mode = test->mode->name,
            .variant = xb_record_keep_text(record, test->variant),
            .direction = xb_direction_name(test->direction),
            .bytes = test->bytes,
            .device = has_source ? (int)test->device : -1,
            .peer = is_destination                  ? (int)test->device
                    : !test->sum && test->peer >= 0 ? test->peer
                                                    : -1,
            .latency = test->latency,
            .simultaneous = test->simultaneous || test->sum,
            .rows = xb_arena_new(&record->texts, sizeof *kept->rows),
        };
        keep_parameters(record, run, result, kept);
        for (size_t k = 0; !test->sum && k < process->device_count; k++)
            if (process->devices[k].index == test->device && process->devices[k].ceiling.known)
                ceiling = &process->devices[k].ceiling;
        xb_result_finish(result, ceiling);
        *kept->rows = result->row;
    }
}

enum xb_status xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                struct xb_error *error)
{
    const struct xb_conditions conditions = {.config = run->asked.config,
                                             .backend = run->backend->name,
                                             .probe = &run->probe,
                                             .topology = run->topology,
                                             .start = &run->start};
    XB_TRY(xb_record_of_conditions(&conditions, record, error));
    struct xb_record_process *process = xb_arena_new(&record->texts, sizeof *process);
    struct xb_record_device *devices =
        xb_arena_new(&record->texts, run->device_count * sizeof *devices);
    record->processes = process;
    record->process_count = record->asked_processes = 1;
    record->interrupted = run->interrupted;
    record->has_deadline = run->deadline > 0;
    record->deadline_met = run->deadline_met || !record->has_deadline;
    *process = (struct xb_record_process){.has_results = true,
                                          .devices = devices,
                                          .device_count = run->device_count,
                                          .interrupted = record->interrupted,
                                          .has_deadline = record->has_deadline,
                                          .deadline_met = record->deadline_met};
    for (size_t i = 0; i < run->device_count; i++)
        keep_device(record, run, &run->devices[i], &devices[i]);
    keep_cases(record, run);
    xb_record_make_index(record);
    xb_record_make_facts(record);
    return XB_OK;
}

static void release_results(void *measured)
{
    struct xb_run *kept = measured;
    xb_run_free(kept);
    free(kept);
}

enum xb_status xb_record_take_run(struct xb_run *run, struct xb_record *record,
                                  struct xb_error *error)
{
    XB_TRY(xb_record_of_run(run, record, error));
    struct xb_run *kept = xb_new(1, sizeof *kept);
    *kept = (struct xb_run){.results = run->results, .case_count = run->case_count};
    run->results = NULL;
    run->case_count = 0;
    record->measured = kept;
    record->release = release_results;
    return XB_OK;
}
