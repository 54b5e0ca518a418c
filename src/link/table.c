/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "format.h"

#include "base/text.h"
#include "machine/node.h"

#include <inttypes.h>
#include <string.h>

#define LABEL_WIDTH XB_LINK_LABEL
/* A rate as text, in memory of the block that it stands in. */
#define RATE(rate) xb_rate_text((rate), (char[32]){0}, 32)

enum xb_colour xb_link_colour(enum xb_level level)
{
    if (level == XB_LEVEL_OK)
        return XB_COLOUR_GOOD;
    return level == XB_LEVEL_CRITICAL ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
}

static void print_words(FILE *stream, const char *label, const struct xb_words *words)
{
    if (words->length > 0)
        xb_note_print(stream, label, LABEL_WIDTH, "%s", words->text);
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
        xb_note_print(stream, "errors", LABEL_WIDTH, "%s", words.text);
    else if (facts->errors.known || counted)
        xb_note_print(stream, "errors", LABEL_WIDTH, "none counted during the test%s",
                      facts->errors.known ? " (AER)" : "");
    else
        xb_note_print(stream, "errors", LABEL_WIDTH,
                      "not known: neither a port nor the device tells its counters");
    words = (struct xb_words){.length = 0};
    if (add_counts(&words, facts->counted, facts->since_boot))
        xb_note_print(stream, "", LABEL_WIDTH, "since boot, by the device: %s",
                      words.length > 0 ? words.text : "none");
}

/* ---- ceiling, bandwidth, limits ---- */

static void print_ceiling(FILE *stream, const struct xb_ceiling *ceiling)
{
    const struct xb_lanes lanes = {ceiling->speed_gts, ceiling->width};
    char link[64];
    if (ceiling->payload > 0 && ceiling->read_request > 0)
        xb_note_print(stream, "packets", LABEL_WIDTH,
                      "payload %u bytes (%s), read request %u bytes (%s)", ceiling->payload,
                      ceiling->payload_assumed ? "assumed" : "read", ceiling->read_request,
                      ceiling->read_request_assumed ? "assumed" : "read");
    if (ceiling->known)
        xb_note_print(stream, "ceiling", LABEL_WIDTH,
                      "H2D %s, D2H %s GB/s; raw %s GB/s each way (%s)", RATE(ceiling->h2d),
                      RATE(ceiling->d2h), RATE(ceiling->raw),
                      xb_link_lanes_text(lanes, link, sizeof link));
    else
        xb_note_print(stream, "ceiling", LABEL_WIDTH, "not known for this link");
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
    print_words(stream, label, &words);
}

/* Tells who set each limit: of both directions and of the link. */
static void print_limits(FILE *stream, const struct xb_verdict *verdict)
{
    const struct xb_limit *generation = &verdict->limits.generation;
    const struct xb_limit *width = &verdict->limits.width;
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "H2D: %s; D2H: %s", xb_limit_source_name(verdict->h2d.source),
                 xb_limit_source_name(verdict->d2h.source));
    if (generation->is_set)
        xb_words_add(&words, "; Gen%.0f: %s", generation->value,
                     xb_limit_source_name(generation->source));
    if (width->is_set)
        xb_words_add(&words, "; x%.0f: %s", width->value, xb_limit_source_name(width->source));
    if (!generation->is_set && !width->is_set)
        xb_words_add(&words, "; link: what both its ends can do");
    print_words(stream, "limits", &words);
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
        xb_note_print(stream, "ACS", LABEL_WIDTH, "peers' transfers go up to the root at %s",
                      words.text);
    else if (known)
        xb_note_print(stream, "ACS", LABEL_WIDTH, "peers' transfers are not redirected");
}

