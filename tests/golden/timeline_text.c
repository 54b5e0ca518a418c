/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_text FILE: draws timelines that are written by hand, and writes them as trace events.
 * For golden cases. One iteration takes 60 ms, of which a column of a drawing is one; threads are
 * tracks 0 and 1, stream 0 is track 2. A line of the file is one of:
 *
 *   mode NAME                 begins a timeline: of `line`, which reads, copies and computes, or of
 *                             `plain`, which has no stages
 *   workers COUNT             of the stage that reads
 *   left-out COUNT            of operations
 *   TRACK KIND FROM TO STAGE ITEM BYTES FLOW NAME    a span, its times in ms; stage - is none
 *   draw WIDTH                prints what is drawn in so many columns
 *   shares                    prints how long each stage was at work, and waited
 *   trace                     adds it to the trace, which the end prints
 */
#include "measure/engine/stage.h"
#include "measure/run.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPANS 40

static const struct xb_stage stages[] = {
    {.name = "read", .engine = XB_ENGINE_HOST},
    {.name = "copy", .engine = XB_ENGINE_COPY},
    {.name = "compute", .engine = XB_ENGINE_COMPUTE},
    {.name = NULL},
};
static const struct xb_mode modes[] = {{.name = "line", .stages = stages}, {.name = "plain"}};
static const struct xb_backend backend = {.name = "made"};
static const struct xb_run run = {.backend = &backend};

static struct xb_track tracks[] = {
    {.kind = XB_TRACK_THREAD}, {.kind = XB_TRACK_THREAD, .number = 1}, {.kind = XB_TRACK_QUEUE}};
static struct xb_timeline_span spans[MOST_SPANS];
static struct xb_timeline timeline;
static struct xb_result result;
static struct xb_chrome chrome;

static void require(bool is_so, const char *line)
{
    if (is_so)
        return;
    fprintf(stderr, "wrong: %s\n", line);
    exit(99);
}

static void begin(const struct xb_mode *mode)
{
    timeline = (struct xb_timeline){
        .tracks = tracks, .track_count = 3, .spans = spans, .seconds = 0.06, .clock_error = 2e-6};
    result = (struct xb_result){.test = {.mode = mode,
                                         .variant = "only",
                                         .direction = XB_H2D,
                                         .bytes = 1024,
                                         .peer = XB_NO_PEER},
                                .bytes_moved = 1000,
                                .bandwidth = {.n = 1, .median = 20000},
                                .timeline = &timeline};
}

static void add(const char *line)
{
    static const struct {
        const char *word;
        enum xb_span_kind kind;
    } kinds[] = {{"call", XB_SPAN_CALL},
                 {"wait", XB_SPAN_WAIT},
                 {"copy", XB_SPAN_COPY},
                 {"kernel", XB_SPAN_KERNEL},
                 {"work", XB_SPAN_WORK}};
    char kind[16], stage[16];
    unsigned long long item, bytes, flow;
    size_t at = 0;
    require(timeline.span_count < MOST_SPANS, line);
    struct xb_timeline_span *span = &spans[timeline.span_count++];
    *span = (struct xb_timeline_span){.track = 0};
    int found = sscanf(line, "%zu %15s %lf %lf %15s %llu %llu %llu %47[^\n]", &span->track, kind,
                       &span->begin, &span->end, stage, &item, &bytes, &flow, span->name);
    while (at < 5 && strcmp(kinds[at].word, kind) != 0)
        at++;
    require(found == 9 && span->track < 3 && at < 5, line);
    span->kind = kinds[at].kind;
    span->begin *= 1e-3;
    span->end *= 1e-3;
    span->item = item;
    span->bytes = bytes;
    span->flow = flow;
    for (const struct xb_stage *own = stages; own->name != NULL; own++)
        if (strcmp(own->name, stage) == 0)
            span->stage = own->name;
}

static void print_shares(void)
{
    for (const struct xb_stage *stage = stages; stage->name != NULL; stage++) {
        struct xb_shares shares = xb_stage_shares(stage, &timeline);
        printf("%s: busy %.6g, waits %.6g\n", stage->name, shares.busy, shares.wait);
    }
}

static void follow(const char *line)
{
    struct xb_error error;
    char word[16] = "";
    unsigned long number = 0;
    (void)sscanf(line, "%15s %lu", word, &number);
    if (strcmp(word, "mode") == 0)
        begin(&modes[strstr(line, "plain") != NULL]);
    else if (strcmp(word, "workers") == 0)
        timeline.workers = (unsigned)number;
    else if (strcmp(word, "left-out") == 0)
        timeline.left_out = number;
    else if (strcmp(word, "draw") == 0)
        xb_timeline_print(stdout, number, &result);
    else if (strcmp(word, "shares") == 0)
        print_shares();
    else if (strcmp(word, "trace") == 0)
        require((chrome.stream != NULL || xb_chrome_begin(&chrome, stdout, &error) == XB_OK) &&
                    xb_chrome_add(&chrome, &result, &error) == XB_OK,
                line);
    else if (word[0] != '#' && word[0] != '\0')
        add(line);
}

int main(int count, char **words)
{
    char line[256];
    struct xb_error error;
    FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
    require(file != NULL, "usage: timeline_text FILE");
    while (fgets(line, sizeof line, file) != NULL)
        follow(line);
    (void)fclose(file);
    if (chrome.stream != NULL)
        require(xb_chrome_end(&chrome, &run, &error) == XB_OK, "the end");
    xb_chrome_free(&chrome);
    return 0;
}
