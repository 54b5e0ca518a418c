/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mincore */
#include "fixture_tree.h"
#include "machine/host_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define V2 "/sys/fs/cgroup"
#define V1 "/sys/fs/cgroup/memory"

/* A machine with 64 GiB available and the given /proc/self/cgroup. */
static void write_machine(const char *root, const char *cgroups)
{
    write_file(root, "proc/meminfo",
               "MemTotal:       131072000 kB\n"
               "MemFree:         1000000 kB\n"
               "MemAvailableNot:       1 kB\n"
               "MemAvailable:   67108864 kB\n"
               "Buffers:             123 kB\n");
    if (cgroups != NULL)
        write_file(root, "proc/self/cgroup", cgroups);
}

static void write_bytes(const char *root, const char *directory, const char *name, uint64_t bytes)
{
    char path[256];
    char text[32];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)bytes);
    write_file(root, path, text);
}

static void assert_limit(const char *root, uint64_t bytes, const char *source)
{
    struct xb_memory_limit limit;
    struct xb_error error;

    assert_int_equal(xb_memory_limit_find(root, &limit, &error), XB_OK);
    assert_int_equal(limit.bytes, bytes);
    assert_string_equal(limit.source, source);
}

#define MEMINFO "MemAvailable in /proc/meminfo"

TREE_TEST(takes_what_the_machine_has)
{
    write_machine(*state, NULL);
    assert_limit(*state, 64 * GIB, MEMINFO);
    /* A path that is not there, as in a container that sees its own cgroup only. */
    write_machine(*state, "0::/system.slice/x.service\n");
    assert_limit(*state, 64 * GIB, MEMINFO);
    write_machine(*state, "nonsense\n0\n\n");
    assert_limit(*state, 64 * GIB, MEMINFO);
}

TREE_TEST(fails_without_meminfo)
{
    struct xb_memory_limit limit;
    struct xb_error error;

    assert_int_equal(xb_memory_limit_find(*state, &limit, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, "/proc/meminfo"));
    write_file(*state, "proc/meminfo", "MemTotal:       131072000 kB\n");
    assert_int_equal(xb_memory_limit_find(*state, &limit, &error), XB_ERR_SYSTEM);
    assert_int_equal(xb_host_memory_check_at(*state, 1, &error), XB_ERR_SYSTEM);
}

