/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace events, of any length: the text is cut into one value after the other, and a JSON
 * tree is made of each alone. Brackets are counted, never entered, so depth takes no memory.
 */
#define _POSIX_C_SOURCE 200809L
#include "profile.h"

#include "base/json_read.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST ((size_t)1 << 20) /* of a value that is looked at */
#define LATEST_US 2.3e15 /* since 1970 in 2042: any two times are less than 2^63 ns apart */
#define ALL UINT64_MAX   /* stands for the process where a trace is of one program */

struct reader {
    struct xb_profiles *profiles;
    const char *path;
    struct xb_error *error;

    /* The text. */
    int file;       /* -1: all of it is the block */
    void *unpacker; /* of gzip.c */
    const unsigned char *block;
    size_t length, at; /* of the block */
    uint64_t before;   /* bytes before the block */
    char *value;       /* what was cut out, with a zero behind it; empty: it was too long */

    /* What it says. */
    uint64_t caller; /* the process that called the runtime */
    int caller_rank; /* why it is that one: 2 for a call, 1 for a range, 0: for nothing yet */

    enum xb_status status; /* of the first failure */
    bool is_cut;           /* the text has ended in the middle */
    bool has_events, is_explain;
    bool has_spans, is_own; /* of --trace: each process is a case. The first span tells */
    unsigned char room[65536];
};

static void refuse(struct reader *r, const char *what)
{
    if (r->status == XB_OK)
        r->status = XB_FAIL(r->error, XB_ERR_USAGE, "%.300s: byte %llu: %s", r->path,
                            (unsigned long long)(r->before + r->at), what);
}

/* The byte that comes next; EOF at the end, and where the file cannot be read. */
static int peek(struct reader *r)
{
    if (r->at < r->length)
        return r->block[r->at];
    if (r->status != XB_OK || r->file < 0)
        return EOF;
    r->before += r->length;
    r->at = 0;
    const char *problem;
    ssize_t count = xb_gzip_read(&r->unpacker, r->file, r->room, sizeof r->room, &problem);
    if (count < 0)
        r->status = XB_FAIL(r->error, XB_ERR_USAGE, "%.300s: %s", r->path, problem);
    r->length = count > 0 ? (size_t)count : 0;
    return count > 0 ? r->block[0] : EOF;
}

/* What parts values is as good as white space. */
static int skip_space(struct reader *r)
{
    int byte = peek(r);
    for (; byte > 0 && strchr(",: \t\r\n", byte) != NULL; byte = peek(r))
        r->at++;
    return byte;
}

/* Cuts out the value that begins here. False: the text ends within it. */
static bool cut(struct reader *r)
{
    size_t depth = 0, length = 0;
    bool in_text = false, is_escaped = false, is_done = false;
    while (!is_done) {
        int byte = peek(r);
        if (byte == EOF)
            return false;
        if (!in_text && depth == 0 && strchr(",:]} \t\r\n", byte) != NULL)
            break; /* behind a number or a word */
        r->at++;
        if (length < LONGEST)
            r->value[length] = (char)byte;
        length++;
        if (in_text) {
            in_text = is_escaped || byte != '"';
            is_escaped = !is_escaped && byte == '\\';
            is_done = !in_text && depth == 0;
        } else if (byte == '"') {
            in_text = true;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            is_done = --depth == 0;
        }
    }
    r->value[length <= LONGEST ? length : 0] = '\0';
    return true;
}

static char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* A member that is a whole number, or a text of one, decimal or hexadecimal. */
static bool read_whole(const cJSON *object, const char *key, uint64_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    const char *text = cJSON_GetStringValue(item);
    char *end;
    uint64_t number = 0;
    bool is_whole = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= 0x1p53;
    if (is_whole)
        number = (uint64_t)item->valuedouble;
    if (text != NULL && text[0] >= '0' && text[0] <= '9') {
        number = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
        is_whole = *end == '\0';
    }
    if (is_whole)
        *value = number;
    return is_whole;
}

