/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "base/text.h"
#include "checks.h"
#include "fleet_fixture.h"

struct xb_fleet fleet;
struct xb_fleet_judgement judged;
struct xb_fleet_request request;
struct xb_fleet_figure next_figure;
struct xb_fleet_gpu next_gpu;
struct xb_fleet_source next_source;
const char *next_driver;
const char *next_causes;

static size_t source;

void begin(void)
{
    finish_group(NULL);
    xb_fleet_open(&fleet);
    request = (struct xb_fleet_request){.alpha = 0.01};
    next_figure = (struct xb_fleet_figure){.name = "h2d",
                                           .unit = "B/s",
                                           .more_is_better = true,
                                           .backend = "cuda",
                                           .model = "H200",
                                           .link = "Gen5 x16",
                                           .driver = "580.1"};
    next_gpu = (struct xb_fleet_gpu){
        .model = "H200", .link_speed_gts = 32, .link_width = 16, .told = 1000};
    next_source = (struct xb_fleet_source){
        .path = "n.json", .kind = "link", .written = 1000, .began = NAN, .late_s = NAN};
    next_driver = "580.1";
    next_causes = NULL;
}

int finish_group(NO_STATE)
{
    xb_fleet_judgement_free(&judged);
    xb_fleet_free(&fleet);
    return 0;
}

size_t add_document(void)
{
    source = xb_fleet_add_source(&fleet, &next_source);
    return source;
}

size_t add_node(const char *format, ...)
{
    char name[64];
    XB_FORMAT(name, sizeof name, format);
    struct xb_fleet_node node = {
        .name = name, .driver = next_driver, .driver_told = next_source.written};
    return xb_fleet_add_node(&fleet, &node)->number;
}

size_t add_gpu(size_t node, unsigned index)
{
    char uuid[32];
    struct xb_fleet_gpu gpu = next_gpu;
    snprintf(uuid, sizeof uuid, "GPU-%zu-%u", node, index);
    gpu.node = fleet.nodes[node];
    gpu.index = index;
    if (gpu.uuid == NULL)
        gpu.uuid = uuid;
    return xb_fleet_add_gpu(&fleet, &gpu)->number;
}

size_t add_figure(const char *name)
{
    next_figure.name = name;
    return xb_fleet_add_figure(&fleet, &next_figure)->number;
}

void add_pair(size_t figure, size_t gpu, int peer, double value)
{
    struct xb_fleet_value added = {.figure = fleet.figures[figure],
                                   .gpu = fleet.gpus[gpu],
                                   .peer = peer,
                                   .value = value,
                                   .scatter = NAN,
                                   .source = source,
                                   .written = fleet.sources[source].written};
    xb_fleet_add_value(&fleet, &added);
}

void add_value(size_t figure, size_t gpu, double value)
{
    add_pair(figure, gpu, -1, value);
}

size_t add_fleet(size_t nodes, double centre, double step)
{
    size_t figure = add_figure("h2d");
    for (size_t i = 0; i < nodes; i++) {
        add_document();
        add_value(figure, add_gpu(add_node("n%zu", i), 0),
                  centre * (1 + step * ((double)(i % 5) - 2)));
    }
    return figure;
}

static void complain_of(enum xb_fleet_code code, const struct xb_fleet_node *node,
                        struct xb_fleet_gpu *gpu, const char *text)
{
    xb_fleet_add_complaint(&fleet,
                           &(struct xb_fleet_finding){.code = code,
                                                      .node = node,
                                                      .gpu = gpu,
                                                      .text = text,
                                                      .source = source,
                                                      .written = fleet.sources[source].written,
                                                      .causes = next_causes});
}

void complain(enum xb_fleet_code code, size_t gpu, const char *text)
{
    complain_of(code, fleet.gpus[gpu]->node, fleet.gpus[gpu], text);
}

void complain_of_node(enum xb_fleet_code code, size_t node, const char *text)
{
    complain_of(code, fleet.nodes[node], NULL, text);
}

void judge(void)
{
    xb_fleet_judgement_free(&judged);
    xb_fleet_judge(&fleet, &request, &judged);
}

size_t count_of(enum xb_fleet_code code)
{
    size_t count = 0;
    for (size_t i = 0; i < judged.finding_count; i++)
        count += judged.findings[i].code == code;
    return count;
}

const struct xb_fleet_finding *assert_finding(enum xb_fleet_code code, const char *node,
                                              const char *words)
{
    const struct xb_fleet_finding *found = NULL;
    assert_int_equal(count_of(code), 1);
    for (size_t i = 0; i < judged.finding_count; i++)
        if (judged.findings[i].code == code)
            found = &judged.findings[i];
    assert_non_null(found);
    assert_string_equal(found->node->name, node);
    assert_has(found->text, words);
    return found;
}

static size_t notes_with(const char *words)
{
    size_t count = 0;
    for (size_t i = 0; i < judged.note_count; i++)
        count += strstr(judged.notes[i], words) != NULL;
    return count;
}

void assert_note(const char *words)
{
    if (notes_with(words) != 1)
        fail_msg("%zu of %zu notes say \"%s\"; the first is \"%s\"", notes_with(words),
                 judged.note_count, words, judged.note_count > 0 ? judged.notes[0] : "");
}

void assert_no_note(const char *words)
{
    if (notes_with(words) != 0)
        fail_msg("%zu notes say \"%s\"", notes_with(words), words);
}

void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}
