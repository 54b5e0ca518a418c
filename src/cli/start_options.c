/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* When measuring is to begin. */
#include "start_options.h"

#include "base/began.h"
#include "base/clock.h"
#include "base/day_time.h"
#include "base/plain_text.h"
#include "base/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A time that passed while the program started is not worth a refusal. */
#define LATE_S 1.0
/* A time that is further ahead is a mistake: nobody keeps nodes waiting for a day. */
#define FURTHEST_S 86400.0

const struct xb_option xb_option_start_at = {
    .name = "start-at",
    .type = XB_OPTION_TEXT,
    .argument = "TIME",
    .help = "Begin to measure at this time, so that many nodes begin together: "
            "2026-11-23T06:40:00Z (UTC), @1795416000 (seconds since 1970), or +10s (after the "
            "program's start). The nodes' clocks must agree (docs/measurement.md).",
    .selects = true,
};
const struct xb_option xb_option_barrier = {
    .name = "barrier",
    .type = XB_OPTION_FILE,
    .argument = "FOLDER",
    .help =
        "Begin to measure when all processes of the launcher have come to this folder, which they "
        "share. Name a new folder for each run; xferbench makes it. Without --deadline it waits at "
        "most 10 minutes.",
    .selects = true,
};
const struct xb_option xb_option_barrier_tasks = {
    .name = "barrier-tasks",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .help = "How many processes meet in --barrier's folder. Not needed if the launcher tells it "
            "(Slurm, Open MPI, PMI).",
    .minimum = 1,
    .maximum = XB_BARRIER_TASKS,
    .selects = true,
};

/* ---- a time ---- */

static enum xb_status read_time(const char *text, double *at, struct xb_error *error)
{
    struct xb_error cause;
    struct timespec began = xb_began();
    double seconds = 0;
    bool is_ahead = text[0] == '+';
    enum xb_status status = is_ahead ? xb_duration_parse(text + 1, &seconds, &cause)
                                     : xb_day_time_parse(text, &seconds, &cause);
    if (status != XB_OK)
        return XB_FAIL(error, status, "--start-at: %s", cause.message);
    *at = is_ahead ? (double)began.tv_sec + (double)began.tv_nsec * 1e-9 + seconds : seconds;
    return XB_OK;
}

static enum xb_status check_time(const char *text, double at, double deadline,
                                 struct xb_error *error)
{
    double ahead = at - xb_day_time_now();
    if (ahead < -LATE_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s was %.1f s ago by this node's clock: give a later time",
                       text, -ahead);
    if (ahead > FURTHEST_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f days ahead: give a time within a day", text,
                       ahead / FURTHEST_S);
    if (deadline > 0 && ahead > 0 && xb_clock_now() + ahead >= deadline)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f s ahead, after --deadline: give an earlier time "
                       "or a longer --deadline",
                       text, ahead);
    return XB_OK;
}

static enum xb_status read_start_at(const char *text, double deadline,
                                    struct xb_start_request *request, struct xb_error *error)
{
    enum xb_status status = read_time(text, &request->at, error);
    request->by = XB_START_AT_TIME;
    return status != XB_OK ? status : check_time(text, request->at, deadline, error);
}

/* ---- a barrier ---- */

static enum xb_status read_barrier(const struct xb_config *config, struct xb_start_options *options,
                                   struct xb_error *error)
{
    const struct xb_value *tasks = xb_config_get(config, "barrier-tasks");
    struct xb_barrier *barrier = &options->request.barrier;
    struct xb_launcher launcher;
    struct xb_node node;
    enum xb_status status = xb_file_name_make("--barrier", xb_config_get(config, "barrier")->text,
                                              options->folder, error);
    if (status == XB_OK)
        status = xb_node_find(&node, error);
    if (status == XB_OK)
        status = xb_launcher_find(&launcher, error);
    if (status != XB_OK)
        return status;
    memcpy(options->node, node.name, sizeof options->node);
    *barrier = (struct xb_barrier){.folder = options->folder,
                                   .node = options->node,
                                   .rank = launcher.rank,
                                   .tasks = tasks->is_set ? tasks->count : launcher.ranks};
    options->request.by = XB_START_AT_BARRIER;
    if (barrier->tasks == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--barrier: no launcher tells how many processes meet: add "
                       "--barrier-tasks N");
    if (barrier->tasks > XB_BARRIER_TASKS)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--barrier: %" PRIu64 " processes are too many: at most %d can meet in "
                       "one folder. Use --start-at",
                       barrier->tasks, XB_BARRIER_TASKS);
    return XB_OK;
}

/* ---- both ---- */

enum xb_status xb_start_options_read(const struct xb_config *config, double deadline,
                                     struct xb_start_options *options, struct xb_error *error)
{
    const struct xb_value *at = xb_config_get(config, "start-at");
    bool has_barrier = xb_config_get(config, "barrier")->is_set;
    *options = (struct xb_start_options){.request.deadline = deadline};
    if (at->is_set && has_barrier)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at and --barrier both say when to begin: give one of them");
    if (xb_config_get(config, "barrier-tasks")->is_set && !has_barrier)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--barrier-tasks needs a folder to meet in: add --barrier FOLDER");
    if (at->is_set)
        return read_start_at(at->text, deadline, &options->request, error);
    return has_barrier ? read_barrier(config, options, error) : XB_OK;
}

void xb_start_options_say(const struct xb_start_options *options)
{
    const struct xb_start_request *request = &options->request;
    if (request->by == XB_START_AT_ONCE || !xb_terminal_has_cursor(stderr))
        return;
    if (request->by == XB_START_AT_TIME)
        xb_say("waiting %.1f s for the start time", request->at - xb_day_time_now());
    else
        xb_say("waiting for %" PRIu64 " processes to come to '%.200s'", request->barrier.tasks,
               request->barrier.folder);
}
