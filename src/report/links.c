/* SPDX-License-Identifier: Apache-2.0 */
/* What a link test found: the verdicts with their reasons, the links as a tree, the weak ones
 * marked; and pairs of devices, and NUMA nodes with devices, as heat maps. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "link/report.h"
#include "run/table.h"

#include <math.h>
#include <string.h>

void xb_write_link_details(struct xb_page *page, const struct xb_report_document *document)
{
    struct xb_link_report report = document->link->report;
    report.verbose = true;
    xb_page_terminal_end(page,
                         xb_link_table_write(xb_page_terminal_begin(page), &report, &page->error));
}

/* ---- to hand over: each GPU with what it was judged by, who is not OK, and why ---- */

/* "53.20 (baseline), 46.48 (file)": a WARNING below the one, CRITICAL below the other. */
static const char *limits_of(struct xb_page *page, const struct xb_link_direction *way, double was)
{
    struct xb_words words = {.length = 0};
    if (way->warning > 0)
        xb_words_add(&words, "%s%s%s", XB_RATE_TEXT(way->warning),
                     xb_is_of_baseline(way, was) ? " (baseline)" : "",
                     way->critical > 0 ? ", " : "");
    if (way->critical > 0)
        xb_words_add(&words, "%s (%s)", XB_RATE_TEXT(way->critical),
                     xb_limit_source_name(way->source));
    return xb_page_print(page, "%s", words.length > 0 ? words.text : "-");
}

/* For a cell: NULL is shown as what is not known. */
#define KNOWN(text) ((text)[0] != '\0' ? (text) : NULL)
#define RATE(rate) ((rate) > 0 ? XB_RATE_TEXT(rate) : NULL)

static void write_gpus(struct xb_page *page, const struct xb_link_report *report)
{
    xb_page_table_begin(page, "GPUs: links under load, bandwidths in GB/s",
                        "GPU|Verdict|PCI|Serial|UUID|Link|#To GPU|#Back|#NVLinks|#Errors");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_link_device *device = &report->devices[i];
        const struct xb_verdict *verdict = &report->verdicts[i];
        const struct xb_device_health *health = xb_link_latest(device);
        uint64_t errors = 0;
        bool counted = xb_link_errors(&verdict->facts, &errors);
        const char *links = NULL;
        if (health != NULL)
            links = xb_page_print(page, "%u/%u", health->nvlinks_active,
                                  health->nvlinks_active + health->nvlinks_inactive);
        XB_PAGE_CELLS(page, xb_page_print(page, "%u", device->info.index),
                      xb_level_name(verdict->found.level), KNOWN(device->info.pci_bdf),
                      KNOWN(device->setup.serial), KNOWN(device->info.uuid),
                      XB_LINK_LANES(xb_verdict_lanes(verdict)), RATE(verdict->ways[0].measured),
                      RATE(verdict->ways[1].measured), links,
                      counted ? xb_page_print(page, "%zu", (size_t)errors) : NULL);
    }
    xb_page_table_end(page);
}

/* What a GPU was judged by: its link, and each way. */
#define LIMITS 3
static void find_limits(struct xb_page *page, const struct xb_verdict *verdict,
                        const char *texts[LIMITS])
{
    const struct xb_link_limits *limits = &verdict->limits;
    struct xb_words least = {.length = 0};
    if (limits->generation.is_set)
        xb_words_add(&least, "Gen%.0f (%s)", limits->generation.value,
                     xb_limit_source_name(limits->generation.source));
    if (limits->width.is_set)
        xb_words_add(&least, "%sx%.0f (%s)", least.length > 0 ? ", " : "", limits->width.value,
                     xb_limit_source_name(limits->width.source));
    if (limits->was.load.width > 0)
        xb_words_add(&least, "%s%s (baseline)", least.length > 0 ? ", " : "",
                     XB_LINK_LANES(limits->was.load));
    texts[0] = xb_page_print(page, "%s",
                             least.length > 0 ? least.text : "what both ends can do (default)");
    for (size_t k = 0; k < XB_LINK_WAYS; k++)
        texts[1 + k] = limits_of(page, &verdict->ways[k], limits->was.rates[k]);
}

