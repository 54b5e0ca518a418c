/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `nsys export --type=sqlite` wrote, after its "SQLite Export Schema Reference". A table is
 * there where there was something to put in, and columns differ from release to release. The file
 * may come from anywhere: nothing in it is run, and no view is looked through.
 */
#include "profile.h"

#include "base/memory.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATEST (INT64_C(1) << 61)           /* any two times are less than 2^63 ns apart */
#define LACKING INT64_MIN                   /* stands for what is no number */
#define LARGEST (1 << 26)                   /* bytes of a row */
#define IN_PROCESS UINT64_C(0xFFFFFF)       /* the thread, in the number of one anywhere */
#define PROCESS_OF(number) ((number) >> 24) /* with the machine; that of a process is the same */

enum { BEGIN, END, OWNER, LINK, DEVICE, STREAM, BYTES, WAY, FROM, TO, TEXT, NAME, COLUMNS };

struct export
{
    sqlite3 *base;
    const char *path;
    struct xb_profiles *profiles;
    struct xb_error *error;
    size_t first;          /* program of this file */
    bool has_any;          /* of the tables */
    int columns[COLUMNS];  /* of the table that is read; -1: it lacks that one */
    enum xb_status status; /* of the first failure */
};

static const struct table {
    const char *name;
    enum xb_activity_kind kind;
    const char *called; /* of what a thread does: the column with its name's number in StringIds */
    const char *other;  /* its name where there is none */
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", XB_ACTIVITY_CALL, "nameId", "call"},
    {"CUPTI_ACTIVITY_KIND_DRIVER", XB_ACTIVITY_CALL, "nameId", "call"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", XB_ACTIVITY_KERNEL, NULL, NULL},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", XB_ACTIVITY_KERNEL, NULL, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", XB_ACTIVITY_COPY, NULL, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMSET", XB_ACTIVITY_FILL, NULL, NULL},
    {"NVTX_EVENTS", XB_ACTIVITY_RANGE, "textId", "range"},
};

static void fail(struct export *e)
{
    bool lacks_memory = sqlite3_errcode(e->base) == SQLITE_NOMEM;
    e->status = XB_FAIL(e->error, lacks_memory ? XB_ERR_MEMORY : XB_ERR_USAGE, "%.300s: SQLite: %s",
                        e->path, sqlite3_errmsg(e->base));
}

/* The rows of a query of what may be missing; NULL: it is. Up to two names go into it. */
static sqlite3_stmt *ask(const struct export *e, const char *query, const char *name,
                         const char *other)
{
    sqlite3_stmt *rows = NULL;
    char *text = sqlite3_mprintf(query, name, other);
    (void)sqlite3_prepare_v2(e->base, text, -1, &rows, NULL);
    sqlite3_free(text);
    return rows;
}

static const char *text_in(sqlite3_stmt *row, int column)
{
    return column >= 0 ? (const char *)sqlite3_column_text(row, column) : NULL;
}

/* The text of a column of the next row; NULL: there is none. Release the rows behind the last. */
static const char *next(sqlite3_stmt *rows, int column)
{
    bool is_there = rows != NULL && sqlite3_step(rows) == SQLITE_ROW;
    return is_there ? text_in(rows, column) : NULL;
}

static int64_t number_of(sqlite3_stmt *row, int column)
{
    bool is_it = column >= 0 && sqlite3_column_type(row, column) == SQLITE_INTEGER;
    return is_it ? sqlite3_column_int64(row, column) : LACKING;
}

