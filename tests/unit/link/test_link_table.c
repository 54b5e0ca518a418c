/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

RUN_TEST(table_is_plain_and_narrow)
{
    for (size_t i = 0; i < 2 * KINDS; i++) {
        void *made = NULL;
        assert_int_equal(link_setup(&made), 0);
        struct node *n = made;
        kinds[i / 2].make(n);
        n->report.verbose = i % 2 == 0;
        char *text = link_text(xb_link_table_write, n);
        size_t width = 0;
        for (const char *c = text; *c != '\0'; c++) {
            assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
            width = *c == '\n' ? 0 : width + 1;
            if (width > 100)
                fail_msg("%s:\n%s", kinds[i / 2].name, text);
            assert_false(*c == '\n' && c > text && c[-1] == ' ');
        }
        free(text);
        link_teardown(&made);
    }
}

#define TITLES "GPU  PCI           LINK UNDER LOAD  TO GPU, GB/s   BACK, GB/s  NVLINK  ERRORS"
#define GPU_0 "  0  0000:0f:00.0  Gen5 x16          55.42  95 %  55.31  96 %     2/3       0"
#define TOOL "\nxferbench " XB_VERSION ", backend cuda, runtime 13.0, driver 580.159.04\n\n"
#define NEXT_BAD                                                                                   \
    "\nNext: do what each code says (more in docs/link.md), then run this again on an idle node: " \
    "xferbench\n  link\n"

/* One line each for the node, the GPUs and all pairs together. */
RUN_TEST(a_healthy_node_is_short)
{
    enum { EIGHT = 8 };
    struct node *n = *state;
    make_healthy(n);
    assert_written(xb_link_table_write, n,
                   "Node: OK: 1 GPU (NVIDIA H200)\n" TITLES "\n" GPU_0
                   "\nDetails: xferbench link --verbose\n");
    struct xb_link_device *devices = calloc(EIGHT, sizeof *devices);
    struct xb_verdict *verdicts = calloc(EIGHT, sizeof *verdicts);
    struct xb_link_pair *pairs = calloc(EIGHT * EIGHT, sizeof *pairs);
    struct xb_pair_verdict *pair_verdicts = calloc(EIGHT * EIGHT, sizeof *pair_verdicts);
    assert_true(devices != NULL && verdicts != NULL && pairs != NULL && pair_verdicts != NULL);
    n->verdicts[0].ceiling.payload_assumed = true;
    for (unsigned i = 0; i < EIGHT * EIGHT; i++) {
        devices[i % EIGHT] = n->devices[0];
        devices[i % EIGHT].info.index = i % EIGHT;
        verdicts[i % EIGHT] = n->verdicts[0];
        if (i / EIGHT == i % EIGHT)
            continue;
        pairs[n->report.pair_count] = (struct xb_link_pair){.from = i / EIGHT, .to = i % EIGHT};
        pair_verdicts[n->report.pair_count++] = (struct xb_pair_verdict){
            .reach = {.can_access = true, .link = "NVLink", .links = 18, .link_rate = 26.562e9},
            .ceiling = 478.1e9,
            .bandwidth = {.measured = i == 1 ? 394.62e9 : 394.8e9, .critical = 239e9}};
    }
    n->report.devices = devices;
    n->report.device_count = EIGHT;
    n->report.verdicts = verdicts;
    n->report.pairs = pairs;
    n->report.pair_verdicts = pair_verdicts;
    n->report.node = "gpu07";
    n->report.elapsed = 2.94;
    char *text = told(xb_link_table_write, &n->report);
    char *rows = strstr(text, "\n  1  ");
    assert_non_null(rows);
    assert_memory_equal(text,
                        "Node gpu07: OK: 8 GPUs (NVIDIA H200), 56 pairs, 2.9 s\n" TITLES "\n" GPU_0,
                        (size_t)(rows - text));
    assert_string_equal(
        strstr(text, "\n  7  "),
        "\n  7  0000:0f:00.0  Gen5 x16          55.42  95 %  55.31  96 %     2/3  "
        "     0\nPairs: 394.6 to 394.8 GB/s, 83 % of the 478 that 18 NVLinks carry.\n"
        "Packet sizes are assumed. As root, link reads them, and ACS.\n"
        "Details of a GPU: xferbench link --device 7 --verbose\n");
    free(text);
    free(devices);
    free(verdicts);
    free(pairs);
    free(pair_verdicts);
}

