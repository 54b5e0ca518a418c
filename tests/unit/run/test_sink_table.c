/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- the table ---- */

RUN_TEST(table_is_plain_and_narrow)
{
    struct fixture *f = *state;
    f->results[ROW_FEW].test.bytes = 1048577; /* too wide for two blanks between columns */
    char *reason = f->results[ROW_ERROR].reason;
    for (size_t i = 0; i < sizeof f->results[0].reason - 1; i++)
        reason[i] = "words, \n"[i % 8];
    char *text = written(write_all, &f->run);
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
        width = *c == '\n' ? 0 : width + 1;
        assert_true(width <= 100);
    }
    free(text);
}

RUN_TEST(table_names_devices_and_links)
{
    struct fixture *f = *state;
    f->devices[1].link = (struct xb_pcie_link){true, 16, 8, 32, 16, "0000:0e:00.0"};
    strcpy(f->devices[1].info.pci_bdf, "0000:10:00.0");
    char *text = written(write_all, &f->run);
    assert_has(text, ", backend cuda, runtime 13.0, driver 580.159.04\n");
    assert_line(text, "GPU 0: NVIDIA H200, 0000:0f:00.0, 140.4 GiB, sm_90");
    assert_line(text,
                "  link     PCIe Gen5 x16, 63.0 GB/s raw each way (device and slot can do Gen5 "
                "x16)");
    assert_line(text, "  NUMA     bound to node 0, 16 CPUs");
    assert_has(text, "GPU 1: Test? ?, 0000:10:00.0");
    assert_has(text,
               "\n  link     PCIe Gen4 x8 at 0000:0e:00.0, 15.8 GB/s raw each way: BELOW the Gen5 "
               "x16 that the device\n           can do\n");
    assert_line(text, "  NUMA     NOT bound: the device names no node");
    free(text);
    f->devices[1].link = (struct xb_pcie_link){true, 8, 8, 8, 8, "0000:0e:00.0"};
    text = written(write_all, &f->run);
    assert_line(text, "  link     PCIe Gen3 x8 at 0000:0e:00.0, 7.9 GB/s raw each way (device and "
                      "slot can do Gen3 x8)");
    free(text);
}

RUN_TEST(table_tells_of_a_library_and_facts)
{
    struct fixture *f = *state;
    char *text = written(write_all, &f->run);
    assert_null(strstr(text, "  library  "));
    assert_null(strstr(text, "  facts    "));
    assert_null(strstr(text, "  memory   "));
    free(text);
    strcpy(f->run.probe.runtime_library, "/opt/rocm/lib/libamdhip64.so.6");
    xb_device_fact(&f->devices[0].info, "xnack", "%s", "off");
    xb_device_fact(&f->devices[0].info, "large_bar", "%s", "yes");
    f->devices[1].info.shares_host_memory = true;
    text = written(write_all, &f->run);
    assert_line(text, "  library  /opt/rocm/lib/libamdhip64.so.6");
    assert_line(text, "  facts    xnack off; large_bar yes");
    assert_line(
        text,
        "  memory   host memory only: both directions are copies by the CPU; no link is used");
    free(text);
    strcpy(f->run.probe.runtime_override, "SOME_VARIABLE");
    text = written(write_all, &f->run);
    assert_line(text, "  library  /opt/rocm/lib/libamdhip64.so.6, NAMED BY SOME_VARIABLE");
    free(text);
}

/* Where host and device share their memory nothing crosses the link, however well it is known. */
RUN_TEST(table_has_no_share_of_a_link_that_nothing_crossed)
{
    struct fixture *f = *state;
    char *text = written(write_all, &f->run);
    assert_has(text, "of the raw rate");
    free(text);
    f->devices[0].info.shares_host_memory = true;
    text = written(write_all, &f->run);
    assert_null(strstr(text, "of the raw rate"));
    free(text);
}

