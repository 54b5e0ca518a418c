/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what the modes declare holds together. */
#include "base/options.h"
#include "measure/engine/stage.h"
#include "measure/run.h"
#include "record/mode_list.h"

#include <string.h>

#define REFUSE(...) XB_FAIL(error, XB_ERR_INTERNAL, __VA_ARGS__)

/* What the figures of a result have room for; overlap, share of alone and set-up time are the
 * runner's. */
#define MOST_FIGURES (XB_RESULT_FIGURES - XB_SPANS - 3)

static enum xb_status check_figures(const struct xb_mode *mode, struct xb_error *error)
{
    size_t count = 0;
    for (; mode->figures != NULL && mode->figures[count] != NULL; count++) {
        const struct xb_figure *figure = mode->figures[count];
        const struct xb_figure *other = xb_figure_find(figure->name);
        if (figure->name == NULL || figure->unit == NULL || figure->help == NULL)
            return REFUSE("a figure of mode %s lacks its name, unit or help", mode->name);
        if (other != NULL && other != figure &&
            (strcmp(other->unit, figure->unit) != 0 ||
             other->more_is_better != figure->more_is_better || other->gates != figure->gates))
            return REFUSE("figure %s of mode %s means something else in another mode", figure->name,
                          mode->name);
    }
    const struct xb_figure *latency = mode->latency;
    if (latency != NULL && (!xb_mode_declares(mode, latency) || !latency->gates ||
                            latency->more_is_better || strcmp(latency->unit, XB_UNIT_SECONDS) != 0))
        return REFUSE("the latency of mode %s must be one of its figures, in seconds, and gate",
                      mode->name);
    if (count > MOST_FIGURES)
        return REFUSE("mode %s has %zu figures, too many for a result", mode->name, count);
    return XB_OK;
}

/* A longer label would push its line out of the column. */
#define LONGEST_LABEL 12

/* *count is how many there are. */
static enum xb_status check_stages(const struct xb_mode *mode, unsigned *count,
                                   struct xb_error *error)
{
    const struct xb_stage *stages = mode->stages;
    for (*count = 0; stages != NULL && stages[*count].name != NULL; ++*count) {
        const struct xb_stage *stage = &stages[*count];
        if (*count == XB_STAGES)
            return REFUSE("mode %s has more than %d stages", mode->name, XB_STAGES);
        bool is_good = stage->name[0] != '\0' && strchr(stage->name, ' ') == NULL;
        for (unsigned i = 0; i < *count; i++)
            is_good = is_good && strcmp(stages[i].name, stage->name) != 0;
        if (!is_good || stage->run == NULL || (stage->engine == XB_ENGINE_HOST && *count > 0))
            return REFUSE("stage %u (%s) of mode %s needs a name of its own in one word and a "
                          "function, and only the first may be the host's",
                          *count, stage->name, mode->name);
        if ((stage->busy != NULL && !xb_mode_declares(mode, stage->busy)) ||
            (stage->wait != NULL && !xb_mode_declares(mode, stage->wait)))
            return REFUSE("mode %s does not declare a figure of its stage %s", mode->name,
                          stage->name);
    }
    if ((*count > 0) != (mode->submit == xb_line_submit))
        return REFUSE("mode %s needs stages where its submit is xb_line_submit, and only there",
                      mode->name);
    return XB_OK;
}

static enum xb_status check_mode(const struct xb_mode *mode, struct xb_error *error)
{
    if (mode->name == NULL || mode->summary == NULL || mode->description == NULL)
        return REFUSE("mode %s lacks its name, summary or description",
                      mode->name != NULL ? mode->name : "(without a name)");
    if (mode->directions == 0 || mode->by_default == 0 ||
        (mode->by_default & ~mode->directions) != 0 ||
        (mode->variant_option == NULL) == (mode->variant == NULL))
        return REFUSE("mode %s needs a direction to take by default, and either a variant or a "
                      "variant option",
                      mode->name);
    unsigned stages = 0;
    XB_TRY(check_figures(mode, error));
    XB_TRY(check_stages(mode, &stages, error));
    for (const struct xb_parameter *parameter = mode->parameters;
         parameter != NULL && parameter->option != NULL; parameter++)
        if (parameter->option->default_text == NULL ||
            xb_option_find(mode->options, parameter->option->name) != parameter->option)
            return REFUSE("parameter --%s of mode %s needs a default and a place in .options",
                          parameter->option->name, mode->name);
    /* A reference is a submit or a part of the line. */
    for (const struct xb_reference *reference = mode->references;
         reference != NULL && reference->figure != NULL; reference++) {
        if (!xb_mode_declares(mode, reference->figure))
            return REFUSE("mode %s does not declare its figure %s", mode->name,
                          reference->figure->name);
        if ((reference->submit != NULL) == (reference->part != NULL))
            return REFUSE("reference %s of mode %s needs either a submit or a part of the line",
                          reference->figure->name, mode->name);
        if (reference->part != NULL && (stages == 0 || reference->part->stages >> stages != 0))
            return REFUSE("reference %s of mode %s is of a stage that the mode has not",
                          reference->figure->name, mode->name);
    }
    for (const struct xb_reading_line *line = mode->reading; line != NULL && line->label != NULL;
         line++) {
        /* A mode of pairs says something of pairs; any other either of a size or of all of them. */
        bool has_own = (line->say != NULL) != (line->say_of_sizes != NULL);
        bool has_any = line->say != NULL || line->say_of_sizes != NULL;
        bool is_right = mode->pairs ? line->say_of_pairs != NULL && !has_any
                                    : line->say_of_pairs == NULL && has_own;
        if (strlen(line->label) > LONGEST_LABEL || line->code == NULL || !is_right)
            return REFUSE("line %s of mode %s in the Reading needs a label of at most %d "
                          "characters, a code, and one function: %s",
                          line->label, mode->name, LONGEST_LABEL,
                          mode->pairs ? "say_of_pairs" : "say or say_of_sizes");
    }
    if (mode->buffers == NULL || mode->setup == NULL || mode->prepare == NULL ||
        mode->submit == NULL || mode->verify == NULL)
        return REFUSE("mode %s lacks one of its mandatory hooks", mode->name);
    return XB_OK;
}

enum xb_status xb_modes_check(const struct xb_mode *const *modes, struct xb_error *error)
{
    for (size_t i = 0; modes[i] != NULL; i++) {
        XB_TRY(check_mode(modes[i], error));
        for (size_t before = 0; before < i; before++)
            if (strcmp(modes[before]->name, modes[i]->name) == 0)
                XB_TRY(REFUSE("two modes are called %s", modes[i]->name));
    }
    return XB_OK;
}
