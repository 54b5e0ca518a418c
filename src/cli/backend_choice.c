/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include "../core/plain_text.h"

#include <string.h>

void xb_probe_print(FILE *stream, const struct xb_probe *probe)
{
    for (size_t i = 0; i < probe->check_count; i++) {
        char what[sizeof probe->checks[i].what], found[4 * sizeof probe->checks[i].found];
        fprintf(stream, "    %-29s %s\n", xb_plain_text(probe->checks[i].what, what, sizeof what),
                xb_plain_text(probe->checks[i].found, found, sizeof found));
    }
}

/* Opens one backend of the list; on failure the probe tells why. */
static enum xb_status open_backend(const struct xb_backend_entry *entry, struct xb_run *run,
                                   struct xb_error *error)
{
    enum xb_status status = entry->backend->driver_open(&run->driver, &run->probe, error);
    if (status == XB_OK)
        run->backend = entry->backend;
    return status;
}

/* Says why a backend cannot run, from a fresh probe. */
static void explain(const struct xb_backend_entry *entry, const struct xb_probe *probe)
{
    if (entry->backend == NULL) {
        fprintf(stderr, "  %s: not in this build: %s\n", entry->name, entry->absent_reason);
        return;
    }
    fprintf(stderr, "  %s: %s\n", entry->name, entry->backend->summary);
    xb_probe_print(stderr, probe);
}

static void suggest_host(void)
{
    fprintf(stderr, "To measure this machine's own memory with its CPU instead:\n"
                    "  xferbench --backend host\n");
}

static enum xb_exit unknown_backend(const char *name)
{
    const char *names[16] = {"auto"};
    char all[256] = "", meant[80] = "";
    size_t count = 1;
    for (size_t i = 0; xb_backends[i].name != NULL && count + 1 < 16; i++)
        names[count++] = xb_backends[i].name;
    names[count] = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, " %s", names[i]);
    }
    const char *nearest = xb_nearest(name, names);
    if (nearest != NULL)
        snprintf(meant, sizeof meant, "; did you mean '%s'?", nearest);
    xb_say("--backend: there is no backend '%s'%s The backends are:%s", name, meant, all);
    return XB_EXIT_USAGE;
}

static enum xb_exit choose_named(const char *name, struct xb_run *run)
{
    const struct xb_backend_entry *entry = xb_backend_find(name);
    if (entry == NULL)
        return unknown_backend(name);
    struct xb_error error;
    if (entry->backend != NULL && open_backend(entry, run, &error) == XB_OK)
        return XB_EXIT_OK;
    xb_say("the %s backend cannot run here:", name);
    explain(entry, &run->probe);
    suggest_host();
    return XB_EXIT_NOTHING;
}

enum xb_exit xb_backend_choose(const char *name, struct xb_run *run)
{
    if (strcmp(name, "auto") != 0)
        return choose_named(name, run);
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        struct xb_error error;
        if (entry->backend != NULL && entry->backend->automatic &&
            open_backend(entry, run, &error) == XB_OK)
            return XB_EXIT_OK;
    }
    xb_say("no GPU can be tested here. What was looked for:");
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        if (entry->backend != NULL && !entry->backend->automatic)
            continue;
        struct xb_error error;
        struct xb_run again = {0};
        if (entry->backend != NULL)
            (void)!open_backend(entry, &again, &error); /* asked again for its probe alone */
        explain(entry, &again.probe);
        xb_run_free(&again);
    }
    suggest_host();
    return XB_EXIT_NOTHING;
}
