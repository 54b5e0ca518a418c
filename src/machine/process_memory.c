/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "process_memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the number of a line "Name:   123 kB" whose name that is. */
static bool take(const char *line, const char *name, uint64_t *bytes)
{
    size_t length = strlen(name);
    char *end = NULL;
    if (strncmp(line, name, length) != 0 || line[length] != ':')
        return false;
    const char *digits = line + length + 1 + strspn(line + length + 1, " \t");
    if (!isdigit((unsigned char)*digits))
        return false;
    uint64_t kib = strtoull(digits, &end, 10);
    if (strncmp(end, " kB", 3) != 0)
        return false;
    *bytes = kib * 1024;
    return true;
}

/* The same of the first such line of a text. */
static bool find(const char *text, const char *name, uint64_t *bytes)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (take(line, name, bytes))
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
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = take(line, "AnonHugePages", bytes);
    fclose(file);
    return found;
}