RUN_TEST(table_with_details)
{
    struct node *n = *state;
    make_healthy(n);
    n->report.verbose = true;
    assert_written(
        xb_link_table_write, n,
        "Node: OK: 1 GPU (NVIDIA H200)\n" TITLES "\n" GPU_0 "\n" TOOL
        "GPU 0: NVIDIA H200, 0000:0f:00.0: OK\n"
        "  path     LINK, GPU first              UNDER LOAD  BEST      AT REST\n"
        "           0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  1 change\n"
        "  errors   none counted during the test (AER)\n"
        "           since boot, by the GPU: retrains 486\n"
        "  packets  payload 256 bytes (read), read request 4096 bytes (read)\n"
        "  ceiling  to the GPU 58.10, back 57.40 GB/s; raw 63.02 GB/s each way (Gen5 x16)\n"
        "  to GPU   55.42 GB/s, 95.4 % of the ceiling; warning below 52.29; critical below 46.48\n"
        "  back     55.31 GB/s, 96.4 % of the ceiling; warning below 51.66; critical below 45.92\n"
        "  NUMA     node 0, CPUs 0-15, 32-47\n"
        "  IOMMU    group 12\n"
        "  clocks   SM 345 before, 1980 MHz after; memory 3201 before, 3201 MHz after\n"
        "  slowed   no\n"
        "  replays  5 before, 5 after; 0 in all attempts\n"
        "  NVLink   2 active, 1 inactive, each 26.56 GB/s each way\n"
        "           during the test: 0 replays, 0 recoveries, 0 CRC errors\n"
        "           since boot: 3 replays, 0 recoveries, 0 CRC errors\n");
}

/* Its reasons and what was seen of it, and nothing of the other. */
RUN_TEST(table_of_a_bad_gpu)
{
    struct node *n = *state;
    make_critical(n);
    assert_written(
        xb_link_table_write, n,
        "Node: CRITICAL: 1 of 2 GPUs (NVIDIA H200) is not OK\n" TITLES "  VERDICT\n" GPU_0 "  OK\n"
        "  1  0000:1f:00.0  Gen5 x8           27.10  93 %  26.90  94 %     2/3      11  "
        "CRITICAL\n" TOOL "GPU 1: NVIDIA H200, 0000:1f:00.0: CRITICAL\n"
        "  CRITICAL XB-LINK-WIDTH: x8 of x16 at 0000:1f:00.0: reseat the card or check "
        "bifurcation\n"
        "  WARNING  XB-AER-CORRECTABLE: 3 at 0000:1e:00.0\n"
        "  WARNING  XB-AER-CORRECTABLE: 1 at 0000:1f:00.0\n"
        "  path     LINK, GPU first              UNDER LOAD  BEST      AT REST\n"
        "           0000:1f:00.0 - 0000:1e:00.0  Gen5 x8     Gen5 x16  Gen1 x16  1 change\n"
        "  errors   NAKs received 4; 0000:1f:00.0: 0 correctable, 1 non-fatal, 0 fatal; "
        "0000:1e:00.0: 3\n           correctable, 0 non-fatal, 0 fatal\n"
        "           since boot, by the GPU: retrains 486, NAKs received 4\n"
        "  packets  payload 256 bytes (read), read request 4096 bytes (read)\n"
        "  ceiling  to the GPU 29.05, back 28.70 GB/s; raw 31.51 GB/s each way (Gen5 x8)\n"
        "  to GPU   27.10 GB/s, 93.3 % of the ceiling; warning below 26.14; critical below 23.24\n"
        "  back     26.90 GB/s, 93.7 % of the ceiling; critical below 48.00 (command line)\n"
        "  expected x16 (file)\n"
        "  NUMA     node 0, CPUs 0-15, 32-47\n"
        "  IOMMU    group 12\n"
        "  clocks   SM 345 before, 1980 MHz after; memory 3201 before, 3201 MHz after\n"
        "  slowed   no\n"
        "  replays  5 before, 9 after; 4 in all attempts\n"
        "  NVLink   2 active, 1 inactive, each 26.56 GB/s each way\n"
        "           during the test: 0 replays, 1 recovery, 2 CRC errors; link 0: 2 CRC errors; "
        "link 4: 1\n           recovery\n"
        "           since boot: 3 replays, 1 recovery, 2 CRC errors\n" NEXT_BAD);
}

RUN_TEST(table_without_devices)
{
    struct node *n = *state;
    make_nothing(n);
    assert_written(xb_link_table_write, n,
                   "Node: UNKNOWN: no backend can run: install the GPU's driver\nNext: run "
                   "'xferbench list', fix what it finds, then run this again: xferbench link\n");
}

RUN_TEST(table_of_a_virtual_machine)
{
    struct node *n = *state;
    make_vm(n);
    n->report.verbose = true;
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - (no bridge seen)  Gen5 x16 ");
    assert_has(text, "payload 256 bytes (assumed), read request 512 bytes (assumed)\n");
    assert_has(text, "  errors   not known: neither a port nor the GPU shows counters\n"
                     "  packets ");
    assert_has(text, "  NUMA     node not known\n  IOMMU    no group\n");
    assert_lacks(text, "  clocks ");
    assert_lacks(text, "  replays ");
    assert_lacks(text, "  NVLink ");
    assert_lacks(text, "  ACS ");
    free(text);
}

