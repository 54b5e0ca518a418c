/* SPDX-License-Identifier: Apache-2.0 */
/* Many configuration spaces: single ones are in config_space.txt, of test_machine_files.c. */
#define _GNU_SOURCE /* nftw */
#include "machine/pcie.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing.h"

#include "pcie_fixture.h"

static void *folder;
static int config; /* the file in it, which lies in memory: there are many to read */

/* Parses a file with these bytes. */
static struct xb_pcie_control parse(const uint8_t *bytes, size_t size)
{
    assert_int_equal(ftruncate(config, 0), 0);
    assert_int_equal(pwrite(config, bytes, size, 0), size);
    return xb_pcie_control_read(folder);
}

/* Reserved codes are in config_space.txt. */
TEST(reads_the_sizes)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    for (unsigned payload = 128; payload <= 4096; payload *= 2)
        for (unsigned request = 128; request <= 4096; request *= 2) {
            pcie_fixture_config(bytes, payload, 4096 / (payload / 128), request, -1);
            struct xb_pcie_control control = parse(bytes, sizeof bytes);
            assert_true(control.known);
            assert_int_equal(control.max_payload, payload);
            assert_int_equal(control.max_payload_supported, 4096 / (payload / 128));
            assert_int_equal(control.max_read_request, request);
        }
}

TEST(makes_do_with_what_there_is)
{
    uint8_t bytes[PCIE_CONFIG_BYTES];
    pcie_fixture_config(bytes, 256, 512, 4096, 0x0c);
    for (size_t size = 0; size <= PCIE_CONFIG_BYTES; size++) {
        struct xb_pcie_control control = parse(bytes, size);
        assert_true(control.known == (size >= PCIE_CONFIG_CAPABILITY + 10));
        assert_true(control.has_acs == (size >= PCIE_CONFIG_ACS + 8));
    }
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
