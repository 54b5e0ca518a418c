/* SPDX-License-Identifier: Apache-2.0 */
/* What minutes of load and rest come to: soak.txt. test_soak has no machine; golden/link/soak has.
 */
#include "link/verdict_soak.h"
#include "rows.h"

#include <math.h>

static struct xb_link_device gpu = {.info.architecture = "sm_90"};
static struct xb_soak_device seen;
static struct xb_verdict verdict;

static bool finds(const char *code)
{
    const struct xb_link_soak soak = {.ended = true, .devices = &seen, .device_count = 1};
    memset(&verdict, 0, sizeof verdict);
    seen.verified = 1;
    xb_judge_soak(&soak, 0, &gpu, &verdict);
    return xb_finding_is_any(&verdict.found, (const char *const[]){code, NULL});
}

/* Trainings a second | trainings to go to rest, in its second second | minutes: said for so many of
 * 100 phases. The rests are of 4 s, which is 56 s to 60 s of each minute. */
static void say_rests(const struct row *row, char said[ROW_TEXT])
{
    static struct xb_link_attempt rest;
    unsigned found = 0;
    for (unsigned phase = 0; phase < 100; phase++) {
        seen = (struct xb_soak_device){.rests = 0};
        for (int minute = 0; minute < atoi(row->part[2]); minute++) {
            const double rate = atof(row->part[0]), begin = 56 + 60 * minute + phase / 100.0;
            rest = (struct xb_link_attempt){.health_seconds = 4};
            rest.health_before.counted[XB_PCIE_RETRAINS] = true;
            rest.health_before.counts[XB_PCIE_RETRAINS] = (uint64_t)(rate * begin);
            rest.health_after = rest.health_before;
            rest.health_after.counts[XB_PCIE_RETRAINS] =
                (uint64_t)(rate * (begin + 4)) + strtoul(row->part[1], NULL, 10);
            xb_soak_add_rest(&seen, &rest);
        }
        found += finds("XB-LINK-RESTLESS");
    }
    say_also(said, "%u", found);
}
TEST_ROWS(links_that_do_not_rest_are_found, say_rests)

/* What is counted in each turn of 18 s | turns: the codes. */
static void say_turns(const struct row *row, char said[ROW_TEXT])
{
    static struct xb_link_attempt turn;
    static const enum xb_pcie_counter counters[] = {XB_PCIE_BAD_TLPS, XB_PCIE_RETRAINS,
                                                    XB_PCIE_NONFATAL};
    static const char *const names[] = {"bad", "retrains", "nonfatal"};
    seen = (struct xb_soak_device){.rests = 0};
    for (int i = 0; i < atoi(row->part[2]); i++) {
        turn = (struct xb_link_attempt){.health_seconds = 18};
        seen.load_seconds += 18;
        for (size_t k = 0; k < sizeof counters / sizeof counters[0]; k++) {
            const bool is_it = strcmp(row->part[0], names[k]) == 0;
            turn.health_before.counted[counters[k]] = turn.health_after.counted[counters[k]] = true;
            turn.health_after.counts[counters[k]] = is_it ? strtoul(row->part[1], NULL, 10) : 0;
        }
        turn.conditions[0].retrains = turn.health_after.counts[XB_PCIE_RETRAINS];
        turn.health_before.replays_known = turn.health_after.replays_known = true;
        turn.health_after.replays =
            strcmp(row->part[0], "replays") == 0 ? strtoul(row->part[1], NULL, 10) : 0;
        xb_soak_add_attempt(&seen, &turn, 1);
    }
    (void)finds("");
    say_also(said, "%s",
             verdict.found.reason_count > 0 ? verdict.found.reasons[0].code : "nothing");
}
TEST_ROWS(what_is_counted_under_load_is_judged_as_a_rate, say_turns)

/* An hour of readings is kept in the room of one. */
TEST(a_range_is_what_was_read)
{
    struct xb_soak_range range = {.count = 0};
    for (unsigned second = 0; second < 3600; second++)
        xb_soak_note(&range, second == 1800 ? 40 : 50 + second % 11, second / 60 + 1);
    assert_int_equal(range.count, 3600);
    assert_true(range.least == 40 && range.least_in == 31 && range.most == 60);
    assert_true(range.first == 50 && range.last == 52 && fabs(range.mean - 55) < 0.01);
}

TEST(what_slows_a_gpu_down_is_told_apart)
{
    struct xb_device_health health = {.throttle_known = true, .throttle = "idle, power cap"};
    seen = (struct xb_soak_device){.rests = 0};
    xb_soak_add_look(&seen, &health, 1);
    snprintf(health.throttle, sizeof health.throttle, "power cap, hardware thermal slowdown");
    health.slowed_by_hardware = true;
    xb_soak_add_look(&seen, &health, 2);
    assert_int_equal(seen.reason_count, 2);
    assert_string_equal(seen.reasons[0].words, "power cap");
    assert_int_equal(seen.reasons[0].looks, 2);
    assert_int_equal(seen.reasons[1].looks, 1);
    assert_int_equal(seen.slowed_in, 2);
    assert_true(finds("XB-THROTTLE"));
}
