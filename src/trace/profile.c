/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
#include "profile.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- places by what is there ---- */

/* Hashed with open addressing; at most half of the slots are used. */
struct table {
    struct slot {
        uint64_t hash;
        uint32_t place; /* plus 1; 0: the slot is empty */
    } * slots;
    size_t size, count;
};

struct xb_profile_index {
    struct table names, tracks, programs;
    size_t first_track, first_program; /* of the file that is read */
    size_t activities;                 /* of all programs */
};

typedef bool is_there(const struct xb_profiles *profiles, size_t place, const void *key);

static struct xb_profile_index *index_of(struct xb_profiles *profiles)
{
    if (profiles->index == NULL)
        profiles->index = xb_new(1, sizeof *profiles->index);
    return profiles->index;
}

static void grow(struct table *table)
{
    struct table larger = {.size = table->size > 0 ? 2 * table->size : 256, .count = table->count};
    larger.slots = xb_new(larger.size, sizeof *larger.slots);
    for (size_t i = 0; i < table->size; i++) {
        size_t at = table->slots[i].hash & (larger.size - 1);
        while (larger.slots[at].place != 0)
            at = (at + 1) & (larger.size - 1);
        larger.slots[at] = table->slots[i].place != 0 ? table->slots[i] : larger.slots[at];
    }
    free(table->slots);
    *table = larger;
}

/* The slot of what is there, or an empty one, which the caller fills. */
static struct slot *find(const struct xb_profiles *profiles, struct table *table, uint64_t hash,
                         is_there *is, const void *key)
{
    if (2 * table->count >= table->size)
        grow(table);
    size_t at = hash & (table->size - 1);
    while (table->slots[at].place != 0 &&
           (table->slots[at].hash != hash || !is(profiles, table->slots[at].place - 1, key)))
        at = (at + 1) & (table->size - 1);
    if (table->slots[at].place == 0) {
        table->slots[at].hash = hash;
        table->count++;
    }
    return &table->slots[at];
}

/* The last step of MurmurHash3: every bit of the number changes half of the hash. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
    number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return number ^ number >> 33;
}

static bool is_name(const struct xb_profiles *profiles, size_t place, const void *key)
{
    return strcmp(profiles->names[place], key) == 0;
}

uint32_t xb_profiles_name(struct xb_profiles *profiles, const char *text)
{
    uint64_t hash = 0;
    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3); /* as FNV-1a */
    struct slot *slot = find(profiles, &index_of(profiles)->names, mix(hash), is_name, text);
    if (slot->place == 0) {
        profiles->names = xb_grow(profiles->names, profiles->name_count, sizeof *profiles->names);
        profiles->names[profiles->name_count++] = xb_arena_copy(&profiles->memory, text);
        slot->place = (uint32_t)profiles->name_count;
    }
    return slot->place - 1;
}

static bool is_track(const struct xb_profiles *profiles, size_t place, const void *key)
{
    const struct xb_track_id *wanted = key, *is = &profiles->tracks[place];
    return place >= profiles->index->first_track && is->process == wanted->process &&
           is->track == wanted->track;
}

uint32_t xb_profiles_track(struct xb_profiles *profiles, uint64_t process, uint64_t track)
{
    const struct xb_track_id id = {.process = process, .track = track};
    struct slot *slot =
        find(profiles, &index_of(profiles)->tracks, mix(mix(process) + track), is_track, &id);
    if (slot->place == 0) {
        profiles->tracks = xb_grow(profiles->tracks, profiles->track_count, sizeof id);
        profiles->tracks[profiles->track_count++] = id;
        slot->place = (uint32_t)profiles->track_count;
    }
    return slot->place - 1;
}

static bool is_program(const struct xb_profiles *profiles, size_t place, const void *key)
{
    return place >= profiles->index->first_program &&
           profiles->items[place].process == *(const uint64_t *)key;
}

struct xb_profile *xb_profiles_find(struct xb_profiles *profiles, uint64_t process)
{
    struct slot *slot =
        find(profiles, &index_of(profiles)->programs, mix(process), is_program, &process);
    if (slot->place == 0) {
        profiles->items = xb_grow(profiles->items, profiles->count, sizeof *profiles->items);
        profiles->items[profiles->count++] = (struct xb_profile){.process = process};
        slot->place = (uint32_t)profiles->count;
    }
    return &profiles->items[slot->place - 1];
}

/* ---- activities ---- */

bool xb_profile_add(struct xb_profiles *profiles, struct xb_profile *profile,
                    const struct xb_activity *activity)
{
    struct xb_profile_index *index = index_of(profiles);
    if (activity->end < activity->begin) {
        profiles->left_out++;
        return true;
    }
    if (index->activities == XB_PROFILE_ACTIVITIES)
        return false;
    index->activities++;
    profile->activities = xb_grow(profile->activities, profile->count, sizeof *activity);
    profile->activities[profile->count++] = *activity;
    return true;
}

