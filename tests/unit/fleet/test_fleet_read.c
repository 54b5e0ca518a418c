/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
/* What results say of their nodes, in a fleet; and what files and folders are read. */
#include "base/interrupt.h"
#include "checks.h"
#include "document_fixture.h"
#include "fleet/fleet.h"
#include "xferbench/figure.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define FIXTURE_TEST(name) TEST_WITH(name, open_fleet, close_fleet)
#define TEST_OF_FILES(name) TEST_WITH(name, make_tree, remove_tree)

#include "fixture_tree.h"

static struct xb_fleet fleet;
static struct xb_error error;

#define NOW 1795000000

static int open_fleet(NO_STATE)
{
    xb_fleet_open(&fleet);
    fleet.now = NOW;
    return 0;
}

static int close_fleet(NO_STATE)
{
    xb_fleet_free(&fleet);
    return 0;
}

static void take_text(const char *text)
{
    assert_int_equal(xb_fleet_read_text(&fleet, "a.json", 0, text, strlen(text), &error), XB_OK);
}

/* Takes the tree. */
static void take(cJSON *tree)
{
    char *text = cJSON_PrintUnformatted(tree);
    assert_non_null(text);
    take_text(text);
    free(text);
    cJSON_Delete(tree);
}

static const struct xb_fleet_value *find_value(const char *figure)
{
    for (size_t i = 0; i < fleet.value_count; i++)
        if (strcmp(fleet.values[i].figure->name, figure) == 0)
            return &fleet.values[i];
    return NULL;
}

static const struct xb_fleet_finding *find_complaint(enum xb_fleet_code code)
{
    for (size_t i = 0; i < fleet.complaint_count; i++)
        if (fleet.complaints[i].code == code)
            return &fleet.complaints[i];
    return NULL;
}

/* ---- results ---- */

FIXTURE_TEST(figures_that_gate_are_values)
{
    take(result_tree());
    assert_int_equal(fleet.left_out_count, 0);
    assert_string_equal(fleet.sources[0].kind, "run");
    assert_string_equal(fleet.nodes[0]->name, "gpu007");
    assert_int_equal(fleet.gpu_count, 2);
    assert_string_equal(fleet.gpus[0]->uuid, "U0");
    assert_true(fleet.gpus[0]->link_speed_gts == 32.0 && fleet.gpus[0]->link_width == 16);
    assert_int_equal(fleet.gpus[1]->index, 3);
    assert_int_equal(fleet.value_count, 3); /* and not those that do not gate, nor of failed rows */
    const struct xb_fleet_value *value = find_value("pinned registered h2d 1000 B bandwidth");
    assert_non_null(value);
    assert_true(value->value == 1000.0 && value->gpu == fleet.gpus[0] && value->peer == -1);
    assert_true(fabs(value->scatter - (2000.0 - 250.0) / 2 / 1.96 / 1000) < 1e-4);
    const struct xb_fleet_figure *figure = value->figure;
    assert_string_equal(figure->unit, XB_UNIT_RATE);
    assert_true(figure->more_is_better);
    assert_string_equal(figure->backend, "hip");
    assert_string_equal(figure->driver, "580.1");
    assert_string_equal(figure->model, "GPU A");
    assert_string_equal(figure->link, "Gen6 x8"); /* what it can do at most */
    value = find_value("pinned registered h2d 1000 B latency run latency_host");
    assert_non_null(value);
    assert_true(isnan(value->scatter)); /* the file has no interval */
    assert_false(value->figure->more_is_better);
}

