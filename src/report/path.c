/* SPDX-License-Identifier: Apache-2.0 */
/* The ways from the host to the devices as a tree, with what its links did under load, and the weak
 * ones marked. */
#include "sections.h"

#include "base/arena.h"
#include "base/note.h"
#include "link/format.h"
#include "link/read.h"
#include "plot/tree.h"

#include <string.h>

static bool speaks(const struct xb_report_document *document)
{
    if (document->link == NULL)
        return false;
    const struct xb_link_report *report = &document->link->report;
    for (size_t i = 0; i < report->device_count; i++)
        if (report->verdicts[i].facts.hop_count > 0)
            return true;
    return false;
}

/* The tree, and which PCI address each node is. Nodes beyond the picture's most are left out. */
struct drawing {
    struct xb_node nodes[XB_TREE_MOST];
    const char *addresses[XB_TREE_MOST];
    size_t count;
    bool is_full;
    struct xb_arena *texts;
    bool failed; /* memory was short */
    struct xb_words description;
    const struct xb_link_report *report;
};

/* ---- nodes ---- */

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

static const char *keep(struct drawing *drawing, const char *text)
{
    drawing->failed = drawing->failed || text == NULL;
    return text != NULL ? text : "";
}

/* ---- links ---- */

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

/* Whether a link limits the path of any device: several may share it. */
static bool limits_any(const struct xb_link_report *report, const struct xb_link_hop *hop)
{
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
        for (size_t k = 0; k < verdict->facts.hop_count; k++)
            if (strcmp(verdict->facts.hops[k].lower, hop->lower) == 0 && limits(verdict, k))
                return true;
    }
    return false;
}

static const char *look_of_hop(const struct xb_link_hop *hop)
{
    return is_weak(hop) ? "bad" : is_known(hop->load) ? "good" : "unsure";
}

/* That of the device's own link and of its verdict, whichever is worse. */
static const char *look_of_device(const struct xb_link_hop *hop, enum xb_level level)
{
    if (is_weak(hop) || level == XB_LEVEL_CRITICAL)
        return "bad";
    return is_known(hop->load) && level == XB_LEVEL_OK ? "good" : "unsure";
}

/* "Gen4 x8 of Gen5 x16", and below it "limits the path" */
static const char *edge_of(struct drawing *drawing, const struct xb_link_hop *hop)
{
    char load[32];
    char best[32];
    if (!is_known(hop->load))
        return "not seen under load";
    xb_link_lanes_text(hop->load, load, sizeof load);
    xb_link_lanes_text(hop->best, best, sizeof best);
    return keep(drawing,
                xb_arena_print(&drawing->texts, "%s%s%s%s", load, is_weak(hop) ? " of " : "",
                               is_weak(hop) ? best : "",
                               limits_any(drawing->report, hop) ? "\nlimits the path" : ""));
}

/* ---- the way to a device ---- */

static size_t add_port(struct drawing *drawing, const struct xb_link_hop *top)
{
    bool is_new;
    if (!top->has_upper)
        return 0;
    size_t node = take_node(drawing, top->upper, 0, &is_new);
    if (is_new)
        drawing->nodes[node].name =
            keep(drawing, xb_arena_print(&drawing->texts, "root port\n%s", top->upper));
    return node;
}

static void add_path(struct drawing *drawing, const struct xb_link_device *device,
                     const struct xb_verdict *verdict)
{
    const struct xb_link_hop *hops = verdict->facts.hops;
    size_t count = verdict->facts.hop_count;
    size_t parent = add_port(drawing, &hops[count - 1]);
    bool is_new;
    for (size_t i = count - 1; i > 0; i--) {
        size_t node = take_node(drawing, hops[i].lower, parent, &is_new);
        if (is_new) {
            drawing->nodes[node] = (struct xb_node){
                .parent = parent,
                .name = keep(drawing, xb_arena_print(&drawing->texts, "%s\n%s",
                                                     hops[i - 1].on_package ? "bridge on the card"
                                                                            : "bridge",
                                                     hops[i].lower)),
                .edge = edge_of(drawing, &hops[i]),
                .look = look_of_hop(&hops[i])};
        }
        parent = node;
    }
    size_t node = take_node(drawing, hops[0].lower, parent, &is_new);
    if (!is_new)
        return;
    drawing->nodes[node] = (struct xb_node){
        .parent = parent,
        .name =
            keep(drawing, xb_arena_print(&drawing->texts, "device %u: %s\n%s\n%s",
                                         device->info.index, xb_level_name(verdict->found.level),
                                         device->info.name, hops[0].lower)),
        .edge = edge_of(drawing, &hops[0]),
        .edge_look = look_of_hop(&hops[0]),
        .look = look_of_device(&hops[0], verdict->found.level)};
}

