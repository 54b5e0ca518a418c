/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Copies the value of the first line "key <blanks> separator <blanks> value", without quotes. */
static bool read_value(const char *path, const char *key, char separator, char *value, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = false;
    char line[512];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) != 0)
            continue;
        char *rest = line + length + strspn(line + length, " \t");
        if (*rest != separator)
            continue;
        rest += 1 + strspn(rest + 1, " \t\"'");
        snprintf(value, size, "%.*s", (int)strcspn(rest, "\"'\n"), rest);
        found = true;
    }
    fclose(file);
    return found;
}

void xb_host_facts_read(struct xb_host_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    struct utsname system;
    if (uname(&system) == 0) {
        snprintf(facts->hostname, sizeof facts->hostname, "%s", system.nodename);
        snprintf(facts->kernel, sizeof facts->kernel, "%s %s %s", system.sysname, system.release,
                 system.machine);
    }
    if (!read_value("/etc/os-release", "PRETTY_NAME", '=', facts->os, sizeof facts->os))
        read_value("/usr/lib/os-release", "PRETTY_NAME", '=', facts->os, sizeof facts->os);
    read_value("/proc/cpuinfo", "model name", ':', facts->cpu_model, sizeof facts->cpu_model);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus > 0)
        facts->logical_cpus = (unsigned)cpus;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0)
        facts->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}

static bool looks_secret(const char *name, size_t length)
{
    static const char *const parts[] = {"_KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (memmem(name, length, parts[i], strlen(parts[i])) != NULL)
            return true;
    }
    return false;
}

bool xb_environment_steers(const char *variable)
{
    static const char *const prefixes[] = {"CUDA_", "NVIDIA_", "HIP_", "HSA_", "ROC_",
                                           "ROCM_", "ROCR_",   "GPU_", "AMD_", "XFERBENCH_HIP_"};
    static const char suffix[] = "_VISIBLE_DEVICES";
    size_t length = strcspn(variable, "=");
    if (looks_secret(variable, length))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    size_t suffix_length = sizeof suffix - 1;
    return length >= suffix_length &&
           memcmp(variable + length - suffix_length, suffix, suffix_length) == 0;
}
