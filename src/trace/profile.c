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

/* ---- names ---- */

/* They are hashed with open addressing; at most half of the slots are used. Numbers name a track or
 * a program. */
struct xb_name_slot {
    uint64_t hash;
    size_t length;    /* bytes of the name */
    uint32_t place;   /* in names, plus 1; 0: the slot is empty */
    uint32_t program; /* whose name it is: the place in items, plus 1; 0: of none */
};

/* The slot of that name, or the empty one that is to be its. */
static struct xb_name_slot *seek(const struct xb_profiles *profiles,
                                 const struct xb_name_slot *wanted, const void *name)
{
    size_t at = wanted->hash & (profiles->slot_count - 1);
    for (;; at = (at + 1) & (profiles->slot_count - 1)) {
        struct xb_name_slot *slot = &profiles->slots[at];
        if (slot->place == 0 || (slot->hash == wanted->hash && slot->length == wanted->length &&
                                 memcmp(profiles->names[slot->place - 1], name, slot->length) == 0))
            return slot;
    }
}

static struct xb_name_slot *find(struct xb_profiles *profiles, const void *name, size_t length)
{
    struct xb_name_slot wanted = {.length = length};
    const unsigned char *bytes = name;
    for (size_t i = 0; i < length; i++) /* as FNV-1a */
        wanted.hash = (wanted.hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    wanted.hash ^= wanted.hash >> 32;
    if (2 * profiles->name_count >= profiles->slot_count) {
        struct xb_name_slot *old = profiles->slots;
        const size_t count = profiles->slot_count;
        profiles->slot_count = count > 0 ? 2 * count : 256;
        profiles->slots = xb_new(profiles->slot_count, sizeof *old);
        for (size_t i = 0; i < count; i++)
            if (old[i].place != 0)
                *seek(profiles, &old[i], profiles->names[old[i].place - 1]) = old[i];
        free(old);
    }
    struct xb_name_slot *slot = seek(profiles, &wanted, name);
    if (slot->place == 0) {
        profiles->names = xb_grow(profiles->names, profiles->name_count, sizeof *profiles->names);
        profiles->names[profiles->name_count++] =
            memcpy(xb_arena_new(&profiles->memory, length + 1), name, length);
        wanted.place = (uint32_t)profiles->name_count;
        *slot = wanted;
    }
    return slot;
}

uint32_t xb_profiles_name(struct xb_profiles *profiles, const char *text)
{
    return find(profiles, text, strlen(text))->place - 1;
}

uint32_t xb_profiles_track(struct xb_profiles *profiles, uint64_t process, int device,
                           uint64_t number)
{
    unsigned char name[4 * sizeof process];
    memcpy(name, (uint64_t[]){profiles->file_count, process, (uint64_t)device, number},
           sizeof name);
    return find(profiles, name, sizeof name)->place - 1;
}

struct xb_profile *xb_profiles_find(struct xb_profiles *profiles, uint64_t process)
{
    unsigned char name[2 * sizeof process];
    memcpy(name, (uint64_t[]){profiles->file_count, process}, sizeof name);
    struct xb_name_slot *slot = find(profiles, name, sizeof name);
    if (slot->program == 0) {
        profiles->items = xb_grow(profiles->items, profiles->count, sizeof *profiles->items);
        profiles->items[profiles->count++] = (struct xb_profile){.process = process};
        slot->program = (uint32_t)profiles->count;
    }
    return &profiles->items[slot->program - 1];
}

/* ---- activities ---- */

bool xb_profile_add(struct xb_profiles *profiles, struct xb_profile *profile,
                    const struct xb_activity *activity)
{
    if (activity->end < activity->begin) {
        profiles->left_out++;
        return true;
    }
    if (profiles->activity_count == XB_PROFILE_ACTIVITIES)
        return false;
    profiles->activity_count++;
    profile->activities = xb_grow(profile->activities, profile->count, sizeof *activity);
    profile->activities[profile->count++] = *activity;
    return true;
}

void xb_copy_read_name(const char *name, struct xb_activity *copy)
{
    /* As Kineto, Nsight Systems and roctracer spell them: of host, device, array and peer. */
    static const struct {
        enum xb_way way;
        const char *words[7];
    } ways[] = {
        {XB_WAY_TO_GPU, {"HtoD", "HtoA", "Host-to-Device", "Host-to-Array", "HostToDevice"}},
        {XB_WAY_BACK, {"DtoH", "AtoH", "Device-to-Host", "Array-to-Host", "DeviceToHost"}},
        {XB_WAY_WITHIN,
         {"DtoD", "DtoA", "AtoD", "AtoA", "Device-to-", "Array-to-", "DeviceToDevice"}},
        {XB_WAY_PEER, {"PtoP", "Peer-to-Peer", "PeerToPeer"}},
        {XB_WAY_HOST, {"HtoH", "Host-to-Host", "HostToHost"}},
    };
    copy->way = XB_WAY_UNKNOWN;
    for (size_t i = 0; copy->way == XB_WAY_UNKNOWN && i < sizeof ways / sizeof ways[0]; i++)
        for (size_t k = 0; k < 7 && ways[i].words[k] != NULL; k++)
            if (strcasestr(name, ways[i].words[k]) != NULL)
                copy->way = (uint8_t)ways[i].way;
    copy->host = XB_HOST_MEMORY_UNKNOWN;
    if (copy->way == XB_WAY_TO_GPU || copy->way == XB_WAY_BACK)
        copy->host = strstr(name, "Pageable") != NULL  ? XB_HOST_MEMORY_PAGEABLE
                     : strstr(name, "Pinned") != NULL  ? XB_HOST_MEMORY_PINNED
                     : strstr(name, "Managed") != NULL ? XB_HOST_MEMORY_MANAGED
                     : strstr(name, "Unified") != NULL ? XB_HOST_MEMORY_MANAGED
                                                       : XB_HOST_MEMORY_UNKNOWN;
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
    profiles->file_count++;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is neither a regular file nor a pipe", path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return XB_FAIL_ERRNO(error, "open", errno, "%.300s: cannot be read: %s", path,
                             strerror(errno));
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
    free(profiles->items);
    free(profiles->names);
    free(profiles->slots);
    xb_arena_free(profiles->memory);
    *profiles = (struct xb_profiles){.items = NULL};
}
