/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pcie.h"

#include "sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one link ---- */

/* PCI Express Base Specification 5.0, 4.2 (coding) and 8.1 (rates); 6.0 for the last. */
static const struct {
    double gts;
    double coding; /* data bits for each bit on the line; 0 if no figure is certain */
} generations[] = {
    {2.5, 8.0 / 10.0},     {5.0, 8.0 / 10.0},     {8.0, 128.0 / 130.0},
    {16.0, 128.0 / 130.0}, {32.0, 128.0 / 130.0}, {64.0, 0.0},
};

/* A FLIT of 256 bytes has 242 of packets (PCI Express Base Specification 6.0, 4.2.3). Other
 * overhead is not counted. */
#define FLIT_SHARE (242.0 / 256.0)

void xb_pcie_link_fill(const char *folder, struct xb_pcie_link *link)
{
    bool speed = xb_sysfs_speed(folder, "current_link_speed", &link->speed_gts);
    bool width = xb_sysfs_width(folder, "current_link_width", &link->width);
    bool max_speed = xb_sysfs_speed(folder, "max_link_speed", &link->max_speed_gts);
    bool max_width = xb_sysfs_width(folder, "max_link_width", &link->max_width);
    link->known = speed && width && max_speed && max_width;
}

/*
 * Reads the port that connects the device to its slot. The path has no symbolic links, so that the
 * folder around it is the bridge above it. Only a device from AMD is searched for AMD's switch:
 * another vendor's card has none, even if it is plugged into one.
 */
struct xb_pcie_link xb_pcie_link_read(const char *root, const char *bdf)
{
    struct xb_pcie_link link = {0};
    char folder[PATH_MAX];
    char above[PATH_MAX];
    if (!xb_sysfs_folder(root, bdf, folder))
        return link;
    /* As long as the bridge above has AMD's number for GPUs and their switch. */
    while (xb_sysfs_vendor(folder) == XB_VENDOR_AMD_GPU && xb_sysfs_path(folder, "..", above) &&
           xb_sysfs_vendor(above) == XB_VENDOR_AMD_GPU) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return link;
        *slash = '\0';
    }
    xb_pcie_link_fill(folder, &link);
    const char *name = xb_sysfs_name(folder);
    if (link.known && strlen(name) < sizeof link.port)
        memcpy(link.port, name, strlen(name) + 1);
    return link;
}

unsigned xb_pcie_generation(double speed_gts)
{
    for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
        if (generations[i].gts == speed_gts)
            return i + 1;
    return 0;
}

const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
    return text;
}

double xb_pcie_raw_rate(double speed_gts, unsigned width)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation == 0)
        return 0.0;
    return speed_gts * 1e9 / 8.0 * generations[generation - 1].coding * width;
}

double xb_pcie_rate_to_compare(double speed_gts, unsigned width)
{
    double raw = xb_pcie_raw_rate(speed_gts, width);
    return raw > 0.0 ? raw : speed_gts * 1e9 / 8.0 * width * FLIT_SHARE;
}

int xb_pcie_numa_node_at(const char *root, const char *bdf)
{
    char folder[PATH_MAX];
    return xb_sysfs_folder(root, bdf, folder) ? xb_sysfs_numa_node(folder) : -1;
}

int xb_pcie_numa_node(const char *bdf)
{
    return xb_pcie_numa_node_at(XB_PCI_DEVICES, bdf);
}

/* ---- configuration space ---- */

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
    char text[4096]; /* the kernel writes no more than a page */
    size_t length = strlen(label);
    if (!xb_sysfs_text(folder, file, text, sizeof text))
        return false;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, label, length) != 0 || line[length] != ' ' ||
            !isdigit((unsigned char)line[length + 1]))
            continue;
        char *end;
        errno = 0;
        unsigned long long count = strtoull(line + length + 1, &end, 10);
        if (errno != 0 || (*end != '\n' && *end != '\0'))
            return false;
        *total = count;
        return true;
    }
    return false;
}

static void read_end(const char *folder, struct xb_pcie_end *end)
{
    const char *name = xb_sysfs_name(folder);
    memcpy(end->bdf, name, strlen(name) + 1); /* fits: the caller checked that it is a BDF */
    end->vendor = xb_sysfs_vendor(folder);
    xb_pcie_link_fill(folder, &end->link);
    if (end->link.known)
        memcpy(end->link.port, end->bdf, sizeof end->link.port);
    end->numa_node = xb_sysfs_numa_node(folder);
    end->aer.known =
        read_total(folder, "aer_dev_correctable", "TOTAL_ERR_COR", &end->aer.correctable) &&
        read_total(folder, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &end->aer.nonfatal) &&
        read_total(folder, "aer_dev_fatal", "TOTAL_ERR_FATAL", &end->aer.fatal);
    if (!end->aer.known)
        end->aer = (struct xb_pcie_aer){0};
    end->control = xb_pcie_control_read(folder);
}

