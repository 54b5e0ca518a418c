/* SPDX-License-Identifier: Apache-2.0 */
#include "link_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

RUN_TEST(nhc_is_silent_only_when_all_is_well)
{
    struct node *n = *state;
    make_healthy(n);
    assert_written(xb_link_nhc_write, n, "");
    n->report.level = n->verdicts[0].found.level = XB_LEVEL_WARNING;
    add_reason(&n->verdicts[0], XB_LEVEL_WARNING, "XB-BW-H2D", "slow");
    assert_written(xb_link_nhc_write, n, "xferbench link WARNING: GPU 0 0000:0f:00.0 XB-BW-H2D\n");
    make_nothing(n);
    assert_written(xb_link_nhc_write, n,
                   "xferbench link UNKNOWN: no backend can run: install the GPUs driver\n");
}

RUN_TEST(nhc_names_the_codes)
{
    struct node *n = *state;
    make_critical(n);
    assert_written(
        xb_link_nhc_write, n,
        "xferbench link CRITICAL: GPU 1 0000:1f:00.0 XB-LINK-WIDTH XB-AER-CORRECTABLE\n");
    make_cut(n);
    assert_written(xb_link_nhc_write, n,
                   "xferbench link UNKNOWN: GPU 1 XB-DEADLINE, GPU 1 to 0 XB-DEADLINE\n");
    make_peers(n);
    assert_written(xb_link_nhc_write, n, "xferbench link WARNING: GPU 1 to 0 XB-BW-PEER\n");
}

RUN_TEST(nhc_gives_a_shell_nothing_to_do)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = link_text(xb_link_nhc_write, n);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_null(strpbrk(text, "'\"`$\\|&<>\r\t"));
    free(text);
}
