/* SPDX-License-Identifier: Apache-2.0 */
/* Under which conditions the results of all files were taken: what is the same in all of them, and
 * what differs. */
#include "report.h"

#include "base/options.h"
#include "machine/pcie.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#define CONDITIONS 400 /* of all files together: more are counted */
#define VALUES 12      /* of one condition: more are counted */
#define RANGES 24      /* of files with one value: more are counted */

/* A value of a condition, and which files have it: "1 to 3, 7". */
struct value {
    const char *text;
    size_t first[RANGES], last[RANGES]; /* of each range, numbers of files */
    size_t count, left_out;
};

struct condition {
    const char *name;
    struct value *values;
    size_t count, left_out;
    size_t files; /* that tell it */
};

struct state {
    struct condition conditions[CONDITIONS];
    size_t count, left_out;
    size_t files; /* results */
    struct xb_arena *texts;
    const struct xb_report_document *document; /* that is taken */
};

/* Adds what the file that is taken says of a condition; NULL: it is not known. */
static void take(struct state *state, const char *name, const char *text)
{
    size_t number = state->document->number;
    size_t at = 0;
    size_t i = 0;
    char kept[400];
    while (at < state->count && strcmp(state->conditions[at].name, name) != 0)
        at++;
    if (at == CONDITIONS) {
        state->left_out++;
        return;
    }
    struct condition *condition = &state->conditions[at];
    if (at == state->count) {
        state->count++;
        condition->name = xb_arena_print(&state->texts, "%.200s", name);
        condition->values = xb_arena_new(&state->texts, VALUES * sizeof *condition->values);
    }
    snprintf(kept, sizeof kept, "%s", text != NULL ? text : "not known");
    condition->files++;
    while (i < condition->count && strcmp(condition->values[i].text, kept) != 0)
        i++;
    if (i == VALUES) {
        condition->left_out++;
        return;
    }
    struct value *value = &condition->values[i];
    if (i == condition->count) {
        value->text = xb_arena_copy(&state->texts, kept);
        condition->count++;
    }
    if (value->count > 0 && value->last[value->count - 1] + 1 == number)
        value->last[value->count - 1] = number;
    else if (value->count < RANGES) {
        value->first[value->count] = number;
        value->last[value->count++] = number;
    } else {
        value->left_out++;
    }
}

/* "PCIe Gen5 x16 under load, of Gen5 x16" */
static void take_device(struct state *state, const struct xb_record_device *device)
{
    struct xb_words words = {.length = 0};
    char name[64], lanes[32];
    snprintf(name, sizeof name, "device %u model", device->index);
    take(state, name, device->name);
    snprintf(name, sizeof name, "device %u link", device->index);
    if (device->pci_bdf == NULL)
        xb_words_add(&words, "none: not a PCI device");
    else if (device->link_known)
        xb_words_add(
            &words, "PCIe %s",
            xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes));
    if (device->pci_bdf != NULL && device->link_known && device->link_max_width > 0)
        xb_words_add(
            &words, ", at best %s",
            xb_lanes_text(device->link_max_speed_gts, device->link_max_width, lanes, sizeof lanes));
    take(state, name, words.length > 0 ? words.text : NULL);
}

/* Memory in bytes is said in GiB. */
static void take_fact(struct state *state, const struct xb_record_fact *fact)
{
    static const char unit[] = " in bytes";
    size_t length = strlen(fact->name);
    char name[200];
    char value[64];
    if (fact->value == NULL)
        return;
    if (length < sizeof unit || length >= sizeof name ||
        strcmp(fact->name + length - (sizeof unit - 1), unit) != 0) {
        take(state, fact->name, fact->value);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length - (sizeof unit - 1)), fact->name);
    snprintf(value, sizeof value, "%.1f GiB", strtod(fact->value, NULL) / (double)(1ULL << 30));
    take(state, name, value);
}

static enum xb_status take_document(void *own, const struct xb_report_document *document,
                                    struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct state *state = own;
    size_t devices = 0;
    char name[128];
    (void)error;
    if (record == NULL)
        return XB_OK;
    state->document = document;
    state->files++;
    take(state, "backend", record->backend);
    take(state, "driver version", record->driver);
    const struct xb_record_device *device = xb_record_devices(record, &devices);
    for (size_t i = 0; i < devices; i++)
        take_device(state, &device[i]);
    for (size_t i = 0; i < record->fact_count; i++)
        take_fact(state, &record->facts[i]);
    for (size_t i = 0; i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        const struct xb_record_fact *usual =
            xb_record_option(document->request->defaults, option->name);
        const struct xb_option *row = xb_option_find(document->request->rows, option->name);
        /* Options that are as they are by default go without saying. Those that choose what is
         * measured, or where results go, do not matter: the rows tell. */
        if (option->value == NULL || (row != NULL && row->selects) ||
            (usual != NULL && usual->value != NULL && strcmp(usual->value, option->value) == 0))
            continue;
        snprintf(name, sizeof name, "option --%.100s", option->name);
        take(state, name, option->value);
    }
    return XB_OK;
}

static bool finish(void *own)
{
    const struct state *state = own;
    return state->count > 0;
}

static bool is_common(const struct state *state, const struct condition *condition)
{
    return condition->count == 1 && condition->left_out == 0 && condition->files == state->files;
}

static void write_differing(struct xb_page *page, const struct state *state)
{
    xb_page_table_begin(page, "Different, or not told by all results", "Condition|Value|In files");
    for (size_t i = 0; i < state->count; i++) {
        const struct condition *condition = &state->conditions[i];
        for (size_t k = 0; !is_common(state, condition) && k < condition->count; k++) {
            const struct value *value = &condition->values[k];
            struct xb_words files = {.length = 0}; /* "1 to 3, 7" */
            for (size_t r = 0; r < value->count; r++) {
                xb_words_add(&files, "%s%zu", r > 0 ? ", " : "", value->first[r]);
                if (value->last[r] > value->first[r])
                    xb_words_add(&files, "%s%zu",
                                 value->last[r] == value->first[r] + 1 ? ", " : " to ",
                                 value->last[r]);
            }
            if (value->left_out > 0)
                xb_words_add(&files, " and %zu more", value->left_out);
            XB_PAGE_CELLS(page, condition->name, value->text, files.text);
        }
        if (condition->left_out == 0)
            continue;
        XB_PAGE_CELLS(page, condition->name, "others",
                      xb_page_print(page, "%zu files", condition->left_out));
    }
    xb_page_table_end(page);
}

static void write(struct xb_page *page, void *own)
{
    const struct state *state = own;
    size_t common = 0;
    xb_page_remark(page, "Options stand here where they are not as by default.");
    xb_page_table_begin(page, state->files > 1 ? "The same in all results" : "Conditions",
                        "Condition|Value");
    for (size_t i = 0; i < state->count; i++) {
        const struct condition *condition = &state->conditions[i];
        if (is_common(state, condition))
            XB_PAGE_CELLS(page, condition->name, condition->values[0].text);
        common += is_common(state, condition);
    }
    xb_page_table_end(page);
    if (common < state->count)
        write_differing(page, state);
    xb_page_more(page, state->left_out, "conditions are in the files only.");
}

static void free_state(void *own)
{
    struct state *state = own;
    xb_arena_free(state->texts);
}

const struct xb_common_section xb_section_conditions = {
    .name = "conditions",
    .title = "Conditions",
    .state_size = sizeof(struct state),
    .take = take_document,
    .finish = finish,
    .write = write,
    .free = free_state,
};
