/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace events, of any length: the text is cut into one value after the other, and a JSON
 * tree is made of each alone. Brackets are counted, never entered, so depth takes no memory.
 */
#include "gzip.h"
#include "profile.h"

#include "base/json_read.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST ((size_t)1 << 20) /* of a value that is looked at */
#define LATEST_US 2.3e15 /* since 1970 in 2042: any two times are less than 2^63 ns apart */

struct reader {
    struct xb_profiles *profiles;
    const char *path;
    struct xb_error *error;

    /* The text. */
    struct xb_gzip file;
    size_t length, at; /* of the block */
    uint64_t before;   /* bytes before the block */
    char *value;       /* what was cut out, with a zero behind it */
    size_t value_length;
    size_t time_at; /* where in it the number of "ts" begins */

    /* What it says. */
    uint64_t caller;         /* the process that called the runtime */
    struct xb_track_id last; /* whose span the last event was, where it was one */
    struct named {           /* processes, in the order of the file */
        uint64_t process;
        uint32_t name;
    } * named;
    size_t named_count;
    struct size { /* what calls said that they copy, for copies that do not say it */
        uint32_t link;
        uint64_t bytes;
    } * sizes;
    size_t size_count;

    enum xb_status status; /* of the first failure */
    bool is_cut;           /* the text has ended in the middle */
    bool is_too_long;      /* the value */
    bool has_events, is_explain, is_trace, is_kineto;
    bool has_spans, is_own;   /* of --trace: each process is a case. The first span tells */
    bool has_caller, is_call; /* `caller` is known; it is of a call, and no longer of a range */
    bool has_last;
    unsigned char block[65536];
};

/* ---- the text ---- */

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
    if (r->status != XB_OK)
        return EOF;
    r->before += r->length;
    r->at = 0;
    r->status = xb_gzip_read(&r->file, r->path, r->block, sizeof r->block, &r->length, r->error);
    return r->length > 0 ? r->block[0] : EOF;
}

static int skip_space(struct reader *r)
{
    int byte = peek(r);
    for (; byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; byte = peek(r))
        r->at++;
    return byte;
}

/* Cuts out the value that begins here. False: the text ends within it. */
static bool cut(struct reader *r)
{
    size_t depth = 0, key = 0; /* where the last text has ended */
    bool in_text = false, is_escaped = false, is_done = false;
    r->value_length = r->time_at = 0;
    r->is_too_long = false;
    while (!is_done) {
        int byte = peek(r);
        if (byte == EOF)
            return false;
        if (!in_text && depth == 0 && strchr(",:]} \t\r\n", byte) != NULL)
            break; /* behind a number or a word */
        r->at++;
        if (r->value_length < LONGEST)
            r->value[r->value_length++] = (char)byte;
        else
            r->is_too_long = true;
        if (in_text) {
            in_text = is_escaped || byte != '"';
            is_escaped = !is_escaped && byte == '\\';
            is_done = !in_text && depth == 0;
            key = r->value_length;
        } else if (byte == '"') {
            in_text = true;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            is_done = --depth == 0;
        } else if (byte == ':' && depth == 1 && key >= 4 &&
                   memcmp(r->value + key - 4, "\"ts\"", 4) == 0) {
            r->time_at = r->value_length;
        }
    }
    r->value[r->value_length] = '\0';
    return true;
}

/* ---- numbers ---- */

/* A member that is a whole number, or a text of one, decimal or hexadecimal. */
static bool read_whole(const cJSON *object, const char *key, uint64_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(item)) {
        if (!(item->valuedouble >= 0 && item->valuedouble <= 9007199254740992.0))
            return false;
        *value = (uint64_t)item->valuedouble;
        return true;
    }
    if (!cJSON_IsString(item) || item->valuestring[0] < '0' || item->valuestring[0] > '9')
        return false;
    char *end;
    bool is_hexadecimal = item->valuestring[1] == 'x';
    *value = strtoull(item->valuestring, &end, is_hexadecimal ? 16 : 10);
    return *end == '\0';
}

