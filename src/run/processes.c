/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* readlink */
#include "command.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json_write.h"
#include "base/program.h"
#include "base/stream.h"
#include "base/text.h"
#include "cli/places.h"
#include "formats.h"
#include "processes_internal.h"
#include "xferbench/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct xb_process *xb_processes_first(const struct xb_processes *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].document != NULL)
            return &set->processes[i];
    return NULL;
}

/* ---- what is asked ---- */

enum xb_status xb_processes_check(const struct xb_run_options *asked, struct xb_error *error)
{
    bool interleaved = asked->interleave != NULL;
    bool baseline = asked->baseline_json != NULL;
    bool json = asked->json != NULL || asked->json_lines != NULL;
    bool several = asked->processes > 1;
    if (baseline && !interleaved)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--baseline-json is where the results of a baseline go: name that with "
                       "--interleave PROGRAM");
    if (interleaved && (!baseline || !json))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--interleave writes two files: give --json FILE for the candidate, which "
                       "is this program, and --baseline-json FILE for the baseline");
    if (interleaved && !several)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--interleave compares processes: give --processes N with 2 or more; 8 "
                       "of each can be compared with some certainty");
    if (several && asked->csv != NULL)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--csv has room for one process only: write --json, or leave out "
                       "--processes");
    if (several && (asked->trace != NULL || asked->timeline))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--trace and --timeline show an iteration of one process: leave out "
                       "--processes, or record in a run of its own");
    return XB_OK;
}

/* ---- all of them ---- */

/* Whether the side's first process says that there is nothing to measure, or not like this: the
 * others would say the same. */
static bool is_refused(const struct side *side)
{
    const struct xb_process *first = &side->set.processes[0];
    return side->set.count == 1 && first->document == NULL &&
           (first->exit_code == XB_EXIT_USAGE || first->exit_code == XB_EXIT_NOTHING);
}

static void run_all(struct session *session)
{
    for (size_t pair = 0; pair < session->asked->processes; pair++)
        for (size_t turn = 0; turn < session->side_count; turn++) {
            /* The sides swap from pair to pair, so that a machine that gets slower or faster
             * favours neither. */
            bool is_baseline = session->side_count == SIDES && (pair + turn) % 2 == 0;
            struct side *side = &session->sides[is_baseline ? BASELINE : CANDIDATE];
            /* The first always may begin, deadline or not: it says what there would have been to
             * measure. */
            session->out_of_time =
                side->set.count > 0 && session->deadline > 0 && xb_clock_now() >= session->deadline;
            if (xb_interrupt_signal() != 0 || session->stuck || session->out_of_time)
                return;
            xb_processes_run_one(session, side);
            if (is_refused(side) && xb_interrupt_signal() == 0) {
                session->refused = side->set.processes[0].exit_code;
                return;
            }
        }
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
    if (session->sides[CANDIDATE].set.head.interrupted)
        return 128 + xb_interrupt_signal();
    for (size_t i = 0; i < session->side_count; i++) {
        int own = code_of(&session->sides[i]);
        if (own == XB_EXIT_FAILED || code == XB_EXIT_OK)
            code = own;
    }
    return written ? code : XB_EXIT_FAILED;
}

/* ---- the outputs ---- */

static bool say(const struct xb_error *error)
{
    xb_cli_fail(error);
    return false;
}

static bool write_file(struct side *side, const char *text, size_t length)
{
    struct xb_error error;
    FILE *stream = side->output.stream;
    if (stream == NULL)
        return true;
    enum xb_status status = fwrite(text, 1, length, stream) != length || fflush(stream) != 0
                                ? xb_output_fail(&side->output, "write", errno, &error)
                                : xb_output_commit(&side->output, &error);
    return status == XB_OK || say(&error);
}

