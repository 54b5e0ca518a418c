/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "format.h"

#include "base/text.h"
#include "machine/node.h"
#include "present/table.h"

#include <inttypes.h>
#include <string.h>

/* A rate as text, in memory of the block that it stands in. */
#define RATE(rate) xb_rate_text((rate), (char[32]){0}, 32)

enum xb_colour xb_link_colour(enum xb_level level)
{
    if (level == XB_LEVEL_OK)
        return XB_COLOUR_GOOD;
    return level == XB_LEVEL_CRITICAL ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
}

/* Why a verdict is not OK, a line a reason; `of` begins each. */
static void print_reasons(FILE *stream, const struct xb_findings *found, const char *of)
{
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_reason *reason = &found->reasons[i];
        xb_note_print_in(stream, xb_link_colour(reason->level), xb_level_name(reason->level),
                         XB_LINK_LABEL, "%s%s: %s", of, reason->code, reason->text);
    }
}

/* ---- errors ---- */

/* "NAKs received 2, bad TLPs 1"; nothing where all are 0. Returns whether any counter is known. */
static bool add_counts(struct xb_words *words, const bool counted[XB_PCIE_COUNTERS],
                       const uint64_t counts[XB_PCIE_COUNTERS])
{
    bool known = false;
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        known = known || counted[i];
        if (counted[i] && counts[i] > 0)
            xb_words_add(words, "%s%s %" PRIu64, words->length > 0 ? ", " : "",
                         xb_pcie_counter_words(i), counts[i]);
    }
    return known;
}

/* Names the ports that counted errors, and what the device counted. */
static void print_errors(FILE *stream, const struct xb_link_facts *facts)
{
    struct xb_words words = {.length = 0};
    bool counted = add_counts(&words, facts->counted, facts->rises);
    for (size_t i = 0; i < facts->port_count; i++) {
        const struct xb_pcie_aer *errors = &facts->ports[i].errors;
        if (errors->correctable > 0 || errors->nonfatal > 0 || errors->fatal > 0)
            xb_words_add(&words,
                         "%s%s: %" PRIu64 " correctable, %" PRIu64 " non-fatal, %" PRIu64 " fatal",
                         words.length > 0 ? "; " : "", facts->ports[i].bdf, errors->correctable,
                         errors->nonfatal, errors->fatal);
    }
    if (words.length > 0)
        NOTE("errors", "%s", words.text);
    else if (facts->errors.known || counted)
        NOTE("errors", "none counted during the test%s", facts->errors.known ? " (AER)" : "");
    else
        NOTE("errors", "not known: neither a port nor the GPU shows counters");
    words = (struct xb_words){.length = 0};
    if (add_counts(&words, facts->counted, facts->since_boot))
        NOTE("", "since boot, by the GPU: %s", words.length > 0 ? words.text : "none");
}

/* ---- ceiling, bandwidth, limits ---- */

static void print_ceiling(FILE *stream, const struct xb_ceiling *ceiling)
{
    const struct xb_lanes lanes = {ceiling->speed_gts, ceiling->width};
    char link[64];
    if (ceiling->payload > 0 && ceiling->read_request > 0)
        NOTE("packets", "payload %u bytes (%s), read request %u bytes (%s)", ceiling->payload,
             ceiling->payload_assumed ? "assumed" : "read", ceiling->read_request,
             ceiling->read_request_assumed ? "assumed" : "read");
    if (ceiling->known)
        NOTE("ceiling", "to the GPU %s, back %s GB/s; raw %s GB/s each way (%s)",
             RATE(ceiling->h2d), RATE(ceiling->d2h), RATE(ceiling->raw),
             xb_link_lanes_text(lanes, link, sizeof link));
    else
        NOTE("ceiling", "not known for this link");
}

static void print_bandwidth(FILE *stream, const char *label,
                            const struct xb_link_direction *direction)
{
    struct xb_words words = {.length = 0};
    if (direction->measured > 0)
        xb_words_add(&words, "%s GB/s", RATE(direction->measured));
    else
        xb_words_add(&words, "not measured");
    if (direction->measured > 0 && direction->share > 0)
        xb_words_add(&words, ", %.1f %% of the ceiling", 100 * direction->share);
    if (direction->measured > 0 && direction->warning > 0)
        xb_words_add(&words, "; warning below %s", RATE(direction->warning));
    if (direction->measured > 0 && direction->critical > 0)
        xb_words_add(&words, "; critical below %s", RATE(direction->critical));
    if (direction->source != XB_LIMIT_DEFAULT)
        xb_words_add(&words, " (%s)", xb_limit_source_name(direction->source));
    NOTE(label, "%s", words.text);
}