RUN_TEST(table_without_a_link)
{
    struct fixture *f = *state;
    f->devices[0].link.known = false;
    char *text = written(write_all, &f->run);
    assert_line(text, "  link     not known");
    assert_line(text, "  link     none: not a PCI device");
    free(text);
}

RUN_TEST(table_with_a_link_of_unknown_rate)
{
    struct fixture *f = *state;
    f->devices[0].link = (struct xb_pcie_link){true, 64, 16, 64, 16, ""};
    char *text = written(write_all, &f->run);
    assert_line(text, "  link     PCIe Gen6 x16 (device and slot can do Gen6 x16)");
    free(text);
    f->devices[0].link = (struct xb_pcie_link){true, 12.5, 16, 12.5, 16, ""};
    text = written(write_all, &f->run);
    assert_line(text, "  link     PCIe 12.5 GT/s x16 (device and slot can do 12.5 GT/s x16)");
    free(text);
}

/* 54.77 of 63.02 GB/s; the small, skipped and unverified rows say nothing of a link. */
RUN_TEST(table_reads_the_link)
{
    struct fixture *f = *state;
    f->devices[1].link = f->devices[0].link;
    char *text = written(write_all, &f->run);
    assert_has(text, "  link         GPU 0, 1 GiB: The link gives 86.9 % of the raw rate");
    assert_null(strstr(text, "% back"));
    assert_null(strstr(text, "GPU 1, 1 GiB: The"));
    free(text);
    f->results[ROW_FEW].test.bytes = GIB; /* its 3 samples are of a larger copy now */
    f->results[ROW_FEW].bytes_moved = GIB;
    f->results[ROW_FEW].device_timer = true;
    set_bandwidth(&f->results[ROW_FEW], 0.5 * 63.0154);
    text = written(write_all, &f->run);
    assert_has(text, " to the GPU and 50.0 %");
    free(text);
    f->devices[0].link.known = false;
    text = written(write_all, &f->run);
    assert_null(strstr(text, "  link         "));
    free(text);
}

/* One way 54.77 of 58.08 GB/s; of both at once each by its own ceiling; no column without any. */
RUN_TEST(table_shows_shares_of_the_ceiling)
{
    struct fixture *f = *state;
    char *text = written(write_all, &f->run);
    assert_null(strstr(text, "OF LINK"));
    free(text);
    set_ceiling(&f->devices[0]);
    text = written(write_all, &f->run);
    assert_row(text,
               "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX OF LINK SUBMIT DONE N OK");
    assert_row(
        text, "pinned alloc h2d 1 GiB 0 54.77 54.53-55.02 3.58 55.35 94.3% 3.33 us 21.5 ms 20 yes");
    assert_row(text, "async alloc d2h 64 KiB 0 7.702 - 7.695 7.710 - 3.30 us 9.36 us 3 yes");
    free(text);
    struct xb_result *both = &f->results[ROW_OK];
    both->test.direction = XB_BIDIR;
    set_computed(both, &xb_figure_bandwidth_h2d, 29.04e9);
    set_computed(both, &xb_figure_bandwidth_d2h, 43.09e9);
    text = written(write_all, &f->run);
    assert_row(text, "pinned alloc bidir 1 GiB 0 54.77 54.53-55.02 3.58 55.35 50.0+75.0% 3.33 us "
                     "20 yes");
    assert_row(text, "Not shown in 100 columns: DONE. JSON and CSV have all.");
    free(text);
}

