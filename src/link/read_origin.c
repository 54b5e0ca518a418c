/* SPDX-License-Identifier: Apache-2.0 */
/* Reads on which machine and when a report was made. */
#include "read.h"

#include "base/arena.h"
#include "base/day_time.h"
#include "machine/node.h"
#include "read_internal.h"

#include <float.h>
#include <math.h>

#define MOST_KEYS 64 /* of an object, with those that a later version may add */

static const char *keep_optional(struct xb_json_reader *r, const cJSON *object, const char *key,
                                 struct xb_arena **texts)
{
    const char *text = xb_json_get_optional_text(r, object, key);
    return text != NULL ? xb_link_keep_text(r, texts, text) : NULL;
}

static void read_host(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    const cJSON *object = xb_json_get_optional_object(r, root, "host", MOST_KEYS);
    size_t outer = xb_place_enter(&r->place, "host");
    file->hostname = keep_optional(r, object, "hostname", &file->texts);
    file->node = keep_optional(r, object, "node", &file->texts);
    file->node_named_by = keep_optional(r, object, "node_named_by", &file->texts);
    xb_place_leave(&r->place, outer);
}

static void read_launcher(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    const cJSON *object = xb_json_get_optional_object(r, root, "launcher", MOST_KEYS);
    file->rank = -1;
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "launcher");
    file->rank = (int64_t)xb_json_get_whole(r, object, "rank", 0, XB_RANKS - 1);
    file->ranks = xb_json_get_optional_whole(r, object, "ranks", XB_RANKS);
    if (file->ranks > 0 && (uint64_t)file->rank >= file->ranks)
        xb_json_refuse(r, "rank", "must be below the number of ranks");
    xb_place_leave(&r->place, outer);
}

static double read_time(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    const char *text = xb_json_get_optional_text(r, object, key);
    struct xb_error cause;
    double when = 0;
    if (text != NULL && xb_day_time_parse(text, &when, &cause) != XB_OK)
        xb_json_refuse(r, key, "must be a time, such as 2026-11-23T06:40:00.5Z");
    return when;
}

static void read_start(struct xb_json_reader *r, const cJSON *root, struct xb_start *start)
{
    const cJSON *object = xb_json_get_optional_object(r, root, "start", MOST_KEYS);
    size_t outer = xb_place_enter(&r->place, "start");
    start->asked = read_time(r, object, "asked");
    start->began = read_time(r, object, "began");
    const cJSON *clock = xb_json_get_optional_object(r, object, "clock", MOST_KEYS);
    size_t inner = xb_place_enter(&r->place, "clock");
    if (clock != NULL) {
        start->clock.is_synchronised =
            xb_json_get_known_flag(r, clock, "synchronised", &start->clock.is_known);
        double error = xb_json_get_optional_number(r, clock, "error_s", DBL_MAX);
        start->clock.error_s = isnan(error) ? 0 : error;
    }
    xb_place_leave(&r->place, inner);
    xb_place_leave(&r->place, outer);
}

void xb_link_read_origin(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    file->timestamp = keep_optional(r, root, "timestamp", &file->texts);
    read_host(r, root, file);
    struct xb_start *start = xb_arena_allocate(&file->texts, sizeof *start);
    if (start == NULL) {
        xb_link_read_fail_memory(r);
        return;
    }
    read_start(r, root, start);
    file->report.start = start;
    file->report.hostname = file->hostname;
    file->report.node = file->node;
    read_launcher(r, root, file);
}
