/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* A report that was read back is told as it was when it was made. */
#include "link/report.h"

#include "base/file_text.h"
#include "checks.h"
#include "link_fixture.h"
#include "schema_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "lacking_json.h"
#include "rows.h"
#include "testing.h"

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

/* What is the time is no part of the report. */
static void drop_time(char *text)
{
    char *stamp = strstr(text, "\nxferbench_link_test_timestamp_seconds ");
    if (stamp != NULL)
        memset(stamp + 1, '0', strcspn(stamp + 1, "\n"));
}

TEST(formats_tell_what_they_told)
{
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        struct xb_error error;
        assert_int_equal(link_setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *json = link_text(xb_link_json_write, n);
        if (parse(json, &error) != XB_OK)
            fail_msg("%s: %s", kinds[i].name, error.message);
        free(json);
        n->report.node = file.report.node; /* the fixture has none, the file this machine's */
        n->report.hostname = file.report.hostname;
        for (size_t j = 0; j < FORMATS; j++) {
            if (formats[j].write == xb_link_json_write)
                continue;
            char *expected = link_text(formats[j].write, n);
            char *text = told(formats[j].write, &file.report);
            drop_time(expected);
            drop_time(text);
            if (strcmp(text, expected) != 0)
                fail_msg("%s.%s: read:\n%s\nwritten:\n%s", kinds[i].name, formats[j].name, text,
                         expected);
            free(expected);
            free(text);
        }
        xb_link_file_free(&file);
        link_teardown(&made);
    }
}

static size_t judged_again;

static enum xb_status read_file(const char *path, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(xb_file_text_read(path, (size_t)64 << 20, false, &text, &length, error),
                     XB_OK);
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

static cJSON *tree_of(void (*make)(struct node *n))
{
    void *made = NULL;
    assert_int_equal(link_setup(&made), 0);
    make(made);
    char *json = link_text(xb_link_json_write, made);
    cJSON *tree = cJSON_Parse(json);
    assert_non_null(tree);
    free(json);
    link_teardown(&made);
    return tree;
}

static enum xb_status parse_tree(const cJSON *tree, struct xb_error *error)
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

/* Puts the JSON `value` in the place of what stands at `path`.`key`. */
static void put(cJSON *tree, const char *path, const char *key, const char *value)
{
    cJSON *object = path[0] != '\0' ? (cJSON *)at(tree, path) : tree;
    cJSON *item = cJSON_Parse(value);
    assert_non_null(item);
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(object, key, item));
}

static void say_damaged(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    cJSON *tree = tree_of(strncmp(row->part[0], "pairs", 5) == 0 ? make_peers : make_amd);
    put(tree, row->part[0], row->part[1], row->part[2]);
    say_refused(said, parse_tree(tree, &error), &error);
    cJSON_Delete(tree);
}
TEST_ROWS(names_what_is_wrong, say_damaged)

static void say_file(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error;
    say_refused(said, parse(row->part[0], &error), &error);
}
TEST_ROWS(refuses_what_is_no_report, say_file)

/* Leaves what was read in `file`. */
static void keep_tree(cJSON *tree)
{
    struct xb_error error = {.message = ""};
    if (xb_link_report_of_tree("f.json", tree, &file, &error) != XB_OK)
        fail_msg("%s", error.message);
    cJSON_Delete(tree);
}

TEST(reads_where)
{
    cJSON *tree = tree_of(make_amd);
    put(tree, "host", "hostname", "\"alias7\"");
    put(tree, "host", "node", "\"gpu007\"");
    put(tree, "host", "node_named_by", "\"SLURMD_NODENAME\"");
    put(tree, "", "timestamp", "\"2026-11-23T06:40:00Z\"");
    put(tree, "", "launcher",
        "{\"rank\":3,\"ranks\":4,\"named_by\":\"SLURM_PROCID\",\"later\":[]}");
    keep_tree(tree);
    assert_string_equal(file.report.hostname, "alias7");
    assert_string_equal(file.report.node, "gpu007");
    xb_link_file_free(&file);
}

