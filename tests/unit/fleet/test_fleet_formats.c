/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "fleet_told_fixture.h"
#include "schema_check.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct fleet_made made;

/* ---- all formats ---- */

TEST(formats_report_a_full_disk)
{
    make_outliers(&made);
    for (size_t i = 0; i < FORMATS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(formats[i].write(full, &made.judgement, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

/* No byte of a document reaches a terminal or a log that could be a command there. */
TEST(hostile_texts_become_harmless)
{
    make_nasty(&made);
    for (size_t i = 0; i < FORMATS; i++) {
        char *text = written(formats[i].write, &made);
        for (const char *c = text; *c != '\0';) {
            size_t length = xb_utf8_length(c);
            assert_int_not_equal(length, 0);
            assert_true((unsigned char)*c >= ' ' || *c == '\n' ||
                        (*c == '\r' && strcmp(formats[i].name, "csv") == 0) ||
                        (*c == '\t' && strcmp(formats[i].name, "json") == 0));
            c += length;
        }
    }
}

/* ---- CSV ---- */

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

TEST(csv_has_a_line_a_finding)
{
    make_outliers(&made);
    char *text = written(xb_fleet_csv_write, &made);
    assert_int_equal(count_lines(text), 6);
    assert_has(text, "node,code,gpu,pci,uuid,peer,model,figure,unit,value,median,deviation,spreads,"
                     "p,text,backend,link,driver,options,together,unsure,is_to_drain\r\n");
    assert_has(text, "\r\ngpu099,missing,,,,,,,,,,,,,no result file,,,,,false,false,"
                     "true\r\n");
    assert_has(text, "\r\ngpu003,slow,2,0000:11:00.0,GPU-00000000-0000-0000-0000-000000000002,,"
                     "NVIDIA H200,link h2d,B/s,27720000000,55440000000,-0.5,");
    assert_has(text, "\r\ngpu008,slow,7,0000:16:00.0,GPU-00000000-0000-0000-0000-000000000007,3,");
    make_nasty(&made);
    text = written(xb_fleet_csv_write, &made);
    assert_int_equal(count_lines(text), 6);
    assert_has(text, "\r\n\"a \"\"q\"\" | 'b', `c` $(d) \\ <e>;\\nsecond\\r\\tline \\x1B[31m:");
    make_alike(&made);
    text = written(xb_fleet_csv_write, &made);
    assert_int_equal(count_lines(text), 1);
}

/* ---- Prometheus ---- */

TEST(prometheus_counts_and_names)
{
    make_outliers(&made);
    char *text = written(xb_fleet_prometheus_write, &made);
    assert_has(text, "# TYPE xferbench_fleet_nodes gauge\nxferbench_fleet_nodes 40\n");
    assert_has(text, "\nxferbench_fleet_gpus 40\n");
    assert_has(text, "\nxferbench_fleet_missing_nodes 1\n");
    assert_has(text, "\nxferbench_fleet_left_out_documents 1\n");
    assert_has(text, "\nxferbench_fleet_status 1\n");
    assert_has(text, "\nxferbench_fleet_findings{code=\"slow\"} 2\n");
    assert_has(text, "\nxferbench_fleet_findings{code=\"wrong-data\"} 0\n");
    assert_has(text, "\nxferbench_fleet_finding{node=\"gpu099\",code=\"missing\"} 1\n");
#define SLOW                                                                                       \
    "{node=\"gpu003\",code=\"slow\",gpu=\"2\",pci=\"0000:11:00.0\",uuid=\"GPU-00000000-0000-0000-" \
    "0000-000000000002\",figure=\"link h2d\",options=\"size=268435456\"}"
    assert_has(text, "\nxferbench_fleet_finding" SLOW " 1\n");
    assert_has(text, "\nxferbench_fleet_deviation_ratio" SLOW " -0.5\n");
}

/* A node may have failed in several cases, but a sample may not appear twice. */
TEST(prometheus_has_no_sample_twice)
{
    make_outliers(&made);
    made.findings[0] = made.findings[1];
    made.findings[4] = made.findings[2];
    made.findings[4].deviation = -0.1;
    char *text = written(xb_fleet_prometheus_write, &made);
    const char *failed = strstr(text, "code=\"failed\",");
    assert_non_null(failed);
    assert_null(strstr(failed + 1, "code=\"failed\","));
    assert_has(text, "\nxferbench_fleet_deviation_ratio" SLOW " -0.5\n"); /* the worst */
    assert_lacks(text, " -0.1\n");
}

/* ---- the node list ---- */

TEST(the_node_list_has_what_is_to_drain)
{
    static const struct {
        void (*make)(struct fleet_made *made);
        const char *list;
    } lists[] = {
        {make_alike, ""},
        {make_outliers, "gpu[003,005,008,099]\n"},
        {make_many, "gpu[001-040]\n"},
        {make_mild, ""},
        {make_nothing, ""},
        {make_few, ""},
        {make_nasty, "gpu003\n"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        lists[i].make(&made);
        char *text = written(xb_fleet_nodelist_write, &made);
        assert_string_equal(text, lists[i].list);
    }
}

/* ---- JSON ---- */

TEST(json_has_all_of_the_judgement)
{
    make_outliers(&made);
    char *text = written(xb_fleet_json_write, &made);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    assert_text_at(root, "schema", "xferbench.fleet");
    assert_number_at(root, "alpha", 0.01);
    assert_number_at(root, "expected_nodes", NODES);
    assert_number_at(root, "exit_code", 1);
    assert_number_at(root, "duplicates", 2);
    assert_text_at(root, "findings.0.code", "missing");
    assert_null_at(root, "findings.0.gpu");
    assert_null_at(root, "findings.0.value");
    assert_text_at(root, "findings.2.gpu.uuid", "GPU-00000000-0000-0000-0000-000000000002");
    assert_number_at(root, "findings.2.deviation", -0.5);
    assert_number_at(root, "findings.2.siblings", 0);
    assert_number_at(root, "findings.3.peer", 3);
    assert_true(cJSON_IsFalse(at(root, "findings.4.is_to_drain")));
    assert_text_at(root, "siblings.1.figure.link", "NVLink x18");
    assert_true(cJSON_IsTrue(at(root, "siblings.1.spread_is_floor")));
    assert_null_at(root, "siblings.2.named_from");
    assert_number_at(root, "siblings.0.histogram.counts.20", 20);
    assert_text_at(root, "left_out.0.why", "is no JSON");
    assert_number_at(root, "sources.39.number", 40);
    assert_null_at(root, "sources.0.late_s");
    cJSON_Delete(root);
}

static enum xb_status write_json(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_fleet_json_write(stream, what, error);
}

TEST(json_without_memory_writes_nothing)
{
    make_alike(&made);
    made.fleet.source_count = 1;
    made.judgement.sibling_count = 1;
    assert_true(fail_every_allocation(write_json, &made.judgement) > 1);
}

TEST(the_schema_describes_what_the_tables_write)
{
    static const char schema[] = "fleet.schema.json";
    assert_schema_describes(schema, NULL, xb_fleet_fields);
    assert_schema_describes(schema, "properties/findings/items", xb_fleet_finding_fields);
    assert_schema_describes(schema, "properties/findings/items/properties/gpu",
                            xb_fleet_gpu_fields);
    assert_schema_describes(schema, "properties/siblings/items", xb_fleet_siblings_fields);
    assert_schema_describes(schema, "properties/siblings/items/properties/figure",
                            xb_fleet_figure_fields);
}

/* `test_fleet_formats DIRECTORY` writes every kind of judgement in every format, as KIND.FORMAT: to
 * be held against the schema, to be checked by others' tools, and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * FORMATS; i++) {
        char path[512];
        struct xb_error error;
        kinds[i / FORMATS].make(&made);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / FORMATS].name,
                 formats[i % FORMATS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= formats[i % FORMATS].write(file, &made.judgement, &error) != XB_OK;
        failed |= fclose(file) != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    return argc == 2 ? write_examples(argv[1]) : run_topic("fleet_formats");
}
