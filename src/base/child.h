/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* The supervisor of child processes: it forks one, waits for it, asks it to leave, kills it if it
 * does not, reaps it and knows how it ended. A driver can hold a process in the kernel, where not
 * even SIGKILL ends it. Therefore every wait has a limit, which the caller chooses. */

/* How a new process treats signals. */
enum xb_child_signals {
    XB_CHILD_KEEPS_SIGNALS,   /* it keeps its parent's handlers and mask */
    XB_CHILD_RESETS_SIGNALS,  /* it takes back what this program changed, to run another program */
    XB_CHILD_IGNORES_SIGNALS, /* it ignores those that end programs: its parent acts on them, and
                                 then closes the channel */
};

/* Which open files a new process keeps. */
enum xb_child_files {
    XB_CHILD_KEEPS_FILES,
    XB_CHILD_IS_SILENT, /* its standard streams are /dev/null, so that a reader of its parent's
                           output does not wait for the child too */
    XB_CHILD_IS_ALONE,  /* the same, and the channel is its only other file */
};

struct xb_child_task {
    const char *what; /* for messages: "the process that measures" */
    /* Runs in the new process, with its end of the channel. Returns the exit code: the process ends
     * by _exit() then, without flushing or freeing what it has of its parent. */
    int (*work)(void *argument, int channel);
    void *argument;
    enum xb_child_signals signals;
    enum xb_child_files files;
    bool leads_group; /* it leads a process group of its own; signals to it go to the whole group */
    /* The kernel kills it when its parent dies, also if it hangs. To the kernel, that is when the
     * thread that forked ends: only for a thread that lives as long as its process. */
    bool dies_with_parent;
};

/* A child, also after its end. */
struct xb_child {
    pid_t process;
    bool leads_group;
    int channel;      /* a socket to its work; -1 once it is closed */
    double kill_at;   /* on the clock of src/base/clock.h; 0 as long as it may stay */
    double killed_at; /* 0 while it has not been killed */
    double ended_at;  /* 0 while it runs. It is reaped then: another process may get its number */
    int exit_code;    /* -1 where it has none */
    int signal;       /* that ended it; 0 for none */
    int wait_error;   /* an errno where nobody can say how it ended; 0 otherwise */
};

/* Forks it. XB_ERR_SYSTEM; otherwise release with xb_child_end or, once it has ended,
 * xb_child_close. Where nothing was started, both do nothing. */
XB_MUST_CHECK enum xb_status
xb_child_start(struct xb_child *child, const struct xb_child_task *task, struct xb_error *error);

/* Pauses until the file `fd` has something to read or is closed at its other end, for `pause_ms` at
 * the most; -1 only pauses. Then notes the child's end if it has come, and kills it if it is time
 * to. Returns whether there is something about the file: again at once for one that is closed. */
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
bool xb_channel_read(int channel, void *bytes, size_t count);
bool xb_channel_write(int channel, const void *bytes, size_t count);

/* "SIGSEGV"; "signal 34" for one without a name. */
const char *xb_child_signal_name(int number, char *text, size_t size);
