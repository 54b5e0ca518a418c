/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/host_memory.h"
#include "testing.h"

#define KIB UINT64_C(1024)

TEST(test_every_field_is_taken_in_bytes)
{
    struct xb_process_memory memory;
    assert_true(xb_process_memory_parse("Name:\txferbench\n"
                                        "VmPeak:\t   6040 kB\n"
                                        "VmSize:\t   6040 kB\n"
                                        "VmLck:\t      64 kB\n"
                                        "VmPin:\t 1048576 kB\n"
                                        "VmHWM:\t    1724 kB\n"
                                        "VmRSS:\t    1624 kB\n"
                                        "RssAnon:\t     112 kB\n"
                                        "RssFile:\t    1512 kB\n"
                                        "RssShmem:\t       8 kB\n"
                                        "VmSwap:\t       0 kB\n"
                                        "Threads:\t1\n",
                                        &memory));
    assert_int_equal(memory.resident, 1624 * KIB);
    assert_int_equal(memory.highest, 1724 * KIB);
    assert_int_equal(memory.anonymous, 112 * KIB);
    assert_int_equal(memory.file, 1512 * KIB);
    assert_int_equal(memory.shared, 8 * KIB);
    assert_int_equal(memory.locked, 64 * KIB);
    assert_int_equal(memory.pinned, 1048576 * KIB);
}

/* A kernel that shows no more than how much is resident; a number at the very end. */
TEST(test_what_is_not_shown_is_0)
{
    struct xb_process_memory memory = {.highest = 7, .anonymous = 7, .locked = 7};
    assert_true(xb_process_memory_parse("VmSize:\t 99 kB\nVmRSS:\t 4 kB", &memory));
    assert_int_equal(memory.resident, 4 * KIB);
    assert_int_equal(memory.highest, 0);
    assert_int_equal(memory.anonymous, 0);
    assert_int_equal(memory.locked, 0);
}

TEST(test_nothing_is_made_up)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "VmRSS",
                                        "VmRSS:\n",
                                        "VmRSS:\t kB\n",
                                        "VmRSS:\t -4 kB\n",
                                        "VmRSS:\t 4 MB\n",
                                        "VmRSS:\t 4",
                                        "VmRSSx:\t 4 kB\n",
                                        "xVmRSS:\t 4 kB\n",
                                        "VmHWM:\t 4 kB\n"};
    struct xb_process_memory memory;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(xb_process_memory_parse(texts[i], &memory));
}
