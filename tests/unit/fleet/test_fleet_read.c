/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
/* What documents say of their nodes, in a fleet; and what files and folders are read. */
#include "base/interrupt.h"
#include "checks.h"
#include "document_fixture.h"
#include "fixture_tree.h"
#include "fleet_fixture.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <signal.h>

#define FIXTURE_TEST(name) TEST_WITH(name, open_fleet, close_fleet)

static struct xb_error error;

static int open_fleet(NO_STATE)
{
    xb_fleet_open(&fleet);
    fleet.now = 1795000000; /* whatever the clock says */
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

/* ---- documents as texts ---- */

static void begin_again(void)
{
    close_fleet(NULL);
    open_fleet(NULL);
}

/* A base of the golden cases, of a node called n1. Its first GPU has a slower attempt before. */
static cJSON *link_tree(void)
{
    cJSON *tree = golden_base("link/peers");
    put(tree, "host.node", "null");
    put(tree, "host.hostname", "\"n1\"");
    put(tree, "devices[1].uuid", "\"GPU-2\"");
    put(tree, "devices[0].verdict.attempt", "1");
    cJSON *attempts = (cJSON *)at(tree, "devices.0.attempts");
    cJSON_InsertItemInArray(attempts, 0, cJSON_Duplicate(cJSON_GetArrayItem(attempts, 0), true));
    put(tree, "devices[0].attempts[0].h2d_bytes_per_second", "30e9");
    put(tree, "devices[0].attempts[0].d2h_bytes_per_second", "31e9");
    return tree;
}

static void read_changed(UNTOLD, char **words)
{
    cJSON *tree = words[0][0] == 'r' ? result_tree() : link_tree();
    for (char **word = words + 1; *word != NULL; word++) {
        char *value = strchr(*word, '=');
        *value++ = '\0';
        put(tree, *word, *value != '\0' ? value : NULL);
    }
    take(tree);
}

static void read_merged(UNTOLD, char **words)
{
    cJSON *documents[MOST_WORDS];
    size_t count = 0;
    for (; words[1 + count] != NULL; count++)
        documents[count] = result_of_bandwidth(words[1 + count]);
    take(merge((int)count, count, documents));
}

static void read_plain(UNTOLD, char **words)
{
    take_text(words[1]);
}

static void tell_values(FILE *told)
{
    for (size_t i = 0; i < fleet.figure_count; i++) {
        tell_figure(told, fleet.figures[i]);
        for (size_t k = 0; k < fleet.value_count; k++) {
            const struct xb_fleet_value *own = &fleet.values[k];
            if (own->figure != fleet.figures[i])
                continue;
            fprintf(told, "      GPU %u", own->gpu->index);
            if (own->peer >= 0)
                fprintf(told, ">%d", own->peer);
            fprintf(told, ": %.6g +- %.4g, by document %zu of %lld\n", own->value, own->scatter,
                    own->source, (long long)own->written);
        }
    }
}

static void tell_fleet(FILE *told, NO_WORDS)
{
    for (size_t i = 0; i < fleet.source_count; i++) {
        const struct xb_fleet_source *own = &fleet.sources[i];
        fprintf(told, "%s of %lld, counts as %lld, began %.3f, late %g%s", own->kind,
                (long long)own->dated, (long long)own->written, own->began, own->late_s,
                own->unsynchronised ? ", unsynchronised" : "");
        fprintf(told, ", rank %u of %u\n", own->rank, own->ranks);
    }
    for (size_t i = 0; i < fleet.node_count; i++)
        fprintf(told, "node %s: host %s, driver %s of %lld\n", fleet.nodes[i]->name,
                known(fleet.nodes[i]->hostname), known(fleet.nodes[i]->driver),
                (long long)fleet.nodes[i]->driver_told);
    for (size_t i = 0; i < fleet.gpu_count; i++) {
        const struct xb_fleet_gpu *own = fleet.gpus[i];
        fprintf(told, "GPU %u: %s, %s at %s, %g GT/s x%u, of %lld\n", own->index, known(own->model),
                known(own->uuid), known(own->pci_bdf), own->link_speed_gts, own->link_width,
                (long long)own->told);
    }
    tell_values(told);
    for (size_t i = 0; i < fleet.complaint_count; i++) {
        const struct xb_fleet_finding *own = &fleet.complaints[i];
        fprintf(told, "%s, ", xb_fleet_sayings[own->code].name);
        fprintf(told, own->gpu != NULL ? "GPU %u" : "the node",
                own->gpu != NULL ? own->gpu->index : 0);
        fprintf(told, ": %s\n", own->text);
        if (own->causes != NULL)
            fprintf(told, "      cause: \"%s\"\n", own->causes);
    }
    for (size_t i = 0; i < fleet.left_out_count; i++)
        fprintf(told, "left out: %s: %s\n", fleet.left_out[i].what, fleet.left_out[i].why);
    if (fleet.unread_count > 0)
        fprintf(told, "%zu of them may be any node's\n", fleet.unread_count);
}

FIXTURE_TEST(documents_say_of_their_nodes)
{
    static const struct verb verbs[] = {
        {"result", read_changed}, {"link", read_changed}, {"merged", read_merged},
        {"text", read_plain},     {"tell", tell_fleet},   {NULL, NULL},
    };
    run_cases("fleet/read", verbs, begin_again);
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
TREE_TEST(a_list_that_breaks_off_is_told)
{
    const char *root = *state;
    open_fleet(NULL);
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

TREE_TEST(a_folder_is_read_in_the_order_of_names)
{
    const char *root = *state;
    char path[PATH_MAX];
    open_fleet(NULL);
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

/* The last test: the signal stays noted. */
FIXTURE_TEST(a_signal_ends_reading)
{
    xb_interrupt_catch();
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(xb_fleet_read_text(&fleet, "a.json", 0, "{}", 2, &error), XB_ERR_STOPPED);
    assert_int_equal(xb_fleet_read(&fleet, "-", &error), XB_ERR_STOPPED);
    assert_int_equal(fleet.left_out_count, 0);
}
