/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_profile FILE...: prints what was read of each trace. FILE.lines has a trace a line, +FILE
 * is one more of those before it, FILE.sql are statements that make an SQLite base, which is read.
 * For golden cases.
 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "trace/profile.h"

#ifdef HAS_SQLITE
#include <sqlite3.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE "a %41?b#.sqlite" /* with letters that mean something in an address */

static struct xb_profiles got;
static int64_t first; /* nanoseconds of the first activity, from which others are told */

static void print_activity(const struct xb_activity *one)
{
    static const char *const kinds[] = {"copy", "fill", "kernel", "work", "wait", "call", "range"};
    static const char *const ways[] = {"", " to GPU", " back", " within", " to peer", " in host"};
    static const char *const hosts[] = {"", " pageable", " pinned", " managed"};
    static const char *const ranges[] = {" (operator)", " (mark)", " (line)"};
    printf("    %s%s%s%s %lld-%lld", kinds[one->kind], ways[one->way], hosts[one->host],
           one->kind == XB_ACTIVITY_RANGE ? ranges[one->range] : "",
           (long long)(one->begin - first), (long long)(one->end - first));
    if (one->name != 0)
        printf(" \"%s\"", got.names[one->name]);
    if (one->bytes != 0)
        printf(", %llu B", (unsigned long long)one->bytes);
    if (one->device >= 0)
        printf(", device %d", one->device);
    if (one->link != 0)
        printf(", link %u", one->link);
    if (one->stage != 0)
        printf(", stage %s", got.names[one->stage]);
    printf(", track %u\n", one->track);
}

static void print_program(const struct xb_profile *one)
{
    printf("  program %llu %s%s", (unsigned long long)one->process,
           one->name != NULL ? one->name : "without a name", one->is_cut ? ", cut" : "");
    if (one->dropped > 0)
        printf(", %llu dropped", (unsigned long long)one->dropped);
    printf("%s%s\n", one->problem != NULL ? ", problem: " : "",
           one->problem != NULL ? one->problem : "");
    for (size_t i = 0; i < one->track_count; i++)
        printf("    track %u is %s\n", one->tracks[i].track, one->tracks[i].name);
    for (size_t i = 0; i < one->count; i++)
        print_activity(&one->activities[i]);
}

static void print(const char *name, enum xb_status status, const struct xb_error *error)
{
    if (status != XB_OK) {
        printf("%s: %s\n", name, error->message);
        return;
    }
    xb_profiles_sort(&got);
    printf("%s: by %s%s%s%s, %zu left out, %zu activities\n", name, got.source,
           got.is_pytorch ? ", PyTorch" : "", got.is_hip ? ", HIP" : "",
           got.lacks_calls ? ", lacks calls" : "", got.left_out, got.activity_count);
    first = got.activity_count > 0 && got.items[0].count > 0 ? got.items[0].activities[0].begin : 0;
    printf("  begins at %lld ns\n", (long long)first);
    for (size_t i = 0; i < got.count; i++)
        print_program(&got.items[i]);
}

static void read_lines(const char *path, struct xb_error *error)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    char name[32];
    unsigned number = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        exit(99);
    while ((length = getline(&line, &size, file)) > 0) {
        line[--length] = '\0';
        xb_profiles_free(&got);
        snprintf(name, sizeof name, "line %u", ++number);
        print(name, xb_events_read(&got, path, -1, line, (size_t)length, error), error);
    }
    free(line);
    (void)fclose(file);
}

#ifdef HAS_SQLITE
static void make_base(const char *statements)
{
    char text[8192];
    sqlite3 *base = NULL;
    FILE *file = fopen(statements, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file == NULL || fclose(file) != 0 || sqlite3_open(MADE, &base) != SQLITE_OK ||
        sqlite3_exec(base, text, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", statements, sqlite3_errmsg(base));
        exit(99);
    }
    (void)sqlite3_close(base);
}
#endif

static void read_file(const char *word)
{
    struct xb_error error = {.status = XB_OK};
    const char *path = word + (word[0] == '+'), *end = strrchr(word, '.');
    if (end != NULL && strcmp(end, ".lines") == 0) {
        read_lines(path, &error);
        return;
    }
    if (word[0] != '+')
        xb_profiles_free(&got);
#ifdef HAS_SQLITE
    if (end != NULL && strcmp(end, ".sql") == 0) {
        make_base(path);
        path = MADE;
    }
#endif
    print(word, xb_profiles_read(&got, path, &error), &error);
    (void)remove(MADE);
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++)
        read_file(words[i]);
    xb_profiles_free(&got);
    return 0;
}
