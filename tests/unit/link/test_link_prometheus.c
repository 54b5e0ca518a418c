/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"
#include "link_fixture.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "testing.h"

static const char *skip_name(const char *c)
{
    assert_true(isalpha((unsigned char)*c) || *c == '_');
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    return c;
}

static const char *skip_labels(const char *c)
{
    assert_int_equal(*c, '{');
    do {
        c = skip_name(c + 1);
        assert_memory_equal(c, "=\"", 2);
        for (c += 2; *c != '"'; c++) {
            assert_true((unsigned char)*c >= ' ');
            if (*c == '\\')
                assert_non_null(strchr("\\\"n", *++c));
        }
        c++;
    } while (*c == ',');
    assert_int_equal(*c, '}');
    return c + 1;
}

/* One line behind its family's HELP and TYPE: a sample. Nothing may stand behind the value. */
static void check_sample(const char *line, const char *family)
{
    const char *c = skip_name(line);
    assert_int_equal((size_t)(c - line), strlen(family));
    assert_memory_equal(line, family, strlen(family));
    if (*c == '{')
        c = skip_labels(c);
    assert_int_equal(*c++, ' ');
    char *end = NULL;
    assert_true(isfinite(strtod(c, &end)));
    assert_ptr_not_equal(c, end);
    assert_string_equal(end, "");
}

/* Whether the line's name and labels stand in one of the `count` lines. */
static bool is_repeated(char *const *lines, size_t count, const char *line)
{
    size_t length = (size_t)(strrchr(line, ' ') - line) + 1;
    for (size_t i = 0; i < count; i++)
        if (strncmp(lines[i], line, length) == 0)
            return true;
    return false;
}

#define LINES 512

static void check_prometheus(char *text)
{
    char *lines[LINES];
    size_t count = 0;
    char family[128] = "";
    char *rest = NULL;
    assert_true(is_utf8(text));
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < LINES);
        assert_false(is_repeated(lines, count, line)); /* a family begins once */
        lines[count++] = line;
        if (strncmp(line, "# HELP ", 7) == 0) {
            const char *end = skip_name(line + 7);
            snprintf(family, sizeof family, "%.*s", (int)(end - line - 7), line + 7);
            assert_true(end[0] == ' ' && end[1] > ' ');
            for (size_t i = 0; i + 1 < count; i++)
                assert_false(strncmp(lines[i], line, (size_t)(end - line) + 1) == 0);
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            char type[160];
            snprintf(type, sizeof type, "# TYPE %s gauge", family);
            assert_string_equal(line, type);
            assert_memory_equal(lines[count - 2], "# HELP ", 7);
        } else {
            check_sample(line, family);
        }
    }
}

RUN_TEST(prometheus_of_two_gpus)
{
    struct node *n = *state;
    time_t before = time(NULL);
    make_critical(n);
    char *text = link_text(xb_link_prometheus_write, n);
    assert_has(text,
               "\nxferbench_link_status{gpu=\"0\",pci=\"0000:0f:00.0\",name=\"NVIDIA H200\"} 0\n"
               "xferbench_link_status{gpu=\"1\",pci=\"0000:1f:00.0\",name=\"NVIDIA H200\"} 2\n");
    assert_has(text, "\nxferbench_link_node_status 2\n");
#define GPU1 "{gpu=\"1\",pci=\"0000:1f:00.0\""
    assert_has(text, "\nxferbench_link_reason" GPU1 ",code=\"XB-LINK-WIDTH\"} 1\n"
                     "xferbench_link_reason" GPU1 ",code=\"XB-AER-CORRECTABLE\"} 1\n# ");
    assert_has(text, "\nxferbench_link_bandwidth_bytes_per_second" GPU1
                     ",direction=\"h2d\"} 27100000000\n");
    assert_has(text, "\nxferbench_link_bandwidth_bytes_per_second" GPU1
                     ",direction=\"d2h\"} 26900000000\n");
    assert_has(text, "\nxferbench_link_ceiling_bytes_per_second" GPU1
                     ",direction=\"h2d\"} 29050000000\n");
    assert_has(text, "\nxferbench_link_ceiling_bytes_per_second" GPU1
                     ",direction=\"d2h\"} 28700000000\n");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"h2d\",level=\"warning\"} 26145000000\n");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"h2d\",level=\"critical\"} 23240000000\n");
    assert_lacks(text, GPU1 ",direction=\"d2h\",level=\"warning\"}");
    assert_has(text, "\nxferbench_link_limit_bytes_per_second" GPU1
                     ",direction=\"d2h\",level=\"critical\"} 48000000000\n");
    assert_has(text, "\nxferbench_link_width_lanes" GPU1 "} 8\n");
    assert_has(text, "\nxferbench_link_speed_transfers_per_second" GPU1 "} 32000000000\n");
    assert_has(text, "\nxferbench_link_aer_errors" GPU1
                     ",hop=\"0\",end=\"lower\",port=\"0000:1f:00.0\",severity=\"nonfatal\"} 1\n");
    assert_has(text,
               "\nxferbench_link_aer_errors" GPU1
               ",hop=\"0\",end=\"upper\",port=\"0000:1e:00.0\",severity=\"correctable\"} 3\n");
    assert_has(text, "\nxferbench_link_replays" GPU1 "} 4\n");
    assert_has(text, "\nxferbench_link_pcie_events" GPU1 ",kind=\"naks_received\"} 4\n");
    assert_has(text, "\nxferbench_link_pcie_events" GPU1 ",kind=\"retrains\"} 0\n");
    assert_has(text, "\nxferbench_link_pcie_events_since_boot" GPU1 ",kind=\"retrains\"} 486\n");
    assert_lacks(text, "kind=\"fatal\"");
    assert_has(text, "\nxferbench_link_nvlink_events" GPU1 ",link=\"4\",kind=\"recoveries\"} 1\n");
    assert_has(text, "\nxferbench_link_nvlink_events" GPU1 ",link=\"0\",kind=\"crc_errors\"} 2\n");
    assert_lacks(text, "link=\"5\"");
    assert_lacks(text, "failed_recoveries");
    const char *stamp = strstr(text, "\nxferbench_link_test_timestamp_seconds ");
    assert_non_null(stamp);
    double at = strtod(strrchr(strtok(strdupa(stamp + 1), "\n"), ' '), NULL);
    assert_true(at >= (double)before && at <= (double)time(NULL));
    free(text);
}