FIXTURE_TEST(what_failed_is_told)
{
    (void)state;
    cJSON *tree = result_tree();
    take(tree); /* its failed row has data that is wrong */
    assert_has(find_complaint(XB_FLEET_WRONG_DATA)->text,
               "managed registered h2d 1000 B, device 0: wrong");
    assert_null(find_complaint(XB_FLEET_FAILED));
    assert_int_equal(fleet.complaint_count, 1); /* a skipped one is none */
    xb_fleet_free(&fleet);
    assert_int_equal(open_fleet(state), 0);
    tree = result_tree();
    put(tree, "results[3].verified", "null");
    take(tree);
    assert_ptr_equal(find_complaint(XB_FLEET_FAILED)->gpu, fleet.gpus[0]);
    assert_null(find_complaint(XB_FLEET_WRONG_DATA));
    xb_fleet_free(&fleet);
    assert_int_equal(open_fleet(state), 0);
    tree = result_tree();
    put(tree, "results[3].verified", "null");
    put(tree, "results[3].reason", "\"lost 0x7f00 after 3 s\\nby GPU 1\"");
    take(tree);
    assert_string_equal(find_complaint(XB_FLEET_FAILED)->causes, "lost after s by GPU ");
}

FIXTURE_TEST(what_was_cut_is_told)
{
    (void)state;
    cJSON *tree = result_tree();
    put(tree, "deadline_met", "false");
    take(tree);
    assert_has(find_complaint(XB_FLEET_CUT)->text, "deadline");
    xb_fleet_free(&fleet);
    assert_int_equal(open_fleet(state), 0);
    tree = result_tree();
    put(tree, "interrupted", "true");
    take(tree);
    assert_has(find_complaint(XB_FLEET_CUT)->text, "signal");
    assert_null(find_complaint(XB_FLEET_CUT)->gpu);
}

FIXTURE_TEST(several_processes_have_one_value)
{
    cJSON *const documents[] = {result_of_bandwidth("1000"), result_of_bandwidth("500"),
                                result_of_bandwidth("2000")};
    take(merge(3, 3, documents));
    assert_int_equal(fleet.left_out_count, 0);
    assert_int_equal(fleet.gpu_count, 2);
    assert_string_equal(fleet.nodes[0]->name, "gpu007");
    const struct xb_fleet_value *value = find_value("pinned registered h2d 1000 B bandwidth");
    assert_true(value->value == 1000.0);
    double deviation = sqrt((166.667 * 166.667 + 666.667 * 666.667 + 833.333 * 833.333) / 2);
    assert_true(fabs(value->scatter - 1.2533 * deviation / sqrt(3.0) / 1000) < 1e-3);
}

FIXTURE_TEST(options_that_matter_make_another_figure)
{
    take(result_tree());
    const char *usual = find_value("pinned registered h2d 1000 B bandwidth")->figure->options;
    assert_lacks(usual, "mode");     /* it chooses cases */
    assert_lacks(usual, "deadline"); /* it cuts */
    assert_lacks(usual, "quiet");
    size_t count = fleet.figure_count;
    cJSON *tree = result_tree();
    put(tree, "config.deadline", "100");
    put(tree, "config.device", "[\"0\"]");
    put(tree, "config.time-limit", "0.02");
    take(tree);
    assert_int_equal(fleet.figure_count, count);
    tree = result_tree();
    put(tree, "config.samples", "7");
    take(tree);
    assert_int_equal(fleet.figure_count, 2 * count);
    assert_has(fleet.figures[count]->options, "samples=7");
}

/* Of 40 times by a clock that counts by a 64th: equal GPUs may be a step apart. */
FIXTURE_TEST(a_coarse_clock_is_scatter)
{
    char times[2][1024];
    for (int fine = 0; fine < 2; fine++) {
        size_t length = 0;
        for (int i = 0; i < 40; i++)
            length += (size_t)snprintf(times[fine] + length, sizeof times[fine] - length, "%s%.9g",
                                       i == 0 ? "[" : ",",
                                       1 + (i % 4) / 64.0 + (i == 39 ? 7 : 0) + fine * i * 1e-4);
        snprintf(times[fine] + length, sizeof times[fine] - length, "]");
        cJSON *tree = result_tree();
        cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "results"), 1);
        cJSON_ReplaceItemInObject(row, "samples_s", cJSON_Parse(times[fine]));
        take(tree);
        assert_int_equal(fleet.left_out_count, 0);
        const struct xb_fleet_value *value = &fleet.values[fleet.value_count - 1];
        assert_string_equal(value->figure->unit, "s");
        if (fine)
            assert_true(isnan(value->scatter));
        else
            assert_true(fabs(value->scatter - 0.7413 / 64 / (1 + 2 / 64.0)) < 1e-4);
    }
}

