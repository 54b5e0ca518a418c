/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Direct copies between every two devices. All pairs are tested once before any is tested again:
 * whether one is slow is seen among the others. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "session.h"
#include "session_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So few samples, of 10 ms each, that the pairs of eight devices take seconds. */
#define SAMPLES "5"

/* Once around the pairs that are still to be tested. */
struct round {
    struct xb_link_session *session;
    struct xb_driver *driver;
    struct xb_link_pair *pairs[XB_LINK_PAIRS]; /* of the run, in its order */
    size_t count;
};

/* ---- which pairs ---- */

static unsigned index_of(const struct xb_link_session *session, size_t place)
{
    return session->devices[place].info.index;
}

/* Why no pair is tested; "" where pairs are. */
static void find_obstacle(const struct xb_link_session *session, struct xb_driver *driver,
                          char *text, size_t size)
{
    struct xb_peer_info info;
    struct xb_error error;
    size_t count = session->device_count;
    text[0] = '\0';
    if (session->no_peers)
        snprintf(text, size, "--no-peers leaves pairs of devices out");
    else if (count > XB_PEER_DEVICES)
        snprintf(text, size,
                 "%zu devices are chosen: choose up to %u with --device to test their pairs", count,
                 XB_PEER_DEVICES);
    else if (count > 1 && driver->backend->peer_info == NULL)
        snprintf(text, size, "the %s backend has no copies between devices", driver->backend->name);
    else if (count > 1 &&
             driver->backend->peer_info(driver, index_of(session, 0), index_of(session, 1), &info,
                                        &error) == XB_ERR_UNSUPPORTED)
        snprintf(text, size, "%.*s", (int)size - 1, error.message);
}

enum xb_status xb_session_find_pairs(struct xb_link_session *session, struct xb_driver *driver,
                                     struct xb_error *error)
{
    char obstacle[sizeof session->no_pairs];
    find_obstacle(session, driver, obstacle, sizeof obstacle);
    if (obstacle[0] != '\0' && session->limits.min_peer.is_set)
        return XB_FAIL(error, XB_ERR_USAGE, "--min-peer: no pair is tested: %.400s", obstacle);
    xb_session_lock(session);
    memcpy(session->no_pairs, obstacle, sizeof obstacle);
    size_t count = obstacle[0] == '\0' ? session->device_count : 0;
    for (size_t from = 0; from < count; from++)
        for (size_t to = 0; to < count; to++)
            if (from != to)
                session->pairs[session->pair_count++] =
                    (struct xb_link_pair){.from = from, .to = to, .cut = true};
    xb_session_unlock(session);
    return XB_OK;
}

/* ---- one attempt ---- */

static struct xb_pair_attempt *attempt_at(struct xb_link_pair *pair)
{
    return &pair->attempts[pair->attempt_count];
}

static void note_failure(struct xb_pair_attempt *attempt, const char *reason)
{
    snprintf(attempt->failure, sizeof attempt->failure, "%.*s", (int)sizeof attempt->failure - 1,
             reason);
}

static void finish_attempt(struct xb_link_session *session, struct xb_link_pair *pair)
{
    xb_session_lock(session);
    pair->attempt_count++;
    xb_session_unlock(session);
}

/* Begins an attempt: reads what the devices can do with each other. Returns whether there is a copy
 * to make; otherwise the attempt is finished. */
static bool begin_attempt(const struct round *round, struct xb_link_pair *pair)
{
    struct xb_pair_attempt *attempt = attempt_at(pair);
    struct xb_driver *driver = round->driver;
    unsigned from = index_of(round->session, pair->from);
    unsigned to = index_of(round->session, pair->to);
    struct xb_error error;
    memset(attempt, 0, sizeof *attempt);
    attempt->reach_known =
        driver->backend->peer_info(driver, from, to, &attempt->there, &error) == XB_OK &&
        driver->backend->peer_info(driver, to, from, &attempt->back, &error) == XB_OK;
    if (attempt->reach_known && attempt->there.can_access)
        return true;
    if (!attempt->reach_known)
        note_failure(attempt, error.message);
    finish_attempt(round->session, pair);
    return false;
}

/* An observer's callback: the last row that is final is the attempt of its pair. A row that was cut
 * before its first sample is none. */
static void take_result(void *argument, const struct xb_run *run)
{
    const struct round *round = argument;
    const struct xb_result *result = &run->results[run->done_count - 1];
    struct xb_link_pair *pair = round->pairs[run->done_count - 1];
    struct xb_pair_attempt *attempt = attempt_at(pair);
    if (result->row.status == XB_RESULT_SKIPPED &&
        (result->stop_reason == XB_STOP_DEADLINE || result->stop_reason == XB_STOP_INTERRUPTED))
        return;
    if (result->row.status == XB_RESULT_OK)
        attempt->bandwidth = result->bandwidth.median;
    else
        note_failure(attempt, result->reason);
    attempt->data_wrong = result->row.verified == XB_VERIFIED_FALSE;
    finish_attempt(round->session, pair);
}

