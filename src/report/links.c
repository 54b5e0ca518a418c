/* SPDX-License-Identifier: Apache-2.0 */
/* What a link test found: the verdicts with their reasons, the links as a tree, the weak ones
 * marked; and pairs of devices, and NUMA nodes with devices, as heat maps. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "link/report.h"
#include "run/matrix.h"

#include <math.h>
#include <string.h>

/* NULL for one that is not known. */
static const char *rate_text(struct xb_page *page, double rate)
{
    return xb_rate_known(rate) ? xb_page_print(page, "%s", XB_RATE_TEXT(rate)) : NULL;
}

static void write_reasons(struct xb_page *page, const struct xb_findings *found, const char *of)
{
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_finding *reason = &found->reasons[i];
        XB_PAGE_CELLS(page, of, xb_level_name(reason->level), reason->code, reason->text);
    }
}

void xb_write_verdicts(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_link_report *report = &document->link->report;
    size_t reasons = 0;
    if (report->device_count == 0)
        return;
    xb_page_table_begin(page, "Verdicts",
                        "#Device|Name|PCI address|Verdict|#h2d GB/s|#Link can carry|#d2h GB/s|"
                        "#Link can carry");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_device_info *info = &report->devices[i].info;
        const struct xb_verdict *verdict = &report->verdicts[i];
        XB_PAGE_CELLS(page, xb_page_print(page, "%u", info->index), info->name,
                      info->pci_bdf[0] != '\0' ? info->pci_bdf : NULL,
                      xb_level_name(verdict->found.level), rate_text(page, verdict->h2d.measured),
                      rate_text(page, verdict->ceiling.h2d), rate_text(page, verdict->d2h.measured),
                      rate_text(page, verdict->ceiling.d2h));
        reasons += verdict->found.reason_count;
    }
    xb_page_table_end(page);
    for (size_t i = 0; i < report->pair_count; i++)
        reasons += report->pair_verdicts[i].found.reason_count;
    if (reasons == 0)
        return;
    xb_page_table_begin(page, "Reasons", "Of|Level|Code|What to do");
    for (size_t i = 0; i < report->device_count; i++)
        write_reasons(page, &report->verdicts[i].found,
                      xb_page_print(page, "device %u", report->devices[i].info.index));
    for (size_t i = 0; i < report->pair_count; i++)
        write_reasons(page, &report->pair_verdicts[i].found,
                      xb_page_print(page, "%u to %u",
                                    report->devices[report->pairs[i].from].info.index,
                                    report->devices[report->pairs[i].to].info.index));
    xb_page_table_end(page);
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

/* The place of a node: one that is there, or a new one. Its name and the like are still to be set
 * where *is_new. */
static size_t take_node(struct drawing *drawing, const char *address, size_t parent, bool *is_new)
{
    *is_new = false;
    for (size_t i = 1; i < drawing->count; i++)
        if (drawing->nodes[i].parent == parent && strcmp(drawing->addresses[i], address) == 0)
            return i;
    if (drawing->count == XB_TREE_MOST) {
        drawing->is_full = true;
        return parent;
    }
    *is_new = true;
    drawing->addresses[drawing->count] = address;
    drawing->nodes[drawing->count] = (struct xb_node){.parent = parent, .name = "", .look = ""};
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

/* A path of one link is limited by it: that goes without saying. */
static bool limits(const struct xb_verdict *verdict, size_t hop)
{
    return verdict->facts.hop_count > 1 && verdict->bottleneck == hop &&
           is_known(verdict->facts.hops[hop].load);
}

/* "Gen4 x8 of Gen5 x16", and below it "limits the path" */
static const char *edge_of(struct drawing *drawing, const struct xb_link_hop *hop)
{
    const struct xb_link_report *report = drawing->report;
    char load[32], best[32];
    bool is_limit = false; /* of any device's path: several may share it */
    if (!is_known(hop->load))
        return "not seen under load";
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t k = 0; k < report->verdicts[i].facts.hop_count; k++)
            is_limit =
                is_limit || (strcmp(report->verdicts[i].facts.hops[k].lower, hop->lower) == 0 &&
                             limits(&report->verdicts[i], k));
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
    size_t parent = 0;
    bool is_new = false;
    if (top->has_upper)
        parent = take_node(drawing, top->upper, 0, &is_new);
    if (is_new)
        drawing->nodes[parent].name = xb_page_print(page, "root port\n%s", top->upper);
    for (size_t i = verdict->facts.hop_count; i-- > 0;) {
        parent = take_node(drawing, hops[i].lower, parent, &is_new);
        if (!is_new)
            continue;
        struct xb_node *node = &drawing->nodes[parent];
        node->edge = edge_of(drawing, &hops[i]);
        node->look = is_weak(&hops[i]) ? "bad" : is_known(hops[i].load) ? "good" : "unsure";
        if (i > 0) {
            node->name = xb_page_print(page, "%s\n%s",
                                       hops[i - 1].on_package ? "bridge on the card" : "bridge",
                                       hops[i].lower);
            continue;
        }
        node->name = xb_page_print(page, "device %u: %s\n%s\n%s", device->info.index, level,
                                   device->info.name, hops[i].lower);
        node->edge_look = node->look;
        /* The box has the look of the device's own link or of its verdict, whichever is worse. */
        if (verdict->found.level == XB_LEVEL_CRITICAL)
            node->look = "bad";
        else if (strcmp(node->look, "good") == 0 && verdict->found.level != XB_LEVEL_OK)
            node->look = "unsure";
    }
}

