/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* A function of a library that is opened at run time. */
struct xb_symbol {
    const char *name;
    size_t offset;    /* of its field in the structure of the library's functions */
    const char *lost; /* what is lost without it; "" if it is required */
};

/* Fills the fields of `functions`, NULL for what the library lacks. Returns the name of the first
 * that is required and not there, or NULL. */
static inline const char *xb_symbols_find(void *library, const struct xb_symbol *symbols,
                                          size_t count, void *functions)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        /* C has no conversion from an object pointer to a function pointer. POSIX gives both the
         * same representation, so we copy the bytes. */
        void *found = dlsym(library, symbols[i].name);
        memcpy((char *)functions + symbols[i].offset, &found, sizeof found);
        if (found == NULL && symbols[i].lost[0] == '\0' && missing == NULL)
            missing = symbols[i].name;
    }
    return missing;
}
