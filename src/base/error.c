/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strerrorname_np */
#include "xferbench/error.h"

#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *xb_status_name(enum xb_status status)
{
    static const char *const names[] = {
        [XB_OK] = "ok",
        [XB_ERR_USAGE] = "usage",
        [XB_ERR_UNSUPPORTED] = "unsupported",
        [XB_ERR_UNAVAILABLE] = "unavailable",
        [XB_ERR_MEMORY] = "memory",
        [XB_ERR_SYSTEM] = "system",
        [XB_ERR_RUNTIME] = "runtime",
        [XB_ERR_STOPPED] = "stopped",
        [XB_ERR_INTERNAL] = "internal",
    };
    size_t count = sizeof names / sizeof names[0];
    return (size_t)status < count && names[status] != NULL ? names[status] : "unknown";
}

const char *xb_errno_name(int code)
{
    const char *name = strerrorname_np(code);
    return name != NULL ? name : "errno";
}

enum xb_status xb_error_set(struct xb_error *error, enum xb_status status, const char *file,
                            int line, const char *call, int64_t code, const char *name,
                            const char *format, ...)
{
    char text[sizeof error->message];
    XB_FORMAT(text, sizeof text, format); /* which may be made of what was in *error */
    struct xb_error made = {.status = status, .native_code = code, .file = file, .line = line};
    xb_plain_text(text, made.message, sizeof made.message);
    snprintf(made.call, sizeof made.call, "%s", call);
    snprintf(made.native_name, sizeof made.native_name, "%s", name);
    *error = made;
    return status;
}

const char *xb_error_text(const struct xb_error *error, char *text, size_t size)
{
    int code = (int)error->native_code;
    /* An error of libc gets its words, unless the message has them. Vendors' error names need no
     * such words: they explain themselves. */
    bool is_libc = strcmp(error->native_name, xb_errno_name(code)) == 0 &&
                   strstr(error->message, strerror(code)) == NULL;
    const char *debug = getenv("XFERBENCH_DEBUG");
    char native[192] = "", place[160] = "";
    if (error->call[0] != '\0')
        snprintf(native, sizeof native, " [%s: %s (%lld)%s%s]", error->call, error->native_name,
                 (long long)error->native_code, is_libc ? ", " : "", is_libc ? strerror(code) : "");
    if (debug != NULL && debug[0] != '\0')
        snprintf(place, sizeof place, ", at %s:%d", error->file, error->line);
    snprintf(text, size, "%s%s%s", error->message, native, place);
    return text;
}

void xb_debug(const char *topic, const char *format, ...)
{
    const char *wanted = getenv("XFERBENCH_DEBUG");
    char text[512];
    if (wanted == NULL || !xb_list_has(wanted, topic))
        return;
    XB_FORMAT(text, sizeof text, format);
    xb_say("%s: %s", topic, text);
}
