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

/* ---- verdicts ---- */

static void put_rate(struct xb_page *page, double bytes_per_second)
{
    xb_page_cell_if(page, xb_rate_known(bytes_per_second), "%s", XB_RATE_TEXT(bytes_per_second));
}

static void put_reasons(struct xb_page *page, const struct xb_findings *found, const char *of)
{
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_finding *reason = &found->reasons[i];
        XB_PAGE_CELLS(page, of, xb_level_name(reason->level), reason->code, reason->text);
    }
}

static void write_verdicts(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->link == NULL || document->link->report.device_count == 0)
        return;
    const struct xb_link_report *report = &document->link->report;
    size_t reasons = 0;
    char of[64];
    xb_page_table_begin(page, "Verdicts",
                        "#Device|Name|PCI address|Verdict|#h2d GB/s|#Link can carry|#d2h GB/s|"
                        "#Link can carry");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_device_info *info = &report->devices[i].info;
        const struct xb_verdict *verdict = &report->verdicts[i];
        xb_page_cell(page, "%u", info->index);
        XB_PAGE_CELLS(page, info->name, info->pci_bdf[0] != '\0' ? info->pci_bdf : "-",
                      xb_level_name(verdict->found.level));
        put_rate(page, verdict->h2d.measured);
        put_rate(page, verdict->ceiling.h2d);
        put_rate(page, verdict->d2h.measured);
        put_rate(page, verdict->ceiling.d2h);
        reasons += verdict->found.reason_count;
    }
    xb_page_table_end(page);
    for (size_t i = 0; i < report->pair_count; i++)
        reasons += report->pair_verdicts[i].found.reason_count;
    if (reasons == 0)
        return;
    xb_page_table_begin(page, "Reasons", "Of|Level|Code|What to do");
    for (size_t i = 0; i < report->device_count; i++) {
        snprintf(of, sizeof of, "device %u", report->devices[i].info.index);
        put_reasons(page, &report->verdicts[i].found, of);
    }
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_link_pair *pair = &report->pairs[i];
        snprintf(of, sizeof of, "%u to %u", report->devices[pair->from].info.index,
                 report->devices[pair->to].info.index);
        put_reasons(page, &report->pair_verdicts[i].found, of);
    }
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
        size_t node = take_node(drawing, hops[i].lower, parent, &is_new);
        const char *look = is_weak(&hops[i]) ? "bad" : is_known(hops[i].load) ? "good" : "unsure";
        const char *edge = is_new ? edge_of(drawing, &hops[i]) : NULL;
        if (is_new && i > 0)
            drawing->nodes[node] = (struct xb_node){
                .parent = parent,
                .name = xb_page_print(page, "%s\n%s",
                                      hops[i - 1].on_package ? "bridge on the card" : "bridge",
                                      hops[i].lower),
                .edge = edge,
                .look = look};
        else if (is_new)
            drawing->nodes[node] = (struct xb_node){
                .parent = parent,
                .name = xb_page_print(page, "device %u: %s\n%s\n%s", device->info.index, level,
                                      device->info.name, hops[i].lower),
                .edge = edge,
                .edge_look = look,
                /* That of the device's own link and of its verdict, whichever is worse. */
                .look = verdict->found.level == XB_LEVEL_CRITICAL ? "bad"
                        : strcmp(look, "good") == 0 && verdict->found.level != XB_LEVEL_OK
                            ? "unsure"
                            : look};
        parent = node;
    }
}

static void put_hop(struct xb_page *page, const struct xb_verdict *verdict, size_t index)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[index];
    struct xb_words remark = {.length = 0};
    char text[32];
    const struct xb_lanes lanes[] = {hop->load, hop->best, hop->at_rest};
    xb_page_cell(page, "%s - %s", hop->lower, hop->has_upper ? hop->upper : "(no bridge seen)");
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
        xb_page_cell(page, "%s", xb_link_lanes_text(lanes[i], text, sizeof text));
    xb_words_add(&remark, "%s%s%s", is_weak(hop) ? "less than both ends can do; " : "",
                 limits(verdict, index) ? "limits the path; " : "",
                 hop->on_package ? "on the card; " : "");
    if (hop->changes > 0)
        xb_words_add(&remark, "changed %u time%s; ", hop->changes, hop->changes == 1 ? "" : "s");
    if (remark.length > 0)
        remark.text[remark.length - 2] = '\0';
    xb_page_cell(page, "%s", remark.text);
}

static void write_path(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->link == NULL)
        return;
    const struct xb_link_report *report = &document->link->report;
    size_t hops = 0;
    for (size_t i = 0; i < report->device_count; i++)
        hops += report->verdicts[i].facts.hop_count;
    if (hops == 0)
        return;
    struct drawing drawing = {.count = 1, .page = page, .report = report};
    struct xb_words description = {.length = 0};
    drawing.nodes[0] = (struct xb_node){.parent = 0, .name = "host memory", .look = ""};
    drawing.addresses[0] = "";
    xb_words_add(&description, "The ways from the host to its devices.");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
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
        for (size_t k = 0; k < report->verdicts[i].facts.hop_count; k++) {
            xb_page_cell(page, "%u", report->devices[i].info.index);
            put_hop(page, &report->verdicts[i], k);
        }
    xb_page_table_end(page);
}

/* ---- matrices ---- */

