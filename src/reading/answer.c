/* SPDX-License-Identifier: Apache-2.0 */
/* The answer: what a whole run comes to, in one or two sentences. */
#include "internal.h"

#include "record/mode_list.h"
#include "record/rows.h"

#include <string.h>

/* The mode that all cases are of; NULL: of several, or one that this build does not know. */
static const struct xb_mode *only_mode(const struct xb_record *record)
{
    for (size_t i = 1; i < record->case_count; i++)
        if (strcmp(record->cases[i].mode, record->cases[0].mode) != 0)
            return NULL;
    return record->case_count > 0 ? xb_mode_find(record->cases[0].mode) : NULL;
}

static bool ask_mode(struct xb_reading *reading)
{
    const struct xb_mode *mode = only_mode(reading->record);
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    uint64_t bytes = UINT64_MAX;
    bool said = false;
    if (mode == NULL || mode->answer == NULL || count == 0)
        return false;
    while (!said && (bytes = xb_rows_size_below(reading->record, bytes)) > 0)
        for (size_t i = 0; i < (mode->pairs ? 1 : count) && !said; i++) {
            int device = mode->pairs ? -1 : (int)devices[i].index;
            xb_reading_begin(reading, "", "", device, bytes);
            said = mode->answer(reading, device, bytes) && !reading->lacks_figure;
        }
    return said;
}

/* " (GPU 0, 1 GiB)." in place of the last dot: what it is of, where there are several. */
static void name_subject(struct xb_reading *reading)
{
    const struct xb_reading_entry *entry = &reading->entry;
    struct xb_words *words = &reading->words;
    bool many_devices = reading->list->many_devices && entry->device >= 0;
    if (words->length == 0 || (!many_devices && !reading->list->many_sizes))
        return;
    words->length--;
    xb_reading_add(reading, " (");
    if (many_devices)
        xb_reading_add(reading, "GPU %d%s", entry->device, reading->list->many_sizes ? ", " : "");
    if (reading->list->many_sizes)
        xb_reading_add_size(reading, entry->bytes);
    xb_reading_add(reading, ").");
}

void xb_reading_make_answer(struct xb_reading *reading)
{
    if (!ask_mode(reading))
        return;
    name_subject(reading);
    reading->list->answer = xb_arena_print(&reading->list->texts, "%s", reading->words.text);
    if (reading->list->answer == NULL)
        xb_reading_fail_memory(reading);
}
