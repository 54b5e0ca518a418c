/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a run's cases device by device and measures each; see measure.c for one case. */
#include "measure.h"

#include "xferbench/host_memory.h"
#include "xferbench/interrupt.h"
#include "xferbench/workspace.h"

#include <string.h>

/* Whether the case's memory is there now, before any of it is taken. */
static enum xb_status check_memory(const struct xb_device *device, const struct xb_needs *needs,
                                   struct xb_error *error)
{
    uint64_t free_bytes = 0;
    if (device->info.shares_host_memory)
        return xb_host_memory_check(needs->host_bytes + needs->device_bytes, error);
    enum xb_status status = xb_host_memory_check(needs->host_bytes, error);
    if (status == XB_OK)
        status = device->backend->device_memory((struct xb_device *)device, &free_bytes, error);
    if (status == XB_OK && needs->device_bytes > free_bytes)
        status = XB_FAIL(error, XB_ERR_MEMORY,
                         "device %u has %.2f GiB of memory free, and the case needs %.2f GiB; "
                         "something else uses the device, or take a smaller --size",
                         device->info.index, (double)free_bytes / 0x1p30,
                         (double)needs->device_bytes / 0x1p30);
    return status;
}

/*
 * The largest needs of the device's cases that fit now, host and device apart: what the workspace
 * allocates at once. Only a hint: where the two together do not fit, it takes less.
 */
static struct xb_needs largest_needs(const struct xb_run *run, const struct xb_device *device)
{
    struct xb_needs largest = {0};
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_case *test = &run->results[i].test;
        struct xb_error ignored;
        if (test->device != device->info.index)
            continue;
        struct xb_needs needs = test->mode->needs(test, run->config);
        if (needs.host_bytes <= largest.host_bytes && needs.device_bytes <= largest.device_bytes)
            continue;
        if (check_memory(device, &needs, &ignored) != XB_OK)
            continue;
        if (needs.host_bytes > largest.host_bytes)
            largest.host_bytes = needs.host_bytes;
        if (needs.device_bytes > largest.device_bytes)
            largest.device_bytes = needs.device_bytes;
    }
    return largest;
}

static bool fits(const struct xb_needs *needs, const struct xb_needs *largest)
{
    return needs->host_bytes <= largest->host_bytes && needs->device_bytes <= largest->device_bytes;
}

/* The rows of a device that are left when a signal came. */
static void skip_cases(struct xb_run *run, unsigned device)
{
    for (; run->done_count < run->case_count && run->results[run->done_count].test.device == device;
         run->done_count++)
        xb_result_skip(&run->results[run->done_count], "interrupted before it began");
}

/* Runs the device's cases one after the other. */
static void run_cases(struct xb_run *run, const struct xb_run_observer *observer,
                      struct xb_run_device *where, struct xb_device *device,
                      struct xb_workspace *workspace, const struct xb_needs *largest)
{
    for (; run->done_count < run->case_count; run->done_count++) {
        struct xb_result *result = &run->results[run->done_count];
        if (result->test.device != where->info.index)
            return;
        if (xb_interrupt_signal() != 0) {
            skip_cases(run, where->info.index);
            return;
        }
        struct xb_error error;
        struct xb_needs needs = result->test.mode->needs(&result->test, run->config);
        if (!fits(&needs, largest) && check_memory(device, &needs, &error) != XB_OK) {
            xb_result_fail(result, &error);
            continue;
        }
        struct xb_measurement measurement = {
            .run = run,
            .observer = observer,
            .where = where,
            .result = result,
            .context = {.test = &result->test,
                        .config = run->config,
                        .device = device,
                        .workspace = workspace},
            .time_limit = xb_config_get(run->config, "time-limit")->seconds,
        };
        xb_measure(&measurement);
    }
}

/* Gives every remaining row of the device the same error. */
static void fail_cases(struct xb_run *run, unsigned device, const struct xb_error *error)
{
    for (; run->done_count < run->case_count && run->results[run->done_count].test.device == device;
         run->done_count++)
        xb_result_fail(&run->results[run->done_count], error);
}

static void run_device(struct xb_run *run, const struct xb_run_observer *observer,
                       struct xb_run_device *where)
{
    struct xb_device *device = NULL;
    struct xb_workspace *workspace = NULL;
    struct xb_needs largest = {0};
    struct xb_error error;
    /* First, so that the driver's own memory for this device lies near it too. */
    xb_topology_bind(run->topology, xb_pcie_numa_node(where->info.pci_bdf), &where->binding);
    if (xb_interrupt_signal() != 0) {
        skip_cases(run, where->info.index);
        return;
    }
    enum xb_status status =
        run->backend->device_open(run->driver, where->info.index, &device, &error);
    if (status == XB_OK) {
        largest = largest_needs(run, device);
        status =
            xb_workspace_open(device, largest.host_bytes, largest.device_bytes, &workspace, &error);
    }
    if (status == XB_OK)
        run_cases(run, observer, where, device, workspace, &largest);
    else
        fail_cases(run, where->info.index, &error);
    xb_workspace_close(workspace);
    run->backend->device_close(device);
}

/* Whether a signal kept a case from being measured in full: one that came too late cut none. */
static bool was_cut(const struct xb_result *result)
{
    return result->status == XB_RESULT_SKIPPED ? strncmp(result->reason, "interrupted", 11) == 0
                                               : result->stop_reason == XB_STOP_INTERRUPTED;
}

enum xb_status xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                              struct xb_error *error)
{
    enum xb_status status = xb_topology_open(&run->topology, error);
    if (status != XB_OK)
        return status;
    for (size_t i = 0; i < run->device_count; i++)
        run_device(run, observer, &run->devices[i]);
    for (size_t i = 0; xb_interrupt_signal() != 0 && i < run->case_count; i++)
        run->interrupted = run->interrupted || was_cut(&run->results[i]);
    return XB_OK;
}
