/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "report.h"

#include "machine/node.h"
#include "present/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

size_t xb_link_count_bad(const struct xb_link_report *report, size_t *pairs)
{
    size_t bad = 0;
    *pairs = 0;
    for (size_t i = 0; i < xb_link_subjects(report); i++)
        if (xb_link_subject_at(report, i).found->level != XB_LEVEL_OK)
            (*(i < report->device_count ? &bad : pairs))++;
    return bad;
}

#define ALIKE 1.05 /* pairs whose rates differ by more are told apart */

/* What is said of all pairs together. */
struct pairs {
    size_t measured, judged, apart; /* that have a rate; of them judged; without direct access */
    size_t open;        /* nothing is asked of them, or they have no access: neither OK nor not */
    double least, most; /* rates */
    const struct xb_pair_verdict *first; /* that has a rate */
    bool alike;                          /* one sentence tells them: the same links and limits */
};

static struct pairs sum_up(const struct xb_link_report *report)
{
    struct pairs all = {.least = INFINITY, .alike = true};
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        double rate = verdict->bandwidth.measured;
        all.apart += xb_pair_has_no_access(XB_ATTEMPT_JUDGED(verdict, &report->pairs[i]));
        all.open += verdict->found.level == XB_LEVEL_OK &&
                    !(xb_pair_is_judged(verdict) && xb_rate_known(rate));
        if (!xb_rate_known(rate))
            continue;
        all.first = all.measured++ == 0 ? verdict : all.first;
        all.judged += xb_pair_is_judged(verdict);
        all.least = fmin(all.least, rate);
        all.most = fmax(all.most, rate);
        all.alike = all.alike && strcmp(verdict->reach.link, all.first->reach.link) == 0 &&
                    verdict->reach.links == all.first->reach.links &&
                    verdict->ceiling == all.first->ceiling &&
                    verdict->bandwidth.critical == all.first->bandwidth.critical &&
                    verdict->bandwidth.warning == all.first->bandwidth.warning;
    }
    if (all.measured > 0)
        all.alike =
            all.alike && all.measured == report->pair_count && all.most <= ALIKE * all.least;
    else
        all.alike = all.apart == 0 || all.apart == report->pair_count;
    return all;
}

/* "Pairs: 394.6 to 394.8 GB/s, 83 % of the 478.1 that 18 NVLinks carry." */
static void print_alike(FILE *stream, const struct pairs *all)
{
    struct xb_words words = {.length = 0};
    if (all->measured == 0) {
        xb_words_add(&words, "no direct access");
    } else {
        const struct xb_pair_verdict *first = all->first;
        xb_words_add(&words, "%s GB/s", XB_LINK_RANGE(all->least, all->most, 1));
        if (first->ceiling > 0 && first->reach.links > 0)
            xb_words_add(&words, ", %.0f %% of the %.0f that %u %s%s carry",
                         100 * all->least / first->ceiling, first->ceiling / 1e9,
                         first->reach.links, first->reach.link, XB_PLURAL(first->reach.links));
        else if (first->reach.link[0] != '\0')
            xb_words_add(&words, " over %s", first->reach.link);
        if (all->judged == 0)
            xb_words_add(&words, ", not judged: --min-peer sets a limit");
    }
    xb_lines_print(stream, xb_terminal_prose_columns(stream), "Pairs: %s.", words.text);
}

/* A row for each source. What is missing says why. */
static void print_matrix(FILE *stream, const struct xb_link_report *report)
{
    const size_t count = report->device_count;
    struct xb_table *table = xb_table_new();
    xb_table_add_column(
        table, &(struct xb_table_column){.title = "GB/s, FROM", .brief = "FROM", .is_right = true});
    for (size_t i = 0; i < count; i++) {
        char title[32];
        snprintf(title, sizeof title, "TO %u", report->devices[i].info.index);
        xb_table_add_column(table, &(struct xb_table_column){.title = title, .is_right = true});
    }
    for (size_t cell = 0; cell < count * count; cell++) {
        size_t from = cell / count, to = cell % count, i = 0;
        if (to == 0) {
            xb_table_row(table);
            xb_table_text(table, "%u", report->devices[from].info.index);
        }
        while (i < report->pair_count &&
               (report->pairs[i].from != from || report->pairs[i].to != to))
            i++;
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        const enum xb_level level = i < report->pair_count ? verdict->found.level : XB_LEVEL_OK;
        if (i == report->pair_count)
            xb_table_text(table, "%s", from == to ? "" : "-");
        else if (xb_rate_known(verdict->bandwidth.measured))
            xb_table_cell(table, level != XB_LEVEL_OK ? xb_level_colour(level) : XB_COLOUR_NONE,
                          "%.1f", verdict->bandwidth.measured / 1e9);
        else
            xb_table_text(
                table, xb_pair_has_no_access(XB_ATTEMPT_JUDGED(verdict, &report->pairs[i])) ? "none"
                                                                                            : "?");
    }
    xb_table_print(stream, table, &(struct xb_table_look){0});
    xb_table_free(table);
}

