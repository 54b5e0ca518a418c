/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from NVML, and what a verdict makes of it, over a library that stands in for it. */
#include "backends/cuda/nvml.h"
#include "doubles/fake_nvml.h"
#include "link/verdict.h"

#include <dlfcn.h>

#include "testing.h"

#define FIXTURE_TEST(function) TEST_WITH(function, start, NULL)

#define DEVICE "0000:0f:00.0"
#define OTHER "0000:1f:00.0"

static struct fake_nvml *fake;
static struct xb_device_health before, after; /* large */

/* Once a library of that name is open, whoever asks for the name gets it. */
static int open_the_fake(NO_STATE)
{
    void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return -1;
    fake = dlsym(library, "fake_nvml");
    return fake != NULL ? 0 : -1;
}

/* A healthy device: what a link repairs by itself is counted. */
static int start(NO_STATE)
{
    *fake = (struct fake_nvml){.kind = FAKE_NVML_HOPPER};
    for (size_t i = 0; i < FAKE_NVML_LINKS; i++)
        fake->links[0][i].rises[FAKE_NVML_CRC_DATA] = fake->links[0][i].rises[FAKE_NVML_ECC_DATA] =
            90;
    return 0;
}

/* What is said of what happens between two readings. */
static struct xb_findings judge(void)
{
    struct xb_verdict verdict = {.best = 0};
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &before);
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    xb_nvlink_facts_add(&verdict.facts.nvlinks, &before, &after, 1);
    xb_judge_nvlinks(&verdict);
    return verdict.found;
}

static void assert_found(const char *code)
{
    struct xb_findings findings = judge();
    assert_string_equal(findings.reason_count > 0 ? findings.reasons[0].code : "", code);
    assert_true(findings.reason_count <= 1);
}

FIXTURE_TEST(tells_the_state_of_a_device)
{
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    assert_true(after.replays_known && after.clocks_known && after.throttle_known);
    assert_int_equal(after.replays, 7);
    assert_int_equal(after.sm_clock_mhz, 1980);
    assert_int_equal(after.memory_clock_mhz, 3201);
    assert_string_equal(after.throttle, "idle, power cap");
    assert_false(after.slowed_by_hardware);
}

/* By the numbers of the NVML API Reference Guide, "Field Value Enums". */
FIXTURE_TEST(tells_what_the_pcie_link_counts)
{
    static const unsigned fields[XB_PCIE_COUNTERS] = {169, 173, 174, 175, 176, 177,
                                                      178, 179, 180, 181, 182, 183};
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        assert_true(after.counted[i]);
        assert_int_equal(after.counts[i], fields[i]);
    }
    assert_true(after.traffic_known);
    assert_int_equal(after.bytes_sent, 197);
    assert_int_equal(after.bytes_received, 198);
    assert_int_equal(after.memory_clock_best_mhz, 3202);
    fake->no_pcie = true;
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        assert_false(after.counted[i]);
    assert_false(after.traffic_known);
    assert_true(after.replays_known);
}

FIXTURE_TEST(reads_the_parts_that_are_asked_for)
{
    for (unsigned parts = 0; parts <= XB_HEALTH_ALL; parts++) {
        memset(&after, 0xa5, sizeof after);
        xb_nvml_health(DEVICE, parts, &after);
        assert_int_equal(after.replays_known, (parts & XB_HEALTH_COUNTERS) != 0);
        assert_int_equal(after.counted[XB_PCIE_FATAL], (parts & XB_HEALTH_COUNTERS) != 0);
        assert_int_equal(after.traffic_known, (parts & XB_HEALTH_TRAFFIC) != 0);
        assert_int_equal(after.clocks_known, (parts & XB_HEALTH_CLOCKS) != 0);
        assert_int_equal(after.throttle_known, (parts & XB_HEALTH_CLOCKS) != 0);
        assert_int_equal(after.nvlinks_known, (parts & XB_HEALTH_NVLINKS) != 0);
    }
}

FIXTURE_TEST(tells_each_link)
{
    fake->links[0][2].missing = true;
    fake->links[0][5].inactive = true;
    fake->links[0][7].counts[FAKE_NVML_REPLAY] = 11;
    fake->links[0][7].counts[FAKE_NVML_RECOVERY] = 12;
    fake->links[0][7].counts[FAKE_NVML_CRC_FLIT] = 13;
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    assert_true(after.nvlinks_known);
    assert_int_equal(after.nvlinks_active, FAKE_NVML_LINKS - 2);
    assert_int_equal(after.nvlinks_inactive, 1);
    for (unsigned i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink *link = &after.nvlinks[i];
        assert_int_equal(link->known, i < FAKE_NVML_LINKS && i != 2);
        assert_int_equal(link->active, link->known && i != 5);
        assert_true(link->rate == (link->active ? 26.562e9 : 0));
        assert_int_equal(link->counted[XB_NVLINK_RECOVERIES], link->known);
        assert_false(link->counted[XB_NVLINK_FAILED_RECOVERIES]);
        assert_int_equal(link->counts[XB_NVLINK_REPLAYS], i == 7 ? 11 : 0);
        assert_int_equal(link->counts[XB_NVLINK_RECOVERIES], i == 7 ? 12 : 0);
        assert_int_equal(link->counts[XB_NVLINK_CRC_ERRORS], i == 7 ? 13 : 0);
    }
}