/* A row for GPUs with the same limits. */
static void write_limits(struct xb_page *page, const struct xb_link_report *report)
{
    xb_page_table_begin(
        page, "Limits in GB/s, and where each is from",
        "GPU|Least link|To GPU: warning, critical below|Back: warning, critical below");
    for (size_t i = 0, next = 1; i < report->device_count; i = next++) {
        const char *texts[LIMITS], *others[LIMITS];
        bool same = true;
        find_limits(page, &report->verdicts[i], texts);
        for (; next < report->device_count && same; next += same) {
            find_limits(page, &report->verdicts[next], others);
            for (size_t k = 0; k < LIMITS; k++)
                same = same && strcmp(texts[k], others[k]) == 0;
        }
        XB_PAGE_CELLS(page,
                      xb_page_print(page, next - i > 1 ? "%u to %u" : "%u",
                                    report->devices[i].info.index,
                                    report->devices[next - 1].info.index),
                      texts[0], texts[1], texts[2]);
    }
    xb_page_table_end(page);
}

/* Each quantity in all minutes of load: the lowest, the mean, the highest. */
static void write_soak(struct xb_page *page, const struct xb_link_report *report)
{
    const struct xb_link_soak *soak = report->soak;
    uint64_t all = 0, errors = 0;
    if (soak == NULL)
        return;
    xb_page_table_begin(page,
                        xb_page_print(page,
                                      "Soak of %s%s: all GPUs, both ways at once (lowest, "
                                      "mean, highest; bandwidths in GB/s)",
                                      XB_SOAK_TIME(soak->took),
                                      soak->ended ? " before the test" : ", cut short"),
                        "GPU|#To GPU|#Back|#Beside kernels|#To other GPUs|#Temperature, °C|#Power, "
                        "W|#SM clock, MHz|#Errors|#Verified turns");
    for (size_t i = 0; i < soak->device_count; i++, all += errors) {
        const struct xb_soak_device *device = &soak->devices[i];
        const char *cells[XB_SOAK_MEMORY_CLOCK + 3] = {
            xb_page_print(page, "%u", report->devices[i].info.index)};
        for (size_t q = 0; q < XB_SOAK_MEMORY_CLOCK; q++) {
            const struct xb_soak_range *range = &device->ranges[q];
            const double scale = q <= XB_SOAK_PEER ? 1e9 : 1;
            const int decimals = q < XB_SOAK_PEER;
            if (range->count > 0)
                cells[1 + q] =
                    xb_page_print(page, "%.*f, %.*f, %.*f", decimals, range->least / scale,
                                  decimals, range->mean / scale, decimals, range->most / scale);
        }
        if (xb_link_errors(&device->facts, &errors))
            cells[XB_SOAK_MEMORY_CLOCK + 1] = xb_page_print(page, "%zu", (size_t)errors);
        cells[XB_SOAK_MEMORY_CLOCK + 2] = xb_page_print(page, "%u", device->verified);
        xb_page_cells(page, cells, sizeof cells / sizeof *cells);
    }
    xb_page_table_end(page);
    if (all > 0)
        xb_page_remark(page, "Errors of rare wrong bits are normal, up to 0.6 a second.");
}

static void write_reasons(struct xb_page *page, const struct xb_link_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        const char *name = xb_page_print(page, "GPU %u", of.gpu->index);
        if (of.peer != NULL)
            name = xb_page_print(page, "%s to %u", name, of.peer->index);
        XB_EACH (reason, of.found->reasons, of.found->reason_count) {
            if (count++ == 0)
                xb_page_table_begin(page, "What was found", "Of|Level|Code|Text");
            if (reason->accepted == NULL)
                XB_PAGE_CELLS(page, name, xb_level_name(reason->level), reason->code, reason->text);
            else
                XB_PAGE_CELLS(page, name, "accepted", reason->code,
                              xb_page_print(page, "%s (%s)", reason->accepted, reason->text));
        }
    }
    if (count > 0)
        xb_page_table_end(page);
}

static void write_criteria(struct xb_page *page, const struct xb_link_report *report)
{
    const struct xb_link_then *then = &report->then;
    const char *driver = report->probe.driver_version;
    xb_page_remark(page, "Measured and judged by xferbench %s%s%s: %s", report->version,
                   driver[0] != '\0' ? ", driver " : "", driver,
                   report->command != NULL ? report->command : "xferbench link");
    if (then->known)
        xb_page_remark(page, "Baseline: %s of %s%s%s.", then->path,
                       then->written != NULL ? then->written : "an unknown date",
                       then->changes != NULL ? ": then " : "",
                       then->changes != NULL ? then->changes : "");
}

/* ---- the links ---- */

/* The tree, and which PCI address each node is. Nodes beyond the picture's most are left out. */
struct drawing {
    struct xb_node nodes[XB_TREE_MOST];
    const char *addresses[XB_TREE_MOST];
    size_t count;
    bool is_full;
    struct xb_page *page;
    const struct xb_link_report *report;
};