static void print_location(FILE *stream, const struct xb_pcie_path *path)
{
    struct xb_words words = {.length = 0};
    if (xb_link_hops(path) == 0)
        return;
    if (path->numa_node >= 0)
        xb_words_add(&words, "node %d", path->numa_node);
    else
        xb_words_add(&words, "no node is named");
    if (path->local_cpus[0] != '\0')
        xb_words_add(&words, ", CPUs ");
    /* A blank behind each comma lets a long list be broken into lines. */
    for (const char *c = path->local_cpus; *c != '\0'; c++)
        xb_words_add(&words, *c == ',' ? "%c " : "%c", *c);
    print_words(stream, "NUMA", &words);
    if (path->iommu_group >= 0)
        xb_note_print(stream, "IOMMU", LABEL_WIDTH, "group %d", path->iommu_group);
    else
        xb_note_print(stream, "IOMMU", LABEL_WIDTH, "no group");
    print_acs(stream, path);
}

/* ---- what the vendor's library says ---- */

static void print_health(FILE *stream, const struct xb_link_device *device,
                         const struct xb_link_attempt *attempt, const struct xb_link_facts *facts)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    struct xb_words words = {.length = 0};
    if (before->clocks_known && after->clocks_known)
        xb_words_add(&words, "SM %u before, %u MHz after; memory %u before, %u MHz after",
                     before->sm_clock_mhz, after->sm_clock_mhz, before->memory_clock_mhz,
                     after->memory_clock_mhz);
    else if (after->clocks_known)
        xb_words_add(&words, "SM %u, memory %u MHz after", after->sm_clock_mhz,
                     after->memory_clock_mhz);
    print_words(stream, "clocks", &words);
    if (after->throttle_known)
        xb_note_print(stream, "slowed", LABEL_WIDTH, "%s%s",
                      after->throttle[0] != '\0' ? after->throttle : "no",
                      after->slowed_by_hardware ? " (BY THE HARDWARE)" : "");
    if (before->replays_known && after->replays_known)
        xb_note_print(stream, "replays", LABEL_WIDTH,
                      "%" PRIu64 " before, %" PRIu64 " after; %" PRIu64 " in all attempts",
                      before->replays, after->replays, facts->replays);
    else if (facts->replays_known)
        xb_note_print(stream, "replays", LABEL_WIDTH, "%" PRIu64 " in all attempts",
                      facts->replays);
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
    add_rate(&words, "H2D", attempt->h2d);
    add_rate(&words, "D2H", attempt->d2h);
    if (attempt->data_wrong)
        xb_words_add(&words, ", DATA WRONG");
    if (xb_attempt_gone(attempt))
        xb_words_add(&words, ", THE DEVICE VANISHED");
    if (attempt->failure[0] != '\0')
        xb_words_add(&words, "; %s", attempt->failure);
    print_words(stream, "attempt", &words);
}

/* ---- the whole ---- */

/* False: no memory. */
static bool print_device(FILE *stream, const struct xb_link_device *device,
                         const struct xb_verdict *verdict)
{
    const struct xb_link_attempt *attempt = xb_verdict_attempt(verdict, device);
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "Device %u: %s%s%s", device->info.index, device->info.name,
                 device->info.pci_bdf[0] != '\0' ? ", " : "", device->info.pci_bdf);
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s", words.text);
    enum xb_colour colour = xb_link_colour(verdict->found.level);
    fprintf(stream, "  %-*s%s%s%s\n", LABEL_WIDTH, "verdict", xb_colour_begin(stream, colour),
            xb_level_name(verdict->found.level), xb_colour_end(stream, colour));
    for (size_t i = 0; i < verdict->found.reason_count; i++) {
        const struct xb_reason *reason = &verdict->found.reasons[i];
        xb_note_print_in(stream, xb_link_colour(reason->level), xb_level_name(reason->level),
                         LABEL_WIDTH, "%s: %s", reason->code, reason->text);
    }
    if (device->cut)
        xb_note_print(stream, "cut", LABEL_WIDTH,
                      "the deadline came before all attempts were made");
    if (attempt == NULL)
        return true;
    bool ok = xb_link_table_path(stream, verdict);
    print_errors(stream, &verdict->facts);
    print_ceiling(stream, &verdict->ceiling);
    print_bandwidth(stream, "H2D", &verdict->h2d);
    print_bandwidth(stream, "D2H", &verdict->d2h);
    if (attempt->data_wrong)
        xb_note_print_in(stream, XB_COLOUR_BAD, "data", LABEL_WIDTH,
                         "WRONG: a copy arrived changed");
    if (attempt->failure[0] != '\0')
        xb_note_print(stream, "failure", LABEL_WIDTH, "%s", attempt->failure);
    print_limits(stream, verdict);
    print_location(stream, &attempt->at_rest);
    print_health(stream, device, attempt, &verdict->facts);
    for (size_t i = 0; xb_link_attempts(device) > 1 && i < xb_link_attempts(device); i++)
        print_attempt(stream, &device->attempts[i], i, verdict);
    return ok;
}