/* Way and host's memory, by the numbers that ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND have. */
static void read_copy(const struct export *e, sqlite3_stmt *row, struct xb_activity *copy)
{
    enum { UNIFIED = 11, WAYS = 14, MEMORIES = 7 }; /* the first of three that the driver makes */
    enum { NO = XB_WAY_UNKNOWN, IN = XB_WAY_TO_GPU, OUT = XB_WAY_BACK, WITHIN = XB_WAY_WITHIN };
    static const uint8_t ways[WAYS] = {NO,          IN,     OUT,    IN,     OUT,
                                       WITHIN,      WITHIN, WITHIN, WITHIN, XB_WAY_HOST,
                                       XB_WAY_PEER, IN,     OUT,    WITHIN};
    static const uint8_t memories[MEMORIES] = {
        XB_HOST_MEMORY_PAGEABLE, XB_HOST_MEMORY_PINNED, 0, 0, XB_HOST_MEMORY_MANAGED, 0,
        XB_HOST_MEMORY_MANAGED};
    int64_t way = number_of(row, e->columns[WAY]);
    copy->way = way >= 0 && way < WAYS ? ways[way] : XB_WAY_UNKNOWN;
    if (copy->way != XB_WAY_TO_GPU && copy->way != XB_WAY_BACK)
        return;
    int64_t memory = number_of(row, e->columns[copy->way == XB_WAY_TO_GPU ? FROM : TO]);
    if (memory >= 0 && memory < MEMORIES)
        copy->host = memories[memory];
    if (copy->host == XB_HOST_MEMORY_UNKNOWN && way >= UNIFIED)
        copy->host = XB_HOST_MEMORY_MANAGED;
}

static void read_row(struct export *e, const struct table *table, sqlite3_stmt *row)
{
    struct xb_profiles *profiles = e->profiles;
    const int *at = e->columns;
    bool is_of_thread = table->called != NULL;
    int64_t begin = number_of(row, at[BEGIN]), end = number_of(row, at[END]),
            link = number_of(row, at[LINK]);
    int64_t bytes = number_of(row, at[BYTES]), device = number_of(row, at[DEVICE]);
    uint64_t owner = (uint64_t)number_of(row, at[OWNER]), process = PROCESS_OF(owner);
    const char *text = text_in(row, at[TEXT]);
    const char *name = text != NULL ? text : text_in(row, at[NAME]);
    if (end == LACKING && table->kind == XB_ACTIVITY_RANGE)
        return; /* a point in time */
    if (begin < -LATEST || begin > LATEST || end < begin || end > LATEST) {
        profiles->left_out++;
        return;
    }
    if (number_of(row, at[OWNER]) == LACKING) /* that of the calls, which were first */
        process = profiles->count > e->first ? profiles->items[e->first].process : 0;
    bool has_device = !is_of_thread && device >= 0 && device <= INT16_MAX;
    struct xb_activity activity = {.begin = begin,
                                   .end = end,
                                   .bytes = bytes > 0 ? (uint64_t)bytes : 0,
                                   .link = link > 0 && link <= UINT32_MAX ? (uint32_t)link : 0,
                                   .device = has_device ? (int16_t)device : -1,
                                   .kind = (uint8_t)table->kind,
                                   .range = XB_RANGE_MARK};
    if (table->kind == XB_ACTIVITY_COPY)
        read_copy(e, row, &activity);
    if (is_of_thread)
        xb_profiles_call(profiles, &activity, name != NULL ? name : table->other);
    uint64_t track = is_of_thread ? owner & IN_PROCESS : (uint64_t)number_of(row, at[STREAM]);
    activity.track = xb_profiles_track(profiles, process, activity.device, track);
    if (!xb_profile_add(profiles, xb_profiles_find(profiles, process), &activity))
        e->status = XB_FAIL(e->error, XB_ERR_USAGE,
                            "%.300s: these are more activities than are kept", e->path);
}

/* Reads a table, where it is there, by the names of its columns. */
static void read_table(struct export *e, const struct table *table)
{
    const char *owner = table->called != NULL ? "globalTid" : "globalPid";
    const char *const wanted[COLUMNS] = {"start",    "end",      owner,   "correlationId",
                                         "deviceId", "streamId", "bytes", "copyKind",
                                         "srcKind",  "dstKind",  "text",  "xb_name"};
    sqlite3_stmt *rows = NULL;
    if (table->called != NULL)
        rows = ask(e,
                   "SELECT t.*, s.value AS xb_name FROM \"%w\" AS t "
                   "LEFT JOIN StringIds AS s ON s.id = t.%s",
                   table->name, table->called);
    if (rows == NULL) /* without names */
        rows = ask(e, "SELECT * FROM \"%w\"", table->name, NULL);
    e->has_any = e->has_any || rows != NULL;
    for (int i = 0; i < COLUMNS; i++)
        e->columns[i] = -1;
    for (int i = 0; i < COLUMNS; i++)
        for (int k = sqlite3_column_count(rows); e->columns[i] < 0 && k-- > 0;)
            if (strcmp(sqlite3_column_name(rows, k), wanted[i]) == 0)
                e->columns[i] = k;
    while (e->status == XB_OK && rows != NULL && sqlite3_step(rows) == SQLITE_ROW)
        read_row(e, table, rows);
    if (e->status == XB_OK && rows != NULL && sqlite3_errcode(e->base) != SQLITE_DONE)
        fail(e);
    sqlite3_finalize(rows);
}

