/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- one value that is wrong ---- */

enum kind {
    TEXT,           /* not empty */
    TEXT_OR_NULL,   /* but there */
    FLAG,           /* true or false */
    FLAG_OR_NULL,   /* or null, but there */
    WHOLE,          /* above 0 */
    INDEX,          /* from 0, or null */
    FROM_ZERO,      /* from 0 */
    NUMBER,         /* above 0 */
    OBJECT,         /* there */
    OBJECT_OR_NULL, /* but there */
    ARRAY,
    NUMBER_OR_NULL, /* from 0, or null, but there */
    WHOLE_OR_NULL,  /* from 0, or null, but there */
    TEXT_MAY_BE_EMPTY,
    TEXT_OR_NUMBER, /* or null, or not there */
    ARRAY_OR_NULL,  /* but there */
    CODE,           /* whole, also below 0 */
    COUNT,          /* from 0 */
    SAMPLE,         /* from 0; one of several */
    TIME,           /* above 0; one of several */
    TEXTS,          /* that are not empty; or not there */
    KINDS
};

/* What is wrong for each kind; "" takes the key away. */
#define MOST_BAD 16
static const char *const bad_values[KINDS][MOST_BAD] = {
    [TEXT] = {"", "null", "1", "true", "\"\"", "[]", "{}", "[\"pinned\"]"},
    [TEXT_OR_NULL] = {"", "1", "true", "\"\"", "[]", "{}"},
    [FLAG] = {"", "null", "1", "0", "\"true\"", "[]", "{}"},
    [FLAG_OR_NULL] = {"", "1", "0", "\"true\"", "[]", "{}"},
    [WHOLE] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-1", "0.5", "1.5", "1e300",
               "-1e300"},
    [INDEX] = {"", "\"1\"", "true", "[]", "{}", "-1", "0.5", "1024", "1e300", "-1e300"},
    [FROM_ZERO] = {"", "null", "\"1\"", "true", "[]", "{}", "-1", "0.5", "64", "1e300"},
    [NUMBER] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-0.0", "-1", "1e300",
                "-1e300"},
    [OBJECT] = {"", "null", "1", "\"x\"", "[]", "[{}]", "true"},
    [OBJECT_OR_NULL] = {"", "1", "\"x\"", "[]", "[{}]", "true"},
    [ARRAY] = {"", "null", "1", "\"x\"", "{}", "true"},
    [NUMBER_OR_NULL] = {"", "\"1\"", "true", "[]", "{}", "-1", "1e300", "-1e300"},
    [TEXT_MAY_BE_EMPTY] = {"", "null", "1", "true", "[]", "{}"},
    [TEXT_OR_NUMBER] = {"true", "[]", "{}", "[1]"},
    [ARRAY_OR_NULL] = {"", "1", "\"x\"", "{}", "true"},
    [TEXTS] = {"null", "1", "\"x\"", "{}", "true", "[1]", "[null]", "[\"\"]"},
    [CODE] = {"", "null", "\"1\"", "true", "[]", "{}", "0.5", "1e300", "-1e300"},
    [COUNT] = {"", "null", "\"1\"", "true", "[]", "{}", "-1", "0.5", "1e300"},
    [SAMPLE] = {"null", "\"1\"", "true", "[]", "{}", "-1", "1e300"},
    [TIME] = {"null", "\"1\"", "true", "[]", "{}", "0", "-1", "1e300"},
    [WHOLE_OR_NULL] = {"", "\"1\"", "true", "[]", "{}", "-1", "0.5", "1e300"},
};

struct field {
    const char *where;
    enum kind kind;
    const char *also; /* wrong as well; NULL for none */
};

