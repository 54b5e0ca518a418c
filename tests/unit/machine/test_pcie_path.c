/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw */
#include "machine/pcie.h"
#include "pcie_fixture.h"

#define DEVICE PCIE_FIXTURE_DEVICE
#define ROOT_PORT "0000:00:01.0"

static struct xb_pcie_path read_path(const char *root)
{
    struct xb_pcie_path path;

    memset(&path, 0xa5, sizeof path); /* nothing may depend on what was there */
    xb_pcie_path_read(root, DEVICE, &path);
    return path;
}

static struct xb_pcie_path read_scenario(const char *root, const char *name)
{
    assert_string_equal(pcie_fixture_scenario(root, name), DEVICE);
    struct xb_pcie_path path = read_path(root);
    assert_true(path.present);
    return path;
}

static void assert_end(const struct xb_pcie_end *end, const char *bdf, unsigned vendor,
                       double speed, unsigned width)
{
    assert_string_equal(end->bdf, bdf);
    assert_int_equal(end->vendor, vendor);
    assert_true(end->link.known);
    assert_string_equal(end->link.port, bdf);
    assert_true(end->link.speed_gts == speed);
    assert_int_equal(end->link.width, width);
    assert_int_equal(end->numa_node, 0);
}

static void assert_best(const struct xb_pcie_hop *hop, double speed, unsigned width)
{
    assert_true(xb_pcie_hop_best(hop).speed_gts == speed);
    assert_int_equal(xb_pcie_hop_best(hop).width, width);
}

TREE_TEST(reads_a_card_in_a_slot)
{
    struct xb_pcie_path path = read_scenario(*state, "healthy");

    assert_int_equal(path.count, 1);
    assert_true(path.hops[0].has_upper);
    assert_false(path.hops[0].on_package);
    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 32.0, 16);
    assert_end(&path.hops[0].upper, ROOT_PORT, 0x8086, 32.0, 16);
    assert_best(&path.hops[0], 32.0, 16);
    assert_int_equal(path.numa_node, 0);
    assert_string_equal(path.local_cpus, "0-15,64-79");
    assert_int_equal(path.iommu_group, 12);
    assert_int_equal(path.hops[1].lower.vendor, 0);
    assert_false(path.hops[1].has_upper);
}

TREE_TEST(reads_missing_lanes)
{
    struct xb_pcie_path path = read_scenario(*state, "x8");

    assert_int_equal(path.count, 1);
    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 32.0, 8);
    assert_best(&path.hops[0], 32.0, 16);
}

TREE_TEST(reads_a_link_trained_down)
{
    struct xb_pcie_path path = read_scenario(*state, "gen3");

    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 8.0, 16);
    assert_end(&path.hops[0].upper, ROOT_PORT, 0x8086, 8.0, 16);
    assert_best(&path.hops[0], 32.0, 16);
}

TREE_TEST(reads_a_link_at_rest)
{
    struct xb_pcie_path path = read_scenario(*state, "gen1");

    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 2.5, 16);
    assert_best(&path.hops[0], 32.0, 16);
}

/* The inside of the switch, between its two ports, is no hop. */
TREE_TEST(pairs_the_ports_of_a_switch)
{
    struct xb_pcie_path path = read_scenario(*state, "switch-x8");

    assert_int_equal(path.count, 2);
    assert_true(path.hops[0].has_upper && path.hops[1].has_upper);
    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 32.0, 16);
    assert_end(&path.hops[0].upper, "0000:0e:04.0", 0x1000, 32.0, 16);
    assert_end(&path.hops[1].lower, "0000:0d:00.0", 0x1000, 32.0, 8);
    assert_end(&path.hops[1].upper, ROOT_PORT, 0x8086, 32.0, 8);
    assert_best(&path.hops[1], 32.0, 16);
    assert_false(path.hops[0].on_package || path.hops[1].on_package);
}

