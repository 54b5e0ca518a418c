/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- one value that is wrong ---- */

enum kind {
    TEXT,         /* not empty */
    TEXT_OR_NONE, /* the same, null or not there */
    FLAG,         /* true or false */
    FLAG_OR_NULL, /* or null, but there */
    WHOLE,        /* above 0 */
    INDEX,        /* from 0, or null */
    FROM_ZERO,    /* from 0 */
    NUMBER,       /* above 0 */
    OBJECT,       /* there */
    OBJECT_OR_NONE /* null or not there */,
    LINK, /* an object or null, but there */
    ARRAY,
    KINDS
};

/* What is wrong for each kind; "" takes the key away. */
#define MOST_BAD 16
static const char *const bad_values[KINDS][MOST_BAD] = {
    [TEXT] = {"", "null", "1", "true", "\"\"", "[]", "{}", "[\"pinned\"]"},
    [TEXT_OR_NONE] = {"1", "true", "\"\"", "[]", "{}"},
    [FLAG] = {"", "null", "1", "0", "\"true\"", "[]", "{}"},
    [FLAG_OR_NULL] = {"", "1", "0", "\"true\"", "[]", "{}"},
    [WHOLE] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-1", "0.5", "1.5", "1e300",
               "-1e300"},
    [INDEX] = {"", "\"1\"", "true", "[]", "{}", "-1", "0.5", "1024", "1e300", "-1e300"},
    [FROM_ZERO] = {"", "null", "\"1\"", "true", "[]", "{}", "-1", "0.5", "64", "1e300"},
    [NUMBER] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-0.0", "-1", "1e300",
                "-1e300"},
    [OBJECT] = {"", "null", "1", "\"x\"", "[]", "[{}]", "true"},
    [OBJECT_OR_NONE] = {"1", "\"x\"", "[]", "[{}]", "true"},
    [LINK] = {"", "1", "\"x\"", "[]", "[{}]", "true"},
    [ARRAY] = {"", "null", "1", "\"x\"", "{}", "true"},
};

static const struct {
    const char *where;
    enum kind kind;
    const char *also; /* wrong as well; NULL for none */
} fields[] = {
    {"schema", TEXT, "\"xferbench.link\""},
    {"schema_version", WHOLE, "2"},
    {"interrupted", FLAG, NULL},
    {"deadline_met", FLAG_OR_NULL, NULL},
    {"tool", OBJECT_OR_NONE, NULL},
    {"host", OBJECT_OR_NONE, NULL},
    {"environment", OBJECT_OR_NONE, NULL},
    {"backend", OBJECT, NULL},
    {"backend.name", TEXT, NULL},
    {"backend.driver_version", TEXT_OR_NONE, NULL},
    {"config", OBJECT, NULL},
    {"devices", ARRAY, "[]"},
    {"devices[0].index", FROM_ZERO, NULL},
    {"devices[1].index", FROM_ZERO, "0"},
    {"devices[1].name", TEXT, NULL},
    {"devices[0].link", LINK, NULL},
    {"devices[0].link.speed_gts", NUMBER, "1025"},
    {"devices[0].link.width", WHOLE, "65"},
    {"devices[0].facts", OBJECT_OR_NONE, NULL},
    {"devices[0].numa", OBJECT_OR_NONE, NULL},
    {"results", ARRAY, NULL},
    {"results[0].mode", TEXT, NULL},
    {"results[0].variant", TEXT, NULL},
    {"results[0].direction", TEXT, NULL},
    {"results[2].mode", TEXT, NULL},
    {"results[0].bytes", WHOLE, "9007199254740994"},
    {"results[0].device", INDEX, NULL},
    {"results[0].peer", INDEX, NULL},
    {"results[3].peer", INDEX, NULL},
    {"results[0].latency", FLAG, NULL},
    {"results[0].simultaneous", FLAG, NULL},
    {"results[0].status", TEXT, "\"fine\""},
    {"results[2].status", TEXT, "\"OK\""},
    {"results[0].verified", FLAG_OR_NULL, "null"},
    {"results[0].verified", FLAG_OR_NULL, "false"},
    {"results[2].verified", FLAG_OR_NULL, NULL},
    {"results[0].reason", TEXT_OR_NONE, NULL},
    {"results[2].reason", TEXT_OR_NONE, NULL},
    {"results[0].timer", TEXT, NULL},
    {"results[1].timer", TEXT, NULL},
    {"results[0].bytes_moved", WHOLE, "9007199254740994"},
    {"results[0].samples_s", ARRAY, "[]"},
    {"results[1].samples_s", ARRAY, "[]"},
    {"results[0].bandwidth_bytes_per_second", OBJECT, NULL},
    {"results[0].bandwidth_bytes_per_second.median", NUMBER, "1.1e15"},
    {"results[0].bandwidth_bytes_per_second.ci95_low", NUMBER, "1.1e15"},
    {"results[0].bandwidth_bytes_per_second.ci95_high", NUMBER, "1.1e15"},
    {"results[1].latency_s", OBJECT, NULL},
    {"results[1].latency_s.host", LINK, NULL},
    {"results[1].latency_s.device", LINK, NULL},
    {"results[1].latency_s.host.p50", NUMBER, "1.1e6"},
    {"results[1].latency_s.device.p50", NUMBER, "1.1e6"},
};

