/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of a link test, with their reasons. */
#define _GNU_SOURCE /* text.h */
#include "sections.h"

#include "base/text.h"
#include "link/read.h"

static bool speaks(const struct xb_report_document *document)
{
    return document->link != NULL && document->link->report.device_count > 0;
}

static void put_rate(struct xb_page *page, double bytes_per_second)
{
    char text[32];
    xb_page_cell(page, "%s",
                 xb_rate_known(bytes_per_second) ? xb_rate_text(bytes_per_second, text, sizeof text)
                                                 : "-");
}

static void write_verdicts(struct xb_page *page, const struct xb_link_report *report)
{
    xb_page_table_begin(page, "Verdicts");
    xb_page_column(page, "Device", true);
    xb_page_column(page, "Name", false);
    xb_page_column(page, "PCI address", false);
    xb_page_column(page, "Verdict", false);
    xb_page_column(page, "h2d GB/s", true);
    xb_page_column(page, "Link can carry", true);
    xb_page_column(page, "d2h GB/s", true);
    xb_page_column(page, "Link can carry", true);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_device_info *info = &report->devices[i].info;
        const struct xb_verdict *verdict = &report->verdicts[i];
        xb_page_cell(page, "%u", info->index);
        xb_page_cell(page, "%s", info->name);
        xb_page_cell(page, "%s", info->pci_bdf[0] != '\0' ? info->pci_bdf : "-");
        xb_page_cell(page, "%s", xb_level_name(verdict->found.level));
        put_rate(page, verdict->h2d.measured);
        put_rate(page, verdict->ceiling.h2d);
        put_rate(page, verdict->d2h.measured);
        put_rate(page, verdict->ceiling.d2h);
    }
    xb_page_table_end(page);
}

static void put_reasons(struct xb_page *page, const struct xb_findings *found, const char *of)
{
    for (size_t i = 0; i < found->reason_count; i++) {
        const struct xb_reason *reason = &found->reasons[i];
        xb_page_cell(page, "%s", of);
        xb_page_cell(page, "%s", xb_level_name(reason->level));
        xb_page_cell(page, "%s", reason->code);
        xb_page_cell(page, "%s", reason->text);
    }
}

static void write_reasons(struct xb_page *page, const struct xb_link_report *report)
{
    char of[64];
    xb_page_table_begin(page, "Reasons");
    xb_page_column(page, "Of", false);
    xb_page_column(page, "Level", false);
    xb_page_column(page, "Code", false);
    xb_page_column(page, "What to do", false);
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

static bool has_reasons(const struct xb_link_report *report)
{
    for (size_t i = 0; i < report->device_count; i++)
        if (report->verdicts[i].found.reason_count > 0)
            return true;
    for (size_t i = 0; i < report->pair_count; i++)
        if (report->pair_verdicts[i].found.reason_count > 0)
            return true;
    return false;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_link_report *report = &document->link->report;
    (void)error;
    write_verdicts(page, report);
    if (has_reasons(report))
        write_reasons(page, report);
    return XB_OK;
}

const struct xb_section xb_section_reasons = {
    .name = "verdicts",
    .title = "Verdicts",
    .speaks = speaks,
    .write = write,
};