/* Says who recorded it and what the programs are called. Their numbers have been those of the
 * machine's, too: without it from here on. */
static void finish(const struct export *e)
{
    struct xb_profiles *profiles = e->profiles;
    const size_t count = profiles->count;
    sqlite3_stmt *rows = ask(
        e, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'", NULL, NULL);
    const char *text = next(rows, 0);
    int length = 0;
    for (int points = 0; text != NULL && text[length] != '\0'; length++)
        if (text[length] == '.' && ++points == 3)
            break; /* 2025.5.2 of 2025.5.2.266 */
    if (profiles->source == NULL)
        profiles->source = xb_arena_print(&profiles->memory, "Nsight Systems%s%.*s",
                                          length > 0 ? " " : "", length, length > 0 ? text : "");
    sqlite3_finalize(rows);
    rows = ask(e, "SELECT globalPid, name FROM PROCESSES WHERE name <> ''", NULL, NULL);
    while ((text = next(rows, 1)) != NULL) {
        const uint32_t place = xb_profiles_name(profiles, text); /* may move names */
        struct xb_profile *profile =
            xb_profiles_find(profiles, PROCESS_OF((uint64_t)number_of(rows, 0)));
        profile->name = profiles->names[place];
    }
    sqlite3_finalize(rows);
    profiles->count = count; /* without processes that did nothing with a GPU */
    for (size_t i = e->first; i < count; i++)
        profiles->items[i].process &= IN_PROCESS;
}

/* Nothing is written, locked or run. */
static void open_base(struct export *e, int file)
{
    char uri[64]; /* by the descriptor: a path would have to be escaped */
    snprintf(uri, sizeof uri, "file:///proc/self/fd/%d?mode=ro&immutable=1", file);
    int outcome = sqlite3_open_v2(uri, &e->base, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    if (e->base == NULL) {
        e->status = XB_FAIL(e->error, XB_ERR_MEMORY, "no memory to read %.300s", e->path);
        return;
    }
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_LENGTH, LARGEST);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_EXPR_DEPTH, 100);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_ATTACHED, 0);
    static const char begin[] = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
                                "SELECT count(*) FROM sqlite_master";
    if (outcome != SQLITE_OK || sqlite3_exec(e->base, begin, NULL, NULL, NULL) != SQLITE_OK)
        fail(e);
}

enum xb_status xb_nsys_read(struct xb_profiles *profiles, const char *path, int file,
                            struct xb_error *error)
{
    struct export e = {
        .profiles = profiles,
        .path = path,
        .error = error,
        .first = profiles->count,
    };
    open_base(&e, file);
    if (e.status == XB_OK) {
        /* A view or a virtual table is refused: nsys makes neither. */
        static const char others[] =
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND "
            "(type = 'view' OR rootpage = 0) AND (name IN ('StringIds', 'NVTX_EVENTS') OR "
            "name LIKE 'CUPTI_ACTIVITY_KIND_%%')";
        sqlite3_stmt *rows = ask(&e, others, NULL, NULL);
        const char *other = next(rows, 0);
        if (other != NULL)
            e.status =
                XB_FAIL(error, XB_ERR_USAGE,
                        "%.300s: %.60s is no table, which Nsight Systems writes", path, other);
        sqlite3_finalize(rows);
        rows = ask(&e, "SELECT value FROM StringIds", NULL, NULL);
        e.has_any = rows != NULL;
        sqlite3_finalize(rows);
    }
    for (size_t i = 0; e.status == XB_OK && i < sizeof tables / sizeof tables[0]; i++)
        read_table(&e, &tables[i]);
    if (e.status == XB_OK && !e.has_any)
        e.status = XB_FAIL(error, XB_ERR_USAGE, "%.300s: is no export of Nsight Systems", path);
    if (e.status == XB_OK)
        finish(&e);
    (void)sqlite3_close(e.base);
    return e.status;
}