/* "pid" or "tid". Where it is a text without a number the text stands for one that is its own. */
static uint64_t read_owner(struct reader *r, const cJSON *event, const char *key)
{
    uint64_t value = 0;
    const char *text = text_of(event, key);
    if (!read_whole(event, key, &value) && text != NULL)
        value = (UINT64_C(1) << 62) + xb_profiles_name(r->profiles, text);
    return value;
}

static const struct category {
    enum xb_activity_kind kind;
    enum xb_range_kind range;
    bool is_own;          /* only --trace has it */
    const char *words[3]; /* the last ones are those of PyTorch before 1.12 */
} categories[] = {
    {XB_ACTIVITY_COPY, 0, false, {"gpu_memcpy", "Memcpy"}},
    {XB_ACTIVITY_FILL, 0, false, {"gpu_memset", "Memset"}},
    {XB_ACTIVITY_KERNEL, 0, false, {"kernel", "Kernel"}},
    {XB_ACTIVITY_CALL, 0, false, {"cuda_runtime", "cuda_driver", "Runtime"}}, /* and "hip_..." */
    {XB_ACTIVITY_RANGE, XB_RANGE_OPERATOR, false, {"cpu_op", "Operator"}},
    {XB_ACTIVITY_RANGE, XB_RANGE_MARK, false, {"user_annotation", "nvtx"}},
    {XB_ACTIVITY_RANGE, XB_RANGE_LINE, false, {"python_function"}},
    {XB_ACTIVITY_COPY, 0, true, {"copy"}},
    {XB_ACTIVITY_CALL, 0, true, {"call"}},
    {XB_ACTIVITY_WORK, 0, true, {"work"}},
    {XB_ACTIVITY_WAIT, 0, true, {"wait"}},
};

static const struct category *find_category(const char *word)
{
    if (word != NULL && strncmp(word, "hip_", 4) == 0)
        word = "cuda_runtime";
    for (size_t i = 0; word != NULL && i < sizeof categories / sizeof categories[0]; i++)
        for (size_t k = 0; k < 3 && categories[i].words[k] != NULL; k++)
            if (strcmp(word, categories[i].words[k]) == 0)
                return &categories[i];
    return NULL;
}

/* What a span says besides when and where it was. Moves *track from a thread to a stream, where the
 * span says of which. */
static void take_arguments(struct reader *r, const cJSON *arguments, const char *name,
                           struct xb_activity *activity, uint64_t *track)
{
    uint64_t number;
    bool is_call = activity->kind == XB_ACTIVITY_CALL;
    const char *stage = text_of(arguments, "stage");
    if (r->is_own && stage != NULL)
        activity->stage = xb_profiles_name(r->profiles, stage);
    if (activity->kind == XB_ACTIVITY_RANGE || activity->kind == XB_ACTIVITY_WAIT)
        return;
    if (read_whole(arguments, "correlation", &number) && number <= UINT32_MAX)
        activity->link = (uint32_t)number;
    if (activity->kind == XB_ACTIVITY_COPY)
        xb_copy_read_name(name, activity);
    r->profiles->is_hip |= is_call && strncmp(name, "hip", 3) == 0;
    if (!is_call || strncmp(name, "hipMemcpy", 9) == 0)
        (void)read_whole(arguments, is_call ? "size" : "bytes", &activity->bytes);
    if (is_call || r->is_own)
        return;
    if (read_whole(arguments, "device", &number) && number <= INT16_MAX)
        activity->device = (int16_t)number;
    (void)read_whole(arguments, "stream", track);
}

