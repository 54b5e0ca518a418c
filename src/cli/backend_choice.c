/* SPDX-License-Identifier: Apache-2.0 */
#include "backend_choice.h"

#include "backends/choice.h"
#include "base/plain_text.h"
#include "base/stream.h"
#include "help.h"

#include <stdlib.h>
#include <string.h>

void xb_probe_print(FILE *stream, const struct xb_probe *probe)
{
    for (size_t i = 0; i < probe->check_count; i++) {
        char what[sizeof probe->checks[i].what], found[4 * sizeof probe->checks[i].found];
        char name[4 + sizeof what];
        snprintf(name, sizeof name, "    %s",
                 xb_plain_text(probe->checks[i].what, what, sizeof what));
        xb_help_print_entry(stream, name,
                            xb_plain_text(probe->checks[i].found, found, sizeof found), 34);
    }
}

/* Notes why a backend cannot run. The argument is the stream; NULL if memory is short. */
static void explain(void *argument, const struct xb_backend_entry *entry,
                    const struct xb_probe *probe)
{
    FILE *stream = argument;
    if (stream == NULL)
        return;
    if (entry->backend == NULL) {
        fprintf(stream, "  %s: not in this build: %s\n", entry->name, entry->absent_reason);
        return;
    }
    fprintf(stream, "  %s: %s\n", entry->name, entry->backend->summary);
    xb_probe_print(stream, probe);
}

/* A backend that needs no GPU is never taken unasked. */
static void suggest_others(const char *asked)
{
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++)
        if (!xb_backend_is_automatic(entry) && strcmp(entry->name, asked) != 0)
            fprintf(stderr, "To measure without a GPU, with %s:\n  xferbench --backend %s\n",
                    entry->backend->summary, entry->name);
}

enum xb_exit xb_backend_choose(const char *name, struct xb_run *run)
{
    struct xb_error error;
    if (xb_backend_check_name(name, &error) != XB_OK)
        return (enum xb_exit)xb_cli_fail(&error);
    struct xb_memory_text reasons = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&reasons);
    run->driver = xb_backend_open_first(name, &run->probe, explain, stream);
    bool is_whole = xb_memory_text_end(&reasons, "what was looked for", &error) == XB_OK;
    if (run->driver != NULL) {
        run->backend = run->driver->backend;
    } else {
        if (strcmp(name, XB_BACKEND_AUTO) == 0)
            xb_say("no GPU can be tested here. What was looked for:");
        else
            xb_say("the %s backend cannot run here:", name);
        fprintf(stderr, "%s", is_whole ? reasons.text : "");
        suggest_others(name);
    }
    free(reasons.text);
    return run->driver != NULL ? XB_EXIT_OK : XB_EXIT_NOTHING;
}