TREE_TEST(keeps_to_a_v2_cgroup)
{
    write_machine(*state, "0::/a/b\n");
    write_bytes(*state, V2 "/a/b", "memory.max", 8 * GIB);
    write_bytes(*state, V2 "/a/b", "memory.current", 3 * GIB);
    assert_limit(*state, 5 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/a/b");

    /* The page cache that nobody uses goes first; active_file and the like do not count. */
    write_file(*state, V2 "/a/b/memory.stat",
               "anon 1073741824\nfile 2147483648\ninactive_file 1073741824\nactive_file 999\n");
    assert_limit(*state, 6 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/a/b");

    /* Counters are not read at one moment: neither difference may wrap. */
    write_bytes(*state, V2 "/a/b", "memory.current", 512 * MIB);
    assert_limit(*state, 8 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/a/b");
    write_bytes(*state, V2 "/a/b", "memory.current", 20 * GIB);
    assert_limit(*state, 0, "memory.max in the memory cgroup /sys/fs/cgroup/a/b");
}

TREE_TEST(takes_max_for_no_limit)
{
    write_machine(*state, "0::/a\n");
    write_file(*state, V2 "/a/memory.max", "max\n");
    write_file(*state, V2 "/a/memory.high", "max\n");
    write_bytes(*state, V2 "/a", "memory.current", 3 * GIB);
    assert_limit(*state, 64 * GIB, MEMINFO);
    write_bytes(*state, V2 "/a", "memory.high", 7 * GIB);
    assert_limit(*state, 4 * GIB, "memory.high in the memory cgroup /sys/fs/cgroup/a");
}

TREE_TEST(passes_over_what_is_missing)
{
    write_machine(*state, "0::/a\n");
    write_bytes(*state, V2 "/a", "memory.max", 8 * GIB); /* and no memory.current */
    assert_limit(*state, 64 * GIB, MEMINFO);
    write_bytes(*state, V2, "memory.max", 16 * GIB);
    write_bytes(*state, V2, "memory.current", 1 * GIB);
    assert_limit(*state, 15 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup");
}

TREE_TEST(keeps_to_a_tighter_parent)
{
    write_machine(*state, "0::/a/b/c\n");
    write_bytes(*state, V2 "/a/b/c", "memory.max", 16 * GIB);
    write_bytes(*state, V2 "/a/b/c", "memory.current", 1 * GIB);
    assert_limit(*state, 15 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/a/b/c");
    write_file(*state, V2 "/a/b/memory.max", "max\n");
    write_bytes(*state, V2 "/a/b", "memory.current", 2 * GIB);
    write_bytes(*state, V2 "/a", "memory.max", 10 * GIB);
    write_bytes(*state, V2 "/a", "memory.current", 9 * GIB);
    assert_limit(*state, 1 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/a");
    /* A container's own limit stands at the mount. */
    write_bytes(*state, V2, "memory.max", 4 * GIB);
    write_bytes(*state, V2, "memory.current", 4 * GIB - 100 * MIB);
    assert_limit(*state, 100 * MIB, "memory.max in the memory cgroup /sys/fs/cgroup");
    write_machine(*state, "0::/\n");
    assert_limit(*state, 100 * MIB, "memory.max in the memory cgroup /sys/fs/cgroup");
}

TREE_TEST(keeps_to_a_v1_cgroup)
{
    write_machine(*state, "5:cpuset:/other\n"
                          "4:hugetlb,memory:/docker/1:2\n"
                          "1:name=systemd:/docker/1:2\n"
                          "0::/\n");
    write_bytes(*state, V1 "/docker/1:2", "memory.limit_in_bytes", 8 * GIB);
    write_bytes(*state, V1 "/docker/1:2", "memory.usage_in_bytes", 3 * GIB);
    write_file(*state, V1 "/docker/1:2/memory.stat",
               "inactive_file 1\ntotal_inactive_file 1073741824\n");
    assert_limit(*state, 6 * GIB,
                 "memory.limit_in_bytes in the memory cgroup /sys/fs/cgroup/memory/docker/1:2");
    /* "No limit" is a huge number here. */
    write_file(*state, V1 "/docker/1:2/memory.limit_in_bytes", "9223372036854771712\n");
    assert_limit(*state, 64 * GIB, MEMINFO);
    /* The path is the host's and does not exist in the container: the mount is its cgroup. */
    write_machine(*state, "4:memory:/kubepods/pod7/0123\n");
    write_bytes(*state, V1, "memory.limit_in_bytes", 2 * GIB);
    write_bytes(*state, V1, "memory.usage_in_bytes", 1 * GIB);
    assert_limit(*state, 1 * GIB,
                 "memory.limit_in_bytes in the memory cgroup /sys/fs/cgroup/memory");
    /* Of another controller with that word in its name. */
    write_machine(*state, "4:memory2,xmemory:/kubepods/pod7/0123\n");
    assert_limit(*state, 64 * GIB, MEMINFO);
}

/* As on a machine whose services are in v2 and whose jobs are in v1. */
TREE_TEST(keeps_to_the_tighter_of_both_versions)
{
    write_machine(*state, "4:cpu,memory:/job\n1:name=systemd:/x\n0::/x\n");
    write_bytes(*state, V1 "/job", "memory.limit_in_bytes", 6 * GIB);
    write_bytes(*state, V1 "/job", "memory.usage_in_bytes", 2 * GIB);
    write_bytes(*state, V2 "/x", "memory.max", 9 * GIB);
    write_bytes(*state, V2 "/x", "memory.high", 8 * GIB);
    write_bytes(*state, V2 "/x", "memory.current", 1 * GIB);
    assert_limit(*state, 4 * GIB,
                 "memory.limit_in_bytes in the memory cgroup /sys/fs/cgroup/memory/job");
    /* What v1 shows where no limit is set. */
    write_bytes(*state, V1 "/job", "memory.limit_in_bytes", UINT64_C(0x7ffffffffffff000));
    assert_limit(*state, 7 * GIB, "memory.high in the memory cgroup /sys/fs/cgroup/x");
    write_bytes(*state, V2 "/x", "memory.max", 3 * GIB);
    assert_limit(*state, 2 * GIB, "memory.max in the memory cgroup /sys/fs/cgroup/x");
}

TREE_TEST(keeps_to_the_address_space)
{
    struct rlimit before;
    /* All that a process can have: this limit does not get in the way of what runs here. */
    const uint64_t most = UINT64_C(1) << 47;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct xb_memory_limit limit;
    struct xb_error error;

    write_machine(*state, NULL);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    if (before.rlim_max < most)
        skip();
    write_bytes(*state, "proc/self", "statm", (most - 3 * GIB) / page);
    struct rlimit lowered = {.rlim_cur = most, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &lowered), 0);
    enum xb_status status = xb_memory_limit_find(*state, &limit, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, XB_OK);
    assert_int_equal(limit.bytes, 3 * GIB);
    assert_string_equal(limit.source, "the limit on address space (ulimit -v)");
}

TEST(keeps_a_reserve)
{
    assert_int_equal(xb_memory_without_reserve(64 * GIB), 60 * GIB);
    assert_int_equal(xb_memory_without_reserve(GIB), 960 * MIB);
    assert_int_equal(xb_memory_without_reserve(512 * MIB), 448 * MIB);
    assert_int_equal(xb_memory_without_reserve(64 * MIB), 0);
    assert_int_equal(xb_memory_without_reserve(MIB), 0);
    assert_int_equal(xb_memory_without_reserve(0), 0);
}

TREE_TEST(refuses_more_than_fits)
{
    struct xb_error error;

    write_machine(*state, "0::/a\n");
    assert_int_equal(xb_host_memory_check_at(*state, 60 * GIB, &error), XB_OK);
    assert_int_equal(xb_host_memory_check_at(*state, 60 * GIB + 1, &error), XB_ERR_MEMORY);
    assert_int_equal(error.status, XB_ERR_MEMORY);
    assert_int_equal(xb_host_memory_check_at(*state, 100 * GIB, &error), XB_ERR_MEMORY);
    assert_non_null(strstr(error.message, "100 GiB"));
    assert_non_null(strstr(error.message, "60 GiB"));
    assert_non_null(strstr(error.message, MEMINFO));
    assert_non_null(strstr(error.message, "--size"));

    /* The smallest cgroup in which nothing can be had. */
    write_bytes(*state, V2 "/a", "memory.max", 64 * MIB);
    write_bytes(*state, V2 "/a", "memory.current", 0);
    assert_int_equal(xb_host_memory_check_at(*state, 0, &error), XB_OK);
    assert_int_equal(xb_host_memory_check_at(*state, 1, &error), XB_ERR_MEMORY);
    assert_non_null(strstr(error.message, "/sys/fs/cgroup/a"));
}

TEST(maps_touched_pages)
{
    const uint64_t bytes = 5 * MIB + 1;
    const size_t pages = (size_t)(bytes / (uint64_t)sysconf(_SC_PAGESIZE) + 1);
    unsigned char *resident = calloc(pages, 1);
    struct xb_error error;
    void *memory = NULL;

    assert_non_null(resident);
    assert_int_equal(xb_pages_map(bytes, &memory, &error), XB_OK);
    assert_int_equal((uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    /* Of anonymous memory, mincore counts pages that were written or could be read from swap. */
    assert_int_equal(mincore(memory, bytes, resident), 0);
    for (size_t i = 0; i < pages; i++)
        assert_int_equal(resident[i] & 1, 1);
    memset(memory, 0x5a, bytes);
    xb_pages_unmap(memory, bytes);
    assert_int_equal(mincore(memory, bytes, resident), -1);
    xb_pages_unmap(NULL, 0);
    free(resident);
}

/* What lies on a page with other memory stays. */
TEST(drops_whole_pages)
{
    const uint64_t page = xb_page_bytes();
    void *mapped = NULL;
    struct xb_error error;
    assert_int_equal(xb_pages_map(4 * page, &mapped, &error), XB_OK);
    unsigned char *memory = mapped;
    memset(memory, 0x5a, 4 * page);
    xb_pages_drop(memory + 1, page - 1); /* no whole page, nor a byte of the next */
    xb_pages_drop(memory + 1, 1);
    for (uint64_t i = 0; i < 4 * page; i++)
        assert_int_equal(memory[i], 0x5a);
    xb_pages_drop(memory + 1, 4 * page - 2);
    for (uint64_t i = 0; i < 4 * page; i++)
        assert_int_equal(memory[i], i / page % 3 == 0 ? 0x5a : 0);
    xb_pages_unmap(memory, 4 * page);
}

/* Pages of this process's address space. */
static uint64_t mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages;
}

/* Whether the mapping at `address` has that flag of VmFlags (proc(5)): "hg" was marked for huge
 * pages, "nh" for none. */
static bool is_marked(const void *address, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    bool found = false;

    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        unsigned long begin;
        unsigned long end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            inside = begin <= (uintptr_t)address && (uintptr_t)address < end;
        found = inside && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, flag) != NULL;
    }
    fclose(file);
    return found;
}

/* A process that is forked does not get it. */
static void expect_only_here(void *memory)
{
    unsigned char resident;
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(mincore(memory, 1, &resident) == 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(maps_huge_pages)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t sizes[] = {1, page, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + page + 1};
    unsigned char resident[6 * MIB / 4096];
    struct xb_error error;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory = NULL;
        assert_int_equal(xb_pages_map_huge(sizes[i], &memory, &error), XB_OK);
        assert_int_equal((uintptr_t)memory % (2 * MIB), 0);
        memset(resident, 0, sizeof resident);
        assert_int_equal(mincore(memory, sizes[i], resident), 0);
        for (uint64_t at = 0; at < sizes[i]; at += page)
            assert_int_equal(resident[at / page] & 1, 1);
        if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0)
            assert_true(is_marked(memory, " hg"));
        memset(memory, 0x5a, sizes[i]);
        expect_only_here(memory);
        xb_pages_unmap(memory, sizes[i]);
        assert_int_equal(mincore(memory, 1, resident), -1);
        assert_int_equal(mincore((char *)memory + (sizes[i] - 1) / page * page, 1, resident), -1);
    }
}

TEST(maps_small_pages)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t bytes = 2 * MIB + 1;
    unsigned char resident[3 * MIB / 4096];
    void *memory = NULL;
    struct xb_error error;

    assert_int_equal(xb_pages_map_small(bytes, &memory, &error), XB_OK);
    assert_int_equal(mincore(memory, bytes, resident), 0);
    for (uint64_t at = 0; at < bytes; at += page)
        assert_int_equal(resident[at / page] & 1, 1);
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0)
        assert_true(is_marked(memory, " nh"));
    xb_pages_unmap(memory, bytes);
    assert_int_equal(mincore(memory, 1, resident), -1);
}

/* Neither while it is mapped nor afterwards is any of the memory left that alignment took. */
TEST(leaves_nothing_of_the_alignment)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t bytes = 2 * MIB + 1;
    void *memory[32] = {NULL};
    struct xb_error error;

    assert_int_equal(xb_pages_map_huge(bytes, &memory[0], &error), XB_OK); /* threads, once */
    xb_pages_unmap(memory[0], bytes);
    uint64_t before = mapped_pages();
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(xb_pages_map_huge(bytes, &memory[i], &error), XB_OK);
    /* One by one a huge page less a small one would be left over; what else is mapped is less. */
    uint64_t held = mapped_pages() - before;
    assert_true(held >= 32 * (2 * MIB / page + 1) && held < 32 * (3 * MIB / page));
    for (size_t i = 0; i < 32; i++)
        xb_pages_unmap(memory[i], bytes);
    assert_true(mapped_pages() < before + 16 * MIB / page);
}

