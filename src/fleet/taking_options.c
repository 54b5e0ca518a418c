/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions that must be the same before results of two documents are compared: the same as in
 * `compare`, but as a text. */
#include "base/arena.h"
#include "record/mode_list.h"
#include "record/shown_parameters.h"
#include "taking.h"
#include "xferbench/mode.h"
#include "xferbench/options.h"

#include <string.h>

/* How long a case is measured at most makes its median more or less certain, which its scatter
 * tells, and no other. */
static bool is_of_time(const char *option)
{
    return strcmp(option, "time-limit") == 0;
}

/* Whether it changes how cases of the mode are measured. One that no mode takes is for all; a mode
 * that this program does not know may take any. */
static bool matters(const struct xb_fleet_terms *terms, const char *mode_name, const char *option)
{
    const struct xb_option *row = xb_option_find(terms->rows, option);
    const struct xb_mode *mode = xb_mode_find(mode_name);
    return (row == NULL || !row->selects) && !is_of_time(option) &&
           (mode == NULL || !xb_modes_take(option) ||
            xb_option_find(mode->options, option) != NULL);
}

static bool is_named(const struct xb_parameters *named, const char *name)
{
    for (size_t i = 0; i < named->count; i++)
        if (strcmp(named->names[i], name) == 0)
            return true;
    return false;
}

/* Appends "chunk=4194304"; NULL: no memory. */
static const char *add(struct xb_arena **texts, const char *before,
                       const struct xb_record_fact *fact)
{
    return before == NULL ? NULL
                          : xb_arena_print(texts, "%s%s%s=%s", before, before[0] != '\0' ? " " : "",
                                           fact->name, fact->value != NULL ? fact->value : "null");
}

const char *xb_taking_options(const struct xb_fleet_terms *terms, const struct xb_record *record,
                              const struct xb_record_case *test, const struct xb_parameters *named,
                              struct xb_arena **texts)
{
    const char *text = "";
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        if (!is_named(named, own->name) &&
            !xb_parameter_is_default(&terms->defaults, terms->rows, own))
            text = add(texts, text, own);
    }
    for (size_t i = 0; i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        bool says_itself =
            xb_record_fact_find(test->parameters, test->parameter_count, option->name) != NULL;
        if (!says_itself && !xb_fact_is_default(&terms->defaults, option) &&
            matters(terms, test->mode, option->name))
            text = add(texts, text, option);
    }
    return text;
}
