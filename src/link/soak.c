/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Load and rest, minute after minute, in the process that measures. */
#include "session.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_S 60.0
/* At the end of each minute nothing is copied for so long. What is counted after the first second
 * counts: a link that trains down has done so by then, or does so once. */
#define REST_S 5.0
#define SETTLE_S 1.0
/* Between two readings under load, which take some 7 ms a device, in which nothing is copied. */
#define LOOK_S 1.0

/* The loads, each of all devices at once. */
static const char *const both_ways[] = {"--mode=pinned", "--direction=bidir", "--device", NULL};
static const char *const kernels[] = {"--mode=double-buffer", "--device", NULL};
static const char *const peers[] = {
    "--mode=peer", "--peer-path=direct-write", "--by=engine", "--direction=bidir", "--pairs", NULL};

/* What the line of a minute may end with: the gravest of what was noticed in it. */
enum trouble { NONE, SLOWED, REDUCED, WRONG, GONE };
static const char *const troubles[] = {"", "slowed down", "A LINK FELL", "DATA WRONG", "GPU GONE"};

struct soak {
    struct xb_link_session *session;
    struct xb_link_soak *kept; /* the session's */
    int channel;               /* takes a line a minute */
    unsigned minute;
    enum trouble trouble;                         /* of this minute */
    struct xb_soak_range now[XB_SOAK_QUANTITIES]; /* of this minute, by devices' places */
    /* The turn that is made. */
    struct xb_run *run; /* NULL at rest */
    bool crosses_pcie;
    double late;   /* how long a turn took behind its end, to verify and to release: the most */
    double looked; /* when it was last looked at; 0: not yet */
    struct xb_link_attempt *attempts; /* of each device */
};

static size_t place_of(const struct soak *soak, unsigned index)
{
    size_t i = 0;
    while (xb_link_index(soak->session, i) != index)
        i++;
    return i;
}

static void notice(struct soak *soak, bool is_so, enum trouble trouble)
{
    soak->trouble = is_so && trouble > soak->trouble ? trouble : soak->trouble;
}

/* Reads where all devices are and what they have counted, before a turn or after it. */
static void read_all(struct soak *soak, bool before)
{
    for (size_t i = 0; i < soak->session->device_count; i++) {
        struct xb_link_attempt *attempt = &soak->attempts[i];
        if (before)
            memset(attempt, 0, sizeof *attempt);
        xb_pcie_path_read(soak->session->sysfs, soak->session->devices[i].info.pci_bdf,
                          before ? &attempt->at_rest : &attempt->after);
        /* While copies cross PCIe, what is counted is read during the turn. */
        if (!soak->crosses_pcie)
            xb_health_read(soak->session->driver, xb_link_index(soak->session, i),
                           XB_HEALTH_COUNTERS | XB_HEALTH_NVLINKS,
                           before ? &attempt->health_before : &attempt->health_after);
    }
}

/* ---- under load ---- */

/* What is counted between the first reading of a turn and the last is counted under load. */
static void count(struct xb_link_attempt *attempt, const struct xb_device_health *health,
                  double since_last)
{
    const uint64_t was = attempt->health_after.counts[XB_PCIE_RETRAINS];
    const uint64_t now = health->counts[XB_PCIE_RETRAINS];
    if (since_last == 0)
        attempt->health_before = *health;
    else if (now > was)
        attempt->conditions[0].retrains += now - was;
    attempt->health_after = *health;
    attempt->health_seconds += since_last;
}

