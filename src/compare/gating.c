/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures of which cases gate. */
#include "internal.h"

#include "record/mode_list.h"
#include "xferbench/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_of(const struct xb_gate *gate, const struct xb_record_case *test)
{
    return (gate->mode == NULL || strcmp(gate->mode, test->mode) == 0) &&
           (gate->direction == NULL || strcmp(gate->direction, test->direction) == 0) &&
           test->bytes >= gate->least && test->bytes <= gate->most;
}

bool xb_gates_name(const struct xb_gates *gates, const struct xb_record_case *test)
{
    for (size_t i = 0; i < gates->count; i++)
        if (is_of(&gates->items[i], test))
            return true;
    return false;
}

bool xb_gate_passes(const struct xb_gate *gate, const struct xb_record_case *test,
                    const struct xb_figure *figure)
{
    return is_of(gate, test) &&
           (gate->figure == NULL ? figure->gates : strcmp(gate->figure, figure->name) == 0);
}

bool xb_gates_take(const struct xb_gates *gates, const struct xb_compared *compared)
{
    if (gates->count == 0)
        return compared->figure.gates;
    for (size_t i = 0; i < gates->count; i++)
        if (xb_gate_passes(&gates->items[i], compared->test, &compared->figure))
            return true;
    return false;
}

/* ---- gates that cannot be meant ---- */

/* What the cases have that a gate is about, whatever figure it names. */
struct names {
    size_t cases;
    const char *figures[XB_COMPARE_FIGURES + 1]; /* each once; ends with NULL */
    size_t count;
    bool measured; /* any of the cases, in any process */
};

static size_t add_once(const char **names, size_t count, size_t most, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return count;
    if (count < most)
        names[count++] = name;
    return count;
}

static void add_name(struct names *names, const char *figure)
{
    names->count = add_once(names->figures, names->count, XB_COMPARE_FIGURES, figure);
}

static void add_names(struct names *names, const struct xb_gate *gate,
                      const struct xb_record *record)
{
    struct xb_gate any = *gate;
    any.figure = NULL;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        const struct xb_figure *own = xb_compare_own_figure(test);
        if (!xb_gate_passes(&any, test, own))
            continue;
        names->cases++;
        add_name(names, own->name);
        for (size_t p = 0; p < record->process_count; p++) {
            const struct xb_record_row *row = &test->rows[p];
            names->measured = names->measured || row->figure_count > 0;
            for (size_t k = 0; k < row->figure_count; k++)
                add_name(names, row->figures[k].name);
        }
    }
}

/* ---- names in the place of a mode ---- */

static bool has_mode(const struct xb_record *record, const char *mode)
{
    for (size_t i = 0; i < record->case_count; i++)
        if (strcmp(record->cases[i].mode, mode) == 0)
            return true;
    return false;
}

static bool is_direction(const char *word)
{
    static const enum xb_direction all[] = {XB_H2D, XB_D2H, XB_BIDIR, XB_D2D};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(word, xb_direction_name(all[i])) == 0)
            return true;
    return false;
}

#define MOST_MODES ((size_t)128)

static enum xb_status check_mode(const struct xb_comparison *comparison, const struct xb_gate *gate,
                                 const char *what, struct xb_error *error)
{
    char list[256] = "";                        /* what modes the files have */
    const char *modes[MOST_MODES + 1] = {NULL}; /* of both files, then of this program */
    size_t in_files = 0;
    if (gate->mode == NULL || has_mode(comparison->baseline, gate->mode) ||
        has_mode(comparison->candidate, gate->mode) || xb_mode_find(gate->mode) != NULL)
        return XB_OK;
    if (is_direction(gate->mode))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: no mode is called %s: that is a direction. Write '*/%s' for all modes, "
                       "or MODE/%s",
                       what, gate->mode, gate->mode, gate->mode);
    if (xb_figure_find(gate->mode) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: no mode is called %s: that is a figure. Write '*/*/*/%s' for all "
                       "modes, or 'MODE/*/*/%s'",
                       what, gate->mode, gate->mode, gate->mode);
    const struct xb_record *records[] = {comparison->baseline, comparison->candidate};
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < records[r]->case_count; i++)
            in_files = add_once(modes, in_files, MOST_MODES, records[r]->cases[i].mode);
    size_t count = in_files;
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        count = add_once(modes, count, MOST_MODES, xb_modes[i]->name);
    const char *nearest = xb_nearest(gate->mode, modes);
    size_t length = 0;
    for (size_t i = 0; i < in_files && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.40s",
                                   i > 0 ? ", " : "; the files have ", modes[i]);
    if (nearest != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "%s: no mode is called \"%.60s\"; did you mean %.60s?",
                       what, gate->mode, nearest);
    return XB_FAIL(error, XB_ERR_USAGE, "%s: no mode is called \"%.60s\"%s", what, gate->mode,
                   list);
}

