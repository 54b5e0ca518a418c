/* SPDX-License-Identifier: Apache-2.0 */
/* What a report shows of a fleet, whoever read and judged it: both are done here, by hand. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/memory.h"
#include "fleet/fleet.h"
#include "fuzz/check_markup.h"
#include "report/report.h"
#include "testing.h"
#include "xferbench/figure.h"

#include <math.h>

#define NONE ((double)NAN)
#define GPUS 8u
#define MEDIAN 55.4e9
#define HOSTILE "<script>alert(\"1\")</script> & ]]> \x01\xff\xe2\x80\xae"
#define LARGEST_PICTURE 150000

/* ---- reading and judging ---- */

/* A GPU that is not like the others. */
struct odd {
    const char *node;
    unsigned gpu;
    double share; /* of the median */
};

static const struct odd *odds;
static size_t odd_count;
static size_t every;     /* of so many nodes one has all its GPUs slow; 0: none */
static bool is_together; /* what is slow is so for one reason */
static size_t reads;

static double share_of(const char *node, unsigned gpu)
{
    for (size_t i = 0; i < odd_count; i++)
        if (strcmp(odds[i].node, node) == 0 && odds[i].gpu == gpu)
            return odds[i].share;
    if (every > 0 && reads % every == 0)
        return 0.97;
    return 1.0 + 0.001 * sin((double)(reads * 31 + gpu));
}

enum xb_status __wrap_xb_fleet_read_text(struct xb_fleet *fleet, const char *path, size_t number,
                                         const char *text, size_t length, struct xb_error *error);
void __wrap_xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                           struct xb_fleet_judgement *judgement);
void __wrap_xb_fleet_judgement_free(struct xb_fleet_judgement *judgement);

/* The document's text is its node's name. */
enum xb_status __wrap_xb_fleet_read_text(struct xb_fleet *fleet, const char *path, size_t number,
                                         const char *text, size_t length, struct xb_error *error)
{
    const struct xb_fleet_source source = {
        .path = path, .number = number, .written = (time_t)reads};
    const struct xb_fleet_node node = {.name = text};
    const struct xb_fleet_figure figure = {.name = "link h2d",
                                           .unit = XB_UNIT_RATE,
                                           .more_is_better = true,
                                           .backend = "cuda",
                                           .model = "NVIDIA H200 " HOSTILE,
                                           .link = "Gen5 x16",
                                           .driver = "580",
                                           .options = ""};
    struct xb_fleet_value value = {.peer = -1, .scatter = NONE};
    struct xb_fleet_gpu gpu = {.model = figure.model};
    assert_int_equal(length, strlen(text));
    value.source = xb_fleet_add_source(fleet, &source);
    gpu.node = xb_fleet_add_node(fleet, &node);
    value.figure = xb_fleet_add_figure(fleet, &figure);
    reads++;
    for (gpu.index = 0; gpu.index < GPUS; gpu.index++) {
        value.gpu = xb_fleet_add_gpu(fleet, &gpu);
        value.value = MEDIAN * share_of(text, gpu.index);
        xb_fleet_add_value(fleet, &value);
    }
    (void)error;
    return XB_OK;
}

static struct xb_fleet_finding finding_of(struct xb_fleet_judgement *judgement,
                                          const struct xb_fleet_value *value)
{
    double deviation = value->value / MEDIAN - 1.0;
    return (struct xb_fleet_finding){
        .code = deviation < 0.0 ? XB_FLEET_SLOW : XB_FLEET_FAST,
        .node = value->gpu->node,
        .gpu = value->gpu,
        .peer = -1,
        .figure = value->figure,
        .value = value->value,
        .centre = MEDIAN,
        .deviation = deviation,
        .together = is_together,
        .text = xb_arena_print(&judgement->texts, "%s GPU %u: link h2d is %.1f %% off",
                               value->gpu->node->name, value->gpu->index, 100.0 * deviation)};
}

