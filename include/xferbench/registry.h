/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REGISTRY_H
#define XFERBENCH_REGISTRY_H

#include "xferbench/backend.h"
#include "xferbench/mode.h"

/* One place in the list of backends. A backend that is not in this build keeps its place. */
struct xb_backend_entry {
    const char *name;
    const struct xb_backend *backend; /* NULL where it is not in this build */
    const char *absent_reason;        /* why; NULL where it is */
};

/*
 * The lists, in order of preference. CMake writes their definition (cmake/registry_list.c.in) for
 * each program; a test program brings its own. `xb_modes` ends with NULL, `xb_backends` with an
 * entry whose name is NULL.
 */
extern const struct xb_backend_entry xb_backends[];
extern const struct xb_mode *const xb_modes[];

/*
 * Checks every table of two such lists: version, unique names, mandatory slots and hooks. Done
 * once, before they are used. XB_ERR_INTERNAL names the table and what it lacks.
 */
XB_MUST_CHECK enum xb_status xb_registry_check(const struct xb_backend_entry *backends,
                                               const struct xb_mode *const *modes,
                                               struct xb_error *error);

/*
 * Checks that a device of `backend` has the slot behind each capability it advertises and none that
 * the table cannot serve. XB_ERR_INTERNAL otherwise.
 */
XB_MUST_CHECK enum xb_status xb_registry_check_device(const struct xb_backend *backend,
                                                      const struct xb_device_info *info,
                                                      struct xb_error *error);

/* The entry or mode of that name, or NULL. */
const struct xb_backend_entry *xb_backend_find(const char *name);
const struct xb_mode *xb_mode_find(const char *name);

#endif