static const struct field fields[] = {
    {"schema", TEXT, "\"xferbench.link\""},
    {"schema_version", WHOLE, "3"},
    {"timestamp", TEXT, NULL},
    {"interrupted", FLAG, NULL},
    {"deadline_met", FLAG_OR_NULL, NULL},
    {"tool", OBJECT, NULL},
    {"tool.version", TEXT, NULL},
    {"tool.compiler", TEXT, NULL},
    {"tool.build_type", TEXT_MAY_BE_EMPTY, NULL},
    {"tool.left_out", TEXTS, NULL},
    {"host", OBJECT, NULL},
    {"host.hostname", TEXT_OR_NULL, NULL},
    {"host.os", TEXT_OR_NULL, NULL},
    {"host.kernel", TEXT_OR_NULL, NULL},
    {"host.cpu_model", TEXT_OR_NULL, NULL},
    {"host.logical_cpus", COUNT, NULL},
    {"host.memory_bytes", COUNT, "9007199254740994"},
    {"host.numa_nodes", WHOLE_OR_NULL, NULL},
    {"host.node", TEXT_OR_NULL, NULL},
    {"host.node_named_by", TEXT_OR_NULL, NULL},
    {"start", OBJECT, NULL},
    {"start.asked", TEXT_OR_NULL, NULL},
    {"start.by", TEXT_OR_NULL, NULL},
    {"start.began", TEXT_OR_NULL, NULL},
    {"start.clock", OBJECT, NULL},
    {"start.late_s", NUMBER_OR_NULL, NULL},
    {"start.clock.synchronised", FLAG_OR_NULL, NULL},
    {"start.clock.error_s", NUMBER_OR_NULL, NULL},
    {"launcher", OBJECT_OR_NULL, NULL},
    {"launcher.rank", FROM_ZERO, "4"},
    {"launcher.ranks", WHOLE_OR_NULL, "10000001"},
    {"launcher.named_by", TEXT, NULL},
    {"environment", OBJECT, NULL},
    {"backend", OBJECT, NULL},
    {"backend.name", TEXT, NULL},
    {"backend.driver_version", TEXT_OR_NULL, NULL},
    {"backend.runtime_version", TEXT_OR_NULL, NULL},
    {"backend.runtime_library", TEXT_OR_NULL, NULL},
    {"backend.runtime_override", TEXT_OR_NULL, NULL},
    {"config", OBJECT, NULL},
    {"devices", ARRAY, "[]"},
    {"devices[0].index", FROM_ZERO, NULL},
    {"devices[1].index", FROM_ZERO, "0"},
    {"devices[1].name", TEXT, NULL},
    {"devices[0].uuid", TEXT_OR_NULL, NULL},
    {"devices[0].architecture", TEXT_OR_NULL, NULL},
    {"devices[0].pci_bdf", TEXT_OR_NULL, NULL},
    {"devices[0].driver", TEXT_OR_NULL, NULL},
    {"devices[0].memory_bytes", COUNT, NULL},
    {"devices[0].link", OBJECT_OR_NULL, NULL},
    {"devices[0].link.speed_gts", NUMBER, "1025"},
    {"devices[0].link.width", WHOLE, "65"},
    {"devices[0].link.max_speed_gts", NUMBER, "1025"},
    {"devices[0].link.max_width", WHOLE, "65"},
    {"devices[0].link.port", TEXT_OR_NULL, NULL},
    {"devices[0].facts", OBJECT, NULL},
    {"devices[0].numa", OBJECT, NULL},
    {"devices[0].numa.node", INDEX, NULL},
    {"devices[0].numa.bound", FLAG, NULL},
    {"devices[0].numa.cpus", COUNT, NULL},
    {"devices[0].numa.note", TEXT_OR_NULL, NULL},
    {"results", ARRAY, NULL},
    {"results[0].mode", TEXT, NULL},
    {"results[0].variant", TEXT, NULL},
    {"results[0].direction", TEXT, NULL},
    {"results[2].mode", TEXT, NULL},
    {"results[0].bytes", WHOLE, "9007199254740994"},
    {"results[0].device", INDEX, "1023"},
    {"results[0].peer", INDEX, "1023"},
    {"results[3].peer", INDEX, NULL},
    {"results[0].latency", FLAG, NULL},
    {"results[0].simultaneous", FLAG, NULL},
    {"results[0].status", TEXT, "\"fine\""},
    {"results[2].status", TEXT, "\"OK\""},
    {"results[0].verified", FLAG_OR_NULL, "null"},
    {"results[0].verified", FLAG_OR_NULL, "false"},
    {"results[2].verified", FLAG_OR_NULL, NULL},
    {"results[0].reason", TEXT_OR_NULL, NULL},
    {"results[2].reason", TEXT_OR_NULL, NULL},
    {"results[0].timer", TEXT, NULL},
    {"results[1].timer", TEXT, NULL},
    {"results[0].bytes_moved", WHOLE, "9007199254740994"},
    {"results[0].samples_s", ARRAY, "[]"},
    {"results[1].samples_s", ARRAY, "[]"},
    {"results[2].samples_s", ARRAY, NULL},
    {"results[2].timer", TEXT_OR_NULL, NULL},
    {"results[2].warnings", ARRAY, NULL},
    {"results[2].bytes_moved", WHOLE_OR_NULL, NULL},
    {"results[0].stop_reason", TEXT_OR_NULL, NULL},
    {"results[0].details", OBJECT, NULL},
    {"results[0].details.held", TEXT_OR_NUMBER, NULL},
    {"results[3].error", OBJECT_OR_NULL, NULL},
    {"results[3].error.status", TEXT, NULL},
    {"results[3].error.native_code", CODE, "9007199254740994"},
    {"results[3].error.native_name", TEXT_OR_NULL, NULL},
    {"results[3].error.call", TEXT_OR_NULL, NULL},
    {"results[3].error.message", TEXT, NULL},
    {"results[3].error.at", TEXT_OR_NULL, NULL},
    {"devices[0].link.read", TEXT, "\"at rest\""},
    {"devices[0].link.ceiling", OBJECT_OR_NULL, NULL},
    {"devices[0].link.ceiling.at", TEXT, NULL},
    {"devices[0].link.ceiling.speed_gts", NUMBER, "1025"},
    {"devices[0].link.ceiling.width", WHOLE, "65"},
    {"devices[0].link.ceiling.payload_bytes", WHOLE, "65537"},
    {"devices[0].link.ceiling.read_request_bytes", WHOLE, "65537"},
    {"devices[0].link.ceiling.h2d_bytes_per_second", NUMBER, "1.1e15"},
    {"devices[0].link.ceiling.d2h_bytes_per_second", NUMBER, "1.1e15"},
    {"devices[0].shares_host_memory", FLAG, NULL},
    {"devices[1].shares_host_memory", FLAG, NULL},
    {"devices[0].numa.as_expected", FLAG, NULL},
    {"results[0].parameters", OBJECT, NULL},
    {"results[2].parameters", OBJECT, NULL},
    {"results[0].placements", ARRAY_OR_NULL, "[1,1,1,1,1]"},
    {"results[0].placements", ARRAY_OR_NULL, "[0.5,1,1,1,1,1.5]"},
    {"results[0].figures", ARRAY, NULL},
    {"results[2].figures", ARRAY, NULL},
    {"results[0].figures[0].name", TEXT, NULL},
    {"results[0].figures[0].unit", TEXT, "\"s\""},
    {"results[0].figures[4].unit", TEXT, "\"B/s\""},
    {"results[0].figures[0].more_is_better", FLAG, NULL},
    {"results[0].figures[0].gates", FLAG, NULL},
    {"results[0].figures[0].median", NUMBER, "1.1e15"},
    {"results[0].figures[1].median", NUMBER_OR_NULL, "null"},
    {"results[1].figures[0].median", NUMBER, "1.1e6"},
    {"results[0].figures[0].ci95_low", NUMBER_OR_NULL, "1.1e15"},
    {"results[0].figures[0].ci95_high", NUMBER_OR_NULL, "1.1e15"},
    {"results[0].figures[2].min", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].max", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].p5", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].p95", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].p99", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].mad", NUMBER_OR_NULL, "1.1e6"},
    {"results[0].figures[2].n", COUNT, NULL},
    {"results[0].figures[2].samples", ARRAY, NULL},
    {"results[0].figures[2].samples[3]", SAMPLE, "1.1e6"},
    {"results[1].samples_s[0]", TIME, "1.1e6"},
};

