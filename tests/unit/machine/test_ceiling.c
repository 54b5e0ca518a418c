/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/pcie.h"
#include "testing.h"

#include <math.h>

static struct xb_pcie_control control_of(unsigned payload, unsigned read_request)
{
    return (struct xb_pcie_control){.known = true,
                                    .max_payload = payload,
                                    .max_payload_supported = 512,
                                    .max_read_request = read_request};
}

static void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.6g instead of %.6g", what, value, expected);
}

/* As in docs/link-ceilings.md, in GB/s. */
TEST(gives_the_table)
{
    static const unsigned payloads[] = {128, 256, 512};
    static const struct {
        double speed;
        unsigned width;
        double raw, ceilings[3][2]; /* D2H, H2D for each payload */
    } rows[] = {
        {8.0, 16, 15.75, {{13.23, 13.23}, {14.36, 14.16}, {15.01, 14.68}}},
        {16.0, 8, 15.75, {{13.23, 13.23}, {14.36, 14.16}, {15.01, 14.68}}},
        {16.0, 16, 31.51, {{26.46, 26.46}, {28.73, 28.33}, {30.02, 29.36}}},
        {32.0, 8, 31.51, {{26.46, 26.46}, {28.73, 28.33}, {30.02, 29.36}}},
        {32.0, 16, 63.02, {{52.92, 52.92}, {57.46, 56.65}, {60.03, 58.72}}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t j = 0; j < 3; j++) {
            const struct xb_pcie_control control = control_of(payloads[j], 512);
            struct xb_ceiling ceiling = xb_ceiling_of(rows[i].speed, rows[i].width, &control);
            assert_true(ceiling.known);
            assert_near(ceiling.raw / 1e9, rows[i].raw, 0.01, "raw");
            assert_near(ceiling.d2h / 1e9, rows[i].ceilings[j][0], 0.01, "d2h");
            assert_near(ceiling.h2d / 1e9, rows[i].ceilings[j][1], 0.01, "h2d");
            assert_int_equal(ceiling.payload, payloads[j]);
            assert_int_equal(ceiling.read_request, 512);
            assert_true(ceiling.speed_gts == rows[i].speed && ceiling.width == rows[i].width);
            assert_false(ceiling.payload_assumed);
            assert_false(ceiling.read_request_assumed);
        }
    }
}

TEST(long_read_requests_raise_h2d_alone)
{
    const struct xb_pcie_control control = control_of(256, 4096);
    struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, &control);

    assert_near(ceiling.h2d / 1e9, 58.1, 0.1, "h2d");
    assert_near(ceiling.h2d / 1e9, 58.081, 0.001, "h2d");
    assert_near(ceiling.d2h / 1e9, 57.46, 0.01, "d2h");
}

/* 128 bytes in one completion, however long it might be. */
TEST(a_request_below_the_payload_has_one_completion)
{
    const struct xb_pcie_control control = control_of(512, 128);
    struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, &control);

    assert_near(ceiling.h2d / 1e9, 63.015385 * 0.9973 * 128 / (128 + 20 + 16), 0.0001, "h2d");
}

TEST(assumes_what_is_usual)
{
    const struct xb_pcie_control usual = control_of(256, 512);
    struct xb_pcie_control unknown = control_of(128, 128);
    struct xb_ceiling expected = xb_ceiling_of(32.0, 16, &usual);

    unknown.known = false;
    for (int i = 0; i < 2; i++) {
        struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, i == 0 ? NULL : &unknown);
        assert_true(ceiling.known);
        assert_true(ceiling.payload_assumed && ceiling.read_request_assumed);
        assert_int_equal(ceiling.payload, 256);
        assert_int_equal(ceiling.read_request, 512);
        assert_true(ceiling.h2d == expected.h2d && ceiling.d2h == expected.d2h);
    }
}

TEST(has_none_where_the_coding_is_not_certain)
{
    static const struct {
        double speed;
        unsigned width;
    } rows[] = {{64.0, 16}, {0.0, 16}, {32.0, 0}, {12.5, 16}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_ceiling ceiling = xb_ceiling_of(rows[i].speed, rows[i].width, NULL);
        assert_false(ceiling.known);
        assert_true(ceiling.h2d == 0.0 && ceiling.d2h == 0.0);
    }
}

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
    assert_near(ceiling.h2d / 1e9, 29.04, 0.01, "h2d");
    assert_near(ceiling.d2h / 1e9, 28.73, 0.01, "d2h");
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
