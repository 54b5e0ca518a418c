/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a link test into a fleet. */
#include "base/terminal.h"
#include "link/report.h"
#include "measure/run.h"
#include "taking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIZE "size" /* the only option of `link` that changes what a healthy link reaches */

/* A link test on its way into a fleet. */
struct test {
    struct xb_fleet_taking *taking;
    const struct xb_link_report *report;
    const char *options;
    size_t gpus[XB_RUN_DEVICES]; /* in the fleet */
};

/* ---- what is wrong ---- */

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
        xb_taking_complain(test->taking,
                           found->level == XB_LEVEL_CRITICAL ? XB_FLEET_LINK_VERDICT
                                                             : XB_FLEET_LINK_WARNING,
                           gpu, text.text, causes.text);
}

/* ---- a GPU ---- */

static void take_device(struct test *test, size_t i)
{
    char link[XB_TAKING_LINK], of[32];
    const struct xb_link_device *device = &test->report->devices[i];
    const struct xb_verdict *verdict = &test->report->verdicts[i];
    const struct xb_link_attempt *best = xb_verdict_attempt(verdict, device);
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
    size_t gpu = test->gpus[i] = xb_taking_add_gpu(test->taking, found);
    for (size_t k = 0; k < xb_link_attempts(device); k++)
        any_wrong = any_wrong || device->attempts[k].data_wrong;
    if (any_wrong)
        xb_taking_complain(test->taking, XB_FLEET_WRONG_DATA, gpu, "a copy arrived wrong", NULL);
    if (device->cut)
        xb_taking_complain(test->taking, XB_FLEET_CUT, gpu,
                           "the deadline or a signal came before it was tested", NULL);
    complain_of_verdict(test, gpu, "", &verdict->found);
    if (best == NULL || best->data_wrong)
        return;
    /* The link as its own end could have it: a GPU that trained fewer lanes than it has still
     * belongs to those with all lanes. */
    const struct xb_pcie_link *end = &best->at_rest.hops[0].lower.link;
    if (xb_pcie_path_hops(&best->at_rest) > 0)
        own = xb_taking_link_text(end->max_speed_gts, end->max_width, link);
    struct xb_fleet_figure figure = {.unit = XB_UNIT_RATE,
                                     .more_is_better = true,
                                     .model = model,
                                     .link = own,
                                     .options = test->options};
    struct xb_fleet_value value = {.gpu = gpu, .peer = -1, .scatter = (double)NAN};
    for (int back = 0; back < 2; back++) {
        figure.name = back ? "link d2h" : "link h2d";
        value.value = back ? verdict->d2h.measured : verdict->h2d.measured;
        xb_taking_add_value(test->taking, figure, value);
    }
}

/* ---- a pair ---- */

static void take_pair(struct test *test, size_t i)
{
    char of[64], text[128], link[XB_TAKING_LINK];
    const struct xb_link_pair *pair = &test->report->pairs[i];
    const struct xb_pair_verdict *verdict = &test->report->pair_verdicts[i];
    const struct xb_device_info *from = &test->report->devices[pair->from].info;
    const struct xb_device_info *to = &test->report->devices[pair->to].info;
    size_t gpu = test->gpus[pair->from];
    snprintf(of, sizeof of, "GPU %u>%u: ", from->index, to->index);
    snprintf(text, sizeof text, "%sa copy arrived wrong", of);
    bool any_wrong = false;
    for (size_t k = 0; k < xb_pair_attempts(pair); k++)
        any_wrong = any_wrong || pair->attempts[k].data_wrong;
    if (any_wrong)
        xb_taking_complain(test->taking, XB_FLEET_WRONG_DATA, gpu, text, NULL);
    complain_of_verdict(test, gpu, of, &verdict->found);
    const struct xb_pair_attempt *best = xb_pair_verdict_attempt(verdict, pair);
    if (best == NULL || best->data_wrong)
        return;
    struct xb_fleet_figure figure = {.name = "link peer",
                                     .unit = XB_UNIT_RATE,
                                     .more_is_better = true,
                                     .model = from->name,
                                     .options = test->options};
    xb_taking_pair_link(&figure, verdict->reach.link, verdict->reach.links,
                        &(struct xb_taking_end){from->pci_bdf, from->index},
                        &(struct xb_taking_end){to->pci_bdf, to->index}, link);
    xb_taking_add_value(test->taking, figure,
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
    xb_taking_begin(taking);
    snprintf(nothing, sizeof nothing, "nothing could be tested: %s", report->nothing);
    if (report->nothing[0] != '\0')
        xb_taking_complain(taking, XB_FLEET_LINK_VERDICT, XB_FLEET_NONE, nothing, NULL);
    if (report->cut)
        xb_taking_complain(taking, XB_FLEET_CUT, XB_FLEET_NONE,
                           "the deadline or a signal came before all was tested", NULL);
    for (size_t i = 0; i < report->device_count; i++)
        take_device(&test, i);
    for (size_t i = 0; i < report->pair_count; i++)
        take_pair(&test, i);
    xb_link_file_free(&file);
}
