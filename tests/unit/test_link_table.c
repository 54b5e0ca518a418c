/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void table_is_plain_and_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = written(xb_link_table_write, n);
        size_t width = 0;
        for (const char *c = text; *c != '\0'; c++) {
            assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
            width = *c == '\n' ? 0 : width + 1;
            if (width > 100)
                fail_msg("%s:\n%s", kinds[i].name, text);
            assert_false(*c == '\n' && c > text && c[-1] == ' ');
        }
        free(text);
        teardown(&made);
    }
}

static void table_of_a_healthy_gpu(void **state)
{
    struct node *n = *state;
    make_healthy(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "link, backend cuda, runtime 13.0, driver 580.159.04\n\n"
               "Device 0: NVIDIA H200, 0000:0f:00.0\n"
               "  verdict  OK\n"
               "  path     LINK, device first           UNDER LOAD  BEST      AT REST\n"
               "           0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  1 change\n"
               "  errors   none counted during the test (AER)\n"
               "           since boot, by the device: retrains 486\n"
               "  packets  payload 256 bytes (read), read request 4096 bytes (read)\n"
               "  ceiling  H2D 58.10, D2H 57.40 GB/s; raw 63.02 GB/s each way (Gen5 x16)\n"
               "  H2D      55.42 GB/s, 95.4 % of the ceiling; warning below 52.29; critical "
               "below 46.48\n"
               "  D2H      55.31 GB/s, 96.4 % of the ceiling; warning below 51.66; critical "
               "below 45.92\n"
               "  limits   H2D: default; D2H: default; link: what both its ends can do\n"
               "  NUMA     node 0, CPUs 0-15, 32-47\n"
               "  IOMMU    group 12\n"
               "  clocks   SM 345 before, 1980 MHz after; memory 3201 before, 3201 MHz after\n"
               "  slowed   no\n"
               "  replays  5 before, 5 after; 0 in all attempts\n"
               "  NVLink   2 active, 1 inactive, each 26.56 GB/s each way\n"
               "           during the test: 0 replays, 0 recoveries, 0 CRC errors\n"
               "           since boot: 3 replays, 0 recoveries, 0 CRC errors\n\n"
               "Node: OK\n");
    assert_string_equal(strstr(text, "Node: OK"), "Node: OK\n");
    free(text);
}

static void table_of_a_bad_gpu(void **state)
{
    struct node *n = *state;
    make_critical(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "           during the test: 0 replays, 1 recovery, 2 CRC errors; link 0: 2 CRC "
               "errors; link 4: 1\n           recovery\n"
               "           since boot: 3 replays, 1 recovery, 2 CRC errors\n");
    assert_has(text,
               "Device 1: NVIDIA H200, 0000:1f:00.0\n"
               "  verdict  CRITICAL\n"
               "  CRITICAL XB-LINK-WIDTH: x8 of x16 at 0000:1f:00.0: reseat the card or check "
               "bifurcation\n"
               "  WARNING  XB-AER-CORRECTABLE: 3 at 0000:1e:00.0\n");
    assert_has(text, "  Gen5 x8     Gen5 x16  Gen1 x16  1 change\n");
    assert_has(text,
               "  errors   NAKs received 4; 0000:1f:00.0: 0 correctable, 1 non-fatal, 0 fatal; "
               "0000:1e:00.0: 3\n           correctable, 0 non-fatal, 0 fatal\n"
               "           since boot, by the device: retrains 486, NAKs received 4\n");
    assert_has(text, "  limits   H2D: default; D2H: command line; x16: file\n");
    assert_has(text, "\nNode: CRITICAL\n  devices  1 of 2 OK\n  next     do what each code says");
    free(text);
}

static void table_without_devices(void **state)
{
    struct node *n = *state;
    make_nothing(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, " link\n\nNode: UNKNOWN\n"
                     "  reason   no backend can run: install the GPU's driver\n"
                     "  next     run 'xferbench list', fix what it finds, then run this again: "
                     "xferbench link\n");
    free(text);
}

