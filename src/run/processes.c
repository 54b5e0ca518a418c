/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* readlink */
#include "processes.h"

#include "base/clock.h"
#include "base/plain_text.h"
#include "base/program.h"
#include "processes_internal.h"

#include "base/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is asked ---- */

static uint64_t count_of(const struct xb_config *config)
{
    return xb_config_get(config, "processes")->count;
}

static bool is_interleaved(const struct xb_config *config)
{
    return xb_config_get(config, "interleave")->is_set;
}

bool xb_processes_wanted(const struct xb_config *config)
{
    return count_of(config) > 1;
}

static enum xb_status check_interleave(const struct xb_config *config, struct xb_error *error)
{
    bool baseline = xb_config_get(config, "baseline-json")->is_set;
    if (!is_interleaved(config) && !baseline)
        return XB_OK;
    if (!is_interleaved(config))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--baseline-json is where the results of a baseline go: name that with "
                       "--interleave PROGRAM");
    if (!baseline ||
        (!xb_config_get(config, "json")->is_set && !xb_config_get(config, "json-lines")->is_set))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--interleave writes two files: give --json FILE for the candidate, which "
                       "is this program, and --baseline-json FILE for the baseline");
    if (count_of(config) < 2)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--interleave compares processes: give --processes N with 2 or more; 8 "
                       "of each can be compared with some certainty");
    return XB_OK;
}

enum xb_status xb_processes_check(const struct xb_config *config, struct xb_error *error)
{
    enum xb_status status = check_interleave(config, error);
    if (status != XB_OK)
        return status;
    if (count_of(config) > 1 && xb_config_get(config, "csv")->is_set)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--csv has room for one process only: write --json, or leave out "
                       "--processes");
    if (count_of(config) > 1 &&
        (xb_config_get(config, "trace")->is_set || xb_config_get(config, "timeline")->flag))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--trace and --timeline show an iteration of one process: leave out "
                       "--processes, or record in a run of its own");
    return XB_OK;
}

/* ---- all of them ---- */

/* Whether a process of the side may begin. The first always may, deadline or not: it says what
 * there would have been to measure. */
static bool may_begin(struct session *session, const struct side *side)
{
    if (xb_interrupt_signal() != 0 || session->stuck)
        return false;
    session->out_of_time =
        side->set.count > 0 && session->deadline > 0 && xb_clock_now() >= session->deadline;
    return !session->out_of_time;
}

/* Whether the side's first process says that there is nothing to measure, or not like this: the
 * others would say the same. */
static bool is_refused(const struct side *side)
{
    const struct xb_process *first = &side->set.processes[0];
    return side->set.count == 1 && first->document == NULL &&
           (first->exit_code == XB_EXIT_USAGE || first->exit_code == XB_EXIT_NOTHING);
}

/* Which side is the first or second of a pair. The sides swap from pair to pair, so that a machine
 * that gets slower or faster favours neither. */
static size_t side_at(const struct session *session, size_t pair, size_t turn)
{
    return session->side_count == 1 ? CANDIDATE : (pair + turn) % 2 == 0 ? BASELINE : CANDIDATE;
}

static void run_all(struct session *session)
{
    for (size_t pair = 0; pair < count_of(session->config); pair++)
        for (size_t turn = 0; turn < session->side_count; turn++) {
            struct side *side = &session->sides[side_at(session, pair, turn)];
            if (!may_begin(session, side))
                return;
            xb_processes_run_one(session, side);
            if (is_refused(side) && xb_interrupt_signal() == 0) {
                session->refused = side->set.processes[0].exit_code;
                return;
            }
        }
}

/* Fills in what holds for a side as a whole. */
static void conclude(const struct session *session, struct side *side)
{
    struct xb_processes *set = &side->set;
    set->interrupted = xb_interrupt_signal() != 0;
    set->has_deadline = session->deadline > 0;
    set->deadline_met = !side->overdue && !(session->out_of_time && set->count < set->asked);
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].document != NULL && !set->processes[i].record.processes->deadline_met)
            set->deadline_met = false;
}

/* ---- the exit code ---- */

/* Whether a process that was not cut short lacks a case that another one has. */
static bool lacks_cases(const struct xb_process *one, const struct xb_process *other)
{
    const struct xb_record *record = &one->record;
    bool lacks = false;
    for (size_t i = 0; !lacks && i < other->record.case_count; i++)
        lacks = xb_record_find(record, &other->record.cases[i]) == NULL;
    return lacks && !record->processes->interrupted && record->processes->deadline_met;
}

/* The exit code of a side: XB_EXIT_OK where everything was measured and is right, XB_EXIT_NOTHING
 * where all processes say that. */
static int code_of(const struct side *side)
{
    size_t nothing = 0;
    const struct xb_process *first = xb_processes_first(&side->set);
    for (size_t i = 0; i < side->set.count; i++) {
        const struct xb_process *process = &side->set.processes[i];
        nothing += process->exit_code == XB_EXIT_NOTHING;
        if (process->document == NULL ||
            (process->exit_code != XB_EXIT_OK && process->exit_code != XB_EXIT_NOTHING) ||
            lacks_cases(process, first) || lacks_cases(first, process))
            return XB_EXIT_FAILED;
    }
    return nothing == side->set.count ? XB_EXIT_NOTHING : XB_EXIT_OK;
}

