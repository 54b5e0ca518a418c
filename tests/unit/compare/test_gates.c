/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/comparison.h"

#include <string.h>

#include "testing.h"

#define MIB (UINT64_C(1) << 20)

static void assert_gate(const struct xb_gate *gate, const char *mode, const char *direction,
                        uint64_t least, uint64_t most)
{
    if (mode != NULL)
        assert_string_equal(gate->mode, mode);
    else
        assert_null(gate->mode);
    if (direction != NULL)
        assert_string_equal(gate->direction, direction);
    else
        assert_null(gate->direction);
    assert_true(gate->least == least);
    assert_true(gate->most == most);
}

TEST(reads_a_figure)
{
    struct xb_gates gates;
    struct xb_error error;
    assert_int_equal(
        xb_gates_parse("double-buffer/*/*/speed_up,pinned/h2d/1M/*,async", &gates, &error), XB_OK);
    assert_int_equal(gates.count, 3);
    assert_string_equal(gates.items[0].mode, "double-buffer");
    assert_null(gates.items[0].direction);
    assert_true(gates.items[0].least == 0 && gates.items[0].most == 0);
    assert_string_equal(gates.items[0].figure, "speed_up");
    assert_null(gates.items[1].figure);
    assert_true(gates.items[1].least == MIB && gates.items[1].most == MIB);
    assert_null(gates.items[2].figure);
    xb_gates_free(&gates);
}

/* Of one gate. */
static void assert_reads(const char *text, const char *mode, const char *direction, uint64_t least,
                         uint64_t most)
{
    struct xb_gates gates;
    struct xb_error error;
    assert_int_equal(xb_gates_parse(text, &gates, &error), XB_OK);
    assert_int_equal(gates.count, 1);
    assert_gate(&gates.items[0], mode, direction, least, most);
    xb_gates_free(&gates);
    assert_null(gates.items);
    assert_null(gates.words);
    assert_int_equal(gates.count, 0);
}

TEST(reads_one_gate)
{
    assert_reads("pinned", "pinned", NULL, 0, 0);
    assert_reads("*", NULL, NULL, 0, 0);
    assert_reads("double-buffer/h2d", "double-buffer", "h2d", 0, 0);
    assert_reads("*/d2h", NULL, "d2h", 0, 0);
    assert_reads("pinned/*", "pinned", NULL, 0, 0);
    assert_reads("pinned/h2d/*", "pinned", "h2d", 0, 0);
    assert_reads("pinned/h2d/64M", "pinned", "h2d", 64 * MIB, 64 * MIB);
    assert_reads("*/*/1", NULL, NULL, 1, 1);
    assert_reads("*/*/64M..1G", NULL, NULL, 64 * MIB, 1024 * MIB);
    assert_reads("*/*/64M..64M", NULL, NULL, 64 * MIB, 64 * MIB);
}

TEST(reads_a_list)
{
    struct xb_gates gates;
    struct xb_error error;
    assert_int_equal(xb_gates_parse("pinned,async/h2d/64M..1G,*/bidir", &gates, &error), XB_OK);
    assert_int_equal(gates.count, 3);
    assert_gate(&gates.items[0], "pinned", NULL, 0, 0);
    assert_gate(&gates.items[1], "async", "h2d", 64 * MIB, 1024 * MIB);
    assert_gate(&gates.items[2], NULL, "bidir", 0, 0);
    xb_gates_free(&gates);
}

static void refuses(const char *text, const char *word)
{
    struct xb_gates gates;
    struct xb_error error;
    memset(&gates, 0xa5, sizeof gates);
    if (xb_gates_parse(text, &gates, &error) != XB_ERR_USAGE)
        fail_msg("\"%s\" was not refused", text);
    assert_int_equal(error.status, XB_ERR_USAGE);
    if (strstr(error.message, word) == NULL || strstr(error.message, text) == NULL)
        fail_msg("\"%s\" does not name \"%s\" and \"%s\"", error.message, word, text);
    assert_null(gates.items); /* nothing is left to free */
    assert_null(gates.words);
    assert_int_equal(gates.count, 0);
}

TEST(refuses_what_is_no_gate)
{
    static const char *const shapeless[] = {
        "",          ",",           "pinned,",        ",pinned",      "pinned,,async",
        "/",         "/h2d",        "pinned/",        "pinned//64M",  "pinned/h2d/",
        "//",        "///",         "//64M",          "a/h2d/1M/b/2", "a/h2d/1M/b/",
        "a/h2d/1M/", "pinned,/h2d", "pinned,async//", "/h2d/64M",     "*,pinned/",
        "pinned//",  "pinned/,*",   "*/h2d/1M..2M/"};
    for (size_t i = 0; i < sizeof shapeless / sizeof shapeless[0]; i++)
        refuses(shapeless[i], "cases are MODE");
}

TEST(refuses_what_is_no_size)
{
    static const char *const sizes[] = {
        "*/*/x",     "*/*/64M..", "*/*/..64M",  "*/*/..", "*/*/1..x",    "*/*/-1",     "*/*/1...2",
        "*/*/*..1G", "*/*/1G..*", "*/*/64M-1G", "*/*/ ",  "*/*/1..2..3", "*/*/1 ..2G", "a,*/*/2x"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        refuses(sizes[i], "size");
    refuses("*/*/1G..64M", "wrong way round");
    refuses("pinned,*/*/2..1", "wrong way round");
}

TEST(releases_what_is_empty)
{
    struct xb_gates gates = {0};
    xb_gates_free(&gates);
    assert_int_equal(gates.count, 0);
}
