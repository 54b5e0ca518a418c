/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* A report that was read back is told as it was when it was made. */
#include "checks.h"
#include "document_fixture.h"
#include "link/report.h"
#include "rows.h"
#include "schema_check.h"

#include <cjson/cJSON.h>
#include <glob.h>
#include <limits.h>
#include <math.h>

/* ---- reading ---- */

static struct xb_link_file file; /* large */

static enum xb_status read_text(const char *path, const char *text, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *tree = xb_json_read(&reader, text, strlen(text));
    *error = reader.error;
    enum xb_status status =
        tree != NULL ? xb_link_report_of_tree(path, tree, &file, error) : error->status;
    cJSON_Delete(tree);
    return status;
}

/* XB_OK, or XB_ERR_USAGE with what is wrong in *error. */
static enum xb_status parse(const char *text, struct xb_error *error)
{
    *error = (struct xb_error){.message = ""};
    enum xb_status status = read_text("f.json", text, error);
    assert_true(status == XB_OK || status == XB_ERR_USAGE);
    return status;
}

/* Leaves what was read of it in `file`; takes the tree. */
static void keep_tree(cJSON *tree)
{
    struct xb_error error;
    char *text = cJSON_PrintUnformatted(tree);
    if (parse(text, &error) != XB_OK)
        fail_msg("%s", error.message);
    cJSON_free(text);
    cJSON_Delete(tree);
}

static char *told(xb_link_writer *write, const struct xb_link_report *report)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, report, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

/* What is the time is no part of the report. */
static void drop_time(char *text)
{
    char *stamp = strstr(text, "\nxferbench_link_test_timestamp_seconds ");
    if (stamp != NULL)
        memset(stamp + 1, '0', strcspn(stamp + 1, "\n"));
}

/* Numbers that no JSON has, counts as great as they may be, and texts that break formats. */
static void spoil(struct xb_link_report *report)
{
    static const char nasty[] = "a \"q\" | 'b' `c` $(d) \\ <e>;\nline \xff\xc0 end \xe2\x82";
    for (size_t i = 0; i < report->device_count; i++) {
        struct xb_link_attempt *attempt = &report->devices[i].attempts[0];
        struct xb_verdict *verdict = &report->verdicts[i];
        strcpy(report->devices[i].info.name, nasty);
        strcpy(attempt->failure, nasty);
        strcpy(attempt->conditions[0].clocks.throttle, nasty);
        memset(attempt->at_rest.local_cpus, '1', sizeof attempt->at_rest.local_cpus - 1);
        attempt->data_wrong = attempt->load.gone = true;
        attempt->conditions[0].cpus_busy = attempt->conditions[1].mean = NAN;
        attempt->conditions[1].load_s = INFINITY;
        attempt->load.hops[0] = (struct xb_pcie_seen){UINT_MAX, 123.456, UINT_MAX, UINT_MAX, 0};
        attempt->at_rest.hops[0].lower.link.speed_gts = 1.23456e-7;
        attempt->after.hops[0].lower.aer.fatal = UINT64_MAX;
        attempt->rates[XB_TO_GPU] = NAN;
        attempt->rates[XB_BACK] = INFINITY;
        attempt->at_rest.hops[1] = attempt->after.hops[1] = attempt->at_rest.hops[0];
        attempt->at_rest.hops[1].on_package = true;
        attempt->load.hops[1] = (struct xb_pcie_seen){40, 16, 8, 2, 1};
        attempt->at_rest.count = attempt->after.count = attempt->load.count = 2;
        verdict->bottleneck = 1;
        report->devices[i].attempts[1] = *attempt;
        report->devices[i].attempts[1].rates[XB_TO_GPU] = 30e9;
        report->devices[i].attempt_count = 2;
        while (verdict->found.reason_count < XB_FINDINGS)
            xb_finding_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "%s", nasty);
        verdict->ceiling.known = i == 1;
        verdict->ways[XB_TO_GPU].measured = i == 1 ? 30e9 : 0;
        verdict->ways[XB_BACK].measured = 0;
        verdict->best = i;
        xb_link_facts_find(&report->devices[i], i, &verdict->facts);
    }
    for (size_t i = 0; i < report->pair_count; i++) {
        struct xb_pair_attempt *attempt = &report->pairs[i].attempts[0];
        strcpy(attempt->failure, nasty);
        attempt->data_wrong = true;
        attempt->bandwidth = NAN;
        report->pair_verdicts[i].bandwidth.measured = 0;
        attempt->there.links = attempt->back.links = UINT_MAX;
        attempt->there.link_rate = attempt->back.link_rate = i == 0 ? INFINITY : 1e300;
        report->pairs[i].attempts[1] = *attempt;
        report->pairs[i].attempts[1].bandwidth = 331e9;
        report->pairs[i].attempt_count = 2;
        xb_pair_verdict_observe(&report->pairs[i], i, &report->pair_verdicts[i]);
    }
}

