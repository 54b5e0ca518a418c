/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the findings in a file that `fleet` wrote. Any part of the file may be missing. */
#include "sections.h"

#include "base/json_read.h"

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool speaks(const struct xb_report_document *document)
{
    return document->kind == XB_DOCUMENT_FLEET &&
           cJSON_GetArraySize(member(document->tree, "findings")) > 0;
}

static void put_gpu(struct xb_page *page, const cJSON *finding)
{
    const cJSON *index = member(member(finding, "gpu"), "index");
    if (cJSON_IsNumber(index))
        xb_page_cell(page, "%.0f", index->valuedouble);
    else
        xb_page_cell(page, "-");
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const cJSON *finding;
    (void)error;
    xb_page_table_begin(page, "Findings, the worst first");
    xb_page_column(page, "Node", false);
    xb_page_column(page, "GPU", true);
    xb_page_column(page, "What", false);
    xb_page_column(page, "Finding", false);
    cJSON_ArrayForEach(finding, member(document->tree, "findings"))
    {
        xb_page_cell(page, "%.200s", xb_report_text(finding, "node"));
        put_gpu(page, finding);
        xb_page_cell(page, "%.60s", xb_report_text(finding, "code"));
        xb_page_cell(page, "%.1000s", xb_report_text(finding, "text"));
    }
    xb_page_table_end(page);
    return XB_OK;
}

const struct xb_section xb_section_findings = {
    .name = "findings",
    .title = "Findings",
    .speaks = speaks,
    .write = write,
};