/* "pid" or "tid". Where it is a text without a number the text stands for one that is its own. */
static uint64_t read_owner(struct reader *r, const cJSON *event, const char *key)
{
    uint64_t value = 0;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, key);
    if (!read_whole(event, key, &value) && cJSON_IsString(item))
        value = (UINT64_C(1) << 62) + xb_profiles_name(r->profiles, item->valuestring);
    return value;
}

/* Nanoseconds of "ts" as its text has them: of microseconds since 1970 a double would keep a
 * quarter of one. As the double has them where the text has an exponent, a sign, or more digits
 * than fit: what they gave is far off then. */
static int64_t read_time(const char *text, double microseconds)
{
    uint64_t value = 0;
    int decimals = -1; /* there is no point yet */
    text += strspn(text, " \t\r\n");
    for (; decimals < 3 && ((*text >= '0' && *text <= '9') || *text == '.'); text++) {
        value = *text == '.' ? value : value * 10 + (uint64_t)(*text - '0');
        decimals += decimals >= 0 || *text == '.';
    }
    value += decimals == 3 && *text >= '5' && *text <= '9';
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
        value *= 10;
    bool is_it = microseconds >= 0 && fabs((double)value - microseconds * 1000) < 600;
    return is_it ? (int64_t)value : llround(microseconds * 1000);
}

/* ---- events ---- */

static const struct category {
    const char *word;
    enum xb_activity_kind kind;
    enum xb_range_kind range;
    bool is_own; /* only --trace has it */
} categories[] = {
    {"gpu_memcpy", XB_ACTIVITY_COPY, 0, false},
    {"gpu_memset", XB_ACTIVITY_FILL, 0, false},
    {"kernel", XB_ACTIVITY_KERNEL, 0, false},
    {"cuda_runtime", XB_ACTIVITY_CALL, 0, false},
    {"cuda_driver", XB_ACTIVITY_CALL, 0, false},
    {"hip_", XB_ACTIVITY_CALL, 0, false}, /* the beginning of several */
    {"cpu_op", XB_ACTIVITY_RANGE, XB_RANGE_OPERATOR, false},
    {"user_annotation", XB_ACTIVITY_RANGE, XB_RANGE_MARK, false},
    {"nvtx", XB_ACTIVITY_RANGE, XB_RANGE_MARK, false},
    {"python_function", XB_ACTIVITY_RANGE, XB_RANGE_LINE, false},
    {"copy", XB_ACTIVITY_COPY, 0, true},
    {"call", XB_ACTIVITY_CALL, 0, true},
    {"work", XB_ACTIVITY_WORK, 0, true},
    /* PyTorch before 1.12 */
    {"Memcpy", XB_ACTIVITY_COPY, 0, false},
    {"Memset", XB_ACTIVITY_FILL, 0, false},
    {"Kernel", XB_ACTIVITY_KERNEL, 0, false},
    {"Runtime", XB_ACTIVITY_CALL, 0, false},
    {"Operator", XB_ACTIVITY_RANGE, XB_RANGE_OPERATOR, false},
};

static const struct category *find_category(const cJSON *event)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "cat"));
    if (word != NULL && strncmp(word, "hip_", 4) == 0)
        word = "hip_";
    for (size_t i = 0; word != NULL && i < sizeof categories / sizeof categories[0]; i++)
        if (strcmp(word, categories[i].word) == 0)
            return &categories[i];
    return NULL;
}

/* What a span says besides when and where it was. Moves *owner from a thread to a stream, where the
 * span says of which. */
