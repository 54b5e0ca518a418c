/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pcie.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the files of a function in sysfs ---- */

/* Whether the text names a PCI function: domain:bus:device.function. Domains of more than 16 bits
 * exist (behind Intel's VMD). Returns false for a name that does not fit in a bdf[16]. */
static bool is_bdf(const char *name)
{
    size_t domain = strspn(name, "0123456789abcdefABCDEF");
    /* The part after the domain; x stands for a hexadecimal digit. */
    static const char shape[] = ":xx:xx.x";
    const char *rest = name + domain;
    if (domain < 4 || strlen(name) > 15 || strlen(rest) != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'x' ? !isxdigit((unsigned char)rest[i]) : rest[i] != shape[i])
            return false;
    return true;
}

/* Writes "FOLDER/NAME". Returns false if that is too long for a path. */
static bool make_path(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length >= 0 && length < PATH_MAX;
}

/* Finds the folder of the function at `bdf`, links resolved: around it is the bridge above it. */
static bool find_folder(const char *root, const char *bdf, char folder[PATH_MAX])
{
    char path[PATH_MAX];
    return make_path(root, bdf, path) && realpath(path, folder) != NULL;
}

/* The last component of a path. */
static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool xb_sysfs_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    int file = make_path(folder, name, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    errno = 0;
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

const char *xb_line_value(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t between = strspn(line + strnlen(line, length), " \t:=");
        if (strncmp(line, name, length) == 0 && (length == 0 || between > 0))
            return line + length + between;
    }
    return NULL;
}

/* Reads an attribute that begins with a digit: what is not known does not. */
static bool read_digits(const char *folder, const char *name, char text[64])
{
    return xb_sysfs_text(folder, name, text, 64) && isdigit((unsigned char)text[0]);
}

/* Reads an attribute such as "32.0 GT/s PCIe" (kernels before 5.8 leave out "PCIe"), in 10^9
 * transfers per second on each lane. */
static bool read_speed(const char *folder, const char *name, double *gts)
{
    char text[64], *end;
    if (!read_digits(folder, name, text)) /* "Unknown" or, in older kernels, "Unknown speed" */
        return false;
    double speed = strtod(text, &end);
    if (speed <= 0.0 || strncmp(end, " GT/s", 5) != 0)
        return false;
    *gts = speed;
    return true;
}

static bool read_width(const char *folder, const char *name, unsigned *lanes)
{
    char text[64];
    unsigned long width = read_digits(folder, name, text) ? strtoul(text, NULL, 10) : 0;
    if (width < 1 || width > 32) /* no link is wider than 32; a dead device shows 63 */
        return false;
    *lanes = (unsigned)width;
    return true;
}

static int read_numa_node(const char *folder)
{
    char text[64];
    return read_digits(folder, "numa_node", text) ? (int)strtol(text, NULL, 10) : -1;
}

static unsigned read_vendor(const char *folder)
{
    char text[64];
    return xb_sysfs_text(folder, "vendor", text, sizeof text) ? (unsigned)strtoul(text, NULL, 16)
                                                              : 0;
}

/* ---- one link ---- */

/* AMD's number for its GPUs and for the switch on their package. Its CPUs have 0x1022. */
#define VENDOR_AMD_GPU 0x1002u

/* Reads all four figures of a link in the folder of one of its ends; `known`: it could. The others
 * stay as they are, and `port` does too. */
static void fill_link(const char *folder, struct xb_pcie_link *link)
{
    bool speed = read_speed(folder, "current_link_speed", &link->speed_gts);
    bool width = read_width(folder, "current_link_width", &link->width);
    bool max_speed = read_speed(folder, "max_link_speed", &link->max_speed_gts);
    bool max_width = read_width(folder, "max_link_width", &link->max_width);
    link->known = speed && width && max_speed && max_width;
}

