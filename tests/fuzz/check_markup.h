/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Ends the program, which libFuzzer takes for a crash, where a rule is broken. */
void require(bool holds, const char *rule, const char *where);

/*
 * Requires that a text is one element of XML that is well-formed, and a newline: of these elements
 * and no others (the list ends with NULL), with known entities, no harmful character, and numbers
 * in the attributes of pictures that are numbers.
 */
void check_markup(const char *text, const char *const *elements);