TEST(maps_nothing_it_cannot_have)
{
    struct xb_error error;
    uint64_t available = 0;
    void *memory = NULL;

    assert_int_equal(xb_host_memory_available(&available, &error), XB_OK);
    assert_true(available > 0);
    /* Twice, so that what others free meanwhile makes no difference. */
    assert_int_equal(xb_pages_map(2 * available + GIB, &memory, &error), XB_ERR_MEMORY);
    assert_null(memory);
    assert_string_equal(error.call, ""); /* refused before mmap was called */
    assert_int_equal(xb_pages_map(UINT64_MAX, &memory, &error), XB_ERR_MEMORY);
    assert_int_equal(xb_host_memory_check(UINT64_MAX, &error), XB_ERR_MEMORY);
    assert_int_equal(xb_host_memory_check(1, &error), XB_OK);
    assert_int_equal(xb_pages_map_huge(2 * available + GIB, &memory, &error), XB_ERR_MEMORY);
    assert_int_equal(xb_pages_map_huge(UINT64_MAX, &memory, &error), XB_ERR_MEMORY);
    assert_null(memory);
    assert_string_equal(error.call, "");
    /* What mmap itself refuses is reported as its failure. */
    assert_int_equal(xb_pages_map(0, &memory, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.call, "mmap");
    assert_string_equal(error.native_name, "EINVAL");
    assert_int_equal(xb_pages_map_huge(0, &memory, &error), XB_ERR_SYSTEM);
    assert_null(memory);
}
