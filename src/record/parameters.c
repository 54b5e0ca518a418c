/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by their names. */
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
