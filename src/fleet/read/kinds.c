/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a link test, or results of one process or of several, into a fleet. */
#include "base/text.h"
#include "fleet/internal.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text that lives as long as the document. */
#define TEXT(...) xb_arena_print(&doc->texts, __VA_ARGS__)

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Adds the next GPU of the document; `gpu` has neither node nor time. Leaves out a UUID or an
 * address that another one has: parts of one GPU may share them, and would be taken for one. */
static struct xb_fleet_gpu *add_gpu(struct xb_fleet_document *doc, struct xb_fleet_gpu gpu)
{
    gpu.uuid = known(gpu.uuid);
    gpu.pci_bdf = known(gpu.pci_bdf);
    XB_EACH (other, doc->said, doc->gpu_count) {
        bool apart = other->index != gpu.index;
        gpu.uuid = apart && xb_record_same(other->uuid, gpu.uuid) ? NULL : gpu.uuid;
        gpu.pci_bdf = apart && xb_record_same(other->pci_bdf, gpu.pci_bdf) ? NULL : gpu.pci_bdf;
    }
    gpu.node = doc->node;
    gpu.told = doc->origin.written;
    doc->said[doc->gpu_count++] = gpu;
    return xb_fleet_add_gpu(doc->fleet, &gpu);
}

/* Adds a value of a figure that has its name; fills in the figure's backend and driver. Ignores a
 * value that is not above 0 or has no GPU. */
static void add_value(struct xb_fleet_document *doc, struct xb_fleet_figure figure,
                      struct xb_fleet_value value)
{
    figure.backend = doc->backend;
    figure.driver = doc->host.driver;
    value.source = doc->source;
    value.written = doc->origin.written;
    if (value.gpu == NULL || !(value.value > 0.0) || !isfinite(value.value))
        return;
    value.figure = xb_fleet_add_figure(doc->fleet, &figure);
    xb_fleet_add_value(doc->fleet, &value);
}

/* Adds a complaint about a GPU, or about the node if `gpu` is NULL. */
static void complain(struct xb_fleet_document *doc, enum xb_fleet_code code,
                     struct xb_fleet_gpu *gpu, const char *text, const char *causes)
{
    const struct xb_fleet_finding complaint = {.code = code,
                                               .node = doc->node,
                                               .gpu = gpu,
                                               .text = text,
                                               .source = doc->source,
                                               .written = doc->origin.written,
                                               .causes = causes};
    xb_fleet_add_complaint(doc->fleet, &complaint);
}

/* "Gen5 x16", or NULL where the link is not known. */
static const char *link_text(struct xb_fleet_document *doc, double speed_gts, unsigned width)
{
    return speed_gts > 0.0 && width > 0
               ? TEXT("%s", xb_lanes_text(speed_gts, width, (char[80]){0}, 80))
               : NULL;
}

/* A device of a pair by its PCI address, or by its index where that is NULL or "". */
static const char *place_text(struct xb_fleet_document *doc, const char *pci_bdf, unsigned index)
{
    return known(pci_bdf) != NULL ? pci_bdf : TEXT("%u", index);
}

/* Writes the link of a pair into a figure: "NVLink x18". Where links cannot be counted, pairs
 * differ for good reasons, as those do that are or are not behind one PCIe switch: then only pairs
 * at the same addresses of their nodes are alike, "PCIe 0000:0f:00.0>0000:1f:00.0". */
static void set_pair_link(struct xb_fleet_document *doc, struct xb_fleet_figure *figure,
                          const char *link, unsigned links, const char *from, const char *to)
{
    link = known(link);
    figure->links = link != NULL ? links : 0;
    figure->links_known = link != NULL && (links > 0 || strcmp(link, "PCIe") == 0);
    figure->link = figure->links > 0
                       ? TEXT("%.20s x%u", link, links)
                       : TEXT("%.20s %.20s>%.20s", link != NULL ? link : "unknown", from, to);
}

/* ---- a link test ---- */

/* Complains "CRITICAL: bandwidth-h2d: 20.1 GB/s, ...; ..." about a GPU or pair, and of wrong data.
 * `of` stands before that: "" or "GPU 0>1: ". */