/* As the parts of one GPU may be called. */
FIXTURE_TEST(gpus_of_one_document_stay_apart)
{
    cJSON *tree = result_tree();
    put(tree, "devices[0].pci_bdf", "\"0000:01:00.0\"");
    put(tree, "devices[1].pci_bdf", "\"0000:01:00.0\"");
    put(tree, "devices[1].uuid", "\"U0\"");
    take(tree);
    assert_int_equal(fleet.gpu_count, 2);
    assert_int_equal(fleet.value_count, 3);
    assert_int_equal(fleet.gpus[1]->index, 3);
    take(result_tree()); /* the same again is no other */
    assert_int_equal(fleet.gpu_count, 2);
}

/* It would outrank all others until that day. */
FIXTURE_TEST(a_date_behind_tomorrow_counts_as_the_oldest)
{
    static const time_t dates[] = {NOW - 1, NOW + 86400, NOW + 86401, 253402300799};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        char date[32];
        cJSON *tree = result_tree();
        snprintf(date, sizeof date, "\"@%lld\"", (long long)dates[i]);
        put(tree, "timestamp", date);
        take(tree);
        assert_int_equal(fleet.sources[i].dated, dates[i]);
        assert_true(i < 2 ? fleet.sources[i].written == dates[i] : fleet.sources[i].written < 0);
        assert_int_equal(fleet.gpus[0]->told, i < 1 ? NOW - 1 : NOW + 86400);
        assert_int_equal(fleet.nodes[0]->driver_told, i < 1 ? NOW - 1 : NOW + 86400);
    }
    assert_true(fleet.sources[3].written > fleet.sources[2].written); /* they keep their order */
}

/* A link that rests is no narrower one. */
FIXTURE_TEST(a_link_counts_under_load_alone)
{
    cJSON *tree = result_tree();
    put(tree, "devices[0].link.read", "\"right after transfers\"");
    put(tree, "devices[0].link.speed_gts", "2.5");
    take(tree);
    assert_true(fleet.gpus[0]->link_speed_gts == 0 && fleet.gpus[0]->link_width == 0);
    assert_string_equal(fleet.figures[0]->link, "Gen6 x8");
}

FIXTURE_TEST(names_do_not_depend_on_other_cases)
{
    cJSON *tree = result_tree(), *results = cJSON_GetObjectItem(tree, "results");
    while (cJSON_GetArraySize(results) > 1)
        cJSON_DeleteItemFromArray(results, 1);
    take(tree);
    take(result_tree());
    assert_int_equal(fleet.figure_count, 3);
}

/* ---- what is left out ---- */

