/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What this process may take of the machine, and what it has: memory, and CPU time. */
#include "host_memory.h"

#include "base/parallel.h"
#include "base/text.h"
#include "base/units.h"
#include "pcie.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define LEAST_RESERVE (64 * MIB)
#define HUGE_PAGE (2 * MIB)
/* Threads share the memory that they touch in whole huge pages: no two fault in the same one. */
#define TOUCH_GRAIN HUGE_PAGE
/* Giving pages back is faster than touching them. */
#define UNMAP_GRAIN (16 * HUGE_PAGE)

/* cgroups v1 has a number for "no limit" too: 2^63 less a page. */
#define NO_LIMIT (UINT64_C(1) << 62)

/* Files of numbers that are read here have some 2000 bytes. */
#define LONGEST_FILE 8192

/* ---- numbers in files, and cgroups ---- */

/* Reads the number in a file's line of that name, or with "" the one that the file begins with.
 * False if there is none, for example because the limit is "max"; errno then says why the file
 * could not be opened, and is 0 if it could. */
static bool read_number(const char *root, const char *folder, const char *file, const char *name,
                        uint64_t *value)
{
    char path[PATH_MAX], text[LONGEST_FILE];
    snprintf(path, sizeof path, "%s%s", root, folder);
    const char *number =
        xb_sysfs_text(path, file, text, sizeof text) ? xb_line_value(text, name) : NULL;
    if (number == NULL || !isdigit((unsigned char)*number))
        return false;
    *value = strtoull(number, NULL, 10);
    return true;
}

/* `directory` is that of a cgroup, without the root. */
typedef void cgroup_visitor(void *argument, bool is_v1, const char *root, const char *directory);

/* Visits the process's cgroup and all above it: each limits those below. In a container without
 * a cgroup namespace `path` is the host's and not there; its own cgroup is the mount, the walk's
 * end. */
static void visit_up(const char *root, const char *mount, const char *path, cgroup_visitor *visit,
                     bool is_v1, void *argument)
{
    char directory[PATH_MAX - 64]; /* leaves room for a file name */
    int length =
        snprintf(directory, sizeof directory, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path);
    if (length < 0 || (size_t)length >= sizeof directory)
        return;
    for (char *slash = directory + length; slash != NULL && slash >= directory + strlen(mount);
         slash = strrchr(directory, '/')) {
        *slash = '\0';
        visit(argument, is_v1, root, directory);
    }
}

/* Visits the cgroup that the process has in v2, and that of the controller in v1, and all above,
 * also where there is none. /proc/self/cgroup has a line "number:controllers:path" for every
 * hierarchy (cgroups(7)); that of v2 names no controllers. */
static void visit_cgroups(const char *root, const char *controller, cgroup_visitor *visit,
                          void *argument)
{
    char *line = NULL, mount[64], full[PATH_MAX];
    size_t capacity = 0;
    snprintf(full, sizeof full, "%s/proc/self/cgroup", root);
    FILE *file = fopen(full, "re");
    if (file == NULL)
        return;
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    while (getline(&line, &capacity, file) > 0) {
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (controllers[1] == '\0')
            visit_up(root, "/sys/fs/cgroup", path, visit, false, argument);
        else if (xb_list_has(controllers + 1, controller))
            visit_up(root, mount, path, visit, true, argument);
    }
    free(line);
    fclose(file);
}

/* ---- how much memory there is ---- */

/* Replaces the limit if `bytes` is tighter. */
__attribute__((format(printf, 3, 4))) static void tighten(struct xb_memory_limit *limit,
                                                          uint64_t bytes, const char *format, ...)
{
    if (bytes >= limit->bytes)
        return;
    limit->bytes = bytes;
    limit->is_set = true;
    XB_FORMAT(limit->source, sizeof limit->source, format);
}

