/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* readlink */
#include "request.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/stream.h"
#include "base/text.h"
#include "formats.h"
#include "progress.h"
#include "reading/list.h"
#include "record/document.h"
#include "record/making.h"
#include "xferbench/version.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GRACE_S 10.0 /* past the deadline, for a process to write what it has */
/* The most that the documents of all processes may be: the rest of the merged file, which must be
 * one that can be read, is for what is made of them. */
#define MOST_DOCUMENTS (XB_RECORD_LARGEST_BYTES / 3 * 2)

enum { CANDIDATE, BASELINE, SIDES };

/* One process: it failed, which the side's head says, or has a document and a record of it; or
 * both, if it wrote what it had measured when a signal ended it. */
struct process {
    struct xb_program_outcome outcome; /* its text is the document; NULL: nothing of it counts */
    struct xb_record record;           /* of the document; zeroed if there is none */
};

/* One of the programs that are measured. */
struct side {
    const char *name;            /* the file that is run, for people and argv[0] too */
    struct xb_output *output;    /* where its results go */
    bool is_line;                /* in one line */
    struct xb_record head;       /* what holds for all processes, and how they failed; no cases */
    struct process *processes;   /* those of the head, which were begun, in their order */
    const struct process *first; /* that has a document; NULL: none */
    size_t bytes;                /* of the processes' documents */
    size_t nothing;              /* processes that say that there is nothing to measure */
    bool overdue;    /* the deadline cut one of its processes, or one had to be ended after it */
    bool has_failed; /* one of its processes, or they have not all the same cases */
};

struct session {
    const struct xb_run_options *asked;
    double deadline; /* 0 for none */
    struct xb_run_places places;
    struct side sides[SIDES];
    size_t side_count;
    struct xb_progress progress;
    bool out_of_time; /* the deadline came before all were begun */
    bool stuck;       /* a process cannot be ended, and none may run beside it */
    int refused; /* the exit code of a first process that could measure nothing; 0: none such */
    struct xb_arena *memory; /* where names, arguments and lists of processes lie */
};

/* Says how the process that runs failed as a whole. */
#define FAIL(...)                                                                                  \
    (side->head.processes[side->head.process_count].failure =                                      \
         xb_arena_print(&side->head.texts, __VA_ARGS__))

/* Returns whether what a process printed is its document, which was measured under the conditions
 * of the first. One that crashed after it printed its results is not believed; one that was told to
 * leave is, because a signal may have ended a shell that started the program before it. */
static bool judge(struct side *side, struct process *process)
{
    const struct xb_program_outcome *outcome = &process->outcome;
    char how[64], end[64], difference[XB_RECORD_DIFFERENCE];
    /* The signal upon which its program wrote what it had; 0: none. xferbench catches these. */
    int code = outcome->exit_code - 128;
    int heeded = code == SIGINT || code == SIGTERM || code == SIGHUP ? code : 0;
    struct xb_error error;
    struct xb_record *record = &process->record;
    /* By this program: it passed a signal on, or the deadline came. */
    bool was_told_to_leave = outcome->overdue || xb_interrupt_signal() != 0;
    side->overdue = side->overdue || outcome->overdue;
    snprintf(end, sizeof end, "it %.60s",
             xb_child_end_text(outcome->exit_code, heeded != 0 ? heeded : outcome->signal, how,
                               sizeof how));
    if (outcome->too_long)
        FAIL("it printed too much: all results together may be %zu MiB, so take fewer "
             "samples",
             XB_RECORD_LARGEST_BYTES >> 20);
    else if (outcome->overdue && outcome->length == 0)
        FAIL("it did not end within %.0f s of the deadline and printed no results", GRACE_S);
    else if (outcome->signal != 0 && !was_told_to_leave)
        FAIL("%s", end);
    else if (outcome->length == 0)
        FAIL("%s and printed no results", end);
    else if (xb_record_parse("standard output", outcome->text, outcome->length, record, &error) !=
             XB_OK)
        FAIL("%s and printed no results: %s", end, error.message);
    if (side->head.processes[side->head.process_count].failure != NULL)
        return false;
    const char *other =
        side->first != NULL
            ? xb_record_other_condition(&side->first->record, record, difference, sizeof difference)
            : NULL;
    if (record->is_merged)
        FAIL("it printed the results of several processes");
    else if (other != NULL)
        FAIL("measured under other conditions: %s", other);
    else if (heeded != 0 && !was_told_to_leave)
        FAIL("%s, and wrote what it had measured", end);
    if (record->is_merged || other != NULL) {
        xb_record_free(record);
        return false;
    }
    side->bytes += outcome->length;
    return true;
}