static void complain_of_verdict(struct xb_fleet_document *doc, struct xb_fleet_gpu *gpu,
                                const char *of, bool any_wrong, const struct xb_findings *found)
{
    struct xb_words text = {.length = 0}, causes = {.length = 0};
    if (any_wrong)
        complain(doc, XB_FLEET_WRONG_DATA, gpu, TEXT("%sa copy arrived wrong", of), NULL);
    xb_words_add(&text, "%s%s", of, xb_level_name(found->level));
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_finding *reason = &found->reasons[i];
        if (reason->accepted != NULL) /* they are last */
            break;
        xb_words_add(&text, "%s %s: %s", i == 0 ? ":" : ";", reason->code, reason->text);
        /* Only the verdict's own level counts: else a warning beside a CRITICAL that all nodes have
         * would be a cause that few have, and drain the node. */
        if (reason->level == found->level)
            xb_words_add(&causes, "%s%s %s", causes.length == 0 ? "" : "\n",
                         xb_level_name(found->level), reason->code);
    }
    if (found->level != XB_LEVEL_OK)
        complain(doc,
                 found->level == XB_LEVEL_CRITICAL ? XB_FLEET_LINK_VERDICT : XB_FLEET_LINK_WARNING,
                 gpu, text.text, causes.text);
}

static void add_bandwidth(struct xb_fleet_document *doc, struct xb_fleet_figure figure,
                          const char *name, struct xb_fleet_gpu *gpu, int peer, double bandwidth)
{
    figure.name = name;
    add_value(doc, figure,
              (struct xb_fleet_value){
                  .gpu = gpu, .peer = peer, .value = bandwidth, .scatter = (double)NAN});
}

/* Returns the GPU in the fleet; NULL for a device that should be there and is not. */
static struct xb_fleet_gpu *take_device(struct xb_fleet_document *doc,
                                        const struct xb_link_device *device,
                                        const struct xb_verdict *verdict,
                                        struct xb_fleet_figure figure)
{
    const struct xb_link_attempt *best = XB_ATTEMPT_JUDGED(verdict, device);
    const struct xb_link_facts *facts = &verdict->facts;
    const struct xb_device_info *info = &device->info;
    struct xb_fleet_gpu found = {.index = info->index,
                                 .model = info->name,
                                 .uuid = info->uuid,
                                 .pci_bdf = info->pci_bdf,
                                 .serial = known(device->setup.serial),
                                 .vbios = known(device->setup.vbios)};
    bool any_wrong = false;
    if (xb_finding_is_any(&verdict->found, (const char *const[]){"XB-DEVICE-MISSING", NULL})) {
        complain_of_verdict(doc, NULL, TEXT("GPU %u: ", info->index), false, &verdict->found);
        return NULL;
    }
    if (facts->slot < facts->hop_count) {
        found.link_speed_gts = facts->hops[facts->slot].load.speed_gts;
        found.link_width = facts->hops[facts->slot].load.width;
    }
    struct xb_fleet_gpu *gpu = add_gpu(doc, found);
    for (size_t i = 0; i < XB_ATTEMPTS(device); i++)
        any_wrong = any_wrong || device->attempts[i].data_wrong;
    if (device->cut)
        complain(doc, XB_FLEET_CUT, gpu, "the deadline or a signal came before it was tested",
                 NULL);
    complain_of_verdict(doc, gpu, "", any_wrong, &verdict->found);
    if (best == NULL || best->data_wrong)
        return gpu;
    /* The link as its own end could have it: a GPU that trained fewer lanes than it has still
     * belongs to those with all lanes. */
    const struct xb_pcie_link *end = &best->at_rest.hops[0].lower.link;
    if (xb_pcie_path_hops(&best->at_rest) > 0)
        figure.link = link_text(doc, end->max_speed_gts, end->max_width);
    figure.model = info->name;
    add_bandwidth(doc, figure, "link h2d", gpu, -1, verdict->ways[XB_TO_GPU].measured);
    add_bandwidth(doc, figure, "link d2h", gpu, -1, verdict->ways[XB_BACK].measured);
    return gpu;
}

