/* SPDX-License-Identifier: Apache-2.0 */
/* Which looks at a link count: golden/run/on-a-pcie-link has what a record has of them. */
#define _GNU_SOURCE
#include "measure/sample/measure.h"
#include "pcie_fixture.h"

#define DEVICE PCIE_FIXTURE_DEVICE
#define UPPER "0000:00:01.0"

static struct xb_run_device device_of(const char *root)
{
    const struct xb_run run = {.sysfs = root};
    struct xb_run_device device = {0};
    snprintf(device.info.pci_bdf, sizeof device.info.pci_bdf, "%s", DEVICE);
    xb_link_load_open(&run, &device);
    return device;
}

/* It must have ended before the data was there: at 10 s, of what took 1 s. */
TREE_TEST(a_look_counts_that_ended_while_data_moved)
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

TREE_TEST(the_highest_look_stays)
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
TREE_TEST(a_look_takes_either_end)
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

TREE_TEST(a_device_without_a_path_is_not_looked_at)
{
    const struct xb_run run = {.sysfs = *state};
    struct xb_link_look look;
    struct xb_run_device device = device_of(*state);
    xb_link_look_make(&run, &device, &look);
    xb_link_look_count(&look, look.end, 1.0, &device);
    assert_int_equal(device.load.count, 0);
}
