/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a link test, or results of one process or of several, into a fleet. */
#include "base/text.h"
#include "fleet/internal.h"
#include "link/report.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what every document says ---- */

/* A document that is dated ahead would outrank all others until that day. It counts so much
 * earlier: as older than all others, also those without a date, while several keep their order. */
#define BEFORE_ALL ((time_t)1 << 40)
/* A clock that was set to the local time is up to 14 hours ahead of UTC. */
#define AHEAD_S ((time_t)24 * 3600)

/* Adds the document itself and its node, which must have a name. */
static void begin(struct xb_fleet_taking *taking)
{
    struct xb_fleet_source *source = &taking->origin;
    bool is_ahead = source->dated > taking->fleet->now + AHEAD_S;
    source->written = source->dated - (is_ahead ? BEFORE_ALL : 0);
    taking->host.driver_told = source->written;
    taking->source = xb_fleet_add_source(taking->fleet, source);
    taking->node = xb_fleet_add_node(taking->fleet, &taking->host);
}

static bool is_same(const char *left, const char *right)
{
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

/* Adds a GPU of its node; `gpu` has neither node nor time. Leaves out a UUID or an address that
 * another GPU of the document has. */
static size_t add_gpu(struct xb_fleet_taking *taking, struct xb_fleet_gpu gpu)
{
    /* Parts of one GPU may have its UUID and its address: by these they would be taken for one, and
     * of their values one alone would count. The fleet has no GPUs but this document's. */
    for (size_t i = 0; i < taking->fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *other = &taking->fleet->gpus[i];
        bool apart = other->index != gpu.index;
        gpu.uuid = apart && is_same(other->uuid, gpu.uuid) ? NULL : gpu.uuid;
        gpu.pci_bdf = apart && is_same(other->pci_bdf, gpu.pci_bdf) ? NULL : gpu.pci_bdf;
    }
    gpu.node = taking->node;
    gpu.told = taking->origin.written;
    return xb_fleet_add_gpu(taking->fleet, &gpu);
}

/* Adds a value; fills in the figure's backend and driver. Ignores a value that is not above 0 or
 * has no GPU. */
static void add_value(struct xb_fleet_taking *taking, struct xb_fleet_figure figure,
                      struct xb_fleet_value value)
{
    figure.backend = taking->backend;
    figure.driver = taking->host.driver;
    value.source = taking->source;
    if (value.gpu == XB_FLEET_NONE || !(value.value > 0.0) || !isfinite(value.value))
        return;
    value.figure = xb_fleet_add_figure(taking->fleet, &figure);
    xb_fleet_add_value(taking->fleet, &value);
}

/* Adds a complaint about a GPU, or about the node if `gpu` is XB_FLEET_NONE. `causes` as in struct
 * xb_fleet_complaint. */
static void complain(struct xb_fleet_taking *taking, enum xb_fleet_code code, size_t gpu,
                     const char *text, const char *causes)
{
    const struct xb_fleet_complaint complaint = {.code = code,
                                                 .node = taking->node,
                                                 .gpu = gpu,
                                                 .text = text,
                                                 .source = taking->source,
                                                 .causes = causes};
    xb_fleet_add_complaint(taking->fleet, &complaint);
}

/* ---- links ---- */

#define LINK 80 /* room for the text of one */

/* "Gen5 x16", or NULL where the link is not known. `text` holds LINK. */
static const char *link_text(double speed_gts, unsigned width, char *text)
{
    return speed_gts > 0.0 && width > 0 ? xb_lanes_text(speed_gts, width, text, LINK) : NULL;
}

/* A device of a pair by its PCI address, or by its index where that is NULL or "". */
#define PLACE(pci_bdf, index) place_of((pci_bdf), (index), (char[24]){0})
static const char *place_of(const char *pci_bdf, unsigned index, char text[24])
{
    if (pci_bdf != NULL && pci_bdf[0] != '\0')
        snprintf(text, 24, "%.20s", pci_bdf);
    else
        snprintf(text, 24, "%u", index);
    return text;
}

/* Writes the link of a pair into a figure: "NVLink x18". Where links cannot be counted, pairs
 * differ for good reasons, as those do that are or are not behind one PCIe switch: then only pairs
 * at the same addresses of their nodes are alike, "PCIe 0000:0f:00.0>0000:1f:00.0". `text` holds
 * LINK and must outlive the figure. */
static void set_pair_link(struct xb_fleet_figure *figure, const char *link, unsigned links,
                          const char *from, const char *to, char *text)
{
    bool known = link != NULL && link[0] != '\0';
    figure->link = text;
    figure->links = known ? links : 0;
    figure->links_known = known && (links > 0 || strcmp(link, "PCIe") == 0);
    if (figure->links > 0)
        snprintf(text, LINK, "%.20s x%u", link, links);
    else
        snprintf(text, LINK, "%.20s %s>%s", known ? link : "unknown", from, to);
}

/* ---- a link test ---- */

#define SIZE "size" /* the only option of `link` that changes what a healthy link reaches */

/* A link test on its way into a fleet. */
struct test {
    struct xb_fleet_taking *taking;
    const struct xb_link_report *report;
    const char *options;
    size_t gpus[XB_RUN_DEVICES]; /* in the fleet */
};

/* Complains "CRITICAL: bandwidth-h2d: 20.1 GB/s, ...; ..." about a GPU or pair. */
static void complain_of_verdict(struct test *test, size_t gpu, const char *of,
                                const struct xb_findings *found)
{
    struct xb_words text = {.length = 0}, causes = {.length = 0};
    xb_words_add(&text, "%s%s", of, xb_level_name(found->level));
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_finding *reason = &found->reasons[i];
        xb_words_add(&text, "%s %s: %s", i == 0 ? ":" : ";", reason->code, reason->text);
        /* Only the verdict's own level counts: a warning makes no CRITICAL that all have worse. */
        if (reason->level == found->level)
            xb_words_add(&causes, "%s%s %s", causes.length == 0 ? "" : "\n",
                         xb_level_name(found->level), reason->code);
    }
    if (found->level != XB_LEVEL_OK)
        complain(test->taking,
                 found->level == XB_LEVEL_CRITICAL ? XB_FLEET_LINK_VERDICT : XB_FLEET_LINK_WARNING,
                 gpu, text.text, causes.text);
}