/* "Node gpu07: CRITICAL: 1 of 8 GPUs and 2 of 56 pairs are not OK, 2.9 s" */
static void print_verdict(FILE *stream, const struct xb_link_report *report,
                          const struct pairs *all, size_t bad, size_t bad_pairs)
{
    struct xb_words words = {.length = 0};
    char node[XB_NODE_TEXT];
    xb_node_text(report->node, report->hostname, node);
    xb_words_add(&words, "Node%s%s: %s: %s", node[0] != '\0' ? " " : "", node,
                 xb_level_name(report->level), report->nothing);
    if (report->device_count > 0) {
        xb_words_add(&words, bad > 0 ? "%s%zu of " : "%s", report->nothing[0] != '\0' ? "; " : "",
                     bad);
        /* "8 GPUs (NVIDIA H200)": the name where all have one. */
        size_t same = 0;
        while (same < report->device_count &&
               strcmp(report->devices[same].info.name, report->devices[0].info.name) == 0)
            same++;
        xb_words_add(&words, "%zu GPU%s", report->device_count, XB_PLURAL(report->device_count));
        if (same == report->device_count)
            xb_words_add(&words, " (%s)", report->devices[0].info.name);
    }
    size_t judged = report->pair_count - all->open;
    if (bad_pairs > 0)
        xb_words_add(&words, "%s %zu of %zu pairs", bad > 0 ? " and" : " OK,", bad_pairs, judged);
    else if (bad == 0 && judged > 0)
        xb_words_add(&words, ", %zu pair%s", judged, XB_PLURAL(judged));
    if (bad + bad_pairs > 0)
        xb_words_add(&words, " %s not OK", bad + bad_pairs == 1 ? "is" : "are");
    if (all->open > 0)
        xb_words_add(&words, ", %zu pair%s not judged", all->open, XB_PLURAL(all->open));
    if (report->elapsed > 0)
        xb_words_add(&words, ", %.1f s", report->elapsed);
    xb_heading_print(stream, xb_level_colour(report->level), "%s", words.text);
}

static const struct xb_table_column columns[] = {
    {.title = "GPU", .is_right = true},
    {.title = "PCI", .turn = 1},
    {.title = "LINK UNDER LOAD", .brief = "LINK", .turn = 3},
    {.title = "TO GPU, GB/s", .brief = "TO GPU", .is_right = true},
    {.title = "BACK, GB/s", .brief = "BACK", .is_right = true},
    {.title = "NVLINK", .is_right = true, .turn = 2},
    {.title = "ERRORS", .is_right = true},
    {.title = "VERDICT"}, /* only where one is not OK */
};

static void add_gpu(struct xb_table *table, const struct xb_link_device *device,
                    const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    const struct xb_device_health *health = xb_link_latest(device);
    uint64_t count = 0;
    xb_table_row(table);
    xb_table_text(table, "%u", device->info.index);
    xb_table_text(table, "%s", device->info.pci_bdf[0] != '\0' ? device->info.pci_bdf : "-");
    xb_table_text(table, "%s", XB_LINK_LANES(xb_verdict_lanes(verdict)));
    for (size_t i = 0; i < XB_LINK_WAYS; i++) { /* "55.42  95 %" */
        const struct xb_link_direction *direction = &verdict->ways[i];
        xb_table_cell(table, direction->is_slow ? XB_COLOUR_WARNING : XB_COLOUR_NONE,
                      !(direction->measured > 0) ? "-"
                      : direction->share > 0     ? "%.2f %3.0f %%"
                                                 : "%.2f",
                      direction->measured / 1e9, 100 * direction->share);
    }
    if (health != NULL)
        xb_table_text(table, "%u/%u", health->nvlinks_active,
                      health->nvlinks_active + health->nvlinks_inactive);
    else
        xb_table_text(table, "-");
    bool known = xb_link_errors(facts, &count);
    xb_table_cell(table, count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_NONE, known ? "%" PRIu64 : "-",
                  count);
    xb_table_cell(table, xb_level_colour(verdict->found.level), "%s",
                  xb_level_name(verdict->found.level));
}

/* What a reader must know besides, where it is so. */
static void print_remarks(FILE *stream, const struct xb_link_report *report)
{
    const struct xb_start *start = report->start;
    char late[XB_START_WARNING];
    bool is_assumed = false, is_derived = false;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_ceiling *ceiling = &report->verdicts[i].ceiling;
        is_derived = is_derived || ceiling->derived;
        is_assumed = is_assumed || (ceiling->known && ceiling->payload_assumed);
    }
    struct xb_words accepted;
    if (xb_link_accepted_text(report, &accepted))
        xb_heading_print(stream, XB_COLOUR_NONE, "accepted: %s", accepted.text);
    const struct xb_link_then *then = &report->then;
    if (then->known)
        xb_heading_print(
            stream, XB_COLOUR_NONE, "Baseline: %s%s%.10s%s%s.", then->path,
            then->written != NULL ? " of " : "", then->written != NULL ? then->written : "",
            then->changes != NULL ? ": then " : "", then->changes != NULL ? then->changes : "");
    /* Where nodes were to begin at once: whether this one did. */
    if (start != NULL && start->asked > 0 && start->began > 0 &&
        xb_start_warning(start->began - start->asked, &start->clock, late) != NULL)
        xb_heading_print(stream, XB_COLOUR_WARNING, "Warning: %s", late);
    if (is_derived)
        xb_heading_print(stream, XB_COLOUR_NONE,
                         "Shares of Gen6 are of a ceiling that is derived, not measured.");
    if (is_assumed)
        xb_heading_print(stream, XB_COLOUR_NONE,
                         "Packet sizes are assumed. As root, link reads them, and ACS.");
}

