/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fleet_fixture.h"

#include "fleet/write/formats.h"
#include "random.h"

#include <math.h>

struct xb_fleet fleet;

static struct xb_fleet baseline;
static struct xb_fleet_judgement judged;
static struct xb_fleet_request request;
static struct xb_hostlist expected;
/* What the next ones are like. */
static struct xb_fleet_figure next_figure;
static struct xb_fleet_gpu next_gpu;
static struct xb_fleet_source next_source;
static const char *next_driver;
static size_t source; /* the last */
static uint64_t seed;
static struct xb_arena *texts;

int finish_fleet(NO_STATE)
{
    xb_fleet_judgement_free(&judged);
    xb_fleet_free(&fleet);
    xb_fleet_free(&baseline);
    xb_hostlist_free(&expected);
    xb_arena_free(texts);
    texts = NULL;
    return 0;
}

void begin_fleet(void)
{
    finish_fleet(NULL);
    xb_fleet_open(&fleet);
    request = (struct xb_fleet_request){.alpha = 0.01};
    next_figure = (struct xb_fleet_figure){.unit = "B/s",
                                           .more_is_better = true,
                                           .backend = "cuda",
                                           .model = "H200",
                                           .link = "Gen5 x16",
                                           .driver = "580.1"};
    next_gpu = (struct xb_fleet_gpu){.model = "H200",
                                     .uuid = "GPU-{node}-{gpu}",
                                     .link_speed_gts = 32,
                                     .link_width = 16,
                                     .told = 1000};
    next_source = (struct xb_fleet_source){
        .path = "n.json", .kind = "link", .written = 1000, .began = NAN, .late_s = NAN};
    next_driver = "580.1";
    seed = 7;
}

static struct xb_hostlist names_of(const char *text)
{
    struct xb_hostlist list;
    struct xb_error error;
    if (xb_hostlist_expand(text, &list, &error) != XB_OK)
        fail_case("%s", error.message);
    return list;
}

/* ---- what is added ---- */

static void set_source(char **words)
{
    const char *kind = value_of(words, "kind"), *rank = value_of(words, "rank");
    if (kind != NULL)
        next_source.kind = xb_arena_copy(&texts, kind);
    next_source.written = (time_t)number_or(words, "written", (double)next_source.written);
    next_source.dated = (time_t)number_or(words, "dated", (double)next_source.dated);
    next_source.late_s = number_or(words, "late", next_source.late_s);
    if (rank != NULL && sscanf(rank, "%u/%u", &next_source.rank, &next_source.ranks) != 2)
        fail_case("%s is no rank", rank);
    next_source.unsynchronised = false;
    for (; *words != NULL; words++)
        next_source.unsynchronised |= strcmp(*words, "unsynchronised") == 0;
}

static void add_document(UNTOLD, char **words)
{
    set_source(words);
    source = xb_fleet_add_source(&fleet, &next_source);
}

static void set_next(UNTOLD, char **words)
{
    const struct {
        const char *name, **own, **other;
    } known[] = {{"driver", &next_driver, &next_figure.driver},
                 {"model", &next_gpu.model, &next_figure.model},
                 {"link", &next_figure.link, NULL},
                 {"unit", &next_figure.unit, NULL},
                 {"options", &next_figure.options, NULL},
                 {"uuid", &next_gpu.uuid, NULL},
                 {"pci", &next_gpu.pci_bdf, NULL}};
    const char *links = value_of(words, "links");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *value = value_of(words, known[i].name);
        if (value == NULL)
            continue;
        *known[i].own = strcmp(value, "-") != 0 ? xb_arena_copy(&texts, value) : NULL;
        if (known[i].other != NULL)
            *known[i].other = *known[i].own;
    }
    if (links != NULL) {
        next_figure.links_known = strcmp(links, "unknown") != 0;
        next_figure.links = next_figure.links_known ? (unsigned)number_of(links) : 0;
    }
    next_figure.more_is_better = number_or(words, "more", next_figure.more_is_better) > 0;
    next_gpu.link_speed_gts = number_or(words, "speed", next_gpu.link_speed_gts);
    next_gpu.link_width = (unsigned)number_or(words, "width", next_gpu.link_width);
    next_gpu.told = (time_t)number_or(words, "told", (double)next_gpu.told);
}

