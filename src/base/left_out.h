/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A library that xferbench can do without, and that is not in this build. */
struct xb_left_out {
    const char *library; /* "hwloc", "liblz4", "liburing" */
    const char *meaning; /* what the program cannot do for lack of it */
};

/* All of them, and an entry whose library is NULL. CMake writes this (cmake/left_out.c.in). */
extern const struct xb_left_out xb_left_out[];

static inline bool xb_is_left_out(const char *library)
{
    for (const struct xb_left_out *one = xb_left_out; one->library != NULL; one++)
        if (strcmp(one->library, library) == 0)
            return true;
    return false;
}