TEST(reads_when_it_began)
{
    cJSON *tree = tree_of(make_amd);
    put(tree, "", "start",
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

/* What nothing is read of, or what early files lack. */
static bool may_be_missing(const char *key)
{
    static const char *const keys[] = {"environment", "config",     "facts",
                                       "compiler",    "build_type", "elapsed_s"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* What only a part is read of. */
static bool is_partly_read(const char *key)
{
    return strcmp(key, "host") == 0 || strcmp(key, "launcher") == 0 || strcmp(key, "start") == 0;
}

/* Its content changes place with the other's; its key stays. */
static void exchange(cJSON *item, cJSON *other)
{
    cJSON own = *item;
    item->type = other->type;
    item->child = other->child;
    item->valuestring = other->valuestring;
    item->valuedouble = other->valuedouble;
    item->valueint = other->valueint;
    other->type = own.type;
    other->child = own.child;
    other->valuestring = own.valuestring;
    other->valuedouble = own.valuedouble;
    other->valueint = own.valueint;
}

/* Without its key a document is refused, unless nothing is read of it; with any other value there
 * nothing worse happens than that it is refused. */
static void damage(const cJSON *root, cJSON *item)
{
    static const char *const values[] = {"null", "true", "[]", "{}", "[{}]", "\"\"", "-1", "1e308"};
    struct xb_error error;
    char *key = item->string;
    item->string = strdup("another");
    enum xb_status status = parse_tree(root, &error);
    if (may_be_missing(key) ? status != XB_OK
                            : status == XB_OK || strstr(error.message, key) == NULL)
        fail_msg("without %s: %s", key, error.message);
    free(item->string);
    item->string = key;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        cJSON *other = cJSON_Parse(values[i]);
        exchange(item, other);
        (void)parse_tree(root, &error);
        exchange(item, other);
        cJSON_Delete(other);
    }
}

#define MOST_ITEMS 2048

/* Damages what is below the item in turn. Returns how many keys that are. */
static size_t damage_below(const cJSON *tree, cJSON *top)
{
    struct {
        cJSON *item;
        const cJSON *parent;
    } items[MOST_ITEMS] = {{top, NULL}};
    size_t count = 1;
    size_t keys = 0;
    const cJSON *tool = at(tree, "tool"); /* of which only the version is read */
    for (size_t i = 0; i < count; i++) {  /* whose children come behind all that are there */
        for (cJSON *child = items[i].item->child; child != NULL; child = child->next) {
            assert_true(count < MOST_ITEMS);
            const char *key = i > 0 ? items[i].item->string : NULL;
            if (key != NULL && (may_be_missing(key) || is_partly_read(key)))
                continue;
            items[count].parent = items[i].item;
            items[count].item = child;
            count++;
        }
    }
    for (size_t i = 1; i < count; i++) {
        if (items[i].item->string == NULL || items[i].parent == tool)
            continue;
        damage(tree, items[i].item);
        keys++;
    }
    return keys;
}

TEST(survives_any_damage)
{
    cJSON *tree = tree_of(make_critical);
    assert_true(damage_below(tree, tree) > 300);
    cJSON_Delete(tree);
    tree = tree_of(make_peers);
    assert_true(damage_below(tree, (cJSON *)at(tree, "pairs.1")) > 40);
    assert_true(damage_below(tree, (cJSON *)at(tree, "devices.1.peers")) > 15);
    assert_true(damage_below(tree, (cJSON *)at(tree, "devices.1.peers.health_after.nvlinks")) > 20);
    cJSON_Delete(tree);
}

/* Bytes that are no UTF-8 grow when they are written: what does not fit is left out. */
RUN_TEST(cuts_texts_between_characters)
{
    struct xb_error error;
    char name[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    struct node *n = *state;
    make_healthy(n);
    for (size_t i = 0; i + sizeof name < sizeof n->devices[0].info.name; i += sizeof name - 1)
        memcpy(n->devices[0].info.name + i, name, sizeof name);
    char *json = link_text(xb_link_json_write, n);
    assert_int_equal(parse(json, &error), XB_OK);
    assert_true(is_utf8(file.report.devices[0].info.name));
    assert_int_equal(strlen(file.report.devices[0].info.name), 126); /* 42 characters of 3 bytes */
    xb_link_file_free(&file);
    free(json);
    /* A file may have bytes that are no UTF-8 itself. */
    json = link_text(xb_link_json_write, n);
    memset(strstr(json, "\xEF\xBF\xBD"), '\xff', 3);
    assert_int_equal(parse(json, &error), XB_OK);
    xb_link_file_free(&file);
    free(json);
}

RUN_TEST(says_that_there_is_no_memory)
{
    struct node *n = *state;
    struct xb_error error;
    enum xb_status status = XB_ERR_MEMORY;
    size_t piece = 0;
    make_critical(n);
    char *json = link_text(xb_link_json_write, n);
    while (status == XB_ERR_MEMORY) {
        lack_json_piece(++piece);
        status = read_text("f.json", json, &error);
    }
    lack_json_piece(0);
    assert_int_equal(status, XB_OK);
    assert_true(piece > 300);
    xb_link_file_free(&file);
    free(json);
}
