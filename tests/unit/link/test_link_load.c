/* SPDX-License-Identifier: Apache-2.0 */
/* The link that a run saw while its data moved, and the ceiling that its record has of that. */
#define _GNU_SOURCE

#include "measure/sample/measure.h"
#include "pcie_fixture.h"
#include "run_fixture.h"

#define WITH_TREE(name) TEST_WITH(name, make, remove_tree)

#define DEVICE PCIE_FIXTURE_DEVICE
#define UPPER "0000:00:01.0"

static int make(void **state)
{
    reset(state);
    xb_fake.pci_bdf = DEVICE;
    return make_tree(state);
}

/* ---- which look counts ---- */

static struct xb_run_device device_of(const char *root)
{
    const struct xb_run run = {.sysfs = root};
    struct xb_run_device device = {0};
    snprintf(device.info.pci_bdf, sizeof device.info.pci_bdf, "%s", DEVICE);
    xb_link_load_open(&run, &device);
    return device;
}

/* It must have ended before the data was there: at 10 s, of what took 1 s. */
WITH_TREE(a_look_counts_that_ended_while_data_moved)
{
    const struct xb_run run = {.sysfs = *state};
    struct xb_link_look look;
    pcie_fixture_scenario(*state, "healthy");
    struct xb_run_device device = device_of(*state);
    assert_int_equal(device.load.count, 1);
    xb_link_look_make(&run, &device, &look);
    assert_true(look.end > 0);
    look.end = 10.0;
    xb_link_look_count(&look, 9.0, 1.0, &device);
    assert_int_equal(device.load.hops[0].readings, 0);
    xb_link_look_count(&look, 9.5, 1.0, &device);
    assert_int_equal(device.load.hops[0].readings, 1);
    assert_true(device.load.hops[0].speed_gts == 32.0);
    assert_int_equal(device.load.hops[0].width, 16);
}

WITH_TREE(the_highest_look_stays)
{
    const struct xb_run run = {.sysfs = *state};
    struct xb_link_look look;
    pcie_fixture_scenario(*state, "gen1");
    struct xb_run_device device = device_of(*state);
    for (int i = 0; i < 3; i++) {
        pcie_fixture_set(*state, DEVICE, "current_link_speed",
                         i == 1 ? "32.0 GT/s PCIe\n" : "2.5 GT/s PCIe\n");
        xb_link_look_make(&run, &device, &look);
        xb_link_look_count(&look, look.end, 1.0, &device);
    }
    assert_int_equal(device.load.hops[0].readings, 3);
    assert_true(device.load.hops[0].speed_gts == 32.0);
}

/* A lower end that shows nothing is read at the upper one; where neither does there is nothing. */
WITH_TREE(a_look_takes_either_end)
{
    const struct xb_run run = {.sysfs = *state};
    struct xb_link_look look;
    pcie_fixture_scenario(*state, "x8");
    struct xb_run_device device = device_of(*state);
    pcie_fixture_remove(*state, DEVICE, "current_link_speed");
    xb_link_look_make(&run, &device, &look);
    xb_link_look_count(&look, look.end, 1.0, &device);
    assert_int_equal(device.load.hops[0].width, 8);
    pcie_fixture_remove(*state, UPPER, "current_link_width");
    xb_link_look_make(&run, &device, &look);
    xb_link_look_count(&look, look.end, 1.0, &device);
    assert_int_equal(device.load.hops[0].readings, 1);
}

WITH_TREE(a_device_without_a_path_is_not_looked_at)
{
    const struct xb_run run = {.sysfs = *state};
    struct xb_link_look look;
    struct xb_run_device device = device_of(*state);
    xb_link_look_make(&run, &device, &look);
    xb_link_look_count(&look, look.end, 1.0, &device);
    assert_int_equal(device.load.count, 0);
}

/* ---- a run ---- */

static void tell_packets(const char *root)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 4096, -1);
    pcie_fixture_write_config(root, DEVICE, bytes, sizeof bytes);
    pcie_fixture_write_config(root, UPPER, bytes, sizeof bytes);
}

/* The record of copies of 64 KiB, whose operations take so many virtual seconds each. */
static void record_run(const char *root, double operation_s, struct xb_record *record)
{
    struct xb_error error;
    struct fixture f;
    xb_fake.device_memory_free = 1u << 30; /* of its own, behind the link */
    xb_fake.operation_s = operation_s;
    PLAN(&f, "--mode", "pinned", "--direction", "both,bidir", "--size", "64K", "--time-limit", "1s",
         "--samples=2");
    f.run.sysfs = root;
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(xb_record_take_run(&f.run, record, &error), XB_OK);
    finish(&f);
}

