/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include "base/arena.h"
#include "base/note.h"
#include "xferbench/units.h"

#include <stdlib.h>

#define LABEL_WIDTH 13

void xb_reading_free(struct xb_reading_list *list)
{
    free(list->entries);
    xb_arena_free(list->texts);
    *list = (struct xb_reading_list){.entries = NULL};
}

/* "Device 0, 256 MiB: ": what it is of, where there are several. "" where that goes without saying.
 */
static const char *place_of(const struct xb_reading_list *list,
                            const struct xb_reading_entry *entry, char *text, size_t room)
{
    char device[32] = "";
    char size[32] = "";
    if (list->many_devices && entry->device >= 0)
        snprintf(device, sizeof device, "Device %d", entry->device);
    if (list->many_sizes && entry->bytes > 0)
        xb_size_format(entry->bytes, size, sizeof size);
    bool any = device[0] != '\0' || size[0] != '\0';
    bool both = device[0] != '\0' && size[0] != '\0';
    snprintf(text, room, "%s%s%s%s", device, both ? ", " : "", size, any ? ": " : "");
    return text;
}

void xb_reading_print(FILE *stream, const struct xb_reading_list *list)
{
    if (list->count > 0) {
        fputc('\n', stream);
        xb_heading_print(stream, XB_COLOUR_TITLE, "Reading");
    }
    for (size_t i = 0; i < list->count; i++) {
        char place[80];
        const struct xb_reading_entry *entry = &list->entries[i];
        xb_note_print(stream, entry->label, LABEL_WIDTH, "%s%s",
                      place_of(list, entry, place, sizeof place), entry->text);
    }
}
