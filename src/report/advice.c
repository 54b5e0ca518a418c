/* SPDX-License-Identifier: Apache-2.0 */
/* What the figures of a result mean: its Reading. */
#include "sections.h"

#include "reading/list.h"
#include "xferbench/units.h"

static bool speaks(const struct xb_report_document *document)
{
    return document->reading != NULL && document->reading->count > 0;
}

/* "Device 1, 1 GiB", as far as statements are of different ones. */
static void subject_of(const struct xb_reading_list *list, const struct xb_reading_entry *entry,
                       char *text, size_t size)
{
    char bytes[32];
    bool has_device = list->many_devices && entry->device >= 0;
    bool has_bytes = list->many_sizes && entry->bytes > 0;
    int length = has_device ? snprintf(text, size, "device %d", entry->device) : 0;
    text[length] = '\0';
    if (has_bytes)
        snprintf(text + length, size - (size_t)length, "%s%s", has_device ? ", " : "",
                 xb_size_format(entry->bytes, bytes, sizeof bytes));
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_reading_list *list = document->reading;
    bool has_subjects = list->many_devices || list->many_sizes;
    (void)error;
    xb_page_table_begin(page, "What the figures mean");
    xb_page_column(page, "About", false);
    if (has_subjects)
        xb_page_column(page, "Of", false);
    xb_page_column(page, "Finding", false);
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        char subject[64];
        xb_page_cell(page, "%s", entry->label);
        subject_of(list, entry, subject, sizeof subject);
        if (has_subjects)
            xb_page_cell(page, "%s", subject);
        xb_page_cell(page, "%s", entry->text);
    }
    xb_page_table_end(page);
    return XB_OK;
}

const struct xb_section xb_section_advice = {
    .name = "advice",
    .title = "What the figures mean",
    .speaks = speaks,
    .write = write,
};