TREE_TEST(tells_a_package_from_a_slot)
{
    struct xb_pcie_path path = read_scenario(*state, "amd");

    assert_int_equal(path.count, 2);
    assert_true(path.hops[0].on_package);
    assert_end(&path.hops[0].lower, DEVICE, 0x1002, 32.0, 16);
    assert_end(&path.hops[0].upper, "0000:0e:00.0", 0x1002, 32.0, 16);
    assert_false(path.hops[1].on_package);
    assert_end(&path.hops[1].lower, "0000:0d:00.0", 0x1002, 16.0, 8);
    assert_end(&path.hops[1].upper, "0000:00:01.1", 0x1022, 16.0, 8);
    assert_best(&path.hops[1], 16.0, 8);
    /* The same that xb_pcie_link_read shows. */
    assert_string_equal(xb_pcie_link_read(*state, DEVICE).port, path.hops[1].lower.bdf);
}

/* Of whose vendor a bridge is says nothing where the device is another's, where another's stands
 * between, or where the bridge is the root port itself. */
TREE_TEST(takes_no_other_bridge_for_a_package)
{
    static const struct pcie_function chains[][6] = {
        {{"0000:00:01.0", "0x1022\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:01:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:02:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:03:00.0", "0x10de\n", PCIE_GEN4_X16, PCIE_GEN4_X16}},
        {{"0000:00:02.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:05:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16}},
        {{"0000:00:03.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:06:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:07:00.0", "0x1000\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:08:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16}},
        {{"0000:00:04.0", "0x1022\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:09:00.0", "0x1000\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:0a:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:0b:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:0c:00.0", "0x1000\n", PCIE_GEN4_X16, PCIE_GEN4_X16},
         {"0000:0d:00.0", "0x1002\n", PCIE_GEN4_X16, PCIE_GEN4_X16}},
    };
    static const size_t counts[] = {4, 2, 4, 6};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct xb_pcie_path path;
        pcie_fixture_chain(*state, chains[i], counts[i]);
        xb_pcie_path_read(*state, chains[i][counts[i] - 1].bdf, &path);
        assert_int_equal(path.count, counts[i] / 2);
        for (size_t j = 0; j < path.count; j++)
            assert_false(path.hops[j].on_package);
    }
}

TREE_TEST(reads_a_virtual_machine)
{
    struct xb_pcie_path path = read_scenario(*state, "vm");

    assert_int_equal(path.count, 1);
    assert_false(path.hops[0].has_upper);
    assert_string_equal(path.hops[0].upper.bdf, "");
    assert_end(&path.hops[0].lower, DEVICE, 0x10de, 32.0, 16);
    assert_best(&path.hops[0], 32.0, 16);
}

/* More than there is room for: the nearest are kept. */
TREE_TEST(stops_where_there_is_no_more_room)
{
    static char names[2 * XB_PCIE_HOPS + 3][16];
    struct pcie_function chain[2 * XB_PCIE_HOPS + 3];
    size_t count = sizeof chain / sizeof *chain;

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "0000:%02zx:00.0", (i + 0x20) % 256);
        chain[i] = (struct pcie_function){names[i], "0x1000\n", PCIE_GEN4_X16, PCIE_GEN4_X16};
    }
    chain[count - 1].bdf = DEVICE;
    pcie_fixture_chain(*state, chain, count);
    struct xb_pcie_path path = read_path(*state);
    assert_int_equal(path.count, XB_PCIE_HOPS);
    assert_string_equal(path.hops[0].lower.bdf, DEVICE);
    assert_string_equal(path.hops[XB_PCIE_HOPS - 1].upper.bdf, chain[3].bdf);
}

TREE_TEST(knows_each_end_by_itself)
{
    struct xb_pcie_path path = read_scenario(*state, "unknown-speed");

    assert_int_equal(path.count, 1);
    assert_false(path.hops[0].lower.link.known || path.hops[0].upper.link.known);
    assert_string_equal(path.hops[0].lower.link.port, "");
    assert_string_equal(path.hops[0].lower.bdf, DEVICE);
    assert_best(&path.hops[0], 0.0, 16); /* the width is there all the same */

    pcie_fixture_set(*state, ROOT_PORT, "max_link_speed", "16.0 GT/s PCIe\n");
    pcie_fixture_set(*state, ROOT_PORT, "max_link_width", "8\n");
    path = read_path(*state);
    assert_best(&path.hops[0], 16.0, 8);
    pcie_fixture_set(*state, DEVICE, "max_link_speed", "32.0 GT/s PCIe\n");
    path = read_path(*state);
    assert_best(&path.hops[0], 16.0, 8);
    pcie_fixture_set(*state, ROOT_PORT, "max_link_speed", "Unknown\n");
    pcie_fixture_set(*state, ROOT_PORT, "max_link_width", "0\n");
    path = read_path(*state);
    assert_best(&path.hops[0], 32.0, 16);
}

TREE_TEST(survives_what_it_cannot_read)
{
    static const char *const names[] = {"current_link_speed",
                                        "current_link_width",
                                        "max_link_speed",
                                        "max_link_width",
                                        "vendor",
                                        "numa_node",
                                        "aer_dev_correctable",
                                        "aer_dev_nonfatal",
                                        "aer_dev_fatal",
                                        "local_cpulist"};
    uint8_t bytes[PCIE_CONFIG_BYTES];

    pcie_fixture_scenario(*state, "healthy");
    pcie_fixture_config(bytes, 256, 512, 512, -1);
    pcie_fixture_write_config(*state, DEVICE, bytes, sizeof bytes);
    pcie_fixture_block(*state, DEVICE, "config");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pcie_fixture_block(*state, DEVICE, names[i]);
    pcie_fixture_remove(*state, DEVICE, "iommu_group");
    struct xb_pcie_path path = read_path(*state);
    assert_true(path.present);
    assert_int_equal(path.count, 1);
    const struct xb_pcie_end *end = &path.hops[0].lower;
    assert_false(end->link.known || end->aer.known || end->control.known);
    assert_int_equal(end->vendor, 0);
    assert_int_equal(end->numa_node, -1);
    assert_int_equal(path.numa_node, -1);
    assert_string_equal(path.local_cpus, "");
    assert_int_equal(path.iommu_group, -1);
    assert_end(&path.hops[0].upper, ROOT_PORT, 0x8086, 32.0, 16);
    assert_best(&path.hops[0], 32.0, 16);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pcie_fixture_remove(*state, ROOT_PORT, names[i]);
    path = read_path(*state);
    assert_int_equal(path.count, 1);
    assert_string_equal(path.hops[0].upper.bdf, ROOT_PORT);
    assert_false(path.hops[0].upper.link.known || path.hops[0].upper.aer.known);
    assert_best(&path.hops[0], 0.0, 0);
}

TREE_TEST(notices_that_a_device_is_gone)
{
    struct xb_pcie_path before = read_scenario(*state, "healthy");

    assert_int_equal(before.count, 1);
    pcie_fixture_unplug(*state, DEVICE);
    struct xb_pcie_path after = read_path(*state);
    assert_false(after.present);
    assert_int_equal(after.count, 0);
    assert_int_equal(after.numa_node, -1);
    assert_int_equal(after.iommu_group, -1);
    assert_string_equal(after.local_cpus, "");
}

/* It fell off the bus, and nobody has told the kernel. */
TREE_TEST(notices_that_a_device_does_not_answer)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];

    assert_false(read_scenario(*state, "healthy").dead); /* without the file */
    pcie_fixture_config(bytes, 256, 512, 4096, -1);
    pcie_fixture_write_config(*state, DEVICE, bytes, 64);
    assert_false(read_path(*state).dead);
    memset(bytes, 0xff, 4); /* as of a virtual function */
    pcie_fixture_write_config(*state, DEVICE, bytes, 64);
    assert_false(read_path(*state).dead);
    memset(bytes, 0xff, sizeof bytes);
    pcie_fixture_write_config(*state, ROOT_PORT, bytes, 64); /* another's */
    assert_false(read_path(*state).dead);
    static const size_t sizes[] = {4, 64, sizeof bytes};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pcie_fixture_write_config(*state, DEVICE, bytes, sizes[i]);
        struct xb_pcie_path path = read_path(*state);
        assert_true(path.present && path.dead);
        assert_false(path.hops[0].lower.control.known);
    }
    pcie_fixture_write_config(*state, DEVICE, bytes, 3);
    assert_false(read_path(*state).dead);
    pcie_fixture_block(*state, DEVICE, "config");
    assert_false(read_path(*state).dead);
}