/* The place of a node: one that is there, or a new one, which has no name yet. */
static size_t take_node(struct drawing *drawing, const char *address, size_t parent)
{
    for (size_t i = 1; i < drawing->count; i++)
        if (drawing->nodes[i].parent == parent && strcmp(drawing->addresses[i], address) == 0)
            return i;
    if (drawing->count == XB_TREE_MOST) {
        drawing->is_full = true;
        return parent;
    }
    drawing->addresses[drawing->count] = address;
    drawing->nodes[drawing->count] = (struct xb_node){.parent = parent, .look = ""};
    return drawing->count++;
}

static bool is_known(struct xb_lanes lanes)
{
    return lanes.width > 0 && lanes.speed_gts > 0;
}

/* Whether it did less under load than both its ends can do. */
static bool is_weak(const struct xb_link_hop *hop)
{
    return is_known(hop->load) && is_known(hop->best) &&
           (hop->load.width < hop->best.width || hop->load.speed_gts < hop->best.speed_gts);
}

/* "Gen4 x8 of Gen5 x16", and below it "limits the path" */
static const char *edge_of(struct drawing *drawing, const struct xb_link_hop *hop)
{
    const struct xb_link_report *report = drawing->report;
    char load[32], best[32];
    bool is_limit = false; /* of any device's path: several may share it */
    if (!is_known(hop->load))
        return "not seen under load";
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_link_facts *facts = &report->verdicts[i].facts;
        const size_t k = report->verdicts[i].bottleneck;
        /* A path of one link is limited by it: that goes without saying. */
        is_limit = is_limit ||
                   (facts->hop_count > 1 && k < facts->hop_count &&
                    strcmp(facts->hops[k].lower, hop->lower) == 0 && is_known(facts->hops[k].load));
    }
    xb_link_lanes_text(hop->load, load, sizeof load);
    xb_link_lanes_text(hop->best, best, sizeof best);
    return xb_page_print(drawing->page, "%s%s%s%s", load, is_weak(hop) ? " of " : "",
                         is_weak(hop) ? best : "", is_limit ? "\nlimits the path" : "");
}

/* Adds the way from the host to a device. */
static void add_path(struct drawing *drawing, const struct xb_link_device *device,
                     const struct xb_verdict *verdict)
{
    struct xb_page *page = drawing->page;
    const struct xb_link_hop *hops = verdict->facts.hops;
    const struct xb_link_hop *top = &hops[verdict->facts.hop_count - 1];
    const char *level = xb_level_name(verdict->found.level);
    bool is_accepted = verdict->found.level == XB_LEVEL_OK && verdict->found.reason_count > 0;
    size_t parent = top->has_upper ? take_node(drawing, top->upper, 0) : 0;
    if (drawing->nodes[parent].name == NULL)
        drawing->nodes[parent].name = xb_page_print(page, "root port\n%s", top->upper);
    for (size_t i = verdict->facts.hop_count; i-- > 0;) {
        parent = take_node(drawing, hops[i].lower, parent);
        struct xb_node *node = &drawing->nodes[parent];
        if (node->name != NULL)
            continue;
        node->edge = edge_of(drawing, &hops[i]);
        node->look = XB_LOOK(is_weak(&hops[i]) && !is_accepted,
                             is_known(hops[i].load) && !is_weak(&hops[i]));
        if (i > 0) {
            node->name = xb_page_print(page, "%s\n%s",
                                       hops[i - 1].on_package ? "bridge on the card" : "bridge",
                                       hops[i].lower);
            continue;
        }
        node->name = xb_page_print(page, "GPU %u: %s\n%s\n%s", device->info.index, level,
                                   device->info.name, hops[i].lower);
        node->edge_look = node->look;
        /* The box has the look of the device's own link or of its verdict, whichever is worse. */
        if (verdict->found.level == XB_LEVEL_CRITICAL)
            node->look = "bad";
        else if (strcmp(node->look, "good") == 0 && verdict->found.level != XB_LEVEL_OK)
            node->look = "unsure";
    }
}