/* Files that do not exist are skipped, so a machine can have v1, v2 or both. */
static void tighten_to_cgroup(void *argument, bool is_v1, const char *root, const char *directory)
{
    static const struct {
        const char *limits[2], *usage;
        const char *reclaimable; /* of memory.stat: usage that the kernel gives up when needed */
    } kinds[] = {
        /* of v2, of v1 */
        /* The kernel does not kill a process above memory.high, but slows it nearly to a halt. */
        {{"memory.max", "memory.high"}, "memory.current", "inactive_file"},
        {{"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file"},
    };
    struct xb_memory_limit *limit = argument;
    bool is_read = false;
    uint64_t used = 0, reclaimable = 0, most;
    for (size_t i = 0; i < 2 && kinds[is_v1].limits[i] != NULL; i++) {
        if (!read_number(root, directory, kinds[is_v1].limits[i], "", &most) || most >= NO_LIMIT)
            continue;
        if (!is_read) {
            if (!read_number(root, directory, kinds[is_v1].usage, "", &used))
                return;
            (void)read_number(root, directory, "memory.stat", kinds[is_v1].reclaimable,
                              &reclaimable);
            used -= reclaimable < used ? reclaimable : used;
            is_read = true;
        }
        tighten(limit, most > used ? most - used : 0, "%s in the memory cgroup %s",
                kinds[is_v1].limits[i], directory);
    }
}

uint64_t xb_page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

enum xb_status xb_memory_limit_find(const char *root, struct xb_memory_limit *limit,
                                    struct xb_error *error)
{
    struct rlimit most;
    uint64_t kib, pages;
    if (!read_number(root, "/proc", "meminfo", "MemAvailable", &kib)) {
        int code = errno; /* of opening the file; 0 if that succeeded */
        if (code == 0)
            return XB_FAIL(error, XB_ERR_SYSTEM,
                           "%s/proc/meminfo does not say how much memory is available", root);
        return XB_FAIL_ERRNO(error, "fopen", code,
                             "%s/proc/meminfo cannot be read, so how much memory is available is "
                             "not known%s",
                             root, code == ENOENT ? ": is /proc mounted?" : "");
    }
    limit->bytes = UINT64_MAX;
    tighten(limit, kib * 1024, "MemAvailable in /proc/meminfo");
    limit->is_set = false;
    visit_cgroups(root, "memory", tighten_to_cgroup, limit);
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        read_number(root, "/proc/self", "statm", "", &pages)) {
        uint64_t used = pages * xb_page_bytes();
        tighten(limit, most.rlim_cur > used ? most.rlim_cur - used : 0,
                "the limit on address space (ulimit -v)");
    }
    return XB_OK;
}

uint64_t xb_memory_without_reserve(uint64_t bytes)
{
    uint64_t reserve = bytes / 16 > LEAST_RESERVE ? bytes / 16 : LEAST_RESERVE;
    return bytes > reserve ? bytes - reserve : 0;
}

const char *xb_host_memory_limit_text(const char *root, char *text, size_t size)
{
    struct xb_memory_limit limit = {0};
    struct xb_error ignored;
    if (xb_memory_limit_find(root, &limit, &ignored) == XB_OK && limit.is_set)
        snprintf(text, size,
                 "can be had under %s, less a reserve for everything else; take a smaller size or "
                 "raise that limit",
                 limit.source);
    else
        snprintf(text, size,
                 "can be had without driving the machine into swap; take a smaller size");
    return text;
}

uint64_t xb_memory_lock_limit(void)
{
    struct rlimit most;
    bool is_set = getrlimit(RLIMIT_MEMLOCK, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    return is_set ? most.rlim_cur : UINT64_MAX;
}

const char *xb_host_memory_lock_limit(uint64_t bytes, char *text, size_t size)
{
    text[0] = '\0';
    if (xb_memory_lock_limit() < bytes)
        snprintf(text, size,
                 ": the limit on locked memory (ulimit -l) is %s; raise it if the driver keeps to "
                 "it",
                 XB_SIZE_TEXT(xb_memory_lock_limit()));
    return text;
}

enum xb_status xb_host_memory_available(uint64_t *bytes, struct xb_error *error)
{
    struct xb_memory_limit limit = {0};
    XB_TRY(xb_memory_limit_find("", &limit, error));
    *bytes = xb_memory_without_reserve(limit.bytes);
    return XB_OK;
}

enum xb_status xb_host_memory_check_at(const char *root, uint64_t bytes, struct xb_error *error)
{
    struct xb_memory_limit limit = {0};
    XB_TRY(xb_memory_limit_find(root, &limit, error));
    uint64_t available = xb_memory_without_reserve(limit.bytes);
    if (bytes <= available)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_MEMORY,
                   "%s of host memory asked for, but at most %s can be had (%s, less a reserve for "
                   "everything else that runs): choose a smaller size, or free memory or raise "
                   "that limit",
                   XB_SIZE_TEXT(bytes),
                   /* Whole MiB are easier to read than the kernel's count of KiB or bytes. */
                   XB_SIZE_TEXT(available / MIB * MIB), limit.source);
}

