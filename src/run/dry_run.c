/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "dry_run.h"

#include "base/note.h"
#include "base/stream.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/file_name.h"
#include "cli/json_place.h"
#include "cli/places.h"
#include "eta.h"
#include "measure/estimate.h"
#include "plan_text.h"
#include "processes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 9
#define REASONS 16 /* kinds of them; the others are counted */
#define OUTPUTS 4

/* ---- what will be skipped ---- */

struct reason {
    char text[512];
    size_t first, rows;
};

struct reasons {
    struct reason kinds[REASONS];
    size_t count;
    size_t other_rows; /* of other kinds */
};

static void take_reason(struct reasons *reasons, const char *text, size_t first, size_t rows)
{
    char kept[sizeof reasons->kinds[0].text];
    snprintf(kept, sizeof kept, "%s", text);
    for (size_t i = 0; i < reasons->count; i++)
        if (strcmp(reasons->kinds[i].text, kept) == 0) {
            reasons->kinds[i].rows += rows;
            return;
        }
    if (reasons->count == REASONS) {
        reasons->other_rows += rows;
        return;
    }
    struct reason *added = &reasons->kinds[reasons->count++];
    *added = (struct reason){.first = first, .rows = rows};
    memcpy(added->text, kept, sizeof kept);
}

static void print_skipped(FILE *stream, const struct xb_run *run)
{
    struct reasons reasons = {.count = 0};
    struct xb_error error;
    for (size_t first = 0, count; first < run->case_count; first += count) {
        count = xb_run_rows_of(run, first);
        const char *reason = xb_estimate_skips(run, first, count, &error);
        if (reason != NULL)
            take_reason(&reasons, reason, first, count);
    }
    for (size_t i = 0; i < reasons.count; i++) {
        const struct reason *kind = &reasons.kinds[i];
        xb_note_print(stream, "skipped", LABEL, "%s, %zu case%s: %s",
                      run->results[kind->first].test.mode->name, kind->rows,
                      kind->rows > 1 ? "s" : "", kind->text);
    }
    if (reasons.other_rows > 0)
        xb_note_print(stream, "skipped", LABEL, "%zu more for other reasons", reasons.other_rows);
}

static void print_cases(FILE *stream, const struct xb_estimate *estimate)
{
    struct xb_words words = {.length = 0};
    if (estimate->skipped == estimate->rows)
        xb_words_add(&words, "none can be measured here");
    else
        xb_words_add(&words, "%zu to measure", estimate->rows - estimate->skipped);
    if (estimate->skipped > 0)
        xb_words_add(&words, ", %zu skipped", estimate->skipped);
    xb_note_print(stream, "cases", LABEL, "%s", words.text);
}

/* ---- what it takes ---- */

/* How many times the plan is measured: in each of --processes, by --interleave in two programs. */
static uint64_t times_of(const struct xb_config *config)
{
    uint64_t processes = xb_config_get(config, "processes")->count;
    return xb_config_get(config, "interleave")->is_set ? 2 * processes : processes;
}