FIXTURE_TEST(asks_the_function_where_there_are_no_fields)
{
    fake->kind = FAKE_NVML_OLD_DRIVER;
    fake->links[0][7].counts[FAKE_NVML_REPLAY] = 11;
    fake->links[0][7].counts[FAKE_NVML_RECOVERY] = 12;
    fake->links[0][7].counts[FAKE_NVML_CRC_FLIT] = 13;
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    assert_true(after.nvlinks[7].rate == 26.562e9);
    assert_int_equal(after.nvlinks[7].counts[XB_NVLINK_REPLAYS], 11);
    assert_int_equal(after.nvlinks[7].counts[XB_NVLINK_RECOVERIES], 12);
    assert_int_equal(after.nvlinks[7].counts[XB_NVLINK_CRC_ERRORS], 13);
    assert_found("");
}

FIXTURE_TEST(tells_what_blackwell_counts)
{
    fake->kind = FAKE_NVML_BLACKWELL;
    fake->links[0][7].counts[FAKE_NVML_RECOVERY] = 12;
    fake->links[0][7].counts[FAKE_NVML_FAILED_RECOVERY] = 2;
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    assert_false(after.nvlinks[7].counted[XB_NVLINK_REPLAYS]);
    assert_false(after.nvlinks[7].counted[XB_NVLINK_CRC_ERRORS]);
    assert_int_equal(after.nvlinks[7].counts[XB_NVLINK_RECOVERIES], 12);
    assert_int_equal(after.nvlinks[7].counts[XB_NVLINK_FAILED_RECOVERIES], 2);
    fake->links[0][7].rises[FAKE_NVML_FAILED_RECOVERY] = 1;
    assert_found("XB-NVLINK-ERRORS");
}

/* Seen on two H200s: CRC_DATA and ECC_DATA rise on every link. */
FIXTURE_TEST(a_healthy_device_raises_no_alarm)
{
    assert_found("");
    for (size_t i = 0; i < FAKE_NVML_LINKS; i++) {
        fake->links[0][i].counts[FAKE_NVML_REPLAY] = 100; /* before the test */
        fake->links[0][i].rises[FAKE_NVML_CRC_FLIT] = 100;
        fake->links[0][i].rises[FAKE_NVML_REPLAY] = 1;
    }
    assert_found("");
}

FIXTURE_TEST(faults_are_found)
{
    fake->links[0][4].rises[FAKE_NVML_RECOVERY] = 1;
    assert_found("XB-NVLINK-ERRORS");
    start(NULL);
    fake->links[0][4].rises[FAKE_NVML_REPLAY] = 100;
    assert_found("XB-NVLINK-REPLAY");
    start(NULL);
    fake->links[0][4].falls = true;
    assert_found("XB-NVLINK-DOWN");
}

FIXTURE_TEST(tells_how_two_devices_are_connected)
{
    struct xb_peer_info info = {.can_access = true};
    fake->links[0][3].inactive = true;
    assert_true(xb_nvml_describe_pair(DEVICE, OTHER, &info));
    assert_string_equal(info.link, "NVLink");
    assert_int_equal(info.links, FAKE_NVML_LINKS - 1);
    assert_true(info.link_rate == 26.562e9);
    fake->fast_links = true;
    assert_true(xb_nvml_describe_pair(DEVICE, OTHER, &info));
    assert_true(info.link_rate == 2656.2e9);
    info = (struct xb_peer_info){.can_access = true};
    fake->no_nvlink = true;
    assert_true(xb_nvml_describe_pair(DEVICE, OTHER, &info));
    assert_string_equal(info.link, "");
    assert_int_equal(info.links, 0);
}

FIXTURE_TEST(tells_nothing_of_a_device_it_does_not_know)
{
    xb_nvml_device device = NULL;
    for (unsigned i = 0; i <= FAKE_NVML_DEVICES; i++) { /* more than it has room for */
        char bus_id[32];
        snprintf(bus_id, sizeof bus_id, "0000:%02x:01.0", i);
        (void)xb_nvml_find(bus_id, &device);
    }
    memset(&after, 0xa5, sizeof after);
    xb_nvml_health("0000:ff:00.0", XB_HEALTH_ALL, &after);
    assert_false(after.replays_known || after.clocks_known || after.throttle_known);
    assert_false(after.nvlinks_known);
    for (size_t i = 0; i < XB_NVLINKS; i++)
        assert_false(after.nvlinks[i].known);
}

GROUP(open_the_fake, NULL)