static void take_arguments(struct reader *r, const cJSON *arguments, const char *name,
                           struct xb_activity *activity, struct xb_track_id *owner)
{
    uint64_t number, device, bytes = 0;
    if (activity->kind == XB_ACTIVITY_RANGE)
        return;
    if (read_whole(arguments, "correlation", &number) && number <= UINT32_MAX)
        activity->link = (uint32_t)number;
    if (activity->kind == XB_ACTIVITY_CALL) {
        r->profiles->is_hip = r->profiles->is_hip || strncmp(name, "hip", 3) == 0;
        if (activity->link != 0 && strncmp(name, "hipMemcpy", 9) == 0 &&
            read_whole(arguments, "size", &bytes)) {
            r->sizes = xb_grow(r->sizes, r->size_count, sizeof *r->sizes);
            r->sizes[r->size_count++] = (struct size){.link = activity->link, .bytes = bytes};
        }
        return;
    }
    if (activity->kind == XB_ACTIVITY_COPY)
        xb_copy_read_name(name, activity);
    if (activity->kind != XB_ACTIVITY_KERNEL && read_whole(arguments, "bytes", &bytes))
        activity->bytes = bytes;
    if (!r->is_own && read_whole(arguments, "device", &device) && device <= INT16_MAX)
        activity->device = (int16_t)device;
    if (!r->is_own && read_whole(arguments, "stream", &number))
        owner->track = XB_TRACK_STREAM(activity->device, number);
}

static void take_span(struct reader *r, const cJSON *event)
{
    const struct category *category = find_category(event);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    double begin = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(event, "ts"));
    double length = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(event, "dur"));
    cJSON *text = cJSON_GetObjectItemCaseSensitive(event, "name");
    char none[] = "", *name = cJSON_IsString(text) ? text->valuestring : none;
    char *number = strrchr(name, '#');
    r->has_last = false;
    if (category == NULL)
        return;
    if (!(fabs(begin) <= LATEST_US && length >= 0 && length <= LATEST_US)) {
        r->profiles->left_out++;
        return;
    }
    if (!r->has_spans) /* what others write says whose GPU it was */
        r->is_own = category->is_own || (strcmp(category->word, "kernel") == 0 &&
                                         !cJSON_HasObjectItem(arguments, "correlation") &&
                                         !cJSON_HasObjectItem(arguments, "device"));
    r->has_spans = true;
    struct xb_activity activity = {.kind = (uint8_t)category->kind,
                                   .range = (uint8_t)category->range,
                                   .device = -1,
                                   .begin = read_time(r->value + r->time_at, begin)};
    activity.end = activity.begin + llround(length * 1000);
    bool is_call = activity.kind == XB_ACTIVITY_CALL, is_range = activity.kind == XB_ACTIVITY_RANGE;
    if (r->is_own && activity.kind == XB_ACTIVITY_KERNEL)
        activity.kind = strcmp(name, "fill") == 0             ? XB_ACTIVITY_FILL
                        : strcmp(name, "copy by kernel") == 0 ? XB_ACTIVITY_COPY
                                                              : XB_ACTIVITY_KERNEL;
    if (is_range && activity.range == XB_RANGE_MARK && number != NULL && number[1] != '\0' &&
        number[1 + strspn(number + 1, "0123456789")] == '\0')
        *number = '\0'; /* "ProfilerStep#12" is the mark "ProfilerStep" */
    if (is_range && activity.range == XB_RANGE_OPERATOR)
        r->profiles->is_pytorch = true;
    struct xb_track_id owner = {read_owner(r, event, "pid"), read_owner(r, event, "tid")};
    r->last = owner;
    r->has_last = true;
    if ((is_call && !r->is_call) || (is_range && !r->has_caller)) {
        r->caller = owner.process;
        r->has_caller = true;
        r->is_call = is_call;
    }
    take_arguments(r, arguments, name, &activity, &owner);
    activity.name = xb_profiles_name(r->profiles, name);
    activity.track = xb_profiles_track(r->profiles, owner.process, owner.track);
    struct xb_profile *own =
        xb_profiles_find(r->profiles, r->is_own || r->is_explain ? owner.process : 0);
    if (!xb_profile_add(r->profiles, own, &activity))
        refuse(r, "these are more activities than are kept");
}

/* In our own traces an arrow follows the span that it begins or ends at, and its number links the
 * two. The upper half of it is the case. */