/* The attribute is a symbolic link to "../../../kernel/iommu_groups/12". */
static int read_iommu_group(const char *folder)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    ssize_t got =
        xb_sysfs_path(folder, "iommu_group", path) ? readlink(path, target, sizeof target - 1) : -1;
    if (got < 0)
        return -1;
    target[got] = '\0';
    const char *name = xb_sysfs_name(target);
    if (!isdigit((unsigned char)*name) || strlen(name) > 9)
        return -1;
    return (int)strtol(name, NULL, 10);
}

void xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path)
{
    char folder[PATH_MAX];
    char cpus[4096];
    memset(path, 0, sizeof *path);
    path->numa_node = -1;
    path->iommu_group = -1;
    if (!xb_sysfs_is_bdf(bdf) || !xb_sysfs_folder(root, bdf, folder))
        return;
    path->present = true;
    path->dead = is_dead(folder);
    path->numa_node = xb_sysfs_numa_node(folder);
    path->iommu_group = read_iommu_group(folder);
    if (xb_sysfs_text(folder, "local_cpulist", cpus, sizeof cpus)) {
        cpus[strcspn(cpus, "\n")] = '\0';
        if (strlen(cpus) < sizeof path->local_cpus) /* one that was cut would name other CPUs */
            memcpy(path->local_cpus, cpus, strlen(cpus) + 1);
    }
    /* Going up, functions are lower and upper ends of links in turn: the upper end of one link is a
     * switch's lower port, and the next function is the same switch's upper port. */
    for (size_t i = 0; i / 2 < XB_PCIE_HOPS && xb_sysfs_is_bdf(xb_sysfs_name(folder)); i++) {
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
        if (hop->lower.vendor != XB_VENDOR_AMD_GPU || hop->upper.vendor != XB_VENDOR_AMD_GPU)
            break;
        hop->on_package = true;
    }
}

bool xb_pcie_hop_upper_is_real(const struct xb_pcie_hop *hop)
{
    return hop->has_upper && hop->upper.vendor != XB_VENDOR_QEMU;
}

/* The less of what two ends can do; 0 stands for one that is not known. */
static double least_known(double lower, double upper)
{
    return lower == 0.0 || upper == 0.0 ? lower + upper : lower < upper ? lower : upper;
}

double xb_pcie_hop_best_speed(const struct xb_pcie_hop *hop)
{
    return least_known(hop->lower.link.max_speed_gts,
                       xb_pcie_hop_upper_is_real(hop) ? hop->upper.link.max_speed_gts : 0);
}

unsigned xb_pcie_hop_best_width(const struct xb_pcie_hop *hop)
{
    return (unsigned)least_known(hop->lower.link.max_width,
                                 xb_pcie_hop_upper_is_real(hop) ? hop->upper.link.max_width : 0);
}

size_t xb_pcie_path_hops(const struct xb_pcie_path *path)
{
    size_t count = path->count < XB_PCIE_HOPS ? path->count : XB_PCIE_HOPS;
    return path->present ? count : 0;
}

size_t xb_pcie_path_slot(const struct xb_pcie_path *path)
{
    size_t slot = 0;
    while (slot < xb_pcie_path_hops(path) && path->hops[slot].on_package)
        slot++;
    return slot;
}

static void limit_payload(const struct xb_pcie_end *end, struct xb_pcie_control *control)
{
    if (end->control.known && end->control.max_payload > 0 &&
        end->control.max_payload < control->max_payload)
        control->max_payload = end->control.max_payload;
}

struct xb_pcie_control xb_pcie_path_control(const struct xb_pcie_path *path)
{
    struct xb_pcie_control control = path->hops[0].lower.control;
    for (size_t i = 0; i < xb_pcie_path_hops(path); i++) {
        limit_payload(&path->hops[i].lower, &control);
        if (path->hops[i].has_upper)
            limit_payload(&path->hops[i].upper, &control);
    }
    return control;
}

static bool read_rate(const char *root, const struct xb_pcie_end *end, double *speed_gts,
                      unsigned *width)
{
    char folder[PATH_MAX];
    return xb_sysfs_path(root, end->bdf, folder) &&
           xb_sysfs_speed(folder, "current_link_speed", speed_gts) &&
           xb_sysfs_width(folder, "current_link_width", width);
}

