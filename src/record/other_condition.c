/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two processes measured the same thing on the same thing. */
#include "making.h"

#include <stdio.h>
#include <string.h>

/* NULL is a value too: not known. */
static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* "hostname is another one (node1, then node2)"; `kind` stands before the values. */
static const char *tell(char *text, size_t size, const char *what, const char *kind,
                        const char *first, const char *other)
{
    snprintf(text, size, "%.60s is another one (%s%.50s, then %.50s)", what, kind,
             first != NULL ? first : "not known", other != NULL ? other : "not known");
    return text;
}

/* ---- options ---- */

/* The first option of `a` that `b` has not. */
static const char *lacking(const struct xb_record *a, const struct xb_record *b)
{
    for (size_t i = 0; i < a->option_count; i++)
        if (xb_record_option(b, a->options[i].name) == NULL)
            return a->options[i].name;
    return NULL;
}

/* What is left of a deadline differs from process to process. */
static bool may_differ(const char *option)
{
    return strcmp(option, "deadline") == 0;
}

static const char *other_option(const struct xb_record *first, const struct xb_record *other,
                                char *text, size_t size)
{
    const char *missing = lacking(first, other);
    const char *new = lacking(other, first);
    char what[64];
    if (missing != NULL || new != NULL) {
        snprintf(text, size, "option %.50s is %s", missing != NULL ? missing : new,
                 missing != NULL ? "missing" : "new");
        return text;
    }
    for (size_t i = 0; i < first->option_count; i++) {
        const struct xb_record_fact *option = &first->options[i];
        const struct xb_record_fact *own = xb_record_option(other, option->name);
        if (own == NULL || may_differ(own->name) || same(option->value, own->value))
            continue;
        snprintf(what, sizeof what, "option %.50s", own->name);
        return tell(text, size, what, "", option->value, own->value);
    }
    return NULL;
}

/* ---- machine ---- */

/* One of the same model is another one all the same: its place and its state are its own. */
static const char *other_device(const struct xb_record *first, const struct xb_record *other,
                                unsigned index, char *text, size_t size)
{
    const struct xb_record_device *a = xb_record_device(first, (int)index);
    const struct xb_record_device *b = xb_record_device(other, (int)index);
    char what[32];
    snprintf(what, sizeof what, "device %u", index);
    if (a == NULL || b == NULL) {
        snprintf(text, size, "%s is %s", what, b == NULL ? "missing" : "new");
        return text;
    }
    if (strcmp(a->name, b->name) != 0)
        return tell(text, size, what, "", a->name, b->name);
    if (!same(a->uuid, b->uuid))
        return tell(text, size, what, "UUID ", a->uuid, b->uuid);
    if (!same(a->pci_bdf, b->pci_bdf))
        return tell(text, size, what, "PCI address ", a->pci_bdf, b->pci_bdf);
    return NULL;
}

static const char *other_devices(const struct xb_record *first, const struct xb_record *other,
                                 char *text, size_t size)
{
    const struct xb_record *const sides[] = {first, other};
    for (size_t side = 0; side < 2; side++) {
        size_t count = 0;
        const struct xb_record_device *devices = xb_record_devices(sides[side], &count);
        for (size_t i = 0; i < count; i++) {
            const char *difference = other_device(first, other, devices[i].index, text, size);
            if (difference != NULL)
                return difference;
        }
    }
    return NULL;
}

const char *xb_record_other_condition(const struct xb_record *first, const struct xb_record *other,
                                      char *text, size_t size)
{
    if (strcmp(first->backend, other->backend) != 0)
        return tell(text, size, "the backend", "", first->backend, other->backend);
    if (!same(first->driver, other->driver))
        return tell(text, size, "the driver", "", first->driver, other->driver);
    const char *difference = other_option(first, other, text, size);
    if (difference != NULL)
        return difference;
    if (!same(first->host.hostname, other->host.hostname))
        return tell(text, size, "hostname", "", first->host.hostname, other->host.hostname);
    return other_devices(first, other, text, size);
}