static _Thread_local bool is_trusted;

void xb_host_memory_trust(bool trust)
{
    is_trusted = trust;
}

enum xb_status xb_host_memory_check(uint64_t bytes, struct xb_error *error)
{
    return is_trusted ? XB_OK : xb_host_memory_check_at("", bytes, error);
}

static void touch(void *argument, uint64_t begin, uint64_t end)
{
    volatile unsigned char *memory = argument;
    uint64_t page = xb_page_bytes();
    for (uint64_t at = begin; at < end; at += page)
        memory[at] = 0;
}

/* Writes which limit leaves less than `bytes`. The limit counts what `field` of /proc/self/status
 * shows (proc(5)): ": the limit on data (ulimit -d) is 48 MiB, of which 20 MiB are taken". */
static void name_limit(unsigned resource, const char *field, const char *name, uint64_t bytes,
                       char *text, size_t size)
{
    struct rlimit most;
    uint64_t kib = 0;
    (void)read_number("", "/proc/self", "status", field, &kib);
    if (getrlimit(resource, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        kib * 1024 + bytes > most.rlim_cur)
        snprintf(text, size, ": the limit on %s is %s, of which %s are taken", name,
                 XB_SIZE_TEXT(most.rlim_cur), XB_SIZE_TEXT(kib * 1024));
}

/* Maps `length` bytes and touches none. A message names `bytes`, which the caller asked for.
 * Processes that are forked do not get them: Linux copies page-locked pages at once, and makes the
 * parent's huge pages small for that (6.18 on the H100: 2.3 s a fork for 2 GiB, else 4 ms). */
static enum xb_status map(uint64_t length, uint64_t bytes, void **address, struct xb_error *error)
{
    char limit[160] = "";
    *address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*address != MAP_FAILED) {
        (void)madvise(*address, length, MADV_DONTFORK);
        return XB_OK;
    }
    int code = errno;
    name_limit(RLIMIT_DATA, "VmData", "data (ulimit -d)", length, limit, sizeof limit);
    name_limit(RLIMIT_AS, "VmSize", "address space (ulimit -v)", length, limit, sizeof limit);
    return XB_FAIL_NATIVE(
        error, code == ENOMEM ? XB_ERR_MEMORY : XB_ERR_SYSTEM, "mmap", code, xb_errno_name(code),
        "%s of host memory could not be mapped%s; choose a smaller size, or %s",
        XB_SIZE_TEXT(bytes), limit,
        limit[0] != '\0' ? "raise that limit" : "see ulimit -a and /proc/sys/vm/overcommit_memory");
}

enum xb_status xb_pages_map(uint64_t bytes, void **address, struct xb_error *error)
{
    void *memory = NULL;
    XB_TRY(xb_host_memory_check(bytes, error));
    XB_TRY(map(bytes, bytes, &memory, error));
    xb_parallel_for(bytes, TOUCH_GRAIN, touch, memory);
    *address = memory;
    return XB_OK;
}

/* mmap aligns to small pages only. So this maps up to one huge page too much, and unmaps what is
 * before the first huge page boundary and behind the last small page: xb_pages_unmap releases the
 * rest. */