static struct xb_fleet_node *add_node(const char *name)
{
    struct xb_fleet_node node = {
        .name = name, .driver = next_driver, .driver_told = next_source.written};
    return xb_fleet_add_node(&fleet, &node);
}

/* A pattern with its {node} and {gpu} filled in. */
static const char *filled(const char *pattern, const char *node, unsigned gpu)
{
    const char *text = "";
    while (pattern != NULL && *pattern != '\0') {
        size_t plain = strcspn(pattern, "{");
        text = xb_arena_print(&texts, "%s%.*s", text, (int)plain, pattern);
        pattern += plain;
        if (*pattern == '{')
            text = pattern[1] == 'n' ? xb_arena_print(&texts, "%s%s", text, node)
                                     : xb_arena_print(&texts, "%s%u", text, gpu);
        pattern += strcspn(pattern, "}") + (*pattern == '{');
    }
    return pattern != NULL ? text : NULL;
}

static struct xb_fleet_gpu *add_gpu(struct xb_fleet_node *node, unsigned index)
{
    struct xb_fleet_gpu gpu = next_gpu;
    gpu.node = node;
    gpu.index = index;
    gpu.uuid = filled(next_gpu.uuid, node->name, index);
    gpu.pci_bdf = filled(next_gpu.pci_bdf, node->name, index);
    return xb_fleet_add_gpu(&fleet, &gpu);
}

static void add_value_of(const char *name, struct xb_fleet_gpu *gpu, int peer, double value,
                         double scatter)
{
    next_figure.name = name;
    struct xb_fleet_value added = {.figure = xb_fleet_add_figure(&fleet, &next_figure),
                                   .gpu = gpu,
                                   .peer = peer,
                                   .value = value,
                                   .scatter = scatter,
                                   .source = source,
                                   .written = fleet.sources[source].written};
    xb_fleet_add_value(&fleet, &added);
}

static void add_value(UNTOLD, char **words)
{
    struct xb_fleet_gpu *gpu = add_gpu(add_node(words[1]), (unsigned)number_of(words[2]));
    add_value_of(words[3], gpu, (int)number_or(words, "peer", -1), number_of(words[4]),
                 number_or(words, "scatter", NAN));
}

/* From node to node, of so many. */
static double share_of(char **words, size_t i, size_t count)
{
    double share = 1 + number_or(words, "step", 0) * ((double)(i % 5) - 2);
    double noise = number_or(words, "noise", 0), tails = number_or(words, "tails", 0);
    size_t middle = count / 2;
    double place = (double)i - (double)middle;
    if (tails > 0)
        share *= exp(copysign(tails * log(1 - fabs(place) / (double)(middle + 1)), place));
    return noise > 0 ? share * (1 + noise * normal(&seed)) : share;
}

static void add_nodes(UNTOLD, char **words)
{
    static const char *const others[] = {"step", "noise", "tails", "width"};
    bool has_gpus = words[2] != NULL && strchr(words[2], '=') == NULL;
    struct xb_hostlist names = names_of(words[1]), gpus = names_of(has_gpus ? words[2] : "0");
    unsigned width = next_gpu.link_width;
    for (size_t i = 0; i < names.count; i++) {
        source = xb_fleet_add_source(&fleet, &next_source);
        struct xb_fleet_node *node = add_node(names.names[i]);
        for (size_t k = 0; k < gpus.count; k++) {
            if (value_of(words, "width") != NULL)
                next_gpu.link_width = (unsigned)number_of(item_of(value_of(words, "width"), k));
            struct xb_fleet_gpu *gpu = add_gpu(node, (unsigned)number_of(gpus.names[k]));
            for (char **word = words + 2; *word != NULL; word++) {
                const char *name = strndupa(*word, strcspn(*word, "="));
                bool is_figure = strchr(*word, '=') != NULL;
                for (size_t j = 0; j < sizeof others / sizeof *others; j++)
                    is_figure = is_figure && strcmp(name, others[j]) != 0;
                if (is_figure)
                    add_value_of(name, gpu, -1,
                                 number_of(item_of(strchr(*word, '=') + 1, k)) *
                                     share_of(words, i, names.count),
                                 NAN);
            }
        }
    }
    next_gpu.link_width = width;
    xb_hostlist_free(&names);
    xb_hostlist_free(&gpus);
}

