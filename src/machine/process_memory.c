/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getline */

#include "process_memory.h"
#include "cgroups.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the number of the first line "Name:   123 kB" of a text whose name that is. */
static bool find(const char *text, const char *name, uint64_t *bytes)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        char *end = NULL;
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *digits = line + length + 1 + strspn(line + length + 1, " \t");
        uint64_t kib = strtoull(digits, &end, 10);
        if (!isdigit((unsigned char)*digits) || strncmp(end, " kB", 3) != 0)
            continue;
        *bytes = kib * 1024;
        return true;
    }
    return false;
}

bool xb_process_memory_parse(const char *text, struct xb_process_memory *memory)
{
    *memory = (struct xb_process_memory){.resident = 0};
    const struct {
        const char *name;
        uint64_t *bytes;
    } fields[] = {
        {"VmHWM", &memory->highest},   {"RssAnon", &memory->anonymous}, {"RssFile", &memory->file},
        {"RssShmem", &memory->shared}, {"VmLck", &memory->locked},      {"VmPin", &memory->pinned},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        (void)find(text, fields[i].name, fields[i].bytes);
    return find(text, "VmRSS", &memory->resident);
}

/* /proc/self/status has some 1500 bytes. */
#define LONGEST_STATUS 8192

bool xb_process_memory_read(struct xb_process_memory *memory)
{
    char text[LONGEST_STATUS];
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return xb_process_memory_parse(text, memory);
}

/* "5" to clear_refs sets VmHWM to what VmRSS is (proc(5), since Linux 4.0). */
bool xb_process_memory_restart(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (file == NULL)
        return false;
    bool written = fputs("5", file) >= 0;
    return fclose(file) == 0 && written;
}

bool xb_process_memory_huge(uint64_t *bytes)
{
    uint64_t kib = 0;
    bool found = xb_number_read("", "/proc/self/smaps_rollup", "AnonHugePages", &kib);
    *bytes = found ? kib * 1024 : *bytes;
    return found;
}
