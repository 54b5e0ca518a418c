/* SPDX-License-Identifier: Apache-2.0 */
#include "of_run.h"

#include "base/arena.h"
#include "internal.h"
#include "machine/ceiling.h"
#include "making.h"
#include "measure/mode_list.h"
#include "of_binding.h"
#include "of_conditions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A healthy link may read so much above its ceiling: the same tolerance as XB-BW-ABOVE has. */
#define MOST_OF_CEILING 1.01

/* None where any part of it would be a guess: a link that nobody saw under load, packets whose
 * sizes only root can read, a rate without a certain coding. */
static struct xb_record_ceiling keep_ceiling(struct xb_making *making,
                                             const struct xb_run_device *device)
{
    const struct xb_record_ceiling none = {.known = false};
    size_t hop = 0;
    if (device->info.shares_host_memory || device->info.coherent_with_host)
        return none; /* copies cross no PCIe link */
    struct xb_ceiling ceiling = xb_ceiling_of_path(&device->path, &device->load, &hop);
    if (!ceiling.known || ceiling.payload_assumed || ceiling.read_request_assumed)
        return none;
    return (struct xb_record_ceiling){.known = true,
                                      .at =
                                          xb_making_keep(making, device->path.hops[hop].lower.bdf),
                                      .speed_gts = ceiling.speed_gts,
                                      .width = ceiling.width,
                                      .payload = ceiling.payload,
                                      .read_request = ceiling.read_request,
                                      .h2d = ceiling.h2d,
                                      .d2h = ceiling.d2h};
}

/* The device's link as it was seen under load, if that was no slower than right after a case. */
static bool take_link_under_load(const struct xb_run_device *device, struct xb_pcie_link *link)
{
    size_t slot = xb_pcie_path_slot(&device->path);
    if (!link->known || slot >= device->load.count || device->load.hops[slot].readings == 0)
        return false;
    const struct xb_pcie_seen *seen = &device->load.hops[slot];
    if (seen->speed_gts * seen->width < link->speed_gts * link->width)
        return false;
    link->speed_gts = seen->speed_gts;
    link->width = seen->width;
    return true;
}

static void keep_device(struct xb_making *making, const struct xb_run *run,
                        const struct xb_run_device *device, struct xb_record_device *kept)
{
    const struct xb_device_info *info = &device->info;
    struct xb_pcie_link link = device->link;
    bool under_load = take_link_under_load(device, &link);
    struct xb_record_fact *facts = xb_making_room(making, info->fact_count + 1, sizeof *facts);
    *kept = (struct xb_record_device){
        .index = info->index,
        .name = xb_making_keep(making, info->name[0] != '\0' ? info->name : "(no name)"),
        .uuid = xb_making_keep(making, info->uuid),
        .architecture = xb_making_keep(making, info->architecture),
        .pci_bdf = xb_making_keep(making, info->pci_bdf),
        .driver = xb_making_keep(making, making->record->driver),
        .memory_bytes = info->memory_bytes,
        .shares_host_memory = info->shares_host_memory,
        .link_known = link.known,
        .link_speed_gts = link.speed_gts,
        .link_max_speed_gts = link.max_speed_gts,
        .link_width = link.width,
        .link_max_width = link.max_width,
        .link_port = xb_making_keep(making, link.port),
        .link_under_load = under_load,
        .ceiling = keep_ceiling(making, device),
        .facts = facts,
    };
    xb_making_keep_binding(making, run, device, kept);
    for (size_t i = 0; !making->failed && i < info->fact_count; i++)
        facts[kept->fact_count++] =
            (struct xb_record_fact){.name = xb_making_keep(making, info->facts[i].key),
                                    .value = xb_making_keep(making, info->facts[i].value),
                                    .is_text = true};
}

static void keep_process(struct xb_making *making, const struct xb_run *run)
{
    struct xb_record *record = making->record;
    struct xb_record_process *process = calloc(1, sizeof *process);
    struct xb_record_device *devices = calloc(run->device_count + 1, sizeof *devices);
    if (process == NULL || devices == NULL) {
        free(process);
        free(devices);
        making->failed = true;
        return;
    }
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
        keep_device(making, run, &run->devices[i], &devices[i]);
}

/* ---- figures ---- */

static const double *keep_numbers(struct xb_making *making, const double *values, size_t count)
{
    double *kept = xb_making_room(making, count, sizeof *kept);
    if (kept != NULL && count > 0)
        memcpy(kept, values, count * sizeof *kept);
    return kept;
}

