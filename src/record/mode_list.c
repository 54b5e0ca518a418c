/* SPDX-License-Identifier: Apache-2.0 */
#include "mode_list.h"

#include <string.h>

const char *xb_group_name(enum xb_group group)
{
    static const char *const names[] = {NULL, "one-to-all", "all-to-one"};
    return names[group];
}

const char *xb_direction_name(enum xb_direction direction)
{
    static const char *const names[] = {
        [XB_H2D] = "h2d", [XB_D2H] = "d2h", [XB_D2D] = "d2d", [XB_BIDIR] = "bidir"};
    const char *name = (size_t)direction < sizeof names / sizeof names[0] ? names[direction] : NULL;
    return name != NULL ? name : "unknown";
}

bool xb_mode_declares(const struct xb_mode *mode, const struct xb_figure *figure)
{
    for (size_t i = 0; mode->figures != NULL && mode->figures[i] != NULL; i++)
        if (mode->figures[i] == figure)
            return true;
    return false;
}

const struct xb_mode *xb_mode_find(const char *name)
{
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if (strcmp((*mode)->name, name) == 0)
            return *mode;
    return NULL;
}

bool xb_modes_take(const char *option)
{
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        if (xb_option_find(xb_modes[i]->options, option) != NULL)
            return true;
    return false;
}

static const struct xb_figure *find_figure(const struct xb_figure *const *figures, const char *name)
{
    while (figures != NULL && *figures != NULL && strcmp((*figures)->name, name) != 0)
        figures++;
    return figures != NULL ? *figures : NULL;
}

const struct xb_figure *xb_figure_find(const char *name)
{
    const struct xb_figure *found = find_figure(xb_runner_figures, name);
    for (size_t m = 0; found == NULL && xb_modes[m] != NULL; m++)
        found = find_figure(xb_modes[m]->figures, name);
    return found;
}

bool xb_mode_has_latency(const char *mode)
{
    const struct xb_mode *known = xb_mode_find(mode);
    return known != NULL && known->latency != NULL;
}

const struct xb_figure *xb_mode_main_figure(const char *mode, bool latency)
{
    if (xb_mode_has_latency(mode))
        return xb_mode_find(mode)->latency;
    return latency ? &xb_figure_latency_host : &xb_figure_bandwidth;
}

bool xb_case_is_single(const struct xb_case *test)
{
    return test->latency && test->mode->latency == NULL;
}
