/* SPDX-License-Identifier: Apache-2.0 */
/* No output of a command may replace another one, or what the command reads. */
#include "cli.h"

#include <string.h>
#include <sys/stat.h>

static const char this_program[] = "/proc/self/exe";

static enum xb_status refuse_inputs(const struct xb_place *output, const struct xb_place *places,
                                    size_t count, struct xb_error *error)
{
    const char *path = output->output->path;
    for (size_t i = 0; i < count; i++)
        if (places[i].input != NULL && xb_output_is_over(output->output, places[i].input))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s %.200s would replace '%.200s', which is read (%s): write to another "
                           "file",
                           output->option, path, places[i].input, places[i].option);
    if (xb_output_is_over(output->output, this_program))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s %.200s would replace this program: write to another file",
                       output->option, path);
    return XB_OK;
}

static enum xb_status check(const struct xb_place *places, size_t count, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < count; i++) {
        const struct xb_output *output = places[i].output;
        if (output == NULL || output->path == NULL)
            continue;
        for (size_t j = i + 1; j < count; j++)
            if (places[j].output != NULL && xb_output_is_same(output, places[j].output))
                return XB_FAIL(error, XB_ERR_USAGE,
                               "%s %.200s and %s %.200s are one and the same file: give each its "
                               "own",
                               places[i].option, output->path, places[j].option,
                               places[j].output->path);
        if (strcmp(output->path, "-") != 0) /* the shell's business, which appends with >> */
            status = refuse_inputs(&places[i], places, count, error);
    }
    return status;
}

enum xb_status xb_cli_open_places(const struct xb_place *places, size_t count, double deadline,
                                  struct xb_error *error)
{
    enum xb_status status = check(places, count, error);
    for (size_t i = 0; status == XB_OK && i < count; i++)
        if (places[i].output != NULL && places[i].output->path != NULL)
            status = xb_output_open(places[i].output, deadline, error);
    return status;
}

bool xb_cli_is_one_file(const char *path, const char *other)
{
    struct stat first;
    struct stat second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && xb_is_same_file(&first, &second);
}