static void take_device(struct test *test, size_t i)
{
    char link[LINK], of[32];
    const struct xb_link_device *device = &test->report->devices[i];
    const struct xb_verdict *verdict = &test->report->verdicts[i];
    const struct xb_link_attempt *best = XB_ATTEMPT_JUDGED(verdict, device);
    const char *model = device->info.name, *own = NULL;
    bool any_wrong = false;
    for (size_t k = 0; k < verdict->found.reason_count; k++)
        if (strcmp(verdict->found.reasons[k].code, "XB-DEVICE-MISSING") == 0) {
            /* It stands for one that should be there and is not. */
            snprintf(of, sizeof of, "GPU %u: ", device->info.index);
            test->gpus[i] = XB_FLEET_NONE;
            complain_of_verdict(test, XB_FLEET_NONE, of, &verdict->found);
            return;
        }
    const struct xb_link_facts *facts = &verdict->facts;
    struct xb_fleet_gpu found = {
        .index = device->info.index,
        .model = model,
        .uuid = device->info.uuid[0] != '\0' ? device->info.uuid : NULL,
        .pci_bdf = device->info.pci_bdf[0] != '\0' ? device->info.pci_bdf : NULL,
    };
    if (facts->slot < facts->hop_count) {
        found.link_speed_gts = facts->hops[facts->slot].load.speed_gts;
        found.link_width = facts->hops[facts->slot].load.width;
    }
    size_t gpu = test->gpus[i] = add_gpu(test->taking, found);
    for (size_t k = 0; k < XB_ATTEMPTS(device); k++)
        any_wrong = any_wrong || device->attempts[k].data_wrong;
    if (any_wrong)
        complain(test->taking, XB_FLEET_WRONG_DATA, gpu, "a copy arrived wrong", NULL);
    if (device->cut)
        complain(test->taking, XB_FLEET_CUT, gpu,
                 "the deadline or a signal came before it was tested", NULL);
    complain_of_verdict(test, gpu, "", &verdict->found);
    if (best == NULL || best->data_wrong)
        return;
    /* The link as its own end could have it: a GPU that trained fewer lanes than it has still
     * belongs to those with all lanes. */
    const struct xb_pcie_link *end = &best->at_rest.hops[0].lower.link;
    if (xb_pcie_path_hops(&best->at_rest) > 0)
        own = link_text(end->max_speed_gts, end->max_width, link);
    struct xb_fleet_figure figure = {.unit = XB_UNIT_RATE,
                                     .more_is_better = true,
                                     .model = model,
                                     .link = own,
                                     .options = test->options};
    struct xb_fleet_value value = {.gpu = gpu, .peer = -1, .scatter = (double)NAN};
    for (int back = 0; back < 2; back++) {
        figure.name = back ? "link d2h" : "link h2d";
        value.value = back ? verdict->ways[XB_BACK].measured : verdict->ways[XB_TO_GPU].measured;
        add_value(test->taking, figure, value);
    }
}

