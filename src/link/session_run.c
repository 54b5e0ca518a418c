/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_mutex_consistent */
/* The runs that a session makes, and the lock on what came of them. */
#include "session.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "run/request.h"

#include <assert.h>
#include <errno.h>

/* Whose holder died has the lock all the same: what it guards is written in whole steps. */
void xb_link_session_lock(struct xb_link_session *session)
{
    if (pthread_mutex_lock(&session->lock) == EOWNERDEAD)
        (void)pthread_mutex_consistent(&session->lock);
}

void xb_link_session_unlock(struct xb_link_session *session)
{
    (void)pthread_mutex_unlock(&session->lock);
}

bool xb_link_time_is_up(const struct xb_link_session *session)
{
    return xb_clock_now() >= session->until || xb_interrupt_signal() != 0;
}

enum xb_status xb_link_run_plan(const struct xb_link_session *session, const char *const *options,
                                const char *value, struct xb_link_run *run, struct xb_error *error)
{
    const char *const always[] = {
        "link", "--size", session->size_text, "--backend", session->backend_name, "--quiet"};
    size_t count = 0;
    *run = (struct xb_link_run){.run = {.backend = session->backend,
                                        .driver = session->driver,
                                        .probe = session->probe,
                                        .sysfs = session->sysfs,
                                        .unhurried = true, /* errors are counted meanwhile */
                                        .deadline = session->until}};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        run->words[count++] = (char *)always[i];
    while (*options != NULL)
        run->words[count++] = (char *)*options++;
    run->words[count++] = (char *)value;
    assert(count < sizeof run->words / sizeof run->words[0]);
    XB_TRY(xb_config_parse(xb_run_rows(), (int)count, run->words, &run->config, error));
    run->run.asked = xb_run_options_of(&run->config);
    return xb_plan(&run->run, error);
}

void xb_link_run_free(struct xb_link_run *run)
{
    run->run.driver = NULL; /* the session's, for the next run */
    xb_run_free(&run->run);
    xb_config_free(&run->config);
}
