/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A result that carries a status must be looked at. */
#define XB_MUST_CHECK __attribute__((warn_unused_result))

/* What became of a call. Callers pass a failure on as it came; the details are in struct xb_error.
 */
enum xb_status {
    XB_OK = 0,
    XB_ERR_USAGE,       /* the request itself is wrong */
    XB_ERR_UNSUPPORTED, /* this device or this build cannot do it */
    XB_ERR_UNAVAILABLE, /* a backend has no library, no driver or no device */
    XB_ERR_MEMORY,      /* not enough memory, on either side */
    XB_ERR_SYSTEM,      /* a call to the operating system failed */
    XB_ERR_RUNTIME,     /* a call to a vendor's runtime failed */
    XB_ERR_STOPPED,     /* a signal or the deadline came first */
    XB_ERR_INTERNAL     /* xferbench broke a rule of its own: a bug */
};

/* The status as a lower-case word, such as "memory". Never NULL; the text is static. */
const char *xb_status_name(enum xb_status status);

/* Ends a function that returns a status where a call failed, with what it returned: where nothing
 * is held. */
#define XB_TRY(call)                                                                               \
    do {                                                                                           \
        enum xb_status xb_tried = (call);                                                          \
        if (xb_tried != XB_OK)                                                                     \
            return xb_tried;                                                                       \
    } while (0)