/* What is expected of the slot's link, and who said so. */
static void print_expected(FILE *stream, const struct xb_link_limits *limits)
{
    const struct xb_limit *generation = &limits->generation, *width = &limits->width;
    if (generation->is_set)
        NOTE("expected", "Gen%.0f (%s)", generation->value,
             xb_limit_source_name(generation->source));
    if (width->is_set)
        NOTE("expected", "x%.0f (%s)", width->value, xb_limit_source_name(width->source));
}

/* ---- where it is plugged in ---- */

static void print_acs(FILE *stream, const struct xb_pcie_path *path)
{
    struct xb_words words = {.length = 0};
    bool known = false;
    for (size_t i = 0; i < xb_link_hops(path); i++) {
        const struct xb_pcie_hop *hop = &path->hops[i];
        const struct xb_pcie_end *ends[] = {&hop->lower, hop->has_upper ? &hop->upper : NULL};
        for (size_t j = 0; j < 2 && ends[j] != NULL; j++) {
            const struct xb_pcie_control *control = &ends[j]->control;
            known = known || (control->known && control->has_acs);
            if (control->known && control->acs_redirects)
                xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "", ends[j]->bdf);
        }
    }
    if (words.length > 0)
        NOTE("ACS", "peers' transfers go up to the root at %s", words.text);
    else if (known)
        NOTE("ACS", "peers' transfers are not redirected");
}

static void print_location(FILE *stream, const struct xb_pcie_path *path)
{
    struct xb_words words = {.length = 0};
    if (xb_link_hops(path) == 0)
        return;
    xb_words_add(&words, path->numa_node >= 0 ? "node %d" : "node not known", path->numa_node);
    if (path->local_cpus[0] != '\0')
        xb_words_add(&words, ", CPUs ");
    /* A blank behind each comma lets a long list be broken into lines. */
    for (const char *c = path->local_cpus; *c != '\0'; c++)
        xb_words_add(&words, *c == ',' ? "%c " : "%c", *c);
    NOTE("NUMA", "%s", words.text);
    NOTE("IOMMU", path->iommu_group >= 0 ? "group %d" : "no group", path->iommu_group);
    print_acs(stream, path);
}

/* ---- what the vendor's library says ---- */

static void print_health(FILE *stream, const struct xb_link_device *device,
                         const struct xb_link_attempt *attempt, const struct xb_link_facts *facts)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    if (before->clocks_known && after->clocks_known)
        NOTE("clocks", "SM %u before, %u MHz after; memory %u before, %u MHz after",
             before->sm_clock_mhz, after->sm_clock_mhz, before->memory_clock_mhz,
             after->memory_clock_mhz);
    else if (after->clocks_known)
        NOTE("clocks", "SM %u, memory %u MHz after", after->sm_clock_mhz, after->memory_clock_mhz);
    if (after->throttle_known)
        NOTE("slowed", "%s%s", after->throttle[0] != '\0' ? after->throttle : "no",
             after->slowed_by_hardware ? " (BY THE HARDWARE)" : "");
    if (before->replays_known && after->replays_known)
        NOTE("replays", "%" PRIu64 " before, %" PRIu64 " after; %" PRIu64 " in all attempts",
             before->replays, after->replays, facts->replays);
    else if (facts->replays_known)
        NOTE("replays", "%" PRIu64 " in all attempts", facts->replays);
    /* Pairs are tested last, and what their copies did is part of the facts. */
    xb_link_table_nvlinks(stream, device->peers.after.nvlinks_known ? &device->peers.after : after,
                          &facts->nvlinks);
}

/* ---- attempts ---- */

static void add_rate(struct xb_words *words, const char *name, double value)
{
    if (xb_rate_known(value))
        xb_words_add(words, ", %s %s GB/s", name, RATE(value));
    else
        xb_words_add(words, ", %s not measured", name);
}

