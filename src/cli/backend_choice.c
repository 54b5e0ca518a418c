/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <string.h>

void xb_probe_print(FILE *stream, const struct xb_probe *probe)
{
    for (size_t i = 0; i < probe->check_count; i++)
        fprintf(stream, "    %-29s %s\n", probe->checks[i].what, probe->checks[i].found);
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
    size_t count = 1;
    fprintf(stderr, "xferbench: --backend: there is no backend '%s'", name);
    for (size_t i = 0; xb_backends[i].name != NULL && count + 1 < 16; i++)
        names[count++] = xb_backends[i].name;
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    if (nearest != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, " The backends are:");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s", names[i]);
    fprintf(stderr, "\n");
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
    fprintf(stderr, "xferbench: the %s backend cannot run here:\n", name);
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
    fprintf(stderr, "xferbench: no GPU can be tested here. What was looked for:\n");
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
