/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "slots.h"

/* A slot of a backend's table. */
struct xb_slot {
    const char *name;
    uint32_t needs; /* bits of enum xb_capability, or XB_SLOT_* */
    size_t offset;  /* of its function in struct xb_backend */
};
extern const struct xb_slot xb_slots[]; /* all of them; ends with a name of NULL */

/* One place in the list of backends. A backend that is not in this build keeps its place. */
struct xb_backend_entry {
    const char *name;
    const struct xb_backend *backend; /* NULL where it is not in this build */
    const char *absent_reason;        /* why; NULL where it is */
};

/* The backends, in order of preference; ends with a name of NULL. CMake writes the list
 * (cmake/registry_list.c.in) for each program; a test program brings its own. */
extern const struct xb_backend_entry xb_backends[];

/* Checks every table of a list once, before use: version, unique names, mandatory slots, whole
 * groups.
 * XB_ERR_INTERNAL names the backend and what it lacks. */
enum xb_status xb_registry_check(const struct xb_backend_entry *backends, struct xb_error *error);

/* Checks that a device of `backend` has the slots behind the capabilities that it advertises.
 * XB_ERR_INTERNAL otherwise. */
enum xb_status xb_registry_check_device(const struct xb_backend *backend,
                                        const struct xb_device_info *info, struct xb_error *error);

/* The entry of that name, or NULL. */
const struct xb_backend_entry *xb_backend_find(const char *name);

/* A backend of the list is named, looked for and opened only by the following. */

/* The word that stands for the first automatic backend that can run. */
#define XB_BACKEND_AUTO "auto"

/* Whether XB_BACKEND_AUTO means this backend too. One that is not in this build counts: whoever
 * asks for any GPU wants to read that it is missing. */
bool xb_backend_is_automatic(const struct xb_backend_entry *entry);

/* Writes the names of backends of a kind, in the list's order: "fast, slow". Writes at most `size`
 * bytes and returns `text`. */
enum xb_backend_kind { XB_BACKENDS_ALL, XB_BACKENDS_AUTOMATIC, XB_BACKENDS_BY_NAME };
const char *xb_backend_names(enum xb_backend_kind kind, char *text, size_t size);

/* XB_ERR_USAGE if `name` is neither a backend nor XB_BACKEND_AUTO; the message has the names. */
enum xb_status xb_backend_check_name(const char *name, struct xb_error *error);

/* Opens a backend. NULL where it is not in this build or cannot run here: *probe tells why, and is
 * zero where the entry does. Close it with driver->backend->driver_close. */
struct xb_driver *xb_backend_open(const struct xb_backend_entry *entry, struct xb_probe *probe);

/* Told of a backend that was looked for and cannot run. */
typedef void xb_backend_refused(void *argument, const struct xb_backend_entry *entry,
                                const struct xb_probe *probe);

/* Opens the backend of that name, or for XB_BACKEND_AUTO the first automatic one that can run;
 * calls `refused` for each that cannot. NULL where none can; *probe is that of the last one
 * tried. */
struct xb_driver *xb_backend_open_first(const char *name, struct xb_probe *probe,
                                        xb_backend_refused *refused, void *argument);