TREE_TEST(does_not_believe_an_emulated_port)
{
    struct xb_pcie_path path = read_scenario(*state, "healthy");

    assert_true(xb_pcie_hop_upper_is_real(&path.hops[0]));
    pcie_fixture_set(*state, ROOT_PORT, "max_link_speed", "2.5 GT/s PCIe\n");
    pcie_fixture_set(*state, ROOT_PORT, "max_link_width", "1\n");
    path = read_path(*state);
    assert_best(&path.hops[0], 2.5, 1);
    pcie_fixture_set(*state, ROOT_PORT, "vendor", "0x1b36\n");
    path = read_path(*state);
    assert_false(xb_pcie_hop_upper_is_real(&path.hops[0]));
    assert_true(path.hops[0].has_upper);
    assert_best(&path.hops[0], 32.0, 16);
}

TREE_TEST(wants_the_name_of_a_function)
{
    static const char *const names[] = {"",
                                        ".",
                                        "devices",
                                        "0000:0f:00",
                                        "0000:0f:00.0/..",
                                        "000:0f:00.0",
                                        "0000-0f:00.0",
                                        "0000:0f:00.00",
                                        "0000:0g:00.0",
                                        "00000000:0f:00.0"};
    struct xb_pcie_path path;

    pcie_fixture_scenario(*state, "healthy");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) > 9 && strchr(names[i], '/') == NULL) /* it is there all the same */
            pcie_fixture_link(*state, names[i], DEVICE);
        xb_pcie_path_read(*state, names[i], &path);
        if (path.present)
            fail_msg("%s is taken for a device", names[i]);
    }
    /* Behind Intel's VMD. */
    static const struct pcie_function function = {"10000:01:00.0", "0x8086\n", PCIE_GEN4_X8,
                                                  PCIE_GEN4_X8};
    pcie_fixture_chain(*state, &function, 1);
    xb_pcie_path_read(*state, "10000:01:00.0", &path);
    assert_int_equal(path.count, 1);
    xb_pcie_path_read(XB_PCI_DEVICES, "ffff:ff:1f.7", &path);
    assert_false(path.present);
}

