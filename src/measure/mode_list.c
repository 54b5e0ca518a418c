/* SPDX-License-Identifier: Apache-2.0 */
#include "mode_list.h"

#include "xferbench/result.h"

#include <string.h>

const char *xb_group_name(enum xb_group group)
{
    static const char *const names[] = {NULL, "one-to-all", "all-to-one"};
    return names[group];
}

const char *xb_direction_name(enum xb_direction direction)
{
    switch (direction) {
    case XB_H2D:
        return "h2d";
    case XB_D2H:
        return "d2h";
    case XB_BIDIR:
        return "bidir";
    case XB_D2D:
        return "d2d";
    }
    return "unknown";
}

/* What the figures of a result have room for; overlap, share of alone and set-up time are the
 * runner's. */
#define MOST_FIGURES (XB_RESULT_FIGURES - XB_SPANS - 3)

bool xb_mode_declares(const struct xb_mode *mode, const struct xb_figure *figure)
{
    for (size_t i = 0; mode->figures != NULL && mode->figures[i] != NULL; i++)
        if (mode->figures[i] == figure)
            return true;
    return false;
}

static enum xb_status check_figures(const struct xb_mode *mode, struct xb_error *error)
{
    size_t count = 0;
    for (; mode->figures != NULL && mode->figures[count] != NULL; count++) {
        const struct xb_figure *figure = mode->figures[count];
        const struct xb_figure *other = xb_figure_find(figure->name);
        if (figure->name == NULL || figure->unit == NULL || figure->help == NULL)
            return XB_FAIL(error, XB_ERR_INTERNAL,
                           "a figure of mode %s lacks its name, unit or help", mode->name);
        if (other != NULL && other != figure &&
            (strcmp(other->unit, figure->unit) != 0 ||
             other->more_is_better != figure->more_is_better || other->gates != figure->gates))
            return XB_FAIL(error, XB_ERR_INTERNAL,
                           "figure %s of mode %s means something else in another mode",
                           figure->name, mode->name);
    }
    const struct xb_figure *latency = mode->latency;
    if (latency != NULL && (!xb_mode_declares(mode, latency) || !latency->gates ||
                            latency->more_is_better || strcmp(latency->unit, XB_UNIT_SECONDS) != 0))
        return XB_FAIL(error, XB_ERR_INTERNAL,
                       "the latency of mode %s must be one of its figures, in seconds, and gate",
                       mode->name);
    if (count > MOST_FIGURES)
        return XB_FAIL(error, XB_ERR_INTERNAL, "mode %s has %zu figures, too many for a result",
                       mode->name, count);
    for (const struct xb_reference *reference = mode->references;
         reference != NULL && reference->figure != NULL; reference++)
        if (!xb_mode_declares(mode, reference->figure))
            return XB_FAIL(error, XB_ERR_INTERNAL, "mode %s does not declare its figure %s",
                           mode->name, reference->figure->name);
    return XB_OK;
}

/* A longer label would push its line out of the column. */
#define LONGEST_LABEL 12

/* A mode of pairs says something of pairs; any other either of a size or of all of them. */
static bool has_its_function(const struct xb_mode *mode, const struct xb_reading_line *line)
{
    if (mode->pairs)
        return line->say_of_pairs != NULL && line->say == NULL && line->say_of_sizes == NULL;
    return line->say_of_pairs == NULL && (line->say != NULL) != (line->say_of_sizes != NULL);
}

static enum xb_status check_reading(const struct xb_mode *mode, struct xb_error *error)
{
    for (const struct xb_reading_line *line = mode->reading; line != NULL && line->label != NULL;
         line++)
        if (strlen(line->label) > LONGEST_LABEL || line->code == NULL ||
            !has_its_function(mode, line))
            return XB_FAIL(error, XB_ERR_INTERNAL,
                           "line %s of mode %s in the Reading needs a label of at most %d "
                           "characters, a code, and one function: %s",
                           line->label, mode->name, LONGEST_LABEL,
                           mode->pairs ? "say_of_pairs" : "say or say_of_sizes");
    return XB_OK;
}

static enum xb_status check_mode(const struct xb_mode *mode, struct xb_error *error)
{
    if (mode->name == NULL || mode->summary == NULL || mode->description == NULL)
        return XB_FAIL(error, XB_ERR_INTERNAL, "mode %s lacks its name, summary or description",
                       mode->name != NULL ? mode->name : "(without a name)");
    if (mode->directions == 0 || mode->by_default == 0 ||
        (mode->by_default & ~mode->directions) != 0 ||
        (mode->variant_option == NULL) == (mode->variant == NULL))
        return XB_FAIL(error, XB_ERR_INTERNAL,
                       "mode %s needs a direction to take by default, and either a variant or a "
                       "variant option",
                       mode->name);
    enum xb_status status = check_figures(mode, error);
    if (status == XB_OK)
        status = check_reading(mode, error);
    if (status != XB_OK)
        return status;
    if (mode->needs == NULL || mode->setup == NULL || mode->prepare == NULL ||
        mode->submit == NULL || mode->verify == NULL)
        return XB_FAIL(error, XB_ERR_INTERNAL, "mode %s lacks one of its mandatory hooks",
                       mode->name);
    return XB_OK;
}

enum xb_status xb_modes_check(const struct xb_mode *const *modes, struct xb_error *error)
{
    for (size_t i = 0; modes[i] != NULL; i++) {
        enum xb_status status = check_mode(modes[i], error);
        if (status != XB_OK)
            return status;
        for (size_t before = 0; before < i; before++)
            if (strcmp(modes[before]->name, modes[i]->name) == 0)
                return XB_FAIL(error, XB_ERR_INTERNAL, "two modes are called %s", modes[i]->name);
    }
    return XB_OK;
}

const struct xb_mode *xb_mode_find(const char *name)
{
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if (strcmp((*mode)->name, name) == 0)
            return *mode;
    return NULL;
}

const struct xb_figure *xb_figure_find(const char *name)
{
    for (size_t i = 0; xb_runner_figures[i] != NULL; i++)
        if (strcmp(xb_runner_figures[i]->name, name) == 0)
            return xb_runner_figures[i];
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        for (size_t i = 0; xb_modes[m]->figures != NULL && xb_modes[m]->figures[i] != NULL; i++)
            if (strcmp(xb_modes[m]->figures[i]->name, name) == 0)
                return xb_modes[m]->figures[i];
    return NULL;
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