/* Names what is 1 % away or farther; the values are already those of a fleet of one figure. */
void __wrap_xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                           struct xb_fleet_judgement *judgement)
{
    *judgement = (struct xb_fleet_judgement){.fleet = fleet, .request = *request};
    judgement->findings = calloc(fleet->value_count + 1, sizeof *judgement->findings);
    judgement->siblings = calloc(1, sizeof *judgement->siblings);
    assert_non_null(judgement->findings);
    assert_non_null(judgement->siblings);
    struct xb_fleet_siblings *siblings = judgement->siblings;
    *siblings =
        (struct xb_fleet_siblings){.figure = fleet->value_count > 0 ? fleet->figures[0] : NULL,
                                   .values = fleet->gpu_count,
                                   .nodes = fleet->node_count,
                                   .judged = fleet->gpu_count > XB_FLEET_SIBLINGS,
                                   .centre = MEDIAN,
                                   .spread = 0.001,
                                   .is_floor = true,
                                   .least = MEDIAN,
                                   .most = MEDIAN,
                                   .named_from = 0.005};
    judgement->sibling_count = fleet->value_count > 0;
    judgement->judged_gpus = fleet->gpu_count;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        siblings->least = fmin(siblings->least, value->value);
        siblings->most = fmax(siblings->most, value->value);
        if (fabs(value->value / MEDIAN - 1.0) < 0.01)
            continue;
        judgement->findings[judgement->finding_count] = finding_of(judgement, value);
        siblings->slow += value->value < MEDIAN;
        siblings->fast += value->value > MEDIAN;
        judgement->finding_count++;
    }
}

void __wrap_xb_fleet_judgement_free(struct xb_fleet_judgement *judgement)
{
    free(judgement->findings);
    free(judgement->siblings);
    xb_arena_free(judgement->texts);
}

/* ---- the page ---- */

static void take(void *own, enum xb_document_kind kind, const char *node)
{
    struct xb_error error = {.status = XB_OK};
    const struct xb_report_document document = {
        .path = "a.json", .kind = kind, .text = (char *)node, .length = strlen(node)};
    xb_section_fleet.take(own, &document, &error);
    assert_int_equal(error.status, XB_OK);
}

static void *begin(void)
{
    return xb_new(1, xb_section_fleet.state_size);
}

static void discard(void *own)
{
    xb_section_fleet.free(own);
    free(own);
}

static void check_page(const char *text)
{
    static const char *const elements[] = {
        "html",    "head",       "meta",  "title", "style", "body",    "header", "main",
        "footer",  "h1",         "h2",    "h3",    "p",     "section", "div",    "table",
        "caption", "thead",      "tbody", "tr",    "th",    "td",      "figure", "svg",
        "desc",    "figcaption", "g",     "line",  "rect",  "path",    "text",   "circle",
        "details", "summary",    "span",  "pre",   NULL};
    static const char type[] = "<!DOCTYPE html>\n";
    assert_memory_equal(text, type, sizeof type - 1);
    check_markup(text + sizeof type - 1, elements);
}

/* The page with this section; release it with free(3). */
static char *write_page(void *own)
{
    struct xb_page page = {.folder = NULL};
    char *text = NULL;
    size_t length = 0;
    page.stream = open_memstream(&text, &length);
    assert_non_null(page.stream);
    xb_page_begin(&page, "A fleet", "");
    xb_page_section_begin(&page, 2, false, xb_section_fleet.name, xb_section_fleet.title);
    xb_section_fleet.write(&page, own);
    assert_int_equal(page.error.status, XB_OK);
    xb_page_section_end(&page);
    xb_page_end(&page);
    assert_int_equal(fclose(page.stream), 0);
    check_page(text);
    return text;
}

static void *make_fleet(size_t nodes)
{
    void *own = begin();
    char name[32];
    reads = 0;
    for (size_t i = 1; i <= nodes; i++) {
        snprintf(name, sizeof name, "gpu%zu", i);
        take(own, XB_DOCUMENT_LINK, name);
    }
    assert_true(xb_section_fleet.finish(own));
    return own;
}

