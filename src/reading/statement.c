/* SPDX-License-Identifier: Apache-2.0 */
/* How a statement of the Reading is made and kept. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void xb_reading_begin(struct xb_reading *reading, const char *label, const char *code, int device,
                      uint64_t bytes)
{
    reading->entry =
        (struct xb_reading_entry){.label = label, .code = code, .device = device, .bytes = bytes};
    reading->words.length = 0;
    reading->words.text[0] = '\0';
    reading->lacks_figure = false;
    reading->all_nodes = false;
    if (device >= 0 && device != reading->node_device)
        xb_reading_choose_node(reading, device);
}

static void fail_memory(struct xb_reading *reading)
{
    if (reading->status == XB_OK)
        reading->status =
            XB_FAIL(reading->error, XB_ERR_MEMORY, "not enough memory for the Reading");
}

/* Room for one more behind `count` of `size` bytes each. NULL: memory is short. */
static void *make_room(struct xb_reading *reading, void *array, size_t *room, size_t count,
                       size_t size)
{
    if (count < *room)
        return array;
    size_t more = 2 * *room + 16;
    void *grown = realloc(array, more * size);
    if (grown == NULL)
        fail_memory(reading);
    else
        *room = more;
    return grown;
}

void xb_reading_number(struct xb_reading *reading, const char *name, double value, const char *unit)
{
    struct xb_reading_entry *entry = &reading->entry;
    if (!isfinite(value) || reading->status != XB_OK)
        return;
    const char *kept = xb_arena_print(&reading->list->texts, "%s", name);
    struct xb_reading_number *numbers = make_room(reading, reading->numbers, &reading->number_room,
                                                  entry->number_count, sizeof *reading->numbers);
    if (numbers == NULL)
        return;
    reading->numbers = numbers;
    numbers[entry->number_count++] =
        (struct xb_reading_number){.name = kept, .value = value, .unit = unit};
    if (kept == NULL)
        fail_memory(reading);
}

void xb_reading_rests_on(struct xb_reading *reading, const struct xb_record_case *test)
{
    struct xb_reading_entry *entry = &reading->entry;
    for (size_t i = 0; i < entry->case_count; i++)
        if (reading->cases[i] == test)
            return;
    if (test == NULL || reading->status != XB_OK)
        return;
    const struct xb_record_case **cases =
        make_room(reading, reading->cases, &reading->case_room, entry->case_count,
                  sizeof(struct xb_record_case *));
    if (cases == NULL)
        return;
    reading->cases = cases;
    cases[entry->case_count++] = test;
}

/* A copy that lives as long as the list; NULL where memory is short. */
static void *keep_array(struct xb_reading *reading, const void *array, size_t bytes)
{
    void *kept = xb_arena_allocate(&reading->list->texts, bytes);
    if (kept == NULL)
        fail_memory(reading);
    else if (bytes > 0)
        memcpy(kept, array, bytes);
    return kept;
}

void xb_reading_keep(struct xb_reading *reading)
{
    struct xb_reading_list *list = reading->list;
    struct xb_reading_entry entry = reading->entry;
    if (reading->status != XB_OK || reading->words.length == 0 || reading->lacks_figure)
        return;
    entry.text = keep_array(reading, reading->words.text, reading->words.length + 1);
    entry.numbers =
        keep_array(reading, reading->numbers, entry.number_count * sizeof *reading->numbers);
    entry.cases =
        keep_array(reading, reading->cases, entry.case_count * sizeof(struct xb_record_case *));
    struct xb_reading_entry *entries =
        make_room(reading, list->entries, &reading->entry_room, list->count, sizeof *list->entries);
    if (entries == NULL)
        return;
    list->entries = entries;
    if (reading->status == XB_OK)
        entries[list->count++] = entry;
}

void xb_reading_next(struct xb_reading *reading)
{
    const struct xb_reading_entry of = reading->entry;
    xb_reading_keep(reading);
    xb_reading_begin(reading, of.label, of.code, of.device, of.bytes);
}

void xb_reading_end(struct xb_reading *reading)
{
    xb_samples_free(&reading->collected);
    free(reading->numbers);
    free(reading->cases);
    if (reading->status != XB_OK)
        xb_reading_free(reading->list);
}