bool xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                      unsigned *width)
{
    return read_rate(root, &hop->lower, speed_gts, width) ||
           (xb_pcie_hop_upper_is_real(hop) && read_rate(root, &hop->upper, speed_gts, width));
}

/* ---- the ceiling ---- */

/* docs/link-ceilings.md derives every number in this file. */

/* The share of a lane that carries data: about one block in 370 is an SKP ordered set. */
#define SKP_SHARE 0.9973
/* Bytes that each packet needs besides its payload: framing, sequence number, header, LCRC. */
#define WRITE_OVERHEAD 24.0 /* memory write with a 64-bit address */
#define COMPLETION_OVERHEAD 20.0
/* A read request costs this many bytes in the direction of its completions: an acknowledgement and
 * an update of the flow control credits. */
#define REQUEST_OVERHEAD 16.0

/* Server firmware mostly sets these, so we assume them if the device's values are unknown. */
#define ASSUMED_PAYLOAD 256u
#define ASSUMED_READ_REQUEST 512u

struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control)
{
    struct xb_ceiling ceiling = {.speed_gts = speed_gts,
                                 .width = width,
                                 .raw = xb_pcie_raw_rate(speed_gts, width),
                                 .payload = ASSUMED_PAYLOAD,
                                 .read_request = ASSUMED_READ_REQUEST,
                                 .payload_assumed = true,
                                 .read_request_assumed = true};
    if (control != NULL && control->known && control->max_payload > 0) {
        ceiling.payload = control->max_payload;
        ceiling.payload_assumed = false;
    }
    if (control != NULL && control->known && control->max_read_request > 0) {
        ceiling.read_request = control->max_read_request;
        ceiling.read_request_assumed = false;
    }
    if (ceiling.raw <= 0.0)
        return ceiling;
    double payload = ceiling.payload;
    double request = ceiling.read_request;
    /* Round up: the last completion of a request may carry less than a full payload. */
    unsigned completions = (ceiling.read_request + ceiling.payload - 1) / ceiling.payload;
    ceiling.known = true;
    ceiling.d2h = ceiling.raw * SKP_SHARE * payload / (payload + WRITE_OVERHEAD);
    ceiling.h2d = ceiling.raw * SKP_SHARE * request /
                  (request + COMPLETION_OVERHEAD * completions + REQUEST_OVERHEAD);
    /* The real sizes may be larger than the assumed ones, but nothing exceeds the raw rate. */
    ceiling.most = ceiling.payload_assumed || ceiling.read_request_assumed
                       ? ceiling.raw
                       : ceiling.raw * SKP_SHARE * payload / (payload + COMPLETION_OVERHEAD);
    return ceiling;
}

static bool was_seen(const struct xb_pcie_load *load, size_t hop)
{
    return hop < load->count && load->hops[hop].readings > 0;
}

static double rate_of(const struct xb_pcie_seen *seen)
{
    return xb_pcie_rate_to_compare(seen->speed_gts, seen->width);
}

/* The hops that are hardware. Where one port above the device is emulated, all bridges are: a
 * virtual machine's switch may bear the vendor number of a real one, and shows 2.5 GT/s x1. */
static size_t real_hops(const struct xb_pcie_path *path)
{
    size_t count = xb_pcie_path_hops(path);
    size_t slot = xb_pcie_path_slot(path);
    for (size_t i = 0; i < count; i++)
        if ((path->hops[i].has_upper && !xb_pcie_hop_upper_is_real(&path->hops[i])) ||
            path->hops[i].lower.vendor == XB_VENDOR_QEMU)
            return slot < count ? slot + 1 : count;
    return count;
}

struct xb_ceiling xb_ceiling_of_path(const struct xb_pcie_path *path,
                                     const struct xb_pcie_load *load, size_t *hop)
{
    const struct xb_pcie_control control = xb_pcie_path_control(path);
    size_t count = real_hops(path);
    size_t least = xb_pcie_path_slot(path);
    *hop = least;
    if (least >= count || !was_seen(load, least))
        return (struct xb_ceiling){.known = false};
    for (size_t i = least + 1; i < count; i++)
        if (was_seen(load, i) && rate_of(&load->hops[i]) < rate_of(&load->hops[least]))
            least = i;
    *hop = least;
    return xb_ceiling_of(load->hops[least].speed_gts, load->hops[least].width, &control);
}
