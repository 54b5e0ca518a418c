/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include "xferbench/options.h"

#include <stdio.h>
#include <string.h>

bool xb_backend_is_automatic(const struct xb_backend_entry *entry)
{
    return entry->backend == NULL || entry->backend->automatic;
}

static bool is_of_kind(const struct xb_backend_entry *entry, enum xb_backend_kind kind)
{
    return kind == XB_BACKENDS_ALL ||
           xb_backend_is_automatic(entry) == (kind == XB_BACKENDS_AUTOMATIC);
}

const char *xb_backend_names(enum xb_backend_kind kind, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        if (!is_of_kind(entry, kind) || length >= size)
            continue;
        const char *separator = length > 0 ? ", " : "";
        length += (size_t)snprintf(text + length, size - length, "%s%s", separator, entry->name);
    }
    return text;
}

enum xb_status xb_backend_check_name(const char *name, struct xb_error *error)
{
    const char *names[16] = {XB_BACKEND_AUTO};
    char all[256];
    char meant[80] = ".";
    size_t count = 1;
    if (strcmp(name, XB_BACKEND_AUTO) == 0 || xb_backend_find(name) != NULL)
        return XB_OK;
    for (size_t i = 0; xb_backends[i].name != NULL && count + 1 < sizeof names / sizeof *names; i++)
        names[count++] = xb_backends[i].name;
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    if (nearest != NULL)
        snprintf(meant, sizeof meant, "; did you mean '%s'?", nearest);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--backend: there is no backend '%.100s'%s It takes %s or " XB_BACKEND_AUTO,
                   name, meant, xb_backend_names(XB_BACKENDS_ALL, all, sizeof all));
}

struct xb_driver *xb_backend_open(const struct xb_backend_entry *entry, struct xb_probe *probe)
{
    struct xb_driver *driver = NULL;
    struct xb_error ignored; /* the probe says it in more detail */
    *probe = (struct xb_probe){.check_count = 0};
    if (entry->backend == NULL || entry->backend->driver_open(&driver, probe, &ignored) != XB_OK)
        driver = NULL;
    for (size_t i = 0; i < probe->check_count; i++)
        xb_debug("probe", "%s: %s: %s", entry->name, probe->checks[i].what, probe->checks[i].found);
    return driver;
}

struct xb_driver *xb_backend_open_first(const char *name, struct xb_probe *probe,
                                        xb_backend_refused *refused, void *argument)
{
    bool automatic = strcmp(name, XB_BACKEND_AUTO) == 0;
    *probe = (struct xb_probe){.check_count = 0}; /* where the list has no such backend */
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        if (automatic ? !xb_backend_is_automatic(entry) : strcmp(entry->name, name) != 0)
            continue;
        struct xb_driver *driver = xb_backend_open(entry, probe);
        if (driver != NULL)
            return driver;
        refused(argument, entry, probe);
    }
    return NULL;
}
