/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "processes.h"

#include "../core/clock.h"
#include "../core/plain_text.h"
#include "child.h"
#include "processes_internal.h"

#include "xferbench/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a process may take past the deadline, to write what it has, before it is ended. */
#define GRACE_S 10.0
/* The documents of all processes, so that the merged file can be read; the rest is for what is made
 * of them. */
#define MOST_DOCUMENTS (XB_RECORD_LARGEST_BYTES / 16 * 15)
/* A deadline is above 0, and no more digits than the option takes: thirty years are for ever. */
#define LEAST_DEADLINE_S 1e-6
#define LONGEST_DEADLINE_S 1e9

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
    if (!is_interleaved(config))
        return baseline ? XB_FAIL(error, XB_ERR_USAGE,
                                  "--baseline-json is where the results of a baseline go: name "
                                  "that with --interleave PROGRAM")
                        : XB_OK;
    if (!baseline || !xb_config_get(config, "json")->is_set)
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
    if (status == XB_OK && count_of(config) > 1 && xb_config_get(config, "csv")->is_set)
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "--csv has room for one process only: write --json, or leave out "
                         "--processes");
    return status;
}

/* ---- which program, with which arguments ---- */

/* What a process is not told: that there are several, and where this one's results go. */
static bool is_own(const char *name)
{
    static const char *const own[] = {"processes", "interleave", "baseline-json", "json",
                                      "csv",       "quiet",      "deadline"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], name) == 0)
            return true;
    return false;
}

/* "--name=text", or "--name" for a flag; NULL where memory is short. */
static char *word_of(const struct xb_value *value)
{
    char *word = NULL;
    int length = value->option->type == XB_OPTION_FLAG
                     ? asprintf(&word, "--%s", value->option->name)
                     : asprintf(&word, "--%s=%s", value->option->name, value->text);
    return length >= 0 ? word : NULL;
}

static char *deadline_word(double deadline)
{
    char *word = NULL;
    double left = deadline - xb_clock_now();
    left = left < LEAST_DEADLINE_S     ? LEAST_DEADLINE_S
           : left > LONGEST_DEADLINE_S ? LONGEST_DEADLINE_S
                                       : left;
    return asprintf(&word, "--deadline=%.6fs", left) >= 0 ? word : NULL;
}

static void free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/*
 * The arguments of a process: the options that the user gave, by their long names and as they
 * stood. The names of commands are left out, so that a script can put options of its own before or
 * behind them. NULL where memory is short.
 */
static char **words_for(const struct session *session, const struct side *side)
{
    const struct xb_config *config = session->config;
    size_t count = 0;
    char **words = calloc(config->count + 5, sizeof *words);
    if (words == NULL)
        return NULL;
    words[count++] = strdup(side->name);
    for (size_t i = 0; words[count - 1] != NULL && i < config->count; i++)
        if (config->values[i].given && !is_own(config->values[i].option->name))
            words[count++] = word_of(&config->values[i]);
    if (words[count - 1] != NULL && session->deadline > 0)
        words[count++] = deadline_word(session->deadline);
    if (words[count - 1] != NULL)
        words[count++] = strdup("--quiet");
    if (words[count - 1] != NULL)
        words[count++] = strdup("--json=-");
    if (words[count - 1] != NULL)
        return words;
    free_words(words);
    return NULL;
}

/* ---- one process ---- */

/* How it ended, for one that left nothing: "it was ended by SIGSEGV", "it left with exit code 1".
 */
static const char *end_text(const struct xb_process *process, char *text, size_t size)
{
    if (process->signal[0] != '\0')
        snprintf(text, size, "it was ended by %s", process->signal);
    else
        snprintf(text, size, "it left with exit code %d", process->exit_code);
    return text;
}

/* Takes what the process printed as its document, if that is one, and of the same conditions. */
static void take_document(struct side *side, struct xb_process *process,
                          struct xb_child_outcome *outcome)
{
    char end[64], difference[XB_RECORD_DIFFERENCE];
    struct xb_error error;
    const struct xb_process *first = xb_processes_first(&side->set);
    end_text(process, end, sizeof end);
    if (outcome->length == 0) {
        snprintf(process->failure, sizeof process->failure, "%s and printed no results", end);
        return;
    }
    if (xb_record_parse("standard output", outcome->text, outcome->length, &process->record,
                        &error) != XB_OK) {
        snprintf(process->failure, sizeof process->failure, "%s and printed no results: %s", end,
                 error.message);
        return;
    }
    const char *other = first != NULL ? xb_record_other_condition(&first->record, &process->record,
                                                                  difference, sizeof difference)
                                      : NULL;
    if (process->record.is_merged)
        snprintf(process->failure, sizeof process->failure,
                 "it printed the results of several processes");
    else if (other != NULL)
        snprintf(process->failure, sizeof process->failure, "measured under other conditions: %s",
                 other);
    else {
        process->document = outcome->text;
        side->bytes += outcome->length;
        outcome->text = NULL;
        return;
    }
    xb_record_free(&process->record);
}

/* What came of it. A process that crashed behind its results is not believed, unless it was told to
 * leave, by a signal or at the deadline: a shell that waits for the program may have gone before
 * it. */
static void judge(struct side *side, struct xb_process *process, struct xb_child_outcome *outcome)
{
    side->overdue = side->overdue || outcome->overdue;
    if (outcome->too_long)
        snprintf(process->failure, sizeof process->failure,
                 "it printed more than there is room for: the results of all together may be %zu "
                 "MiB, so take fewer samples",
                 XB_RECORD_LARGEST_BYTES >> 20);
    else if (outcome->overdue && outcome->length == 0)
        snprintf(process->failure, sizeof process->failure,
                 "it did not end within %.0f s of the deadline and printed no results", GRACE_S);
    else if (outcome->signal != 0 && !outcome->overdue && xb_interrupt_signal() == 0)
        snprintf(process->failure, sizeof process->failure, "it was ended by %s", process->signal);
    else
        take_document(side, process, outcome);
}

