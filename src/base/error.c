/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strerrorname_np */
#include "xferbench/error.h"

#include "plain_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *xb_status_name(enum xb_status status)
{
    switch (status) {
    case XB_OK:
        return "ok";
    case XB_ERR_USAGE:
        return "usage";
    case XB_ERR_UNSUPPORTED:
        return "unsupported";
    case XB_ERR_UNAVAILABLE:
        return "unavailable";
    case XB_ERR_MEMORY:
        return "memory";
    case XB_ERR_SYSTEM:
        return "system";
    case XB_ERR_RUNTIME:
        return "runtime";
    case XB_ERR_STOPPED:
        return "stopped";
    case XB_ERR_INTERNAL:
        return "internal";
    }
    return "unknown";
}

const char *xb_errno_name(int code)
{
    const char *name = strerrorname_np(code);
    return name != NULL ? name : "errno";
}

static void fill(struct xb_error *error, enum xb_status status, const char *file, int line,
                 const char *format, va_list arguments)
{
    char text[sizeof error->message];
    memset(error, 0, sizeof *error);
    error->status = status;
    error->file = file;
    error->line = line;
    vsnprintf(text, sizeof text, format, arguments);
    xb_plain_text(text, error->message, sizeof error->message);
}

enum xb_status xb_error_set(struct xb_error *error, enum xb_status status, const char *file,
                            int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, file, line, format, arguments);
    va_end(arguments);
    return status;
}

enum xb_status xb_error_set_native(struct xb_error *error, enum xb_status status, const char *file,
                                   int line, const char *call, int64_t code, const char *name,
                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, file, line, format, arguments);
    va_end(arguments);
    error->native_code = code;
    snprintf(error->call, sizeof error->call, "%s", call);
    snprintf(error->native_name, sizeof error->native_name, "%s", name);
    return status;
}

/* Writes ", No such file or directory" if this is an error of libc and its message lacks these
 * words; else "". Vendors' error names need no such words: they explain themselves. */
static const char *errno_words(const struct xb_error *error, char *text, size_t size)
{
    int code = (int)error->native_code;
    text[0] = '\0';
    if (strcmp(error->native_name, xb_errno_name(code)) == 0 &&
        strstr(error->message, strerror(code)) == NULL)
        snprintf(text, size, ", %s", strerror(code));
    return text;
}

const char *xb_error_text(const struct xb_error *error, char *text, size_t size)
{
    char words[80];
    if (error->call[0] != '\0')
        snprintf(text, size, "%s [%s: %s (%lld)%s, at %s:%d]", error->message, error->call,
                 error->native_name, (long long)error->native_code,
                 errno_words(error, words, sizeof words), error->file, error->line);
    else
        snprintf(text, size, "%s", error->message);
    return text;
}
