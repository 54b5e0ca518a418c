/* SPDX-License-Identifier: Apache-2.0 */
/* Times of day as texts. */
#include <string.h>

#include "testing.h"

#include "base/units.h"

static void assert_time(const char *text, double expected)
{
    struct xb_error error = {.message = ""};
    double when = -1;
    if (xb_day_time_parse(text, &when, &error) != XB_OK)
        fail_msg("%s", error.message);
    if (when != expected)
        fail_msg("%s: %.6f is not %.6f", text, when, expected);
}

TEST(reads_dates_and_seconds)
{
    assert_time("1970-01-01T00:00:00Z", 0);
    assert_time("2000-02-29T12:00:00Z", 951825600);
    assert_time("2026-11-23T06:40:00Z", 1795416000);
    assert_time("2026-11-23T06:40:59.5Z", 1795416059.5);
    assert_time("@0", 0);
    assert_time("@1795416000", 1795416000);
    assert_time("@1795416000.25", 1795416000.25);
}

TEST(refuses_what_is_no_time)
{
    static const char *const texts[] = {
        "",
        "now",
        "@",
        "@-1",
        "@1e9",
        "@0x10",
        "@1.",
        "@1.2.3",
        "@ 1",
        "@1 ",
        "@nan",
        "@9999999999999",
        "1795416000",
        "2026-11-23T06:40:00",
        "2026-11-23T06:40:00+01:00",
        "2026-11-23 06:40:00Z",
        "2026-11-23T06:40Z",
        "2026-11-23T06:40:00.Z",
        "2026-11-23T06:40:0Z",
        "2026-11-23T06:40:000Z",
        "2026-11-23T06:40:60Z",
        "2026-11-23T06:60:00Z",
        "2026-11-23T24:00:00Z",
        "2026-13-23T06:40:00Z",
        "2026-02-29T06:40:00Z",
        "2026-11-31T06:40:00Z",
        "1969-12-31T23:59:59Z",
        "2026-11-23T06:40:00ZZ",
        " 2026-11-23T06:40:00Z",
        "+2026-11-23T06:40:00Z",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct xb_error error;
        double when = 0;
        if (xb_day_time_parse(texts[i], &when, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" is %.6f", texts[i], when);
        assert_non_null(strstr(error.message, "2026-11-23T06:40:00Z"));
    }
}

TEST(writes_microseconds)
{
    char text[XB_DAY_TIME];
    assert_string_equal(xb_day_time_text(1795416000.25, text), "2026-11-23T06:40:00.250000Z");
    assert_string_equal(xb_day_time_text(1795416059.999999, text), "2026-11-23T06:40:59.999999Z");
    assert_string_equal(xb_day_time_text(1795415999.9999999, text), "2026-11-23T06:40:00.000000Z");
    assert_time(text, 1795416000);
}