static void refuse_value(cJSON *tree, const char *where, const char *value)
{
    char expected[160];
    print_message("%s = %s\n", where, value);
    put(tree, where, *value != '\0' ? value : NULL);
    snprintf(expected, sizeof expected, PATH ": %s: ", where);
    refuse_tree(tree, expected);
}

TEST(refuses_every_value_that_is_wrong)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *const *values = bad_values[fields[i].kind];
        for (size_t k = 0; k < MOST_BAD && values[k] != NULL; k++)
            refuse_value(result_tree(), fields[i].where, values[k]);
        if (fields[i].also != NULL)
            refuse_value(result_tree(), fields[i].where, fields[i].also);
    }
}

/* Numbers that no double holds, and words for them that JSON does not have, wherever they stand. */
TEST(refuses_numbers_that_are_none)
{
    static const char *const words[] = {"NaN",  "nan",  "Infinity", "-Infinity", "inf",
                                        "0x10", "+1",   ".5",       "1e",        "1.2.3",
                                        "--1",  "1,,2", "True",     "'1'",       "undefined"};
    static const char *const places[] = {"schema_version", "results[0].samples_s[2]",
                                         "results[0].figures[0].median", "host.logical_cpus",
                                         "config.chunk"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            cJSON *tree = result_tree();
            put(tree, places[i], words[k]);
            refuse_tree(tree, ": line 1, column ");
        }
        char expected[160];
        snprintf(expected, sizeof expected, PATH ": %s: the number is too large to hold",
                 places[i]);
        for (int negative = 0; negative < 2; negative++) {
            cJSON *tree = result_tree();
            put(tree, places[i], negative ? "-1e999" : "1e999");
            refuse_tree(tree, expected);
        }
    }
}