static size_t count_texts(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

static int set_up(NO_STATE)
{
    odds = NULL;
    odd_count = every = reads = 0;
    is_together = false;
    return 0;
}

static void set_odds(const struct odd *list, size_t count)
{
    odds = list;
    odd_count = count;
}

/* ---- tests ---- */

TEST_WITH(nothing_is_said_of_one_node, set_up, NULL)
{
    void *own = begin();
    assert_false(xb_section_fleet.finish(own)); /* of none */
    take(own, XB_DOCUMENT_LINK, "gpu1");
    take(own, XB_DOCUMENT_RESULT, "gpu1");
    assert_false(xb_section_fleet.finish(own));
    discard(own);
}

TEST_WITH(only_what_was_measured_on_nodes_is_taken, set_up, NULL)
{
    void *own = begin();
    take(own, XB_DOCUMENT_COMPARE, "gpu1");
    take(own, XB_DOCUMENT_LIST, "gpu2");
    take(own, XB_DOCUMENT_TRACE, "gpu3");
    assert_int_equal(reads, 0);
    take(own, XB_DOCUMENT_PROCESSES, "gpu4");
    assert_int_equal(reads, 1);
    discard(own);
}

TEST_WITH(the_slow_and_the_fast_are_named, set_up, NULL)
{
    static const struct odd few[] = {
        {"gpu2", 3, 0.98}, {"gpu10", 0, 0.979}, {"gpu10", 5, 0.978}, {"gpu7", 1, 1.03}};
    set_odds(few, 4);
    void *own = make_fleet(12);
    char *text = write_page(own);
    assert_non_null(strstr(text, "Drain: gpu[2,10]")); /* 2 before 10 */
    assert_non_null(strstr(text, ">-2.0 %: gpu2 GPU 3<"));
    assert_non_null(strstr(text, ">-2.2 %: gpu10 GPU 5<"));
    assert_non_null(strstr(text, ">+3.0 %: gpu7 GPU 1<"));
    assert_non_null(strstr(text, ">like their siblings: 92<"));
    assert_int_equal(count_texts(text, "h0"), 92);
    assert_non_null(strstr(text, ">slow: 3<"));
    assert_non_null(strstr(text, ">fast: 1<"));
    assert_non_null(strstr(text, ">slow below 55.12<"));
    assert_non_null(strstr(text, ">gpu12<")); /* the last place of the axis */
    assert_int_equal(count_texts(text, "<svg"), 1);
    free(text);
    discard(own);
}

TEST_WITH(a_node_that_is_slow_as_a_whole_has_one_name, set_up, NULL)
{
    every = 5;
    is_together = true;
    void *own = make_fleet(9);
    char *text = write_page(own);
    assert_non_null(strstr(text, ">gpu5: 8 GPUs<"));
    assert_null(strstr(text, "Drain: gpu"));
    assert_int_equal(count_texts(text, ": gpu5 GPU "), 0);
    free(text);
    discard(own);
}

/* Half of the lanes: the others are not drawn as one line for it. */
TEST_WITH(what_is_far_away_stands_at_the_edge, set_up, NULL)
{
    static const struct odd far[] = {{"gpu4", 2, 0.5}, {"gpu5", 2, 0.985}};
    set_odds(far, 2);
    void *own = make_fleet(9);
    char *text = write_page(own);
    assert_non_null(strstr(text, "Arrows: 1 beyond the axis."));
    assert_non_null(strstr(text, ">-50.0 %: gpu4 GPU 2<"));
    /* Ticks: the axis does not reach it. */
    assert_non_null(strstr(text, ">55<"));
    assert_null(strstr(text, ">30<"));
    assert_null(strstr(text, ">50<"));
    free(text);
    discard(own);
}

/* check_page() has looked at the markup. */
TEST_WITH(names_may_be_anything, set_up, NULL)
{
    static const struct odd list[] = {{HOSTILE, 1, 0.9}, {HOSTILE HOSTILE, 1, 0.9}};
    void *own = begin();
    set_odds(list, 2);
    take(own, XB_DOCUMENT_LINK, HOSTILE);
    take(own, XB_DOCUMENT_LINK, "");
    take(own, XB_DOCUMENT_LINK, HOSTILE HOSTILE);
    assert_true(xb_section_fleet.finish(own));
    char *text = write_page(own);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "&lt;script&gt;"));
    free(text);
    discard(own);
}

TEST_WITH(a_large_fleet_has_a_small_picture, set_up, NULL)
{
    every = 20;
    void *own = make_fleet(10000);
    char *text = write_page(own);
    const char *picture = strstr(text, "<svg");
    const char *end = picture != NULL ? strstr(picture, "</svg>") : NULL;
    assert_non_null(end);
    assert_in_range(end - picture, 1, LARGEST_PICTURE);
    assert_non_null(strstr(text, ">like their siblings: 76000<"));
    assert_non_null(strstr(text, ">slow: 4000<"));
    assert_non_null(strstr(text, ">gpu10000<"));
    free(text);
    discard(own);
}