static void refuse_value(const char *where, const char *value)
{
    char expected[160];
    cJSON *tree = result_tree();
    print_message("%s = %s\n", where, value);
    put(tree, where, *value != '\0' ? value : NULL);
    snprintf(expected, sizeof expected, PATH ": %s: ", where);
    refuse_tree(tree, expected);
}

static void refuses_every_value_that_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *const *values = bad_values[fields[i].kind];
        for (size_t k = 0; k < MOST_BAD && values[k] != NULL; k++)
            refuse_value(fields[i].where, values[k]);
        if (fields[i].also != NULL)
            refuse_value(fields[i].where, fields[i].also);
    }
}

/* Numbers that no double holds, and words for them that JSON does not have, wherever they stand. */
static void refuses_numbers_that_are_none(void **state)
{
    static const char *const words[] = {"NaN",  "nan",  "Infinity", "-Infinity", "inf",
                                        "0x10", "+1",   ".5",       "1e",        "1.2.3",
                                        "--1",  "1,,2", "True",     "'1'",       "undefined"};
    static const char *const places[] = {"schema_version", "results[0].samples_s[2]",
                                         "results[0].bandwidth_bytes_per_second.median",
                                         "host.logical_cpus", "config.chunk"};
    (void)state;
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

static void refuses_rows_that_contradict_themselves(void **state)
{
    static const char *const rows[][3] = {
        {"results[0].bandwidth_bytes_per_second.median", "1000.01", "samples_s: these samples do"},
        {"results[0].bandwidth_bytes_per_second.median", "999.99", "samples_s: these samples do"},
        {"results[0].bytes_moved", "2001", "results[0].samples_s: these samples do not give"},
        {"results[0].samples_s[5]", "1.9", "the median 1000 B/s that stands beside them"},
        {"results[0].samples_s[5]", "-8", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "0", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "null", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "\"8\"", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "1.1e6", "results[0].samples_s: these"},
        {"results[0].bandwidth_bytes_per_second.ci95_low", "1001",
         "results[0].bandwidth_bytes_per_second: the median is not within its interval"},
        {"results[0].bandwidth_bytes_per_second.ci95_high", "999", "not within its interval"},
        {"results[1].latency_s.device.p50", "0.26", "results[1].samples_s: these samples do not"},
        {"results[1].samples_s[1]", "0.3", "the median 0.25 s that stands beside them"},
        {"results[1].latency_s.host", "null", "has no percentiles by the host's clock"},
        {"results[2].status", "\"ok\"", "results[2].verified: is not true in a row that is ok"},
        {"devices[1].index", "0", "devices[1].index: is that of devices[0] too"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *tree = result_tree();
        print_message("%s = %s\n", rows[i][0], rows[i][1]);
        put(tree, rows[i][0], rows[i][1]);
        refuse_tree(tree, rows[i][2]);
    }
}

/* ---- what is no such file at all ---- */

static void refuses_what_is_not_ours(void **state)
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
        {"{\"schema\":\"xferbench.result\",\"schema_version\":7}",
         "schema_version: 7 was written by a newer xferbench than this one, which reads 1"},
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
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i][0]);
        refuse_text(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    }
    refuse_text("{\"a\":1}\0", 8, "line 1, column 8: a character is NUL: this is no text");
    refuse_text("{\n\"a\0\":1}", 9, "line 2, column 3: a character is NUL: this is no text");
}

/* An escaped backslash before "u0000" is no NUL. */
static void takes_texts_that_look_wrong(void **state)
{
    (void)state;
    cJSON *tree = result_tree();
    put(tree, "host.hostname", "\"a\\\\u0000[[[[{{{{\\\"]\\\\\"");
    put(tree, "host.kernel", "\"\\t\\u00e4\\ud83d\\ude00\"");
    struct xb_record record = read_tree(tree);
    assert_fact(record.facts, record.fact_count, "hostname", "a\\u0000[[[[{{{{\"]\\");
    assert_fact(record.facts, record.fact_count, "kernel", "\t\xc3\xa4\xf0\x9f\x98\x80");
    xb_record_free(&record);
}

/* Cut at every byte but the last. */
static void refuses_every_beginning(void **state)
{
    (void)state;
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

static void cuts_places_that_are_long(void **state)
{
    char key[200];
    char text[32 * sizeof key];
    size_t length = 0;
    (void)state;
    memset(key, 'k', sizeof key);
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "{\"%.*s\":", (int)sizeof key, key);
    length += (size_t)sprintf(text + length, "1e999");
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "}");
    refuse_text(text, length, "kkk.kkk");
    refuse_text(text, length, ": the number is too large to hold");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_every_value_that_is_wrong),
        cmocka_unit_test(refuses_numbers_that_are_none),
        cmocka_unit_test(refuses_rows_that_contradict_themselves),
        cmocka_unit_test(refuses_what_is_not_ours),
        cmocka_unit_test(takes_texts_that_look_wrong),
        cmocka_unit_test(refuses_every_beginning),
        cmocka_unit_test(cuts_places_that_are_long),
    };
    return cmocka_run_group_tests_name("record_wrong", tests, NULL, NULL);
}
