/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of one node of many: its name, and whether it began with the others. */
#include "checks.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static void assert_node_line(const char *node, const char *hostname, const char *line)
{
    struct xb_record record = {.host = {.node = node, .hostname = hostname}};
    char *text = written_record(write_all, &record);
    assert_line(text, line);
    free(text);
}

TEST(table_names_the_node)
{
    assert_node_line("gpu007", "gpu007", "  node     gpu007");
    assert_node_line("gpu007", NULL, "  node     gpu007");
    assert_node_line("gpu007", "alias7", "  node     gpu007 (host alias7)");
    assert_node_line(NULL, "alias7", "  node     alias7");
    assert_node_line("a\x1b[2J", "a\x1b[2J", "  node     a?[2J");
}

/* Only where nodes were to begin at once. */
TEST(table_tells_of_a_late_start)
{
    static const struct {
        struct xb_record_start start;
        const char *words; /* NULL: nothing */
    } rows[] = {
        {{.asked = "x", .late_s = 0.35, .clock_known = true, .synchronised = true},
         "warning  this node began 350 ms after the agreed time\n"},
        {{.asked = "x", .late_s = 0.09, .clock_known = true, .synchronised = true}, NULL},
        {{.asked = "x", .late_s = 0.0, .clock_known = true},
         "this node's clock is not synchronised"},
        {{.asked = "x", .late_s = 0.35, .clock_known = true}, "agreed time; this node's clock"},
        {{.asked = "x", .late_s = 0.0, .clock_known = false}, NULL},
        {{.asked = NULL, .late_s = 0.35, .clock_known = true}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct xb_record record = {.start = rows[i].start};
        char *text = written_record(write_all, &record);
        if (rows[i].words != NULL)
            assert_has(text, rows[i].words);
        else
            assert_null(strstr(text, "warning"));
        free(text);
    }
}
