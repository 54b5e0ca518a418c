/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/child.h"
#include "measure/run.h"
#include "report.h"

#include <pthread.h>

/* The measuring half of `xferbench link`. It runs in a process of its own, because a thread that a
 * hung GPU keeps in the kernel cannot be ended, nor can its process. What it finds lies in memory
 * that both processes share: at the deadline the other one takes what is there. */
struct xb_link_session {
    /* What is asked; set before it is started, and not written to after. */
    const char *backend_name, *device_text, *size_text;
    uint64_t attempts;
    bool no_peers;                     /* pairs are left out */
    double deadline;                   /* on the clock of src/base/clock.h */
    double duration;                   /* of a soak between two tests, in seconds; 0: one test */
    double start_at;                   /* on the clock of src/base/units.h; 0: at once */
    struct xb_link_limits limits;      /* of the command line */
    const struct xb_limits_file *file; /* NULL: none */
    const struct xb_link_report *baseline; /* NULL: none */
    const char *node;                      /* of this node; NULL where not known */
    double spacing;    /* seconds between a slow device's first two attempts; then it doubles */
    const char *sysfs; /* where PCI devices are shown; another place than Linux's only in tests */

    FILE *progress; /* where a line goes for each minute of the soak; NULL: nowhere */

    /* The process that measures has these alone. */
    struct xb_driver *driver; /* NULL: none could be opened */
    double until;             /* nothing is begun after that, on the same clock as the deadline */

    /* What came of it; read and written with the lock held. */
    pthread_mutex_t lock;  /* of both processes */
    struct xb_child child; /* the process that measures; used by the one that waits, alone */
    bool done;
    struct xb_error error;            /* XB_ERR_USAGE: what was asked cannot be */
    const struct xb_backend *backend; /* NULL while none is open */
    struct xb_probe probe;
    struct xb_start start; /* how it began */
    char nothing[512];     /* why nothing can be tested; "" otherwise */
    struct xb_link_device devices[XB_RUN_DEVICES];
    size_t device_count;
    struct xb_link_pair pairs[XB_RUN_PAIRS]; /* every ordered pair of the devices */
    size_t pair_count;
    char no_pairs[512]; /* why no pair is tested; "" where pairs are, or there is one device */
    struct xb_link_soak soak; /* of these devices: */
    struct xb_soak_device soaked[XB_RUN_DEVICES];
};

/* ---- for the process that measures ---- */

void xb_link_session_lock(struct xb_link_session *session);
void xb_link_session_unlock(struct xb_link_session *session);
/* Whether a signal came, or the time after which nothing is begun. */
bool xb_link_time_is_up(const struct xb_link_session *session);
/* Does nothing until then, or until that. */
void xb_link_sleep_until(const struct xb_link_session *session, double until);
static inline unsigned xb_link_index(const struct xb_link_session *session, size_t place)
{
    return session->devices[place].info.index;
}

/* A run of one mode, with the options of the session. Release with xb_link_run_free, whatever
 * xb_link_run_plan returned. */
struct xb_link_run {
    char *words[20]; /* as of a command line; not owned */
    struct xb_config config;
    struct xb_run run;
};
/* Plans a run as a command line with these options, and `value` for the last of them, would. */
enum xb_status xb_link_run_plan(const struct xb_link_session *session, const char *const *options,
                                const char *value, struct xb_link_run *run, struct xb_error *error);
/* Has rows of a plan that follow each other and have no device in common measured at once, behind a
 * row of them all. */
void xb_link_run_at_once(struct xb_link_run *run);
void xb_link_run_free(struct xb_link_run *run);

/* Loads all devices for session->duration, minute after minute, into session->soak. The channel
 * gets a line of XB_SOAK_LINE bytes a minute, filled up with zeros, for the other process. */
#define XB_SOAK_LINE 128
void xb_link_soak_run(struct xb_link_session *session, int channel);

/* ---- pairs that copy at once ---- */

/* Rounds in which devices copy in pairs, all pairs of a round at once: each device is in one pair
 * of a round, or, where their number is odd, rests in one round. In all rounds together every two
 * meet once. By the circle method (Kirkman, 1847): the sum of the places of two that meet is the
 * number of the round, modulo the number of rounds. */

/* How many rounds `count` devices need; 0 for fewer than two. */
size_t xb_round_count(size_t count);
/* Whom the device at that place, below `count`, meets in a round; itself: it rests. */
size_t xb_round_partner(size_t count, size_t round, size_t place);

/* ---- what goes on beside the copies of a device ---- */

/* Reads the parts (enum xb_health_part) that the vendor's library, if there is one, knows. */
void xb_health_read(struct xb_driver *driver, unsigned index, unsigned parts,
                    struct xb_device_health *health);

struct xb_conditions;

/* For copies of that device, which is borrowed. */
struct xb_conditions *xb_conditions_open(struct xb_driver *driver,
                                         const struct xb_device_info *info);
/* Looks in each fourth call, from the end of the first copy on. For xb_pcie_watch_task: one thread
 * calls it each 5 ms, and is bound near the device. `argument` is the struct. */
void xb_conditions_look(void *argument);
/* Notes, in another thread, that the run begins, or that a copy of its current direction has just
 * `copied`: what was seen before the end of a copy counts, so that nothing counts but copies. The
 * run's topology is used until xb_conditions_close. */
void xb_conditions_note(struct xb_conditions *conditions, const struct xb_run *run, bool copied);
/* Tells the conditions of both ways, when nobody looks any more, and releases. */
void xb_conditions_close(struct xb_conditions *conditions,
                         struct xb_link_conditions told[XB_LINK_WAYS]);

/* ---- a session ---- */

/* Makes one in memory that is shared with the process that it will start; zeroed. */
enum xb_status xb_link_session_open(struct xb_link_session **session, struct xb_error *error);
/* After xb_link_session_wait, or of one that was not started; accepts NULL. */
void xb_link_session_close(struct xb_link_session *session);

/* Starts the process, in the program's first thread. It has the session and the files of this one,
 * not its output, and dies with it, wherever it hangs. */
enum xb_status xb_link_session_start(struct xb_link_session *session, struct xb_error *error);
/* Waits until it is done or the deadline has come, and ends the process: from then on this one has
 * the session to itself. Returns whether it was done. */
bool xb_link_session_wait(struct xb_link_session *session);

/* Finds the limits of a device: those of the command line, then the file's for what it is. */
struct xb_link_limits xb_link_session_limits(const struct xb_link_session *session,
                                             const struct xb_link_device *device);
/* Judges what it has by these limits, into verdicts of the report that are the caller's to free. */
void xb_link_session_judge(struct xb_link_session *session, struct xb_link_report *report);
