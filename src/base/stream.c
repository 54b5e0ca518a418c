/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "output.h"

#include <errno.h>
#include <stdbool.h>
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
