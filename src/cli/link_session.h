/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_LINK_SESSION_H
#define XFERBENCH_CLI_LINK_SESSION_H

#include "xferbench/limits_file.h"
#include "xferbench/run.h"
#include "xferbench/verdict.h"

#include <pthread.h>

/*
 * The measuring half of `xferbench link`. It runs in a thread of its own, because a GPU that hangs
 * keeps its caller for good: whoever started it takes what is there when the deadline comes.
 */
struct xb_link_session {
    /* What is asked; set before it is started, and not written to after. */
    const char *backend_name, *device_text, *size_text;
    unsigned attempts;
    double deadline;                   /* on the clock of src/core/clock.h */
    struct xb_link_limits limits;      /* of the command line */
    const struct xb_limits_file *file; /* NULL: none */
    const char *sysfs; /* where PCI devices are shown; another place than Linux's only in tests */

    /* What came of it; read and written with the lock held. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* waited for by the monotonic clock */
    bool done;
    enum xb_status status; /* XB_ERR_USAGE: what was asked cannot be; then error is filled */
    struct xb_error error;
    const struct xb_backend *backend; /* NULL while none is open */
    struct xb_probe probe;
    char nothing[512]; /* why nothing can be tested; "" otherwise */
    struct xb_link_device *devices;
    size_t device_count;
};

XB_MUST_CHECK enum xb_status xb_link_session_open(struct xb_link_session *session,
                                                  struct xb_error *error);
/* Only of a session whose thread has ended. */
void xb_link_session_close(struct xb_link_session *session);

/* Starts the thread. */
XB_MUST_CHECK enum xb_status xb_link_session_start(struct xb_link_session *session,
                                                   pthread_t *thread, struct xb_error *error);
/* Waits until it is done or the deadline has come. Returns with the lock held, whether it is done.
 */
bool xb_link_session_wait(struct xb_link_session *session);

/* The limits that hold for a device: those of the command line, then the file's for its name and
 * the link it was seen to have. With the lock held. */
struct xb_link_limits xb_link_session_limits(const struct xb_link_session *session,
                                             const struct xb_link_device *device);

#endif
