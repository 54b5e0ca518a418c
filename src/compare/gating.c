/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures of which cases gate. */
#include "internal.h"

#include "measure/mode_list.h"
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

static void add_name(struct names *names, const char *figure)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->figures[i], figure) == 0)
            return;
    if (names->count < XB_COMPARE_FIGURES)
        names->figures[names->count++] = figure;
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

/* "gate 1 (mode pinned, direction any, any size)". */
static const char *describe_gate(const struct xb_gate *gate, size_t number, char *text, size_t size)
{
    char sizes[64] = "any size";
    if (gate->least > 0 || gate->most < UINT64_MAX)
        snprintf(sizes, sizeof sizes, "%" PRIu64 " to %" PRIu64 " bytes", gate->least, gate->most);
    snprintf(text, size, "gate %zu (mode %.40s, direction %.20s, %s)", number,
             gate->mode != NULL ? gate->mode : "any",
             gate->direction != NULL ? gate->direction : "any", sizes);
    return text;
}

static enum xb_status refuse_figure(const struct names *names, const char *gate, const char *figure,
                                    struct xb_error *error)
{
    char hint[96] = "";
    char have[512] = "";
    size_t length = 0;
    const char *nearest = xb_nearest(figure, names->figures);
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "; did you mean %.60s?", nearest);
    for (size_t i = 0; i < names->count && length < sizeof have; i++)
        length += (size_t)snprintf(have + length, sizeof have - length, "%s%.60s",
                                   i > 0 ? ", " : "", names->figures[i]);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--gate: no case that passes %s has a figure \"%.60s\"%s They have: %s", gate,
                   figure, nearest != NULL ? hint : ".", have);
}

static enum xb_status check_gate(const struct xb_comparison *comparison, size_t index,
                                 struct xb_error *error)
{
    char text[192];
    struct names names = {0};
    const struct xb_gate *gate = &comparison->request.gates.items[index];
    describe_gate(gate, index + 1, text, sizeof text);
    add_names(&names, gate, comparison->baseline);
    add_names(&names, gate, comparison->candidate);
    if (names.cases == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--gate: no case of either file passes %s", text);
    if (gate->figure == NULL)
        return XB_OK;
    for (size_t i = 0; i < names.count; i++)
        if (strcmp(names.figures[i], gate->figure) == 0)
            return XB_OK;
    /* Cases that all failed show none of their figures: this gate judges nothing, which is said. */
    if (!names.measured && xb_figure_find(gate->figure) != NULL)
        return XB_OK;
    return refuse_figure(&names, text, gate->figure, error);
}

enum xb_status xb_gates_check(const struct xb_comparison *comparison, struct xb_error *error)
{
    for (size_t i = 0; i < comparison->request.gates.count; i++) {
        enum xb_status status = check_gate(comparison, i, error);
        if (status != XB_OK)
            return status;
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