/* What to do next. */
static void print_advice(FILE *stream, const struct xb_link_report *report)
{
    const size_t count = report->device_count, width = xb_terminal_prose_columns(stream);
    const char *advice =
        count == 0    ? "run 'xferbench list', fix what it finds, then run this again"
        : report->cut ? "give it more time (--deadline) on an idle node"
        : report->level == XB_LEVEL_UNKNOWN
            ? "fix what the codes name, or wait until the node is idle, then run this again"
            : "do what each code says (more in docs/link.md), then run this again on an idle node";
    if (report->level != XB_LEVEL_OK) {
        fputs(count > 0 ? "\n" : "", stream);
        xb_lines_print(stream, width, "Next: %s: %s", advice,
                       report->command != NULL ? report->command : "xferbench link");
    } else if (!report->verbose && count > 1) {
        xb_lines_print(stream, width, "Details of a GPU: xferbench link --device %u --verbose",
                       report->devices[count - 1].info.index);
    } else if (!report->verbose) {
        fputs("Details: xferbench link --verbose\n", stream);
    }
}

enum xb_status xb_link_table_write(FILE *stream, const struct xb_link_report *report,
                                   struct xb_error *error)
{
    const struct pairs all = sum_up(report);
    size_t bad_pairs = 0, bad = xb_link_count_bad(report, &bad_pairs);
    print_verdict(stream, report, &all, bad, bad_pairs);
    if (report->device_count > 0) {
        struct xb_table *table =
            xb_table_with(columns, sizeof columns / sizeof columns[0] - (bad == 0));
        for (size_t i = 0; i < report->device_count; i++)
            add_gpu(table, &report->devices[i], &report->verdicts[i]);
        xb_table_print(stream, table, &(struct xb_table_look){0});
        xb_table_free(table);
    }
    if (report->no_pairs != NULL && report->no_pairs[0] != '\0')
        xb_lines_print(stream, xb_terminal_prose_columns(stream), "Pairs: not tested: %s.",
                       report->no_pairs);
    if (all.alike && (all.measured > 0 || all.apart > 0))
        print_alike(stream, &all);
    bool is_wide = report->device_count > XB_PEER_DEVICES;
    if (is_wide && !all.alike && all.measured > 0)
        xb_lines_print(stream, xb_terminal_prose_columns(stream),
                       "Pairs: %s GB/s; --json has each.", XB_LINK_RANGE(all.least, all.most, 1));
    else if (!is_wide && (!all.alike || (report->verbose && all.measured > 0)))
        print_matrix(stream, report);
    xb_link_table_soak(stream, report);
    print_remarks(stream, report);
    if (report->device_count > 0 && (report->verbose || report->level != XB_LEVEL_OK)) {
        /* What measured: of which version, by which backend and driver. */
        const struct xb_probe *probe = &report->probe;
        const char *const parts[][2] = {
            {", backend ", report->backend},
            {", runtime ", probe->runtime_version},
            {", driver ", probe->driver_version},
            {", library ", probe->runtime_library},
            {", NAMED BY ", probe->runtime_override},
            {", in ", strcmp(report->platform.hypervisor, "unnamed") == 0
                          ? "a virtual machine"
                          : report->platform.hypervisor},
            {", ASPM policy ", report->platform.aspm_policy}};
        struct xb_words words = {.length = 0};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            if (parts[i][1] != NULL && parts[i][1][0] != '\0' && strcmp(parts[i][1], "none") != 0 &&
                strcmp(parts[i][1], "default") != 0)
                xb_words_add(&words, "%s%s", parts[i][0], parts[i][1]);
        fputc('\n', stream);
        xb_heading_print(stream, XB_COLOUR_NONE, "xferbench %s%s", report->version, words.text);
    }
    for (size_t i = 0; i < report->device_count; i++)
        if (report->verbose || report->verdicts[i].found.level != XB_LEVEL_OK)
            xb_link_table_device(stream, &report->devices[i], &report->verdicts[i]);
    /* Why pairs are not OK. */
    fputs(bad_pairs > 0 ? "\n" : "", stream);
    for (size_t i = report->device_count; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        char name[48];
        snprintf(name, sizeof name, "GPU %u to %u: ", of.gpu->index, of.peer->index);
        xb_findings_print(stream, of.found, XB_LINK_LABEL, name);
    }
    print_advice(stream, report);
    return xb_stream_finish(stream, "the table", error);
}