RUN_TEST(prometheus_leaves_out_what_is_not_known)
{
    static const char *const always[] = {"xferbench_link_node_status",
                                         "xferbench_link_test_timestamp_seconds"};
    struct node *n = *state;
    make_vm(n);
    char *text = link_text(xb_link_prometheus_write, n);
    assert_lacks(text, "aer_errors");
    assert_lacks(text, "replays");
    assert_lacks(text, "nvlink");
    assert_lacks(text, "pcie_events");
    assert_lacks(text, "reason");
    assert_has(text, "ceiling");
    free(text);
    make_nothing(n);
    text = link_text(xb_link_prometheus_write, n);
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 6);
    for (size_t i = 0; i < 2; i++)
        assert_has(text, always[i]);
    assert_has(text, "\nxferbench_link_node_status 3\n");
    free(text);
}

RUN_TEST(prometheus_of_pairs)
{
#define PAIR "{gpu=\"1\",pci=\"0000:1f:00.0\",peer=\"0\""
    struct node *n = *state;
    make_peers(n);
    char *text = link_text(xb_link_prometheus_write, n);
    assert_has(text, "\nxferbench_link_peer_status" PAIR "} 1\n");
    assert_has(text, "\nxferbench_link_peer_reason" PAIR ",code=\"XB-BW-PEER\"} 1\n");
    assert_has(text, "\nxferbench_link_peer_bandwidth_bytes_per_second" PAIR "} 331500000000\n");
    assert_has(text, "\nxferbench_link_peer_ceiling_bytes_per_second" PAIR "} 478116000000\n");
    assert_has(text, "\nxferbench_link_peer_limit_bytes_per_second" PAIR
                     ",level=\"warning\"} 358600000000\n");
    assert_has(text, "\nxferbench_link_peer_limit_bytes_per_second" PAIR
                     ",level=\"critical\"} 239100000000\n");
    assert_has(text, "\nxferbench_link_peer_links" PAIR ",link=\"NVLink\"} 18\n");
    free(text);
    n->report.pair_count = 0;
    text = link_text(xb_link_prometheus_write, n);
    assert_lacks(text, "_peer_");
    free(text);
}

RUN_TEST(prometheus_escapes_labels)
{
    struct node *n = *state;
    make_healthy(n);
    snprintf(n->devices[0].info.name, sizeof n->devices[0].info.name,
             "a\"b\\c\nd\xff\xc2\xae\r\x7f\xc2\x9b\xe2\x80\xae");
    char *text = link_text(xb_link_prometheus_write, n);
    assert_has(text, ",name=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\xc2\xae    \"} 0\n");
    free(text);
}

RUN_TEST(prometheus_keeps_its_grammar)
{
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(link_setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = link_text(xb_link_prometheus_write, n);
        check_prometheus(text);
        free(text);
        link_teardown(&made);
    }
}
