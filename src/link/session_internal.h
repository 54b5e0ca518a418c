/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_SESSION_INTERNAL_H
#define XFERBENCH_LINK_SESSION_INTERNAL_H

#include "measure/run.h"

struct xb_link_session;

/* The parts of the process that measures. */

/* Guards what both processes read and write. */
void xb_session_lock(struct xb_link_session *session);
void xb_session_unlock(struct xb_link_session *session);

/* Whether a signal came, or the time after which nothing is begun: a measurement ends so long
 * before the deadline that the report can be written in time. */
bool xb_session_time_is_up(const struct xb_link_session *session);

/* The parts (enum xb_health_part) that the vendor's library knows of the device; nothing where the
 * backend has no such library. */
void xb_session_read_health(struct xb_driver *driver, unsigned index, unsigned parts,
                            struct xb_device_health *health);

/* A run of one mode, with the options of the session. Release with xb_session_run_free, whatever
 * xb_session_plan returned. */
#define XB_SESSION_WORDS 20
struct xb_session_run {
    char *words[XB_SESSION_WORDS]; /* as of a command line; not owned */
    struct xb_config config;
    struct xb_run run;
};

/* Plans a run as a command line with these options, at most 13 words and a NULL, would ask for it.
 * XB_ERR_USAGE for what cannot be. */
XB_MUST_CHECK enum xb_status xb_session_plan(const struct xb_link_session *session,
                                             struct xb_driver *driver, const char *const *options,
                                             struct xb_session_run *run, struct xb_error *error);
void xb_session_run_free(struct xb_session_run *run);

/* Finds the devices that the session's text names. XB_ERR_USAGE where one is not there. */
XB_MUST_CHECK enum xb_status xb_session_find_devices(struct xb_link_session *session,
                                                     struct xb_driver *driver,
                                                     struct xb_error *error);
/* Tests every device, then those that are not OK again. */
void xb_session_test_devices(struct xb_link_session *session, struct xb_driver *driver);

/* Finds the pairs of the session's devices, or why none is tested. XB_ERR_USAGE where a least
 * bandwidth of pairs is asked for and none can be tested. */
XB_MUST_CHECK enum xb_status xb_session_find_pairs(struct xb_link_session *session,
                                                   struct xb_driver *driver,
                                                   struct xb_error *error);
/* Tests every pair, and those that are not OK again. */
void xb_session_test_pairs(struct xb_link_session *session, struct xb_driver *driver);

#endif
