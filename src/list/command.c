/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "base/left_out.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/places.h"
#include "machine/environment.h"
#include "machine/host_memory.h"
#include "machine/node.h"
#include "measure/plan/case.h"
#include "record/document.h"
#include "record/mode_list.h"
#include "xferbench/version.h"

/* ---- what is there ---- */

/* A backend that cannot run, or a silent device, is no failure: the inventory says why. */
static void look_at(struct xb_found_backend *found, struct xb_arena **memory)
{
    struct xb_driver *driver = xb_backend_open(found->entry, &found->probe);
    const unsigned count = found->probe.device_count;
    if (driver == NULL)
        return;
    found->usable = true;
    found->devices = xb_arena_new(memory, count * sizeof *found->devices);
    found->failures = xb_arena_new(memory, count * sizeof *found->failures);
    for (unsigned i = 0; i < count; i++)
        if (driver->backend->device_info(driver, i, &found->devices[found->device_count],
                                         &found->failures[found->failed_count]) == XB_OK)
            found->device_count++;
        else
            found->failed_count++;
    driver->backend->driver_close(driver);
}

/* Takes each way in which a mode can be measured, with the capabilities that it needs. */
typedef void take_variant(void *argument, const struct xb_case *test, uint32_t needs);

static void each_variant(const struct xb_mode *mode, take_variant *take, void *argument)
{
    const char *const only[] = {mode->variant, NULL};
    const char *const *variants =
        mode->variant_option != NULL ? mode->variant_option->choices : only;
    for (size_t i = 0; variants[i] != NULL; i++) {
        struct xb_case test = {.mode = mode, .variant = variants[i]};
        for (size_t combination = 0; xb_case_set(&test, combination, NULL); combination++)
            if (xb_case_can_be(&test))
                take(argument, &test, mode->capabilities != NULL ? mode->capabilities(&test) : 0);
    }
}

/* ---- as text ---- */

/* Where the text behind names begins. */
#define DEVICE_COLUMN 34
#define MODE_COLUMN 17

/* The names of capabilities, each behind a blank; "none" for none. */
static void add_capabilities(struct xb_words *words, uint32_t capabilities)
{
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((capabilities >> i & 1u) != 0)
            xb_words_add(words, " %s", xb_capability_names[i]);
    xb_words_add(words, "%s", capabilities == 0 ? " none" : "");
}

/* Adds what a driver says of a device, behind something else; nothing where it says nothing. */
static void add_plain(struct xb_words *words, const char *before, const char *text)
{
    char plain[2048];
    if (text[0] != '\0')
        xb_words_add(words, "%s%s", before, xb_plain_text(text, plain, sizeof plain));
}

static void print_row(const char *before, const char *name, const char *text)
{
    char plain[2048];
    xb_help_print_entry(stdout, DEVICE_COLUMN, xb_plain_text(text, plain, sizeof plain),
                        "      %s%s", before, name);
}

static void print_device(const struct xb_device_info *info)
{
    struct xb_words words = {.length = 0};
    add_plain(&words, "", info->name);
    add_plain(&words, ", ", info->pci_bdf);
    add_plain(&words, ", ", info->architecture);
    xb_words_add(&words, ", %.1f GiB; capabilities:", (double)info->memory_bytes / 0x1p30);
    add_capabilities(&words, info->capabilities);
    xb_help_print_entry(stdout, DEVICE_COLUMN, words.text, "    device %u", info->index);
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (info->lacks[i][0] != '\0')
            print_row("no ", xb_capability_names[i], info->lacks[i]);
    for (size_t i = 0; i < info->fact_count; i++)
        print_row("", info->facts[i].key, info->facts[i].value);
}

