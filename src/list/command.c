/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "base/note.h"
#include "base/output.h"
#include "base/plain_text.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "cli/backend_choice.h"
#include "cli/file_name.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/places.h"
#include "json.h"
#include "machine/environment.h"
#include "machine/node.h"
#include "measure/case.h"
#include "record/mode_list.h"

#include <stdlib.h>

/* Where the text behind names begins. */
#define DEVICE_COLUMN 34
#define MODE_COLUMN 17

/* The names of capabilities, each behind a blank; "none" for none. */
static void add_capabilities(FILE *text, uint32_t capabilities)
{
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            fprintf(text, " %s", xb_capability_names[i]);
    fprintf(text, "%s", capabilities == 0 ? " none" : "");
}

/* Prints the name and, from that column on, what `add` writes of the subject. */
static enum xb_status print_wrapped(const char *name, int column,
                                    void (*add)(FILE *text, const void *subject),
                                    const void *subject, struct xb_error *error)
{
    struct xb_memory_text line = {.text = NULL};
    FILE *text = xb_memory_text_begin(&line);
    if (text != NULL)
        add(text, subject);
    enum xb_status status = xb_memory_text_end(&line, "a line of the list", error);
    if (status == XB_OK)
        xb_help_print_entry(stdout, name, line.text, column);
    free(line.text);
    return status;
}

/* Adds what a driver says of a device, behind something else; nothing where it says nothing. */
static void add_words(FILE *text, const char *before, const char *words)
{
    char plain[2048];
    if (words[0] != '\0')
        fprintf(text, "%s%s", before, xb_plain_text(words, plain, sizeof plain));
}

static void add_device(FILE *text, const void *subject)
{
    const struct xb_device_info *info = subject;
    add_words(text, "", info->name);
    add_words(text, ", ", info->pci_bdf);
    add_words(text, ", ", info->architecture);
    fprintf(text, ", %.1f GiB; capabilities:", (double)info->memory_bytes / 0x1p30);
    add_capabilities(text, info->capabilities);
}

static void print_row(const char *name, const char *words)
{
    char plain[2048];
    xb_help_print_entry(stdout, name, xb_plain_text(words, plain, sizeof plain), DEVICE_COLUMN);
}

static enum xb_status print_device(const struct xb_device_info *info, struct xb_error *error)
{
    char name[128];
    snprintf(name, sizeof name, "    device %u", info->index);
    enum xb_status status = print_wrapped(name, DEVICE_COLUMN, add_device, info, error);
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (info->lacks[i][0] != '\0') {
            snprintf(name, sizeof name, "      no %s", xb_capability_names[i]);
            print_row(name, info->lacks[i]);
        }
    for (size_t i = 0; i < info->fact_count; i++) {
        snprintf(name, sizeof name, "      %s", info->facts[i].key);
        print_row(name, info->facts[i].value);
    }
    return status;
}

static enum xb_status print_backend(const struct xb_found_backend *found, struct xb_error *error)
{
    const struct xb_backend_entry *entry = found->entry;
    const struct xb_backend *backend = entry->backend;
    char label[64], plain[2048];
    int width = snprintf(label, sizeof label, "%s:", entry->name) + 1;
    if (backend == NULL) {
        xb_note_print(stdout, label, width, "not in this build: %s", entry->absent_reason);
        return XB_OK;
    }
    xb_note_print_in(stdout, found->usable ? XB_COLOUR_GOOD : XB_COLOUR_WARNING, label, width,
                     "%s%s", backend->summary, found->usable ? "" : " (cannot run here)");
    xb_probe_print(stdout, &found->probe);
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < found->device_count && status == XB_OK; i++)
        status = print_device(&found->devices[i], error);
    for (size_t i = 0; i < found->failed_count; i++) {
        printf("    %s", xb_colour_begin(stdout, XB_COLOUR_BAD));
        xb_help_print_wrapped(stdout,
                              xb_plain_text(found->failures[i].message, plain, sizeof plain), 4);
        fputs(xb_colour_end(stdout, XB_COLOUR_BAD), stdout);
    }
    return status;
}

/* Where the variants go, and what separates the next from those before. */
struct variants {
    FILE *text;
    const char *separator;
};

