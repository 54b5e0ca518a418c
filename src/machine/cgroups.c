/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cgroups.h"

#include "base/parallel.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_under(const char *root, const char *path)
{
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full)
        return NULL;
    return fopen(full, "re");
}

bool xb_number_read(const char *root, const char *path, const char *field, uint64_t *value)
{
    FILE *file = open_under(root, path);
    char line[256];
    bool found = false;
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(field);
        if (strncmp(line, field, length) != 0)
            continue;
        if (length > 0 && line[length] != ' ' && line[length] != ':')
            continue; /* a longer name that begins with `field` */
        const char *number = line + length + strspn(line + length, ": \t");
        if (!isdigit((unsigned char)*number))
            break;
        *value = strtoull(number, NULL, 10);
        found = true;
    }
    fclose(file);
    errno = 0;
    return found;
}

/*
 * Visits the process's cgroup and all cgroups above it, because each of them limits those below.
 * In a container without a cgroup namespace, `path` is the host's and does not exist in here. The
 * container's own cgroup is then the mount itself, where the walk ends.
 */
static void visit_up(const char *root, const struct xb_cgroup_hierarchy *hierarchy,
                     const char *path, xb_cgroup_visitor *visit, void *argument)
{
    char directory[PATH_MAX - 64]; /* leaves room for a file name */
    size_t mount_length = strlen(hierarchy->mount);
    int length = snprintf(directory, sizeof directory, "%s%s", hierarchy->mount,
                          strcmp(path, "/") == 0 ? "" : path);
    if (length < 0 || (size_t)length >= sizeof directory)
        return;
    for (char *slash = directory + length; slash != NULL && slash >= directory + mount_length;
         slash = strrchr(directory, '/')) {
        *slash = '\0';
        visit(argument, hierarchy->files, root, directory);
    }
}

/* /proc/self/cgroup has a line "number:controllers:path" for every hierarchy (cgroups(7)). */
void xb_cgroups_visit(const char *root, const struct xb_cgroup_hierarchy *hierarchies, size_t count,
                      xb_cgroup_visitor *visit, void *argument)
{
    FILE *file = open_under(root, "/proc/self/cgroup");
    char *line = NULL;
    size_t capacity = 0;
    if (file == NULL)
        return;
    while (getline(&line, &capacity, file) > 0) {
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;
        controllers++;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        for (const struct xb_cgroup_hierarchy *at = hierarchies; at < hierarchies + count; at++)
            if (xb_list_has(controllers, at->controller))
                visit_up(root, at, path, visit, argument);
    }
    free(line);
    fclose(file);
}

/* ---- how many CPUs they allow ---- */

/* Where a cgroup has its quota and its period. */
struct quota_files {
    const char *quota, *period; /* no file for the period: it stands behind the quota */
};

/* So many microseconds of CPU time in each period; as many CPUs can be busy, and a part of one. No
 * limit is "max 100000" in v2, -1 in v1. */
static void tighten(void *argument, const void *files, const char *root, const char *directory)
{
    const struct quota_files *names = files;
    unsigned *cpus = argument;
    char path[PATH_MAX];
    char field[32] = "";
    uint64_t quota = 0;
    uint64_t period = 0;
    snprintf(path, sizeof path, "%s/%s", directory, names->quota);
    if (!xb_number_read(root, path, "", &quota))
        return;
    if (names->period != NULL)
        snprintf(path, sizeof path, "%s/%s", directory, names->period);
    else
        snprintf(field, sizeof field, "%llu", (unsigned long long)quota);
    if (!xb_number_read(root, path, field, &period) || quota == 0 || period == 0)
        return;
    uint64_t most = quota / period + (quota % period != 0);
    if (most < *cpus)
        *cpus = (unsigned)most;
}

unsigned xb_cpu_quota_read(const char *root)
{
    static const struct quota_files v2 = {.quota = "cpu.max"},
                                    v1 = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    static const struct xb_cgroup_hierarchy hierarchies[] = {{"", "/sys/fs/cgroup", &v2},
                                                             {"cpu", "/sys/fs/cgroup/cpu", &v1}};
    unsigned cpus = UINT_MAX;
    xb_cgroups_visit(root, hierarchies, sizeof hierarchies / sizeof *hierarchies, tighten, &cpus);
    return cpus;
}

unsigned xb_cpus_usable(void)
{
    static _Atomic unsigned quota; /* 0: not read yet */
    if (quota == 0)
        quota = xb_cpu_quota_read("");
    unsigned allowed = xb_cpus_allowed();
    return allowed < quota ? allowed : quota;
}