/* The figures of a row while they are made. There is room for all. */
struct figures {
    struct xb_record_figure *kept;
    size_t count;
    const struct xb_record_row *row; /* whose times and placements are kept already */
};

/* Adds a figure by its samples, which belong to the record already. Without samples it adds none.
 */
static void add_sampled(struct xb_making *making, struct figures *figures,
                        const struct xb_figure *figure, const double *samples, size_t count)
{
    struct xb_error error;
    if (making->failed || count == 0)
        return;
    struct xb_record_figure *added = &figures->kept[figures->count++];
    *added = xb_record_figure_of(figure);
    added->samples = samples;
    added->sample_count = count;
    if (count == figures->row->time_count)
        added->placements = figures->row->placements;
    making->failed = xb_record_figure_describe(added, &error) != XB_OK;
}

static void add_samples(struct xb_making *making, struct figures *figures,
                        const struct xb_figure *figure, const struct xb_samples *samples)
{
    add_sampled(making, figures, figure, keep_numbers(making, samples->values, samples->count),
                samples->count);
}

/* One of which the samples are left out: for each of them a file of single operations would be half
 * as large again. Those by the device's clock are the row's times. */
static void add_described(struct xb_making *making, struct figures *figures,
                          const struct xb_figure *figure, const struct xb_samples *samples)
{
    add_sampled(making, figures, figure, samples->values, samples->count);
    if (making->failed || samples->count == 0)
        return;
    struct xb_record_figure *added = &figures->kept[figures->count - 1];
    added->samples = NULL;
    added->sample_count = 0;
}

static void add_computed(struct figures *figures, const struct xb_figure *figure, double value)
{
    struct xb_record_figure *added = &figures->kept[figures->count++];
    *added = xb_record_figure_of(figure);
    added->statistics = xb_record_median_only(value, 0);
}

static void add_bandwidth(struct xb_making *making, struct figures *figures,
                          const struct xb_result *result)
{
    double *rates = xb_making_room(making, result->times.count, sizeof *rates);
    for (size_t i = 0; !making->failed && i < result->times.count; i++)
        rates[i] = (double)result->bytes_moved / result->times.values[i];
    add_sampled(making, figures, &xb_figure_bandwidth, rates, result->times.count);
}

static double median_of(const struct figures *figures, const struct xb_figure *figure)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->kept[i].name, figure->name) == 0)
            return figures->kept[i].statistics.median;
    return 0;
}

static void add_share(struct figures *figures, const struct xb_figure *share,
                      const struct xb_figure *bandwidth, double ceiling)
{
    double rate = median_of(figures, bandwidth);
    if (rate > 0 && rate <= MOST_OF_CEILING * ceiling) /* else the link was read wrongly */
        add_computed(figures, share, rate / ceiling);
}

/* How much of what the link can carry the row's bandwidth is, where its time is that of one
 * crossing of the link. */
static void add_shares(struct figures *figures, const struct xb_result *result,
                       const struct xb_record_device *device)
{
    const struct xb_case *test = &result->test;
    if (device == NULL || !device->ceiling.known || !result->device_timer || test->latency ||
        test->mode->crosses_otherwise)
        return;
    if (test->direction == XB_BIDIR) {
        add_share(figures, &xb_figure_share_of_ceiling_h2d, &xb_figure_bandwidth_h2d,
                  device->ceiling.h2d);
        add_share(figures, &xb_figure_share_of_ceiling_d2h, &xb_figure_bandwidth_d2h,
                  device->ceiling.d2h);
    } else if (test->direction != XB_D2D && result->bytes_moved == test->bytes) {
        add_share(figures, &xb_figure_share_of_ceiling, &xb_figure_bandwidth,
                  test->direction == XB_H2D ? device->ceiling.h2d : device->ceiling.d2h);
    }
}

/* A row of single operations has their times by either clock, and no bandwidth: a rate of so few
 * bytes would mean nothing. Its wall time is latency_host. A mode that is about a latency of its
 * own has added that. */
