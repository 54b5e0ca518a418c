/* SPDX-License-Identifier: Apache-2.0 */
/* What stands round the results: on what they were measured, and what to do. */
#include "table.h"

#include "base/terminal.h"
#include "machine/node.h"
#include "machine/pcie.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 9 /* the width of a word before its text */

/* ---- who measured, and on what ---- */

static void add_lanes(struct xb_words *words, const struct xb_record_device *device)
{
    char lanes[32];
    if (device->pci_bdf == NULL || !device->link_known)
        return;
    xb_words_add(words, ", PCIe %s",
                 xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes));
    if (device->link_max_width > 0 && (device->link_speed_gts < device->link_max_speed_gts ||
                                       device->link_width < device->link_max_width))
        xb_words_add(
            words, " (BELOW its %s)",
            xb_lanes_text(device->link_max_speed_gts, device->link_max_width, lanes, sizeof lanes));
}

/* Whether the header says the same of both: of a link that is worse it says so. */
static bool are_alike(const struct xb_record_device *a, const struct xb_record_device *b)
{
    return strcmp(a->name, b->name) == 0 && a->link_known == b->link_known &&
           a->link_speed_gts == b->link_speed_gts && a->link_width == b->link_width &&
           a->link_max_speed_gts == b->link_max_speed_gts &&
           a->link_max_width == b->link_max_width && (a->pci_bdf == NULL) == (b->pci_bdf == NULL);
}

/* ", driver 580.1, CUDA 13.0, without hwloc" */
static void add_software(struct xb_words *words, const struct xb_record *record)
{
    char name[32] = "";
    for (size_t i = 0; record->backend != NULL && i < sizeof name - 1 && record->backend[i]; i++)
        name[i] = (char)toupper((unsigned char)record->backend[i]);
    if (record->driver != NULL)
        xb_words_add(words, "%sdriver %s", words->length > 0 ? ", " : "", record->driver);
    if (record->runtime != NULL)
        xb_words_add(words, ", %s %s", name, record->runtime);
    if (record->left_out != NULL)
        xb_words_add(words, "%swithout %s", words->length > 0 ? ", " : "", record->left_out);
}

void xb_overview_header(FILE *stream, const struct xb_record *record)
{
    struct xb_words words = {.length = 0};
    size_t width = xb_terminal_prose_columns(stream);
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    /* "2 x NVIDIA H200, PCIe Gen5 x16": neighbours that are alike stand together. */
    for (size_t i = 0, alike = 0; i < count; i += alike) {
        alike = 1;
        while (i + alike < count && are_alike(&devices[i], &devices[i + alike]))
            alike++;
        xb_words_add(&words, "%s", i > 0 ? "; " : "");
        if (alike > 1)
            xb_words_add(&words, "%zu x ", alike);
        xb_words_add(&words, "%s", devices[i].name);
        add_lanes(&words, &devices[i]);
    }
    add_software(&words, record);
    /* "            node gpu07", at the right edge if the line has room. */
    char node[XB_NODE_TEXT];
    xb_node_text(record->host.node, record->host.hostname, node);
    size_t used = words.length + strlen("  node ") + strlen(node);
    if (node[0] != '\0' && used <= width)
        xb_words_add(&words, "%*snode %s", (int)(width - used + 2), "", node);
    else if (node[0] != '\0')
        xb_words_add(&words, ", node %s", node);
    xb_make_plain(words.text);
    if (strlen(words.text) <= width) /* as it is: with its blanks */
        fprintf(stream, "%s%s%s\n", xb_colour_begin(stream, XB_COLOUR_TITLE), words.text,
                xb_colour_end(stream, XB_COLOUR_TITLE));
    else
        xb_heading_print(stream, XB_COLOUR_TITLE, "%s", words.text);
    if (record->library_named_by != NULL)
        xb_note_print(stream, "library", LABEL, "%s, NAMED BY %s", record->library,
                      record->library_named_by);
    for (size_t i = 0; i < count; i++)
        if (!devices[i].bound && !devices[i].numa_is_normal)
            xb_note_print(stream, "NUMA", LABEL, "GPU %u is NOT bound to its node%s%s",
                          devices[i].index, devices[i].numa_note != NULL ? ": " : "",
                          devices[i].numa_note != NULL ? devices[i].numa_note : "");
}

/* ---- what to do, and what is fine ---- */

void xb_overview_advice(FILE *stream, const struct xb_reading_list *list)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    size_t count = xb_reading_advice(list, advice);
    fputc('\n', stream);
    if (count > 0)
        xb_heading_print(stream, XB_COLOUR_TITLE, "What to do");
    for (size_t i = 0; i < count; i++) {
        char number[24], subject[64];
        snprintf(number, sizeof number, "%zu", i + 1);
        size_t length = strlen(xb_reading_subject(list, advice[i], subject, sizeof subject));
        if (length > 0) /* "1 GiB: " */
            xb_note_print(stream, number, 2, "%s (%.*s)", advice[i]->remedy, (int)length - 2,
                          subject);
        else
            xb_note_print(stream, number, 2, "%s", advice[i]->remedy);
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        char subject[64];
        bool is_answer = list->answer != NULL && strcmp(list->answer, entry->text) == 0;
        if (entry->is_fine && !is_answer)
            xb_lines_print(stream, xb_terminal_prose_columns(stream), "Fine: %s%s",
                           xb_reading_subject(list, entry, subject, sizeof subject), entry->text);
    }
}
