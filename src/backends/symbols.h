/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
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

/* The outcome of opening a library, for later callers. */
struct xb_opening {
    pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
    bool tried;
    enum xb_status outcome;
    struct xb_error reason;
};

/* Calls `open` the first time, and returns what it returned. Any thread. */
static inline enum xb_status xb_open_once(struct xb_opening *opening,
                                          enum xb_status (*open)(struct xb_error *error),
                                          struct xb_error *error)
{
    pthread_mutex_lock(&opening->lock);
    if (!opening->tried) {
        opening->tried = true;
        opening->outcome = open(&opening->reason);
    }
    enum xb_status status = opening->outcome;
    if (status != XB_OK)
        *error = opening->reason;
    pthread_mutex_unlock(&opening->lock);
    return status;
}