static void add_pairs(UNTOLD, char **words)
{
    struct xb_hostlist names = names_of(words[1]);
    unsigned from = 0;
    int to = 0;
    for (size_t i = 0; i < names.count; i++) {
        source = xb_fleet_add_source(&fleet, &next_source);
        for (const char *pair = words[2]; sscanf(pair, "%u>%d", &from, &to) == 2;) {
            add_value_of(words[3], add_gpu(add_node(names.names[i]), from), to, number_of(words[4]),
                         NAN);
            pair += strcspn(pair, ",");
            pair += *pair == ',';
        }
    }
    xb_hostlist_free(&names);
}

static void set_scatter(UNTOLD, char **words)
{
    struct xb_hostlist names = names_of(words[1]);
    for (size_t i = 0; i < fleet.value_count; i++)
        for (size_t k = 0; k < names.count; k++)
            if (strcmp(fleet.values[i].gpu->node->name, names.names[k]) == 0)
                fleet.values[i].scatter = number_of(words[2]);
    xb_hostlist_free(&names);
}

static void complain(UNTOLD, char **words)
{
    struct xb_hostlist names = names_of(words[1]);
    enum xb_fleet_code code = XB_FLEET_MISSING;
    while (strcmp(xb_fleet_sayings[code].name, words[3]) != 0)
        if (++code == XB_FLEET_CODES)
            fail_case("no code %s", words[3]);
    for (size_t i = 0; i < names.count; i++) {
        struct xb_fleet_node *node = add_node(names.names[i]);
        bool is_of_node = strcmp(words[2], "-") == 0;
        xb_fleet_add_complaint(
            &fleet, &(struct xb_fleet_finding){
                        .code = code,
                        .node = node,
                        .gpu = is_of_node ? NULL : add_gpu(node, (unsigned)number_of(words[2])),
                        .text = words[4],
                        .source = source,
                        .written = fleet.sources[source].written,
                        .causes = words[5]});
    }
    xb_hostlist_free(&names);
}

static void name_host(UNTOLD, char **words)
{
    struct xb_fleet_node node = {.name = words[1], .hostname = words[2]};
    (void)xb_fleet_add_node(&fleet, &node);
}

/* Whose it is nobody knows. */
static void break_document(UNTOLD, char **words)
{
    xb_fleet_leave_out(&fleet, words[1], "broken", false);
}

static void keep_baseline(UNTOLD, NO_WORDS)
{
    baseline = fleet;
    request.baseline = &baseline;
    xb_fleet_open(&fleet);
}

static void ask(UNTOLD, char **words)
{
    if (strcmp(words[0], "alpha") == 0) {
        request.alpha = number_of(words[1]);
        return;
    }
    xb_hostlist_free(&expected);
    expected = words[1] != NULL ? names_of(words[1]) : (struct xb_hostlist){.count = 0};
    request.expected = expected.names;
    request.expected_count = expected.count;
}

/* ---- what is told ---- */

const char *known(const char *text)
{
    return text == NULL ? "-" : text[0] == '\0' ? "\"\"" : text;
}

void tell_figure(FILE *told, const struct xb_fleet_figure *own)
{
    fprintf(told, "%s in %s, %s is better: %s, %s, %s, %s, %s", own->name, own->unit,
            own->more_is_better ? "more" : "less", known(own->backend), known(own->model),
            known(own->link), known(own->driver), known(own->options));
    if (own->links_known)
        fprintf(told, ", %u links", own->links);
    fputs("\n", told);
}

static void show(FILE *told, char **words)
{
    if (strcmp(words[1], "gpus") == 0)
        for (size_t i = 0; i < fleet.gpu_count; i++) {
            const struct xb_fleet_gpu *gpu = fleet.gpus[i];
            fprintf(told, "GPU %u on %s: %s, %s at %s, %g GT/s x%u\n", gpu->index, gpu->node->name,
                    known(gpu->model), known(gpu->uuid), known(gpu->pci_bdf), gpu->link_speed_gts,
                    gpu->link_width);
        }
    else if (strcmp(words[1], "nodes") == 0)
        for (size_t i = 0; i < fleet.node_count; i++)
            fprintf(told, "%s: driver %s of %lld, host %s, expected as %s\n", fleet.nodes[i]->name,
                    known(fleet.nodes[i]->driver), (long long)fleet.nodes[i]->driver_told,
                    known(fleet.nodes[i]->hostname), known(fleet.nodes[i]->expected));
    else
        for (size_t i = 0; i < fleet.figure_count; i++)
            tell_figure(told, fleet.figures[i]);
}

