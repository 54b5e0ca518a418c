/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that list found, and why backends cannot be used. */
#include "sections.h"

#include "base/json_read.h"

static bool speaks(const struct xb_report_document *document)
{
    return document->kind == XB_DOCUMENT_LIST;
}

static void put_number(struct xb_page *page, const cJSON *object, const char *key, double unit)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(value))
        xb_page_cell(page, "%.*f", unit > 1 ? 1 : 0, value->valuedouble / unit);
    else
        xb_page_cell(page, "-");
}

static void write_devices(struct xb_page *page, const cJSON *devices)
{
    const cJSON *device;
    xb_page_table_begin(page, "Devices");
    xb_page_column(page, "Backend", false);
    xb_page_column(page, "Index", true);
    xb_page_column(page, "Name", false);
    xb_page_column(page, "Architecture", false);
    xb_page_column(page, "PCI address", false);
    xb_page_column(page, "GiB", true);
    cJSON_ArrayForEach(device, devices)
    {
        xb_page_cell(page, "%.100s", xb_report_text(device, "backend"));
        put_number(page, device, "index", 1);
        xb_page_cell(page, "%.300s", xb_report_text(device, "name"));
        xb_page_cell(page, "%.100s", xb_report_text(device, "architecture"));
        xb_page_cell(page, "%.100s", xb_report_text(device, "pci_bdf"));
        put_number(page, device, "memory_bytes", (double)(1ULL << 30));
    }
    xb_page_table_end(page);
}

static void write_backends(struct xb_page *page, const cJSON *backends)
{
    const cJSON *backend;
    const cJSON *check;
    xb_page_table_begin(page, "What each backend looked for");
    xb_page_column(page, "Backend", false);
    xb_page_column(page, "What", false);
    xb_page_column(page, "Found", false);
    cJSON_ArrayForEach(backend, backends)
    {
        const cJSON *checks = cJSON_GetObjectItemCaseSensitive(backend, "checks");
        if (cJSON_GetArraySize(checks) == 0) {
            xb_page_cell(page, "%.100s", xb_report_text(backend, "name"));
            xb_page_cell(page, "-");
            xb_page_cell(page, "%s", xb_report_text(backend, "absent_reason"));
        }
        cJSON_ArrayForEach(check, checks)
        {
            xb_page_cell(page, "%.100s", xb_report_text(backend, "name"));
            xb_page_cell(page, "%s", xb_report_text(check, "what"));
            xb_page_cell(page, "%s", xb_report_text(check, "found"));
        }
    }
    xb_page_table_end(page);
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    (void)error;
    write_devices(page, cJSON_GetObjectItemCaseSensitive(document->tree, "devices"));
    write_backends(page, cJSON_GetObjectItemCaseSensitive(document->tree, "backends"));
    return XB_OK;
}

const struct xb_section xb_section_devices = {
    .name = "devices",
    .title = "Devices",
    .speaks = speaks,
    .write = write,
};
