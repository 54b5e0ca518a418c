/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "base/terminal.h"
#include "mode_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool xb_case_is_of_a_set(const struct xb_record_case *test)
{
    return xb_record_parameter(test, XB_RECORD_SET)[0] != '\0';
}

bool xb_case_is_of_pairs(const struct xb_record_case *test)
{
    return !xb_case_is_of_a_set(test) &&
           (test->peer >= 0 || xb_record_parameter(test, XB_RECORD_GROUP)[0] != '\0');
}

/* Whether both ran at the same time, if they stand side by side. */
static bool are_together(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return xb_case_is_of_a_set(a) ? strcmp(xb_record_parameter(a, XB_RECORD_SET),
                                           xb_record_parameter(b, XB_RECORD_SET)) == 0
                                  : xb_cases_order(a, b, XB_BUT_DEVICES) == 0;
}

/* Whether the case belongs to the sum that stands before it. */
static bool is_member(const struct xb_record_case *sum, const struct xb_record_case *test)
{
    return !xb_record_is_sum(test) && are_together(sum, test);
}

size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test)
{
    size_t first = (size_t)(test - record->cases);
    size_t least = first > XB_RUN_PAIRS ? first - XB_RUN_PAIRS : 0; /* no more ran at once */
    if (!test->simultaneous)
        return 0;
    while (first > least && is_member(test, &record->cases[first]))
        first--;
    if (!xb_record_is_sum(&record->cases[first]) || !are_together(&record->cases[first], test))
        return 0;
    size_t end = first + 1;
    while (end < record->case_count && is_member(test, &record->cases[end]))
        end++;
    return end - first - 1;
}

bool xb_case_is_in_matrix(const struct xb_record *record, const struct xb_record_case *test)
{
    return xb_case_is_of_pairs(test) &&
           (!xb_record_is_sum(test) || xb_group_size(record, test) > 0);
}

const char *xb_device_text(const struct xb_record *record, const struct xb_record_case *test,
                           char *text, size_t size)
{
    size_t together = xb_group_size(record, test);
    char device[32];
    xb_record_case_device(test, device, sizeof device);
    if (xb_record_is_sum(test) && !xb_case_is_of_pairs(test))
        snprintf(text, size, "sum of %zu", together);
    else if (!xb_record_is_sum(test) && together > 1)
        snprintf(text, size, "%s (with %zu other%s)", device, together - 1,
                 together > 2 ? "s" : "");
    else
        snprintf(text, size, "%s", device);
    return text;
}

bool xb_case_was_not_run(const struct xb_record *record, const struct xb_record_case *test)
{
    size_t rows = 0;
    XB_EACH (row, test->rows, record->process_count) {
        if (!row->is_there)
            continue;
        if (row->status != XB_RESULT_SKIPPED || !row->is_cut)
            return false;
        rows++;
    }
    return rows > 0;
}

bool xb_rows_name_devices(const struct xb_record *record)
{
    size_t devices = 0;
    xb_record_devices(record, &devices);
    bool named = devices > 1;
    XB_EACH_CASE (test, record)
        named = named || test->simultaneous || test->peer >= 0 ||
                test->device != record->cases[0].device;
    return named;
}

const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const struct xb_variant_name *name = mode != NULL ? mode->names : NULL;
    while (name != NULL && name->variant != NULL && strcmp(name->variant, test->variant) != 0)
        name++;
    if (name != NULL && name->variant != NULL)
        snprintf(text, size, "%s", name->name);
    else if (mode != NULL && mode->variant_option == NULL)
        snprintf(text, size, "%s", test->mode);
    else
        snprintf(text, size, "%s %s", test->mode, test->variant);
    xb_make_plain(text);
    return text;
}

const char *xb_direction_words(const struct xb_record_case *test)
{
    if (strcmp(test->direction, "h2d") == 0)
        return "to the GPU";
    if (strcmp(test->direction, "d2h") == 0)
        return "back to the host";
    if (strcmp(test->direction, "bidir") == 0)
        return "both ways";
    if (strcmp(test->direction, "mixed") == 0)
        return "several ways";
    return test->peer >= 0 || xb_case_is_of_pairs(test) ? "one way" : "within the GPU";
}

/* The option that the mode declares as this parameter; NULL for none, or for an unknown mode. */
static const struct xb_option *find_option(const char *mode_name, const char *name)
{
    const struct xb_mode *mode = xb_mode_find(mode_name);
    const struct xb_parameter *parameter = mode != NULL ? mode->parameters : NULL;
    while (parameter != NULL && parameter->option != NULL &&
           strcmp(parameter->option->name, name) != 0)
        parameter++;
    return parameter != NULL ? parameter->option : NULL;
}

/* Whether a value needs saying. A case near its device needs none: it has no NUMA node. */
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

bool xb_parameters_have(const struct xb_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->names[i], name) == 0)
            return true;
    return false;
}

struct xb_parameters xb_parameters_that_differ(const struct xb_record *record)
{
    struct xb_parameters found = {.count = 0};
    XB_EACH_CASE (test, record) {
        XB_EACH (own, test->parameters, test->parameter_count) {
            size_t at = find_first(&found, test->mode, own->name);
            bool differs = false;
            if (at < XB_PARAMETERS_MOST) {
                struct xb_parameter_first *first = &found.firsts[at];
                if (first->fact == NULL) {
                    *first = (struct xb_parameter_first){.mode = test->mode, .fact = own};
                    found.first_count++;
                }
                differs = first->differs =
                    first->differs || !xb_record_same(own->value, first->fact->value);
            }
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
    return i < parameters->first_count && parameters->firsts[i].differs &&
           xb_record_fact_find(test->parameters, test->parameter_count, name) != NULL;
}

bool xb_fact_is_default(const struct xb_record *defaults, const struct xb_record_fact *option)
{
    const struct xb_record_fact *usual = xb_record_option(defaults, option->name);
    return option->value == NULL || (usual != NULL && xb_record_same(usual->value, option->value));
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

const char *xb_parameter_write(const struct xb_record_case *test, const char *name,
                               xb_parameter_size *size_text, char *text, size_t size)
{
    const struct xb_record_fact *fact =
        xb_record_fact_find(test->parameters, test->parameter_count, name);
    if (fact == NULL || fact->value == NULL)
        return NULL;
    char *end = NULL;
    uint64_t bytes = strtoull(fact->value, &end, 10);
    if (xb_parameter_is_size(test, name) && end != fact->value && *end == '\0' && bytes > 0)
        return size_text(bytes, text, size);
    snprintf(text, size, "%s", fact->value);
    return text;
}
