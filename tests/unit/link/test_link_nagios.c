/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* An unsigned decimal number. */
static const char *skip_number(const char *c)
{
    assert_true(isdigit((unsigned char)*c));
    while (isdigit((unsigned char)*c))
        c++;
    if (*c != '.')
        return c;
    assert_true(isdigit((unsigned char)*++c));
    while (isdigit((unsigned char)*c))
        c++;
    return c;
}

/* 'label'=value;warn;crit;min;max with thresholds that are empty or "48:". */
static const char *skip_entry(const char *c)
{
    assert_int_equal(*c++, '\'');
    const char *label = c;
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    assert_true(c > label);
    assert_int_equal(*c++, '\'');
    assert_int_equal(*c++, '=');
    c = skip_number(c);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(*c++, ';');
        if (*c != ';') {
            c = skip_number(c);
            assert_int_equal(*c++, ':');
        }
    }
    assert_memory_equal(c, ";0;", 3);
    c += 3;
    return isdigit((unsigned char)*c) ? skip_number(c) : c;
}

/* What is wrong with a line ends the test; returns how many entries of data it has. */
static size_t check_nagios(const char *text)
{
    static const char *const begin[] = {"XFERBENCH LINK OK - ", "XFERBENCH LINK WARNING - ",
                                        "XFERBENCH LINK CRITICAL - ", "XFERBENCH LINK UNKNOWN - "};
    size_t known = 0;
    size_t count = 0;
    for (size_t i = 0; i < 4; i++)
        known += strncmp(text, begin[i], strlen(begin[i])) == 0;
    assert_int_equal(known, 1);
    const char *c = text;
    for (; *c != '|' && *c != '\n'; c++)
        assert_true(*c >= ' ' && *c <= '~' && strchr("'\"`$<>&\\", *c) == NULL);
    if (*c == '|')
        assert_int_equal(*++c, ' ');
    while (*c == ' ') {
        c = skip_entry(c + 1);
        count++;
    }
    assert_string_equal(c, "\n");
    return count;
}

RUN_TEST(nagios_of_a_healthy_gpu)
{
    struct node *n = *state;
    make_healthy(n);
    assert_written(xb_link_nagios_write, n,
                   "XFERBENCH LINK OK - 1 GPU: Gen5 x16, H2D 55.4, D2H 55.3 GB/s |"
                   " 'gpu0_h2d_GBps'=55.420;52.290:;46.480:;0;58.100"
                   " 'gpu0_d2h_GBps'=55.310;51.660:;45.920:;0;57.400"
                   " 'gpu0_width'=16;;;0;16 'gpu0_generation'=5;;;0;5"
                   " 'gpu0_replays'=0;;;0; 'gpu0_nvlink_replays'=0;;;0;"
                   " 'gpu0_nvlink_recoveries'=0;;;0; 'gpu0_nvlink_crc_errors'=0;;;0;"
                   " 'gpu0_aer_correctable'=0;;;0;"
                   " 'gpu0_aer_nonfatal'=0;;;0; 'gpu0_aer_fatal'=0;;;0;\n");
}

RUN_TEST(nagios_tells_the_worst_first)
{
    struct node *n = *state;
    make_critical(n);
    n->verdicts[0].found.level = XB_LEVEL_WARNING;
    add_reason(&n->verdicts[0], XB_LEVEL_WARNING, "XB-BW-H2D", "slow | 'really'");
    char *text = link_text(xb_link_nagios_write, n);
    check_nagios(text);
    assert_has(text, "XFERBENCH LINK CRITICAL - 2 of 2 GPUs: GPU 1 0000:1f:00.0 CRITICAL "
                     "XB-LINK-WIDTH (x8 of x16 at 0000:1f:00.0: reseat the card or check "
                     "bifurcation), XB-AER-CORRECTABLE; "
                     "GPU 0 0000:0f:00.0 WARNING XB-BW-H2D (slow / really) | ");
    assert_has(text, " 'gpu1_d2h_GBps'=26.900;;48.000:;0;");
    assert_has(text, " 'gpu1_width'=8;;16:;0;16 'gpu1_generation'=5;;;0;5 'gpu1_replays'=4;;;0; "
                     "'gpu1_nvlink_replays'=0;;;0; 'gpu1_nvlink_recoveries'=1;;;0; "
                     "'gpu1_nvlink_crc_errors'=2;;;0; "
                     "'gpu1_aer_correctable'=3;;;0; 'gpu1_aer_nonfatal'=1;;;0;");
    free(text);
}

RUN_TEST(nagios_sums_up_what_is_well)
{
    struct node *n = *state;
    make_healthy(n);
    n->report.device_count = 2;
    char *text = link_text(xb_link_nagios_write, n);
    assert_has(text, " - 2 GPUs: Gen5 x16, H2D 55.4, D2H 55.3 GB/s |");
    free(text);
    n->devices[1].attempts[0].load.hops[0].speed_gts = 16;
    n->devices[1].attempts[0].rates[XB_TO_GPU] = 26.4e9;
    text = link_text(xb_link_nagios_write, n);
    assert_has(text, " - 2 GPUs: 1 of Gen5 x16, 1 of Gen4 x16, H2D 26.4 to 55.4, D2H 55.3 GB/s |");
    free(text);
}

RUN_TEST(nagios_of_pairs)
{
    struct node *n = *state;
    make_peers(n);
    char *text = link_text(xb_link_nagios_write, n);
    assert_has(text, "XFERBENCH LINK WARNING - 0 of 2 GPUs, 1 of 2 pairs: GPU 1 to 0 WARNING "
                     "XB-BW-PEER (331.50 GB/s is 0.693 of what 18 links of 26.56 GB/s carry) |");
    assert_has(text, " 'gpu0_to_gpu1_GBps'=396.200;358.600:;239.100:;0;478.116"
                     " 'gpu1_to_gpu0_GBps'=331.500;358.600:;239.100:;0;478.116\n");
    free(text);
    n->report.level = XB_LEVEL_OK;
    text = link_text(xb_link_nagios_write, n);
    assert_has(text, " - 2 GPUs: Gen5 x16, H2D 55.4, D2H 55.3, peers 331.5 to 396.2 GB/s |");
    free(text);
}

RUN_TEST(nagios_without_a_device_has_no_data)
{
    struct node *n = *state;
    make_nothing(n);
    assert_written(xb_link_nagios_write, n,
                   "XFERBENCH LINK UNKNOWN - no backend can run: install the GPUs driver\n");
}

RUN_TEST(nagios_limits_the_link_at_the_slot_only)
{
    struct node *n = *state;
    make_amd(n);
    n->verdicts[0].limits.width = (struct xb_limit){true, 8, XB_LIMIT_FILE};
    char *text = link_text(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_width'=16;;8:;0;16 'gpu0_generation'=4;;;0;4");
    free(text);
    n->verdicts[0].bottleneck = 2;
    text = link_text(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_width'=16;;;0;16 'gpu0_generation'=5;;;0;5");
    free(text);
}

RUN_TEST(nagios_keeps_its_grammar)
{
    static const size_t entries[KINDS] = {11, 22, 0, 4, 11, 11, 11, 16, 24};
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(link_setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = link_text(xb_link_nagios_write, n);
        if (check_nagios(text) != entries[i])
            fail_msg("%s: %s", kinds[i].name, text);
        free(text);
        link_teardown(&made);
    }
}
