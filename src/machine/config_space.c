/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_CLOEXEC, pread */
#include "config_space.h"

#include "sysfs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/*
 * PCI Express Base Specification 5.0: 7.5.1 (the header), 7.5.3.3 and 7.5.3.4 (Device Capabilities,
 * Device Control), 7.6.3 (extended capabilities), 7.7.8 (ACS).
 */
#define STATUS 0x06
#define STATUS_HAS_LIST 0x10u
#define HEADER_TYPE 0x0e
#define LIST 0x34
#define HEADER_END 0x40u
#define BASIC_END 0x100u
#define EXTENDED_END 0x1000u
#define ID_PCIE 0x10u
#define DEVICE_CAPABILITIES 4u
#define DEVICE_CONTROL 8u
#define EXTENDED_ID_ACS 0x0du
#define ACS_CONTROL 6u
#define ACS_REDIRECTS (1u << 2 | 1u << 3) /* P2P requests, P2P completions */

/* Reads the little-endian number of `count` bytes at `offset` of an open configuration space.
 * Returns false if one is missing. */
static bool fetch(int file, unsigned offset, unsigned count, unsigned *value)
{
    uint8_t bytes[4];
    if (pread(file, bytes, count, (off_t)offset) != (ssize_t)count)
        return false;
    *value = 0;
    for (unsigned i = count; i-- > 0;)
        *value = *value << 8 | bytes[i];
    return true;
}

/* The offset of the PCI Express capability, or 0 if there is none. */
static unsigned find_pcie(int file)
{
    unsigned vendor, status, type, at, capability;
    /* A function that has left the bus reads as ones throughout: its list would be noise. Devices
     * and bridges have their list at this offset. */
    if (!fetch(file, 0, 2, &vendor) || vendor == 0xffff || !fetch(file, STATUS, 2, &status) ||
        (status & STATUS_HAS_LIST) == 0 || !fetch(file, HEADER_TYPE, 1, &type) ||
        (type & 0x7fu) > 1 || !fetch(file, LIST, 1, &at))
        return 0;
    /* No more capabilities than this fit, so a longer list runs in circles. */
    for (unsigned left = (BASIC_END - HEADER_END) / 4; left > 0; left--) {
        at &= ~3u;
        if (at < HEADER_END || !fetch(file, at, 2, &capability))
            return 0;
        if ((capability & 0xffu) == ID_PCIE)
            return at;
        at = capability >> 8;
    }
    return 0;
}

/* The offset of the ACS capability, or 0 if there is none. */
static unsigned find_acs(int file)
{
    unsigned at = BASIC_END;
    unsigned header;
    for (unsigned left = (EXTENDED_END - BASIC_END) / 4; left > 0; left--) {
        if (at < BASIC_END || !fetch(file, at, 4, &header) || header == 0 || header == 0xffffffffu)
            return 0;
        if ((header & 0xffffu) == EXTENDED_ID_ACS)
            return at;
        at = header >> 20 & ~3u;
    }
    return 0;
}

/* The size in bytes that a three-bit code stands for, or 0 if the code is reserved. */
static unsigned size_of(unsigned code)
{
    code &= 7u;
    return code <= 5 ? 128u << code : 0;
}

static struct xb_pcie_control parse(int file)
{
    struct xb_pcie_control control = {0};
    unsigned at = find_pcie(file);
    unsigned capabilities, device, acs;
    if (at == 0 || at + DEVICE_CONTROL + 2 > BASIC_END ||
        !fetch(file, at + DEVICE_CAPABILITIES, 4, &capabilities) ||
        !fetch(file, at + DEVICE_CONTROL, 2, &device))
        return control;
    control.max_payload_supported = size_of(capabilities);
    control.max_payload = size_of(device >> 5);
    control.max_read_request = size_of(device >> 12);
    control.known = control.max_payload_supported != 0 && control.max_payload != 0 &&
                    control.max_read_request != 0;
    if (!control.known)
        return (struct xb_pcie_control){0};
    at = find_acs(file);
    if (at != 0 && at + ACS_CONTROL + 2 <= EXTENDED_END && fetch(file, at + ACS_CONTROL, 2, &acs)) {
        control.has_acs = true;
        control.acs_redirects = (acs & ACS_REDIRECTS) != 0;
    }
    return control;
}

/* Opens the function's configuration space; negative if that failed. */
static int open_space(const char *folder)
{
    char path[PATH_MAX];
    return xb_sysfs_path(folder, "config", path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

struct xb_pcie_control xb_pcie_control_read(const char *folder)
{
    int file = open_space(folder);
    if (file < 0)
        return (struct xb_pcie_control){0};
    struct xb_pcie_control control = parse(file);
    close(file);
    return control;
}

/* The vendor and device of a virtual function (SR-IOV) read as ones too, but the bytes behind them
 * do not (PCI Express Base Specification 5.0, 9.3.4.1.1), so we look at both. */
bool xb_pcie_is_dead(const char *folder)
{
    int file = open_space(folder);
    unsigned ids, state;
    if (file < 0)
        return false;
    bool dead = fetch(file, 0, 4, &ids) && ids == 0xffffffffu &&
                (!fetch(file, 4, 4, &state) || state == 0xffffffffu);
    close(file);
    return dead;
}
