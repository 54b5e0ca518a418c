/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a run's cases, opens the devices that each needs, and has it measured (measure.c).
 */
#include "measure/sample/measure.h"

#include "base/memory.h"
#include "machine/host_memory.h"
#include "measure/plan/case.h"
#include "storage/files.h"
#include "xferbench/workspace.h"

#include <stdlib.h>

/* A device of the run while it runs. */
struct opened {
    struct xb_device *device;       /* NULL until a case has needed it */
    struct xb_workspace *workspace; /* closed when the next case is of other devices or of another
                                       NUMA node: its memory and threads are where they are */
    struct xb_case workspace_for;   /* a case of that node */
    struct xb_work last_work;
};

struct runner {
    struct xb_run *run;
    const struct xb_run_observer *observer;
    struct opened *opened; /* one a device of the run, and so are these */
    struct xb_opening *openings;
    struct xb_store store;
};

/* ---- memory ---- */

/* Checks that the memory which these rows take together is there now, before any is allocated, on
 * so many devices. What workspaces keep counts as free. */
static enum xb_status check_memory(const struct xb_result *rows, size_t count,
                                   const struct opened *opened, size_t device_count,
                                   struct xb_error *error)
{
    uint64_t host_bytes = 0, kept = 0;
    for (size_t k = 0; k < count; k++)
        if (!rows[k].test.sum)
            host_bytes = xb_sum(host_bytes, xb_case_needs(&rows[k].test).host_bytes);
    for (size_t i = 0; i < device_count; i++, opened++) {
        struct xb_device *device = opened->device;
        uint64_t needed = 0, free_bytes = 0;
        bool is_needed = false;
        for (size_t k = 0; device != NULL && k < count; k++) {
            if (!xb_case_concerns(&rows[k].test, device->info.index))
                continue;
            needed = xb_sum(needed, xb_case_needs(&rows[k].test).device_bytes);
            is_needed = true;
        }
        if (!is_needed)
            continue;
        uint64_t kept_there = xb_workspace_kept(opened->workspace, false);
        kept += xb_workspace_kept(opened->workspace, true);
        if (device->info.shares_host_memory) {
            kept += kept_there;
            host_bytes += needed;
            continue;
        }
        XB_TRY(device->backend->device_memory(device, &free_bytes, error));
        free_bytes += kept_there;
        if (needed > free_bytes)
            return XB_FAIL(error, XB_ERR_MEMORY,
                           "device %u has %.2f GiB of memory free, and the case needs %.2f GiB; "
                           "free the device of other programs, or take a smaller size",
                           device->info.index, (double)free_bytes / 0x1p30,
                           (double)needed / 0x1p30);
    }
    return host_bytes > kept ? xb_host_memory_check(host_bytes - kept, error) : XB_OK;
}

/* ---- devices ---- */

/* Marks the devices of the run that these cases need. */
static void mark_needed(const struct xb_run *run, const struct xb_result *results, size_t count,
                        bool *needed)
{
    for (size_t i = 0; i < run->device_count; i++)
        for (size_t k = 0; k < count; k++)
            needed[i] = needed[i] || xb_case_concerns(&results[k].test, run->devices[i].info.index);
}

static void close_workspace(struct opened *opened)
{
    xb_workspace_close(opened->workspace);
    opened->workspace = NULL;
}

/* Opens a device of the run and its workspace for a case, if they are not open yet. */
static enum xb_status open_device(struct runner *runner, size_t position,
                                  const struct xb_case *test, struct xb_error *error)
{
    struct xb_run *run = runner->run;
    struct xb_run_device *where = &run->devices[position];
    struct xb_opening *opening = &runner->openings[position];
    struct opened *opened = &runner->opened[position];
    /* Before it is opened, so that the driver's own memory for this device lies near it too. */
    xb_topology_bind(run->topology, xb_pcie_numa_node(where->info.pci_bdf), -1, &where->binding);
    xb_opening_wait(opening);
    if (opening->status != XB_OK) {
        *error = opening->error;
        return opening->status;
    }
    opened->device = opening->device;
    where->info = opened->device->info; /* an open device tells more of itself */
    if (opened->workspace != NULL && (!xb_case_same_node(&opened->workspace_for, test) ||
                                      test->group == XB_GROUP_SET)) /* is of several nodes */
        close_workspace(opened);
    opened->workspace_for = *test;
    if (opened->workspace != NULL)
        return XB_OK;
    if (!where->path.present)
        xb_link_load_open(run, where);
    /* Its workspace allocates memory for the largest case of the device that fits now at once. A
     * case that does not fit is passed over, its own row will tell. Any other failure is one of the
     * case that is to be run. */
    uint64_t largest = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *other = &run->results[i].test;
        if (!xb_case_concerns(other, where->info.index) || other->bytes <= largest)
            continue;
        enum xb_status fits = check_memory(&run->results[i], 1, opened, 1, error);
        if (fits == XB_ERR_MEMORY)
            continue;
        XB_TRY(fits);
        largest = other->bytes;
    }
    opened->workspace = xb_workspace_open(opened->device, largest);
    return XB_OK;
}