RUN_TEST(table_shows_each_row)
{
    struct fixture *f = *state;
    char *text = written(write_all, &f->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text,
               "pinned alloc h2d 1 GiB 0 54.77 54.53-55.02 3.58 55.35 3.33 us 21.5 ms 20 yes");
    assert_row(text, "async alloc d2h 64 KiB 0 7.702 - 7.695 7.710 3.30 us 9.36 us 3 yes");
    assert_row(text, "pinned write-combined h2d 1 GiB 0 skipped - - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 0 ERROR - - - - - - -");
    assert_row(text, "pinned alloc h2d 1 GiB 1 ERROR - - - - - 8 NO");
    free(text);
    f->run.device_count = 1;
    f->run.case_count = ROW_UNVERIFIED; /* that one is of another device */
    text = written(write_all, &f->run);
    assert_row(text, "MODE VARIANT DIR SIZE GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text, "pinned write-combined h2d 1 GiB skipped - - - - - - -");
    free(text);
}

RUN_TEST(table_tells_reasons_and_warnings_once)
{
    struct fixture *f = *state;
    set_reason(&f->results[ROW_UNVERIFIED], f->results[ROW_ERROR].reason);
    char *text = written(write_all, &f->run);
    assert_line(text, "Notes");
    assert_has(text, "  skipped  pinned write-combined h2d 1 GiB GPU 0: a \"quoted\", comma ");
    assert_line(text, "  ERROR    pinned alloc h2d 1 GiB GPU 0 and 1 more row: the copy failed");
    assert_line(text, "  warning  pinned alloc h2d 1 GiB GPU 0 and 1 more row: clocks moved");
    assert_has(text, "  warning  async alloc d2h 64 KiB GPU 0: a \"quoted\", comma ");
    assert_null(strstr(strstr(text, "clocks moved") + 1, "clocks moved"));
    assert_null(strstr(text, "STOPPED"));
    free(text);
}

RUN_TEST(table_says_that_it_was_interrupted)
{
    struct fixture *f = *state;
    f->run.interrupted = true;
    char *text = written(write_all, &f->run);
    assert_line(text, "  STOPPED  interrupted by a signal: 2 of 5 cases were measured");
    free(text);
}

/* They are counted in a note and have no rows, whether a signal or the deadline kept them. */
NODE_TEST(table_counts_what_was_not_run)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55);
    for (size_t i = 0; i < 3; i++) {
        struct xb_result *cut = add(n, &async, "alloc", i == 0 ? XB_D2H : XB_H2D, 54);
        spoil(cut, XB_RESULT_SKIPPED, "interrupted before it began");
        cut->stop_reason = i == 1 ? XB_STOP_DEADLINE : XB_STOP_INTERRUPTED;
        cut->test.bytes = MIB << i;
    }
    n->run.interrupted = true;
    char *text = body(&n->run);
    assert_line(text, "  STOPPED  interrupted by a signal: 1 of 4 cases were measured, 3 not run");
    assert_has(text, "pinned");
    assert_lacks(text, "async");
    assert_lacks(text, "skipped");
    free(text);
    spoil(&n->results[0], XB_RESULT_SKIPPED, "interrupted before it began");
    n->results[0].stop_reason = XB_STOP_INTERRUPTED;
    text = body(&n->run);
    assert_line(text, "Nothing was measured.");
    assert_lacks(text, "MODE");
    free(text);
}

RUN_TEST(table_without_notes_ends_with_its_rows)
{
    struct fixture *f = *state;
    f->run.case_count = 1;
    f->results[0].row.warning_count = 0;
    f->devices[0].link.known = false; /* nothing to read from it either */
    char *text = written(write_all, &f->run);
    assert_has(text, "h2d  1 GiB    0  54.77"); /* two blanks between columns: there is room */
    assert_null(strstr(text, "Notes"));
    assert_string_equal(text + strlen(text) - 4, "yes\n");
    free(text);
}

RUN_TEST(table_shows_four_digits_of_any_rate)
{
    static const struct {
        double bandwidth;
        const char *cell;
    } rates[] = {{394.06e9, " 394.1 "},
                 {1234.5e9, " 1234 "},
                 {0.60666e9, " 0.6067 "},
                 {12345, " 0.00001234 "}};
    struct fixture *f = *state;
    f->run.case_count = 1;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        set_bandwidth(&f->results[0], rates[i].bandwidth / 1e9);
        char *text = written(write_all, &f->run);
        assert_has(text, rates[i].cell);
        free(text);
    }
}