/* ---- figures that contradict each other ---- */

/* Their numbers may have gaps: how many there are counts. */
TEST(refuses_more_numa_nodes_than_there_are)
{
    static const char *const nodes[][2] = {{"9", ""},
                                           {"4", "results[3].parameters.numa: is node 4, one more "
                                                 "than the 2 that the machine has"},
                                           {"1024", "results[3].parameters.numa: is node 1024"}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "results[0].parameters.numa", "0");
        put(tree, "results[1].parameters.numa", "9");
        put(tree, "results[2].parameters.numa", "0");
        put(tree, "results[3].parameters.numa", nodes[i][0]);
        if (nodes[i][1][0] != '\0') {
            refuse_tree(tree, nodes[i][1]);
            continue;
        }
        struct xb_record record = read_tree(tree);
        xb_record_free(&record);
    }
}

TEST(refuses_figures_that_contradict_themselves)
{
    static const char *const rows[][3] = {
        {"[0].figures[0].median", "1000.01", "[0].figures[0].samples: these samples do not give"},
        {"[0].figures[0].samples[1]", "900", "these samples do not give the 1000 that stands"},
        {"[0].figures[0].ci95_low", "1001", "[0].figures[0]: the median is not within its"},
        {"[0].figures[0].ci95_high", "999", "[0].figures[0]: the median is not within its"},
        {"[0].figures[0].ci95_high", "null", "[0].figures[0]: the median is not within its"},
        {"[0].figures[0].ci95_low", "null", "[0].figures[0]: the median is not within its"},
        {"[0].figures[0].ci95_low", "251", "these samples do not give the 251 that stands"},
        {"[0].figures[0].ci95_high", "1999", "these samples do not give the 1999 that stands"},
        {"[0].figures[2].min", "1.1", "these samples do not give the 1.1 that stands"},
        {"[0].figures[2].max", "6.1", "these samples do not give the 6.1 that stands"},
        {"[0].figures[2].p5", "1.3", "these samples do not give the 1.3 that stands"},
        {"[0].figures[2].p95", "5.8", "these samples do not give the 5.8 that stands"},
        {"[0].figures[2].p99", "5.9", "these samples do not give the 5.9 that stands"},
        {"[0].figures[2].mad", "1.6", "these samples do not give the 1.6 that stands"},
        {"[0].figures[2].p95", "5.96", "[0].figures[2]: min, p5, median, p95, p99 and max are not"},
        {"[1].figures[0].max", "1.7", "[1].figures[0]: min, p5, median, p95, p99 and max are not"},
        {"[1].figures[0].min", "0.8", "[1].figures[0]: min, p5, median, p95, p99 and max are not"},
        {"[0].figures[0].n", "5", "[0].figures[0].samples: are 6, and n is 5"},
        {"[0].figures[4].mad", "0", "[0].figures[4].n: is 0: such a figure has a median only"},
        {"[0].figures[4].samples", "[0.75]", "[0].figures[4].n: is 0: such a figure has a"},
        {"[0].figures[2].n", "0", "[0].figures[2].n: is 0: such a figure has a median only"},
        {"[0].figures[3].name", "\"bandwidth\"",
         "[0].figures[3].name: is that of another figure of this row: bandwidth"},
        {"[0].figures[0].name", "\"width\"", "[0].figures: have no bandwidth"},
        {"[0].figures", "[]", "[0].figures: have no bandwidth"},
        {"[1].figures", "[]", "[1].figures: have no latency_host"},
        {"[0].figures[0]", "1", "[0].figures[0]: must be an object"},
        {"[0].status", "\"error\"", "[0].figures: must be none in a row that is not ok"},
        {"[0].figures[0].unit", "\"GB/s\"",
         "[0].figures[0].unit: is not \"B/s\", which that of bandwidth is"},
        {"[0].samples_s", "[]", "[0].samples_s: are none in a row that is ok"},
        {"[2].status", "\"ok\"", "[2].samples_s: are none in a row that is ok"},
        {"[0].verified", "null", "[0].verified: is not true in a row that is ok"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char where[64];
        cJSON *tree = result_tree();
        print_message("%s = %s\n", rows[i][0], rows[i][1]);
        snprintf(where, sizeof where, "results%s", rows[i][0]);
        put(tree, where, rows[i][1]);
        refuse_tree(tree, rows[i][2]);
    }
}

/* ---- what is no such file at all ---- */

TEST(refuses_what_is_not_ours)
{
    static const char *const rows[][2] = {
        {"", "line 1, column 1: the file ends here: it was cut, or is empty"},
        {" \n\n ", "the file ends here"},
        {"null", "is not a result file of xferbench"},
        {"5", "is not a result file of xferbench"},
        {"\"xferbench.result\"", "is not a result file of xferbench"},
        {"[{\"schema\":\"xferbench.result\"}]", "is not a result file of xferbench"},
        {"{}", "schema: is missing: this is not a result file of xferbench"},
        {"{\"schema\":1}", "schema: is missing"},
        {"{\"Schema\":\"xferbench.result\"}", "schema: is missing"},
        {"{\"schema\":\"other\"}", "schema: \"other\" is not \"xferbench.result\""},
        {"{\"schema\":\"xferbench.result\"}", "schema_version: is missing"},
        {"{\"schema\":\"xferbench.result\",\"schema_version\":1}",
         "schema_version: 1 was written by a build from before xferbench 0.1.0, which reads "
         "version 2; measure again"},
        {"{\"schema\":\"xferbench.result\",\"schema_version\":7}",
         "schema_version: 7 was written by a newer xferbench than this one, which reads up to 2"},
        {"{\"schema\":\"xferbench.result\",\"schema\":\"xferbench.result\"}",
         "schema: is there twice"},
        {"{\"schema\":\"x\",\"sch\\u0065ma\":\"y\"}", "schema: is there twice"},
        {"{\"a\":[1,{\"b\":1,\"c\":2,\"b\":3}]}", "a[1].b: is there twice"},
        {"{\"\":1,\"\":1}", "is there twice"},
        {"\n{\n  \"a\": x\n}", "line 3, column 8: this is not JSON"},
        {"{\"a\":1}}", "line 1, column 8: this is not JSON"},
        {"{\"a\":1} // c", "line 1, column 9: this is not JSON"},
        {"{'a':1}", "line 1, column 3: this is not JSON"},
        {"{\"a\":\"\\u0000\"}", "line 1, column 7: a character is NUL"},
        {"{\"a\\u0000\":1}", "line 1, column 4: a character is NUL"},
        {"{\"a\":\"\x1b[2J\"}", "line 1, column 7: a control character within a text"},
        {"{\"a\":\"b\nc\"}", "line 1, column 8: a control character within a text"},
        {"{\"a\":\"\\ud800\"}", "line 1, column 7: this is not JSON"},
        {"{\"a\":\"\\x\"}", "this is not JSON"},
        {"{\"a\":\"\\", "line 1, column 6: this text does not end"},
        {"{\"a\":\"b\\\"", "line 1, column 6: this text does not end"},
        {"{\"schema\":\"\\u001b]0;x\\u0007\\u00e4\"}", "schema: \"?]0;x???\" is not"},
        {"{\"k\\u001b[2J\":1e999}", "k?[2J: the number is too large to hold"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i][0]);
        refuse_text(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    }
    refuse_text("{\"a\":1}\0", 8, "line 1, column 8: a character is NUL: this is no text");
    refuse_text("{\n\"a\0\":1}", 9, "line 2, column 3: a character is NUL: this is no text");
}

/* An escaped backslash before "u0000" is no NUL. */
TEST(takes_texts_that_look_wrong)
{
    cJSON *tree = result_tree();
    put(tree, "host.hostname", "\"a\\\\u0000[[[[{{{{\\\"]\\\\\"");
    put(tree, "host.kernel", "\"\\t\\u00e4\\ud83d\\ude00\"");
    struct xb_record record = read_tree(tree);
    assert_fact(record.facts, record.fact_count, "hostname", "a\\u0000[[[[{{{{\"]\\");
    assert_fact(record.facts, record.fact_count, "kernel", "\t\xc3\xa4\xf0\x9f\x98\x80");
    xb_record_free(&record);
}

/* Cut at every byte but the last. */
TEST(refuses_every_beginning)
{
    for (size_t length = 0; length < strlen(result_text); length++) {
        char *text = malloc(length + 1);
        assert_non_null(text);
        memcpy(text, result_text, length);
        text[length] = '\0';
        refuse_text(text, length, ": line 1, column ");
        free(text);
    }
}

/* ---- much of something ---- */

TEST(cuts_places_that_are_long)
{
    char key[200];
    char text[32 * sizeof key];
    size_t length = 0;
    memset(key, 'k', sizeof key);
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "{\"%.*s\":", (int)sizeof key, key);
    length += (size_t)sprintf(text + length, "1e999");
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "}");
    refuse_text(text, length, "kkk.kkk");
    refuse_text(text, length, ": the number is too large to hold");
}
