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
#define LARGEST (1 << 26)                   /* bytes of a row */
#define NAMED 1000                          /* programs whose names are looked up */
#define IN_PROCESS UINT64_C(0xFFFFFF)       /* the thread, in the number of one anywhere */
#define PROCESS_OF(number) ((number) >> 24) /* with the machine; that of a process is the same */

struct export
{
    sqlite3 *base;
    const char *path;
    struct xb_profiles *profiles;
    struct xb_error *error;
    size_t first; /* program of this file */
    char ways[16][32], memories[16][32];
};

static const struct table {
    const char *name;
    enum xb_activity_kind kind;
    const char *owner;  /* the column */
    const char *called; /* the column with the number of its name in StringIds */
    const char *other;  /* its name where there is none */
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", XB_ACTIVITY_CALL, "globalTid", "nameId", "call"},
    {"CUPTI_ACTIVITY_KIND_DRIVER", XB_ACTIVITY_CALL, "globalTid", "nameId", "call"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", XB_ACTIVITY_KERNEL, "globalPid", "demangledName", "kernel"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", XB_ACTIVITY_KERNEL, "globalPid", "none", "CUDA graph"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", XB_ACTIVITY_COPY, "globalPid", "none", "Memcpy"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", XB_ACTIVITY_FILL, "globalPid", "none", "Memset"},
    {"NVTX_EVENTS", XB_ACTIVITY_RANGE, "globalTid", "textId", "range"},
};

static enum xb_status fail(const struct export *e)
{
    bool lacks_memory = sqlite3_errcode(e->base) == SQLITE_NOMEM;
    return XB_FAIL(e->error, lacks_memory ? XB_ERR_MEMORY : XB_ERR_USAGE, "%.300s: SQLite: %s",
                   e->path, sqlite3_errmsg(e->base));
}