static void take_pair(struct test *test, size_t i)
{
    char of[64], text[128], link[LINK];
    const struct xb_link_pair *pair = &test->report->pairs[i];
    const struct xb_pair_verdict *verdict = &test->report->pair_verdicts[i];
    const struct xb_device_info *from = &test->report->devices[pair->from].info;
    const struct xb_device_info *to = &test->report->devices[pair->to].info;
    size_t gpu = test->gpus[pair->from];
    snprintf(of, sizeof of, "GPU %u>%u: ", from->index, to->index);
    snprintf(text, sizeof text, "%sa copy arrived wrong", of);
    bool any_wrong = false;
    for (size_t k = 0; k < XB_ATTEMPTS(pair); k++)
        any_wrong = any_wrong || pair->attempts[k].data_wrong;
    if (any_wrong)
        complain(test->taking, XB_FLEET_WRONG_DATA, gpu, text, NULL);
    complain_of_verdict(test, gpu, of, &verdict->found);
    const struct xb_pair_attempt *best = XB_ATTEMPT_JUDGED(verdict, pair);
    if (best == NULL || best->data_wrong)
        return;
    struct xb_fleet_figure figure = {.name = "link peer",
                                     .unit = XB_UNIT_RATE,
                                     .more_is_better = true,
                                     .model = from->name,
                                     .options = test->options};
    set_pair_link(&figure, verdict->reach.link, verdict->reach.links,
                  PLACE(from->pci_bdf, from->index), PLACE(to->pci_bdf, to->index), link);
    add_value(test->taking, figure,
              (struct xb_fleet_value){.gpu = gpu,
                                      .peer = (int)to->index,
                                      .value = verdict->bandwidth.measured,
                                      .scatter = (double)NAN});
}

void xb_taking_link(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                    const cJSON *document)
{
    char options[400] = ""; /* "size=1073741824", or "" for what is copied by default */
    struct xb_link_file file;
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(document, "config");
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(config, SIZE);
    if (cJSON_IsNumber(bytes) && bytes->valuedouble != (double)taking->terms->link_bytes)
        snprintf(options, sizeof options, SIZE "=%.0f", bytes->valuedouble);
    if (xb_link_report_of_tree(reader->place.path, document, &file, &reader->error) != XB_OK)
        return;
    const struct xb_link_report *report = &file.report;
    struct test test = {.taking = taking, .report = report, .options = options};
    char nothing[sizeof report->nothing + 32];
    begin(taking);
    snprintf(nothing, sizeof nothing, "nothing could be tested: %s", report->nothing);
    if (report->nothing[0] != '\0')
        complain(taking, XB_FLEET_LINK_VERDICT, XB_FLEET_NONE, nothing, NULL);
    if (report->cut)
        complain(taking, XB_FLEET_CUT, XB_FLEET_NONE,
                 "the deadline or a signal came before all was tested", NULL);
    for (size_t i = 0; i < report->device_count; i++)
        take_device(&test, i);
    for (size_t i = 0; i < report->pair_count; i++)
        take_pair(&test, i);
    xb_link_file_free(&file);
}

/* ---- results ---- */

#define CONFIDENT 1.959964  /* standard errors from the middle to the end of a 95 % interval */
#define OF_MEDIAN 1.2533141 /* a median's standard error by a mean's, of a normal distribution */
#define STEPS 20u           /* times that tell by what steps a clock counts, at least */
#define SAME 1e-6           /* shares by which times are apart for their being rounded */
/* In steps of a clock: the largest standard deviation with which more than half of normal values
 * still fall on one step. */