static void take_pair(struct xb_fleet_document *doc, size_t i, struct xb_fleet_figure figure)
{
    const struct xb_link_report *report = &doc->link.report;
    const struct xb_link_pair *pair = &report->pairs[i];
    const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
    const struct xb_pair_attempt *best = XB_ATTEMPT_JUDGED(verdict, pair);
    const struct xb_device_info *from = &report->devices[pair->from].info;
    const struct xb_device_info *to = &report->devices[pair->to].info;
    struct xb_fleet_gpu *gpu = doc->gpus[pair->from];
    bool any_wrong = false;
    for (size_t k = 0; k < XB_ATTEMPTS(pair); k++)
        any_wrong = any_wrong || pair->attempts[k].data_wrong;
    complain_of_verdict(doc, gpu, TEXT("GPU %u>%u: ", from->index, to->index), any_wrong,
                        &verdict->found);
    if (best == NULL || best->data_wrong)
        return;
    figure.model = from->name;
    set_pair_link(doc, &figure, verdict->reach.link, verdict->reach.links,
                  place_text(doc, from->pci_bdf, from->index),
                  place_text(doc, to->pci_bdf, to->index));
    add_bandwidth(doc, figure, "link peer", gpu, (int)to->index, verdict->bandwidth.measured);
}

static void take_link(struct xb_fleet_document *doc)
{
    const struct xb_link_report *report = &doc->link.report;
    double bytes = doc->link_bytes;
    struct xb_fleet_figure figure = {.unit = XB_UNIT_RATE, .more_is_better = true, .options = ""};
    /* The only option of `link` that changes what a healthy link reaches. */
    if (!isnan(bytes) && bytes != (double)doc->terms->link_bytes)
        figure.options = TEXT("size=%.0f", bytes);
    if (report->nothing[0] != '\0')
        complain(doc, XB_FLEET_LINK_VERDICT, NULL,
                 TEXT("nothing could be tested: %s", report->nothing), NULL);
    if (report->cut)
        complain(doc, XB_FLEET_CUT, NULL, "the deadline or a signal came before all was tested",
                 NULL);
    doc->fleet->limited_count += doc->limited;
    doc->fleet->unlimited_count += report->device_count - doc->limited;
    for (size_t i = 0; i < report->device_count; i++)
        doc->gpus[i] = take_device(doc, &report->devices[i], &report->verdicts[i], figure);
    for (size_t i = 0; i < report->pair_count; i++)
        take_pair(doc, i, figure);
}

/* ---- results ---- */

#define CONFIDENT 1.959964  /* standard errors from the middle to the end of a 95 % interval */
#define OF_MEDIAN 1.2533141 /* a median's standard error by a mean's, of a normal distribution */
#define STEPS 20u           /* times that tell by what steps a clock counts, at least */
#define SAME 1e-6           /* shares by which times are apart for their being rounded */
/* In steps of a clock: the largest standard deviation with which more than half of normal values
 * still fall on one step. */
#define OF_STEP 0.7413011

static void add_word(struct xb_words *words, const char *text)
{
    char plain[XB_RECORD_DIFFERENCE];
    xb_words_add(words, "%s%s", words->length > 0 ? " " : "",
                 xb_plain_text(text, plain, sizeof plain));
}

/* "pinned registered h2d 1 GiB chunk 4 MiB". The name must be the same in all documents, so it
 * depends only on the case, not on the other cases of a document. */
static struct xb_words name_case(const struct xb_record *record, const struct xb_record_case *test,
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
        size_t count = xb_group_size(record, test);
        snprintf(text, sizeof text, "with %zu other%s", count - 1, count == 2 ? "" : "s");
        add_word(&words, count > 0 ? text : "with others");
    }
    if (test->latency)
        add_word(&words, "latency run");
    return words;
}

/* The parameters of a case and the options that change how it is measured, without those at their
 * defaults and those in `named`: "chunk=4194304 streams=4"; "" for none. They must be the same
 * before two figures are compared, as in `compare`. */
static const char *list_options(struct xb_fleet_document *doc, const struct xb_record_case *test,
                                const struct xb_parameters *named)
{
    const struct xb_record *record = &doc->record;
    const struct xb_fleet_terms *terms = doc->terms;
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const size_t own = test->parameter_count;
    const char *text = "";
    for (size_t i = 0; i < own + record->option_count; i++) {
        const struct xb_record_fact *fact =
            i < own ? &test->parameters[i] : &record->options[i - own];
        const struct xb_option *row = xb_option_find(terms->rows, fact->name);
        bool is_needless;
        if (i < own)
            is_needless = xb_parameters_have(named, fact->name) ||
                          xb_parameter_is_default(&terms->defaults, terms->rows, fact);
        else
            /* An option that no mode takes is for all; a mode that this program does not know may
             * take any. How long a case is measured at most makes its median more or less certain,
             * which its scatter tells, and no other. */
            is_needless = xb_record_fact_find(test->parameters, own, fact->name) != NULL ||
                          (mode != NULL && xb_modes_take(fact->name) &&
                           xb_option_find(mode->options, fact->name) == NULL) ||
                          strcmp(fact->name, "time-limit") == 0 || (row != NULL && row->selects) ||
                          xb_fact_is_default(&terms->defaults, fact);
        if (!is_needless)
            text = TEXT("%s%s%s=%s", text, text[0] != '\0' ? " " : "", fact->name,
                        fact->value != NULL ? fact->value : "null");
    }
    return text;
}