/* The record of processes without what they measured: why some have no results. */
static enum xb_status outline(const struct xb_processes *set, struct xb_record *record,
                              struct xb_error *error)
{
    *record = set->head;
    record->processes = calloc(set->count + 1, sizeof *record->processes);
    if (record->processes == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the results");
    for (size_t i = 0; i < set->count; i++)
        record->processes[record->process_count++].failure =
            set->processes[i].failure[0] != '\0' ? set->processes[i].failure : NULL;
    return XB_OK;
}

/* Prints the table of what was written, read back: a file that cannot be read is then told now, and
 * not when it is needed. */
static bool print_table(const struct side *side, const char *text, size_t length,
                        const struct xb_table_view *view)
{
    struct xb_record merged = {0};
    struct xb_error error;
    enum xb_status status = xb_processes_first(&side->set) != NULL
                                ? xb_record_parse("the results", text, length, &merged, &error)
                                : outline(&side->set, &merged, &error);
    if (status == XB_OK)
        status = xb_table_write(stdout, &merged, view, &error);
    xb_record_free(&merged);
    return status == XB_OK || say(&error);
}

/* Says which processes failed and why, where no table does. */
static bool say_failures(const struct xb_processes *set)
{
    struct xb_record record;
    struct xb_error error;
    if (outline(set, &record, &error) != XB_OK)
        return say(&error);
    xb_failures_say(&record);
    xb_record_free(&record);
    return true;
}

/* Writes every side to its output, and prints the tables. Says what fails, goes on, and returns
 * false in the end. */
static bool write_outputs(struct session *session)
{
    const struct xb_table_view view = xb_table_view_of(session->asked->config);
    bool quiet = session->asked->quiet;
    bool written = true;
    for (size_t i = 0; i < session->side_count; i++)
        quiet = quiet || session->sides[i].output.is_stdout;
    for (size_t i = session->side_count; i-- > 0;) { /* the baseline first */
        struct side *side = &session->sides[i];
        struct xb_memory_text document = {.text = NULL};
        /* The merged document; where there is none, say why. */
        struct xb_error error;
        enum xb_status status = xb_processes_json_write(
            xb_memory_text_begin(&document), &side->set,
            side->to.is_line ? xb_json_finish_line : xb_json_finish, &error);
        xb_memory_text_end(&document);
        bool is_there = status == XB_OK || say(&error);
        written = is_there && write_file(side, document.text, document.length) && written;
        if (quiet)
            written = say_failures(&side->set) && written;
        else if (is_there)
            written = print_table(side, document.text, document.length, &view) && written;
        if (!quiet && i > 0)
            fputc('\n', stdout);
        free(document.text);
    }
    return written;
}

/* ---- beginning and end ---- */

static enum xb_status prepare_side(const struct session *session, struct side *side,
                                   const char *role, struct xb_error *error)
{
    size_t count = (size_t)session->asked->processes;
    side->set.head = (struct xb_record){.is_merged = true,
                                        .version = XB_VERSION,
                                        .role = role,
                                        .program = side->name,
                                        .asked_processes = count};
    side->set.processes = calloc(count, sizeof *side->set.processes);
    return side->name != NULL && side->set.processes != NULL
               ? XB_OK
               : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for the processes");
}

enum xb_status xb_processes_find_baseline(const struct xb_run_options *asked, char **path,
                                          struct xb_error *error)
{
    struct xb_error cause;
    *path = NULL;
    if (asked->interleave == NULL)
        return XB_OK;
    enum xb_status status = xb_program_find(asked->interleave, path, &cause);
    if (status != XB_OK)
        return XB_FAIL_NATIVE(error, status, cause.call, cause.native_code, cause.native_name,
                              "--interleave: %s", cause.message);
    return XB_OK;
}

/* XB_ERR_USAGE too where both sides would write to the same file. */
static enum xb_status open_outputs(struct session *session, struct xb_error *error)
{
    for (size_t i = 0; i < session->side_count; i++) {
        struct side *side = &session->sides[i];
        if (side->to.path == NULL)
            continue;
        XB_TRY(xb_cli_find_output(side->to.option, side->to.path, &side->output, error));
    }
    const struct xb_cli_place places[] = {
        {.option = session->sides[CANDIDATE].to.option,
         .output = &session->sides[CANDIDATE].output},
        {.option = "--baseline-json", .output = &session->sides[BASELINE].output},
        {.option = "--interleave", .input = session->sides[BASELINE].path}};
    XB_TRY(xb_cli_open_places(places, sizeof places / sizeof places[0], session->deadline, error));
    if (session->sides[CANDIDATE].to.is_line)
        xb_output_unbuffer(&session->sides[CANDIDATE].output);
    return XB_OK;
}

static enum xb_status prepare(struct session *session, struct xb_error *error)
{
    struct side *candidate = &session->sides[CANDIDATE];
    struct side *baseline = &session->sides[BASELINE];
    char target[4096];
    ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
    if (length < 0)
        return XB_FAIL_ERRNO(error, "readlink", errno, "cannot find out which program this is%s",
                             errno == ENOENT ? ": is /proc mounted?" : "");
    target[length] = '\0';
    candidate->name = strdup(target);
    session->side_count = 1;
    const struct xb_run_options *asked = session->asked;
    enum xb_status status =
        xb_json_place_choose(asked->json, asked->json_lines, &candidate->to, error);
    if (status == XB_OK)
        status =
            prepare_side(session, candidate, asked->interleave != NULL ? "candidate" : NULL, error);
    if (status == XB_OK)
        status = xb_processes_find_baseline(asked, &baseline->path, error);
    if (status == XB_OK && baseline->path != NULL) {
        baseline->name = strdup(baseline->path);
        session->side_count = SIDES;
        baseline->to = (struct xb_json_place){
            .option = "--baseline-json",
            .path = asked->baseline_json,
        };
        status = prepare_side(session, baseline, "baseline", error);
        baseline->set.head.counterpart = candidate->name;
        candidate->set.head.counterpart = baseline->name;
    }
    if (status != XB_OK)
        return status;
    /* Before there is a temporary file that a signal could leave behind. The first signal has the
     * process that runs write its results; the second ends that process. */
    xb_interrupt_catch_twice();
    return open_outputs(session, error);
}

static void release(struct session *session)
{
    for (size_t i = 0; i < SIDES; i++) {
        struct side *side = &session->sides[i];
        xb_output_discard(&side->output);
        for (size_t k = 0; k < side->set.count; k++) {
            free(side->set.processes[k].document);
            xb_record_free(&side->set.processes[k].record);
        }
        free(side->set.processes);
        free(side->path);
        free(side->name);
    }
}

/* Fills in what holds for a side as a whole. */
static void conclude(const struct session *session, struct side *side)
{
    struct xb_processes *set = &side->set;
    set->head.interrupted = xb_interrupt_signal() != 0;
    set->head.has_deadline = session->deadline > 0;
    set->head.deadline_met =
        !side->overdue && !(session->out_of_time && set->count < set->head.asked_processes);
    for (size_t i = 0; i < set->count; i++)
        if (set->processes[i].document != NULL && !set->processes[i].record.processes->deadline_met)
            set->head.deadline_met = false;
}

int xb_processes_run(const struct xb_run_options *asked, double deadline, double start_at)
{
    struct session session = {.asked = asked, .deadline = deadline};
    struct xb_start start;
    struct xb_error error;
    bool any_results = false;
    int code = 0;
    if (prepare(&session, &error) != XB_OK) {
        code = xb_cli_fail(&error);
        release(&session);
        return code;
    }
    xb_start_wait(start_at, deadline, &start); /* once, for all processes */
    for (size_t i = 0; i < session.side_count; i++)
        session.sides[i].set.start = start;
    xb_progress_start(&session.progress, !asked->quiet);
    run_all(&session);
    xb_progress_clear(&session.progress);
    for (size_t i = 0; i < session.side_count; i++) {
        struct side *side = &session.sides[i];
        /* Of two programs, the words of one that refuses do not say whose they are. */
        if (session.refused != 0 && session.side_count == SIDES && is_refused(side))
            xb_say("the %s, '%s', ended with exit code %d and no results", side->set.head.role,
                   side->name, session.refused);
        any_results = any_results || xb_processes_first(&side->set) != NULL;
    }
    /* If the candidate refuses, the baseline may have measured before it. */
    if (session.refused == 0 || any_results) {
        for (size_t i = 0; i < session.side_count; i++)
            conclude(&session, &session.sides[i]);
        code = exit_code(&session, write_outputs(&session));
    }
    if (session.refused != 0)
        code = session.refused;
    release(&session);
    return code;
}