static void tell_finding(FILE *told, const struct xb_fleet_finding *own)
{
    fprintf(told, "%s: %s", xb_fleet_sayings[own->code].name, own->node->name);
    if (own->gpu != NULL)
        fprintf(told, " GPU %u", own->gpu->index);
    if (own->peer >= 0)
        fprintf(told, ">%d", own->peer);
    fprintf(told, ": %s%s%s", own->text, own->together ? ", together" : "",
            own->unsure ? ", unsure" : "");
    if (own->figure != NULL)
        fprintf(told, "\n      %.6g of %.6g, off by %.5g, %.5g spreads, P %.5g", own->value,
                own->centre, own->deviation, own->spreads, own->p);
    fputs("\n", told);
}

static void tell_siblings(FILE *told, const struct xb_fleet_siblings *own)
{
    fprintf(told, "%s: %zu on %zu nodes, worth %.5g, %.6g +- %.5g", own->figure->name, own->values,
            own->nodes, own->independent, own->centre, own->spread);
    if (own->judged)
        fprintf(told, ", named from %.5g", own->named_from);
    else
        fputs(", not judged", told);
    fprintf(told, "%s", own->is_floor ? ", floor" : "");
    if (own->slots_differ > 0)
        fprintf(told, ", slots differ by %.5g", own->slots_differ);
    if (own->long_tails)
        fprintf(told, ", long tails");
    if (own->slow + own->fast > 0)
        fprintf(told, ", %zu slow on %zu, %zu fast on %zu", own->slow, own->slow_nodes, own->fast,
                own->fast_nodes);
    fprintf(told, "\n      %.5g |", own->bins_from);
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        fputc(own->bins[i] == 0 ? '.' : own->bins[i] < 10 ? '0' + (int)own->bins[i] : '#', told);
    fprintf(told, "| %.5g\n", own->bins_to);
}

#define TOLD 6 /* of more findings only the first ones, and the number of the others by code */

static void tell_judgement(FILE *told, NO_WORDS)
{
    size_t counts[XB_FLEET_CODES][2] = {{0}};
    xb_fleet_judgement_free(&judged);
    xb_fleet_judge(&fleet, &request, &judged);
    fprintf(told, "exit %d: judged %zu values of %zu GPUs, %zu replaced\n",
            xb_fleet_exit_code(&judged), judged.tests, judged.judged_gpus, judged.duplicates);
    for (size_t i = 0; i < judged.finding_count; i++)
        if (judged.finding_count <= TOLD || i < TOLD / 2)
            tell_finding(told, &judged.findings[i]);
        else
            counts[judged.findings[i].code][judged.findings[i].together]++;
    for (size_t i = 0; i < (size_t)2 * XB_FLEET_CODES; i++)
        if (counts[i / 2][i % 2] > 0)
            fprintf(told, "  and %zu more %s%s\n", counts[i / 2][i % 2],
                    xb_fleet_sayings[i / 2].name, i % 2 == 1 ? ", together" : "");
    for (size_t i = 0; i < judged.note_count; i++)
        fprintf(told, "%s\n", judged.notes[i]);
    for (size_t i = 0; i < judged.sibling_count; i++)
        tell_siblings(told, &judged.siblings[i]);
    for (size_t i = 0; i < fleet.complaint_count; i++) /* also of GPUs that were moved */
        if (fleet.complaints[i].gpu != NULL)
            assert_ptr_equal(fleet.complaints[i].gpu, fleet.gpus[fleet.complaints[i].gpu->number]);
}

const struct verb fleet_verbs[] = {
    {"document", add_document},
    {"with", set_next},
    {"nodes", add_nodes},
    {"value", add_value},
    {"pairs", add_pairs},
    {"scatter", set_scatter},
    {"complain", complain},
    {"host", name_host},
    {"expect", ask},
    {"alpha", ask},
    {"show", show},
    {"broken", break_document},
    {"baseline", keep_baseline},
    {"judge", tell_judgement},
    {NULL, NULL},
};