TREE_TEST(reads_error_counters_at_both_ends)
{
    pcie_fixture_scenario(*state, "healthy");
    pcie_fixture_aer(*state, DEVICE, 3, 2, 1);
    pcie_fixture_aer(*state, ROOT_PORT, 18446744073709551615u, 0, 7);
    struct xb_pcie_path path = read_path(*state);
    const struct xb_pcie_aer *lower = &path.hops[0].lower.aer;
    const struct xb_pcie_aer *upper = &path.hops[0].upper.aer;
    assert_true(lower->known && lower->correctable == 3);
    assert_true(lower->nonfatal == 2 && lower->fatal == 1);
    assert_true(upper->known && upper->correctable == UINT64_MAX);
    assert_true(upper->nonfatal == 0 && upper->fatal == 7);
}

TREE_TEST(does_not_know_counters_that_are_none)
{
    static const char *const bad[][2] = {
        {"aer_dev_correctable", "RxErr 3\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR \n3\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR -1\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR:3\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR 3x\n"},
        {"aer_dev_correctable", "TOTAL_ERR_COR 18446744073709551616\n"},
        {"aer_dev_correctable", "XTOTAL_ERR_COR 3\n"},
        {"aer_dev_correctable", ""},
        {"aer_dev_nonfatal", "TOTAL_ERR_FATAL 3\n"},
        {"aer_dev_nonfatal", "TOTAL_ERR_NONFATALS 3\n"},
        {"aer_dev_fatal", "TOTAL_ERR_NONFATAL 3\n"},
    };

    pcie_fixture_scenario(*state, "healthy");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pcie_fixture_aer(*state, DEVICE, 3, 2, 1);
        assert_true(read_path(*state).hops[0].lower.aer.known);
        pcie_fixture_set(*state, DEVICE, bad[i][0], bad[i][1]);
        struct xb_pcie_path path = read_path(*state);
        const struct xb_pcie_aer *aer = &path.hops[0].lower.aer;
        if (aer->known || aer->correctable != 0 || aer->nonfatal != 0 || aer->fatal != 0)
            fail_msg("row %zu is taken for counters", i);
        assert_true(path.hops[0].upper.aer.known);
    }
    pcie_fixture_aer(*state, DEVICE, 3, 2, 1);
    pcie_fixture_set(*state, DEVICE, "aer_dev_fatal", "TOTAL_ERR_FATAL 5"); /* the last line */
    assert_int_equal(read_path(*state).hops[0].lower.aer.fatal, 5);
    pcie_fixture_remove(*state, DEVICE, "aer_dev_nonfatal");
    assert_false(read_path(*state).hops[0].lower.aer.known);
}