/* Shows "process 2 of 5 (baseline), about 40 s left"; the role if there is room for it. */
static void show_progress(struct session *session, const struct side *side)
{
    struct xb_progress *progress = &session->progress;
    const struct xb_record *head = &side->head;
    char begin[64], role[48] = "", eta[XB_ETA_TEXT];
    double now = xb_clock_now();
    size_t done = 0;
    if (!progress->enabled || !xb_terminal_has_cursor(stderr))
        return;
    for (size_t i = 0; i < session->side_count; i++)
        done += session->sides[i].head.process_count;
    double left = xb_eta_of_parts(done, now - progress->begin,
                                  session->side_count * head->asked_processes - done);
    if (isfinite(left) && session->deadline > 0)
        left = fmin(left, fmax(session->deadline - now, 0));
    progress->shown = true;
    snprintf(begin, sizeof begin, "process %zu of %zu", head->process_count + 1,
             head->asked_processes);
    if (head->role != NULL)
        snprintf(role, sizeof role, " (%s)", head->role);
    xb_eta_text(left, eta);
    bool fits = strlen(begin) + strlen(role) + strlen(eta) < xb_terminal_columns(stderr);
    /* What the process itself prints begins its own line. */
    fprintf(stderr, "\r%s%s%s\033[K\r", begin, fits ? role : "", eta);
    fflush(stderr);
}

/* Whether a process that was not cut short lacks a case that another one has. */
static bool lacks_cases(const struct process *one, const struct process *other)
{
    const struct xb_record *record = &one->record;
    bool lacks = false;
    XB_EACH_CASE (test, &other->record)
        lacks = lacks || xb_record_find(record, test) == NULL;
    return lacks && !record->processes->interrupted && record->processes->deadline_met;
}

/* Runs the next process of a side, and keeps what came of it. Blocks until it has ended. It gets
 * the options that the user gave, by their long names and as they stood. Without the name of a
 * command, a script can put its own before or behind them. */