/* ---- words ---- */

static void describe(struct drawing *drawing, const struct xb_link_report *report)
{
    xb_words_add(&drawing->description, "The ways from the host to its devices.");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
        xb_words_add(&drawing->description, " Device %u: %s", report->devices[i].info.index,
                     xb_level_name(verdict->found.level));
        for (size_t k = 0; k < verdict->facts.hop_count; k++)
            if (is_weak(&verdict->facts.hops[k]))
                xb_words_add(&drawing->description, ", the link at %s is weak",
                             verdict->facts.hops[k].lower);
        xb_words_add(&drawing->description, ".");
    }
}

static void put_hop(struct xb_page *page, const struct xb_verdict *verdict, size_t index)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[index];
    struct xb_words remark = {.length = 0};
    char text[32];
    xb_page_cell(page, "%s - %s", hop->lower, hop->has_upper ? hop->upper : "(no bridge seen)");
    xb_page_cell(page, "%s", xb_link_lanes_text(hop->load, text, sizeof text));
    xb_page_cell(page, "%s", xb_link_lanes_text(hop->best, text, sizeof text));
    xb_page_cell(page, "%s", xb_link_lanes_text(hop->at_rest, text, sizeof text));
    xb_words_add(&remark, "%s%s%s", is_weak(hop) ? "less than both ends can do; " : "",
                 limits(verdict, index) ? "limits the path; " : "",
                 hop->on_package ? "on the card; " : "");
    if (hop->changes > 0)
        xb_words_add(&remark, "changed %u time%s; ", hop->changes, hop->changes == 1 ? "" : "s");
    if (remark.length > 0)
        remark.text[remark.length - 2] = '\0';
    xb_page_cell(page, "%s", remark.text);
}

static void write_table(struct xb_page *page, const struct xb_link_report *report)
{
    xb_page_table_begin(page, "Links of each way, the device's own first");
    xb_page_column(page, "Device", true);
    xb_page_column(page, "Link", false);
    xb_page_column(page, "Under load", false);
    xb_page_column(page, "Both ends can do", false);
    xb_page_column(page, "At rest", false);
    xb_page_column(page, "Remark", false);
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t k = 0; k < report->verdicts[i].facts.hop_count; k++) {
            xb_page_cell(page, "%u", report->devices[i].info.index);
            put_hop(page, &report->verdicts[i], k);
        }
    xb_page_table_end(page);
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_link_report *report = &document->link->report;
    struct drawing drawing = {.count = 1, .report = report};
    enum xb_status status = XB_OK;
    drawing.nodes[0] = (struct xb_node){.parent = 0, .name = "host memory", .look = ""};
    drawing.addresses[0] = "";
    for (size_t i = 0; i < report->device_count; i++)
        if (report->verdicts[i].facts.hop_count > 0)
            add_path(&drawing, &report->devices[i], &report->verdicts[i]);
    describe(&drawing, report);
    const struct xb_tree tree = {.picture = {.title = "Links between the host and its devices",
                                             .description = drawing.description.text},
                                 .nodes = drawing.nodes,
                                 .count = drawing.count};
    if (drawing.failed)
        status = XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    else
        status = xb_page_tree(page, &tree, error);
    if (status == XB_OK && drawing.is_full)
        xb_page_remark(page, "The picture shows %d of the places; the table has all.",
                       XB_TREE_MOST);
    if (status == XB_OK)
        write_table(page, report);
    xb_arena_free(drawing.texts);
    return status;
}

const struct xb_section xb_section_path = {
    .name = "path",
    .title = "The link",
    .speaks = speaks,
    .write = write,
};