/* What golden cases read back, and what no file has. */
TEST(formats_tell_what_they_told)
{
    static const char *const names[] = {"critical", "healthy", "nothing", "peers"};
    static xb_link_writer *const writers[] = {xb_link_table_write, xb_link_nagios_write,
                                              xb_link_nhc_write, xb_link_prometheus_write};
    static struct xb_link_file first; /* large */
    for (size_t i = 0; i < 2 * COUNT_OF(names); i++) {
        struct xb_error error;
        char name[32];
        snprintf(name, sizeof name, "link/%s", names[i / 2]);
        keep_tree(golden_base(name));
        first = file;
        if (i % 2 == 1)
            spoil(&first.report);
        char *json = told(xb_link_json_write, &first.report);
        if (parse(json, &error) != XB_OK)
            fail_msg("%s: %s", name, error.message);
        free(json);
        first.report.node = file.report.node; /* the written file has this machine's */
        first.report.hostname = file.report.hostname;
        first.report.verbose = file.report.verbose = true;
        for (size_t j = 0; j < COUNT_OF(writers); j++) {
            char *expected = told(writers[j], &first.report),
                 *text = told(writers[j], &file.report);
            drop_time(expected);
            drop_time(text);
            if (strcmp(text, expected) != 0)
                fail_msg("%s: read:\n%s\nwritten:\n%s", name, text, expected);
            free(expected);
            free(text);
        }
        xb_link_file_free(&file);
        xb_link_file_free(&first);
    }
}

static size_t judged_again;

static enum xb_status read_file(const char *path, struct xb_error *error)
{
    char *text = file_text(path);
    enum xb_status status = read_text(path, text, error);
    free(text);
    return status;
}

/* What was seen is all in the file: who judges it again says the same. Older files have no
 * evidence. */
static void judge_again(const char *path)
{
    static const struct xb_link_limits no_limits;
    for (size_t i = 0; i < file.report.device_count; i++) {
        const struct xb_link_device *device = &file.report.devices[i];
        const struct xb_findings *told = &file.report.verdicts[i].found;
        struct xb_verdict verdict;
        if (!(device->attempts[0].conditions[0].seconds > 0))
            continue;
        xb_verdict_of_device(device, &no_limits, &verdict);
        judged_again++;
        if (verdict.found.level != told->level || verdict.found.reason_count != told->reason_count)
            fail_msg("%s: %s", path, xb_level_name(verdict.found.level));
        for (size_t j = 0; j < told->reason_count; j++) {
            assert_string_equal(verdict.found.reasons[j].code, told->reasons[j].code);
            assert_string_equal(verdict.found.reasons[j].text, told->reasons[j].text);
        }
    }
}