/* When a process that begins now is ended. */
static double end_of(double deadline)
{
    double now = xb_clock_now();
    return deadline > 0 ? (deadline > now ? deadline : now) + GRACE_S : 0;
}

/* This program again, also where its file has been replaced meanwhile. By its own path if it can
 * be: that is how lists of processes and profilers name it. */
static const char *candidate_path(const char *name)
{
    static const char *const self = "/proc/self/exe";
    return xb_cli_is_one_file(self, name) ? name : self;
}

/* Runs one process of a side. */
static void run_one(struct session *session, struct side *side)
{
    struct xb_process *process = &side->set.processes[side->set.count];
    struct xb_child_outcome outcome = {.exit_code = -1, .started = time(NULL)};
    struct xb_error error;
    char name[16];
    char **words = words_for(session, side);
    struct xb_child child = {.path = side->path != NULL ? side->path : candidate_path(side->name),
                             .argv = words,
                             .largest = MOST_DOCUMENTS - side->bytes,
                             .end_at = end_of(session->deadline)};
    xb_progress_show_process(&session->progress, side->set.count + 1, side->set.asked,
                             side->set.role);
    enum xb_status status = words != NULL
                                ? xb_child_run(&child, &outcome, &error)
                                : XB_FAIL(&error, XB_ERR_MEMORY, "not enough memory to start it");
    process->started = outcome.started;
    process->wall_s = outcome.wall_s;
    process->exit_code = outcome.exit_code;
    if (outcome.signal != 0)
        snprintf(process->signal, sizeof process->signal, "%s",
                 xb_child_signal_name(outcome.signal, name, sizeof name));
    if (status == XB_OK)
        judge(side, process, &outcome);
    else
        snprintf(process->failure, sizeof process->failure, "%s", error.message);
    session->stuck = outcome.stuck;
    side->set.count++;
    xb_child_free(&outcome);
    free_words(words);
}

/* ---- all of them ---- */

/* The first process of a side always begins, to say what there would have been to measure. */
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

/* Which of the two goes first changes from pair to pair: what drifts favours neither. */
static size_t side_at(const struct session *session, size_t pair, size_t place)
{
    return session->side_count == 1 ? CANDIDATE : (pair + place) % 2 == 0 ? BASELINE : CANDIDATE;
}

static void run_all(struct session *session)
{
    for (size_t pair = 0; pair < count_of(session->config); pair++)
        for (size_t place = 0; place < session->side_count; place++) {
            struct side *side = &session->sides[side_at(session, pair, place)];
            if (!may_begin(session, side))
                return;
            run_one(session, side);
            if (is_refused(side) && xb_interrupt_signal() == 0) {
                session->refused = side->set.processes[0].exit_code;
                return;
            }
        }
}

/* What holds for a side as a whole. */
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

/* Whether all that was measured is right: XB_EXIT_NOTHING where all processes say that. */
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
                                   const char *role, const char *to, struct xb_error *error)
{
    size_t asked = (size_t)count_of(session->config);
    side->to = to;
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
    return prepare_side(session, side, is_interleaved(session->config) ? "candidate" : NULL, "json",
                        error);
}

static enum xb_status prepare_baseline(struct session *session, struct xb_error *error)
{
    struct side *side = &session->sides[BASELINE];
    struct xb_error cause;
    enum xb_status status =
        xb_child_find(xb_config_get(session->config, "interleave")->text, &side->path, &cause);
    if (status != XB_OK)
        return XB_FAIL_NATIVE(error, status, cause.call, cause.native_code, cause.native_name,
                              "--interleave: %s", cause.message);
    side->name = strdup(side->path);
    session->side_count = SIDES;
    status = prepare_side(session, side, "baseline", "baseline-json", error);
    side->set.counterpart = session->sides[CANDIDATE].name;
    session->sides[CANDIDATE].set.counterpart = side->name;
    return status;
}

static enum xb_status prepare(struct session *session, struct xb_error *error)
{
    enum xb_status status = prepare_candidate(session, error);
    if (status == XB_OK && is_interleaved(session->config))
        status = prepare_baseline(session, error);
    if (status != XB_OK)
        return status;
    /* Before there is a temporary file to leave behind. The first is for the process that runs, to
     * write what it has; the second ends that process. */
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

/* Its own words stand on stderr; whose they are does not. */
static void say_refused(const struct session *session)
{
    for (size_t i = 0; session->refused != 0 && session->side_count == SIDES && i < SIDES; i++)
        if (is_refused(&session->sides[i]))
            xb_say("the %s, '%s', left with exit code %d and no results",
                   session->sides[i].set.role, session->sides[i].name, session->refused);
}

/* Whether any process has: where the candidate refuses, the baseline may have measured before it.
 */
static bool has_results(const struct session *session)
{
    for (size_t i = 0; i < session->side_count; i++)
        if (xb_processes_first(&session->sides[i].set) != NULL)
            return true;
    return false;
}

int xb_processes_run(const struct xb_config *config, double deadline)
{
    struct session session = {.config = config, .deadline = deadline};
    struct xb_error error;
    int code = 0;
    if (prepare(&session, &error) != XB_OK) {
        code = xb_cli_fail(&error);
        release(&session);
        return code;
    }
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
