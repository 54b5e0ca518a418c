/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
/* One process of several: its arguments, its run, and whether what it printed counts. */
#include "processes_internal.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/program.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long past the deadline a process may take to write what it has, before it is ended. */
#define GRACE_S 10.0
/* The most that the documents of all processes may be, for the merged file to be one that can be
 * read. The rest of that file is for what is made of them. */
#define MOST_DOCUMENTS (XB_RECORD_LARGEST_BYTES / 3 * 2)
/* What --deadline can say: above 0, and not so long that it has more digits than the option takes.
 * Thirty years are as good as for ever. */
#define LEAST_DEADLINE_S 1e-6
#define LONGEST_DEADLINE_S 1e9

/* ---- which program, with which arguments ---- */

static void free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* False where memory is short. */
__attribute__((format(printf, 3, 4))) static bool add_word(char **words, size_t *count,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&words[*count], format, arguments) < 0)
        words[*count] = NULL;
    va_end(arguments);
    return words[(*count)++] != NULL;
}

/*
 * The arguments of a process: the options that the user gave, by their long names and as they
 * stood. The names of commands are left out, so that a script can put options of its own before or
 * behind them. NULL where memory is short.
 */
static char **words_for(const struct session *session, const struct side *side)
{
    /* These are for this process only: that there are several, and where results go. */
    static const char *const own[] = {"processes",  "interleave", "baseline-json", "json",
                                      "json-lines", "csv",        "color",         "quiet",
                                      "deadline",   "start-at"};
    const struct xb_config *config = session->asked->config;
    double left = session->deadline - xb_clock_now();
    size_t count = 0;
    char **words = calloc(config->count + 5, sizeof *words);
    bool ok = words != NULL && add_word(words, &count, "%s", side->name);
    for (size_t i = 0; ok && i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        bool is_own = false;
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            is_own = is_own || strcmp(own[k], value->option->name) == 0;
        if (!value->given || is_own)
            continue;
        ok = value->option->type == XB_OPTION_FLAG
                 ? add_word(words, &count, "--%s", value->option->name)
                 : add_word(words, &count, "--%s=%s", value->option->name, value->text);
    }
    if (ok && session->deadline > 0)
        ok = add_word(words, &count, "--deadline=%.6fs",
                      fmin(fmax(left, LEAST_DEADLINE_S), LONGEST_DEADLINE_S));
    if (ok && add_word(words, &count, "--quiet") && add_word(words, &count, "--json=-"))
        return words;
    free_words(words);
    return NULL;
}

/* ---- one process ---- */

/* The signal that its program caught, wrote what it had and then told by an exit code above 128; 0
 * for none. xferbench catches these alone. */
static int heeded_signal(const struct xb_process *process)
{
    int number = process->exit_code - 128;
    return number == SIGINT || number == SIGTERM || number == SIGHUP ? number : 0;
}

/* How a process ended: "it was ended by SIGSEGV", "it ended with exit code 1". */
static const char *end_text(const struct xb_process *process, char *text, size_t size)
{
    char name[16];
    int heeded = heeded_signal(process);
    if (process->signal[0] != '\0' || heeded != 0)
        snprintf(text, size, "it was ended by %s",
                 heeded != 0 ? xb_child_signal_name(heeded, name, sizeof name) : process->signal);
    else
        snprintf(text, size, "it ended with exit code %d", process->exit_code);
    return text;
}

__attribute__((format(printf, 2, 3))) static void fail(struct xb_process *process,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(process->failure, sizeof process->failure, format, arguments);
    va_end(arguments);
}

/* Judges what came of a process: keeps what it printed as its document, if it is one and was
 * measured under the conditions of the first. One that crashed after it printed its results is not
 * believed. But one that was told to leave is: a shell that started the program may have been ended
 * by the signal before it. */
static void judge(struct side *side, struct xb_process *process, struct xb_program_outcome *outcome)
{
    char end[64], difference[XB_RECORD_DIFFERENCE];
    struct xb_error error;
    const struct xb_process *first = xb_processes_first(&side->set);
    /* By this program: it passed a signal on, or the deadline came. */
    bool was_told_to_leave = outcome->overdue || xb_interrupt_signal() != 0;
    side->overdue = side->overdue || outcome->overdue;
    end_text(process, end, sizeof end);
    if (outcome->too_long)
        fail(process,
             "it printed too much: all results together may be %zu MiB, so take fewer "
             "samples",
             XB_RECORD_LARGEST_BYTES >> 20);
    else if (outcome->overdue && outcome->length == 0)
        fail(process, "it did not end within %.0f s of the deadline and printed no results",
             GRACE_S);
    else if (outcome->signal != 0 && !was_told_to_leave)
        fail(process, "%s", end);
    else if (outcome->length == 0)
        fail(process, "%s and printed no results", end);
    else if (xb_record_parse("standard output", outcome->text, outcome->length, &process->record,
                             &error) != XB_OK)
        fail(process, "%s and printed no results: %s", end, error.message);
    if (process->failure[0] != '\0')
        return;
    const char *other = first != NULL ? xb_record_other_condition(&first->record, &process->record,
                                                                  difference, sizeof difference)
                                      : NULL;
    if (process->record.is_merged || other != NULL) {
        if (process->record.is_merged)
            fail(process, "it printed the results of several processes");
        else
            fail(process, "measured under other conditions: %s", other);
        xb_record_free(&process->record);
        return;
    }
    if (heeded_signal(process) != 0 && !was_told_to_leave)
        fail(process, "%s, and wrote what it had measured", end);
    process->document = outcome->text;
    side->bytes += outcome->length;
    outcome->text = NULL;
}

static void show_progress(struct session *session, const struct side *side)
{
    struct xb_progress_process process = {.number = side->set.count + 1,
                                          .total = side->set.head.asked_processes,
                                          .role = side->set.head.role,
                                          .deadline = session->deadline};
    for (size_t i = 0; i < session->side_count; i++) {
        process.done += session->sides[i].set.count;
        process.all += session->sides[i].set.head.asked_processes;
    }
    xb_progress_show_process(&session->progress, &process);
}

void xb_processes_run_one(struct session *session, struct side *side)
{
    struct xb_process *process = &side->set.processes[side->set.count];
    struct xb_program_outcome outcome = {.exit_code = -1, .started = time(NULL)};
    struct xb_error error;
    char name[16];
    char **words = words_for(session, side);
    /* This program is run again by its own path, because lists of processes and profilers show it;
     * but by /proc/self/exe if another file has that path by now. */
    const char *self = "/proc/self/exe";
    const char *path = side->path != NULL                     ? side->path
                       : xb_cli_is_one_file(self, side->name) ? side->name
                                                              : self;
    struct xb_program program = {
        .path = path,
        .argv = words,
        .largest = MOST_DOCUMENTS - side->bytes,
        .end_at = session->deadline > 0 ? fmax(session->deadline, xb_clock_now()) + GRACE_S : 0};
    show_progress(session, side);
    enum xb_status status = words != NULL
                                ? xb_program_run(&program, &outcome, &error)
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
        fail(process, "%s", error.message);
    session->stuck = outcome.stuck;
    side->set.count++;
    xb_program_free(&outcome);
    free_words(words);
}
