/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading of a record: who says what of what, and in which order. */
#include "internal.h"

#include "record/document.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Chooses the node of each device whose cases are compared, because only XB-NUMA speaks of near and
 * far: where nodes were named, the device's own, else near it, else the first. */
static void choose_nodes(struct xb_reading *reading)
{
    enum { WITHIN = 1, FIRST, NEAR, OWN }; /* within the device there is no such memory */
    const struct xb_record *record = reading->record;
    XB_EACH (test, record->cases, record->case_count) {
        if (!xb_reading_alone(test) || test->device >= XB_RUN_DEVICES)
            continue;
        struct xb_reading_node *chosen = &reading->nodes[test->device];
        const struct xb_record_device *info = xb_record_device(record, test->device);
        int node = xb_record_case_node(test);
        int rank = !xb_reading_is_placed(test)               ? WITHIN
                   : node < 0                                ? NEAR
                   : info != NULL && node == info->numa_node ? OWN
                                                             : FIRST;
        if (rank > chosen->rank)
            *chosen = (struct xb_reading_node){rank, node};
    }
}

/* More sizes than these come from no sweep: they double. */
#define MOST_SIZES 64

/* Asks about the largest size that there is something to say of: a device, or pairs. */
static void say_of_largest(struct xb_reading *reading, const struct xb_reading_line *line,
                           int device, enum xb_direction direction)
{
    size_t before = reading->list->count, left = MOST_SIZES;
    reading->about = line->about;
    reading->direction = direction;
    reading->words.length = 0;
    reading->bytes = UINT64_MAX;
    while (reading->words.length == 0 && reading->list->count == before && left-- > 0 &&
           xb_reading_next_size(reading)) {
        xb_reading_begin(reading, line->label, line->code, device, reading->bytes);
        (device >= 0 ? line->say : line->say_of_pairs)(reading);
    }
    xb_reading_keep(reading);
}

static void say_lines(struct xb_reading *reading, const char *mode,
                      const struct xb_reading_line *line)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    reading->mode = mode;
    for (; line != NULL && line->label != NULL; line++) {
        for (size_t i = 0; i < count; i++) {
            int device = (int)devices[i].index;
            if (device >= XB_RUN_DEVICES || reading->nodes[device].rank == 0)
                continue; /* of pairs there is nothing to say here, however many there are */
            if (line->say != NULL)
                say_of_largest(reading, line, device, XB_H2D);
            if (line->say_of_sizes == NULL)
                continue;
            xb_reading_begin(reading, line->label, line->code, device, 0);
            reading->bytes = UINT64_MAX;
            line->say_of_sizes(reading);
            xb_reading_keep(reading);
        }
        if (line->say_of_pairs != NULL) {
            say_of_largest(reading, line, -1, XB_D2D);
            say_of_largest(reading, line, -1, XB_BIDIR);
        }
    }
}

const struct xb_reading_line xb_reading_first[] = {
    {.label = "link", .code = "XB-SHARE-OF-LINK", .say = xb_reading_say_link},
    {.label = "counted", .code = "XB-LINK-BYTES", .say = xb_reading_say_counted},
    {.label = "slow link", .code = "XB-SLOW-LINK", .say = xb_reading_say_slow_link},
    {.label = "both ways", .code = "XB-BOTH-WAYS", .say = xb_reading_say_both_ways},
    {.label = NULL},
};
#define GROUP_LINE(its_label, its_code, group)                                                     \
    {                                                                                              \
        .label = (its_label), .code = (its_code), .say_of_pairs = xb_reading_say_group,            \
        .about = (group)                                                                           \
    }
const struct xb_reading_line xb_reading_last[] = {
    GROUP_LINE("one to all", "XB-ONE-TO-ALL", "one-to-all"),
    GROUP_LINE("all to one", "XB-ALL-TO-ONE", "all-to-one"),
    GROUP_LINE("all to all", "XB-ALL-TO-ALL", "all-to-all"),
    {.label = "NUMA", .code = "XB-NUMA", .say = xb_reading_say_numa},
    {.label = "slow", .code = "XB-SLOW-H2D", .say = xb_reading_say_slow},
    {.label = "slow", .code = "XB-SLOW-D2H", .say = xb_reading_say_slow},
    {.label = NULL},
};

void xb_reading_make(const struct xb_record *record, struct xb_reading_list *list)
{
    size_t devices = 0;
    size_t count = record->case_count;
    struct xb_reading reading = {.record = record,
                                 .parameters = xb_parameters_that_differ(record),
                                 .list = list,
                                 .grouped = xb_new(count, sizeof(const struct xb_record_case *))};
    (void)xb_record_devices(record, &devices);
    *list = (struct xb_reading_list){
        .many_sizes = count > 0 && record->by_size[0]->bytes != record->by_size[count - 1]->bytes,
        .many_devices = devices > 1};
    choose_nodes(&reading);
    say_lines(&reading, NULL, xb_reading_first);
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        say_lines(&reading, (*mode)->name, (*mode)->reading);
    xb_reading_say_together(&reading);
    xb_reading_say_set(&reading);
    say_lines(&reading, NULL, xb_reading_last);
    xb_reading_make_answer(&reading);
    free(reading.collected);
    free(reading.numbers);
    free(reading.cases);
    free(reading.grouped);
}

/* ---- in a document: docs/result.schema.json says what the keys mean ---- */

typedef struct xb_reading_entry entry;
typedef struct xb_reading_list list;

static const struct xb_field number_fields[] = {
    XB_FIELD("name", STRING, struct xb_reading_number, name),
    XB_FIELD("value", DOUBLE, struct xb_reading_number, value),
    XB_FIELD("unit", STRING, struct xb_reading_number, unit), XB_FIELDS_END};

static void write_cases(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const entry *of = from;
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < of->case_count; i++)
        xb_fields_put_object(json, NULL, xb_record_case_fields, of->cases[i]);
    xb_json_close(json);
}

static const struct xb_field entry_fields[] = {
    XB_FIELD("code", STRING, entry, code),
    XB_FIELD("label", STRING, entry, label),
    XB_FIELD("device", INDEX, entry, device),
    XB_FIELD("bytes", UINT64, entry, bytes, XB_NULL_IF_EMPTY),
    XB_FIELD("text", STRING, entry, text),
    XB_FIELD("remedy", STRING, entry, remedy, XB_NULL_IF_EMPTY),
    XB_FIELD("gain", DOUBLE, entry, gain, XB_NULL_IF_NAN),
    XB_FIELD("fine", FLAG, entry, is_fine),
    XB_FIELD("untold", FLAG, entry, is_untold),
    XB_LIST("numbers", entry, numbers, number_count, SIZE_MAX, number_fields),
    XB_CUSTOM("cases", write_cases, NULL),
    XB_FIELDS_END};

static const struct xb_field list_fields[] = {
    XB_LIST("reading", list, entries, count, SIZE_MAX, entry_fields), XB_FIELDS_END};

void xb_reading_put_of(struct xb_json *json, const struct xb_record *record)
{
    struct xb_reading_list made;
    xb_reading_make(record, &made);
    xb_fields_put(json, list_fields, &made);
    xb_reading_free(&made);
}
