/* SPDX-License-Identifier: Apache-2.0 */
/* No output of a command may replace another one, or what the command reads. */
#include "places.h"

#include <string.h>
#include <sys/stat.h>

static bool is_wanted(const struct xb_cli_place *place)
{
    return place->output != NULL && place->output->path != NULL;
}

/* Those before this place have been compared with it. */
static enum xb_status check_place(const struct xb_cli_place *places, size_t count, size_t at,
                                  struct xb_error *error)
{
    const char *option = places[at].option;
    const struct xb_output *output = places[at].output;
    for (size_t i = at + 1; i < count; i++)
        if (places[i].output != NULL && xb_output_is_same(output, places[i].output))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s %.200s and %s %.200s are one and the same file: give each its own",
                           option, output->path, places[i].option, places[i].output->path);
    if (strcmp(output->path, "-") == 0)
        return XB_OK; /* the shell's business, which appends with >> */
    for (size_t i = 0; i < count; i++)
        if (places[i].input != NULL && xb_output_is_over(output, places[i].input))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s %.200s would replace '%.200s', which is read (%s): write to another "
                           "file",
                           option, output->path, places[i].input, places[i].option);
    if (xb_output_is_over(output, "/proc/self/exe"))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s %.200s would replace this program: write to another file", option,
                       output->path);
    return XB_OK;
}

enum xb_status xb_cli_check_places(const struct xb_cli_place *places, size_t count,
                                   struct xb_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (is_wanted(&places[i]))
            XB_TRY(check_place(places, count, i, error));
    return XB_OK;
}

enum xb_status xb_cli_open_places(const struct xb_cli_place *places, size_t count, double deadline,
                                  struct xb_error *error)
{
    XB_TRY(xb_cli_check_places(places, count, error));
    for (size_t i = 0; i < count; i++)
        if (is_wanted(&places[i]))
            XB_TRY(xb_output_open(places[i].output, deadline, error));
    return XB_OK;
}

enum xb_status xb_cli_open_beside(const char *option, struct xb_output *output, char *const *inputs,
                                  size_t count, struct xb_error *error)
{
    struct xb_cli_place places[] = {{.option = option, .output = output}, {.option = "FILE"}};
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < count; i++) {
        places[1].input = inputs[i];
        status = xb_cli_check_places(places, 2, error);
    }
    return status == XB_OK ? xb_cli_open_places(places, 1, 0, error) : status;
}

bool xb_cli_is_one_file(const char *path, const char *other)
{
    struct stat first;
    struct stat second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && xb_is_same_file(&first, &second);
}
