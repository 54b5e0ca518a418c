/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of Nsight Systems, made here: as releases write them, and as none does. */
#define _GNU_SOURCE /* nftw */
#include "trace/profile.h"

#include <sqlite3.h>

#include "testing.h"

#define WITH_TREE(test) TEST_WITH(test, make_tree, remove_tree)

#include "fixture_tree.h"

#define COLUMNS "start INTEGER, end INTEGER, "
#define GPU COLUMNS "deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER"
#define PROCESS "(9 << 48) + (4711 << 24)"

static struct xb_profiles got;
static struct xb_error error;

static enum xb_status read_made(void **state, const char *statements)
{
    char path[PATH_MAX];
    sqlite3 *base = NULL;
    snprintf(path, sizeof path, "%s/a %%41?b#.sqlite", (const char *)*state);
    (void)remove(path);
    assert_int_equal(sqlite3_open(path, &base), SQLITE_OK);
    if (sqlite3_exec(base, statements, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(base));
    assert_int_equal(sqlite3_close(base), SQLITE_OK);
    xb_profiles_free(&got);
    memset(&error, 0, sizeof error);
    enum xb_status status = xb_profiles_read(&got, path, &error);
    xb_profiles_sort(&got);
    if (status != XB_OK)
        assert_non_null(strstr(error.message, path));
    return status;
}

WITH_TREE(reads_all_tables)
{
    assert_int_equal(
        read_made(
            state,
            "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
            "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.5.2.266');"
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
            "INSERT INTO StringIds VALUES (1, 'cudaMemcpyAsync_v3020'), (2, 'add(int)'), (3, "
            "'epoch#3');"
            "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
            "INSERT INTO PROCESSES VALUES (" PROCESS ", 4711, '/bin/train');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (" COLUMNS
            "globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " PROCESS " + 4712, 5, 1),"
            "(11, 12, " PROCESS " + 4712, 6, 99), (30, 20, 0, 0, 1), (0, NULL, 0, 0, 1),"
            "(-9223372036854775807, 9223372036854775807, 0, 0, 1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" GPU
            ", bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (15, 25, 1, 7, 5, " PROCESS
            ", 4096, 1, 0, 2), (16, 26, 1, 7, 6, NULL, 1, 2, 2, 77);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (" GPU ", bytes INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (26, 27, 0, 7, 0, " PROCESS ", 5);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (" GPU ", demangledName INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (28, 29, 0, 7, 0, " PROCESS ", 2);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (" GPU ", graphId INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (30, 31, 0, 7, 0, " PROCESS ", 2);"
            "CREATE TABLE NVTX_EVENTS (" COLUMNS "text TEXT, globalTid INTEGER, textId INTEGER);"
            "INSERT INTO NVTX_EVENTS VALUES (5, 50, 'load 17', " PROCESS " + 1, NULL),"
            "(6, 7, NULL, " PROCESS " + 1, 3), (8, NULL, 'a point', " PROCESS " + 1, NULL);"),
        XB_OK);
    assert_string_equal(got.source, "Nsight Systems 2025.5.2");
    assert_int_equal(got.count, 1);
    assert_int_equal(got.left_out, 3);
    const struct xb_profile *program = &got.items[0];
    assert_int_equal(program->process, 4711);
    assert_string_equal(program->name, "/bin/train");
    static const struct {
        const char *name;
        enum xb_activity_kind kind;
    } expected[] = {
        {"load", XB_ACTIVITY_RANGE},
        {"epoch", XB_ACTIVITY_RANGE}, /* without its number, as the others */
        {"cudaMemcpyAsync", XB_ACTIVITY_CALL},
        {"call", XB_ACTIVITY_CALL},
        {"", XB_ACTIVITY_COPY}, /* nobody asks what these are called */
        {"", XB_ACTIVITY_COPY},
        {"", XB_ACTIVITY_FILL},
        {"", XB_ACTIVITY_KERNEL},
        {"", XB_ACTIVITY_KERNEL},
    };
    assert_int_equal(program->count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < program->count; i++) {
        assert_string_equal(got.names[program->activities[i].name], expected[i].name);
        assert_int_equal(program->activities[i].kind, expected[i].kind);
    }
    const struct xb_activity *call = &program->activities[2], *copy = &program->activities[4];
    assert_int_equal(call->track, program->activities[3].track);
    assert_int_not_equal(call->track, program->activities[0].track); /* another thread */
    assert_int_not_equal(copy->track, program->activities[7].track); /* another device */
    assert_int_equal(program->activities[7].track, program->activities[8].track);
    assert_int_equal(call->device, -1);
    assert_int_equal(copy->device, 1);
    assert_int_equal(copy->link, call->link);
    assert_int_equal(copy->bytes, 4096);
    assert_int_equal(copy->way, XB_WAY_TO_GPU);
    assert_int_equal(copy->host, XB_HOST_MEMORY_PAGEABLE);
    assert_int_equal(program->activities[5].host, XB_HOST_MEMORY_UNKNOWN);
    assert_false(got.lacks_calls);
}

/* Of every kind of copy and of memory, and of what is none; without names, devices and processes.
 */
WITH_TREE(reads_what_has_little)
{
    static const struct {
        enum xb_way way;
        enum xb_host_memory host;
    } expected[] = {
        {XB_WAY_UNKNOWN, XB_HOST_MEMORY_UNKNOWN}, {XB_WAY_TO_GPU, XB_HOST_MEMORY_PAGEABLE},
        {XB_WAY_BACK, XB_HOST_MEMORY_PINNED},     {XB_WAY_TO_GPU, XB_HOST_MEMORY_PINNED},
        {XB_WAY_BACK, XB_HOST_MEMORY_PAGEABLE},   {XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},  {XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},  {XB_WAY_HOST, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_PEER, XB_HOST_MEMORY_UNKNOWN},    {XB_WAY_TO_GPU, XB_HOST_MEMORY_MANAGED},
        {XB_WAY_BACK, XB_HOST_MEMORY_MANAGED},    {XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_UNKNOWN, XB_HOST_MEMORY_UNKNOWN}, {XB_WAY_TO_GPU, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_TO_GPU, XB_HOST_MEMORY_MANAGED},  {XB_WAY_TO_GPU, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_TO_GPU, XB_HOST_MEMORY_MANAGED},  {XB_WAY_TO_GPU, XB_HOST_MEMORY_UNKNOWN},
        {XB_WAY_UNKNOWN, XB_HOST_MEMORY_UNKNOWN},
    };
    assert_int_equal(
        read_made(
            state,
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (" COLUMNS "copyKind, srcKind, dstKind);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 1, 0, 0, 0), (1, 2, 1, 0, 2),"
            "(2, 3, 2, 2, 1), (3, 4, 3, 1, 3), (4, 5, 4, 3, 0), (5, 6, 5, 3, 3), (6, 7, 6, 3, "
            "2), (7, 8, 7, 2, 3), (8, 9, 8, 2, 2), (9, 10, 9, 0, 1), (10, 11, 10, NULL, NULL),"
            "(11, 12, 11, NULL, NULL), (12, 13, 12, 2, 4), (13, 14, 13, 4, 4),"
            "(14, 15, 14, 0, 0), (15, 16, 1, 3, 2), (16, 17, 1, 4, 2), (17, 18, 1, 5, 2),"
            "(18, 19, 1, 6, 2), (19, 20, 1, 7, 2), (20, 21, -1, -1, NULL);"),
        XB_OK);
    assert_string_equal(got.source, "Nsight Systems");
    const struct xb_activity *copies = got.items[0].activities;
    assert_int_equal(got.items[0].count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < got.items[0].count; i++)
        if (copies[i].way != expected[i].way || copies[i].host != expected[i].host)
            fail_msg("copy %zu: way %u, memory %u", i, copies[i].way, copies[i].host);
    assert_int_equal(copies[3].device, -1);
    assert_true(got.lacks_calls);
}

WITH_TREE(refuses_what_nsys_does_not_write)
{
    assert_int_equal(read_made(state, "CREATE TABLE other (a)"), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "is no export of Nsight Systems"));
    assert_int_equal(read_made(state, "CREATE TABLE t (" COLUMNS
                                      "x); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS "
                                      "SELECT * FROM t"),
                     XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "CUPTI_ACTIVITY_KIND_KERNEL is no table"));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/a %%41?b#.sqlite", (const char *)*state);
    assert_int_equal(truncate(path, 2000), 0);
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "SQLite: "));
    xb_profiles_free(&got);
}

static int free_all(NO_STATE)
{
    xb_profiles_free(&got);
    return 0;
}

GROUP(NULL, free_all)
