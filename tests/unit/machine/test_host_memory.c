/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mincore */
#include "checks.h"
#include "fixture_tree.h"
#include "machine/host_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define MEMINFO "MemAvailable:   67108864 kB\n"

/* Lowers a limit to `most` and says whether that may be done. */
static bool lower_limit(int resource, rlim_t most, struct rlimit *before)
{
    assert_int_equal(getrlimit((unsigned)resource, before), 0);
    struct rlimit lowered = {.rlim_cur = most, .rlim_max = before->rlim_max};
    return before->rlim_max >= most && setrlimit((unsigned)resource, &lowered) == 0;
}

static void restore_limit(int resource, const struct rlimit *before)
{
    assert_int_equal(setrlimit((unsigned)resource, before), 0);
}

/* By all that a process can have: such a limit does not get in the way of what runs here. */
TREE_TEST(keeps_to_the_address_space)
{
    const rlim_t most = (rlim_t)1 << 47;
    struct rlimit before;
    struct xb_memory_limit limit;
    struct xb_error error;
    char pages[64], text[448];

    write_file(*state, "proc/meminfo", MEMINFO);
    snprintf(pages, sizeof pages, "%llu 0 0 0 0 0 0\n",
             (unsigned long long)((most - 3 * GIB) / xb_page_bytes()));
    write_file(*state, "proc/self/statm", pages);
    if (!lower_limit(RLIMIT_AS, most, &before))
        skip();
    enum xb_status status = xb_memory_limit_find(*state, &limit, &error);
    (void)xb_host_memory_limit_text(*state, text, sizeof text);
    restore_limit(RLIMIT_AS, &before);
    assert_int_equal(status, XB_OK);
    assert_int_equal(limit.bytes, 3 * GIB);
    assert_string_equal(limit.source, "the limit on address space (ulimit -v)");
    assert_string_equal(text, "can be had under the limit on address space (ulimit -v), less a "
                              "reserve for everything else; take a smaller size or raise that "
                              "limit");
}

TEST(locked_memory_is_named_where_it_is_too_little)
{
    struct rlimit before;
    char text[128];
    assert_true(lower_limit(RLIMIT_MEMLOCK, 4096, &before));
    assert_string_equal(xb_host_memory_lock_limit(4096, text, sizeof text), "");
    assert_string_equal(
        xb_host_memory_lock_limit(4097, text, sizeof text),
        ": the limit on locked memory (ulimit -l) is 4 KiB; raise it if the driver keeps to it");
    restore_limit(RLIMIT_MEMLOCK, &before);
}

/* /proc is blamed where it is not there (a text beside test_machine_files.c has that), and not
 * where no file can be opened. */
TREE_TEST(proc_is_not_blamed_for_want_of_files)
{
    struct rlimit before;
    struct xb_memory_limit limit = {0};
    struct xb_error error;
    write_file(*state, "proc/meminfo", MEMINFO);
    assert_true(lower_limit(RLIMIT_NOFILE, 0, &before));
    enum xb_status status = xb_memory_limit_find(*state, &limit, &error);
    restore_limit(RLIMIT_NOFILE, &before);
    assert_int_equal(status, XB_ERR_SYSTEM);
    assert_string_equal(error.native_name, "EMFILE");
    assert_non_null(strstr(error.message, "/proc/meminfo"));
    assert_null(strstr(error.message, "is /proc mounted?"));
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

/* Of anonymous memory, mincore counts pages that were written or could be read from swap. */
TEST(maps_touched_pages)
{
    const uint64_t page = xb_page_bytes();
    const struct {
        enum xb_status (*map)(uint64_t bytes, void **address, struct xb_error *error);
        uint64_t alignment;
        const char *flag;
    } kinds[] = {{xb_pages_map, page, ""},
                 {xb_pages_map_small, page, " nh"},
                 {xb_pages_map_huge, 2 * MIB, " hg"}};
    const uint64_t sizes[] = {1, page, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + page + 1};
    unsigned char resident[6 * MIB / 4096];
    struct xb_error error;

    for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
        uint64_t bytes = sizes[i / 3];
        void *memory = NULL;
        assert_int_equal(kinds[i % 3].map(bytes, &memory, &error), XB_OK);
        assert_int_equal((uintptr_t)memory % kinds[i % 3].alignment, 0);
        memset(resident, 0, sizeof resident);
        assert_int_equal(mincore(memory, bytes, resident), 0);
        for (uint64_t at = 0; at < bytes; at += page)
            assert_int_equal(resident[at / page] & 1, 1);
        if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0)
            assert_true(is_marked(memory, kinds[i % 3].flag));
        memset(memory, 0x5a, bytes);
        if (kinds[i % 3].alignment > page)
            expect_only_here(memory);
        xb_pages_unmap(memory, bytes);
        assert_int_equal(mincore(memory, 1, resident), -1);
        assert_int_equal(mincore((char *)memory + (bytes - 1) / page * page, 1, resident), -1);
    }
    xb_pages_unmap(NULL, 0);
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

/* ---- an error in words ---- */

TEST(an_error_of_libc_has_its_words_once)
{
    struct xb_error error;
    char text[1024];
    (void)!XB_FAIL_ERRNO(&error, "open", ENOENT, "x: cannot be opened");
    unsetenv("XFERBENCH_DEBUG");
    assert_string_equal(xb_error_text(&error, text, sizeof text),
                        "x: cannot be opened [open: ENOENT (2), No such file or directory]");
    setenv("XFERBENCH_DEBUG", "1", 1);
    (void)!XB_FAIL_ERRNO(&error, "open", ENOENT, "x: %s", "No such file or directory");
    assert_has(xb_error_text(&error, text, sizeof text), "[open: ENOENT (2)], at ");
    (void)!XB_FAIL_NATIVE(&error, XB_ERR_RUNTIME, "cudaMalloc", 2, "cudaErrorMemoryAllocation",
                          "no memory");
    assert_has(xb_error_text(&error, text, sizeof text),
               "no memory [cudaMalloc: cudaErrorMemoryAllocation (2)], at ");
    (void)!XB_FAIL(&error, XB_ERR_USAGE, "wrong");
    assert_has(xb_error_text(&error, text, sizeof text), "wrong, at ");
    unsetenv("XFERBENCH_DEBUG");
    assert_string_equal(xb_error_text(&error, text, sizeof text), "wrong");
}
