/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_CLOEXEC, pread */
#include "config_space.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
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

/* A configuration space to read: an open file, or bytes in memory if `file` is negative. */
struct space {
    int file;
    const uint8_t *bytes;
    size_t size;
};

/* Reads the little-endian number of `count` bytes at `offset`. Returns false if one is missing. */
static bool fetch(const struct space *space, unsigned offset, unsigned count, unsigned *value)
{
    uint8_t read[4];
    const uint8_t *bytes = read;

    if (space->file >= 0) {
        if (pread(space->file, read, count, (off_t)offset) != (ssize_t)count)
            return false;
    } else {
        if (offset > space->size || count > space->size - offset)
            return false;
        bytes = space->bytes + offset;
    }
    *value = 0;
    for (unsigned i = count; i-- > 0;)
        *value = *value << 8 | bytes[i];
    return true;
}

/* Whether the function has a list of capabilities at the offset of devices and bridges. A function
 * that has left the bus reads as ones throughout, so its list would be noise. */
static bool has_list(const struct space *space)
{
    unsigned vendor, status, type;

    return fetch(space, 0, 2, &vendor) && vendor != 0xffff && fetch(space, STATUS, 2, &status) &&
           (status & STATUS_HAS_LIST) != 0 && fetch(space, HEADER_TYPE, 1, &type) &&
           (type & 0x7fu) <= 1; /* a device or a bridge */
}

/* The offset of the PCI Express capability, or 0 if there is none. */
static unsigned find_pcie(const struct space *space)
{
    unsigned at, capability;

    if (!has_list(space) || !fetch(space, LIST, 1, &at))
        return 0;
    /* No more capabilities than this fit, so a longer list runs in circles. */
    for (unsigned left = (BASIC_END - HEADER_END) / 4; left > 0; left--) {
        at &= ~3u;
        if (at < HEADER_END || !fetch(space, at, 2, &capability))
            return 0;
        if ((capability & 0xffu) == ID_PCIE)
            return at;
        at = capability >> 8;
    }
    return 0;
}

/* The offset of the ACS capability, or 0 if there is none. */
static unsigned find_acs(const struct space *space)
{
    unsigned at = BASIC_END;
    unsigned header;

    for (unsigned left = (EXTENDED_END - BASIC_END) / 4; left > 0; left--) {
        if (at < BASIC_END || !fetch(space, at, 4, &header) || header == 0 || header == 0xffffffffu)
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

static struct xb_pcie_control parse(const struct space *space)
{
    struct xb_pcie_control control = {0};
    unsigned at = find_pcie(space);
    unsigned capabilities, device, acs;

    if (at == 0 || at + DEVICE_CONTROL + 2 > BASIC_END ||
        !fetch(space, at + DEVICE_CAPABILITIES, 4, &capabilities) ||
        !fetch(space, at + DEVICE_CONTROL, 2, &device))
        return control;
    control.max_payload_supported = size_of(capabilities);
    control.max_payload = size_of(device >> 5);
    control.max_read_request = size_of(device >> 12);
    control.known = control.max_payload_supported != 0 && control.max_payload != 0 &&
                    control.max_read_request != 0;
    if (!control.known)
        return (struct xb_pcie_control){0};
    at = find_acs(space);
    if (at != 0 && at + ACS_CONTROL + 2 <= EXTENDED_END &&
        fetch(space, at + ACS_CONTROL, 2, &acs)) {
        control.has_acs = true;
        control.acs_redirects = (acs & ACS_REDIRECTS) != 0;
    }
    return control;
}

struct xb_pcie_control xb_pcie_control_parse(const uint8_t *bytes, size_t size)
{
    const struct space space = {.file = -1, .bytes = bytes, .size = size};

    return parse(&space);
}

/* Opens the function's configuration space; `file` is negative if that failed. */
static struct space open_space(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/config", folder);

    if (length < 0 || (size_t)length >= sizeof path)
        return (struct space){.file = -1};
    return (struct space){.file = open(path, O_RDONLY | O_CLOEXEC)};
}

struct xb_pcie_control xb_pcie_control_read(const char *folder)
{
    const struct space space = open_space(folder);

    if (space.file < 0)
        return (struct xb_pcie_control){0};
    struct xb_pcie_control control = parse(&space);
    close(space.file);
    return control;
}

/* The vendor and device of a virtual function (SR-IOV) read as ones too, but the bytes behind them
 * do not (PCI Express Base Specification 5.0, 9.3.4.1.1), so we look at both. */
bool xb_pcie_is_dead(const char *folder)
{
    const struct space space = open_space(folder);
    unsigned ids, state;

    if (space.file < 0)
        return false;
    bool dead = fetch(&space, 0, 4, &ids) && ids == 0xffffffffu &&
                (!fetch(&space, 4, 4, &state) || state == 0xffffffffu);
    close(space.file);
    return dead;
}