static void keep_figures(struct xb_making *making, const struct xb_result *result,
                         const struct xb_record_device *device, struct xb_record_row *row)
{
    struct figures figures = {
        .kept = xb_making_room(making, XB_RESULT_FIGURES + 6, sizeof *figures.kept), .row = row};
    if (making->failed)
        return;
    if (xb_case_is_single(&result->test)) {
        add_samples(making, &figures, &xb_figure_latency_host, &result->wall_times);
        if (result->event_times)
            add_described(making, &figures, &xb_figure_latency_device, &result->times);
        add_described(making, &figures, &xb_figure_submit_time, &result->submit_times);
    } else if (!result->test.latency) {
        add_bandwidth(making, &figures, result);
        add_samples(making, &figures, &xb_figure_submit_time, &result->submit_times);
        add_samples(making, &figures, &xb_figure_wall_time, &result->wall_times);
    }
    for (size_t i = 0; i < result->figure_count; i++) {
        const struct xb_result_figure *own = &result->figures[i];
        if (own->samples.count > 0)
            add_samples(making, &figures, own->figure, &own->samples);
        else
            add_computed(&figures, own->figure, own->computed);
    }
    add_shares(&figures, result, device);
    row->figures = figures.kept;
    row->figure_count = figures.count;
}

/* ---- rows ---- */

static void keep_details(struct xb_making *making, const struct xb_result *result,
                         struct xb_record_row *row)
{
    struct xb_record_detail *details =
        xb_making_room(making, result->detail_count, sizeof *details);
    for (size_t i = 0; !making->failed && i < result->detail_count; i++) {
        const struct xb_detail *detail = &result->details[i];
        details[i] = (struct xb_record_detail){
            .name = xb_making_keep(making, detail->key),
            .text = detail->is_number ? NULL
                                      : xb_arena_print(&making->record->texts, "%s", detail->text),
            .number = detail->number,
        };
        making->failed = making->failed || (!detail->is_number && details[i].text == NULL);
    }
    row->details = details;
    row->detail_count = result->detail_count;
}

static void keep_warnings(struct xb_making *making, const struct xb_result *result,
                          struct xb_record_row *row)
{
    const char **texts = xb_making_room(making, result->warning_count, sizeof *texts);
    for (size_t i = 0; !making->failed && i < result->warning_count; i++)
        texts[i] = xb_making_keep(making, result->warnings[i]);
    row->warning_texts = texts;
    row->warning_count = result->warning_count;
}

static void keep_error(struct xb_making *making, const struct xb_error *error,
                       struct xb_record_row *row)
{
    char at[512] = "";
    if (error->status == XB_OK)
        return;
    if (error->file != NULL)
        snprintf(at, sizeof at, "%s:%d", error->file, error->line);
    row->error = (struct xb_record_error){.known = true,
                                          .status = xb_status_name(error->status),
                                          .native_code = error->native_code,
                                          .native_name = xb_making_keep(making, error->native_name),
                                          .call = xb_making_keep(making, error->call),
                                          .message = xb_making_keep(making, error->message),
                                          .at = xb_making_keep(making, at)};
}

static bool was_cut(enum xb_stop_reason reason)
{
    return reason == XB_STOP_INTERRUPTED || reason == XB_STOP_DEADLINE;
}

/* A case whose data was wrong in one of several placements ended for no such reason. */
static const char *stop_reason_of(const struct xb_result *result)
{
    bool told = result->bandwidth.n > 0 ||
                (was_cut(result->stop_reason) && result->status == XB_RESULT_SKIPPED);
    return told && result->stop_reason != XB_STOP_NOT_YET ? xb_stop_reason_name(result->stop_reason)
                                                          : NULL;
}

static struct xb_record_placements keep_placements(struct xb_making *making,
                                                   const struct xb_result *result)
{
    struct xb_record_placements placements = {.count = result->placement_count};
    size_t *samples = xb_making_room(making, placements.count, sizeof *samples);
    if (samples == NULL || placements.count == 0)
        return (struct xb_record_placements){.count = 0};
    memcpy(samples, result->placement_samples, placements.count * sizeof *samples);
    placements.samples = samples;
    return placements;
}

static void keep_row(struct xb_making *making, const struct xb_result *result,
                     const struct xb_record_device *device, struct xb_record_row *row)
{
    bool measured = result->bandwidth.n > 0;
    bool cut = was_cut(result->stop_reason);
    *row = (struct xb_record_row){
        .is_there = true,
        .status = result->status,
        .verified = result->verified,
        .reason = xb_making_keep(making, result->reason),
        .timer = !measured              ? NULL
                 : result->device_timer ? "device-event"
                                        : "host-clock",
        .stop_reason = stop_reason_of(result),
        .is_cut = cut,
        .bytes_moved = measured ? result->bytes_moved : 0,
    };
    if (measured) {
        row->times = keep_numbers(making, result->times.values, result->times.count);
        row->time_count = result->times.count;
        row->placements = keep_placements(making, result);
    }
    if (measured && result->status == XB_RESULT_OK)
        keep_figures(making, result, device, row);
    keep_warnings(making, result, row);
    keep_details(making, result, row);
    keep_error(making, &result->error, row);
}