RUN_TEST(table_of_a_gpu_behind_switches)
{
    struct node *n = *state;
    make_amd(n);
    n->report.verbose = true;
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - 0000:0e:00.0  Gen5 x16    Gen5 x16  Gen1 x16  on package\n");
    assert_has(
        text,
        "0000:0d:00.0 - 0000:0c:00.0  Gen4 x16    Gen4 x16  Gen1 x16  bottleneck, 2 changes\n");
    assert_has(text, "0000:0b:00.0 - 0000:0a:00.0  Gen5 x16    Gen5 x16  Gen1 x16\n");
    assert_has(text, "  ACS      peers' transfers go up to the root at 0000:0c:00.0\n");
    free(text);
}

RUN_TEST(table_tells_of_every_attempt)
{
    struct node *n = *state;
    make_retried(n);
    n->report.verbose = true;
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "  attempt  1: Gen5 x16, to the GPU 30.00 GB/s, back 55.31 GB/s\n"
                     "  attempt  2: Gen5 x16, to the GPU not measured, back not measured; out of "
                     "memory: free some\n"
                     "  attempt  3 (judged): Gen5 x16, to the GPU 55.42 GB/s, back 55.31 GB/s\n");
    assert_has(text, "  errors   0000:0f:00.0: 3 correctable, 0 non-fatal, 0 fatal\n");
    free(text);
    n->devices[0].attempts[0].after.present = false;
    text = link_text(xb_link_table_write, n);
    assert_has(text, "back 55.31 GB/s, THE GPU VANISHED\n");
    assert_has(text, "  errors   0000:0f:00.0: 1 correctable");
    free(text);
    n->devices[0].attempts[0].after.present = n->devices[0].attempts[0].after.dead = true;
    text = link_text(xb_link_table_write, n); /* Its folder is there, but it does not answer. */
    assert_has(
        text, "  attempt  1: Gen5 x16, to the GPU 30.00 GB/s, back 55.31 GB/s, THE GPU VANISHED\n");
    free(text);
    n->devices[0].attempts[2].health_after.replays_known = false;
    text = link_text(xb_link_table_write, n);
    assert_has(text, "  replays  0 in all attempts\n");
    free(text);
}

/* The verdict and the table speak of the same links: what both ends can do, in the slot of before.
 */
RUN_TEST(table_shows_what_was_judged)
{
    struct node *n = *state;
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    const struct xb_link_limits none = {0};
    make_healthy(n);
    n->report.verbose = true;
    attempt->at_rest.hops[0].upper.link.max_speed_gts = 16;
    attempt->load.hops[0].speed_gts = 16;
    attempt->after.hops[0].has_upper = false;
    attempt->rates[XB_TO_GPU] = attempt->rates[XB_BACK] = 27.5e9;
    xb_verdict_of_device(&n->devices[0], &none, &n->verdicts[0]);
    assert_int_equal(n->verdicts[0].found.level, XB_LEVEL_OK);
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "0000:0f:00.0 - 0000:0e:00.0  Gen4 x16    Gen4 x16  Gen1 x16  1 change\n");
    free(text);
    text = link_text(xb_link_nagios_write, n);
    assert_has(text, "'gpu0_generation'=4;;;0;4");
    free(text);
}

RUN_TEST(table_tells_what_was_cut)
{
    struct node *n = *state;
    make_cut(n);
    assert_written(xb_link_table_write, n,
                   "Node: UNKNOWN: 1 of 2 GPUs (NVIDIA H200) and 1 of 1 pairs are not OK\n" TITLES
                   "  VERDICT\n" GPU_0 "  OK\n"
                   "  1  -             -                           -            -       -       -  "
                   "UNKNOWN\n" TOOL
                   "GPU 1: NVIDIA H200: UNKNOWN\n  UNKNOWN  XB-DEADLINE: the deadline came\n"
                   "  cut      the deadline came before all attempts were made\n\n"
                   "  UNKNOWN  GPU 1 to 0: XB-DEADLINE: too late\n\n"
                   "Next: give it more time (--deadline) on an idle node: xferbench link\n");
}

