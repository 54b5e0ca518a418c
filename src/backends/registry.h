/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_REGISTRY_H
#define XFERBENCH_BACKENDS_REGISTRY_H

#include "xferbench/backend.h"

/* One place in the list of backends. A backend that is not in this build keeps its place. */
struct xb_backend_entry {
    const char *name;
    const struct xb_backend *backend; /* NULL where it is not in this build */
    const char *absent_reason;        /* why; NULL where it is */
};

/*
 * The backends, in order of preference; ends with an entry whose name is NULL. CMake writes the
 * definition (cmake/registry_list.c.in) for each program; a test program brings its own.
 */
extern const struct xb_backend_entry xb_backends[];

/*
 * Checks every table of such a list: version, unique names, mandatory slots. Done once, before it
 * is used. XB_ERR_INTERNAL names the backend and what it lacks.
 */
XB_MUST_CHECK enum xb_status xb_registry_check(const struct xb_backend_entry *backends,
                                               struct xb_error *error);

/*
 * Checks that a device of `backend` has the slot behind each capability it advertises and none that
 * the table cannot serve. XB_ERR_INTERNAL otherwise.
 */
XB_MUST_CHECK enum xb_status xb_registry_check_device(const struct xb_backend *backend,
                                                      const struct xb_device_info *info,
                                                      struct xb_error *error);

/* The entry of that name, or NULL. */
const struct xb_backend_entry *xb_backend_find(const char *name);

#endif
