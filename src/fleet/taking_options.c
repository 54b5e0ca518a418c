/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions that must be the same before results of two documents are compared: the same as in
 * `compare`, but as a text. */
#include "base/arena.h"
#include "measure/mode_list.h"
#include "record/shown_parameters.h"
#include "taking.h"
#include "xferbench/mode.h"
#include "xferbench/options.h"

#include <string.h>

static const struct xb_option *find_row(const struct xb_option *const *rows, const char *name)
{
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

static const struct xb_record_fact *find_fact(const struct xb_record_fact *facts, size_t count,
                                              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

static bool is_of_a_mode(const char *option)
{
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        if (find_row(xb_modes[i]->options, option) != NULL)
            return true;
    return false;
}

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
    const struct xb_option *row = find_row(terms->rows, option);
    const struct xb_mode *mode = xb_mode_find(mode_name);
    return (row == NULL || !row->selects) && !is_of_time(option) &&
           (mode == NULL || !is_of_a_mode(option) || find_row(mode->options, option) != NULL);
}

/* A program without an option measures like one with its default, so a default is not told. */
static bool is_default(const struct xb_fleet_terms *terms, const struct xb_record_fact *own)
{
    const struct xb_record *defaults = &terms->defaults;
    const struct xb_record_fact *usual =
        find_fact(defaults->options, defaults->option_count, own->name);
    const char *value = usual != NULL ? usual->value : NULL;
    return own->value == NULL || (value != NULL && strcmp(own->value, value) == 0);
}

/* The same for a case's parameter: a case has one value if the option is a list. */
static bool is_usual(const struct xb_fleet_terms *terms, const struct xb_record_fact *own)
{
    const struct xb_option *row = find_row(terms->rows, own->name);
    if (row != NULL && xb_option_is_list(row) && own->value != NULL)
        return xb_option_is_usual(row, own->value);
    return is_default(terms, own);
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
        if (!is_named(named, own->name) && !is_usual(terms, own))
            text = add(texts, text, own);
    }
    for (size_t i = 0; i < record->option_count; i++) {
        const struct xb_record_fact *option = &record->options[i];
        bool says_itself = find_fact(test->parameters, test->parameter_count, option->name) != NULL;
        if (!says_itself && !is_default(terms, option) && matters(terms, test->mode, option->name))
            text = add(texts, text, option);
    }
    return text;
}