void xb_write_links(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_link_report *report = &document->link->report;
    struct drawing drawing = {.nodes = {{.name = "host memory", .look = ""}},
                              .addresses = {""},
                              .count = 1,
                              .page = page,
                              .report = report};
    struct xb_words description = {.length = 0};
    size_t hops = 0;
    xb_words_add(&description, "The ways from the host to its GPUs.");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
        hops += verdict->facts.hop_count;
        if (verdict->facts.hop_count > 0)
            add_path(&drawing, &report->devices[i], verdict);
        xb_words_add(&description, " GPU %u: %s", report->devices[i].info.index,
                     xb_level_name(verdict->found.level));
        for (size_t k = 0; k < verdict->facts.hop_count; k++)
            if (is_weak(&verdict->facts.hops[k]))
                xb_words_add(&description, ", the link at %s is weak",
                             verdict->facts.hops[k].lower);
        xb_words_add(&description, ".");
    }
    struct xb_tree tree = {.nodes = drawing.nodes, .count = drawing.count};
    if (report->device_count > 0)
        write_gpus(page, report);
    write_reasons(page, report);
    if (report->device_count > 0)
        write_limits(page, report);
    write_soak(page, report);
    write_criteria(page, report);
    if (hops > 0)
        xb_page_picture(page, xb_tree_draw, &tree, "Links between the host and its GPUs", "%s",
                        description.text);
    if (drawing.is_full)
        xb_page_remark(page, "The picture shows %d of the places.", XB_TREE_MOST);
}

/* ---- matrices ---- */

/* Its cells have the numbers. */
static void write_grid(void *argument, struct xb_cells *grid, size_t left_out)
{
    struct xb_page *page = argument;
    const size_t columns = grid->column_count;
    struct xb_words ends = {.length = 0};
    size_t least = SIZE_MAX, most = SIZE_MAX;
    for (size_t i = 0; i < grid->row_count * columns; i++) {
        if (!isfinite(grid->values[i]))
            continue;
        least = least == SIZE_MAX || grid->values[i] < grid->values[least] ? i : least;
        most = most == SIZE_MAX || grid->values[i] > grid->values[most] ? i : most;
    }
    /* " The least is 38.0 GB/s, from device 0, to device 5; the largest is ...". */
    for (size_t k = 0, at = least; k < 2 && at < SIZE_MAX; k++, at = most)
        xb_words_add(&ends, "%s is %s %s, %s %s, %s %s%s", k == 0 ? " The least" : "; the largest",
                     grid->texts[at], grid->unit, grid->rows_are, grid->row_names[at / columns],
                     grid->columns_are, grid->column_names[at % columns], k == 0 ? "" : ".");
    xb_page_picture(page, xb_cells_draw, grid, grid->picture.title,
                    "A matrix of %zu rows and %zu columns.%s", grid->row_count, columns, ends.text);
    if (left_out > 0)
        xb_page_remark(page, "%zu cells in further rows or columns are left out.", left_out);
}

static void write_grid_of_pieces(void *argument, struct xb_cells *grid, size_t left_out)
{
    write_grid(argument, grid, left_out);
    xb_page_remark(argument, XB_GRID_WORDS);
}

void xb_write_grids(struct xb_page *page, const struct xb_report_document *document)
{
    xb_grids_each(document->record, write_grid_of_pieces, page);
}

void xb_write_matrices(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->link == NULL) {
        xb_matrix_each(document->record, write_grid, page);
        return;
    }
    const struct xb_link_report *report = &document->link->report;
    const size_t count = report->device_count;
    if (report->pair_count == 0 || count > XB_PEER_DEVICES) /* too many for a picture */
        return;
    double *values = xb_page_new(page, count * count, sizeof *values);
    const char **texts = xb_page_new(page, count * count, sizeof *texts);
    const char **names = xb_page_new(page, count, sizeof *names);
    struct xb_cells grid = {
        .picture = {.title = "Copies between GPUs, GB/s (rows: from, columns: to)"},
        .unit = "GB/s",
        .rows_are = "from",
        .columns_are = "to",
        .row_names = names,
        .column_names = names,
        .row_count = count,
        .column_count = count,
        .values = values,
        .texts = texts};
    for (size_t i = 0; i < count; i++)
        names[i] = xb_page_print(page, "GPU %u", report->devices[i].info.index);
    for (size_t i = 0; i < count * count; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; i < report->pair_count; i++) {
        size_t at = report->pairs[i].from * count + report->pairs[i].to;
        double rate = report->pair_verdicts[i].bandwidth.measured;
        values[at] = xb_rate_known(rate) ? rate / 1e9 : values[at];
        texts[at] = xb_rate_known(rate) ? xb_page_print(page, "%s", XB_RATE_TEXT(rate)) : texts[at];
    }
    write_grid(page, &grid, 0);
}
