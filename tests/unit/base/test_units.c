/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/units.h"

#include "base/memory.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/* Values that a failed call must leave alone. */
#define UNTOUCHED UINT64_C(12345)
#define UNTOUCHED_SECONDS 12345.0

/* The message must hold the text as it was given, in quotes and as one line. */
static void assert_quotes(const struct xb_error *error, const char *text)
{
    char quoted[256], plain[256];
    snprintf(quoted, sizeof quoted, "\"%s\"", xb_plain_text(text, plain, 250));
    if (strstr(error->message, quoted) == NULL)
        fail_msg("%s does not stand in: %s", quoted, error->message);
}

static void assert_says(const struct xb_error *error, const char *fragment)
{
    if (strstr(error->message, fragment) == NULL)
        fail_msg("\"%s\" does not stand in: %s", fragment, error->message);
}

TEST(size_is_read)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"1", 1},
        {"1B", 1},
        {"7b", 7},
        {"4096", 4096},
        {"007", 7},
        {"1K", KIB},
        {"1k", KIB},
        {"1KiB", KIB},
        {"1kib", KIB},
        {"1KIB", KIB},
        {"1KB", 1000},
        {"1kB", 1000},
        {"3M", 3 * MIB},
        {"3MiB", 3 * MIB},
        {"3MB", 3000000},
        {"2G", 2 * GIB},
        {"2GiB", 2 * GIB},
        {"2GB", UINT64_C(2000000000)},
        {"5T", 5 * TIB},
        {"5TiB", 5 * TIB},
        {"5TB", UINT64_C(5000000000000)},
        {"1.5G", UINT64_C(1610612736)},
        {"0.5K", 512},
        {"1.0", 1},
        {"1.000B", 1},
        {"0.1KB", 100},
        {"1.001KB", 1001},
        {"0.001KB", 1},
        {"0.0009765625K", 1},
        {"0.123456789012TB", UINT64_C(123456789012)},
        /* 2^-40, and 1 + 2^-40: exact although no double holds the second */
        {"0.0000000000009094947017729282379150390625T", 1},
        {"1.0000000000009094947017729282379150390625T", TIB + 1},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775.807KB", INT64_MAX},
        {"8388607.9999999999990905052982270717620849609375T", INT64_MAX},
        {"0000000000000000000000000000001.50000000000000000000000000000K", 1536},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t bytes = UNTOUCHED;
        if (xb_size_parse(rows[i].text, &bytes, &error) != XB_OK)
            fail_msg("%s: %s", rows[i].text, error.message);
        if (bytes != rows[i].bytes)
            fail_msg("%s is %" PRIu64 ", not %" PRIu64, rows[i].text, rows[i].bytes, bytes);
    }
}

TEST(size_is_refused)
{
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"", "not a decimal number"},
        {" ", "not a decimal number"},
        {" 1", "not a decimal number"},
        {"+1", "not a decimal number"},
        {"-1", "not a decimal number"},
        {"-0", "not a decimal number"},
        {"K", "not a decimal number"},
        {".5K", "not a decimal number"},
        {"1.", "not a decimal number"},
        {"1.K", "not a decimal number"},
        {"nan", "not a decimal number"},
        {"inf", "not a decimal number"},
        {"infinity", "not a decimal number"},
        {"all", "not a decimal number"},
        {"1 ", "unknown suffix"},
        {"1 K", "unknown suffix"},
        {"1K ", "unknown suffix"},
        {"1\n", "unknown suffix"},
        {"1Kx", "unknown suffix"},
        {"1Ki", "unknown suffix"},
        {"1KiBs", "unknown suffix"},
        {"1KK", "unknown suffix"},
        {"1i", "unknown suffix"},
        {"1iB", "unknown suffix"},
        {"1P", "unknown suffix"},
        {"1e3", "unknown suffix"},
        {"0x10", "unknown suffix"},
        {"1,5", "unknown suffix"},
        {"1.5.5", "unknown suffix"},
        {"1_000", "unknown suffix"},
        {"0.1K", "not a whole number"},
        {"0.5", "not a whole number"},
        {"1.5B", "not a whole number"},
        {"0.0001KB", "not a whole number"},
        {"0.00048828125K", "not a whole number"},
        {"1.0000000000000000000000000000000000001K", "not a whole number"},
        {"0", "is zero"},
        {"0K", "is zero"},
        {"0.0", "is zero"},
        {"000.000T", "is zero"},
        {"9223372036854775808", "too large"},
        {"18446744073709551616", "too large"},
        {"18446744073709551617", "too large"},
        {"99999999999999999999999999999999", "too large"},
        {"8388608T", "too large"},
        {"8589934592G", "too large"},
        {"17179869185G", "too large"},
        {"16777217T", "too large"},
        {"9223372036854775807.5K", "too large"},
        {"9223372036854775.808KB", "too large"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t bytes = UNTOUCHED;
        if (xb_size_parse(rows[i].text, &bytes, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" is taken for a size", rows[i].text);
        assert_int_equal(error.status, XB_ERR_USAGE);
        assert_int_equal(bytes, UNTOUCHED);
        assert_quotes(&error, rows[i].text);
        assert_says(&error, rows[i].reason);
        assert_says(&error, "a size is a whole number of bytes from 1");
        assert_says(&error, "powers of 1000)");
    }
}

