/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the table about one GPU: all that is known of it. */
#include "report.h"

#include "base/text.h"
#include "present/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Words behind a label, on the `stream` of the function that it stands in. */
#define NOTE(label, ...) xb_note_print(stream, (label), XB_LINK_LABEL, __VA_ARGS__)

const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size)
{
    if (lanes.speed_gts > 0 && lanes.width > 0)
        return xb_lanes_text(lanes.speed_gts, lanes.width, text, size);
    snprintf(text, size, "-");
    return text;
}

const char *xb_link_range_text(double low, double high, int decimals, char text[72])
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%.*f", decimals, low / 1e9);
    snprintf(most, sizeof most, "%.*f", decimals, high / 1e9);
    bool is_one = strcmp(least, most) == 0;
    snprintf(text, 72, "%s%s%s", least, is_one ? "" : " to ", is_one ? "" : most);
    return text;
}

/* The path: a row for each link, the device's own first. */
static void print_path(FILE *stream, const struct xb_verdict *verdict)
{
    static const struct xb_table_column columns[] = {{.title = "LINK, GPU first"},
                                                     {.title = "UNDER LOAD", .brief = "LOAD"},
                                                     {.title = "BEST", .turn = 2},
                                                     {.title = "AT REST", .turn = 1},
                                                     {.title = ""}};
    const size_t count = verdict->facts.hop_count;
    char label[32], indent[32];
    if (count == 0) {
        NOTE("path", "sysfs does not show the GPU");
        return;
    }
    struct xb_table *table = XB_TABLE(columns);
    snprintf(label, sizeof label, "  %-*s", XB_LINK_LABEL, "path");
    snprintf(indent, sizeof indent, "%*s", XB_LINK_LABEL + 2, "");
    for (size_t i = 0; i < count; i++) {
        const struct xb_link_hop *hop = &verdict->facts.hops[i];
        /* That a single link limits the path goes without saying. */
        bool is_bottleneck = count > 1 && i == verdict->bottleneck && hop->load.width > 0;
        char changes[32] = "";
        if (hop->changes > 0)
            snprintf(changes, sizeof changes, "%s%u change%s",
                     is_bottleneck || hop->on_package ? ", " : "", hop->changes,
                     XB_PLURAL(hop->changes));
        xb_table_row(table);
        xb_table_text(table, "%s - %s", hop->lower,
                      hop->has_upper ? hop->upper : "(no bridge seen)");
        xb_table_text(table, "%s", XB_LINK_LANES(hop->load));
        xb_table_text(table, "%s", XB_LINK_LANES(hop->best));
        xb_table_text(table, "%s", XB_LINK_LANES(hop->at_rest));
        xb_table_cell(table, is_bottleneck ? XB_COLOUR_WARNING : XB_COLOUR_NONE, "%s%s%s",
                      is_bottleneck ? "bottleneck" : "", hop->on_package ? "on package" : "",
                      changes);
    }
    xb_table_print(stream, table, &(struct xb_table_look){.label = label, .indent = indent});
    xb_table_free(table);
}

/* "0 replays, 3 recoveries": the counters that are known, or where that is NULL, that are not 0;
 * `separator` stands before the first. */
static void add_nvlink_counts(struct xb_words *words, const char *separator, const bool *counted,
                              const uint64_t counts[XB_NVLINK_COUNTERS])
{
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        if (counted != NULL ? !counted[i] : counts[i] == 0)
            continue;
        xb_words_add(words, "%s%" PRIu64 " %s", separator, counts[i],
                     counts[i] == 1 ? xb_nvlink_counters[i].one : xb_nvlink_counters[i].many);
        separator = ", ";
    }
}

/* What NVLinks counted during the test and since boot is told apart, because only the first says
 * something of the links as they are. */
static void print_nvlinks(FILE *stream, const struct xb_device_health *after,
                          const struct xb_nvlink_facts *facts)
{
    struct xb_words words = {.length = 0};
    bool counted[XB_NVLINK_COUNTERS] = {false};
    uint64_t since_boot[XB_NVLINK_COUNTERS] = {0};
    double slowest = INFINITY, fastest = 0;
    if (!after->nvlinks_known)
        return;
    for (size_t i = 0; i < XB_NVLINKS; i++)
        if (after->nvlinks[i].rate > 0) {
            slowest = fmin(slowest, after->nvlinks[i].rate);
            fastest = fmax(fastest, after->nvlinks[i].rate);
        }
    if (fastest > 0)
        xb_words_add(&words, ", each %s GB/s each way", XB_LINK_RANGE(slowest, fastest, 2));
    NOTE("NVLink", "%u active, %u inactive%s", after->nvlinks_active, after->nvlinks_inactive,
         words.text);
    words = (struct xb_words){.length = 0};
    add_nvlink_counts(&words, "", facts->counted, facts->rises);
    if (words.length > 0) {
        for (size_t i = 0; i < XB_NVLINKS; i++) { /* those that counted anything */
            char before[24];
            snprintf(before, sizeof before, "; link %zu: ", i);
            add_nvlink_counts(&words, before, NULL, facts->links[i].rises);
        }
        NOTE("", "during the test: %s", words.text);
    }
    for (size_t i = 0; i < XB_NVLINKS; i++)
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (after->nvlinks[i].counted[j]) {
                counted[j] = true;
                since_boot[j] += after->nvlinks[i].counts[j];
            }
    words = (struct xb_words){.length = 0};
    add_nvlink_counts(&words, "", counted, since_boot);
    if (words.length > 0)
        NOTE("", "since boot: %s", words.text);
}

