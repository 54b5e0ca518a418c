/* SPDX-License-Identifier: Apache-2.0 */
/* The keys and their meaning stand in docs/result.schema.json. */
#include "formats.h"

#include "reading/list.h"
#include "record/document.h"

static enum xb_status write_as(FILE *stream, const struct xb_record *record,
                               xb_json_finisher *finish, struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_record_put(&json, record);
    xb_reading_put_of(&json, record);
    xb_json_close(&json);
    return finish(&json, stream, "the JSON", error);
}

enum xb_status xb_result_json_write(FILE *stream, const struct xb_record *record,
                                    struct xb_error *error)
{
    return write_as(stream, record, xb_json_finish, error);
}

enum xb_status xb_result_json_line_write(FILE *stream, const struct xb_record *record,
                                         struct xb_error *error)
{
    return write_as(stream, record, xb_json_finish_line, error);
}