void xb_copy_read_name(const char *name, struct xb_activity *copy)
{
    /* As Kineto, Nsight Systems and roctracer spell them: of host, device, array and peer. */
    static const struct {
        const char *word;
        enum xb_way way;
    } ways[] = {
        {"HtoD", XB_WAY_TO_GPU},
        {"HtoA", XB_WAY_TO_GPU},
        {"Host-to-Device", XB_WAY_TO_GPU},
        {"Host-to-Array", XB_WAY_TO_GPU},
        {"HostToDevice", XB_WAY_TO_GPU},
        {"DtoH", XB_WAY_BACK},
        {"AtoH", XB_WAY_BACK},
        {"Device-to-Host", XB_WAY_BACK},
        {"Array-to-Host", XB_WAY_BACK},
        {"DeviceToHost", XB_WAY_BACK},
        {"DtoD", XB_WAY_WITHIN},
        {"DtoA", XB_WAY_WITHIN},
        {"AtoD", XB_WAY_WITHIN},
        {"AtoA", XB_WAY_WITHIN},
        {"Device-to-", XB_WAY_WITHIN},
        {"Array-to-", XB_WAY_WITHIN},
        {"DeviceToDevice", XB_WAY_WITHIN},
        {"PtoP", XB_WAY_PEER},
        {"Peer-to-Peer", XB_WAY_PEER},
        {"PeerToPeer", XB_WAY_PEER},
        {"HtoH", XB_WAY_HOST},
        {"Host-to-Host", XB_WAY_HOST},
        {"HostToHost", XB_WAY_HOST},
    };
    copy->way = XB_WAY_UNKNOWN;
    copy->host = XB_HOST_MEMORY_UNKNOWN;
    for (size_t i = 0; copy->way == XB_WAY_UNKNOWN && i < sizeof ways / sizeof ways[0]; i++)
        if (strcasestr(name, ways[i].word) != NULL)
            copy->way = (uint8_t)ways[i].way;
    if (copy->way != XB_WAY_TO_GPU && copy->way != XB_WAY_BACK)
        return;
    if (strstr(name, "Pageable") != NULL)
        copy->host = XB_HOST_MEMORY_PAGEABLE;
    else if (strstr(name, "Pinned") != NULL)
        copy->host = XB_HOST_MEMORY_PINNED;
    else if (strstr(name, "Managed") != NULL || strstr(name, "Unified") != NULL)
        copy->host = XB_HOST_MEMORY_MANAGED;
}

/* What is around others comes before them: ranges before calls. */
static int order(const void *a, const void *b)
{
    const struct xb_activity *one = a, *other = b;
    if (one->begin != other->begin)
        return one->begin < other->begin ? -1 : 1;
    if (one->end != other->end)
        return one->end > other->end ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind > other->kind ? -1 : 1;
    if (one->track != other->track)
        return one->track < other->track ? -1 : 1;
    return one->link < other->link ? -1 : one->link > other->link;
}

void xb_profiles_sort(struct xb_profiles *profiles)
{
    profiles->lacks_calls = true;
    for (size_t i = 0; i < profiles->count; i++) {
        const struct xb_profile *profile = &profiles->items[i];
        if (profile->count > 0)
            qsort(profile->activities, profile->count, sizeof *profile->activities, order);
        for (size_t k = 0; profiles->lacks_calls && k < profile->count; k++)
            profiles->lacks_calls =
                profile->activities[k].kind != XB_ACTIVITY_CALL || profile->activities[k].link == 0;
    }
}

/* ---- files ---- */

enum xb_status xb_profiles_read(struct xb_profiles *profiles, const char *path,
                                struct xb_error *error)
{
    static const char sqlite[] = "SQLite format 3"; /* and its zero */
    char begin[sizeof sqlite];
    struct stat status;
    struct xb_profile_index *index = index_of(profiles);
    index->first_program = profiles->count;
    index->first_track = profiles->track_count;
    int file = -1;
    if (stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
            return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is neither a regular file nor a pipe",
                           path);
        file = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (file < 0) {
        int code = errno;
        return XB_FAIL_ERRNO(error, "open", code, "%.300s: cannot be read: %s", path,
                             strerror(code));
    }
    bool is_sqlite = pread(file, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                     memcmp(begin, sqlite, sizeof sqlite) == 0;
    enum xb_status outcome =
        (is_sqlite ? xb_nsys_read : xb_events_read)(profiles, path, file, error);
    close(file);
    return outcome;
}

void xb_profiles_free(struct xb_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        free(profiles->items[i].activities);
    if (profiles->index != NULL) {
        free(profiles->index->names.slots);
        free(profiles->index->tracks.slots);
        free(profiles->index->programs.slots);
    }
    free(profiles->index);
    free(profiles->items);
    free(profiles->names);
    free(profiles->tracks);
    xb_arena_free(profiles->memory);
    *profiles = (struct xb_profiles){.items = NULL};
}