/* "NAKs received 2, bad TLPs 1"; nothing where all are 0. Returns whether any counter is known. */
static bool add_counts(struct xb_words *words, const bool counted[XB_PCIE_COUNTERS],
                       const uint64_t counts[XB_PCIE_COUNTERS])
{
    bool known = false;
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        known = known || counted[i];
        if (counted[i] && counts[i] > 0)
            xb_words_add(words, "%s%s %" PRIu64, words->length > 0 ? ", " : "",
                         xb_pcie_counters[i].words, counts[i]);
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

static void print_bandwidth(FILE *stream, const char *label,
                            const struct xb_link_direction *direction, double was)
{
    struct xb_words words = {.length = 0};
    bool is_measured = direction->measured > 0;
    xb_words_add(&words, is_measured ? "%s GB/s" : "not measured",
                 XB_RATE_TEXT(direction->measured));
    if (is_measured && direction->share > 0)
        xb_words_add(&words, ", %.1f %% of the ceiling", 100 * direction->share);
    if (is_measured && direction->warning > 0)
        xb_words_add(&words, "; warning below %s%s", XB_RATE_TEXT(direction->warning),
                     xb_is_of_baseline(direction, was) ? " (baseline)" : "");
    if (is_measured && direction->critical > 0)
        xb_words_add(&words, "; critical below %s", XB_RATE_TEXT(direction->critical));
    if (direction->source != XB_LIMIT_DEFAULT)
        xb_words_add(&words, " (%s)", xb_limit_source_name(direction->source));
    NOTE(label, "%s", words.text);
}

/* What it is and how it is set, as far as that is known. */
static void print_setup(FILE *stream, const struct xb_device_setup *setup)
{
    const char *const parts[][2] = {
        {"serial ", setup->serial},
        {"VBIOS ", setup->vbios},
        {"ECC ", setup->ecc == XB_SWITCH_ON    ? "on"
                 : setup->ecc == XB_SWITCH_OFF ? "off"
                                               : ""},
        {"virtualisation: ", setup->virtualisation},
        {"confidential computing", setup->confidential == XB_SWITCH_ON ? " on" : ""},
        {"", setup->confidential_mode}};
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i][1][0] != '\0' && strcmp(parts[i][1], "none") != 0)
            xb_words_add(&words, "%s%s%s", words.length > 0 ? ", " : "", parts[i][0], parts[i][1]);
    if (words.length > 0)
        NOTE("board", "%s", words.text);
}

/* Where it is plugged in. */
static void print_location(FILE *stream, const struct xb_pcie_path *path, uint64_t memory_bytes)
{
    struct xb_words words = {.length = 0}, aspm = {.length = 0};
    bool known = false;
    if (xb_pcie_path_hops(path) == 0)
        return;
    xb_words_add(&words, path->numa_node >= 0 ? "node %d" : "node not known", path->numa_node);
    if (path->local_cpus[0] != '\0')
        xb_words_add(&words, ", CPUs ");
    /* A blank behind each comma lets a long list be broken into lines. */
    for (const char *c = path->local_cpus; *c != '\0'; c++)
        xb_words_add(&words, *c == ',' ? "%c " : "%c", *c);
    NOTE("NUMA", "%s", words.text);
    words = (struct xb_words){.length = 0};
    xb_words_add(&words, path->iommu_group >= 0 ? "group %d" : "no group", path->iommu_group);
    if (path->iommu_type[0] != '\0')
        xb_words_add(&words, ", %s (%s)",
                     strcmp(path->iommu_type, "identity") == 0 ? "addresses passed through"
                                                               : "addresses translated",
                     path->iommu_type);
    NOTE("IOMMU", "%s", words.text);
    if (path->largest_bar > 0 && path->largest_bar < memory_bytes)
        NOTE("BAR", "%" PRIu64 " MiB: the CPU cannot address all of its memory (resizable BAR)",
             path->largest_bar >> 20);
    words = (struct xb_words){.length = 0};
    for (size_t i = 0; i < 2 * xb_pcie_path_hops(path); i++) {
        const struct xb_pcie_end *end = xb_pcie_path_end(path, i);
        if (end != NULL && end->aspm[0] == 'L')
            xb_words_add(&aspm, "%s%s at %s", aspm.length > 0 ? ", " : "", end->aspm, end->bdf);
        if (end == NULL || !end->control.known)
            continue;
        known = known || end->control.has_acs;
        if (end->control.acs_redirects)
            xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "", end->bdf);
    }
    if (words.length > 0)
        NOTE("ACS", "peers' transfers go up to the root at %s", words.text);
    else if (known)
        NOTE("ACS", "peers' transfers are not redirected");
    if (aspm.length > 0)
        NOTE("ASPM", "%s", aspm.text);
}