static void ignore_progress(void *argument, const struct xb_run *run, size_t samples,
                            double bandwidth)
{
    (void)argument;
    (void)run;
    (void)samples;
    (void)bandwidth;
}

/* ---- a round ---- */

/* Copies between all pairs of the round, one after the other. */
static void copy_all(struct round *round)
{
    char names[XB_LINK_PAIRS * sizeof "4294967295:4294967295,"] = "";
    struct xb_session_run run;
    struct xb_error error;
    const struct xb_run_observer observer = {
        .progress = ignore_progress, .finished = take_result, .argument = round};
    for (size_t i = 0; i < round->count; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%u:%u", i > 0 ? "," : "",
                 index_of(round->session, round->pairs[i]->from),
                 index_of(round->session, round->pairs[i]->to));
    }
    const char *const options[] = {"--mode",  "peer",        "--peer-path", "direct-write", "--by",
                                   "engine",  "--direction", "d2d",         "--samples",    SAMPLES,
                                   "--pairs", names,         NULL};
    enum xb_status status = xb_session_plan(round->session, round->driver, options, &run, &error);
    if (status == XB_OK)
        status = xb_run_execute(&run.run, &observer, &error);
    for (size_t i = run.run.done_count; status != XB_OK && i < round->count; i++) {
        note_failure(attempt_at(round->pairs[i]), error.message);
        finish_attempt(round->session, round->pairs[i]);
    }
    xb_session_run_free(&run);
}

/* Copies between all pairs of the round that can reach each other. */
static void make_round(struct round *round)
{
    size_t count = round->count;
    round->count = 0;
    for (size_t i = 0; i < count; i++)
        if (begin_attempt(round, round->pairs[i]))
            round->pairs[round->count++] = round->pairs[i];
    if (round->count > 0)
        copy_all(round);
}

/* Whether another attempt may change what is known: not where there is no direct access. */
static bool is_worth_another(const struct xb_link_pair *pair, const struct xb_pair_verdict *verdict)
{
    const struct xb_pair_attempt *attempt = xb_pair_verdict_attempt(verdict, pair);
    bool is_impossible = attempt != NULL && attempt->reach_known && !attempt->there.can_access;
    return verdict->found.level != XB_LEVEL_OK && !is_impossible;
}

/* The pairs that are not OK make up the next round. Without memory to judge them there is none. */
static void choose_again(struct round *round)
{
    struct xb_link_session *session = round->session;
    struct xb_pair_verdict *verdicts = calloc(session->pair_count, sizeof *verdicts);
    round->count = 0;
    if (verdicts == NULL)
        return;
    xb_session_lock(session);
    xb_link_session_judge_pairs(session, verdicts);
    for (size_t i = 0; i < session->pair_count; i++) {
        struct xb_link_pair *pair = &session->pairs[i];
        pair->cut = is_worth_another(pair, &verdicts[i]) && pair->attempt_count < session->attempts;
        if (pair->cut)
            round->pairs[round->count++] = pair;
    }
    xb_session_unlock(session);
    free(verdicts);
}

/* ---- what the devices count meanwhile ---- */

static void read_before(struct xb_link_session *session, struct xb_driver *driver)
{
    for (size_t i = 0; i < session->device_count; i++)
        xb_session_read_health(driver, index_of(session, i), XB_HEALTH_ALL,
                               &session->devices[i].peers.before);
}

/* From now on the readings tell of the time since `begin`, which was not after those before. */
static void read_after(struct xb_link_session *session, struct xb_driver *driver, double begin)
{
    for (size_t i = 0; i < session->device_count; i++) {
        struct xb_device_health health = {0};
        xb_session_read_health(driver, index_of(session, i), XB_HEALTH_ALL, &health);
        xb_session_lock(session);
        session->devices[i].peers.after = health;
        session->devices[i].peers.seconds = xb_clock_now() - begin;
        xb_session_unlock(session);
    }
}

/* ---- all rounds ---- */

void xb_session_test_pairs(struct xb_link_session *session, struct xb_driver *driver)
{
    struct round round = {.session = session, .driver = driver, .count = session->pair_count};
    double begin = xb_clock_now();
    if (session->pair_count == 0)
        return;
    for (size_t i = 0; i < session->pair_count; i++)
        round.pairs[i] = &session->pairs[i];
    read_before(session, driver);
    while (round.count > 0 && !xb_session_time_is_up(session)) {
        make_round(&round);
        read_after(session, driver, begin);
        choose_again(&round);
    }
    xb_session_lock(session);
    for (size_t i = 0; i < session->pair_count; i++)
        session->pairs[i].interrupted = session->pairs[i].cut && xb_interrupt_signal() != 0;
    xb_session_unlock(session);
}