FIXTURE_TEST(documents_of_another_kind_are_left_out)
{
    static const struct {
        const char *text, *why;
    } others[] = {
        {"{\"schema\":\"xferbench.compare\"}",
         "comparison: fleet reads only link tests and results"},
        {"{\"schema\":\"xferbench.list\"}", "list of devices"},
        {"{\"schema\":\"xferbench.advise\"}", "advice"},
        {"{\"traceEvents\":[],\"otherData\":{\"tool\":\"xferbench 1\"}}", "timeline"},
        {"{\"schema\":\"other\\u001b[31m\"}", "not written by xferbench"},
        {"{\"fio version\":\"fio-3.33\"}", "it names no schema"},
        {"{\"schema\":7}", "it names no schema"},
        {"{\"schema\":\"xferbench.result\"}", "no host name"},
        {"{\"schema\":\"xferbench.link\",\"host\":7}", "host: must be an object"},
        {"{\"schema\":\"xferbench.link\",\"host\":{\"hostname\":\"n\"}}", "is missing"},
        {"{\"schema\":\"xferbench.link\",\"schema\":\"xferbench.link\"}", "schema: is there twice"},
        {"{\"schema\":\"xferbench.result\" \"a\"}", "line 1, column 30: this is not JSON"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
         "nested deeper"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        take_text(others[i].text);
        assert_int_equal(fleet.left_out_count, i + 1);
        assert_string_equal(fleet.left_out[i].what, "a.json");
        assert_has(fleet.left_out[i].why, others[i].why);
    }
    assert_int_equal(fleet.source_count + fleet.node_count + fleet.complaint_count, 0);
}

FIXTURE_TEST(many_keys_are_no_harm)
{
    cJSON *tree = result_tree();
    char key[32];
    for (int i = 0; i < 100000; i++) {
        snprintf(key, sizeof key, "key %d", i);
        cJSON *last = cJSON_CreateNull();
        last->string = strdup(key);
        last->next = tree->child; /* adding one behind the last takes ever longer */
        last->prev = tree->child->prev;
        tree->child->prev = last;
        tree->child = last;
    }
    take(tree);
    assert_int_equal(fleet.source_count, 1);
}

/* ---- streams and folders ---- */

static void take_stream(const char *text)
{
    FILE *file = tmpfile();
    assert_true(fputs(text, file) >= 0);
    rewind(file);
    assert_int_equal(dup2(fileno(file), STDIN_FILENO), STDIN_FILENO);
    fclose(file);
    assert_int_equal(xb_fleet_read(&fleet, "-", &error), XB_OK);
}

FIXTURE_TEST(a_stream_has_many_documents)
{
    char *text = NULL;
    cJSON *tree = result_tree();
    char *pretty = cJSON_Print(tree);
    assert_true(asprintf(&text, "noise\n%s\n{\"schema\":\"x\n%s\n%s", result_text, pretty,
                         "{\"schema\":\"xferbench.list\"}") > 0);
    take_stream(text);
    assert_int_equal(fleet.source_count, 2);
    assert_int_equal(fleet.sources[0].number, 1);
    assert_int_equal(fleet.sources[1].number, 3);
    assert_int_equal(fleet.left_out_count, 3);
    assert_string_equal(fleet.left_out[0].what, "-, line 1");
    assert_string_equal(fleet.left_out[1].what, "-, document 2, line 3");
    assert_has(fleet.left_out[2].what, "-, document 4, line ");
    cJSON_Delete(tree);
    free(pretty);
    free(text);
}

FIXTURE_TEST(the_only_document_has_no_number)
{
    take_stream(result_text);
    assert_int_equal(fleet.sources[0].number, 0);
    take_stream("{\"schema\":\"xferbench.list\"}");
    assert_string_equal(fleet.left_out[0].what, "-");
    take_stream("\n");
    assert_string_equal(fleet.left_out[1].why, "it is empty");
}

/* More than are read at once. */
FIXTURE_TEST(the_order_is_that_of_the_stream)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    for (int i = 0; i < 700; i++) {
        cJSON *tree = result_tree();
        char name[32];
        snprintf(name, sizeof name, "\"n%d\"", i);
        put(tree, "host.node", name);
        char *line = cJSON_PrintUnformatted(tree);
        fprintf(stream, "%s\n", line);
        free(line);
        cJSON_Delete(tree);
    }
    fclose(stream);
    take_stream(text);
    free(text);
    assert_int_equal(fleet.node_count, 700);
    for (size_t i = 0; i < 700; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%zu", i);
        assert_string_equal(fleet.nodes[i]->name, name);
        assert_int_equal(fleet.sources[i].number, i + 1);
    }
}

static void write_node(const char *root, const char *path, const char *name)
{
    cJSON *tree = result_tree();
    char host[32];
    snprintf(host, sizeof host, "\"%s\"", name);
    put(tree, "host.node", host);
    char *text = cJSON_PrintUnformatted(tree);
    write_file(root, path, text);
    free(text);
    cJSON_Delete(tree);
}

static size_t entries_to_read = SIZE_MAX; /* until memory is short */

FTSENT *__real_fts_read(FTS *tree);
FTSENT *__wrap_fts_read(FTS *tree);

FTSENT *__wrap_fts_read(FTS *tree)
{
    if (entries_to_read > 0) {
        entries_to_read--;
        return __real_fts_read(tree);
    }
    errno = ENOMEM;
    return NULL;
}