/* The link shown is the one that limits the path of the attempt that counts. */
static void print_attempt(FILE *stream, const struct xb_link_attempt *attempt, size_t index,
                          const struct xb_verdict *verdict)
{
    const struct xb_pcie_seen seen = xb_attempt_seen(attempt, verdict->bottleneck);
    const struct xb_lanes lanes = {seen.speed_gts, seen.width};
    struct xb_words words = {.length = 0};
    char link[64];
    xb_words_add(&words, "%zu%s: %s", index + 1, index == verdict->best ? " (judged)" : "",
                 seen.readings > 0 ? xb_link_lanes_text(lanes, link, sizeof link)
                                   : "link not known");
    add_rate(&words, "to the GPU", attempt->h2d);
    add_rate(&words, "back", attempt->d2h);
    if (attempt->data_wrong)
        xb_words_add(&words, ", DATA WRONG");
    if (xb_attempt_gone(attempt))
        xb_words_add(&words, ", THE GPU VANISHED");
    if (attempt->failure[0] != '\0')
        xb_words_add(&words, "; %s", attempt->failure);
    NOTE("attempt", "%s", words.text);
}

/* ---- the whole ---- */

/* All that is known of a GPU. */
static enum xb_status print_device(FILE *stream, const struct xb_link_device *device,
                                   const struct xb_verdict *verdict, struct xb_error *error)
{
    const struct xb_link_attempt *attempt = xb_verdict_attempt(verdict, device);
    const struct xb_device_info *info = &device->info;
    fputc('\n', stream);
    xb_heading_print(stream, xb_link_colour(verdict->found.level), "GPU %u: %s%s%s: %s",
                     info->index, info->name, info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf,
                     xb_level_name(verdict->found.level));
    print_reasons(stream, &verdict->found, "");
    if (device->cut)
        NOTE("cut", "the deadline came before all attempts were made");
    if (attempt == NULL)
        return XB_OK;
    enum xb_status status = xb_link_table_path(stream, verdict, error);
    print_errors(stream, &verdict->facts);
    print_ceiling(stream, &verdict->ceiling);
    print_bandwidth(stream, "to GPU", &verdict->h2d);
    print_bandwidth(stream, "back", &verdict->d2h);
    print_expected(stream, &verdict->limits);
    print_location(stream, &attempt->at_rest);
    print_health(stream, device, attempt, &verdict->facts);
    for (size_t i = 0; xb_link_attempts(device) > 1 && i < xb_link_attempts(device); i++)
        print_attempt(stream, &device->attempts[i], i, verdict);
    return status;
}

/* What measured: of which version, by which backend and driver. */
static void print_tool(FILE *stream, const struct xb_link_report *report)
{
    const struct xb_probe *probe = &report->probe;
    const struct {
        const char *before, *text;
    } parts[] = {{", backend ", report->backend},
                 {", runtime ", probe->runtime_version},
                 {", driver ", probe->driver_version},
                 {", library ", probe->runtime_library},
                 {", NAMED BY ", probe->runtime_override}};
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].text != NULL && parts[i].text[0] != '\0')
            xb_words_add(&words, "%s%s", parts[i].before, parts[i].text);
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_NONE, "xferbench %s%s", report->version, words.text);
}

static const char *advice_for(const struct xb_link_report *report)
{
    if (report->device_count == 0)
        return "run 'xferbench list', fix what it finds, then run this again";
    if (report->cut)
        return "give it more time (--deadline) on an idle node";
    if (report->level == XB_LEVEL_UNKNOWN)
        return "fix what the codes name, or wait until the node is idle, then run this again";
    return "do what each code says (more in docs/link.md), then run this again on an idle node";
}

/* "8 GPUs (NVIDIA H200)": the name where all have one. */
static void add_gpus(struct xb_words *words, const struct xb_link_report *report)
{
    size_t same = 0;
    while (same < report->device_count &&
           strcmp(report->devices[same].info.name, report->devices[0].info.name) == 0)
        same++;
    xb_words_add(words, "%zu GPU%s", report->device_count, report->device_count == 1 ? "" : "s");
    if (same == report->device_count)
        xb_words_add(words, " (%s)", report->devices[0].info.name);
}