static void take_span(struct reader *r, const cJSON *event)
{
    const struct category *category = find_category(text_of(event, "cat"));
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    double begin = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(event, "ts"));
    double length = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(event, "dur"));
    const char *name = text_of(event, "name");
    if (category == NULL)
        return;
    if (!(fabs(begin) <= LATEST_US && length >= 0 && length <= LATEST_US)) {
        r->profiles->left_out++;
        return;
    }
    if (!r->has_spans) /* of a case the calls come first */
        r->is_own = category->is_own;
    r->has_spans = true;
    name = name != NULL ? name : "";
    /* Near 1.7e15, which is now, a double keeps 250 ns: enough here. */
    double whole, part = modf(begin, &whole);
    struct xb_activity activity = {.kind = (uint8_t)category->kind,
                                   .range = (uint8_t)category->range,
                                   .device = -1,
                                   .begin = (int64_t)whole * 1000 + llround(part * 1000)};
    activity.end = activity.begin + llround(length * 1000);
    bool is_call = activity.kind == XB_ACTIVITY_CALL, is_range = activity.kind == XB_ACTIVITY_RANGE;
    if (r->is_own && activity.kind == XB_ACTIVITY_KERNEL)
        activity.kind = strcmp(name, "fill") == 0             ? XB_ACTIVITY_FILL
                        : strcmp(name, "copy by kernel") == 0 ? XB_ACTIVITY_COPY
                                                              : XB_ACTIVITY_KERNEL;
    r->profiles->is_pytorch |= is_range && activity.range == XB_RANGE_OPERATOR;
    uint64_t process = read_owner(r, event, "pid"), track = read_owner(r, event, "tid");
    int rank = is_call ? 2 : is_range;
    if (rank > r->caller_rank) {
        r->caller = process;
        r->caller_rank = rank;
    }
    take_arguments(r, arguments, name, &activity, &track);
    xb_profiles_call(r->profiles, &activity, name);
    activity.track = xb_profiles_track(r->profiles, process, activity.device, track);
    struct xb_profile *own =
        xb_profiles_find(r->profiles, r->is_own || r->is_explain ? process : ALL);
    if (!xb_profile_add(r->profiles, own, &activity))
        refuse(r, "these are more activities than are kept");
}

static void take_fact(struct reader *r, const cJSON *event)
{
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    const char *name = text_of(arguments, "name"), *text = text_of(arguments, "text");
    const char *what = text_of(event, "name");
    const uint64_t process = read_owner(r, event, "pid");
    const uint32_t place = name != NULL ? xb_profiles_name(r->profiles, name) : 0;
    if (what == NULL)
        return;
    r->is_explain = r->is_explain || strcmp(what, "xferbench_explain") == 0;
    if (r->is_explain && strcmp(what, "xferbench_end") == 0) {
        struct xb_profile *profile = xb_profiles_find(r->profiles, process);
        (void)read_whole(arguments, "dropped", &profile->dropped);
        profile->is_cut = false;
    } else if (r->is_explain && strcmp(what, "xferbench_problem") == 0 && text != NULL) {
        xb_profiles_find(r->profiles, process)->problem = xb_arena_copy(&r->profiles->memory, text);
    } else if (name != NULL && strcmp(what, "process_name") == 0) {
        struct xb_profile *profile = xb_profiles_find(r->profiles, process);
        profile->name = r->profiles->names[place];
        profile->is_cut = true; /* until it says goodbye */
    } else if (name != NULL && strcmp(what, "thread_name") == 0) {
        const uint64_t thread = read_owner(r, event, "tid");
        const uint32_t track = xb_profiles_track(r->profiles, process, -1, thread);
        struct xb_profile *profile = xb_profiles_find(r->profiles, process);
        profile->tracks = xb_grow(profile->tracks, profile->track_count, sizeof *profile->tracks);
        profile->tracks[profile->track_count++] =
            (struct xb_named_track){track, r->profiles->names[place]};
    }
}

static void take_event(struct reader *r)
{
    cJSON *event = cJSON_Parse(r->value);
    const char *phase = text_of(event, "ph");
    if (event == NULL)
        r->profiles->left_out++;
    else if (phase != NULL && strcmp(phase, "X") == 0)
        take_span(r, event);
    else if (phase != NULL && strcmp(phase, "M") == 0)
        take_fact(r, event);
    cJSON_Delete(event);
}