static void write_hop(struct xb_page *page, unsigned device, const struct xb_verdict *verdict,
                      size_t index)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[index];
    struct xb_words remark = {.length = 0};
    char load[32], best[32], at_rest[32];
    xb_words_add(&remark, "%s%s%s", is_weak(hop) ? "less than both ends can do; " : "",
                 limits(verdict, index) ? "limits the path; " : "",
                 hop->on_package ? "on the card; " : "");
    if (hop->changes > 0)
        xb_words_add(&remark, "changed %u time%s; ", hop->changes, hop->changes == 1 ? "" : "s");
    if (remark.length > 0)
        remark.text[remark.length - 2] = '\0';
    XB_PAGE_CELLS(page, xb_page_print(page, "%u", device),
                  xb_page_print(page, "%s - %s", hop->lower,
                                hop->has_upper ? hop->upper : "(no bridge seen)"),
                  xb_link_lanes_text(hop->load, load, sizeof load),
                  xb_link_lanes_text(hop->best, best, sizeof best),
                  xb_link_lanes_text(hop->at_rest, at_rest, sizeof at_rest), remark.text);
}

void xb_write_path(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_link_report *report = &document->link->report;
    struct drawing drawing = {.nodes = {{.name = "host memory", .look = ""}},
                              .addresses = {""},
                              .count = 1,
                              .page = page,
                              .report = report};
    struct xb_words description = {.length = 0};
    size_t hops = 0;
    xb_words_add(&description, "The ways from the host to its devices.");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
        hops += verdict->facts.hop_count;
        if (verdict->facts.hop_count > 0)
            add_path(&drawing, &report->devices[i], verdict);
        xb_words_add(&description, " Device %u: %s", report->devices[i].info.index,
                     xb_level_name(verdict->found.level));
        for (size_t k = 0; k < verdict->facts.hop_count; k++)
            if (is_weak(&verdict->facts.hops[k]))
                xb_words_add(&description, ", the link at %s is weak",
                             verdict->facts.hops[k].lower);
        xb_words_add(&description, ".");
    }
    if (hops == 0)
        return;
    struct xb_tree tree = {.picture = {.title = "Links between the host and its devices",
                                       .description = description.text},
                           .nodes = drawing.nodes,
                           .count = drawing.count};
    xb_page_picture(page, xb_tree_draw, &tree);
    if (drawing.is_full)
        xb_page_remark(page, "The picture shows %d of the places; the table has all.",
                       XB_TREE_MOST);
    xb_page_table_begin(page, "Links of each way, the device's own first",
                        "#Device|Link|Under load|Both ends can do|At rest|Remark");
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t k = 0; k < report->verdicts[i].facts.hop_count; k++)
            write_hop(page, report->devices[i].info.index, &report->verdicts[i], k);
    xb_page_table_end(page);
}

/* ---- matrices ---- */

