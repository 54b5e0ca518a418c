/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw */
#include "machine/pcie.h"
#include "pcie_fixture.h"

#include <math.h>

#define BDF "0000:0f:00.0"

static void write_link(const char *root, const char *speed, const char *width,
                       const char *max_speed, const char *max_width)
{
    write_file(root, BDF "/current_link_speed", speed);
    write_file(root, BDF "/current_link_width", width);
    write_file(root, BDF "/max_link_speed", max_speed);
    write_file(root, BDF "/max_link_width", max_width);
}

static void assert_link(struct xb_pcie_link link, double speed, unsigned width, double max_speed,
                        unsigned max_width)
{
    assert_true(link.known);
    assert_true(link.speed_gts == speed);
    assert_int_equal(link.width, width);
    assert_true(link.max_speed_gts == max_speed);
    assert_int_equal(link.max_width, max_width);
}

TREE_TEST(reads_a_healthy_link)
{
    write_link(*state, "32.0 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", "16\n");
    struct xb_pcie_link link = xb_pcie_link_read(*state, BDF);
    assert_link(link, 32.0, 16, 32.0, 16);
    assert_string_equal(link.port, BDF);
}

TREE_TEST(reads_a_link_trained_down)
{
    write_link(*state, "16.0 GT/s PCIe\n", "8\n", "32.0 GT/s PCIe\n", "16\n");
    assert_link(xb_pcie_link_read(*state, BDF), 16.0, 8, 32.0, 16);
}

/* Without rounding: 2.5 is the one rate with a fraction; the texts are those of older kernels. */
TREE_TEST(reads_a_fraction)
{
    write_link(*state, "2.5 GT/s\n", "1\n", "8 GT/s\n", "4\n");
    assert_link(xb_pcie_link_read(*state, BDF), 2.5, 1, 8.0, 4);
    assert_int_equal(xb_pcie_generation(xb_pcie_link_read(*state, BDF).speed_gts), 1);
}

TREE_TEST(does_not_know_what_is_no_number)
{
    static const char *const bad[][4] = {
        {"Unknown\n", "16\n", "32.0 GT/s PCIe\n", "16\n"},
        {"Unknown speed\n", "16\n", "32.0 GT/s PCIe\n", "16\n"},
        {"32.0 GT/s PCIe\n", "16\n", "Unknown\n", "16\n"},
        {"32.0 GT/s PCIe\n", "0\n", "32.0 GT/s PCIe\n", "16\n"},
        {"32.0 GT/s PCIe\n", "63\n", "32.0 GT/s PCIe\n", "16\n"},
        {"32.0 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", "-1\n"},
        {"32.0 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", ""},
        {"32.0 MT/s\n", "16\n", "32.0 GT/s PCIe\n", "16\n"},
        {"0.0 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", "16\n"},
        {"-2.5 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", "16\n"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_link(*state, bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        if (xb_pcie_link_read(*state, BDF).known)
            fail_msg("row %zu is taken for a link", i);
    }
}

TREE_TEST(does_not_know_without_every_file)
{
    static const char *const files[] = {"current_link_speed", "current_link_width",
                                        "max_link_speed", "max_link_width"};

    assert_false(xb_pcie_link_read(*state, BDF).known);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX];
        write_link(*state, "32.0 GT/s PCIe\n", "16\n", "32.0 GT/s PCIe\n", "16\n");
        assert_true(xb_pcie_link_read(*state, BDF).known);
        snprintf(path, sizeof path, "%s/" BDF "/%s", (const char *)*state, files[i]);
        assert_int_equal(unlink(path), 0);
        assert_false(xb_pcie_link_read(*state, BDF).known);
    }
    assert_false(xb_pcie_link_read(XB_PCI_DEVICES, "").known); /* a device on no PCI bus */
    assert_false(xb_pcie_link_read(XB_PCI_DEVICES, "ffff:ff:1f.7").known);
}

/* ---- bridges above the device ---- */

#define LINK_GEN3_X4 "8.0 GT/s PCIe\n", "4\n"