static void run_one(struct session *session, struct side *side)
{
    /* These are for this process only: that there are several, and where results go. */
    static const char own[] = "processes,interleave,baseline-json,json,json-lines,csv,color,quiet,"
                              "deadline,start-at";
    const struct xb_config *config = session->asked->config;
    struct process *process = &side->processes[side->head.process_count];
    struct xb_program_outcome *outcome = &process->outcome;
    struct xb_error error;
    double now = xb_clock_now();
    size_t count = 0;
    const char **words = xb_arena_new(&session->memory, (config->count + 5) * sizeof *words);
    words[count++] = side->name;
    XB_EACH (value, config->values, config->count) {
        bool is_flag = value->option->type == XB_OPTION_FLAG;
        if (value->given && !xb_list_has(own, value->option->name))
            words[count++] = xb_arena_print(&session->memory, "--%s%s%s", value->option->name,
                                            is_flag ? "" : "=", is_flag ? "" : value->text);
    }
    if (session->deadline > 0) /* above 0, and no more digits than the option takes */
        words[count++] = xb_arena_print(&session->memory, "--deadline=%.6fs",
                                        fmin(fmax(session->deadline - now, 1e-6), 1e9));
    words[count++] = "--quiet";
    words[count] = "--json=-";
    /* This program is run again by its own path, because lists of processes and profilers show it;
     * but by /proc/self/exe if another file has that path by now. */
    const char *self = "/proc/self/exe";
    bool is_self = side == &session->sides[CANDIDATE];
    struct xb_program program = {
        .path = is_self && !xb_cli_is_one_file(self, side->name) ? self : side->name,
        .argv = (char **)words,
        .largest = MOST_DOCUMENTS - side->bytes,
        .end_at = session->deadline > 0 ? fmax(session->deadline, now) + GRACE_S : 0};
    show_progress(session, side);
    enum xb_status status = xb_program_run(&program, outcome, &error);
    if (status != XB_OK)
        FAIL("%s", error.message);
    if (status == XB_OK && judge(side, process)) {
        side->first = side->first != NULL ? side->first : process;
        side->overdue = side->overdue || !process->record.processes->deadline_met;
    } else {
        free(outcome->text);
        outcome->text = NULL;
    }
    bool is_nothing = outcome->exit_code == XB_EXIT_NOTHING;
    side->nothing += is_nothing;
    side->has_failed = side->has_failed || outcome->text == NULL ||
                       (outcome->exit_code != XB_EXIT_OK && !is_nothing) ||
                       lacks_cases(process, side->first) || lacks_cases(side->first, process);
    session->stuck = outcome->stuck;
    side->head.process_count++;
}

/* Whether its first process says that there is nothing to measure, as the others would. */
static bool is_refused(const struct side *side)
{
    const int code = side->processes[0].outcome.exit_code;
    return side->head.process_count == 1 && side->first == NULL &&
           (code == XB_EXIT_USAGE || code == XB_EXIT_NOTHING);
}

static void run_all(struct session *session)
{
    for (size_t pair = 0; pair < session->asked->processes; pair++)
        for (size_t turn = 0; turn < session->side_count; turn++) {
            /* The sides swap, so that a machine that gets slower or faster favours neither. */
            bool is_baseline = session->side_count == SIDES && (pair + turn) % 2 == 0;
            struct side *side = &session->sides[is_baseline ? BASELINE : CANDIDATE];
            /* The first always may begin: it says what there would have been to measure. */
            session->out_of_time = side->head.process_count > 0 && session->deadline > 0 &&
                                   xb_clock_now() >= session->deadline;
            if (xb_interrupt_signal() != 0 || session->stuck || session->out_of_time)
                return;
            run_one(session, side);
            if (is_refused(side) && xb_interrupt_signal() == 0) {
                session->refused = side->processes[0].outcome.exit_code;
                return;
            }
        }
}

/* A side gives XB_EXIT_OK where everything was measured and is right, XB_EXIT_NOTHING where all its
 * processes say that. */
static int exit_code(const struct session *session, bool written)
{
    int code = XB_EXIT_OK;
    if (session->sides[CANDIDATE].head.interrupted)
        return 128 + xb_interrupt_signal();
    XB_EACH (side, session->sides, session->side_count) {
        if (side->has_failed)
            return XB_EXIT_FAILED;
        if (side->nothing == side->head.process_count)
            code = XB_EXIT_NOTHING;
    }
    return written ? code : XB_EXIT_FAILED;
}

