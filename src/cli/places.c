/* SPDX-License-Identifier: Apache-2.0 */
/* No output of a command may replace another one, or what the command reads. */
#include "places.h"

#include <string.h>
#include <sys/stat.h>

static const char this_program[] = "/proc/self/exe";

static enum xb_status refuse_inputs(const struct xb_cli_place *output,
                                    const struct xb_cli_place *places, size_t count,
                                    struct xb_error *error)
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

/* `others` are the places behind this output: those before it have been compared with it. */
static enum xb_status refuse_outputs(const struct xb_cli_place *output,
                                     const struct xb_cli_place *others, size_t count,
                                     struct xb_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (others[i].output != NULL && xb_output_is_same(output->output, others[i].output))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s %.200s and %s %.200s are one and the same file: give each its own",
                           output->option, output->output->path, others[i].option,
                           others[i].output->path);
    return XB_OK;
}

static bool is_wanted(const struct xb_cli_place *place)
{
    return place->output != NULL && place->output->path != NULL;
}

enum xb_status xb_cli_check_places(const struct xb_cli_place *places, size_t count,
                                   struct xb_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&places[i]))
            continue;
        enum xb_status status = refuse_outputs(&places[i], places + i + 1, count - i - 1, error);
        if (status != XB_OK)
            return status;
        if (strcmp(places[i].output->path, "-") == 0)
            continue; /* the shell's business, which appends with >> */
        status = refuse_inputs(&places[i], places, count, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_cli_open_places(const struct xb_cli_place *places, size_t count, double deadline,
                                  struct xb_error *error)
{
    enum xb_status status = xb_cli_check_places(places, count, error);
    if (status != XB_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&places[i]))
            continue;
        status = xb_output_open(places[i].output, deadline, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_cli_open_beside(const char *option, struct xb_output *output, char *const *inputs,
                                  size_t count, struct xb_error *error)
{
    struct xb_cli_place places[] = {{.option = option, .output = output}, {.option = "FILE"}};
    for (size_t i = 0; i < count; i++) {
        places[1].input = inputs[i];
        enum xb_status status = xb_cli_check_places(places, 2, error);
        if (status != XB_OK)
            return status;
    }
    return xb_cli_open_places(places, 1, 0, error);
}

bool xb_cli_is_one_file(const char *path, const char *other)
{
    struct stat first;
    struct stat second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && xb_is_same_file(&first, &second);
}