/* A copy of every device has just ended. */
static void look(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    struct soak *soak = argument;
    struct xb_link_session *session = soak->session;
    const double now = xb_clock_now(), since_last = soak->looked > 0 ? now - soak->looked : 0;
    (void)run;
    (void)bandwidth;
    if (samples == 0 || now < soak->looked + LOOK_S)
        return;
    for (size_t i = 0; i < session->device_count; i++) {
        struct xb_soak_device *device = &soak->kept->devices[i];
        struct xb_run_device *where = &soak->run->devices[i];
        struct xb_device_health health;
        xb_health_read(session->driver, xb_link_index(soak->session, i),
                       XB_HEALTH_COUNTERS | XB_HEALTH_CLOCKS | XB_HEALTH_POWER,
                       &health); /* not locked: it may hang */
        xb_link_session_lock(session);
        xb_soak_add_look(device, &health, soak->minute);
        if (soak->crosses_pcie) {
            count(&soak->attempts[i], &health, since_last);
            device->load_seconds += since_last;
            notice(soak, xb_soak_add_links(device, &where->path, &where->load, soak->minute),
                   REDUCED);
            memset(where->load.hops, 0, sizeof where->load.hops); /* of the next second */
        }
        xb_link_session_unlock(session);
        notice(soak, health.slowed_by_hardware, SLOWED);
        for (size_t q = XB_SOAK_TEMPERATURE; q < XB_SOAK_QUANTITIES; q++)
            if (device->ranges[q].count > 0)
                xb_soak_note(&soak->now[q], device->ranges[q].last, (unsigned)i);
    }
    soak->looked = now;
}

static void note(struct soak *soak, size_t place, enum xb_soak_quantity quantity, double rate)
{
    if (!xb_rate_known(rate))
        return;
    xb_soak_note(&soak->kept->devices[place].ranges[quantity], rate, soak->minute);
    xb_soak_note(&soak->now[quantity], rate, (unsigned)place);
}

/* Takes what a row says of its device, or of both of its pair. `wrong`: some row's data is, and all
 * others have failed with it. */
static void take_row(struct soak *soak, const struct xb_result *result, bool wrong)
{
    const struct xb_case *test = &result->test;
    const size_t place = place_of(soak, test->device), is_pair = test->peer != XB_NO_PEER;
    const size_t peer = is_pair ? place_of(soak, (unsigned)test->peer) : place;
    for (size_t i = 0; result->row.status == XB_RESULT_OK && i < result->figure_count; i++) {
        const struct xb_figure *figure = result->figures[i].figure;
        const double rate = xb_result_median(result, figure);
        if (figure == &xb_figure_bandwidth_h2d)
            note(soak, place, XB_SOAK_TO_GPU, rate);
        else if (figure == &xb_figure_bandwidth_d2h)
            note(soak, place, XB_SOAK_BACK, rate);
        else if (strcmp(figure->name, "bandwidth_there") == 0)
            note(soak, place, XB_SOAK_PEER, rate);
        else if (strcmp(figure->name, "bandwidth_back") == 0)
            note(soak, peer, XB_SOAK_PEER, rate);
    }
    if (result->row.status == XB_RESULT_OK && test->mode->stages != NULL)
        note(soak, place, XB_SOAK_KERNELS, result->bandwidth.median / 2);
    for (size_t i = 0; i <= is_pair; i++) {
        struct xb_link_attempt *attempt = &soak->attempts[i == 0 ? place : peer];
        attempt->data_wrong = attempt->data_wrong || result->row.verified == XB_VERIFIED_FALSE;
        soak->kept->devices[i == 0 ? place : peer].verified +=
            result->row.verified == XB_VERIFIED_TRUE;
        if (result->row.status == XB_RESULT_ERROR && attempt->data_wrong == wrong)
            snprintf(attempt->failure, sizeof attempt->failure, "%.500s", result->reason);
    }
    if (result->row.status == XB_RESULT_SKIPPED && result->stop_reason == XB_STOP_NOT_YET)
        snprintf(soak->kept->left_out, sizeof soak->kept->left_out, "%s: %.200s", test->mode->name,
                 result->reason);
}