static void write_case(struct xb_json *json, const struct xb_record *merged,
                       const struct xb_record_case *test)
{
    char text[XB_RECORD_REASON];
    struct xb_record_summary summary = xb_record_summarize(merged, test);
    xb_json_open_object(json, NULL);
    xb_fields_put(json, xb_record_case_fields, test);
    xb_json_put_text(json, "status", xb_result_status_name(summary.status));
    xb_json_put_text(json, "reason", xb_record_reason(test, &summary, text, sizeof text));
    xb_json_put_known_flag(json, "verified", summary.verified != XB_VERIFIED_UNKNOWN,
                           summary.verified == XB_VERIFIED_TRUE);
    xb_json_put_whole(json, "processes_ok", summary.ok);
    /* Each figure that any process has, once. */
    xb_json_open_array(json, "figures");
    for (size_t i = 0; i < merged->process_count; i++)
        for (size_t k = 0; k < test->rows[i].figure_count; k++) {
            struct xb_record_figure figure = test->rows[i].figures[k];
            double medians[XB_RECORD_PROCESSES];
            bool is_known = false;
            for (size_t p = 0; p < merged->process_count; p++) {
                const struct xb_record_row *row = &test->rows[p];
                const struct xb_record_figure *own = xb_record_row_figure(row, figure.name);
                bool counts = own != NULL && xb_record_row_counts(row);
                medians[p] = counts ? own->statistics.median : (double)NAN;
                is_known = is_known || (own != NULL && p < i);
            }
            if (is_known || !xb_record_describe(merged, test, figure.name, &figure.statistics))
                continue;
            xb_json_open_object(json, NULL);
            xb_fields_put(json, xb_record_figure_fields, &figure);
            xb_json_put_numbers(json, "medians", medians, merged->process_count);
            xb_json_close(json);
        }
    xb_json_close(json);
    /* The processes' warnings, behind ours of the processes that do not count. */
    struct xb_record_warning warnings[XB_RECORD_WARNINGS + 1];
    char cut[XB_RECORD_CUT];
    warnings[0].text = xb_record_cut_text(merged, test, cut, sizeof cut);
    warnings[0].processes = summary.cut;
    size_t count = 1 + xb_record_warnings(merged, test, warnings + 1);
    xb_json_open_array(json, "warnings");
    for (size_t i = warnings[0].text != NULL ? 0 : 1; i < count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "text", warnings[i].text);
        xb_json_put_whole(json, "processes", warnings[i].processes);
        xb_json_close(json);
    }
    xb_json_close(json);
    xb_json_close(json);
}

/* What all processes together measured, and what that means: their records become the one that a
 * reader makes of the merged file. */
static void write_merged(struct xb_json *json, const struct side *side)
{
    struct xb_json_reader reader = {.place = {.path = "the processes"}};
    const size_t processes = side->head.process_count;
    struct xb_record merged = {.is_merged = true, .process_count = processes};
    size_t most = 0, count = 0;
    for (size_t i = 0; i < processes; i++)
        most += side->processes[i].record.case_count;
    struct xb_record_entry *entries = xb_new(most, sizeof *entries);
    merged.processes = xb_arena_new(&merged.texts, processes * sizeof *merged.processes);
    for (size_t i = 0; i < processes; i++) {
        const struct xb_record *own = &side->processes[i].record;
        if (own->process_count > 0) /* it did not fail */
            merged.processes[i] = own->processes[0];
        for (size_t k = 0; k < own->case_count; k++)
            entries[count++] = (struct xb_record_entry){
                .test = own->cases[k], .row = own->cases[k].rows[0], .process = i, .index = k};
    }
    xb_record_make_cases(&reader, &merged, entries, count, SIZE_MAX);
    free(entries);
    if (xb_json_failed(&reader)) {
        xb_json_fail(json, &reader.error);
    } else {
        xb_json_open_array(json, "results");
        XB_EACH_CASE (test, &merged)
            write_case(json, &merged, test);
        xb_json_close(json);
        xb_reading_put_of(json, &merged);
    }
    xb_record_free(&merged);
}

/* JSON after docs/processes.schema.json, where the keys and their meaning stand: every process's
 * document and, for each case, the medians of the processes and their statistics. */