/* ---- tables of more than one copy ---- */

NODE_TEST(table_says_that_the_deadline_came)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55);
    spoil(add(n, &pinned, "alloc", XB_D2H, 55), XB_RESULT_SKIPPED, "the deadline came");
    n->run.deadline = 3;
    n->run.deadline_met = false;
    char *text = body(&n->run);
    assert_has(text, "  STOPPED  the deadline came: 1 of 2 cases were measured\n");
    free(text);
    n->run.deadline_met = true;
    text = body(&n->run);
    assert_lacks(text, "STOPPED");
    free(text);
    n->run.deadline = 0;
    n->run.deadline_met = false;
    text = body(&n->run);
    assert_lacks(text, "STOPPED");
    free(text);
}

/* ---- parameters ---- */

static const struct xb_record_fact small[] = {{.name = "chunk", .value = "1048576"},
                                              {.name = "streams", .value = "2"}};
static const struct xb_record_fact large[] = {{.name = "chunk", .value = "8388608"},
                                              {.name = "streams", .value = "2"}};

static void set_parameters(struct xb_record_case *test, const struct xb_record_fact *parameters,
                           size_t count)
{
    test->parameters = parameters;
    test->parameter_count = count;
}

/* One that rows of a mode differ in is a column; what is the same in all of them tells nothing. */
NODE_TEST(table_shows_parameters_that_differ)
{
    struct node *n = *state;
    struct xb_record record;
    add(n, &async, "alloc", XB_H2D, 50);
    add(n, &pinned, "alloc", XB_H2D, 55);
    spoil(add(n, &async, "alloc", XB_H2D, 52), XB_RESULT_ERROR, "wrong");
    record_of(&n->run, &record);
    set_parameters(&record.cases[0], small, 2);
    set_parameters(&record.cases[2], large, 2);
    char *text = body_of(written_record(write_all, &record));
    assert_row(text,
               "MODE VARIANT DIR SIZE CHUNK GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text, "async alloc h2d 256 MiB 1 MiB 50.00 50.00-50.00 50.00 50.00 5.00 us 5.00 ms "
                     "7 yes");
    assert_row(text, "pinned alloc h2d 256 MiB - 55.00 55.00-55.00 55.00 55.00 5.00 us 5.00 ms 7 "
                     "yes");
    assert_row(text, "async alloc h2d 256 MiB 8 MiB ERROR - - - - - 7 NO");
    assert_has(text, "  ERROR    async alloc h2d 256 MiB chunk 8 MiB: wrong\n");
    assert_narrow(text);
    free(text);
    set_parameters(&record.cases[0], large, 2); /* as it is by default */
    set_parameters(&record.cases[2], small, 2);
    record.cases[2].mode = "unheard-of"; /* the only one of its mode: nothing to tell apart */
    text = body_of(written_record(write_all, &record));
    assert_lacks(text, "CHUNK");
    assert_has(text, "  ERROR    unheard-of alloc h2d 256 MiB: wrong\n");
    free(text);
    record.cases[0].mode = "unheard-of"; /* nobody says that its chunk is a size */
    text = body_of(written_record(write_all, &record));
    assert_has(text, "  ERROR    unheard-of alloc h2d 256 MiB chunk 1048576: wrong\n");
    free(text);
    xb_record_free(&record);
}