/* A text of any length must leave room for what is accepted. */
TEST(long_text_is_cut)
{
    char text[4096];
    struct xb_error error;
    uint64_t bytes = 0;
    struct xb_numbers sizes = {NULL, 0};
    struct xb_arena *memory = NULL;
    double seconds = 0.0;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(xb_size_parse(text, &bytes, &error), XB_ERR_USAGE);
    assert_says(&error, "powers of 1000)");
    assert_int_equal(xb_numbers_parse(text, true, 0, 0, &sizes, &memory, &error), XB_ERR_USAGE);
    xb_arena_free(memory);
    assert_says(&error, "powers of 1000)");
    assert_int_equal(xb_duration_parse(text, &seconds, &error), XB_ERR_USAGE);
    assert_says(&error, "such as 500ms or 1.5");
}

TEST(sizes_are_read)
{
    static const struct {
        const char *text;
        size_t count;
        uint64_t bytes[20];
    } rows[] = {
        {"64K", 1, {64 * KIB}},
        {"64K,1M", 2, {64 * KIB, MIB}},
        {"1M,64K,3", 3, {MIB, 64 * KIB, 3}},
        {"1..4", 3, {1, 2, 4}},
        {"3..13", 3, {3, 6, 12}},
        {"4K..4K", 1, {4 * KIB}},
        {"4K..7K", 1, {4 * KIB}},
        {"0.5K..2K", 3, {512, KIB, 2 * KIB}},
        {"1.5K..6.5K", 3, {1536, 3 * KIB, 6 * KIB}},
        {"9,1..4,5", 5, {9, 1, 2, 4, 5}},
        {"1..4,8..16", 5, {1, 2, 4, 8, 16}},
        {"3..4,1..2", 3, {3, 1, 2}},
        {"4K..1G",
         19,
         {4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB,
          2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB,
          GIB}},
        /* the next doubling would not fit in 63 bits */
        {"4194304T..9223372036854775807", 1, {4194304 * TIB}},
        {"9223372036854775807..9223372036854775807", 1, {INT64_MAX}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        struct xb_numbers sizes = {NULL, 0};
        struct xb_arena *memory = NULL;
        if (xb_numbers_parse(rows[i].text, true, 0, 0, &sizes, &memory, &error) != XB_OK)
            fail_msg("%s: %s", rows[i].text, error.message);
        assert_int_equal(sizes.count, rows[i].count);
        assert_memory_equal(sizes.values, rows[i].bytes, sizes.count * sizeof *sizes.values);
        xb_arena_free(memory);
    }
}

TEST(longest_range_is_read)
{
    struct xb_error error;
    struct xb_numbers sizes = {NULL, 0};
    struct xb_arena *memory = NULL;
    assert_int_equal(
        xb_numbers_parse("1..9223372036854775807", true, 0, 0, &sizes, &memory, &error), XB_OK);
    assert_int_equal(sizes.count, 63);
    for (size_t i = 0; i < sizes.count; i++)
        assert_int_equal(sizes.values[i], UINT64_C(1) << i);
    xb_arena_free(memory);
}

TEST(sizes_are_refused)
{
    /* `quoted` is the part the message must point at. */
    static const struct {
        const char *text;
        const char *quoted;
        const char *reason;
    } rows[] = {
        {"", "", "empty place"},
        {",", ",", "empty place"},
        {",4K", ",4K", "empty place"},
        {"4K,", "4K,", "empty place"},
        {"4K,,8K", "4K,,8K", "empty place"},
        {"1..4,", "1..4,", "empty place"},
        {"4K, 8K", " 8K", "not a decimal number"},
        {"4K,zebra", "zebra", "not a decimal number"},
        {"4K;8K", "4K;8K", "unknown suffix"},
        {"4K,0.1K", "0.1K", "not a whole number"},
        {"4K,0", "0", "is zero"},
        {"0..4K", "0", "is zero"},
        {"1G..4K", "1G..4K", "runs backwards"},
        {"2..1", "2..1", "runs backwards"},
        {"..", "..", "lacks a size"},
        {"4K..", "4K..", "lacks a size"},
        {"..4K", "..4K", "lacks a size"},
        {"1...4", ".4", "not a decimal number"},
        {"1..4..8", "4..8", "not a decimal number"},
        {"1-4", "1-4", "unknown suffix"},
        {"1..8388608T", "8388608T", "too large"},
        {"4K,4K", "4K", "named twice"},
        {"4K,4096", "4096", "named twice"},
        {"1K,2K,1.0K", "1.0K", "named twice"},
        {"2,1..4", "1..4", "named twice"},
        {"1..4,4", "4", "named twice"},
        {"1..8,8..16", "8..16", "named twice"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        uint64_t sentinel = 0;
        struct xb_numbers sizes = {&sentinel, 77};
        struct xb_arena *memory = NULL;
        if (xb_numbers_parse(rows[i].text, true, 0, 0, &sizes, &memory, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" is taken for a list of sizes", rows[i].text);
        xb_arena_free(memory);
        assert_int_equal(error.status, XB_ERR_USAGE);
        assert_ptr_equal(sizes.values, &sentinel);
        assert_int_equal(sizes.count, 77);
        assert_quotes(&error, rows[i].quoted);
        assert_says(&error, rows[i].reason);
    }
}

TEST(sizes_keep_to_their_bounds)
{
    static const struct {
        const char *text;
        uint64_t minimum, maximum;
        size_t count; /* 0: refused */
        const char *says;
    } rows[] = {
        {"512..1M", 512, 1 << 20, 12, ""},
        {"511", 512, 1 << 20, 0, "\"511\" is not a size from 512 B to 1 MiB"},
        {"4K,256..2K", 512, 1 << 20, 0, "\"256\" is not a size from 512 B to 1 MiB"},
        {"4K,512..2M", 512, 1 << 20, 0, "\"2M\" is not a size from 512 B to 1 MiB"},
        {"0", 1, 4096, 0, "size \"0\" is zero; a size is a whole number of bytes from 1 to"},
        {"0,1..4K", 0, 4096, 14, ""},
        {"0,4097", 0, 4096, 0, "\"4097\" is not a size from 0 B to 4 KiB"},
        {"0,-1", 0, 4096, 0, "is not a decimal number; a size is a whole number of bytes from 0"},
        {"0,0B", 0, 4096, 0, "size 0 B is named twice, again by \"0B\""},
        {"0..4K", 0, 4096, 0, "range \"0..4K\" cannot double from 0; name 0 apart"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        struct xb_numbers sizes = {NULL, 0};
        struct xb_arena *memory = NULL;
        enum xb_status status = xb_numbers_parse(rows[i].text, true, rows[i].minimum,
                                                 rows[i].maximum, &sizes, &memory, &error);
        assert_int_equal(status, rows[i].count > 0 ? XB_OK : XB_ERR_USAGE);
        assert_int_equal(sizes.count, rows[i].count);
        if (rows[i].count == 0)
            assert_says(&error, rows[i].says);
        xb_arena_free(memory);
    }
}

TEST(a_size_keeps_to_its_bounds)
{
    struct xb_error error;
    uint64_t bytes = 77;
    assert_int_equal(xb_size_parse_within("0", 0, 4096, &bytes, &error), XB_OK);
    assert_int_equal(bytes, 0);
    assert_int_equal(xb_size_parse_within("4K", 0, 4096, &bytes, &error), XB_OK);
    assert_int_equal(bytes, 4096);
    assert_int_equal(xb_size_parse_within("4097", 0, 4096, &bytes, &error), XB_ERR_USAGE);
    assert_int_equal(xb_size_parse_within("0", 1, 4096, &bytes, &error), XB_ERR_USAGE);
    assert_int_equal(bytes, 4096);
}

TEST(twice_named_size_is_shown)
{
    struct xb_error error;
    struct xb_numbers sizes = {NULL, 0};
    struct xb_arena *memory = NULL;
    assert_int_equal(xb_numbers_parse("1M,1024K", true, 0, 0, &sizes, &memory, &error),
                     XB_ERR_USAGE);
    xb_arena_free(memory);
    assert_says(&error, "size 1 MiB is named twice, again by \"1024K\"");
}

TEST(duration_is_read)
{
    /* The compiler's reading of the same decimal is the reference: no tolerance. */
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {
        {"1", 1.0},
        {"1s", 1.0},
        {"0.1", 0.1},
        {"0.3", 0.3},
        {"2.5s", 2.5},
        {"100ms", 0.1},
        {"300ms", 0.3},
        {"1.1ms", 0.0011},
        {"7us", 0.000007},
        {"3.3us", 0.0000033},
        {"1ns", 0.000000001},
        {"0.5ns", 0.0000000005},
        {"1m", 60.0},
        {"0.1m", 6.0},
        {"1.5m", 90.0},
        {"10m", 600.0},
        {"007", 7.0},
        {"0.50000000000000000000000000000000", 0.5},
        {"1.3333333333", 1.3333333333},
        {"0.00000000000000000001", 1e-20},
        {"9007199254740992", 9007199254740992.0},
        {"9223372036854775807", 9223372036854775807.0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        double seconds = UNTOUCHED_SECONDS;
        if (xb_duration_parse(rows[i].text, &seconds, &error) != XB_OK)
            fail_msg("%s: %s", rows[i].text, error.message);
        if (!(seconds == rows[i].seconds))
            fail_msg("%s is %.17g, not %.17g", rows[i].text, rows[i].seconds, seconds);
    }
}

/* More digits than a double has must not change the value by more than its last place or two. */
TEST(long_duration_is_near)
{
    struct xb_error error;
    double seconds = 0.0;
    assert_int_equal(
        xb_duration_parse("0.333333333333333333333333333333333333333333", &seconds, &error), XB_OK);
    assert_true(seconds > (1.0 - 2.0 * DBL_EPSILON) / 3.0);
    assert_true(seconds < (1.0 + 2.0 * DBL_EPSILON) / 3.0);
    assert_int_equal(xb_duration_parse("123456789012345678.987654321", &seconds, &error), XB_OK);
    assert_true(seconds == 123456789012345678.987654321);
}

TEST(duration_is_refused)
{
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"", "not a decimal number"},
        {" 1", "not a decimal number"},
        {"+1", "not a decimal number"},
        {"-1s", "not a decimal number"},
        {"s", "not a decimal number"},
        {"ms", "not a decimal number"},
        {".5", "not a decimal number"},
        {"1.", "not a decimal number"},
        {"1.s", "not a decimal number"},
        {"nan", "not a decimal number"},
        {"inf", "not a decimal number"},
        {"1 s", "unknown unit"},
        {"1s ", "unknown unit"},
        {"1,5", "unknown unit"},
        {"1.5.5", "unknown unit"},
        {"1e3", "unknown unit"},
        {"0x10", "unknown unit"},
        {"1S", "unknown unit"},
        {"1M", "unknown unit"},
        {"1MS", "unknown unit"},
        {"1h", "unknown unit"},
        {"1min", "unknown unit"},
        {"1sec", "unknown unit"},
        {"1n", "unknown unit"},
        {"1mss", "unknown unit"},
        {"0", "is zero"},
        {"0s", "is zero"},
        {"0.000m", "is zero"},
        {"9223372036854775808", "too large"},
        {"9223372036854775808ns", "too large"},
        {"99999999999999999999999999", "too large"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        double seconds = UNTOUCHED_SECONDS;
        if (xb_duration_parse(rows[i].text, &seconds, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" is taken for a duration", rows[i].text);
        assert_int_equal(error.status, XB_ERR_USAGE);
        assert_true(seconds == UNTOUCHED_SECONDS);
        assert_quotes(&error, rows[i].text);
        assert_says(&error, rows[i].reason);
        assert_says(&error, "a duration is a decimal number above 0 with ns, us, ms, s or m");
    }
}

TEST(size_is_formatted)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1, "1 B"},
        {999, "999 B"},
        {1000, "1 KB"},
        {4000, "4 KB"},
        {64 * 1000, "64 KB"},
        {500 * KIB, "500 KiB"},
        {1000000, "1 MB"},
        {1000000000, "1 GB"},
        {1000000000000000000, "1 EB"},
        {1023, "1023 B"},
        {KIB, "1 KiB"},
        {1025, "1025 B"},
        {1536, "1536 B"},
        {1536 * KIB, "1536 KiB"},
        {MIB, "1 MiB"},
        {GIB, "1 GiB"},
        {1000 * GIB, "1000 GiB"},
        {TIB, "1 TiB"},
        {1024 * TIB, "1 PiB"},
        {1024 * (1024 * TIB), "1 EiB"},
        {INT64_MAX, "9223372036854775807 B"},
        {UINT64_MAX, "18446744073709551615 B"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[32];
        assert_ptr_equal(xb_size_format(rows[i].bytes, text, sizeof text), text);
        assert_string_equal(text, rows[i].text);
    }
}

TEST(size_of_a_name_has_binary_units)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 B"},          {1000, "1000 B"}, {4000000, "4000000 B"}, {1024, "1 KiB"},
                {512000, "500 KiB"}, {GIB, "1 GiB"},   {MIB + 1, "1048577 B"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[32];
        assert_ptr_equal(xb_size_key(rows[i].bytes, text, sizeof text), text);
        assert_string_equal(text, rows[i].text);
    }
}

TEST(duration_is_formatted)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {
        {3.31e-6, "3.31 us"}, {19.4e-3, "19.4 ms"},   {1.2, "1.20 s"},       {1e-9, "1.00 ns"},
        {5e-10, "0.50 ns"},   {412e-9, "412 ns"},     {9.994e-7, "999 ns"},  {9.996e-7, "1.00 us"},
        {1e-6, "1.00 us"},    {9.994e-6, "9.99 us"},  {9.996e-6, "10.0 us"}, {99.94e-6, "99.9 us"},
        {99.96e-6, "100 us"}, {999.4e-6, "999 us"},   {999.6e-6, "1.00 ms"}, {0.9996, "1.00 s"},
        {0.05, "50.0 ms"},    {1.006e-3, "1.01 ms"},  {60.0, "60.0 s"},      {600.0, "600 s"},
        {999.4, "999 s"},     {999.6, "1000 s"},      {1234.0, "1230 s"},    {1235.0, "1240 s"},
        {9996.0, "10000 s"},  {123456.0, "123000 s"}, {0.0, "0 s"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[32];
        assert_ptr_equal(xb_duration_format(rows[i].seconds, text, sizeof text), text);
        assert_string_equal(text, rows[i].text);
    }
}

TEST(format_keeps_to_its_buffer)
{
    char text[6] = "#####";
    xb_size_format(1001, text, 4);
    assert_memory_equal(text, "100\0#", 6);
    xb_duration_format(3.31e-6, text, 4);
    assert_memory_equal(text, "3.3\0#", 6);
}