/* What the clock adds to a scatter, as a share. CUDA's events count by 32 ns, more than a hundredth
 * of a small copy: equal GPUs have the same median but for some that are a whole step off. Where
 * most times fall on few values, the step is the least distance between these. A value that was
 * seen once may be far off, and tells nothing. 0 where the clock is fine. */
static double scatter_of_clock(const struct xb_record_row *row)
{
    size_t count = row->time_count, kinds = 0, often = 0;
    double step = 0.0, before = 0.0;
    if (count < STEPS)
        return 0.0;
    double *times = xb_new(count, sizeof *times);
    memcpy(times, row->times, count * sizeof *times);
    (void)xb_median_of(times, count); /* sorts them */
    for (size_t begin = 0, end = 0; begin < count; begin = end, kinds++) {
        while (end < count && times[end] - times[begin] <= SAME * times[begin])
            end++;
        if (end - begin < 2)
            continue;
        if (often++ > 0 && (often == 2 || times[begin] - before < step))
            step = times[begin] - before;
        before = times[begin];
    }
    bool is_coarse = often > 2 && 2 * kinds < count && times[count / 2] > 0.0;
    double share = is_coarse ? OF_STEP * step / times[count / 2] : 0.0;
    free(times);
    return isfinite(share) ? share : 0.0;
}

/* `of_clock`: what the clock adds to the scatter. */
static void measure(const struct xb_record *record, const struct xb_record_case *test,
                    const struct xb_record_figure *figure, double of_clock,
                    struct xb_fleet_value *value)
{
    double medians[XB_RECORD_PROCESSES];
    size_t count = xb_record_medians(record, test, figure->name, medians);
    const struct xb_statistics *own = &figure->statistics;
    double half = (own->ci95_high - own->ci95_low) / 2.0;
    double mean = 0.0, squares = 0.0, scatter = (double)NAN;
    value->value = count > 0 ? xb_median_of(medians, count) : 0.0;
    for (size_t i = 0; i < count; i++)
        mean += medians[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (medians[i] - mean) * (medians[i] - mean);
    if (count == 1 && own->has_interval && half >= 0.0) /* by its own samples */
        scatter = half / CONFIDENT / own->median;
    else if (count > 1) /* by the distance of processes */
        scatter =
            OF_MEDIAN * sqrt(squares / (double)(count - 1)) / sqrt((double)count) / value->value;
    value->scatter = isfinite(scatter) ? xb_fleet_add_squares(scatter, of_clock)
                     : of_clock > 0.0  ? of_clock
                                       : (double)NAN;
}

/* Its cause is what `why` says without the words that have a digit: numbers and addresses differ
 * from node to node. */
static void complain_of_failure(struct xb_fleet_document *doc, struct xb_fleet_gpu *gpu,
                                const char *text, const char *why)
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
    complain(doc, XB_FLEET_FAILED, gpu, text, cause);
}

