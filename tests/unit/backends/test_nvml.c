/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from NVML, and what a verdict makes of it, over a library that stands in for it. */
#include "backends/cuda/nvml.h"
#include "doubles/fake_nvml.h"
#include "link/verdict.h"
#include "rows.h"

#include <dlfcn.h>

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

/* "old driver", "blackwell", "no PCIe", or of a link: "2 missing", "5 inactive", "4 falls", "7 has
 * 11 replays", "4 gets 1 recoveries" between the readings; "all" are all links. */
static void change_device(const char *word)
{
    static const struct {
        const char *name;
        unsigned counter;
    } counters[] = {{"replays", FAKE_NVML_REPLAY},
                    {"recoveries", FAKE_NVML_RECOVERY},
                    {"failed", FAKE_NVML_FAILED_RECOVERY},
                    {"flits", FAKE_NVML_CRC_FLIT}};
    unsigned link = 0, count = 0;
    char what[16] = "", name[16] = "";
    bool all = strncmp(word, "all ", 4) == 0;
    if (sscanf(word, "%u %15s %u %15s", &link, what, &count, name) < 2)
        (void)sscanf(word, "all %15s %u %15s", what, &count, name);
    if (strcmp(word, "old driver") == 0)
        fake->kind = FAKE_NVML_OLD_DRIVER;
    else if (strcmp(word, "blackwell") == 0)
        fake->kind = FAKE_NVML_BLACKWELL;
    else if (strcmp(word, "no PCIe") == 0)
        fake->no_pcie = true;
    for (unsigned i = all ? 0 : link; what[0] != '\0' && i <= (all ? FAKE_NVML_LINKS - 1 : link);
         i++) {
        fake->links[0][i].missing |= strcmp(what, "missing") == 0;
        fake->links[0][i].inactive |= strcmp(what, "inactive") == 0;
        fake->links[0][i].falls |= strcmp(what, "falls") == 0;
        for (size_t k = 0; k < sizeof counters / sizeof counters[0]; k++)
            if (strcmp(counters[k].name, name) == 0 && strcmp(what, "has") == 0)
                fake->links[0][i].counts[counters[k].counter] = count;
            else if (strcmp(counters[k].name, name) == 0)
                fake->links[0][i].rises[counters[k].counter] = count;
    }
}

static void say_links(char said[ROW_TEXT])
{
    static const char *const counters[XB_NVLINK_COUNTERS] = {[XB_NVLINK_REPLAYS] = "replays",
                                                             [XB_NVLINK_RECOVERIES] = "recoveries",
                                                             [XB_NVLINK_FAILED_RECOVERIES] =
                                                                 "failed",
                                                             [XB_NVLINK_CRC_ERRORS] = "CRC"};
    say_also(said, "%u active, %u not", before.nvlinks_active, before.nvlinks_inactive);
    for (unsigned i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink *link = &before.nvlinks[i];
        char own[100] = "";
        assert_true(link->rate == (link->active ? 26.562e9 : 0));
        for (size_t k = 0; k < XB_NVLINK_COUNTERS; k++)
            if (link->counted[k] && (link->counts[k] > 0 || i == 0))
                snprintf(own + strlen(own), sizeof own - strlen(own), " %d %s",
                         (int)link->counts[k], counters[k]);
        if (own[0] != '\0' || link->known != (i < FAKE_NVML_LINKS) || link->active != link->known)
            say_also(said, "; %u%s%s%s", i, link->known ? "" : " unknown",
                     link->active ? "" : " inactive", own);
    }
}

/* What is told after the changes, which may be several, and what a verdict finds then. */
static void say_device(const struct row *row, char said[ROW_TEXT])
{
    (void)start(NULL);
    for (size_t i = 0; i < row->count; i++)
        change_device(row->part[i]);
    struct xb_findings findings = judge();
    assert_true(before.nvlinks_known);
    say_links(said);
    assert_true(findings.reason_count <= 1);
    say_also(said, "; finds %s", findings.reason_count > 0 ? findings.reasons[0].code : "nothing");
}
TEST_ROWS(links_are_told_and_judged, say_device)

static void say_state(const struct row *row, char said[ROW_TEXT])
{
    (void)start(NULL);
    change_device(row->part[0]);
    xb_nvml_health(DEVICE, XB_HEALTH_ALL, &after);
    assert_true(after.replays_known && after.clocks_known && after.throttle_known);
    say_also(said, "%d replays, %u of %u MHz, memory %u of %u MHz, %s%s; PCIe", (int)after.replays,
             after.sm_clock_mhz, after.sm_clock_best_mhz, after.memory_clock_mhz,
             after.memory_clock_best_mhz, after.throttle,
             after.slowed_by_hardware ? ", slowed" : "");
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        if (after.counted[i])
            say_also(said, " %d", (int)after.counts[i]);
    if (after.traffic_known)
        say_also(said, "; %d sent, %d received", (int)after.bytes_sent, (int)after.bytes_received);
}
TEST_ROWS(the_state_of_a_device_is_told, say_state)

static void say_setup(const struct row *row, char said[ROW_TEXT])
{
    static const char *const words[] = {"not known", "on", "off"};
    struct xb_device_setup setup;
    (void)start(NULL);
    change_device(row->part[0]);
    fake->confidential = strcmp(row->part[0], "confidential") == 0;
    memset(&setup, 0xa5, sizeof setup);
    xb_nvml_setup(DEVICE, &setup);
    say_also(said, "serial %s, VBIOS %s, ECC %s, confidential %s (%s), %s", setup.serial,
             setup.vbios, words[setup.ecc], words[setup.confidential], setup.confidential_mode,
             setup.virtualisation);
}
TEST_ROWS(how_a_device_is_set_is_told, say_setup)

FIXTURE_TEST(reads_the_parts_that_are_asked_for)
{
    for (unsigned parts = 0; parts <= (XB_HEALTH_ALL | XB_HEALTH_POWER); parts++) {
        memset(&after, 0xa5, sizeof after);
        xb_nvml_health(DEVICE, parts, &after);
        assert_int_equal(after.replays_known, (parts & XB_HEALTH_COUNTERS) != 0);
        assert_int_equal(after.counted[XB_PCIE_FATAL], (parts & XB_HEALTH_COUNTERS) != 0);
        assert_int_equal(after.traffic_known, (parts & XB_HEALTH_TRAFFIC) != 0);
        assert_int_equal(after.clocks_known, (parts & XB_HEALTH_CLOCKS) != 0);
        assert_int_equal(after.throttle_known, (parts & XB_HEALTH_CLOCKS) != 0);
        assert_int_equal(after.nvlinks_known, (parts & XB_HEALTH_NVLINKS) != 0);
        assert_int_equal(after.temperature_c, (parts & XB_HEALTH_POWER) != 0 ? 40 : 0);
        assert_true(after.power_w == ((parts & XB_HEALTH_POWER) != 0 ? 123.4 : 0));
    }
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