/* ---- cases ---- */

static void keep_parameters(struct xb_making *making, const struct xb_case *test,
                            struct xb_record_case *kept)
{
    struct xb_record_fact *facts = xb_making_room(making, test->setting_count + 2, sizeof *facts);
    size_t count = test->setting_count;
    char node[16];
    snprintf(node, sizeof node, "%u", test->node);
    for (size_t i = 0; !making->failed && i < test->setting_count; i++) {
        const struct xb_setting *setting = &test->settings[i];
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, setting->count);
        facts[i] = (struct xb_record_fact){
            .name = setting->option->name,
            .value = xb_making_keep(making, setting->word != NULL ? setting->word : number),
            .is_text = setting->word != NULL,
        };
    }
    if (making->failed)
        return;
    if (test->group != XB_GROUP_NONE)
        facts[count++] = (struct xb_record_fact){
            .name = XB_RECORD_GROUP, .value = xb_group_name(test->group), .is_text = true};
    if (test->has_node)
        facts[count++] =
            (struct xb_record_fact){.name = XB_RECORD_NUMA, .value = xb_making_keep(making, node)};
    xb_record_sort_facts(facts, count);
    kept->parameters = facts;
    kept->parameter_count = count;
}

/* Of a sum only that device is known which all have in common. */
static int source_of(const struct xb_case *test)
{
    return test->sum && test->group != XB_GROUP_ONE_TO_ALL ? -1 : (int)test->device;
}

static int destination_of(const struct xb_case *test)
{
    if (test->sum)
        return test->group == XB_GROUP_ALL_TO_ONE ? (int)test->device : -1;
    return test->peer >= 0 ? test->peer : -1;
}

static void keep_case(struct xb_making *making, const struct xb_result *result,
                      const struct xb_record_device *device, struct xb_record_case *kept)
{
    const struct xb_case *test = &result->test;
    *kept = (struct xb_record_case){
        .mode = test->mode->name,
        .variant = xb_making_keep(making, test->variant),
        .direction = xb_direction_name(test->direction),
        .bytes = test->bytes,
        .device = source_of(test),
        .peer = destination_of(test),
        .latency = test->latency,
        .simultaneous = test->simultaneous || test->sum,
        .rows = calloc(1, sizeof *kept->rows),
    };
    making->failed = making->failed || kept->rows == NULL;
    if (making->failed)
        return;
    keep_parameters(making, test, kept);
    keep_row(making, result, device, kept->rows);
}

/* The device that the case is of; NULL for a sum. */
static const struct xb_record_device *device_of(const struct xb_record *record,
                                                const struct xb_case *test)
{
    const struct xb_record_process *process = &record->processes[0];
    for (size_t i = 0; !test->sum && i < process->device_count; i++)
        if (process->devices[i].index == test->device)
            return &process->devices[i];
    return NULL;
}

static void keep_cases(struct xb_making *making, const struct xb_run *run)
{
    struct xb_record *record = making->record;
    record->cases = calloc(run->case_count + 1, sizeof *record->cases);
    making->failed = making->failed || record->cases == NULL;
    for (size_t i = 0; !making->failed && i < run->case_count; i++)
        keep_case(making, &run->results[i], device_of(record, &run->results[i].test),
                  &record->cases[record->case_count++]);
}

enum xb_status xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                struct xb_error *error)
{
    const struct xb_conditions conditions = {.config = run->config,
                                             .backend = run->backend->name,
                                             .probe = &run->probe,
                                             .topology = run->topology,
                                             .start = &run->start};
    struct xb_making making = {.record = record};
    enum xb_status status = xb_record_of_conditions(&conditions, record, error);
    if (status != XB_OK)
        return status;
    keep_process(&making, run);
    keep_cases(&making, run);
    if (!making.failed && xb_record_make_index(record) && xb_record_make_facts(record))
        return XB_OK;
    xb_record_free(record);
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the results");
}
