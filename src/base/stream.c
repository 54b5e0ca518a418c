/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "stream.h"

#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum xb_status xb_stream_fail(const char *what, int code, struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, "write", code, "cannot write %s: %s (%s): %s", what, strerror(code),
                         xb_errno_name(code), xb_output_advice(code));
}

enum xb_status xb_stream_finish(FILE *stream, const char *what, struct xb_error *error)
{
    bool written = !ferror(stream);
    if (fflush(stream) == 0 && written)
        return XB_OK;
    int code = errno;
    return xb_stream_fail(what, code, error);
}

/* The write function for fopencookie(): less than `size` sets the stream's error flag. */
static ssize_t append(void *cookie, const char *piece, size_t size)
{
    struct xb_memory_text *text = cookie;
    if (text->room - text->length <= size) {
        size_t room = 2 * (text->length + size + 1);
        char *larger = realloc(text->text, room);
        if (larger == NULL)
            return 0;
        text->text = larger;
        text->room = room;
    }
    memcpy(text->text + text->length, piece, size);
    text->length += size;
    text->text[text->length] = '\0';
    return (ssize_t)size;
}

/* For ftell(): nobody moves in such a text. */
static int tell(void *cookie, off64_t *offset, int whence)
{
    const struct xb_memory_text *text = cookie;
    (void)whence;
    *offset = (off64_t)text->length;
    return 0;
}

FILE *xb_memory_text_begin(struct xb_memory_text *text)
{
    (void)append(text, "", 0); /* so that a text of nothing is one too */
    text->stream = fopencookie(text, "w", (cookie_io_functions_t){.write = append, .seek = tell});
    return text->stream;
}

enum xb_status xb_memory_text_end(struct xb_memory_text *text, const char *what,
                                  struct xb_error *error)
{
    bool is_whole = text->stream != NULL && text->text != NULL && ferror(text->stream) == 0;
    if (text->stream != NULL && fclose(text->stream) != 0)
        is_whole = false;
    text->stream = NULL;
    if (is_whole)
        return XB_OK;
    free(text->text);
    *text = (struct xb_memory_text){.text = NULL};
    (void)XB_FAIL(error, XB_ERR_MEMORY, "no memory for %s", what);
    return XB_ERR_MEMORY; /* clang-tidy must see that this is a failure */
}

enum xb_status xb_memory_text_keep(struct xb_memory_text *text, const char *what,
                                   struct xb_arena **arena, const char **kept,
                                   struct xb_error *error)
{
    XB_TRY(xb_memory_text_end(text, what, error));
    *kept = xb_arena_print(arena, "%s", text->text);
    free(text->text);
    return *kept != NULL ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "no memory for %s", what);
}