static void take_arrow(struct reader *r, const cJSON *event)
{
    uint64_t number;
    if (!r->is_own || !r->has_last || read_owner(r, event, "pid") != r->last.process ||
        read_owner(r, event, "tid") != r->last.track || !read_whole(event, "id", &number))
        return;
    struct xb_profile *profile = xb_profiles_find(r->profiles, r->last.process);
    profile->activities[profile->count - 1].link = (uint32_t)number;
}

static void take_fact(struct reader *r, const cJSON *event)
{
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, "name"));
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(arguments, "text"));
    const char *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "name"));
    const uint64_t process = read_owner(r, event, "pid");
    if (what == NULL)
        return;
    r->is_explain = r->is_explain || strcmp(what, "xferbench_explain") == 0;
    if (r->is_explain && strcmp(what, "xferbench_end") == 0) {
        struct xb_profile *profile = xb_profiles_find(r->profiles, process);
        (void)read_whole(arguments, "dropped", &profile->dropped);
        profile->is_cut = false;
    } else if (r->is_explain && strcmp(what, "xferbench_problem") == 0 && text != NULL) {
        xb_profiles_find(r->profiles, process)->problem = xb_arena_copy(&r->profiles->memory, text);
    } else if (strcmp(what, "process_name") == 0 && name != NULL) {
        r->named = xb_grow(r->named, r->named_count, sizeof *r->named);
        r->named[r->named_count++] =
            (struct named){.process = process, .name = xb_profiles_name(r->profiles, name)};
        if (r->is_explain) /* until it says goodbye */
            xb_profiles_find(r->profiles, process)->is_cut = true;
    }
}

static void take_event(struct reader *r)
{
    cJSON *event = r->is_too_long ? NULL : cJSON_ParseWithLength(r->value, r->value_length + 1);
    const char *phase = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "ph"));
    bool is_span = phase != NULL && strcmp(phase, "X") == 0;
    if (event == NULL)
        r->profiles->left_out++;
    else if (is_span)
        take_span(r, event);
    else if (phase != NULL && strcmp(phase, "M") == 0)
        take_fact(r, event);
    else if (phase != NULL && (strcmp(phase, "s") == 0 || strcmp(phase, "f") == 0))
        take_arrow(r, event);
    r->has_last = r->has_last && is_span;
    cJSON_Delete(event);
}

/* ---- the file ---- */

/* Goes to the next item of an array or an object: behind a comma, but for the first. False: there
 * is none. A comma before the closing bracket is let pass. */
static bool go_to_next(struct reader *r, bool is_first, int closing)
{
    int byte = r->is_cut ? EOF : skip_space(r);
    if (byte == ',' && !is_first) {
        r->at++;
        byte = skip_space(r);
    } else if (byte != EOF && byte != closing && !is_first) {
        refuse(r, closing == ']' ? "a comma or ] is missing" : "a comma or } is missing");
    }
    r->is_cut = byte == EOF;
    r->at += byte == closing;
    return byte != EOF && byte != closing && r->status == XB_OK;
}

static void read_events(struct reader *r)
{
    r->at++;
    r->has_events = true;
    for (bool is_first = true; go_to_next(r, is_first, ']'); is_first = false) {
        if (peek(r) != '{')
            refuse(r, "no event begins here");
        else if (cut(r))
            take_event(r);
        else
            r->is_cut = true;
    }
}

/* What stands beside the events. */
static void take_member(struct reader *r, const char *key)
{
    r->is_kineto |=
        strcmp(key, "\"schemaVersion\"") == 0 || strcmp(key, "\"deviceProperties\"") == 0;
    if (strcmp(key, "\"otherData\"") != 0)
        return;
    cJSON *value = r->is_too_long ? NULL : cJSON_Parse(r->value);
    const cJSON *tool = cJSON_GetObjectItemCaseSensitive(value, "tool");
    r->is_trace |= cJSON_IsString(tool) && strncmp(tool->valuestring, "xferbench ", 10) == 0;
    cJSON_Delete(value);
}

