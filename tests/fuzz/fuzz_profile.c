/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the reader of profiles: a file of these bytes is refused with a message
 * that names it, or what comes of it holds together.
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "target.h"
#include "trace/profile.h"

#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xb_profiles profiles = {.items = NULL};
    struct xb_error error = {.status = XB_OK};
    char path[] = "/tmp/xferbench-fuzz-XXXXXX"; /* SQLite takes no file without a name */
    int file = mkstemp(path);
    require(file >= 0 && write(file, data, size) == (ssize_t)size, "the file is written");
    enum xb_status status = xb_profiles_read(&profiles, path, &error);
    require(status == XB_OK || strstr(error.message, path) != NULL, "a message names the file");
    xb_profiles_sort(&profiles);
    for (size_t i = 0; i < profiles.count; i++) {
        const struct xb_profile *profile = &profiles.items[i];
        for (size_t k = 0; k < profile->track_count; k++)
            require(profile->tracks[k].track < profiles.name_count, "a track has its place");
        for (size_t k = 0; k < profile->count; k++) {
            const struct xb_activity *activity = &profile->activities[k];
            require(activity->begin <= activity->end, "time goes forwards");
            require(k == 0 || activity[-1].begin <= activity->begin, "they are in their order");
            require(activity->name < profiles.name_count, "it has a name");
            require(activity->stage < profiles.name_count, "it has a stage or none");
            require(activity->track < profiles.name_count, "it has a track");
            require(activity->way <= XB_WAY_HOST && activity->range < XB_RANGE_KINDS,
                    "it is of a kind that there is");
        }
    }
    xb_profiles_free(&profiles);
    close(file);
    unlink(path);
    return 0;
}