TREE_TEST(reads_each_ends_configuration_space)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];

    pcie_fixture_scenario(*state, "healthy");
    assert_false(read_path(*state).hops[0].lower.control.known);
    pcie_fixture_config(bytes, 256, 512, 4096, -1);
    pcie_fixture_write_config(*state, DEVICE, bytes, sizeof bytes);
    pcie_fixture_config(bytes, 256, 1024, 512, 0x1d);
    pcie_fixture_write_config(*state, ROOT_PORT, bytes, sizeof bytes);
    struct xb_pcie_path path = read_path(*state);
    const struct xb_pcie_control *lower = &path.hops[0].lower.control;
    const struct xb_pcie_control *upper = &path.hops[0].upper.control;
    assert_true(lower->known && upper->known);
    assert_int_equal(lower->max_read_request, 4096);
    assert_int_equal(upper->max_payload_supported, 1024);
    assert_false(lower->has_acs);
    assert_true(upper->has_acs && upper->acs_redirects);
}

TREE_TEST(reads_where_a_device_belongs)
{
    char list[600];

    pcie_fixture_scenario(*state, "healthy");
    pcie_fixture_set(*state, DEVICE, "numa_node", "1\n");
    struct xb_pcie_path path = read_path(*state);
    assert_int_equal(path.numa_node, 1);
    assert_int_equal(path.hops[0].lower.numa_node, 1);
    assert_int_equal(path.hops[0].upper.numa_node, 0);
    pcie_fixture_set(*state, DEVICE, "numa_node", "-1\n");
    assert_int_equal(read_path(*state).numa_node, -1);

    /* Half of a list would be another list. */
    memset(list, '1', sizeof list);
    list[sizeof path.local_cpus - 1] = '\n';
    list[sizeof path.local_cpus] = '\0';
    pcie_fixture_set(*state, DEVICE, "local_cpulist", list);
    assert_int_equal(strlen(read_path(*state).local_cpus), sizeof path.local_cpus - 1);
    list[sizeof path.local_cpus - 1] = '1';
    pcie_fixture_set(*state, DEVICE, "local_cpulist", list);
    assert_string_equal(read_path(*state).local_cpus, "");

    static const char *const targets[] = {"iommu_groups/", "iommu_groups/x1", "99999999999", ".."};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        pcie_fixture_remove(*state, DEVICE, "iommu_group");
        pcie_fixture_link(*state, DEVICE "/iommu_group", targets[i]);
        assert_int_equal(read_path(*state).iommu_group, -1);
    }
    pcie_fixture_remove(*state, DEVICE, "iommu_group");
    pcie_fixture_link(*state, DEVICE "/iommu_group", "0");
    assert_int_equal(read_path(*state).iommu_group, 0);
}
