/* SPDX-License-Identifier: Apache-2.0 */
#include "origin.h"

#include "base/day_time.h"
#include "machine/node.h"

#include <math.h>

#define MOST_KEYS 1000
#define LATEST 1e11 /* seconds */

/* 0 for what is no time: a document without one is older than any other, but it counts. */
static double read_time(const char *text)
{
    struct xb_error ignored;
    double when = 0.0;
    return text != NULL && xb_day_time_parse(text, &when, &ignored) == XB_OK ? when : 0.0;
}

static void read_start(struct xb_json_reader *reader, const cJSON *document,
                       struct xb_fleet_origin *origin)
{
    const cJSON *start = xb_json_get_optional_object(reader, document, "start", MOST_KEYS);
    const cJSON *clock =
        start != NULL ? xb_json_get_optional_object(reader, start, "clock", MOST_KEYS) : NULL;
    if (start == NULL)
        return;
    double began = read_time(xb_json_get_optional_text(reader, start, "began"));
    origin->began = began > 0.0 ? began : (double)NAN;
    origin->late_s = xb_json_get_optional_number(reader, start, "late_s", LATEST);
    origin->unsynchronised = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(clock, "synchronised"));
}

static void read_launcher(struct xb_json_reader *reader, const cJSON *document,
                          struct xb_fleet_origin *origin)
{
    const cJSON *launcher = xb_json_get_optional_object(reader, document, "launcher", MOST_KEYS);
    if (launcher == NULL)
        return;
    origin->rank = (unsigned)xb_json_get_optional_whole(reader, launcher, "rank", XB_RANKS - 1);
    origin->ranks = (unsigned)xb_json_get_optional_whole(reader, launcher, "ranks", XB_RANKS);
}

struct xb_fleet_origin xb_fleet_origin_read(struct xb_json_reader *reader, const cJSON *document)
{
    struct xb_fleet_origin origin = {.began = (double)NAN, .late_s = (double)NAN};
    const cJSON *host = xb_json_get_optional_object(reader, document, "host", MOST_KEYS);
    const cJSON *backend = xb_json_get_optional_object(reader, document, "backend", MOST_KEYS);
    origin.hostname = xb_json_get_optional_text(reader, host, "hostname");
    origin.node = xb_json_get_optional_text(reader, host, "node");
    if (origin.node == NULL)
        origin.node = origin.hostname;
    origin.backend = xb_json_get_optional_text(reader, backend, "name");
    origin.driver = xb_json_get_optional_text(reader, backend, "driver_version");
    origin.written = (time_t)read_time(xb_json_get_optional_text(reader, document, "timestamp"));
    read_start(reader, document, &origin);
    read_launcher(reader, document, &origin);
    return origin;
}