/* Nothing is asked of such a pair, or it has no direct access: it is neither OK nor not. */
static size_t count_not_judged(const struct xb_link_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        count += verdict->found.level == XB_LEVEL_OK &&
                 !(xb_pair_is_judged(verdict) && xb_rate_known(verdict->bandwidth.measured));
    }
    return count;
}

static void add_pairs(struct xb_words *words, size_t count, const char *after)
{
    if (count > 0)
        xb_words_add(words, ", %zu pair%s%s", count, count == 1 ? "" : "s", after);
}

/* "Node gpu07: CRITICAL: 1 of 8 GPUs and 2 of 56 pairs are not OK, 2.9 s" */
static void print_verdict(FILE *stream, const struct xb_link_report *report)
{
    size_t open = count_not_judged(report), pairs = report->pair_count - open;
    size_t bad_pairs = 0, bad = xb_link_count_bad(report, &bad_pairs);
    struct xb_words words = {.length = 0};
    char node[XB_NODE_TEXT];
    xb_node_text(report->node, report->hostname, node);
    xb_words_add(&words, "Node%s%s: %s: %s", node[0] != '\0' ? " " : "", node,
                 xb_level_name(report->level), report->nothing);
    if (report->device_count > 0) {
        xb_words_add(&words, bad > 0 ? "%s%zu of " : "%s", report->nothing[0] != '\0' ? "; " : "",
                     bad);
        add_gpus(&words, report);
    }
    if (bad == 0 && bad_pairs == 0)
        add_pairs(&words, pairs, "");
    else if (bad_pairs > 0)
        xb_words_add(&words, "%s %zu of %zu pairs", bad > 0 ? " and" : " OK,", bad_pairs, pairs);
    if (bad + bad_pairs > 0)
        xb_words_add(&words, " %s not OK", bad + bad_pairs == 1 ? "is" : "are");
    add_pairs(&words, open, " not judged");
    if (report->elapsed > 0)
        xb_words_add(&words, ", %.1f s", report->elapsed);
    xb_heading_print(stream, xb_link_colour(report->level), "%s", words.text);
}

/* ---- a row a GPU ---- */

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

/* "55.42  95 %" */
static void put_rate(struct xb_table *table, const struct xb_link_direction *direction)
{
    enum xb_colour colour = direction->is_slow ? XB_COLOUR_WARNING : XB_COLOUR_NONE;
    if (direction->measured > 0 && direction->share > 0)
        xb_table_cell(table, colour, "%.2f %3.0f %%", direction->measured / 1e9,
                      100 * direction->share);
    else if (direction->measured > 0)
        xb_table_cell(table, colour, "%.2f", direction->measured / 1e9);
    else
        xb_table_cell(table, colour, "-");
}

/* What ports, device and NVLinks counted during the test; links that were trained again, and what
 * no GPU is asked to support, are no errors. */
static void put_error_count(struct xb_table *table, const struct xb_link_facts *facts)
{
    uint64_t count = facts->errors.correctable + facts->errors.nonfatal + facts->errors.fatal;
    bool known = facts->errors.known;
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++)
        if (i != XB_PCIE_RETRAINS && i != XB_PCIE_UNSUPPORTED) {
            known = known || facts->counted[i];
            count += facts->rises[i];
        }
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++)
        count += facts->nvlinks.rises[i];
    if (known || count > 0)
        xb_table_cell(table, count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_NONE, "%" PRIu64, count);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "-");
}

static void add_gpu(struct xb_table *table, const struct xb_link_device *device,
                    const struct xb_verdict *verdict)
{
    const struct xb_link_attempt *attempt = xb_verdict_attempt(verdict, device);
    const struct xb_device_health none = {.nvlinks_known = false};
    const struct xb_device_health *health = attempt == NULL ? &none
                                            : device->peers.after.nvlinks_known
                                                ? &device->peers.after
                                                : &attempt->health_after;
    char link[64];
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "%u", device->info.index);
    xb_table_cell(table, XB_COLOUR_NONE, "%s",
                  device->info.pci_bdf[0] != '\0' ? device->info.pci_bdf : "-");
    xb_table_cell(table, XB_COLOUR_NONE, "%s",
                  xb_link_lanes_text(xb_verdict_lanes(verdict), link, sizeof link));
    put_rate(table, &verdict->h2d);
    put_rate(table, &verdict->d2h);
    if (health->nvlinks_known)
        xb_table_cell(table, XB_COLOUR_NONE, "%u/%u", health->nvlinks_active,
                      health->nvlinks_active + health->nvlinks_inactive);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "-");
    put_error_count(table, &verdict->facts);
    xb_table_cell(table, xb_link_colour(verdict->found.level), "%s",
                  xb_level_name(verdict->found.level));
}