static void print_backend(const struct xb_found_backend *found)
{
    const struct xb_backend_entry *entry = found->entry;
    const struct xb_backend *backend = entry->backend;
    char label[64], plain[2048];
    int width = snprintf(label, sizeof label, "%s:", entry->name) + 1;
    if (backend == NULL) {
        xb_note_print(stdout, label, width, "not in this build: %s", entry->absent_reason);
        return;
    }
    xb_note_print_in(stdout, found->usable ? XB_COLOUR_GOOD : XB_COLOUR_WARNING, label, width,
                     "%s%s", backend->summary, found->usable ? "" : " (cannot run here)");
    xb_probe_print(stdout, &found->probe);
    for (size_t i = 0; i < found->device_count; i++)
        print_device(&found->devices[i]);
    for (size_t i = 0; i < found->failed_count; i++) {
        printf("    %s", xb_colour_begin(stdout, XB_COLOUR_BAD));
        xb_help_print_wrapped(stdout,
                              xb_plain_text(found->failures[i].message, plain, sizeof plain), 4);
        fputs(xb_colour_end(stdout, XB_COLOUR_BAD), stdout);
    }
}

/* What is said of the variants of a mode, and what the first way of the latest one needs. */
struct variants {
    struct xb_words words;
    const char *latest;
    uint32_t needs;
};

/* " staged by kernel (needs kernels mapped)", behind a comma but for the first. A variant
 * has its first way, and each that needs something else. */
static void add_variant(void *argument, const struct xb_case *test, uint32_t needs)
{
    struct variants *variants = argument;
    struct xb_words *words = &variants->words;
    char settings[XB_CASE_SETTINGS_TEXT];
    const char before = words->text[words->length - 1];
    if (variants->latest == test->variant && variants->needs == needs)
        return;
    variants->needs = variants->latest == test->variant ? variants->needs : needs;
    variants->latest = test->variant;
    xb_words_add(words, "%s %s%s", before == ':' ? "" : ",", test->variant,
                 xb_case_settings_text(test, settings, sizeof settings));
    if (needs != 0) {
        xb_words_add(words, " (needs");
        add_capabilities(words, needs);
        xb_words_add(words, ")");
    }
}

static void print_mode(const struct xb_mode *mode)
{
    struct variants cases = {.latest = NULL};
    struct xb_words options = {.length = 0};
    xb_words_add(&cases.words, "directions:");
    xb_help_add_directions(&cases.words, mode);
    xb_words_add(&cases.words, "; variants:");
    each_variant(mode, add_variant, &cases);
    xb_words_add(&options, "options:%s", mode->options == NULL ? " none" : "");
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        xb_words_add(&options, " --%s", mode->options[i]->name);
    xb_help_print_entry(stdout, MODE_COLUMN, mode->summary, "  %s", mode->name);
    xb_help_print_entry(stdout, MODE_COLUMN, cases.words.text, "%s", "");
    xb_help_print_entry(stdout, MODE_COLUMN, options.text, "%s", "");
}

/* How much can be page-locked, which is as much as a run may take. */
static void print_lockable(void)
{
    struct xb_memory_limit limit;
    struct xb_error ignored;
    struct xb_words words = {.length = 0};
    if (xb_memory_limit_find("", &limit, &ignored) != XB_OK)
        return;
    uint64_t lockable = xb_memory_without_reserve(limit.bytes);
    xb_words_add(&words, "%.1f GiB can be page-locked", (double)lockable / 0x1p30);
    add_plain(&words, " (", limit.source);
    xb_words_add(&words, ", less a reserve): what is locked, no other program gets.");
    if (xb_memory_lock_limit() < lockable)
        xb_words_add(&words,
                     " The limit on locked memory (ulimit -l) is %s; NVIDIA's driver does not keep "
                     "to it.",
                     XB_SIZE_TEXT(xb_memory_lock_limit()));
    xb_lines_print(stdout, xb_terminal_columns(stdout), "%s", words.text);
}

