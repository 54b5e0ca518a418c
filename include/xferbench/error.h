/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Clang warns of every call whose status nobody looks at. */
#ifdef __clang__
#define XB_LOOKED_AT __attribute__((warn_unused_result))
#else
#define XB_LOOKED_AT
#endif

/* What became of a call. Callers pass a failure on as it came; the details are in struct xb_error.
 */
enum XB_LOOKED_AT xb_status {
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

/* One failure, filled in by whoever first sees it. Plain data: copy it freely, nothing to free. */
struct xb_error {
    enum xb_status status;
    int64_t native_code;  /* errno or the vendor's code; 0 where there is none */
    char native_name[48]; /* its name, such as "ENOMEM"; "" where there is none */
    char call[64];        /* the call that failed, such as "mmap"; "" where there is none */
    const char *file;     /* where in xferbench it was seen */
    int line;
    char message[640]; /* what failed and what to do about it; one line of plain text, whatever the
                          paths and names in it */
};

/* Fills *error and returns `status`: use `return XB_FAIL(...)` and the other macros below, which
 * add file and line. `call`, `code` and `name` are of the native call that failed; "", 0 and "" for
 * none. */
enum xb_status xb_error_set(struct xb_error *error, enum xb_status status, const char *file,
                            int line, const char *call, int64_t code, const char *name,
                            const char *format, ...) __attribute__((format(printf, 8, 9)));

#define XB_FAIL_NATIVE(error, status, call, code, name, ...)                                       \
    xb_error_set((error), (status), __FILE__, __LINE__, (call), (code), (name), __VA_ARGS__)

#define XB_FAIL(error, status, ...) XB_FAIL_NATIVE((error), (status), "", 0, "", __VA_ARGS__)

/* A failed call of libc: `code` is the errno it left. */
#define XB_FAIL_ERRNO(error, call, code, ...)                                                      \
    XB_FAIL_NATIVE((error), XB_ERR_SYSTEM, (call), (code), xb_errno_name(code), __VA_ARGS__)

/* "ENOMEM" for ENOMEM; "errno" for a number this libc does not know. Static text. */
const char *xb_errno_name(int code);

/* Writes the whole error as one line: message, call and code, for libc's with its words, and where
 * XFERBENCH_DEBUG has any value the line of the source. At most `size` bytes with the closing zero;
 * returns `text`. */
const char *xb_error_text(const struct xb_error *error, char *text, size_t size);

/* Says a line about `topic` on stderr where XFERBENCH_DEBUG, a comma list, has that word: "plan",
 * "probe", "warm-up", "stop". Never between two time stamps. */
void xb_debug(const char *topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