static void print_header(FILE *stream, const struct xb_link_report *report)
{
    struct xb_words words = {.length = 0};
    char node[XB_NODE_TEXT];
    const struct xb_probe *probe = &report->probe;
    xb_words_add(&words, "xferbench %s link", report->version);
    if (report->backend != NULL)
        xb_words_add(&words, ", backend %s", report->backend);
    if (probe->runtime_version[0] != '\0')
        xb_words_add(&words, ", runtime %s", probe->runtime_version);
    if (probe->driver_version[0] != '\0')
        xb_words_add(&words, ", driver %s", probe->driver_version);
    xb_heading_print(stream, XB_COLOUR_NONE, "%s", words.text);
    xb_node_text(report->node, report->hostname, node);
    if (node[0] != '\0')
        xb_note_print(stream, "node", LABEL_WIDTH, "%s", node);
    if (probe->runtime_library[0] != '\0')
        xb_note_print(stream, "library", LABEL_WIDTH, "%s%s%s", probe->runtime_library,
                      probe->runtime_override[0] != '\0' ? ", NAMED BY " : "",
                      probe->runtime_override);
}

static const char *advice_for(const struct xb_link_report *report)
{
    if (report->device_count == 0)
        return "run 'xferbench list', fix what it finds, then run this again:";
    if (report->cut)
        return "give it more time (--deadline) on an idle node:";
    if (report->level == XB_LEVEL_UNKNOWN)
        return "fix what the codes name, or wait until the node is idle, then run this again:";
    return "do what each code says (more in docs/link.md), then run this again on an idle node:";
}

static void print_node(FILE *stream, const struct xb_link_report *report)
{
    size_t good = 0;
    for (size_t i = 0; i < report->device_count; i++)
        good += report->verdicts[i].found.level == XB_LEVEL_OK;
    enum xb_colour colour = xb_link_colour(report->level);
    fprintf(stream, "\nNode: %s%s%s\n", xb_colour_begin(stream, colour),
            xb_level_name(report->level), xb_colour_end(stream, colour));
    if (report->nothing[0] != '\0')
        xb_note_print(stream, "reason", LABEL_WIDTH, "%s", report->nothing);
    if (report->level == XB_LEVEL_OK)
        return;
    if (report->device_count > 0)
        xb_note_print(stream, "devices", LABEL_WIDTH, "%zu of %zu OK", good, report->device_count);
    xb_link_table_count_pairs(stream, report);
    xb_note_print(stream, "next", LABEL_WIDTH, "%s %s", advice_for(report),
                  report->command != NULL ? report->command : "xferbench link");
}

enum xb_status xb_link_table_write(FILE *stream, const struct xb_link_report *report,
                                   struct xb_error *error)
{
    const struct xb_start *start = report->start;
    char late[XB_START_WARNING];
    locale_t previous = xb_plain_locale_enter();
    bool ok = true;
    print_header(stream, report);
    /* Where nodes were to begin at once: whether this one did. */
    if (start != NULL && start->asked > 0 && start->began > 0 &&
        xb_start_warning(start->began - start->asked, &start->clock, late) != NULL)
        xb_note_print_in(stream, XB_COLOUR_WARNING, "warning", LABEL_WIDTH, "%s", late);
    for (size_t i = 0; ok && i < report->device_count; i++)
        ok = print_device(stream, &report->devices[i], &report->verdicts[i]);
    ok = ok && xb_link_table_pairs(stream, report);
    if (ok)
        print_node(stream, report);
    enum xb_status status = ok ? xb_stream_finish(stream, "the table", error)
                               : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for the table");
    xb_plain_locale_leave(previous);
    return status;
}