/* What was not listed is no missing node. */
TEST_OF_FILES(a_list_that_breaks_off_is_told)
{
    const char *root = *state;
    assert_int_equal(open_fleet(NULL), 0);
    write_node(root, "n1.json", "n1");
    write_node(root, "n2.json", "n2");
    entries_to_read = 2; /* the folder and n1 */
    assert_int_equal(xb_fleet_read(&fleet, root, &error), XB_OK);
    entries_to_read = SIZE_MAX;
    assert_int_equal(fleet.node_count, 1);
    assert_int_equal(fleet.unread_count, 1);
    assert_string_equal(fleet.left_out[0].what, root);
    assert_has(fleet.left_out[0].why, "(ENOMEM)");
    close_fleet(NULL);
}

TEST_OF_FILES(a_folder_is_read_in_the_order_of_names)
{
    const char *root = *state;
    char path[PATH_MAX];
    assert_int_equal(open_fleet(NULL), 0);
    write_node(root, "n10.json", "n10");
    write_node(root, "n2.json", "n2");
    write_node(root, "a/b/n3.ndjson", "n3");
    write_node(root, "a/n4.jsonl", "n4");
    write_node(root, "notes.txt", "no");
    write_node(root, "json", "no");
    snprintf(path, sizeof path, "%s/round", root);
    assert_int_equal(symlink(".", path), 0); /* not followed, else it never ended */
    snprintf(path, sizeof path, "%s/a/other.json", root);
    assert_int_equal(symlink("../n2.json", path), 0);
    snprintf(path, sizeof path, "%s/x.json", root);
    assert_int_equal(symlink("x.json", path), 0);
    snprintf(path, sizeof path, "%s/y.json", root);
    assert_int_equal(mkfifo(path, 0600), 0); /* opening it would wait */
    assert_int_equal(xb_fleet_read(&fleet, root, &error), XB_OK);
    static const char *const names[] = {"n3", "n4", "n2", "n10"};
    assert_int_equal(fleet.node_count, 4);
    assert_int_equal(fleet.source_count, 5);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(fleet.nodes[i]->name, names[i]);
    snprintf(path, sizeof path, "%s/a/b/n3.ndjson", root);
    assert_string_equal(fleet.sources[0].path, path);
    assert_int_equal(fleet.left_out_count, 2);
    assert_has(fleet.left_out[0].what, "/x.json");
    assert_has(fleet.left_out[0].why, "ELOOP");
    assert_has(fleet.left_out[1].why, "no regular file");
    xb_fleet_free(&fleet);
}

TEST_OF_FILES(what_cannot_be_read_is_left_out)
{
    const char *root = *state;
    char path[PATH_MAX];
    assert_int_equal(open_fleet(NULL), 0);
    assert_int_equal(xb_fleet_read(&fleet, root, &error), XB_OK);
    assert_has(fleet.left_out[0].why, "no file that ends with .json");
    snprintf(path, sizeof path, "%s/not-there", root);
    assert_int_equal(xb_fleet_read(&fleet, path, &error), XB_OK);
    assert_string_equal(fleet.left_out[1].what, path);
    assert_has(fleet.left_out[1].why, "ENOENT");
    assert_int_equal(xb_fleet_read(&fleet, "/dev/null", &error), XB_OK);
    assert_has(fleet.left_out[2].why, "no regular file");
    write_file(root, "named.txt", result_text); /* a file that is named may have any name */
    snprintf(path, sizeof path, "%s/named.txt", root);
    assert_int_equal(xb_fleet_read(&fleet, path, &error), XB_OK);
    assert_int_equal(fleet.source_count, 1);
    assert_int_equal(fleet.left_out_count, 3);
    xb_fleet_free(&fleet);
}

/* The last test: the signal stays noted. */
FIXTURE_TEST(a_signal_ends_reading)
{
    xb_interrupt_catch();
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(xb_fleet_read_text(&fleet, "a.json", 0, "{}", 2, &error), XB_ERR_STOPPED);
    assert_int_equal(xb_fleet_read(&fleet, "-", &error), XB_ERR_STOPPED);
    assert_int_equal(fleet.left_out_count, 0);
}
