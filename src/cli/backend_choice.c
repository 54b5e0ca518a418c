/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "backends/registry.h"
#include "base/terminal.h"
#include "base/text.h"
#include "help.h"
#include "measure/run.h"

#include <string.h>

void xb_probe_print(FILE *stream, const struct xb_probe *probe)
{
    for (size_t i = 0; i < probe->check_count; i++) {
        char what[sizeof probe->checks[i].what], found[4 * sizeof probe->checks[i].found];
        xb_help_print_entry(stream, 34, xb_plain_text(probe->checks[i].found, found, sizeof found),
                            "    %s", xb_plain_text(probe->checks[i].what, what, sizeof what));
    }
}

/* The backends that were looked at, each with what it found. */
struct tries {
    struct {
        const struct xb_backend_entry *entry;
        struct xb_probe probe;
    } of[8];
    size_t count;
};

static void note_try(void *argument, const struct xb_backend_entry *entry,
                     const struct xb_probe *probe)
{
    struct tries *tries = argument;
    if (tries->count < sizeof tries->of / sizeof tries->of[0]) {
        tries->of[tries->count].entry = entry;
        tries->of[tries->count++].probe = *probe;
    }
}

enum xb_exit xb_backend_choose(const char *name, struct xb_run *run)
{
    struct xb_error error;
    if (xb_backend_check_name(name, &error) != XB_OK)
        return (enum xb_exit)xb_cli_fail(&error);
    struct tries tries = {.count = 0};
    run->driver = xb_backend_open_first(name, &run->probe, note_try, &tries);
    if (run->driver != NULL) {
        run->backend = run->driver->backend;
        return XB_EXIT_OK;
    }
    if (strcmp(name, XB_BACKEND_AUTO) == 0)
        xb_say("no GPU can be tested here. What was looked for:");
    else
        xb_say("the %s backend cannot run here:", name);
    /* Why none of them can run. */
    for (size_t i = 0; i < tries.count; i++) {
        const struct xb_backend_entry *entry = tries.of[i].entry;
        char label[64];
        int width = snprintf(label, sizeof label, "%s:", entry->name) + 1;
        xb_note_print(stderr, label, width, entry->backend == NULL ? "not in this build: %s" : "%s",
                      entry->backend == NULL ? entry->absent_reason : entry->backend->summary);
        xb_probe_print(stderr, &tries.of[i].probe);
    }
    /* A backend that needs no GPU is never taken unasked. */
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        char text[256];
        if (xb_backend_is_automatic(entry) || strcmp(entry->name, name) == 0)
            continue;
        snprintf(text, sizeof text, "measures without a GPU: %s", entry->backend->summary);
        xb_help_print_entry(stderr, 34, text, "  xferbench --backend %s", entry->name);
    }
    return XB_EXIT_NOTHING;
}