static bool has_figure(const struct xb_record *record, const char *figure)
{
    for (size_t i = 0; i < record->case_count; i++)
        for (size_t p = 0; p < record->process_count; p++)
            if (xb_record_row_figure(&record->cases[i].rows[p], figure) != NULL)
                return true;
    return false;
}

enum xb_status xb_gate_check_words(const struct xb_comparison *comparison,
                                   const struct xb_gate *gate, const char *what,
                                   struct xb_error *error)
{
    XB_TRY(check_mode(comparison, gate, what, error));
    if (gate->direction != NULL && !is_direction(gate->direction))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: no direction is called \"%.60s\"", what,
                       gate->direction);
    if (gate->figure != NULL && xb_figure_find(gate->figure) == NULL &&
        !has_figure(comparison->baseline, gate->figure) &&
        !has_figure(comparison->candidate, gate->figure))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: no figure is called \"%.60s\"", what,
                       gate->figure);
    return XB_OK;
}

/* ---- one gate ---- */

static enum xb_status check_gate(const struct xb_comparison *comparison, size_t index,
                                 struct xb_error *error)
{
    char text[192]; /* "gate 1 (mode pinned, direction any, any size)" */
    char sizes[64] = "any size";
    char have[512] = "";
    struct names names = {0};
    const struct xb_gate *gate = &comparison->request.gates.items[index];
    XB_TRY(check_mode(comparison, gate, "--gate", error));
    if (gate->least > 0 || gate->most < UINT64_MAX)
        snprintf(sizes, sizeof sizes, "%" PRIu64 " to %" PRIu64 " bytes", gate->least, gate->most);
    snprintf(text, sizeof text, "gate %zu (mode %.40s, direction %.20s, %s)", index + 1,
             gate->mode != NULL ? gate->mode : "any",
             gate->direction != NULL ? gate->direction : "any", sizes);
    add_names(&names, gate, comparison->baseline);
    add_names(&names, gate, comparison->candidate);
    if (names.cases == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--gate: neither file has a case for %s", text);
    if (gate->figure == NULL)
        return XB_OK;
    size_t length = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (strcmp(names.figures[i], gate->figure) == 0)
            return XB_OK;
        if (length < sizeof have)
            length += (size_t)snprintf(have + length, sizeof have - length, "%s%.60s",
                                       i > 0 ? ", " : "", names.figures[i]);
    }
    /* Cases that all failed show none of their figures: this gate judges nothing, which is said. */
    if (!names.measured && xb_figure_find(gate->figure) != NULL)
        return XB_OK;
    const char *nearest = xb_nearest(gate->figure, names.figures);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--gate: no case of %s has a figure \"%.60s\"%s%.60s%s They have: %s", text,
                   gate->figure, nearest != NULL ? "; did you mean " : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "?" : ".", have);
}

enum xb_status xb_gates_check(const struct xb_comparison *comparison, struct xb_error *error)
{
    for (size_t i = 0; i < comparison->request.gates.count; i++) {
        XB_TRY(check_gate(comparison, i, error));
    }
    return XB_OK;
}

/* ---- gates that judge nothing ---- */

/* A gate none of whose cases is judged: what it stands for would pass unseen. */
size_t xb_gates_find_idle(const struct xb_comparison *comparison)
{
    const struct xb_gates *asked = &comparison->request.gates;
    for (size_t i = 0; i < asked->count; i++) {
        bool judges = false;
        for (size_t j = 0; !judges && j < comparison->case_count; j++)
            judges = comparison->cases[j].gates &&
                     xb_gate_passes(&asked->items[i], comparison->cases[j].test,
                                    &comparison->cases[j].figure);
        if (!judges)
            return i + 1;
    }
    return 0;
}
