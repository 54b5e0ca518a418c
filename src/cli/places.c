/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "places.h"

#include "base/text.h"
#include "base/units.h"
#include "command.h"
#include "machine/node.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names with %h and the like ---- */

/* What a letter after a percent sign stands for. `text` has room for XB_NODE_NAME. */
static enum xb_status read_letter(const char *option, char letter, char *text,
                                  struct xb_error *error)
{
    struct xb_node_name node;
    struct xb_launcher launcher;
    struct tm utc;
    time_t began = xb_began().tv_sec;
    switch (letter) {
    case 'h':
        XB_TRY(xb_node_find(&node, error));
        memcpy(text, node.name, sizeof node.name);
        return XB_OK;
    case 't':
        strftime(text, XB_NODE_NAME, "%Y%m%dT%H%M%SZ", gmtime_r(&began, &utc));
        return XB_OK;
    case 'r':
        XB_TRY(xb_launcher_find(&launcher, error));
        if (!launcher.known)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s: %%r is the rank, but no launcher told one: start xferbench with "
                           "srun or mpirun, or use %%h, the node's name",
                           option);
        snprintf(text, XB_NODE_NAME, "%" PRIu64, launcher.rank);
        return XB_OK;
    case '%':
        snprintf(text, XB_NODE_NAME, "%%");
        return XB_OK;
    case '\0':
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: the name ends with %%: write %%%% for a percent sign", option);
    default:
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: %%%c means nothing: use %%h (node), %%t (time), %%r (rank), or %%%% "
                       "for a percent sign",
                       option, letter);
    }
}

enum xb_status xb_file_name_make(const char *option, const char *pattern, char *name,
                                 struct xb_error *error)
{
    size_t length = 0;
    while (*pattern != '\0') {
        char text[XB_NODE_NAME];
        const char *piece = pattern;
        size_t bytes = strcspn(pattern, "%");
        pattern += bytes > 0 ? bytes : strlen("%h");
        if (bytes == 0) {
            XB_TRY(read_letter(option, piece[1], text, error));
            piece = text;
            bytes = strlen(text);
        }
        if (bytes >= XB_FILE_NAME - length)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s: the name has more than %d bytes: use a shorter one", option,
                           XB_FILE_NAME - 1);
        memcpy(name + length, piece, bytes);
        length += bytes;
    }
    name[length] = '\0';
    return XB_OK;
}

enum xb_status xb_cli_find_output(const char *option, const char *pattern, struct xb_output *output,
                                  struct xb_error *error)
{
    char name[XB_FILE_NAME];
    XB_TRY(xb_file_name_make(option, pattern, name, error));
    XB_TRY(xb_output_find(output, name, error));
    output->keeps_others = true;
    return XB_OK;
}

/* ---- no output may replace another one, or what the command reads ---- */

static bool is_wanted(const struct xb_cli_place *place)
{
    return place->output != NULL && place->output->path != NULL;
}

enum xb_status xb_cli_check_places(const struct xb_cli_place *places, size_t count,
                                   struct xb_error *error)
{
    for (const struct xb_cli_place *place = places; place < places + count; place++) {
        const struct xb_output *output = place->output;
        if (!is_wanted(place))
            continue;
        for (const struct xb_cli_place *other = place + 1; other < places + count; other++)
            if (other->output != NULL && xb_output_is_same(output, other->output))
                return XB_FAIL(error, XB_ERR_USAGE,
                               "%s %.200s and %s %.200s are one and the same file: give each its "
                               "own",
                               place->option, output->path, other->option, other->output->path);
        if (strcmp(output->path, "-") == 0)
            continue; /* the shell's business, which appends with >> */
        for (size_t i = 0; i < count; i++)
            if (places[i].input != NULL && xb_output_is_over(output, places[i].input))
                return XB_FAIL(error, XB_ERR_USAGE,
                               "%s %.200s would replace '%.200s', which is read (%s): write to "
                               "another file",
                               place->option, output->path, places[i].input, places[i].option);
        if (xb_output_is_over(output, "/proc/self/exe"))
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s %.200s would replace this program: write to another file",
                           place->option, output->path);
    }
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
    for (size_t i = 0; i < count; i++) {
        places[1].input = inputs[i];
        XB_TRY(xb_cli_check_places(places, 2, error));
    }
    return xb_cli_open_places(places, 1, 0, error);
}

bool xb_cli_is_one_file(const char *path, const char *other)
{
    struct stat first, second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && xb_is_same_file(&first, &second);
}

/* ---- the report and the JSON beside it ---- */

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
