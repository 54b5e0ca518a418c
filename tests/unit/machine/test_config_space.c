/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw */
#include "machine/pcie.h"
#include "pcie_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

static void *folder; /* of all tests but the last, which has one of its own */
static int config;   /* the file in it, which lies in memory: there are many to read */

/* Parses a file with these bytes. */
static struct xb_pcie_control parse(const uint8_t *bytes, size_t size)
{
    assert_int_equal(ftruncate(config, 0), 0);
    assert_int_equal(pwrite(config, bytes, size, 0), size);
    return xb_pcie_control_read(folder);
}

static void assert_sizes(struct xb_pcie_control control, unsigned payload, unsigned supported,
                         unsigned request)
{
    assert_true(control.known);
    assert_int_equal(control.max_payload, payload);
    assert_int_equal(control.max_payload_supported, supported);
    assert_int_equal(control.max_read_request, request);
}

TEST(reads_the_sizes)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    for (unsigned payload = 128; payload <= 4096; payload *= 2) {
        for (unsigned request = 128; request <= 4096; request *= 2) {
            pcie_fixture_config(bytes, payload, 4096 / (payload / 128), request, -1);
            struct xb_pcie_control control = parse(bytes, sizeof bytes);
            assert_sizes(control, payload, 4096 / (payload / 128), request);
            assert_false(control.has_acs);
            assert_false(control.acs_redirects);
        }
    }
}

TEST(reads_access_control)
{
    static const struct {
        int control;
        bool redirects;
    } rows[] = {{0, false},    {0x04, true}, {0x08, true},  {0x0c, true},
                {0x73, false}, {0x1d, true}, {0x10, false}, {0x7f, true}};
    uint8_t bytes[PCIE_CONFIG_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pcie_fixture_config(bytes, 256, 512, 512, rows[i].control);
        struct xb_pcie_control control = parse(bytes, sizeof bytes);
        assert_sizes(control, 256, 512, 512);
        assert_true(control.has_acs);
        if (control.acs_redirects != rows[i].redirects)
            fail_msg("ACS control %#x", (unsigned)rows[i].control);
    }
}

TEST(reads_a_bridge)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 512, -1);
    bytes[0x0e] = 0x81; /* with more functions beside it */
    assert_true(parse(bytes, sizeof bytes).known);
    bytes[0x0e] = 0x02; /* a CardBus bridge has its list elsewhere */
    assert_false(parse(bytes, sizeof bytes).known);
}

/* What others than root get, and what a function without extended configuration space has. */
TEST(makes_do_with_what_there_is)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 4096, 0x0c);
    struct xb_pcie_control control = parse(bytes, 256);
    assert_sizes(control, 256, 512, 4096);
    assert_false(control.has_acs);
    assert_false(control.acs_redirects);
    assert_false(parse(bytes, 64).known);
    for (size_t size = 0; size <= PCIE_CONFIG_BYTES; size++) {
        control = parse(bytes, size);
        assert_true(control.known == (size >= PCIE_CONFIG_CAPABILITY + 10));
        assert_true(control.has_acs == (size >= PCIE_CONFIG_ACS + 8));
    }
}

TEST(does_not_know_reserved_sizes)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    for (uint32_t code = 6; code <= 7; code++) {
        pcie_fixture_config(bytes, 128, 128, 128, -1);
        pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY + 4, 4, code);
        assert_false(parse(bytes, sizeof bytes).known);
        pcie_fixture_config(bytes, 128, 128, 128, -1);
        pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY + 8, 2, code << 5);
        assert_false(parse(bytes, sizeof bytes).known);
        assert_int_equal(parse(bytes, sizeof bytes).max_read_request, 0);
        pcie_fixture_config(bytes, 128, 128, 128, -1);
        pcie_config_put(bytes, PCIE_CONFIG_CAPABILITY + 8, 2, code << 12);
        assert_false(parse(bytes, sizeof bytes).known);
    }
}

TEST(needs_the_list)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 512, -1);
    bytes[0x06] = 0; /* has no list, whatever the pointer says */
    assert_false(parse(bytes, sizeof bytes).known);
    memset(bytes, 0xff, sizeof bytes); /* gone */
    assert_false(parse(bytes, sizeof bytes).known);
    memset(bytes, 0, sizeof bytes);
    assert_false(parse(bytes, sizeof bytes).known);
    pcie_fixture_config(bytes, 256, 512, 512, -1);
    pcie_config_put(bytes, 0, 2, 0xffff);
    assert_false(parse(bytes, sizeof bytes).known);
}

