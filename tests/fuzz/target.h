/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What all targets of libFuzzer share. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, which libFuzzer takes for a crash, where a rule is broken. */
static inline void require_at(bool holds, const char *rule, const char *where)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s: %.200s\n", rule, where);
    abort();
}

static inline void require(bool holds, const char *rule)
{
    require_at(holds, rule, "");
}
