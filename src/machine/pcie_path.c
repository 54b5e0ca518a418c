/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* readlink */
#include "pcie_path.h"

#include "pcie_internal.h"
#include "sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static struct xb_pcie_aer read_aer(const char *folder)
{
    struct xb_pcie_aer aer = {.known = true};

    if (read_total(folder, "aer_dev_correctable", "TOTAL_ERR_COR", &aer.correctable) &&
        read_total(folder, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &aer.nonfatal) &&
        read_total(folder, "aer_dev_fatal", "TOTAL_ERR_FATAL", &aer.fatal))
        return aer;
    return (struct xb_pcie_aer){0};
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
    end->aer = read_aer(folder);
    end->control = xb_pcie_control_read(folder);
}

/* The attribute is a symbolic link to "../../../kernel/iommu_groups/12". */
static int read_iommu_group(const char *folder)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/iommu_group", folder);

    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    ssize_t got = readlink(path, target, sizeof target - 1);
    if (got < 0)
        return -1;
    target[got] = '\0';
    const char *name = xb_sysfs_name(target);
    if (!isdigit((unsigned char)*name) || strlen(name) > 9)
        return -1;
    return (int)strtol(name, NULL, 10);
}

static void read_local_cpus(const char *folder, char *cpus, size_t size)
{
    char text[4096];

    if (!xb_sysfs_text(folder, "local_cpulist", text, sizeof text))
        return;
    text[strcspn(text, "\n")] = '\0';
    if (strlen(text) < size) /* a list that was cut would name other CPUs */
        memcpy(cpus, text, strlen(text) + 1);
}

/*
 * An AMD GPU and the switch on its package have the same vendor number, and so do both ports of
 * that switch. The last hop is never marked: AMD's root ports may have this number too (RD890), but
 * nothing is above them.
 */
static void mark_on_package(struct xb_pcie_path *path)
{
    for (size_t i = 0; i + 1 < path->count; i++) {
        struct xb_pcie_hop *hop = &path->hops[i];
        if (hop->lower.vendor != XB_VENDOR_AMD_GPU || hop->upper.vendor != XB_VENDOR_AMD_GPU)
            return;
        hop->on_package = true;
    }
}

void xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path)
{
    char folder[PATH_MAX];

    memset(path, 0, sizeof *path);
    path->numa_node = -1;
    path->iommu_group = -1;
    if (!xb_sysfs_is_bdf(bdf) || !xb_sysfs_folder(root, bdf, folder))
        return;
    path->present = true;
    path->dead = xb_pcie_is_dead(folder);
    path->numa_node = xb_sysfs_numa_node(folder);
    path->iommu_group = read_iommu_group(folder);
    read_local_cpus(folder, path->local_cpus, sizeof path->local_cpus);
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
    mark_on_package(path);
}

bool xb_pcie_hop_upper_is_real(const struct xb_pcie_hop *hop)
{
    return hop->has_upper && hop->upper.vendor != XB_VENDOR_QEMU;
}

double xb_pcie_hop_best_speed(const struct xb_pcie_hop *hop)
{
    double lower = hop->lower.link.max_speed_gts;
    double upper = xb_pcie_hop_upper_is_real(hop) ? hop->upper.link.max_speed_gts : 0.0;

    if (lower == 0.0 || upper == 0.0)
        return lower + upper;
    return lower < upper ? lower : upper;
}

unsigned xb_pcie_hop_best_width(const struct xb_pcie_hop *hop)
{
    unsigned lower = hop->lower.link.max_width;
    unsigned upper = xb_pcie_hop_upper_is_real(hop) ? hop->upper.link.max_width : 0;

    if (lower == 0 || upper == 0)
        return lower + upper;
    return lower < upper ? lower : upper;
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
    int length = snprintf(folder, sizeof folder, "%s/%s", root, end->bdf);

    return length >= 0 && (size_t)length < sizeof folder &&
           xb_sysfs_speed(folder, "current_link_speed", speed_gts) &&
           xb_sysfs_width(folder, "current_link_width", width);
}

bool xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                      unsigned *width)
{
    return read_rate(root, &hop->lower, speed_gts, width) ||
           (xb_pcie_hop_upper_is_real(hop) && read_rate(root, &hop->upper, speed_gts, width));
}