static enum xb_status print_gpus(FILE *stream, const struct xb_link_report *report,
                                 struct xb_error *error)
{
    size_t pairs = 0, bad = xb_link_count_bad(report, &pairs);
    if (report->device_count == 0)
        return XB_OK;
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] - (bad == 0); i++)
        xb_table_add_column(table, &columns[i]);
    for (size_t i = 0; i < report->device_count; i++)
        add_gpu(table, &report->devices[i], &report->verdicts[i]);
    enum xb_status status = xb_table_print(stream, table, &(struct xb_table_look){0}, error);
    xb_table_free(table);
    return status;
}

/* What a reader must know besides, where it is so. */
static void print_remarks(FILE *stream, const struct xb_link_report *report)
{
    const struct xb_start *start = report->start;
    char late[XB_START_WARNING];
    bool is_assumed = false;
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_ceiling *ceiling = &report->verdicts[i].ceiling;
        is_assumed = is_assumed || (ceiling->known && ceiling->payload_assumed);
    }
    /* Where nodes were to begin at once: whether this one did. */
    if (start != NULL && start->asked > 0 && start->began > 0 &&
        xb_start_warning(start->began - start->asked, &start->clock, late) != NULL)
        xb_heading_print(stream, XB_COLOUR_WARNING, "Warning: %s", late);
    if (is_assumed)
        xb_heading_print(stream, XB_COLOUR_NONE,
                         "Packet sizes are assumed. As root, link reads them, and ACS.");
}

/* Why pairs are not OK. */
static void print_pairs(FILE *stream, const struct xb_link_report *report)
{
    size_t bad = 0;
    (void)xb_link_count_bad(report, &bad);
    fputs(bad > 0 ? "\n" : "", stream);
    for (size_t i = report->device_count; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        char name[48];
        snprintf(name, sizeof name, "GPU %u to %u: ", of.gpu->index, of.peer->index);
        print_reasons(stream, of.found, name);
    }
}

/* What to do next. */
static void print_end(FILE *stream, const struct xb_link_report *report)
{
    const size_t count = report->device_count, width = xb_terminal_prose_columns(stream);
    if (report->level != XB_LEVEL_OK) {
        fputs(count > 0 ? "\n" : "", stream);
        xb_lines_print(stream, width, "Next: %s: %s", advice_for(report),
                       report->command != NULL ? report->command : "xferbench link");
    } else if (!report->verbose && count > 1) {
        xb_lines_print(stream, width, "Details of a GPU: xferbench link --device %u --verbose",
                       report->devices[count - 1].info.index);
    } else if (!report->verbose) {
        fputs("Details: xferbench link --verbose\n", stream);
    }
}

static enum xb_status write_table(FILE *stream, const struct xb_link_report *report,
                                  struct xb_error *error)
{
    print_verdict(stream, report);
    enum xb_status status = print_gpus(stream, report, error);
    if (status == XB_OK)
        status = xb_link_table_pairs(stream, report, error);
    if (status != XB_OK)
        return status;
    print_remarks(stream, report);
    if (report->device_count > 0 && (report->verbose || report->level != XB_LEVEL_OK))
        print_tool(stream, report);
    for (size_t i = 0; i < report->device_count && status == XB_OK; i++)
        if (report->verbose || report->verdicts[i].found.level != XB_LEVEL_OK)
            status = print_device(stream, &report->devices[i], &report->verdicts[i], error);
    if (status != XB_OK)
        return status;
    print_pairs(stream, report);
    print_end(stream, report);
    return XB_OK;
}

enum xb_status xb_link_table_write(FILE *stream, const struct xb_link_report *report,
                                   struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = write_table(stream, report, error);
    if (status == XB_OK)
        status = xb_stream_finish(stream, "the table", error);
    xb_plain_locale_leave(previous);
    return status;
}
