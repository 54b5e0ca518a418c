/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures of a case are compared. */
#include "internal.h"
#include "record/mode_list.h"

#include <string.h>

/* Whether it counts by itself, or because a gate names it. */
static bool is_wanted(const struct xb_comparison *comparison, const struct xb_record_case *test,
                      const struct xb_figure *figure)
{
    const struct xb_gates *gates = &comparison->request.gates;
    for (size_t i = 0; i < gates->count; i++)
        if (xb_gate_passes(&gates->items[i], test, figure))
            return true;
    return figure->gates;
}

static size_t add_once(struct xb_figure *figures, size_t count, const struct xb_figure *figure)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(figures[i].name, figure->name) == 0)
            return count;
    if (count < XB_COMPARE_FIGURES)
        figures[count++] = *figure;
    return count;
}

static size_t add_side(const struct xb_comparison *comparison, const struct xb_record *record,
                       const struct xb_record_case *test, struct xb_figure *figures, size_t count)
{
    for (size_t i = 0; test != NULL && i < record->process_count; i++)
        for (size_t k = 0; k < test->rows[i].figure_count; k++) {
            const struct xb_record_figure *own = &test->rows[i].figures[k];
            const struct xb_figure figure = {.name = own->name,
                                             .unit = own->unit,
                                             .more_is_better = own->more_is_better,
                                             .gates = own->gates};
            if (is_wanted(comparison, test, &figure))
                count = add_once(figures, count, &figure);
        }
    return count;
}

const struct xb_figure *xb_compare_own_figure(const struct xb_record_case *test)
{
    return xb_mode_main_figure(test->mode, test->latency);
}

size_t xb_compare_figures(const struct xb_comparison *comparison, const struct xb_pair *pair,
                          struct xb_figure figures[XB_COMPARE_FIGURES])
{
    const struct xb_record_case *test = pair->candidate != NULL ? pair->candidate : pair->baseline;
    size_t count = 1; /* the case's own, also where it failed */
    figures[0] = *xb_compare_own_figure(test);
    count = add_side(comparison, comparison->baseline, pair->baseline, figures, count);
    return add_side(comparison, comparison->candidate, pair->candidate, figures, count);
}
