/* SPDX-License-Identifier: Apache-2.0 */
#include "json_place.h"

#include "base/plain_text.h"
#include "command.h"
#include "places.h"

#include <string.h>

const struct xb_option xb_option_json_lines = {
    XB_FILE("json-lines", "FILE"),
    .help =
        "Write what --json writes, but in one line; use it in place of --json. srun and mpirun cut "
        "long lines and mix them: there write one file per node (--json %h.json).",
    .selects = true,
};

const struct xb_option xb_option_json_beside = {
    XB_FILE("json", "FILE"),
    .short_name = 'j',
    .help = "Also write everything as JSON, as --format json does; - for standard output, in place "
            "of what --format says." XB_FILE_NAME_HELP,
};

enum xb_status xb_cli_find_outputs(struct xb_cli_outputs *outputs, struct xb_error *error)
{
    XB_TRY(xb_cli_find_output("--output", outputs->output_path, &outputs->output, error));
    if (outputs->json_path != NULL)
        XB_TRY(xb_cli_find_output("--json", outputs->json_path, &outputs->json, error));
    if (outputs->json.is_stdout && outputs->output.is_stdout)
        xb_output_discard(&outputs->output);
    return XB_OK;
}

static enum xb_status write_output(struct xb_output *output, unsigned format, xb_cli_write *write,
                                   const void *found, struct xb_error *error)
{
    if (output->stream == NULL)
        return XB_OK;
    enum xb_status status = write(found, output->stream, format, error);
    if (status == XB_OK)
        return xb_output_commit(output, error);
    if (strcmp(output->path, "-") != 0)
        xb_say("'%s' was not written:", output->path); /* a format does not know its file */
    return status;
}

enum xb_status xb_cli_write_outputs(struct xb_cli_outputs *outputs, xb_cli_write *write,
                                    const void *found, struct xb_error *error)
{
    struct xb_error other;
    enum xb_status status = write_output(&outputs->output, outputs->format, write, found, error);
    if (write_output(&outputs->json, XB_FORMAT_JSON, write, found, &other) == XB_OK)
        return status;
    if (status != XB_OK)
        (void)xb_cli_fail(error);
    *error = other;
    return other.status;
}

void xb_cli_discard_outputs(struct xb_cli_outputs *outputs)
{
    xb_output_discard(&outputs->output);
    xb_output_discard(&outputs->json);
}

enum xb_status xb_json_place_choose(const char *json, const char *json_lines,
                                    struct xb_json_place *place, struct xb_error *error)
{
    if (json != NULL && json_lines != NULL)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--json and --json-lines write the same document: give one of them");
    *place = (struct xb_json_place){.option = json_lines != NULL ? "--json-lines" : "--json",
                                    .path = json_lines != NULL ? json_lines : json,
                                    .is_line = json_lines != NULL};
    return XB_OK;
}
