/* SPDX-License-Identifier: Apache-2.0 */
/* The options that make a case what it is. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct xb_record_fact *)a)->name,
                  ((const struct xb_record_fact *)b)->name);
}

void xb_record_sort_facts(struct xb_record_fact *facts, size_t count)
{
    if (count > 1)
        qsort(facts, count, sizeof *facts, by_name);
}

const struct xb_record_fact *xb_record_fact_find(const struct xb_record_fact *facts, size_t count,
                                                 const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

const struct xb_record_fact *xb_record_option(const struct xb_record *record, const char *name)
{
    return record != NULL ? xb_record_fact_find(record->options, record->option_count, name) : NULL;
}

/* Such files are older than parameters that take lists: what is an array there told no two cases of
 * a mode apart. */
static bool is_array(const struct xb_record_fact *option)
{
    return option->value != NULL && option->value[0] == '[';
}

bool xb_record_make_parameters(struct xb_record *record, const struct xb_mode *mode,
                               struct xb_record_case *test)
{
    const struct xb_parameter *declared = mode->parameters;
    size_t count = 0;
    while (declared != NULL && declared[count].option != NULL)
        count++;
    struct xb_record_fact *made = xb_arena_allocate(&record->texts, count * sizeof *made);
    if (made == NULL)
        return false;
    test->parameters = made;
    test->parameter_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *variant = declared[i].variant;
        const struct xb_record_fact *option = xb_record_option(record, declared[i].option->name);
        if (option != NULL && !is_array(option) &&
            (variant == NULL || strcmp(variant, test->variant) == 0))
            made[test->parameter_count++] = *option;
    }
    xb_record_sort_facts(made, test->parameter_count);
    return true;
}