/* One turn: a load until that time; then every byte of the last copies is verified. */
static void load(struct soak *soak, const char *const *options, const char *names, double until)
{
    struct xb_link_session *session = soak->session;
    const struct xb_run_observer observer = {.progress = look, .argument = soak};
    const double begin = xb_clock_now();
    struct xb_link_run run;
    struct xb_error error;
    bool wrong = false;
    if (begin >= until || xb_link_time_is_up(session))
        return;
    soak->run = &run.run;
    soak->crosses_pcie = options != peers;
    soak->looked = 0;
    read_all(soak, true);
    enum xb_status status = xb_link_run_plan(session, options, names, &run, &error);
    run.run.deadline = fmin(until - fmin(soak->late, (until - begin) / 4), session->until);
    run.run.until_deadline = true;
    if (status == XB_OK) {
        xb_link_run_at_once(&run);
        status = xb_run_execute(&run.run, &observer, &error);
    }
    read_all(soak, false);
    xb_link_session_lock(session);
    for (size_t i = 0; status == XB_OK && i < run.run.case_count; i++)
        wrong = wrong || run.run.results[i].row.verified == XB_VERIFIED_FALSE;
    for (size_t i = 0; status == XB_OK && i < run.run.case_count; i++)
        if (!run.run.results[i].test.sum)
            take_row(soak, &run.run.results[i], wrong);
    for (size_t i = 0; i < session->device_count; i++) {
        struct xb_link_attempt *attempt = &soak->attempts[i];
        if (status != XB_OK)
            snprintf(attempt->failure, sizeof attempt->failure, "%.500s", error.message);
        if (!soak->crosses_pcie)
            attempt->health_seconds = xb_clock_now() - begin;
        xb_soak_add_attempt(&soak->kept->devices[i], attempt, soak->minute);
        notice(soak, attempt->data_wrong, WRONG);
        notice(soak, xb_attempt_gone(attempt), GONE);
    }
    xb_link_session_unlock(session);
    soak->late = fmax(soak->late, xb_clock_now() - run.run.deadline);
    soak->run = NULL;
    xb_link_run_free(&run);
}

/* Whether the first test found that both devices reach each other's memory. */
static bool can_meet(const struct xb_link_session *session, size_t one, size_t other)
{
    size_t ways = 0;
    XB_EACH (pair, session->pairs, session->pair_count)
        ways += ((pair->from == one && pair->to == other) ||
                 (pair->from == other && pair->to == one)) &&
                pair->attempt_count > 0 && pair->attempts[0].there.can_access;
    return ways == 2;
}

/* Pairs that can meet, in rounds in which each device is in one of them. */
static void load_pairs(struct soak *soak, double until)
{
    const size_t count = soak->session->device_count, rounds = xb_round_count(count);
    const double begin = xb_clock_now(), turn_s = (until - begin) / (double)rounds;
    for (size_t round = 0; round < rounds; round++) {
        struct xb_words names = {.length = 0};
        for (size_t one = 0; one < count; one++) {
            size_t other = xb_round_partner(count, round, one);
            if (one < other && can_meet(soak->session, one, other))
                xb_words_add(&names, "%s%u:%u", names.length > 0 ? "," : "",
                             xb_link_index(soak->session, one),
                             xb_link_index(soak->session, other));
        }
        if (names.length > 0)
            load(soak, peers, names.text, begin + turn_s * (double)(round + 1));
    }
}

/* ---- at rest ---- */

static void rest(struct soak *soak, double until)
{
    struct xb_link_session *session = soak->session;
    soak->crosses_pcie = false;
    xb_link_sleep_until(session, fmin(xb_clock_now() + SETTLE_S, until));
    read_all(soak, true);
    const double begin = xb_clock_now();
    xb_link_sleep_until(session, until);
    if (xb_link_time_is_up(session))
        return;
    const double seconds = xb_clock_now() - begin;
    read_all(soak, false);
    xb_link_session_lock(session);
    for (size_t i = 0; i < session->device_count; i++) {
        soak->attempts[i].health_seconds = seconds;
        xb_soak_add_rest(&soak->kept->devices[i], &soak->attempts[i]);
    }
    xb_link_session_unlock(session);
}

