/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
/* Replaces %h, %t and %r in the names of files to write. */
#include "places.h"

#include "base/day_time.h"
#include "machine/node.h"

#include <inttypes.h>
#include <string.h>

/* A name that is being made. */
struct name {
    const char *option;
    char *text; /* holds XB_FILE_NAME bytes */
    size_t length;
};

static enum xb_status add(struct name *name, const char *text, size_t length,
                          struct xb_error *error)
{
    if (length >= XB_FILE_NAME - name->length)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: the name has more than %d bytes: use a shorter one", name->option,
                       XB_FILE_NAME - 1);
    memcpy(name->text + name->length, text, length);
    name->length += length;
    name->text[name->length] = '\0';
    return XB_OK;
}

/* Adds the text for the letter after a percent sign. */
static enum xb_status add_letter(struct name *name, char letter, struct xb_error *error)
{
    char text[24]; /* a date too, whose year may have more digits than four */
    struct xb_node node;
    struct xb_launcher launcher;
    struct tm utc;
    time_t began = xb_began().tv_sec;
    enum xb_status status = XB_OK;
    switch (letter) {
    case 'h':
        status = xb_node_find(&node, error);
        return status != XB_OK ? status : add(name, node.name, strlen(node.name), error);
    case 't':
        gmtime_r(&began, &utc);
        return add(name, text, strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc), error);
    case 'r':
        XB_TRY(xb_launcher_find(&launcher, error));
        if (launcher.rank < 0)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s: %%r is the rank, but no launcher told one: start xferbench with "
                           "srun or mpirun, or use %%h, the node's name",
                           name->option);
        snprintf(text, sizeof text, "%" PRId64, launcher.rank);
        return add(name, text, strlen(text), error);
    case '%':
        return add(name, "%", 1, error);
    case '\0':
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: the name ends with %%: write %%%% for a percent sign", name->option);
    default:
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: %%%c means nothing: use %%h (node), %%t (time), %%r (rank), or %%%% "
                       "for a percent sign",
                       name->option, letter);
    }
}

enum xb_status xb_file_name_make(const char *option, const char *pattern, char *name,
                                 struct xb_error *error)
{
    struct name made = {.option = option, .text = name};
    enum xb_status status = XB_OK;
    name[0] = '\0';
    for (;;) {
        size_t length = strcspn(pattern, "%");
        status = add(&made, pattern, length, error);
        pattern += length;
        if (status != XB_OK || *pattern == '\0')
            return status;
        XB_TRY(add_letter(&made, pattern[1], error));
        pattern += strlen("%h");
    }
}

enum xb_status xb_cli_find_output(const char *option, const char *pattern, struct xb_output *output,
                                  struct xb_error *error)
{
    char name[XB_FILE_NAME];
    enum xb_status status = xb_file_name_make(option, pattern, name, error);
    if (status == XB_OK)
        status = xb_output_find(output, name, error);
    output->keeps_others = status == XB_OK;
    return status;
}
