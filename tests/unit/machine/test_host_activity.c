/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "machine/environment.h"
#include "testing.h"

#include <unistd.h>

static bool read_text(const char *text, struct xb_cpu_times *times)
{
    char path[] = "/tmp/stat-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    memset(times, 0xa5, sizeof *times);
    bool ok = xb_cpu_times_read(path, times);
    unlink(path);
    return ok;
}

TEST(reads_the_time_of_all_cpus)
{
    struct xb_cpu_times times;
    assert_true(read_text("cpu  10 20 30 400 50 6 7 8 9 1\n"
                          "cpu0 5 10 15 200 25 3 3 4 4 0\n"
                          "cpu1 5 10 15 200 25 3 4 4 5 1\n"
                          "intr 12 cpu2 1\nctxt 5\n",
                          &times));
    assert_int_equal(times.cpus, 2);
    assert_int_equal(times.busy, 10 + 20 + 30 + 6 + 7 + 8); /* guests' time is part of user's */
    assert_int_equal(times.total, times.busy + 400 + 50);
    assert_true(read_text("cpu  1 2 3 4\ncpu0 1 2 3 4 5\n", &times) == false);
    assert_true(read_text("cpu  1 2 3 4 5\ncpu0 1 2 3 4 5\n", &times)); /* of an old kernel */
    assert_int_equal(times.busy, 6);
}

TEST(tells_nothing_of_other_files)
{
    static const char *const texts[] = {"", "cpu  10 20 30 400 50\n", "intr 5\ncpu0 1 2 3 4 5\n"};
    struct xb_cpu_times times;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(read_text(texts[i], &times));
    assert_false(xb_cpu_times_read("/nowhere/stat", &times));
    assert_int_equal(times.cpus, 0);
    assert_int_equal(times.total, 0);
}

TEST(times_loads)
{
    struct xb_memory_probe *probe = xb_memory_probe_open();
    if (probe == NULL)
        skip(); /* no memory for it */
    assert_true(xb_memory_probe_time(probe) > 0);
    xb_memory_probe_close(probe);
    xb_memory_probe_close(NULL);
}