/* Of a list the first by default goes without saying, and any other number is shown. */
NODE_TEST(table_shows_numbers_of_lists)
{
    static const struct xb_record_fact usual[] = {{.name = "device-offset", .value = "0"},
                                                  {.name = "host-offset", .value = "0"}};
    static const struct xb_record_fact other[] = {{.name = "device-offset", .value = "0"},
                                                  {.name = "host-offset", .value = "65536"}};
    struct node *n = *state;
    struct xb_record record;
    add(n, &pinned, "alloc", XB_H2D, 50);
    spoil(add(n, &pinned, "alloc", XB_H2D, 52), XB_RESULT_ERROR, "wrong");
    record_of(&n->run, &record);
    for (size_t i = 0; i < 2; i++)
        set_parameters(&record.cases[i], usual, 2);
    char *text = body_of(written_record(write_all, &record));
    assert_lacks(text, "OFFSET");
    free(text);
    set_parameters(&record.cases[1], other, 2);
    text = body_of(written_record(write_all, &record));
    assert_row(text, "MODE VARIANT DIR SIZE HOST-OFFSET GB/s 95% INTERVAL MIN MAX SUBMIT DONE N "
                     "VERIFIED");
    assert_row(text, "pinned alloc h2d 256 MiB 0 50.00 50.00-50.00 50.00 50.00 5.00 us 5.00 ms 7 "
                     "yes");
    assert_has(text, "  ERROR    pinned alloc h2d 256 MiB host-offset 64 KiB: wrong\n");
    free(text);
    set_parameters(&record.cases[0], other, 2); /* none differs, and yet it is not the usual case */
    text = body_of(written_record(write_all, &record));
    assert_has(text, "HOST-OFFSET");
    free(text);
    xb_record_free(&record);
}

/* Pairs that differ in one have a matrix each. */
NODE_TEST(matrices_differ_in_parameters)
{
    struct node *n = *state;
    struct xb_record record;
    n->run.device_count = 2;
    add_pair(n, "staged", XB_D2D, 0, 1, 37);
    add_pair(n, "staged", XB_D2D, 0, 1, 39);
    add_pair(n, "direct-read", XB_D2D, 0, 1, 390);
    record_of(&n->run, &record);
    set_parameters(&record.cases[0], small, 1);
    set_parameters(&record.cases[1], large, 1);
    char *text = body_of(written_record(write_all, &record));
    assert_has(
        text,
        "peer, through the host, one way, 256 MiB, chunk 1 MiB, GB/s (rows: from, columns: to)\n"
        "            0      1\n"
        "     0      -  37.00\n");
    assert_has(
        text,
        "peer, through the host, one way, 256 MiB, chunk 8 MiB, GB/s (rows: from, columns: to)\n"
        "            0      1\n"
        "     0      -  39.00\n");
    assert_has(text, "peer, direct read, one way, 256 MiB, GB/s (rows: from, columns: to)\n");
    free(text);
    xb_record_free(&record);
}

/* Of a file: another version's, and without what it does not say. */
NODE_TEST(table_of_a_record_that_says_little)
{
    struct node *n = *state;
    struct xb_record record;
    add(n, &pinned, "alloc", XB_H2D, 55);
    record_of(&n->run, &record);
    record.version = "9.8.7";
    record.runtime = record.driver = NULL;
    record.host.hostname = record.host.node = NULL;
    record.processes[0].devices[0].memory_bytes = 0;
    record.processes[0].devices[0].numa_note = NULL;
    char *text = written_record(write_all, &record);
    assert_has(text, "xferbench 9.8.7, backend cuda\n\nGPU 0: H200\n  link     none: not a PCI "
                     "device\n\nPinned allocated: 55.0 GB/s to the GPU.\nMODE ");
    free(text);
    xb_record_free(&record);
}

NODE_TEST(table_has_room_for_some_warnings)
{
    struct node *n = *state;
    for (size_t i = 0; i < 5; i++) {
        struct xb_result *row = add(n, &pinned, "alloc", XB_H2D, 55);
        for (size_t j = 0; j < XB_RESULT_WARNINGS; j++)
            xb_result_warn(row, "kind%zu", XB_RESULT_WARNINGS * i + j);
    }
    char *text = body(&n->run);
    assert_has(text, ": kind31\n");
    assert_lacks(text, ": kind32\n");
    assert_has(text, "  warning  there are more: the JSON has all\n");
    free(text);
}

static int set_locale(NO_STATE)
{
    return setenv("LC_ALL", "C", 1);
}
GROUP(set_locale, NULL)
