/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Child processes. A driver can hold a process in the kernel, where not even SIGKILL ends it:
 * therefore every wait has a limit, which the caller chooses. */

/* How a new process treats signals. */
enum xb_child_signals {
    XB_CHILD_KEEPS_SIGNALS,   /* as its parent does */
    XB_CHILD_RESETS_SIGNALS,  /* as before this program changed them: to run another program */
    XB_CHILD_IGNORES_SIGNALS, /* its parent acts on those that end programs, and then closes the
                                 channel */
};

/* Which open files a new process keeps. */
enum xb_child_files {
    XB_CHILD_KEEPS_FILES,
    XB_CHILD_IS_SILENT, /* its standard streams are /dev/null: no reader of its parent's output
                           waits for it */
    XB_CHILD_IS_ALONE,  /* the same, and the channel is its only other file */
};

struct xb_child_task {
    const char *what; /* for messages: "the process that measures" */
    /* Runs in the new process, with its end of the channel. The process ends with the exit code
     * that this returns, by _exit(): it flushes and frees nothing of its parent's. */
    int (*work)(void *argument, int channel);
    void *argument;
    enum xb_child_signals signals;
    enum xb_child_files files;
    bool leads_group; /* it leads a process group of its own; signals to it go to the whole group */
    bool dies_with_parent; /* the kernel kills it when the thread that forked it ends */
};

/* A child, also after its end. Times are on the clock of src/base/clock.h, 0 for not yet. */
struct xb_child {
    pid_t process;
    bool leads_group;
    int channel;      /* a socket to its work; -1 once it is closed */
    double kill_at;   /* when it will be killed */
    double killed_at; /* when it was */
    double ended_at;  /* it is reaped then: another process may get its number */
    int exit_code;    /* -1 where it has none */
    int signal;       /* that ended it; 0 for none */
    int wait_error;   /* an errno where nobody can say how it ended; 0 otherwise */
};

/* Forks it. XB_ERR_SYSTEM. Release with xb_child_end or, once it has ended, xb_child_close: both do
 * nothing where nothing was started. */
enum xb_status xb_child_start(struct xb_child *child, const struct xb_child_task *task,
                              struct xb_error *error);

/* Waits `pause_ms` at most until the file `fd` (-1: none) can be read or its other end is closed,
 * and returns whether. Notes the child's end, and kills it if it is time to. */
bool xb_child_poll(struct xb_child *child, int fd, int pause_ms);

/* Waits for its end, until `until` on that clock at the most. Returns whether it has ended. */
bool xb_child_wait(struct xb_child *child, double until);

/* Asks it to leave, by this signal; kills it `patience_s` later. Only the first call counts. */
void xb_child_terminate(struct xb_child *child, int number, double patience_s);
/* Does that if this process has caught a signal; kills the child if it has caught a second one. */
void xb_child_pass_on_signal(struct xb_child *child, int number, double patience_s);
void xb_child_kill(struct xb_child *child);
/* Whether it still runs although it was killed some seconds ago: it cannot be ended. */
bool xb_child_is_stuck(const struct xb_child *child);

/* Waits at most `patience_s` for it to leave. Else kills it and waits at most `reap_s` for its end.
 * Closes the channel. Returns whether it has ended. */
bool xb_child_end(struct xb_child *child, double patience_s, double reap_s);
void xb_child_close(struct xb_child *child);

/* For an end without cleaning up: kills the children that this process has, with their groups. */
void xb_children_abandon(void);

/* Whether its group still has a process, even if only a zombie that nobody reaps. */
bool xb_child_is_group_left(const struct xb_child *child);
/* After its end: kills what it left in its group, and waits a moment for the end of that. */
void xb_child_end_group(const struct xb_child *child);

/* For both ends of a channel. They block, and return whether all bytes went through. False if the
 * other end is closed; that raises no SIGPIPE. */
bool xb_channel_pass(int channel, char *bytes, size_t count, bool is_write);
#define xb_channel_read(channel, bytes, count)                                                     \
    xb_channel_pass((channel), (char *)(bytes), (count), false)
#define xb_channel_write(channel, bytes, count)                                                    \
    xb_channel_pass((channel), (char *)(bytes), (count), true)

/* "SIGSEGV"; "signal 34" for one without a name. */
const char *xb_child_signal_name(int number, char *text, size_t size);
#define XB_SIGNAL_NAME(number) xb_child_signal_name((number), (char[32]){0}, 32)
/* "was ended by SIGSEGV"; "ended with exit code 3" where `number`, a signal, is 0. */
const char *xb_child_end_text(int exit_code, int number, char *text, size_t size);

/* ---- another program: what it prints, and how it ends ---- */

struct xb_program {
    const char *path;  /* the file to run; one without a slash is looked for on PATH */
    char *const *argv; /* ends with NULL */
    size_t largest;    /* the most that it may print; what prints more is ended */
    double end_at;     /* when it is ended, on the clock of src/base/clock.h; 0 for never */
};

struct xb_program_outcome {
    char *text;     /* what it printed, with a closing zero that does not count */
    size_t length;  /* at most xb_program.largest */
    time_t started; /* the time of day */
    double wall_s;  /* from then until it had ended */
    int exit_code;  /* -1 where a signal ended it */
    int signal;     /* that ended it; 0 for none */
    bool too_long;  /* it printed more than it may */
    bool overdue;   /* it was still there at end_at */
    bool stuck;     /* it is still there: not even SIGKILL ends it */
};

/* Runs it to its end, in a process group of its own. Blocks. Standard input is empty, standard
 * error the caller's, standard output is read: to its end, or until the program has ended and only
 * others hold it. It gets SIGTERM at end_at, for printing too much, once for a signal that the
 * caller has caught, and where the caller dies. It is killed some seconds later, at once where the
 * caller is signalled again; what it leaves in its group, after a moment. XB_ERR_SYSTEM: it cannot
 * be started, or cannot be ended (outcome->stuck), or nobody can say how it ended. XB_ERR_MEMORY:
 * for what it printed. Release outcome->text with free(), also then. */
enum xb_status xb_program_run(const struct xb_program *program, struct xb_program_outcome *outcome,
                              struct xb_error *error);

/* The file that execvp would run for `program`, or XB_ERR_USAGE that says why there is none.
 * Release *path with free(). */
enum xb_status xb_program_find(const char *program, char **path, struct xb_error *error);