/* "The least is 38.0 GB/s, from device 0, to device 5; the largest is ...". */
static void describe_cells(struct xb_words *words, const struct xb_cells *cells)
{
    const size_t columns = cells->column_count;
    size_t ends[2] = {SIZE_MAX, SIZE_MAX}; /* the least and the largest */
    for (size_t i = 0; i < cells->row_count * columns; i++)
        for (int k = 0; k < 2 && isfinite(cells->values[i]); k++) {
            double best = ends[k] < SIZE_MAX ? cells->values[ends[k]] : (double)NAN;
            if (isnan(best) || (k == 0 ? cells->values[i] < best : cells->values[i] > best))
                ends[k] = i;
        }
    xb_words_add(words, "A matrix of %zu rows and %zu columns.", cells->row_count, columns);
    for (int k = 0; k < 2 && ends[k] < SIZE_MAX; k++)
        xb_words_add(words, "%s is %s %s, %s %s, %s %s%s", k == 0 ? " The least" : "; the largest",
                     cells->texts[ends[k]], cells->unit, cells->rows_are,
                     cells->row_names[ends[k] / columns], cells->columns_are,
                     cells->column_names[ends[k] % columns], k == 0 ? "" : ".");
}

/* Matrices of one file that have a picture; a sweep over sizes has dozens. */
#define DRAWN 12

struct matrices {
    struct xb_page *page;
    size_t count, left_out;
};

static void write_cells(void *argument, const struct xb_cells *cells, size_t left_out)
{
    struct matrices *matrices = argument;
    struct xb_page *page = matrices->page;
    struct xb_words description = {.length = 0};
    if (!xb_page_has_room(page)) {
        matrices->left_out++;
        return;
    }
    describe_cells(&description, cells);
    struct xb_cells drawn = *cells;
    drawn.picture.description = description.text;
    if (matrices->count++ < DRAWN)
        xb_page_picture(page, xb_cells_draw, &drawn);
    xb_page_table_begin(page, cells->picture.title, "");
    xb_page_column(page, cells->rows_are, false);
    for (size_t k = 0; k < cells->column_count; k++)
        xb_page_column(page, cells->column_names[k], true);
    for (size_t i = 0; i < cells->row_count; i++) {
        xb_page_cell(page, cells->row_names[i]);
        for (size_t k = 0; k < cells->column_count; k++)
            xb_page_cell(page, cells->texts[i * cells->column_count + k]);
    }
    xb_page_table_end(page);
    if (left_out > 0)
        xb_page_remark(page, "%zu cells in further rows or columns are left out.", left_out);
}

/* Pairs of more devices are not tested. */
static void write_link(struct matrices *matrices, const struct xb_link_report *report)
{
    struct xb_page *page = matrices->page;
    const size_t count = report->device_count;
    double *values = xb_page_new(page, count * count, sizeof *values);
    const char **texts = xb_page_new(page, count * count, sizeof *texts);
    const char **names = xb_page_new(page, count, sizeof *names);
    const struct xb_cells cells = {
        .picture = {.title = "Copies between devices, GB/s (rows: from, columns: to)"},
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
        names[i] = xb_page_print(page, "device %u", report->devices[i].info.index);
    for (size_t i = 0; i < count * count; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; i < report->pair_count; i++) {
        size_t at = report->pairs[i].from * count + report->pairs[i].to;
        double rate = report->pair_verdicts[i].bandwidth.measured;
        values[at] = xb_rate_known(rate) ? rate / 1e9 : values[at];
        texts[at] = xb_rate_known(rate) ? rate_text(page, rate) : texts[at];
    }
    write_cells(matrices, &cells, 0);
}

void xb_write_matrices(struct xb_page *page, const struct xb_report_document *document)
{
    struct matrices matrices = {.page = page};
    if (document->link != NULL) {
        const struct xb_link_report *report = &document->link->report;
        if (report->pair_count > 0 && report->device_count <= XB_PEER_DEVICES)
            write_link(&matrices, report);
        return;
    }
    xb_matrix_each(document->record, write_cells, &matrices);
    if (matrices.count > DRAWN)
        xb_page_remark(page, "Of %zu matrices the first %d have a picture.", matrices.count, DRAWN);
    xb_page_more(page, matrices.left_out, "matrices have no room in the page: name fewer files.");
}