#define OF_STEP 0.7413011

/* A result on its way into a fleet. */
struct result {
    struct xb_fleet_taking *taking;
    const struct xb_record *record;
    struct xb_arena *texts;
    const struct xb_record_device *devices;
    size_t *gpus; /* of the devices, in the fleet */
};

/* ---- names ---- */

static void add_word(struct xb_words *words, const char *text)
{
    char plain[XB_RECORD_DIFFERENCE];
    xb_words_add(words, "%s%s", words->length > 0 ? " " : "",
                 xb_plain_text(text, plain, sizeof plain));
}

/*
 * "pinned registered h2d 1 GiB chunk 4 MiB". The name must be the same in all documents, so it
 * depends only on the case, not on the other cases of a document.
 */
static struct xb_words name_case(const struct result *result, const struct xb_record_case *test,
                                 const struct xb_parameters *parameters)
{
    char text[64];
    struct xb_words words = {.length = 0};
    add_word(&words, test->mode);
    add_word(&words, test->variant);
    add_word(&words, test->direction);
    add_word(&words, xb_size_key(test->bytes, text, sizeof text));
    for (size_t i = 0; i < parameters->count; i++) {
        const char *own = xb_parameter_key(test, parameters->names[i], text, sizeof text);
        if (own == NULL)
            continue;
        add_word(&words, parameters->names[i]);
        add_word(&words, own);
    }
    if (test->simultaneous) { /* what they share is less for each of more */
        size_t count = xb_group_size(result->record, test);
        snprintf(text, sizeof text, "with %zu other%s", count - 1, count == 2 ? "" : "s");
        add_word(&words, count > 0 ? text : "with others");
    }
    if (test->latency)
        add_word(&words, "latency run");
    return words;
}

/* ---- what must be the same before two are compared: as in `compare`, but as a text ---- */

/* Appends "chunk=4194304". */
static const char *add_option(struct xb_arena **texts, const char *before,
                              const struct xb_record_fact *fact)
{
    return xb_arena_print(texts, "%s%s%s=%s", before, before[0] != '\0' ? " " : "", fact->name,
                          fact->value != NULL ? fact->value : "null");
}

/* The options that change how a case is measured, and its parameters, without those at their
 * defaults and those in `named`: "chunk=4194304 streams=4"; "" for none. */
static const char *list_options(struct result *result, const struct xb_record_case *test,
                                const struct xb_parameters *named)
{
    const struct xb_record *record = result->record;
    const struct xb_fleet_terms *terms = result->taking->terms;
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const char *text = "";
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        if (!xb_parameters_have(named, own->name) &&
            !xb_parameter_is_default(&terms->defaults, terms->rows, own))
            text = add_option(&result->texts, text, own);
    }
    for (size_t i = 0; i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        const struct xb_option *row = xb_option_find(terms->rows, option->name);
        bool says_itself =
            xb_record_fact_find(test->parameters, test->parameter_count, option->name) != NULL;
        /* One that no mode takes is for all; a mode that this program does not know may take any.
         */
        bool is_for_mode = mode == NULL || !xb_modes_take(option->name) ||
                           xb_option_find(mode->options, option->name) != NULL;
        /* How long a case is measured at most makes its median more or less certain, which its
         * scatter tells, and no other. */
        bool is_of_time = strcmp(option->name, "time-limit") == 0;
        if (!says_itself && is_for_mode && !is_of_time && (row == NULL || !row->selects) &&
            !xb_fact_is_default(&terms->defaults, option))
            text = add_option(&result->texts, text, option);
    }
    return text;
}

