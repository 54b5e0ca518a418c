/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_CHOICE_H
#define XFERBENCH_BACKENDS_CHOICE_H

#include "registry.h"

/* How a backend of the list is named, looked for and opened: the only way there is. */

/* The word that stands for the first automatic backend that can run. */
#define XB_BACKEND_AUTO "auto"

/* Whether XB_BACKEND_AUTO means this backend too. One that is not in this build counts: whoever
 * asks for any GPU wants to read that it is missing. */
bool xb_backend_is_automatic(const struct xb_backend_entry *entry);

/* The names of the backends that are automatic, or of those that are not, or of all, in the list's
 * order: "fast, slow". Writes at most `size` bytes and returns `text`. */
enum xb_backend_kind { XB_BACKENDS_ALL, XB_BACKENDS_AUTOMATIC, XB_BACKENDS_BY_NAME };
const char *xb_backend_names(enum xb_backend_kind kind, char *text, size_t size);

/* XB_ERR_USAGE if `name` is neither a backend nor XB_BACKEND_AUTO; the message has the names. */
XB_MUST_CHECK enum xb_status xb_backend_check_name(const char *name, struct xb_error *error);

/*
 * Opens a backend. NULL where it is not in this build or cannot run here: *probe tells why, and is
 * zero where the entry itself does. Close it with driver->backend->driver_close.
 */
struct xb_driver *xb_backend_open(const struct xb_backend_entry *entry, struct xb_probe *probe);

/* Told of a backend that was looked for and cannot run. */
typedef void xb_backend_refused(void *argument, const struct xb_backend_entry *entry,
                                const struct xb_probe *probe);

/*
 * Opens the backend of that name, or for XB_BACKEND_AUTO the first automatic one that can run.
 * Calls `refused` for each that cannot. NULL where none can; *probe is that of the last one that
 * was looked for.
 */
struct xb_driver *xb_backend_open_first(const char *name, struct xb_probe *probe,
                                        xb_backend_refused *refused, void *argument);

#endif
