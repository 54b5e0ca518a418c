/* SPDX-License-Identifier: Apache-2.0 */
/* From --mode and --direction to modes, and whether these have the options given. */
#include "planning.h"

#include "base/terminal.h"
#include "base/text.h"
#include "record/mode_list.h"

#include <string.h>

static enum xb_status unknown_mode(const char *name, struct xb_error *error)
{
    const char *names[66];
    size_t count = 0;
    struct xb_words list = {.length = 0};
    for (size_t i = 0; xb_modes[i] != NULL && count < 64; i++) {
        names[count++] = xb_modes[i]->name;
        xb_words_add(&list, "%s ", xb_modes[i]->name);
    }
    names[count++] = "all";
    names[count] = NULL;
    const char *nearest = xb_nearest(name, names);
    return XB_FAIL(error, XB_ERR_USAGE, "--mode: there is no mode '%s'%s%s%s The modes are: %sall",
                   name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : ".", list.text);
}

enum xb_status xb_choice_refuse_beside_others(const char *option, const char *alone,
                                              const struct xb_word_list *words,
                                              struct xb_error *error)
{
    for (size_t i = 0; words->count > 1 && i < words->count; i++)
        if (xb_list_has(alone, words->items[i]))
            return XB_FAIL(error, XB_ERR_USAGE, "--%s: give '%s' alone", option, words->items[i]);
    return XB_OK;
}

unsigned xb_mode_directions(const struct xb_run_options *asked, const struct xb_mode *mode)
{
    /* The directions that the user named; 0 for none. */
    unsigned named = xb_word_is_in(&asked->direction, "both") ? XB_H2D | XB_D2H : 0;
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if (xb_word_is_in(&asked->direction, xb_direction_name((enum xb_direction)(1u << d))))
            named |= 1u << d;
    if (named != 0)
        return named & mode->directions;
    /* Both ways at once are not a single operation: --latency means the other directions, if the
     * mode has any. */
    if (asked->latency && (mode->by_default & ~(unsigned)XB_BIDIR) != 0)
        return mode->by_default & ~(unsigned)XB_BIDIR;
    return mode->by_default;
}

/* The variant that would have to be chosen for an option of the mode to matter; NULL: it does. */
static const char *lacking_variant(const struct xb_run_options *asked, const struct xb_mode *mode,
                                   const struct xb_option *option)
{
    const struct xb_parameter *parameter = mode->parameters;
    const char *lacking = NULL;
    for (; parameter != NULL && parameter->option != NULL; parameter++) {
        if (parameter->option != option)
            continue;
        if (parameter->variant == NULL ||
            xb_word_is_in(&xb_config_get(asked->config, mode->variant_option)->words,
                          parameter->variant))
            return NULL;
        lacking = lacking == NULL ? parameter->variant : lacking;
    }
    return lacking;
}

/* Refuses an option that matters in no chosen mode that has cases in the directions named. */
static enum xb_status refuse_if_idle(const struct xb_run_options *asked,
                                     const struct xb_mode_choice *choice,
                                     const struct xb_option *option, struct xb_error *error)
{
    const struct xb_mode *has_it = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const struct xb_mode *mode = choice->modes[i];
        if (xb_mode_directions(asked, mode) == 0 ||
            xb_option_find(mode->options, option->name) == NULL)
            continue;
        if (lacking_variant(asked, mode, option) == NULL)
            return XB_OK;
        has_it = mode;
    }
    if (has_it != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "--%s has no effect without --%s %s", option->name,
                       has_it->variant_option->name, lacking_variant(asked, has_it, option));
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--%s has no effect on the chosen modes; see 'xferbench --help MODE' for what a "
                   "mode takes",
                   option->name);
}

/* Refuses a direction that a mode named by the user has not, because that mode would be left out in
 * silence. */
static enum xb_status refuse_other_ways(const struct xb_run_options *asked,
                                        const struct xb_mode_choice *choice, struct xb_error *error)
{
    bool all = xb_word_is_in(&asked->mode, "all"); /* alone */
    bool any = false;
    for (size_t m = 0; m < choice->count; m++) {
        bool goes = xb_mode_directions(asked, choice->modes[m]) != 0;
        any = any || goes;
        if (!all && !goes)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--direction %s: %s does not go that way; see 'xferbench --help %s'",
                           asked->direction_text, choice->modes[m]->name, choice->modes[m]->name);
    }
    return any ? XB_OK
               : XB_FAIL(error, XB_ERR_USAGE, "--direction %s: no mode goes that way",
                         asked->direction_text);
}

enum xb_status xb_mode_refuse_simultaneous(struct xb_error *error)
{
    const struct xb_mode *last = NULL;
    struct xb_words words = {.length = 0}; /* "pinned, async or peer d2d (not staged)" */
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        last = xb_modes[m]->simultaneous ? xb_modes[m] : last;
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_mode *mode = xb_modes[m];
        if (!mode->simultaneous)
            continue;
        xb_words_add(&words, "%s%s%s",
                     words.length == 0 ? ""
                     : mode == last    ? " or "
                                       : ", ",
                     mode->name, mode->pairs ? " d2d" : "");
        if (mode->only_alone != NULL)
            xb_words_add(&words, " (not %s)", mode->only_alone);
    }
    return XB_FAIL(error, XB_ERR_USAGE, "--simultaneous starts several devices together: take %s",
                   words.text);
}

enum xb_status xb_mode_choose(const struct xb_run_options *asked, struct xb_mode_choice *choice,
                              struct xb_error *error)
{
    const struct xb_word_list *words = &asked->mode;
    const size_t capacity = sizeof choice->modes / sizeof choice->modes[0];
    bool all = xb_word_is_in(words, "all");
    XB_TRY(xb_choice_refuse_beside_others("mode", "all", words, error));
    for (size_t i = 0; all && xb_modes[i] != NULL && choice->count < capacity; i++)
        if (!xb_modes[i]->only_named && (asked->latency || xb_modes[i]->latency == NULL))
            choice->modes[choice->count++] = xb_modes[i];
    for (size_t i = 0; !all && i < words->count && choice->count < capacity; i++) {
        const struct xb_mode *mode = xb_mode_find(words->items[i]);
        if (mode == NULL)
            return unknown_mode(words->items[i], error);
        choice->modes[choice->count++] = mode;
    }
    for (size_t i = 0; i < asked->config->count; i++) {
        const struct xb_value *value = &asked->config->values[i];
        if (value->given && xb_modes_take(value->option->name))
            XB_TRY(refuse_if_idle(asked, choice, value->option, error));
    }
    XB_TRY(refuse_other_ways(asked, choice, error));
    return asked->simultaneous && asked->latency
               ? XB_FAIL(error, XB_ERR_USAGE,
                         "--simultaneous measures bandwidth; leave out --latency")
               : XB_OK;
}