/* ---- cases ---- */

/* Makes a lane and the context that its mode will see. */
static enum xb_status make_lane(struct runner *runner, struct xb_result *result,
                                struct xb_lane *lane, struct xb_error *error)
{
    struct xb_run *run = runner->run;
    const struct xb_case *test = &result->test;
    size_t position = xb_run_find_device(run, test->device);
    struct opened *opened = &runner->opened[position];
    *lane = (struct xb_lane){.where = &run->devices[position],
                             .result = result,
                             .last_work = &opened->last_work,
                             .context = {.test = test,
                                         .run = run,
                                         .device = opened->device,
                                         .workspace = opened->workspace,
                                         .store = &runner->store}};
    xb_workspace_begin(opened->workspace, test->bytes);
    if (test->peer == XB_NO_PEER)
        return XB_OK;
    struct opened *peer = &runner->opened[xb_run_find_device(run, (unsigned)test->peer)];
    lane->peer_last_work = &peer->last_work;
    lane->context.peer_device = peer->device;
    lane->context.peer_workspace = peer->workspace;
    xb_workspace_begin(peer->workspace, test->bytes);
    XB_TRY(run->backend->peer_info(run->driver, test->device, (unsigned)test->peer,
                                   &lane->context.source_reach, error));
    return run->backend->peer_info(run->driver, (unsigned)test->peer, test->device,
                                   &lane->context.destination_reach, error);
}

/* How many lanes before the one of that index use the device, and how many there are in all. */
static struct xb_share share_of(const struct xb_lane *lanes, size_t lane_count, size_t index,
                                const struct xb_device *device)
{
    struct xb_share share = {.of = 0};
    for (size_t i = 0; i < lane_count; i++) {
        const struct xb_mode_context *context = &lanes[i].context;
        bool uses = context->device == device || context->peer_device == device;
        share.of += uses;
        share.number += uses && i < index;
    }
    return share;
}

/* Measures the case whose rows are results[0 .. count). There is room for as many lanes. */
static enum xb_status run_case(struct runner *runner, struct xb_result *results, size_t count,
                               struct xb_lane *lanes, struct xb_error *error)
{
    struct xb_result *first_lane = results[0].test.sum ? results + 1 : results;
    size_t lane_count = results[0].test.sum ? count - 1 : 1;
    /* The devices that the case needs are opened, and the memory kept on the others is freed. */
    bool needed[XB_RUN_DEVICES] = {false};
    size_t device_count = runner->run->device_count;
    mark_needed(runner->run, results, count, needed);
    for (size_t i = 0; i < device_count; i++)
        if (!needed[i])
            close_workspace(&runner->opened[i]);
    for (size_t i = 0; i < device_count; i++)
        if (needed[i])
            XB_TRY(open_device(runner, i, &results->test, error));
    for (size_t i = 0; i < lane_count; i++)
        XB_TRY(make_lane(runner, &first_lane[i], &lanes[i], error));
    for (size_t i = 0; i < lane_count; i++) { /* lanes that use the same device share it */
        struct xb_mode_context *context = &lanes[i].context;
        context->share = share_of(lanes, lane_count, i, context->device);
        if (context->peer_device != NULL)
            context->peer_share = share_of(lanes, lane_count, i, context->peer_device);
        if (context->share.of > 1)
            xb_workspace_share(context->workspace);
        if (context->peer_share.of > 1)
            xb_workspace_share(context->peer_workspace);
    }
    XB_TRY(check_memory(results, count, runner->opened, device_count, error));
    struct xb_measurement measurement = {
        .run = runner->run,
        .observer = runner->observer,
        .result = results,
        .row_count = count,
        .lanes = lanes,
        .lane_count = lane_count,
    };
    xb_measure(&measurement);
    return XB_OK;
}

