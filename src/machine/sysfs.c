/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_CLOEXEC, realpath */
#include "sysfs.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool xb_sysfs_is_bdf(const char *name)
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

bool xb_sysfs_path(const char *folder, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length >= 0 && length < PATH_MAX;
}

bool xb_sysfs_folder(const char *root, const char *bdf, char folder[PATH_MAX])
{
    char path[PATH_MAX];
    return xb_sysfs_path(root, bdf, path) && realpath(path, folder) != NULL;
}

const char *xb_sysfs_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool xb_sysfs_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    int file = xb_sysfs_path(folder, name, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}

bool xb_sysfs_speed(const char *folder, const char *name, double *gts)
{
    char text[64];
    char *end;
    if (!xb_sysfs_text(folder, name, text, sizeof text) || !isdigit((unsigned char)text[0]))
        return false; /* "Unknown" or, in older kernels, "Unknown speed" */
    double speed = strtod(text, &end);
    if (speed <= 0.0 || strncmp(end, " GT/s", 5) != 0)
        return false;
    *gts = speed;
    return true;
}

bool xb_sysfs_width(const char *folder, const char *name, unsigned *lanes)
{
    char text[64];
    if (!xb_sysfs_text(folder, name, text, sizeof text) || !isdigit((unsigned char)text[0]))
        return false;
    unsigned long width = strtoul(text, NULL, 10);
    if (width < 1 || width > 32) /* no link is wider than 32; a dead device shows 63 */
        return false;
    *lanes = (unsigned)width;
    return true;
}

int xb_sysfs_numa_node(const char *folder)
{
    char text[64];
    if (!xb_sysfs_text(folder, "numa_node", text, sizeof text) || !isdigit((unsigned char)text[0]))
        return -1;
    return (int)strtol(text, NULL, 10);
}

unsigned xb_sysfs_vendor(const char *folder)
{
    char text[64];
    if (!xb_sysfs_text(folder, "vendor", text, sizeof text))
        return 0;
    return (unsigned)strtoul(text, NULL, 16);
}