/* "The least is 38.0 GB/s, from device 0 to device 5; the largest ...". */
static void describe_grid(struct xb_words *words, const struct xb_matrix_grid *grid)
{
    size_t least = SIZE_MAX;
    size_t largest = SIZE_MAX;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        if (!isfinite(grid->values[i]))
            continue;
        least = least == SIZE_MAX || grid->values[i] < grid->values[least] ? i : least;
        largest = largest == SIZE_MAX || grid->values[i] > grid->values[largest] ? i : largest;
    }
    xb_words_add(words, "A matrix of %zu rows and %zu columns.", grid->row_count,
                 grid->column_count);
    if (least == SIZE_MAX)
        return;
    const size_t columns = grid->column_count;
    xb_words_add(words, " The least is %s %s, %s %s, %s %s; the largest is %s %s, %s %s, %s %s.",
                 grid->texts[least], grid->unit, grid->rows_are, grid->row_names[least / columns],
                 grid->columns_are, grid->column_names[least % columns], grid->texts[largest],
                 grid->unit, grid->rows_are, grid->row_names[largest / columns], grid->columns_are,
                 grid->column_names[largest % columns]);
}

/* Matrices of one file that have a picture; a sweep over sizes has dozens. */
#define DRAWN 12

struct matrices {
    struct xb_page *page;
    size_t count, left_out;
};

static void write_grid(void *argument, const struct xb_matrix_grid *grid)
{
    struct matrices *matrices = argument;
    struct xb_page *page = matrices->page;
    struct xb_words description = {.length = 0};
    if (!xb_page_has_room(page)) {
        matrices->left_out++;
        return;
    }
    describe_grid(&description, grid);
    struct xb_cells cells = {.picture = {.title = grid->title, .description = description.text},
                             .rows_are = grid->rows_are,
                             .columns_are = grid->columns_are,
                             .row_names = grid->row_names,
                             .column_names = grid->column_names,
                             .row_count = grid->row_count,
                             .column_count = grid->column_count,
                             .values = grid->values,
                             .texts = grid->texts,
                             .unit = grid->unit};
    if (matrices->count++ < DRAWN)
        xb_page_picture(page, xb_cells_draw, &cells);
    xb_page_table_begin(page, grid->title, "");
    xb_page_column(page, grid->rows_are, false);
    for (size_t k = 0; k < grid->column_count; k++)
        xb_page_column(page, grid->column_names[k], true);
    for (size_t i = 0; i < grid->row_count; i++) {
        xb_page_cell(page, "%s", grid->row_names[i]);
        for (size_t k = 0; k < grid->column_count; k++) {
            XB_PAGE_CELLS(page, grid->texts[i * grid->column_count + k]);
        }
    }
    xb_page_table_end(page);
    if (grid->left_out > 0)
        xb_page_remark(page, "%zu cells in further rows or columns are left out.", grid->left_out);
}

#define PAIRS ((size_t)XB_PEER_DEVICES * XB_PEER_DEVICES)

/* Of more devices no pairs are tested. */
static void write_link(struct xb_page *page, const struct xb_link_report *report)
{
    double values[PAIRS];
    char rates[PAIRS][32];
    const char *texts[PAIRS];
    char names[XB_PEER_DEVICES][32];
    const char *all[XB_PEER_DEVICES];
    const size_t count = report->device_count;
    struct xb_matrix_grid grid = {.title = "Copies between devices, GB/s (rows: from, columns: to)",
                                  .unit = "GB/s",
                                  .rows_are = "from",
                                  .columns_are = "to",
                                  .row_names = all,
                                  .column_names = all,
                                  .row_count = count,
                                  .column_count = count,
                                  .values = values,
                                  .texts = texts};
    if (count > XB_PEER_DEVICES)
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "device %u", report->devices[i].info.index);
        all[i] = names[i];
    }
    for (size_t i = 0; i < count * count; i++) {
        values[i] = (double)NAN;
        texts[i] = NULL;
    }
    for (size_t i = 0; i < report->pair_count; i++) {
        size_t at = report->pairs[i].from * count + report->pairs[i].to;
        double rate = report->pair_verdicts[i].bandwidth.measured;
        if (!xb_rate_known(rate))
            continue;
        values[at] = rate / 1e9;
        texts[at] = xb_rate_text(rate, rates[at], sizeof rates[at]);
    }
    struct matrices matrices = {.page = page};
    write_grid(&matrices, &grid);
}

static void write_matrices(struct xb_page *page, const struct xb_report_document *document)
{
    struct matrices matrices = {.page = page};
    if (document->link != NULL && document->link->report.pair_count > 0)
        write_link(page, &document->link->report);
    if (document->record == NULL || !xb_matrix_is_there(document->record))
        return;
    xb_matrix_each(document->record, write_grid, &matrices);
    if (matrices.count > DRAWN)
        xb_page_remark(page, "Of %zu matrices the first %d have a picture.", matrices.count, DRAWN);
    if (matrices.left_out > 0)
        xb_page_remark(page, "%zu more matrices have no room in the page: name fewer files.",
                       matrices.left_out);
}

const struct xb_section xb_sections_of_links[] = {
    {"verdicts", "Verdicts", write_verdicts},
    {"path", "The link", write_path},
    {"matrices", "Pairs and nodes", write_matrices},
    {.name = NULL},
};