static void run_rows(struct runner *runner, size_t first, size_t count)
{
    struct xb_result *results = &runner->run->results[first];
    const char *reason = xb_run_cannot(runner->run, first, count);
    const char *before = "it began";
    struct xb_error error;
    enum xb_status status = XB_ERR_STOPPED;
    if (reason != NULL) {
        status = XB_FAIL(&error, XB_ERR_UNSUPPORTED, "%s", reason);
    } else if (!xb_run_should_stop(runner->run)) {
        before = "its device was ready";
        struct xb_lane *lanes = xb_new(count, sizeof *lanes);
        status = run_case(runner, results, count, lanes, &error);
        free(lanes);
        if (status == XB_OK)
            return;
    }
    for (size_t i = 0; i < count; i++)
        xb_result_end(&results[i], status, &error, before);
}

/* A signal or a deadline that came after the last case has cut nothing short, and is not told. */
static void note_cuts(struct xb_run *run)
{
    run->deadline_met = true;
    for (size_t i = 0; i < run->case_count; i++) {
        if (run->results[i].stop_reason == XB_STOP_INTERRUPTED)
            run->interrupted = true;
        if (run->results[i].stop_reason == XB_STOP_DEADLINE)
            run->deadline_met = false;
    }
}

void xb_run_abandon(struct xb_run *run, const struct xb_error *error)
{
    size_t in_flight = run->done_count;
    size_t behind =
        in_flight < run->case_count ? in_flight + xb_run_rows_of(run, in_flight) : in_flight;
    for (size_t i = in_flight; i < behind; i++)
        xb_result_fail(&run->results[i], error);
    for (size_t i = behind; i < run->case_count; i++)
        xb_result_cut(&run->results[i], "it began");
    run->done_count = run->case_count;
    note_cuts(run);
    run->deadline_met = run->deadline_met && behind == in_flight;
}

enum xb_status xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                              struct xb_error *error)
{
    XB_TRY(xb_topology_open(&run->topology, error));
    struct runner runner = {.run = run,
                            .observer = observer,
                            .opened = xb_new(run->device_count, sizeof *runner.opened),
                            .openings = xb_new(run->device_count, sizeof *runner.openings),
                            .store = {.end_at = run->deadline}};
    for (size_t i = 0; i < run->device_count; i++) {
        runner.openings[i].run = run;
        runner.openings[i].position = i;
    }
    /* The devices of all cases are opened at the same time, and none that only impossible cases
     * have. A single one only where nodes begin at once: creating its context must not make this
     * one late. */
    bool wanted[XB_RUN_DEVICES] = {false};
    for (size_t first = 0, count; first < run->case_count; first += count) {
        count = xb_run_rows_of(run, first);
        if (xb_run_cannot(run, first, count) == NULL)
            mark_needed(run, &run->results[first], count, wanted);
    }
    if (!xb_run_should_stop(run))
        xb_openings_begin(runner.openings, wanted, run->device_count, run->start_at > 0);
    xb_openings_settle(runner.openings, run->device_count);
    xb_start_wait(run->start_at, run->deadline, &run->start);
    if (observer != NULL && observer->begun != NULL)
        observer->begun(observer->argument, run);
    while (run->done_count < run->case_count) {
        size_t count = xb_run_rows_of(run, run->done_count);
        run_rows(&runner, run->done_count, count);
        run->done_count += count;
        if (observer != NULL && observer->finished != NULL)
            observer->finished(observer->argument, run);
    }
    for (size_t i = 0; i < run->device_count; i++)
        close_workspace(&runner.opened[i]);
    for (size_t i = 0; i < run->device_count; i++)
        xb_opening_close(&runner.openings[i]);
    note_cuts(run);
    xb_store_close(&runner.store);
    free(runner.opened);
    free(runner.openings);
    return XB_OK;
}
