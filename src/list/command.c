/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "base/plain_text.h"

#include "base/output.h"
#include "cli/backend_choice.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/places.h"
#include "json.h"
#include "measure/case.h"
#include "measure/mode_list.h"

/* The names of capabilities, each behind a blank; "none" for none. */
static void print_capabilities(uint32_t capabilities)
{
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            printf(" %s", xb_capability_names[i]);
    printf("%s", capabilities == 0 ? " none" : "");
}

/* What a driver says of a device, behind something else; nothing where it says nothing. */
static void print_words(const char *before, const char *text)
{
    char plain[2048];
    if (text[0] != '\0')
        printf("%s%s", before, xb_plain_text(text, plain, sizeof plain));
}

static void print_device(const struct xb_device_info *info)
{
    printf("    device %-22u", info->index);
    print_words(" ", info->name);
    print_words(", ", info->pci_bdf);
    print_words(", ", info->architecture);
    printf(", %.1f GiB; capabilities:", (double)info->memory_bytes / 0x1p30);
    print_capabilities(info->capabilities);
    printf("\n");
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (info->lacks[i][0] != '\0') {
            printf("      no %-25s", xb_capability_names[i]);
            print_words(" ", info->lacks[i]);
            printf("\n");
        }
    for (size_t i = 0; i < info->fact_count; i++) {
        printf("      %-28s", info->facts[i].key);
        print_words(" ", info->facts[i].value);
        printf("\n");
    }
}

static void print_backend(const struct xb_found_backend *found)
{
    const struct xb_backend_entry *entry = found->entry;
    if (entry->backend == NULL) {
        printf("  %s: not in this build: %s\n", entry->name, entry->absent_reason);
        return;
    }
    printf("  %s: %s%s\n", entry->name, entry->backend->summary,
           found->usable ? "" : " (cannot run here)");
    xb_probe_print(stdout, &found->probe);
    for (size_t i = 0; i < found->device_count; i++)
        print_device(&found->devices[i]);
    for (size_t i = 0; i < found->failed_count; i++)
        printf("    %s\n", found->failures[i].message);
}

/* " staged by kernel (needs kernels mapped)" */
static void print_variant(const struct xb_case *test)
{
    char settings[XB_CASE_SETTINGS_TEXT];
    uint32_t needed = test->mode->capabilities != NULL ? test->mode->capabilities(test) : 0;
    printf(" %s%s", test->variant, xb_case_settings_text(test, settings, sizeof settings));
    if (needed != 0) {
        printf(" (needs");
        print_capabilities(needed);
        printf(")");
    }
}

static void print_variants(const struct xb_mode *mode)
{
    const char *const only[] = {mode->variant, NULL};
    const char *const *variants =
        mode->variant_option != NULL ? mode->variant_option->choices : only;
    for (size_t i = 0; variants[i] != NULL; i++) {
        struct xb_case test = {.mode = mode, .variant = variants[i]};
        for (size_t combination = 0; xb_case_set(&test, combination, NULL); combination++) {
            printf("%s", i + combination > 0 ? "," : "");
            print_variant(&test);
        }
    }
}

static void print_mode(const struct xb_mode *mode)
{
    printf("  %-14s %s\n%17sdirections:", mode->name, mode->summary, "");
    xb_help_print_directions(stdout, mode);
    printf("; variants:");
    print_variants(mode);
    printf("\n%17soptions:%s", "", mode->options == NULL ? " none" : "");
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        printf(" --%s", mode->options[i]->name);
    printf("\n");
}

static void print_list(const struct xb_inventory *inventory)
{
    printf("Backends\n");
    for (size_t i = 0; i < inventory->count; i++)
        print_backend(&inventory->backends[i]);
    printf("Modes\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        print_mode(xb_modes[i]);
}

static enum xb_status write_list(const char *path, const struct xb_inventory *inventory,
                                 bool *on_stdout, struct xb_error *error)
{
    struct xb_output output = {0};
    enum xb_status status = xb_output_find(&output, path, error);
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

static enum xb_status list(const struct xb_config *config, struct xb_error *error)
{
    const struct xb_value *json = xb_config_get(config, "json");
    struct xb_inventory inventory;
    bool on_stdout = false;
    enum xb_status status = xb_inventory_take(&inventory, error);
    if (status == XB_OK && json->is_set)
        status = write_list(json->text, &inventory, &on_stdout, error);
    if (status == XB_OK && !on_stdout)
        print_list(&inventory);
    xb_inventory_free(&inventory);
    return status;
}

static int run(struct xb_config *config, char *const *words)
{
    struct xb_error error;
    (void)words;
    if (xb_cli_refuse_operands(config, &error) != XB_OK || list(config, &error) != XB_OK)
        return xb_cli_fail(&error);
    return XB_EXIT_OK;
}

static const struct xb_option option_json = {
    .name = "json",
    .type = XB_OPTION_TEXT,
    .argument = "FILE",
    .help = "Write the same as JSON (docs/list.schema.json); - for standard output, in place of "
            "the text.",
};
static const struct xb_option *const *rows(void)
{
    static const struct xb_option *const list_rows[] = {&option_json, &xb_option_help,
                                                        &xb_option_version, NULL};
    return list_rows;
}

static void print_help(FILE *stream)
{
    fprintf(stream, "xferbench list [OPTION]...: backends with what each looked for, devices and "
                    "modes with\ntheir capabilities.\n\nOptions:\n");
    xb_help_print_options(stream, rows());
}

const struct xb_command xb_command_list = {
    .name = "list",
    .synopsis = "list [--json FILE]",
    .summary = "show backends, devices and modes",
    .rows = rows,
    .print_help = print_help,
    .run = run,
    .fail = xb_cli_fail,
};