static int exit_code(const struct session *session, bool written)
{
    int code = XB_EXIT_OK;
    if (session->sides[CANDIDATE].set.interrupted)
        return 128 + xb_interrupt_signal();
    for (size_t i = 0; i < session->side_count; i++) {
        int own = code_of(&session->sides[i]);
        if (own == XB_EXIT_FAILED || code == XB_EXIT_OK)
            code = own;
    }
    return written ? code : XB_EXIT_FAILED;
}

/* ---- beginning and end ---- */

static enum xb_status no_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for the processes");
}

static enum xb_status prepare_side(const struct session *session, struct side *side,
                                   const char *role, struct xb_error *error)
{
    size_t asked = (size_t)count_of(session->config);
    side->set.role = role;
    side->set.program = side->name;
    side->set.asked = asked;
    side->set.processes = calloc(asked, sizeof *side->set.processes);
    return side->name != NULL && side->set.processes != NULL ? XB_OK : no_memory(error);
}

static enum xb_status prepare_candidate(struct session *session, struct xb_error *error)
{
    struct side *side = &session->sides[CANDIDATE];
    char target[4096];
    ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
    if (length < 0)
        return XB_FAIL_ERRNO(error, "readlink", errno, "cannot find out which program this is%s",
                             errno == ENOENT ? ": is /proc mounted?" : "");
    target[length] = '\0';
    side->name = strdup(target);
    session->side_count = 1;
    enum xb_status status = xb_json_place_choose(session->config, &side->to, error);
    if (status != XB_OK)
        return status;
    return prepare_side(session, side, is_interleaved(session->config) ? "candidate" : NULL, error);
}

enum xb_status xb_processes_find_baseline(const struct xb_config *config, char **path,
                                          struct xb_error *error)
{
    struct xb_error cause;
    *path = NULL;
    if (!is_interleaved(config))
        return XB_OK;
    enum xb_status status =
        xb_program_find(xb_config_get(config, "interleave")->text, path, &cause);
    if (status != XB_OK)
        return XB_FAIL_NATIVE(error, status, cause.call, cause.native_code, cause.native_name,
                              "--interleave: %s", cause.message);
    return XB_OK;
}

static enum xb_status prepare_baseline(struct session *session, struct xb_error *error)
{
    struct side *side = &session->sides[BASELINE];
    enum xb_status status = xb_processes_find_baseline(session->config, &side->path, error);
    if (status != XB_OK || side->path == NULL)
        return status;
    side->name = strdup(side->path);
    session->side_count = SIDES;
    side->to = (struct xb_json_place){
        .option = "--baseline-json",
        .path = xb_config_get(session->config, "baseline-json")->text,
    };
    status = prepare_side(session, side, "baseline", error);
    side->set.counterpart = session->sides[CANDIDATE].name;
    session->sides[CANDIDATE].set.counterpart = side->name;
    return status;
}

static enum xb_status prepare(struct session *session, struct xb_error *error)
{
    enum xb_status status = prepare_candidate(session, error);
    if (status != XB_OK)
        return status;
    if (is_interleaved(session->config)) {
        status = prepare_baseline(session, error);
        if (status != XB_OK)
            return status;
    }
    /* Before there is a temporary file that a signal could leave behind. The first signal has the
     * process that runs write its results; the second ends that process. */
    xb_interrupt_catch_twice();
    return xb_processes_open_outputs(session, error);
}

static void release(struct session *session)
{
    for (size_t i = 0; i < SIDES; i++) {
        struct side *side = &session->sides[i];
        xb_output_discard(&side->output);
        xb_processes_free(&side->set);
        free(side->path);
        free(side->name);
    }
}

/* Says which of two programs refused: its own words on stderr do not say whose they are. */
static void say_refused(const struct session *session)
{
    for (size_t i = 0; session->refused != 0 && session->side_count == SIDES && i < SIDES; i++)
        if (is_refused(&session->sides[i]))
            xb_say("the %s, '%s', ended with exit code %d and no results",
                   session->sides[i].set.role, session->sides[i].name, session->refused);
}

/* Whether any process has results. If the candidate refuses, the baseline may have measured before
 * it. */
static bool has_results(const struct session *session)
{
    for (size_t i = 0; i < session->side_count; i++)
        if (xb_processes_first(&session->sides[i].set) != NULL)
            return true;
    return false;
}

/* Waits for the time to begin once, for all processes. */
static void begin(struct session *session, double start_at)
{
    struct xb_start start;
    xb_start_wait(start_at, session->deadline, &start);
    for (size_t i = 0; i < session->side_count; i++)
        session->sides[i].set.start = start;
}

int xb_processes_run(const struct xb_config *config, double deadline, double start_at)
{
    struct session session = {.config = config, .deadline = deadline};
    struct xb_error error;
    int code = 0;
    if (prepare(&session, &error) != XB_OK) {
        code = xb_cli_fail(&error);
        release(&session);
        return code;
    }
    begin(&session, start_at);
    xb_progress_start(&session.progress, !xb_config_get(config, "quiet")->flag);
    run_all(&session);
    xb_progress_clear(&session.progress);
    say_refused(&session);
    if (session.refused == 0 || has_results(&session)) {
        for (size_t i = 0; i < session.side_count; i++)
            conclude(&session, &session.sides[i]);
        code = exit_code(&session, xb_processes_write_outputs(&session));
    }
    if (session.refused != 0)
        code = session.refused;
    release(&session);
    return code;
}