/* They differ: a matrix. */
RUN_TEST(table_of_pairs)
{
    struct node *n = *state;
    make_peers(n);
    assert_written(xb_link_table_write, n,
                   "Node: WARNING: 2 GPUs (NVIDIA H200) OK, 1 of 2 pairs is not OK\n" TITLES
                   "\n" GPU_0 "\n  1  0000:1f:00.0  Gen5 x16          55.42  95 %  55.31  96 %     "
                   "2/3       1\n"
                   "GB/s, FROM   TO 0   TO 1\n"
                   "         0         396.2\n"
                   "         1  331.5\n" TOOL
                   "  WARNING  GPU 1 to 0: XB-BW-PEER: 331.50 GB/s is 0.693 of what 18 links of "
                   "26.56 GB/s carry\n" NEXT_BAD);
    n->report.verbose = true;
    char *text = link_text(xb_link_table_write, n);
    /* What was counted while peers copied is of the device. */
    assert_has(text, "           during the test: 1 replay, 0 recoveries, 0 CRC errors; link 4: 1 "
                     "replay\n           since boot: 4 replays, ");
    free(text);
}

RUN_TEST(table_of_pairs_that_are_not_judged)
{
    struct node *n = *state;
    make_peers(n);
    for (size_t i = 0; i < 2; i++) {
        struct xb_pair_attempt *attempt = &n->pairs[i].attempts[0];
        n->pair_verdicts[i] = (struct xb_pair_verdict){.best = 0};
        n->pairs[i].attempt_count = 1;
        attempt->there = attempt->back = (struct xb_peer_info){.can_access = true};
        snprintf(attempt->there.link, sizeof attempt->there.link, "PCIe");
        attempt->failure[0] = '\0';
        attempt->bandwidth = 42.5e9;
    }
    n->report.level = XB_LEVEL_OK;
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "Node: OK: 2 GPUs (NVIDIA H200), 2 pairs not judged\n");
    assert_has(text, "\nPairs: 42.5 GB/s over PCIe, not judged: --min-peer sets a limit.\n");
    free(text);
    n->pair_verdicts[0].bandwidth.critical = 30e9; /* other limits: they are not alike */
    n->pair_verdicts[0].minimum = (struct xb_limit){true, 30e9, XB_LIMIT_FILE};
    text = link_text(xb_link_table_write, n);
    assert_has(text, "Node: OK: 2 GPUs (NVIDIA H200), 1 pair, 1 pair not judged\n");
    assert_has(text, "GB/s, FROM  TO 0  TO 1\n         0        42.5\n         1  42.5\n");
    free(text);
    n->pair_verdicts[0].bandwidth.critical = 0;
    n->pairs[1].attempts[0] = (struct xb_pair_attempt){.reach_known = true};
    n->pair_verdicts[1].bandwidth.measured = 0;
    n->report.verbose = true;
    text = link_text(xb_link_table_write, n);
    assert_has(text, "GB/s, FROM  TO 0  TO 1\n         0        42.5\n         1  none\n");
    free(text);
    n->pairs[0].attempts[0] = n->pairs[1].attempts[0];
    n->pair_verdicts[0].bandwidth.measured = 0;
    text = link_text(xb_link_table_write, n);
    assert_has(text, "\nPairs: no direct access.\n");
    free(text);
    n->pairs[0].attempts[0].reach_known = false; /* one is not all */
    text = link_text(xb_link_table_write, n);
    assert_lacks(text, "Pairs: no direct access");
    assert_has(text, "GB/s, FROM  TO 0  TO 1\n         0           ?\n         1  none\n");
    free(text);
    make_amd(n);
    n->report.pair_count = 0;
    text = link_text(xb_link_table_write, n);
    assert_has(text, "\nPairs: not tested: --no-peers leaves pairs of devices out.\n");
    free(text);
}

/* Unlike ceilings: 396 GB/s are the most that some links carry, and little of others. */
RUN_TEST(pairs_of_unlike_ceilings_are_not_told_together)
{
    struct node *n = *state;
    make_peers(n);
    n->pairs[1].attempts[1].bandwidth = n->pairs[0].attempts[0].bandwidth = 396e9;
    n->pairs[0].attempts[0].back.link_rate /= 2;
    char *text = link_text(xb_link_table_write, n);
    assert_lacks(text, "Pairs: ");
    assert_has(text, "GB/s, FROM   TO 0   TO 1\n");
    free(text);
    n->pairs[0].attempts[0].back.link_rate *= 2;
    n->pair_verdicts[0].ceiling = 0; /* to be found again */
    text = link_text(xb_link_table_write, n);
    assert_has(text, "Pairs: 396.0 GB/s, 83 % of the 478 that 18 NVLinks carry.\n");
    free(text);
}

RUN_TEST(a_slow_nvlink_is_told_beside_the_others)
{
    struct node *n = *state;
    make_healthy(n);
    n->report.verbose = true;
    n->devices[0].attempts[0].health_after.nvlinks[4].rate = 12.5e9;
    char *text = link_text(xb_link_table_write, n);
    assert_has(text, "2 active, 1 inactive, each 12.50 to 26.56 GB/s each way\n");
    free(text);
}