static enum xb_status print_list(const struct xb_inventory *inventory, struct xb_error *error)
{
    struct xb_node_name node;
    struct xb_host_facts host;
    char text[XB_NODE_TEXT];
    XB_TRY(xb_node_find(&node, error));
    xb_host_facts_read(&host);
    xb_lines_print(stdout, xb_terminal_columns(stdout), "Node %s",
                   xb_node_text(node.name, host.hostname, text));
    print_lockable();
    fputc('\n', stdout);
    xb_heading_print(stdout, XB_COLOUR_TITLE, "Backends");
    for (size_t i = 0; i < inventory->count; i++)
        print_backend(&inventory->backends[i]);
    if (xb_left_out[0].library != NULL)
        xb_heading_print(stdout, XB_COLOUR_TITLE, "Left out of this build");
    for (const struct xb_left_out *next = xb_left_out; next->library != NULL; next++)
        xb_note_print(stdout, next->library, MODE_COLUMN, "%s", next->meaning);
    xb_heading_print(stdout, XB_COLOUR_TITLE, "Modes");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        print_mode(xb_modes[i]);
    return XB_OK;
}

/* ---- as JSON ---- */

/* The keys and their meaning stand in docs/list.schema.json. */

typedef struct xb_device_info device;
typedef struct xb_probe probe;
typedef struct xb_probe_check check;

/* The names of bits: of enum xb_direction, or of enum xb_capability. */
static void write_names(struct xb_json *json, const char *key, bool are_directions, uint32_t bits)
{
    xb_json_open_array(json, key);
    for (unsigned i = 0; i < XB_CAPABILITIES; i++)
        if ((bits >> i & 1u) != 0)
            xb_json_put_text(json, NULL,
                             are_directions ? xb_direction_name((enum xb_direction)(1u << i))
                                            : xb_capability_names[i]);
    xb_json_close(json);
}

const struct xb_field xb_list_device_fields[] = {
    XB_FIELD("index", UNSIGNED, device, index),
    XB_FIELD("name", TEXT, device, name),
    XB_FIELD("uuid", TEXT, device, uuid, XB_NULL_IF_EMPTY),
    XB_FIELD("architecture", TEXT, device, architecture, XB_NULL_IF_EMPTY),
    XB_FIELD("pci_bdf", TEXT, device, pci_bdf, XB_NULL_IF_EMPTY),
    XB_FIELD("memory_bytes", UINT64, device, memory_bytes),
    XB_FIELDS_END};

static const struct xb_field check_fields[] = {XB_FIELD("what", TEXT, check, what),
                                               XB_FIELD("found", TEXT, check, found),
                                               XB_FIELD("ok", FLAG, check, ok), XB_FIELDS_END};

const struct xb_field xb_list_probe_fields[] = {
    XB_FIELD("runtime_version", TEXT, probe, runtime_version, XB_NULL_IF_EMPTY),
    XB_FIELD("driver_version", TEXT, probe, driver_version, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_library", TEXT, probe, runtime_library, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_override", TEXT, probe, runtime_override, XB_NULL_IF_EMPTY),
    XB_ITEMS("checks", probe, checks, check_count, XB_PROBE_CHECKS, check_fields),
    XB_FIELDS_END};

static void write_device(struct xb_json *json, const char *backend, const device *of)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "backend", backend);
    xb_fields_put(json, xb_list_device_fields, of);
    write_names(json, "capabilities", false, of->capabilities);
    xb_json_open_object(json,
                        "lacks"); /* what it cannot do, where there is more to say than that */
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        if (of->lacks[i][0] != '\0')
            xb_json_put_text(json, xb_capability_names[i], of->lacks[i]);
    xb_json_close(json);
    xb_document_put_facts(json, "facts", of);
    xb_json_close(json);
}

static void write_variant(void *argument, const struct xb_case *test, uint32_t needs)
{
    struct xb_json *json = argument;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", test->variant);
    xb_json_open_array(json, "parameters");
    for (size_t i = 0; i < test->setting_count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "name", test->settings[i].option->name);
        xb_json_put_text(json, "value", test->settings[i].word);
        xb_json_close(json);
    }
    xb_json_close(json);
    write_names(json, "needs", false, needs);
    xb_json_close(json);
}

static void write_mode(struct xb_json *json, const struct xb_mode *mode)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", mode->name);
    xb_json_put_text(json, "summary", mode->summary);
    write_names(json, "directions", true, mode->directions);
    write_names(json, "default_directions", true, mode->by_default);
    xb_json_put_text(json, "latency", mode->latency != NULL ? mode->latency->name : NULL);
    xb_json_open_array(json, "variants");
    each_variant(mode, write_variant, json);
    xb_json_close(json);
    xb_json_open_array(json, "options");
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        xb_json_put_text(json, NULL, mode->options[i]->name);
    xb_json_close(json);
    xb_json_close(json);
}

enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                  struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.list");
    xb_json_put_whole(&json, "schema_version", 1);
    xb_json_put_text(&json, "version", XB_VERSION);
    xb_document_put_left_out(&json);
    struct xb_memory_limit limit;
    const uint64_t locked = xb_memory_lock_limit();
    bool is_known = xb_memory_limit_find("", &limit, error) == XB_OK;
    xb_json_put_known_whole(&json, "lockable_bytes", is_known,
                            is_known ? xb_memory_without_reserve(limit.bytes) : 0);
    xb_json_put_text(&json, "lockable_limit", is_known ? limit.source : NULL);
    xb_json_put_known_whole(&json, "lockable_ulimit_bytes", locked < UINT64_MAX, locked);
    xb_json_open_array(&json, "backends");
    XB_EACH (found, inventory->backends, inventory->count) {
        xb_json_open_object(&json, NULL);
        xb_json_put_text(&json, "name", found->entry->name);
        xb_json_put_flag(&json, "usable", found->usable);
        xb_json_put_optional(&json, "absent_reason", found->entry->absent_reason);
        xb_fields_put(&json, xb_list_probe_fields, &found->probe);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_open_array(&json, "devices");
    for (size_t i = 0; i < inventory->count; i++)
        for (size_t k = 0; k < inventory->backends[i].device_count; k++)
            write_device(&json, inventory->backends[i].entry->name,
                         &inventory->backends[i].devices[k]);
    xb_json_close(&json);
    xb_json_open_array(&json, "modes");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        write_mode(&json, xb_modes[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}

/* ---- the command ---- */

static enum xb_status write_list(struct xb_output *output, const char *path,
                                 const struct xb_inventory *inventory, bool *on_stdout,
                                 struct xb_error *error)
{
    const struct xb_cli_place place = {.option = "--json", .output = output};
    XB_TRY(xb_cli_find_output("--json", path, output, error));
    XB_TRY(xb_cli_open_places(&place, 1, 0, error));
    *on_stdout = output->is_stdout;
    XB_TRY(xb_list_json_write(output->stream, inventory, error));
    return xb_output_commit(output, error);
}

static const struct xb_option option_json = {
    XB_FILE("json", "FILE"),
    .short_name = 'j',
    .help = "Write the same as JSON (docs/list.schema.json); - for standard output, in place of "
            "the text.",
};

static int run(struct xb_config *config, char *const *words)
{
    const char *json = xb_config_get(config, &option_json)->text;
    static struct xb_inventory inventory; /* 340 KiB: too much for a stack */
    struct xb_arena *memory = NULL;
    struct xb_output output = {0};
    struct xb_error error;
    enum xb_status status = XB_OK;
    bool on_stdout = false;
    (void)words;
    for (size_t i = 0; xb_backends[i].name != NULL && i < XB_INVENTORY_BACKENDS; i++) {
        inventory.backends[i].entry = &xb_backends[i];
        look_at(&inventory.backends[inventory.count++], &memory);
    }
    if (json != NULL)
        status = write_list(&output, json, &inventory, &on_stdout, &error);
    if (status == XB_OK && !on_stdout)
        status = print_list(&inventory, &error);
    xb_output_discard(&output);
    xb_arena_free(memory);
    return status == XB_OK ? XB_EXIT_OK : xb_cli_fail(&error);
}

static const struct xb_option *const all_rows[] = {&option_json, XB_OPTIONS_OF_ALL};

const struct xb_command xb_command_list = {
    .name = "list",
    .synopsis = "list",
    .summary = "show backends, GPUs and modes",
    .description = "Shows the backends with what each looked for, the devices with their "
                   "capabilities, and what each mode can measure.",
    .exits = "0 all was shown; 1 it could not be written; 2 the command line is wrong, or FILE "
             "cannot be.",
    .example = "xferbench list --json list.json",
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail,
};
