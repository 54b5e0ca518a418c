/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_mutex_consistent */
/* The runs that a session makes, and the lock on what came of them. */
#include "session.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "run/request.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

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

void xb_link_sleep_until(const struct xb_link_session *session, double until)
{
    const struct timespec glance = {.tv_nsec = 20000000};
    while (xb_clock_now() < until && !xb_link_time_is_up(session))
        (void)nanosleep(&glance, NULL);
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

size_t xb_round_count(size_t count)
{
    return count < 2 ? 0 : count - 1 + count % 2;
}

size_t xb_round_partner(size_t count, size_t round, size_t place)
{
    const size_t circle = xb_round_count(count);
    if (circle == 0)
        return place;
    if (place == circle) /* of an even number the last one meets whoever would meet itself */
        return round * ((circle + 1) / 2) % circle;
    size_t partner = (round + circle - place) % circle;
    return partner != place || circle == count ? partner : circle;
}

/* Whether a row has a device in common with one of `count` rows. */
static bool has_common(const struct xb_case *own, const struct xb_result *rows, size_t count)
{
    for (const struct xb_case *its; count > 0; count--) {
        its = &rows[count - 1].test;
        if (its->device == own->device || (int)its->device == own->peer ||
            its->peer == (int)own->device || (own->peer != XB_NO_PEER && its->peer == own->peer))
            return true;
    }
    return false;
}

void xb_link_run_at_once(struct xb_link_run *link_run)
{
    struct xb_run *run = &link_run->run;
    struct xb_result *rows = run->results;
    const size_t count = run->case_count;
    run->results = xb_new(2 * count, sizeof *rows);
    run->case_count = 0;
    for (size_t first = 0, behind; first < count; first = behind) {
        behind = first + 1;
        while (behind < count && !has_common(&rows[behind].test, &rows[first], behind - first))
            behind++;
        bool is_group = behind > first + 1;
        if (is_group) {
            run->results[run->case_count] = rows[first];
            run->results[run->case_count].test.sum = true;
            run->results[run->case_count++].test.simultaneous = true;
        }
        for (size_t i = first; i < behind; i++) {
            rows[i].test.simultaneous = is_group;
            run->results[run->case_count++] = rows[i];
        }
    }
    free(rows);
}

void xb_link_run_free(struct xb_link_run *run)
{
    run->run.driver = NULL; /* the session's, for the next run */
    xb_run_free(&run->run);
    xb_config_free(&run->config);
}
