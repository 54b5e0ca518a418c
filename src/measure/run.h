/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/registry.h"
#include "machine/node.h"
#include "machine/pcie.h"
#include "machine/topology.h"
#include "measure/engine/stage.h"
#include "measure/timeline/timeline.h"
#include "record/record.h"
#include "record/run_options.h"
#include "result.h"

/* A device that takes part in a run. */
struct xb_run_device {
    struct xb_device_info info;
    struct xb_pcie_link link; /* the fastest reading right after a case; known = false before one */
    struct xb_pcie_path path; /* as it was when the device was opened; not present before that */
    struct xb_pcie_load load; /* of that path, while data moved: the highest readings */
    struct xb_binding binding;
};

/* A run of this process: what was asked, where, and the results. src/measure/record_of_run.h makes
 * a record of it. Results are in the order of the cases; an interrupted run too has a row for every
 * case. Release with xb_run_free. */
struct xb_run {
    const struct xb_backend *backend;
    struct xb_driver *driver;
    struct xb_probe probe;
    struct xb_run_options asked;
    struct xb_topology *topology;
    struct xb_run_device *devices;
    size_t device_count;
    struct xb_result *results; /* one a case, filled in turn */
    size_t case_count;
    size_t done_count;    /* how many of the results are final */
    bool unhurried;       /* asked: takes 20 samples also where fewer tell the median, for what is
                             counted meanwhile */
    bool until_deadline;  /* asked, for load that lasts: each case is sampled until the deadline,
                             with its host memory in one place and looks at the links, and is
                             verified then */
    bool keeps_timelines; /* asked: each case has one more iteration recorded, and keeps that */
    bool interrupted;
    double start_at;       /* asked, on the clock of src/base/units.h; 0: at once. All devices are
                              opened before */
    struct xb_start start; /* how it began */
    const char *sysfs; /* where PCI devices are shown; NULL: XB_PCI_DEVICES, as except in tests */
    double deadline;   /* on the clock of src/base/clock.h; 0 for none */
    bool deadline_met; /* false: it cut cases short */
};

void xb_run_free(struct xb_run *run);

/* The position in run->devices of the device with that index, which must be one of the run's. */
size_t xb_run_find_device(const struct xb_run *run, unsigned index);

/* Whether no further sample should be taken: a signal came, or the deadline. */
bool xb_run_should_stop(const struct xb_run *run);

/* What the runner tells while it works. */
struct xb_run_observer {
    /* The devices are open, and if there was something to wait for, that is over: measuring begins.
     * May be NULL. */
    void (*begun)(void *argument, const struct xb_run *run);
    /* The case results[done_count] has that many samples so far; `bandwidth` is the last one's.
     * May be NULL. */
    void (*progress)(void *argument, const struct xb_run *run, size_t samples, double bandwidth);
    /* More results are final: run->done_count of them. May be NULL. */
    void (*finished)(void *argument, const struct xb_run *run);
    void *argument;
};

/* mode_check.c: checks every table of such a list: unique names, mandatory hooks. Done once, before
 * it is used. XB_ERR_INTERNAL names the mode and what it lacks. */
enum xb_status xb_modes_check(const struct xb_mode *const *modes, struct xb_error *error);

/* Checks what needs no device: that there are such modes, that they have the options given, and
 * that these allow every case that fits into memory. xb_plan does so too. XB_ERR_USAGE;
 * XB_ERR_SYSTEM where nothing says how much memory there is. */
enum xb_status xb_plan_check(const struct xb_run_options *asked, struct xb_error *error);

/* Fills run->devices and the cases of run->results from the configuration (rows of
 * src/run/command.c and of the modes), for an open driver. Opens no device and allocates no
 * memory of the cases' size. XB_ERR_USAGE for a mode, device or size that cannot be, with what
 * could be. */
enum xb_status xb_plan(struct xb_run *run, struct xb_error *error);

/* How many rows from the first one on are measured together: one, or a sum and its devices or
 * pairs. */
size_t xb_run_rows_of(const struct xb_run *run, size_t first);

/* Why the case of so many rows cannot be run at all with these devices; NULL if it can. Static
 * text. */
const char *xb_run_cannot(const struct xb_run *run, size_t first, size_t count);

/* Measures every case in turn and makes every result final. A case or a device that fails becomes
 * an error row and the run goes on; only what leaves nothing to report is returned. Blocks until
 * done or until xb_run_should_stop(): the case in flight then keeps the samples it has, and the
 * rows behind it are skipped. */
enum xb_status xb_run_execute(struct xb_run *run, const struct xb_run_observer *observer,
                              struct xb_error *error);

/* Makes every result final although a case does not come to an end: that one fails with *error, and
 * those after it are cut. The runner must not be at work on this very run: give a copy of it. */
void xb_run_abandon(struct xb_run *run, const struct xb_error *error);

/* When a thread, or a stage on all devices, was at work. Zero-initialise; spans come in the order
 * of their beginnings. */
struct xb_busy_time {
    double busy;       /* seconds, without what overlaps */
    double begin, end; /* of the first and of the last */
    bool has_any;
};
void xb_busy_time_add(struct xb_busy_time *work, const struct xb_timeline_span *span);

/* The shares of an iteration's time in which a stage was at work, and in which it waited between
 * its first beginning and its last end. */
struct xb_shares {
    double busy, wait;
};

/* Whether the span is the stage's own work: neither a call that enqueues it nor a wait. */
bool xb_stage_does(const struct xb_stage *stage, const struct xb_timeline_span *span);

/* A device's stage is at work while any queue works for it. The host's has the mean of its threads
 * (timeline->workers), those included that found nothing to do. Where operations were left out the
 * shares are wrong: what is missing counts as waiting. */
struct xb_shares xb_stage_shares(const struct xb_stage *stage, const struct xb_timeline *timeline);

/* Makes the record of a run of this process, with this machine and environment as they are now. An
 * unfinished run has a record too: every case has its row. The rows are those of the run's results,
 * which are finished (xb_result_finish) and must live as long as the record: a second record of the
 * run ends the rows of the first. XB_ERR_USAGE as xb_record_of_conditions has it. */
enum xb_status xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                struct xb_error *error);

/* The same, and the results belong to the record then: the run has none any more. */
enum xb_status xb_record_take_run(struct xb_run *run, struct xb_record *record,
                                  struct xb_error *error);