/* The text that a query finds first, for an argument; `other` where there is none. Release it. */
static char *find_text(const struct export *e, const char *query, int64_t argument,
                       const char *other)
{
    sqlite3_stmt *rows = NULL;
    const char *text = NULL;
    (void)sqlite3_prepare_v2(e->base, query, -1, &rows, NULL);
    (void)sqlite3_bind_int64(rows, 1, argument);
    if (rows != NULL && sqlite3_step(rows) == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(rows, 0);
    char *copy = xb_copy(text != NULL ? text : other);
    sqlite3_finalize(rows);
    return copy;
}

/* What kinds of copies and of memory are called: by the file, where it says so. */
static void read_labels(struct export *e)
{
    static const char ways[16][16] = {"",     "HtoD",         "DtoH",         "HtoA",        "AtoH",
                                      "AtoA", "AtoD",         "DtoA",         "DtoD",        "HtoH",
                                      "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};
    static const char memories[16][16] = {"Pageable", "Pinned",        "Device",        "Array",
                                          "Managed",  "Device Static", "Managed Static"};
    for (int i = 0; i < 16; i++) {
        char *way =
            find_text(e, "SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = ?1", i, ways[i]);
        char *memory =
            find_text(e, "SELECT label FROM ENUM_CUDA_MEM_KIND WHERE id = ?1", i, memories[i]);
        snprintf(e->ways[i], sizeof e->ways[i], "%s", way);
        snprintf(e->memories[i], sizeof e->memories[i], "%s", memory);
        free(way);
        free(memory);
    }
}

/* ---- rows ---- */

enum { BEGIN, END, OWNER, LINK, DEVICE, STREAM, BYTES, WAY, FROM, TO, NAME, TEXT };

/* As Kineto names copies: "Memcpy HtoD (Pageable -> Device)". The words are those of enum xb_way.
 */
static void read_copy(const struct export *e, sqlite3_stmt *row, struct xb_activity *copy)
{
    static const char *const words[] = {"of unknown way", "HtoD", "DtoH", "DtoD", "PtoP", "HtoH"};
    char name[128];
    const char *labels[3] = {"", "", ""}; /* way, from, to */
    for (int i = 0; i < 3; i++) {
        sqlite3_int64 number = sqlite3_column_int64(row, WAY + i);
        if (sqlite3_column_type(row, WAY + i) == SQLITE_INTEGER && number >= 0 && number < 16)
            labels[i] = i == 0 ? e->ways[number] : e->memories[number];
    }
    snprintf(name, sizeof name, "%s (%s -> %s)", labels[0], labels[1], labels[2]);
    xb_copy_read_name(name, copy);
    snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", words[copy->way], labels[1], labels[2]);
    copy->name = xb_profiles_name(e->profiles, name);
}

static enum xb_status read_row(struct export *e, const struct table *table, sqlite3_stmt *row)
{
    struct xb_profiles *profiles = e->profiles;
    bool is_of_thread = table->kind == XB_ACTIVITY_CALL || table->kind == XB_ACTIVITY_RANGE;
    sqlite3_int64 begin = sqlite3_column_int64(row, BEGIN), end = sqlite3_column_int64(row, END);
    sqlite3_int64 link = sqlite3_column_int64(row, LINK), bytes = sqlite3_column_int64(row, BYTES);
    sqlite3_int64 device = sqlite3_column_int64(row, DEVICE);
    uint64_t owner = (uint64_t)sqlite3_column_int64(row, OWNER), process = PROCESS_OF(owner);
    const char *text = (const char *)sqlite3_column_text(row, TEXT);
    const char *name = text != NULL ? text : (const char *)sqlite3_column_text(row, NAME);
    bool has_end = sqlite3_column_type(row, END) == SQLITE_INTEGER;
    if (!has_end && table->kind == XB_ACTIVITY_RANGE)
        return XB_OK; /* a point in time */
    if (!has_end || begin < -LATEST || begin > LATEST || end < begin || end > LATEST) {
        profiles->left_out++;
        return XB_OK;
    }
    if (sqlite3_column_type(row, OWNER) == SQLITE_NULL) /* that of the calls, which were first */
        process = profiles->count > e->first ? profiles->items[e->first].process : 0;
    struct xb_activity activity = {.begin = begin,
                                   .end = end,
                                   .bytes = bytes > 0 ? (uint64_t)bytes : 0,
                                   .link = link > 0 && link <= UINT32_MAX ? (uint32_t)link : 0,
                                   .device = -1,
                                   .kind = (uint8_t)table->kind,
                                   .range = XB_RANGE_MARK};
    if (!is_of_thread && device >= 0 && device <= INT16_MAX &&
        sqlite3_column_type(row, DEVICE) == SQLITE_INTEGER)
        activity.device = (int16_t)device;
    if (table->kind == XB_ACTIVITY_COPY)
        read_copy(e, row, &activity);
    else
        activity.name = xb_profiles_name(profiles, name != NULL ? name : table->other);
    activity.track = xb_profiles_track(
        profiles, process, activity.device,
        is_of_thread ? owner & IN_PROCESS : (uint64_t)sqlite3_column_int64(row, STREAM));
    if (xb_profile_add(profiles, xb_profiles_find(profiles, process), &activity))
        return XB_OK;
    return XB_FAIL(e->error, XB_ERR_USAGE, "%.300s: these are more activities than are kept",
                   e->path);
}

/* ---- tables ---- */

static bool has_column(const struct export *e, const char *table, const char *name)
{
    char query[160];
    snprintf(query, sizeof query, "SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s'", table,
             name);
    char *answer = find_text(e, query, 0, "");
    bool is_there = answer[0] != '\0';
    free(answer);
    return is_there;
}

/* A view or a virtual table in its place is refused: nsys makes neither. */
static enum xb_status look_for(const struct export *e, const char *table, bool *is_there)
{
    char query[160];
    snprintf(query, sizeof query,
             "SELECT type = 'table' AND rootpage > 0 FROM sqlite_master WHERE name = '%s'", table);
    char *answer = find_text(e, query, 0, "");
    bool is_made_up = answer[0] == '0';
    *is_there = answer[0] == '1';
    free(answer);
    if (!is_made_up)
        return XB_OK;
    return XB_FAIL(e->error, XB_ERR_USAGE, "%.300s: %s is no table, which Nsight Systems writes",
                   e->path, table);
}

static enum xb_status read_table(struct export *e, const struct table *table, bool has_names)
{
    const char *const columns[] = {"start",    "end",   table->owner, "correlationId", "deviceId",
                                   "streamId", "bytes", "copyKind",   "srcKind",       "dstKind"};
    enum xb_status status = XB_OK;
    sqlite3_stmt *rows = NULL;
    sqlite3_str *query = sqlite3_str_new(e->base);
    sqlite3_str_appendall(query, "SELECT ");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sqlite3_str_appendf(query, has_column(e, table->name, columns[i]) ? "t.\"%w\", " : "NULL, ",
                            columns[i]);
    has_names = has_names && has_column(e, table->name, table->called);
    sqlite3_str_appendf(query, "%s, %s FROM \"%w\" AS t", has_names ? "s.value" : "NULL",
                        has_column(e, table->name, "text") ? "t.text" : "NULL", table->name);
    if (has_names)
        sqlite3_str_appendf(query, " LEFT JOIN StringIds AS s ON s.id = t.\"%w\"", table->called);
    char *text = sqlite3_str_finish(query);
    int outcome = sqlite3_prepare_v2(e->base, text, -1, &rows, NULL);
    while (status == XB_OK && outcome == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW)
        status = read_row(e, table, rows);
    if (status == XB_OK && (outcome != SQLITE_OK || sqlite3_errcode(e->base) != SQLITE_DONE))
        status = fail(e);
    sqlite3_finalize(rows);
    sqlite3_free(text);
    return status;
}

/* The numbers of processes have been those of the machine's, too: without it from here on. */
static void finish(struct export *e)
{
    struct xb_profiles *profiles = e->profiles;
    char *release = find_text(e,
                              "SELECT value FROM META_DATA_EXPORT "
                              "WHERE name = 'EXPORT_PRODUCT_VERSION'",
                              0, "");
    char *end = release;
    for (int points = 0; *end != '\0' && (*end != '.' || ++points < 3);)
        end++; /* 2025.5.2 of 2025.5.2.266 */
    if (profiles->source == NULL)
        profiles->source = xb_arena_print(&profiles->memory, "Nsight Systems%s%.*s",
                                          end > release ? " " : "", (int)(end - release), release);
    free(release);
    for (size_t i = e->first; i < profiles->count; i++) {
        struct xb_profile *profile = &profiles->items[i];
        char *name = i - e->first < NAMED
                         ? find_text(e, "SELECT name FROM PROCESSES WHERE globalPid >> 24 = ?1",
                                     (int64_t)profile->process, "")
                         : xb_copy("");
        profile->process &= IN_PROCESS;
        const uint32_t place = name[0] != '\0' ? xb_profiles_name(profiles, name) : 0;
        if (name[0] != '\0')
            profile->name = profiles->names[place];
        free(name);
    }
}

/* ---- the file ---- */

/* Nothing is written, locked or run. */
static enum xb_status open_base(struct export *e, int file)
{
    char uri[64]; /* by the descriptor: a path would have to be escaped */
    snprintf(uri, sizeof uri, "file:///proc/self/fd/%d?mode=ro&immutable=1", file);
    int outcome = sqlite3_open_v2(uri, &e->base, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    if (e->base == NULL)
        return XB_FAIL(e->error, XB_ERR_MEMORY, "no memory to read %.300s", e->path);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(e->base, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_LENGTH, LARGEST);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_EXPR_DEPTH, 100);
    (void)sqlite3_limit(e->base, SQLITE_LIMIT_ATTACHED, 0);
    bool is_fine =
        outcome == SQLITE_OK && sqlite3_exec(e->base,
                                             "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
                                             "SELECT count(*) FROM sqlite_master",
                                             NULL, NULL, NULL) == SQLITE_OK;
    return is_fine ? XB_OK : fail(e);
}

enum xb_status xb_nsys_read(struct xb_profiles *profiles, const char *path, int file,
                            struct xb_error *error)
{
    struct export e = {
        .profiles = profiles, .path = path, .error = error, .first = profiles->count};
    bool has_names = false, has_any = false, is_there = false;
    enum xb_status status = open_base(&e, file);
    if (status == XB_OK)
        status = look_for(&e, "StringIds", &has_names);
    if (status == XB_OK)
        read_labels(&e);
    for (size_t i = 0; status == XB_OK && i < sizeof tables / sizeof tables[0]; i++) {
        status = look_for(&e, tables[i].name, &is_there);
        has_any = has_any || is_there;
        if (status == XB_OK && is_there)
            status = read_table(&e, &tables[i], has_names);
    }
    if (status == XB_OK && !has_any && !has_names)
        status = XB_FAIL(error, XB_ERR_USAGE, "%.300s: is no export of Nsight Systems", path);
    if (status == XB_OK)
        finish(&e);
    (void)sqlite3_close(e.base);
    return status;
}
