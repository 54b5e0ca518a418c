/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "stream.h"

#include "memory.h"
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

/* The write function for fopencookie(). */
static ssize_t append(void *cookie, const char *piece, size_t size)
{
    struct xb_memory_text *text = cookie;
    if (text->room - text->length <= size) {
        text->room = 2 * (text->length + size + 1);
        text->text = xb_resize(text->text, text->room);
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
    if (text->stream == NULL)
        xb_memory_end(sizeof *text);
    return text->stream;
}

void xb_memory_text_end(struct xb_memory_text *text)
{
    (void)fclose(text->stream); /* nothing that it writes can fail */
    text->stream = NULL;
}

const char *xb_memory_text_keep(struct xb_memory_text *text, struct xb_arena **arena)
{
    xb_memory_text_end(text);
    const char *kept = xb_arena_copy(arena, text->text);
    free(text->text);
    return kept;
}
