/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "xferbench/options.h"

#include <string.h>

enum xb_status xb_show_read_cases(const char *text, struct xb_gates *cases, struct xb_error *error)
{
    struct xb_error cause;
    enum xb_status status = xb_gates_parse(text, cases, &cause);
    bool has_figure = false;
    for (size_t i = 0; status == XB_OK && i < cases->count; i++)
        has_figure = has_figure || cases->items[i].figure != NULL;
    if (status == XB_OK && !has_figure)
        return XB_OK;
    if (status == XB_OK)
        xb_gates_free(cases);
    else if (status != XB_ERR_USAGE)
        return XB_FAIL(error, status, "--case: %.400s", cause.message);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--case takes MODE, MODE/DIRECTION or MODE/DIRECTION/SIZE, such as "
                   "pinned/h2d/64M..1G, and '*' for any; not '%.100s'",
                   text);
}

/* ---- where none is left ---- */

#define MOST_MODES 32

/* The modes of the cases, each once. */
struct modes {
    const char *names[MOST_MODES + 1]; /* ends with NULL */
    size_t count;
};

static void add_mode(struct modes *modes, const char *name)
{
    for (size_t i = 0; i < modes->count; i++)
        if (strcmp(modes->names[i], name) == 0)
            return;
    if (modes->count < MOST_MODES)
        modes->names[modes->count++] = name;
}

/* Where a mode is misspelt, which one is likely meant. */
static enum xb_status refuse(const char *path, const struct xb_gates *cases,
                             const struct modes *modes, struct xb_error *error)
{
    char have[512] = "none";
    size_t length = 0;
    const char *mode = cases->items[0].mode;
    const char *nearest = mode != NULL ? xb_nearest(mode, modes->names) : NULL;
    bool is_slip = nearest != NULL && strcmp(nearest, mode) != 0;
    for (size_t i = 0; i < modes->count && length < sizeof have; i++)
        length += (size_t)snprintf(have + length, sizeof have - length, "%s%.40s",
                                   i > 0 ? ", " : "", modes->names[i]);
    if (is_slip)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "'%.300s' has no case that --case names; did you mean %.40s?", path,
                       nearest);
    return XB_FAIL(error, XB_ERR_USAGE, "'%.300s' has no case that --case names. Its modes: %s",
                   path, have);
}

/* ---- what is kept ---- */

static bool is_named(const struct xb_record_case *test, const void *cases)
{
    return xb_gates_name(cases, test);
}

enum xb_status xb_show_keep_of_record(struct xb_record *record, const struct xb_gates *cases,
                                      struct xb_error *error)
{
    struct modes modes = {.count = 0};
    if (cases->count == 0)
        return XB_OK;
    for (size_t i = 0; i < record->case_count; i++)
        add_mode(&modes, record->cases[i].mode);
    xb_record_keep(record, is_named, cases);
    return record->case_count > 0 ? XB_OK : refuse(record->path, cases, &modes, error);
}

enum xb_status xb_show_keep_of_comparison(const char *path, struct xb_comparison *comparison,
                                          const struct xb_gates *cases, struct xb_error *error)
{
    struct modes modes = {.count = 0};
    size_t kept = 0;
    if (cases->count == 0)
        return XB_OK;
    for (size_t i = 0; i < comparison->case_count; i++) {
        add_mode(&modes, comparison->cases[i].test->mode);
        if (xb_gates_name(cases, comparison->cases[i].test))
            comparison->cases[kept++] = comparison->cases[i];
    }
    comparison->case_count = kept;
    return kept > 0 ? XB_OK : refuse(path, cases, &modes, error);
}

void xb_show_say_kept(FILE *stream, size_t kept, size_t all)
{
    if (kept < all)
        fprintf(stream, "Only the cases of --case: %zu of %zu.\n\n", kept, all);
}