TEST(reads_the_files_of_before)
{
    glob_t found;
    assert_int_equal(glob(RESULTS "/*/link-*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 5);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct xb_error error;
        if (read_file(found.gl_pathv[i], &error) != XB_OK)
            fail_msg("%s", error.message);
        file.report.verbose = true;
        char *text = told(xb_link_table_write, &file.report);
        assert_has(text, "\nxferbench 0.1.0, backend cuda, runtime ");
        assert_has(text, "\n  ceiling  to the GPU ");
        assert_has(text, " % of the ceiling; warning below ");
        char node[32];
        snprintf(node, sizeof node, ": %s: ", xb_level_name(file.report.level));
        assert_non_null(strstr(text, node));
        assert_true(strstr(text, node) < strchr(text, '\n'));
        judge_again(found.gl_pathv[i]);
        free(text);
        xb_link_file_free(&file);
    }
    globfree(&found);
    assert_true(judged_again >= 3);
}

TEST(the_schema_has_what_the_tables_have)
{
    static const char schema[] = "link.schema.json";
    assert_schema_describes(schema, NULL, xb_link_report_fields);
    assert_schema_describes(schema, "backend", xb_link_backend_fields);
    assert_schema_describes(schema, "device", xb_link_info_fields);
    assert_schema_describes(schema, "device", xb_link_device_fields);
    assert_schema_describes(schema, "verdict", xb_link_finding_fields);
    assert_schema_describes(schema, "verdict", xb_link_verdict_fields);
    assert_schema_describes(schema, "pair", xb_link_pair_fields);
    assert_schema_describes(schema, "pair_verdict", xb_link_finding_fields);
    assert_schema_describes(schema, "pair_verdict", xb_link_pair_verdict_fields);
}

/* ---- what is wrong ---- */

static enum xb_status parse_report(const cJSON *tree, struct xb_error *error)
{
    char *text = cJSON_PrintUnformatted(tree);
    enum xb_status status = parse(text, error);
    if (status == XB_OK)
        xb_link_file_free(&file);
    else
        assert_null(file.report.devices);
    cJSON_free(text);
    return status;
}

static void say_damaged(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    cJSON *tree = golden_base("link/peers");
    put(tree, row->part[0], row->part[1]);
    say_refused(said, parse_report(tree, &error), &error);
    cJSON_Delete(tree);
}
TEST_ROWS(names_what_is_wrong, say_damaged)

static void say_file(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    say_refused(said, parse(row->part[0], &error), &error);
}
TEST_ROWS(refuses_what_is_no_report, say_file)

TEST(reads_where)
{
    cJSON *tree = golden_base("link/healthy");
    put(tree, "host.hostname", "\"alias7\"");
    put(tree, "host.node", "\"gpu007\"");
    put(tree, "host.node_named_by", "\"SLURMD_NODENAME\"");
    put(tree, "timestamp", "\"2026-11-23T06:40:00Z\"");
    put(tree, "launcher", "{\"rank\":3,\"ranks\":4,\"named_by\":\"SLURM_PROCID\",\"later\":[]}");
    keep_tree(tree);
    assert_string_equal(file.report.hostname, "alias7");
    assert_string_equal(file.report.node, "gpu007");
    xb_link_file_free(&file);
}

TEST(reads_when_it_began)
{
    cJSON *tree = golden_base("link/healthy");
    put(tree, "start",
        "{\"asked\":\"2026-11-23T06:40:00.000000Z\",\"by\":\"barrier\","
        "\"began\":\"2026-11-23T06:40:00.250000Z\",\"late_s\":0.25,"
        "\"clock\":{\"synchronised\":true,\"error_s\":0.5}}");
    keep_tree(tree);
    const struct xb_start *start = file.report.start;
    assert_true(start->began - start->asked == 0.25);
    assert_true(start->clock.is_known && start->clock.is_synchronised);
    assert_true(start->clock.error_s == 0.5);
    char *text = told(xb_link_table_write, &file.report);
    assert_has(text, "\nWarning: this node began 250 ms after the agreed time\n");
    free(text);
    xb_link_file_free(&file);
}

TEST(survives_any_damage)
{
    /* What nothing is read of, or what early files lack. */
    static const char unread[] = "|environment|config|facts|compiler|build_type|elapsed_s|";
    static const char partly[] = "|tool|host|launcher|start|";
    cJSON *tree = golden_base("link/critical");
    cJSON_DeleteItemFromArray((cJSON *)at(tree, "devices"), 0); /* each item takes its time */
    assert_true(damage_below(tree, tree, parse_report, unread, partly) > 250);
    cJSON_Delete(tree);
    static const char *const places[] = {"pairs.1", "devices.1.peers"};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        tree = golden_base("link/peers");
        assert_true(damage_below(tree, (cJSON *)at(tree, places[i]), parse_report, unread, "|") >
                    40);
        cJSON_Delete(tree);
    }
}

/* Bytes that are no UTF-8 grow when they are written: what does not fit is left out. */
TEST(cuts_texts_between_characters)
{
    struct xb_error error;
    keep_tree(golden_base("link/healthy"));
    char *name = file.report.devices[0].info.name;
    memset(name, '\xff', sizeof file.report.devices[0].info.name - 1);
    char *json = told(xb_link_json_write, &file.report);
    xb_link_file_free(&file);
    assert_int_equal(parse(json, &error), XB_OK);
    name = file.report.devices[0].info.name;
    assert_int_equal(strlen(name), 126); /* 42 characters of 3 bytes */
    for (size_t i = 0; i < 126; i += 3)
        assert_memory_equal(name + i, "\xEF\xBF\xBD", 3);
    xb_link_file_free(&file);
    /* A file may have bytes that are no UTF-8 itself. */
    memset(strstr(json, "\xEF\xBF\xBD"), '\xff', 3);
    assert_int_equal(parse(json, &error), XB_OK);
    xb_link_file_free(&file);
    free(json);
}

static enum xb_status read_all(const char *text, struct xb_error *error)
{
    enum xb_status status = read_text("f.json", text, error);
    if (status == XB_OK)
        xb_link_file_free(&file);
    return status;
}

TEST(says_that_there_is_no_memory)
{
    cJSON *tree = golden_base("link/critical");
    char *json = cJSON_PrintUnformatted(tree);
    assert_true(lack_each_json_piece(json, read_all) > 300);
    cJSON_free(json);
    cJSON_Delete(tree);
}
