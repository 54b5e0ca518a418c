/* SPDX-License-Identifier: Apache-2.0 */
/* What bounds the host memory is named, and so is why that cannot be known. */
#define _GNU_SOURCE /* nftw */
#include "fixture_tree.h"
#include "machine/host_memory.h"

#include <sys/resource.h>

#define MEMINFO "MemAvailable:   67108864 kB\n"
#define RAISE ", less a reserve for everything else; take a smaller size or raise that limit"

static void expect_reach(const char *root, const char *expected)
{
    char text[448];
    assert_string_equal(xb_host_memory_limit_text(root, text, sizeof text), expected);
}

TREE_TEST(what_the_machine_has_is_no_limit)
{
    write_file(*state, "proc/meminfo", MEMINFO);
    expect_reach(*state, "can be had without driving the machine into swap; take a smaller size");
    /* One that allows more than there is bounds nothing. */
    write_file(*state, "proc/self/cgroup", "0::/job\n");
    write_file(*state, "sys/fs/cgroup/job/memory.max", "109951162777600\n");
    write_file(*state, "sys/fs/cgroup/job/memory.current", "0\n");
    expect_reach(*state, "can be had without driving the machine into swap; take a smaller size");
}

TREE_TEST(a_cgroup_is_named)
{
    write_file(*state, "proc/meminfo", MEMINFO);
    write_file(*state, "proc/self/cgroup", "4:memory:/old\n0::/job\n");
    write_file(*state, "sys/fs/cgroup/job/memory.max", "4294967296\n");
    write_file(*state, "sys/fs/cgroup/job/memory.current", "0\n");
    expect_reach(*state,
                 "can be had under memory.max in the memory cgroup /sys/fs/cgroup/job" RAISE);
    write_file(*state, "sys/fs/cgroup/memory/old/memory.limit_in_bytes", "1073741824\n");
    write_file(*state, "sys/fs/cgroup/memory/old/memory.usage_in_bytes", "0\n");
    expect_reach(*state, "can be had under memory.limit_in_bytes in the memory cgroup "
                         "/sys/fs/cgroup/memory/old" RAISE);
}

/* So low that no memory is left: what is read is not what is taken. */
TREE_TEST(address_space_is_named)
{
    struct rlimit before;
    const rlim_t most = (rlim_t)1 << 47;
    write_file(*state, "proc/meminfo", MEMINFO);
    write_file(*state, "proc/self/statm", "34359738367 0 0 0 0 0 0\n");
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    if (before.rlim_max < most)
        skip();
    struct rlimit lowered = {.rlim_cur = most, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &lowered), 0);
    expect_reach(*state, "can be had under the limit on address space (ulimit -v)" RAISE);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

TEST(locked_memory_is_named_where_it_is_too_little)
{
    struct rlimit before;
    char text[128];
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    struct rlimit lowered = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &lowered), 0);
    assert_string_equal(xb_host_memory_lock_limit(4096, text, sizeof text), "");
    assert_string_equal(
        xb_host_memory_lock_limit(4097, text, sizeof text),
        ": the limit on locked memory (ulimit -l) is 4 KiB; raise it if the driver keeps to it");
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

static void expect_failure(const char *root, const char *name, bool blames_proc)
{
    struct xb_memory_limit limit = {0};
    struct xb_error error;
    assert_int_equal(xb_memory_limit_find(root, &limit, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.native_name, name);
    assert_non_null(strstr(error.message, "/proc/meminfo"));
    assert_int_equal(strstr(error.message, "is /proc mounted?") != NULL, blames_proc);
}

/* /proc is blamed where it is not there, and not where no file can be opened. */
TREE_TEST(why_meminfo_is_not_read)
{
    struct rlimit before;
    expect_failure(*state, "ENOENT", true);
    write_file(*state, "proc/meminfo", MEMINFO);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit lowered = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lowered), 0);
    expect_failure(*state, "EMFILE", false);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    write_file(*state, "proc/meminfo", "MemTotal:       131072000 kB\n");
    expect_failure(*state, "", false);
}

/* ---- an error in words ---- */

static void expect_text(const struct xb_error *error, const char *expected)
{
    char text[1024];
    xb_error_text(error, text, sizeof text);
    if (strstr(text, expected) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, expected);
}

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
    expect_text(&error, "[open: ENOENT (2)], at ");
    (void)!XB_FAIL_NATIVE(&error, XB_ERR_RUNTIME, "cudaMalloc", 2, "cudaErrorMemoryAllocation",
                          "no memory");
    expect_text(&error, "no memory [cudaMalloc: cudaErrorMemoryAllocation (2)], at ");
    (void)!XB_FAIL(&error, XB_ERR_USAGE, "wrong");
    expect_text(&error, "wrong, at ");
    unsetenv("XFERBENCH_DEBUG");
    assert_string_equal(xb_error_text(&error, text, sizeof text), "wrong");
}
