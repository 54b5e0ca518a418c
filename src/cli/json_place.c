/* SPDX-License-Identifier: Apache-2.0 */
#include "json_place.h"

#include "base/text.h"
#include "command.h"
#include "places.h"

#include <string.h>

const struct xb_option xb_option_json_lines = {
    .name = "json-lines",
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help =
        "Write what --json writes, but in one line; use it in place of --json. srun and mpirun cut "
        "long lines and mix them: there write one file per node (--json %h.json).",
    .selects = true,
};

const struct xb_option xb_option_json_beside = {
    .name = "json",
    .short_name = 'j',
    .type = XB_OPTION_FILE,
    .argument = "FILE",
    .help = "Also write everything as JSON, as --format json does; - for standard output, in place "
            "of what --format says." XB_FILE_NAME_HELP,
};

enum xb_status xb_cli_find_outputs(const struct xb_config *config, struct xb_output *output,
                                   struct xb_output *json, struct xb_error *error)
{
    const struct xb_value *beside = xb_config_get(config, "json");
    XB_TRY(xb_cli_find_output("--output", xb_config_get(config, "output")->text, output, error));
    if (beside->is_set)
        XB_TRY(xb_cli_find_output("--json", beside->text, json, error));
    if (json->is_stdout && output->is_stdout)
        xb_output_discard(output);
    return XB_OK;
}

static enum xb_status write_output(struct xb_output *output, const char *format,
                                   xb_cli_write *write, const void *found, struct xb_error *error)
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

enum xb_status xb_cli_write_outputs(const struct xb_config *config, struct xb_output *output,
                                    struct xb_output *json, xb_cli_write *write, const void *found,
                                    struct xb_error *error)
{
    struct xb_error other;
    enum xb_status status =
        write_output(output, xb_config_get(config, "format")->words[0], write, found, error);
    if (write_output(json, "json", write, found, &other) == XB_OK)
        return status;
    if (status != XB_OK)
        (void)xb_cli_fail(error);
    *error = other;
    return other.status;
}

enum xb_status xb_json_place_choose(const struct xb_config *config, struct xb_json_place *place,
                                    struct xb_error *error)
{
    const struct xb_value *json = xb_config_get(config, "json");
    const struct xb_value *lines = xb_config_get(config, "json-lines");
    if (json->is_set && lines->is_set)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--json and --json-lines write the same document: give one of them");
    *place = (struct xb_json_place){.option = lines->is_set ? "--json-lines" : "--json",
                                    .path = lines->is_set  ? lines->text
                                            : json->is_set ? json->text
                                                           : NULL,
                                    .is_line = lines->is_set};
    return XB_OK;
}