static void take_case(struct xb_fleet_document *doc, const struct xb_record_case *test)
{
    const struct xb_record *record = &doc->record;
    char reason[XB_RECORD_REASON], of[64];
    const struct xb_record_summary summary = xb_record_summarize(record, test);
    /* Name only parameters that do not go without saying. */
    struct xb_record_case alone = *test;
    const struct xb_record only = {.cases = &alone, .case_count = 1};
    const struct xb_parameters parameters = xb_parameters_that_differ(&only);
    const struct xb_words name = name_case(record, test, &parameters);
    const struct xb_record_device *device = xb_record_device(record, test->device);
    struct xb_fleet_gpu *gpu =
        device != NULL ? doc->gpus[device - xb_record_devices(record, &(size_t){0})] : NULL;
    const char *why = xb_record_reason(test, &summary, reason, sizeof reason);
    const char *text =
        TEXT("%s, device %s: %s", name.text, xb_record_case_device(test, of, sizeof of),
             why != NULL ? why : "a copy arrived wrong");
    if (summary.verified == XB_VERIFIED_FALSE)
        complain(doc, XB_FLEET_WRONG_DATA, gpu, text, NULL);
    else if (summary.status == XB_RESULT_ERROR)
        complain_of_failure(doc, gpu, text, why);
    const struct xb_record_row *row = NULL; /* the first that has figures to compare */
    for (size_t i = 0; row == NULL && i < record->process_count; i++)
        row = xb_record_row_counts(&test->rows[i]) ? &test->rows[i] : NULL;
    if (summary.verified == XB_VERIFIED_FALSE || device == NULL || xb_record_is_sum(test) ||
        row == NULL)
        return;
    struct xb_fleet_figure figure = {.model = device->name,
                                     .options = list_options(doc, test, &parameters)};
    double of_clock = scatter_of_clock(row);
    if (test->peer >= 0) {
        const char *link = xb_record_fact_text(xb_record_detail_find(row, "link"));
        double count = xb_record_fact_number(xb_record_detail_find(row, "links"));
        const struct xb_record_device *peer = xb_record_device(record, test->peer);
        set_pair_link(doc, &figure, link, count > 0.0 && count < 1000.0 ? (unsigned)count : 0,
                      place_text(doc, device->pci_bdf, device->index),
                      place_text(doc, peer != NULL ? peer->pci_bdf : NULL, (unsigned)test->peer));
    } else if (device->link_known) { /* the best that it could be */
        figure.link = link_text(doc, device->link_max_speed_gts, device->link_max_width);
    }
    XB_EACH (own, row->figures, row->figure_count) {
        struct xb_fleet_value value = {.gpu = gpu, .peer = test->peer};
        if (!own->gates)
            continue;
        measure(record, test, own, of_clock, &value);
        figure.name = TEXT("%s %s", name.text, own->name);
        figure.unit = own->unit;
        figure.more_is_better = own->more_is_better;
        add_value(doc, figure, value);
    }
}

static void take_record(struct xb_fleet_document *doc)
{
    const struct xb_record *record = &doc->record;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0; i < count; i++) {
        const struct xb_record_device *device = &devices[i];
        struct xb_fleet_gpu gpu = {.index = device->index,
                                   .model = device->name,
                                   .uuid = device->uuid,
                                   .pci_bdf = device->pci_bdf};
        /* Between transfers a healthy link may go slower to save power. */
        if (device->link_known && device->link_under_load) {
            gpu.link_speed_gts = device->link_speed_gts;
            gpu.link_width = device->link_width;
        }
        doc->gpus[i] = add_gpu(doc, gpu);
    }
    bool is_late = record->has_deadline && !record->deadline_met;
    if (record->interrupted || is_late)
        complain(doc, XB_FLEET_CUT, NULL,
                 record->interrupted ? "a signal came before all was measured"
                                     : "the deadline came before all was measured",
                 NULL);
    for (size_t i = 0; i < record->process_count; i++) {
        const char *failure = record->processes[i].failure;
        if (failure != NULL)
            complain_of_failure(doc, NULL, TEXT("process %zu: %s", i, failure), failure);
    }
    for (size_t i = 0; i < record->case_count; i++)
        take_case(doc, &record->cases[i]);
}

/* ---- any document ---- */

/* A document that is dated ahead would outrank all others until that day. It counts so much
 * earlier: as older than all others, also those without a date, while several keep their order. */
#define BEFORE_ALL ((time_t)1 << 40)
/* A clock that was set to the local time is up to 14 hours ahead of UTC. */
#define AHEAD_S ((time_t)24 * 3600)

void xb_fleet_take(struct xb_fleet *fleet, const struct xb_fleet_terms *terms,
                   struct xb_fleet_document *doc)
{
    struct xb_fleet_source *origin = &doc->origin;
    bool is_ahead = origin->dated > fleet->now + AHEAD_S;
    size_t count = doc->link.report.device_count;
    if (!doc->is_link)
        (void)xb_record_devices(&doc->record, &count);
    origin->written = doc->host.driver_told = doc->host.kernel_told =
        origin->dated - (is_ahead ? BEFORE_ALL : 0);
    doc->fleet = fleet;
    doc->terms = terms;
    doc->source = xb_fleet_add_source(fleet, origin);
    doc->node = xb_fleet_add_node(fleet, &doc->host);
    doc->gpus = xb_arena_new(&doc->texts, count * sizeof(struct xb_fleet_gpu *));
    doc->said = xb_arena_new(&doc->texts, count * sizeof *doc->said);
    (doc->is_link ? take_link : take_record)(doc);
}