/* A look takes real time, the fake's copies virtual time: none ends within 1000 s. */
#define LONG_S 1000.0

static double share(const struct xb_record *record, size_t index, const char *name)
{
    return xb_record_median(record, &record->cases[index], name);
}

static double rate(const struct xb_record *record, size_t index, const char *name)
{
    return xb_record_median(record, &record->cases[index], name);
}

/* Gen5 x16: 58.081 GB/s to the device and 57.459 from it. */
WITH_TREE(a_run_knows_its_ceiling)
{
    struct xb_record record = {0};
    pcie_fixture_scenario(*state, "healthy");
    tell_packets(*state);
    record_run(*state, LONG_S, &record);
    const struct xb_ceiling *ceiling = &record.processes[0].devices[0].ceiling;
    assert_true(ceiling->known);
    assert_string_equal(record.processes[0].devices[0].ceiling_at, DEVICE);
    assert_true(ceiling->speed_gts == 32.0);
    assert_int_equal(ceiling->width, 16);
    assert_int_equal(ceiling->payload, 256);
    assert_int_equal(ceiling->read_request, 4096);
    expect_near(ceiling->h2d, 58080802266.03722, "h2d"); /* as of bench/results/h200/link-1.json */
    expect_near(ceiling->d2h, 57458507956.04396, "d2h");
    expect_near(share(&record, 0, "share_of_ceiling"), rate(&record, 0, "bandwidth") / ceiling->h2d,
                "share of h2d");
    expect_near(share(&record, 1, "share_of_ceiling"), rate(&record, 1, "bandwidth") / ceiling->d2h,
                "share of d2h");
    expect_near(share(&record, 2, "share_of_ceiling_h2d"),
                rate(&record, 2, "bandwidth_h2d") / ceiling->h2d, "share of bidir's h2d");
    expect_near(share(&record, 2, "share_of_ceiling_d2h"),
                rate(&record, 2, "bandwidth_d2h") / ceiling->d2h, "share of bidir's d2h");
    assert_true(isnan(share(&record, 2, "share_of_ceiling"))); /* of which way? */
    xb_record_free(&record);
}

/* Who is not root cannot read the sizes of packets. */
WITH_TREE(a_run_without_packets_has_no_ceiling)
{
    struct xb_record record = {0};
    pcie_fixture_scenario(*state, "healthy");
    record_run(*state, LONG_S, &record);
    assert_false(record.processes[0].devices[0].ceiling.known);
    assert_true(isnan(share(&record, 0, "share_of_ceiling")));
    xb_record_free(&record);
}

/* As on GH200, whose copies cross NVLink-C2C. */
WITH_TREE(a_coherent_device_has_no_ceiling)
{
    struct xb_record record = {0};
    struct xb_error error;
    struct fixture f;
    pcie_fixture_scenario(*state, "healthy");
    tell_packets(*state);
    xb_fake.operation_s = LONG_S;
    PLAN(&f, "--mode", "pinned", "--size", "64K", "--samples=1");
    f.run.sysfs = *state;
    go(&f, NULL);
    assert_int_equal(f.run.devices[0].load.hops[0].readings > 0, true);
    f.run.devices[0].info.coherent_with_host = true;
    assert_int_equal(xb_record_of_run(&f.run, &record, &error), XB_OK);
    assert_false(record.processes[0].devices[0].ceiling.known);
    xb_record_free(&record);
    finish(&f);
}

/* What does not cross the link says nothing of it. */
WITH_TREE(copies_between_devices_are_not_looked_at)
{
    struct fixture f;
    pcie_fixture_scenario(*state, "gen1");
    xb_fake.device_count = 2;
    xb_fake.operation_s = LONG_S;
    PLAN(&f, "--mode", "peer", "--size", "64K", "--samples=1");
    f.run.sysfs = *state;
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.devices[0].load.hops[0].readings, 0);
    finish(&f);
}

/* Samples of less than half a millisecond leave no time to look at a link. */
WITH_TREE(a_run_of_short_samples_has_no_ceiling)
{
    struct xb_record record = {0};
    xb_fake.held_operations = 2; /* one copy each way a sample */
    pcie_fixture_scenario(*state, "healthy");
    tell_packets(*state);
    record_run(*state, 0, &record);
    assert_false(record.processes[0].devices[0].ceiling.known);
    xb_record_free(&record);
}
