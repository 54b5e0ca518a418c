/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_CLOEXEC, realpath */
#include "xferbench/link.h"

#include "pcie_internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"

/* Of AMD's GPUs and of the switch on their package. What belongs to its CPUs has 0x1022. */
#define VENDOR_AMD_GPU 0x1002

/* PCI Express Base Specification 5.0, 4.2 (coding) and 8.1 (rates); 6.0 for the last. */
static const struct {
    double gts;
    double coding; /* data bits a bit on the line; 0 where no figure is certain */
} generations[] = {
    {2.5, 8.0 / 10.0},     {5.0, 8.0 / 10.0},     {8.0, 128.0 / 130.0},
    {16.0, 128.0 / 130.0}, {32.0, 128.0 / 130.0}, {64.0, 0.0},
};

/* Reads one attribute of a device as text; they all fit in a line of 64 characters. */
static bool read_attribute(const char *root, const char *bdf, const char *name, char text[64])
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s/%s", root, bdf, name);

    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, 63);
    close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

/* "32.0 GT/s PCIe"; kernels before 5.8 leave out "PCIe". Not by strtod, which wants a comma in some
 * locales. */
static bool read_speed(const char *root, const char *bdf, const char *name, double *gts)
{
    char text[64];
    char *end;

    if (!read_attribute(root, bdf, name, text) || !isdigit((unsigned char)text[0]))
        return false; /* "Unknown" or, in older kernels, "Unknown speed" */
    double speed = (double)strtoul(text, &end, 10);
    if (*end == '.') {
        double place = 10.0;
        for (end++; isdigit((unsigned char)*end); end++, place *= 10.0)
            speed += (*end - '0') / place;
    }
    if (speed <= 0.0 || strncmp(end, " GT/s", 5) != 0)
        return false;
    *gts = speed;
    return true;
}

static bool read_width(const char *root, const char *bdf, const char *name, unsigned *lanes)
{
    char text[64];

    if (!read_attribute(root, bdf, name, text) || !isdigit((unsigned char)text[0]))
        return false;
    unsigned long width = strtoul(text, NULL, 10);
    if (width < 1 || width > 32) /* the widest link there is; 63 is what a dead device reads */
        return false;
    *lanes = (unsigned)width;
    return true;
}

static bool is_of_amd_gpu(const char *root, const char *bdf)
{
    char text[64];

    return read_attribute(root, bdf, "vendor", text) && strtoul(text, NULL, 16) == VENDOR_AMD_GPU;
}

/*
 * The folder of the port through which the device meets its slot, without symbolic links, so that
 * the folder around it is the bridge above it. The device is asked before its bridges are: another
 * vendor's card has no switch of AMD's on it, whatever it is plugged into.
 */
static bool find_port(const char *root, const char *bdf, char folder[PATH_MAX])
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", root, bdf);

    if (length < 0 || (size_t)length >= sizeof path || realpath(path, folder) == NULL)
        return false;
    if (!is_of_amd_gpu(folder, "."))
        return true;
    while (is_of_amd_gpu(folder, "..")) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    return true;
}

struct xb_pcie_link xb_pcie_link_read_at(const char *root, const char *bdf)
{
    struct xb_pcie_link link = {0};
    char folder[PATH_MAX];

    if (!find_port(root, bdf, folder))
        return link;
    link.known = read_speed(folder, ".", "current_link_speed", &link.speed_gts) &&
                 read_width(folder, ".", "current_link_width", &link.width) &&
                 read_speed(folder, ".", "max_link_speed", &link.max_speed_gts) &&
                 read_width(folder, ".", "max_link_width", &link.max_width);
    const char *slash = strrchr(folder, '/');
    if (link.known && slash != NULL && strlen(slash) <= sizeof link.port)
        memcpy(link.port, slash + 1, strlen(slash)); /* with the end of the text */
    return link;
}

struct xb_pcie_link xb_pcie_link_read(const char *bdf)
{
    return xb_pcie_link_read_at(DEVICES, bdf);
}

unsigned xb_pcie_generation(double speed_gts)
{
    for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
        if (generations[i].gts == speed_gts)
            return i + 1;
    return 0;
}

double xb_pcie_raw_rate(double speed_gts, unsigned width)
{
    unsigned generation = xb_pcie_generation(speed_gts);

    if (generation == 0)
        return 0.0;
    return speed_gts * 1e9 / 8.0 * generations[generation - 1].coding * width;
}

int xb_pcie_numa_node_at(const char *root, const char *bdf)
{
    char text[64];

    if (!read_attribute(root, bdf, "numa_node", text) || !isdigit((unsigned char)text[0]))
        return -1;
    return (int)strtol(text, NULL, 10);
}

int xb_pcie_numa_node(const char *bdf)
{
    return xb_pcie_numa_node_at(DEVICES, bdf);
}
