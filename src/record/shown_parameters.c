/* SPDX-License-Identifier: Apache-2.0 */
#include "shown_parameters.h"

#include "record/mode_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct xb_record_fact *find(const struct xb_record_case *test, const char *name)
{
    return xb_record_fact_find(test->parameters, test->parameter_count, name);
}

/* The option that the mode of that name declares as this parameter; NULL for none. A file may have
 * modes that this program does not know. */
static const struct xb_option *find_option(const char *mode_name, const char *name)
{
    const struct xb_mode *mode = xb_mode_find(mode_name);
    const struct xb_parameter *parameter = mode != NULL ? mode->parameters : NULL;
    while (parameter != NULL && parameter->option != NULL &&
           strcmp(parameter->option->name, name) != 0)
        parameter++;
    return parameter != NULL ? parameter->option : NULL;
}

/* A value of a list that does not go without saying. A case that is measured near its device, which
 * goes without saying, has no NUMA node. */
static bool is_unusual(const struct xb_record_case *test, const struct xb_record_fact *own)
{
    if (strcmp(own->name, XB_RECORD_NUMA) == 0)
        return true;
    const struct xb_option *option = find_option(test->mode, own->name);
    return option != NULL && xb_option_is_list(option) && own->value != NULL &&
           own->is_text == (option->type == XB_OPTION_CHOICES) &&
           !xb_option_is_usual(option, own->value);
}

/* The index of the mode's first value of this parameter; first_count where there is none yet. */
static size_t find_first(const struct xb_parameters *parameters, const char *mode, const char *name)
{
    size_t i = 0;
    while (i < parameters->first_count && (strcmp(parameters->firsts[i].fact->name, name) != 0 ||
                                           strcmp(parameters->firsts[i].mode, mode) != 0))
        i++;
    return i;
}

static bool same_value(const struct xb_record_fact *a, const struct xb_record_fact *b)
{
    return a->value == b->value ||
           (a->value != NULL && b->value != NULL && strcmp(a->value, b->value) == 0);
}

bool xb_parameters_have(const struct xb_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->names[i], name) == 0)
            return true;
    return false;
}

/* Notes what a case has of a parameter. Returns whether it differs from the first of its mode. */
static bool note(struct xb_parameters *parameters, const char *mode,
                 const struct xb_record_fact *own)
{
    size_t i = find_first(parameters, mode, own->name);
    if (i == XB_PARAMETERS_MOST)
        return false;
    struct xb_parameter_first *first = &parameters->firsts[i];
    if (first->fact == NULL) {
        *first = (struct xb_parameter_first){.mode = mode, .fact = own};
        parameters->first_count++;
    }
    first->differs = first->differs || !same_value(own, first->fact);
    return first->differs;
}

struct xb_parameters xb_parameters_that_differ(const struct xb_record *record)
{
    struct xb_parameters found = {.count = 0};
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        for (size_t p = 0; p < test->parameter_count; p++) {
            const struct xb_record_fact *own = &test->parameters[p];
            bool differs = note(&found, test->mode, own);
            if (found.count < XB_PARAMETERS_SHOWN && (differs || is_unusual(test, own)) &&
                !xb_parameters_have(&found, own->name))
                found.names[found.count++] = own->name;
        }
    }
    return found;
}

bool xb_parameter_differs(const struct xb_parameters *parameters, const struct xb_record_case *test,
                          const char *name)
{
    size_t i = find_first(parameters, test->mode, name);
    return i < parameters->first_count && parameters->firsts[i].differs && find(test, name) != NULL;
}

bool xb_fact_is_default(const struct xb_record *defaults, const struct xb_record_fact *option)
{
    const struct xb_record_fact *usual = xb_record_option(defaults, option->name);
    return option->value == NULL || (usual != NULL && same_value(usual, option));
}

bool xb_parameter_is_default(const struct xb_record *defaults, const struct xb_option *const *rows,
                             const struct xb_record_fact *own)
{
    const struct xb_option *row = xb_option_find(rows, own->name);
    if (own->value != NULL && row != NULL && xb_option_is_list(row))
        return xb_option_is_usual(row, own->value);
    return xb_fact_is_default(defaults, own);
}

bool xb_parameter_is_size(const struct xb_record_case *test, const char *name)
{
    const struct xb_option *option = find_option(test->mode, name);
    return option != NULL && (option->type == XB_OPTION_SIZE || option->type == XB_OPTION_SIZES);
}

/* `size_text`: how a size is written. */
static const char *value_text(const struct xb_record_case *test, const char *name,
                              const char *(*size_text)(uint64_t, char *, size_t), char *text,
                              size_t size)
{
    const struct xb_record_fact *fact = find(test, name);
    if (fact == NULL || fact->value == NULL)
        return NULL;
    char *end = NULL;
    uint64_t bytes = strtoull(fact->value, &end, 10);
    if (xb_parameter_is_size(test, name) && end != fact->value && *end == '\0' && bytes > 0)
        return size_text(bytes, text, size);
    snprintf(text, size, "%s", fact->value);
    return text;
}

const char *xb_parameter_text(const struct xb_record_case *test, const char *name, char *text,
                              size_t size)
{
    return value_text(test, name, xb_size_format, text, size);
}

const char *xb_parameter_key(const struct xb_record_case *test, const char *name, char *text,
                             size_t size)
{
    return value_text(test, name, xb_size_key, text, size);
}