/* Reads the value behind a key. Or goes into it and says so: it is the list of events. */
static bool read_member(struct reader *r)
{
    bool are_events = strcmp(r->value, "\"traceEvents\"") == 0;
    are_events = skip_space(r) == '[' && are_events;
    r->at += are_events;
    r->is_cut = !are_events && !cut(r);
    return are_events;
}

/* Reads a list of events, or an object that has one. */
static void read_items(struct reader *r, bool in_object)
{
    bool in_list = !in_object;
    for (r->at++; r->status == XB_OK && !r->is_cut;) {
        const int byte = skip_space(r);
        r->has_events |= in_list;
        if (byte == (in_list ? ']' : '}')) {
            r->at++;
            if (!in_list || !in_object)
                return;
            in_list = false;
        } else if (byte != EOF && byte != (in_list ? '{' : '"')) {
            refuse(r, in_list ? "no event begins here" : "no key begins here");
        } else if (!cut(r)) {
            r->is_cut = true;
        } else if (in_list) {
            take_event(r);
        } else {
            in_list = read_member(r);
        }
    }
}

/* A trace that is not ours is of one program: its GPUs, which Kineto gives processes of their own,
 * and the threads that called them. */
static void make_one_program(const struct reader *r, size_t first)
{
    struct xb_profile program = *xb_profiles_find(r->profiles, ALL);
    program.process = r->caller;
    for (size_t i = first; i < r->profiles->count; i++) {
        const struct xb_profile *named = &r->profiles->items[i];
        if (named->name != NULL && (program.name == NULL || named->process == r->caller))
            program.name = named->name;
        free(named->tracks); /* these are of the processes */
    }
    program.tracks = NULL;
    program.track_count = 0;
    r->profiles->items[first] = program; /* the others have no activities */
    r->profiles->count = first + 1;
}

enum xb_status xb_events_read(struct xb_profiles *profiles, const char *path, int file,
                              const char *text, size_t length, struct xb_error *error)
{
    struct reader *r = xb_new(1, sizeof *r);
    const size_t first = profiles->count;
    r->profiles = profiles;
    r->path = path;
    r->error = error;
    r->value = xb_new(LONGEST + 1, 1);
    r->file = file;
    r->block = text != NULL ? (const unsigned char *)text : r->room;
    r->length = length;
    if (peek(r) == 0xEF && r->length >= 3 && memcmp(r->block, "\xEF\xBB\xBF", 3) == 0)
        r->at = 3; /* the mark of UTF-8, which Windows puts first */
    const int byte = skip_space(r);
    if (byte == '[' || byte == '{')
        read_items(r, byte == '{');
    if (!r->has_events)
        refuse(r,
               "this is no trace: there is no list of events, neither \"traceEvents\" nor alone");
    if (r->status == XB_OK && !r->is_own && !r->is_explain)
        make_one_program(r, first);
    for (size_t i = first; !r->is_explain && i < profiles->count; i++)
        profiles->items[i].is_cut = r->is_cut;
    if (profiles->source == NULL)
        profiles->source = r->is_explain          ? "xferbench explain"
                           : r->is_own            ? "xferbench --trace"
                           : profiles->is_pytorch ? "PyTorch's profiler"
                                                  : "a Chrome trace";
    enum xb_status status = r->status;
    xb_gzip_end(r->unpacker);
    free(r->value);
    free(r);
    return status;
}

enum xb_status xb_profiles_read(struct xb_profiles *profiles, const char *path,
                                struct xb_error *error)
{
    static const char sqlite[] = "SQLite format 3"; /* and its zero */
    char begin[sizeof sqlite];
    struct stat status;
    profiles->file_count++;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is neither a regular file nor a pipe", path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return XB_FAIL_ERRNO(error, "open", errno, "%.300s: cannot be read: %s", path,
                             strerror(errno));
    bool is_sqlite = pread(file, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                     memcmp(begin, sqlite, sizeof sqlite) == 0;
    enum xb_status outcome = is_sqlite ? xb_nsys_read(profiles, path, file, error)
                                       : xb_events_read(profiles, path, file, NULL, 0, error);
    close(file);
    return outcome;
}