/* " staged by kernel (needs kernels mapped)" */
static void add_variant(void *argument, const struct xb_case *test, uint32_t needs)
{
    struct variants *variants = argument;
    char settings[XB_CASE_SETTINGS_TEXT];
    fprintf(variants->text, "%s %s%s", variants->separator, test->variant,
            xb_case_settings_text(test, settings, sizeof settings));
    variants->separator = ",";
    if (needs != 0) {
        fprintf(variants->text, " (needs");
        add_capabilities(variants->text, needs);
        fprintf(variants->text, ")");
    }
}

static void add_cases(FILE *text, const void *subject)
{
    struct variants variants = {text, ""};
    fprintf(text, "directions:");
    xb_help_print_directions(text, subject);
    fprintf(text, "; variants:");
    xb_list_each_variant(subject, add_variant, &variants);
}

static void add_options(FILE *text, const void *subject)
{
    const struct xb_mode *mode = subject;
    fprintf(text, "options:%s", mode->options == NULL ? " none" : "");
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        fprintf(text, " --%s", mode->options[i]->name);
}

static enum xb_status print_mode(const struct xb_mode *mode, struct xb_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "  %s", mode->name);
    xb_help_print_entry(stdout, name, mode->summary, MODE_COLUMN);
    enum xb_status status = print_wrapped("", MODE_COLUMN, add_cases, mode, error);
    return status == XB_OK ? print_wrapped("", MODE_COLUMN, add_options, mode, error) : status;
}

static enum xb_status print_list(const struct xb_inventory *inventory, struct xb_error *error)
{
    struct xb_node node;
    struct xb_host_facts host;
    char text[XB_NODE_TEXT];
    enum xb_status status = xb_node_find(&node, error);
    if (status != XB_OK)
        return status;
    xb_host_facts_read(&host);
    xb_lines_print(stdout, xb_terminal_columns(stdout), "Node %s",
                   xb_node_text(node.name, host.hostname, text));
    fputc('\n', stdout);
    xb_heading_print(stdout, XB_COLOUR_TITLE, "Backends");
    for (size_t i = 0; i < inventory->count && status == XB_OK; i++)
        status = print_backend(&inventory->backends[i], error);
    xb_heading_print(stdout, XB_COLOUR_TITLE, "Modes");
    for (size_t i = 0; xb_modes[i] != NULL && status == XB_OK; i++)
        status = print_mode(xb_modes[i], error);
    return status;
}

static enum xb_status write_list(const char *path, const struct xb_inventory *inventory,
                                 bool *on_stdout, struct xb_error *error)
{
    struct xb_output output = {0};
    enum xb_status status = xb_cli_find_output("--json", path, &output, error);
    const struct xb_cli_place place = {.option = "--json", .output = &output};
    if (status == XB_OK)
        status = xb_cli_open_places(&place, 1, 0, error);
    *on_stdout = output.is_stdout;
    if (status == XB_OK)
        status = xb_list_json_write(output.stream, inventory, error);
    if (status == XB_OK)
        status = xb_output_commit(&output, error);
    xb_output_discard(&output);
    return status;
}

static int run(struct xb_config *config, char *const *words)
{
    const struct xb_value *json = xb_config_get(config, "json");
    struct xb_inventory inventory;
    struct xb_error error;
    bool on_stdout = false;
    (void)words;
    enum xb_status status = xb_inventory_take(&inventory, &error);
    if (status == XB_OK && json->is_set)
        status = write_list(json->text, &inventory, &on_stdout, &error);
    if (status == XB_OK && !on_stdout)
        status = print_list(&inventory, &error);
    xb_inventory_free(&inventory);
    return status == XB_OK ? XB_EXIT_OK : xb_cli_fail(&error);
}

static const struct xb_option option_json = {
    .name = "json",
    .short_name = 'j',
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help = "Write the same as JSON (docs/list.schema.json); - for standard output, in place of "
            "the text.",
};
static const struct xb_option *const *rows(void)
{
    static const struct xb_option *const all[] = {&option_json, &xb_option_help, &xb_option_version,
                                                  NULL};
    return all;
}

const struct xb_command xb_command_list = {
    .name = "list",
    .synopsis = "list",
    .summary = "show backends, devices and modes",
    .description = "Shows the backends with what each looked for, the devices with their "
                   "capabilities, and what each mode can measure.",
    .exits = "0 all was shown; 1 it could not be written; 2 the command line is wrong, or FILE "
             "cannot be.",
    .example = "xferbench list --json list.json",
    .rows = rows,
    .run = run,
    .fail = xb_cli_fail,
};
