/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include "base/stream.h"
#include "measure/plan/estimate.h"
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LABEL 9
#define NOTE(label, ...) xb_note_print(stream, (label), LABEL, __VA_ARGS__)
#define REASONS 16 /* kinds of them; the others are counted */

#define FACET 48         /* characters of what a case has of a facet */
#define FACETS_KNOWN 128 /* different ones; more are counted as so many */
#define FACETS_SHOWN 5   /* more of them are the first, the last and how many */

enum facet { VARIANT, DIRECTION, SIZE, DEVICE, NODE, SETTING };

/* Writes what a case has of it (FACET), of a setting that of the option; "" where it has none. */
static void facet_text(const struct xb_case *test, enum facet facet, const struct xb_option *option,
                       char *text)
{
    const struct xb_setting *setting = facet == SETTING ? xb_case_find_setting(test, option) : NULL;
    bool is_size = setting != NULL && setting->count > 0 &&
                   (option->type == XB_OPTION_SIZE || option->type == XB_OPTION_SIZES);
    const char *word = facet == VARIANT     ? test->variant
                       : facet == DIRECTION ? xb_direction_name(test->direction)
                       : facet == DEVICE && test->simultaneous
                           ? (test->sum ? "several at the same time" : "")
                       : setting != NULL ? setting->word
                                         : NULL;
    text[0] = '\0';
    if (word != NULL)
        snprintf(text, FACET, "%s", word);
    else if (facet == SIZE || is_size)
        (void)xb_size_format(is_size ? setting->count : test->bytes, text, FACET);
    else if (facet == DEVICE && test->peer != XB_NO_PEER)
        snprintf(text, FACET, "%u>%d", test->device, test->peer);
    else if (facet == DEVICE || (facet == NODE && test->has_node))
        snprintf(text, FACET, "%u", facet == DEVICE ? test->device : test->node);
    else if (setting != NULL)
        snprintf(text, FACET, "%" PRIu64, setting->count);
}

/* "; h2d, d2h", "; 4 KiB to 1 GiB (19)"; with the label of what there are several of: "; chunk 1
 * MiB, 8 MiB". Nothing of what all cases have alike, unless it is always told. */
static void add(struct xb_words *words, const struct xb_run *run, const struct xb_mode *mode,
                enum facet facet, const struct xb_option *option, const char *label, bool always)
{
    char texts[FACETS_KNOWN][FACET]; /* different ones, in the order of the plan */
    size_t count = 0;
    for (size_t i = 0; i < run->case_count && count < FACETS_KNOWN; i++) {
        char *text = texts[count];
        if (run->results[i].test.mode != mode)
            continue;
        facet_text(&run->results[i].test, facet, option, text);
        bool is_new = text[0] != '\0';
        for (size_t k = 0; is_new && k < count; k++)
            is_new = strcmp(texts[k], text) != 0;
        count += is_new;
    }
    if (count == 0 || (count == 1 && !always))
        return;
    xb_words_add(words, "%s%s%s", words->length > 0 ? "; " : "", label,
                 label[0] != '\0' ? " " : "");
    if (count > FACETS_SHOWN) {
        xb_words_add(words, "%s to %s (%zu%s)", texts[0], texts[count - 1], count,
                     count == FACETS_KNOWN ? " or more" : "");
        return;
    }
    for (size_t i = 0; i < count; i++)
        xb_words_add(words, "%s%s", i > 0 ? ", " : "", texts[i]);
}

/* A line for each mode: "pinned  registered; h2d, d2h; 4 KiB to 1 GiB (19): 38 cases". */
static void print_plan(FILE *stream, const struct xb_run *run)
{
    int width = LABEL;
    for (size_t i = 0; i < run->case_count; i++) {
        int length = (int)strlen(run->results[i].test.mode->name) + 1;
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_mode *mode = run->results[i].test.mode;
        bool is_first = true;
        for (size_t k = 0; is_first && k < i; k++)
            is_first = run->results[k].test.mode != mode;
        if (!is_first)
            continue;
        struct xb_words words = {.length = 0};
        size_t rows = 0;
        for (size_t k = i; k < run->case_count; k++)
            rows += run->results[k].test.mode == mode;
        add(&words, run, mode, VARIANT, NULL, "", true);
        for (const struct xb_parameter *own = mode->parameters; own != NULL && own->option != NULL;
             own++)
            if (own->option != mode->variant_option)
                add(&words, run, mode, SETTING, own->option, own->option->name, false);
        add(&words, run, mode, DIRECTION, NULL, "", true);
        add(&words, run, mode, SIZE, NULL, "", true);
        add(&words, run, mode, DEVICE, NULL, mode->pairs ? "pairs" : "devices", false);
        add(&words, run, mode, NODE, NULL, "NUMA node", true);
        xb_words_add(&words, ": %zu case%s", rows, rows > 1 ? "s" : "");
        xb_note_print(stream, mode->name, width, "%s", words.text);
    }
}

