/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/pcie.h"

#include <math.h>

#include "rows.h"

static struct xb_pcie_control control_of(unsigned payload, unsigned read_request)
{
    return (struct xb_pcie_control){.known = true,
                                    .max_payload = payload,
                                    .max_payload_supported = 512,
                                    .max_read_request = read_request};
}

/* SPEED | WIDTH [| PAYLOAD [| READ REQUEST]]: of these the one alone is not known. */
static void say_ceiling(const struct row *row, char said[ROW_TEXT])
{
    struct xb_pcie_control control =
        control_of((unsigned)row_number(row, 2), (unsigned)row_number(row, 3));
    control.known = row->count == 4;
    double speed = strtod(row->part[0], NULL);
    unsigned width = (unsigned)row_number(row, 1);
    struct xb_ceiling ceiling = xb_ceiling_of(speed, width, row->count > 2 ? &control : NULL);
    say_also(said, "%s%.4g: %.2f and %.2f GB/s", ceiling.known ? "" : "not known, ",
             ceiling.raw / 1e9, ceiling.d2h / 1e9, ceiling.h2d / 1e9);
    say_also(said, "; %u%s, %u%s", ceiling.payload, ceiling.payload_assumed ? " assumed" : "",
             ceiling.read_request, ceiling.read_request_assumed ? " assumed" : "");
    if (ceiling.known)
        assert_true(ceiling.speed_gts == speed && ceiling.width == width);
}
TEST_ROWS(ceilings_of_links, say_ceiling)

static void say_rate(const struct row *row, char said[ROW_TEXT])
{
    double speed = strtod(row->part[0], NULL);
    say_also(said, "Gen%u, %.2f GB/s", xb_pcie_generation(speed),
             xb_pcie_raw_rate(speed, (unsigned)row_number(row, 1)) / 1e9);
}
TEST_ROWS(generations_and_raw_rates, say_rate)

/* ---- a path ---- */

/* A Gen5 x16 card behind a switch, whose link up is Gen4 x16 and has shorter packets. */
static struct xb_pcie_path path_of_two(void)
{
    struct xb_pcie_path path = {.present = true, .count = 2};
    path.hops[0].lower.control = control_of(512, 4096);
    path.hops[0].has_upper = true;
    path.hops[1].lower.control = control_of(256, 512);
    path.hops[1].has_upper = true;
    path.hops[1].upper.control = control_of(512, 512);
    return path;
}

static struct xb_pcie_load load_of_two(void)
{
    return (struct xb_pcie_load){.count = 2,
                                 .hops = {{.readings = 1, .speed_gts = 32.0, .width = 16},
                                          {.readings = 1, .speed_gts = 16.0, .width = 16}}};
}

/* Gen4 x16, with the switch's payload and the card's read requests: 29.04 and 28.73 GB/s. */
TEST(of_a_path_is_that_of_its_narrowest_link)
{
    const struct xb_pcie_path path = path_of_two();
    const struct xb_pcie_load load = load_of_two();
    size_t hop = 9;

    struct xb_ceiling ceiling = xb_ceiling_of_path(&path, &load, &hop);
    assert_int_equal(hop, 1);
    assert_true(ceiling.known);
    assert_true(ceiling.speed_gts == 16.0);
    assert_int_equal(ceiling.payload, 256);
    assert_int_equal(ceiling.read_request, 4096);
    assert_false(ceiling.payload_assumed || ceiling.read_request_assumed);
    assert_true(fabs(ceiling.h2d / 1e9 - 29.04) < 0.01 && fabs(ceiling.d2h / 1e9 - 28.73) < 0.01);
}

/* What was not seen is taken to carry more, but for the slot's own link. */
TEST(of_a_path_needs_the_link_at_the_slot)
{
    struct xb_pcie_path path = path_of_two();
    struct xb_pcie_load load = load_of_two();
    size_t hop = 9;

    load.hops[1].readings = 0;
    assert_true(xb_ceiling_of_path(&path, &load, &hop).speed_gts == 32.0);
    assert_int_equal(hop, 0);
    load = load_of_two();
    load.hops[0].readings = 0;
    assert_false(xb_ceiling_of_path(&path, &load, &hop).known);
    load = load_of_two();
    path.hops[0].on_package = true; /* then the slot is behind it, and the card's own link is out */
    load.hops[0].speed_gts = 2.5;
    assert_true(xb_ceiling_of_path(&path, &load, &hop).speed_gts == 16.0);
    path.present = false;
    assert_false(xb_ceiling_of_path(&path, &load, &hop).known);
}

/* A virtual machine's switch below a port of QEMU's: neither is there. */
TEST(of_a_path_leaves_out_what_is_emulated)
{
    struct xb_pcie_path path = path_of_two();
    struct xb_pcie_load load = load_of_two();
    size_t hop = 9;

    load.hops[1].speed_gts = 2.5;
    load.hops[1].width = 1;
    path.hops[1].upper.vendor = XB_VENDOR_QEMU;
    assert_true(xb_ceiling_of_path(&path, &load, &hop).speed_gts == 32.0);
    assert_int_equal(hop, 0);
    path.hops[1].upper.vendor = 0;
    path.hops[1].lower.vendor = XB_VENDOR_QEMU;
    assert_true(xb_ceiling_of_path(&path, &load, &hop).speed_gts == 32.0);
}

/* Where the card does not tell its packets, those of others make none known. */
TEST(of_a_path_says_what_is_assumed)
{
    struct xb_pcie_path path = path_of_two();
    const struct xb_pcie_load load = load_of_two();
    size_t hop;

    path.hops[0].lower.control.known = false;
    struct xb_ceiling ceiling = xb_ceiling_of_path(&path, &load, &hop);
    assert_true(ceiling.payload_assumed && ceiling.read_request_assumed);
}