static void print_time(FILE *stream, const struct xb_run *run, const struct xb_estimate *estimate)
{
    const struct xb_value *deadline = xb_config_get(run->config, "deadline");
    double times = (double)times_of(run->config);
    struct xb_words words = {.length = 0};
    char likely[XB_ETA_TEXT], least[XB_ETA_TEXT], most[XB_ETA_TEXT];
    xb_words_add(&words, "about %s; from %s on a fast node to %s on a slow one",
                 xb_eta_duration(times * estimate->time.likely, likely),
                 xb_eta_duration(times * estimate->time.least, least),
                 xb_eta_duration(times * estimate->time.most, most));
    if (times > 1)
        xb_words_add(&words, ", for %.0f processes", times);
    if (deadline->is_set)
        xb_words_add(&words, "; the deadline ends it after %s",
                     xb_eta_duration(deadline->seconds, likely));
    xb_note_print(stream, "time", LABEL, "%s", words.text);
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

static void print_memory(FILE *stream, const struct xb_run *run, const struct xb_estimate *estimate)
{
    char host[32], device[32];
    bool shared = run->device_count > 0 && run->devices[0].info.shares_host_memory;
    uint64_t most = estimate->host_bytes;
    if (shared)
        most =
            estimate->device_bytes > UINT64_MAX - most ? UINT64_MAX : most + estimate->device_bytes;
    memory_text(most, host, sizeof host);
    memory_text(estimate->device_bytes, device, sizeof device);
    if (shared)
        xb_note_print(stream, "memory", LABEL, "%s at most", host);
    else
        xb_note_print(stream, "memory", LABEL, "%s of the host's at most, %s of a device's", host,
                      device);
}

/* ---- the files ---- */

struct files {
    struct xb_output json, csv, trace, baseline;
    char *program; /* of --interleave; NULL: none */
    struct xb_cli_place
        places[OUTPUTS + 1]; /* with these outputs, and the program, which is read */
};

/* Finds all outputs, and what is read. XB_ERR_USAGE as the run itself has it. */
static enum xb_status find_files(const struct xb_run *run, struct files *files,
                                 struct xb_error *error)
{
    struct xb_json_place json;
    enum xb_status status = xb_json_place_choose(run->config, &json, error);
    if (status != XB_OK)
        return status;
    const struct xb_cli_place places[] = {{.option = json.option, .output = &files->json},
                                          {.option = "--csv", .output = &files->csv},
                                          {.option = "--trace", .output = &files->trace},
                                          {.option = "--baseline-json", .output = &files->baseline},
                                          {.option = "--interleave"}};
    memcpy(files->places, places, sizeof places);
    status = xb_processes_find_baseline(run->config, &files->program, error);
    if (status != XB_OK)
        return status;
    files->places[OUTPUTS].input = files->program;
    for (size_t i = 0; i < OUTPUTS; i++) {
        const struct xb_value *value = xb_config_get(run->config, places[i].option + strlen("--"));
        if (!value->is_set)
            continue;
        status = xb_cli_find_output(places[i].option, value->text, places[i].output, error);
        if (status != XB_OK)
            return status;
    }
    return xb_cli_check_places(files->places, OUTPUTS + 1, error);
}

static void print_files(FILE *stream, const struct files *files)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        const struct xb_output *output = files->places[i].output;
        const char *option = files->places[i].option;
        if (output->path == NULL)
            continue;
        if (output->is_stdout)
            xb_note_print(stream, "file", LABEL, "%s would print instead of the table", option);
        else
            xb_note_print(stream, "file", LABEL, "%s would %s %s", option,
                          output->is_there && output->target != NULL ? "replace" : "write",
                          output->path);
    }
}

/* ---- the whole ---- */

static void print_head(FILE *stream, const struct xb_run *run)
{
    fputs("Plan only: nothing measured or written\n\n", stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Where");
    xb_note_print(stream, "backend", LABEL, "%s", run->backend->name);
    for (size_t i = 0; i < run->device_count; i++) {
        const struct xb_device_info *info = &run->devices[i].info;
        xb_note_print(stream, "device", LABEL, "%u: %s%s%s", info->index,
                      info->name[0] != '\0' ? info->name : "(no name)",
                      info->pci_bdf[0] != '\0' ? ", " : "", info->pci_bdf);
    }
}

static enum xb_status print_all(FILE *stream, const struct xb_run *run,
                                const struct xb_estimate *estimate, const struct files *files,
                                struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    print_head(stream, run);
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Cases");
    xb_plan_print(stream, run);
    fputc('\n', stream);
    xb_heading_print(stream, XB_COLOUR_TITLE, "Estimate");
    print_cases(stream, estimate);
    print_skipped(stream, run);
    if (estimate->skipped < estimate->rows) {
        print_time(stream, run, estimate);
        print_memory(stream, run, estimate);
        print_files(stream, files);
    }
    xb_plain_locale_leave(previous);
    return xb_stream_finish(stream, "the plan", error);
}

int xb_dry_run(const struct xb_run *run)
{
    struct files files = {.json = {.path = NULL}};
    struct xb_estimate estimate = xb_estimate_run(run);
    struct xb_error error;
    enum xb_status status = find_files(run, &files, &error);
    if (status == XB_OK && !xb_config_get(run->config, "quiet")->flag)
        status = print_all(stdout, run, &estimate, &files, &error);
    for (size_t i = 0; i < OUTPUTS; i++)
        xb_output_discard(files.places[i].output);
    free(files.program);
    if (status != XB_OK)
        return xb_cli_fail(&error);
    return estimate.skipped < estimate.rows ? XB_EXIT_OK : XB_EXIT_NOTHING;
}
