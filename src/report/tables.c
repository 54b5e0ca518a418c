/* SPDX-License-Identifier: Apache-2.0 */
/* Sections that are a table, without a picture. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/json_read.h"
#include "compare/text.h"
#include "present/table.h"
#include "reading/list.h"
#include "run/table.h"
#include "xferbench/units.h"

#include <math.h>

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* ---- what the figures of a result mean ---- */

static void write_advice(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_reading_list *list = document->reading;
    bool has_subjects = list != NULL && (list->many_devices || list->many_sizes);
    if (list == NULL || list->count == 0)
        return;
    xb_page_table_begin(page, "What the figures mean",
                        has_subjects ? "About|Of|Finding" : "About|Finding");
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        bool has_device = list->many_devices && entry->device >= 0;
        bool has_bytes = list->many_sizes && entry->bytes > 0;
        char device[32] = "";
        char bytes[32] = "";
        if (entry->is_repeated)
            continue;
        if (has_device)
            snprintf(device, sizeof device, "GPU %d%s", entry->device, has_bytes ? ", " : "");
        if (has_bytes)
            xb_size_format(entry->bytes, bytes, sizeof bytes);
        xb_page_cell(page, "%s", entry->label);
        if (has_subjects)
            xb_page_cell(page, "%s%s", device, bytes);
        xb_page_cell(page, "%s", entry->text);
    }
    xb_page_table_end(page);
}

const struct xb_section xb_section_advice = {"advice", "What the figures mean", write_advice};

/* ---- the rows of a result ---- */

static void write_cell(void *page, int row, const char *text, bool is_right)
{
    if (row < 0)
        xb_page_column(page, text, is_right);
    else
        xb_page_cell(page, "%s", text);
}

static void write_rows(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->record == NULL || document->record->case_count == 0)
        return;
    struct xb_table *table = xb_table_of_rows(document->record, XB_ROWS_ALL);
    xb_page_table_begin(page, "All rows", "");
    xb_table_each(table, write_cell, page);
    xb_page_table_end(page);
    xb_table_free(table);
}

const struct xb_section xb_section_numbers = {"numbers", "All rows", write_rows};

/* ---- what differs between the files of a comparison ---- */

static void write_differences(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_comparison *comparison = document->comparison;
    char baseline[XB_COMPARE_VALUE];
    char candidate[XB_COMPARE_VALUE];
    if (comparison == NULL || comparison->difference_count == 0)
        return;
    xb_page_table_begin(page, "What differs between the two files",
                        "Condition|Baseline|Candidate|Comparable");
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        xb_compare_sides(difference, baseline, candidate);
        XB_PAGE_CELLS(page, difference->name, baseline, candidate,
                      difference->forbids ? "no" : "yes");
    }
    xb_page_table_end(page);
}

const struct xb_section xb_section_differences = {"differences", "What differs", write_differences};

/* ---- what advise predicted ---- */

static void write_strategies(struct xb_page *page, const struct xb_report_document *document)
{
    static const char *const times[] = {"seconds",   "seconds_low", "seconds_high",
                                        "copy_in_s", "kernel_s",    "copy_out_s"};
    const cJSON *strategy;
    if (document->kind != XB_DOCUMENT_ADVISE ||
        cJSON_GetArraySize(member(document->tree, "strategies")) == 0)
        return;
    xb_page_table_begin(page, "Predicted times of the job",
                        "Strategy|#Time|#At least|#At most|#Copy in|#Kernel|#Copy out|"
                        "Limited by, or what is missing");
    cJSON_ArrayForEach(strategy, member(document->tree, "strategies"))
    {
        const char *missing = cJSON_GetStringValue(member(strategy, "missing"));
        const char *limit = cJSON_GetStringValue(member(strategy, "limit"));
        xb_page_cell(page, "%.100s", xb_report_text(strategy, "strategy"));
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
            double seconds = xb_report_number(strategy, times[i], 0.0);
            xb_page_cell_if(page, seconds > 0, "%s", XB_DURATION_TEXT(seconds));
        }
        xb_page_cell(page, "%s", missing != NULL ? missing : limit != NULL ? limit : "");
    }
    xb_page_table_end(page);
}

const struct xb_section xb_section_strategies = {"strategies", "Strategies", write_strategies};

/* ---- what list found ---- */

static void write_devices(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *device;
    const cJSON *backend;
    const cJSON *check;
    if (document->kind != XB_DOCUMENT_LIST)
        return;
    xb_page_table_begin(page, "Devices", "Backend|#Index|Name|Architecture|PCI address|#GiB");
    cJSON_ArrayForEach(device, member(document->tree, "devices"))
    {
        double index = xb_report_number(device, "index", (double)NAN);
        double bytes = xb_report_number(device, "memory_bytes", (double)NAN);
        xb_page_cell(page, "%.100s", xb_report_text(device, "backend"));
        xb_page_cell_if(page, !isnan(index), "%.0f", index);
        xb_page_cell(page, "%.300s", xb_report_text(device, "name"));
        xb_page_cell(page, "%.100s", xb_report_text(device, "architecture"));
        xb_page_cell(page, "%.100s", xb_report_text(device, "pci_bdf"));
        xb_page_cell_if(page, !isnan(bytes), "%.1f", bytes / (double)(1ULL << 30));
    }
    xb_page_table_end(page);
    xb_page_table_begin(page, "What each backend looked for", "Backend|What|Found");
    cJSON_ArrayForEach(backend, member(document->tree, "backends"))
    {
        const cJSON *checks = member(backend, "checks");
        const char *name = xb_report_text(backend, "name");
        if (cJSON_GetArraySize(checks) == 0) {
            xb_page_cell(page, "%.100s", name);
            XB_PAGE_CELLS(page, "-", xb_report_text(backend, "absent_reason"));
        }
        cJSON_ArrayForEach(check, checks)
        {
            xb_page_cell(page, "%.100s", name);
            XB_PAGE_CELLS(page, xb_report_text(check, "what"), xb_report_text(check, "found"));
        }
    }
    xb_page_table_end(page);
}

const struct xb_section xb_section_devices = {"devices", "Devices", write_devices};

/* ---- what fleet found ---- */

static void write_findings(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *finding;
    if (document->kind != XB_DOCUMENT_FLEET ||
        cJSON_GetArraySize(member(document->tree, "findings")) == 0)
        return;
    xb_page_table_begin(page, "Findings, the worst first", "Node|#GPU|What|Finding");
    cJSON_ArrayForEach(finding, member(document->tree, "findings"))
    {
        double index = xb_report_number(member(finding, "gpu"), "index", (double)NAN);
        xb_page_cell(page, "%.200s", xb_report_text(finding, "node"));
        xb_page_cell_if(page, !isnan(index), "%.0f", index);
        xb_page_cell(page, "%.60s", xb_report_text(finding, "code"));
        xb_page_cell(page, "%.1000s", xb_report_text(finding, "text"));
    }
    xb_page_table_end(page);
}

const struct xb_section xb_section_findings = {"findings", "Findings", write_findings};