TEST(survives_a_list_without_end)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
    pcie_config_put(bytes, 0x48, 2, 0x4005); /* back to the first */
    assert_false(parse(bytes, sizeof bytes).known);
    pcie_config_put(bytes, 0x48, 2, 0x4805); /* to itself */
    assert_false(parse(bytes, sizeof bytes).known);
    pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
    pcie_config_put(bytes, 0x100, 4, 0x10020001); /* to itself */
    struct xb_pcie_control control = parse(bytes, sizeof bytes);
    assert_sizes(control, 256, 512, 512);
    assert_false(control.has_acs);
}

TEST(stays_inside)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
    bytes[0x34] = 0x10; /* into the header, which holds no capability */
    bytes[0x10] = 0x10;
    assert_false(parse(bytes, sizeof bytes).known);
    /* The registers of the last capability would lie in the extended configuration space. */
    pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
    bytes[0x34] = 0xf8;
    pcie_config_put(bytes, 0xf8, 2, 0x0010);
    assert_false(parse(bytes, sizeof bytes).known);
    assert_false(parse(bytes, 256).known);
    /* The lowest bits of a pointer are no part of it. */
    pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
    bytes[0x34] = 0x43;
    assert_true(parse(bytes, sizeof bytes).known);
    pcie_config_put(bytes, 0x100, 4, 0xffc20001);
    pcie_config_put(bytes, 0xffc, 4, 0x1000d); /* its registers would lie outside */
    assert_false(parse(bytes, sizeof bytes).has_acs);
    assert_true(parse(bytes, sizeof bytes).known);
    pcie_config_put(bytes, 0x100, 4, 0x08020001); /* below the extended part */
    pcie_config_put(bytes, 0x80, 4, 0x1000d);
    assert_false(parse(bytes, sizeof bytes).has_acs);
    assert_true(parse(bytes, sizeof bytes).known);
}

/* No bytes make it never end. */
TEST(survives_any_bytes)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    uint32_t random = 1;
    unsigned known = 0;
    for (unsigned round = 0; round < 3000; round++) {
        pcie_fixture_config(bytes, 256, 512, 512, 0x0c);
        for (unsigned change = 0; change < 8; change++) {
            random = random * 1664525u + 1013904223u;
            /* Mostly where the lists are. */
            bytes[change < 6 ? (random >> 8) % 0x180 : (random >> 8) % sizeof bytes] =
                (uint8_t)(random >> 24);
        }
        known += parse(bytes, (random >> 4) % (PCIE_CONFIG_BYTES + 1)).known;
        for (size_t i = 0x40; round % 4 == 0 && i < sizeof bytes; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(random >> 24);
        }
        known += parse(bytes, sizeof bytes).known;
    }
    assert_in_range(known, 100, 5900); /* it got past the first bytes, and not always */
}

TEST_WITH(reads_a_file, make_tree, remove_tree)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    const char *own = *state;
    assert_false(xb_pcie_control_read(own).known);
    pcie_fixture_config(bytes, 256, 512, 4096, 0x0c);
    pcie_fixture_write_config(*state, ".", bytes, sizeof bytes);
    struct xb_pcie_control control = xb_pcie_control_read(own);
    assert_sizes(control, 256, 512, 4096);
    assert_true(control.has_acs && control.acs_redirects);
    pcie_fixture_write_config(*state, ".", bytes, 64);
    assert_false(xb_pcie_control_read(own).known);
    pcie_fixture_write_config(*state, ".", bytes, 0);
    assert_false(xb_pcie_control_read(own).known);
    pcie_fixture_block(*state, ".", "config");
    assert_false(xb_pcie_control_read(own).known);
}

static int make_config(NO_STATE)
{
    char target[32];
    config = memfd_create("config", MFD_CLOEXEC);
    snprintf(target, sizeof target, "/proc/self/fd/%d", config);
    if (config < 0 || make_tree(&folder) != 0)
        return 1;
    pcie_fixture_link(folder, "config", target);
    return 0;
}

static int remove_config(NO_STATE)
{
    return remove_tree(&folder);
}
GROUP(make_config, remove_config)