/* What the vendor's library says. */
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
    print_nvlinks(stream, device->peers.after.nvlinks_known ? &device->peers.after : after,
                  &facts->nvlinks);
}

/* The link shown is the one that limits the path of the attempt that counts. */
static void print_attempt(FILE *stream, const struct xb_link_attempt *attempt, size_t index,
                          const struct xb_verdict *verdict)
{
    const struct xb_pcie_seen seen = xb_attempt_seen(attempt, verdict->bottleneck);
    const struct xb_lanes lanes = {seen.speed_gts, seen.width};
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%zu%s: %s", index + 1, index == verdict->best ? " (judged)" : "",
                 seen.readings > 0 ? XB_LINK_LANES(lanes) : "link not known");
    for (size_t i = 0; i < XB_LINK_WAYS; i++)
        xb_words_add(&words,
                     xb_rate_known(attempt->rates[i]) ? ", %s %s GB/s" : ", %s not measured",
                     i == XB_TO_GPU ? "to the GPU" : "back", XB_RATE_TEXT(attempt->rates[i]));
    if (attempt->data_wrong)
        xb_words_add(&words, ", DATA WRONG");
    if (xb_attempt_gone(attempt))
        xb_words_add(&words, ", THE GPU VANISHED");
    if (attempt->failure[0] != '\0')
        xb_words_add(&words, "; %s", attempt->failure);
    NOTE("attempt", "%s", words.text);
}

void xb_link_table_device(FILE *stream, const struct xb_link_device *device,
                          const struct xb_verdict *verdict)
{
    const struct xb_link_attempt *attempt = XB_ATTEMPT_JUDGED(verdict, device);
    const struct xb_device_info *info = &device->info;
    fputc('\n', stream);
    xb_heading_print(stream, xb_level_colour(verdict->found.level), "GPU %u: %s%s%s: %s",
                     info->index, info->name, info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf,
                     xb_level_name(verdict->found.level));
    xb_findings_print(stream, &verdict->found, XB_LINK_LABEL, "");
    XB_EACH (acceptance, verdict->limits.accepted, verdict->limits.accepted_count)
        if (!acceptance->met)
            NOTE("accepts", "%s: %s (accepted nothing)", acceptance->code, acceptance->reason);
    if (device->cut)
        NOTE("cut", "the deadline came before all attempts were made");
    if (attempt == NULL)
        return;
    print_path(stream, verdict);
    print_errors(stream, &verdict->facts);
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    const struct xb_lanes lanes = {ceiling->speed_gts, ceiling->width};
    if (ceiling->payload > 0 && ceiling->read_request > 0)
        NOTE("packets", "payload %u bytes (%s), read request %u bytes (%s)", ceiling->payload,
             ceiling->payload_assumed ? "assumed" : "read", ceiling->read_request,
             ceiling->read_request_assumed ? "assumed" : "read");
    if (ceiling->known)
        NOTE("ceiling", "to the GPU %s, back %s GB/s; raw %s GB/s each way (%s%s)",
             XB_RATE_TEXT(ceiling->h2d), XB_RATE_TEXT(ceiling->d2h), XB_RATE_TEXT(ceiling->raw),
             XB_LINK_LANES(lanes), ceiling->derived ? ", derived, not measured" : "");
    else
        NOTE("ceiling", "not known for this link");
    print_bandwidth(stream, "to GPU", &verdict->ways[XB_TO_GPU],
                    verdict->limits.was.rates[XB_TO_GPU]);
    print_bandwidth(stream, "back", &verdict->ways[XB_BACK], verdict->limits.was.rates[XB_BACK]);
    /* What is expected of the slot's link, and who said so. */
    const struct xb_limit *generation = &verdict->limits.generation,
                          *width = &verdict->limits.width;
    if (generation->is_set)
        NOTE("expected", "Gen%.0f (%s)", generation->value,
             xb_limit_source_name(generation->source));
    if (width->is_set)
        NOTE("expected", "x%.0f (%s)", width->value, xb_limit_source_name(width->source));
    print_location(stream, &attempt->at_rest, info->memory_bytes);
    print_setup(stream, &device->setup);
    print_health(stream, device, attempt, &verdict->facts);
    for (size_t i = 0; XB_ATTEMPTS(device) > 1 && i < XB_ATTEMPTS(device); i++)
        print_attempt(stream, &device->attempts[i], i, verdict);
}