/* Only a device from AMD is searched for AMD's switch: another's may be plugged into one. */
struct xb_pcie_link xb_pcie_link_read(const char *root, const char *bdf)
{
    struct xb_pcie_link link = {0};
    char folder[PATH_MAX], above[PATH_MAX];
    if (!find_folder(root, bdf, folder))
        return link;
    /* As long as the bridge above has AMD's number for GPUs and their switch. */
    while (read_vendor(folder) == VENDOR_AMD_GPU && make_path(folder, "..", above) &&
           read_vendor(above) == VENDOR_AMD_GPU) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return link;
        *slash = '\0';
    }
    fill_link(folder, &link);
    const char *name = last_name(folder);
    if (link.known && strlen(name) < sizeof link.port)
        memcpy(link.port, name, strlen(name) + 1);
    return link;
}

int xb_pcie_numa_node_at(const char *root, const char *bdf)
{
    char folder[PATH_MAX];
    return find_folder(root, bdf, folder) ? read_numa_node(folder) : -1;
}

int xb_pcie_numa_node(const char *bdf)
{
    return xb_pcie_numa_node_at(XB_PCI_DEVICES, bdf);
}

/* ---- configuration space ---- */

/* PCI Express Base Specification 5.0: 7.5.1 (the header), 7.5.3.3 and 7.5.3.4 (Device Capabilities,
 * Device Control), 7.5.3.7 (Link Control), 7.6.3 (extended capabilities), 7.7.8 (ACS). */
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
#define LINK_CONTROL 16u
#define EXTENDED_ID_ACS 0x0du
#define ACS_CONTROL 6u
#define ACS_REDIRECTS (1u << 2 | 1u << 3) /* P2P requests, P2P completions */

/* Reads a little-endian number of an open configuration space. False if a byte is missing. */
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
    unsigned header, at = BASIC_END;
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
    unsigned capabilities, device, acs, link;
    if (at == 0 || at + DEVICE_CONTROL + 2 > BASIC_END ||
        !fetch(file, at + DEVICE_CAPABILITIES, 4, &capabilities) ||
        !fetch(file, at + DEVICE_CONTROL, 2, &device))
        return control;
    control.aspm = at + LINK_CONTROL + 2 <= BASIC_END && fetch(file, at + LINK_CONTROL, 2, &link)
                       ? (int)(link & 3u)
                       : -1;
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
    return make_path(folder, "config", path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
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
static bool is_dead(const char *folder)
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

/* ---- the path ---- */

/* Reads the count from a line such as "TOTAL_ERR_COR 3". */
static bool read_total(const char *folder, const char *file, const char *label, uint64_t *total)
{
    char text[4096], *end; /* the kernel writes no more than a page */
    const char *value =
        xb_sysfs_text(folder, file, text, sizeof text) ? xb_line_value(text, label) : NULL;
    if (value == NULL || value[-1] != ' ' || !isdigit((unsigned char)*value))
        return false;
    errno = 0;
    *total = strtoull(value, &end, 10);
    return errno == 0 && (*end == '\n' || *end == '\0');
}

/* The kernel shows the switches of a link, whose states the link may have, to everybody. */
static void read_aspm(const char *folder, struct xb_pcie_end *end)
{
    static const char *const names[] = {"off", "L0s", "L1", "L0s and L1"};
    char l0s[8] = "", l1[8] = "";
    int states = end->control.known ? end->control.aspm : -1;
    if (states < 0) {
        bool is_shown = xb_sysfs_text(folder, "link/l0s_aspm", l0s, sizeof l0s);
        if (!xb_sysfs_text(folder, "link/l1_aspm", l1, sizeof l1) && !is_shown)
            return;
        states = (l0s[0] == '1' ? 1 : 0) + (l1[0] == '1' ? 2 : 0);
    }
    snprintf(end->aspm, sizeof end->aspm, "%s", names[states]);
}

static void read_end(const char *folder, struct xb_pcie_end *end)
{
    const char *name = last_name(folder);
    memcpy(end->bdf, name, strlen(name) + 1); /* fits: the caller checked that it is a BDF */
    end->vendor = read_vendor(folder);
    fill_link(folder, &end->link);
    if (end->link.known)
        memcpy(end->link.port, end->bdf, sizeof end->link.port);
    end->numa_node = read_numa_node(folder);
    end->aer.known =
        read_total(folder, "aer_dev_correctable", "TOTAL_ERR_COR", &end->aer.correctable) &&
        read_total(folder, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &end->aer.nonfatal) &&
        read_total(folder, "aer_dev_fatal", "TOTAL_ERR_FATAL", &end->aer.fatal);
    if (!end->aer.known)
        end->aer = (struct xb_pcie_aer){0};
    end->control = xb_pcie_control_read(folder);
    read_aspm(folder, end);
}

/* The attribute is a symbolic link to "../../../kernel/iommu_groups/12". */
static int read_iommu_group(const char *folder)
{
    char path[PATH_MAX], target[PATH_MAX];
    ssize_t got =
        make_path(folder, "iommu_group", path) ? readlink(path, target, sizeof target - 1) : -1;
    if (got < 0)
        return -1;
    target[got] = '\0';
    const char *name = last_name(target);
    if (!isdigit((unsigned char)*name) || strlen(name) > 9)
        return -1;
    return (int)strtol(name, NULL, 10);
}

/* `resource` has a line "first-byte last-byte flags" for each range. */
static uint64_t read_largest_bar(const char *folder)
{
    char text[2048];
    uint64_t largest = 0;
    if (!xb_sysfs_text(folder, "resource", text, sizeof text))
        return 0;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n")) {
        char *next;
        line += *line == '\n';
        uint64_t first = strtoull(line, &next, 16), last = strtoull(next, NULL, 16);
        if (last > first && last - first >= largest)
            largest = last - first + 1;
    }
    return largest;
}

void xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path)
{
    char folder[PATH_MAX], cpus[4096];
    memset(path, 0, sizeof *path);
    path->numa_node = -1;
    path->iommu_group = -1;
    if (!is_bdf(bdf) || !find_folder(root, bdf, folder))
        return;
    path->present = true;
    path->dead = is_dead(folder);
    path->numa_node = read_numa_node(folder);
    path->iommu_group = read_iommu_group(folder);
    if (xb_sysfs_text(folder, "iommu_group/type", path->iommu_type, sizeof path->iommu_type))
        path->iommu_type[strcspn(path->iommu_type, "\n")] = '\0';
    path->largest_bar = read_largest_bar(folder);
    if (xb_sysfs_text(folder, "local_cpulist", cpus, sizeof cpus)) {
        cpus[strcspn(cpus, "\n")] = '\0';
        if (strlen(cpus) < sizeof path->local_cpus) /* one that was cut would name other CPUs */
            memcpy(path->local_cpus, cpus, strlen(cpus) + 1);
    }
    /* Going up, functions are lower and upper ends of links in turn: the upper end of one link is a
     * switch's lower port, and the next function is the same switch's upper port. */
    for (size_t i = 0; i / 2 < XB_PCIE_HOPS && is_bdf(last_name(folder)); i++) {
        struct xb_pcie_hop *hop = &path->hops[i / 2];
        path->count = i / 2 + 1;
        hop->has_upper = i % 2 == 1;
        read_end(folder, hop->has_upper ? &hop->upper : &hop->lower);
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
    }
    /* An AMD GPU and the switch on its package have the same vendor number, and so do both ports of
     * that switch. The last hop is never marked: AMD's root ports may have this number too (RD890),
     * but nothing is above them. */
    for (size_t i = 0; i + 1 < path->count; i++) {
        struct xb_pcie_hop *hop = &path->hops[i];
        if (hop->lower.vendor != VENDOR_AMD_GPU || hop->upper.vendor != VENDOR_AMD_GPU)
            break;
        hop->on_package = true;
    }
}

static bool read_rate(const char *root, const struct xb_pcie_end *end, double *speed_gts,
                      unsigned *width)
{
    char folder[PATH_MAX];
    return make_path(root, end->bdf, folder) &&
           read_speed(folder, "current_link_speed", speed_gts) &&
           read_width(folder, "current_link_width", width);
}

bool xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                      unsigned *width)
{
    return read_rate(root, &hop->lower, speed_gts, width) ||
           (xb_pcie_hop_upper_is_real(hop) && read_rate(root, &hop->upper, speed_gts, width));
}