static enum xb_status map_advised(uint64_t bytes, int advice, void **address,
                                  struct xb_error *error)
{
    uint64_t page = xb_page_bytes();
    uint64_t whole = (bytes + page - 1) / page * page;
    /* Without slack, 0 bytes stay 0 bytes, which mmap refuses: the caller gets that error. */
    uint64_t slack = bytes > 0 ? HUGE_PAGE - page : 0;
    void *memory = NULL;
    XB_TRY(xb_host_memory_check(bytes, error));
    XB_TRY(map(whole + slack, bytes, &memory, error));
    uint64_t head = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    char *aligned = (char *)memory + head;
    if (head > 0)
        munmap(memory, head);
    if (head < slack)
        munmap(aligned + whole, slack - head);
    /* A kernel without transparent huge pages returns EINVAL. Small pages will do then. */
    (void)madvise(aligned, bytes, advice);
    xb_parallel_for(bytes, TOUCH_GRAIN, touch, aligned);
    *address = aligned;
    return XB_OK;
}

enum xb_status xb_pages_map_huge(uint64_t bytes, void **address, struct xb_error *error)
{
    return map_advised(bytes, MADV_HUGEPAGE, address, error);
}

enum xb_status xb_pages_map_small(uint64_t bytes, void **address, struct xb_error *error)
{
    return map_advised(bytes, MADV_NOHUGEPAGE, address, error);
}

static void give_back(void *argument, uint64_t begin, uint64_t end)
{
    (void)madvise((char *)argument + begin, end - begin, MADV_DONTNEED);
}

void xb_pages_drop(void *address, uint64_t bytes)
{
    uint64_t page = xb_page_bytes();
    uint64_t head = (page - (uintptr_t)address % page) % page;
    if (bytes > head)
        xb_parallel_for((bytes - head) / page * page, UNMAP_GRAIN, give_back,
                        (char *)address + head);
}

/* Several threads give the pages back before the mapping goes: that is most of the work, and munmap
 * does all of it in one. */
void xb_pages_unmap(void *address, uint64_t bytes)
{
    if (address == NULL)
        return;
    xb_parallel_for(bytes, UNMAP_GRAIN, give_back, address);
    munmap(address, bytes);
}

/* ---- how many CPUs cgroups allow ---- */

/* So many microseconds of CPU time in each period; as many CPUs can be busy, and a part of one. No
 * limit is "max 100000" in v2, which has the period behind the quota, and -1 in v1. */
static void tighten_cpus(void *argument, bool is_v1, const char *root, const char *directory)
{
    unsigned *cpus = argument;
    char before[32] = "";
    uint64_t quota = 0, period = 0;
    if (!read_number(root, directory, is_v1 ? "cpu.cfs_quota_us" : "cpu.max", "", &quota))
        return;
    if (!is_v1)
        snprintf(before, sizeof before, "%llu", (unsigned long long)quota);
    if (!read_number(root, directory, is_v1 ? "cpu.cfs_period_us" : "cpu.max", before, &period) ||
        quota == 0 || period == 0)
        return;
    uint64_t most = quota / period + (quota % period != 0);
    if (most < *cpus)
        *cpus = (unsigned)most;
}

unsigned xb_cpu_quota_read(const char *root)
{
    unsigned cpus = UINT_MAX;
    visit_cgroups(root, "cpu", tighten_cpus, &cpus);
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

/* ---- of this process ---- */

/* Takes the number of the line "Name:   123 kB" whose name that is. */
static bool find(const char *text, const char *name, uint64_t *bytes)
{
    const char *digits = xb_line_value(text, name);
    char *end = NULL;
    uint64_t kib = digits != NULL ? strtoull(digits, &end, 10) : 0;
    if (digits == NULL || !isdigit((unsigned char)*digits) || strncmp(end, " kB", 3) != 0)
        return false;
    *bytes = kib * 1024;
    return true;
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

bool xb_process_memory_read(struct xb_process_memory *memory)
{
    char text[LONGEST_FILE];
    return xb_sysfs_text("/proc/self", "status", text, sizeof text) &&
           xb_process_memory_parse(text, memory);
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
    bool found = read_number("", "/proc/self", "smaps_rollup", "AnonHugePages", &kib);
    *bytes = found ? kib * 1024 : *bytes;
    return found;
}