/* ---- the whole ---- */

static void say(const struct soak *soak, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct soak *soak, const char *format, ...)
{
    char line[XB_SOAK_LINE] = "";
    XB_FORMAT(line, sizeof line, format);
    (void)xb_channel_write(soak->channel, line, sizeof line);
}

/* What all devices counted. */
static uint64_t errors_of(const struct xb_link_soak *soak)
{
    uint64_t all = 0, errors = 0;
    XB_EACH (device, soak->devices, soak->device_count) {
        (void)xb_link_errors(&device->facts, &errors);
        all += errors;
    }
    return all;
}

/* A GPU whose copies to it are slower than this share of the fastest's is named. */
#define APART 0.98

void xb_link_soak_run(struct xb_link_session *session, int channel)
{
    struct soak soak = {.session = session,
                        .kept = &session->soak,
                        .channel = channel,
                        .attempts = xb_new(session->device_count, sizeof *soak.attempts)};
    struct xb_words devices = {.length = 0};
    char row[XB_SOAK_ROW];
    const double begin = xb_clock_now(), end = begin + session->duration;
    /* A last minute of less than 20 s is part of the one before. */
    const unsigned minutes =
        (unsigned)fmin(fmax(session->duration / MINUTE_S + 2.0 / 3, 1), UINT_MAX);
    bool has_pairs = false;
    XB_EACH (pair, session->pairs, session->pair_count)
        has_pairs = has_pairs || can_meet(session, pair->from, pair->to);
    for (size_t i = 0; i < session->device_count; i++)
        xb_words_add(&devices, "%s%u", i > 0 ? "," : "", xb_link_index(session, i));
    say(&soak, "Soak of %s, a line a minute: from the lowest to the highest of %zu GPU%s\n",
        XB_SOAK_TIME(session->duration), session->device_count, XB_PLURAL(session->device_count));
    say(&soak, "MIN %s\n", xb_soak_row(NULL, row));
    while (soak.minute < minutes && !xb_link_time_is_up(session)) {
        const double from = xb_clock_now();
        const double until = ++soak.minute < minutes ? begin + soak.minute * MINUTE_S : end;
        const double rest_s = fmin(REST_S, (until - from) / 4);
        const double turn_s = (until - from - rest_s) / (has_pairs ? 3 : 2);
        const struct xb_soak_range *rates = &soak.now[XB_SOAK_TO_GPU];
        const uint64_t errors_before = errors_of(soak.kept);
        char text[48] = "";
        memset(soak.now, 0, sizeof soak.now);
        soak.trouble = NONE;
        session->soak.minutes = soak.minute;
        load(&soak, both_ways, devices.text, from + turn_s);
        load(&soak, kernels, devices.text, from + 2 * turn_s);
        if (has_pairs)
            load_pairs(&soak, from + 3 * turn_s);
        rest(&soak, until);
        session->soak.took = xb_clock_now() - begin;
        const uint64_t errors = errors_of(soak.kept) - errors_before;
        if (soak.trouble != NONE)
            snprintf(text, sizeof text, "  %s", troubles[soak.trouble]);
        else if (errors > 0)
            snprintf(text, sizeof text, "  %" PRIu64 " error%s", errors, XB_PLURAL(errors));
        else if (rates->least < APART * rates->most)
            snprintf(text, sizeof text, "  low: GPU %u", xb_link_index(session, rates->least_in));
        say(&soak, "%3u %s%s\n", soak.minute, xb_soak_row(soak.now, row), text);
    }
    xb_link_session_lock(session);
    session->soak.interrupted = xb_interrupt_signal() != 0;
    session->soak.ended = soak.minute == minutes && !xb_link_time_is_up(session);
    xb_link_session_unlock(session);
    free(soak.attempts);
}