/* Pairs: the link is in the row. Single GPUs: the device's best possible link. */
static void set_link(const struct result *result, const struct xb_record_case *test,
                     const struct xb_record_row *row, const struct xb_record_device *device,
                     struct xb_fleet_figure *figure, char *text)
{
    if (test->peer < 0) {
        if (device->link_known)
            figure->link = link_text(device->link_max_speed_gts, device->link_max_width, text);
        return;
    }
    const char *link = xb_record_fact_text(xb_record_detail_find(row, "link"));
    double count = xb_record_fact_number(xb_record_detail_find(row, "links"));
    const struct xb_record_device *peer = xb_record_device(result->record, test->peer);
    set_pair_link(figure, link, count > 0.0 && count < 1000.0 ? (unsigned)count : 0,
                  PLACE(device->pci_bdf, device->index),
                  PLACE(peer != NULL ? peer->pci_bdf : NULL, (unsigned)test->peer), text);
}

/* ---- values ---- */

/* Where most times of a row fall on few values, what lies between these: the clock counts by that.
 * CUDA's events do by 32 ns, more than a hundredth of a small copy: equal GPUs have the same median
 * but for some that are a whole step off. A value that was seen once may be far off, and tells
 * nothing. 0 where the clock is fine. */
static double step_of_sorted(const double *times, size_t count)
{
    double least = 0.0, before = 0.0;
    size_t kinds = 0, often = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end, kinds++) {
        while (end < count && times[end] - times[begin] <= SAME * times[begin])
            end++;
        if (end - begin < 2)
            continue;
        if (often++ > 0 && (often == 2 || times[begin] - before < least))
            least = times[begin] - before;
        before = times[begin];
    }
    return often > 2 && 2 * kinds < count ? least : 0.0;
}

/* What the clock adds to a scatter, as a share. */
static double scatter_of_clock(const struct xb_record_row *row)
{
    size_t count = row->time_count;
    if (count < STEPS)
        return 0.0;
    double *times = xb_new(count, sizeof *times);
    memcpy(times, row->times, count * sizeof *times);
    (void)xb_median_of(times, count); /* sorts them */
    double middle = times[count / 2];
    double share = middle > 0.0 ? OF_STEP * step_of_sorted(times, count) / middle : 0.0;
    free(times);
    return isfinite(share) ? share : 0.0;
}