static void read_members(struct reader *r)
{
    char key[32];
    r->at++;
    for (bool is_first = true; go_to_next(r, is_first, '}'); is_first = false) {
        bool is_key = peek(r) == '"', is_whole = cut(r);
        if (is_whole && (!is_key || skip_space(r) != ':')) {
            refuse(r, "this is no JSON: a key and a colon are missing");
            return;
        }
        snprintf(key, sizeof key, "%s", r->value);
        r->at += is_whole; /* behind the colon */
        if (is_whole && skip_space(r) == '[' && strcmp(key, "\"traceEvents\"") == 0)
            read_events(r);
        else if (is_whole && cut(r))
            take_member(r, key);
        else
            r->is_cut = true;
    }
}

static void read_text(struct reader *r)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, which Windows puts first */
    if (peek(r) == 0xEF && r->length >= 3 && memcmp(r->block, mark, 3) == 0)
        r->at = 3;
    int byte = skip_space(r);
    if (byte == '[')
        read_events(r);
    else if (byte == '{')
        read_members(r);
    if (!r->has_events)
        refuse(r,
               "this is no trace: there is no list of events, neither \"traceEvents\" nor alone");
    else if (!r->is_cut && r->status == XB_OK && skip_space(r) != EOF)
        refuse(r, "the text goes on behind its end");
}

static int order_sizes(const void *a, const void *b)
{
    const struct size *one = a, *other = b;
    return one->link < other->link ? -1 : one->link > other->link;
}

/* A trace that is not ours is of one program: its GPUs, which Kineto gives processes of their own,
 * and the threads that called them. */
static void make_one_program(const struct reader *r, size_t first_track)
{
    struct xb_profile *program = xb_profiles_find(r->profiles, 0);
    if (r->size_count > 0)
        qsort(r->sizes, r->size_count, sizeof *r->sizes, order_sizes);
    for (size_t i = 0; r->size_count > 0 && i < program->count; i++) {
        struct xb_activity *copy = &program->activities[i];
        const struct size wanted = {.link = copy->link}, *size = NULL;
        if (copy->kind == XB_ACTIVITY_COPY && copy->bytes == 0 && copy->link != 0)
            size = bsearch(&wanted, r->sizes, r->size_count, sizeof wanted, order_sizes);
        if (size != NULL)
            copy->bytes = size->bytes;
    }
    program->process = r->caller;
    for (size_t i = first_track; i < r->profiles->track_count; i++)
        if (r->profiles->tracks[i].track >= XB_TRACK_STREAM(0, 0))
            r->profiles->tracks[i].process = program->process;
    for (size_t i = 0; i < r->named_count; i++)
        if (i == 0 || r->named[i].process == program->process)
            program->name = r->profiles->names[r->named[i].name];
}

enum xb_status xb_events_read(struct xb_profiles *profiles, const char *path, int file,
                              struct xb_error *error)
{
    struct reader *r = xb_new(1, sizeof *r);
    size_t first = profiles->count, first_track = profiles->track_count;
    r->profiles = profiles;
    r->path = path;
    r->error = error;
    r->value = xb_new(LONGEST + 1, 1);
    r->file.file = file;
    read_text(r);
    const bool are_many = r->is_own || r->is_explain;
    for (size_t i = 0; r->status == XB_OK && are_many && i < r->named_count; i++)
        xb_profiles_find(profiles, r->named[i].process)->name = profiles->names[r->named[i].name];
    if (r->status == XB_OK && !are_many)
        make_one_program(r, first_track);
    for (size_t i = first; !r->is_explain && i < profiles->count; i++)
        profiles->items[i].is_cut = r->is_cut;
    if (profiles->source == NULL)
        profiles->source = r->is_explain                             ? "xferbench explain"
                           : r->is_trace || (r->is_own && r->is_cut) ? "xferbench --trace"
                           : r->is_kineto || profiles->is_pytorch    ? "PyTorch's profiler"
                                                                     : "a Chrome trace";
    enum xb_status status = r->status;
    xb_gzip_end(&r->file);
    free(r->value);
    free(r->named);
    free(r->sizes);
    free(r);
    return status;
}
