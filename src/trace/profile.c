/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr, tdestroy */
#include "profile.h"

#include "base/memory.h"
#include "base/order.h"

#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Texts, and numbers that stand for a track or a program. */
struct xb_profile_name {
    const char *bytes;
    size_t length;
    uint32_t place;   /* in names */
    uint32_t program; /* whose name it is: the place in items, plus 1; 0: of none */
};

XB_COMPARER(compare_names, struct xb_profile_name, XB_BY(length),
            memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length))

/* The name that is there, or a new one. */
static struct xb_profile_name *find(struct xb_profiles *profiles, const void *bytes, size_t length)
{
    struct xb_profile_name wanted = {.bytes = bytes, .length = length};
    struct xb_profile_name **found = tsearch(&wanted, &profiles->tree, compare_names);
    if (found == NULL)
        xb_memory_end(sizeof wanted);
    if (*found == &wanted) {
        if (profiles->name_count == 0) {
            profiles->names = xb_grow(NULL, 0, sizeof *profiles->names);
            profiles->names[profiles->name_count++] = "";
        }
        wanted.place = (uint32_t)profiles->name_count;
        wanted.bytes = memcpy(xb_arena_new(&profiles->memory, length + 1), bytes, length);
        *found = xb_arena_new(&profiles->memory, sizeof wanted);
        **found = wanted;
        profiles->names = xb_grow(profiles->names, profiles->name_count, sizeof *profiles->names);
        profiles->names[profiles->name_count++] = wanted.bytes;
    }
    return *found;
}

uint32_t xb_profiles_name(struct xb_profiles *profiles, const char *text)
{
    return find(profiles, text, strlen(text))->place;
}

uint32_t xb_profiles_track(struct xb_profiles *profiles, uint64_t process, int device,
                           uint64_t number)
{
    const uint64_t name[] = {profiles->file_count, process, (uint64_t)device, number};
    return find(profiles, name, sizeof name)->place;
}

struct xb_profile *xb_profiles_find(struct xb_profiles *profiles, uint64_t process)
{
    const uint64_t name[] = {profiles->file_count, process};
    struct xb_profile_name *own = find(profiles, name, sizeof name);
    if (own->program == 0) {
        profiles->items = xb_grow(profiles->items, profiles->count, sizeof *profiles->items);
        profiles->items[profiles->count++] = (struct xb_profile){.process = process};
        own->program = (uint32_t)profiles->count;
    }
    return &profiles->items[own->program - 1];
}

void xb_profiles_call(struct xb_profiles *profiles, struct xb_activity *activity, const char *name)
{
    const size_t whole = strlen(name);
    size_t number = whole, end;
    while (number > 0 && isdigit((unsigned char)name[number - 1]))
        number--;
    end = number;
    if (activity->kind == XB_ACTIVITY_CALL && number > 2 && memcmp(&name[number - 2], "_v", 2) == 0)
        end -= 2;
    else if (activity->kind == XB_ACTIVITY_RANGE && activity->range != XB_RANGE_LINE)
        while (end > 0 && strchr(" #_=:-", name[end - 1]) != NULL)
            end--;
    if (number == whole || end == number || end == 0)
        end = whole;
    activity->name = find(profiles, name, end)->place;
}

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
XB_COMPARER(order, struct xb_activity, XB_BY(begin), XB_BY_GREATEST(end), XB_BY_GREATEST(kind),
            XB_BY(track), XB_BY(link))

void xb_profiles_sort(struct xb_profiles *profiles)
{
    profiles->lacks_calls = true;
    XB_EACH (profile, profiles->items, profiles->count) {
        if (profile->count > 0)
            qsort(profile->activities, profile->count, sizeof *profile->activities, order);
        for (size_t k = 0; profiles->lacks_calls && k < profile->count; k++)
            profiles->lacks_calls =
                profile->activities[k].kind != XB_ACTIVITY_CALL || profile->activities[k].link == 0;
    }
}

static void leave(void *name)
{
    (void)name; /* it lies in memory */
}

void xb_profiles_free(struct xb_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++) {
        free(profiles->items[i].activities);
        free(profiles->items[i].tracks);
    }
    free(profiles->items);
    free(profiles->names);
    tdestroy(profiles->tree, leave);
    xb_arena_free(profiles->memory);
    *profiles = (struct xb_profiles){.items = NULL};
}