/* `of_clock`: what the clock adds to the scatter. */
static void measure(const struct result *result, const struct xb_record_case *test,
                    const struct xb_record_figure *figure, double of_clock,
                    struct xb_fleet_value *value)
{
    double medians[XB_RECORD_PROCESSES];
    size_t count = xb_record_medians(result->record, test, figure->name, medians);
    const struct xb_statistics *own = &figure->statistics;
    double half = (own->ci95_high - own->ci95_low) / 2.0;
    double mean = 0.0, squares = 0.0;
    value->value = count > 0 ? xb_median_of(medians, count) : 0.0;
    value->scatter = (double)NAN;
    for (size_t i = 0; i < count; i++)
        mean += medians[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (medians[i] - mean) * (medians[i] - mean);
    if (count == 1 && own->has_interval && half >= 0.0) /* by its own samples */
        value->scatter = half / CONFIDENT / own->median;
    else if (count > 1) /* by the distance of processes */
        value->scatter =
            OF_MEDIAN * sqrt(squares / (double)(count - 1)) / sqrt((double)count) / value->value;
    if (!isfinite(value->scatter))
        value->scatter = of_clock > 0.0 ? of_clock : (double)NAN;
    else
        value->scatter = xb_fleet_add_squares(value->scatter, of_clock);
}

static void take_figures(struct result *result, const struct xb_record_case *test,
                         const struct xb_parameters *parameters, const char *case_name,
                         const struct xb_record_device *device, size_t gpu)
{
    char link[LINK];
    const struct xb_record_row *row = NULL; /* the first that has figures to compare */
    for (size_t i = 0; row == NULL && i < result->record->process_count; i++)
        row = xb_record_row_counts(&test->rows[i]) ? &test->rows[i] : NULL;
    if (row == NULL)
        return;
    struct xb_fleet_figure figure_of = {.model = device->name,
                                        .options = list_options(result, test, parameters)};
    double of_clock = scatter_of_clock(row);
    set_link(result, test, row, device, &figure_of, link);
    for (size_t i = 0; i < row->figure_count; i++) {
        const struct xb_record_figure *figure = &row->figures[i];
        struct xb_fleet_value value = {.gpu = gpu, .peer = test->peer};
        if (!figure->gates)
            continue;
        measure(result, test, figure, of_clock, &value);
        figure_of.name = xb_arena_print(&result->texts, "%s %s", case_name, figure->name);
        figure_of.unit = figure->unit;
        figure_of.more_is_better = figure->more_is_better;
        add_value(result->taking, figure_of, value);
    }
}

/* Its cause is what `why` says without the words that have a digit: numbers and addresses differ
 * from node to node. */
static void complain_of_failure(struct result *result, size_t gpu, const char *text,
                                const char *why)
{
    char cause[XB_RECORD_REASON] = "";
    size_t length = 0;
    while (why != NULL && *why != '\0' && length < sizeof cause) {
        size_t word = strcspn(why, " \n");
        if (word > 0 && strcspn(why, "0123456789") >= word)
            length +=
                (size_t)snprintf(cause + length, sizeof cause - length, "%.*s ", (int)word, why);
        why += word + (why[word] != '\0');
    }
    complain(result->taking, XB_FLEET_FAILED, gpu, text, cause);
}

static void take_case(struct result *result, const struct xb_record_case *test)
{
    char reason[XB_RECORD_REASON], of[64];
    const struct xb_record_summary summary = xb_record_summarize(result->record, test);
    /* Name only parameters that do not go without saying. */
    struct xb_record_case alone = *test;
    const struct xb_record record = {.cases = &alone, .case_count = 1};
    const struct xb_parameters parameters = xb_parameters_that_differ(&record);
    const struct xb_words name = name_case(result, test, &parameters);
    struct xb_words words = name;
    const struct xb_record_device *device = xb_record_device(result->record, test->device);
    size_t gpu = device != NULL ? result->gpus[device - result->devices] : XB_FLEET_NONE;
    const char *why = xb_record_reason(test, &summary, reason, sizeof reason);
    xb_words_add(&words, ", device %s: %s", xb_record_case_device(test, of, sizeof of),
                 why != NULL ? why : "a copy arrived wrong");
    if (summary.verified == XB_VERIFIED_FALSE)
        complain(result->taking, XB_FLEET_WRONG_DATA, gpu, words.text, NULL);
    else if (summary.status == XB_RESULT_ERROR)
        complain_of_failure(result, gpu, words.text, why);
    if (summary.verified != XB_VERIFIED_FALSE && device != NULL && !xb_record_is_sum(test))
        take_figures(result, test, &parameters, name.text, device, gpu);
}

void xb_taking_record(struct xb_fleet_taking *taking, struct xb_json_reader *reader,
                      const cJSON *document)
{
    struct xb_record record;
    struct result result = {.taking = taking, .record = &record};
    if (xb_record_of_tree(reader->place.path, document, &record, &reader->error) != XB_OK)
        return;
    size_t device_count = 0;
    begin(taking);
    result.devices = xb_record_devices(&record, &device_count);
    result.gpus = xb_arena_new(&result.texts, device_count * sizeof *result.gpus);
    for (size_t i = 0; i < device_count; i++) {
        const struct xb_record_device *device = &result.devices[i];
        /* Between transfers a healthy link may go slower to save power. */
        bool loaded = device->link_known && device->link_under_load;
        result.gpus[i] = add_gpu(
            taking, (struct xb_fleet_gpu){.index = device->index,
                                          .model = device->name,
                                          .uuid = device->uuid,
                                          .pci_bdf = device->pci_bdf,
                                          .link_speed_gts = loaded ? device->link_speed_gts : 0.0,
                                          .link_width = loaded ? device->link_width : 0});
    }
    if (record.interrupted)
        complain(taking, XB_FLEET_CUT, XB_FLEET_NONE, "a signal came before all was measured",
                 NULL);
    else if (record.has_deadline && !record.deadline_met)
        complain(taking, XB_FLEET_CUT, XB_FLEET_NONE, "the deadline came before all was measured",
                 NULL);
    for (size_t i = 0; i < record.process_count; i++) {
        const char *failure = record.processes[i].failure;
        if (failure != NULL)
            complain_of_failure(&result, XB_FLEET_NONE,
                                xb_arena_print(&result.texts, "process %zu: %s", i, failure),
                                failure);
    }
    for (size_t i = 0; i < record.case_count; i++)
        take_case(&result, &record.cases[i]);
    xb_arena_free(result.texts);
    xb_record_free(&record);
}