/* 01 and 02 are the two ends of the switch on the card at 03. */
static const struct pcie_function amd_card[] = {
    {"0000:00:01.1", "0x1022\n", LINK_GEN3_X4, LINK_GEN3_X4},
    {"0000:01:00.0", "0x1002\n", PCIE_GEN4_X8, PCIE_GEN5_X16},
    {"0000:02:00.0", "0x1002\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
    {"0000:03:00.0", "0x1002\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
};

TREE_TEST(reads_where_an_amd_card_meets_its_slot)
{
    pcie_fixture_chain(*state, amd_card, 4);
    struct xb_pcie_link link = xb_pcie_link_read(*state, "0000:03:00.0");
    assert_link(link, 16.0, 8, 32.0, 16);
    assert_string_equal(link.port, "0000:01:00.0");
}

TREE_TEST(climbs_no_further_than_the_first_bridge_of_others)
{
    /* A card in an enclosure with a switch of AMD's vendor number far above it. */
    static const struct pcie_function chain[] = {
        {"0000:00:01.1", "0x1002\n", LINK_GEN3_X4, LINK_GEN3_X4},
        {"0000:01:00.0", "0x1000\n", LINK_GEN3_X4, LINK_GEN3_X4},
        {"0000:02:00.0", "0x1002\n", PCIE_GEN4_X8, PCIE_GEN4_X8},
        {"0000:03:00.0", "0x1002\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
    };

    pcie_fixture_chain(*state, chain, 4);
    struct xb_pcie_link link = xb_pcie_link_read(*state, "0000:03:00.0");
    assert_link(link, 16.0, 8, 16.0, 8);
    assert_string_equal(link.port, "0000:02:00.0");
}

TREE_TEST(stays_at_an_amd_card_without_a_switch)
{
    static const struct pcie_function chain[] = {
        {"0000:00:01.1", "0x1022\n", LINK_GEN3_X4, LINK_GEN3_X4},
        {"0000:01:00.0", "0x1002\n", PCIE_GEN4_X8, PCIE_GEN5_X16},
    };

    pcie_fixture_chain(*state, chain, 2);
    struct xb_pcie_link link = xb_pcie_link_read(*state, "0000:01:00.0");
    assert_link(link, 16.0, 8, 32.0, 16);
    assert_string_equal(link.port, "0000:01:00.0");
}

TREE_TEST(stays_at_a_card_of_another_vendor)
{
    static const struct pcie_function chain[] = {
        {"0000:00:01.1", "0x1002\n", LINK_GEN3_X4, LINK_GEN3_X4},
        {"0000:01:00.0", "0x1002\n", PCIE_GEN4_X8, PCIE_GEN4_X8},
        {"0000:02:00.0", "0x10de\n", PCIE_GEN5_X16, PCIE_GEN5_X16},
    };

    pcie_fixture_chain(*state, chain, 3);
    struct xb_pcie_link link = xb_pcie_link_read(*state, "0000:02:00.0");
    assert_link(link, 32.0, 16, 32.0, 16);
    assert_string_equal(link.port, "0000:02:00.0");
}

/* Not the inner link either, which is there to be read and looks right. */
TREE_TEST(does_not_know_a_slot_that_it_cannot_read)
{
    static const char *const files[] = {"current_link_speed", "current_link_width",
                                        "max_link_speed", "max_link_width"};
    struct xb_pcie_link link;
    char path[PATH_MAX];

    pcie_fixture_chain(*state, amd_card, 4);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "0000:01:00.0/%s", files[i]);
        write_file(*state, path, "Unknown\n");
        link = xb_pcie_link_read(*state, "0000:03:00.0");
        assert_false(link.known);
        assert_string_equal(link.port, "");
        write_file(*state, path, i % 2 == 0 ? "16.0 GT/s PCIe\n" : "8\n");
        assert_true(xb_pcie_link_read(*state, "0000:03:00.0").known);
    }
    snprintf(path, sizeof path, "%s/0000:01:00.0/%s", (const char *)*state, files[0]);
    assert_int_equal(unlink(path), 0);
    link = xb_pcie_link_read(*state, "0000:03:00.0");
    assert_false(link.known);
    assert_string_equal(link.port, "");
}

TREE_TEST(reads_the_numa_node)
{
    assert_int_equal(xb_pcie_numa_node_at(*state, BDF), -1);
    write_file(*state, BDF "/numa_node", "-1\n");
    assert_int_equal(xb_pcie_numa_node_at(*state, BDF), -1);
    write_file(*state, BDF "/numa_node", "0\n");
    assert_int_equal(xb_pcie_numa_node_at(*state, BDF), 0);
    write_file(*state, BDF "/numa_node", "12\n");
    assert_int_equal(xb_pcie_numa_node_at(*state, BDF), 12);
    assert_int_equal(xb_pcie_numa_node(""), -1);
}

TEST(names_the_generations)
{
    static const double rates[] = {2.5, 5.0, 8.0, 16.0, 32.0, 64.0};

    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(xb_pcie_generation(rates[i]), i + 1);
    assert_int_equal(xb_pcie_generation(0.0), 0);
    assert_int_equal(xb_pcie_generation(2.0), 0);
    assert_int_equal(xb_pcie_generation(128.0), 0);
}

/* GB/s after coding, to the two digits that tables of the PCIe generations give. */
TEST(computes_the_raw_rate)
{
    static const struct {
        double speed;
        unsigned width;
        double gbs;
    } rows[] = {
        {2.5, 1, 0.25},   {2.5, 16, 4.00},   {5.0, 16, 8.00},  {8.0, 16, 15.75},
        {16.0, 8, 15.75}, {16.0, 16, 31.51}, {32.0, 8, 31.51}, {32.0, 16, 63.02},
        {64.0, 16, 0.0},  {3.0, 16, 0.0},    {32.0, 0, 0.0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fabs(xb_pcie_raw_rate(rows[i].speed, rows[i].width) / 1e9 - rows[i].gbs) > 0.005)
            fail_msg("%g GT/s x%u: %g B/s, not %g GB/s", rows[i].speed, rows[i].width,
                     xb_pcie_raw_rate(rows[i].speed, rows[i].width), rows[i].gbs);
}