static void print_skipped(FILE *stream, const struct xb_run *run)
{
    struct {
        char text[512];
        const char *mode;
        size_t rows;
    } kinds[REASONS + 1] = {{.rows = 0}};
    struct xb_error error;
    size_t count = 0, others = 0;
    for (size_t first = 0, rows; first < run->case_count; first += rows) {
        size_t kind = 0;
        rows = xb_run_rows_of(run, first);
        const char *reason = xb_estimate_skips(run, first, rows, &error);
        if (reason == NULL)
            continue;
        snprintf(kinds[count].text, sizeof kinds[count].text, "%s", reason);
        while (strcmp(kinds[kind].text, kinds[count].text) != 0)
            kind++;
        if (kind == REASONS) {
            others += rows;
            continue;
        }
        if (kind == count)
            kinds[count++].mode = run->results[first].test.mode->name;
        kinds[kind].rows += rows;
    }
    for (size_t i = 0; i < count; i++)
        NOTE("skipped", "%s, %zu case%s: %s", kinds[i].mode, kinds[i].rows,
             kinds[i].rows > 1 ? "s" : "", kinds[i].text);
    if (others > 0)
        NOTE("skipped", "%zu more for other reasons", others);
}

static const char *memory_text(uint64_t bytes, char *text, size_t size)
{
    if (bytes < 1u << 20)
        snprintf(text, size, "less than 1 MiB");
    else if (bytes < 1u << 30)
        snprintf(text, size, "%.0f MiB", ceil((double)bytes / 0x1p20));
    else
        snprintf(text, size, "%.1f GiB", ceil((double)bytes / 0x1p30 * 10) / 10);
    return text;
}
#define MEMORY_TEXT(bytes) memory_text((bytes), (char[32]){0}, 32)

static enum xb_status print_all(FILE *stream, const struct xb_run *run,
                                const struct xb_estimate *estimate,
                                const struct xb_run_places *places, struct xb_error *error)
{
    /* The plan is measured in each of --processes, by --interleave in two programs. */
    double times = (run->asked.interleave != NULL ? 2 : 1) * (double)run->asked.processes;
    struct xb_words words = {.length = 0}, time = {.length = 0};
    fputs("Plan only: nothing measured or written\n\n", stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Where");
    NOTE("backend", "%s", run->backend->name);
    for (size_t i = 0; i < run->device_count; i++) {
        const struct xb_device_info *info = &run->devices[i].info;
        NOTE("device", "%u: %s%s%s", info->index, info->name[0] != '\0' ? info->name : "(no name)",
             info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf);
    }
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Cases");
    print_plan(stream, run);
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Estimate");
    if (estimate->skipped == estimate->rows)
        xb_words_add(&words, "none can be measured here");
    else
        xb_words_add(&words, "%zu to measure", estimate->rows - estimate->skipped);
    if (estimate->skipped > 0)
        xb_words_add(&words, ", %zu skipped", estimate->skipped);
    NOTE("cases", "%s", words.text);
    print_skipped(stream, run);
    if (estimate->skipped == estimate->rows)
        return xb_stream_finish(stream, "the plan", error);
    xb_words_add(&time, "about %s; from %s on a fast node to %s on a slow one",
                 XB_ETA_DURATION(times * estimate->time.likely),
                 XB_ETA_DURATION(times * estimate->time.least),
                 XB_ETA_DURATION(times * estimate->time.most));
    if (times > 1)
        xb_words_add(&time, ", for %.0f processes", times);
    if (run->asked.deadline > 0)
        xb_words_add(&time, "; the deadline ends it after %s",
                     XB_ETA_DURATION(run->asked.deadline));
    NOTE("time", "%s", time.text);
    bool shared = run->device_count > 0 && run->devices[0].info.shares_host_memory;
    uint64_t bytes = xb_sum(estimate->host_bytes, shared ? estimate->device_bytes : 0);
    if (shared)
        NOTE("memory", "%s at most", MEMORY_TEXT(bytes));
    else
        NOTE("memory", "%s of the host's at most, %s of a device's", MEMORY_TEXT(bytes),
             MEMORY_TEXT(estimate->device_bytes));
    for (size_t i = 0; i < XB_RUN_OUTPUTS; i++) {
        const struct xb_output *output = places->all[i].output;
        const char *option = places->all[i].option;
        if (output->is_stdout)
            NOTE("file", "%s would print instead of the table", option);
        else if (output->path != NULL)
            NOTE("file", "%s would %s %s", option,
                 output->is_there && output->target != NULL ? "replace" : "write", output->path);
    }
    return xb_stream_finish(stream, "the plan", error);
}

int xb_dry_run(const struct xb_run *run)
{
    struct xb_run_places places = {.program = NULL};
    struct xb_estimate estimate = xb_estimate_run(run);
    struct xb_error error;
    enum xb_status status = xb_run_find_places(&run->asked, &places, &error);
    if (status == XB_OK)
        status = xb_cli_check_places(places.all, XB_RUN_OUTPUTS + 1, &error);
    if (status == XB_OK && !run->asked.quiet)
        status = print_all(stdout, run, &estimate, &places, &error);
    xb_run_release_places(&places);
    if (status != XB_OK)
        return xb_cli_fail(&error);
    return estimate.skipped < estimate.rows ? XB_EXIT_OK : XB_EXIT_NOTHING;
}