static void table_of_a_virtual_machine(void **state)
{
    struct node *n = *state;
    make_vm(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - (no bridge seen)  Gen5 x16 ");
    assert_has(text, "payload 256 bytes (assumed), read request 512 bytes (assumed)\n");
    assert_has(text, "  errors   not known: neither a port nor the device tells its counters\n"
                     "  packets ");
    assert_has(text, "  NUMA     no node is named\n  IOMMU    no group\n");
    assert_lacks(text, "  clocks ");
    assert_lacks(text, "  replays ");
    assert_lacks(text, "  NVLink ");
    assert_lacks(text, "  ACS ");
    free(text);
}

static void table_of_a_gpu_behind_switches(void **state)
{
    struct node *n = *state;
    make_amd(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  on package\n");
    assert_has(
        text,
        "0000:0d:00.0 - 0000:0c:00.0  Gen4 x16    Gen4 x16  Gen1 x16  bottleneck, 2 changes\n");
    assert_has(text, "0000:0b:00.0 - 0000:0a:00.0  Gen5 x16    Gen5 x16  Gen1 x16\n");
    assert_has(text, "  ACS      peers' transfers go up to the root at 0000:0c:00.0\n");
    free(text);
}

static void table_tells_of_every_attempt(void **state)
{
    struct node *n = *state;
    make_retried(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "  attempt  1: Gen5 x16, H2D 30.00 GB/s, D2H 55.31 GB/s\n"
                     "  attempt  2: Gen5 x16, H2D not measured, D2H not measured; out of memory: "
                     "free some\n"
                     "  attempt  3 (judged): Gen5 x16, H2D 55.42 GB/s, D2H 55.31 GB/s\n");
    assert_has(text, "  errors   0000:0f:00.0: 3 correctable, 0 non-fatal, 0 fatal\n");
    free(text);
    n->devices[0].attempts[0].after.present = false;
    text = written(xb_link_table_write, n);
    assert_has(text, "D2H 55.31 GB/s, THE DEVICE VANISHED\n");
    assert_has(text, "  errors   0000:0f:00.0: 1 correctable");
    free(text);
    n->devices[0].attempts[0].after.present = n->devices[0].attempts[0].after.dead = true;
    text = written(xb_link_table_write, n); /* Its folder is there, but it does not answer. */
    assert_has(text,
               "  attempt  1: Gen5 x16, H2D 30.00 GB/s, D2H 55.31 GB/s, THE DEVICE VANISHED\n");
    free(text);
    n->devices[0].attempts[2].health_after.replays_known = false;
    text = written(xb_link_table_write, n);
    assert_has(text, "  replays  0 in all attempts\n");
    free(text);
}

/* The verdict and the table speak of the same links: what both ends can do, in the slot of before.
 */
static void table_shows_what_was_judged(void **state)
{
    struct node *n = *state;
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    const struct xb_link_limits none = {0};
    make_healthy(n);
    attempt->at_rest.hops[0].upper.link.max_speed_gts = 16;
    attempt->load.hops[0].speed_gts = 16;
    attempt->after.hops[0].has_upper = false;
    attempt->h2d = attempt->d2h = 27.5e9;
    xb_verdict_of_device(&n->devices[0], &none, &n->verdicts[0]);
    assert_int_equal(n->verdicts[0].found.level, XB_LEVEL_OK);
    char *text = written(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - 0000:0e:00.0  Gen4 x16    Gen4 x16  Gen1 x16  1 change\n");
    free(text);
    text = written(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_generation'=4;;;0;4");
    free(text);
}

static void table_tells_what_was_cut(void **state)
{
    struct node *n = *state;
    make_cut(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "Device 1: NVIDIA H200\n  verdict  UNKNOWN\n  UNKNOWN  XB-DEADLINE: the deadline "
               "came\n  cut      the deadline came before all attempts were made\n\nPeers: ");
    assert_has(text, "  1 to 0    -                    -        -      -  UNKNOWN\n"
                     "  UNKNOWN  1 to 0: XB-DEADLINE: too late\n\nNode: UNKNOWN\n"
                     "  devices  1 of 2 OK\n  pairs    0 of 1 OK\n");
    assert_has(text, "  next     give it more time (--deadline)");
    free(text);
}

static void table_of_pairs(void **state)
{
    struct node *n = *state;
    make_peers(n);
    char *text = written(xb_link_table_write, n);
    assert_has(text,
               "\n\nPeers: direct copies, sent by the source's copy engine\n"
               "  FROM, TO  LINKS, GB/s EACH     GB/s  CEILING   SHARE  VERDICT\n"
               "  0 to 1    NVLink, 18 x 26.56  396.2    478.1  82.9 %  OK\n"
               "  1 to 0    NVLink, 18 x 26.56  331.5    478.1  69.3 %  WARNING, attempt 2 "
               "of 2\n"
               "  WARNING  1 to 0: XB-BW-PEER: 331.50 GB/s is 0.693 of what 18 links of 26.56 GB/s "
               "carry\n\nNode: WARNING\n  devices  2 of 2 OK\n  pairs    1 of 2 OK\n");
    /* What was counted while peers copied is of the device. */
    assert_has(text, "           during the test: 1 replay, 0 recoveries, 0 CRC errors; link 4: 1 "
                     "replay\n           since boot: 4 replays, ");
    free(text);
}

static void table_of_pairs_that_are_not_judged(void **state)
{
    struct node *n = *state;
    make_peers(n);
    for (size_t i = 0; i < 2; i++) {
        struct xb_pair_attempt *attempt = &n->pairs[i].attempts[0];
        n->pair_verdicts[i] = (struct xb_pair_verdict){.best = 0};
        n->pairs[i].attempt_count = 1;
        attempt->there = attempt->back = (struct xb_peer_info){.can_access = i == 0};
        snprintf(attempt->there.link, sizeof attempt->there.link, "%s", i == 0 ? "PCIe" : "");
        attempt->failure[0] = '\0';
        attempt->bandwidth = i == 0 ? 42.5e9 : 0;
    }
    char *text = written(xb_link_table_write, n);
    assert_has(text, "  0 to 1    PCIe              42.50        -      -  not judged\n"
                     "  1 to 0    -                     -        -      -  no direct access\n");
    assert_has(text, "\n  pairs    0 of 2 OK, 2 not judged\n");
    free(text);
    make_amd(n);
    n->report.pair_count = 0;
    text = written(xb_link_table_write, n);
    assert_has(text,
               "copy engine\n  pairs    not tested: --no-peers leaves pairs of devices out\n");
    assert_lacks(text, "FROM, TO");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(table_is_plain_and_narrow),
        RUN_TEST(table_of_a_healthy_gpu),
        RUN_TEST(table_of_a_bad_gpu),
        RUN_TEST(table_without_devices),
        RUN_TEST(table_of_a_virtual_machine),
        RUN_TEST(table_of_a_gpu_behind_switches),
        RUN_TEST(table_tells_of_every_attempt),
        RUN_TEST(table_tells_what_was_cut),
        RUN_TEST(table_shows_what_was_judged),
        RUN_TEST(table_of_pairs),
        RUN_TEST(table_of_pairs_that_are_not_judged),
    };
    return cmocka_run_group_tests_name("link_table", tests, NULL, NULL);
}
