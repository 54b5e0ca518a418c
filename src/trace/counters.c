/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a counter changes. */
struct edge {
    double seconds, change;
};

static int order_edges(const void *a, const void *b)
{
    const struct edge *one = a;
    const struct edge *other = b;
    if (one->seconds < other->seconds || one->seconds > other->seconds)
        return one->seconds < other->seconds ? -1 : 1;
    return one->change < other->change ? -1 : one->change > other->change;
}

/* Adds up the edges. What is at work is counted, so that no rest of the rounding stays at the end.
 */
static void put_edges(struct edge *edges, size_t count, const char *name, xb_counter_put *put,
                      void *argument)
{
    double value = 0;
    long at_work = 0;
    qsort(edges, count, sizeof *edges, order_edges);
    for (size_t i = 0; i < count; i++) {
        at_work += edges[i].change > 0 ? 1 : -1;
        value = at_work > 0 ? value + edges[i].change : 0;
        if (i + 1 == count || edges[i + 1].seconds > edges[i].seconds)
            put(argument, name, edges[i].seconds, value);
    }
}

/* ---- rates ---- */

/* Puts the rate of all spans of that kind whose name has that word. */
static void put_rates(const struct xb_timeline *timeline, enum xb_span_kind kind, const char *word,
                      struct edge *edges, xb_counter_put *put, void *argument)
{
    char name[64];
    size_t count = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        if (span->kind != kind || span->bytes == 0 || !(span->end > span->begin) ||
            strstr(span->name, word) == NULL)
            continue;
        double rate = 1e-9 * (double)span->bytes / (span->end - span->begin);
        edges[count++] = (struct edge){span->begin, rate};
        edges[count++] = (struct edge){span->end, -rate};
    }
    snprintf(name, sizeof name, "GB/s %s", word);
    put_edges(edges, count, name, put, argument);
}

static const char *const ways[] = {"HtoD", "DtoH", "DtoD", "PtoP"};

/* The name of the host's stage, of which a mode has one; NULL: none had a turn. */
static const char *host_stage(const struct xb_timeline *timeline)
{
    for (size_t i = 0; i < timeline->span_count; i++)
        if (timeline->spans[i].kind == XB_SPAN_WORK)
            return timeline->spans[i].stage;
    return NULL;
}

/* ---- items ---- */

static int order_items(const void *a, const void *b)
{
    const struct xb_timeline_span *one = *(const struct xb_timeline_span *const *)a;
    const struct xb_timeline_span *other = *(const struct xb_timeline_span *const *)b;
    return one->item < other->item ? -1 : one->item > other->item;
}

/* A call that enqueues work for an item is none of its spans, nor is a wait for it. */
static size_t list_items(const struct xb_timeline *timeline, const struct xb_timeline_span **list)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        if (span->stage != NULL && span->kind != XB_SPAN_CALL && span->kind != XB_SPAN_WAIT)
            list[count++] = span;
    }
    qsort(list, count, sizeof(struct xb_timeline_span *), order_items);
    return count;
}

static void put_items(const struct xb_timeline *timeline, const struct xb_timeline_span **list,
                      struct edge *edges, xb_counter_put *put, void *argument)
{
    size_t listed = list_items(timeline, list);
    size_t count = 0;
    for (size_t first = 0, next; first < listed; first = next) {
        double begin = list[first]->begin;
        double end = list[first]->end;
        for (next = first; next < listed && list[next]->item == list[first]->item; next++) {
            begin = list[next]->begin < begin ? list[next]->begin : begin;
            end = list[next]->end > end ? list[next]->end : end;
        }
        edges[count++] = (struct edge){begin, 1};
        edges[count++] = (struct edge){end, -1};
    }
    put_edges(edges, count, "items under way", put, argument);
}

enum xb_status xb_counters_put(const struct xb_timeline *timeline, xb_counter_put *put,
                               void *argument, struct xb_error *error)
{
    const char *stage = host_stage(timeline);
    struct edge *edges = calloc(2 * timeline->span_count + 1, sizeof *edges);
    const struct xb_timeline_span **list =
        calloc(timeline->span_count + 1, sizeof(struct xb_timeline_span *));
    if (edges != NULL && list != NULL) {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
            put_rates(timeline, XB_SPAN_COPY, ways[i], edges, put, argument);
        if (stage != NULL)
            put_rates(timeline, XB_SPAN_WORK, stage, edges, put, argument);
        put_items(timeline, list, edges, put, argument);
    }
    bool has_failed = edges == NULL || list == NULL;
    free(edges);
    free(list);
    return has_failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory to count along a timeline")
                      : XB_OK;
}