static enum xb_status write_json(FILE *stream, const struct side *side, enum xb_json_form form,
                                 struct xb_error *error)
{
    static const struct xb_field *const tables[] = {xb_record_node_fields, xb_record_backend_fields,
                                                    xb_record_devices_fields,
                                                    xb_record_settings_fields};
    const struct process *first = side->first;
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.processes", XB_RECORD_VERSION);
    /* What was asked, and when the first of them began, as this process saw it. */
    xb_fields_put(&json, xb_record_merged_fields, &side->head);
    /* What the first process says of machine and options; null where none says anything. */
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (first == NULL)
            for (const struct xb_field *field = tables[i]; field->key != NULL; field++)
                xb_json_put_null(&json, field->key);
        else if (tables[i] == xb_record_devices_fields)
            xb_fields_put(&json, tables[i], &first->record.processes[0]);
        else
            xb_fields_put(&json, tables[i], &first->record);
    xb_json_open_array(&json, "processes");
    for (size_t i = 0; i < side->head.process_count; i++) {
        const struct process *process = &side->processes[i];
        const int number = process->outcome.signal;
        xb_json_open_object(&json, NULL);
        xb_json_put_whole(&json, "index", i);
        xb_document_put_time(&json, "started", process->outcome.started);
        xb_json_put_number(&json, "wall_s", process->outcome.wall_s);
        xb_json_put_index(&json, "exit_code", process->outcome.exit_code);
        xb_json_put_text(&json, "signal", number != 0 ? XB_SIGNAL_NAME(number) : NULL);
        xb_json_put_text(&json, "failure", side->head.processes[i].failure);
        /* As it was written: the reader has found that it is JSON. */
        xb_json_put_raw(&json, "document", process->outcome.text);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    write_merged(&json, side);
    xb_json_close(&json);
    return xb_json_finish_as(&json, stream, form, "the JSON", error);
}

/* Writes every side to its output, and prints the tables. Returns false after it said what fails.
 */
static bool write_outputs(struct session *session)
{
    const struct xb_table_view view = xb_table_view_of(session->asked->config);
    bool quiet = session->asked->quiet, written = true;
    for (size_t i = 0; i < session->side_count; i++)
        quiet = quiet || session->sides[i].output->is_stdout;
    for (size_t i = session->side_count; i-- > 0;) { /* the baseline first */
        struct side *side = &session->sides[i];
        FILE *stream = side->output->stream;
        struct xb_memory_text document = {.text = NULL};
        struct xb_record merged = {.path = NULL};
        struct xb_error error;
        /* The merged document; where there is none, say why. */
        enum xb_status status = write_json(xb_memory_text_begin(&document), side,
                                           side->is_line ? XB_JSON_LINE : XB_JSON_INDENTED, &error);
        xb_memory_text_end(&document);
        bool is_there = status == XB_OK;
        if (is_there && stream != NULL) {
            bool is_out = fwrite(document.text, 1, document.length, stream) == document.length &&
                          fflush(stream) == 0;
            status = is_out ? xb_output_commit(side->output, &error)
                            : xb_output_fail(side->output, "write", errno, &error);
        }
        written = written && status == XB_OK;
        if (status != XB_OK)
            xb_cli_fail(&error);
        /* The table is of what was written, read back: a file that cannot be read is then told now,
         * and not when it is needed. */
        status = XB_OK;
        if (!quiet && side->first != NULL && is_there)
            status =
                xb_record_parse("the results", document.text, document.length, &merged, &error);
        if (quiet) /* why some have no results */
            xb_failures_say(&side->head);
        else if (is_there && status == XB_OK)
            status =
                xb_table_write(stdout, side->first != NULL ? &merged : &side->head, &view, &error);
        written = written && status == XB_OK;
        if (status != XB_OK)
            xb_cli_fail(&error);
        xb_record_free(&merged);
        if (!quiet && i > 0)
            fputc('\n', stdout);
        free(document.text);
    }
    return written;
}

static enum xb_status prepare(struct session *session, struct xb_error *error)
{
    struct side *candidate = &session->sides[CANDIDATE], *baseline = &session->sides[BASELINE];
    char target[4096];
    ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
    if (length < 0)
        return XB_FAIL_ERRNO(error, "readlink", errno, "cannot find out which program this is%s",
                             errno == ENOENT ? ": is /proc mounted?" : "");
    target[length] = '\0';
    const struct xb_run_options *asked = session->asked;
    struct xb_run_places *places = &session->places;
    candidate->name = xb_arena_copy(&session->memory, target);
    session->side_count = 1;
    XB_TRY(xb_run_find_places(asked, places, error));
    candidate->output = &places->outputs[XB_RUN_JSON];
    candidate->is_line = places->json.is_line;
    if (places->program != NULL) {
        baseline->name = places->program;
        baseline->output = &places->outputs[XB_RUN_BASELINE];
        session->side_count = SIDES;
    }
    for (size_t i = 0; i < session->side_count; i++) {
        static const char *const roles[] = {[CANDIDATE] = "candidate", [BASELINE] = "baseline"};
        struct side *side = &session->sides[i];
        side->processes =
            xb_arena_new(&session->memory, (size_t)asked->processes * sizeof *side->processes);
        side->head = (struct xb_record){.is_merged = true,
                                        .version = XB_VERSION,
                                        .role = session->side_count == SIDES ? roles[i] : NULL,
                                        .program = session->sides[i].name,
                                        .counterpart = session->sides[SIDES - 1 - i].name,
                                        .asked_processes = (size_t)asked->processes};
        side->head.processes = xb_arena_new(&side->head.texts, side->head.asked_processes *
                                                                   sizeof *side->head.processes);
    }
    /* Before there is a temporary file that a signal could leave behind. The first signal has the
     * process that runs write its results; the second ends that process. */
    xb_interrupt_catch_twice();
    XB_TRY(xb_memory_reserve(XB_RUN_RESERVE(session->side_count * asked->processes), error));
    XB_TRY(xb_cli_open_places(places->all, XB_RUN_OUTPUTS + 1, session->deadline, error));
    if (candidate->is_line)
        xb_output_unbuffer(candidate->output);
    return XB_OK;
}

static void release(struct session *session)
{
    XB_EACH (side, session->sides, SIDES) {
        for (size_t k = 0; k < side->head.process_count; k++) {
            free(side->processes[k].outcome.text);
            xb_record_free(&side->processes[k].record);
        }
        xb_record_free(&side->head);
    }
    xb_arena_free(session->memory);
    xb_run_release_places(&session->places);
}

int xb_processes_run(const struct xb_run_options *asked, double deadline, double start_at)
{
    struct session session = {.asked = asked, .deadline = deadline};
    struct xb_start start;
    struct xb_error error;
    bool any_results = false;
    if (prepare(&session, &error) != XB_OK) {
        release(&session);
        return xb_cli_fail(&error);
    }
    xb_start_wait(start_at, deadline, &start); /* once, for all processes */
    for (size_t i = 0; i < session.side_count; i++)
        xb_record_keep_start(&session.sides[i].head, &start);
    xb_progress_start(&session.progress, !asked->quiet);
    run_all(&session);
    xb_progress_clear(&session.progress);
    XB_EACH (side, session.sides, session.side_count) {
        struct xb_record *head = &side->head;
        /* With two programs, the words of one that refuses do not say whose they are. */
        if (session.refused != 0 && session.side_count == SIDES && is_refused(side))
            xb_say("the %s, '%s', ended with exit code %d and no results", head->role, side->name,
                   session.refused);
        any_results = any_results || side->first != NULL;
        head->interrupted = xb_interrupt_signal() != 0;
        head->has_deadline = deadline > 0;
        head->deadline_met =
            !side->overdue && !(session.out_of_time && head->process_count < head->asked_processes);
    }
    int code = session.refused;
    /* If the candidate refuses, the baseline may have measured before it. */
    if (code == 0 || any_results) {
        int measured = exit_code(&session, write_outputs(&session));
        code = code != 0 ? code : measured;
    }
    release(&session);
    return code;
}
